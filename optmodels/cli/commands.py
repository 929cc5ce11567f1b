"""The ``optmodels`` command.

Heavy libraries are imported inside the commands, so that ``--help`` answers at once. Exit codes: 0 answered, 3 no
feasible decision, 2 request or file not understood, 1 a defect of ours.
"""

from __future__ import annotations

import contextlib
import errno
import os
import signal
import sys
import threading
import traceback
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from .. import __version__, clash
from ..data import columns
from ..entry import INTERRUPTED, hear_lost_interrupts, interrupt, interrupt_or_leave
from ..errors import InstanceError, RequestError
from ..plugins import shield
from .arguments import parse_decision, spread
from .fit import add_to as add_fit_to
from .options import (
    ANSWERED,
    DEFECT,
    NOT_UNDERSTOOD,
    NOTHING_FEASIBLE,
    Evaluations,
    File,
    Json,
    Seconds,
    Seed,
    StrategyName,
    seconds_of,
)
from .output import (
    check_target,
    discard,
    open_closed_streams,
    pages_progress,
    print_evaluation,
    print_json,
    print_result,
    run_progress,
    say,
    settle,
    terminal_width,
)
from .pareto import add_to as add_pareto_to
from .simulate import add_to as add_simulate_to
from .studies import add_to
from .visits import add_to as add_visits_to

if TYPE_CHECKING:
    from heuristics import Budget, Result, Strategy

app = typer.Typer(
    name="optmodels",
    help="Optimization models with pluggable exact and heuristic solvers.\n\n"
    "Example: optmodels solve instances/placement/gautam-6x6.json --strategy highs --seconds 60",
    add_completion=False,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
    context_settings={"help_option_names": ["-h", "--help"]},
)


#: What goes wrong with standard output, not with us: a full disk, a quota, a dead device, a closed stream.
UNWRITABLE = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG, errno.EIO, errno.EBADF)


def main(arguments: Sequence[str] | None = None) -> int:
    """Run one command and return its exit code."""
    words = list(sys.argv[1:] if arguments is None else arguments)
    debug = "--debug" in words or os.environ.get("OPTMODELS_DEBUG") == "1"
    words = [word for word in words if word != "--debug"] or ["--help"]
    open_closed_streams()
    shield()
    before = {number: signal.getsignal(number) for number in (signal.SIGINT, signal.SIGTERM)}, sys.unraisablehook
    _take_signals(interrupt_or_leave if arguments is None else interrupt)
    for stream in (sys.stdout, sys.stderr):
        if hasattr(stream, "reconfigure"):
            stream.reconfigure(errors="backslashreplace")  # a name the terminal cannot show is no reason to fail
    try:
        return _deliver(_answer(words, debug))
    except KeyboardInterrupt:  # one more, while the first was answered
        return _interrupted()
    finally:
        if arguments is not None:  # called from Python: the program around us goes on
            _give_back_signals(*before)


def _answer(words: list[str], debug: bool) -> int:
    """Run the command; whatever comes of it is an exit code, and a sentence where there is no answer."""
    try:
        code = app(args=spread(words), prog_name="optmodels", standalone_mode=False)
        settle()
    except KeyboardInterrupt:
        return _interrupted()
    except SystemExit as ended:
        if not isinstance(ended.__context__, BrokenPipeError):
            raise
        discard(sys.stdout)  # typer's word for a reader who has seen enough in the middle of an answer
        return ANSWERED
    except Exception as failure:
        # A Ctrl-C that lands in compiled code, or in a library, may come out so; runs see to it themselves.
        if isinstance(failure.__cause__ or failure.__context__, KeyboardInterrupt):
            return _interrupted()
        return _explain(failure, debug)
    return _interrupted() if code == 130 else int(code or 0)  # typer's word for Ctrl-C outside a run


def _interrupted() -> int:
    settle()
    say(INTERRUPTED)
    return NOTHING_FEASIBLE


def _deliver(code: int) -> int:
    """See what was printed on its way; the exit code tells if it cannot be."""
    settle()
    try:
        sys.stdout.flush()
    except BrokenPipeError:  # the reader, `head` perhaps, has seen enough
        discard(sys.stdout)
    except OSError as failure:
        return _undelivered(failure)
    return code


def _undelivered(failure: OSError) -> int:
    discard(sys.stdout)
    say(f"the answer cannot be written to standard output: {failure.strerror or failure}.")
    return NOT_UNDERSTOOD


def _give_back_signals(handlers: Mapping[signal.Signals, Any], hook: Any) -> None:
    sys.unraisablehook = hook
    if threading.current_thread() is threading.main_thread():
        for number, handler in handlers.items():
            if handler is not None:  # set by something other than Python
                signal.signal(number, handler)


def _explain(failure: Exception, debug: bool) -> int:
    if debug:
        traceback.print_exception(failure)
    if isinstance(failure, RequestError):
        say(str(failure))
        return NOT_UNDERSTOOD
    if isinstance(failure, OSError) and failure.errno in UNWRITABLE and failure.filename is None:
        return _undelivered(failure)
    if hasattr(failure, "format_message"):  # usage errors; their class depends on the version of typer
        context = getattr(failure, "ctx", None)
        where = context.command_path if context is not None else "optmodels"
        say(f"{failure.format_message().rstrip('. ')} (see {where} --help).")
        return NOT_UNDERSTOOD
    if isinstance(failure, ImportError) and (sentence := clash(failure)):
        say(sentence)
        return DEFECT
    from heuristics import UnsupportedProblem

    if isinstance(failure, UnsupportedProblem):
        say(str(failure))
        return NOT_UNDERSTOOD
    if isinstance(failure, MemoryError):
        say(f"the memory of this machine does not suffice: {failure}")
        return DEFECT
    hint = "" if debug else "; --debug shows where"
    say(f"this is a defect of optmodels, please report it: {type(failure).__name__}: {failure}{hint}")
    return DEFECT


def _take_signals(handler: Any) -> None:
    """Let SIGINT and SIGTERM end a run on its incumbent, also where a shell started us with SIGINT ignored."""
    sys.unraisablehook = hear_lost_interrupts
    if threading.current_thread() is threading.main_thread():
        for number in (signal.SIGINT, signal.SIGTERM):
            signal.signal(number, handler)


def _version(wanted: bool) -> None:
    if wanted:
        print(f"optmodels {__version__}")
        raise typer.Exit()


@app.callback()
def _common(
    version: Annotated[
        bool, typer.Option("--version", callback=_version, is_eager=True, help="Print the version and stop.")
    ] = False,
    debug: Annotated[bool, typer.Option("--debug", help="Show where a failure comes from.")] = False,
) -> None:
    """Options before the command; ``--debug`` is taken out of the arguments by `main`."""


@app.command("list")
def list_names(
    name: Annotated[str | None, typer.Argument(metavar="[NAME]", help="Tell about this one.")] = None,
    json: Json = False,
) -> int:
    """Kinds, strategies and costs, and where each comes from.

    Example: optmodels list genetic
    """
    from ..registry import REGISTRIES

    if name is not None:
        return _tell(name, json)
    rows = [
        [registry.noun, entry.name, entry.origin] for registry in REGISTRIES for entry in _sorted(registry.entries())
    ]
    settle()
    if json:
        print_json([{"what": noun, "name": entry, "origin": origin} for noun, entry, origin in rows])
    else:
        print(columns(rows))
    return ANSWERED


def _sorted(entries: list[Any]) -> list[Any]:
    return sorted(entries, key=lambda entry: entry.name)


def _tell(name: str, json: bool) -> int:
    """What stands behind a name: what it is, its parameters with their defaults, and what each of them does."""
    from ..errors import suggestion
    from ..registry import REGISTRIES
    from .explain import explanation, parameters_of, summary_of

    owners = [registry for registry in REGISTRIES if name in registry]
    if not owners:
        known = {entry for registry in REGISTRIES for entry in registry}
        raise RequestError(f"nothing is called {name!r}. {suggestion(name, known)}")
    told = []
    for registry in owners:
        target = registry[name]
        entry: dict[str, Any] = {"what": registry.noun, "name": name, "origin": registry.origin(name)}
        entry["summary"] = summary_of(target)
        parameters = parameters_of(target)
        entry["parameters"] = [parameter.name for parameter in parameters]
        lines = [f"{registry.noun} {name} ({entry['origin']}): {entry['summary']}"]
        if registry.noun == "problem kind":  # its fields are for Python; a file has others
            entry["measures"] = list(getattr(target, "measure_names", ()))
            lines.append(f"  measures: {', '.join(entry['measures'])}")
        else:
            entry["explained"] = [parameter.to_data() for parameter in parameters]
            lines += ["  parameters:", explanation(parameters, terminal_width())] if parameters else ["  no parameters"]
        told.append((entry, lines))
    settle()
    if json:
        print_json([entry for entry, _ in told])
    else:
        print("\n".join(line for _, lines in told for line in lines))
    return ANSWERED


@app.command()
def evaluate(
    file: File,
    at: Annotated[
        str, typer.Option(metavar="DECISION", help="0,1,1 or -1,2,2 or @file.json (list, object or result).")
    ],
    json: Json = False,
) -> int:
    """Measures of one decision.

    Example: optmodels evaluate instances/placement/gautam-2x3.json --at 0,0,1,1,1,0
    """
    from .. import solving
    from ..results import result_to_data

    decision = parse_decision(at)
    data = result_to_data(solving.evaluate(file, decision))
    settle()
    if json:
        print_json(data)
    else:
        print_evaluation(data)
    return ANSWERED


@app.command()
def solve(
    file: File,
    strategy: StrategyName,
    seconds: Seconds = None,
    evaluations: Evaluations = None,
    seed: Seed = 0,
    json: Json = False,
    out: Annotated[str | None, typer.Option(metavar="R.json", help="Also write the result to this file.")] = None,
    cluster: Annotated[
        str | None, typer.Option(metavar="ADDRESS|local", help="Go over a table of pages on this Dask cluster.")
    ] = None,
) -> int:
    """Look for the best decision.

    Ctrl-C ends the search and prints the best decision found so far.

    Example: optmodels solve instances/placement/gautam-6x6.json --strategy genetic:population=100 --seconds 10
    """
    from .. import solving
    from ..registry import make_strategy

    chosen = make_strategy(strategy)
    limits = solving.make_budget(None, seconds, evaluations)
    with contextlib.ExitStack() as stack:
        if cluster is None:
            problem = solving.as_problem(file)
        else:
            from ..freshness.tables import on_cluster

            problem = stack.enter_context(on_cluster(file, cluster))
        check_target(out, file, _table_of(problem, file))
        result, data, unwritten = _solved(problem, chosen, limits, seed, out, quiet=json)
    if not json:
        print_result(result, data)
    if json or unwritten:  # what no file could take is not lost
        print_json(data)
    if unwritten:
        say(f"{unwritten} The answer is on standard output.")
        return NOT_UNDERSTOOD
    return ANSWERED if result.decision is not None else NOTHING_FEASIBLE


def _table_of(problem: Any, file: str) -> Path | None:
    """The table of pages that an instance names, if it names one."""
    place: Path | None = problem.pages.place(Path(file).parent) if getattr(problem, "kind", "") == "freshness" else None
    return place


def _solved(
    problem: Any, chosen: Strategy, limits: Budget, seed: int, out: str | None, *, quiet: bool
) -> tuple[Result, dict[str, Any], str | None]:
    """The result, what is told of it, and what could not be written; a very long decision is written on the way."""
    from .. import solving
    from ..results import kept_result

    result, data, unwritten = None, None, None
    streamed = getattr(problem, "table", None) is not None  # what takes long is then a pass over pages
    try:
        with contextlib.ExitStack() as stack:
            label = f"{problem.name} by {chosen.name}"
            follow = None
            if streamed:
                problem = replace(problem, tell=stack.enter_context(pages_progress(label, quiet=quiet)))
            else:
                follow = stack.enter_context(run_progress(label, quiet=quiet))
            result = solving.solve(problem, chosen, budget=limits, seed=seed, progress=follow)
            if not streamed:
                settle()
            data, unwritten = kept_result(result, out)
            settle()
    except KeyboardInterrupt:
        settle()
    if result is None or (streamed and data is None):  # interrupted before the search, in a check, or while writing
        result = solving.interrupted(problem, chosen, seed)
    if data is None:
        data, unwritten = kept_result(result, out)
    return result, data, unwritten


@app.command()
def check(
    files: Annotated[list[str], typer.Argument(metavar="FILE...", help="Instance files, or folders of them.")],
    json: Json = False,
) -> int:
    """Validate instances and evaluate their best-known decisions again.

    Example: optmodels check instances
    """
    from .. import instance as instances

    verdicts: list[dict[str, Any]] = []
    chosen = _instance_files(files)
    for file in chosen:
        verdict: dict[str, Any] = {
            "file": file,
            "ok": True,
            "name": None,
            "kind": None,
            "best_known": None,
            "error": None,
        }
        try:
            content = instances.read(file)
            problem = instances.problem_of(content, file)
            verdict |= {"name": content.name, "kind": content.kind}
            try:
                confirmed = instances.check_best_known(content, problem)
            except InstanceError as failure:
                raise failure.at(file) from None
            verdict["best_known"] = None if confirmed is None else confirmed.objective
        except RequestError as failure:
            verdict |= {"ok": False, "error": str(failure)}
            say(str(failure))
        verdicts.append(verdict)
        if len(verdicts) == len(chosen):
            settle()
        if verdict["ok"] and not json:
            known = (
                "no best known decision"
                if verdict["best_known"] is None
                else f"best known {verdict['best_known']:.10g} confirmed"
            )
            print(f"{file}: {verdict['kind']} {verdict['name']!r} is well formed, {known}")
    if json:
        print_json(verdicts)
    return ANSWERED if all(verdict["ok"] for verdict in verdicts) else NOT_UNDERSTOOD


def _instance_files(paths: Sequence[str]) -> list[str]:
    files: list[str] = []
    for path in paths:
        if os.path.isdir(path):
            found = sorted(str(file) for file in Path(path).rglob("*.json"))
            if not found:
                raise RequestError(f"{path}: there is no .json file in this folder.")
            files += found
        else:
            files.append(path)
    return files


@app.command()
def verify(
    result: Annotated[
        str, typer.Argument(metavar="RESULT.json", help="What `solve --json` printed, or `--out` wrote.")
    ],
    file: File,
    prove: Annotated[
        bool, typer.Option("--prove", help="Solve again, by another strategy, what would be taken on trust.")
    ] = False,
    seconds: Annotated[
        float | None,
        typer.Option(parser=seconds_of, metavar="S", help="Time for proofs: 10, with --prove 60; 0: none."),
    ] = None,
    json: Json = False,
) -> int:
    """Check an answer independently of the strategy that gave it: each claim is confirmed, refuted or taken on trust.

    Example: optmodels verify answer.json instances/placement/gautam-6x6.json
    """
    from .. import instance as instances
    from ..verification import not_understood, verifying

    content = instances.read(file)
    problem = instances.problem_of(content, file)
    try:
        found = verifying.verify_file(result, problem, content, prove=prove, seconds=seconds)
        settle()
    except InstanceError as failure:
        settle()
        named = failure if failure.file else failure.at(file)
        if json:
            print_json(not_understood(problem.name, str(named)) | {"file": result})
        raise named from None
    error = None if found.error is None else found.error.at(result)
    if json:
        print_json(found.to_data() | {"file": result, "error": None if error is None else str(error)})
    elif error is None:
        print(found)
    if error is not None:
        raise error
    return ANSWERED


@app.command()
def plot(
    file: File,
    out: Annotated[str, typer.Option(metavar="F.svg|png", help="Where the picture goes.")],
    result: Annotated[str | None, typer.Option(metavar="R.json", help="Show this answer.")] = None,
    json: Json = False,
) -> int:
    """Draw an instance, with an answer if one is given.

    Example: optmodels plot instances/placement/gautam-11x22.json --result answer.json --out placement.svg
    """
    from .. import instance as instances
    from ..plotting import plot_problem
    from ..results import read_result, result_to_data

    problem = instances.load(file)
    answer = None if result is None else result_to_data(read_result(result))
    if answer is not None and answer["problem"] != problem.name:
        raise RequestError(f"{result}: this is an answer to {answer['problem']!r}, not to {problem.name!r}.")
    plot_problem(problem, answer, out)
    settle()
    if json:
        print_json({"file": out})
    else:
        say(f"wrote {out}")
    return ANSWERED


add_fit_to(app)
add_pareto_to(app)
add_simulate_to(app)
add_visits_to(app)
add_to(app)
