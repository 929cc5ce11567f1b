"""Pictures of pages and visits are tested by reading the figure."""

import warnings

import numpy as np
import pytest

import optmodels as om
from optmodels.errors import InstanceError, RequestError
from optmodels.freshness import FreshnessProblem
from optmodels.plotting import plot_problem


@pytest.fixture(autouse=True)
def no_warning_is_given():
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        yield


def problem_of(pages=12, **more):
    rng = np.random.default_rng(1)
    data = {
        "change_rates": rng.lognormal(size=pages).tolist(),
        "weights": rng.lognormal(size=pages).tolist(),
        "access_time": {"law": "exponential", "mean": 0.5},
    }
    return FreshnessProblem.from_data(data | more, name="a $few$ pages")


def panels(figure):
    return {axes.get_label(): axes for axes in figure.axes}


def with_gid(axes, gid):
    (found,) = [artist for artist in axes.get_children() if artist.get_gid() == gid]
    return found


def test_pages_stand_at_their_rates_and_frequencies_and_those_never_visited_are_marked():
    problem = problem_of()
    figure = plot_problem(problem)
    frequencies = np.array(problem.relaxation().decision)
    axes = panels(figure)["pages"]
    dots, crosses = with_gid(axes, "visited"), with_gid(axes, "never")
    seen = frequencies > 0
    assert 0 < seen.sum() < 12
    assert dots.get_offsets().data == pytest.approx(np.column_stack([problem.columns.rates, frequencies])[seen])
    assert dots.get_array().data == pytest.approx(problem.columns.weights[seen])
    assert crosses.get_offsets().data[:, 0] == pytest.approx(problem.columns.rates[~seen])
    assert (crosses.get_offsets().data[:, 1] < frequencies[seen].min()).all()
    assert f"never visited: {12 - seen.sum()}" in [text.get_text() for text in axes.get_legend().get_texts()]
    assert (axes.get_xscale(), axes.get_yscale()) == ("log", "log")
    assert "a $few$ pages" in figure.get_suptitle()
    assert "strip" not in panels(figure)


def test_costs_of_strategies_are_drawn_over_the_bound():
    problem = problem_of()
    result = om.result_to_data(om.solve(problem, "greedy"))
    axes = panels(plot_problem(problem, result))["costs"]
    names = [text.get_text() for text in axes.get_yticklabels()]
    drawn = dict(zip(names, with_gid(axes, "costs").get_offsets().data[:, 0], strict=True))
    assert names[-1] == "shown: greedy"
    assert drawn["shown: greedy"] == pytest.approx(result["gap"])
    assert drawn["greedy"] == pytest.approx(result["gap"])
    assert drawn["randomized"] == pytest.approx(om.solve(problem, "randomized").gap())
    line = with_gid(axes, "schedule bound")
    whole = problem.schedule_bound / problem.allocation().bound - 1
    assert line.get_xdata()[0] == pytest.approx(whole)
    assert min(drawn.values()) >= whole


def test_the_first_slots_of_a_cycle_are_a_strip():
    problem = problem_of(3)
    result = {"decision": {"schedule": [0, 1, 0, 2, 0]}}
    axes = panels(plot_problem(problem, result))["strip"]
    (marks,) = axes.collections
    places = marks.get_offsets().data
    assert places[:, 0].tolist() == list(range(200))
    assert places[:5, 1].tolist() == [0, 1, 0, 2, 0]  # page 0 is visited most
    assert "the cycle has 5" in axes.get_xlabel()


def test_several_robots_have_a_colour_each():
    problem = problem_of(robots=2)
    result = om.result_to_data(om.solve(problem, "greedy"))
    axes = panels(plot_problem(problem, result))["strip"]
    assert [marks.get_label() for marks in axes.collections] == ["robot 0", "robot 1"]
    assert len({tuple(marks.get_edgecolor()[0]) for marks in axes.collections}) == 2


def test_strategies_that_refuse_a_problem_are_left_out():
    problem = problem_of(hosts=[page % 6 for page in range(12)], host_gap=3)
    names = [text.get_text() for text in panels(plot_problem(problem))["costs"].get_yticklabels()]
    assert set(names) == {"uniform", "proportional", "greedy", "whittle"}


def test_many_pages_are_drawn_without_running_strategies(tmp_path):
    problem = problem_of(3000)
    figure = plot_problem(problem, path=tmp_path / "pages.png")
    assert "costs" not in panels(figure)
    assert (tmp_path / "pages.png").stat().st_size > 10_000


def test_pages_alike_and_pages_that_never_change_are_drawn(tmp_path):
    data = {"change_rates": [0.5, 0.5, 0.0], "weights": [1.0, 1.0, 1.0], "access_time": {"law": "constant", "value": 1}}
    problem = FreshnessProblem.from_data(data, name="alike")
    axes = panels(plot_problem(problem, path=tmp_path / "alike.png"))["pages"]
    assert with_gid(axes, "visited").get_offsets().data == pytest.approx(np.array([[0.5, 0.5], [0.5, 0.5]]))
    idle = FreshnessProblem.from_data(data | {"weights": [0.0, 0.0, 0.0]}, name="idle")
    axes = panels(plot_problem(idle, path=tmp_path / "idle.png"))["pages"]
    assert [text.get_text() for text in axes.texts] == ["no page has both a rate and a weight"]
    assert (tmp_path / "alike.png").stat().st_size > 0 and (tmp_path / "idle.png").stat().st_size > 0


def test_what_cannot_be_drawn_is_refused():
    problem = problem_of()
    with pytest.raises(InstanceError, match="pages are numbered from 0 to 11"):
        plot_problem(problem, {"decision": {"schedule": [12]}})
    with pytest.raises(RequestError, match="has 200001 pages; a picture has room for 200000"):
        plot_problem(problem_of(200_001))


def test_legends_hide_no_page_and_no_visit():
    problem = problem_of(pages=30, robots=2)
    figure = plot_problem(problem, om.result_to_data(om.solve(problem, "greedy")))
    few = plot_problem(problem_of())
    for axes in (panels(figure)["strip"], panels(few)["pages"]):
        axes.get_figure().draw_without_rendering()
        assert axes.get_legend().get_window_extent().y0 >= axes.get_window_extent().y1 - 1
