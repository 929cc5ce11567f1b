"""What commands print: answers to stdout, everything else to stderr."""

from __future__ import annotations

import contextlib
import json
import math
import os
import signal
import sys
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, TextIO

from ..data import columns, explained, number, refuse_device
from ..errors import RequestError, brief, printable

if TYPE_CHECKING:
    from heuristics import Problem, Progress, Result

    from ..instance import BestKnown

#: Entries of a decision printed to a terminal; `--json` prints all.
SHOWN_ENTRIES = 300

#: Those beside words that tell the same.
SHOWN_BESIDE_WORDS = 20

#: Columns below which a table of fields has no room: words would be cut off.
NARROW = 80

#: What is said at a first use. A first solve was measured to compile for 10 s (freshness) to 30 s (robots).
COMPILING = "compiling (first use, about 20 s)"


@dataclass
class Talk:
    """How much is said besides answers and errors, and where it is kept: the options -q, -v and --log."""

    quiet: bool = False
    verbose: bool = False
    log: TextIO | None = None

    @property
    def follows(self) -> bool:
        """Whether somebody reads how a run goes, be it later."""
        return self.verbose or self.log is not None


#: Of the command that is running; `optmodels.cli.process` sets it.
talk = Talk()


def say(sentence: str, *, heard: bool = True) -> None:
    """Write one line to stderr; where stderr takes nothing, silence is no reason to fail.

    Parameters
    ----------
    sentence
        Whatever it holds, it becomes one line of printable text.
    heard
        Otherwise it goes to the log file alone, if there is one.
    """
    line = printable(" ".join(str(sentence).split()))
    if talk.log is not None:
        with contextlib.suppress(OSError, ValueError):  # a full disk takes no answer away
            print(time.strftime("%Y-%m-%dT%H:%M:%S"), line, file=talk.log, flush=True)
    if not heard:
        return
    try:
        print(f"optmodels: {line}", file=sys.stderr, flush=True)
    except OSError:
        discard(sys.stderr)


def note(sentence: str) -> None:
    """Say what is good to know, unless silence was asked for (-q).

    Parameters
    ----------
    sentence
        As `say` takes it.
    """
    say(sentence, heard=not talk.quiet)


def tell_written(*files: str | os.PathLike[str]) -> None:
    """Note which files were written, if any."""
    if files:
        note(f"wrote {' and '.join(map(str, files))}")


def detail(sentence: str) -> None:
    """Say what few want to know, if it was asked for (-v); the log file has it."""
    say(sentence, heard=talk.verbose)


def discard(stream: TextIO) -> None:
    """Send what a stream still holds, and all that follows, nowhere: it can no longer be written to."""
    with contextlib.suppress(OSError, ValueError):  # a stream of a test or a notebook has no number
        nowhere = os.open(os.devnull, os.O_WRONLY)
        os.dup2(nowhere, stream.fileno())
        os.close(nowhere)


def open_closed_streams() -> None:
    """Give stdin, stdout and stderr something to stand on where the caller closed them (``>&-``).

    Otherwise the next file that is opened would get the number of the closed stream, and what others print goes into
    it.
    """
    for stream in range(3):
        try:
            os.fstat(stream)
        except OSError:
            os.set_inheritable(os.open(os.devnull, os.O_RDWR), True)  # takes the lowest number that is free
    if sys.stdout is None:
        sys.stdout = open(os.devnull, "w", encoding="utf-8")  # noqa: SIM115 - for the rest of the process
    if sys.stderr is None:
        sys.stderr = open(os.devnull, "w", encoding="utf-8")  # noqa: SIM115 - for the rest of the process


def check_target(out: str | None, *read: str | os.PathLike[str] | None) -> None:
    """Refuse, before any work, a file that cannot be written, is what is read, or lies in a folder read as a whole.

    Parameters
    ----------
    out
        Where the answer is to be written; ``None``: nowhere.
    *read
        Files and folders that are read.

    Raises
    ------
    RequestError
        One sentence with the file and the reason.
    """
    if out is None:
        return
    if not out:
        raise RequestError("the file to write to has no name; give it one, or leave the option out.")
    with explained(out):
        target = Path(out).parent.resolve() / Path(out).name  # a link is replaced, not followed
        behind = target.resolve()
        for source in read:
            place = None if source is None else Path(source).resolve()
            if place in (target, behind) or (place is not None and place.is_dir() and place in target.parents):
                raise RequestError(f"{out}: this is, or lies in, what is read from; choose another name.")
        refuse_device(out)
        if not target.parent.is_dir():
            raise RequestError(f"{out}: cannot be written: there is no folder {brief(target.parent.name)!r}.")
        if not os.access(target.parent, os.W_OK):
            raise RequestError(f"{out}: cannot be written: its folder is not yours to write to.")


def check_page(out: str | None, *read: str) -> None:
    """Refuse, before any work, a report that is no HTML file, or that `check_target` refuses.

    Parameters
    ----------
    out
        Where the page is to be written; ``None``: nowhere.
    *read
        Files that are read.
    """
    if out is not None and not out.endswith(".html"):
        raise RequestError(f"{out}: a report is an HTML file; end its name in .html.")
    check_target(out, *(name for name in read if not Path(name).is_dir()))


def settle() -> None:
    """The answer is there: from here on a signal only comes too late, it takes nothing back."""
    if threading.current_thread() is not threading.main_thread():
        return
    for kind in (signal.SIGINT, signal.SIGTERM):
        while signal.getsignal(kind) is not signal.SIG_IGN:
            with contextlib.suppress(KeyboardInterrupt):  # one that was on its way
                signal.signal(kind, signal.SIG_IGN)


def terminal_width() -> int | None:
    """Tell how wide a table may be.

    Returns
    -------
    int or None
        Columns of the environment or the terminal; ``None``, no end, in a file or a pipe.
    """
    asked = os.environ.get("COLUMNS", "")
    if asked.isdecimal() and int(asked) > 0:
        return int(asked)
    try:
        return os.get_terminal_size(sys.stdout.fileno()).columns or None
    except (OSError, ValueError):
        return None


def print_json(value: Any) -> None:
    """Print JSON, and nothing else, on stdout.

    Parameters
    ----------
    value
        Of plain lists, objects, texts and finite numbers.
    """
    print(json.dumps(value, allow_nan=False))


def deliver(data: Any, text: Any, *, as_json: bool) -> None:
    """Print the answer, from which on no signal takes anything back: JSON alone, or what people read.

    Parameters
    ----------
    data, text
        Each the thing itself or a function that makes it, called where it is asked for; a function may also print.
    as_json
        Whether `data` is asked for.
    """
    settle()
    asked = data if as_json else text
    made = asked() if callable(asked) else asked
    if as_json:
        print_json(made)
    elif made is not None:
        print(made)


def print_result(
    result: Result, data: Mapping[str, Any], problem: Problem | None = None, best_known: BestKnown | None = None
) -> None:
    """An answer for people: what is known, the decision, in words where the kind has some, and its measures."""
    print(result)
    if data["decision"] is not None:
        words = decision_words(problem, data)
        most = SHOWN_BESIDE_WORDS if words else SHOWN_ENTRIES
        print(f"decision {shown_decision(data['decision'], most)}")
        for line in words:
            print(line)
    if best_known is not None:
        print(beside_best_known(result, best_known))
    print_measures(data)
    print_multipliers(data["extra"].get("multipliers"))
    print_reason(data["extra"])


def decision_words(problem: Problem | None, data: Mapping[str, Any]) -> list[str]:
    """Tell a decision in words, a line each; nothing where the kind has no words for it."""
    from ..registry import kinds

    kind = None if problem is None else kinds.of(problem)
    tell = None if kind is None else kinds.part(kind.name, "words")
    if kind is None or tell is None:
        return []
    with kinds.blame(kind.name, "words"):
        return [str(line) for line in tell(problem, data)]


def beside_best_known(result: Result, best: BestKnown) -> str:
    """Hold an answer against the best known of its instance, which is taken as the file has it."""
    known = f"best known {number(best.objective)}{' (proved)' if best.proved else ''}"
    gap = result.gap(best.objective)
    if gap is None:
        return known
    if gap == 0:
        return f"{known}: this answer is equal to it"
    told = "" if math.isinf(gap) else f" by {100 * abs(gap):.4g} %"
    return f"{known}: this answer is {'above' if gap > 0 else 'below'} it{told}"


def print_evaluation(data: Mapping[str, Any], problem: Problem | None = None) -> None:
    """The verdict on one decision, in words where the kind has some."""
    verdict = "feasible" if not data["violations"] else "not feasible"
    objective = (
        "no objective (the problem has no cost)"
        if data["objective"] is None
        else f"objective {number(data['objective'])}"
    )
    print(f"{objective}, {verdict}")
    for name, amount in data["violations"].items():
        print(f"  broken: {name}, by {number(amount)}")
    for line in decision_words(problem, data):
        print(line)
    print_measures(data)


def print_measures(data: Mapping[str, Any]) -> None:
    """Scalar measures, one per line; one smaller than its own error, where it is known, as less than both together."""
    errors = data["extra"].get("errors") or {}
    lines = [[name, _known(value, errors.get(name, 0.0))] for name, value in data["measures"].items()]
    if lines:
        print(columns(lines, "  "))


def _known(value: float | None, error: float) -> str:
    """A number with this relative error."""
    if value is None or error < 1.0:
        return number(value)
    return f"< {number(abs(value) * (1.0 + error))}"


def print_multipliers(dual: Mapping[str, Any] | None) -> None:
    """What limits are worth, where the problem tells it."""
    if not dual or dual["bound"] is None:
        return
    print("multipliers of the limits:")
    rows = []
    for one in dual["limits"]:
        highest = math.inf if one["highest"] is None else one["highest"]
        ends = "" if one["lowest"] == highest else f"({number(one['lowest'])} to {number(highest)})"
        word = "at most" if one["side"] == "max" else "at least"
        rows.append([one["measure"], f"{word} {number(one['limit'])}", "multiplier", number(one["multiplier"]), ends])
    print(columns(rows, "  "))
    gap = "" if dual["gap"] is None else f", gap {number(dual['gap'])}"
    shares = [(shown_decision(one["decision"]), one["probability"]) for one in dual["mixture"]]
    if len(shares) == 1:
        attained = f"{shares[0][0]} alone"
    else:
        attained = "a draw of " + "; ".join(f"{decision} with {chance:.6g}" for decision, chance in shares)
    print(f"  dual bound {dual['bound']:.10g}{gap}, attained by {attained}")


def refuted(extra: Mapping[str, Any]) -> bool:
    """Tell whether a second opinion (``solve --verify``) says that a claim of the answer does not hold."""
    return bool((extra.get("second_opinion") or {}).get("verdict") == "refuted")


def print_reason(extra: Mapping[str, Any]) -> None:
    """Why there is no answer, where the strategy knows; what is to be known of one, where there is something."""
    if second := extra.get("second_opinion"):
        asked = f" ({', '.join(second['asked'])})" if second["asked"] else ""
        print(f"second opinion{asked}: {second['verdict']}; {second['reason']}")
    for name in ("reason", "note", "left_out", "hint"):
        if isinstance(extra.get(name), str):
            print(f"{name.replace('_', ' ')}: {extra[name]}")
    if extra.get("least_violation"):
        amounts = (f"{name} by {number(amount)}" for name, amount in extra["least_violation"].items())
        print(f"least violation met: {', '.join(amounts)}")
    subset = extra.get("infeasible_subset")
    if subset:
        names = subset if isinstance(subset, list) else [subset]
        more = " ..." if len(names) > 20 else ""
        print(f"constraints that cannot hold together: {', '.join(map(str, names[:20]))}{more}")


def shown_decision(decision: Any, most: int = SHOWN_ENTRIES) -> str:
    """A decision as it can be given back after ``--at``, cut if it has more than so many entries."""
    if isinstance(decision, list) and all(isinstance(entry, (int, float)) for entry in decision):
        entries = ",".join(str(entry) for entry in decision[:most])
        return f"{entries},... ({len(decision)} entries)" if len(decision) > most else entries
    text = json.dumps(decision)
    return text if len(text) <= 3 * most else f"{text[: 3 * most]}..."


@contextlib.contextmanager
def _telling_compilation(show: Callable[[str], None] | None = None) -> Iterator[None]:
    """A block in which it is told, by `show` or in a line on stderr, that something is being compiled, and how much."""
    from heuristics import clock

    quiet, count, before = talk.quiet or os.environ.get("OPTMODELS_QUIET") == "1", 0, clock.lost()

    def tell() -> None:
        nonlocal count
        count += 1
        if show is not None:
            show(f"{COMPILING}, function {count}")
        elif count == 1 and not quiet:
            note(f"{COMPILING}; time limits do not count it, and `optmodels warm-up` does it in advance.")

    with clock.telling(tell):
        yield
    if count and show is None and not quiet:
        note(f"compiled {count} functions in {clock.lost() - before:.0f} s; the code is kept for the next time.")


@contextlib.contextmanager
def run_progress(label: str, *, quiet: bool = False) -> Iterator[Callable[[Progress], None] | None]:
    """Follow one run by a line on the terminal; where stderr is none, only what takes long to compile is told.

    Parameters
    ----------
    label
        What is run, and for how long at most.
    quiet
        Show no line.

    Yields
    ------
    callable or None
        To be called with how things stand; ``None`` where nobody looks.
    """
    best: float | None = None

    def state(progress: Progress) -> str:
        best = "nothing feasible yet" if progress.objective is None else f"objective {progress.objective:.8g}"
        bound = "" if progress.bound is None else f", bound {progress.bound:.8g}"
        return f"{label}: {best}{bound}, {progress.evaluations} evaluations, {progress.seconds:.0f} s"

    def keep(progress: Progress) -> None:
        nonlocal best
        if progress.objective != best:
            best = progress.objective
            detail(state(progress))

    if quiet or talk.quiet or talk.verbose or not sys.stderr.isatty():
        with _telling_compilation():
            yield keep if talk.follows else None
        return
    from rich.console import Console
    from rich.markup import escape

    with (
        Console(stderr=True).status(escape(label)) as line,
        _telling_compilation(lambda what: line.update(escape(f"{label}: {what}"))),
    ):

        def show(progress: Progress) -> None:
            keep(progress)
            line.update(escape(state(progress)))

        yield show


@contextlib.contextmanager
def batch_progress(
    label: str, *, quiet: bool = False, seconds: float | None = None, workers: int = 1
) -> Iterator[Callable[[int, int, str], None] | None]:
    """Show a bar on the terminal that follows many runs; where stderr is none, only what takes long to compile is told.

    At its end there is an answer, see `settle`.

    Parameters
    ----------
    label
        What is done.
    quiet
        Show no bar.
    seconds, workers
        Time limit of each run, if there is one, and runs at a time: they tell the time that is left at most.

    Yields
    ------
    callable or None
        To be called with what is done, of how much, and what it is; ``None`` where there is no bar.
    """
    if quiet or talk.quiet or talk.verbose or not sys.stderr.isatty():
        with _telling_compilation():
            yield (lambda done, total, what: detail(f"{done} of {total}: {what}")) if talk.follows else None
            settle()
        return
    from rich.console import Console
    from rich.markup import escape
    from rich.progress import BarColumn, MofNCompleteColumn, TextColumn, TimeElapsedColumn
    from rich.progress import Progress as Bar

    left = TextColumn("{task.fields[left]}")
    parts = (BarColumn(), MofNCompleteColumn(), TimeElapsedColumn(), left, TextColumn("{task.description}"))
    with Bar(*parts, console=Console(stderr=True), transient=True) as bar:
        task = bar.add_task(label, total=None, left="")
        shown = label

        def show(done: int, total: int, what: str) -> None:
            nonlocal shown
            shown = what
            most = time_left(total - done, seconds, workers)
            bar.update(task, completed=done, total=total, description=escape(what), left=most)
            say(f"{done} of {total}: {what}", heard=False)

        with _telling_compilation(lambda what: bar.update(task, description=escape(f"{shown}: {what}"))):
            yield show
            settle()


def time_left(runs: int, seconds: float | None, workers: int = 1) -> str:
    """Tell how long runs take at most, in words; nothing where they have no time limit.

    >>> time_left(7, 60, workers=2), time_left(3, 1.5), time_left(3, None)
    ('at most 4 min left', 'at most 5 s left', '')
    """
    if seconds is None or runs <= 0:
        return ""
    most = math.ceil(runs / max(workers, 1)) * seconds
    for size, unit in ((3600, "h"), (60, "min")):
        if most >= 2 * size:
            return f"at most {math.ceil(most / size)} {unit} left"
    return f"at most {math.ceil(most)} s left"


@contextlib.contextmanager
def pages_progress(label: str, *, quiet: bool = False) -> Iterator[Callable[[str, int, int], None] | None]:
    """A bar on the terminal that follows passes over pages; nothing where stderr is not a terminal."""
    with batch_progress(label, quiet=quiet) as bar:
        yield None if bar is None else lambda phase, done, pages: bar(done, pages, f"{label}: {phase} pages")
