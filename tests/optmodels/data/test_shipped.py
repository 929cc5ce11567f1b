"""Instances that come with the package: every file has a name, and a name finds its file."""

import json

import pytest

import optmodels as om
from optmodels.data import locate, shipped, shipped_files


def test_every_file_is_found_by_its_name(root):
    files = sorted((root / "instances").glob("*/*.json"))
    assert sorted(shipped_files().values()) == files and len(files) > 100


def test_names_are_unique_and_stand_in_the_files(root):
    for file in (root / "instances").glob("*/*.json"):
        content = json.loads(file.read_text())
        assert (content["name"], content["kind"]) == (file.stem, file.parent.name)
        assert locate(file.stem) == file


def test_a_name_is_as_good_as_a_path(root):
    assert om.read_instance("gautam-2x3") == om.read_instance(root / "instances" / "placement" / "gautam-2x3.json")
    assert om.load("talim-table1-0.01-k5-0.4").kind == "robots"


def test_a_file_comes_before_a_shipped_instance(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    mine = om.generate("placement", rows=1, columns=2, seed=1, name="mine")
    om.write_instance(mine, "gautam-2x3")
    assert om.read_instance("gautam-2x3").name == "mine"


def test_a_misspelt_name_is_answered_with_the_nearest():
    with pytest.raises(om.RequestError, match=r"gautam-2x33: .*Did you mean 'gautam-2x3'\?"):
        om.load("gautam-2x33")


@pytest.mark.parametrize("path", ["", "nowhere.json", "placement/gautam-2x3", "..", "a\nb", "C:gautam-2x3"])
def test_what_is_no_name_is_a_path(path):
    with pytest.raises(om.RequestError) as refusal:
        om.load(path)
    assert "shipped" not in str(refusal.value)


def test_a_package_without_instances_says_so(monkeypatch):
    monkeypatch.setattr(shipped, "FOLDERS", ())
    shipped_files.cache_clear()
    try:
        with pytest.raises(om.RequestError, match="no shipped instance of this name"):
            om.load("gautam-2x3")
    finally:
        shipped_files.cache_clear()


# -- the sample crawl log ----------------------------------------------------------------------------------------------


def test_the_sample_log_is_what_its_script_makes(root, monkeypatch):
    monkeypatch.syspath_prepend(str(root / "tools" / "instances"))
    import make_crawl_log

    assert locate("sample-crawl", ".csv").read_text(encoding="utf-8") == make_crawl_log.text()


def test_the_sample_log_is_fitted_by_its_name(root, monkeypatch):
    """Intervals hold the rates that the log was made with about as often as they say."""
    monkeypatch.syspath_prepend(str(root / "tools" / "instances"))
    import make_crawl_log

    fitted = om.fit("sample-crawl")
    true = make_crawl_log.rates()[[int(name[-2:]) for name in fitted.log.names]]
    held = (fitted.found.lower <= true) & (true <= fitted.found.upper)
    assert len(held) == 40 and held.sum() >= 36


def test_a_log_is_no_instance():
    with pytest.raises(om.RequestError, match="no shipped instance of this name"):
        om.load("sample-crawl")
    with pytest.raises(om.RequestError, match=r"no shipped log of this name\. Known: sample-crawl\.$"):
        om.fit("gautam-2x3")
