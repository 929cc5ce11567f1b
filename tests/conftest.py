"""What every test may rely on."""

import os
from pathlib import Path

import hypothesis
import pytest

os.environ.setdefault("MPLBACKEND", "Agg")  # pictures are read as figures; no window is ever opened

# What the command says on stderr must not depend on what was compiled before; what it says of it has tests of its own.
os.environ.setdefault("OPTMODELS_QUIET", "1")

# The same examples in every run, and no deadline: a slow machine is not a defect.
hypothesis.settings.register_profile("house", derandomize=True, deadline=None)
hypothesis.settings.load_profile("house")


@pytest.fixture(scope="session")
def root() -> Path:
    """The folder of pyproject.toml."""
    return Path(__file__).parents[1]


@pytest.fixture(scope="session")
def instances(root: Path) -> Path:
    """The folder of the shipped instances, one sub-folder for each kind."""
    return root / "instances"
