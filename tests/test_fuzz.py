"""A slice of ``make fuzz``: broken files, short runs and small instances, from seeds that are not those of the tool."""

import json
import random
from pathlib import Path

import fuzz
import fuzz_agreement
import fuzz_cases
import pytest

TOOLS = Path(__file__).parents[1] / "tools"


PASSED = {"code": 2, "out": "", "err": "optmodels: no.\n", "warnings": [], "cpu": 0.1, "megabytes": 300}


def told(tally):
    return [f"{' '.join(case.command)}: {found}: {answer['err'][-300:]}" for case, found, answer in tally.failures]


@pytest.mark.timeout(300)
@pytest.mark.parametrize("first", [0, 200])
def test_four_hundred_broken_files_give_answers_and_sentences(tmp_path, first):
    files = fuzz.Files(tmp_path, seed=1)
    files.answer()
    tally = fuzz.run_all((files.case(number) for number in range(first, first + 200)), workers=1)
    assert told(tally) == []
    assert tally.cases == 200
    assert tally.codes["0"] > 20 and tally.codes["2"] > 75  # neither all harmless nor all hopeless


@pytest.mark.timeout(300)
def test_a_few_short_runs_give_answers_and_sentences(tmp_path):
    tally = fuzz.run_all(fuzz.solves(tmp_path, 30, seed=1), workers=1)
    assert told(tally) == []


@pytest.mark.parametrize("number", range(5))
def test_strategies_agree_with_enumeration_on_a_small_instance_of_each_kind(number):
    makers = fuzz_agreement.MAKERS
    instance = makers[number](random.Random(f"slice-{number}"), 1_000 + number)
    assert fuzz_agreement.disagreements(instance) == []


@pytest.mark.parametrize(
    ("change", "word"),
    [
        ({"code": 1}, "exit code 1"),
        ({"code": "killed"}, "exit code killed"),
        ({"err": "Traceback (most recent call last):\n"}, "traceback"),
        ({"warnings": ["RuntimeWarning: overflow"]}, "overflow"),
        ({"err": "x: RuntimeWarning: overflow\n"}, "warning"),
        ({"err": "one.\ntwo.\n"}, "2 lines"),
        ({"err": ""}, "0 lines"),
        ({"err": "n" * 2_000}, "2000 characters"),
        ({"cpu": 6.0}, "CPU"),
        ({"megabytes": 2_000}, "2000 MB"),
        ({"code": 0, "out": '{"a": NaN}'}, "no JSON"),
        ({"code": 0, "out": ""}, "no JSON"),
    ],
)
def test_what_may_not_come_out_is_seen(change, word):
    case = fuzz.Case("x", ("check", "f.json", "--json"))
    assert fuzz.complaints(case, PASSED) == []
    assert any(word in found for found in fuzz.complaints(case, PASSED | change))


def test_a_case_is_named_by_its_seed_and_number(tmp_path):
    first, second = fuzz.Files(tmp_path, seed=3), fuzz.Files(tmp_path, seed=3)
    for number in range(20):
        command = first.case(number).command
        texts = [(tmp_path / Path(word.lstrip("@")).name).read_text() for word in command if word.endswith(".json")]
        assert second.case(number).command == command
        again = [(tmp_path / Path(word.lstrip("@")).name).read_text() for word in command if word.endswith(".json")]
        assert again == texts


def test_mutations_leave_the_document_alone_and_mostly_change_it(instances):
    document = json.loads((instances / "placement" / "gautam-2x3.json").read_text())
    before = json.dumps(document)
    texts = [fuzz_cases.mutate(document, random.Random(seed), [document]) for seed in range(200)]
    assert json.dumps(document) == before
    assert len(set(texts)) > 150


def test_a_wrong_answer_disagrees_with_enumeration(monkeypatch):
    """The round of agreement would see an optimum that is none, and a bound above the optimum."""
    instance = fuzz_agreement.MAKERS[0](random.Random("slice-0"), 1_000)
    monkeypatch.setattr(fuzz_agreement, "enumerated", lambda problem: (1e-9, True))
    assert any("optimal" in sentence for sentence in fuzz_agreement.disagreements(instance))


def test_only_a_large_model_may_take_its_time_and_room(tmp_path):
    large, small = tmp_path / "large.json", tmp_path / "small.json"
    large.write_text(json.dumps({"data": {"robots": 15, "capacity": 5000}}))
    small.write_text(json.dumps({"data": {"robots": 15, "capacity": 5}}))
    hungry = PASSED | {"code": 0, "megabytes": 1100}
    for file, failures, slow in ((large, 0, 1), (small, 1, 0), (tmp_path / "none.json", 1, 0)):
        tally = fuzz.Tally()
        tally.add(fuzz.Case("solve 1", ("solve", str(file))), hungry)
        assert (len(tally.failures), len(tally.slow)) == (failures, slow)
    tally = fuzz.Tally()
    tally.add(fuzz.Case("solve 1", ("solve", str(large))), hungry | {"err": "Traceback"})
    assert len(tally.failures) == 1
