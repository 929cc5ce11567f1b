"""Plant known mistakes, one at a time, and see whether the tests notice.

``mutants.toml`` lists the mistakes: a piece of code named by its text (not by file and line, so that it survives a
move), what it becomes, and the tests of its module. Each is planted in a copy of the repository and the tests are run
there; a mistake that they do not notice has survived. A survivor is a hole in the tests, unless the list gives a reason
why nobody could tell (``reason``).

>>> python tools/mutants.py --only oracle
"""

from __future__ import annotations

import argparse
import os
import queue
import shutil
import subprocess
import sys
import tempfile
import threading
import time
import tomllib
from dataclasses import dataclass
from functools import cache
from pathlib import Path

ROOT = Path(__file__).parents[1]
LIST = Path(__file__).with_name("mutants.toml")
PACKAGES = ("optmodels", "heuristics", "queueing")

#: What a copy of the repository needs for its tests.
COPIED = (*PACKAGES, "tests", "benchmarks", "instances", "docs", "README.md", "pyproject.toml", "Makefile", "LICENSE")

#: Seconds for the tests of one mistake; a mistake that makes them hang is noticed, too.
SECONDS = 600


@dataclass(frozen=True)
class Mutant:
    """One mistake.

    Parameters
    ----------
    text
        Code that stands in exactly one place of the three packages.
    becomes
        The mistake.
    tests
        Stems of the test files that must notice it.
    reason
        Why no test can, if none can.
    """

    text: str
    becomes: str
    tests: tuple[str, ...]
    reason: str = ""

    @property
    def label(self) -> str:
        """The change in one short line."""
        before, after = (" ".join(part.split()) for part in (self.text, self.becomes))
        return f"{before[:70]}  ->  {after[:70]}"


class Unplaced(ValueError):  # noqa: N818 - reads as what happened
    """The text of a mutant does not stand in exactly one place."""


def read() -> list[Mutant]:
    """The list."""
    entries = tomllib.loads(LIST.read_text(encoding="utf-8"))["mutant"]
    return [Mutant(e["text"], e["becomes"], tuple(e["tests"]), e.get("reason", "")) for e in entries]


def place_of(mutant: Mutant, root: Path = ROOT) -> Path:
    """The file in which the text stands, relative to `root`.

    Raises
    ------
    Unplaced
        If it stands in none, or more than once.
    """
    places = [file for file, content in contents(root).items() for _ in range(content.count(mutant.text))]
    if len(places) != 1:
        names = ", ".join(map(str, places)) or "no file"
        raise Unplaced(f"{mutant.text!r} stands in {names}; a mutant is named by text that stands once.")
    return places[0]


@cache
def contents(root: Path) -> dict[Path, str]:
    """The modules of the three packages, by their place in `root`."""
    files = [file for package in PACKAGES for file in sorted((root / package).rglob("*.py"))]
    return {file.relative_to(root): file.read_text(encoding="utf-8") for file in files}


def test_files(mutant: Mutant, root: Path = ROOT) -> list[str]:
    """The test files of a mutant, relative to `root`."""
    found = {stem: sorted((root / "tests").rglob(f"{stem}.py")) for stem in mutant.tests}
    missing = [stem for stem, files in found.items() if not files]
    if missing:
        raise Unplaced(f"no test file is called {', '.join(missing)}.")
    return [str(file.relative_to(root)) for files in found.values() for file in files]


def survives(mutant: Mutant, copy: Path) -> bool:
    """Whether the tests in `copy` pass with the mistake planted.

    Raises
    ------
    RuntimeError
        If the tests did not run at all.
    """
    file = copy / place_of(mutant, copy)
    content, stamp = file.read_text(encoding="utf-8"), file.stat()
    # Compiled callers in other files would keep the old code: kernels are compiled anew, elsewhere.
    environment = dict(os.environ, PYTHONPATH=str(copy), PYTHONDONTWRITEBYTECODE="1")
    with tempfile.TemporaryDirectory() as cache:
        if "njit" in content:
            environment["NUMBA_CACHE_DIR"] = cache
        command = [sys.executable, "-m", "pytest", "-x", "-q", "-p", "no:cacheprovider", "-p", "no:xdist"]
        try:
            file.write_text(content.replace(mutant.text, mutant.becomes), encoding="utf-8")
            ended = subprocess.run(
                [*command, *test_files(mutant, copy)],
                cwd=copy,
                env=environment,
                capture_output=True,
                text=True,
                timeout=SECONDS,
            )
        except subprocess.TimeoutExpired:
            return False
        finally:
            file.write_text(content, encoding="utf-8")
            os.utime(file, ns=(stamp.st_atime_ns, stamp.st_mtime_ns))
    if ended.returncode not in (0, 1, 2, 4):  # 2 and 4: a test file, or what it rests on, cannot even be imported
        raise RuntimeError(f"the tests of {mutant.label!r} did not run: {ended.stdout[-500:]} {ended.stderr[-500:]}")
    return ended.returncode == 0


def copied(root: Path, folder: Path) -> Path:
    """A copy of what the tests need, caches of compiled code included."""
    for name in COPIED:
        source = root / name
        if source.is_dir():
            shutil.copytree(source, folder / name)
        else:
            shutil.copy2(source, folder / name)
    return folder


def run_all(mutants: list[Mutant], workers: int) -> tuple[list[Mutant], list[str]]:
    """Mutants that survive, and what went wrong on the way."""
    waiting: queue.SimpleQueue[tuple[int, Mutant]] = queue.SimpleQueue()
    for numbered in enumerate(mutants, 1):
        waiting.put(numbered)
    survivors: list[Mutant] = []
    errors: list[str] = []

    def work() -> None:
        with tempfile.TemporaryDirectory() as folder:
            copy = copied(ROOT, Path(folder))
            while True:
                try:
                    number, mutant = waiting.get_nowait()
                except queue.Empty:
                    return
                started = time.monotonic()
                try:
                    verdict = "SURVIVES" if survives(mutant, copy) else "noticed"
                    if verdict == "SURVIVES":
                        survivors.append(mutant)
                except (RuntimeError, Unplaced) as failure:
                    verdict = "ERROR"
                    errors.append(str(failure))
                took = time.monotonic() - started
                print(f"{number:3d}/{len(mutants)}  {verdict:8}  {took:5.0f} s  {mutant.label}", flush=True)

    threads = [threading.Thread(target=work) for _ in range(workers)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return survivors, errors


def main() -> int:
    """Run the list, or a part of it."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n")[0])
    parser.add_argument("--only", default="", metavar="TEXT", help="mutants whose code, file or tests contain this")
    parser.add_argument("--workers", type=int, default=min(2, os.cpu_count() or 1))
    options = parser.parse_args()
    mutants = [m for m in read() if options.only in f"{m.text} {m.becomes} {m.tests} {place_of(m)}"]
    survivors, errors = run_all(mutants, options.workers)
    excused = [mutant for mutant in survivors if mutant.reason]
    print(f"{len(mutants)} mutants, {len(mutants) - len(survivors) - len(errors)} noticed, {len(survivors)} survive")
    for mutant in survivors:
        print(f"  survives: {mutant.label}\n    in {place_of(mutant)}: {mutant.reason or 'NO REASON GIVEN'}")
    for sentence in errors:
        print(f"  error: {sentence}")
    return 1 if errors or len(survivors) > len(excused) else 0


if __name__ == "__main__":
    sys.exit(main())
