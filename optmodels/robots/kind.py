"""Kind "robots" as one value: what `optmodels list robots` tells, and where the rest is found."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from ..kinds import SEARCHES, Kind

#: Decisions that are evaluated one by one in about a minute.
ENUMERATED = 1_000_000


def choose(problem: Any) -> Iterator[tuple[str, str]]:
    """Name strategies for a problem, the best first, with the reason for each."""
    if problem.areas is not None:
        yield (
            "linear-program",
            "robots are divided among areas, and the bound of the linear program, where met, proves the best division",
        )
        yield "marginal-analysis", "the linear program would be too large, and this one has a bound, too"
    elif problem.limits:
        yield "linear-program", "there are limits on measures; its bound holds for all policies"
    else:
        yield (
            "policy-iteration",
            "the cost is an average over states, and without limits this proves the best policy "
            "if time and rounding allow",
        )
    if problem.space.size <= ENUMERATED:
        yield "exhaustive", "the cost or a limit is not an average over states, but all policies can be evaluated"
    yield (
        "local-search",
        "no other strategy handles a cost or limit that is not an average over states; nothing is proved",
    )


def tell(problem: Any, answer: Mapping[str, Any]) -> Iterator[str]:
    """Tell up to how many pages one more robot is sent out, by the number of those that are active."""
    decision, extra = answer["decision"], answer["extra"]
    if isinstance(extra.get("areas"), list):
        yield "robots by area: " + ", ".join(f"{one['name']} {one['robots']}" for one in extra["areas"])
    if not isinstance(decision, list) or "switching_curves" not in extra:
        return
    width = len(decision) // (problem.capacity + 1)
    sent = [decision[robots::width] for robots in range(width)]
    if any(sorted(column, reverse=True) != column for column in sent):
        yield "the states in which one more robot is sent out form no switching curve; --json lists them"
        return
    most = [sum(column) - 1 for column in sent]
    starts = [i for i, last in enumerate(most) if i == 0 or last != most[i - 1]]
    parts = []
    for start, stop in zip(starts, [*starts[1:], width], strict=True):
        active = f"{start}" if stop == start + 1 else f"{start} to {stop - 1}"
        pages = "1 page" if most[start] == 1 else f"{most[start]} pages"
        rule = "never" if most[start] < 0 else f"up to {pages}"
        parts.append(f"{rule} with {active}")
    yield f"one more robot is sent out, by active robots: {', '.join(parts)}"


KIND = Kind(
    name="robots",
    question="When is a robot sent out, and when is it kept back?",
    paper=(
        'J. Talim, Z. Liu, P. Nain, E. G. Coffman Jr., "Controlling the robots of web search engines", Proc. '
        "ACM Sigmetrics 2001, Performance Evaluation Review 29 (1), 236-244."
    ),
    problem="optmodels.robots.problem:RobotsProblem",
    data="optmodels.robots.data:RobotsData",
    measures={
        "starvation": "probability that the server has nothing to do",
        "loss_rate": "pages per unit of time that find the buffer full",
        "active_robots": "mean number of active robots",
        "mean_length": "mean number of pages in the system, the one in service included",
        "response_time": "mean time in the system of pages that are not lost, in units of time",
        "fewest_robots": "least number of active robots among the states that recur",
        "most_robots": "largest number of active robots among the states that recur",
    },
    recommended=("policy-iteration", "linear-program", "annealing"),
    example="robots/talim-two-robots.json",
    generator="optmodels.robots.generate:RobotsGenerator",
    picture="optmodels.robots.plots:draw_robots",
    simulated=True,
    choice=choose,
    words=tell,
    strategies={
        "policy-iteration": "proves the optimum; costs that are averages over states, no limits; 1e5 states in seconds",
        "linear-program": "proves the optimum, and under limits a bound or infeasibility; up to 1e5 states",
        "highs": "proves the optimum; under limits, by an integer program, that of some 100 states, else a bound",
        "value-iteration": "proves a bound, as close as asked; costs that are averages over states, no limits",
        "marginal-analysis": "proves the optimum where costs of areas are convex, else a bound; robots shared by areas",
        "static": "proves nothing; the best fixed number of robots",
        **SEARCHES,
    },
)
