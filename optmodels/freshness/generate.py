"""Random pages to be kept fresh: instances of kind "freshness", from a hundred pages to hundreds of millions.

Pages are drawn chunk by chunk, each chunk from its own seed, so that memory is that of a chunk and the pages are the
same whatever they are written to. All of them are labelled synthetic: instances by their name and source, files of
columns by their metadata, and results on either by what they tell of the pages.
"""

from __future__ import annotations

import math
import os
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any, ClassVar, Literal

import numpy as np
from numpy.typing import NDArray

from ..data import Part, check_ranges, whole_folder, write_manifest, write_npy, write_parquet
from ..errors import RequestError
from ..instance import Instance
from ..instance import write as write_instance
from .tables import HOST, LABEL, RATE, WEIGHT

#: Pages drawn at once.
DRAWN = 1_000_000

#: More pages than this stand in columns beside the instance, not in it.
INLINE = 100_000

#: More pages than this are written to several files.
FILE_ROWS = 10_000_000

Columns = dict[str, NDArray[Any]]


@dataclass(frozen=True)
class FreshnessGenerator:
    """Draw synthetic pages with change rates of a heavy tail, and weights and hosts by Zipf's law.

    Parameters
    ----------
    pages
        Number of pages; more than 1e5 are written to a column file beside the instance.
    law
        Distribution of change rates: ``"lognormal"`` or ``"pareto"``.
    spread
        Standard deviation of the logarithm of lognormal rates.
    tail
        Index of Pareto rates: P(rate > x) falls like x ** -tail.
    load
        Expected changes of all pages together during one access.
    zipf
        Pages have random ranks k from 1 to their number, and weights k ** -zipf; 0: equal weights.
    hosts
        Number of hosts; the share of pages on the k-th is proportional to 1 / k; 0: pages have no host.
    access
        Distribution of the access time, with mean 1: ``"exponential"`` or ``"constant"``.
    seed
        Same options and seed: same pages.
    name
        Name of the instance.

    Examples
    --------
    >>> from optmodels.freshness import FreshnessGenerator
    >>> pages = FreshnessGenerator(pages=3)
    >>> pages.label
    'synthetic: 3 pages, lognormal rates (spread 1), load 0.5, zipf 1, seed 0'
    >>> len(pages.instance().data["change_rates"])
    3
    """

    pages: int = 1000
    law: Literal["lognormal", "pareto"] = "lognormal"
    spread: float = 1.0
    tail: float = 1.5
    load: float = 0.5
    zipf: float = 1.0
    hosts: int = 0
    access: Literal["exponential", "constant"] = "exponential"
    seed: int = 0
    name: str | None = None

    kind: ClassVar[str] = "freshness"

    def __post_init__(self) -> None:
        check_ranges(
            self,
            pages=(1, 10**12),
            spread=(0, 10),
            tail=(1.01, 100),
            load=(1e-6, 1e6),
            zipf=(0, 3),
            hosts=(0, 10**7),
            seed=(0, math.inf),
        )

    @property
    def label(self) -> str:
        """How these pages were drawn."""
        shape = f"spread {self.spread:g}" if self.law == "lognormal" else f"tail {self.tail:g}"
        hosts = f", {self.hosts} hosts" if self.hosts else ""
        drawn = f"{self.pages} pages, {self.law} rates ({shape}), load {self.load:g}, zipf {self.zipf:g}{hosts}"
        return f"synthetic: {drawn}, seed {self.seed}"

    @property
    def chunks(self) -> int:
        """Into how many chunks the pages are drawn."""
        return -(-self.pages // DRAWN)

    def draw(self, chunk: int) -> Columns:
        """Draw the columns of one chunk."""
        rng = np.random.default_rng([self.seed, chunk])
        count = min(DRAWN, self.pages - chunk * DRAWN)
        if self.law == "lognormal":
            rates = np.exp(rng.normal(-0.5 * self.spread**2, self.spread, count))
        else:
            rates = rng.random(count)
            np.power(1.0 - rates, -1.0 / self.tail, out=rates)
            rates *= (self.tail - 1.0) / self.tail
        rates *= self.load / self.pages  # of which the mean is 1 before
        weights = rng.integers(1, self.pages, count, endpoint=True).astype(np.float64)
        np.power(weights, -self.zipf, out=weights)
        columns: Columns = {RATE: rates, WEIGHT: weights}
        if self.hosts:
            columns[HOST] = np.searchsorted(self._host_shares, rng.random(count), "right").astype(np.int32)
        return columns

    def instance(self) -> Instance:
        """Draw the pages into the instance itself."""
        if self.pages > INLINE:
            raise RequestError(
                f"{self.pages} pages do not stand in an instance; write them to columns, as --out pages.parquet does."
            )
        columns = self.draw(0)
        data = {"change_rates": columns[RATE].tolist(), "weights": columns[WEIGHT].tolist()}
        if self.hosts:
            data["hosts"] = columns[HOST].tolist()
        return self._instance(data)

    def write(self, out: str | os.PathLike[str], progress: Callable[[int, int], None] | None = None) -> list[str]:
        """Write the pages, and the instance that names them; returns what was written.

        Parameters
        ----------
        out
            ``x.json``: an instance, with ``x.parquet`` beside it if pages are many; ``x.parquet``: a file or, beyond
            1e7 pages, a folder of files, and ``x.json`` beside it; a name without a dot: a folder of ``.npy`` columns,
            and the instance beside it.
        progress
            Called with the number of pages written, and of all.
        """
        files = self.files(out)
        if len(files) == 1:
            write_instance(self.instance(), files[0])
            return files
        table, instance = map(Path, files)
        tell = _Told(progress, self.pages)
        if table.suffix == "":
            self._write_columns(table, tell)
        elif self.pages <= FILE_ROWS:
            write_parquet(table, tell.each(self._drawn(0, self.chunks)), self._labels)
        else:
            self._write_files(table, tell)
        write_instance(self._instance({"pages": table.name}), instance)
        return files

    def files(self, out: str | os.PathLike[str]) -> list[str]:
        """Tell which files `write` writes: the table of pages where there is one, and the instance."""
        target = Path(out)
        if target.suffix == ".json" and self.pages <= INLINE:
            return [str(target)]
        if target.suffix not in (".json", ".parquet", ""):
            raise RequestError(
                f"{target}: pages are written to x.json, x.parquet or a folder without a dot in its name."
            )
        table = target.with_suffix(".parquet") if target.suffix == ".json" else target
        return [str(table), str(table.with_suffix(".json"))]

    # -- inside -------------------------------------------------------------------------------------------------------

    @cached_property
    def _host_shares(self) -> NDArray[np.float64]:
        """Where the interval from 0 to 1 is cut into the shares of hosts."""
        shares: NDArray[np.float64] = np.cumsum(1.0 / np.arange(1, self.hosts + 1))
        shares /= shares[-1]
        return shares[:-1]

    @property
    def _labels(self) -> dict[bytes, bytes]:
        return {LABEL: self.label.encode()}

    def _instance(self, data: dict[str, Any]) -> Instance:
        parameter = "mean" if self.access == "exponential" else "value"
        name = self.name or f"{self.law}-{self.pages}-{self.seed}"
        content = {
            "format": 1,
            "kind": self.kind,
            "name": name if "synthetic" in name else f"synthetic-{name}",
            "source": f"optmodels generate freshness, {self.label}",
            "data": data | {"access_time": {"law": self.access, parameter: 1.0}},
        }
        return Instance.from_data(content)

    def _drawn(self, first: int, last: int) -> Iterator[Columns]:
        from .tables import in_order

        yield from in_order(self.draw, range(first, last))

    def _write_files(self, table: Path, tell: _Told) -> None:
        """Write a folder of Parquet files."""
        step = FILE_ROWS // DRAWN
        with whole_folder(table) as folder:
            parts: list[Part] = []
            for number, first in enumerate(range(0, self.chunks, step)):
                chunks = self._drawn(first, min(first + step, self.chunks))
                parts.append(write_parquet(folder / f"part-{number:05d}.parquet", tell.each(chunks), self._labels))
            write_manifest(folder, parts, self.label)

    def _write_columns(self, table: Path, tell: _Told) -> None:
        """Write a folder of ``.npy`` columns; each chunk is drawn again for every column, as columns are files."""
        with whole_folder(table) as folder:
            names = [RATE, WEIGHT, *([HOST] if self.hosts else [])]
            parts = []
            for name in names:
                kind = np.int32 if name == HOST else np.float64
                column = (chunk[name] for chunk in self._drawn(0, self.chunks))
                parts.append(write_npy(folder / f"{name}.npy", tell.each(column, 1 / len(names)), self.pages, kind))
            write_manifest(folder, parts, self.label)


class _Told:
    """Counts pages on their way and tells how many there were."""

    def __init__(self, progress: Callable[[int, int], None] | None, pages: int) -> None:
        self.progress, self.pages, self.done = progress, pages, 0.0

    def each(self, chunks: Iterator[Any], share: float = 1.0) -> Iterator[Any]:
        """Yield the same chunks, each counted as this share of its pages."""
        for chunk in chunks:
            yield chunk
            self.done += len(chunk[RATE] if isinstance(chunk, dict) else chunk) * share
            if self.progress is not None:
                self.progress(round(self.done), self.pages)
