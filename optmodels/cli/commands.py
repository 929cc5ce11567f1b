"""The commands that answer for one instance, and the command line that all commands belong to.

A command is made when it is asked for, and imports heavy libraries inside, so that ``--help`` answers at once.
"""

from __future__ import annotations

import contextlib
import functools
import inspect
import re
from collections.abc import Callable, Mapping
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer
from typer.core import TyperGroup

from .. import __version__
from ..errors import BrokenPlugin, InstanceError
from ..kinds import resolve
from ..registry import AUTO, BUILT_IN, kinds, make_strategy, tell_once
from .arguments import (
    ANSWERED,
    NOT_UNDERSTOOD,
    NOTHING_FEASIBLE,
    ChosenName,
    DecisionAt,
    Evaluations,
    File,
    Json,
    Seconds,
    Seed,
    Verify,
    on_cluster,
    parse_decision,
    read_answer,
    read_decision,
    refuse_folder,
    seconds_of,
)
from .output import (
    check_target,
    deliver,
    note,
    pages_progress,
    print_evaluation,
    print_json,
    print_result,
    refuted,
    run_progress,
    say,
    settle,
    tell_written,
)

if TYPE_CHECKING:
    from heuristics import Budget, Problem, Result, Strategy


#: Commands of this package, in the order of the help, and where each is found: in this room, or by its full name.
OWN = {
    "demo": "demo:demo",
    "list": "listing:list_names",
    "evaluate": "commands:evaluate",
    "solve": "commands:solve",
    "check": "checking:check",
    "verify": "commands:verify",
    "plot": "commands:plot",
    "pareto": "studies:pareto",
    "simulate": "studies:simulate",
    "compare": "studies:compare",
    "bench": "optmodels.benchmarking.commands:bench",
    "merge": "studies:merge",
    "report": "optmodels.reporting.commands:report",
    "tune": "optmodels.benchmarking.tuning_command:tune",
    "sweep": "studies:sweep",
    "generate": "studies:generate",
    "schema": "studies:schema",
    "export": "optmodels.mip.commands:export",
    "new": "starting:new",
    "warm-up": "warming:warm_up",
    "doctor": "doctor:doctor",
}


class Commands(TyperGroup):
    """The commands of this package, and behind them those of kinds; a name that is taken stays with its first owner.

    Records of kinds are loaded for help, and for a command that is none of ours.
    """

    def __init__(self, **settings: Any) -> None:
        super().__init__(**settings | {"commands": dict.fromkeys(OWN)})  # names, from which typer suggests one

    def list_commands(self, ctx: Any) -> list[str]:
        """List all names, for help; a command that cannot be loaded is named once, and left out."""
        return [*OWN, *(name for name in added() if self._sound(ctx, name))]

    def get_command(self, ctx: Any, cmd_name: str) -> Any:
        """Make the command of a name, ``None`` if there is none."""
        if cmd_name in OWN:
            here = OWN[cmd_name] if "." in OWN[cmd_name] else f"{__package__}.{OWN[cmd_name]}"
            return _command(cmd_name, resolve(here), takes_all=cmd_name == "generate")
        owner = added().get(cmd_name)
        return None if owner is None else command_of(owner, cmd_name)

    def _sound(self, ctx: Any, name: str) -> bool:
        try:
            return self.get_command(ctx, name) is not None
        except BrokenPlugin as failure:
            tell_once(f"command:{name}", f"{failure} It is ignored.")
            return False


def added() -> dict[str, str]:
    """Map commands that kinds add to the names of these kinds, built-in ones first; without those that are taken."""
    owners: dict[str, str] = {}
    for kind in sorted(kinds.sound(), key=lambda kind: kinds.origin(kind.name) != BUILT_IN):
        for name in kind.commands:
            if name in OWN or name in owners:
                whose = f"kind {owners[name]!r}" if name in owners else "optmodels"
                sentence = f"command {name!r} of kind {kind.name!r} is ignored: {whose} has one of this name."
                tell_once(f"command:{kind.name}:{name}", sentence)
            else:
                owners[name] = kind.name
    return owners


def command_of(kind: str, name: str) -> Any:
    """Make a command of a function with the annotations of `typer`; where it fails, its kind is named.

    Parameters
    ----------
    kind
        Name of the kind that adds it.
    name
        Name of the command, a key of ``Kind.commands``.

    Returns
    -------
    click.Command
        The command, as the command line takes it.

    Raises
    ------
    BrokenPlugin
        If the function cannot be loaded, or has annotations that `typer` does not take.
    """
    function = kinds.command(kind, name)

    @functools.wraps(function)
    def named(*arguments: Any, **options: Any) -> Any:
        with kinds.blame(kind, "command", name):
            return function(*arguments, **options)

    try:
        return _command(name, named)
    except Exception as failure:  # annotations that typer does not take
        reason = " ".join(f"{type(failure).__name__}: {failure}".split())
        raise BrokenPlugin(f"command {name!r} is invalid: {reason}; report this to its authors.") from failure


def _command(name: str, function: Callable[..., Any], *, takes_all: bool = False) -> Any:
    """Make a command of a function; one that takes all options looks through those that `typer` does not know."""
    settings = {"allow_extra_args": takes_all, "ignore_unknown_options": takes_all}
    single = typer.Typer(add_completion=False, pretty_exceptions_enable=False, rich_markup_mode=None)
    single.command(name, help=_help_of(function), context_settings=settings)(function)
    return typer.main.get_command(single)


def _help_of(function: Callable[..., Any]) -> str | None:
    """Take the help of a command from its docstring; examples keep their lines, so that they can be copied."""
    text = inspect.getdoc(function)
    return None if text is None else re.sub(r"^(?=For example:$)", "\b\n", text, flags=re.MULTILINE)


app = typer.Typer(
    name="optmodels",
    cls=Commands,
    help="""Optimization models for crawlers, search indexes and proxy networks, with exact and heuristic solvers.

A problem is an instance file (JSON), or the name of an instance that comes with the package.

\b
To start:
    optmodels demo                            a tour of all five kinds, in under a minute
    optmodels list                            kinds, strategies and costs
    optmodels solve gautam-6x6                the best decision for a shipped instance
    optmodels new placement --out mine.json   an instance of your own, to edit

Exit codes: 0 answered; 2 the request or a file is wrong; 3 no feasible decision was found; 1 a bug in optmodels.""",
    add_completion=True,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
    context_settings={"help_option_names": ["-h", "--help"]},
)


def _version(wanted: bool) -> None:
    if wanted:
        print(f"optmodels {__version__}")
        raise typer.Exit()


@app.callback()
def _common(
    version: Annotated[
        bool, typer.Option("--version", callback=_version, is_eager=True, help="Print the version and exit.")
    ] = False,
    quiet: Annotated[bool, typer.Option("--quiet", "-q", help="Print only answers and errors.")] = False,
    verbose: Annotated[bool, typer.Option("--verbose", "-v", help="Report every improvement of a run.")] = False,
    log: Annotated[str | None, typer.Option("--log", metavar="FILE", help="Append all messages to this file.")] = None,
    debug: Annotated[bool, typer.Option("--debug", help="Show the traceback of an error.")] = False,
) -> None:
    """Options of every command, before or after its name; `main` takes all but ``--version`` out of the arguments."""


def evaluate(
    file: File,
    at: DecisionAt,
    json: Json = False,
) -> int:
    """Evaluate one decision: objective, measures, feasibility.

    An infeasible decision is answered too (exit code 0), with the constraints and limits that it violates.

    For example:
        optmodels evaluate gautam-2x3 --at 0,0,1,1,1,0
        optmodels evaluate avrachenkov-k5 --at -1,2,2
        optmodels evaluate gautam-6x6 --at @answer.json   # after: solve gautam-6x6 --out answer.json
    """
    from .. import solving
    from ..results import decision_files, result_to_data

    problem = solving.as_problem(file)
    decision = parse_decision(at, problem.name)
    data = result_to_data(solving.evaluate(problem, decision))
    deliver(data, lambda: print_evaluation(data, problem), as_json=json)
    tell_written(*decision_files(data["decision"]))
    return ANSWERED


def solve(
    file: File,
    strategy: ChosenName = AUTO,
    seconds: Seconds = None,
    evaluations: Evaluations = None,
    seed: Seed = 0,
    json: Json = False,
    out: Annotated[
        str | None, typer.Option(metavar="R.json", help="Also write the result to this file (JSON).")
    ] = None,
    cluster: Annotated[
        str | None, typer.Option(metavar="ADDRESS|local", help="Dask cluster that processes a table of pages.")
    ] = None,
    verify: Verify = False,
    proof: Annotated[
        str | None, typer.Option(metavar="FILE", help="Keep the proof in this file (strategy clauses).")
    ] = None,
    resume: Annotated[bool, typer.Option("--resume", help="Go on from the checkpoint in the file of --proof.")] = False,
) -> int:
    """Find the best decision.

    Prints the status ("optimal" is proved, "feasible" is the best found), the objective, the bound, the decision and
    its measures. Without --strategy, one that suits the problem is chosen, and a note on stderr says which and why.

    Ctrl-C ends the search and prints the best decision found so far. Exit code 3: no feasible decision was found.

    While a run goes on, the file of --proof is a checkpoint, which --resume takes up; verify-proof checks the proof.

    For example:
        optmodels solve gautam-6x6
        optmodels solve gautam-6x6 --out answer.json
        optmodels solve gautam-6x6 --strategy genetic:population=100 --seconds 10
        optmodels solve gautam-6x6 --seconds 60 --verify
        optmodels solve gautam-6x6 --strategy clauses --proof six.proof
    """
    from .. import instance as instances
    from .. import solving
    from ..results import decision_files

    named = make_strategy(strategy)
    limits = solving.make_budget(None, seconds, evaluations)
    with contextlib.ExitStack() as stack:
        content = instances.read(file)
        problem = (
            instances.problem_of(content, file) if cluster is None else stack.enter_context(on_cluster(file, cluster))
        )
        check_target(out, file, *kinds.beside(problem, file))
        check_target(proof, file, out)
        keep = (proof, resume)
        result, data, unwritten = _solved(problem, named, limits, seed, out, quiet=json, verify=verify, keep=keep)
    if not json:
        print_result(result, data, problem, content.best_known)
    if json or unwritten:  # what no file could take is not lost
        print_json(data)
    tell_written(*(Path(out or "").parent / name for name in decision_files(data["decision"])))
    if unwritten:
        say(f"{unwritten} The answer is on standard output.")
        return NOT_UNDERSTOOD
    if not _proof_told(data["extra"].get("proof"), file):
        return NOT_UNDERSTOOD
    answered = ANSWERED if result.decision is not None else NOTHING_FEASIBLE
    return NOT_UNDERSTOOD if refuted(data["extra"]) else answered


def _proof_told(kept: Mapping[str, Any] | None, instance: str) -> bool:
    """Note what became of the file of a proof; whether it was written."""
    if kept is None:
        return True
    file, unwritten = kept["file"], kept.get("unwritten")
    if unwritten is not None:
        say(unwritten)
    elif kept["complete"]:
        note(f"{file} is a proof: check it with optmodels verify-proof {file} {instance}")
    else:
        note(f"{file} is a checkpoint: go on with --proof {file} --resume")
    return unwritten is None


def _solved(
    problem: Any,
    chosen: Strategy,
    limits: Budget,
    seed: int,
    out: str | None,
    *,
    quiet: bool,
    verify: bool,
    keep: tuple[str | None, bool],
) -> tuple[Result, dict[str, Any], str | None]:
    """The result, what is told of it, and what could not be written; a very long decision is written on the way."""
    from .. import solving
    from ..protocols import Streamed
    from ..results import kept_result

    result, data, unwritten = None, None, None
    streamed = isinstance(problem, Streamed)  # what takes long is then a pass over pages
    try:
        chosen, reason = solving.choose(chosen, problem)
        if reason is not None:
            note(f"auto chooses {chosen.name}: {reason}.")
        with contextlib.ExitStack() as stack:
            limit = "" if limits.seconds is None else f", at most {limits.seconds:g} s"
            label = f"{problem.name} by {chosen.name}{limit}"
            follow = None
            if streamed:
                problem = replace(problem, tell=stack.enter_context(pages_progress(label, quiet=quiet)))
            else:
                follow = stack.enter_context(run_progress(label, quiet=quiet))
            answer = resolve("optmodels.verification:answer_twice") if verify else solving.answer
            keeping = None
            if keep != (None, False):
                kept = resolve("optmodels.verification:kept_proof")(chosen, problem, keep[0], resume=keep[1])
                keeping = stack.enter_context(kept)
            result = answer(problem, chosen, limits, seed, reason=reason, progress=follow)
            result = result if keeping is None else keeping(result)
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


def verify(
    result: Annotated[str, typer.Argument(metavar="RESULT.json", help="A result, as `solve --out` writes it.")],
    file: File,
    prove: Annotated[
        bool,
        typer.Option(
            "--prove", help="Solve again, with another strategy, to confirm claims that would be taken on trust."
        ),
    ] = False,
    seconds: Annotated[
        float | None,
        typer.Option(
            parser=seconds_of, metavar="S", help="Time limit of proofs: by default 10, with --prove 60; 0 skips them."
        ),
    ] = None,
    json: Json = False,
) -> int:
    """Check a result independently of the strategy that found it.

    Each claim (objective, feasibility, bound, optimality) is confirmed, refuted or taken on trust. Exit code 2: a claim
    is refuted.

    For example:
        optmodels verify answer.json gautam-6x6           # after: solve gautam-6x6 --out answer.json
        optmodels verify answer.json gautam-6x6 --prove
    """
    from .. import instance as instances
    from ..verification import not_understood, verifying

    refuse_folder(result)
    content = instances.read(file)
    problem = instances.problem_of(content, file)
    try:
        found = verifying.verify_file(result, problem, content, prove=prove, seconds=seconds)
    except InstanceError as failure:
        settle()
        named = failure if failure.file else failure.at(file)
        if json:
            print_json(not_understood(problem.name, str(named)) | {"file": result})
        raise named from None
    error = None if found.error is None else found.error.at(result)
    told = {"file": result, "error": None if error is None else str(error)}
    deliver(lambda: found.to_data() | told, found if error is None else None, as_json=json)
    if error is not None:
        raise error
    return ANSWERED


def plot(
    file: File,
    out: Annotated[str, typer.Option(metavar="F.svg|png", help="File of the picture.")],
    result: Annotated[
        str | None,
        typer.Option(metavar="R.json", help="Draw this result, too, as `solve --out` wrote it, or a decision."),
    ] = None,
    json: Json = False,
) -> int:
    """Draw an instance, with a result if one is given.

    Needs the extra `plots` (pip install 'optmodels[plots]').

    For example:
        optmodels plot gautam-6x6 --out sites.svg
        optmodels plot gautam-6x6 --result answer.json --out placement.png
    """
    from .. import instance as instances
    from ..plotting import check_path, plot_problem
    from ..results import result_to_data

    check_path(out)
    check_target(out)
    problem = instances.load(file)
    answer = None if result is None else result_to_data(_answer_in(result, problem), files=False)
    best = instances.read(file).best_known
    plot_problem(problem, answer, out, best_known=None if best is None else best.objective)
    deliver({"file": out}, lambda: tell_written(out), as_json=json)
    return ANSWERED


def _answer_in(file: str, problem: Problem) -> Result:
    """The result in a file, or the decision in it as it is evaluated here."""
    from .. import solving
    from ..data import read_json

    refuse_folder(file)
    content = read_json(file)
    if not isinstance(content, dict) or not {"decision", "status"} & set(content):
        return solving.evaluate(problem, read_decision(file))
    return read_answer(file, problem.name)
