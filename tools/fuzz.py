"""Thousands of broken files and short runs: nothing but answers and sentences may come out.

Three rounds, each drawn from ``--seed``:

1. *files*: mutations of every shipped instance and of result files, given to ``check``, ``evaluate``, ``verify``,
   ``solve`` and ``plot``;
2. *solves*: every strategy on shipped instances, well formed or with a number changed, within a second;
3. *agreement*: small random instances on which all strategies of a kind and plain enumeration must agree.

A command line passes if it ends with exit code 0, 2 or 3, without a warning or a traceback, with one sentence on
standard error where it refuses, within 5 seconds of CPU and 1 GB. A model that is well formed but large may take its
time and its room: those are counted as slow, and shown.

>>> python tools/fuzz.py --files 20000 --solves 600 --agreements 150
"""

from __future__ import annotations

import argparse
import json
import os
import queue
import random
import select
import subprocess
import sys
import tempfile
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).parent))  # the modules beside this file, which is not installed

from fuzz_cases import mutate

ROOT = Path(__file__).parents[1]
INSTANCES = ROOT / "instances"

#: What one command may take: seconds of CPU, megabytes, and seconds on the wall before it is killed.
CPU_SECONDS, MEGABYTES, WALL_SECONDS = 5.0, 1024, 60.0

#: Pages times robots from which a model is large.
LARGE = 400

#: Commands after which a worker is replaced, so that what one leaves behind does not last.
RECYCLED_AFTER = 150

#: Characters that one sentence may have.
SENTENCE = 1_000

#: Instances and strategies whose results are mutated: one quick answer of every form.
ANSWERS = (
    ("placement/gautam-2x3", "exhaustive"),
    ("threshold/avrachenkov-k3", "exhaustive"),
    ("threshold/avrachenkov-k2", "optimal-policy"),
    ("robots/talim-two-robots", "policy-iteration"),
    ("robots/areas-3", "marginal-analysis"),
    ("freshness/coffman-4", "greedy"),
    ("freshness/coffman-4", "lagrangian"),
    ("freshness/coffman-4", "randomized"),
    ("freshness/robots-3", "whittle"),
    ("routing/loss-3", "min-mean-cycle"),
    ("routing/horizon-40", "backward-induction"),
)


#: Strategies that are tried on mutated files, by kind; not `highs`, which starts processes.
STRATEGIES = {
    "placement": "exhaustive annealing genetic local-search dejavu",
    "threshold": "exhaustive annealing genetic local-search optimal-policy",
    "robots": "policy-iteration value-iteration linear-program static marginal-analysis genetic annealing",
    "freshness": "lagrangian whittle greedy regular golden-ratio power-of-two randomized uniform proportional adaptive",
    "routing": "min-mean-cycle two-server balanced whittle value-iteration multimodular backward-induction annealing "
    "genetic local-search exhaustive",
}


@dataclass(frozen=True)
class Case:
    """A command line, and what tells it from others."""

    label: str
    command: tuple[str, ...]


@dataclass
class Tally:
    """What came of the cases so far."""

    codes: Counter[str] = field(default_factory=Counter)
    failures: list[tuple[Case, list[str], dict[str, Any]]] = field(default_factory=list)
    slow: list[tuple[Case, float]] = field(default_factory=list)
    largest: int = 0

    @property
    def cases(self) -> int:
        """How many were run."""
        return sum(self.codes.values())

    def add(self, case: Case, answer: dict[str, Any]) -> None:
        """Judge one more."""
        self.codes[str(answer["code"])] += 1
        self.largest = max(self.largest, answer["megabytes"])
        if answer["code"] == 0 and answer["cpu"] > CPU_SECONDS:
            self.slow.append((case, answer["cpu"]))
        found = complaints(case, answer)
        if found and is_large(case) and all(_of_size(reason) for reason in found):
            self.slow.append((case, answer["cpu"]))
        elif found:
            self.failures.append((case, found, answer))
            print(described(case, found, answer), file=sys.stderr, flush=True)  # a round may take an hour


def complaints(case: Case, answer: dict[str, Any]) -> list[str]:
    """Why an answer does not pass, one entry a reason."""
    code, err = answer["code"], answer["err"]
    lines = [line for line in err.splitlines() if line.strip() and not line.startswith("compiling")]
    found = []
    if code not in (0, 2, 3):
        found.append(f"exit code {code}")
    if "Traceback" in err or "Traceback" in answer["out"]:
        found.append("a traceback")
    if answer["warnings"] or "Warning" in err:
        found.append(f"a warning: {(answer['warnings'] or [err])[0]}")
    if code == 2 and len(lines) != 1:
        found.append(f"{len(lines)} lines instead of one sentence")
    if code == 2 and any(len(line) > SENTENCE for line in lines):
        found.append(f"a sentence of {max(map(len, lines))} characters")
    if code == 2 and answer["cpu"] > CPU_SECONDS:
        found.append(f"{answer['cpu']:.1f} s of CPU before it was refused")
    if answer["megabytes"] > MEGABYTES:
        found.append(f"{answer['megabytes']} MB")
    if "--json" in case.command and code in (0, 3):
        try:
            json.loads(answer["out"], parse_constant=_no_constant)
        except ValueError as failure:
            found.append(f"no JSON on standard output: {failure}")
    return found


def _of_size(reason: str) -> bool:
    return reason.endswith((" MB", "killed", "before it was refused"))


def is_large(case: Case) -> bool:
    """Whether a run is of a well-formed model so large that it may take its time and its room.

    The measures of robots beside thousands of pages are found from tables for each number of pages; a threshold queue
    is evaluated to tell whether its best known cost is right.
    """
    try:
        data = json.loads(Path(case.command[1]).read_text())["data"]
        areas = data.get("areas", [data])
        most = [(area.get("capacity") or 0, max(data.get("robots") or 1, len(data.get("modes", [])))) for area in areas]
        return any(capacity >= 100 and capacity * robots >= LARGE for capacity, robots in most)
    except (OSError, ValueError, KeyError, TypeError, AttributeError):
        return False


def _no_constant(word: str) -> None:
    raise ValueError(f"{word} is not JSON")


# -- cases ------------------------------------------------------------------------------------------------------------


class Files:
    """Mutated files in a folder, numbered from zero.

    Parameters
    ----------
    folder
        Where they are written.
    seed
        Cases of the same seed and number are the same.
    """

    def __init__(self, folder: Path, seed: int) -> None:
        self.folder, self.seed = folder, seed
        self.shipped = {file: json.loads(file.read_text()) for file in sorted(INSTANCES.glob("*/*.json"))}
        kinds = sorted({document["kind"] for document in self.shipped.values()})
        self.by_kind = {kind: [f for f, d in self.shipped.items() if d["kind"] == kind] for kind in kinds}
        self.answers: list[tuple[Path, Any]] = []

    def answer(self) -> None:
        """Solve the instances whose results are mutated."""
        import optmodels as om
        from optmodels.results import result_to_data

        for name, strategy in ANSWERS:
            file = INSTANCES / f"{name}.json"
            self.answers.append((file, result_to_data(om.solve(file, strategy, seconds=10))))

    def case(self, number: int) -> Case:
        """The case of this number; its files are written."""
        rng = random.Random(f"{self.seed}-{number}")
        if self.answers and rng.random() < 0.25:
            file, result = rng.choice(self.answers)
            donors = [other for _, other in self.answers]
            place = self._write(number, "r", mutate(result, rng, donors))
            proving = ("--seconds", rng.choice(("0", "0", "0", "0.3")))
            return Case(f"result {number} of {file.stem}", ("verify", place, str(file), *proving, *_json(rng)))
        kind = rng.choice(list(self.by_kind))
        file = rng.choice(self.by_kind[kind])
        donors = [self.shipped[other] for other in self.by_kind[kind]]
        place = self._write(number, "i", mutate(self.shipped[file], rng, donors))
        return Case(f"file {number} of {file.stem}", self._command(place, self.shipped[file], number, rng))

    def _command(self, place: str, document: Any, number: int, rng: random.Random) -> tuple[str, ...]:
        drawn = rng.random()
        known = (document.get("best_known") or {}).get("decision")
        if drawn < 0.6 or known is None:
            return ("check", place, *_json(rng))
        if drawn < 0.85:
            at = self._write(number, "d", mutate(known, rng, []) if rng.random() < 0.5 else json.dumps(known))
            return ("evaluate", place, "--at", f"@{at}", *_json(rng))
        if drawn < 0.9:
            return ("plot", place, "--out", str(self.folder / f"{number}.svg"))
        budget = ("--seconds", "0.3", "--evaluations", "30")
        return ("solve", place, "--strategy", _strategy(document, rng), *budget, *_json(rng))

    def _write(self, number: int, what: str, text: str) -> str:
        file = self.folder / f"{what}{number}.json"
        file.write_text(text, encoding="utf-8", errors="surrogatepass")
        return str(file)


def _json(rng: random.Random) -> tuple[str, ...]:
    return ("--json",) if rng.random() < 0.5 else ()


def _strategy(document: Any, rng: random.Random) -> str:
    """A strategy of the kind, or now and then any."""
    from optmodels.registry import strategies

    own = STRATEGIES[document["kind"]].split()
    return rng.choice(own if rng.random() < 0.9 else sorted(strategies))


def solves(folder: Path, count: int, seed: int) -> Iterator[Case]:
    """Short runs of all strategies in turn, half of them on instances with one number changed."""
    from optmodels.registry import strategies

    files = sorted(INSTANCES.glob("*/*.json"))
    names = sorted(strategies)
    for number in range(count):
        rng = random.Random(f"solve-{seed}-{number}")
        file = rng.choice(files)
        document = json.loads(file.read_text())
        strategy = names[number % len(names)] if number % 2 else _strategy(document, rng)
        if rng.random() < 0.5:
            _nudge(document["data"], rng)
            document.pop("best_known", None)
            file = folder / f"s{number}.json"
            file.write_text(json.dumps(document))
        budget = ("--seconds", "1", "--evaluations", "200", "--seed", str(rng.randrange(10)))
        yield Case(f"solve {number}", ("solve", str(file), "--strategy", strategy, *budget, *_json(rng)))


def _nudge(data: Any, rng: random.Random) -> None:
    """Multiply one number of a document by a power of ten, so that it mostly stays well formed."""
    numbers: list[tuple[Any, Any]] = []

    def visit(here: Any) -> None:
        entries = here.items() if isinstance(here, dict) else enumerate(here)
        for key, value in entries:
            if isinstance(value, (dict, list)):
                visit(value)
            elif isinstance(value, float) or (isinstance(value, int) and not isinstance(value, bool)):
                numbers.append((here, key))

    visit(data)
    if numbers:
        here, key = rng.choice(numbers)
        here[key] *= 10 ** rng.randint(1, 3) if isinstance(here[key], int) else 10.0 ** rng.randint(-6, 6)


# -- workers ----------------------------------------------------------------------------------------------------------


class Worker:
    """A process that runs command lines; killed and replaced when it does not answer."""

    def __init__(self) -> None:
        self.process: subprocess.Popen[str] | None = None
        self.served = 0
        # Long decisions go to files beside the shell, and no shell stands here.
        self.folder = tempfile.TemporaryDirectory(prefix="fuzz-")

    def ask(self, command: tuple[str, ...], seconds: float = WALL_SECONDS) -> dict[str, Any]:
        """What comes of a command; ``code`` says "killed" if it took too long, "died" if the process did."""
        if self.process is None or self.served >= RECYCLED_AFTER:
            self.close()
            self.process = subprocess.Popen(
                [sys.executable, str(Path(__file__).with_name("fuzz_worker.py"))],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.DEVNULL,
                text=True,
                cwd=self.folder.name,
                env={**os.environ, "MPLBACKEND": "Agg", "PYTHONPATH": _first_of_path(ROOT)},
            )
            self.served = 0
        assert self.process.stdin is not None and self.process.stdout is not None
        self.served += 1
        lost = {"out": "", "err": "", "warnings": [], "cpu": seconds, "megabytes": 0}
        try:
            self.process.stdin.write(json.dumps(list(command)) + "\n")
            self.process.stdin.flush()
            ready, _, _ = select.select([self.process.stdout], [], [], seconds)
            line = self.process.stdout.readline() if ready else ""
        except BrokenPipeError:
            ready, line = [self.process.stdout], ""
        if not line:
            self.close()
            return lost | {"code": "died" if ready else "killed"}
        answer: dict[str, Any] = json.loads(line)
        if answer["megabytes"] > MEGABYTES:  # its peak would be charged to all that follow
            self.close()
        return answer

    def close(self) -> None:
        """End the process."""
        if self.process is not None:
            self.process.kill()
            self.process.wait()
            self.process = None


def _first_of_path(folder: Path) -> str:
    return os.pathsep.join(filter(None, (str(folder), os.environ.get("PYTHONPATH"))))


def run_all(cases: Iterator[Case], workers: int, tell: Callable[[Tally], None] | None = None) -> Tally:
    """Run cases on several workers and judge what comes of each."""
    tally, lock, waiting = Tally(), threading.Lock(), queue.Queue[Case | None](maxsize=2 * workers)

    def work() -> None:
        worker = Worker()
        try:
            while (case := waiting.get()) is not None:
                answer = worker.ask(case.command)
                with lock:
                    tally.add(case, answer)
                    if tell:
                        tell(tally)
        finally:
            worker.close()
            worker.folder.cleanup()

    threads = [threading.Thread(target=work, daemon=True) for _ in range(workers)]
    for thread in threads:
        thread.start()
    for case in cases:
        waiting.put(case)
    for _ in threads:
        waiting.put(None)
    for thread in threads:
        thread.join()
    return tally


def show(title: str, tally: Tally) -> None:
    """Print the counts and, for each failure, how to see it again."""
    codes = ", ".join(f"{count} x exit {code}" for code, count in sorted(tally.codes.items()))
    print(f"{title}: {tally.cases} cases: {codes}; {len(tally.failures)} failures, {len(tally.slow)} slow answers,")
    print(f"  largest worker {tally.largest} MB")
    for case, seconds in tally.slow[:20]:
        print(f"  slow: {seconds:.1f} s of CPU: optmodels {' '.join(case.command)}")
    for failure in tally.failures[:60]:
        print(described(*failure))


def described(case: Case, found: list[str], answer: dict[str, Any]) -> str:
    """Tell what is wrong with an answer, and how to see it again."""
    command = f"  FAILED {case.label}: {'; '.join(found)}\n    optmodels {' '.join(case.command)}"
    return f"{command}\n    {answer['err'].strip()[-400:]}"


def main() -> int:
    """Run the three rounds."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n")[0])
    parser.add_argument("--files", type=int, default=20_000, help="mutated files")
    parser.add_argument("--solves", type=int, default=600, help="short runs")
    parser.add_argument("--agreements", type=int, default=150, help="small random instances")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--first", type=int, default=0, help="number of the first mutated file")
    parser.add_argument("--workers", type=int, default=min(2, os.cpu_count() or 1))
    parser.add_argument("--keep", metavar="DIR", help="keep the files of the cases here")
    options = parser.parse_args()
    started = time.monotonic()
    failures = 0
    with tempfile.TemporaryDirectory() as temporary:
        folder = Path(options.keep or temporary)
        folder.mkdir(parents=True, exist_ok=True)
        files = Files(folder, options.seed)
        if options.files:
            files.answer()
        numbers = range(options.first, options.first + options.files)
        rounds = (
            ("files", (files.case(number) for number in numbers)),
            ("solves", solves(folder, options.solves, options.seed)),
        )
        for title, cases in rounds:
            tally = run_all(cases, options.workers, _progress(title))
            show(title, tally)
            failures += len(tally.failures)
        if options.agreements:
            from fuzz_agreement import agree_all

            disagreements = agree_all(options.agreements, options.seed)
            print(f"agreement: {options.agreements} instances, {len(disagreements)} disagreements")
            for sentence in disagreements:
                print(f"  FAILED {sentence}")
            failures += len(disagreements)
    print(f"{failures} failures in {time.monotonic() - started:.0f} s")
    return 1 if failures else 0


def _progress(title: str) -> Callable[[Tally], None]:
    def tell(tally: Tally) -> None:
        if tally.cases % 500 == 0:
            print(f"{title}: {tally.cases} done, {len(tally.failures)} failures", file=sys.stderr, flush=True)

    return tell


if __name__ == "__main__":
    sys.exit(main())
