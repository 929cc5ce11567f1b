"""The table of a comparison: two gaps, medians, what is marked as proved, and the formats it is written in."""

import csv
import io
import json
import math
import statistics

import numpy as np
import pytest

import optmodels as om
from heuristics import Budget, Status, relative_gap
from optmodels.cli import main
from optmodels.studies.comparison import Comparison, check_format
from optmodels.studies.comparison_table import COLUMNS

from .test_comparing import run, wide

NAMES = ("a", "<script>alert(1)</script>", "p|q", r"c:\x_1 & 100%", "*bold* `code`", "[x](y)", "π ü", "#")


# -- two gaps ---------------------------------------------------------------------------------------------------------


def test_nothing_known_gives_no_gap():
    comparison = Comparison((run(), run(strategy="t", bound=3.0)))
    assert comparison.references["p"].value is None
    assert [line.gap_to_best_known for line in comparison.summaries] == [None, None]
    assert "best known:" not in comparison.table()


def test_both_gaps_stand_side_by_side_and_a_proof_is_marked():
    runs = (
        run("a", objective=10.0, bound=8.0),
        run("a", "exact", objective=8.0, bound=8.0, status=Status.OPTIMAL),
        run("b", objective=10.0, bound=5.0),
    )
    comparison = Comparison(runs, {"b": 8.0})
    first, exact, other = comparison.summaries
    assert (first.gap_to_best_known, first.gap_to_bound, first.proved) == (0.25, 0.25, True)
    assert (exact.gap_to_best_known, exact.gap_to_bound) == (0.0, 0.0)
    assert (other.gap_to_best_known, other.gap_to_bound, other.proved) == (0.25, 1.0, False)
    lines = comparison.table().splitlines()
    assert "gap to best known  gap to bound" in lines[0]
    assert lines[2].split()[6:8] == ["25.00%*", "25.00%"]
    assert lines[4].split()[6:8] == ["25.00%", "100.00%"]
    assert "optimum: a 8*; best known: b 8; * proved optimal" in lines


def test_values_of_many_instances_are_a_column_and_no_line():
    comparison = Comparison(tuple(run(f"p{i}", objective=8.0) for i in range(13)), {f"p{i}": 8.0 for i in range(13)})
    assert "gaps to: best known on 13 instances; the column best_known has the values" in comparison.table()
    assert "p12 8" not in comparison.table()


def test_a_file_that_says_proved_counts_as_a_proof(tmp_path):
    comparison = om.compare("gautam-2x3", "annealing:steps=50")
    assert comparison.references["gautam-2x3"].label == "best known, proved"
    told = json.loads(om.read_instance("instances/placement/gautam-2x3.json").model_dump_json())
    told["best_known"]["proved"] = False
    file = tmp_path / "doubted.json"
    file.write_text(json.dumps(told))
    doubted = om.compare(file, "annealing:steps=50")
    assert doubted.references["gautam-2x3"].label == "best known"
    assert "0.00%*" not in doubted.table()


def test_a_proof_that_a_run_refutes_is_said(tmp_path):
    told = json.loads(om.read_instance("instances/placement/gautam-2x3.json").model_dump_json())
    told["best_known"] = {"objective": 23.0, "decision": [1, 1, 1, 1, 1, 1], "proved": True}
    told["best_known"]["objective"] = om.evaluate("gautam-2x3", [1] * 6).objective
    file = tmp_path / "kind.json"
    file.write_text(json.dumps(told))
    comparison = om.compare(file, "exhaustive")
    (warning,) = comparison.warnings
    assert "the file calls" in warning
    assert comparison.references["gautam-2x3"].value == 8.0


def test_medians_and_the_worst_over_random_runs():
    rng = np.random.default_rng(5)
    for _ in range(50):
        count = int(rng.integers(1, 8))
        values = rng.lognormal(0, 5, count).tolist()
        failed = rng.random(count) < 0.2
        runs = [
            run(seed=i, **({} if failed[i] else {"objective": values[i], "bound": values[i] / 2}), seconds=values[i])
            for i in range(count)
        ]
        (line,) = Comparison(tuple(runs), {"p": 1e-9}).summaries
        found = [value for value, gone in zip(values, failed, strict=True) if not gone]
        if not found:
            assert line.objective is line.gap_to_best_known is line.interval is None
            continue
        gaps = [math.inf if gone else relative_gap(value, 1e-9) for value, gone in zip(values, failed, strict=True)]
        assert line.objective == pytest.approx(statistics.median(found))
        assert line.worst == pytest.approx(max(found))
        assert line.gap_to_best_known == pytest.approx(statistics.median(gaps))
        assert line.worst_gap == pytest.approx(max(gaps))
        assert line.gap_to_bound == pytest.approx(1.0)
        assert (line.interval is None) == (count == 1)
        if line.interval:
            low, high = line.interval
            assert min(gaps) <= low <= line.gap_to_best_known <= high <= max(gaps)


@pytest.mark.parametrize("width", [60, 70, 80, 90])
def test_seconds_stay_at_any_width(width):
    head = wide().table(width).splitlines()[0].split()
    assert "sec." in head or "seconds" in head


# -- columns, order, formats ------------------------------------------------------------------------------------------


def three() -> Comparison:
    runs = (
        run("b", "s", objective=3.0, seconds=2.0),
        run("a", "t", objective=20.0, seconds=1.0),
        run("c", "s", status=Status.UNKNOWN, seconds=3.0),
    )
    return Comparison(runs, {}, Budget(seconds=4))


def test_columns_are_those_asked_for_in_their_order():
    lines = three().table(columns=["strategy", "problem"]).splitlines()
    assert [line.split() for line in lines[:5] if "-" not in line] == [
        ["strategy", "problem"],
        ["s", "b"],
        ["t", "a"],
        ["s", "c"],
    ]


@pytest.mark.parametrize(
    ("column", "order"),
    [
        ("problem", "abc"),
        ("-problem", "cba"),
        ("objective", "bac"),
        ("-objective", "abc"),
        ("seconds", "abc"),
        ("-seconds", "cba"),
    ],
)
@pytest.mark.parametrize("form", ["text", "csv"])
def test_rows_are_sorted_and_what_has_no_value_comes_last(column, order, form):
    written = three().write(form, columns=["problem"], sort=column).split()
    found = [cell for cell in written if cell in ("a", "b", "c")][:3]
    assert found == list(order)


def test_all_columns_can_be_shown():
    table = three().table(columns=list(COLUMNS))
    assert all(column.head in table for column in COLUMNS.values())


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (("tex",), r"no format \"tex\". Did you mean 'text'\?"),
        (("text", ["objectives"]), "no column \"objectives\". Did you mean 'objective'"),
        (("csv", ["worst_gap"]), 'no column "worst_gap"'),
        (("md", None, "-secnds"), "no column \"secnds\". Did you mean 'seconds'"),
        (("json", []), "at least one column"),
    ],
)
def test_what_cannot_be_written_is_refused(arguments, sentence):
    with pytest.raises(om.RequestError, match=sentence):
        check_format(*arguments)


def test_the_command_refuses_a_column_before_it_runs(capsys):
    assert main(["compare", "gautam-2x3", "--strategies", "no-such", "--columns", "objectiv"]) == 2
    assert "there is no column" in capsys.readouterr().err


def hostile() -> Comparison:
    return Comparison(tuple(run(name, "s|t", objective=float(i), error=None) for i, name in enumerate(NAMES)))


def test_markdown_keeps_every_cell_in_its_column():
    rows = hostile().write("md", columns=["problem", "strategy", "objective"]).splitlines()
    table = [line for line in rows if line.startswith("|")]
    assert len(table) == 2 + len(NAMES)
    for line in table:
        assert line.replace(r"\|", "").count("|") == 4
    assert r"\<script\>alert(1)\</script\>" in table[3]


def test_latex_escapes_what_tex_would_read_and_uses_booktabs():
    text = hostile().write("latex", columns=["problem", "objective"])
    for rule in (r"\toprule", r"\midrule", r"\bottomrule", r"\begin{tabular}{lr}", r"\end{tabular}"):
        assert text.count(rule) == 1
    body = text.split(r"\midrule")[1].split(r"\bottomrule")[0].strip().splitlines()
    assert len(body) == len(NAMES)
    for line in body:
        assert line.endswith(r"\\")
        assert line.replace(r"\&", "").count("&") == 1
        bare = line.replace(r"\%", "").replace(r"\_", "").replace(r"\#", "")
        assert not set("%_#$^~") & set(bare)
    assert r"c:\textbackslash{}x\_1 \& 100\%" in text


def test_csv_and_json_have_a_record_per_run_with_the_fields_that_others_rely_on(capsys):
    comparison = om.compare("gautam-2x3", ["exhaustive", "annealing"], seeds=2, evaluations=100)
    rows = json.loads(comparison.write("json"))
    promised = "problem strategy status objective bound gap_to_bound gap_to_best_known seconds evaluations seed"
    assert all(set(promised.split()) <= set(row) for row in rows)
    assert [row["seed"] for row in rows] == [0, 0, 1]
    lines = list(csv.DictReader(io.StringIO(comparison.write("csv"))))
    assert [line["objective"] for line in lines] == [str(row["objective"]) for row in rows]
    command = ["compare", "gautam-2x3", "--strategies", "exhaustive", "--format", "json"]
    assert main([*command, "--columns", "problem,gap_to_bound"]) == 0
    assert json.loads(capsys.readouterr().out) == [{"problem": "gautam-2x3", "gap_to_bound": 0.0}]


def test_an_empty_comparison_is_written_in_every_format():
    for form in ("text", "md", "latex"):
        assert Comparison(()).write(form) == "no run was finished."
    assert json.loads(Comparison(()).write("json")) == []
