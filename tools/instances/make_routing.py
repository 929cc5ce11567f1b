"""Write the instances of kind "routing" anew: python tools/instances/make_routing.py (some seconds).

Every `best_known` is found here, by the strategy that `by` names; `proved` says whether its status was `optimal`.
"""

from pathlib import Path
from typing import Any

import optmodels as om

FOLDER = Path(__file__).parents[2] / "instances" / "routing"
PAPER = "E. Altman, S. Bhulai, B. Gaujal, A. Hordijk, Open-loop routeing to M parallel servers with no buffers, 2000"
MADE_UP = "made up"
POISSON = {"law": "poisson", "rate": 1.0}


def write(name: str, source: str, notes: str, data: dict[str, Any], strategy: str, **budget: Any) -> None:
    """Solve one instance and write it."""
    content: dict[str, Any] = {"format": 1, "kind": "routing", "name": name, "source": source, "notes": notes}
    content["data"] = data
    problem = om.Instance.from_data(content).problem()
    answer = om.solve(problem, strategy, **budget)
    assert answer.objective is not None
    proved = answer.status == "optimal"
    best: dict[str, Any] = {"objective": answer.objective, "decision": list(answer.decision), "proved": proved}
    best["by"] = strategy
    if not proved and answer.bound is not None:
        best["bound"] = answer.bound
    content["best_known"] = best
    om.write_instance(om.Instance.from_data(content), FOLDER / f"{name}.json")
    print(f"{answer}, period {len(answer.decision)}")


def rates(*values: float) -> list[dict[str, Any]]:
    """Servers with exponential services."""
    return [{"rate": value} for value in values]


def loss(servers: list[dict[str, Any]], arrivals: dict[str, Any], **more: Any) -> dict[str, Any]:
    """Fewest lost packets."""
    return {"servers": servers, "arrivals": arrivals, "application": "loss", **more}


def pages(change_rates: tuple[float, ...], weights: tuple[float, ...], arrivals: dict[str, Any]) -> dict[str, Any]:
    """Freshest pages."""
    servers = [{"rate": rate, "weight": weight} for rate, weight in zip(change_rates, weights, strict=True)]
    return {"servers": servers, "arrivals": arrivals, "application": "freshness"}


def synthetic(servers: int, seed: int, **options: Any) -> dict[str, Any]:
    """Servers of the generator."""
    return om.generate("routing", servers=servers, seed=seed, **options).data


def main() -> None:
    """Write all files."""
    FOLDER.mkdir(exist_ok=True)
    write(
        "figure-1",
        f"{PAPER}, Figure 1",
        "Two servers, the slow one of rate 1. The best period is (0, 1, ..., 1), and its length n grows to n + 1 where "
        "the rate of the fast one passes 2.4142, 4.8533, 9.1407, 16.771, 30.492, 55.384, ... (n = 2, 3, ...).",
        loss(rates(1.0, 10.0), POISSON),
        "two-server",
    )
    for name, speeds, period in (
        ("loss-3", (0.3, 1.0, 4.0), 10),
        ("loss-3-wide", (0.1, 1.0, 10.0), 35),
        ("loss-4", (0.5, 1.0, 2.0, 4.0), 10),
        ("loss-4-wide", (0.1, 1.0, 3.0, 10.0), 44),
        ("loss-5", (0.5, 1.0, 1.5, 2.0, 4.0), 42),
    ):
        write(
            name,
            MADE_UP,
            f"{len(speeds)} servers of rates {', '.join(f'{speed:g}' for speed in speeds)}. The best of all words has "
            f"{period} slots.",
            loss(rates(*speeds), POISSON),
            "min-mean-cycle",
        )
    write(
        "loss-4-short",
        MADE_UP,
        "The servers of loss-4 with periods up to 9: what a list of all short words misses.",
        loss(rates(0.5, 1.0, 2.0, 4.0), POISSON, max_period=9),
        "exhaustive",
    )
    write(
        "loss-5-20",
        MADE_UP,
        "The servers of loss-5 with a period of 20 slots: 4.8e12 words, of which an integer program proves the best.",
        loss(rates(0.5, 1.0, 1.5, 2.0, 4.0), POISSON, period=20),
        "highs",
    )
    write(
        "mmpp-slow",
        f"{PAPER}, section 5.1",
        "Poisson arrivals of rate 0.5 or 5 that change once in 1000 units of time. With either rate alone the best "
        "periods have 3 and 5 slots, and one might expect a mixture; the best word has 4, and the same form.",
        loss(rates(1.0, 4.0), {"law": "mmpp", "generator": [[-0.001, 0.001], [0.001, -0.001]], "rates": [0.5, 5.0]}),
        "two-server",
    )
    write(
        "map-3",
        f"{PAPER}, section 5.2",
        "Three servers; a Markovian arrival process whose phase may change with an arrival, or without.",
        loss(
            rates(0.4, 1.0, 2.5),
            {"law": "map", "D0": [[-3.0, 0.5], [0.2, -0.8]], "D1": [[2.0, 0.5], [0.1, 0.5]]},
        ),
        "min-mean-cycle",
    )
    times = [0.2, 0.1, 0.3, 0.2, 2.5, 1.9, 0.4, 0.1, 0.2, 3.1, 0.7, 0.3]
    for law, how in (("samples", "drawn anew each time"), ("trace", "in this order, over and over")):
        write(
            f"{law}-3",
            MADE_UP,
            f"Three servers; twelve measured times between packets, {how}.",
            loss(rates(0.5, 1.0, 3.0), {"law": law, "values": times}),
            "min-mean-cycle",
        )
    write(
        "phase-type-3",
        MADE_UP,
        "Three servers whose services are mixtures of short and long ones, of mean 1, 0.5 and 0.25.",
        loss(
            [
                {"service": {"initial": [0.8, 0.2], "generator": [[-2.0, 0.0], [0.0, -1.0 / 3.0]]}},
                {"service": {"initial": [0.8, 0.2], "generator": [[-4.0, 0.0], [0.0, -2.0 / 3.0]]}},
                {"service": {"initial": [0.8, 0.2], "generator": [[-8.0, 0.0], [0.0, -4.0 / 3.0]]}},
            ],
            POISSON,
        ),
        "min-mean-cycle",
    )
    write(
        "freshness-weights",
        f"{PAPER}, Remark 6.1, which it contradicts",
        "Three pages; the weight of page 0 is small compared with its change rate, and it is never visited. The paper "
        "says so of pages whose weight is large.",
        pages((0.5, 1.0, 2.0), (0.05, 1.0, 2.0), POISSON),
        "min-mean-cycle",
    )
    write(
        "local-search-3",
        MADE_UP,
        "Three pages with weights equal to change rates, period 4: steps between words that keep to the base of "
        "multimodular functions get stuck at 1, 0, 2, 0, which costs 2.26872.",
        pages((1.0012, 1.3482, 0.7602), (1.0012, 1.3482, 0.7602), POISSON) | {"period": 4},
        "exhaustive",
    )
    write(
        "example-3-4",
        f"{PAPER}, Example 3.4",
        "f_1(n) = 0, f_2(n) = exp(0.1 n). The paper says that all packets go to server 2, which costs 1.1052 a slot; "
        "every tenth is best, at 0.2718.",
        {
            "servers": [
                {"gap_cost": "linear-exponential", "factor": 0.0},
                {"gap_cost": "linear-exponential", "decay": -0.1},
            ]
        },
        "min-mean-cycle",
    )
    write(
        "example-3-5",
        f"{PAPER}, Example 3.5",
        "f_1(n) = n^2, f_2(n) = 2 n^2, six slots, with the terminal cost of eq. (1); without it server 1 gets all.",
        {
            "servers": [{"gap_cost": "power"}, {"gap_cost": "power", "factor": 2.0}],
            "horizon": 6,
            "initial": [1, 2],
        },
        "backward-induction",
    )
    write(
        "horizon-40",
        MADE_UP,
        "Three servers and 40 packets; the first server has never been used, the others have just been.",
        loss(rates(0.3, 1.0, 4.0), POISSON, horizon=40, initial=[None, 1, 2]),
        "backward-induction",
    )
    for servers in (20, 200):
        write(
            f"synthetic-{servers}",
            f"optmodels generate routing --servers {servers} --seed 1",
            f"{servers} servers with lognormal rates; nothing is proved but the bound.",
            synthetic(servers, 1),
            "whittle" if servers > 100 else "min-mean-cycle",
        )


if __name__ == "__main__":
    main()
