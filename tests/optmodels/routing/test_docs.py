"""docs/routing.md: its examples run, its errata have their tests, its instances exist."""

import re

import pytest

from optmodels.registry import gap_costs


@pytest.fixture(scope="module")
def text(root):
    return (root / "docs" / "routing.md").read_text(encoding="utf-8")


def test_the_examples_run(text, capsys):
    blocks = re.findall(r"^```python\n(.*?)^```$", text, re.DOTALL | re.MULTILINE)
    assert len(blocks) == 2
    names: dict[str, object] = {"__name__": "routing_docs"}
    try:
        for block in blocks:
            exec(compile(block, "docs/routing.md", "exec"), names)
        printed = capsys.readouterr().out.splitlines()
        assert printed[0].startswith("routing: optimal")
        assert printed[1].startswith("optimal")
    finally:
        gap_costs.unregister("hyperbolic")


def test_every_erratum_has_its_test(text, root):
    published = "".join(
        (root / "tests" / "published" / f"test_{name}.py").read_text() for name in ("altman", "altman_multimodular")
    )
    table = text[text.index("## Errata of the paper") :]
    named = re.findall(r"`test_((?:erratum_a|local_search_by)\w+\*?)`", table)
    assert len(named) >= 13
    for name in named:
        assert re.search(rf"def test_{name.rstrip('*')}", published), name


def test_instances_that_are_named_exist(text, instances):
    for name in re.findall(r"instances/routing/([\w-]+)\.json", text):
        assert (instances / "routing" / f"{name}.json").is_file(), name
