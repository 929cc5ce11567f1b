"""Open built pages in headless Chromium, as a reader would, and say what is wrong with them.

>>> python tools/browse.py docs/_build/html
>>> python tools/browse.py docs/_build/html demo --pictures screenshots

Every ``.html`` file of a folder is served on the loopback interface and opened. Complaints are: an error on the console
or in a script, a request to another place, a request that fails, a link to a page or an anchor that is not there, text
wider than a phone, and a Python object shown by its address where a picture or a table is meant. Pictures of a few
pages, wide and narrow, light and dark, are kept for people to look at.

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
    if (excess := tab.evaluate(EXCESS)) > 0:
        visit.complaints.append(f"{excess} pixels wider than a phone of {PHONE['width']}")
    if found := re.search(BARE, tab.evaluate("document.body.innerText")):
        visit.complaints.append(f"a thing is not shown: {found[0]}")
    tab.close()
    return visit


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
            tab.screenshot(path=file.with_name(f"{file.name}-{width}-{scheme}.png"), full_page=False)
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
