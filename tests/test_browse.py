"""What is wrong with a page is noticed in a browser."""

import re

import browse
import pytest

ICON = '<!doctype html><link rel="icon" href="data:,">'

#: Name of a page to what is on it, and to what must be said of it.
WRONG = {
    "away": ('<img src="http://192.0.2.1/x.png">', r"a request leaves: http://192\.0\.2\.1/x\.png"),
    "console": ("<script>console.error('oh')</script>", "console: oh"),
    "script": ("<script>undefinedName()</script>", "script: .*undefinedName"),
    "picture": ('<img src="gone.png">', "404"),
    "link": ('<a href="gone.html">g</a>', "leads to gone.html, which is not there"),
    "place": ('<a href="other.html#nowhere">g</a>', "leads to other.html#nowhere, and there is no such place"),
    "bare": ("&lt;Figure size 640x480 with 1 Axes&gt;", "a thing is not shown: <Figure size 640x480"),
    "wide": ('<div style="width:900px">wide</div>', "pixels wider than a phone"),
}


@pytest.fixture(scope="module")
def seen(tmp_path_factory):
    """What is said of good pages and of wrong ones, opened together."""
    if sentence := browse.missing():
        pytest.skip(sentence)
    folder = tmp_path_factory.mktemp("pages")
    (folder / "below").mkdir()
    (folder / "other.html").write_text(f'{ICON}<p id="there">Here.')
    (folder / "below" / "index.html").write_text(
        f'{ICON}<a href="../other.html#there">o</a> <a href="https://example.org">e</a> <a href="../below/">b</a>'
    )
    for name, (body, _) in WRONG.items():
        (folder / f"{name}.html").write_text(f"{ICON}{body}")
    count, complaints = browse.look_through(folder, folder / "pictures")
    assert count == len(WRONG) + 2
    assert {file.name for file in (folder / "pictures").iterdir()} == {
        f"below-index-{width}-{scheme}.png" for width in ("wide", "phone") for scheme in ("light", "dark")
    }
    return complaints


def test_good_pages_have_no_complaints(seen):
    assert [line for line in seen if line.startswith(("other.html", "below/"))] == []


@pytest.mark.parametrize("name", WRONG)
def test_what_is_wrong_is_noticed(seen, name):
    told = [line for line in seen if line.startswith(f"{name}.html: ")]
    assert any(re.search(WRONG[name][1], line) for line in told), seen


def test_without_a_browser_one_sentence_says_so(monkeypatch, capsys, tmp_path):
    (tmp_path / "index.html").write_text(ICON)
    monkeypatch.setattr(browse, "missing", lambda: "the pages are not opened: there is no browser.")
    monkeypatch.setattr("sys.argv", ["browse.py", str(tmp_path)])
    assert browse.main() == 0
    assert capsys.readouterr().out == "Skipped: the pages are not opened: there is no browser.\n"


def test_several_folders_are_opened_and_one_complaint_is_enough(monkeypatch, capsys, tmp_path):
    for name in ("good", "bad"):
        (tmp_path / name).mkdir()
        (tmp_path / name / "index.html").write_text(ICON)
    monkeypatch.setattr(browse, "missing", lambda: None)
    monkeypatch.setattr(browse, "look_through", lambda folder, pictures: (1, ["oh"] if folder.name == "bad" else []))
    for names, code in ((["good"], 0), (["bad", "good"], 1)):
        monkeypatch.setattr("sys.argv", ["browse.py", *(str(tmp_path / name) for name in names)])
        assert browse.main() == code
    assert capsys.readouterr().out.count("1 pages opened") == 3


def test_a_folder_without_pages_is_refused(monkeypatch, capsys, tmp_path):
    monkeypatch.setattr("sys.argv", ["browse.py", str(tmp_path)])
    assert browse.main() == 2
    assert "has no pages; `make docs` builds" in capsys.readouterr().err
