"""Random queues with robots that are switched."""

import pytest

from optmodels.errors import RequestError
from optmodels.generating import generate
from optmodels.testing import check_problem

SMALL = {"capacity": 3, "modes": 2}


def test_the_same_seed_gives_the_same_instance_and_another_another():
    assert generate("threshold", seed=1, **SMALL) == generate("threshold", seed=1, **SMALL)
    assert generate("threshold", seed=1, **SMALL).data != generate("threshold", seed=2, **SMALL).data


@pytest.mark.parametrize("law", ["phase-type", "erlang", "hyperexponential"])
@pytest.mark.parametrize("order", [1, 2, 3])
def test_a_law_of_patience_has_the_order_and_mean_it_is_asked_for(law, order):
    queue = generate("threshold", patience_law=law, patience_phases=order, patience=7, **SMALL).problem().queue
    assert queue.patience.order == order
    assert queue.patience.mean == pytest.approx(7, rel=1e-3)
    assert queue.service.mean == pytest.approx(1, rel=1e-3)
    variation = queue.patience.variance / queue.patience.mean**2
    if law == "erlang":
        assert variation == pytest.approx(1 / order, rel=1e-6)
    if law == "hyperexponential" and order > 1:
        assert variation > 1.05


def test_more_robots_bring_more_pages_and_all_of_them_the_load():
    problem = generate("threshold", modes=5, load=3, phases=3, largest_batch=4, seed=2).problem()
    rates = [mode.arrivals.rate for mode in problem.modes]
    assert rates == sorted(rates)
    assert rates[-1] == pytest.approx(3, rel=0.5)  # drawn around it
    assert {mode.arrivals.largest_batch for mode in problem.modes} == {4}


@pytest.mark.parametrize(
    "options",
    [
        {},
        {"patience_phases": 0},
        {"patience_phases": 2, "patience_law": "erlang"},
        {"phases": 1, "service_phases": 1, "largest_batch": 1, "modes": 1},
        {"admission": "complete"},
        {"patience": 0.001, "load": 1000},
        {"patience": 1000, "load": 0.001},
    ],
    ids=str,
)
def test_what_is_generated_is_a_problem_that_keeps_the_rules(options):
    check_problem(generate("threshold", **(SMALL | options)).problem(), decisions=5, steps=30)


@pytest.mark.parametrize(
    ("options", "sentence"),
    [
        ({"modes": 0}, "modes must be between 1 and 100, got 0"),
        ({"capacity": 0}, "capacity must be between 1 and 1000000, got 0"),
        ({"patience_phases": -1}, "patience_phases must be between 0 and 20, got -1"),
        ({"patience_law": "odd"}, "parameter 'patience_law' is one of phase-type, erlang, hyperexponential"),
        ({"load": 0}, "load must be between 0.001 and 1000, got 0"),
        ({"seed": -1}, "seed must be 0 or more"),
        ({"rows": 3}, "has no parameter 'rows'; it takes modes=4"),
    ],
)
def test_options_that_make_no_sense_are_refused(options, sentence):
    with pytest.raises(RequestError, match=sentence):
        generate("threshold", **options)
