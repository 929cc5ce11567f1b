"""Write the benchmark sets anew: python tools/instances/make_sets.py (some seconds; needs topohub).

Nothing is solved here. Solution files are written where there is none: with what shipped instances say of themselves,
and ``unknown`` for all others. Those that are there stay as they are; `optmodels bench SET --patch F` offers changes.
"""

import json
from dataclasses import replace
from datetime import date
from pathlib import Path
from typing import Any

from optmodels import generate, read_instance
from optmodels.benchmarking import Member, Solution, instance_digest, read_set, solutions_text
from optmodels.data import shipped_files
from queueing.placement import capacity_by_distance

FOLDER = Path(__file__).parents[2] / "instances" / "sets"

#: The day on which the lists were fixed.
FIXED = date(2026, 11, 18)


def family(generator: str, name: str, seeds: list[int], **options: Any) -> str:
    """Write a family, with what its seeds draw."""
    digests = [instance_digest(generate(generator, **options, seed=seed)) for seed in seeds]
    table = ", ".join(f"{key} = {json.dumps(value)}" for key, value in options.items())
    lines = [
        "[[family]]",
        f"name = {json.dumps(name)}",
        f"generator = {json.dumps(generator)}",
        f"seeds = {json.dumps(seeds)}",
        f"digests = {json.dumps(digests)}",
        f"options = {{ {table} }}" if table else "options = {}",
    ]
    return "\n" + "\n".join(lines) + "\n"


def write(
    name: str, title: str, about: str, strategies: list[str], instances: list[str], *families: str, **more: Any
) -> None:
    """Write a set, and its solution file if there is none."""
    head = ["# Written by tools/instances/make_sets.py, not by hand.", "format = 1"]
    head += [f"name = {json.dumps(name)}", f"title = {json.dumps(title)}"]
    head += ['about = """', *about.strip().splitlines(), '"""', f"strategies = {json.dumps(strategies)}"]
    head += [f"{key} = {json.dumps(value)}" for key, value in more.items()]
    if instances:
        head += ["instances = [", *(f"    {json.dumps(one)}," for one in instances), "]"]
    (FOLDER / f"{name}.toml").write_text("\n".join(head) + "\n" + "".join(families), encoding="utf-8")
    chosen = read_set(FOLDER / f"{name}.toml")
    file = chosen.solution_file
    if file is not None and not file.is_file():
        known = [first_solution(member) for member in chosen.members]
        file.write_text(solutions_text(name, known), encoding="utf-8")
    print(f"{name}: {len(chosen)} instances")


def first_solution(member: Member) -> Solution:
    """Say of a shipped instance what its file says, and nothing of one that is drawn."""
    known = None if member.generator else read_instance(member.name).best_known
    if known is None:
        return Solution(member.name)
    found = Solution(member.name, "feasible", known.objective, known.bound, by=known.by, when=FIXED)
    return replace(found, status="optimal", bound=None, proved_by=known.by) if known.proved else found


# -- gautam-25 --------------------------------------------------------------------------------------------------------

#: Sizes: five instances of each, so that those of the last are five sizes.
SIZES = [[(6, 6)] * 5, [(8, 9)] * 5, [(10, 12)] * 5, [(12, 12)] * 5, [(15, 20), (20, 20), (20, 30), (25, 25), (30, 30)]]

#: Rate of servers, think time at distance 1, and what each further step adds.
RATES = [(10, 1.0, 0.1), (20, 0.8, 0.04), (50, 0.5, 0.02), (100, 0.4, 0.02), (200, 0.3, 0.01)]

#: Distance whose lone client still has so much of its throughput, share of it that is asked for, delay probability, and
#: delay in mean services.
QUALITY = [(3, 0.95, 0.1, 8.0), (3, 0.9, 0.2, 6.0), (4, 0.97, 0.05, 10.0), (4, 0.93, 0.3, 5.0), (3, 0.93, 0.02, 14.0)]

#: Coefficients of variation of costs and demands, from very small to very large.
VARIATION = [0.05, 0.25, 0.5, 1.0, 2.0]


def grids() -> list[str]:
    """Draw up the 25 instances: an orthogonal array of strength 2.

    With columns a, b, a + b, a + 2b, a + 3b and a + 4b modulo 5, any two levels of any two columns meet exactly once.
    """
    found = []
    for a in range(5):
        for b in range(5):
            rate, first, step = RATES[(a + b) % 5]
            reach, share, probability, services = QUALITY[b]
            variation = VARIATION[(a + 2 * b) % 5]
            discrete = ((a + 3 * b) % 5, b % 2) < (2, 1)
            clustered = ((a + 4 * b) % 5, a % 2) < (2, 1)
            rows, columns = SIZES[a][b]
            alone = 1.0 / (first + (reach - 1) * step + 1.0 / rate)
            options: dict[str, Any] = {
                "rows": rows,
                "columns": columns,
                "demand_law": "cluster" if clustered else "uniform",
                "demand_variation": variation,
                "cost_law": "integers" if discrete else "continuous",
                "cost_variation": variation,
                "service_rate": float(rate),
                "base": round(first - step, 6),
                "per_distance": step,
                "min_throughput": float(f"{share * alone:.4g}"),
                "max_delay_probability": probability,
                "delay": services / rate,
                "guarantee": "farthest",
            }
            # As in section 6.1, where 15 clients is the most and 23 a server takes: two thirds of a server's room.
            options["largest_demand"] = max(2, 2 * capacities(options)[0] // 3)
            number = 5 * a + b + 1
            found.append(family("placement", f"gautam-25-{number:02d}-{rows}x{columns}", [6200 + number], **options))
    return found


def capacities(options: dict[str, Any]) -> tuple[int, ...]:
    """Count the clients that a server takes, by the distance of the farthest."""
    think_times = [options["base"] + options["per_distance"] * distance for distance in range(1, 9)]
    limits = {key: options[key] for key in ("min_throughput", "max_delay_probability", "delay", "guarantee")}
    return capacity_by_distance(options["service_rate"], think_times, **limits)


def main() -> None:
    """Write all sets."""
    FOLDER.mkdir(exist_ok=True)
    known = shipped_files()

    def among(*beginnings: str, without: tuple[str, ...] = ()) -> list[str]:
        return [name for name in known if name.startswith(beginnings) and name not in without]

    avrachenkov = among(
        "avrachenkov-",
        without=("avrachenkov-k5-loss-15", "avrachenkov-k5-starvation", "avrachenkov-k50", "avrachenkov-k100"),
    )
    talim = among("talim-", without=("talim-fig3-holding", "talim-fig3-starvation", "talim-two-robots"))
    papers = [
        *avrachenkov,
        *among("inria-"),
        *talim,
        *("coffman-4", "equal-94", "two-point-shorter", "two-point-longer"),
        *("figure-1", "mmpp-slow", "map-3", "freshness-weights", "example-3-4", "example-3-5"),
        *("gautam-2x3", "gautam-2x3-printed", "gautam-11x22"),
    ]
    write(
        "papers",
        "Every example of the five papers",
        """
Avrachenkov et al. (2011), Talim et al. (2001), Coffman et al. (1998), Altman et al. (2000) and Gautam (2002): each
instance behind a table, a figure or an example. `optmodels bench papers` also remakes the tables, beside the printed
values.
""",
        ["auto"],
        papers,
        seconds=20.0,
        papers=["avrachenkov", "talim", "coffman", "altman", "gautam"],
    )
    write(
        "gautam-25",
        "25 grids in the spirit of Gautam (2002), section 6.2",
        """
The 25 instances behind Table 1 of the paper were never published. These vary the same seven factors: (i) size, five
instances each of 6x6, 8x9, 10x12, 12x12 and 15x20 to 30x30; (ii) ratio of sides, 13 square and 12 rectangular; (iii)
quality of service and (iv) rates of servers and clients, five levels each; (v) costs discrete or continuous, 13 and 12;
(vi) coefficients of variation of costs and demands 0.05, 0.25, 0.5, 1 and 2, five of each; (vii) demands independent or
in clusters, 12 and 13. Levels are combined by an orthogonal array: any two levels of any two columns meet exactly
once. Quality is judged by the paper's own rule (guarantee "farthest").
The list was fixed, by options, seeds and digests, before any of them was solved.
""",
        ["highs", "annealing", "genetic", "dejavu", "local-search"],
        [],
        *grids(),
        seconds=60.0,
        seeds=5,
    )
    sndlib = ["abilene", "cost266", "france", "geant", "germany50", "giul39", "india35", "janos-us-ca", "nobel-eu"]
    sndlib += ["norway", "pioro40", "ta2", "zib54", "brain"]
    zoo = ["Bellcanada", "Surfnet", "Forthnet", "Uninett2010", "VtlWavenet2011", "TataNld"]
    write(
        "networks",
        "Real networks: SNDlib with its published demands, and the Internet Topology Zoo",
        """
Links and positions come from topohub. Nodes of SNDlib have its published demands, what begins and what ends at a node
added, in units that give the busiest node 15 clients; the Topology Zoo publishes none, so that demands are drawn from 1
to 15. Costs are 1, 2 or 3, drawn; servers and quality are those of Gautam (2002), section 6.1, judged by the exact rule
(guarantee "worst-case"). Three shipped instances follow the paper's rule. Drawing needs the extra topohub.
""",
        ["highs", "annealing", "genetic", "local-search"],
        ["germany50", "ta2", "tatanld"],
        *(
            family("placement", f"sndlib-{one}", [1], topology=f"sndlib/{one}", demand_law="published")
            for one in sndlib
        ),
        *(family("placement", f"zoo-{one.lower()}", [1], topology=f"topozoo/{one}") for one in zoo),
        seconds=60.0,
        seeds=5,
    )
    write(
        "crawl",
        "Pages to be kept fresh, from 4 to 10 000",
        """
Shipped instances of kind "freshness", and synthetic pages: change rates lognormal or with a Pareto tail, weights by
Zipf's law, light and heavy load. The optimum of the relaxation (lagrangian) bounds every order of visits from below.
""",
        ["lagrangian", "randomized", "golden-ratio", "greedy", "whittle", "regular", "power-of-two", "uniform"],
        [name for name, file in known.items() if file.parent.name == "freshness"],
        family("freshness", "synthetic-lognormal-100-{seed}", [1, 2, 3], pages=100, access="constant"),
        family("freshness", "synthetic-pareto-100-{seed}", [1, 2, 3], pages=100, law="pareto", access="constant"),
        family("freshness", "synthetic-heavy-300-{seed}", [1, 2, 3], pages=300, load=5.0, spread=1.5),
        family("freshness", "synthetic-hosts-1000-{seed}", [1, 2], pages=1000, hosts=50),
        family("freshness", "synthetic-pareto-10000-{seed}", [1], pages=10000, law="pareto", zipf=0.8),
        seconds=30.0,
    )
    write(
        "routing-random",
        "Random servers to route packets to",
        """
Servers with lognormal rates: two to twenty of them, light and heavy load, Poisson, constant and modulated arrivals,
exponential services and mixtures; lost packets and pages out of date.
""",
        ["min-mean-cycle", "multimodular", "whittle", "annealing", "local-search"],
        [],
        family("routing", "loss-two-{seed}", [1, 2, 3], servers=2),
        family("routing", "loss-three-{seed}", [1, 2, 3], servers=3),
        family("routing", "loss-five-heavy-{seed}", [1, 2, 3], servers=5, load=1.2),
        family("routing", "loss-three-period-{seed}", [1, 2, 3], servers=3, spread=0.5, max_period=9),
        family("routing", "loss-four-mmpp-{seed}", [1, 2], servers=4, arrivals="mmpp"),
        family("routing", "loss-four-mixed-{seed}", [1, 2], servers=4, service_phases=2, arrivals="deterministic"),
        family("routing", "fresh-three-{seed}", [1, 2, 3], servers=3, application="freshness", weights="drawn"),
        family("routing", "fresh-six-{seed}", [1, 2], servers=6, application="freshness", weights="rates"),
        family("routing", "loss-twenty-{seed}", [1, 2], servers=20),
        seconds=30.0,
        seeds=3,
    )
    write(
        "mdp",
        "Decision processes of robots, from 40 to 20 000 states",
        """
Queues as in Talim et al. (2001), drawn: few and many robots, prices on pages and on active robots, classes, journeys of
several stages, a changing environment, and any number of robots sent out at once; and the shipped fleets.
""",
        ["policy-iteration", "value-iteration", "linear-program", "static"],
        ["fleet-all-small", "fleet-classes-2", "fleet-environment", "fleet-erlang", "fleet-any-50"],
        family("robots", "plain-{seed}", [1, 2, 3], robots=8, capacity=6),
        family("robots", "many-{seed}", [1, 2, 3], robots=60, capacity=20),
        family("robots", "prices-{seed}", [1, 2, 3], robots=20, capacity=15, holding=0.1, activity=0.05),
        family("robots", "classes-{seed}", [1, 2], robots=20, capacity=10, classes=2),
        family("robots", "stages-{seed}", [1, 2], robots=20, capacity=10, phases=2),
        family("robots", "environment-{seed}", [1, 2], robots=20, capacity=10, environment=3),
        family("robots", "fleet-{seed}", [1, 2], robots=20, capacity=10, switching="any"),
        seconds=30.0,
    )


if __name__ == "__main__":
    main()
