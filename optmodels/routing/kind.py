"""Kind "routing" as one value: what `optmodels list routing` tells, and where the rest is found."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from ..kinds import SEARCHES, Kind

#: Decisions that are evaluated one by one in about a minute.
ENUMERATED = 1_000_000

#: Words of one period from which on their integer program is proved sooner than they are enumerated, about.
MANY = 30_000

#: Servers that are named in words.
SHOWN = 10


def choose(problem: Any) -> Iterator[tuple[str, str]]:
    """Name strategies for a problem, the best first, with the reason for each."""
    if hasattr(problem, "horizon"):
        yield (
            "backward-induction",
            "the horizon is finite, and dynamic programming proves the best servers if the time allows",
        )
    else:
        yield "min-mean-cycle", "the period may have any length, and its bound holds for all of them"
    size, complete = problem.space.size, getattr(problem.space, "complete", True)
    if getattr(problem, "period", None) is not None and size > MANY:
        yield (
            "highs",
            f"the period is fixed, and its integer program is solved sooner than {size:.6g} words are evaluated",
        )
    if size <= ENUMERATED:
        proved = "which proves the best one" if complete else "although longer ones may be better"
        yield "exhaustive", f"the {size} decisions can all be evaluated, {proved}"
    yield "multimodular", "there are too many decisions to evaluate all; this is a search with a bound"
    yield "local-search", "no other strategy handles costs that are not sums over gaps; nothing is proved"


def tell(problem: Any, answer: Mapping[str, Any]) -> Iterator[str]:
    """Tell which share of packets each server gets."""
    shares = answer["extra"].get("shares")
    if isinstance(shares, list) and shares:
        order = sorted(range(len(shares)), key=lambda server: -shares[server])[:SHOWN]
        told = ", ".join(f"{100 * shares[server]:.4g} % to server {server}" for server in sorted(order))
        more = f", less to each of the other {len(shares) - SHOWN} servers" if len(shares) > SHOWN else ""
        yield f"packets: {told}{more}"


KIND = Kind(
    name="routing",
    question="Which server does the next packet go to, if none can be observed?",
    paper=(
        'E. Altman, S. Bhulai, B. Gaujal, A. Hordijk, "Open-loop routeing to M parallel servers with no '
        'buffers", Journal of Applied Probability 37 (2000), 668-684.'
    ),
    problem="optmodels.routing.problem:RoutingProblem",
    data="optmodels.routing.data:RoutingData",
    measures={
        "cost": "weighted packets lost per arrival, or weighted fraction of time that pages are out of date",
        "period": "length of the period, in packets",
    },
    recommended=("min-mean-cycle", "multimodular", "whittle"),
    example="routing/example-3-4.json",
    beginning="routing/loss-3.json",
    generator="optmodels.routing.generate:RoutingGenerator",
    picture="optmodels.routing.plots:draw_routing",
    simulated=True,
    choice=choose,
    words=tell,
    strategies={
        "min-mean-cycle": "proves the optimum over all policies, or a bound; periods of all lengths",
        "highs": "proves the optimum of a fixed period, servers times its square up to 200 000; 20 slots in seconds",
        "two-server": "proves the optimum in closed form; two servers, periods of all lengths",
        "backward-induction": "proves the optimum; a finite horizon, up to 1e7 states, or two servers",
        "multimodular": "proves the optimum where a bound is met, always for finite horizons of two servers",
        "value-iteration": "proves a bound; periods of all lengths, few servers",
        "balanced": "proves the optimum where a bound is met; two servers",
        "whittle": "proves nothing; the next packet by Whittle's index, reports its gap to the bound",
        **SEARCHES,
    },
)
