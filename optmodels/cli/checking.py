"""The command ``check``: whether instance files hold what they must, and best-known decisions are what they claim."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated, Any

import typer

from ..errors import InstanceError, RequestError
from .arguments import ANSWERED, NOT_UNDERSTOOD, Files, Json, instance_files
from .output import check_target, print_json, say, settle, tell_written


def check(
    files: Files,
    normalise: Annotated[
        bool, typer.Option("--normalise", help="Print one instance with all short forms written out.")
    ] = False,
    out: Annotated[
        str | None, typer.Option(metavar="F.json", help="With --normalise: write it to this file instead.")
    ] = None,
    json: Json = False,
) -> int:
    """Validate instance files and their best-known decisions.

    Prints a line for each file; best-known decisions are evaluated again. For a folder, all instances below it are
    checked. Exit code 2: at least one file is wrong, and a sentence on stderr names the field, the value and the rule.

    For example:
        optmodels check gautam-6x6
        optmodels check mine.json
        optmodels check mine.json --normalise --out long.json
    """
    if normalise or out is not None:
        return _normalise(files, normalise, out)
    from .. import instance as instances

    verdicts: list[dict[str, Any]] = []
    chosen = instance_files(files)
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


def _normalise(files: Sequence[str], normalise: bool, out: str | None) -> int:
    """Write an instance with all short forms spelled out, once it and its best-known decision are checked."""
    from .. import instance as instances

    if not normalise:
        raise RequestError("--out says where --normalise writes the long form; give both.")
    chosen = instance_files(files)
    if len(chosen) != 1:
        raise RequestError(f"--normalise writes one instance, and {len(chosen)} are named; name one.")
    check_target(out)
    content = instances.read(chosen[0])
    problem = instances.problem_of(content, chosen[0])
    try:
        instances.check_best_known(content, problem)
    except InstanceError as failure:
        raise failure.at(chosen[0]) from None
    best = None if content.best_known is None else content.best_known.model_dump(exclude_defaults=True)
    long = instances.Instance.from_problem(problem, source=content.source, notes=content.notes, best_known=best)
    settle()
    if out is None:
        print(instances.pretty(long.to_data()))
    else:
        instances.write(long, out)
        tell_written(out)
    return ANSWERED
