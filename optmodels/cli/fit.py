"""The command ``fit``: change rates of pages from a crawl log."""

from __future__ import annotations

from typing import Annotated

import typer

from .options import ANSWERED, Json
from .output import batch_progress, check_target, print_json, say, settle


def share_of(text: str) -> float:
    """A probability after a flag."""
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

    Example: optmodels fit crawl.csv --out pages.csv --out pages.json --access-time exponential:0.01
    """
    from ..freshness import fitting
    from ..freshness.fitting import read_log

    belief = fitting.read_prior(prior)
    fitting.check_outputs(out, access_time)
    for path in out:
        check_target(path, log)
    law = None if access_time is None else fitting.read_access_time(access_time)
    with batch_progress("fitting", quiet=json) as progress:
        seen = read_log(log, weights=weights, unit=unit, progress=progress)
        fitted = fitting.fit(seen, belief, confidence)
        for path in out:
            fitting.write_fit(fitted, path, law, f"optmodels fit {log}")
        settle()
    if json:
        print_json({"file": log, **fitted.to_data(), "written": out})
        return ANSWERED
    print("\n".join(fitted.sentences()))
    for path in out:
        say(f"wrote {path}")
    return ANSWERED


def add_to(app: typer.Typer) -> None:
    """Give the command to the command line."""
    app.command()(fit)
