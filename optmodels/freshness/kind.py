"""Kind "freshness" as one value: what `optmodels list freshness` tells, and where the rest is found."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from typing import Any

from ..kinds import PORTFOLIO, Kind

#: Pages that are named in words.
SHOWN = 5

#: Pages times slots of cycles up to which the integer program is solved in about a minute: 10 pages and 30 slots took
#: 4 s, 15 and 45 were not solved in two minutes.
PROVED = 400

#: Cycles of given length that are evaluated one by one in seconds.
ENUMERATED = 20_000


def choose(problem: Any) -> Iterator[tuple[str, str]]:
    """Name strategies for a problem, the best first, with the reason for each."""
    if problem.rules.cycle is not None:
        from heuristics.search import spelled  # not for the help

        size = problem.space.size
        if size <= ENUMERATED:
            yield "exhaustive", f"all {size} cycles can be evaluated, which proves the best one"
        if problem.columns.count * problem.rules.robots * problem.cycle <= PROVED:
            yield "highs", "the integer program is small enough to prove the best cycle if the time allows"
        yield "annealing", f"there are {spelled(size)} cycles; its bound is that of the best numbers of visits"
    yield "lagrangian", "it proves the best frequencies; for an order of visits use --strategy whittle"
    yield "whittle", "the cost is not a sum over pages, so no bound is known; this gives an order of visits"
    yield "greedy", "it gives an order of visits, without a bound"


def tell(problem: Any, answer: Mapping[str, Any]) -> Iterator[str]:
    """Tell which pages are visited most."""
    decision = answer["decision"]
    if isinstance(decision, list):
        order = sorted(range(len(decision)), key=lambda page: -decision[page])
        often = [f"page {page} every {1 / decision[page]:.3g} slots" for page in order[:SHOWN] if decision[page] > 0]
        yield f"visited most: {', '.join(often)}"
    elif isinstance(decision, Mapping) and isinstance(decision.get("schedule"), list):
        cycle = decision["schedule"]
        counts = Counter(page for page in cycle if page >= 0)
        often = [f"page {page} {count} times" for page, count in counts.most_common(SHOWN)]
        yield f"a cycle of {len(cycle)} slots over {len(counts)} pages; visited most: {', '.join(often)}"


KIND = Kind(
    name="freshness",
    question="How often is each page visited, and in which order?",
    paper=(
        'E. G. Coffman Jr., Z. Liu, R. R. Weber, "Optimal robot scheduling for web search engines", Journal '
        "of Scheduling 1 (1998), 15-29."
    ),
    problem="optmodels.freshness.problem:FreshnessProblem",
    data="optmodels.freshness.data:FreshnessData",
    measures={
        "obsolescence": "weighted sum over pages of the fraction of time that each is out of date",
        "pages_never_visited": "number of pages that are never visited",
        "largest_gap": "largest number of slots between two visits to one page",
    },
    recommended=("lagrangian", "greedy", "whittle"),
    example="freshness/coffman-4.json",
    generator="optmodels.freshness.generate:FreshnessGenerator",
    picture="optmodels.freshness.plots:draw_freshness",
    fit="optmodels.freshness.fitting.estimate:fit_log",
    visits="optmodels.freshness.schedules.visits:list_visits",
    simulated=True,
    commands={"fit": "optmodels.freshness.commands:fit", "visits": "optmodels.freshness.commands:visits"},
    beside="optmodels.freshness.data:read_beside",
    on_cluster="optmodels.freshness.tables:on_cluster",
    choice=choose,
    words=tell,
    strategies={
        "lagrangian": "proves the best frequencies, a bound for every order of visits; up to 1e8 pages",
        "whittle": "an order of visits by Whittle's index; reports its gap to the bound",
        "greedy": "an order of visits by due dates; reports its gap to the bound",
        "regular": "an order of visits by regular words; reports its gap to the bound",
        "golden-ratio": "an order of visits by the golden ratio; reports its gap to the bound",
        "power-of-two": "an order of visits with powers of two as gaps; reports its gap to the bound",
        "randomized": "the best probabilities of visits drawn at random; reports its gap to the bound",
        "adaptive": "intervals adapted to the changes seen; reports its gap to the bound",
        "proportional": "proves nothing; visits in proportion to change rates, as crawlers do",
        "uniform": "proves nothing; all pages equally often, as crawlers do",
        "highs": "proves the best cycle of `cycle` slots; 10 pages and 30 slots in seconds, beyond with a small gap",
        "exhaustive": "proves the best cycle of `cycle` slots; up to 1e9 cycles",
        "annealing": "proves nothing; cycles of `cycle` slots, usually the best of the searches",
        "local-search": "proves nothing; cycles of `cycle` slots",
        "genetic": "proves nothing; cycles of `cycle` slots, for comparison",
        "best-of": PORTFOLIO,
    },
)
