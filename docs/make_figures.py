"""Draw the figures of the documentation: python docs/make_figures.py.

Placements and queues come out the same every time: the searches are counted in evaluations. Times are measured, so the
two pictures of runs differ a little each time.
"""

import json
from pathlib import Path

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


def draw_placements() -> None:
    content = json.loads((INSTANCES / "gautam-2x3.json").read_text())
    best = content["best_known"]
    result = {"decision": best["decision"], "objective": best["objective"], "status": "optimal"}
    plot_problem(om.load(INSTANCES / "gautam-2x3.json"), result, FIGURES / "gautam-2x3.svg")
    for name, suffix in (("gautam-11x22", "png"), ("germany50", "svg")):
        problem = om.load(INSTANCES / f"{name}.json")
        answer = om.solve(problem, "annealing", evaluations=3_000_000, seed=0)
        print(answer)
        plot_problem(problem, om.result_to_data(answer), FIGURES / f"{name}.{suffix}")


def draw_thresholds() -> None:
    problem = om.load(THRESHOLDS / "avrachenkov-k5.json")
    plot_problem(problem, om.result_to_data(om.solve(problem, "exhaustive")), FIGURES / "avrachenkov-k5.svg")
    best = om.result_to_data(om.solve(problem, "optimal-policy"))
    plot_problem(problem, best, FIGURES / "avrachenkov-k5-policy.svg")
    plot_front(om.pareto(problem, ("starvation", "response_time")), FIGURES / "avrachenkov-k5-front.svg")


def draw_robots() -> None:
    for name in ("talim-fig2", "talim-fig3", "talim-fig4"):
        problem = om.load(ROBOTS / f"{name}.json")
        plot_problem(problem, om.result_to_data(om.solve(problem, "policy-iteration")), FIGURES / f"{name}.svg")
    problem = om.load(ROBOTS / "talim-table2-0.05-k10-1.2.json")
    plot_static_dynamic(problem, path=FIGURES / "talim-table2-gamma.svg")


def draw_fleets() -> None:
    for name in ("fleet-any-50", "fleet-classes-2", "fleet-environment", "fleet-erlang"):
        problem = om.load(ROBOTS / f"{name}.json")
        plot_problem(problem, om.result_to_data(om.solve(problem, "policy-iteration")), FIGURES / f"{name}.svg")
    areas = om.load(ROBOTS / "areas-8-dynamic.json")
    plot_problem(areas, om.result_to_data(om.solve(areas, "marginal-analysis")), FIGURES / "areas-8.svg")


def draw_pages() -> None:
    problem = om.load(PAGES / "lognormal-100-general.json")
    answer = om.result_to_data(om.solve(problem, "whittle"))
    plot_problem(problem, answer, FIGURES / "lognormal-100-general.svg")


def draw_servers() -> None:
    problem = om.load(SERVERS / "loss-5.json")
    plot_problem(problem, om.result_to_data(om.solve(problem, "min-mean-cycle")), FIGURES / "loss-5.svg")
    plot_periods(om.load(SERVERS / "figure-1.json"), path=FIGURES / "routing-figure-1.svg")


def draw_runs() -> None:
    rows = []
    for name in ("gautam-6x6", "gautam-11x11", "gautam-11x22"):
        problem = om.load(INSTANCES / f"{name}.json")
        for strategy in ("dejavu", "genetic", "annealing"):
            for seed in range(1 if strategy == "dejavu" else 3):
                rows.append(om.result_to_data(om.solve(problem, strategy, seconds=3, seed=seed)))
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
