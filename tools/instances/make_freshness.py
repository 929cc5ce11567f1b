"""Write the instances of kind "freshness" anew: python tools/instances/make_freshness.py (some seconds).

Every `best_known` is the relaxed optimum: frequencies evenly spaced, proved by the value of the dual; of `equal-94` a
cycle attains it. Pages are made up, and drawn with the seeds named in `notes`.
"""

from pathlib import Path
from typing import Any

import numpy as np

import optmodels as om

FOLDER = Path(__file__).parents[2] / "instances" / "freshness"
PAPER = "E. G. Coffman Jr., Z. Liu, R. R. Weber, Optimal robot scheduling for web search engines, 1998"
EXPONENTIAL = {"law": "exponential", "mean": 1.0}


def write(name: str, source: str, notes: str, data: dict[str, Any], cycle: list[int] | None = None) -> None:
    """Solve one instance and write it."""
    content: dict[str, Any] = {"format": 1, "kind": "freshness", "name": name, "source": source, "notes": notes}
    content["data"] = data
    problem = om.Instance.from_data(content).problem()
    answer = om.solve(problem, "lagrangian")
    assert answer.status == "optimal", answer
    decision, by = list(answer.decision), "one multiplier, proved by the value of the dual"
    if cycle is not None:
        attained = problem.evaluate(problem.space.check({"schedule": cycle})).objective
        assert abs(attained / answer.objective - 1) < 1e-12
        decision, by = {"schedule": cycle}, "evenly spaced, hence equal to the value of the dual"
    content["best_known"] = {"objective": answer.objective, "decision": decision, "proved": True, "by": by}
    om.write_instance(om.Instance.from_data(content), FOLDER / f"{name}.json")
    told = answer.extra
    print(f"{name}: {answer.objective:.10g}, {answer.evaluation.measures}, schedules {told['schedule_bound']:.10g}")


def write_cycle(name: str, source: str, notes: str, data: dict[str, Any]) -> None:
    """Find the best cycle by the integer program, and write the instance."""
    content: dict[str, Any] = {"format": 1, "kind": "freshness", "name": name, "source": source, "notes": notes}
    content["data"] = data
    answer = om.solve(om.Instance.from_data(content).problem(), "highs")
    assert answer.status == "optimal", answer
    told = {"decision": answer.decision.to_data(), "proved": True, "by": "the integer program"}
    content["best_known"] = {"objective": answer.objective, **told}
    om.write_instance(om.Instance.from_data(content), FOLDER / f"{name}.json")
    print(f"{name}: {answer.objective:.10g}, whole visits {answer.extra['count_bound']:.10g}")


def rounded(values: np.ndarray) -> list[float]:
    """Six digits are enough for numbers that were drawn."""
    return [float(f"{value:.6g}") for value in values.tolist()]


def lognormal(seed: int, pages: int, load: float) -> tuple[list[float], list[float]]:
    """Change rates that add up to the load, about, and weights drawn apart from them."""
    rng = np.random.default_rng(seed)
    rates = rng.lognormal(size=pages)
    return rounded(rates * (load / rates.sum())), rounded(rng.lognormal(size=pages))


def zipf_hosts(seed: int, pages: int, hosts: int) -> dict[str, Any]:
    """Pages by Zipf's law on hosts, weights by Zipf's law, rates lognormal."""
    rng = np.random.default_rng(seed)
    shares = 1.0 / np.arange(1, hosts + 1)
    of_page = np.concatenate([np.arange(hosts), rng.choice(hosts, pages - hosts, p=shares / shares.sum())])
    rates = rng.lognormal(size=pages)
    weights = 1.0 / (1 + rng.permutation(pages))
    return {
        "change_rates": rounded(rates * (3.0 / rates.sum())),
        "weights": rounded(weights),
        "access_time": EXPONENTIAL,
        "hosts": of_page.tolist(),
    }


def main() -> None:
    """Write all files."""
    write(
        "coffman-4",
        f"{PAPER}, section 5",
        "The example has frequencies (2, 3, 3, 5)/13; with constant access times and weights equal to change rates "
        "they are proportional to rates, eq. (10). The paper's cycle, pages from 0, is 3 1 3 0 2 3 1 3 0 2 3 1 2.",
        {
            "change_rates": [0.2, 0.3, 0.3, 0.5],
            "weights": "change-rates",
            "access_time": {"law": "constant", "value": 1.0},
        },
    )
    write(
        "equal-94",
        f"{PAPER}, Corollary 5.1, which it contradicts",
        "94 equal pages, 0.01 changes per access in all. golden-ratio with a cycle of F_28 = 317811 slots costs 1.1082 "
        "times the bound; the paper promises 1.0469 at most. Visiting pages in turn attains the bound.",
        {"change_rates": [0.01 / 94] * 94, "weights": "change-rates", "access_time": {"law": "constant", "value": 1.0}},
        cycle=list(range(94)),
    )
    for short, last in ((0.0, "shorter"), (1.0, "longer")):
        write(
            f"two-point-{last}",
            f"{PAPER}, Theorem 3.1, which it contradicts",
            f"One page, always visited: accesses take {short:g} with probability 0.9, else 10. Those of "
            "two-point-shorter are stochastically smaller than those of two-point-longer, and its page is out of date "
            "for more of the time: 0.9 against 0.6479.",
            {
                "change_rates": [1.0],
                "weights": [1.0],
                "access_time": {"law": "samples", "values": [short] * 9 + [10.0]},
            },
        )
    write_cycle(
        "coffman-4-cycle",
        f"{PAPER}, section 5",
        "The four pages of coffman-4, and the best cycle of 13 slots, the length of the paper's cycle by the golden "
        "ratio, which costs 0.583122.",
        {
            "change_rates": [0.2, 0.3, 0.3, 0.5],
            "weights": "change-rates",
            "access_time": {"law": "constant", "value": 1.0},
            "cycle": 13,
        },
    )
    made_up = "made up"
    rates, weights = lognormal(0, 10, 1.0)
    write_cycle(
        "cycle-10",
        made_up,
        "10 pages, lognormal change rates and weights (seed 0), one change per access: the best cycle of 30 slots.",
        {
            "change_rates": rates,
            "weights": weights,
            "access_time": {"law": "constant", "value": 1.0},
            "cycle": 30,
        },
    )
    rates, _ = lognormal(1, 100, 0.5)
    write(
        "lognormal-100",
        made_up,
        "100 pages, lognormal change rates (sigma = 1, seed 1), 0.5 changes per access in all, weights equal to rates.",
        {"change_rates": rates, "weights": "change-rates", "access_time": EXPONENTIAL},
    )
    rates, weights = lognormal(2, 100, 3.0)
    write(
        "lognormal-100-general",
        made_up,
        "100 pages, lognormal change rates (sigma = 1, seed 2), 3 changes per access in all, weights drawn apart.",
        {"change_rates": rates, "weights": weights, "access_time": EXPONENTIAL},
    )
    rates, weights = lognormal(3, 60, 6.0)
    write(
        "robots-3",
        "made up",
        "60 pages shared by three robots, lognormal change rates and weights (seed 3), Erlang access times; no page is "
        "visited less often than every 500 slots.",
        {
            "change_rates": rates,
            "weights": weights,
            "access_time": {"law": "erlang", "stages": 4, "mean": 1.0},
            "min_frequency": 0.002,
            "robots": 3,
        },
    )
    write(
        "zipf-hosts-200",
        "made up",
        "200 pages on 40 hosts, pages and weights by Zipf's law (seed 4): two visits to a host are 8 slots apart at "
        "least, and no host has more than a tenth of the visits.",
        zipf_hosts(4, 200, 40) | {"host_caps": 0.1, "host_gap": 8},
    )


if __name__ == "__main__":
    main()
