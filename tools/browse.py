"""Open built pages in headless Chromium, as a reader would, and say what is wrong with them.

>>> python tools/browse.py docs/_build/html
>>> python tools/browse.py docs/_build/html demo --pictures screenshots

Every ``.html`` file of a folder is served on the loopback interface and opened. Complaints are: an error on the console
or in a script, a request to another place, a request that fails, a link to a page or an anchor that is not there, text
wider than a phone, and a Python object shown by its address where a picture or a table is meant. Reports of comparisons
are tried out: their tables must sort by click and by key, filter, and be whole without JavaScript. Pictures of a few
pages, wide and narrow, light and dark (of reports also as printed), are kept for people to look at.

The browser is the one that is installed (`chromium`, or what ``CHROMIUM`` names); nothing is downloaded. Where there is
none, or no playwright, one sentence says so and the exit code is 0.
"""

from __future__ import annotations

import argparse
import os
import re
import shutil
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Thread
from typing import Any
from urllib.parse import quote, unquote, urldefrag

NAMES = ("chromium", "chromium-browser", "google-chrome")
WIDE, PHONE = {"width": 1400, "height": 900}, {"width": 390, "height": 844}
PAPER = {"width": 720, "height": 1000}

#: Pages of which pictures are kept, if they are there.
SHOWN = (
    "index",
    "errata",
    "placement",
    "gallery",
    "guide/*",
    "tutorials/*",
    "api/index",
    "api/doors/optmodels",
    "api/doors/queueing.threshold",
    "report",
)

#: Where links lead, and which anchors there are; whether something sticks out at the right.
LINKS = "[...document.querySelectorAll('a[href]')].map(link => link.href)"
ANCHORS = "[...document.querySelectorAll('[id]')].map(place => place.id)"
EXCESS = "document.documentElement.scrollWidth - document.documentElement.clientWidth"

#: What Python writes of a thing that cannot show itself.
BARE = r"<Figure size [^>]*>|<[\w.]+ object at 0x[0-9a-f]+>"


#: By what a report is known, and what is read of its largest table: texts of a column, rows that are seen.
REPORT = 'meta[name="generator"][content="optmodels report"]'
COLUMN = "(table, place) => [...table.tBodies[0].rows].map(row => row.cells[place].textContent)"
SEEN = "table => [...table.tBodies[0].rows].filter(row => row.offsetParent !== null).map(row => row.textContent)"


class Quiet(SimpleHTTPRequestHandler):
    """Serve files without a line for each."""

    def log_message(self, *arguments: object) -> None:
        """Say nothing."""


@contextmanager
def served(folder: Path) -> Iterator[str]:
    """Serve a folder on the loopback interface, and give its address."""
    server = ThreadingHTTPServer(("127.0.0.1", 0), partial(Quiet, directory=str(folder)))
    thread = Thread(target=server.serve_forever, daemon=True)
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_address[1]}/"
    finally:
        server.shutdown()
        thread.join()
        server.server_close()


@dataclass
class Visit:
    """What was seen on one page."""

    page: str
    complaints: list[str] = field(default_factory=list)
    links: set[str] = field(default_factory=set)
    anchors: set[str] = field(default_factory=set)
    report: bool = False


def missing() -> str | None:
    """Say what is missing to open pages at all, in one sentence, if something is."""
    try:
        import playwright  # noqa: F401
    except ImportError:
        return "the pages are not opened: playwright is not installed (pip install optmodels[docs])."
    if executable() is None:
        return f"the pages are not opened: none of {', '.join(NAMES)} is installed (apt-get install chromium)."
    return None


def executable() -> str | None:
    """Find the browser."""
    return os.environ.get("CHROMIUM") or next(filter(None, map(shutil.which, NAMES)), None)


def open_page(context: Any, address: str, page: str) -> Visit:
    """Open one page at the width of a phone, and note what is wrong with it."""
    visit = Visit(page)
    tab = context.new_page()
    tab.on("console", lambda line: line.type == "error" and visit.complaints.append(f"console: {line.text}"))
    tab.on("pageerror", lambda error: visit.complaints.append(f"script: {error}"))
    tab.on("requestfailed", lambda request: visit.complaints.append(f"request failed: {request.url}"))

    def look(route: Any) -> None:
        url = route.request.url
        if url.startswith((address, "data:", "blob:")):
            route.continue_()
        else:
            visit.complaints.append(f"a request leaves: {url}")
            route.abort()

    tab.route("**/*", look)
    tab.goto(address + quote(page), wait_until="load")
    visit.links = set(tab.evaluate(LINKS))
    visit.anchors = set(tab.evaluate(ANCHORS))
    visit.report = tab.query_selector(REPORT) is not None
    if (excess := tab.evaluate(EXCESS)) > 0:
        visit.complaints.append(f"{excess} pixels wider than a phone of {PHONE['width']}")
    if found := re.search(BARE, tab.evaluate("document.body.innerText")):
        visit.complaints.append(f"a thing is not shown: {found[0]}")
    tab.close()
    return visit


def try_report(browser: Any, address: str, page: str) -> Iterator[str]:
    """Use a report as a reader would, with and without JavaScript, and name what does not work."""
    plain = browser.new_context(viewport=PHONE, java_script_enabled=False)
    tab = plain.new_page()
    tab.goto(address + quote(page), wait_until="load")
    rows = tab.locator("table").last.evaluate(SEEN) if tab.locator("table").count() else []
    if tab.locator("input, button").count():
        yield "without JavaScript there are controls that do nothing"
    if (excess := tab.evaluate(EXCESS)) > 0:
        yield f"without JavaScript {excess} pixels wider than a phone of {PHONE['width']}"
    plain.close()
    if len(rows) < 6:
        return
    context = browser.new_context(viewport=WIDE)
    tab = context.new_page()
    tab.set_default_timeout(5000)
    tab.goto(address + quote(page), wait_until="load")
    try:
        yield from _try_table(tab, tab.locator(".sortable").last, len(rows))
    except Exception as failure:  # a control that is not there
        yield f"its last table cannot be used: {' '.join(str(failure).split())[:200]}"
    context.close()


def _try_table(tab: Any, part: Any, count: int) -> Iterator[str]:
    table = part.locator("table")
    if len(table.evaluate(SEEN)) != count:
        yield f"its last table has {count} rows without JavaScript, and {len(table.evaluate(SEEN))} with it"
    heads = [head.strip() for head in table.locator("th").all_text_contents()]
    place = heads.index("seconds")
    head = table.locator("th").nth(place)
    button = head.get_by_role("button")
    button.click()
    rising = _numbers(table, place)
    if rising != sorted(rising) or head.get_attribute("aria-sort") != "ascending":
        yield "a click does not sort a column"
    button.focus()
    tab.keyboard.press("Enter")
    if _numbers(table, place) != rising[::-1] or head.get_attribute("aria-sort") != "descending":
        yield "the key Enter does not turn the order of a column"
    word = table.locator("tbody td").nth(1).text_content()
    box = part.get_by_role("searchbox")
    box.fill(word)
    seen = table.evaluate(SEEN)
    if not seen or not all(word in row for row in seen):
        yield f"the filter {word!r} shows rows without it, or none"
    box.fill("no row has these words")
    if table.evaluate(SEEN):
        yield "a filter that fits no row shows some"
    box.fill("")
    if len(table.evaluate(SEEN)) != count:
        yield "an empty filter does not show all rows"


def _numbers(table: Any, place: int) -> list[float]:
    """Read the numbers of a column, in the order in which they stand; what is none is left out."""
    texts = table.evaluate(f"table => ({COLUMN})(table, {place})")
    return [float(text) for text in texts if re.fullmatch(r"[\d.]+", text)]


def broken(visits: dict[str, Visit], folder: Path, address: str) -> Iterator[str]:
    """Name links to pages of ours, or places on them, that are not there."""
    for visit in visits.values():
        for link in sorted(visit.links):
            if not link.startswith(address):
                continue
            path, anchor = urldefrag(link.removeprefix(address))
            path = unquote(path.partition("?")[0])
            if path == "" or path.endswith("/"):
                path += "index.html"
            if not (folder / path).is_file():
                yield f"{visit.page}: a link leads to {path}, which is not there"
            elif anchor and path in visits and unquote(anchor) not in visits[path].anchors:
                yield f"{visit.page}: a link leads to {path}#{unquote(anchor)}, and there is no such place"


def picture(browser: Any, address: str, page: str, file: Path) -> None:
    """Keep pictures of one page: wide and narrow, light and dark."""
    for width, viewport in (("wide", WIDE), ("phone", PHONE)):
        for scheme in ("light", "dark"):
            context = browser.new_context(viewport=viewport, color_scheme=scheme)
            tab = context.new_page()
            tab.goto(address + quote(page), wait_until="load")
            report = bool(tab.query_selector(REPORT))
            tab.screenshot(path=file.with_name(f"{file.name}-{width}-{scheme}.png"), full_page=report)
            if report and width == "wide" and scheme == "dark":
                tab.set_viewport_size(PAPER)
                tab.emulate_media(media="print")
                tab.screenshot(path=file.with_name(f"{file.name}-print.png"), full_page=True)
            context.close()


def look_through(folder: Path, pictures: Path | None = None) -> tuple[int, list[str]]:
    """Open all pages of a folder; count them, and list what is wrong."""
    from playwright.sync_api import sync_playwright

    pages = sorted(file.relative_to(folder).as_posix() for file in folder.rglob("*.html"))
    with served(folder) as address, sync_playwright() as driver:
        browser = driver.chromium.launch(executable_path=executable(), args=["--no-sandbox", "--disable-gpu"])
        phone = browser.new_context(viewport=PHONE)
        visits = {page: open_page(phone, address, page) for page in pages}
        complaints = [f"{visit.page}: {one}" for visit in visits.values() for one in visit.complaints]
        complaints += broken(visits, folder, address)
        reports = [visit.page for visit in visits.values() if visit.report]
        complaints += [f"{page}: {one}" for page in reports for one in try_report(browser, address, page)]
        if pictures is not None:
            pictures.mkdir(parents=True, exist_ok=True)
            for page in (page for page in pages if any(Path(page).match(f"{shown}.html") for shown in SHOWN)):
                picture(browser, address, page, pictures / page.removesuffix(".html").replace("/", "-"))
        browser.close()
    return len(pages), complaints


def main() -> int:
    """Open the pages of one folder, or of several."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n")[0])
    parser.add_argument("folders", type=Path, nargs="+", help="where the pages are")
    parser.add_argument(
        "--pictures", type=Path, help="folder for pictures of a few pages, one below it for each folder"
    )
    options = parser.parse_args()
    for folder in options.folders:
        if not any(folder.rglob("*.html")):
            print(f"{folder} has no pages; `make docs` builds those of the documentation.", file=sys.stderr)
            return 2
    if sentence := missing():
        print(f"Skipped: {sentence}")
        return 0
    wrong = False
    for folder in options.folders:
        count, complaints = look_through(folder.resolve(), options.pictures and options.pictures / folder.name)
        print(*complaints, f"{folder}: {count} pages opened, {len(complaints)} complaints", sep="\n")
        wrong |= bool(complaints)
    return int(wrong)


if __name__ == "__main__":
    raise SystemExit(main())
