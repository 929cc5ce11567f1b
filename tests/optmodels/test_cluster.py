"""Passes over pages on a real Dask cluster of two processes: one answer, whoever computes it, and whoever dies."""

import contextlib
import json
import os
import signal
import socket
import subprocess
import sys
import threading
import time
from functools import partial

import numpy as np
import pytest

from optmodels.data import check_manifest, read_written
from optmodels.data.written import MANIFEST
from optmodels.errors import InstanceError, RequestError
from optmodels.freshness import FreshnessGenerator
from optmodels.freshness.tables import allocate_pages, cluster, on_cluster, open_pages, write_frequencies
from optmodels.freshness.tables import pages as freshness_pages
from optmodels.freshness.tables.engine import Cluster, Threads, grouped
from optmodels.freshness.tables.streaming import judge_pages
from queueing.processes import Exponential

LAW = Exponential(1.0)
PAGES = 40_000


@pytest.fixture(scope="module")
def client():
    """Two processes, started once."""
    with cluster("local", workers=2) as engine:
        yield engine.client


@pytest.fixture
def engine(client):
    """Tasks of some thousand pages, so that small tables have many."""
    return Cluster(client, task=3000)


@pytest.fixture(scope="module")
def table(tmp_path_factory):
    """Many files."""
    folder = tmp_path_factory.mktemp("pages")
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("optmodels.freshness.generate.DRAWN", 500)
        patch.setattr("optmodels.freshness.generate.FILE_ROWS", 2500)
        FreshnessGenerator(pages=PAGES, seed=5).write(folder / "pages.parquet")
        patch.setattr(freshness_pages, "PIECE", 1000)
        return open_pages(folder / "pages.parquet")


@pytest.fixture(scope="module")
def alone(table):
    """The answer of threads."""
    return allocate_pages(table, LAW)


def same(found, known):
    assert found.multiplier == pytest.approx(known.multiplier, rel=1e-12)
    assert found.objective == pytest.approx(known.objective, rel=1e-13)
    assert found.bound == pytest.approx(known.bound, rel=1e-13)
    assert found.visited == known.visited


class Slow:
    """The histogram of some pieces, as if they were larger; says in a file that it has begun."""

    def __init__(self, law, begun, seconds=0.15):
        self.law, self.begun, self.seconds = law, begun, seconds

    def __call__(self, pieces):
        from optmodels.freshness.tables.streaming import count

        with open(self.begun, "a") as file:
            file.write(f"{os.getpid()}\n")
        time.sleep(self.seconds)
        return count(pieces, self.law)


def test_pieces_are_put_together_until_they_are_worth_a_task(table):
    groups = grouped(table.pieces, 3000)
    assert [piece for group in groups for piece in group] == list(table.pieces)
    assert all(sum(piece.rows for piece in group) >= 3000 for group in groups[:-1]) and len(groups) > 10


def test_a_cluster_finds_what_threads_find(engine, table, alone):
    seen = []
    found = allocate_pages(table, LAW, engine=engine, tell=lambda *told: seen.append(told))
    same(found, alone)
    assert [phase for phase, done, rows in seen if done == rows == PAGES] == ["counting", "collecting", "proving"]
    judged = judge_pages(table, LAW, partial(found.rule.of, LAW), engine=engine)
    assert sum(judged.cost) == pytest.approx(alone.objective, rel=1e-12)
    assert sum(judged.frequencies) == pytest.approx(1.0, rel=1e-12)


def test_a_cluster_writes_many_files_that_hold_the_same_frequencies(engine, table, alone, tmp_path):
    written = write_frequencies(table, LAW, alone.rule, tmp_path / "f.parquet", engine=engine)
    assert written.rows == PAGES and len(os.listdir(tmp_path / "f.parquet")) > 10
    check_manifest(tmp_path / "f.parquet", required=True, checksums=True)
    write_frequencies(table, LAW, alone.rule, tmp_path / "f.npy", engine=Threads())
    np.testing.assert_array_equal(read_written(tmp_path / "f.parquet", written.to_data()), np.load(tmp_path / "f.npy"))
    part = sorted((tmp_path / "f.parquet").glob("part-*"))[3]
    part.write_bytes(part.read_bytes()[:-1] + b"x")
    with pytest.raises(InstanceError, match=r"part-00003.parquet: the file has changed since the manifest"):
        read_written(tmp_path / "f.parquet", written.to_data())


def test_a_bad_row_on_a_worker_is_named_and_nothing_is_written(engine, tmp_path):
    import pyarrow as pa
    import pyarrow.parquet as pq

    weights = np.ones(20_000)
    weights[17_171] = np.nan
    pq.write_table(pa.table({"change_rate": np.ones(20_000), "weight": weights}), tmp_path / "a.parquet")
    table = open_pages(tmp_path / "a.parquet")
    sentence = r"a\.parquet: row 17171, column weight is NaN; weights are finite numbers"
    with pytest.raises(InstanceError, match=sentence):
        allocate_pages(table, LAW, engine=engine)
    from optmodels.freshness.tables.streaming import Rule

    with pytest.raises(InstanceError, match=sentence):
        write_frequencies(table, LAW, Rule(0.1, 1.0), tmp_path / "f.parquet", engine=engine)
    assert os.listdir(tmp_path) == ["a.parquet"]


def test_a_worker_killed_in_the_middle_changes_nothing(engine, table, tmp_path):
    from optmodels.freshness.tables.streaming import Counted

    begun = tmp_path / "begun"
    undisturbed = engine.reduce(Slow(LAW, begun, 0.0), Counted.merged, table.pieces, None)
    begun.unlink()
    killed = []

    def kill(phase, done, rows):
        if done > rows // 3 and not killed:
            killed.append(int(begun.read_text().split()[-1]))
            os.kill(killed[0], signal.SIGKILL)

    found = engine.reduce(Slow(LAW, begun), Counted.merged, table.pieces, kill)
    tasks = len(grouped(table.pieces, 3000))
    assert killed and len(begun.read_text().split()) > tasks  # some were done twice
    found, undisturbed = found.histogram, undisturbed.histogram
    assert found.first == undisturbed.first and found.pages == undisturbed.pages == PAGES
    np.testing.assert_array_equal(found.moments, undisturbed.moments)


def test_an_interrupted_write_is_never_taken_for_a_result(engine, table, alone, tmp_path):
    def interrupt(phase, done, rows):
        if done > rows // 3:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        write_frequencies(table, LAW, alone.rule, tmp_path / "f.parquet", engine=engine, tell=interrupt)
    visible = [name for name in os.listdir(tmp_path) if not name.startswith(".")]
    assert visible == []
    written = write_frequencies(table, LAW, alone.rule, tmp_path / "f.parquet", engine=engine)
    assert read_written(tmp_path / "f.parquet", written.to_data()).sum() == pytest.approx(1.0)


def test_what_a_killed_writer_leaves_is_no_table_and_no_result(tmp_path, table, alone):
    """A process that is killed has no chance to tidy up: what it leaves has neither name nor manifest."""
    script = f"""
import os, signal
from optmodels.freshness.tables import pages as freshness_pages
from optmodels.data import whole_folder
from optmodels.freshness.tables.streaming import Rule
from optmodels.freshness.tables.engine import grouped, write_part
from queueing.processes import Exponential
table = freshness_pages.open_pages({table.path!r})
rule, law = Rule({alone.multiplier!r}, 1.0), Exponential(1.0)
with whole_folder({str(tmp_path / "f.parquet")!r}) as folder:
    for number, group in enumerate(grouped(table.pieces, 3000)):
        write_part((folder / f"part-{{number:05d}}.parquet", group), rule, law)
        if number == 2:
            os.kill(os.getpid(), signal.SIGKILL)
"""
    assert subprocess.run([sys.executable, "-c", script], timeout=100).returncode == -signal.SIGKILL
    [left] = os.listdir(tmp_path)
    assert (
        left.startswith(".") and len(os.listdir(tmp_path / left)) == 3 and MANIFEST not in os.listdir(tmp_path / left)
    )
    with pytest.raises(InstanceError, match=r"there is no \.parquet file in this folder"):
        open_pages(tmp_path)
    with pytest.raises(InstanceError, match="whoever wrote this folder has not finished"):
        read_written(tmp_path / left, {"rows": 9000, "sha256": ""})


def test_ctrl_c_ends_a_pass_on_a_cluster(engine, table, tmp_path):
    from heuristics import interrupting
    from optmodels.freshness.tables.streaming import Counted

    begun = tmp_path / "begun"
    threading.Timer(0.4, interrupting.note).start()  # as the signal handler of the command line does
    try:
        with pytest.raises(KeyboardInterrupt):
            engine.reduce(Slow(LAW, begun), Counted.merged, table.pieces, None)
    finally:
        interrupting.answered()
    assert len(begun.read_text().split()) < len(grouped(table.pieces, 3000))


def test_no_cluster_there_is_told_in_a_sentence(monkeypatch):
    monkeypatch.setattr("optmodels.cluster.PATIENCE", 0.5)
    with pytest.raises(RequestError, match=r"no cluster answers at 'tcp://127.0.0.1:9'"), cluster("tcp://127.0.0.1:9"):
        pass


def test_a_local_cluster_is_heard_on_this_machine_alone(client):
    """The dashboard listened on all addresses."""
    import psutil

    me = psutil.Process()
    listening = {
        connection.laddr.ip
        for process in [me, *me.children(recursive=True)]
        for connection in process.net_connections(kind="inet")
        if connection.status == psutil.CONN_LISTEN
    }
    assert listening == {"127.0.0.1"}
    assert client.dashboard_link.startswith("http://127.0.0.1:")


@contextlib.contextmanager
def stranger(answer):
    """The address of something that is no Dask scheduler, and does this with whoever calls."""
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        listener.listen()
        callers = []

        def serve():
            with contextlib.suppress(OSError):
                while True:
                    callers.append(listener.accept()[0])
                    answer(callers[-1])

        threading.Thread(target=serve, daemon=True).start()
        yield f"tcp://127.0.0.1:{listener.getsockname()[1]}"
        for caller in callers:
            caller.close()


STRANGERS = {
    "a web server": lambda caller: caller.sendall(b"HTTP/1.1 400 Bad Request\r\n\r\n"),
    "noise": lambda caller: caller.sendall(bytes(range(256)) * 16),
    "one that hangs up": lambda caller: caller.close(),
    "one that is silent": lambda caller: None,
}


@pytest.mark.parametrize("kind", STRANGERS)
def test_a_port_that_is_no_dask_is_told_in_a_sentence(kind, monkeypatch, capfd):
    monkeypatch.setattr("optmodels.cluster.PATIENCE", 1.0)
    with (
        stranger(STRANGERS[kind]) as address,
        pytest.raises(RequestError, match=f"^no cluster answers at '{address}': .* give the address of one.*") as told,
        cluster(address),
    ):
        pass
    asked_again = kind in ("one that is silent", "one that hangs up")  # as a scheduler does that is starting
    assert asked_again or "what listens there is no Dask scheduler" in str(told.value)
    assert capfd.readouterr().err == ""


def test_a_worker_is_no_scheduler(client):
    address = next(iter(client.scheduler_info()["workers"]))
    with pytest.raises(RequestError, match="what listens there is no Dask scheduler"), cluster(address):
        pass


@pytest.mark.parametrize(
    ("content", "sentence"),
    [
        (None, "there is no such file"),
        ("{", "this is not JSON"),
        ("[]", 'it holds no "address"'),
        ('{"address": 5}', 'it holds no "address"'),
        ('{"address": "nowhere"}', "no cluster answers at 'nowhere': missing port number"),
    ],
)
def test_a_wrong_file_of_a_cluster_is_told_in_a_sentence(tmp_path, content, sentence):
    file = tmp_path / "scheduler.json"
    if content is not None:
        file.write_text(content)
    with pytest.raises(RequestError, match=sentence), cluster(str(file)):
        pass


def test_the_file_of_a_scheduler_leads_to_it(client, tmp_path):
    file = tmp_path / "scheduler.json"
    client.write_scheduler_file(str(file))
    with cluster(str(file)) as engine:
        assert engine.client.submit(sum, (1, 2)).result(timeout=30) == 3


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["one that is silent", "a web server"])
def test_a_port_that_is_no_dask_ends_a_command_within_20_s(kind, instances):
    with stranger(STRANGERS[kind]) as address:
        began = time.monotonic()
        told = subprocess.run(
            [sys.executable, "-m", "optmodels", "compare", str(instances / "placement" / "gautam-2x3.json"),
             "--strategies", "exhaustive", "--cluster", address],
            capture_output=True, text=True, timeout=60,
        )  # fmt: skip
        assert time.monotonic() - began < 20
    assert told.returncode == 2 and told.stderr.count("\n") == 1 and "no cluster answers at" in told.stderr


def test_only_tables_of_pages_go_to_a_cluster(tmp_path, instances):
    with (
        pytest.raises(RequestError, match=r"a cluster goes over tables of pages .* leave --cluster out"),
        on_cluster(instances / "placement" / "gautam-2x3.json"),
    ):
        pass


def test_the_command_solves_on_a_cluster(client, table, alone, tmp_path, monkeypatch, capsys):
    from optmodels.cli import main

    monkeypatch.chdir(tmp_path)
    os.symlink(os.path.dirname(table.path), tmp_path / "pages")
    address = client.scheduler.address
    file = str(tmp_path / "pages" / "pages.json")
    assert main(["solve", file, "--strategy", "lagrangian", "--cluster", address, "--json", "--out", "a.json"]) == 0
    told = json.loads(capsys.readouterr().out)
    assert told["status"] == "optimal" and told["checked"]
    assert told["objective"] == pytest.approx(alone.objective, rel=1e-12)
    assert told["decision"]["file"] == "a.decision.parquet" and told["decision"]["rows"] == PAGES
    assert "synthetic" in told["extra"]["synthetic"]
    assert main(["verify", "a.json", file]) == 0


def test_workers_compile_before_the_clock_starts(engine, client, table, monkeypatch):
    from contextlib import nullcontext

    from optmodels.freshness.tables.problem import compile_passes

    done = []
    monkeypatch.setattr(client, "run", lambda task, *arguments: done.append((task, arguments)))
    monkeypatch.setattr("optmodels.freshness.tables.engine.cluster", lambda address: nullcontext(engine))
    with on_cluster(os.path.join(os.path.dirname(table.path), "pages.json")) as problem:
        problem.prepare()
    assert done == [(compile_passes, (problem.access_time,))]


@pytest.mark.skipif(not hasattr(signal, "pthread_sigmask"), reason="signals of another kind")
def test_workers_outlive_a_ctrl_c(client):
    """A terminal sends it to all processes in front; whoever asked for the work is to answer it, not the workers."""
    workers = client.run(os.getpid)
    for process in workers.values():
        os.kill(process, signal.SIGINT)
    assert client.submit(sum, (1, 2)).result(timeout=30) == 3
    assert client.run(os.getpid) == workers


# -- runs of a study --------------------------------------------------------------------------------------------------


def test_a_comparison_on_a_cluster_is_the_comparison(client, instances, tmp_path):
    from optmodels import compare

    files = [instances / "routing" / "loss-3.json", instances / "routing" / "loss-4.json"]
    names = ["whittle", "genetic:population=20", "two-server"]
    here = compare(files, names, seeds=2, evaluations=100)
    there = compare(files, names, seeds=2, evaluations=100, cluster=client.scheduler.address, out=tmp_path / "study")

    def told(comparison):
        return [
            (run.problem, run.strategy, run.result.seed, run.result.objective, run.reason) for run in comparison.runs
        ]

    assert told(there) == told(here)
    assert any(run.reason for run in there.runs), "two servers are not three: a sentence, wherever it is said"
    again = compare(
        files, names[:2], seeds=2, evaluations=100, cluster="no address", out=tmp_path / "study", resume=True
    )
    assert told(again) == [run for run in told(here) if run[-1] is None], "nothing is left to run: no cluster is asked"


def test_a_sweep_on_a_cluster_is_the_sweep(client, instances):
    from optmodels.studies import sweep

    file, vary = instances / "routing" / "figure-1.json", "data.servers[1].rate=1..4"
    here = sweep(file, vary, "two-server")
    there = sweep(file, vary, "two-server", cluster=client.scheduler.address)
    assert [point.record["objective"] for point in there.points] == [point.record["objective"] for point in here.points]


def _calls_that_kill(number):
    if number == 1:
        os._exit(7)
    return 10 * number


def test_a_run_that_kills_its_worker_costs_itself_alone():
    import dask

    from optmodels.studies.pool import call_all

    with dask.config.set({"distributed.scheduler.allowed-failures": 0}):
        answers = sorted(call_all(_calls_that_kill, [(0,), (1,), (2,)], 2, "local"), key=lambda answer: answer.index)
    assert [answer.value for answer in answers] == [0, None, 20]
    assert "the cluster gave up" in answers[1].error
