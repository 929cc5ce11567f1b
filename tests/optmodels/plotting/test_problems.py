"""Pictures are tested by reading the figure: its marks, lines and words."""

import json
import subprocess
import sys
import warnings
from pathlib import Path

import networkx as nx
import numpy as np
import pytest

from heuristics import Evaluation
from optmodels.errors import InstanceError, RequestError
from optmodels.placement import PlacementProblem
from optmodels.plotting import plot_finite_source, plot_gaps, plot_problem, plot_trace
from optmodels.plotting.runs import plot_sweep

SITES = ("open-sites", "idle-sites", "overloaded-sites")
LINES = ("assignments", "shared-assignments")


@pytest.fixture(autouse=True)
def no_warning_is_given():
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        yield


def read(instances: Path, name: str) -> PlacementProblem:
    content = json.loads((instances / "placement" / f"{name}.json").read_text())
    return PlacementProblem.from_data(content["data"], name=content["name"])


@pytest.fixture
def small(instances):
    return read(instances, "gautam-2x3")


@pytest.fixture
def large(instances):
    return read(instances, "gautam-11x22")


def network(nodes=12, name="ring", demand=6):
    graph = nx.cycle_graph(nodes)
    for node in graph:
        graph.nodes[node].update(demand=demand if node else 0, opening_cost=1)
    return PlacementProblem.from_graph(
        graph, name=name, service_rate=20, think_time={"base": 0.8, "per_distance": 0.1},
        quality={"min_throughput": 0.6, "max_delay_probability": 0.2, "delay": 0.6},
    )  # fmt: skip


def axes_of(figure):
    (axes,) = (axes for axes in figure.axes if axes.get_label() == "placement")
    return axes


def with_gid(axes, gid):
    return [artist for artist in axes.get_children() if artist.get_gid() == gid]


def marks(figure, gid):
    return sum(len(artist.get_offsets()) for artist in with_gid(axes_of(figure), gid))


def segments(figure, gid):
    return [segment for artist in with_gid(axes_of(figure), gid) for segment in artist.get_segments()]


def words(figure, gid):
    return [artist.get_text() for artist in with_gid(axes_of(figure), gid)]


def legend(figure):
    return [text.get_text() for found in figure.legends for text in found.get_texts()]


def pairs(problem, decision):
    """(cell with clients, nearest open site), counted without numpy tricks."""
    open_sites = [site for site, value in enumerate(decision) if value]
    found = []
    for cell in range(len(decision)):
        if problem.demand[cell] > 0:
            nearest = min(problem.distances[cell, site] for site in open_sites)
            sites = [site for site in open_sites if problem.distances[cell, site] == nearest]
            found += [(cell, site, len(sites) > 1) for site in sites]
    return found


# -- placements --------------------------------------------------------------------------------------------------------


def test_the_optimum_of_the_paper_is_drawn_with_its_loads(small):
    decision = [0, 0, 1, 1, 1, 0]
    result = {"problem": "gautam-2x3", "decision": decision, "objective": 8.0, "bound": 8.0, "status": "optimal"}
    figure = plot_problem(small, result)
    assert figure.get_suptitle() == "gautam-2x3\nobjective 8, bound 8, optimal, 3 of 6 sites open"
    assert marks(figure, "open-sites") == 3
    assert sorted(words(figure, "loads")) == ["11/23", "16/25", "25/25"]
    assert sorted(words(figure, "clients")) == ["10", "10", "15", "5", "6", "6"]
    axes = axes_of(figure)
    assert (axes.get_xlabel(), axes.get_ylabel()) == ("column", "row")
    assert [axes.get_xlabel() for axes in figure.axes[1:]] == ["demand (clients)", "load as a share of capacity"]


def test_lines_run_from_every_cell_with_clients_to_each_nearest_open_site(small):
    decision = (0, 0, 1, 1, 1, 0)
    figure = plot_problem(small, {"decision": decision})
    expected = pairs(small, decision)
    columns = small.shape[1]
    for gid, tied in (("assignments", False), ("shared-assignments", True)):
        drawn = {tuple(map(tuple, segment)) for segment in segments(figure, gid)}
        assert drawn == {
            ((cell % columns, cell // columns), (site % columns, site // columns))
            for cell, site, shared in expected
            if shared == tied
        }


def test_a_large_grid_has_as_many_marks_and_lines_as_the_placement(large):
    decision = large.repair((1,) * 242, np.random.default_rng(1))
    figure = plot_problem(large, {"decision": decision})
    expected = pairs(large, decision)
    assert marks(figure, "open-sites") + marks(figure, "idle-sites") == sum(decision)
    assert marks(figure, "overloaded-sites") == 0
    assert len(segments(figure, "assignments")) == sum(not shared for _, _, shared in expected)
    assert len(segments(figure, "shared-assignments")) == sum(shared for _, _, shared in expected)
    assert len(words(figure, "loads")) == sum(decision)


def test_overloaded_sites_have_a_shape_and_a_colour_of_their_own(large):
    rng = np.random.default_rng(2)
    decision = tuple(int(value) for value in rng.random(242) < 0.3)
    overloaded = int((large.overloaded(decision) > 0).sum())
    figure = plot_problem(large, {"decision": decision})
    assert 0 < overloaded < sum(decision)
    assert marks(figure, "overloaded-sites") == overloaded
    assert sum(marks(figure, gid) for gid in SITES) == sum(decision)
    assert f"{overloaded} overloaded" in figure.get_suptitle()
    (alarm,), (calm,) = (with_gid(axes_of(figure), gid) for gid in ("overloaded-sites", "open-sites"))
    assert len(alarm.get_paths()[0].vertices) != len(calm.get_paths()[0].vertices)
    assert tuple(alarm.get_facecolor()[0]) == (0, 0, 0, 1)
    assert any("overloaded" in entry for entry in legend(figure))


def test_colour_tells_load_over_capacity(small):
    figure = plot_problem(small, {"decision": (0, 0, 1, 1, 1, 0)})
    (sites,) = with_gid(axes_of(figure), "open-sites")
    brightness = [face[:3].sum() for face in sites.get_facecolor()]  # sites 2, 3, 4: 16/25, 25/25, 11/23
    assert brightness[1] < brightness[0] < brightness[2]


def test_the_legend_explains_every_mark_and_no_other(small):
    alone = plot_problem(small, None)
    assert legend(alone) == ["cell, shaded by demand, clients upper left", "cost of opening the site, lower right"]
    entries = legend(plot_problem(small, {"decision": (0, 0, 1, 1, 1, 0)}))
    assert entries == [
        "cell, shaded by demand, clients upper left",
        "cost of opening the site, lower right",
        "open site, clients / capacity on it",
        "clients go to their nearest open site",
        "clients shared by equally near sites",
    ]


def test_without_a_result_the_demand_alone_is_drawn(small):
    figure = plot_problem(small)
    assert figure.get_suptitle() == "gautam-2x3\n52 clients in 6 cells"
    assert [marks(figure, gid) for gid in SITES] == [0, 0, 0]
    assert len(words(figure, "clients")) == 6


def test_a_result_without_a_placement_says_so(small):
    figure = plot_problem(small, {"decision": None, "objective": None, "bound": None, "status": "infeasible"})
    assert figure.get_suptitle() == "gautam-2x3\ninfeasible, no placement"
    assert sum(marks(figure, gid) for gid in SITES) == 0


def test_a_placement_without_open_sites_has_no_lines(small):
    figure = plot_problem(small, {"decision": (0,) * 6})
    assert "0 of 6 sites open" in figure.get_suptitle()
    assert not any(segments(figure, gid) for gid in LINES)


def test_an_open_site_without_clients_is_marked_as_idle():
    ring = network()  # node 0 has no clients, and its neighbours are open
    figure = plot_problem(ring, {"decision": (1,) * 12})
    assert marks(figure, "idle-sites") == 1
    assert marks(figure, "open-sites") == 11
    assert "open site without clients" in legend(figure)


def test_a_network_shows_nodes_links_sites_and_lines():
    ring = network()
    decision = (0, 1, 0, 0, 1, 0, 0, 1, 0, 1, 0, 0)
    figure = plot_problem(ring, {"decision": decision})
    expected = pairs(ring, decision)
    assert marks(figure, "cells") == 12
    assert len(segments(figure, "links")) == 12
    assert sum(marks(figure, gid) for gid in SITES) == sum(decision)
    assert sum(len(segments(figure, gid)) for gid in LINES) == len(expected)
    assert "link" in legend(figure)
    assert "node, shaded by demand, clients inside" in legend(figure)
    assert "opening any site costs 1" in legend(figure) and words(figure, "opening-costs") == []


def test_crowded_nodes_are_pushed_apart():
    from optmodels.placement.framing import spread

    piled = np.zeros((5, 2))
    moved = spread(piled, 0.3)
    gaps = [np.hypot(*(moved[i] - moved[j])) for i in range(5) for j in range(i)]
    assert min(gaps) > 0.25
    lone = np.array([[0.0, 0.0], [5.0, 0.0]])
    assert np.array_equal(spread(lone, 0.3), lone)


def test_a_piece_of_a_grid_is_drawn_in_its_place(large):
    figure = plot_problem(large.restrict([0, 1, 22, 23]), {"decision": (1, 0, 0, 1)})
    assert marks(figure, "open-sites") + marks(figure, "overloaded-sites") == 2
    assert len(words(figure, "clients")) == 4
    (cells,) = with_gid(axes_of(figure), "cells")
    assert cells.get_array().count() == 4


def grid(rows, columns):
    everywhere = [[1] * columns] * rows
    return PlacementProblem.from_data(
        {
            "shape": [rows, columns], "demand": everywhere, "opening_cost": everywhere, "service_rate": 20,
            "think_time": {"base": 1, "per_distance": 0.1},
            "quality": {"min_throughput": 0.1, "max_delay_probability": 0.2, "delay": 0.6, "guarantee": "farthest"},
        }
    )  # fmt: skip


@pytest.mark.parametrize(("rows", "columns"), [(1, 1), (1, 12), (40, 2), (30, 40)])
def test_grids_of_every_shape_give_a_sheet_of_sensible_size(rows, columns):
    figure = plot_problem(grid(rows, columns), {"decision": (1,) * (rows * columns)})
    assert 2 < figure.get_figheight() < 10
    assert 4 < figure.get_figwidth() < 7.2  # a page of a journal
    assert marks(figure, "open-sites") == rows * columns


def test_letters_too_small_to_read_are_left_out():
    figure = plot_problem(grid(40, 60), {"decision": (1,) * 2400})
    assert words(figure, "loads") == words(figure, "clients") == []
    assert "open site, darker the fuller" in legend(figure)


def test_texts_lie_on_the_sheet_and_apart(small, large):
    decision = large.repair((1,) * 242, np.random.default_rng(1))
    for problem, chosen in ((small, (0, 0, 1, 1, 1, 0)), (large, decision), (network(), (1, 0, 0) * 4)):
        figure = plot_problem(problem, {"decision": chosen, "bound": 1.0, "status": "feasible"})
        figure.draw_without_rendering()
        sheet, axes = figure.bbox, axes_of(figure)
        title = figure._suptitle.get_window_extent()
        key = figure.legends[0].get_window_extent()
        drawing = axes.get_tightbbox()
        for box in (title, key, drawing):
            assert sheet.x0 <= box.x0 and box.x1 <= sheet.x1 and sheet.y0 <= box.y0 and box.y1 <= sheet.y1
        assert title.y0 > drawing.y1 - 1
        assert key.y1 < drawing.y0 + 1
        bars = [bar.get_tightbbox() for bar in figure.axes[1:]]
        if problem is small or problem is large:  # low and wide maps: bars lie between map and legend
            assert all(key.y1 < bar.y0 + 1 and bar.y1 < drawing.y0 for bar in bars)
        else:
            assert drawing.x1 < bars[0].x0
        assert bars[0].x1 < bars[1].x0 and bars[1].x1 <= sheet.x1


# -- what must not be drawn --------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "name",
    [
        "costs $5 or $10",
        "$\\frac{1}{$",
        "$\\undefined$",
        "two\nlines\tand more",
        "snowman ☃ 雪 \U0001f600",
        "right \u202e left",
        "<script>&amp;</script>",
        "x" * 200,
    ],
)
def test_a_strange_name_is_drawn_letter_by_letter(name, tmp_path):
    ring = network(name=name)
    for suffix in ("svg", "png", "pdf"):
        figure = plot_problem(
            ring, {"decision": (1, 0, 0) * 4, "problem": name, "status": "$x"}, tmp_path / f"p.{suffix}"
        )
        assert (tmp_path / f"p.{suffix}").stat().st_size > 1000
    title = figure.get_suptitle()
    assert title.count("\n") == 1
    assert not figure._suptitle.get_parse_math()
    assert all(letter.isprintable() for letter in title.replace("\n", ""))
    assert "<script>" not in (tmp_path / "p.svg").read_text()


def test_a_result_of_another_instance_is_refused(small):
    with pytest.raises(InstanceError, match=r"gautam-6x6.*the picture is of 'gautam-2x3'"):
        plot_problem(small, {"problem": "gautam-6x6", "decision": (0, 0, 1, 1, 1, 0)})
    with pytest.raises(InstanceError, match=r"objective is 9; for this instance it is 8"):
        plot_problem(small, {"decision": (0, 0, 1, 1, 1, 0), "objective": 9})


@pytest.mark.parametrize("decision", [(0, 1), "010101x", [0, 1, 2, 0, 0, 0], 5])
def test_a_decision_that_is_none_of_this_problem_is_refused(small, decision):
    with pytest.raises(RequestError, match="decision"):
        plot_problem(small, {"decision": decision})


def test_a_kind_without_a_picture_is_refused(tmp_path):
    class Other:
        kind = "other"
        name = "other"

        def evaluate(self, decision):
            return Evaluation(0.0)

    with pytest.raises(
        RequestError, match="no picture is known of problems of kind 'other'; known are freshness, placement"
    ):
        plot_problem(Other(), None, tmp_path / "x.svg")


# -- files -------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("suffix", "start"), [("svg", b"<?xml"), ("png", b"\x89PNG"), ("pdf", b"%PDF"), ("PNG", b"\x89PNG")]
)
def test_the_suffix_chooses_the_format(small, tmp_path, suffix, start):
    file = tmp_path / f"picture.{suffix}"
    plot_problem(small, {"decision": (0, 0, 1, 1, 1, 0)}, file)
    content = file.read_bytes()
    assert content.startswith(start)
    assert len(content) > 5000
    assert [entry.name for entry in tmp_path.iterdir()] == [file.name]


@pytest.mark.parametrize("name", ["picture.jpg", "picture", "picture.svgz"])
def test_another_suffix_is_refused_in_one_sentence(small, tmp_path, name):
    with pytest.raises(RequestError, match=r"a picture is written as \.svg, \.png or \.pdf"):
        plot_problem(small, None, tmp_path / name)
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("suffix", ["svg", "png", "pdf"])
def test_the_same_picture_gives_the_same_bytes(small, tmp_path, suffix):
    for name in ("first", "second"):
        plot_problem(small, {"decision": (0, 0, 1, 1, 1, 0)}, tmp_path / f"{name}.{suffix}")
    assert (tmp_path / f"first.{suffix}").read_bytes() == (tmp_path / f"second.{suffix}").read_bytes()


def test_a_file_that_cannot_be_written_is_named_and_nothing_is_left(small, tmp_path):
    with pytest.raises(RequestError, match=r"missing/x\.svg: cannot be written"):
        plot_problem(small, None, tmp_path / "missing" / "x.svg")
    (tmp_path / "x.svg").mkdir()
    with pytest.raises(RequestError, match="cannot be written"):
        plot_problem(small, None, tmp_path / "x.svg")
    assert [entry.name for entry in tmp_path.iterdir()] == ["x.svg"]


def test_neither_pyplot_nor_settings_of_the_reader_are_touched(instances):
    script = f"""
import json, sys
from pathlib import Path
import optmodels.plotting.problems, optmodels.plotting.queues
assert "matplotlib" not in sys.modules, "imported too early"
import matplotlib
matplotlib.rcParams["font.size"] = 33
matplotlib.rcParams["svg.hashsalt"] = "mine"
before = dict(matplotlib.rcParams)
from optmodels.placement import PlacementProblem
content = json.loads(Path({str(instances / "placement" / "gautam-2x3.json")!r}).read_text())
problem = PlacementProblem.from_data(content["data"], name="x")
figure = optmodels.plotting.problems.plot_problem(problem, {{"decision": [0, 0, 1, 1, 1, 0]}})
optmodels.plotting.queues.plot_finite_source()
assert "matplotlib.pyplot" not in sys.modules, "pyplot"
assert dict(matplotlib.rcParams) == before, "settings"
assert figure._suptitle.get_fontsize() == 9
assert figure.axes[0].xaxis.label.get_fontsize() == 8
print("untouched")
"""
    answer = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=False)
    assert answer.stdout.strip() == "untouched", answer.stderr


def test_without_matplotlib_one_sentence_names_the_extra(small, monkeypatch):
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    for draw in (lambda: plot_problem(small), lambda: plot_trace([{}]), plot_finite_source):
        with pytest.raises(RequestError) as failure:
            draw()
        assert str(failure.value) == "plots need an extra: pip install 'optmodels[plots]'"


# -- runs --------------------------------------------------------------------------------------------------------------


def run(problem="p", strategy="annealing", objective=10.0, bound=None, trace=None, **more):
    if trace is None:
        trace = [] if objective is None else [(0.0, 2 * objective, None), (0.5, objective, bound)]
    points = [{"seconds": s, "evaluations": 1, "objective": o, "bound": b} for s, o, b in trace]
    return {
        "problem": problem, "strategy": strategy, "parameters": {}, "objective": objective, "bound": bound,
        "seconds": 2.0, "status": "unknown" if objective is None else "feasible", "violations": {},
        "trace": points, **more,
    }  # fmt: skip


def title(axes):
    return axes.get_title(loc="left")


def lines(axes, gid):
    return [line for line in axes.get_lines() if line.get_gid() == gid]


def test_a_trace_is_a_step_line_for_every_run_and_its_bound():
    figure = plot_trace([run(bound=9.0, strategy="highs"), run(seed=0), run(seed=1)])
    (axes,) = figure.axes
    assert axes.get_xscale() == "linear"  # 0.5 to 2 seconds
    assert axes.get_xlabel() == "time (seconds)"
    assert axes.get_ylabel() == "best objective so far\n(first values, up to 20, lie above)"
    assert title(axes) == "p"
    assert len(lines(axes, "objective")) == 3
    (bound,) = lines(axes, "bound")
    assert set(bound.get_ydata()) == {9.0}
    assert {line.get_drawstyle() for line in axes.get_lines()} == {"steps-post"}
    assert legend(figure) == ["highs", "annealing", "bound proved (same colour)"]
    first, second = lines(axes, "objective")[1:]
    assert first.get_color() == second.get_color() != lines(axes, "objective")[0].get_color()


def test_a_trace_ends_when_the_run_ended_and_starts_where_a_logarithm_can():
    (line,) = lines(plot_trace([run()]).axes[0], "objective")
    assert list(line.get_ydata()) == [20.0, 10.0, 10.0, 10.0]
    assert list(line.get_xdata()) == [0.5, 0.5, 2.0, 2.0]


def test_traces_of_several_problems_get_a_panel_each(tmp_path):
    figure = plot_trace([run("a"), run("b $x"), run("c", objective=None)], tmp_path / "trace.svg")
    assert [title(axes) for axes in figure.axes] == ["a", "b $x", "c"]
    assert [len(lines(axes, "objective")) for axes in figure.axes] == [1, 1, 0]
    assert (tmp_path / "trace.svg").stat().st_size > 5000


def test_gaps_are_measured_from_a_reference_all_strategies_share(tmp_path):
    rows = [
        run("a", "highs", 10.0, bound=8.0),
        run("a", "annealing", 12.0),
        run("a", "annealing", 8.0),
        run("b", "highs", 5.0),
        run("b", "annealing", 6.0),
        run("c", "highs", 22.0, reference="best known", reference_value=20.0),
        run("c", "annealing", 19.0, reference="best known", reference_value=20.0),
        run("d", "highs", 4.0, bound=3.5, status="optimal"),
        run("d", "annealing", 5.0),
    ]
    figure = plot_gaps(rows, tmp_path / "gaps.png")
    (axes,) = figure.axes
    drawn = [sorted(round(float(gap), 9) for gap in line.get_xdata()) for line in lines(axes, "gaps")]
    assert drawn == [[25.0], [0.0, 50.0], [0.0], [20.0], [10.0], [-5.0], [0.0], [25.0]]
    assert [tick.get_text() for tick in axes.get_yticklabels()] == [
        "a\nbound 8",
        "b\nbest seen 5",
        "c\nbest known 20",
        "d\noptimum 4",
    ]
    assert axes.get_xlabel() == "gap above the reference (%)"
    assert legend(figure) == ["highs", "annealing", "median of the runs"]
    assert lines(axes, "failed") == []
    assert (tmp_path / "gaps.png").stat().st_size > 5000


def test_lines_of_a_comparison_are_told_apart_by_their_labels():
    rows = [
        run(strategy="genetic", label={"problem": "p (2)", "strategy": f"genetic:population={size}"})
        for size in (10, 20)
    ]
    assert legend(plot_gaps(rows)) == ["genetic:population=10", "genetic:population=20"]
    assert [title(axes) for axes in plot_trace(rows).axes] == ["p (2)"]


def test_only_parameters_that_differ_are_named():
    rows = [run(strategy="genetic", parameters={"population": size, "generations": 50}) for size in (10, 20)]
    rows.append(run(strategy="annealing", parameters={"population": 7}))
    assert legend(plot_gaps(rows)) == ["genetic:population=10", "genetic:population=20", "annealing"]


@pytest.mark.parametrize("count", [1, 2, 5, 9])
def test_the_legend_of_long_names_stays_on_the_sheet(count):
    rows = [run(strategy=f"strategy-with-a-long-name:{'x' * 60}{place}") for place in range(count)]
    for figure in (plot_gaps(rows), plot_trace(rows)):
        figure.draw_without_rendering()
        box = figure.legends[0].get_window_extent()
        assert box.x0 >= 0 and box.x1 <= figure.bbox.x1 and box.y0 >= 0


def test_runs_without_a_feasible_answer_are_crosses_not_gaps():
    rows = [
        run(objective=10.0, strategy="good"),
        run(objective=None),
        run(objective=5.0, violations={"overload": 3.0}),
        run(objective=4.0, status="unknown"),
    ]
    figure = plot_gaps(rows)
    (axes,) = figure.axes
    (crosses,) = lines(axes, "failed")
    assert len(crosses.get_ydata()) == 3
    assert [list(line.get_xdata()) for line in lines(axes, "gaps")] == [[0.0]]
    assert legend(figure)[-1] == "no gap: nothing feasible found, or the reference is 0"


def test_a_sweep_is_a_line_for_each_strategy_with_its_bound(tmp_path):
    rows = [
        {
            "problem": "p",
            "strategy": s,
            "data.delay": x,
            "objective": 10.0 * x,
            "bound": 9.0 * x if s == "highs" else None,
        }
        for x in (3, 1, 2)
        for s in ("highs", "annealing")
    ]
    figure = plot_sweep(rows, "data.delay", "objective", tmp_path / "sweep.pdf")
    (axes,) = figure.axes
    assert (axes.get_xlabel(), axes.get_ylabel(), title(axes)) == ("delay", "objective", "p")
    assert {line.get_drawstyle() for line in axes.get_lines()} == {"steps-mid"}  # 1, 2 and 3: nothing between them
    assert [list(line.get_xdata()) for line in lines(axes, "values")] == [[1, 2, 3], [1, 2, 3]]
    assert [list(line.get_ydata()) for line in lines(axes, "bounds")] == [[9, 18, 27]]
    assert legend(figure) == ["highs", "annealing", "bound proved (same colour)"]
    assert (tmp_path / "sweep.pdf").stat().st_size > 2000


def test_a_sweep_takes_words_failures_and_nested_measures():
    rows = [
        {"guarantee": "$worst", "measures": {"mean_delay": 0.5}, "status": "feasible"},
        {"guarantee": "farthest", "measures": {"mean_delay": 0.25}, "status": "feasible"},
        {"guarantee": "none", "measures": {}, "status": "infeasible"},
    ]
    (axes,) = plot_sweep(rows, "guarantee", "measures.mean_delay").axes
    assert [tick.get_text() for tick in axes.get_xticklabels()] == ["$worst", "farthest", "none"]
    (values,), (crosses,) = lines(axes, "values"), lines(axes, "failed")
    assert list(values.get_ydata()) == [0.5, 0.25]
    assert list(crosses.get_xdata()) == [2]


def test_the_line_of_a_sweep_goes_through_the_median_of_several_runs():
    rows = [{"x": 1, "objective": value} for value in (1.0, 2.0, 9.0)]
    (axes,) = plot_sweep(rows, "x").axes
    assert list(lines(axes, "values")[0].get_ydata()) == [2.0]
    assert sorted(lines(axes, "runs")[0].get_ydata()) == [1.0, 2.0, 9.0]


def test_a_column_nobody_has_is_answered_with_the_nearest():
    with pytest.raises(LookupError, match=r"no row has a column 'objectiv'\. Did you mean 'objective'\?"):
        plot_sweep([{"x": 1, "objective": 2.0}], "x", "objectiv")


@pytest.mark.parametrize("draw", [plot_trace, plot_gaps, lambda rows: plot_sweep(rows, "x")])
def test_nothing_to_draw_and_things_that_are_no_rows_are_refused(draw):
    with pytest.raises(RequestError, match="nothing to draw"):
        draw([])
    with pytest.raises(RequestError, match="is a dict, as a file has it, and int came"):
        draw([5])


# -- queues ------------------------------------------------------------------------------------------------------------


def test_the_figures_3_to_5_of_the_paper_have_three_labelled_panels(tmp_path):
    figure = plot_finite_source(path=tmp_path / "queue.svg")
    assert [axes.get_ylabel() for axes in figure.axes] == [
        "requests per client\nand unit of time", "probability of a\ndelay above 0.6",
        "share of the time that\nthe server is busy",
    ]  # fmt: skip
    assert {axes.get_xlabel() for axes in figure.axes} == {"number of clients"}
    assert figure.get_suptitle().endswith("service rate 10, mean think time 1")
    (throughput,), (delay,), (busy,) = (lines(axes, "curve") for axes in figure.axes)
    assert list(throughput.get_xdata()) == list(range(1, 31))
    assert throughput.get_ydata()[0] == pytest.approx(10 / 11)  # alone: one request in 1 + 1/10 units of time
    assert delay.get_ydata()[0] == pytest.approx(np.exp(-6.0))  # alone: the service time itself
    assert busy.get_ydata()[0] == pytest.approx(1 / 11)
    assert (np.diff(throughput.get_ydata()) < 0).all()
    assert (np.diff(delay.get_ydata()) > 0).all()
    assert (np.diff(busy.get_ydata()) >= 0).all()
    assert all(not lines(axes, "limit") for axes in figure.axes)


def test_limits_are_drawn_with_the_largest_crowd_that_keeps_them():
    figure = plot_finite_source(min_throughput=0.6, max_delay_probability=0.2)
    largest = [[line.get_xdata()[0] for line in lines(axes, "largest")] for axes in figure.axes]
    assert largest == [[16], [12], []]
    assert [text.get_text() for text in figure.axes[0].get_legend().get_texts()] == [
        "limit: at least 0.6", "kept up to 16 clients",
    ]  # fmt: skip
    assert [text.get_text() for text in figure.axes[1].get_legend().get_texts()] == [
        "limit: below 0.2", "kept up to 12 clients",
    ]  # fmt: skip


@pytest.mark.parametrize(("limit", "said"), [(5.0, "never kept"), (0.2, "kept up to 50 clients")])
def test_a_limit_whose_crowd_is_not_in_the_picture_is_told_in_words(limit, said):
    axes = plot_finite_source(min_throughput=limit).axes[0]
    assert lines(axes, "largest") == []
    assert [text.get_text() for text in axes.get_legend().get_texts()][-1] == said


def test_an_empty_crowd_is_refused():
    with pytest.raises(RequestError, match="at least one number of clients"):
        plot_finite_source(clients=[])
