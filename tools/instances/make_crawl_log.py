"""Write the sample crawl log anew: python tools/instances/make_crawl_log.py (a moment).

Forty made-up pages on five hosts are looked at about once a day for forty days. Page k changes as a Poisson process
with a lognormal rate (median 0.3 a day); a visit finds it changed if there was a change since the visit before.
"""

from datetime import UTC, datetime, timedelta
from pathlib import Path

import numpy as np

FILE = Path(__file__).parents[2] / "instances" / "freshness" / "sample-crawl.csv"
PAGES, DAYS, SEED = 40, 40, 7
BEGIN = datetime(2026, 3, 1, tzinfo=UTC)


def rates() -> np.ndarray:
    """Draw the rates at which pages change, per day."""
    return np.exp(np.random.default_rng(SEED).normal(np.log(0.3), 1.2, PAGES))


def text() -> str:
    """Make the log, in order of time."""
    rng, rows = np.random.default_rng(SEED + 1), []
    for page, rate in enumerate(rates()):
        days = np.sort(np.arange(DAYS) + rng.uniform(0, 1, DAYS))[rng.random(DAYS) < 0.9]
        changed = rng.random(len(days)) < -np.expm1(-rate * np.diff(days, prepend=-np.inf))
        for day, change in zip(days.tolist(), changed.tolist(), strict=True):
            moment = (BEGIN + timedelta(days=day)).strftime("%Y-%m-%dT%H:%M:%SZ")
            rows.append(f"{moment},https://host{page % 5}.example/page{page:02d},{int(change)}")
    return "\n".join(["timestamp,url,changed", *sorted(rows)]) + "\n"


if __name__ == "__main__":
    FILE.write_text(text(), encoding="utf-8")
