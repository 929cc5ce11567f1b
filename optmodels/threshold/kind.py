"""Kind "threshold" as one value: what `optmodels list threshold` tells, and where the rest is found."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from ..kinds import SEARCHES, Kind

#: Decisions that are evaluated one by one in about a minute.
ENUMERATED = 1_000_000


def choose(problem: Any) -> Iterator[tuple[str, str]]:
    """Name strategies for a problem, the best first, with the reason for each."""
    size = problem.space.size
    if size <= ENUMERATED:
        yield "exhaustive", f"the {size} decisions can all be evaluated, which proves the best one"
    many = f"there are too many decisions (more than {ENUMERATED}) to evaluate all"
    yield "highs", f"{many}; the integer program proves the best one"
    yield "local-search", f"{many}; nothing is proved"


def tell(problem: Any, answer: Mapping[str, Any]) -> Iterator[str]:
    """Tell how many robots run at which numbers of pages, and what it costs to see no more than that."""
    decision, extra = answer["decision"], answer["extra"]
    robots = [mode.robots for mode in problem.modes]
    parts = []
    if isinstance(decision, list):
        first = 0
        for number, last in zip(reversed(robots), [*decision, None], strict=True):
            if last is None:
                parts.append(f"{number} with {first} or more")
            elif last >= first:
                parts.append(f"{number} with {first} to {last}" if last > first else f"{number} with {first}")
                first = last + 1
    elif isinstance(extra.get("policy_map"), list):
        seen = [sorted({robots[mode] for mode in level}) for level in extra["policy_map"]]
        starts = [i for i, level in enumerate(seen) if i == 0 or level != seen[i - 1]]
        for start, stop in zip(starts, [*starts[1:], None], strict=True):
            which = " or ".join(map(str, seen[start])) + (" (by phase)" if len(seen[start]) > 1 else "")
            last = "or more" if stop is None else f"to {stop - 1}"
            parts.append(f"{which} with {start}" if stop == start + 1 else f"{which} with {start} {last}")
    if parts:
        yield f"robots by pages in the system: {', '.join(parts)}"
    best = extra.get("best_threshold")
    if extra.get("price_of_thresholds") is not None and best:
        thresholds = ",".join(map(str, best["decision"]))
        price = f"{100 * extra['price_of_thresholds']:.4g} %"
        yield f"price of thresholds: {price}; the best threshold policy, {thresholds}, costs {best['objective']:.8g}"


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
    beginning="threshold/avrachenkov-k5.json",
    generator="optmodels.threshold.generate:ThresholdGenerator",
    picture="optmodels.threshold.plots:draw_threshold",
    simulated=True,
    choice=choose,
    words=tell,
    strategies={
        **SEARCHES,
        "highs": "proves the optimum, a bound or infeasibility; 6 modes and 100 pages in seconds; one patience phase",
        "optimal-policy": "proves the best policy that sees queue length and phases, a bound for thresholds; no limits",
    },
)
