"""Kind "threshold" as one value: what `optmodels list threshold` tells, and where the rest is found."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from ..kinds import SEARCHES, Kind

#: Decisions that are evaluated one by one in about a minute.
ENUMERATED = 1_000_000


def choose(problem: Any) -> Iterator[tuple[str, str]]:
    """Name strategies for a problem, the best first, with the reason for each."""
    size = problem.space.size
    if size <= ENUMERATED:
        yield "exhaustive", f"the {size} decisions can all be evaluated, which proves the best one"
    yield "local-search", f"more than {ENUMERATED} decisions are too many to evaluate all; nothing is proved"


KIND = Kind(
    name="threshold",
    question="At how many waiting pages are robots switched on and off?",
    paper=(
        'K. Avrachenkov, A. Dudin, V. Klimenok, P. Nain, O. Semenova, "Optimal threshold control by the '
        'robots of web search engines with obsolescence of documents", Computer Networks 55 (2011), '
        "1880-1893."
    ),
    problem="optmodels.threshold.problem:ThresholdProblem",
    data="optmodels.threshold.data:ThresholdData",
    measures={
        "arrival_rate": "pages that robots bring per unit of time",
        "loss": "probability that a page finds no room",
        "obsolescence": "probability that a page goes out of date while it waits",
        "success": "probability that a page is indexed",
        "starvation": "probability that the server has nothing to do",
        "active_robots": "mean number of active robots",
        "mean_length": "mean number of pages in the system, the one in service included",
        "response_time": "mean time in the system of pages that are indexed, in units of time",
        "obsolete_time": "mean time in the system of pages that go out of date, in units of time",
        "sojourn_time": "mean time in the system of all pages, lost ones counting 0, in units of time",
        "loss_rate": "pages lost per unit of time",
        "obsolescence_rate": "pages that go out of date per unit of time",
    },
    recommended=("exhaustive", "optimal-policy", "annealing"),
    example="threshold/avrachenkov-k1.json",
    generator="optmodels.threshold.generate:ThresholdGenerator",
    picture="optmodels.threshold.plots:draw_threshold",
    simulated=True,
    choice=choose,
    strategies={
        **SEARCHES,
        "optimal-policy": "proves the best policy that sees queue length and phases, a bound for thresholds; no limits",
    },
)
