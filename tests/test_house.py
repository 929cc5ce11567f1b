"""The counting of `tools/rooms.py` and `tools/house.py`, on a toy with rooms."""

from pathlib import Path

import house
import pytest
import rooms

TOOLS = Path(__file__).parents[1] / "tools"


TREE = {
    "queueing/__init__.py": "from .robots.levels import Levels\n",
    "queueing/placement/__init__.py": "",
    "queueing/placement/finite_source.py": "X = 1\n",
    "queueing/robots/__init__.py": "",
    "queueing/robots/levels.py": "from ..placement.finite_source import X\n\nclass Levels: ...\n",
    "queueing/threshold/__init__.py": "from .methods.krylov import solve\n",
    "queueing/threshold/methods/__init__.py": "",
    "queueing/threshold/methods/krylov.py": "from ...numerics import norm\nfrom ..model import Model\nsolve = 1\n",
    "queueing/threshold/model.py": "class Model: ...\n",
    "queueing/numerics.py": "def norm():\n    from .threshold import model\n",
    "heuristics/__init__.py": "",
    "heuristics/clock.py": "",
    "heuristics/oracle.py": "import heuristics.clock\n",
    "optmodels/__init__.py": "",
    "optmodels/errors.py": "",
    "optmodels/registry.py": "from .routing.problem import Problem\nfrom heuristics import clock, run\n",
    "optmodels/routing/__init__.py": "from .problem import Problem\n",
    "optmodels/routing/problem.py": (
        "from typing import TYPE_CHECKING\n"
        "from queueing import Levels\n"
        "from queueing.threshold import solve\n"
        "from queueing.threshold.model import Model\n"
        "from ..errors import Error\n"
        "if TYPE_CHECKING:\n    from ..placement.data import Data\n"
    ),
    "optmodels/placement/__init__.py": "",
    "optmodels/placement/data.py": "import numpy.linalg\n",
}


@pytest.fixture
def root(tmp_path):
    for name, text in TREE.items():
        file = tmp_path / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text)
    return tmp_path


def test_modules_are_named_and_folders_counted(root):
    assert set(rooms.modules(root)) == {
        name.removesuffix(".py").removesuffix("/__init__").replace("/", ".") for name in TREE
    }
    assert rooms.folders(root) == {
        "heuristics": 3,
        "optmodels": 3,
        "optmodels/placement": 2,
        "optmodels/routing": 2,
        "queueing": 2,
        "queueing/placement": 2,
        "queueing/robots": 2,
        "queueing/threshold": 2,
        "queueing/threshold/methods": 2,
    }


def test_every_import_is_seen_and_leads_to_a_module_or_to_a_door(root):
    assert rooms.imports(root) == {
        ("queueing", "queueing.robots.levels"),
        ("queueing.robots.levels", "queueing.placement.finite_source"),
        ("queueing.threshold", "queueing.threshold.methods.krylov"),
        ("queueing.threshold.methods.krylov", "queueing.numerics"),
        ("queueing.threshold.methods.krylov", "queueing.threshold.model"),
        ("queueing.numerics", "queueing.threshold.model"),
        ("heuristics.oracle", "heuristics.clock"),
        ("optmodels.registry", "optmodels.routing.problem"),
        ("optmodels.registry", "heuristics.clock"),
        ("optmodels.registry", "heuristics"),
        ("optmodels.routing", "optmodels.routing.problem"),
        ("optmodels.routing.problem", "queueing"),
        ("optmodels.routing.problem", "queueing.threshold"),
        ("optmodels.routing.problem", "queueing.threshold.model"),
        ("optmodels.routing.problem", "optmodels.errors"),
        ("optmodels.routing.problem", "optmodels.placement.data"),
    }


@pytest.mark.parametrize(
    ("name", "kind"),
    [
        ("queueing.threshold", "threshold"),
        ("queueing.threshold.methods.krylov", "threshold"),
        ("optmodels.robots.areas.limits", "robots"),
        ("queueing.robots_levels", None),
        ("queueing.simulation", None),
        ("heuristics.testing.toys", None),
        ("optmodels", None),
        ("optmodels.plotting.robots", None),
    ],
)
def test_a_module_belongs_to_a_kind_by_its_folder(name, kind):
    assert rooms.kind_of(name) == kind


def test_an_edge_from_kind_to_kind_is_told(root):
    assert rooms.kind_edges(rooms.imports(root)) == [
        ("optmodels.routing.problem", "optmodels.placement.data"),
        ("optmodels.routing.problem", "queueing.threshold"),
        ("optmodels.routing.problem", "queueing.threshold.model"),
        ("queueing.robots.levels", "queueing.placement.finite_source"),
    ]


def test_an_import_is_deep_if_it_passes_a_door(root):
    assert rooms.deep_imports(rooms.imports(root), rooms.modules(root)) == [
        ("optmodels.registry", "heuristics.clock"),
        ("optmodels.registry", "optmodels.routing.problem"),
        ("optmodels.routing.problem", "optmodels.placement.data"),
        ("optmodels.routing.problem", "queueing.threshold.model"),
    ]


def test_lines_of_code_are_no_docstrings_comments_and_blanks():
    head = '"""Say.\n\nMore.\n"""\n\n# why\nX = """a\nb"""  # two\n\n\n'
    source = head + 'def f():\n    """Say."""\n    return (\n        1\n    )\n'
    assert rooms.code_lines(source) == 2 + 1 + 3
    assert rooms.code_lines("") == 0


def test_what_is_exported_is_read():
    assert rooms.exported('__all__ = ["a", "b"]\n') == ["a", "b"]
    assert rooms.exported('__all__: list[str] = ["a"]\n') == ["a"]
    assert rooms.exported("a = 1\n") is None
    assert rooms.exported("__all__ = sorted(names)\n") is None


def test_figures_of_the_toy(root):
    figures = {figure.name: figure.now for section in (house.of_folders, house.of_imports) for figure in section(root)}
    assert figures["files in the largest folder"] == 3
    assert figures["files in the median folder"] == 2
    assert figures["modules, doors aside"] == 11
    assert figures["modules over 500 lines"] == 0
    assert figures["kind-to-kind edges in optmodels"] == 3
    assert figures["kind-to-kind edges in queueing"] == 1
    assert figures["deep imports of optmodels"] == 4
    (root / "optmodels" / "errors.py").write_text("\n" * 501)
    assert {figure.name: figure.now for figure in house.of_folders(root)}["modules over 500 lines"] == 1


def full(x: int) -> int:
    """Double a number.

    Parameters
    ----------
    x
        A number.

    Returns
    -------
    int
        Twice the number.

    >>> full(1)
    2
    """
    return 2 * x


def bare(x: int) -> int:
    """Double a number."""
    return 2 * x


def silent() -> None:
    """Do nothing.

    >>> silent()
    """


def test_parts_of_a_docstring_are_looked_for_where_they_are_expected():
    assert house.documented(full) == {"Parameters": True, "Returns": True, "example": True}
    assert house.documented(bare) == {"Parameters": False, "Returns": False, "example": False}
    assert house.documented(silent) == {"example": True}
    assert house.percent([True, False, False]) == 33
    assert house.percent([]) == 0


def test_modules_that_a_program_loads_are_counted(root):
    assert house.loaded("import json", root) == 0
    assert house.loaded("import heuristics.oracle", root) == 3
    with pytest.raises(RuntimeError, match="no_such_module"):
        house.loaded("import no_such_module", root)


def test_the_table_has_a_row_for_each_figure():
    rows = house.table([house.Figure("modules", 294, "fewer"), house.Figure("seconds", 0.25, "-")]).splitlines()
    assert [row.split() for row in rows] == [
        ["figure", "now", "aim"],
        ["modules", "294", "fewer"],
        ["seconds", "0.25", "-"],
    ]


def test_the_table_is_put_between_the_markers_and_nothing_else_changes():
    document = f"before\n{house.BEGIN}\nold\n{house.END}\nafter\n"
    once = house.refreshed(document, "new")
    assert once == f"before\n{house.BEGIN}\n\n```\nnew\n```\n\n{house.END}\nafter\n"
    assert house.refreshed(once, "new") == once


@pytest.mark.parametrize(
    "document",
    ["", house.BEGIN, house.END, f"{house.END}{house.BEGIN}", f"{house.BEGIN}{house.END}{house.BEGIN}{house.END}"],
    ids=["none", "no-end", "no-begin", "turned", "twice"],
)
def test_a_document_without_the_markers_is_refused(document):
    with pytest.raises(ValueError, match="once each"):
        house.refreshed(document, "new")


def test_the_guide_for_contributors_has_the_figures():
    """The markers, and a row for what is measured; no figure is asserted, they change with every commit."""
    text = (TOOLS.parent / "CONTRIBUTING.md").read_text(encoding="utf-8")
    assert house.refreshed(text, "figures") != text
    told = text.partition(house.BEGIN)[2].partition(house.END)[0]
    for name in ("files in the largest folder", "deep imports of optmodels", "CPU seconds of optmodels --help"):
        assert name in told
