"""The picture of a robot problem is tested by reading the figure: maps, curves, lines and words."""

import warnings
from dataclasses import replace

import numpy as np
import pytest

from optmodels.costs import Limit, Limits, WeightedSum
from optmodels.errors import InstanceError, RequestError
from optmodels.instance import load
from optmodels.plotting import plot_problem
from optmodels.results import result_to_data
from optmodels.robots import plot_static_dynamic
from optmodels.robots.plots import default_gammas, static_and_dynamic
from optmodels.solving import solve


@pytest.fixture(autouse=True)
def no_warning_is_given():
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        yield


@pytest.fixture(scope="module")
def figure_3(instances):
    return load(instances / "robots" / "talim-fig3.json")


def panels(figure):
    return {axes.get_label(): axes for axes in figure.axes}


def with_gid(axes, gid):
    (found,) = [artist for artist in axes.get_children() if artist.get_gid() == gid]
    return found


def shown(figure, name, event):
    return np.asarray(with_gid(panels(figure)[name], f"map-{event}").get_array()).reshape(6, 17)


def test_the_maps_are_the_actions_of_the_paper(figure_3):
    """pi(q, r, 0) = phi(q-1, r) and pi(q, r, 1) = phi(min(q+1, K), r-1); -1 where there is no such state."""
    found = solve(figure_3, "policy-iteration")
    figure = plot_problem(figure_3, result_to_data(found))
    policy = figure_3.policy_of(found.decision)
    departure, arrival = shown(figure, "departure", 0), shown(figure, "arrival", 1)
    for q in range(6):
        for r in range(17):
            assert departure[q, r] == (policy[q - 1, r] if q > 0 else -1)
            assert arrival[q, r] == (policy[min(q + 1, 5), r - 1] if r > 0 else -1)
    title = figure.get_suptitle()
    assert "0.25924" in title
    assert "optimal" in title
    assert "best fixed number 10: 0.4" in title


def test_without_a_result_the_best_policy_is_drawn(figure_3):
    found = solve(figure_3, "policy-iteration")
    assert (
        shown(plot_problem(figure_3), "departure", 0)
        == shown(plot_problem(figure_3, result_to_data(found)), "departure", 0)
    ).all()


def test_the_curve_runs_between_the_actions(figure_3):
    figure = plot_problem(figure_3)
    for name, event in (("departure", 0), ("arrival", 1)):
        grid = shown(figure, name, event)
        curve = with_gid(panels(figure)[name], f"curve-{event}").get_ydata()
        for r in range(event, 17):
            assert all((q < curve[r]) == bool(grid[q, r]) for q in range(6) if grid[q, r] >= 0)


def test_lines_show_least_costs_and_those_of_fixed_numbers(figure_3):
    axes = panels(plot_problem(figure_3))["gamma"]
    gammas = with_gid(axes, "dynamic").get_xdata()
    assert gammas == pytest.approx(default_gammas(figure_3))
    dynamic, static = with_gid(axes, "dynamic").get_ydata(), with_gid(axes, "static").get_ydata()
    assert (dynamic < static).all()
    assert dynamic[12] == pytest.approx(0.259239596069, abs=1e-12)
    assert static[12] == pytest.approx(0.4, rel=1e-12)


def test_static_against_dynamic_by_weight(figure_3, tmp_path):
    """Figures 2 to 4: the same queue at gamma = 1, 1.4 and 2."""
    found = static_and_dynamic(figure_3, [1.0, 1.4, 2.0])
    assert [row[0] for row in found] == pytest.approx([0.209074134655, 0.259239596069, 0.322114668871], abs=1e-12)
    for gamma, (_, static, number) in zip([1.0, 1.4, 2.0], found, strict=True):
        costs = [(gamma + load**6) / sum(load**q for q in range(6)) for load in (n / 10 for n in range(1, 17))]
        assert static == pytest.approx(min(costs), rel=1e-12)
        assert costs[number - 1] == pytest.approx(static, rel=1e-12)
    figure = plot_static_dynamic(figure_3, [1.0, 1.4, 2.0], tmp_path / "gamma.png")
    assert with_gid(panels(figure)["gamma"], "dynamic").get_ydata() == pytest.approx([row[0] for row in found])
    assert (tmp_path / "gamma.png").stat().st_size > 5_000


def test_other_prices_have_maps_and_no_lines_over_gamma(figure_3):
    priced = replace(figure_3, cost=WeightedSum({"starvation": 1.4, "loss_rate": 1.0, "mean_length": 0.01}))
    assert set(panels(plot_problem(priced))) == {"departure", "arrival"}
    with pytest.raises(RequestError, match="must be priced by starvation and losses alone"):
        plot_static_dynamic(priced)


def test_what_cannot_be_drawn_is_refused_in_one_sentence(figure_3):
    with pytest.raises(InstanceError, match="the picture is of 'talim-fig3'"):
        plot_problem(figure_3, {"problem": "another", "decision": [0]})
    with pytest.raises(InstanceError, match="it is no policy of 'talim-fig3'"):
        plot_problem(figure_3, {"decision": [0, 1]})
    limited = replace(figure_3, limits=Limits({"starvation": Limit(maximum=0.2)}))
    with pytest.raises(RequestError, match="give a result"):
        plot_problem(limited)
