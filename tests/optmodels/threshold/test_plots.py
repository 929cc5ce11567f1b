"""The picture of a threshold problem is tested by reading the figure: lines, map, bars and words."""

import warnings
from dataclasses import replace

import numpy as np
import pytest

from optmodels.costs import Limit, Limits
from optmodels.errors import InstanceError, RequestError
from optmodels.instance import load
from optmodels.plotting import plot_problem
from optmodels.threshold.plots import MOST_PAIRS
from optmodels.threshold.subsets import of_subset
from queueing import BMAP, Mode


@pytest.fixture(autouse=True)
def no_warning_is_given():
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        yield


@pytest.fixture(scope="module")
def paper(instances):
    return load(instances / "threshold" / "avrachenkov-k5.json")


def panels(figure):
    return {axes.get_label(): axes for axes in figure.axes if axes.get_label() in ("pairs", "three", "policy")}


def with_gid(axes, gid):
    return [artist for artist in axes.get_children() if (artist.get_gid() or "").startswith(gid)]


def with_modes(problem, count):
    """The same with the first modes only."""
    return replace(problem, modes=problem.modes[:count])


def test_a_line_for_every_pair_of_modes_shows_their_costs(paper):
    axes = panels(plot_problem(paper))["pairs"]
    lines = {line.get_gid(): line for line in with_gid(axes, "pair-")}
    assert set(lines) == {f"pair-{a} or {b}" for a in (2, 3, 4) for b in (1, 2, 3) if a > b}
    for gid, line in lines.items():
        modes = [int(word) - 1 for word in gid.removeprefix("pair-").split(" or ")]
        assert line.get_xdata().tolist() == list(range(-1, 6))
        assert line.get_drawstyle() == "steps-mid"  # thresholds are whole numbers
        expected = [paper.evaluate(of_subset(paper, modes, (threshold,))).objective for threshold in range(-1, 6)]
        assert line.get_ydata() == pytest.approx(expected, rel=1e-12)


def test_the_best_pair_is_marked(paper):
    (star,) = with_gid(panels(plot_problem(paper))["pairs"], "best-of-pairs")
    assert star.get_xdata().tolist() == [2]
    assert star.get_ydata() == pytest.approx([63.5425], abs=5e-5)


def test_a_map_shows_the_costs_of_three_modes_and_their_best(paper):
    three = with_modes(paper, 3)
    axes = panels(plot_problem(three))["three"]
    (shades,) = with_gid(axes, "three-modes")
    costs = shades.get_array().reshape(7, 7)
    for second in range(-1, 6):
        for first in range(-1, 6):
            if first > second:
                assert np.ma.is_masked(costs[second + 1, first + 1])
            else:
                expected = three.evaluate((first, second)).objective
                assert costs[second + 1, first + 1] == pytest.approx(expected, rel=1e-12)
    (star,) = with_gid(axes, "best-of-three")
    assert (star.get_xdata()[0], star.get_ydata()[0]) == (2, 2)


def test_of_four_modes_the_best_three_are_mapped(paper):
    axes = panels(plot_problem(paper))["three"]
    (star,) = with_gid(axes, "best-of-three")
    (shades,) = with_gid(axes, "three-modes")
    assert shades.get_array().min() == pytest.approx(63.5425, abs=5e-5)
    assert axes.get_ylabel().endswith("robots up to this many pages,\n1 beyond")
    assert (star.get_xdata()[0], star.get_ydata()[0]) in [(-1, 2), (2, 2)]  # 4, 3, 1 or 3, 2, 1: the same policy


def test_bars_show_the_probabilities_of_levels_in_the_colour_of_their_mode(paper):
    result = {"problem": paper.name, "decision": [0, 2, 2], "objective": paper.evaluate((0, 2, 2)).objective}
    axes = panels(plot_problem(paper, result))["policy"]
    found = paper.queue.measures((0, 2, 2))
    heights = {
        round(bar.get_x() + bar.get_width() / 2): bar.get_height() for bar in axes.patches if bar.get_width() < 0.8
    }
    assert [heights[level] for level in range(6)] == pytest.approx(list(found.level_probabilities))
    strips = {strip.get_gid(): (strip.get_x(), strip.get_width()) for strip in with_gid(axes, "strip-")}
    assert strips == {"strip-4": (-0.5, 1), "strip-3": (0.5, 2), "strip-1": (2.5, 3)}
    words = [text.get_text() for text in axes.get_legend().get_texts()]
    assert [word.split(" (")[0] for word in words] == ["4 robots", "3 robots", "1 robot"]
    assert f"{100 * found.mode_probabilities[0]:.1f} %" in words[2]


def test_the_title_says_what_is_drawn(paper):
    title = plot_problem(paper)._suptitle.get_text()
    assert title == "avrachenkov-k5\nobjective 63.5425, best of those drawn, thresholds -1, 2, 2"
    result = {"decision": [-1, 2, 2], "status": "optimal"}
    result |= {"strategy": "exhaustive", "bound": 63.5, "best_known": {"objective": 63.6}}
    assert plot_problem(paper, result).get_suptitle().splitlines()[1] == (
        "exhaustive: objective 63.5425, bound 63.5, best known 63.6, optimal, thresholds -1, 2, 2"
    )


def test_policies_that_break_limits_are_crossed_out(paper):
    limited = replace(paper, limits=Limits({"loss": Limit(maximum=0.15)}))
    shown = panels(plot_problem(limited))
    for name in ("pairs", "three"):
        crossed = sum(len(line.get_xdata()) for line in with_gid(shown[name], "broken-limits"))
        assert crossed > 0
    nobody = replace(paper, limits=Limits({"loss": Limit(maximum=1e-9)}))
    figure = plot_problem(nobody)
    assert set(panels(figure)) == {"pairs", "three"}
    assert figure._suptitle.get_text().endswith("no policy keeps the limits")


def test_two_modes_have_one_line_and_no_map(paper):
    shown = panels(plot_problem(with_modes(paper, 2)))
    assert set(shown) == {"pairs", "policy"}
    assert len(with_gid(shown["pairs"], "pair-")) == 1


def test_one_mode_has_a_policy_only(paper):
    assert set(panels(plot_problem(with_modes(paper, 1)))) == {"policy"}


def test_of_many_modes_the_cheapest_pairs_are_drawn(paper):
    many = tuple(Mode(robots, BMAP.poisson(0.4 * robots)) for robots in range(1, 7))
    shown = panels(plot_problem(replace(paper, modes=many)))
    lines = with_gid(shown["pairs"], "pair-")
    assert len(lines) == MOST_PAIRS < 15
    least = [min(line.get_ydata()) for line in lines]
    assert least == sorted(least)


def test_without_a_cost_only_the_policy_of_a_result_can_be_drawn(paper):
    priceless = replace(paper, cost=None)
    with pytest.raises(RequestError, match="give a result"):
        plot_problem(priceless)
    assert set(panels(plot_problem(priceless, {"decision": [-1, 2, 2]}))) == {"policy"}


@pytest.mark.parametrize(
    ("result", "sentence"),
    [
        ({"problem": "other", "decision": [-1, 2, 2]}, "the picture is of 'avrachenkov-k5'"),
        ({"decision": [2, 1, 2]}, "entries never decrease"),
        ({"decision": [-1, 2, 2], "objective": 60.0}, "for this instance it is 63.5425"),
    ],
)
def test_a_result_of_another_instance_is_refused(paper, result, sentence):
    with pytest.raises(InstanceError, match=sentence):
        plot_problem(paper, result)


def test_the_picture_is_written_the_same_every_time(paper, tmp_path):
    for name in ("one.svg", "two.svg"):
        plot_problem(paper, None, tmp_path / name)
    assert (tmp_path / "one.svg").read_bytes() == (tmp_path / "two.svg").read_bytes()


def test_of_very_many_levels_some_thresholds_are_drawn_and_said_to_be(paper):
    wide = replace(paper, capacity=20_000)
    figure = plot_problem(wide)
    axes = panels(figure)
    assert "of 20002 thresholds" in axes["pairs"].get_title(loc="left") and "three" not in axes
    lines = with_gid(axes["pairs"], "pair-")
    assert lines and all(12 <= len(line.get_xdata()) < 200 for line in lines)
    assert lines[0].get_xdata()[0] == -1 and lines[0].get_xdata()[-1] == 20_000
    assert "(beyond: 0.01 % of the time at most)" in axes["policy"].get_xlabel()
    assert len(axes["policy"].patches) < 500  # not a bar for each of 20001 levels


def test_of_very_many_modes_some_are_drawn_and_said_to_be(paper):
    modes = tuple(Mode(robots, BMAP.poisson(robots / 20)) for robots in range(1, 101))
    many = replace(paper, modes=modes, capacity=3)
    axes = panels(plot_problem(many))
    assert "12 of 100 modes" in axes["pairs"].get_title(loc="left")
    assert axes["three"].get_title(loc="left") == "The best three of 12 modes"
    assert len(with_gid(axes["pairs"], "pair-")) == MOST_PAIRS


def test_full_levels_are_a_line_where_bars_would_be_too_many(paper):
    full = with_modes(paper, 2)
    full = replace(full, capacity=1500, patience=None)
    axes = panels(plot_problem(full, {"decision": [1500]}))["policy"]
    assert with_gid(axes, "levels-") and len(axes.patches) < 10
