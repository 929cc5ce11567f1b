"""Laws for Python: values that say what a file says."""

import numpy as np
import pytest

import optmodels as om
from optmodels.data import phases_of, read_time

LAWS = [
    (om.constant(2), {"law": "constant", "value": 2.0}, 2.0, "constant(value=2.0)"),
    (om.exponential(np.float64(3)), {"law": "exponential", "mean": 3.0}, 3.0, "exponential(mean=3.0)"),
    (om.erlang(2, 3), {"law": "erlang", "stages": 2, "mean": 3.0}, 3.0, "erlang(stages=2, mean=3.0)"),
    (
        om.hyperexponential(np.array([0.25, 0.75]), (1, 3)),
        {"law": "hyperexponential", "probabilities": [0.25, 0.75], "means": [1, 3]},
        2.5,
        "hyperexponential(probabilities=[0.25, 0.75], means=[1, 3])",
    ),
    (
        om.phase_type([1, 0], np.array([[-1.0, 1.0], [0.0, -2.0]])),
        {"law": "phase-type", "initial": [1, 0], "generator": [[-1.0, 1.0], [0.0, -2.0]]},
        1.5,
        "phase_type(initial=[1, 0], generator=[[-1.0, 1.0], [0.0, -2.0]])",
    ),
    (om.poisson(4), {"law": "poisson", "rate": 4.0}, 0.25, "poisson(rate=4.0)"),
    (
        om.mmpp([[-1, 1], [1, -1]], [1, 3]),
        {"law": "mmpp", "generator": [[-1, 1], [1, -1]], "rates": [1, 3]},
        0.5,
        "mmpp(generator=[[-1, 1], [1, -1]], rates=[1, 3])",
    ),
    (om.map([[-2.0]], [[2.0]]), {"law": "map", "D0": [[-2.0]], "D1": [[2.0]]}, 0.5, "map(D0=[[-2.0]], D1=[[2.0]])"),
]


@pytest.mark.parametrize(("law", "data", "mean", "text"), LAWS, ids=[text.partition("(")[0] for *_, text in LAWS])
def test_laws_are_small_values(law, data, mean, text):
    assert law.to_data() == data
    assert law.mean == pytest.approx(mean)
    assert repr(law) == text
    again = eval(text, {name: getattr(om, name) for name in dir(om)})
    assert (again, hash(again)) == (law, hash(law))
    with pytest.raises(AttributeError):
        law.mean = 1.0


@pytest.mark.parametrize(("law", "data", "mean", "text"), LAWS[1:5])
def test_laws_with_phases_are_the_same_law_by_phases(law, data, mean, text):
    phases = phases_of(read_time(data, "here"))
    assert phases.mean == pytest.approx(mean)
    for rate in (0.1, 1.0, 5.0):
        end = np.linalg.solve(rate * np.eye(phases.order) - phases.generator, phases.exit_rates)
        assert -np.log(phases.initial @ end) == pytest.approx(read_time(data, "here").decay([rate])[0])


@pytest.mark.parametrize(
    ("make", "sentence"),
    [
        (lambda: om.constant("x"), 'value is "x"; times are finite numbers above 0.'),
        (lambda: om.exponential(0), "mean is 0.0; times are finite numbers above 0."),
        (lambda: om.exponential(np.nan), "mean is NaN; times are finite numbers above 0."),
        (lambda: om.erlang(1.5, 1), "stages is 1.5; stages are counted in whole numbers, 1 or more."),
        (lambda: om.hyperexponential([0.5, 0.6], [1, 2]), "probabilities is [0.5, 0.6]; probabilities sum to 1"),
        (lambda: om.hyperexponential([0.5, 0.5], [1]), "means is [1]; each of the 2 probabilities needs a mean."),
        (lambda: om.phase_type([1], [[1.0]]), "generator[0] is [1.0]; its rows sum to at most 0"),
        (lambda: om.poisson(None), "rate is null; rates are finite numbers above 0."),
        (lambda: om.mmpp([[-1, 1], [1, -1]], [1]), "rates is [1]; each of the 2 phases needs a rate"),
        (lambda: om.map([[-1]], [[2]]), "D0[0] is [-1.0]; the rates of this row, summed over D0 and D1, make 1.0"),
        (lambda: om.map(object(), [[2]]), "D0 is <object object"),
    ],
)
def test_parameters_that_make_no_sense_are_refused_by_name(make, sentence):
    with pytest.raises(om.RequestError) as refused:
        make()
    assert str(refused.value).startswith(sentence)


def test_a_law_without_phases_is_refused_where_phases_are_needed():
    with pytest.raises(om.RequestError, match=r"^service is .*it has no phases; an exponential, erlang"):
        om.ThresholdProblem(capacity=3, service=om.constant(1), patience=None, modes=[{"robots": 1, "arrivals": 1.0}])
    with pytest.raises(
        om.RequestError, match=r"^modes\[0\]\.arrivals is .*arrivals here are one of map, mmpp, poisson"
    ):
        om.ThresholdProblem(
            capacity=3, service=om.exponential(1), patience=None, modes=[{"robots": 1, "arrivals": om.erlang(2, 1)}]
        )
