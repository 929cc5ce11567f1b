"""Import directions, contents of the wheel, the lock file, the README's examples, and what is imported when."""

import ast
import email
import json
import re
import shutil
import subprocess
import sys
import tomllib
import zipfile
from pathlib import Path

import pytest
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

PACKAGES = ("optmodels", "heuristics", "queueing")
NOT_SOURCES = shutil.ignore_patterns(".*", "__pycache__", "*.egg-info", "build", "dist", "demo")


def run(*command: str | Path, cwd: Path, **options: object) -> subprocess.CompletedProcess[str]:
    return subprocess.run([str(word) for word in command], cwd=cwd, capture_output=True, text=True, **options)


@pytest.fixture(scope="module")
def project(root: Path) -> dict:
    return tomllib.loads((root / "pyproject.toml").read_text(encoding="utf-8"))["project"]


# --- who imports whom -------------------------------------------------------------------------------------------------


def lint_imports(folder: Path) -> subprocess.CompletedProcess[str]:
    return run(Path(sys.executable).with_name("lint-imports"), "--no-cache", cwd=folder)


def test_imports_point_downwards_only(root):
    verdict = lint_imports(root)
    assert verdict.returncode == 0, verdict.stdout + verdict.stderr


@pytest.mark.parametrize(
    ("package", "statement"),
    [
        ("queueing", "import heuristics"),
        ("heuristics", "import queueing"),
        ("queueing", "import optmodels"),
        ("heuristics", "import optmodels"),
        ("heuristics", "import pyomo.environ"),
        ("queueing", "import networkx"),
    ],
)
def test_an_import_in_a_wrong_direction_is_noticed(root, tmp_path, package, statement):
    shutil.copy(root / "pyproject.toml", tmp_path)
    for file in (file for name in PACKAGES for file in (root / name).rglob("*.py")):  # all that contracts name
        empty = tmp_path / file.relative_to(root)
        empty.parent.mkdir(parents=True, exist_ok=True)
        empty.write_text("")
    assert lint_imports(tmp_path).returncode == 0
    (tmp_path / package / "wrong.py").write_text(statement + "\n")
    verdict = lint_imports(tmp_path)
    assert verdict.returncode == 1
    assert f"{package}.wrong" in verdict.stdout


@pytest.mark.parametrize("package", PACKAGES)
def test_imports_inside_a_package_are_relative(root, package):
    """A user's own queueing.py beside a script must not break the inside of the package."""
    files = sorted((root / package).rglob("*.py"))
    assert files
    absolute = [
        f"{file.relative_to(root)}:{node.lineno}"
        for file in files
        for node in ast.walk(ast.parse(file.read_text(encoding="utf-8")))
        if (isinstance(node, ast.Import) and any(name.name.split(".")[0] == package for name in node.names))
        or (isinstance(node, ast.ImportFrom) and node.level == 0 and (node.module or "").split(".")[0] == package)
    ]
    assert absolute == []


def test_the_tests_are_no_package(root):
    doors = (root / "tests").rglob("__init__.py")
    assert [door for door in doors if root / "tests" / "plugins" not in door.parents] == []  # distributions, no tests


# --- the wheel --------------------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def wheel(root: Path, tmp_path_factory: pytest.TempPathFactory) -> zipfile.ZipFile:
    """The wheel, built from a copy: a build leaves files beside the sources, which would leak into the next one."""
    copy = tmp_path_factory.mktemp("sources") / "optmodels"
    shutil.copytree(root, copy, ignore=NOT_SOURCES)
    target = tmp_path_factory.mktemp("wheel")
    pip = (sys.executable, "-m", "pip", "--disable-pip-version-check")
    built = run(*pip, "wheel", "--no-deps", "--no-build-isolation", "--wheel-dir", target, ".", cwd=copy)
    assert built.returncode == 0, built.stdout + built.stderr
    [file] = target.glob("*.whl")
    return zipfile.ZipFile(file)


@pytest.fixture(scope="module")
def metadata(wheel: zipfile.ZipFile) -> email.message.Message:
    return email.message_from_bytes(wheel.read("optmodels-0.1.0.dist-info/METADATA"))


def test_the_wheel_holds_the_three_packages_the_instances_and_nothing_else(root, wheel):
    names = {name for name in wheel.namelist() if not name.startswith("optmodels-0.1.0.dist-info/")}
    files = [file for package in PACKAGES for file in (root / package).rglob("*.py*")]
    sources = {file.relative_to(root).as_posix() for file in files if file.suffix in (".py", ".pyi")}
    instances = [file for file in (root / "instances").rglob("*") if file.is_file()]
    shipped = {f"optmodels/_shipped/{file.relative_to(root / 'instances').as_posix()}" for file in instances}
    assert len(shipped) > 100
    page = {f"optmodels/reporting/page.{suffix}" for suffix in ("html", "css", "js")}
    assert names == sources | shipped | page | {f"{package}/py.typed" for package in PACKAGES}


def test_shipped_instances_are_small(root):
    """A wheel carries them all."""
    assert [file for file in (root / "instances").rglob("*") if file.stat().st_size > 100_000] == []


def test_the_metadata_say_what_was_promised(metadata, wheel):
    assert metadata["Name"] == "optmodels"
    assert metadata["Requires-Python"] == ">=3.11"
    assert metadata["License-Expression"] == "MIT"
    assert {"plots", "scale", "scip", "cpsat", "sat", "topohub", "dev"} <= set(metadata.get_all("Provides-Extra"))
    assert "optmodels = optmodels.entry:main" in wheel.read("optmodels-0.1.0.dist-info/entry_points.txt").decode()
    assert any(name.endswith("LICENSE") for name in wheel.namelist())


def test_every_dependency_has_a_lower_bound_and_no_cap(metadata):
    for line in metadata.get_all("Requires-Dist"):
        assert [clause.operator for clause in Requirement(line).specifier] == [">="], line


# --- the lock file ----------------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def lock(root: Path) -> str:
    return (root / "requirements.lock").read_text(encoding="utf-8")


def test_every_line_of_the_lock_is_a_pin_or_a_hash(lock):
    """No index, no address, no path: the lock says what is installed, not from where."""
    for line in lock.splitlines():
        assert re.fullmatch(
            r"[a-z0-9-]+==[0-9a-z.]+( ; [a-zA-Z0-9_ <>=!'.*]+)? \\|    --hash=sha256:[0-9a-f]{64}( \\)?", line
        )


def test_the_lock_has_every_dependency_but_those_no_test_needs(project, lock):
    pins: dict[str, list[str]] = {}
    for line in lock.splitlines():
        if "==" in line and not line.startswith(" "):
            requirement = Requirement(line.rstrip("\\ "))
            pins.setdefault(canonicalize_name(requirement.name), []).append(
                str(requirement.specifier).removeprefix("==")
            )
    extras = project["optional-dependencies"]
    wanted = project["dependencies"] + [line for extra in extras if extra != "rivals" for line in extras[extra]]
    for line in wanted:
        requirement = Requirement(line)
        versions = pins[canonicalize_name(requirement.name)]
        assert all(requirement.specifier.contains(version) for version in versions), (line, versions)


# --- what is imported when --------------------------------------------------------------------------------------------

HEAVY = {
    "dask", "deap", "distributed", "highspy", "jinja2", "matplotlib", "numba", "ortools", "pandas", "pyarrow", "pyomo",
    "pysat", "pyscipopt", "scipy", "topohub",
}  # fmt: skip

IMPORTED = """
import json, sys
{statement}
print(json.dumps(sorted({{name.partition(".")[0] for name in sys.modules}})), file=sys.stderr)
"""

COMMAND = """
sys.argv = ["optmodels", *{arguments}]
from optmodels.cli import main
try:
    code = main()
except SystemExit as end:
    code = end.code
assert not code, code
"""


def imported_by(statement: str, cwd: Path) -> tuple[set[str], str]:
    answer = run(sys.executable, "-c", IMPORTED.format(statement=statement), cwd=cwd)
    assert answer.returncode == 0, answer.stderr
    return set(json.loads(answer.stderr.splitlines()[-1])), answer.stdout


@pytest.mark.parametrize("arguments", [["--help"], ["solve", "--help"], ["compare", "--help"]], ids=" ".join)
def test_help_imports_no_solver(root, arguments):
    modules, text = imported_by(COMMAND.format(arguments=arguments), root)
    assert "Usage" in text
    assert modules & HEAVY == set()


def test_the_front_door_imports_no_solver(root):
    modules, _ = imported_by("import optmodels", root)
    assert "optmodels" in modules
    assert modules & HEAVY == set()


def test_the_help_names_every_command(root):
    _, text = imported_by(COMMAND.format(arguments=["--help"]), root)
    for command in ("list", "evaluate", "solve", "compare", "sweep", "check", "plot", "generate"):
        assert re.search(rf"\b{command}\b", text), command


@pytest.mark.parametrize("package", PACKAGES)
def test_an_import_prints_nothing_and_adds_no_log_handler(root, package):
    answer = run(sys.executable, "-c", f"import logging, {package}; assert not logging.root.handlers", cwd=root)
    assert (answer.returncode, answer.stdout, answer.stderr) == (0, "", "")


def test_a_foreign_package_called_heuristics_is_answered_with_the_repair(root, tmp_path):
    (tmp_path / "heuristics").mkdir()
    (tmp_path / "heuristics" / "__init__.py").write_text("")
    code = f"import sys; sys.path[:0] = [{str(tmp_path)!r}, {str(root)!r}]; import optmodels; optmodels.Budget"
    answer = run(sys.executable, "-c", code, cwd=tmp_path)
    assert answer.returncode == 1
    assert "pip install --force-reinstall optmodels" in answer.stderr.splitlines()[-1]


# --- the README -------------------------------------------------------------------------------------------------------


def python_lines(text: str) -> str:
    """Keep the lines of the ```python blocks and empty all others, so that a traceback names the line of the README."""
    kept, inside = [], False
    for line in text.splitlines():
        if line.startswith("```"):
            inside = line.strip() == "```python"
            kept.append("")
        else:
            kept.append(line if inside else "")
    return "\n".join(kept) + "\n"


def test_only_python_blocks_are_kept():
    assert python_lines("a\n```python\nx = 1\n```\nb\n```\ny\n```") == "\n\nx = 1\n\n\n\n\n\n"


def test_the_examples_of_the_readme_run(root, tmp_path):
    """All blocks, in order, as one program, in an empty folder beside the instances."""
    program = python_lines((root / "README.md").read_text(encoding="utf-8"))
    assert program.strip(), "README.md has no example"
    (tmp_path / "instances").symlink_to(root / "instances")
    (tmp_path / "README.py").write_text(program, encoding="utf-8")
    answer = run(sys.executable, "README.py", cwd=tmp_path)
    assert answer.returncode == 0, answer.stderr


def test_the_docs_say_what_is_code_and_what_is_data(root):
    text = (root / "docs" / "safety.md").read_text(encoding="utf-8")
    assert "NUMBA_CACHE_DIR" in text and "keep it where only you can write" in text
    assert "docs/safety.md" in (root / "README.md").read_text(encoding="utf-8")
