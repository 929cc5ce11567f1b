"""Every field of a threshold instance: what is read, and the one sentence in which anything else is refused."""

import copy
import math

import numpy as np
import pytest

from optmodels.errors import InstanceError, MissingField, RequestError
from optmodels.instance import Instance
from optmodels.threshold import ThresholdProblem
from queueing import BMAP, PhaseType, independent_modes, marked_modes, thinned_modes

QUIET, BATCH = [[-2.0, 1.0], [0.5, -1.5]], [[1.0, 0.0], [0.0, 1.0]]
MORE = [[[-3.0, 1.0], [0.5, -2.5]], [[2.0, 0.0], [0.0, 2.0]]]


def data(**changes):
    content = {
        "capacity": 4,
        "service": {"initial": [0.4, 0.6], "generator": [[-3, 1], [2, -3]]},
        "patience": {"initial": [1], "generator": [[-0.2]]},
        "modes": [{"robots": 1, "arrivals": [QUIET, BATCH]}, {"robots": 3, "arrivals": MORE}],
    }
    return copy.deepcopy(content | changes)


def read(**changes) -> ThresholdProblem:
    return ThresholdProblem.from_data(data(**changes))


def changed(place: list, value):
    """The data with one entry changed."""
    content = data()
    here = content
    for step in place[:-1]:
        here = here[step]
    here[place[-1]] = value
    return content


# -- what is read ------------------------------------------------------------------------------------------------------


def test_all_fields_are_read():
    problem = read(admission="whole-batch", use_all_modes=True)
    assert problem.capacity == 4
    assert problem.queue.service == PhaseType([0.4, 0.6], [[-3, 1], [2, -3]])
    assert problem.queue.patience == PhaseType.exponential(0.2)
    assert [mode.robots for mode in problem.modes] == [1, 3]
    assert problem.modes[1].arrivals == BMAP(tuple(map(np.array, MORE)))
    assert problem.queue.admission == "whole-batch"
    assert problem.use_all_modes


def test_what_is_left_out_has_its_default():
    problem = read(patience=None)
    assert problem.queue.patience is None
    assert problem.queue.admission == "partial"
    assert not problem.use_all_modes


def test_a_scale_multiplies_all_rates_of_a_law():
    problem = read(service={"initial": [1], "generator": [[-2]], "scale": 3})
    assert problem.queue.service == PhaseType.exponential(6.0)
    assert problem.to_data()["service"] == {"initial": [1.0], "generator": [[-6.0]]}


def test_independent_robots():
    problem = read(modes={"independent": [[QUIET, BATCH], [[[-1]], [[0.5]], [[0.5]]]]})
    robots = [BMAP((np.array(QUIET), np.array(BATCH))), BMAP(([[-1]], [[0.5]], [[0.5]]))]
    assert problem.modes == independent_modes(robots)


def test_thinned_arrivals():
    problem = read(modes={"thinned": {"arrivals": [QUIET, BATCH], "probabilities": [0.3, 0.7, 1]}})
    assert problem.modes == thinned_modes(BMAP((np.array(QUIET), np.array(BATCH))), [0.3, 0.7, 1])


def test_marked_arrivals():
    robots = [[[[1.0, 0.0], [0.0, 0.25]]], [[[0.0, 0.0], [0.0, 0.25]], [[0.0, 0.0], [0.5, 0.0]]]]
    problem = read(modes={"marked": {"D0": QUIET, "robots": robots}})
    assert problem.modes == marked_modes(QUIET, robots)


@pytest.mark.parametrize(
    "modes",
    [
        {"independent": [[QUIET, BATCH], [[[-1]], [[1]]]]},
        {"thinned": {"arrivals": [QUIET, BATCH], "probabilities": [0.3, 1]}},
        {"marked": {"D0": QUIET, "robots": [[[[0.5, 0], [0, 0.5]]], [[[0.5, 0], [0, 0.5]]]]}},
    ],
)
def test_every_form_of_modes_is_written_as_a_list(modes):
    problem = read(modes=modes)
    written = problem.to_data()
    assert [mode["robots"] for mode in written["modes"]] == [1, 2]
    assert ThresholdProblem.from_data(written).queue == problem.queue


# -- what is refused ---------------------------------------------------------------------------------------------------

LAW = 'a phase-type law is {"initial": [..], "generator": [[..]]}.'
SQUARE = "a square matrix of 2 rows has 2 numbers in each, and here are 1."
RATES = "rates are zero or more, but for the diagonal of D0."

REFUSED = [
    (
        ["capacity"],
        0,
        "data.capacity is 0; the capacity is a whole number of pages, 1 or more.",
    ),
    (
        ["capacity"],
        2.5,
        "data.capacity is 2.5; the capacity is a whole number of pages, 1 or more.",
    ),
    (
        ["capacity"],
        True,
        "data.capacity is true; the capacity is a whole number of pages, 1 or more.",
    ),
    (
        ["capacity"],
        "5",
        'data.capacity is "5"; the capacity is a whole number of pages, 1 or more.',
    ),
    (
        ["capacity"],
        10**7,
        "data.capacity is 10000000; at most 100000 pages are supported.",
    ),
    (
        ["service"],
        [1],
        'data.service is [1]; a phase-type law is {"initial": [..], "generator": [[..]]}.',
    ),
    (
        ["service"],
        None,
        'data.service is null; a phase-type law is {"initial": [..], "generator": [[..]]}.',
    ),
    (
        ["service", "rate"],
        1,
        "data.service.rate is 1; no such field; known are generator, initial, scale.",
    ),
    (
        ["service", "initial"],
        [0.4, 0.5],
        "data.service.initial is [0.4, 0.5]; initial probabilities sum to 1, and these sum to 0.9.",
    ),
    (
        ["service", "initial"],
        [1.4, -0.4],
        "data.service.initial[1] is -0.4; probabilities are zero or more.",
    ),
    (
        ["service", "initial"],
        [1],
        "data.service.initial is [1]; one probability for each of the 2 phases of the generator is needed.",
    ),
    (
        ["service", "initial"],
        [],
        "data.service.initial is []; this is a list of numbers.",
    ),
    (
        ["service", "generator"],
        [[-3, 1]],
        "data.service.generator[0] is [-3, 1]; a square matrix of 1 rows has 1 numbers in each, and here are 2.",
    ),
    (
        ["service", "generator"],
        [[-3, 1], [2]],
        "data.service.generator[1] is [2]; a square matrix of 2 rows has 2 numbers in each, and here are 1.",
    ),
    (
        ["service", "generator"],
        3,
        "data.service.generator is 3; a matrix is a list of rows.",
    ),
    (
        ["service", "generator", 0, 1],
        -1,
        "data.service.generator[0][1] is -1.0; rates between phases are zero or more.",
    ),
    (
        ["service", "generator", 0, 1],
        "x",
        'data.service.generator[0][1] is "x"; finite numbers stand here.',
    ),
    (
        ["service", "generator", 0, 1],
        math.nan,
        "data.service.generator[0][1] is NaN; finite numbers stand here.",
    ),
    (
        ["service", "generator", 0, 1],
        4,
        "data.service.generator[0] is [-3.0, 4.0]; its rows sum to at most 0 (what lacks is the rate of "
        "ending), this one sums to 1.0.",
    ),
    (
        ["service", "generator"],
        [[-1, 1], [1, -1]],
        'data.service is {"initial": [0.4, 0.6], "generator": [[-1, 1], [1, -1]]}; Every phase must lead '
        "to the end, but from phase 0 it is out of reach; let its row of generator, or one it leads to, "
        "sum to less than 0.",
    ),
    (
        ["service", "scale"],
        0,
        "data.service.scale is 0; a scale multiplies all rates and is a positive number.",
    ),
    (
        ["patience", "initial"],
        [0.9],
        "data.patience.initial is [0.9]; initial probabilities sum to 1, and these sum to 0.9.",
    ),
    (
        ["modes"],
        [],
        "data.modes is []; one mode at least is needed.",
    ),
    (
        ["modes"],
        3,
        'data.modes is 3; modes are a list of {"robots": r, "arrivals": [D0, D1, ...]}, or one of '
        '{"independent": ..}, {"thinned": ..}, {"marked": ..}.',
    ),
    (
        ["modes"],
        {"thin": []},
        "data.modes.thin is []; no such field (did you mean 'thinned'?); known are independent, marked, thinned.",
    ),
    (
        ["modes"],
        {},
        'data.modes is {}; modes are a list of {"robots": r, "arrivals": [D0, D1, ...]}, or one of '
        '{"independent": ..}, {"thinned": ..}, {"marked": ..}.',
    ),
    (
        ["modes", 0],
        3,
        'data.modes[0] is 3; a mode is {"robots": r, "arrivals": [D0, D1, ...]}.',
    ),
    (
        ["modes", 0, "price"],
        3,
        "data.modes[0].price is 3; no such field; known are arrivals, robots.",
    ),
    (
        ["modes", 0, "robots"],
        -1,
        "data.modes[0].robots is -1; robots are counted in whole numbers, zero or more.",
    ),
    (
        ["modes", 1, "robots"],
        1,
        "data.modes[1].robots is 1; modes stand in rising number of robots, and the one before has 1.",
    ),
    (
        ["modes", 0, "arrivals"],
        [QUIET],
        "data.modes[0].arrivals is [[[-2.0, 1.0], [0.5, -1.5]]]; arrivals are the matrices [D0, D1, ..., "
        "Dm], two at least.",
    ),
    (
        ["modes", 0, "arrivals", 1],
        [[1.0]],
        "data.modes[0].arrivals[1] is [[1.0]]; all matrices of an arrival process have as many rows as D0, 2.",
    ),
    (
        ["modes", 0, "arrivals", 1],
        [[1.0], [0.0]],
        "data.modes[0].arrivals[1][0] is [1.0]; a square matrix of 2 rows has 2 numbers in each, and here are 1.",
    ),
    (
        ["modes", 0, "arrivals", 1, 0, 0],
        -0.01,
        "data.modes[0].arrivals[1][0][0] is -0.01; rates are zero or more, but for the diagonal of D0.",
    ),
    (
        ["modes", 0, "arrivals", 0, 0, 1],
        -1,
        "data.modes[0].arrivals[0][0][1] is -1.0; rates are zero or more, but for the diagonal of D0.",
    ),
    (
        ["modes", 1, "arrivals", 0, 1, 1],
        2.5,
        "data.modes[1].arrivals[0][1] is [0.5, 2.5]; the rates of this row, summed over D0, ..., D1, make "
        "5.0 and must make 0 (1e-9 relative).",
    ),
    (
        ["modes", 1, "arrivals"],
        [[[-1]], [[1]]],
        "data.modes[1].arrivals is [[[-1]], [[1]]]; one chain drives all modes: 2 phases in the first, 1 here.",
    ),
    (
        ["modes", 0, "arrivals"],
        [[[-1, 0], [1, -2]], [[1, 0], [0, 1]]],
        "data.modes[0].arrivals is [[[-1, 0], [1, -2]], [[1, 0], [0, 1]]]; D0 + D1 must let every state "
        "reach every other, but state 1 is out of reach of state 0; leave out states that are left for "
        "ever or never entered.",
    ),
    (
        ["modes"],
        {"independent": []},
        "data.modes.independent is []; list the matrices [D0, D1, ...] of each robot.",
    ),
    (
        ["modes"],
        {"thinned": {"arrivals": [QUIET, BATCH], "probabilities": [0.5, 0.4]}},
        "data.modes.thinned.probabilities is [0.5, 0.4]; probabilities must rise from above 0 to 1, the "
        "last one, but they are 0.5, 0.4; give one for each number of robots.",
    ),
    (
        ["modes"],
        {"marked": {"D0": QUIET, "robots": [[BATCH], [BATCH]]}},
        "data.modes.marked.D0[0] is [-2.0, 1.0]; the rates of this row, summed over D0 and all matrices of "
        "the robots, make 1.0 and must make 0 (1e-9 relative).",
    ),
    (
        ["modes"],
        {"marked": {"D0": QUIET, "robots": [[]]}},
        "data.modes.marked.robots[0] is []; list the matrices [D1, D2, ...] of this robot.",
    ),
    (
        ["admission"],
        "all",
        'data.admission is "all"; batches are admitted by one of "partial", "whole-batch", "complete".',
    ),
    (
        ["admission"],
        [1],
        'data.admission is [1]; batches are admitted by one of "partial", "whole-batch", "complete".',
    ),
    (
        ["use_all_modes"],
        1,
        "data.use_all_modes is 1; this is true or false.",
    ),
    (
        ["buffer"],
        4,
        "data.buffer is 4; no such field; known are admission, capacity, modes, patience, service, use_all_modes.",
    ),
]


@pytest.mark.parametrize(
    ("place", "value", "sentence"), REFUSED, ids=[f"{p[-1]}-{i}" for i, (p, _, _) in enumerate(REFUSED)]
)
def test_a_wrong_field_is_refused_with_place_value_and_rule(place, value, sentence):
    with pytest.raises(InstanceError) as refused:
        ThresholdProblem.from_data(changed(place, value))
    assert str(refused.value) == sentence


@pytest.mark.parametrize("field", ["capacity", "service", "patience", "modes"])
def test_a_missing_field_is_named(field):
    content = data()
    del content[field]
    with pytest.raises(MissingField, match=rf"^data\.{field} is missing; a threshold queue needs it\.$"):
        ThresholdProblem.from_data(content)


@pytest.mark.parametrize(
    ("modes", "field"),
    [
        ([{"robots": 1}], "data.modes[0].arrivals"),
        ([{"arrivals": [QUIET, BATCH]}], "data.modes[0].robots"),
        ({"thinned": {"arrivals": [QUIET, BATCH]}}, "data.modes.thinned.probabilities"),
        ({"marked": {"D0": QUIET}}, "data.modes.marked.robots"),
    ],
)
def test_a_missing_field_of_a_mode_is_named(modes, field):
    with pytest.raises(MissingField) as refused:
        read(modes=modes)
    assert refused.value.field == field


def test_rows_may_miss_zero_by_the_rounding_of_typed_numbers():
    nearly = [[[-2.0 - 1e-9, 1.0], [0.5, -1.5]], BATCH]
    assert read(modes=[{"robots": 1, "arrivals": nearly}]).modes[0].arrivals.rate == pytest.approx(1.0)
    leaking = [[[-2.0 - 1e-8, 1.0], [0.5, -1.5]], BATCH]
    with pytest.raises(InstanceError, match="must make 0"):
        read(modes=[{"robots": 1, "arrivals": leaking}])


def test_a_queue_too_large_for_every_exact_method_is_refused_where_its_pages_are_many():
    law = {"initial": [1] + [0] * 5, "generator": (0.01 * (np.eye(6, k=1) - np.eye(6))).tolist()}
    problem = read(capacity=4000, patience=law)
    with pytest.raises(RequestError, match=r"cannot be evaluated at \(4000,\): Method 'truncated' must find less than"):
        problem.evaluate((4000,))


@pytest.mark.parametrize(
    ("envelope", "sentence"),
    [
        (
            {"limits": {"lost": 0.1}},
            r"limits\.lost is 0\.1; kind 'threshold' has no such measure\. Did you mean 'loss'\?",
        ),
        (
            {"cost": {"name": "weighted-sum", "weights": {"robots": 1}}},
            r"cost\.weights\.robots is 1; kind 'threshold' has",
        ),
    ],
)
def test_unknown_measures_are_refused(envelope, sentence):
    content = Instance.from_data({"format": 1, "kind": "threshold", "name": "x", "data": data()} | envelope)
    with pytest.raises(InstanceError, match=sentence):
        content.problem()


# -- sizes -------------------------------------------------------------------------------------------------------------


def test_robots_whose_phases_multiply_beyond_bounds_are_refused():
    with pytest.raises(InstanceError, match=r"modes.independent is .*; the phases of all robots multiply to 2048"):
        read(modes={"independent": [[QUIET, BATCH]] * 11})


@pytest.mark.parametrize(
    ("modes", "place"),
    [
        ([{"robots": 1, "arrivals": [[[-1]], *[[[0]]] * 2000, [[1]]]}], r"data.modes\[0\].arrivals"),
        ({"marked": {"D0": [[-1]], "robots": [[*[[[0]]] * 2000, [[1]]]]}}, r"data.modes.marked.robots\[0\]"),
    ],
)
def test_batches_beyond_bounds_are_refused(modes, place):
    with pytest.raises(InstanceError, match=place + r" is .* batches of 2001 pages, and at most 2000 are supported"):
        read(modes=modes)
