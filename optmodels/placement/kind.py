"""Kind "placement" as one value: what `optmodels list placement` tells, and where the rest is found."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from ..kinds import SEARCHES, Kind

#: Sites up to which the integer program is solved in seconds, and up to which in about a minute: 36 took 8 s, 50 were
#: not solved in 30 s.
QUICK, PROVED = 25, 40

#: Sites up to which clauses prove most placements in a minute: with an extra (49 took 1 s, 143 nodes of a network 5 s,
#: 121 cells of a grid half a minute; 60 nodes around hubs stop within some per cent), and by HiGHS alone (50 nodes took
#: 19 s, 49 cells 27 s; 64 cells stopped at 12 %).
BY_CLAUSES, BY_HIGHS_ALONE = 150, 60

#: Sites up to which clauses are tried on classes and scenarios.
PARTS = 100

#: Most sites whose placements are all evaluated where there is no integer program: seconds.
ENUMERATED = 16

#: Open sites that are named in words.
SHOWN = 40


def choose(problem: Any) -> Iterator[tuple[str, str]]:
    """Name strategies for a problem, the best first, with the reason for each."""
    from .clauses import Clauses

    sites, decisions = problem.space.length, problem.space.size
    program = f"the integer program of {sites} sites is small enough to prove the best decision if the time allows"
    if sites <= QUICK:
        yield "highs", program
    parts, alone = hasattr(problem, "parts"), Clauses().engines(problem) == ("highs",)
    if sites <= (PARTS if parts else BY_HIGHS_ALONE if alone else BY_CLAUSES):
        yield "clauses", f"clauses prove the best decision of {sites} sites if the time allows"
    if sites <= PROVED:
        yield "highs", program
    if decisions <= 2**ENUMERATED:
        yield "exhaustive", f"the cost or a limit is not linear, but all {decisions} decisions can be evaluated"
    if sites <= PROVED:
        yield "annealing", "the cost or a limit is not linear, so no integer program is available; nothing is proved"
    told = f"a proof may take long for {sites} sites; --strategy clauses or highs would try"
    yield "large-neighbourhood", told
    yield "annealing", told


def share(problem: Any) -> Iterator[str]:
    """Name strategies that share a budget: one that proves, and one that searches."""
    from heuristics import refusal

    from ..registry import make_strategy

    proving = [name for name, _ in choose(problem) if name in ("highs", "clauses", "exhaustive")]
    searching = ["large-neighbourhood", "annealing"]
    for names in ([*proving, "clauses", "highs"], searching):
        yield from [name for name in names if refusal(problem, make_strategy(name)) is None][:1]


def tell(problem: Any, answer: Mapping[str, Any]) -> Iterator[str]:
    """Tell which sites are open."""
    decision, shape = answer["decision"], problem.shape
    if not isinstance(decision, list):
        return
    sites = [site for site, is_open in enumerate(decision) if is_open]
    known = problem.layout.names
    names = [str(divmod(site, shape[1])) if shape else known[site] if known else str(site) for site in sites[:SHOWN]]
    more = f" and {len(sites) - SHOWN} more" if len(sites) > SHOWN else ""
    called = "by row and column" if shape else "by name" if known else "by number"
    named = f", {called}: {', '.join(names)}{more}" if sites else " (none)"
    if hasattr(problem, "server_types"):
        counts = (f"{decision.count(number)} {one.name}" for number, one in enumerate(problem.server_types, start=1))
        named += f"; {', '.join(counts)}"
    yield f"open sites: {len(sites)} of {len(decision)}{named}"


KIND = Kind(
    name="placement",
    question="Which sites are opened, and which of them serves whom?",
    paper=(
        'N. Gautam, "Performance analysis and optimization of web proxy servers and mirror sites", European '
        "Journal of Operational Research 142 (2002), 396-418."
    ),
    problem="optmodels.placement.problem:PlacementProblem",
    data="optmodels.placement.data:PlacementData",
    measures={
        "opening": "sum of the opening costs of open sites, in the unit of costs",
        "operating": "sum of operating costs, each times the utilisation of its site, in the unit of costs",
        "open_sites": "number of open sites",
        "mean_distance": "mean distance of a client to its nearest open sites, as in the model: 1 is its own cell",
        "worst_throughput": "least throughput of a client, in requests per unit of time",
        "worst_delay_probability": "largest probability that a request takes longer than the delay allowed",
        "mean_delay": "mean time of a request at its site, in units of time",
    },
    recommended=("highs", "large-neighbourhood", "dejavu", "annealing"),
    example="placement/gautam-2x3.json",
    beginning="placement/small-3x3.json",
    generator="optmodels.placement.generate:PlacementGenerator",
    picture="optmodels.placement.plots:draw_placement",
    commands={
        "verify-proof": "optmodels.placement.proofs.commands:verify_proof",
        "import": "optmodels.placement.sources.commands:import_command",
    },
    choice=choose,
    portfolio=share,
    words=tell,
    strategies={
        "highs": "proves the optimum, a bound or infeasibility; 40 sites in a minute, more with patience",
        "clauses": (
            "proves the optimum or a bound for prices of open sites, any geometry, classes and scenarios; 120 sites in "
            "seconds"
        ),
        "dejavu": "proves nothing but infeasibility; any size",
        "large-neighbourhood": "proves nothing; any size",
        **SEARCHES,
    },
)
