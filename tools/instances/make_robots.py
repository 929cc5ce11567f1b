"""Write the instances of kind "robots" anew: python tools/instances/make_robots.py (some seconds).

The files are plain data and stand on their own; this script only saves typing. Every `best_known` is found and, but
for the one with limits, proved by policy iteration here and judged again by `optmodels check`.
"""

from pathlib import Path

import optmodels as om

FOLDER = Path(__file__).parents[2] / "instances" / "robots"
PAPER = (
    "J. Talim, Z. Liu, P. Nain, E. G. Coffman Jr., Controlling the robots of web search engines, Proc. ACM Sigmetrics "
    "2001, Performance Evaluation Review 29 (1)"
)
SEVENTEEN = (
    "Printed gamma: 1.13. The printed dynamic cost belongs to gamma(K) = (K + 2)/K = 17/15, which stands here; the "
    "printed static cost, 0.13313, to 1.13."
)
PASTED = "The printed dynamic cost, {printed}, is wrong: it is the cost of another row of the tables."

#: lambda, K, gamma as printed, and N_s, the best fixed number of robots, to which Table 1 sets N.
ROWS = (
    (0.01, 5, 0.4, 73), (0.01, 5, 1.4, 100), (0.01, 5, 2.4, 114),
    (0.01, 10, 0.4, 86), (0.01, 10, 1.2, 100), (0.01, 10, 2.4, 110),
    (0.01, 15, 0.4, 91), (0.01, 15, 1.13, 100), (0.01, 15, 2.4, 107),
    (0.05, 5, 0.4, 15), (0.05, 5, 1.4, 20), (0.05, 5, 2.4, 23),
    (0.05, 10, 0.4, 17), (0.05, 10, 1.2, 20), (0.05, 10, 2.4, 22),
    (0.05, 15, 0.4, 18), (0.05, 15, 1.13, 20), (0.05, 15, 2.4, 21),
    (0.1, 5, 0.4, 7), (0.1, 5, 1.4, 10), (0.1, 5, 2.4, 11),
    (0.1, 10, 0.4, 9), (0.1, 10, 1.2, 10), (0.1, 10, 2.4, 11),
    (0.1, 15, 0.4, 9), (0.1, 15, 1.13, 10), (0.1, 15, 2.4, 11),
)  # fmt: skip

#: Dynamic costs of Table 2 that cannot be right.
WRONG = {(0.05, 10, 1.2): "0.12020", (0.05, 10, 2.4): "0.20541"}


def write(
    name: str,
    where: str,
    notes: str,
    robots: int | None,
    capacity: int,
    rate: float,
    weights: dict[str, float],
    limits: dict[str, object] | None = None,
) -> None:
    """Solve one instance and write it."""
    content: dict[str, object] = {"format": 1, "kind": "robots", "name": name, "source": where}
    if notes:
        content["notes"] = notes
    content |= {
        "data": {"robots": robots, "capacity": capacity, "arrival_rate": rate, "service_rate": 1.0},
        "cost": {"name": "weighted-sum", "weights": weights},
    }
    if limits:
        content["limits"] = limits
    answer = om.solve(om.Instance.from_data(content).problem(), "highs" if limits else "policy-iteration")
    known = {"objective": answer.objective, "decision": list(answer.decision)}
    if limits:
        assert answer.status == "optimal", answer
        known |= {"proved": True, "by": "integer program of occupation measures, HiGHS"}
    else:
        lower, upper = answer.extra["bracket"]
        assert answer.status == "optimal" and upper - lower <= 1e-10 * lower, answer
        known |= {"proved": True, "by": f"policy iteration, bracket {lower!r} to {upper!r}"}
    content["best_known"] = known
    om.write_instance(om.Instance.from_data(content), FOLDER / f"{name}.json")
    print(name, answer.objective, answer.status, f"{answer.seconds:.3f} s")


def main() -> None:
    """Write all files."""
    FOLDER.mkdir(exist_ok=True)
    for rate, capacity, gamma, robots in ROWS:
        weights = {"starvation": gamma if gamma != 1.13 else 17 / 15, "loss_rate": 1}
        row = f"{rate}-k{capacity}-{gamma}"
        note = SEVENTEEN if gamma == 1.13 else ""
        write(f"talim-table1-{row}", f"{PAPER}, Table 1", note, robots, capacity, rate, weights)
        wrong = WRONG.get((rate, capacity, gamma))
        note = " ".join(filter(None, [note, PASTED.format(printed=wrong) if wrong else ""]))
        write(f"talim-table2-{row}", f"{PAPER}, Table 2", note, None, capacity, rate, weights)
    for figure, gamma in ((2, 1.0), (3, 1.4), (4, 2.0)):
        write(f"talim-fig{figure}", f"{PAPER}, Figure {figure}", "", 16, 5, 0.1, {"starvation": gamma, "loss_rate": 1})
    write(
        "talim-two-robots",
        f"{PAPER}, section 3",
        "Two robots, as in the paper's example of a policy with two closed classes; rates, room and price are ours.",
        2, 3, 1.0, {"starvation": 5 / 3, "loss_rate": 1},
    )  # fmt: skip
    write(
        "talim-fig3-holding",
        f"{PAPER}, Figure 3",
        "Not in the paper: pages in the system and active robots have a price as well.",
        16, 5, 0.1, {"starvation": 1.4, "loss_rate": 1, "mean_length": 0.02, "active_robots": 0.005},
    )  # fmt: skip
    write(
        "talim-fig3-starvation",
        f"{PAPER}, Figure 3",
        "Not in the paper: at most 5 % of the time without a page. The best policy leaves one decision to chance "
        "and costs 0.396060; of those that do not, this is the best.",
        16, 5, 0.1, {"starvation": 1.4, "loss_rate": 1}, {"starvation": {"max": 0.05}},
    )  # fmt: skip


if __name__ == "__main__":
    main()
