"""Files that are written whole or not at all, by one helper, and never through a link."""

import ast
import errno
import json
import os
import re
import stat
import subprocess
import sys
import threading
from pathlib import Path

import numpy as np
import pytest

from heuristics import Evaluation
from heuristics.result import Result, Status
from optmodels.cli import main
from optmodels.data import (
    append_line,
    locked,
    replaced,
    whole_file,
    whole_folder,
    whole_lines,
    write_npy,
    write_text,
    writing,
)
from optmodels.data.written import MANIFEST
from optmodels.errors import UnwritableFile
from optmodels.results import write_result

LONG = 100_001


@pytest.fixture
def full(monkeypatch):
    """A disk that takes no more, as `fsync` tells."""

    def fsync(handle):
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setattr(os, "fsync", fsync)


def answer(decision):
    return Result(
        problem="p", status=Status.FEASIBLE, decision=decision, evaluation=Evaluation(1.0), strategy="s", seed=0
    )


# -- links ------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("names", [[".r.decision.npy.tmp"], [".r.json.tmp", "r.json", "r.decision.npy"]])
def test_no_link_that_lies_in_wait_is_followed(tmp_path, names):
    """The temporary file of a long decision had a name that anybody could foresee."""
    victim = tmp_path / "victim"
    victim.write_text("precious")
    folder = tmp_path / "shared"
    folder.mkdir()
    for name in names:
        (folder / name).symlink_to(victim)
    told = write_result(answer(tuple(range(LONG))), folder / "r.json")
    assert victim.read_text() == "precious"
    assert not (folder / "r.json").is_symlink() and not (folder / told["decision"]["file"]).is_symlink()
    assert json.loads((folder / "r.json").read_text())["decision"] == told["decision"]


def test_a_target_that_is_a_link_is_replaced_and_what_it_points_to_stays(tmp_path):
    (tmp_path / "old").write_text("precious")
    (tmp_path / "a.txt").symlink_to("old")
    write_text(tmp_path / "a.txt", "new")
    assert ((tmp_path / "a.txt").read_text(), (tmp_path / "old").read_text()) == ("new", "precious")


def test_a_folder_of_columns_replaces_a_link_and_leaves_what_it_points_to(tmp_path):
    (tmp_path / "old").mkdir()
    (tmp_path / "old" / MANIFEST).write_text("{}")
    (tmp_path / "pages").symlink_to("old")
    with whole_folder(tmp_path / "pages") as folder:
        write_npy(folder / "a.npy", [np.ones(3)], 3)
        write_text(folder / MANIFEST, "{}")
    assert sorted(os.listdir(tmp_path)) == ["old", "pages"] and not (tmp_path / "pages").is_symlink()
    assert os.listdir(tmp_path / "old") == [MANIFEST]


def test_no_line_is_added_through_a_link(tmp_path):
    (tmp_path / "victim").write_text("precious\n")
    (tmp_path / "runs.jsonl").symlink_to("victim")
    with pytest.raises(UnwritableFile, match=r"runs\.jsonl: lines are added to files only, and this is a symbolic"):
        append_line(tmp_path / "runs.jsonl", "{}")
    with pytest.raises(UnwritableFile):
        whole_lines(tmp_path / "runs.jsonl")
    assert (tmp_path / "victim").read_text() == "precious\n"


def test_a_device_is_no_file(tmp_path):
    os.mkfifo(tmp_path / "pipe")
    for path in (os.devnull, tmp_path / "pipe", "/dev/optmodels-new"):
        with pytest.raises(UnwritableFile, match="this is not a regular file"):
            write_text(path, "x")
    with pytest.raises(UnwritableFile, match="this is not a regular file"):
        append_line(tmp_path / "pipe", "x")
    assert stat.S_ISCHR(os.stat(os.devnull).st_mode)


# -- rights -----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("mask", [0o022, 0o077, 0o002])
def test_rights_are_those_of_a_new_file_or_of_the_one_replaced(tmp_path, mask):
    before = os.umask(mask)
    try:
        write_text(tmp_path / "new", "x")
        (tmp_path / "kept").write_text("x")
        (tmp_path / "kept").chmod(0o664)
        write_text(tmp_path / "kept", "y")
    finally:
        os.umask(before)
    assert stat.S_IMODE((tmp_path / "new").stat().st_mode) == 0o666 & ~mask
    assert stat.S_IMODE((tmp_path / "kept").stat().st_mode) == 0o664


def test_a_secret_is_never_readable_by_others_while_it_is_written(tmp_path):
    (tmp_path / "secret").write_text("x")
    (tmp_path / "secret").chmod(0o600)
    with replaced(tmp_path / "secret") as stream:
        stream.write(b"y")
        assert {stat.S_IMODE((tmp_path / name).stat().st_mode) for name in os.listdir(tmp_path)} == {0o600}


# -- a disk that is full ----------------------------------------------------------------------------------------------


def test_nothing_is_left_of_what_a_full_disk_did_not_take(tmp_path, full):
    (tmp_path / "lines").write_bytes(b"one\n")
    with pytest.raises(UnwritableFile, match=r"r\.decision\.npy: cannot be written: No space left on device"):
        write_result(answer(tuple(range(LONG))), tmp_path / "r.json")
    with pytest.raises(UnwritableFile, match="cannot be written: No space left"):
        append_line(tmp_path / "lines", "two")
    with pytest.raises(UnwritableFile), whole_file(tmp_path / "column") as stream:
        stream.write(b"x")
    assert os.listdir(tmp_path) == ["lines"] and (tmp_path / "lines").read_bytes() == b"one\n"


@pytest.mark.parametrize("json_too", [False, True])
def test_a_full_disk_at_the_end_of_a_solve_leaves_the_answer_on_stdout(instances, tmp_path, full, capsys, json_too):
    out = tmp_path / "r.json"
    words = ["solve", str(instances / "placement" / "gautam-2x3.json"), "--strategy", "exhaustive", "--out", str(out)]
    assert main([*words, "--json"] if json_too else words) == 2
    told = capsys.readouterr()
    lines = told.out.splitlines()
    assert json.loads(lines[-1])["decision"] == [0, 0, 1, 1, 1, 0]
    assert len(lines) == 1 if json_too else lines[0].startswith("gautam-2x3: optimal, objective 8")
    assert told.err == (
        f"optmodels: {out}: cannot be written: No space left on device. The answer is on standard output.\n"
    )
    assert os.listdir(tmp_path) == []


def test_a_long_decision_that_no_file_takes_is_printed_in_full(tmp_path, full):
    from optmodels.results import kept_result

    data, unwritten = kept_result(answer(tuple(range(LONG))), tmp_path / "r.json")
    assert data["decision"] == list(range(LONG))
    assert unwritten.endswith("r.decision.npy: cannot be written: No space left on device.")


@pytest.mark.slow
@pytest.mark.parametrize("command", ["solve", "compare", "sweep", "generate"])
def test_a_disk_that_is_really_full(instances, tmp_path, command):
    """A file system of a few pages where one can be mounted; else files that may not grow."""
    small = instances / "placement" / "gautam-2x3.json"
    tiny = tmp_path / "tiny"
    tiny.mkdir()
    mounted = subprocess.run(["mount", "-t", "tmpfs", "-o", "size=16k", "tmpfs", tiny], capture_output=True).returncode
    limit = "" if mounted == 0 else "ulimit -f 0; "
    words = {
        "solve": f"solve {small} --strategy exhaustive --out {tiny}/r.json",
        "compare": f"compare {small} --strategies exhaustive --out {tiny}/runs",
        "sweep": f"sweep {small} --vary data.service_rate=20,21 --strategy exhaustive --out {tiny}/s.csv",
        "generate": f"generate placement --rows 20 --columns 20 --out {tiny}/g.json",
    }[command]
    try:
        if mounted == 0:
            with (tiny / "fill").open("wb", buffering=0) as fill, pytest.raises(OSError):
                while True:
                    fill.write(b"0" * 1024)
        told = subprocess.run(
            ["/bin/bash", "-c", f"{limit}{sys.executable} -m optmodels {words}"], capture_output=True, text=True
        )
        held = [file for file in tiny.rglob("*") if file.is_file() and file.name != "fill" and file.stat().st_size]
    finally:
        if mounted == 0:
            subprocess.run(["umount", tiny], check=True)
    assert told.returncode == 2, told.stderr
    assert told.stderr.count("\n") == 1 and "cannot be written: " in told.stderr
    assert held == []
    if command == "solve":
        assert json.loads(told.stdout.splitlines()[-1])["objective"] == 8.0


# -- lines ------------------------------------------------------------------------------------------------------------


def test_a_line_torn_off_by_a_crash_is_cut_away_before_the_next(tmp_path):
    path = tmp_path / "lines"
    path.write_bytes(b'{"a": 1}\n{"a": ')
    append_line(path, '{"a": 2}')
    assert path.read_bytes() == b'{"a": 1}\n{"a": 2}\n'
    assert whole_lines(path) == ['{"a": 1}', '{"a": 2}']


def test_lines_are_told_apart_by_newlines_alone(tmp_path):
    append_line(tmp_path / "lines", "a\u2028b\x85c")
    assert whole_lines(tmp_path / "lines") == ["a\u2028b\x85c"]


def test_whoever_waited_for_a_file_that_was_replaced_adds_to_its_successor(tmp_path):
    path = tmp_path / "lines"
    append_line(path, "old")
    with locked(path):
        waiting = threading.Thread(target=append_line, args=(path, "added"))
        waiting.start()
        waiting.join(0.2)
        assert waiting.is_alive()  # held up by the lock
        write_text(path, "new\n")
    waiting.join(30)
    assert path.read_text() == "new\nadded\n"


# -- one helper -------------------------------------------------------------------------------------------------------

#: Methods and functions that write to a path they are given.
WRITERS = {
    "write_text", "write_bytes", "tofile", "savetxt", "mkstemp", "NamedTemporaryFile", "to_csv", "to_parquet",
    "fdopen",
}  # fmt: skip

#: What the rule lets through: (module, name, first argument); with a reason for each.
ALLOWED = {
    ("optmodels/mip/worker.py", "fdopen", "os.dup(1)"),  # a pipe
    ("optmodels/portfolio/lane.py", "fdopen", "os.dup(1)"),  # another
    ("optmodels/reporting/pictures.py", "savefig", "drawn"),  # into memory
    ("optmodels/reporting/pictures.py", "save", "packed"),
    ("optmodels/cli/output.py", "open", "os.devnull"),  # stands in for a closed stream
    ("optmodels/data/written.py", "rename", None),  # folders, made whole and then named
    ("optmodels/placement/proofs/proof.py", "open", "_member(PROOF)"),  # of an archive that the helper writes
    # What solvers and checkers read and write, in folders that tempfile has just made for them.
    ("optmodels/placement/engines/cadical.py", "open", "drat"),
    ("optmodels/placement/engines/deciding.py", "write_bytes", "dimacs(sites, clauses, counters)"),
    ("optmodels/placement/engines/deciding.py", "open", "'w+b'"),
    ("optmodels/placement/proofs/verifying.py", "write_bytes", "dimacs(proof.clauses)"),
    ("optmodels/placement/proofs/verifying.py", "write_bytes", "proof.drat"),
}


def writes(tree):
    """Calls that open, name or make a file for writing: (line, name, first argument as text)."""
    for node in ast.walk(tree):
        if not isinstance(node, ast.Call):
            continue
        name = getattr(node.func, "attr", getattr(node.func, "id", ""))
        if name not in WRITERS | {"open", "save", "savez", "savefig", "save_npz", "replace", "rename"}:
            continue
        owner = ast.unparse(node.func.value) if isinstance(node.func, ast.Attribute) else ""
        first = ast.unparse(node.args[0]) if node.args else ""
        modes = [*node.args[:2], *(keyword.value for keyword in node.keywords if keyword.arg == "mode")]
        texts = [word.value for word in modes if isinstance(word, ast.Constant) and isinstance(word.value, str)]
        writing_mode = any(re.fullmatch("[rwaxb+t]{1,4}", text) and set(text) & set("wax+") for text in texts)
        saved = name in ("save", "savez", "savefig", "save_npz") and first not in ("stream", "figure", "panels.figure")
        ours = name == "to_csv" and owner in ("front", "comparison", "study", "remade")
        moved = name in ("replace", "rename") and owner == "os"
        other = name in WRITERS and isinstance(node.func, ast.Attribute) and not ours
        if (name == "open" and writing_mode) or saved or moved or other:
            yield node.lineno, name, first


def found_in(text, module):
    return [
        (line, name, first)
        for line, name, first in writes(ast.parse(text))
        if (module, name, first) not in ALLOWED and (module, name, None) not in ALLOWED
    ]


def test_no_other_module_writes_files(root):
    found = {
        place: calls
        for package in ("optmodels", "heuristics", "queueing")
        for file in sorted((root / package).glob("**/*.py"))
        if (place := file.relative_to(root).as_posix()) != "optmodels/data/writing.py"
        and (calls := found_in(file.read_text(encoding="utf-8"), place))
    }
    assert found == {}


@pytest.mark.parametrize(
    "line",
    [
        "open(path, 'w').write('x')", "path.open('ab')", "open(path, mode='r+')", "Path(p).write_text('x')",
        "p.write_bytes(b'x')", "np.save(file, a)", "np.savez(file, a)", "figure.savefig(path)", "os.replace(a, b)",
        "tempfile.mkstemp()", "frame.to_parquet(path)", "a.tofile(path)",
    ],
)  # fmt: skip
def test_the_rule_sees_a_write(line):
    assert found_in(line, "elsewhere.py")


@pytest.mark.parametrize("line", ["open(path)", "open(path, 'rb')", "text.replace('a', 'b')", "np.save(stream, a)"])
def test_the_rule_lets_reading_be(line):
    assert found_in(line, "elsewhere.py") == []


def test_the_helper_asks_for_a_file_that_is_new_and_no_link(tmp_path, monkeypatch):
    seen = []
    real = os.open
    monkeypatch.setattr(os, "open", lambda path, flags, *rest: seen.append((path, flags)) or real(path, flags, *rest))
    write_text(tmp_path / "a.txt", "x")
    path, flags = seen[0]
    assert Path(path).parent == tmp_path and flags & os.O_EXCL and flags & os.O_NOFOLLOW and flags & os.O_CLOEXEC
    write_text(tmp_path / "a.txt", "x")
    assert len({path for path, flags in seen if flags & os.O_EXCL}) == 2  # another name each time
    assert writing.fcntl is not None
