"""Draw the figures of the documentation: python docs/make_figures.py.

Placements and queues come out the same every time: the searches are counted in evaluations. Times are measured, so the
two pictures of runs differ a little each time.
"""

from pathlib import Path
from typing import Any

import optmodels as om
from optmodels.plotting import plot_finite_source, plot_gaps, plot_problem, plot_trace
from optmodels.robots import plot_static_dynamic
from optmodels.routing import plot_periods
from optmodels.studies import plot_front

ROOT = Path(__file__).parents[1]
INSTANCES = ROOT / "instances" / "placement"
THRESHOLDS = ROOT / "instances" / "threshold"
ROBOTS = ROOT / "instances" / "robots"
PAGES = ROOT / "instances" / "freshness"
SERVERS = ROOT / "instances" / "routing"
FIGURES = ROOT / "docs" / "figures"


def draw(file: Path, strategy: str, picture: str, **options: Any) -> None:
    """Solve an instance and draw the answer, with the best known beside it."""
    problem, best = om.load(file), om.read_instance(file).best_known
    answer = om.solve(problem, strategy, **options)
    print(answer)
    plot_problem(problem, answer, FIGURES / picture, best_known=None if best is None else best.objective)


def draw_placements() -> None:
    draw(INSTANCES / "gautam-2x3.json", "exhaustive", "gautam-2x3.svg")
    for name, suffix in (("gautam-11x22", "png"), ("germany50", "svg")):
        draw(INSTANCES / f"{name}.json", "annealing", f"{name}.{suffix}", evaluations=3_000_000, seed=0)


def draw_thresholds() -> None:
    problem = om.load(THRESHOLDS / "avrachenkov-k5.json")
    draw(THRESHOLDS / "avrachenkov-k5.json", "exhaustive", "avrachenkov-k5.svg")
    # The best known of the file is that of thresholds: not for a policy that sees more.
    plot_problem(problem, om.solve(problem, "optimal-policy"), FIGURES / "avrachenkov-k5-policy.svg")
    plot_front(om.pareto(problem, ("starvation", "response_time")), FIGURES / "avrachenkov-k5-front.svg")


def draw_robots() -> None:
    for name in ("talim-fig2", "talim-fig3", "talim-fig4"):
        draw(ROBOTS / f"{name}.json", "policy-iteration", f"{name}.svg")
    problem = om.load(ROBOTS / "talim-table2-0.05-k10-1.2.json")
    plot_static_dynamic(problem, path=FIGURES / "talim-table2-gamma.svg")


def draw_fleets() -> None:
    for name in ("fleet-any-50", "fleet-classes-2", "fleet-environment", "fleet-erlang"):
        draw(ROBOTS / f"{name}.json", "policy-iteration", f"{name}.svg")
    draw(ROBOTS / "areas-8-dynamic.json", "marginal-analysis", "areas-8.svg")


def draw_pages() -> None:
    draw(PAGES / "lognormal-100-general.json", "whittle", "lognormal-100-general.svg")


def draw_servers() -> None:
    draw(SERVERS / "loss-5.json", "min-mean-cycle", "loss-5.svg")
    plot_periods(om.load(SERVERS / "figure-1.json"), path=FIGURES / "routing-figure-1.svg")


def draw_runs() -> None:
    rows = []
    for name in ("gautam-6x6", "gautam-11x11", "gautam-11x22"):
        problem = om.load(INSTANCES / f"{name}.json")
        best = om.read_instance(INSTANCES / f"{name}.json").best_known
        for strategy in ("dejavu", "genetic", "annealing"):
            for seed in range(1 if strategy == "dejavu" else 3):
                row = om.result_to_data(om.solve(problem, strategy, seconds=3, seed=seed))
                rows.append(row | {"reference": "best known", "reference_value": best and best.objective})
    plot_gaps(rows, FIGURES / "gaps.svg")
    plot_trace([row for row in rows if row["problem"] == "gautam-11x22"], FIGURES / "trace.svg")


if __name__ == "__main__":
    FIGURES.mkdir(exist_ok=True)
    plot_finite_source(min_throughput=0.6, max_delay_probability=0.2, path=FIGURES / "finite-source.svg")
    draw_placements()
    draw_thresholds()
    draw_robots()
    draw_fleets()
    draw_pages()
    draw_servers()
    draw_runs()
