"""What joins our files to Sphinx: the reference of doors, pages from elsewhere, formulas."""

import importlib.util
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]


def extension(name):
    """A module of docs/_ext, which is no package."""
    pytest.importorskip("sphinx", reason="pages are not built here: Sphinx is not installed (extra docs)")
    spec = importlib.util.spec_from_file_location(f"pages_{name}", ROOT / "docs" / "_ext" / f"{name}.py")
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module
    spec.loader.exec_module(module)
    return module


def test_every_name_of_a_door_is_described_once():
    doors = extension("doors")
    homes = doors.homes()
    assert {"optmodels", "heuristics", "queueing", "queueing.threshold", "optmodels.placement"} <= set(doors.doors())
    for door in doors.doors():
        assert all(doors.key(door, name) in homes for name in doors.offered(door))
    assert len(set(homes.values())) == len(homes) > 600
    assert homes["heuristics.protocols", "Evaluation"] == ("optmodels", "Evaluation")
    assert homes["queueing.placement.finite_source", "FiniteSourceQueue"][0] == "queueing.placement"


def test_the_page_of_a_door_leads_to_what_another_describes():
    page = extension("doors").page("heuristics")
    assert ":py:obj:`Evaluation <optmodels.Evaluation>`" in page
    assert ".. autoclass:: heuristics.Evaluation\n" not in page
    assert ".. autofunction:: heuristics.run\n" in page


def test_names_without_a_docstring_are_told_by_the_comment_above_them():
    doors = extension("doors")
    assert doors.sentence("optmodels.data", "DIGITS", 6) == (
        "Digits after the point of rates and probabilities: few enough to read."
    )


@pytest.mark.parametrize(
    ("link", "turned"),
    [
        ("[a](../CONTRIBUTING.md#a-kind)", "[a](project/contributing.md#a-kind)"),
        ("[a](../README.md#comparing)", "[a](index.md)"),
        ("[a](glossary.md)", "[a](glossary.md)"),
        ("[a](#there)", "[a](#there)"),
        ("[a](https://example.org)", "[a](https://example.org)"),
        ("[tests/plugins](../tests/plugins)", "`tests/plugins`"),
        ("[two words](../pyproject.toml)", "two words"),
        ("![p](figures/gaps.svg)", "![p](figures/gaps.svg)"),
    ],
)
def test_links_out_of_the_pages_are_turned(link, turned):
    assert extension("outside").rewritten(link, "docs/placement.md", "docs/placement.md") == turned


def test_links_of_a_page_from_elsewhere_begin_at_that_place():
    rewritten = extension("outside").rewritten
    assert (
        rewritten("[g](docs/glossary.md)", "CONTRIBUTING.md", "docs/project/contributing.md") == "[g](../glossary.md)"
    )


def test_formulas_become_mathml_and_what_cannot_be_read_is_a_warning(monkeypatch):
    pytest.importorskip("latex2mathml")
    from docutils import nodes

    mathml = extension("mathml")
    assert mathml.mathml(nodes.math("", r"x_j \le 1"), "inline").startswith("<math ")
    told = []
    monkeypatch.setattr(mathml.LOG, "warning", lambda *arguments, **_: told.append(arguments))
    assert mathml.mathml(nodes.math("", r"\frac{1}{"), "inline") == r"<code>\frac{1}{</code>"
    assert len(told) == 1
