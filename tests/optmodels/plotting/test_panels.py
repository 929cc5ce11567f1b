"""What all pictures share: panels in axes of the caller, headings, legends, ticks; letters that can be read."""

import json
import warnings
from dataclasses import replace

import matplotlib
import numpy as np
import pytest
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.collections import PathCollection
from matplotlib.colors import to_rgb
from matplotlib.figure import Figure
from matplotlib.text import Text

import optmodels as om
from optmodels.errors import RequestError, UnknownName
from optmodels.placement import PlacementProblem
from optmodels.plotting import (
    NARROW,
    WIDE,
    columns_of,
    entitle,
    heading,
    log_ticks,
    measure_words,
    ordered_colours,
    plot_finite_source,
    plot_gaps,
    plot_problem,
    plot_sweep,
    plot_trace,
    text_width,
    told_by,
    whole_ticks,
)  # fmt: skip
from optmodels.plotting.runs import place_words
from optmodels.registry import kinds
from optmodels.robots import plot_static_dynamic
from optmodels.studies import pareto, plot_front

#: One small shipped instance of every kind of picture, the strategy that answers it, the panels there are, and the
#: one that is drawn into axes of the caller unless another one is asked for.
PICTURES = {
    "placement/gautam-2x3": ("exhaustive", ["placement"], "placement"),
    "placement/germany50": ("dejavu", ["placement"], "placement"),
    "threshold/avrachenkov-k3": ("exhaustive", ["pairs", "three", "policy", "sojourn"], "policy"),
    "threshold/avrachenkov-k2": ("optimal-policy", ["map", "levels"], "map"),
    "robots/talim-two-robots": ("policy-iteration", ["departure", "arrival", "gamma"], "arrival"),
    "robots/fleet-all-small": ("policy-iteration", ["environment-0", "environment-1"], "environment-0"),
    "robots/fleet-any-50": ("policy-iteration", ["targets"], "targets"),
    "robots/areas-3": ("marginal-analysis", ["robots", "cost", "total"], "robots"),
    "freshness/coffman-4": ("whittle", ["pages", "costs", "strip"], "pages"),
    "routing/example-3-4": ("min-mean-cycle", ["strip", "shares", "costs"], "strip"),
}


@pytest.fixture(autouse=True)
def no_warning_is_given():
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        yield


@pytest.fixture(scope="module")
def answers(instances):
    """Problem and result of each picture, solved once."""
    found = {}

    def answer(name):
        if name not in found:
            problem = om.load(instances / f"{name}.json")
            budget = {"evaluations": 2000} if name.endswith("germany50") else {}
            found[name] = problem, om.solve(problem, PICTURES[name][0], seed=0, **budget)
        return found[name]

    return answer


def new_axes(width=6.0, height=4.0):
    figure = Figure(figsize=(width, height), layout="constrained")
    FigureCanvasAgg(figure)
    return figure.subplots()


def texts(figure):
    """Every text that is drawn, with the points of its letters."""
    figure.draw_without_rendering()
    return [text for text in figure.findobj(Text) if text.get_visible() and text.get_text().strip()]


def names(figure):
    return [axes.get_label() for axes in figure.axes if axes.get_label() != "<colorbar>"]


# -- one panel, or all -------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", PICTURES)
def test_a_picture_has_these_panels_and_each_can_stand_alone(answers, name):
    problem, result = answers(name)
    _, panels, _ = PICTURES[name]
    drawn = [label for label in names(plot_problem(problem, result)) if "(" not in label and "share of" not in label]
    assert drawn == panels
    for panel in panels:
        alone = plot_problem(problem, result, panel=panel)
        assert names(alone)[0] == panel
        assert alone.get_figwidth() <= WIDE


@pytest.mark.parametrize("name", PICTURES)
def test_a_panel_is_drawn_into_axes_of_the_caller(answers, name):
    problem, result = answers(name)
    axes = new_axes()
    axes.set_label("mine")
    figure = plot_problem(problem, result, ax=axes)
    assert figure is axes.get_figure()
    assert figure.get_suptitle() == "" and axes.get_label() == "mine"  # what is around the axes is the caller's
    assert len(axes.get_children()) > len(new_axes().get_children())
    assert axes.get_title(loc="left").startswith(problem.name)
    alone = plot_problem(problem, result, panel=PICTURES[name][2]).axes[0]
    assert (axes.get_xlabel(), axes.get_ylabel()) == (alone.get_xlabel(), alone.get_ylabel())
    figure.draw_without_rendering()


def test_a_panel_that_is_not_there_is_answered_with_those_that_are(answers):
    problem, result = answers("freshness/coffman-4")
    with pytest.raises(UnknownName, match=r'no panel "page"\. Did you mean \'pages\'\? Known: costs, pages, strip\.'):
        plot_problem(problem, result, panel="page")
    with pytest.raises(RequestError, match="ax is of type int; give axes of matplotlib"):
        plot_problem(problem, result, ax=5)


def test_a_picture_of_another_distribution_needs_to_take_no_axes(answers, monkeypatch):
    problem, result = answers("placement/gautam-2x3")
    figure = Figure()
    FigureCanvasAgg(figure)
    seen = []

    def draw(given, told):
        seen.append(told)
        return figure

    monkeypatch.setattr(kinds, "part", lambda kind, part: draw)
    assert plot_problem(problem, result, best_known=8.0) is figure
    assert seen[0]["best_known"] == 8.0 and seen[0]["decision"] == [0, 0, 1, 1, 1, 0]  # a mapping, as files have it
    with pytest.raises(RequestError, match="the picture of kind 'placement' takes no ax; leave it out"):
        plot_problem(problem, result, ax=new_axes())
    with pytest.raises(RequestError, match="takes no panel"):
        plot_problem(problem, result, panel="map")


def test_studies_and_queues_are_drawn_into_axes_of_the_caller(answers, instances):
    problem, result = answers("threshold/avrachenkov-k3")
    rows = [{"x": place, "objective": 1.0 / place} for place in (1, 2)]
    front = pareto(problem, ("starvation", "response_time"))
    robots, _ = answers("robots/talim-two-robots")
    for draw in (
        lambda ax: plot_trace(result, ax=ax),
        lambda ax: plot_gaps([result], ax=ax),
        lambda ax: plot_sweep(rows, "x", ax=ax),
        lambda ax: plot_front(front, ax=ax),
        lambda ax: plot_static_dynamic(robots, [0.5, 1.0], ax=ax),
        lambda ax: plot_finite_source(ax=ax, panel="delay"),
    ):
        axes = new_axes()
        assert draw(axes) is axes.get_figure()
        assert axes.lines and axes.get_xlabel()
        assert axes.get_figure().legends == [] and axes.get_figure().get_suptitle() == ""
        axes.get_figure().draw_without_rendering()
    with pytest.raises(RequestError, match="results of 2 problems came, and ax and best_known are for one"):
        plot_trace([{"problem": "a"}, {"problem": "b"}], ax=new_axes())


def test_a_result_of_a_run_is_drawn_like_the_one_in_its_file(answers, tmp_path):
    problem, result = answers("placement/gautam-2x3")
    plot_problem(problem, result, tmp_path / "run.svg")
    plot_problem(problem, json.loads(json.dumps(om.result_to_data(result))), tmp_path / "file.svg")
    assert (tmp_path / "run.svg").read_bytes() == (tmp_path / "file.svg").read_bytes()


# -- what can be read --------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", PICTURES)
def test_letters_can_be_read_in_a_journal(answers, name):
    """In a column of 80 mm, or across two of them, no letters have fewer than 4.5 points, and most have 6."""
    figure = plot_problem(*answers(name))
    columns = 1 if figure.get_figwidth() <= NARROW + 0.1 else 2
    scale = min(1.0, columns * 80 / 25.4 / figure.get_figwidth())
    sizes = [scale * text.get_fontsize() for text in texts(figure)]
    assert min(sizes) >= 4.2
    assert np.median(sizes) >= 5.0


@pytest.mark.parametrize("name", PICTURES)
def test_texts_outside_the_panels_lie_on_the_sheet(answers, name):
    figure = plot_problem(*answers(name))
    figure.draw_without_rendering()
    shown = [*figure.texts, *figure.legends]
    shown += [axes.get_legend() for axes in figure.axes if axes.get_legend() is not None]
    shown += [axis.label for axes in figure.axes for axis in (axes.xaxis, axes.yaxis) if axes.axison]
    for thing in shown:
        if isinstance(thing, Text) and not thing.get_text():
            continue
        box = thing.get_window_extent()
        assert box.x0 >= -1 and box.x1 <= figure.bbox.x1 + 1, thing
        assert box.y0 >= -1 and box.y1 <= figure.bbox.y1 + 1, thing


@pytest.mark.parametrize("name", PICTURES)
def test_legends_hide_nothing(answers, name):
    """They stand above their panel, or below all of them."""
    figure = plot_problem(*answers(name))
    figure.draw_without_rendering()
    for axes in figure.axes:
        if axes.get_legend() is not None:
            assert axes.get_legend().get_window_extent().y0 >= axes.get_window_extent().y1 - 1
    for legend in figure.legends:
        assert legend.get_window_extent().y1 <= min(axes.get_window_extent().y0 for axes in figure.axes) + 1


@pytest.mark.parametrize("name", PICTURES)
def test_axes_are_labelled_in_words(answers, name):
    for axes in plot_problem(*answers(name)).axes:
        for words in (axes.get_xlabel(), axes.get_ylabel()):
            assert "_" not in words
        title = axes.get_title(loc="left")
        assert title[:1] == title[:1].upper()


def test_titles_tell_strategy_value_bound_and_best_known(answers):
    problem, result = answers("placement/gautam-2x3")
    assert plot_problem(problem, result, best_known=8.0).get_suptitle().split("\n", 1)[1].replace("\n", " ") == (
        "exhaustive: objective 8, bound 8, best known 8, optimal, 3 of 6 sites open"
    )
    assert told_by(None) == []
    assert told_by({"best_known": {"objective": 3.0}, "strategy": "a"}) == ["a: best known 3"]
    assert told_by({"best_known": "$", "bound": float("nan"), "objective": True}) == []


def test_ordered_colours_keep_their_order_in_grey():
    for count in (1, 2, 5, 12):
        greys = [np.dot(to_rgb(colour), (0.3, 0.59, 0.11)) for colour in ordered_colours(count)]
        assert len(greys) == count and greys == sorted(greys, reverse=True)
        assert count == 1 or min(-np.diff(greys)) > 0.5 / count**1.5


# -- opening costs -----------------------------------------------------------------------------------------------------


def with_gid(figure, gid):
    return [artist for artist in figure.axes[0].get_children() if artist.get_gid() == gid]


def test_opening_costs_are_written_in_the_cells(answers):
    problem, result = answers("placement/gautam-2x3")
    for figure in (plot_problem(problem), plot_problem(problem, result)):
        written = {text.get_position(): text.get_text() for text in with_gid(figure, "opening-costs")}
        assert [written[column + 0.46, row + 0.47] for row in range(2) for column in range(3)] == list("453236")


def test_opening_costs_stand_by_the_nodes_of_a_network(answers):
    problem, result = answers("placement/germany50")
    written = [text.get_text() for text in with_gid(plot_problem(problem, result), "opening-costs")]
    assert written == [f"{cost:g}" for cost in problem.opening_cost]


def large_grid(costs):
    everywhere = np.ones((40, 60), int)
    return PlacementProblem.from_data(
        {
            "shape": [40, 60], "demand": everywhere.tolist(), "opening_cost": costs.tolist(), "service_rate": 20,
            "think_time": {"base": 1, "per_distance": 0.1},
            "quality": {"min_throughput": 0.1, "max_delay_probability": 0.2, "delay": 0.6, "guarantee": "farthest"},
        }
    )  # fmt: skip


def test_where_letters_have_no_room_opening_costs_are_sizes():
    costs = np.ones((40, 60), int)
    costs[3, 7] = 4
    figure = plot_problem(large_grid(costs))
    assert with_gid(figure, "opening-costs") == []
    (marks,) = with_gid(figure, "opening-sizes")
    assert isinstance(marks, PathCollection)
    sizes = marks.get_sizes()
    assert sizes[3 * 60 + 7] == pytest.approx(4 * sizes[0])  # areas tell costs
    assert "cost of opening the site, 1 to 4 by size" in [text.get_text() for text in figure.legends[0].get_texts()]


# -- traces ------------------------------------------------------------------------------------------------------------


def run(*points, **more):
    trace = [{"seconds": s, "evaluations": 1, "objective": o, "bound": b} for s, o, b in points]
    last = points[-1]
    told = {"problem": "p", "strategy": "a", "status": "feasible", "trace": trace}
    return told | {"seconds": last[0], "objective": last[1], "bound": last[2]} | more


def test_a_trace_is_logarithmic_only_where_it_spans_decades():
    (axes,) = plot_trace(run((0.001, 12.0, None), (5.0, 10.0, None))).axes
    assert (axes.get_xscale(), axes.get_xlabel()) == ("log", "time (seconds, logarithmic scale)")
    (axes,) = plot_trace(run((1.0, 12.0, None), (5.0, 10.0, None))).axes
    assert (axes.get_xscale(), axes.get_xlabel()) == ("linear", "time (seconds)")


def test_a_trace_begins_with_the_first_feasible_decision_in_view():
    slow = run((0.1, None, 1.0), (3.0, 12.0, 9.0), (5.0, 10.0, 9.5))
    (axes,) = plot_trace(slow).axes
    assert 2.9 < axes.get_xlim()[0] <= 3.0
    assert axes.get_ylabel() == "best objective so far"
    far = run((0.001, 1000.0, None), (1.0, 12.0, None), (5.0, 10.0, None))
    (axes,) = plot_trace(far).axes
    assert axes.get_ylim()[1] < 400
    assert axes.get_ylabel() == "best objective so far\n(first values, up to 1000, lie above)"
    assert axes.get_xlim()[0] == pytest.approx(1.0, rel=0.2)


def test_a_trace_shows_bound_and_best_known():
    figure = plot_trace(run((1.0, 12.0, 8.0), (5.0, 10.0, 9.5)), best_known=9.75)
    (axes,) = figure.axes
    (known,) = [line for line in axes.lines if line.get_gid() == "best-known"]
    assert list(known.get_ydata()) == [9.75, 9.75]
    low, high = axes.get_ylim()
    assert low < 8.0 and high > 12.0
    assert [text.get_text() for text in figure.legends[0].get_texts()] == [
        "a", "bound proved (same colour)", "best known 9.75",
    ]  # fmt: skip
    (axes,) = plot_trace(run((1.0, 12.0, None), best_known={"objective": 11.0})).axes
    assert [line.get_gid() for line in axes.lines] == ["objective", "best-known"]


def test_of_many_problems_some_are_drawn_and_the_others_counted():
    rows = [run((1.0, 12.0, None), problem=f"p{place}") for place in range(45)]
    assert len(plot_trace(rows).axes) == 12 and plot_trace(rows).get_suptitle() == "33 more problems left out"
    figure = plot_gaps(rows)
    assert len(figure.axes[0].get_yticklabels()) == 40 and figure.get_suptitle() == "5 more instances left out"


def test_words_on_the_axis_of_a_sweep_are_not_joined_by_lines():
    (axes,) = plot_sweep([{"x": word, "objective": 1.0} for word in ("one", "two")], "x").axes
    assert [line.get_linestyle() for line in axes.lines] == ["None"]
    (axes,) = plot_sweep([{"x": value, "objective": 1.0} for value in (0.5, 1.5)], "x").axes
    assert [line.get_drawstyle() for line in axes.lines] == ["default"]


# -- hostile names -----------------------------------------------------------------------------------------------------

HOSTILE = ["$", "$\\frac$", "$\\undefined{", "<script>alert(1)</script>", "y" * 200, "%s {} \\n", "雪\u202e\U0001f600"]


@pytest.mark.parametrize("word", ["$\\frac$ <script>alert(1)</script> %s {} 雪", "y" * 200])
@pytest.mark.parametrize("name", PICTURES)
def test_hostile_names_are_drawn_letter_by_letter(answers, name, word, tmp_path):
    problem, result = answers(name)
    told = om.result_to_data(result) | {"problem": word, "strategy": word, "status": word}
    figure = plot_problem(replace(problem, name=word), told, tmp_path / "x.svg")
    axes = new_axes(3.2, 3.0)
    plot_problem(replace(problem, name=word), told, ax=axes)
    axes.get_figure().savefig(tmp_path / "y.svg")
    for file in ("x.svg", "y.svg"):
        assert "<script>" not in (tmp_path / file).read_text()
    assert not any(text.get_parse_math() for text in texts(figure) if word[:8] in text.get_text())
    assert text_width(figure.get_suptitle().split("\n")[0], 9.0) <= figure.get_figwidth()


@pytest.mark.parametrize("word", HOSTILE)
def test_hostile_names_of_runs_are_drawn_letter_by_letter(word, tmp_path):
    rows = [run((1.0, 12.0, 3.0), (5.0, 10.0, 9.5), problem=word, strategy=word, reference=word, reference_value=9.0)]
    rows += [run((1.0, 12.0, None), problem=word, strategy=f"{word}2")]
    plot_trace(rows, tmp_path / "trace.svg")
    plot_gaps(rows, tmp_path / "gaps.png")
    figure = plot_sweep([row | {word: word} for row in rows], word, path=tmp_path / "sweep.pdf")
    with matplotlib.rc_context({"text.parse_math": True, "font.size": 30.0}):  # as a notebook of a reader would
        figure.savefig(tmp_path / "later.png")
    assert figure.axes[0].xaxis.label.get_fontsize() == 8


# -- the parts ---------------------------------------------------------------------------------------------------------


def test_headings_are_broken_between_words_and_names_cut_off():
    assert heading("n", []) == "n"
    lines = heading("n" * 300, ["a" * 40, "b" * 40, "c" * 40], 4.0).split("\n")
    assert lines[1:] == ["a" * 40 + ",", "b" * 40 + ",", "c" * 40] and lines[0].endswith("…")
    assert all(text_width(line, 9.0) <= 4.0 for line in lines)


def test_legends_have_as_many_columns_as_fit():
    assert columns_of([], 4.0) == 1
    assert columns_of(["a"] * 5, 4.0) == 5
    assert columns_of(["a", "b" * 60, "c"], 4.0) == 1


def test_a_title_stands_above_the_legend():
    axes = new_axes()
    axes.plot([0, 1], [0, 1], label="$ a line")
    entitle(axes, "Title (long " + "x" * 80 + ")")
    assert axes.get_title(loc="left").startswith("Title\n(long")
    axes.get_figure().draw_without_rendering()
    title = next(text for text in axes.findobj(Text) if text.get_text().startswith("Title"))
    assert title.get_window_extent().y0 >= axes.get_legend().get_window_extent().y1 - 1


@pytest.mark.parametrize(("low", "high"), [(0.9, 3.0), (0.01, 0.5), (1e-3, 1.0), (1e-9, 1e3)])
def test_logarithmic_axes_have_a_few_plain_numbers(low, high):
    axes = new_axes()
    axes.set_xscale("log")
    axes.set_xlim(low, high)
    log_ticks(axes.xaxis)
    axes.get_figure().draw_without_rendering()
    shown = [tick.label1.get_text() for tick in axes.xaxis.get_major_ticks() if low <= tick.get_loc() <= high]
    assert 2 <= len(shown) <= 8
    assert [float(text) for text in shown] == sorted(map(float, shown))


def test_counts_have_whole_ticks():
    axes = new_axes()
    axes.set_xlim(-0.5, 2.5)
    whole_ticks(axes.xaxis)
    assert all(float(place).is_integer() for place in axes.xaxis.get_majorticklocs())


def test_measures_and_places_are_put_into_words():
    assert measure_words("threshold", "loss") == "probability that a page finds no room"
    assert measure_words(None, "mean_delay") == measure_words("no such kind", "mean_delay") == "mean delay"
    assert place_words("threshold", "data.capacity") == "capacity (pages)"
    assert place_words(None, "data.servers[1].rate") == "rate, servers[1].rate"
    assert place_words("threshold", "cost.weights.loss") == "loss, weights.loss"
    assert place_words("threshold", "capacity") == "capacity"
