"""What documents say of this repository: files they name, how to cite it, and what is run before a commit."""

import re
import tomllib
from pathlib import Path
from urllib.parse import unquote

import pytest
import yaml

ROOT = Path(__file__).parents[1]
DOCUMENTS = [
    *(ROOT / name for name in ("README.md", "CONTRIBUTING.md", "CHANGELOG.md", "instances/README.md")),
    *sorted(file for file in (ROOT / "docs").rglob("*.md") if "_build" not in file.parts),
]

#: Folders of ours: what begins with one is a path, wherever it stands.
FOLDERS = r"(?:optmodels|heuristics|queueing|tests|tools|benchmarks|instances|docs|\.ci)"
PATH = re.compile(rf"(?<![\w./:<>-])(?:\./)?({FOLDERS}/[\w./*?-]*)(?![\w<{{])")

#: A file named alone, in a span of code: `test_coffman_golden.py`.
NAMED = re.compile(r"`([\w.-]+\.(?:py|pyi|md|toml|lock|cff))`")
LINK = re.compile(r"\]\(([^)\s]+)\)")


def paths_of(text: str) -> set[str]:
    """Paths from the root of the repository that a text names, with wildcards as they are written.

    What is built, and so is not there in a fresh clone, is left out.
    """
    return {found.rstrip(".") for found in PATH.findall(text) if not found.startswith("docs/_build/")}


def links_of(text: str) -> set[str]:
    """Targets of links and pictures, but for addresses of other places."""
    return {unquote(target) for target in LINK.findall(text) if not re.match(r"\w+:", target)}


def anchor(heading: str) -> str:
    """The anchor of a heading, as most viewers of Markdown make it."""
    return re.sub(r"[^\w -]", "", heading.strip().lower()).replace(" ", "-")


def anchors_of(file: Path) -> set[str]:
    return {anchor(line.lstrip("#")) for line in file.read_text(encoding="utf-8").splitlines() if line.startswith("#")}


def missing_from(root: Path, document: Path) -> list[str]:
    """What a document names and nobody finds."""
    text = document.read_text(encoding="utf-8")
    missing = [path for path in paths_of(text) if not any(root.glob(path.rstrip("/")))]
    missing += [name for name in NAMED.findall(text) if not any(root.glob(name)) and not any(somewhere(root, name))]
    for target in links_of(text):
        path, _, fragment = target.partition("#")
        file = document.parent / path if path else document
        if not file.exists() or (fragment and fragment not in anchors_of(file)):
            missing.append(target)
    return sorted(missing)


def somewhere(root: Path, name: str) -> list[Path]:
    """Files called `name` in a folder of ours."""
    return [file for folder in root.iterdir() if re.fullmatch(FOLDERS, folder.name) for file in folder.rglob(name)]


@pytest.mark.parametrize("document", DOCUMENTS, ids=lambda file: file.relative_to(ROOT).as_posix())
def test_what_a_document_names_is_there(document):
    assert missing_from(ROOT, document) == []


def test_what_is_not_there_is_noticed(tmp_path):
    (tmp_path / "docs").mkdir()
    (tmp_path / "docs" / "there.py").write_text("")
    page = tmp_path / "docs" / "page.md"
    page.write_text(
        "# A `heading`, too\n"
        "[a](there.py) [b](gone.py) [c](#a-heading-too) [d](#nowhere) [e](https://example.org/x.py)\n"
        "`there.py`, `lost.py`, docs/there.py. docs/*.py, docs/never.json and tests/nothing/ and docs/<kind>.md\n"
    )
    assert missing_from(tmp_path, page) == ["#nowhere", "docs/never.json", "gone.py", "lost.py", "tests/nothing/"]


def test_the_readme_leads_to_the_other_documents():
    """Pages in folders below docs are found from docs/index.md: Sphinx warns of one that no page leads to."""
    links = links_of((ROOT / "README.md").read_text(encoding="utf-8"))
    pages = {file.relative_to(ROOT).as_posix() for file in DOCUMENTS if file.parent.parent != ROOT / "docs"}
    pages -= {"README.md"}
    assert pages <= {link.partition("#")[0] for link in links}


def test_every_word_of_the_glossary_says_where_it_lives():
    text = (ROOT / "docs" / "glossary.md").read_text(encoding="utf-8")
    entries = re.split(r"^(?=\*\*)|^## .*$", text, flags=re.M)
    words = {}
    for entry in entries:
        if word := re.match(r"\*\*([a-z]+)\.\*\*", entry):
            words[word[1]] = entry
    assert {
        "area", "bracket", "curve", "decision", "fleet", "frequency", "gap", "kind", "level", "load", "measure", "mode",
        "multiplier", "needs", "oracle", "plan", "price", "schedule", "walk", "word", "worth",
    } <= set(words)  # fmt: skip
    assert [word for word, entry in words.items() if not paths_of(entry)] == ["slot"]


# --- code in documents ------------------------------------------------------------------------------------------------

BLOCK = re.compile(r"^```(\w+)\n(.*?)^```$", re.M | re.S)


def strange_blocks(text: str, folder: Path) -> list[str]:
    """Blocks of code in a text, but for commands, that stand word for word in no file of a folder."""
    files = [
        file.read_text(encoding="utf-8") for file in folder.rglob("*.*") if file.suffix in (".py", ".json", ".toml")
    ]
    return [code for _, code in BLOCK.findall(text) if not any(code in file for file in files)]


def test_the_page_on_kinds_shows_the_code_of_the_one_it_builds():
    page = (ROOT / "docs" / "adding-a-kind.md").read_text(encoding="utf-8")
    folder = ROOT / "tests" / "plugins" / "optmodels-staffing"
    assert strange_blocks(page, folder) == []
    assert strange_blocks(page.replace("float(sum(decision))", "sum(decision)"), folder) != []
    shown = {code for _, code in BLOCK.findall(page)}
    files = [file for file in folder.rglob("*.py") if file.name != "__init__.py"]
    assert [file.name for file in files if not any(code in file.read_text(encoding="utf-8") for code in shown)] == []


def test_the_page_on_kinds_names_what_is_there():
    import heuristics
    import heuristics.spaces
    import optmodels.mip
    import optmodels.protocols

    page = (ROOT / "docs" / "adding-a-kind.md").read_text(encoding="utf-8")
    rows = re.findall(r"^\| `([\w()`, ]+)` \| `([\w.]+)` \|", page, re.M)
    assert len(rows) > 10
    for members, protocol in rows:
        home, _, name = protocol.rpartition(".")
        module = {"heuristics": heuristics, "optmodels.mip": optmodels.mip, "": optmodels.protocols}[home]
        for member in re.findall(r"(\w+)(?:\(.*?\))?(?:`, `|$)", members):
            assert hasattr(getattr(module, name), member), (member, protocol)
    spaces = re.findall(r"^\| `([A-Z]\w+)` \|", page, re.M)
    assert set(spaces) == {
        name for name in heuristics.spaces.__all__ if hasattr(getattr(heuristics.spaces, name), "sample")
    }


def test_every_benchmark_is_told_what_it_measures():
    page = (ROOT / "docs" / "guide" / "benchmarks.md").read_text(encoding="utf-8")
    assert [file.name for file in (ROOT / "benchmarks").glob("*.py") if file.name not in page] == []


#: Every kind has a folder of instances; the benchmark sets have one, too.
KINDS = {folder.name for folder in (ROOT / "instances").iterdir() if folder.is_dir()} - {"sets"}


@pytest.mark.parametrize("kind", sorted(KINDS))
def test_every_kind_has_a_tutorial_and_its_fields_are_listed(kind):
    tutorial = (ROOT / "docs" / "tutorials" / f"{kind}.md").read_text(encoding="utf-8")
    assert tutorial.count("```{code-cell} python\n") > 5
    assert all(f"## {part}\n" in tutorial for part in ("The model", "The picture", "What if"))
    fields = (ROOT / "docs" / "guide" / "fields.md").read_text(encoding="utf-8")
    assert f"```{{include}} ../{kind}.md\n" in fields
    index = (ROOT / "docs" / "index.md").read_text(encoding="utf-8")
    assert f"](tutorials/{kind}.md)" in index


def test_every_figure_is_in_the_gallery_or_on_a_page():
    text = "".join(file.read_text(encoding="utf-8") for file in DOCUMENTS)
    assert [file.name for file in (ROOT / "docs" / "figures").iterdir() if f"figures/{file.name}" not in text] == []


# --- how to cite ------------------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def citation() -> dict:
    return yaml.safe_load((ROOT / "CITATION.cff").read_text(encoding="utf-8"))


def test_the_citation_has_what_the_format_asks_for(citation):
    """Citation File Format 1.2: https://github.com/citation-file-format/citation-file-format."""
    assert citation["cff-version"] == "1.2.0"
    assert all(citation[key] for key in ("message", "title", "authors"))
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    assert (citation["title"], citation["version"]) == (project["name"], project["version"])
    assert (citation["license"], citation["type"]) == (project["license"], "software")


def test_the_five_papers_are_cited_as_in_the_docs(citation):
    kinds = {re.search('"(.*)"', paper["notes"])[1]: paper for paper in citation["references"]}
    assert set(kinds) == KINDS
    for kind, paper in kinds.items():
        assert {"type", "title", "authors", "journal", "volume", "year"} <= set(paper)
        source = " ".join((ROOT / "docs" / f"{kind}.md").read_text(encoding="utf-8").split())
        assert paper["title"] in source
        assert f"{paper['start']}-{paper['end']}" in source and str(paper["year"]) in source
        assert [author["family-names"] for author in paper["authors"] if author["family-names"] not in source] == []


# --- before a commit --------------------------------------------------------------------------------------------------


def commands_of_lint() -> list[str]:
    """What `make lint` runs, without the folder of the environment."""
    recipe = re.search(r"^lint:.*\n((?:\t.*\n)+)", (ROOT / "Makefile").read_text(encoding="utf-8"), re.M)[1]
    return [line.strip().removeprefix("$(BIN)/") for line in recipe.splitlines()]


@pytest.fixture(scope="module")
def hooks() -> list[dict]:
    repositories = yaml.safe_load((ROOT / ".pre-commit-config.yaml").read_text(encoding="utf-8"))["repos"]
    assert [repository["repo"] for repository in repositories] == ["local"], "hooks fetch nothing"
    return [hook for repository in repositories for hook in repository["hooks"]]


def test_before_a_commit_runs_what_lint_runs(hooks):
    entries = [hook["entry"].removeprefix(".venv/bin/").replace(" --force-exclude", "") for hook in hooks]
    assert entries == commands_of_lint()


def test_hooks_use_tools_that_the_environment_has(hooks):
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    installed = {re.match(r"[\w-]+", line)[0] for line in project["optional-dependencies"]["dev"]}
    distributions = {"lint-imports": "import-linter"}
    for hook in hooks:
        tool = hook["entry"].split()[0].removeprefix(".venv/bin/")
        assert distributions.get(tool, tool) in installed
        assert hook["language"] == "system"


# --- versions of Python -----------------------------------------------------------------------------------------------


def test_the_declared_pythons_are_the_oldest_and_the_one_of_the_smoke_run():
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    declared = [line.rpartition(" ")[2] for line in project["classifiers"] if ":: Python :: 3." in line]
    assert declared[0] == project["requires-python"].removeprefix(">=")
    script = (ROOT / "tools" / "smoke.sh").read_text(encoding="utf-8")
    assert f"oldest={declared[0].removeprefix('3.')}\n" in script
    assert len(declared) == 2, "the tests run on the oldest, `make smoke` on the newest"


def test_the_check_of_a_change_builds_the_pages_runs_the_smoke_set_and_ends_with_the_tests():
    script = (ROOT / ".ci" / "run").read_text(encoding="utf-8")
    places = [
        script.index(step)
        for step in ("make test", "make docs", "make demo", "make browse", "make lint", "tools/smoke.sh", "grep -E")
    ]
    assert places == sorted(places)
