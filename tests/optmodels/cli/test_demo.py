"""The demo: one table, five pictures, one page that needs nothing else."""

import doctest
import json
import re
from html.parser import HTMLParser

import pytest

import optmodels.cli.demo_page
from optmodels.cli import demo as rooms
from optmodels.cli import main
from optmodels.cli.demo import MARK, SHOWN, Part
from optmodels.data import shipped_files
from optmodels.registry import kinds, strategies

#: The smallest instances, so that the way of the page is tested in seconds.
SMALL = {
    "placement": Part("gautam-2x3", "exhaustive", ("annealing",), 50),
    "threshold": Part("avrachenkov-k2", "exhaustive", ("local-search",), 50),
    "robots": Part("talim-two-robots", "policy-iteration", ("static",), 50),
    "freshness": Part("coffman-4", "lagrangian", ("uniform",), 50),
    "routing": Part("example-3-4", "min-mean-cycle", ("whittle",), 50),
}


@pytest.fixture
def small(monkeypatch, tmp_path):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr("optmodels.cli.demo.SHOWN", SMALL)
    return tmp_path


class Page(HTMLParser):
    """Collects tags, ids and what is referred to; complains about tags that are not closed in order."""

    VOID = ("meta", "use", "path", "image", "rect", "circle", "br")

    def __init__(self, text):
        super().__init__()
        self.open, self.ids, self.links, self.names = [], [], [], set()
        self.feed(text)

    def handle_starttag(self, tag, attributes):
        self.names.add(tag)
        found = dict(attributes)
        self.ids += [found["id"]] if "id" in found else []
        self.links += [value for name, value in attributes if name in ("href", "src", "xlink:href")]
        if tag not in self.VOID:
            self.open.append(tag)

    def handle_startendtag(self, tag, attributes):
        self.handle_starttag(tag, attributes)
        if tag not in self.VOID:
            self.open.pop()

    def handle_endtag(self, tag):
        if tag not in self.VOID:
            assert self.open.pop() == tag


def test_the_examples_in_the_documentation_hold():
    assert doctest.testmod(optmodels.cli.demo_page).failed == 0


def test_what_is_shown_is_shipped_and_of_its_kind():
    assert set(SHOWN) == {"placement", "threshold", "robots", "freshness", "routing"}
    for kind, part in SHOWN.items():
        assert shipped_files()[part.name].parent.name == kind
        assert set(part.strategies) <= set(strategies)
        assert part.exact == kinds[kind].recommended[0]  # the one that proves


def test_the_demo_prints_one_table_and_writes_five_pictures_and_one_page(small, capsys):
    assert main(["demo", "--out", "shown"]) == 0
    out, err = capsys.readouterr()
    lines = [line.split() for line in out.splitlines()]
    assert [line[0] for line in lines] == ["kind", *(kind for kind in SMALL for _ in range(2))]
    assert ["placement", "gautam-2x3", "exhaustive", "optimal", "8", "8", "0.00%", "64"] in [line[:8] for line in lines]
    assert sorted(file.name for file in (small / "shown").iterdir()) == sorted(
        ["index.html", *(f"{kind}.svg" for kind in SMALL)]
    )
    assert "wrote shown/index.html and 5 pictures beside it" in err
    assert "optmodels new placement --out mine.json" in err
    text = (small / "shown" / "index.html").read_text()
    page = Page(text)
    assert page.open == []
    assert not re.search("https?:|//", re.sub('base64,[^"]*', "", text))  # no address of a host
    assert len(page.ids) == len(set(page.ids))
    assert {link.removeprefix("#") for link in page.links if not link.startswith("data:image/png")} <= set(page.ids)
    assert set(re.findall(r"url\(#([^)]*)\)", text)) <= set(page.ids)
    assert text.count("<svg") == 5
    assert "script" not in page.names
    assert "prefers-color-scheme: dark" in text and 'name="viewport"' in text
    assert "<p>Open sites: 3 of 6, by row and column: (0, 2), (1, 0), (1, 1).</p>" in text
    for kind in SMALL:
        assert f'<h2 id="{kind}">' in text


def test_a_second_demo_replaces_the_first_and_json_stands_alone(small, capsys):
    assert main(["demo", "--json"]) == 0
    told = json.loads(capsys.readouterr().out)
    assert (told["page"], len(told["pictures"]), len(told["runs"])) == ("demo/index.html", 5, 10)
    assert {run["kind"] for run in told["runs"]} == set(SMALL)
    assert main(["demo", "--json"]) == 0


def test_without_matplotlib_there_is_a_page_without_pictures_and_a_sentence(small, capsys, monkeypatch):
    import sys

    monkeypatch.setitem(sys.modules, "matplotlib", None)
    assert main(["demo"]) == 0
    err = capsys.readouterr().err
    assert "no pictures were drawn: plots need an extra: pip install 'optmodels[plots]'" in err
    assert [file.name for file in (small / "demo").iterdir()] == ["index.html"]
    assert "no pictures were drawn" in (small / "demo" / "index.html").read_text()


def test_names_are_escaped():
    shown = rooms.Shown("placement", "<b>&", _empty())
    text = optmodels.cli.demo_page.page_of([shown], [], "a <b> & c", 1.0)
    assert "<b>" not in text
    assert "&lt;b&gt;&amp;" in text


def _empty():
    from optmodels.studies import Comparison

    return Comparison(())


def test_a_folder_that_cannot_be_made_or_a_page_of_another_is_refused_before_any_run(small, capsys, monkeypatch):
    monkeypatch.setattr("optmodels.cli.demo._compared", lambda progress: pytest.fail("something was run"))
    (small / "file").write_text("")
    assert main(["demo", "--out", "file/below"]) == 2
    assert "file/below: the folder cannot be created" in capsys.readouterr().err
    (small / "mine").mkdir()
    (small / "mine" / "index.html").write_text("<html>my own page</html>")
    assert main(["demo", "--out", "mine"]) == 2
    assert "mine/index.html: this page is not one of the demo's; choose another folder" in capsys.readouterr().err
    assert MARK not in (small / "mine" / "index.html").read_text()


@pytest.mark.parametrize("when", ["optmodels.studies.runs.solve_cell", "optmodels.cli.demo_page._section"])
def test_ctrl_c_leaves_no_half_page(small, capsys, monkeypatch, when):
    calls = []

    def interrupted(*arguments):
        calls.append(arguments)
        if len(calls) == 3:
            raise KeyboardInterrupt
        return before(*arguments)

    from optmodels.kinds import resolve

    before = resolve(":".join(when.rsplit(".", 1)))
    monkeypatch.setattr(when, interrupted)
    code = main(["demo"])
    out, err = capsys.readouterr()
    assert "interrupted" in err
    assert not [file for file in (small / "demo").iterdir() if file.suffix != ".svg"]
    assert code == (0 if "solve_cell" in when else 3)
    assert ("exhaustive" in out) == ("solve_cell" in when)  # what was finished is shown


@pytest.mark.slow
def test_the_demo_proves_an_answer_of_every_kind(tmp_path, capsys):
    assert main(["demo", "--out", str(tmp_path), "--json"]) == 0
    runs = json.loads(capsys.readouterr().out)["runs"]
    for kind, part in SHOWN.items():
        (exact,) = [run for run in runs if (run["kind"], run["strategy"]) == (kind, part.exact)]
        assert exact["status"] == "optimal"
        assert all(run["gap_to_reference"] >= 0 for run in runs if run["kind"] == kind)
