"""``optmodels report`` and ``optmodels compare --report``."""

import json

import pytest

from optmodels.cli import main
from optmodels.studies import compare


def command(monkeypatch, capsys, *words):
    """The exit code, and what was printed to stdout and stderr."""
    monkeypatch.setattr("sys.argv", ["optmodels", *map(str, words)])
    try:
        code = main()
    except SystemExit as end:
        code = end.code
    return code or 0, *capsys.readouterr()


@pytest.fixture
def folder(tmp_path):
    compare("gautam-2x3", ["exhaustive", "local-search"], evaluations=100, seeds=2, out=tmp_path / "runs")
    return tmp_path / "runs"


def test_a_folder_becomes_a_page(monkeypatch, capsys, folder, tmp_path):
    target = tmp_path / "page.html"
    code, stdout, stderr = command(monkeypatch, capsys, "report", folder, "--out", target, "--title", "Small <one>")
    page = target.read_text(encoding="utf-8")
    assert (code, stdout) == (0, "") and f"wrote {target}." in stderr
    assert "<title>Small &lt;one&gt;</title>" in page
    assert "3 runs; 2 strategies; 1 instance; up to 2 seeds; budget of a run: 100 evaluations." in page
    assert 'class="paper"' in page  # the folder holds the instance
    assert "<dt>machine</dt>" in page and "not described" not in page


def test_the_page_stands_in_the_folder_unless_said(monkeypatch, capsys, folder):
    code, stdout, _ = command(monkeypatch, capsys, "report", folder, "--json")
    told = json.loads(stdout)
    assert code == 0 and told["page"] == str(folder / "report.html") and told["runs"] == 3
    assert told["bytes"] == (folder / "report.html").stat().st_size
    assert command(monkeypatch, capsys, "report", folder)[0] == 0  # and again


def test_two_folders_are_put_together(monkeypatch, capsys, folder, tmp_path):
    compare("gautam-2x3", ["dejavu"], evaluations=100, out=tmp_path / "more")
    code, stdout, _ = command(monkeypatch, capsys, "report", folder, tmp_path / "more", "--json")
    assert code == 0 and json.loads(stdout)["runs"] == 4


@pytest.mark.parametrize("words", [("nowhere",), (".",)])
def test_what_is_no_folder_of_a_comparison_is_refused(monkeypatch, capsys, tmp_path, words):
    monkeypatch.chdir(tmp_path)
    code, stdout, stderr = command(monkeypatch, capsys, "report", *words, "--out", tmp_path / "page.html")
    assert (code, stdout) == (2, "") and "there is no comparison in this folder" in stderr
    assert not (tmp_path / "page.html").exists()


def test_compare_writes_a_report(monkeypatch, capsys, tmp_path):
    target = tmp_path / "page.html"
    words = ("compare", "gautam-2x3", "--strategies", "local-search", "--evaluations", "20", "--report", target)
    code, stdout, _ = command(monkeypatch, capsys, *words)
    assert code == 0 and "local-search" in stdout
    assert "1 strategy on 1 instance" in target.read_text(encoding="utf-8")


def test_compare_refuses_a_report_that_cannot_be_written_before_it_runs(monkeypatch, capsys, tmp_path):
    monkeypatch.setattr("optmodels.studies.comparing.compare", None)
    words = ("compare", "gautam-2x3", "--strategies", "local-search", "--report", tmp_path / "gone" / "page.html")
    code, stdout, stderr = command(monkeypatch, capsys, *words)
    assert (code, stdout) == (2, "") and "there is no folder 'gone'" in stderr


def test_a_study_file_is_shown(monkeypatch, capsys, folder):
    (folder / "study.toml").write_text('strategies = ["<b>"]\n', encoding="utf-8")
    assert command(monkeypatch, capsys, "report", folder)[0] == 0
    page = (folder / "report.html").read_text(encoding="utf-8")
    assert "strategies = [&#34;&lt;b&gt;&#34;]" in page


@pytest.mark.parametrize(
    ("command", "sentence"),
    [
        (["compare", "gautam-2x3", "--strategies", "nobody", "--report", "page.txt"], "end its name in .html"),
        (["compare", "mine.html", "--strategies", "nobody", "--report", "mine.html"], "what is read from"),
        (["compare", "gautam-2x3", "--strategies", "nobody", "--statistics", "--format", "md"], "not with --format md"),
        (["report", "a-file"], "this is a file"),
        (["bench", "papers", "--report", "page.txt"], "end its name in .html"),
    ],
)
def test_what_cannot_become_a_report_is_refused_before_anything_is_run(
    command, sentence, tmp_path, monkeypatch, capsys
):
    monkeypatch.chdir(tmp_path)
    for name in ("a-file", "mine.html"):
        (tmp_path / name).write_text("{}")
    assert main(command) == 2
    assert sentence in capsys.readouterr().err
    assert (tmp_path / "mine.html").read_text() == "{}"
