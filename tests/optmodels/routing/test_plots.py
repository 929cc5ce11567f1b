"""Pictures of routing are tested by reading the figure."""

import math
import warnings

import pytest

import optmodels as om
from optmodels.errors import InstanceError, RequestError
from optmodels.plotting import plot_problem
from optmodels.routing import RoutingProblem, plot_periods
from optmodels.routing.plots import changes_of_period, default_rates
from optmodels.studies import sweep
from optmodels.studies.sweeping import plot_sweep


@pytest.fixture(autouse=True)
def no_warning_is_given():
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        yield


def loss(*rates, **more):
    servers = [{"rate": rate} for rate in rates]
    data = {"servers": servers, "arrivals": {"law": "poisson", "rate": 1.0}, "application": "loss"}
    return RoutingProblem.from_data(data | more, name="some $servers$")


def panels(figure):
    return {axes.get_label(): axes for axes in figure.axes}


def bars(axes, server):
    """Slots of the packets of a server in the first period."""
    return sorted(
        round(bar.get_x() + bar.get_width() / 2) for bar in axes.patches if bar.get_gid() == f"server {server}"
    )


def test_packets_stand_in_the_rows_of_their_servers():
    figure = plot_problem(loss(1.0, 2.0, 3.0), {"decision": [0, 1, 2, 1, 2], "status": "optimal"})
    strip = panels(figure)["strip"]
    assert [bars(strip, server) for server in range(3)] == [[0], [1, 3], [2, 4]]
    borders = [line.get_xdata()[0] for line in strip.lines if line.get_gid() == "period"]
    assert borders == [4.5 + 5 * k for k in range(7)]
    assert [text.get_text() for text in strip.get_yticklabels()] == ["0 (rate 1)", "1 (rate 2)", "2 (rate 3)"]
    assert {text.get_text() for text in strip.texts} == {"5", "2", "3"}  # all gaps above one slot
    shares = [bar.get_width() for bar in panels(figure)["shares"].patches]
    assert shares == pytest.approx([0.2, 0.4, 0.4])
    assert "some $servers$" in figure.get_suptitle()
    assert figure.get_suptitle().endswith("cost 0.0515046, optimal, 3 servers, period 5")


def test_gaps_of_the_word_are_marked_on_what_they_cost():
    problem = loss(1.0, 2.0)
    figure = plot_problem(problem, {"decision": [0, 1, 1]})
    axes = panels(figure)["costs"]
    marks = {one.get_gid(): one.get_offsets().data.tolist() for one in axes.collections}
    assert [line.get_drawstyle() for line in axes.lines] == ["steps-mid"] * 2  # gaps are whole numbers
    assert [line.get_label() for line in axes.lines] == ["server 0 (rate 1)", "server 1 (rate 2)"]
    assert marks["gaps of 0"] == [[3.0, pytest.approx(0.5**3)]]
    assert marks["gaps of 1"] == [[1.0, pytest.approx(1 / 3)], [2.0, pytest.approx(1 / 9)]]
    assert axes.get_yscale() == "log"
    assert f"bound {problem.lower_bound():.6g}" in figure.get_suptitle()


def test_freshness_is_drawn_above_its_asymptotes():
    problem = loss(1.0, 2.0, application="freshness")
    axes = panels(plot_problem(problem, {"decision": [0, 1, 1]}))["costs"]
    marks = {one.get_gid(): one.get_offsets().data.tolist() for one in axes.collections}
    assert marks["gaps of 0"] == [[3.0, pytest.approx(0.5**3)]]  # w / (mu E tau) times the transform
    assert axes.get_ylabel() == "cost of a packet\nabove its asymptote"


def test_costs_without_an_asymptote_are_drawn_as_they_are():
    problem = RoutingProblem.of_costs([lambda n: n * n, lambda n: 2 * n * n], slopes=[math.inf] * 2)
    axes = panels(plot_problem(problem, {"decision": [0, 1]}))["costs"]
    marks = {one.get_gid(): one.get_offsets().data.tolist() for one in axes.collections}
    assert marks["gaps of 1"] == [[2.0, 8.0]]


def test_without_a_result_costs_alone_are_drawn():
    figure = plot_problem(loss(1.0, 2.0))
    assert set(panels(figure)) == {"costs"}
    assert len(panels(figure)["costs"].lines) == 2


def test_a_finite_horizon_is_one_strip():
    problem = loss(1.0, 2.0, horizon=6, initial=[1, 1])
    strip = panels(plot_problem(problem, {"decision": [1, 0, 1, 1, 0, 1]}))["strip"]
    assert [bars(strip, server) for server in range(2)] == [[1, 4], [0, 2, 3, 5]]
    assert not [line for line in strip.lines if line.get_gid() == "period"]
    assert strip.get_xlabel() == "packet"


def test_many_servers_stand_by_share_and_those_never_used_are_left_out():
    problem = loss(*[1.0] * 30)
    word = [3, 29, 3, 7, 3, 7]
    figure = plot_problem(problem, {"decision": word})
    assert set(panels(figure)) == {"strip", "shares"}
    assert [bar.get_width() for bar in panels(figure)["shares"].patches] == pytest.approx([1 / 2, 1 / 3, 1 / 6])
    with pytest.raises(RequestError, match="costs of gaps are drawn of 10 at most, so give a result"):
        plot_problem(problem)


def test_long_periods_are_cut_off():
    strip = panels(plot_problem(loss(1.0, 2.0), {"decision": [0] + [1] * 199}))["strip"]
    assert strip.get_xlabel() == "packet, the first 120 (the period has 200)"
    assert len(bars(strip, 1)) == 119


def test_a_decision_of_another_problem_is_refused():
    with pytest.raises(InstanceError, match="entry 1 is 5; letters lie between 0 and 1"):
        plot_problem(loss(1.0, 2.0), {"decision": [0, 5]})
    with pytest.raises(InstanceError, match="give a result of that instance"):
        plot_problem(loss(1.0, 2.0), {"problem": "another", "decision": [0, 1]})


# -- Figure 1 ----------------------------------------------------------------------------------------------------------


def test_the_staircase_has_the_steps_of_figure_1(tmp_path):
    problem = loss(1.0, 3.0)
    rates = [1.0, 2.0, 4.0, 8.0, 16.0]
    figure = plot_periods(problem, rates, path=tmp_path / "periods.png")
    axes = panels(figure)["periods"]
    treads = [(line.get_xdata().tolist(), line.get_ydata()[0]) for line in axes.lines if line.get_gid() == "period"]
    edges = [1.0, 1 + math.sqrt(2), 4.853299832, 9.140735034, 16.0]
    assert [period for _, period in treads] == [2, 3, 4, 5]
    for (place, _), low, high in zip(treads, edges[:-1], edges[1:], strict=True):
        assert place == pytest.approx([low, high], rel=1e-9)
    (line,) = [line for line in panels(figure)["costs"].lines if line.get_gid() == "costs"]
    assert line.get_ydata()[1] == pytest.approx(om.solve(loss(1.0, 2.0), "two-server").objective)
    assert (tmp_path / "periods.png").stat().st_size > 10_000


def test_rates_begin_with_those_of_the_other_servers():
    assert default_rates(loss(3.0, 10.0))[0] == pytest.approx(3.0)
    assert default_rates(loss(3.0, 10.0), server=0)[-1] == pytest.approx(2000.0)


def test_periods_of_three_servers_are_found_by_another_strategy():
    problem = loss(0.5, 1.0, 2.0)
    with pytest.raises(TypeError, match="is for two servers"):
        plot_periods(problem, [1.0, 2.0])
    changed = changes_of_period(problem, [1.0, 1.0001], [3, 3], strategy="min-mean-cycle")
    assert changed == []


def test_a_server_without_a_rate_cannot_grow():
    problem = RoutingProblem.of_costs([lambda n: 0.5**n, lambda n: 0.25**n], slopes=[0.0] * 2, limits=[0.0] * 2)
    with pytest.raises(RequestError, match="server 1 of 'routing' has no rate that could grow"):
        plot_periods(problem, [1.0, 2.0])


def test_a_sweep_draws_periods_over_a_rate(instances, tmp_path):
    study = sweep(instances / "routing" / "figure-1.json", "data.servers[1].rate=1,2,4,8", "two-server")
    assert [row["period"] for row in study.rows()] == [2.0, 2.0, 3.0, 4.0]
    (axes,) = plot_sweep(study, tmp_path / "sweep.svg", "period").axes
    (line,) = [line for line in axes.lines if line.get_gid() == "values"]
    assert line.get_ydata() == pytest.approx([2.0, 2.0, 3.0, 4.0])
    assert axes.get_ylabel() == "length of the period, in packets"
