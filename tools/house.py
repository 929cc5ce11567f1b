"""Measure the house: one table of figures about the code base, each beside its aim.

>>> python tools/house.py
>>> python tools/house.py --json
>>> python tools/house.py --write CONTRIBUTING.md

The last one also replaces what stands between the two markers of a document (`BEGIN`, `END`).

Times are processor seconds of a child process, the least of three; they are for reading, and no test asserts them.
"""

from __future__ import annotations

import argparse
import inspect
import json
import os
import re
import statistics
import subprocess
import sys
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import asdict, dataclass
from importlib import import_module
from pathlib import Path
from typing import Any

from rooms import (
    MAIN_DOORS,
    PACKAGES,
    code_lines,
    deep_imports,
    exported_by,
    folders,
    imports,
    is_door,
    kind_edges,
    modules,
)

ROOT = Path(__file__).parents[1]
LONGEST_MODULE = 500

#: What is solved, by kind: a small instance and a strategy that proves its answer.
SOLVED = {
    "threshold": ("avrachenkov-k3", "exhaustive"),
    "robots": ("talim-two-robots", "policy-iteration"),
    "freshness": ("coffman-4", "lagrangian"),
    "routing": ("loss-3", "min-mean-cycle"),
    "placement": ("gautam-2x3", "highs"),
}

#: Modules of ours that a solve may load, by kind: half of what it took before the packages had rooms. Of a placement
#: two more for each room with fields of its own (scenarios, server types, classes): one model reads all fields; and
#: three for distances of any sort, one of them for sites that are fixed.
LOADED = {"threshold": 66, "robots": 68, "freshness": 66, "routing": 71, "placement": 76}

#: Run a program, and at its end write on stderr how many modules of ours are loaded. The command leaves by `os._exit`
#: after the functions of `atexit`.
COUNTED = """
import atexit, sys
def told():
    names = [name for name in list(sys.modules) if name.partition(".")[0] in {packages!r}]
    print(len(names), file=sys.stderr)
atexit.register(told)
{program}
"""

COMMAND = 'import runpy; sys.argv = {words!r}; runpy.run_module("optmodels", run_name="__main__", alter_sys=True)'

#: The first name of the smallest kind of queues.
ONE_QUEUE = "from queueing.placement import FiniteSourceQueue"

#: Between these lines of a document stands the table.
BEGIN = "<!-- figures of the house: written by `make house`, not by hand -->"
END = "<!-- end of the figures -->"


@dataclass(frozen=True)
class Figure:
    """One row of the table."""

    name: str
    now: float
    aim: str


# -- figures that are read ---------------------------------------------------------------------------------------------


def of_folders(root: Path) -> Iterator[Figure]:
    """Measure how large folders and modules are."""
    sizes = sorted(folders(root).values())
    files = modules(root).values()
    texts = [file.read_text(encoding="utf-8") for file in files if not is_door(file)]
    lengths = [len(text.splitlines()) for text in texts]
    yield Figure("files in the largest folder", sizes[-1], "<= 15")
    yield Figure("files in the median folder", statistics.median(sizes), "about 6")
    yield Figure("modules, doors aside", len(lengths), "about 255")
    yield Figure("lines of the median module", statistics.median(lengths), "<= 200")
    yield Figure("the same without docstrings, comments, blanks", statistics.median(map(code_lines, texts)), "-")
    yield Figure(f"modules over {LONGEST_MODULE} lines", sum(n > LONGEST_MODULE for n in lengths), "0")


def of_imports(root: Path) -> Iterator[Figure]:
    """Measure who knows whom."""
    edges = imports(root)
    importers = Counter(one.partition(".")[0] for one, _ in kind_edges(edges))
    for package in PACKAGES:
        yield Figure(f"kind-to-kind edges in {package}", importers[package], "0")
    yield Figure("deep imports of optmodels", len(deep_imports(edges, modules(root))), "< 40")


def of_code(root: Path) -> Iterator[Figure]:
    """Measure how much code there is."""
    lines = sum(code_lines(file.read_text(encoding="utf-8")) for file in modules(root).values())
    yield Figure("lines of code without docstrings, comments, blanks", lines, "< 38185")


# -- figures of what is exported ---------------------------------------------------------------------------------------


def exports(root: Path) -> list[tuple[Any, bool]]:
    """Load what the packages export, each object once, and tell whether a main door does."""
    found: dict[int, tuple[Any, bool]] = {}
    for name, file in modules(root).items():
        for word in exported_by(file) or ():
            thing = getattr(import_module(name), word)
            found[id(thing)] = thing, name in MAIN_DOORS or (id(thing) in found and found[id(thing)][1])
    return list(found.values())


def is_documentable(thing: Any) -> bool:
    """Tell whether a thing has a docstring of its own: constants and aliases of types have none."""
    return inspect.isclass(thing) or inspect.isroutine(thing)


def documented(thing: Any) -> dict[str, bool]:
    """Tell for each part that a docstring should have whether it is there: Parameters, Returns, an example.

    Parameters (or Attributes) are expected where arguments are taken, Returns of functions that are not annotated with
    ``None``, and an example of everything.
    """
    text = inspect.getdoc(thing) or ""
    try:
        signature = inspect.signature(thing)
    except (ValueError, TypeError):  # classes of the language say nothing
        signature = inspect.Signature()
    told = {"example": ">>> " in text}
    if signature.parameters and not getattr(thing, "_is_protocol", False):
        told["Parameters"] = bool(re.search(r"^(Parameters|Attributes)\n-+$", text, re.M))
    if inspect.isroutine(thing) and signature.return_annotation not in (None, "None"):
        told["Returns"] = bool(re.search(r"^(Returns|Yields)\n-+$", text, re.M))
    return told


def of_exports(root: Path) -> Iterator[Figure]:
    """Measure what is exported, and how well it is documented."""
    things = exports(root)
    told = [documented(thing) for thing, _ in things if is_documentable(thing)]
    for (_, main), one in zip((thing for thing in things if is_documentable(thing[0])), told, strict=True):
        if not main:  # an example is asked of what main doors export
            del one["example"]
    yield Figure("exported names (__all__), each thing once", len(things), "-")
    yield Figure("functions and classes among them", len(told), "-")
    for part in ("Parameters", "Returns", "example"):
        yield Figure(
            f"% of these with {part}, where expected", percent([one[part] for one in told if part in one]), "100"
        )
    yield Figure("% of these with all that is expected", percent([all(one.values()) for one in told]), "100")


def percent(answers: list[bool]) -> float:
    """Tell how many answers are yes, of a hundred."""
    return round(100 * sum(answers) / max(1, len(answers)))


# -- figures of processes ----------------------------------------------------------------------------------------------


def loaded(program: str, root: Path) -> int:
    """Count the modules of ours that a program has loaded when it ends."""
    code = COUNTED.format(packages=PACKAGES, program=program)
    ended = subprocess.run(
        [sys.executable, "-c", code], cwd=root, env=surroundings(root), capture_output=True, text=True
    )
    if ended.returncode:
        raise RuntimeError(f"the program ended with {ended.returncode}: {ended.stderr[-500:]}")
    return int(ended.stderr.splitlines()[-1])


def cpu_seconds(words: list[str], root: Path, times: int = 3) -> float:
    """Measure the processor seconds of the command, the least of several runs."""
    command = [sys.executable, "-m", "optmodels", *words]
    spent = []
    for _ in range(times):
        child = subprocess.Popen(command, cwd=root, env=surroundings(root), stdout=subprocess.DEVNULL)
        _, status, usage = os.wait4(child.pid, 0)
        child.returncode = os.waitstatus_to_exitcode(status)
        if child.returncode:
            raise RuntimeError(f"optmodels {' '.join(words)} ended with {child.returncode}")
        spent.append(usage.ru_utime + usage.ru_stime)
    return min(spent)


def surroundings(root: Path) -> dict[str, str]:
    """Prepare the environment of a child: the modules that are measured, and one thread."""
    one = dict.fromkeys(("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "NUMBA_NUM_THREADS", "OPTMODELS_QUIET"), "1")
    return {**os.environ, **one, "PYTHONPATH": str(root)}


def solving(kind: str) -> list[str]:
    """Spell the command that solves the small instance of a kind."""
    stem, strategy = SOLVED[kind]
    return ["solve", f"instances/{kind}/{stem}.json", "--strategy", strategy]


def of_processes(root: Path) -> Iterator[Figure]:
    """Measure what is loaded, and how long a command takes."""
    yield Figure("modules of ours loaded by one queue", loaded(ONE_QUEUE, root), "<= 8")
    for kind in SOLVED:
        count = loaded(COMMAND.format(words=["optmodels", *solving(kind)]), root)
        yield Figure(f"modules of ours loaded to solve {kind}", count, f"<= {LOADED[kind]}")
    yield Figure("CPU seconds of optmodels --help", round(cpu_seconds(["--help"], root), 2), "< 0.3")
    seconds = cpu_seconds(solving("threshold"), root)  # whatever is compiled is by now: the same was solved above
    yield Figure("CPU seconds of a warm optmodels solve", round(seconds, 2), "<= 1.02")


SECTIONS: tuple[Callable[[Path], Iterator[Figure]], ...] = (of_folders, of_imports, of_processes, of_code, of_exports)


def table(figures: list[Figure]) -> str:
    """Write figures as a table."""
    rows = [
        ("figure", "now", "aim"),
        *((f.name, f"{f.now:g}" if f.now < 1e5 else f"{f.now:.0f}", f.aim) for f in figures),
    ]
    widths = [max(len(row[column]) for row in rows) for column in range(3)]
    return "\n".join(f"{name:{widths[0]}}  {now:>{widths[1]}}  {aim}" for name, now, aim in rows)


def refreshed(document: str, figures: str) -> str:
    """Put the table between the markers of a document; what stands around them stays.

    Raises
    ------
    ValueError
        If the markers are not there, once each and in order.
    """
    before, begin, rest = document.partition(BEGIN)
    _, end, after = rest.partition(END)
    if not (begin and end) or BEGIN in after or END in before + after:
        raise ValueError(f"the figures stand between two lines, once each: {BEGIN} and {END}")
    return f"{before}{BEGIN}\n\n```\n{figures}\n```\n\n{END}{after}"


def main() -> int:
    """Measure, and print."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n")[0])
    parser.add_argument("--json", action="store_true", help="print JSON")
    parser.add_argument("--write", type=Path, metavar="FILE", help="put the table between the markers of a document")
    options = parser.parse_args()
    document = options.write.read_text(encoding="utf-8") if options.write else None
    if document is not None:
        refreshed(document, "")  # markers that are missing are told before anything is measured
    figures = [figure for section in SECTIONS for figure in section(ROOT)]
    if document is not None:
        options.write.write_text(refreshed(document, table(figures)), encoding="utf-8")
    print(json.dumps([asdict(figure) for figure in figures], indent=1) if options.json else table(figures))
    return 0


if __name__ == "__main__":
    sys.exit(main())
