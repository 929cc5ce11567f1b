"""The page of all errata is what the tables of the kinds say, and the tests it names are there."""

import re
from pathlib import Path

import errata
import pytest

ROOT = Path(__file__).parents[1]
ROW = "| here | 1 | 2 | counted | `test_one` |"


def table(*rows):
    return "\n".join(
        [errata.BEGIN, "", "| " + " | ".join(errata.COLUMNS) + " |", "|---|---|---|---|---|", *rows, errata.END]
    )


def test_the_page_of_errata_is_what_the_tables_say():
    assert (ROOT / errata.PAGE).read_text(encoding="utf-8") == errata.page(ROOT), "run `make errata`"


def test_the_tests_that_the_page_names_are_there():
    """Read from the page itself, as a reader would."""
    named = re.findall(r"`(tests/[\w/]+\.py)::(test_\w+)`", (ROOT / errata.PAGE).read_text(encoding="utf-8"))
    assert len(named) > 90
    for file, test in named:
        assert f"\ndef {test}(" in (ROOT / file).read_text(encoding="utf-8"), (file, test)


def test_every_test_of_an_erratum_is_on_the_page():
    text = (ROOT / errata.PAGE).read_text(encoding="utf-8")
    files = {file for _, files in errata.PAPERS.values() for file in files}
    tests = {test for file in files for test in errata.tests_of(ROOT / file) if test.startswith("test_erratum")}
    assert len(tests) > 40
    assert [test for test in sorted(tests) if test not in text] == []


def test_all_papers_of_the_citation_are_there():
    citation = (ROOT / "CITATION.cff").read_text(encoding="utf-8")
    for authors, _ in errata.PAPERS.values():
        names, year = authors[:-7].split(", "), authors[-5:-1]
        assert year in citation
        assert [name for name in names if f"family-names: {name}" not in citation] == []


def test_a_table_is_read():
    (one,) = errata.errata(table(ROW), "routing")
    assert one == errata.Erratum("here", "1", "2", "counted", ("test_one",))


@pytest.mark.parametrize(
    ("document", "sentence"),
    [
        ("", "the errata of routing stand between two lines"),
        (table(), "the errata of routing stand between two lines"),
        (table("| here | 1 | 2 | counted |"), "an erratum of routing has 5 cells"),
        (table("| here |  | 2 | counted | `test_one` |"), "an erratum of routing has 5 cells"),
        (table("| here | 1 | 2 | counted | some |"), "an erratum of routing names its tests"),
    ],
)
def test_what_is_no_table_is_refused(document, sentence):
    with pytest.raises(ValueError, match=sentence):
        errata.errata(document, "routing")


def test_a_test_that_is_not_there_is_refused():
    with pytest.raises(ValueError, match="test_never, an erratum of routing, is a test in one of"):
        errata.path_of("test_never", "routing")
