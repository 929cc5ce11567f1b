"""The page is whole, small and its own: nothing outside is asked for, and nothing in a file becomes markup."""

import json
import re
from dataclasses import replace
from html.parser import HTMLParser

import pytest

import optmodels as om
from heuristics import Budget
from optmodels.errors import UnreadableFile, UnwritableFile
from optmodels.reporting import read_further, report_html, write_report
from optmodels.studies import Comparison

VOID = {"meta", "link", "br", "input", "img", "hr"}

HOSTILE = (
    "<script>alert(1)</script>",
    "</title><img src=x onerror=alert(1)>",
    "\"' onmouseover='alert(1)' x=\"",
    "javascript:alert(1)",
    "</style></svg>--><svg onload=alert(1)>",
    "{{ 7 * 7 }}{% raw %}",
    "a & b &lt;i&gt;",
    "name\u202egnp.\x1b[31m\n\x00end",
)


class Reader(HTMLParser):
    """What a browser would make of a page: elements, attributes, texts; and whether all that opens is closed."""

    def __init__(self, text):
        super().__init__()
        self.open, self.elements, self.texts, self.ids = [], [], [], []
        self.feed(text)
        self.close()
        assert self.open == []

    def handle_starttag(self, tag, attributes):
        self.handle_startendtag(tag, attributes)
        if tag not in VOID:
            self.open.append(tag)

    def handle_startendtag(self, tag, attributes):
        assert len({name for name, _ in attributes}) == len(attributes)
        self.elements.append((tag, dict(attributes)))
        self.ids += [value for name, value in attributes if name == "id"]

    def handle_endtag(self, tag):
        assert self.open.pop() == tag

    def handle_data(self, data):
        if self.open and self.open[-1] not in ("script", "style"):
            self.texts.append(data)

    @property
    def text(self):
        return " ".join(" ".join(self.texts).split())


def read(page):
    """Read a page, after what holds for all pages."""
    found = Reader(page)
    assert page.startswith("<!DOCTYPE html>")
    assert "://" not in page
    assert len(set(found.ids)) == len(found.ids)
    assert [tag for tag, _ in found.elements].count("script") == 1
    for tag, attributes in found.elements:
        assert tag not in ("iframe", "object", "embed", "form", "base", "img"), tag
        assert "src" not in attributes and "srcset" not in attributes
        assert not [name for name in attributes if name.startswith("on")]
        link = attributes.get("href", "#")
        if link.startswith("#"):
            assert link[1:] in found.ids or link == "#", link
        else:
            assert link == "data:," or link.startswith("data:image/png;base64,")
    return found


def test_a_comparison_is_told_in_words_tables_and_charts(grid):
    found = read(report_html(grid))
    assert "good is better than the other strategy, by median gap on 7 problems." in found.text
    assert "2 strategies on 7 instances" in found.text
    for heading in ("Summary", "Results", "Profiles", "Instances", "Runs", "How it was made"):
        assert heading in found.texts
    tables = [attributes["id"] for tag, attributes in found.elements if tag == "table"]
    assert tables == ["table-strategies", "table-cells", "table-pairs", "table-runs"]
    assert sum(tag == "tr" for tag, _ in found.elements) == (1 + 2) + (1 + 14) + (1 + 1) + (1 + 42)
    charts = [attributes["aria-label"] for tag, attributes in found.elements if attributes.get("class") == "chart"]
    assert charts == [
        "Targets reached over time (ECDF)",
        "Performance profiles: a gap of 1%",
        "Performance profiles: the best value known",
        "Data profiles: a gap of 1%",
        *["Best objective so far"] * 7,
    ]
    assert "optmodels 0.1.0" in found.text and "42 of 42" in found.text


def test_numbers_are_those_of_the_runs(grid):
    found = read(report_html(grid))
    assert found.texts.count("10.01") == 2  # of one run, and the median over three seeds
    assert (
        "Best answer here: 10 by good, not proved optimal by this run. The best bound proved is 9, a gap of 11.11%."
        in (found.text)
    )


def test_the_policy_names_our_script_and_allows_no_other(grid):
    import base64
    import hashlib

    page = report_html(grid)
    script = re.search(r"<script>(.*?)</script>", page, re.DOTALL)[1]
    checksum = base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()
    found = read(page)
    (policy,) = [attributes["content"] for _, attributes in found.elements if "http-equiv" in attributes]
    assert policy.startswith("default-src 'none'; img-src data:; ")
    assert f"script-src 'sha256-{checksum}';" in policy


@pytest.mark.parametrize("hostile", HOSTILE)
def test_what_files_say_is_data(make_run, make_comparison, hostile):
    runs = [
        make_run(hostile, f"{hostile} by", 0, 5.0),
        make_run(hostile, "other", 0, None, error=f"it failed: {hostile}"),
        make_run(f"{hostile} too", "other", 0, None),
    ]
    comparison = make_comparison(runs, warnings=(f"beware of {hostile}",))
    given = {"caption": hostile, "columns": [hostile, "b"], "rows": [[hostile, ""]], "notes": [hostile]}
    page = report_html(comparison, title=f"On {hostile}", study=f"[study]\nname = '{hostile}'", further=[given])
    found = read(page)
    tame = [
        make_run("p", "s by", 0, 5.0),
        make_run("p", "other", 0, None, error="it failed"),
        make_run("q", "other", 0, None),
    ]
    given = {"caption": "c", "columns": ["a", "b"], "rows": [["1", ""]], "notes": ["n"]}
    plain = read(report_html(make_comparison(tame, warnings=("w",)), title="t", study="s", further=[given]))
    assert [tag for tag, _ in found.elements] == [tag for tag, _ in plain.elements]
    assert [sorted(attributes) for _, attributes in found.elements] == [sorted(one) for _, one in plain.elements]
    assert page.count("<script") == 1
    shown = hostile if hostile.isprintable() else "name\\u202egnp."
    assert " ".join(shown.split()) in found.text
    assert not re.search(r"[\x00-\x08\x0b-\x1f\x7f\u202e]", page)


def test_further_tables_stand_below_the_results(grid):
    table = {
        "caption": "Primes",
        "columns": ["n", "prime"],
        "rows": [["1", "2"], ["2", "3"]],
        "notes": ["Two of many."],
    }
    found = read(report_html(grid, further=[table]))
    for words in ("Further tables", "Primes", "prime", "Two of many."):
        assert words in found.text
    assert "Further tables" not in read(report_html(grid)).text


@pytest.mark.parametrize(
    ("tables", "sentence"),
    [
        ({"caption": "a"}, "must be a list, not dict"),
        (["a"], "table 0 must be an object"),
        ([{"columns": "ab", "rows": []}], "columns of table 0 must be a list of texts"),
        ([{"columns": ["a"], "rows": "ab"}], "rows of table 0 must be a list"),
        ([{"columns": ["a"], "rows": [[1]]}], "row 0 of table 0 must be a list of texts"),
        (
            [{"columns": ["a", "b"], "rows": [["1", "2"], ["1"]]}],
            "row 1 of table 0 has 1 cells, and there are 2 columns",
        ),
    ],
)
def test_further_tables_that_are_none_are_refused(grid, tmp_path, tables, sentence):
    with pytest.raises(ValueError, match=sentence):
        report_html(grid, further=tables)
    (tmp_path / "further-tables.json").write_text(json.dumps({"format": 1, "tables": tables}), encoding="utf-8")
    with pytest.raises(UnreadableFile, match=f"further-tables.json: .*{sentence}"):
        read_further(tmp_path)


def test_pictures_make_room_for_further_tables():
    comparison = om.compare("gautam-2x3", "local-search", evaluations=20)
    missing = "No picture: it would make this page too large."
    rows = [["x" * 90] * 10] * 500
    large = report_html(comparison, further=[{"caption": "c", "columns": ["a"] * 10, "rows": rows}])
    assert missing in large and missing not in report_html(comparison)


def test_no_runs(make_comparison):
    found = read(report_html(make_comparison([])))
    assert "No run was finished." in found.text
    assert "table" not in [tag for tag, _ in found.elements]


def test_all_runs_failed(make_run, make_comparison):
    runs = [make_run(f"p{k}", s, 0, None, error="there is no such thing.") for k in range(2) for s in "ab"]
    found = read(report_html(make_comparison(runs)))
    assert "there is no such thing." in found.text
    assert "a on p0, p1 (2 runs): there is no such thing." in found.text
    assert "No run found a feasible decision." in found.text
    assert not [one for _, one in found.elements if one.get("class") == "chart"]


def test_what_is_not_applicable_is_no_failure(make_run, make_comparison):
    unfit = replace(make_run("p", "b", 0, None), reason="it takes no such problem.")
    found = read(report_html(make_comparison([make_run("p", "a"), unfit])))
    assert "No run failed." in found.text and "Not applicable" in found.texts
    assert "b on p: it takes no such problem." in found.text
    assert "1 of 1" in found.text  # answers


def test_one_run(make_run, make_comparison):
    found = read(report_html(make_comparison([make_run(objective=3.0, bound=3.0, status="optimal")])))
    assert "Best answer here: 3 by s, proved optimal." in found.text
    assert [one["id"] for tag, one in found.elements if tag == "table"] == ["table-cells", "table-runs"]


def test_runs_without_traces_bounds_or_anything_known(make_run, make_comparison):
    runs = [make_run("p", s, seed, 4.0 + seed, trace=()) for s in "ab" for seed in range(2)]
    found = read(report_html(make_comparison(runs, budget=Budget())))
    assert "budget of a run: none" in found.text
    assert "Best answer here: 4 by a" in found.text


@pytest.mark.parametrize("objective", [0.0, -5.0, 1e300, 1e-300])
def test_objectives_of_any_size(make_run, make_comparison, objective):
    runs = [make_run("p", s, seed, objective * (1 + seed), bound=-1e308) for s in "ab" for seed in range(2)]
    read(report_html(make_comparison(runs)))


def test_a_comparison_that_was_ended_early_says_so(grid):
    short = Comparison(grid.runs[:5], grid.best_known, grid.budget, complete=False)
    assert "The comparison was ended early: runs are missing." in read(report_html(short)).text


def test_two_hundred_runs_are_less_than_a_megabyte(make_run, make_comparison):
    """Whatever they are: many instances, long traces, long names, long sentences."""
    trace = tuple((0.001 * k, k, 1000.0 / (k + 1), 0.001 * k) for k in range(900))
    many = [make_run(f"{'long name ' * 9}{k}", "s", 0, 1.0, trace=trace) for k in range(100)]
    failed = [make_run(f"q{k}", "s", 0, None, error=f"{k} {'a long sentence ' * 200}") for k in range(100)]
    page = report_html(make_comparison([*many, *failed]))
    read(page)
    assert len(page.encode()) < 1_000_000
    assert "The curves are left out" not in page or page.count("Best objective so far on") > 20


def test_shipped_instances_are_drawn_within_the_room_there_is(monkeypatch):
    comparison = om.compare(["gautam-2x3", "loss-3"], "local-search", evaluations=50)
    found = read(page := report_html(comparison))
    papers = [one["aria-label"] for _, one in found.elements if one.get("class") == "paper"]
    assert papers == ["gautam-2x3 with the best answer", "loss-3 with the best answer"]
    assert "Open sites:" in found.text and "Packets:" in found.text
    monkeypatch.setattr("optmodels.reporting.page.PICTURES", 15_000)
    smaller = report_html(comparison)
    read(smaller)
    assert len(smaller) < len(page) and smaller.count("<text") < page.count("<text")
    monkeypatch.setattr("optmodels.reporting.page.PICTURES", 1000)
    assert read(report_html(comparison)).text.count("No picture: it would make this page too large.") == 2


def test_without_matplotlib_a_sentence_stands_for_each_picture(monkeypatch):
    import sys

    comparison = om.compare("gautam-2x3", "local-search", evaluations=20)
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    found = read(report_html(comparison))
    assert "No picture: plots need an extra: pip install 'optmodels[plots]'." in found.text


def test_the_file_is_written_whole_or_refused(grid, tmp_path):
    target = tmp_path / "report.html"
    write_report(grid, target, title="One & two")
    assert "<title>One &amp; two</title>" in target.read_text(encoding="utf-8")
    with pytest.raises(UnwritableFile, match="gone"):
        write_report(grid, tmp_path / "gone" / "report.html")
