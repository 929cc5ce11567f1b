"""``optmodels fit``: logs in, rates and instances out, a sentence for every bad row, and nothing half written."""

import csv
import json
import math

import numpy as np
import pytest

from optmodels.cli import main
from optmodels.errors import RequestError
from optmodels.freshness.fitting import read_access_time, read_log
from optmodels.instance import load, read
from queueing.freshness.estimation import GammaPrior, estimate, history

LOG = """url,interval,changed
https://a/,1.5,1
https://b/,2,0
https://a/,0.5,0
https://c/,1,1
https://b/,1,no
https://c/,3,TRUE
"""


@pytest.fixture
def log(tmp_path):
    """A small log of intervals: one page of each sort."""
    file = tmp_path / "crawl.csv"
    file.write_text(LOG, encoding="utf-8")
    return str(file)


def written(path):
    with open(path, newline="", encoding="utf-8") as stream:
        return list(csv.DictReader(stream))


def random_log(rng, pages=40, visits=300):
    """Times of visits and what they saw, page by page: rows of name, time, changed, and the time since the last."""
    rows = []
    for page in range(pages):
        times = np.cumsum(rng.exponential(1.0, rng.integers(1, 2 * visits // pages)))
        for index, time in enumerate(times):
            gap = time - times[index - 1] if index else None
            rows.append((f"https://h/{page}", time, int(rng.random() < 0.4), gap))
    return rows


# -- answers ----------------------------------------------------------------------------------------------------------


def test_rates_are_those_of_the_estimator(log, tmp_path, capsys):
    out = tmp_path / "pages.csv"
    assert main(["fit", log, "--out", str(out), "--prior", "0.8,2", "--confidence", "0.9"]) == 0
    answer = capsys.readouterr()
    seen = history([0, 1, 0, 2, 1, 2], [1.5, 2, 0.5, 1, 1, 3], [1, 0, 0, 1, 0, 1])
    found = estimate(seen, GammaPrior(0.8, 2.0), confidence=0.9)
    rows = written(out)
    assert [row["url"] for row in rows] == ["https://a/", "https://b/", "https://c/"]
    for row, *numbers in zip(rows, found.rates, found.lower, found.upper, strict=True):
        names = ("change_rate", "change_rate_lower", "change_rate_upper")
        assert [float(row[name]) for name in names] == numbers
    assert [(row["visits"], row["changes"]) for row in rows] == [("2", "1"), ("2", "0"), ("2", "2")]
    assert answer.out.splitlines()[:2] == [
        "pages: 3, visits: 6, intervals: 6, with a change: 3",
        "pages that never changed: 1, at every visit: 1, seen once: 0",
    ]
    assert answer.err == f"optmodels: wrote {out}\n"


def test_json_stands_alone_on_stdout(log, tmp_path, capsys):
    out = tmp_path / "pages.csv"
    assert main(["fit", log, "--out", str(out), "--json"]) == 0
    answer = capsys.readouterr()
    data = json.loads(answer.out)
    assert answer.err == ""
    assert (data["file"], data["written"], data["pages"], data["changes"]) == (log, [str(out)], 3, 3)
    assert (data["never_changed"], data["always_changed"], data["seen_once"]) == (1, 1, 0)
    assert data["prior"]["shape"] > 0 and data["prior"]["rate"] > 0
    assert data["rates"]["least"] <= data["rates"]["median"] <= data["rates"]["most"]


def test_without_a_prior_rates_may_be_0_or_infinite(log, tmp_path, capsys):
    out = tmp_path / "pages.csv"
    assert main(["fit", log, "--out", str(out), "--prior", "none", "--json"]) == 0
    rates = [float(row["change_rate"]) for row in written(out)]
    assert rates[1:] == [0.0, math.inf] and 0 < rates[0] < math.inf
    data = json.loads(capsys.readouterr().out)
    assert data["prior"] is None and data["rates"]["most"] == rates[0]


@pytest.mark.parametrize("form", ["number", "date", "date with zone"])
def test_timestamps_in_any_order_give_the_intervals_between_them(form, tmp_path):
    rng = np.random.default_rng(1)
    rows = random_log(rng)
    intervals = [(name, gap, changed) for name, _, changed, gap in rows if gap is not None]
    index = {name: page for page, name in enumerate(dict.fromkeys(name for name, *_ in rows))}
    seen = history([index[name] for name, *_ in intervals], *zip(*(row[1:] for row in intervals), strict=True), 40)
    expected = estimate(seen, GammaPrior(1.0, 1.0))
    file = tmp_path / "crawl.csv"
    order = rng.permutation(len(rows))
    with file.open("w", newline="") as stream:
        writer = csv.writer(stream)
        writer.writerow(["changed", "note", "timestamp", "page"])
        for name, time, changed, gap in (rows[row] for row in order):
            moment = np.datetime64("2026-01-01T00:00:00", "us") + np.timedelta64(round(time * 3.6e9), "us")
            told = time if form == "number" else f"{moment}+00:00" if form == "date with zone" else str(moment)
            writer.writerow([changed if gap is not None else rng.choice(["", "0", "1"]), "x", told, name])
    found = read_log(file, unit="hours")
    rates = dict(zip(found.names, estimate(found.seen, GammaPrior(1.0, 1.0)).rates, strict=True))
    np.testing.assert_allclose([rates[name] for name in index], expected.rates, rtol=1e-6)
    assert found.visits.sum() == len(rows) and found.seen.visits.sum() == len(intervals)
    assert (found.column, found.unit) == ("page", None if form == "number" else "hours")


def test_the_newest_weight_of_a_page_counts(tmp_path):
    file = tmp_path / "crawl.csv"
    file.write_text("page,timestamp,changed,rank\na,3,1,7\nb,2,0,2\na,1,0,5\nb,5,1,4\n")
    assert read_log(file, weights="rank").weights.tolist() == [7.0, 4.0]
    file.write_text("page,interval,changed,rank\na,3,1,7\nb,2,0,2\na,1,0,5\nb,5,1,4\n")
    assert read_log(file, weights="rank").weights.tolist() == [5.0, 4.0]


def test_a_byte_order_mark_empty_lines_and_quotes_are_read(tmp_path):
    file = tmp_path / "crawl.csv"
    file.write_text('url, interval ,changed\n\n"https://a/?x=1,2", 2 ,1\n\n', encoding="utf-8-sig")
    found = read_log(file)
    assert found.names == ["https://a/?x=1,2"] and found.seen.times.tolist() == [2.0]


def test_more_rows_than_are_taken_at_once(tmp_path):
    file = tmp_path / "crawl.csv"
    file.write_text("page,interval,changed\n" + "".join(f"{row % 7},{1 + row},{row % 2}\n" for row in range(12_345)))
    told = []
    found = read_log(file, progress=lambda done, total, what: told.append((done, total)))
    assert found.visits.sum() == 12_345 and len(found.names) == 7
    assert told[-1][0] == told[-1][1] == file.stat().st_size


def test_parquet_in_and_out(log, tmp_path):
    pa = pytest.importorskip("pyarrow")
    import pyarrow.parquet as parquet

    times = pa.array([10**9, 3 * 10**9, 10**9, 2 * 10**9], pa.timestamp("ns"))
    table = {"url": ["a", "a", "b", "b"], "timestamp": times, "changed": [None, True, None, False]}
    file, out = tmp_path / "crawl.parquet", tmp_path / "pages.parquet"
    parquet.write_table(pa.table(table), file)
    assert main(["fit", str(file), "--out", str(out), "--unit", "seconds", "--prior", "1,1"]) == 0
    found = parquet.read_table(out).to_pydict()
    expected = estimate(history([0, 1], [2.0, 1.0], [True, False]), GammaPrior(1.0, 1.0))
    assert found["url"] == ["a", "b"] and found["change_rate"] == expected.rates.tolist()
    assert found["visits"] == [2, 2]
    parquet.write_table(pa.table({"page": [1, 1], "interval": [1.0, None], "changed": [1, 0]}), file)
    with pytest.raises(RequestError, match=r"crawl.parquet: row 1, column interval is null; an interval is a number"):
        read_log(file)
    file.write_bytes(file.read_bytes()[:50])
    with pytest.raises(RequestError, match="this is no Parquet file, or only a part of one"):
        read_log(file)


# -- instances --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("weights", [None, "rank"])
def test_an_instance_can_be_solved(weights, tmp_path, capsys):
    file, out = tmp_path / "crawl.csv", tmp_path / "site.json"
    file.write_text("url,interval,changed,rank\na,1,1,3\nb,1,0,1\na,2,0,3\n")
    words = ["fit", str(file), "--out", str(out), "--access-time", "exponential:0.25"]
    assert main([*words, *(["--weights", weights] if weights else [])]) == 0
    problem, content = load(out), read(out)
    assert (content.kind, content.name) == ("freshness", "site")
    assert problem.columns.urls == ("a", "b")
    expected = [3.0, 1.0] if weights else problem.columns.rates.tolist()
    assert problem.columns.weights.tolist() == expected
    assert problem.access_time.mean == 0.25
    assert main(["check", str(out)]) == 0


def test_an_instance_needs_finite_rates(log, tmp_path, capsys):
    out = tmp_path / "site.json"
    out.write_text("old")
    assert main(["fit", log, "--out", str(out), "--access-time", "1", "--prior", "none"]) == 2
    assert "page 'https://c/' changed at every visit" in capsys.readouterr().err
    assert out.read_text() == "old" and sorted(path.name for path in tmp_path.iterdir()) == ["crawl.csv", "site.json"]


def test_laws_of_the_access_time():
    assert read_access_time("0.5") == read_access_time("constant:0.5") == {"law": "constant", "value": 0.5}
    assert read_access_time("exponential:2") == {"law": "exponential", "mean": 2.0}
    assert read_access_time('{"law": "erlang", "stages": 2, "mean": 1}') == {"law": "erlang", "stages": 2, "mean": 1.0}
    for text in ("fast", "erlang:2", ":1", "-1", "0", '{"law": "exponential"}', "{"):
        with pytest.raises(RequestError, match="--access-time"):
            read_access_time(text)


# -- refusals ---------------------------------------------------------------------------------------------------------


def one_sentence(capsys, words, out):
    """What is said when a log or a request is refused; nothing is written."""
    assert main(words) == 2
    answer = capsys.readouterr()
    assert answer.out == "" and answer.err.count("\n") == 1
    assert not out.exists() and not list(out.parent.glob(".*"))
    return answer.err


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        (
            "url,interval,changed\na,1,1\nb,-2,0\n",
            'line 3, column interval is "-2"; an interval is a number above 0, from 1e-100 to 1e+100.',
        ),
        ("url,interval,changed\na,0,1\n", 'line 2, column interval is "0"; an interval is a number above 0, '),
        ("url,interval,changed\na,1,1\na,1e308,0\n", 'line 3, column interval is "1e308"; an interval is'),
        ("url,interval,changed\na,1e-308,0\n", 'line 2, column interval is "1e-308"; an interval is'),
        ("url,timestamp,changed\na,1,0\na,1e308,0\n", 'line 3, column timestamp is "1e308"; a time is a number'),
        ("url,timestamp,changed\na,0,0\na,1e-308,0\n", "the page was visited at the same time"),
        ("url,interval,changed\na,nan,1\n", 'line 2, column interval is "nan"'),
        ("url,interval,changed\na,soon,1\n", 'line 2, column interval is "soon"'),
        ("url,interval,changed\na,1,\n", 'line 2, column changed is ""; it is 1 or true if'),
        ("url,interval,changed\na,1,2\n", 'line 2, column changed is "2"; it is 1 or true if'),
        ("url,interval,changed\na,1,1\n ,1,1\n", 'line 3, column url is " "; pages have names'),
        ("url,interval,changed\na,1\n", "line 2: it has 2 values, and the head line 3."),
        ('url,interval,changed\n"a\n', "line 2: this is not CSV: unexpected end of data."),
        ("url,timestamp,changed\na,1,\na,x,1\n", 'line 3, column timestamp is "x"; a time is a number, from'),
        ("url,timestamp,changed\na,2026-01-01,\na,5,1\n", 'line 3, column timestamp is "5"; timestamps are all'),
        ("url,timestamp,changed\na,1,\nb,1,\na,1,1\n", "line 4, column timestamp is 1.0; the page was visited at the"),
        ("url,timestamp,changed\na,1,0\na,2,\n", 'line 3, column changed is ""; only the first visit'),
        ("url,timestamp,changed\na,1,\n", "no page was visited twice"),
        ("url,interval\na,1\n", "column changed is missing; a crawl log says whether pages had changed, and here are"),
        ("url,changed\na,1\n", "column interval is missing; a crawl log has interval or timestamp, and here are"),
        ("interval,changed\n1,1\n", "column url is missing; a crawl log has url or page, and here are"),
        ("url,interval,changed,url\n", "line 1: column 'url' stands twice"),
        ("url,interval,changed\n", "there is no row below the head line."),
        ("", "column url is missing"),
    ],
)
def test_bad_logs_get_one_sentence(text, sentence, tmp_path, capsys):
    file, out = tmp_path / "crawl.csv", tmp_path / "pages.csv"
    file.write_text(text, encoding="utf-8")
    said = one_sentence(capsys, ["fit", str(file), "--out", str(out)], out)
    assert sentence in said and said.startswith(f"optmodels: {file}: ")


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        (["--prior", "flat"], "a prior is fit, none, or shape and rate above 0 such as 0.5,2; got 'flat'."),
        (["--prior", "1,-2"], "a prior is fit, none, or shape and rate above 0"),
        (["--confidence", "95"], "'95' is not a number between 0 and 1 such as 0.95"),
        (["--weights", "rank"], "column rank is missing; it was asked for as weights."),
        (["--unit", "years"], "dates are measured in seconds, minutes, hours, days, got 'years'."),
        (["--access-time", "1"], "--access-time belongs to an instance; give --out instance.json."),
    ],
)
def test_bad_requests_get_one_sentence(words, sentence, log, tmp_path, capsys):
    out = tmp_path / "pages.csv"
    assert sentence in one_sentence(capsys, ["fit", log, "--out", str(out), *words], out)


def test_files_that_cannot_be_read_or_written(log, tmp_path, capsys):
    out = tmp_path / "pages.csv"
    for given, target, sentence in (
        (tmp_path / "none.csv", out, "there is no such file."),
        (tmp_path / "crawl.txt", out, "a crawl log ends in .csv or .parquet."),
        (log, tmp_path / "pages.xls", "rates are written as .csv or .parquet, an instance as .json."),
        (log, tmp_path / "nowhere" / "pages.csv", "there is no such folder."),
        (log, tmp_path / "site.json", "an instance needs the distribution of the access time; give --access-time."),
    ):
        assert sentence in one_sentence(capsys, ["fit", str(given), "--out", str(target)], target)
    (tmp_path / "bytes.csv").write_bytes(b"url,interval,changed\n\xff,1,1\n")
    assert "this is not text in UTF-8." in one_sentence(
        capsys, ["fit", str(tmp_path / "bytes.csv"), "--out", str(out)], out
    )
