"""Pages that stand elsewhere in the repository, and links to what is no page.

A file of `PAGES` is shown as the page beside it, word for word. A link to another file of the repository becomes the
name of that file: built pages may be read without the repository.
"""

from __future__ import annotations

import os
import posixpath
import re
from pathlib import Path, PurePosixPath

from sphinx.application import Sphinx

ROOT = Path(__file__).parents[2]

#: Name of a page to the file, from the root of the repository, that is shown there.
PAGES = {
    "project/contributing": "CONTRIBUTING.md",
    "project/changelog": "CHANGELOG.md",
    "project/instances": "instances/README.md",
}
ELSEWHERE = {file: f"docs/{page}.md" for page, file in PAGES.items()} | {"README.md": "docs/index.md"}

LINK = re.compile(r"(!?)\[((?:[^\[\]]|\[[^\]]*\])*)\]\(([^)\s]+)\)")


def rewritten(text: str, file: str, page: str) -> str:
    """Turn links, which are relative to `file`, into links from `page`; both are paths from the root."""

    def turn(link: re.Match[str]) -> str:
        mark, shown, target = link.groups()
        if re.match(r"\w+:|#", target):
            return link[0]
        path, _, anchor = target.partition("#")
        path = posixpath.normpath(posixpath.join(posixpath.dirname(file), path))
        if path == "README.md":
            anchor = ""  # its sections have pages of their own
        path = ELSEWHERE.get(path, path)
        if not path.startswith("docs/") or not (ROOT / path).is_file():
            return shown if shown.startswith("`") or not re.fullmatch(r"[\w./-]+", shown) else f"`{shown}`"
        back = os.path.relpath(path, PurePosixPath(page).parent).replace(os.sep, "/")
        return f"{mark}[{shown}]({back}{'#' * bool(anchor)}{anchor})"

    return LINK.sub(turn, text)


def read(app: Sphinx, page: str, source: list[str]) -> None:
    path = f"docs/{page}.md"
    if page in PAGES:
        source[0] = (ROOT / PAGES[page]).read_text(encoding="utf-8")
    if (ROOT / path).is_file():
        source[0] = rewritten(source[0], PAGES.get(page, path), path)


def setup(app: Sphinx) -> dict[str, bool]:
    app.connect("source-read", read)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
