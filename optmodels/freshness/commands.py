"""Commands of kind "freshness": ``fit``, change rates from a crawl log, and ``visits``, when pages are visited next."""

from __future__ import annotations

from typing import Annotated

import typer

from ..cli import (
    ANSWERED,
    File,
    Json,
    Seed,
    batch_progress,
    check_target,
    deliver,
    note,
    read_answer,
    settle,
    whole_number,
)
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
    log: Annotated[
        str,
        typer.Argument(
            metavar="LOG.csv|parquet",
            help="Crawl log with columns url or page, interval or timestamp, changed; or sample-crawl.",
        ),
    ],
    out: Annotated[
        list[str],
        typer.Option(
            metavar="F.csv|parquet|json", help="Write the rates (csv, parquet) or an instance (json); may be repeated."
        ),
    ],
    prior: Annotated[
        str,
        typer.Option(
            metavar="fit|none|A,B",
            help="Prior distribution of rates: fitted to the log, none, or Gamma(shape A, rate B).",
        ),
    ] = "fit",
    confidence: Annotated[
        float, typer.Option(parser=share_of, metavar="P", help="Confidence level of the intervals.")
    ] = 0.95,
    weights: Annotated[
        str | None, typer.Option(metavar="COLUMN", help="Column of the log with the weights of pages.")
    ] = None,
    access_time: Annotated[
        str | None,
        typer.Option(metavar="LAW", help="Access time, needed for an instance: 0.01, exponential:0.01, or JSON."),
    ] = None,
    unit: Annotated[
        str, typer.Option(metavar="UNIT", help="Unit of time where the log has dates: seconds, minutes, hours or days.")
    ] = "days",
    json: Json = False,
) -> int:
    """Estimate change rates of pages from a crawl log.

    Each rate comes with a confidence interval. Each row of the log is a visit: url or page, interval (time since the
    previous visit) or timestamp (a number or a date), and changed (0 or 1). Pages that changed at every visit, at none,
    or were visited once get finite rates by the prior. `sample-crawl` is a log that comes with the package.

    For example:
        optmodels fit sample-crawl --out pages.csv --out pages.json --access-time exponential:0.01
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
    result: Annotated[str, typer.Option(metavar="R.json", help="The result to follow, as `solve --out` wrote it.")],
    out: Annotated[str, typer.Option(metavar="F.csv|parquet", help="File of the table.")],
    slots: Annotated[
        int | None,
        typer.Option(
            parser=whole_number,
            metavar="N",
            help="Number of slots of each robot; by default the length of the longest cycle.",
        ),
    ] = None,
    seed: Seed = 0,
    json: Json = False,
) -> int:
    """Write a table of the next visits to pages.

    A line has the page, its URL and host where known, the robot, the slot and the time. Frequencies are turned into an
    order of visits by the rule of the strategy `greedy`; random visits are drawn with --seed.

    For example:
        optmodels visits lognormal-100 --result a.json --out visits.csv   # after: solve lognormal-100 --out a.json
    """
    from .. import instance as instances
    from ..registry import kinds
    from .problem import FreshnessProblem
    from .schedules import write_visits

    problem = instances.load(file)
    if not isinstance(problem, FreshnessProblem):
        kind = getattr(problem, "kind", type(problem).__name__)
        raise RequestError(f"{file}: `visits` is for problems of kind 'freshness', and this one is of kind {kind!r}.")
    check_target(out, file, result, *kinds.beside(problem, file))
    answer = read_answer(result, problem.name, need=True)
    written = write_visits(problem, answer.decision, out, slots=slots, seed=seed)
    deliver(written.to_data(), lambda: note(f"wrote {written.rows} visits to {out}"), as_json=json)
    return ANSWERED
