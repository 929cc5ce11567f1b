"""The name of a benchmark set stands for its instances."""

from optmodels.benchmarking import read_set
from optmodels.studies import compare
from optmodels.studies.store.study_file import read_study
from optmodels.studies.store.subjects import is_set, subjects_of


def test_a_set_stands_for_its_instances_with_what_is_known_of_them():
    subjects = subjects_of(["gautam-2x3", "routing-random"])
    assert [one.label for one in subjects] == ["gautam-2x3", *(one.name for one in read_set("routing-random").members)]
    assert all(one.best_known is not None for one in subjects)


def test_a_file_of_the_same_name_comes_first(tmp_path, monkeypatch):
    assert is_set("mdp")
    monkeypatch.chdir(tmp_path)
    (tmp_path / "mdp").write_text("{}")
    assert not is_set("mdp")


def test_a_study_file_takes_the_name_of_a_set(tmp_path):
    file = tmp_path / "study.toml"
    file.write_text('instances = ["routing-random"]\nstrategies = ["balanced"]\n[budget]\nevaluations = 1\n')
    assert read_study(file).instances == ("routing-random",)
    assert len(compare(file).runs) == len(read_set("routing-random"))
