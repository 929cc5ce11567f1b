r"""Formulas as MathML, which browsers draw by themselves: nothing is fetched, and no script runs.

`latex2mathml` does the work; this joins it to Sphinx. A formula that it cannot read is a warning, as a broken link is.
"""

from __future__ import annotations

import html
import re
from typing import Any

from docutils import nodes
from latex2mathml.converter import convert
from sphinx.application import Sphinx
from sphinx.util import logging

LOG = logging.getLogger(__name__)


def mathml(node: nodes.Element, display: str) -> str:
    """Translate a formula, or warn and show it as it is written."""
    source = re.sub(r"\s+", " ", node.astext()).strip()
    # Of aligned rows latex2mathml makes one line, without a word; arrays it knows.
    source = source.replace(r"\begin{aligned}", r"\begin{array}{rl}").replace(r"\end{aligned}", r"\end{array}")
    try:
        return convert(source, display=display)
    except Exception as failure:
        LOG.warning("a formula cannot be read (%s): %s", failure, source, location=node)
        return f"<code>{html.escape(source)}</code>"


def visit_inline(self: Any, node: nodes.math) -> None:
    self.body.append(mathml(node, "inline"))
    raise nodes.SkipNode


def visit_block(self: Any, node: nodes.math_block) -> None:
    self.body.append(f'<div class="formula">{mathml(node, "block")}</div>\n')
    raise nodes.SkipNode


def setup(app: Sphinx) -> dict[str, bool]:
    app.add_html_math_renderer("mathml", inline_renderers=(visit_inline, None), block_renderers=(visit_block, None))
    app.config.html_math_renderer = "mathml"  # type: ignore[attr-defined]
    return {"parallel_read_safe": True, "parallel_write_safe": True}
