"""Tables of pages: read in pieces, refused in one sentence, priced without being in memory, written whole or not."""

import json
import os
import re
import subprocess
import sys
from functools import partial
from itertools import pairwise
from types import SimpleNamespace

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from heuristics.allocation import Lagrangian
from optmodels.data import check_manifest, read_written, whole_folder, write_manifest, write_npy
from optmodels.data.written import MANIFEST
from optmodels.errors import InstanceError, RequestError
from optmodels.freshness import FreshnessGenerator, FreshnessProblem
from optmodels.freshness import data as freshness_data
from optmodels.freshness import generate as freshness_generating
from optmodels.freshness.tables import (
    LargeFreshnessProblem,
    allocate_pages,
    in_order,
    open_pages,
    price_table,
    write_frequencies,
)
from optmodels.freshness.tables import pages as freshness_pages
from optmodels.freshness.tables.engine import Threads
from optmodels.freshness.tables.streaming import Rule, _joined, judge_pages
from optmodels.results import read_result, write_result
from optmodels.solving import solve
from optmodels.verification.verifying import verify_file
from queueing.freshness import allocate, cost, even_obsolescence, traits
from queueing.processes import Constant, Exponential, Hyperexponential

LAW = Exponential(1.0)


def drawn(count, seed=0, load=0.5):
    rng = np.random.default_rng(seed)
    return np.exp(rng.normal(size=count)) * load / count, np.exp(rng.normal(size=count))


def parquet(path, rates, weights, group=1000, **more):
    path.parent.mkdir(parents=True, exist_ok=True)
    pq.write_table(pa.table({"change_rate": rates, "weight": weights, **more}), path, row_group_size=group)
    return path


def columns(folder, rates, weights, **more):
    folder.mkdir()
    for name, values in {"change_rate": rates, "weight": weights, **more}.items():
        np.save(folder / f"{name}.npy", values)
    return folder


@pytest.fixture
def small_pieces(monkeypatch):
    """Pieces and chunks of a few hundred pages, so that small tables have many of them."""
    monkeypatch.setattr(freshness_pages, "PIECE", 700)
    monkeypatch.setattr(freshness_pages, "CHUNK", 300)


# --- reading ----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("form", ["file", "folder", "npy"])
def test_all_forms_of_a_table_hold_the_same_pages(tmp_path, monkeypatch, form):
    monkeypatch.setattr(freshness_pages, "PIECE", 700)
    rates, weights = drawn(5000)
    if form == "file":
        path = parquet(tmp_path / "a.parquet", rates, weights, group=450)
    elif form == "folder":
        path = tmp_path / "a"
        parquet(path / "part-0.parquet", rates[:1234], weights[:1234])
        parquet(path / "part-1.parquet", rates[1234:], weights[1234:], group=100)
        (path / "_SUCCESS").touch()  # as others leave it
    else:
        path = columns(tmp_path / "a", rates, weights)
    table = open_pages(path)
    assert table.rows == 5000 and len(table.pieces) > 4
    assert [piece.page for piece in table.pieces] == np.cumsum([0, *(p.rows for p in table.pieces)])[:-1].tolist()
    for found, given in zip(table.read(), (rates, weights), strict=True):
        np.testing.assert_array_equal(found, given)
    pages = [(chunk.page, len(chunk.rates)) for piece in table.pieces for chunk in piece.chunks(123)]
    assert pages[0][0] == 0
    assert all(page + count == later for (page, count), (later, _) in pairwise(pages))


@pytest.mark.parametrize("kind", [np.float32, np.int64, np.uint8])
def test_numbers_of_any_kind_become_floats(tmp_path, kind):
    values = np.arange(1, 100).astype(kind)
    for path in (parquet(tmp_path / "a.parquet", values, values), columns(tmp_path / "b", values, values)):
        rates, weights = open_pages(path).read()
        assert rates.dtype == weights.dtype == np.float64
        np.testing.assert_array_equal(rates, values)


def test_columns_are_found_by_name_and_others_are_left_alone(tmp_path):
    rates, weights = drawn(100)
    table = pa.table({"title": ["x"] * 100, "weight": weights, "change_rate": rates})
    pq.write_table(table, tmp_path / "a.parquet")
    np.testing.assert_array_equal(open_pages(tmp_path / "a.parquet").read()[0], rates)


def test_weights_that_are_the_change_rates_need_no_column(tmp_path):
    pq.write_table(pa.table({"change_rate": [1.0, 2.0]}), tmp_path / "a.parquet")
    rates, weights = open_pages(tmp_path / "a.parquet", proportional=True).read()
    assert weights is rates


def test_hosts_are_numbers_or_texts_and_urls_are_read(tmp_path):
    rates, weights = drawn(5)
    names = ["b", "a", "b", "c", "a"]
    urls = [f"https://{name}.example/{index}" for index, name in enumerate(names)]
    given = {
        "numbers": np.array([1, 0, 1, 2, 0], dtype=np.int32),
        "texts": names,
        "coded": pa.array(names).dictionary_encode(),
    }
    for form, hosts in given.items():
        table = open_pages(parquet(tmp_path / f"{form}.parquet", rates, weights, group=2, host=hosts, url=urls))
        numbers, known = table.hosts()
        assert numbers.tolist() == ([1, 0, 1, 2, 0] if form == "numbers" else [0, 1, 0, 2, 1])
        assert known == (None if form == "numbers" else ("b", "a", "c"))
        assert table.urls() == tuple(urls)
    table = open_pages(columns(tmp_path / "npy", rates, weights, host=np.array([3, 1, 1, 0, 2])))
    assert table.hosts()[0].tolist() == [3, 1, 1, 0, 2] and table.urls() is None
    with pytest.raises(InstanceError, match=r"bad.parquet: row 3, column host is -1; hosts are whole numbers"):
        open_pages(parquet(tmp_path / "bad.parquet", rates, weights, host=[0, 0, 0, -1, 0])).hosts()
    with pytest.raises(InstanceError, match=r"row 1, column host is 10000000; hosts are whole numbers from 0, below 1"):
        open_pages(parquet(tmp_path / "many.parquet", rates, weights, host=[0, 10**7, 0, 0, 0])).hosts()


def test_two_pages_of_one_url_are_refused(tmp_path, small_pieces):
    rates, weights = drawn(2000)
    urls = [f"https://example.org/{page}" for page in range(2000)]
    parquet(tmp_path / "t" / "a.parquet", rates, weights, url=urls)
    twice = parquet(tmp_path / "t" / "b.parquet", rates, weights, url=[f"{url}?" for url in urls[:-1]] + urls[70:71])
    table = open_pages(twice.parent)
    with pytest.raises(
        InstanceError, match=r"b.parquet: row 1999, column url is .*org/70\"; page 70 is called so, too"
    ):
        table.urls()


def test_a_row_group_larger_than_a_piece_is_read_through_a_buffer(tmp_path, monkeypatch):
    from optmodels.data import column_files as data_columns

    monkeypatch.setattr(data_columns, "LARGEST_READ", 1000)
    rates, weights = drawn(20_000)
    table = open_pages(parquet(tmp_path / "a.parquet", rates, weights, group=20_000))
    assert max(len(chunk.rates) for piece in table.pieces for chunk in piece.chunks(5000)) == 5000
    np.testing.assert_array_equal(table.read()[1], weights)


# --- what is refused --------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("value", [-1.0, float("nan"), float("inf"), None])
@pytest.mark.parametrize("column", ["change_rate", "weight"])
def test_a_bad_number_is_named_by_file_row_and_column_and_nothing_is_written(tmp_path, small_pieces, value, column):
    rates, weights = drawn(3000)
    good = {"change_rate": rates[:1000], "weight": weights[:1000]}
    bad = {"change_rate": rates[1000:].tolist(), "weight": weights[1000:].tolist()}
    bad[column][1701] = value
    (tmp_path / "pages").mkdir()
    pq.write_table(pa.table(good), tmp_path / "pages" / "part-0.parquet")
    pq.write_table(pa.table(bad), tmp_path / "pages" / "part-1.parquet", row_group_size=500)
    table = open_pages(tmp_path / "pages")
    told = {-1.0: "-1.0", None: "null"}.get(value, "NaN" if value != value else "Infinity")
    noun = "change rates" if column == "change_rate" else "weights"
    sentence = f"{tmp_path}/pages/part-1.parquet: row 1701, column {column} is {told}; {noun} are finite numbers"
    rule = Rule(0.1, 1.0)
    for use in (
        lambda: allocate_pages(table, LAW),
        lambda: write_frequencies(table, LAW, rule, tmp_path / "out.npy"),
        lambda: write_frequencies(table, LAW, rule, tmp_path / "out.parquet"),
        table.read,
    ):
        with pytest.raises(InstanceError) as refused:
            use()
        assert str(refused.value).startswith(sentence)
        assert sorted(os.listdir(tmp_path)) == ["pages"]


def test_numbers_that_no_double_can_hold_together_are_refused(tmp_path):
    rates, weights = drawn(50)
    rates[20], weights[20] = 1e-300, 1e300
    with pytest.raises(
        InstanceError, match=r"a.parquet: row 20, column change_rate is 1e-300; with the weight 1e\+300"
    ):
        allocate_pages(open_pages(parquet(tmp_path / "a.parquet", rates, weights)), LAW)


@pytest.mark.parametrize(("rate", "weight"), [(1e-160, 1.0), (1.0, 1e300), (1e300, 1.0)])
def test_numbers_without_squares_or_sums_are_refused_by_row(tmp_path, monkeypatch, small_pieces, rate, weight):
    """Costs would be rounding, and yet be called optimal; pages in memory or not, and in whichever file."""
    rates, weights = drawn(3000)
    rates[2701], weights[2701] = rate, weight
    parquet(tmp_path / "t" / "a.parquet", rates[:2000], weights[:2000])
    parquet(tmp_path / "t" / "b.parquet", rates[2000:], weights[2000:], group=300)
    sentence = rf"t/b.parquet: row 701, column change_rate is {re.escape(repr(rate))}; with the weight"
    data = {"pages": "t", "access_time": {"law": "exponential", "mean": 1.0}}
    with pytest.raises(InstanceError, match=sentence):
        FreshnessProblem.from_data(data, folder=tmp_path)
    monkeypatch.setattr(freshness_data, "LARGE", 0)
    with pytest.raises(InstanceError, match=sentence):
        solve(FreshnessProblem.from_data(data, folder=tmp_path), "lagrangian")


def tables_refused():
    rates, weights = drawn(100)

    def torn(folder):
        whole = parquet(folder / "whole.parquet", rates, weights).read_bytes()
        (folder / "whole.parquet").unlink()
        (folder / "torn.parquet").write_bytes(whole[: len(whole) // 2])
        return folder / "torn.parquet"

    def torn_column(folder):
        path = columns(folder / "npy", rates, weights)
        (path / "weight.npy").write_bytes((path / "weight.npy").read_bytes()[:-9])
        return path

    def mixed(folder):
        parquet(folder / "t" / "a.parquet", rates, weights)
        return parquet(folder / "t" / "b.parquet", rates, weights, host=[0] * 100).parent

    def mixed_kinds(folder):
        parquet(folder / "t" / "a.parquet", rates, weights)
        return parquet(folder / "t" / "b.parquet", rates, ["x"] * 100).parent

    def both(folder):
        path = columns(folder / "t", rates, weights)
        parquet(path / "a.parquet", rates, weights)
        return path

    def empty(folder):
        (folder / "empty").mkdir()
        return folder / "empty"

    def half_written(folder):
        return parquet(folder / "t" / ".a.parquet.tmp" / "a.parquet", rates, weights).parents[1]

    def text(folder):
        (folder / "a.parquet").write_text("change_rate,weight\n1,2\n")
        return folder / "a.parquet"

    def one_column(folder):
        return columns(folder / "npy", rates, weights) / "weight.npy"

    return {
        "nothing there": (lambda folder: folder / "none", "none: there is no such file or folder."),
        "empty folder": (empty, "empty: there is no .parquet file in this folder, and no change_rate.npy."),
        "half written": (half_written, "t: there is no .parquet file in this folder"),
        "truncated": (torn, "torn.parquet: this is no Parquet file, or only a part of one: "),
        "no Parquet": (text, "a.parquet: this is no Parquet file, or only a part of one: "),
        "no weights": (
            lambda folder: _written(folder, {"change_rate": rates, "importance": weights}),
            "a.parquet: column weight is missing; a table of pages has change_rate and weight, and here are: "
            "change_rate, importance.",
        ),
        "texts": (
            lambda folder: _written(folder, {"change_rate": ["a"] * 100, "weight": weights}),
            'a.parquet: column change_rate is "string"; it is one column of numbers.',
        ),
        "twice": (
            lambda folder: _written(folder, pa.table([rates, weights, weights], ["change_rate", "weight", "weight"])),
            'a.parquet: column weight is "there 2 times"; every column has a name of its own.',
        ),
        "hosts": (
            lambda folder: _written(folder, {"change_rate": rates, "weight": weights, "host": weights}),
            'a.parquet: column host is "double"; hosts are whole numbers or texts.',
        ),
        "no rows": (
            lambda folder: _written(folder, {"change_rate": rates[:0], "weight": weights[:0]}),
            "no page in it",
        ),
        "mixed schemas": (mixed, "b.parquet: this file does not go with a.parquet: a column host is in this file only"),
        "mixed kinds": (mixed_kinds, 'b.parquet: column weight is "string"; it is one column of numbers.'),
        "both": (both, "t: there are .parquet files and .npy columns in this folder; keep one of the two."),
        "one column": (one_column, "weight.npy: this is one column; name the folder in which change_rate.npy and"),
        "torn column": (torn_column, "weight.npy: this is no .npy file, or only a part of one: "),
        "lengths": (
            lambda folder: columns(folder / "npy", rates, weights[1:]),
            'weight.npy: column weight is "99 rows"; change_rate.npy has 100 rows, and all columns have as many.',
        ),
        "two dimensions": (
            lambda folder: columns(folder / "npy", rates.reshape(10, 10), weights),
            'change_rate.npy: column change_rate is "2-dimensional float64"; it is one column of numbers.',
        ),
        "missing column": (
            lambda folder: columns(folder / "npy", rates, weights, size=weights) / "weight.npy",
            "npy: column weight is missing; a folder of columns has change_rate.npy and weight.npy.",
        ),
    }


def _written(folder, content):
    pq.write_table(content if isinstance(content, pa.Table) else pa.table(content), folder / "a.parquet")
    return folder / "a.parquet"


@pytest.mark.parametrize("case", tables_refused())
def test_tables_that_are_none_are_refused_in_one_sentence(tmp_path, case):
    make, sentence = tables_refused()[case]
    path = make(tmp_path)
    if case == "missing column":
        path.unlink()
        path = path.parent
    with pytest.raises(InstanceError) as refused:
        open_pages(path)
    assert sentence in str(refused.value) and "\n" not in str(refused.value)


def test_a_file_damaged_inside_is_refused(tmp_path):
    path = parquet(tmp_path / "a.parquet", *drawn(50_000))
    content = bytearray(path.read_bytes())
    content[4:60] = bytes(range(200, 256))  # the head of the first page
    path.write_bytes(content)
    with pytest.raises(InstanceError, match=r"a\.parquet: the file is damaged: "):
        allocate_pages(open_pages(path), LAW)


@pytest.mark.parametrize("form", ["parquet", "npy"])
def test_a_file_that_changes_under_way_is_refused(tmp_path, form):
    rates, weights = drawn(100)
    path = (
        parquet(tmp_path / "a.parquet", rates, weights)
        if form == "parquet"
        else columns(tmp_path / "a", rates, weights)
    )
    table = open_pages(path)
    changed = path if form == "parquet" else path / "change_rate.npy"
    os.utime(changed, ns=(1, 1))
    with pytest.raises(InstanceError, match="the file has changed since it was opened"):
        allocate_pages(table, LAW)


def instance(folder, pages="pages.parquet", **data):
    content = {"format": 1, "kind": "freshness", "name": "pages"}
    content["data"] = {"pages": pages, "access_time": {"law": "exponential", "mean": 1.0}, **data}
    (folder / "pages.json").write_text(json.dumps(content))
    return folder / "pages.json"


@pytest.mark.parametrize("pages", ["../a.parquet", "/etc", "sub/../../a.parquet", "out/a.parquet", "links"])
def test_paths_of_an_instance_stay_inside_its_folder(tmp_path, pages):
    parquet(tmp_path / "a.parquet", *drawn(10))
    home = tmp_path / "home"
    (home / "links").mkdir(parents=True)
    (home / "out").symlink_to(tmp_path)
    (home / "links" / "a.parquet").symlink_to(tmp_path / "a.parquet")
    with pytest.raises(InstanceError, match=r"inside its folder|leads out of the folder"):
        FreshnessProblem.from_data({"pages": pages, "access_time": {"law": "constant", "value": 1}}, folder=home)


# --- frequencies ------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("law", [LAW, Constant(0.3), Hyperexponential((0.3, 0.7), (0.1, 2.0))], ids=str)
@pytest.mark.parametrize("load", [0.5, 20.0])
def test_streamed_frequencies_are_those_found_in_memory(tmp_path, small_pieces, law, load):
    rates, weights = drawn(20_000, seed=1, load=load)
    rates[:50] = 0.0
    weights[25:75] = 0.0
    table = open_pages(parquet(tmp_path / "a.parquet", rates, weights))
    found = allocate_pages(table, law)
    exact = allocate(traits(rates, weights, law))
    assert found.objective == pytest.approx(exact.objective, rel=1e-10)
    assert found.bound <= exact.objective * (1 + 1e-14)
    assert 0 <= found.gap < 1e-9
    assert found.multiplier == pytest.approx(exact.multiplier, rel=1e-4)
    written = write_frequencies(table, law, found.rule, tmp_path / "f.npy")
    frequencies = np.load(tmp_path / "f.npy")
    assert written.rows == len(frequencies) == 20_000
    assert frequencies.sum() == pytest.approx(1.0, rel=1e-12)
    assert (frequencies[:75] == 0).all() and (frequencies > 0).sum() == found.visited
    pages = traits(rates, weights, law)
    assert cost(pages, even_obsolescence(pages, frequencies)) == pytest.approx(found.objective, rel=1e-12)
    judged = judge_pages(table, law, partial(found.rule.of, law))
    assert sum(judged.cost) == pytest.approx(found.objective, rel=1e-12)
    assert judged.unvisited == 20_000 - found.visited


def test_several_robots_share_the_visits(tmp_path, small_pieces):
    rates, weights = drawn(5000)
    found = allocate_pages(open_pages(parquet(tmp_path / "a.parquet", rates, weights)), LAW, 3.0)
    assert found.objective == pytest.approx(allocate(traits(rates, weights, LAW), 3.0).objective, rel=1e-10)


def test_the_answer_does_not_depend_on_the_number_of_threads(tmp_path, small_pieces):
    table = open_pages(parquet(tmp_path / "a.parquet", *drawn(20_000)))
    answers = {allocate_pages(table, LAW, engine=Threads(workers)) for workers in (1, 2, 5)}
    assert len(answers) == 1


@pytest.mark.parametrize("load", [0.5, 30.0, 1000.0])
def test_weights_that_are_change_rates_need_no_price_that_a_double_can_hold(tmp_path, small_pieces, load):
    rates, _ = drawn(3000, load=load)
    path = parquet(tmp_path / "a.parquet", rates, 7.0 * rates)  # nobody says that they are proportional
    exact = allocate(traits(rates, 7.0 * rates, LAW))
    for table, factor in ((open_pages(path), 1.0), (open_pages(path, proportional=True), 7.0)):
        found = allocate_pages(table, LAW)
        assert factor * found.objective == pytest.approx(exact.objective, rel=1e-12)
        assert factor * found.multiplier == pytest.approx(exact.multiplier, rel=1e-12)
        assert found.visited == 3000 and 0 <= found.gap < 1e-9
        write_frequencies(table, LAW, found.rule, tmp_path / "f.npy")
        np.testing.assert_allclose(np.load(tmp_path / "f.npy"), LAW.decay(rates) / LAW.decay(rates).sum(), rtol=1e-12)


@pytest.mark.parametrize("zero", ["change_rate", "weight"])
def test_pages_that_gain_nothing_cost_nothing(tmp_path, zero):
    values = {"change_rate": np.ones(100), "weight": np.ones(100), zero: np.zeros(100)}
    pq.write_table(pa.table(values), tmp_path / "a.parquet")
    table = open_pages(tmp_path / "a.parquet")
    found = allocate_pages(table, LAW)
    assert (found.objective, found.bound, found.gap, found.multiplier) == (0.0, 0.0, 0.0, 0.0)
    assert judge_pages(table, LAW, partial(found.rule.of, LAW)).frequencies[0] == pytest.approx(1.0)


def test_progress_counts_pages_of_every_pass(tmp_path, small_pieces):
    table = open_pages(parquet(tmp_path / "a.parquet", *drawn(2500)))
    seen = []
    found = allocate_pages(table, LAW, tell=lambda *told: seen.append(told))
    write_frequencies(table, LAW, found.rule, tmp_path / "f.parquet", tell=lambda *told: seen.append(told))
    finished = [phase for phase, done, rows in seen if done == rows]
    assert finished == ["counting", "collecting", "proving", "writing"]
    assert {rows for _, _, rows in seen} == {2500} and len(seen) > 8


@pytest.mark.parametrize("order", ["shuffled", "sorted"])
def test_price_and_least_cost_take_one_pass_where_some_pieces_tell_of_all(tmp_path, monkeypatch, order):
    """Pages around the price are collected on the way; if the first pieces have misled, in a pass of their own."""
    monkeypatch.setattr(freshness_pages, "PIECE", 2000)
    rates, weights = drawn(2000, seed=2, load=10.0)
    rates, weights = np.tile(rates, 20) / 20, np.tile(weights, 20)  # each piece like all others
    if order == "sorted":
        by_worth = np.argsort(weights / rates)
        rates, weights = rates[by_worth], weights[by_worth]
    table = open_pages(parquet(tmp_path / "a.parquet", rates, weights))
    seen = []
    found = price_table(table, LAW, tell=lambda *told: seen.append(told))
    exact = allocate(traits(rates, weights, LAW))
    assert found.objective == pytest.approx(exact.objective, rel=1e-12)
    assert found.multiplier == pytest.approx(exact.multiplier, rel=1e-9)
    assert 0 < found.collected < 4000
    passes = [phase for phase, done, rows in seen if done == rows]
    assert passes == (["counting"] if order == "shuffled" else ["counting", "collecting"])


# --- writing ----------------------------------------------------------------------------------------------------------


def test_both_forms_of_output_hold_the_same_frequencies_and_their_checksum(tmp_path, small_pieces):
    import hashlib

    table = open_pages(parquet(tmp_path / "a.parquet", *drawn(3000)))
    rule = allocate_pages(table, LAW).rule
    for name in ("f.npy", "f.parquet"):
        written = write_frequencies(table, LAW, rule, tmp_path / name)
        assert (written.file, written.rows) == (name, 3000)
        assert hashlib.sha256((tmp_path / name).read_bytes()).hexdigest() == written.sha256
    read = read_written(tmp_path / "f.parquet", written.to_data())
    np.testing.assert_array_equal(read, np.load(tmp_path / "f.npy"))
    assert oct((tmp_path / "f.npy").stat().st_mode & 0o777) == oct(0o666 & ~_umask())


def _umask():
    umask = os.umask(0)
    os.umask(umask)
    return umask


@pytest.mark.parametrize("name", ["f.npy", "f.parquet"])
def test_an_interrupted_write_leaves_what_was_there_before(tmp_path, small_pieces, name):
    table = open_pages(parquet(tmp_path / "a.parquet", *drawn(3000)))
    rule = allocate_pages(table, LAW).rule
    (tmp_path / name).write_text("before")

    def interrupt(phase, done, rows):
        if done > 1500:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        write_frequencies(table, LAW, rule, tmp_path / name, tell=interrupt)
    assert sorted(os.listdir(tmp_path)) == ["a.parquet", name]
    assert (tmp_path / name).read_text() == "before"


def test_ctrl_c_in_the_middle_of_a_write_leaves_no_file(tmp_path):
    """A real signal to a real process, as the command line takes it."""
    parquet(tmp_path / "a.parquet", *drawn(30_000))
    script = f"""
import os, signal, sys
from optmodels.cli import process as cli; from optmodels.freshness.tables import pages as freshness_pages
from optmodels.freshness.tables.streaming import Rule; from optmodels.freshness.tables import write_frequencies
from queueing.processes import Exponential
freshness_pages.PIECE = 1000
def tell(phase, done, rows):
    if done == 5000:
        os.kill(os.getpid(), signal.SIGINT)
table = freshness_pages.open_pages({str(tmp_path / "a.parquet")!r})
cli._take_signals(cli.interrupt)
try:
    write_frequencies(table, Exponential(1.0), Rule(1e-6, 1.0), {str(tmp_path / "f.npy")!r}, tell=tell)
except KeyboardInterrupt:
    print("interrupted", flush=True)
"""
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, timeout=100)
    assert done.stdout == "interrupted\n", done.stderr
    assert os.listdir(tmp_path) == ["a.parquet"]


def test_results_of_tasks_come_in_order_and_a_failure_ends_all():
    begun = []

    def task(item):
        begun.append(item)
        if item == 7:
            raise ZeroDivisionError
        return item

    found = []
    with pytest.raises(ZeroDivisionError):
        for result in in_order(task, range(1000), 2):
            found.append(result)
    assert found == list(range(7)) and len(begun) < 20


def test_a_folder_counts_with_its_manifest_only(tmp_path):
    target = tmp_path / "out"
    with pytest.raises(ZeroDivisionError), whole_folder(target) as folder:
        write_npy(folder / "change_rate.npy", [np.ones(3)], 3)
        raise ZeroDivisionError
    assert os.listdir(tmp_path) == []
    with whole_folder(target) as folder:
        parts = [write_npy(folder / f"{name}.npy", [np.ones(3)], 3) for name in ("change_rate", "weight")]
        assert os.listdir(tmp_path) != ["out"]
        write_manifest(folder, parts)
    assert os.listdir(tmp_path) == ["out"] and open_pages(target).rows == 3
    (target / "host.npy").write_bytes((target / "weight.npy").read_bytes())
    with pytest.raises(InstanceError, match=r"host.npy: the file is not in the _manifest.json of its folder"):
        open_pages(target)
    (target / "host.npy").unlink()
    np.save(target / "weight.npy", np.ones(4))
    with pytest.raises(InstanceError, match=r"weight.npy: the file has changed since the manifest was written"):
        open_pages(target)
    (target / "weight.npy").unlink()
    with pytest.raises(InstanceError, match=r"weight.npy is in the manifest, and not in the folder"):
        open_pages(target, proportional=True)
    (target / MANIFEST).unlink()
    with pytest.raises(InstanceError, match=r"whoever wrote this folder has not finished"):
        check_manifest(target, required=True)


def test_only_folders_of_ours_are_replaced(tmp_path):
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine" / "diary.txt").write_text("kept")
    with pytest.raises(RequestError, match="there is something else already"), whole_folder(tmp_path / "mine"):
        pass
    assert (tmp_path / "mine" / "diary.txt").read_text() == "kept"
    for length in (3, 5):
        with whole_folder(tmp_path / "ours") as folder:
            write_manifest(folder, [write_npy(folder / "change_rate.npy", [np.ones(length)], length)])
    assert open_pages(tmp_path / "ours", proportional=True).rows == 5
    assert sorted(os.listdir(tmp_path)) == ["mine", "ours"]


def test_a_file_that_cannot_be_written_is_told(tmp_path):
    table = open_pages(parquet(tmp_path / "a.parquet", *drawn(100)))
    with pytest.raises(InstanceError, match="cannot be written: No such file or directory"):
        write_frequencies(table, LAW, allocate_pages(table, LAW).rule, tmp_path / "none" / "f.npy")


# --- memory -----------------------------------------------------------------------------------------------------------

LIMITED = """
import resource, sys
from optmodels.freshness.tables import open_pages
from optmodels.freshness.tables.engine import Threads
from optmodels.freshness.tables import allocate_pages, write_frequencies
from queueing.processes import Exponential
path, small, out, room, workers = *sys.argv[1:4], int(sys.argv[4]), Threads(int(sys.argv[5]))
law, few = Exponential(1.0), open_pages(small)
write_frequencies(few, law, allocate_pages(few, law).rule, out)  # compiled, and libraries are there
mapped = int(open("/proc/self/statm").read().split()[0]) * resource.getpagesize()
resource.setrlimit(resource.RLIMIT_AS, (mapped + room, mapped + room))
table = open_pages(path)
found = allocate_pages(table, law, engine=workers)
written = write_frequencies(table, law, found.rule, out, engine=workers)
try:
    table.read()
except MemoryError:
    print(table.rows, written.rows, found.gap < 1e-9, "no room to read it")
"""


def solved_in_little_room(folder, name, pages, room, workers):
    FreshnessGenerator(pages=pages, zipf=0.5, seed=1).write(folder / name)
    FreshnessGenerator(pages=200_000, seed=1).write(folder / f"small-{name}")
    assert room < 16 * pages
    files = folder / name, folder / f"small-{name}", folder / "f.npy"
    done = subprocess.run(
        [sys.executable, "-c", LIMITED, *files, str(room), str(workers)],
        capture_output=True, text=True, timeout=300,
        env=os.environ | {"MALLOC_ARENA_MAX": "1", "ARROW_DEFAULT_MEMORY_POOL": "system"},  # no reserves of their own
    )  # fmt: skip
    assert done.stdout == f"{pages} {pages} True no room to read it\n", done.stderr[-2000:]


@pytest.mark.parametrize("name", ["pages.parquet", pytest.param("pages", marks=pytest.mark.slow)])
def test_memory_does_not_grow_with_the_number_of_pages(tmp_path, name):
    """Address space below the size of the data: nothing of the whole table can ever be in it."""
    solved_in_little_room(tmp_path, name, 11_000_000, 165_000_000, 1)


@pytest.mark.slow
@pytest.mark.timeout(400)
@pytest.mark.parametrize("name", ["pages.parquet", "pages"])
def test_nor_with_two_threads(tmp_path, name):
    solved_in_little_room(tmp_path, name, 60_000_000, 400_000_000, 2)


# --- problems ---------------------------------------------------------------------------------------------------------


@pytest.fixture
def large(monkeypatch, small_pieces):
    """Tables count as large from a thousand pages on."""
    monkeypatch.setattr(freshness_data, "LARGE", 1000)


def test_large_tables_are_streamed_and_the_answer_is_verified(tmp_path, large):
    rates, weights = drawn(5000)
    parquet(tmp_path / "pages.parquet", rates, weights)
    problem = FreshnessProblem.from_data(json.loads(instance(tmp_path).read_text())["data"], name="p", folder=tmp_path)
    assert isinstance(problem, LargeFreshnessProblem)
    result = solve(problem, Lagrangian())
    held = FreshnessProblem.from_data(
        {"change_rates": rates.tolist(), "weights": weights.tolist(), "access_time": {"law": "exponential", "mean": 1}}
    )
    known = solve(held, Lagrangian())
    assert result.status == "optimal" and result.checked
    assert result.objective == pytest.approx(known.objective, rel=1e-9)
    assert result.extra["multiplier"] == pytest.approx(known.extra["multiplier"], rel=1e-4)
    assert result.evaluation.measures["pages_never_visited"] == known.evaluation.measures["pages_never_visited"]
    write_result(result, tmp_path / "r.json")
    told = json.loads((tmp_path / "r.json").read_text())["decision"]
    assert set(told) == {"file", "rows", "sha256"} and told["rows"] == 5000
    assert verify_file(tmp_path / "r.json", problem).verified
    np.testing.assert_allclose(read_result(tmp_path / "r.json").decision, known.decision, rtol=1e-4, atol=1e-9)
    frequencies = np.array(np.load(tmp_path / told["file"]))
    frequencies[np.argmax(frequencies)] *= 1.01
    assert "sum of frequencies" in problem.evaluate(problem.space.check(frequencies)).violations


def test_large_tables_with_rules_about_hosts_are_held_in_memory(tmp_path, large):
    rates, weights = drawn(2000)
    parquet(tmp_path / "pages.parquet", rates, weights, host=np.arange(2000) % 7)
    data = {"pages": "pages.parquet", "access_time": {"law": "exponential", "mean": 1.0}, "host_caps": 0.5}
    assert type(FreshnessProblem.from_data(data, folder=tmp_path)) is FreshnessProblem


def test_schedules_of_large_tables_read_the_pages_when_they_need_them(tmp_path, large):
    rates, weights = drawn(1500)
    parquet(tmp_path / "pages.parquet", rates, weights)
    data = {"pages": "pages.parquet", "access_time": {"law": "exponential", "mean": 1.0}}
    problem = FreshnessProblem.from_data(data, folder=tmp_path)
    assert "_columns" not in vars(problem.columns)
    held = FreshnessProblem.from_data(
        {"change_rates": rates.tolist(), "weights": weights.tolist(), "access_time": data["access_time"]}
    )
    cycle = {"schedule": list(range(1500))}
    assert problem.evaluate(cycle).objective == held.evaluate(cycle).objective
    assert problem.to_data() == data


# --- synthetic pages --------------------------------------------------------------------------------------------------


def test_the_same_pages_whatever_they_are_written_to(tmp_path, monkeypatch):
    monkeypatch.setattr(freshness_generating, "DRAWN", 400)
    monkeypatch.setattr(freshness_generating, "FILE_ROWS", 800)
    made = FreshnessGenerator(pages=2100, hosts=10, seed=3)
    assert made.write(tmp_path / "many.parquet") == [str(tmp_path / "many.parquet"), str(tmp_path / "many.json")]
    assert (tmp_path / "many.parquet").is_dir() and len(os.listdir(tmp_path / "many.parquet")) == 4
    made.write(tmp_path / "columns")
    monkeypatch.setattr(freshness_generating, "FILE_ROWS", 10_000)
    made.write(tmp_path / "one.parquet")
    tables = [open_pages(tmp_path / name) for name in ("many.parquet", "columns", "one.parquet")]
    first = tables[0].read()
    for table in tables:
        assert table.rows == 2100 and table.synthetic == made.label and "synthetic" in made.label
        np.testing.assert_array_equal(table.read(), first)
        np.testing.assert_array_equal(table.hosts()[0], tables[0].hosts()[0])
    with pytest.raises(AssertionError):
        np.testing.assert_array_equal(FreshnessGenerator(pages=2100, seed=4).draw(0)["change_rate"], first[0][:400])
    problem = FreshnessProblem.from_data(
        json.loads((tmp_path / "columns.json").read_text())["data"], folder=tmp_path, name="c"
    )
    np.testing.assert_array_equal(problem.columns.rates, first[0])


def test_few_pages_stand_in_the_instance_which_is_named_synthetic(tmp_path):
    made = FreshnessGenerator(pages=50, hosts=3, seed=1, access="constant", name="mine")
    assert made.write(tmp_path / "a.json") == [str(tmp_path / "a.json")]
    content = json.loads((tmp_path / "a.json").read_text())
    assert content["name"] == "synthetic-mine" and "synthetic" in content["source"]
    assert content["data"]["change_rates"] == made.draw(0)["change_rate"].tolist()
    assert len(content["data"]["hosts"]) == 50 and content["data"]["access_time"] == {"law": "constant", "value": 1.0}


@pytest.mark.parametrize("law", ["lognormal", "pareto"])
def test_rates_and_weights_follow_their_laws(law):
    made = FreshnessGenerator(pages=200_000, law=law, tail=3.0, load=2.0, zipf=1.0, hosts=5, seed=1)
    chunk = made.draw(0)
    rates, weights, hosts = chunk["change_rate"], chunk["weight"], chunk["host"]
    assert rates.sum() == pytest.approx(2.0, rel=0.02)
    logs = np.log(rates)
    if law == "lognormal":
        assert logs.std() == pytest.approx(1.0, rel=0.02)
    else:  # ln of a Pareto variable is exponential of rate `tail`
        assert logs.mean() - logs.min() == pytest.approx(1 / 3, rel=0.02)
    shares = np.bincount(hosts, minlength=5) / 200_000
    np.testing.assert_allclose(shares, (1 / np.arange(1, 6)) / (1 / np.arange(1, 6)).sum(), rtol=0.02)
    assert np.median(weights) == pytest.approx(1e-5, rel=0.02) and weights.max() <= 1.0
    assert abs(np.corrcoef(rates, weights)[0, 1]) < 0.02


@pytest.mark.parametrize(
    ("options", "sentence"),
    [
        ({"pages": 0}, "pages must be between 1 and"),
        ({"tail": 1.0}, "tail must be between"),
        ({"load": float("nan")}, "load must be between"),
        ({"hosts": -1}, "hosts must be between 0 and"),
        ({"seed": -1}, "seed must be 0 or more"),
    ],
)
def test_options_out_of_range_are_refused(options, sentence):
    with pytest.raises(ValueError, match=sentence):
        FreshnessGenerator(**options)


def test_many_pages_need_a_file_and_a_name_that_tells_which(tmp_path):
    with pytest.raises(RequestError, match=r"write them to columns, as --out pages.parquet does"):
        FreshnessGenerator(pages=200_000).instance()
    with pytest.raises(RequestError, match=r"pages are written to x.json, x.parquet or a folder"):
        FreshnessGenerator(pages=10).write(tmp_path / "pages.csv")
    assert os.listdir(tmp_path) == []


def test_an_interrupted_generator_leaves_nothing(tmp_path, monkeypatch):
    monkeypatch.setattr(freshness_generating, "DRAWN", 400)
    monkeypatch.setattr(freshness_generating, "FILE_ROWS", 800)

    def interrupt(done, pages):
        if done > 1000:
            raise KeyboardInterrupt

    for name in ("a.parquet", "a"):
        with pytest.raises(KeyboardInterrupt):
            FreshnessGenerator(pages=2100).write(tmp_path / name, interrupt)
        assert os.listdir(tmp_path) == []


def words(command):
    return command.split()


def test_the_commands_generate_solve_and_verify(tmp_path, monkeypatch, capsys, large):
    from optmodels.cli import main

    monkeypatch.chdir(tmp_path)
    assert main(words("generate freshness --pages 3e3 --law pareto --hosts 50 --seed 1 --out pages.parquet")) == 0
    assert main(words("solve pages.json --strategy lagrangian --json --out answer.json")) == 0
    told = json.loads(capsys.readouterr().out)
    assert told["status"] == "optimal" and told["problem"] == "synthetic-pareto-3000-1"
    assert told["extra"]["synthetic"].startswith("synthetic: 3000 pages")
    assert told["decision"]["file"] == "answer.decision.npy" and told["decision"]["rows"] == 3000
    assert main(words("verify answer.json pages.json")) == 0
    assert sorted(os.listdir()) == ["answer.decision.npy", "answer.json", "pages.json", "pages.parquet"]
    bad = pq.read_table("pages.parquet").to_pydict()
    bad["weight"][1234] = -1.0
    pq.write_table(pa.table(bad), "pages.parquet")
    (tmp_path / "new").mkdir()
    capsys.readouterr()
    assert main(words("solve pages.json --strategy lagrangian --json --out new/answer.json")) == 2
    seen = capsys.readouterr()
    assert "pages.parquet: row 1234, column weight is -1.0; weights are finite numbers" in seen.err and seen.out == ""
    assert os.listdir("new") == []


@pytest.mark.parametrize("crowded", range(3))
def test_pages_that_are_too_many_in_one_piece_are_too_many_in_all(crowded):
    pieces = [SimpleNamespace(rows=1, found=None if number == crowded else (number,)) for number in range(3)]
    assert Threads(2).reduce(lambda some: some[0].found, _joined, pieces, None) is None
