"""What type checkers see of the packages, installed as `make venv` does it, from a folder of somebody else.

An editable install is a wheel with a file of paths in it, or with a hook on imports; checkers follow the first only.
"""

import os
import re
import shutil
import subprocess
import sys
import venv
import zipfile
from pathlib import Path

import pytest

PROGRAM = """\
from __future__ import annotations

import optmodels as om

best = om.solve("gautam-2x3", "exhaustive", seconds=1)
reveal_type(best)
reveal_type(best.gap_to_best_known)
reveal_type(om.compare([om.load("gautam-2x3"), "gautam-4x4"], ["dejavu"]))
om.solv("gautam-2x3")
om.solve(3)
best.gap_to_best_knwon
"""

EDITABLE = """\
import sys
from setuptools import build_meta
settings = dict(pair.split("=", 1) for pair in sys.argv[2:])
print(build_meta.build_editable(sys.argv[1], settings))
"""


def settings_of(makefile: str) -> list[str]:
    """How `make venv` asks for an editable install."""
    [flags] = re.findall(r"^EDITABLE := (.*)$", makefile, re.M)
    assert re.search(r"pip install .*\$\(EDITABLE\) --editable \.$", makefile, re.M)
    return re.findall(r"--config-settings (\S+)", flags)


def installed(root: Path, folder: Path, settings: list[str]) -> Path:
    """Make an environment with the packages in it, as pip unpacks what setuptools makes; returns its Python."""
    wheels = folder / "wheels"
    wheels.mkdir()
    sources = folder / "sources"  # a build leaves files beside them
    shutil.copytree(root, sources, ignore=shutil.ignore_patterns(".*", "__pycache__", "*.egg-info", "build", "dist"))
    subprocess.run([sys.executable, "-c", EDITABLE, wheels, *settings], cwd=sources, check=True, capture_output=True)
    venv.create(folder / "venv")
    [site] = (folder / "venv").glob("lib/python*/site-packages")
    [wheel] = wheels.glob("*.whl")
    zipfile.ZipFile(wheel).extractall(site)
    return folder / "venv" / "bin" / "python"


def checked(python: Path, folder: Path) -> list[str]:
    """What mypy says of the program, in a folder of its own."""
    folder.mkdir()
    (folder / "program.py").write_text(PROGRAM)
    others = {name: value for name, value in os.environ.items() if name not in ("PYTHONPATH", "MYPYPATH")}
    command = [sys.executable, "-m", "mypy", "--strict", "--python-executable", python, "program.py"]
    return subprocess.run(command, cwd=folder, env=others, capture_output=True, text=True).stdout.splitlines()


@pytest.mark.slow
@pytest.mark.timeout(600)
def test_types_are_seen_from_outside_the_folder(root, tmp_path):
    settings = settings_of((root / "Makefile").read_text(encoding="utf-8"))
    said = checked(installed(root, tmp_path, settings), tmp_path / "elsewhere")
    for line, words in {
        6: 'Revealed type is "optmodels.solving.Result"',
        7: 'Revealed type is "float | None"',
        8: 'Revealed type is "optmodels.studies.comparison.Comparison"',
        9: 'Module has no attribute "solv"; maybe "solve"?',
        10: 'Argument 1 to "solve" has incompatible type "int"',
        11: '"Result" has no attribute "gap_to_best_knwon"',
    }.items():
        assert any(told.startswith(f"program.py:{line}: ") and words in told for told in said), (line, said)
    assert said[-1].startswith("Found 3 errors in 1 file")


@pytest.mark.slow
@pytest.mark.timeout(600)
def test_a_hook_on_imports_hides_them(root, tmp_path):
    """What the settings are for: if this fails they can go."""
    said = checked(installed(root, tmp_path, []), tmp_path / "elsewhere")
    assert any('Cannot find implementation or library stub for module named "optmodels"' in told for told in said)
