"""Pictures of robot fleets are tested by reading the figure: maps, lines and words."""

import warnings
from dataclasses import replace

import numpy as np
import pytest

from optmodels import Instance, generate
from optmodels.costs import Limit, Limits
from optmodels.errors import InstanceError, RequestError
from optmodels.instance import load, read
from optmodels.plotting import plot_problem
from optmodels.robots.plots import by_total
from optmodels.robots.structure import decision_rates


@pytest.fixture(autouse=True)
def no_warning_is_given():
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        yield


def shipped(instances, name):
    """A shipped fleet, and its best known policy as a result."""
    file = instances / "robots" / f"{name}.json"
    return load(file), {"decision": read(file).best_known.decision, "status": "optimal"}


def panels(figure):
    return {axes.get_label(): axes for axes in figure.axes}


def with_gid(axes, gid):
    (found,) = [artist for artist in axes.get_children() if artist.get_gid() == gid]
    return found


def test_targets_are_steps_over_pages(instances):
    asked, result = shipped(instances, "fleet-any-50")
    figure = plot_problem(asked, result)
    line = with_gid(panels(figure)["targets"], "target-0")
    assert line.get_ydata().tolist() == asked.describe(tuple(result["decision"]))["targets"]
    assert line.get_xdata().tolist() == list(range(13))
    title = figure.get_suptitle()
    assert title == "fleet-any-50\nobjective 0.0437473, optimal,\nbest fixed number 25: 0.166667"
    assert line.get_drawstyle() == "steps-mid"


def test_targets_have_a_line_for_each_state_of_the_environment():
    asked = generate("robots", robots=5, capacity=4, environment=6, switching="any").problem()
    axes = panels(plot_problem(asked))["targets"]
    assert [line.get_gid() for line in axes.lines] == ["target-0", "target-1", "target-2", "target-3", "robots"]
    assert "4 of 6 states" in axes.get_title(loc="left")


def test_two_classes_have_a_map_at_three_numbers_of_pages(instances):
    asked, result = shipped(instances, "fleet-classes-2")
    found = panels(plot_problem(asked, result))
    assert set(found) == {"pages-1", "pages-5", "pages-9"}
    decision = np.array(result["decision"]).reshape(11, 31, 31)
    for pages in (1, 5, 9):
        shown = np.asarray(with_gid(found[f"pages-{pages}"], "map").get_array()).reshape(31, 31)
        assert (shown == decision[pages] + 1).all()
    assert found["pages-1"].get_ylabel() == "near: robots out"
    assert found["pages-5"].get_xlabel() == "far: robots out"


def test_an_environment_has_a_map_for_each_of_its_states(instances):
    asked, result = shipped(instances, "fleet-environment")
    found = panels(plot_problem(asked, result))
    decision = np.array(result["decision"]).reshape(11, 61, 3)
    for world in range(3):
        axes = found[f"environment-{world}"]
        assert (np.asarray(with_gid(axes, "map").get_array()).reshape(11, 61) == decision[:, :, world]).all()
        veil = np.ma.getmaskarray(with_gid(axes, "rare").get_array()).reshape(11, 61)
        rates = decision_rates(asked.fleet, decision.ravel()).reshape(11, 61, 3)
        assert (veil == (rates[:, :, world] >= 1e-6 * rates.sum())).all()


def test_journeys_are_drawn_by_how_often_a_robot_is_sent():
    asked = generate("robots", robots=4, capacity=3, phases=2, seed=3).problem()
    fleet, decision = asked.fleet, asked.space.sample(np.random.default_rng(1))
    shown = with_gid(panels(plot_problem(asked, {"decision": decision}))["environment-0"], "map").get_array()
    frequencies, met = by_total(fleet, asked.actions_of(decision))
    assert np.asarray(shown).reshape(4, 5) == pytest.approx(frequencies[:, :, 0, 1])
    rates, out = decision_rates(fleet, asked.actions_of(decision)), fleet.robots_out.sum(axis=1)
    assert met.sum() == pytest.approx(rates.sum())
    assert frequencies.sum(axis=-1) == pytest.approx(np.ones(met.shape))
    for q in range(4):
        for total in range(5):
            states = [q * fleet.places + place for place in np.flatnonzero(out == total)]
            taken, weights = np.array(decision)[states], rates[states]
            mean = float(weights @ taken / weights.sum()) if weights.sum() > 0 else float(taken.mean())
            assert frequencies[q, total, 0, 1] == pytest.approx(mean)


def test_many_classes_show_who_is_sent_most_often(instances):
    asked, result = shipped(instances, "fleet-all-small")
    figure = plot_problem(asked, result)
    frequencies, _ = by_total(asked.fleet, asked.actions_of(tuple(result["decision"])))
    for world in range(2):
        shown = with_gid(panels(figure)[f"environment-{world}"], "map").get_array()
        assert (np.asarray(shown).reshape(6, 8) == frequencies[:, :, world].argmax(axis=-1)).all()
    words = [text.get_text() for text in figure.legends[0].get_texts()]
    assert words[:3] == ["most often: nobody", "most often: quick", "most often: slow"]


def test_without_a_result_the_best_policy_is_drawn(instances):
    asked, result = shipped(instances, "fleet-all-small")
    assert (
        plot_problem(asked).get_suptitle().replace(", ", ", optimal, ", 1) == plot_problem(asked, result).get_suptitle()
    )


def test_what_cannot_be_drawn_is_refused_in_one_sentence(instances):
    asked, _ = shipped(instances, "fleet-all-small")
    with pytest.raises(InstanceError, match="the picture is of 'fleet-all-small'"):
        plot_problem(asked, {"problem": "another", "decision": [0]})
    with pytest.raises(InstanceError, match="it is no policy of 'fleet-all-small'"):
        plot_problem(asked, {"decision": [0, 1]})
    with pytest.raises(RequestError, match="give a result"):
        plot_problem(replace(asked, limits=Limits({"starvation": Limit(maximum=0.2)})))


def test_names_of_classes_are_drawn_letter_by_letter():
    classes = [{"name": "$near$", "robots": 2, "arrival_rate": 0.5}, {"robots": 2, "arrival_rate": 0.3}]
    content = {"format": 1, "kind": "robots", "name": "$100"}
    content["cost"] = {"name": "weighted-sum", "weights": {"starvation": 1}}
    content["data"] = {"classes": classes, "capacity": 3, "service_rate": 1}
    figure = plot_problem(Instance.from_data(content).problem())
    assert panels(figure)["pages-1"].get_ylabel() == "$near$: robots out"
    assert panels(figure)["pages-1"].get_xlabel() == "class 1: robots out"
    figure.canvas.draw()
