"""Reports of stored comparisons, as pages of their own.

Every folder of `docs/studies` with a ``runs.jsonl`` holds a comparison, or a benchmark, as the command in
``docs/studies/README.md`` wrote it. Its report becomes ``studies/<folder>.html`` beside the pages.
"""

from __future__ import annotations

from pathlib import Path

from sphinx.application import Sphinx
from sphinx.config import Config

HERE = Path(__file__).parents[1]
STORED, BUILT = HERE / "studies", HERE / "_build" / "extra" / "studies"

TITLES = {
    "papers": "The tables of five papers, remade",
    "gautam-25": "Exact methods and heuristics on 25 grids",
}


def build(app: Sphinx, config: Config) -> None:
    """Write the reports to where Sphinx takes further files from."""
    from optmodels.cli import main

    BUILT.mkdir(parents=True, exist_ok=True)
    for runs in sorted(STORED.glob("*/runs.jsonl")):
        name = runs.parent.name
        page = BUILT / f"{name}.html"
        if page.is_file() and page.stat().st_mtime > max(file.stat().st_mtime for file in runs.parent.iterdir()):
            continue
        if main(["report", str(runs.parent), "--out", str(page), "--title", TITLES.get(name, name)]):
            raise RuntimeError(f"no report could be made of {runs.parent}.")


def setup(app: Sphinx) -> dict[str, bool]:
    app.connect("config-inited", build)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
