"""Reading and writing instances of kind "freshness": every complaint is one sentence that names its place."""

import json
import re

import numpy as np
import pytest

from optmodels.data import read_time, write_time
from optmodels.errors import InstanceError
from optmodels.freshness import FreshnessProblem
from optmodels.instance import Instance

CONSTANT = {"law": "constant", "value": 2.0}
PLAIN = {"change_rates": [0.1, 0.2, 0.0], "weights": [1.0, 0.0, 3.0], "access_time": CONSTANT}
HOSTED = PLAIN | {"hosts": [0, 1, 1]}
LAWS = [
    CONSTANT,
    {"law": "exponential", "mean": 0.5},
    {"law": "erlang", "stages": 3, "mean": 2.0},
    {"law": "hyperexponential", "probabilities": [0.25, 0.75], "means": [4.0, 1.0]},
    {"law": "phase-type", "initial": [1.0, 0.0], "generator": [[-2.0, 1.0], [0.0, -3.0]]},
    {"law": "samples", "values": [0.0, 0.0, 10.0]},
]


@pytest.mark.parametrize("law", LAWS, ids=lambda law: law["law"])
def test_a_law_survives_the_way_to_a_file_and_back(law):
    read = read_time(law, "here")
    assert write_time(read) == law
    assert write_time(read_time(json.loads(json.dumps(write_time(read))), "here")) == law


@pytest.mark.parametrize(
    ("law", "mean"), list(zip(LAWS, (2.0, 0.5, 2.0, 1.75, 2 / 3, 10 / 3), strict=True)), ids=lambda law: str(law)[:20]
)
def test_means_of_laws(law, mean):
    assert read_time(law, "here").mean == pytest.approx(mean, rel=1e-14)


@pytest.mark.parametrize(
    ("law", "sentence"),
    [
        ("3", 'here is "3"; a law is an object such as'),
        (True, "here is true; a law is an object such as"),
        (-3, "here is -3; times are finite numbers above 0."),
        ({}, "here.law is missing"),
        (
            {"law": "exponental", "mean": 1},
            "here.law is \"exponental\"; there is no such law. Did you mean 'exponential'?",
        ),
        ({"law": ["constant"]}, "here.law is"),
        ({"law": "constant"}, "here.value is missing; law 'constant' needs it."),
        ({"law": "constant", "value": 0}, "here.value is 0; times are finite numbers above 0."),
        ({"law": "constant", "value": True}, "here.value is true; times are"),
        ({"law": "constant", "value": 1, "mean": 1}, "here.mean is 1; no such field; known are law, value."),
        ({"law": "erlang", "stages": 1.5, "mean": 1}, "here.stages is 1.5; stages are counted in whole numbers"),
        ({"law": "erlang", "stages": 2}, "here.mean is missing"),
        ({"law": "hyperexponential", "probabilities": [0.5, 0.6], "means": [1, 1]}, "these sum to 1.1"),
        ({"law": "hyperexponential", "probabilities": [1.5, -0.5], "means": [1, 1]}, "here.probabilities[1] is -0.5"),
        ({"law": "hyperexponential", "probabilities": [0.5, 0.5], "means": [1]}, "each of the 2 probabilities"),
        ({"law": "hyperexponential", "probabilities": [1.0], "means": [0]}, "here.means[0] is 0.0"),
        (
            {"law": "phase-type", "initial": [1.0], "generator": [[1.0]]},
            "here.generator[0] is [1.0]; its rows sum to at",
        ),
        ({"law": "phase-type", "generator": [[-1.0]]}, "here.initial is missing"),
        ({"law": "samples", "values": []}, "here.values is []; this is a list of numbers."),
        ({"law": "samples", "values": [1.0, -2.0]}, "here.values[1] is -2.0; times are zero or more."),
        ({"law": "samples", "values": [0.0, 0.0]}, "here.values is [0.0, 0.0]; one time at least is above 0."),
    ],
    ids=lambda value: re.sub(r"\W+", "-", str(value))[:40],
)
def test_a_wrong_law_is_refused_in_one_sentence(law, sentence):
    with pytest.raises(InstanceError, match=re.escape(sentence)) as refusal:
        read_time(law, "here")
    assert "\n" not in str(refusal.value)
    assert str(refusal.value).endswith(".")


@pytest.mark.parametrize(
    "data",
    [
        PLAIN,
        PLAIN | {"weights": "change-rates"},
        HOSTED | {"host_caps": [0.5, None], "urls": ["http://a", "http://b/1", "http://b/2"]},
        HOSTED | {"host_gap": 2, "min_frequency": [0.0, 0.1, 0.0]},
        PLAIN | {"robots": 2, "min_frequency": 0.01},
    ],
    ids=lambda data: "-".join(data)[24:],
)
def test_data_survive_the_way_to_a_file_and_back(data):
    problem = FreshnessProblem.from_data(data)
    assert problem.to_data() == data
    assert Instance.from_problem(problem).to_data()["data"] == data


def test_one_cap_for_all_hosts_is_written_host_by_host():
    assert FreshnessProblem.from_data(HOSTED | {"host_caps": 0.75}).to_data()["host_caps"] == [0.75, 0.75]


def test_null_asks_for_nothing():
    data = PLAIN | dict.fromkeys(("hosts", "urls", "pages", "host_caps", "min_frequency"))
    assert FreshnessProblem.from_data(data).to_data() == PLAIN


def test_rules_that_ask_for_nothing_are_left_out():
    data = HOSTED | {"host_gap": 0, "min_frequency": 0.0, "robots": 1}
    assert FreshnessProblem.from_data(data).to_data() == HOSTED


@pytest.mark.parametrize(
    ("data", "sentence"),
    [
        (
            {**PLAIN, "rates": [1]},
            "data.rates is [1]; no such field (did you mean 'change_rates'?); known are access_time, change_rates,",
        ),
        ({k: v for k, v in PLAIN.items() if k != "access_time"}, "data.access_time is missing"),
        ({k: v for k, v in PLAIN.items() if k != "change_rates"}, "data.change_rates is missing"),
        ({k: v for k, v in PLAIN.items() if k != "weights"}, "data.weights is missing"),
        (PLAIN | {"change_rates": [0.1, -0.2, 0.3]}, "data.change_rates[1] is -0.2; change rates are finite numbers,"),
        (PLAIN | {"change_rates": [0.1, 0.2, float("nan")]}, "data.change_rates[2] is NaN; change rates are finite"),
        (PLAIN | {"change_rates": [0.1, "x", 0.3]}, 'data.change_rates[1] is "x"; change rates are finite numbers'),
        (PLAIN | {"change_rates": [0.1, None, 0.3]}, "data.change_rates[1] is null"),
        (PLAIN | {"change_rates": [0.1, [1], 0.3]}, "data.change_rates[1] is [1]"),
        (PLAIN | {"change_rates": [True, 0.1, 0.3]}, "data.change_rates[0] is true"),
        (PLAIN | {"change_rates": []}, "data.change_rates is []; this is a list, one entry for each page."),
        (PLAIN | {"change_rates": 1.0}, "data.change_rates is 1.0; this is a list"),
        (PLAIN | {"weights": [1.0, 2.0]}, "data.weights is [1.0, 2.0]; each of the 3 pages needs a weight"),
        (PLAIN | {"weights": [1.0, 2.0, float("inf")]}, "data.weights[2] is Infinity; weights are finite numbers"),
        (PLAIN | {"weights": "rates"}, 'data.weights is "rates"; weights are a list of numbers, or "change-rates"'),
        (PLAIN | {"hosts": [0, 1]}, "data.hosts is [0, 1]; each of the 3 pages needs a host"),
        (PLAIN | {"hosts": [0, 1.5, 1]}, "data.hosts[1] is 1.5; hosts are whole numbers"),
        (PLAIN | {"hosts": [0, -1, 1]}, "data.hosts[1] is -1; hosts are whole numbers"),
        (PLAIN | {"hosts": [0, 10**12, 1]}, "data.hosts[1] is 1000000000000; hosts are whole numbers"),
        (PLAIN | {"urls": ["a", "b", "c\n"]}, "data.urls[2] is"),
        (PLAIN | {"host_caps": [0.5]}, "data.host_caps is [0.5]; it needs to be known which page is on which host."),
        (PLAIN | {"host_gap": 2}, "data.host_gap is 2; it needs to be known which page is on which host."),
        (HOSTED | {"host_caps": [0.5]}, "data.host_caps is [0.5]; each of the 2 hosts needs one"),
        (HOSTED | {"host_caps": [0.5, 0]}, "data.host_caps[1] is 0; the largest share of a host"),
        (HOSTED | {"host_caps": "all"}, 'data.host_caps is "all"; the largest share'),
        (HOSTED | {"host_caps": 0.4}, "data.host_caps is 0.4; there is room for 0.8 visits per slot"),
        (HOSTED | {"host_gap": 1.5}, "data.host_gap is 1.5; gaps are counted in slots"),
        (HOSTED | {"host_gap": 3}, "data.host_gap is 3; there is room for 0.666667 visits per slot"),
        (HOSTED | {"host_gap": 2, "host_caps": [0.4, None]}, "data.host_gap is 2; there is room for 0.9 visits"),
        (PLAIN | {"min_frequency": 0.4}, "data.min_frequency is 0.4; least frequencies add up to 1.2 visits per slot"),
        (PLAIN | {"min_frequency": -0.1}, "data.min_frequency is -0.1; a least frequency is"),
        (PLAIN | {"min_frequency": [0.1, 0.1]}, "each of the 3 pages needs a least frequency"),
        (PLAIN | {"min_frequency": [0.1, 2, 0.1]}, "data.min_frequency[1] is 2; a least frequency"),
        (
            HOSTED | {"host_caps": [None, 0.2], "min_frequency": 0.15},
            "data.min_frequency is 0.15; least frequencies of the pages on host 1 add up to 0.3 visits per slot, and "
            "the host may have 0.2.",
        ),
        (
            PLAIN | {"robots": 0},
            "data.robots is 0; robots are counted in whole numbers, from 1 to the number of pages.",
        ),
        (
            PLAIN | {"robots": 4},
            "data.robots is 4; robots are counted in whole numbers, from 1 to the number of pages, 3.",
        ),
        (PLAIN | {"robots": 1.5}, "data.robots is 1.5; robots are counted"),
        (
            HOSTED | {"robots": 2, "host_caps": [0.9, 0.9]},
            "there is room for 1.8 visits per slot to all hosts together, and 2",
        ),
        (PLAIN | {"access_time": {"law": "constant", "value": -1}}, "data.access_time.value is -1"),
        (
            PLAIN | {"change_rates": [1e300, 1, 1], "access_time": {"law": "constant", "value": 1e10}},
            "data.change_rates[0] is 1e+300; with the weight 1.0 and the mean access time 10000000000.0, rate x time",
        ),
        (PLAIN | {"weights": [1.0, 1e300, 1.0]}, "data.change_rates[1] is 0.2; with the weight 1e+300"),
        (PLAIN | {"change_rates": [0.1, 0.2, 1e-160]}, "data.change_rates[2] is 1e-160; with the weight"),
        (PLAIN | {"weights": [0.0, 1e-270, 1e-260]}, "data.weights[2] is 1e-260; this is the largest"),
        (PLAIN | {"access_time": {"law": "samples", "values": [1e308, 1e308]}}, "values must have a sum that a double"),
        (PLAIN | {"urls": ["a", "b", "a"]}, 'data.urls[2] is "a"; page 0 is called so, too'),
        ({"pages": "pages.parquet", "weights": [1.0], "access_time": CONSTANT}, "it is a column of data.pages"),
        (
            {"pages": "../pages.parquet", "access_time": CONSTANT},
            "paths in a file are relative and stay inside its folder.",
        ),
        (
            {"pages": "/pages.parquet", "access_time": CONSTANT},
            "paths in a file are relative and stay inside its folder.",
        ),
        ({"pages": 3, "access_time": CONSTANT}, "data.pages is 3; paths in a file are relative"),
        ({"pages": "absent.parquet", "access_time": CONSTANT}, "there is no such file"),
    ],
    ids=lambda value: re.sub(r"\W+", "-", value)[:60] if isinstance(value, str) else "data",
)
def test_wrong_data_are_refused_in_one_sentence(data, sentence, tmp_path):
    with pytest.raises(InstanceError, match=re.escape(sentence)) as refusal:
        FreshnessProblem.from_data(data, folder=tmp_path)
    assert "\n" not in str(refusal.value)
    assert str(refusal.value).endswith(".")


def test_columns_beside_the_file_are_read(tmp_path):
    np.save(tmp_path / "change_rate.npy", np.array([0.5, 0.25]))
    np.save(tmp_path / "weight.npy", np.array([1.0, 2.0]))
    data = {"pages": ".", "access_time": CONSTANT}
    problem = FreshnessProblem.from_data(data, folder=tmp_path)
    assert problem.columns.rates.tolist() == [0.5, 0.25]
    assert problem.columns.weights.tolist() == [1.0, 2.0]
    assert problem.to_data() == data
    proportional = FreshnessProblem.from_data(data | {"weights": "change-rates"}, folder=tmp_path)
    assert proportional.columns.weights.tolist() == [0.5, 0.25]
    assert proportional.to_data() == data | {"weights": "change-rates"}


def test_a_bad_page_of_a_table_is_named_by_row_and_column(tmp_path):
    np.save(tmp_path / "change_rate.npy", np.array([0.5, -0.25]))
    np.save(tmp_path / "weight.npy", np.array([1.0, 2.0]))
    with pytest.raises(InstanceError, match=r"row 1, column change_rate is -0.25; change rates are finite numbers"):
        FreshnessProblem.from_data({"pages": ".", "access_time": CONSTANT}, folder=tmp_path)
