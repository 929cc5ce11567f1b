"""The tables of the papers, remade: every difference is a known erratum, and a wrong computation is none."""

import json
from pathlib import Path

import errata
import pytest

from optmodels.benchmarking import read_set
from optmodels.benchmarking.papers import remake
from optmodels.benchmarking.papers import remaking as module
from optmodels.benchmarking.papers.tables import printed
from optmodels.cli import main

ROOT = Path(__file__).parents[3]
KINDS = {
    "avrachenkov": "threshold",
    "talim": "robots",
    "coffman": "freshness",
    "altman": "routing",
    "gautam": "placement",
}


@pytest.fixture(scope="module")
def quick():
    return remake(papers=("coffman", "altman", "gautam"))


def counts(remade):
    return {(one.paper, one.title): (len(one.cells), len(one.differing)) for one in remade.tables}


def test_what_three_papers_print_and_what_differs(quick):
    assert quick.complete and not any(table.unexplained for table in quick.tables)
    assert counts(quick) == {
        ("Coffman et al. (1998)", "Example of section 5"): (2, 1),
        ("Coffman et al. (1998)", "Corollary 5.1"): (1, 1),
        ("Coffman et al. (1998)", "Theorem 3.1"): (1, 1),
        ("Altman et al. (2000)", "Figure 1"): (1, 0),
        ("Altman et al. (2000)", "Examples 3.4 and 3.5, Remark 6.1"): (3, 2),
        ("Gautam (2002)", "Sections 4.1 to 4.2.3"): (7, 2),
        ("Gautam (2002)", "Sections 5.1 and 5.2"): (5, 2),
        ("Gautam (2002)", "Section 6.1"): (5, 0),
        ("Gautam (2002)", "Table 1"): (25, 1),
        ("Gautam (2002)", "Section 6.2"): (4, 1),
    }


def test_what_is_not_remade_is_listed(quick):
    assert [one[:2] for one in quick.missing] == [
        ("Gautam (2002)", "Table 1, costs"),
        ("Gautam (2002)", "Figs. 1 and 2"),
        ("Gautam (2002)", "Figs. 3 to 5"),
    ]
    assert "not remade: Gautam (2002), Table 1, costs: its 25 instances were never published" in quick.text()


@pytest.mark.slow
@pytest.mark.timeout(900)
def test_all_tables_of_all_papers():
    remade = remake(workers=2)
    assert not any(table.unexplained for table in remade.tables)
    found = counts(remade)
    cells, differing = (sum(one[place] for one in found.values()) for place in (0, 1))
    assert (len(found), cells, differing) == (23, 969, 78)
    assert found["Avrachenkov et al. (2011)", "Table 3"] == (135, 3)
    assert found["Talim et al. (2001)", "Table 2"] == (189, 9)


def test_one_table_of_avrachenkov():
    table = module.remake_one("avrachenkov", 0)
    [cell] = table.differing
    assert (cell.row, cell.printed, cell.told) == ("4 or 3 or 1", "80.50", "differs, erratum 3")
    assert float(cell.ours) == pytest.approx(67.521, abs=5e-4)
    assert "29 of 30 values are the same" in table.text()


def test_a_computation_that_goes_wrong_is_no_known_erratum():
    paper = printed("avrachenkov", "Avrachenkov et al. (2011)")
    right = paper.cell("Table 1", "4 or 3 or 1", "cost", "80.50", 67.5214, units=1)
    wrong = paper.cell("Table 1", "4 or 3 or 1", "cost", "80.50", 67.6, units=1)
    other = paper.cell("Table 1", "3 or 1", "cost", "63.54", 63.6, units=1)
    assert (right.told, wrong.told, other.told) == ("differs, erratum 3", "differs", "differs")
    assert (wrong.why, other.why) == ("not as erratum 3 says", "not among the errata")
    assert paper.cell("Table 1", "3 or 1", "cost", "63.54", 63.5499, units=1).told == "same"
    assert paper.cell("Table 1", "3 or 1", "cost", "63.54", 63.5499).told == "differs"  # not if it were rounded


@pytest.mark.parametrize("name", KINDS)
def test_errata_are_numbered_as_in_the_documents(name):
    listed = errata.errata((ROOT / "docs" / f"{KINDS[name]}.md").read_text(encoding="utf-8"), KINDS[name])
    content = json.loads((ROOT / "instances" / "sets" / "papers" / f"{name}.json").read_text(encoding="utf-8"))
    for entry in content["differs"]:
        where = listed[entry["erratum"] - 1].where.lower()
        expected = {"Example of section 5": "its example"}.get(entry["table"], entry["table"].lower())
        assert where.startswith(expected), entry
        assert entry["why"] and ("right" in entry) != ("within" in entry)


def test_a_table_that_fails_is_missing_and_the_others_stand(monkeypatch):
    def broken():
        raise ValueError("a defect")

    monkeypatch.setattr(module.PAPERS["altman"], "TABLES", (broken, *module.PAPERS["altman"].TABLES))
    remade = remake(papers=("altman",))
    assert len(remade.tables) == 2
    assert remade.missing[0][:2] == ("Altman et al. (2000)", "broken") and "a defect" in remade.missing[0][2]


def test_tables_as_csv_and_json(quick, tmp_path):
    files = quick.to_csv(tmp_path / "new")
    assert len(files) == len(quick.tables) == len(set(files))
    text = (tmp_path / "new" / "gautam-2002-table-1.csv").read_text()
    assert text.splitlines()[0] == "row,column,printed,ours,difference,verdict,erratum,why"
    assert '"differs, erratum 21"' in text
    assert json.loads(json.dumps(quick.to_data()))["tables"][0]["paper"] == "Coffman et al. (1998)"


def test_the_set_papers_asks_for_all_five():
    assert read_set("papers").papers == tuple(module.PAPERS) == tuple(KINDS)


def test_the_command_remakes_what_a_set_asks_for(capsys, tmp_path):
    head = 'format = 1\nname = "two"\ntitle = "Two"\npapers = ["coffman"]\ninstances = ["coffman-4"]\n'
    (tmp_path / "two.toml").write_text(head)
    assert main(["bench", str(tmp_path / "two.toml"), "--out", str(tmp_path / "out")]) == 0
    out = capsys.readouterr().out
    assert "Coffman et al. (1998), Corollary 5.1: 0 of 1 values are the same" in out
    assert len(list((tmp_path / "out" / "papers").glob("*.csv"))) == 3
    assert main(["report", str(tmp_path / "out")]) == 0
    page = (tmp_path / "out" / "report.html").read_text(encoding="utf-8")
    assert "Coffman et al. (1998): 1 of 4 printed values are the same" in page and "Corollary 5.1" in page
    (tmp_path / "two.toml").write_text(head.replace("coffman", "nobody", 1))
    assert main(["bench", str(tmp_path / "two.toml")]) == 2
