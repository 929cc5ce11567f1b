"""The study file: what it may say, what it means, and what is refused in one sentence."""

import json
import shutil
from pathlib import Path

import pytest

from heuristics import Budget
from heuristics.search import Annealing
from optmodels.errors import InstanceError, RequestError
from optmodels.studies import compare, read_study

ROOT = Path(__file__).parents[4]

STUDY = """
instances = ["gautam-2x3"]
strategies = ["exhaustive", {name = "annealing", parameters = {steps = 20}, label = "short"}]
seeds = [3, 1]
[budget]
evaluations = 50
"""


@pytest.fixture
def study(tmp_path):
    """Writes a study file, with changes of its text."""

    def write(*changes, text=STUDY, name="study.toml"):
        for old, new in changes:
            assert old in text
            text = text.replace(old, new)
        (tmp_path / name).write_text(text)
        return tmp_path / name

    return write


def test_a_study_is_what_it_says(study):
    read = read_study(study())
    assert read.instances == ("gautam-2x3",)
    assert list(read.strategies) == ["exhaustive", "short"]
    assert read.strategies["short"] == Annealing(steps=20)
    assert (read.seeds, read.budget, read.out) == ((3, 1), Budget(evaluations=50), None)


def test_a_comparison_of_a_study_is_that_of_its_parts(study):
    made = compare(study())
    assert [(run.strategy, run.seed) for run in made.runs] == [("exhaustive", 3), ("short", 3), ("short", 1)]
    assert made.budget == Budget(evaluations=50)
    alone = compare("gautam-2x3", ["exhaustive", "annealing:steps=20"], seeds=[3, 1], evaluations=50)
    assert [run.result.objective for run in made.runs] == [run.result.objective for run in alone.runs]
    assert [run.key for run in made.runs] == [run.key for run in alone.runs]


def test_files_and_folders_are_found_beside_the_study(study, instances, tmp_path):
    (tmp_path / "more").mkdir()
    shutil.copy(instances / "placement" / "gautam-2x3.json", tmp_path / "mine.json")
    shutil.copy(instances / "placement" / "gautam-4x4.json", tmp_path / "more" / "b.json")
    path = study(('["gautam-2x3"]', '["mine.json", "more", "gautam-2x3"]'))
    assert read_study(path).instances == (str(tmp_path / "mine.json"), str(tmp_path / "more" / "b.json"), "gautam-2x3")


def test_the_folder_is_beside_the_study_and_holds_it(study, tmp_path):
    path = study(("seeds", 'out = "runs"\nseeds'))
    made = compare(path)
    assert (tmp_path / "runs" / "study.toml").read_bytes() == path.read_bytes()
    assert len((tmp_path / "runs" / "runs.jsonl").read_text().splitlines()) == len(made.runs)


# -- its checksum -----------------------------------------------------------------------------------------------------


def digest(path):
    (found,) = {run.study for run in compare(path).runs}
    return found


@pytest.mark.parametrize(
    "change",
    [
        ("seeds = [3, 1]", "seeds = [1, 3]"),
        ("seeds = [3, 1]", "seeds = [3, 1]\nworkers = 2"),
        ("seeds = [3, 1]", 'seeds = [3, 1]\nnotes = "another word"\nthreads = 1'),
        ('["gautam-2x3"]', '["gautam-2x3", "gautam-2x3"]'),
        ('label = "short"', 'label = "brief"'),
        ('{name = "annealing", parameters = {steps = 20}, label = "short"}', '"annealing:steps=20"'),
    ],
)
def test_who_works_and_how_it_is_written_does_not_change_the_checksum(study, change):
    assert digest(study()) == digest(study(change, name="other.toml"))


@pytest.mark.parametrize(
    "change",
    [
        ("seeds = [3, 1]", "seeds = [3, 2]"),
        ("steps = 20", "steps = 21"),
        ("evaluations = 50", "evaluations = 51"),
        ('["gautam-2x3"]', '["gautam-4x4"]'),
        ("seeds = [3, 1]", "seeds = [3, 1]\nthreads = 2"),
    ],
)
def test_what_determines_the_results_changes_the_checksum(study, change):
    assert digest(study()) != digest(study(change, name="other.toml"))


def test_the_checksum_is_in_every_line_and_every_result(study, tmp_path):
    made = compare(study(), out=tmp_path / "runs")
    wanted = {run.study for run in made.runs}
    assert len(wanted) == 1
    lines = (tmp_path / "runs" / "runs.jsonl").read_text().splitlines()
    files = [*(tmp_path / "runs" / "results").iterdir(), *(tmp_path / "runs" / "best").iterdir()]
    assert {json.loads(text)["study"] for text in [*lines, *(file.read_text() for file in files)]} == wanted
    assert {row["study"] for row in made.rows()} == wanted
    assert json.loads((tmp_path / "runs" / "comparison.json").read_text())["study"] in wanted


# -- what overrides it ------------------------------------------------------------------------------------------------


def test_what_is_given_beside_a_study_overrides_it_and_is_said(study):
    path = study()
    made = compare(path, "exhaustive", seeds=2, evaluations=30, seconds=9.0)
    assert made.budget == Budget(seconds=9.0, evaluations=30)
    assert [run.strategy for run in made.runs] == ["exhaustive"]
    assert list(made.warnings) == [
        f"{path}: budget.evaluations is overridden: 30 in place of 50.",
        f"{path}: strategies is overridden: 'exhaustive' in place of ['exhaustive', 'short'].",
        f"{path}: seeds is overridden: 2 in place of [3, 1].",
    ]


def test_the_same_beside_a_study_is_not_said(study):
    assert compare(study(), seeds=[3, 1], evaluations=50).warnings == ()


# -- what is refused --------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("change", "sentence"),
    [
        (("seeds", "seedz"), "seedz is [3, 1]; there is no such field. Did you mean 'seeds'?"),
        (("evaluations = 50", "evaluatons = 50"), "budget.evaluatons is 50; there is no such field. Did you mean"),
        (("evaluations = 50", "evaluations = 0"), "budget.evaluations is 0; evaluations must be a positive number"),
        (("evaluations = 50", 'seconds = "long"'), 'budget.seconds is "long"; seconds must be a positive number'),
        (("[3, 1]", "0"), "seeds is 0; this is how many, 1 or more, or a list of seeds, each 0 or more."),
        (("[3, 1]", "[-1]"), "seeds is [-1]; "),
        (("[3, 1]", "true"), "seeds is true; "),
        (("[3, 1]", "1979-05-27"), "seeds is "),
        (('["gautam-2x3"]', "[]"), "instances is []; list at least one instance"),
        (('["gautam-2x3"]', '["gautam-2x4"]'), 'instances[0] is "gautam-2x4"; there is no such file, and no shipped'),
        (('["gautam-2x3"]', '["more/x.json"]'), 'instances[0] is "more/x.json"; there is no such file or folder in'),
        (('["gautam-2x3"]', "[7]"), "instances[0] is 7; an instance is a file, a folder, or the name"),
        (('instances = ["gautam-2x3"]', ""), "instances is missing; list at least one instance"),
        (('"exhaustive"', '"exhaustiv"'), "strategies[0] is \"exhaustiv\"; no strategy is called 'exhaustiv'. Did"),
        (("steps = 20", "step = 20"), "has no parameter 'step' (did you mean 'steps'?)"),
        (("label", "lable"), "strategies[1].lable is \"short\"; there is no such field. Did you mean 'label'?"),
        (('name = "annealing"', "name = 3"), "strategies[1].name is 3; name the strategy"),
        (('label = "short"', 'label = "exhaustive"'), "label is \"exhaustive\"; another strategy has this label."),
        (("seeds", "threads = 0\nseeds"), "threads is 0; the number of threads of a run is a whole number, 1 or more."),
        (("seeds", "workers = 0\nseeds"), "workers is 0; the number of processes is 1 or more."),
        (("seeds", 'workers = 2\ncluster = "local"\nseeds'), "shared by workers or by a cluster, not by both."),
        (("seeds", "format = 2\nseeds"), "format is 2; this version reads format 1."),
        (("seeds =", "seeds"), "this is not TOML: "),
    ],
)  # fmt: skip
def test_what_is_wrong_is_one_sentence_with_file_field_value_and_rule(study, change, sentence):
    path = study(change)
    with pytest.raises(InstanceError) as refused:
        read_study(path)
    assert str(refused.value).startswith(f"{path}: ")
    assert sentence in str(refused.value)


def test_a_study_stands_alone(study):
    with pytest.raises(RequestError, match="a study file names its own instances; give it alone"):
        compare([study(), "gautam-2x3"])
    with pytest.raises(RequestError, match=r"none\.toml: there is no such file\."):
        compare("none.toml")
    with pytest.raises(RequestError, match="needs at least one strategy: name some"):
        compare("gautam-2x3")


def test_the_study_of_the_guide_is_sound(tmp_path):
    shutil.copy(ROOT / "docs" / "guide" / "study.toml", tmp_path)
    made = compare(tmp_path / "study.toml", evaluations=100, seeds=1)
    assert [run.status for run in made.runs].count("error") == 0
    assert len(made.runs) == 8
    assert (tmp_path / "runs" / "runs.jsonl").is_file()
