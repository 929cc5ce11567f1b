"""Pictures of instances and their best answers, as parts of a page.

A picture of matplotlib becomes an element ``<svg>`` without addresses, scripts, comments or names that another picture
on the page may have; its texts are texts, not outlines. What is too large as lines is drawn as dots inside it, and
what is too large as dots is left out, with a sentence, so that a page stays small.
"""

from __future__ import annotations

import base64
import io
import math
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from html import escape
from typing import TYPE_CHECKING, Any
from xml.etree import ElementTree

from ..data import shipped_files
from ..errors import RequestError, brief, printable
from ..instance import load
from ..protocols import Problem
from ..registry import kinds
from ..results import result_to_data

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from ..studies import Run

#: Dots per inch of what is drawn as dots, and how many colours they have.
DOTS, SHADES = 110, 64
#: No picture has fewer characters than these.
LEAST_ROOM = 4000

#: Letters as wide as those that matplotlib has measured; Verdana is as wide as DejaVu Sans.
_FONT = "'DejaVu Sans', Verdana, sans-serif"

#: What may stand in a page; anything else of a picture is left out.
_ELEMENTS = frozenset(
    {"svg", "g", "path", "use", "defs", "clipPath", "rect", "circle", "line", "text", "tspan", "image",
     "linearGradient", "stop", "polygon", "polyline", "ellipse", "pattern", "symbol"}
)  # fmt: skip
_NUMBER = re.compile(r"-?\d+\.\d{3,}")
_REFERENCE = re.compile(r"url\(#([^)]*)\)")
_NO_TURN = re.compile(r"^rotate\(-?0 [^)]*\)$")
#: What a rule of a style sheet may be made of: nothing that could end the sheet.
_RULE = re.compile(r"[\w\s:;,.#%()'-]+")


class Styles:
    """Looks that elements of several pictures share, each with a short name, for one style sheet."""

    def __init__(self, known: Mapping[str, str] | None = None) -> None:
        self._names: dict[str, str] = dict(known or {})

    def trial(self) -> Styles:
        """Make a copy, to be kept by `keep` or forgotten."""
        return Styles(self._names)

    def keep(self, trial: Styles) -> None:
        """Take over what a copy has named."""
        self._names |= trial._names

    def name(self, rule: str) -> str | None:
        """Name a look; ``None`` if it refers to one picture, or is made of what no style sheet should hold."""
        if "url(" in rule or not _RULE.fullmatch(rule):
            return None
        return self._names.setdefault(rule, f"p{len(self._names)}")

    @property
    def sheet(self) -> str:
        """The rules of all looks that have names."""
        return "".join(f".{name}{{{rule}}}" for rule, name in self._names.items())


@dataclass(frozen=True)
class Picture:
    """What is shown of one instance: its picture as SVG, its answer in words, and why something is missing."""

    svg: str = ""
    words: tuple[str, ...] = ()
    missing: str = ""


def draw_answer(run: Run, prefix: str, styles: Styles | None = None, room: float = math.inf) -> Picture:
    """Draw the instance of a run with its answer, and tell the answer in words.

    Parameters
    ----------
    run
        With a decision; a run that was read from a file knows its problem only if it is a shipped one.
    prefix
        Before every name inside the picture.
    styles
        Looks of the page, to which those of the picture are added; without it they stand in the picture.
    room
        Characters that the picture may have: it is drawn as lines, else as dots, else not at all.

    Returns
    -------
    Picture
        With a sentence where there is no picture. Whatever a kind's own code raises becomes such a sentence: one
        instance must not take the page down.
    """
    result, problem = run.result, run.result.asked
    if problem is None:
        file = shipped_files().get(result.problem)  # by name alone: a stored run names no file to open
        if file is None:
            return Picture(missing="no picture: the instance is not at hand, only what was stored of its runs.")
        problem = load(file)
        result = result.of(problem)
    answer = result_to_data(result, files=False)
    words = _words(problem, answer)
    try:
        svg = _svg(problem, answer, result.best_known, prefix, styles, room)
    except Exception as failure:
        told = printable(str(failure) or type(failure).__name__).rstrip(".")
        return Picture(words=words, missing=f"no picture: {told}.")
    return (
        Picture(svg, words) if svg else Picture(words=words, missing="no picture: it would make this page too large.")
    )


def _words(problem: Problem, answer: dict[str, Any]) -> tuple[str, ...]:
    """The answer in the words of its kind, if it has some."""
    kind = kinds.of(problem)
    tell: Callable[..., Any] | None = None if kind is None else kinds.part(kind.name, "words")
    if tell is None:
        return ()
    try:
        return tuple(brief(printable(str(line)), 400) for line in tell(problem, answer))
    except Exception:  # words of a kind are an extra; its table and picture still stand
        return ()


def _svg(
    problem: Problem, answer: dict[str, Any], best_known: float | None, prefix: str, styles: Styles | None, room: float
) -> str:
    from ..plotting import plot_problem

    if room < LEAST_ROOM:
        return ""
    figure = plot_problem(problem, answer, best_known=best_known)
    _settle(figure)
    trial = None if styles is None else styles.trial()
    lines = as_inline(_as_lines(figure), prefix, trial)
    if len(lines) <= room:
        if styles is not None and trial is not None:
            styles.keep(trial)
        return lines
    dots = _as_dots(figure)
    return dots if len(dots) <= room else ""


def _settle(figure: Figure) -> None:
    """Lay a figure out once; otherwise each time it is written it is drawn twice, and the first time for nothing."""
    from ..plotting import house_style

    engine = figure.get_layout_engine()
    if engine is not None:
        with house_style():
            engine.execute(figure)
            figure.set_layout_engine("none")


def _as_lines(figure: Figure) -> str:
    import matplotlib

    from ..plotting import house_style

    stream = io.StringIO()
    with house_style(), matplotlib.rc_context({"svg.fonttype": "none"}):
        figure.savefig(stream, format="svg", metadata={"Date": None, "Creator": None})
    return stream.getvalue()


def _as_dots(figure: Figure) -> str:
    from PIL import Image  # comes with matplotlib

    from ..plotting import house_style

    drawn, packed = io.BytesIO(), io.BytesIO()
    with house_style():
        figure.savefig(drawn, format="png", dpi=DOTS, metadata={"Software": None})
    image = Image.open(drawn).convert("RGB").quantize(SHADES, dither=Image.Dither.NONE)
    image.save(packed, format="png", optimize=True)
    width, height = image.size
    data = base64.b64encode(packed.getvalue()).decode()
    return (
        f'<svg viewBox="0 0 {width} {height}">'
        f'<image width="{width}" height="{height}" href="data:image/png;base64,{data}"/></svg>'
    )


def as_inline(svg: str, prefix: str, styles: Styles | None = None) -> str:
    """Make a picture a part of a page: without its own head and addresses, and with names that no other has.

    Parameters
    ----------
    svg
        An SVG file as matplotlib writes it.
    prefix
        Put before every name that something refers to; the others are left out.
    styles
        Looks of the page, to which those of the picture are added; without it they stand in the picture.

    Returns
    -------
    str
        The element ``<svg>``. Texts stay texts, whatever they say.

    Raises
    ------
    RequestError
        If it is not SVG.

    Examples
    --------
    >>> as_inline('<svg xmlns="http://x"><path id="a"/><use href="#a"/><text>a &lt;b></text></svg>', "one")
    '<svg><path id="one-0"/><use href="#one-0"/><text>a &lt;b&gt;</text></svg>'
    """
    try:
        root = ElementTree.fromstring(svg)
    except ElementTree.ParseError as failure:
        raise RequestError(f"the picture is not well-formed SVG: {failure}.") from None
    found = [
        name
        for element in root.iter()
        for key, value in element.attrib.items()
        for name in ([value[1:]] if _plain(key) == "href" and value[:1] == "#" else _REFERENCE.findall(value))
    ]
    asked = {name: f"{prefix}-{place}" for place, name in enumerate(dict.fromkeys(found))}
    parts: list[str] = []
    _write(root, asked, styles, parts, outermost=True)
    return "".join(parts)


def _plain(name: str) -> str:
    """A name without its namespace."""
    return name.rpartition("}")[2]


def _write(
    element: Any, asked: Mapping[str, str], styles: Styles | None, parts: list[str], outermost: bool = False
) -> None:
    tag = _plain(element.tag) if isinstance(element.tag, str) else ""
    if tag not in _ELEMENTS:
        return
    attributes: dict[str, str] = {}
    for key, value in element.attrib.items():
        name = _plain(key)
        kept = None if outermost and name in ("width", "height", "version") else _attribute(name, value, asked)
        shared = styles.name(kept) if styles is not None and name == "style" and kept else None
        if shared is not None:
            attributes["class"] = shared
        elif kept:
            attributes[name] = kept
    letters = tag in ("text", "tspan")
    content = [escape(element.text, quote=False)] if letters and element.text else []
    for child in element:
        _write(child, asked, styles, content)
        if letters and child.tail and child.tail.strip():
            content.append(escape(child.tail, quote=False))
    if tag in ("g", "defs") and not (content and (attributes or tag == "defs")):
        parts += content  # a group that says nothing
        return
    opening = "".join(f' {name}="{escape(value)}"' for name, value in attributes.items())
    parts += [f"<{tag}{opening}>", *content, f"</{tag}>"] if content else [f"<{tag}{opening}/>"]


def _attribute(name: str, value: str, asked: Mapping[str, str]) -> str | None:
    """An attribute as the page has it, or ``None`` if it has none of it."""
    if name.lower().startswith("on"):
        return None
    if name == "id":
        return asked.get(value)
    if name == "href":
        if value.startswith("#"):
            return f"#{asked[value[1:]]}"
        return "".join(value.split()) if value.startswith("data:image/png;base64,") else None
    if "://" in value or (name == "transform" and _NO_TURN.match(value)):
        return None
    if name in ("d", "points", "x", "y", "width", "height", "transform"):
        value = " ".join(_NUMBER.sub(_rounded, value).split())
        return re.sub(r" ?([A-Za-z]) ?", r"\1", value) if name == "d" else value
    if name == "style":
        value = re.sub(r"font-family:\s*[^;]*", f"font-family:{_FONT}", re.sub(r"font:\s*[^;]*", _font, value))
        value = re.sub(r":\s+", ":", re.sub(r";\s+", ";", value))
        value = _NUMBER.sub(_rounded, value)
    return _REFERENCE.sub(lambda found: f"url(#{asked[found[1]]})", value)


def _font(found: re.Match[str]) -> str:
    size = re.search(r"[\d.]+px", found[0])
    bold = "bold " if "bold" in found[0] or re.search(r"\b[6-9]00\b", found[0]) else ""
    return f"font: {bold}{size[0] if size else '8px'} {_FONT}"


def _rounded(found: re.Match[str]) -> str:
    """Write a length with a tenth of a point, less if it is small."""
    value = float(found[0])
    text = f"{value:.{1 if abs(value) >= 10 else 2}f}".rstrip("0").rstrip(".")
    return "0" if text in ("-0", "") else text
