"""The page of the demo: one HTML file that asks no other host for anything, for phones and screens, light and dark."""

from __future__ import annotations

import re
from collections.abc import Sequence
from html import escape
from typing import TYPE_CHECKING, Any

from .. import __version__
from .demo import HEADS, MARK, cells_of

if TYPE_CHECKING:
    from .demo import Shown

_STYLE = """
:root { color-scheme: light dark; --text: #1d2329; --quiet: #59636e; --line: #d4dae0; --page: #ffffff;
  --card: #f5f7f9; --accent: #005b96; }
@media (prefers-color-scheme: dark) { :root { --text: #e4e8ec; --quiet: #9aa5b1; --line: #38424d; --page: #14181d;
  --card: #1d232a; --accent: #7cc4f5; } }
* { box-sizing: border-box; }
body { margin: 0 auto; padding: 1.2rem; max-width: 62rem; background: var(--page); color: var(--text);
  font: 1rem/1.55 system-ui, -apple-system, "Segoe UI", sans-serif; }
h1 { font-size: 1.6rem; line-height: 1.25; margin: .4rem 0; }
h2 { font-size: 1.25rem; margin: 2.4rem 0 .2rem; border-top: 1px solid var(--line); padding-top: 1.2rem; }
p { margin: .5rem 0; }
nav a { margin-right: 1rem; white-space: nowrap; }
a { color: var(--accent); }
.quiet { color: var(--quiet); font-size: .9rem; }
.scroll { overflow-x: auto; }
table { border-collapse: collapse; width: 100%; font-variant-numeric: tabular-nums; margin: .8rem 0; }
th, td { padding: .35rem .6rem; text-align: right; border-bottom: 1px solid var(--line); white-space: nowrap; }
th:first-child, td:first-child, th:nth-child(2), td:nth-child(2) { text-align: left; }
tr.best td { font-weight: 600; }
pre { background: var(--card); padding: .7rem .9rem; border-radius: .4rem; overflow-x: auto; font-size: .88rem; }
figure { margin: .8rem 0; background: #ffffff; border: 1px solid var(--line); border-radius: .4rem; padding: .5rem; }
figure svg { display: block; width: 100%; height: auto; }
"""

#: What an answer is worth, in the words of the page.
_WORTH = {
    "optimal": "proved optimal",
    "feasible": "the best found, not proved optimal",
}


def page_of(shown: Sequence[Shown], rows: Sequence[dict[str, Any]], missing: str | None, seconds: float) -> str:
    """Write the page.

    Parameters
    ----------
    shown
        What was run for each kind, with its picture as SVG, if there is one.
    rows
        The runs of all kinds.
    missing
        Why there are no pictures, if there are none.
    seconds
        What the runs and pictures took.

    Returns
    -------
    str
        A whole HTML document.
    """
    links = " ".join(f'<a href="#{escape(part.kind)}">{escape(part.kind)}</a>' for part in shown)
    note = "" if missing is None else f"<p>{escape(missing)}</p>\n"
    sections = "\n".join(_section(part, [row for row in rows if row["kind"] == part.kind]) for part in shown)
    return f"""<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
{MARK}
<title>optmodels: five kinds of problems</title>
<style>{_STYLE}</style>
</head>
<body>
<h1>Five kinds of problems: exact strategies against heuristics</h1>
<p>For each kind: a small instance, an exact strategy, which proves its answer, and heuristics, which prove nothing. The
gap is the relative difference to the proved optimum; every answer was evaluated again after its run.</p>
<nav>{links}</nav>
{note}{sections}
<h2 id="next">Next</h2>
<pre>optmodels list placement                    what a kind offers: strategies, measures, instances
optmodels solve gautam-6x6                  an answer, with its proof
optmodels new placement --out mine.json     a problem of your own: edit it, then
optmodels check mine.json
optmodels solve mine.json --out answer.json
optmodels plot mine.json --result answer.json --out answer.svg</pre>
<p class="quiet">Made by optmodels {escape(__version__)} in {seconds:.0f} s.</p>
</body>
</html>
"""


def _section(part: Shown, rows: Sequence[dict[str, Any]]) -> str:
    """One kind: what is asked, the runs, the best answer and its picture."""
    from ..registry import kinds

    record = kinds[part.kind]
    command = f"optmodels compare {part.name} --strategies {' '.join(row['strategy'] for row in rows)} --seconds 5"
    best = part.best
    answer = ""
    if best is not None:
        worth = _WORTH.get(best.status, best.status)
        if best.result.extra.get("attained") is False:
            worth = "a proved lower bound, which no order of visits can be below"
        value = f"<strong>{best.result.objective:.6g}</strong>"
        answer = f"<p>Best answer: {value} by {escape(best.strategy)}, {worth}.</p>\n"
    answer += "".join(f"<p>{escape(line[:1].upper() + line[1:])}.</p>\n" for line in part.words)
    body = "\n".join(_row(row, best is not None and row["strategy"] == best.strategy) for row in rows)
    heads = "".join(f"<th>{escape(head)}</th>" for head in HEADS)
    figure = "" if part.picture is None else f"<figure>{inline(part.picture, part.kind)}</figure>\n"
    return f"""<h2 id="{escape(part.kind)}">{escape(part.kind)}: {escape(part.name)}</h2>
<p>{escape(record.question)}</p>
<p class="quiet">{escape(record.paper)}</p>
<div class="scroll"><table>
<thead><tr>{heads}</tr></thead>
<tbody>
{body}
</tbody>
</table></div>
{answer}{figure}<pre>{escape(command)}</pre>"""


def _row(row: dict[str, Any], best: bool) -> str:
    cells = "".join(f"<td>{escape(cell)}</td>" for cell in cells_of(row))
    return f'<tr class="best">{cells}</tr>' if best else f"<tr>{cells}</tr>"


def inline(svg: str, prefix: str) -> str:
    """Make a picture a part of a page: without its own head and addresses, and with ids that no other has.

    Parameters
    ----------
    svg
        What a file holds.
    prefix
        Put before every id; those that nothing refers to are left out.

    Returns
    -------
    str
        The element ``<svg>``.

    Examples
    --------
    >>> inline('<?xml version="1.0"?><svg xmlns="http://x"><g id="a"/><use href="#a"/></svg>', "first")
    '<svg><g id="first-a"/><use href="#first-a"/></svg>'
    """
    text = svg[svg.index("<svg") :]
    text = re.sub(r"<metadata>.*?</metadata>", "", text, flags=re.DOTALL)
    text = re.sub(r'\sxmlns(:\w+)?="[^"]*"', "", text)
    asked = set(re.findall(r'(?:href="|url\()#([^")]*)', text))

    def named(found: re.Match[str]) -> str:
        """Keep an id that something refers to, where it stands first."""
        if found[1] not in asked:
            return ""
        asked.discard(found[1])
        return f' id="{prefix}-{found[1]}"'

    text = re.sub(r'\sid="([^"]*)"', named, text)
    text = re.sub(r'href="#', f'href="#{prefix}-', text)
    return re.sub(r"url\(#", f"url(#{prefix}-", text).strip()
