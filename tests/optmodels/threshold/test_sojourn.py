"""Quantiles of sojourn times for results, and the panel that shows their distributions."""

import warnings
from dataclasses import replace

import pytest

from optmodels.instance import load
from optmodels.plotting import plot_problem
from optmodels.threshold.sojourn import MOST_STATES, cheap_sojourn, sojourn_quantiles
from queueing import BMAP, Mode, PhaseType, ThresholdQueue


@pytest.fixture(scope="module")
def paper(instances):
    return load(instances / "threshold" / "avrachenkov-k5.json")


def lines_of(figure):
    (axes,) = [axes for axes in figure.axes if axes.get_label() == "sojourn"]
    return {line.get_gid(): line for line in axes.get_lines()}, axes


def test_the_panel_shows_the_distributions(paper):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        lines, axes = lines_of(plot_problem(paper, {"decision": [-1, 2, 2]}))
    times = paper.queue.sojourn((-1, 2, 2))
    for name in ("served", "obsolete", "all"):
        law = getattr(times, name)
        x, y = lines[f"sojourn-{name}"].get_data()
        assert list(y) == pytest.approx([law.cdf(t) for t in x], abs=1e-12)
        assert lines[f"mark-{name}"].get_xdata() == pytest.approx([law.quantile(0.5), law.quantile(0.95)])
    words = [text.get_text() for text in axes.get_legend().get_texts()]
    assert words[0] == "served (65.5 %): half by 1.53, 95 % by 3.88"
    assert [word.split(" (")[0].split(":")[0] for word in words] == ["served", "out of date", "all, lost ones 0"]


@pytest.mark.parametrize("count", [1, 2, 3])
def test_every_number_of_modes_has_the_panel_beside_the_policy(paper, count):
    few = replace(paper, modes=paper.modes[:count])
    labels = [axes.get_label() for axes in plot_problem(few).figure.axes]
    assert {"policy", "sojourn"} <= set(labels)


def test_pages_that_never_go_out_of_date_have_no_line(paper):
    patient = replace(paper, patience=None)
    lines, _ = lines_of(plot_problem(patient, {"decision": [-1, 2, 2]}))
    assert set(lines) == {"sojourn-served", "mark-served", "sojourn-all", "mark-all"}
    assert sojourn_quantiles(cheap_sojourn(patient.queue, (-1, 2, 2)))["obsolete"] is None


def test_quantiles_are_those_of_the_queue(paper):
    found = sojourn_quantiles(cheap_sojourn(paper.queue, (0, 2, 2)))
    times = paper.queue.sojourn((0, 2, 2))
    assert found["served"] == {"0.5": times.served.quantile(0.5), "0.95": times.served.quantile(0.95)} | {
        "0.99": times.served.quantile(0.99)
    }
    assert found["all"]["0.5"] == times.all.quantile(0.5)


def test_large_queues_are_not_asked():
    queue = ThresholdQueue((BMAP.poisson(1.0),), PhaseType.exponential(1.0), PhaseType.erlang(2, 1.0), capacity=16)
    assert queue.model.states > MOST_STATES
    assert cheap_sojourn(queue, ()) is None
    assert sojourn_quantiles(None) is None


def test_rates_far_apart_are_not_waited_for():
    stiff = PhaseType.hyperexponential([0.5, 0.5], [1e9, 0.01])
    assert cheap_sojourn(ThresholdQueue((BMAP.poisson(0.004),), stiff, capacity=3), ()) is None


def test_a_queue_where_nothing_comes_has_a_policy_and_no_panel(paper):
    quiet = (Mode(1, BMAP([[[0.0]], [[0.0]]])), Mode(2, BMAP([[[-1.0]], [[1.0]]])))
    service = PhaseType.exponential(1.0)
    silent = replace(paper, cost=None, modes=quiet, service=service, patience=None, capacity=3)
    labels = [axes.get_label() for axes in plot_problem(silent, {"decision": [-1]}).axes]
    assert labels == ["policy"]
    assert sojourn_quantiles(cheap_sojourn(silent.queue, (-1,))) == {"served": None, "obsolete": None, "all": None}


def test_results_tell_quantiles_and_are_verified_with_them(paper):
    told = paper.describe((0, 2, 2))["sojourn_quantiles"]
    assert told == sojourn_quantiles(paper.queue.sojourn((0, 2, 2)))
    assert told["served"]["0.5"] < told["served"]["0.95"] < told["served"]["0.99"]
    by_state = {"policy": (0,) * paper.space.policy_lengths[0]}
    assert "sojourn_quantiles" not in paper.describe(by_state)


@pytest.mark.timeout(60)
@pytest.mark.parametrize("factor", [1e100, 1e160, 1e200, 1e280, 1e-200])
def test_services_of_no_time_or_without_end_are_described(paper, factor):
    """A search for a quantile had no end from about 1e160 on, in `evaluate` and at the end of every `solve`."""
    quick = replace(paper, service=paper.queue.service.scaled(factor))
    quantiles = quick.describe((-1, 2, 2))["sojourn_quantiles"]
    if factor > 1:
        assert 0.1 < quantiles["served"]["0.5"] * factor < 10
