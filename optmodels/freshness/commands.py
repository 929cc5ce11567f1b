"""Commands of kind "freshness": ``fit``, change rates from a crawl log, and ``visits``, when pages are visited next."""

from __future__ import annotations

from typing import Annotated

import typer

from ..cli import ANSWERED, File, Json, Seed, batch_progress, check_target, deliver, note, settle, whole_number
from ..errors import RequestError


def share_of(text: str) -> float:
    """Read a probability after a flag."""
    try:
        share = float(text)
    except ValueError:
        share = 0.0
    if not 0 < share < 1:
        raise typer.BadParameter(f"{text!r} is not a number between 0 and 1 such as 0.95.")
    return share


def fit(
    log: Annotated[str, typer.Argument(metavar="LOG.csv|parquet", help="Columns url, interval or timestamp, changed.")],
    out: Annotated[
        list[str], typer.Option(metavar="F.csv|parquet|json", help="Rates of pages, or an instance; repeatable.")
    ],
    prior: Annotated[
        str, typer.Option(metavar="fit|none|A,B", help="Law of rates: from the log, none, or Gamma(shape, rate).")
    ] = "fit",
    confidence: Annotated[
        float, typer.Option(parser=share_of, metavar="P", help="Probability that an interval holds the rate.")
    ] = 0.95,
    weights: Annotated[str | None, typer.Option(metavar="COLUMN", help="Column with the weights of pages.")] = None,
    access_time: Annotated[
        str | None, typer.Option(metavar="LAW", help="For an instance: 0.01, exponential:0.01, or JSON.")
    ] = None,
    unit: Annotated[str, typer.Option(metavar="UNIT", help="seconds, minutes, hours or days, for dates.")] = "days",
    json: Json = False,
) -> int:
    """Change rates of pages from a crawl log, each with its interval.

    A row is a visit: url or page, interval (time since the visit before) or timestamp (a number, or a date), changed
    (0 or 1). Pages that always changed, never, or were seen once get finite rates by the law of rates over all pages.

    Example: optmodels fit sample-crawl --out pages.csv --out pages.json --access-time exponential:0.01
    """
    from . import fitting

    fitting.read_prior(prior)
    fitting.check_outputs(out, access_time)
    for path in out:
        check_target(path, log)
    with batch_progress("fitting", quiet=json) as progress:
        fitted = fitting.fit_log(
            log,
            prior=prior,
            confidence=confidence,
            weights=weights,
            access_time=access_time,
            unit=unit,
            out=out,
            progress=progress,
        )
        settle()
    deliver({"file": log, **fitted.to_data(), "written": out}, "\n".join(fitted.sentences()), as_json=json)
    for path in () if json else out:
        note(f"wrote {path}")
    return ANSWERED


def visits(
    file: File,
    result: Annotated[str, typer.Option(metavar="R.json", help="The answer to follow, as `solve --out` wrote it.")],
    out: Annotated[str, typer.Option(metavar="F.csv|parquet", help="Where the table goes.")],
    slots: Annotated[
        int | None,
        typer.Option(parser=whole_number, metavar="N", help="Slots of each robot; by default the longest cycle."),
    ] = None,
    seed: Seed = 0,
    json: Json = False,
) -> int:
    """A table of next visits, a line for each: page, URL and host where known, robot, slot, time.

    Frequencies are turned into visits by the rule of `greedy`, draws are made with the seed.

    Example: optmodels visits instances/freshness/lognormal-100.json --result answer.json --out visits.csv --slots 1000
    """
    from .. import instance as instances
    from ..registry import kinds
    from ..results import read_result
    from .problem import FreshnessProblem
    from .schedules import write_visits

    problem = instances.load(file)
    if not isinstance(problem, FreshnessProblem):
        kind = getattr(problem, "kind", type(problem).__name__)
        raise RequestError(f"{file}: visits are made in problems of kind 'freshness', and this is of kind {kind!r}.")
    check_target(out, file, result, *kinds.beside(problem, file))
    answer = read_result(result)
    if answer.problem != problem.name:
        raise RequestError(f"{result}: this is an answer to {answer.problem!r}, not to {problem.name!r}.")
    if answer.decision is None:
        raise RequestError(f"{result}: this result has no decision.")
    written = write_visits(problem, answer.decision, out, slots=slots, seed=seed)
    deliver(written.to_data(), lambda: note(f"wrote {written.rows} visits to {out}"), as_json=json)
    return ANSWERED
