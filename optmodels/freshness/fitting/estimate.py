"""From a crawl log to change rates: estimated, summed up, and written as a table of pages or an instance."""

from __future__ import annotations

import math
import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from queueing.freshness.estimation import GammaPrior, RateEstimates, estimate

from ...data import FORM, csv_rows, locate, parquet, parse_json, read_time, whole_file, write_parquet, write_time
from ...errors import RequestError
from ...instance import Instance, write
from ..data import PROPORTIONAL
from ..tables import RATE, WEIGHT
from .log import CrawlLog, read_log

if TYPE_CHECKING:
    from pandas import DataFrame

SUFFIXES = (".csv", ".parquet", ".json")

LOWER, UPPER = "change_rate_lower", "change_rate_upper"

#: Rows written at once.
CHUNK = 100_000


@dataclass(frozen=True, eq=False, repr=False)
class Fit:
    """A log, and the rates that were found in it."""

    log: CrawlLog
    found: RateEstimates

    def __repr__(self) -> str:
        return f"<Fit of {self.log.file}: {self.sentences()[0]}>"

    def instance(self, access_time: Any, name: str | None = None) -> Instance:
        """Make an instance of kind freshness, to be solved.

        Parameters
        ----------
        access_time
            Law of the time of a visit: a number, or as `fit_log` takes it.
        name
            Of the instance; by default that of the log.
        """
        return instance_of(
            self, name or Path(self.log.file).stem, as_law(access_time), f"optmodels fit {self.log.file}"
        )

    def to_frame(self) -> DataFrame:
        """A row for each page, as pandas has it: its name, rate, interval, visits and changes."""
        from ...notebook import frame

        return frame(self.columns())

    def to_data(self) -> dict[str, Any]:
        """Sum up for programs: pages, visits, changes, pages that tell little, and rates."""
        intervals, changes = self.found.visits, self.found.changes
        prior, rates = self.found.prior, self.found.rates[np.isfinite(self.found.rates)]
        quantiles = np.quantile(rates, (0.0, 0.5, 1.0)).tolist() if len(rates) else [None] * 3
        return {
            "pages": len(self.log.names),
            "visits": int(self.log.visits.sum()),
            "intervals": int(intervals.sum()),
            "changes": int(changes.sum()),
            "never_changed": int(((changes == 0) & (intervals > 0)).sum()),
            "always_changed": int(((changes == intervals) & (intervals > 0)).sum()),
            "seen_once": int((intervals == 0).sum()),
            "unit": self.log.unit,
            "prior": None if prior is None else {"law": "gamma", "shape": prior.shape, "rate": prior.rate},
            "confidence": self.found.confidence,
            "rates": dict(zip(("least", "median", "most"), quantiles, strict=True)),
        }

    def sentences(self) -> list[str]:
        """Sum up for people."""
        told, per = self.to_data(), f" per {self.log.unit[:-1]}" if self.log.unit else ""
        rates, prior = told["rates"], self.found.prior
        lines = [
            f"pages: {told['pages']}, visits: {told['visits']}, intervals: {told['intervals']}, "
            f"with a change: {told['changes']}",
            f"pages that never changed: {told['never_changed']}, at every visit: {told['always_changed']}, "
            f"seen once: {told['seen_once']}",
        ]
        if prior is not None:
            lines.append(f"law of rates: Gamma, shape {prior.shape:.4g}, mean {prior.mean:.4g}{per}")
        if rates["median"] is not None:
            spread = ", ".join(f"{name} {value:.4g}" for name, value in rates.items())
            lines.append(f"change rates{per}: {spread}")
        return lines

    def columns(self) -> dict[str, Any]:
        """What is written of pages, column by column."""
        found: dict[str, Any] = {self.log.column: self.log.names, RATE: self.found.rates}
        if self.log.weights is not None:
            found[WEIGHT] = self.log.weights
        return found | {
            LOWER: self.found.lower,
            UPPER: self.found.upper,
            "visits": self.log.visits,
            "changes": self.found.changes,
        }


def fit(log: CrawlLog, prior: GammaPrior | str | None = "fit", confidence: float = 0.95) -> Fit:
    """Estimate the change rates of the pages of a log; see :func:`queueing.freshness.estimation.estimate`.

    Parameters
    ----------
    log
        Visits of pages, and at which of them a change was seen.
    prior
        ``"fit"``: a Gamma law of rates is fitted to all pages; a law that is known; ``None``: each page by itself.
    confidence
        Of the interval of each rate.

    Returns
    -------
    Fit
        The log and the estimates, to be summed up and written.

    Raises
    ------
    RequestError
        If rates cannot be estimated, with the reason.
    """
    try:
        return Fit(log, estimate(log.seen, prior, confidence))
    except ValueError as refusal:
        raise RequestError(f"{log.file}: change rates cannot be estimated: {refusal}") from None


def fit_log(
    log: str | os.PathLike[str],
    *,
    prior: GammaPrior | str | None = "fit",
    confidence: float = 0.95,
    weights: str | None = None,
    access_time: Any = None,
    unit: str = "days",
    out: str | os.PathLike[str] | Sequence[str | os.PathLike[str]] = (),
    progress: Callable[[int, int, str], None] | None = None,
) -> Fit:
    """Read a crawl log, estimate the change rates of its pages, and write them to files: what ``optmodels fit`` does.

    Parameters
    ----------
    log
        Path of a CSV or Parquet file with columns ``url`` or ``page``, ``interval`` or ``timestamp``, ``changed``; or
        the name of a shipped log, ``"sample-crawl"``.
    prior
        ``"fit"``: a Gamma law of rates is fitted to all pages; ``"none"`` or ``None``: each page by itself; a law that
        is known, also as text: ``"0.5,2"``.
    confidence
        Probability that the interval of a rate holds it.
    weights
        Column with the weights of pages.
    access_time
        Law of the time of a visit, which an instance needs: a number, ``"exponential:0.01"``, or as in a file.
    unit
        Seconds, minutes, hours or days, in which dates are measured.
    out
        Files to write: rates of pages as ``.csv`` or ``.parquet``, an instance as ``.json``.
    progress
        Called now and then with how much was read, how much there is, and what is counted.

    Returns
    -------
    Fit
        The rates; `Fit.instance` makes a problem of them, `Fit.to_frame` a table.

    Raises
    ------
    RequestError
        If a file cannot be read or written, or rates cannot be estimated.
    """
    belief = read_prior(prior) if isinstance(prior, str) else prior
    if not 0 < confidence < 1:
        raise RequestError(f"confidence is a number between 0 and 1 such as 0.95, got {confidence!r}.")
    paths = [os.fspath(path) for path in ([out] if isinstance(out, (str, os.PathLike)) else out)]
    law = None if access_time is None else as_law(access_time)
    check_outputs(paths, access_time)
    seen = read_log(locate(log, ".csv"), weights=weights, unit=unit, progress=progress)
    fitted = fit(seen, belief, confidence)
    for path in paths:
        write_fit(fitted, path, law, f"optmodels fit {os.fspath(log)}")
    return fitted


def as_law(access_time: Any) -> dict[str, Any]:
    """The law of the time of a visit as an instance file has it, from a number, a text, such a law, or an object."""
    if isinstance(access_time, Mapping):
        return write_time(read_time(access_time, "access_time"))
    if isinstance(access_time, (str, int, float)) and not isinstance(access_time, bool):
        return read_access_time(str(access_time))
    return write_time(access_time)


def read_prior(text: str) -> GammaPrior | str | None:
    """Read a prior of change rates from the command line.

    Parameters
    ----------
    text
        ``fit``, ``none``, or shape and rate of a Gamma law such as ``0.5,2``.

    Returns
    -------
    GammaPrior, str or None
        What `fit` takes.

    Raises
    ------
    RequestError
        If it is none of these.
    """
    if text in ("fit", "none"):
        return "fit" if text == "fit" else None
    try:
        shape, rate = (float(part) for part in text.split(","))
        return GammaPrior(shape, rate)
    except ValueError:
        raise RequestError(f"a prior is fit, none, or shape and rate above 0 such as 0.5,2; got {text!r}.") from None


def read_access_time(text: str) -> dict[str, Any]:
    """Read the law of the time of a visit from the command line.

    Parameters
    ----------
    text
        ``0.01``, ``exponential:0.01``, or the JSON of an instance file.

    Returns
    -------
    dict
        The law as an instance file has it.

    Raises
    ------
    RequestError
        If it is none of these.
    """
    place = "--access-time"
    if text.lstrip()[:1] == "{":
        return write_time(read_time(parse_json(text, place), place))
    name, colon, value = text.rpartition(":")
    known = {"": "value", "constant": "value", "exponential": "mean"}
    try:
        number = float(value)
    except ValueError:
        number = math.nan
    if name not in known or math.isnan(number) or (colon and not name):
        raise RequestError(f"{place} is a time, exponential:MEAN, or JSON; got {text!r}; {FORM}")
    law = name or "constant"
    return write_time(read_time({"law": law, known[name]: number}, place))


# -- files ------------------------------------------------------------------------------------------------------------


def check_outputs(paths: Sequence[str], access_time: Any) -> None:
    """Refuse, before any work, files that cannot be written.

    Parameters
    ----------
    paths
        Files to be written: ``.csv``, ``.parquet``, or ``.json`` for an instance.
    access_time
        The law of the time of a visit, if it was given: an instance needs it, and nothing else takes it.

    Raises
    ------
    RequestError
        With the first file that cannot be written, and why.
    """
    for path in paths:
        target = Path(path)
        if target.suffix.lower() not in SUFFIXES:
            raise RequestError(f"{path}: rates are written as .csv or .parquet, an instance as .json.")
        if target.is_dir() or not target.parent.is_dir():
            what = "this is a directory; name a file." if target.is_dir() else "there is no such folder."
            raise RequestError(f"{path}: {what}")
        if target.suffix.lower() == ".parquet":
            parquet()
        if target.suffix.lower() == ".json" and access_time is None:
            raise RequestError(f"{path}: an instance needs the distribution of the access time; give --access-time.")
    if access_time is not None and not any(path.lower().endswith(".json") for path in paths):
        raise RequestError("--access-time belongs to an instance; give --out instance.json.")


def write_fit(fitted: Fit, path: str | os.PathLike[str], law: Mapping[str, Any] | None, source: str) -> None:
    """Write a table of pages, or an instance, whole or not at all.

    Parameters
    ----------
    fitted
        Pages and their change rates.
    path
        A table of pages ends in ``.csv`` or ``.parquet``, an instance in ``.json``.
    law
        Of the time of a visit, as an instance file has it; a table needs none.
    source
        Where the rates come from, for the reader of an instance.
    """
    suffix = Path(path).suffix.lower()
    if suffix == ".json":
        write(instance_of(fitted, Path(path).stem, law or {}, source), path)
    elif suffix == ".parquet":
        write_parquet(path, _chunks(fitted.columns()))
    else:
        columns = fitted.columns()
        with whole_file(path) as stream:
            stream.write(csv_rows([columns]).encode())
            for chunk in _chunks(columns):
                rows = zip(*(_listed(values) for values in chunk.values()), strict=True)
                stream.write(csv_rows(rows).encode())


def instance_of(fitted: Fit, name: str, law: Mapping[str, Any], source: str) -> Instance:
    """Make an instance of kind freshness, the pages in it."""
    rates = fitted.found.rates
    wrong = ~np.isfinite(rates)
    if wrong.any():
        page = fitted.log.names[int(np.argmax(wrong))]
        raise RequestError(
            f"page {page!r} changed at every visit, or was seen once, and without a prior has no finite change rate; "
            "an instance needs one: give --prior fit."
        )
    weights = fitted.log.weights
    data = {
        "change_rates": rates.tolist(),
        "weights": PROPORTIONAL if weights is None else weights.tolist(),
        "urls": fitted.log.names,
        "access_time": dict(law),
    }
    unit = f", times in {fitted.log.unit}" if fitted.log.unit else ""
    notes = f"change rates estimated from {fitted.log.visits.sum()} visits{unit}"
    content = {"format": 1, "kind": "freshness", "name": name, "source": source, "notes": notes, "data": data}
    made = Instance.from_data(content)
    made.problem()
    return made


def _chunks(columns: Mapping[str, Any]) -> Iterator[dict[str, Any]]:
    count = len(next(iter(columns.values())))
    for first in range(0, count, CHUNK):
        yield {name: values[first : first + CHUNK] for name, values in columns.items()}


def _listed(values: Any) -> list[Any]:
    return values if isinstance(values, list) else [repr(value) for value in values.tolist()]
