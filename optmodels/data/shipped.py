"""Instances that come with the package, found by their names.

A wheel carries the folder ``instances`` as ``optmodels/_shipped``; a checkout reads the folder beside the packages. The
name of a shipped instance is that of its file without ``.json``, and no two kinds share one.
"""

from __future__ import annotations

import os
from functools import cache
from pathlib import Path

from ..errors import UnreadableFile, nearest

#: Where instances may lie: beside the packages (a checkout), or inside this one (a wheel).
FOLDERS = (Path(__file__).parents[2] / "instances", Path(__file__).parents[1] / "_shipped")


def shipped_folder() -> Path | None:
    """Find the folder of shipped instances.

    Returns
    -------
    Path or None
        With a folder for each kind inside; ``None`` where the package was installed without instances.
    """
    return next((folder for folder in FOLDERS if (folder / "placement").is_dir()), None)


@cache
def shipped_files(suffix: str = ".json") -> dict[str, Path]:
    """Map the names of shipped instances to their files.

    Parameters
    ----------
    suffix
        Of the files: ``.csv`` are logs.

    Returns
    -------
    dict of str to Path
        Sorted by kind, then by name; the folder of a file has the name of its kind.

    Examples
    --------
    >>> shipped_files()["gautam-2x3"].parent.name
    'placement'
    """
    folder = shipped_folder()
    files = [] if folder is None else sorted(folder.glob(f"*/*{suffix}"), key=_kind_and_name)
    return {file.stem: file for file in files}


def instances(kind: str | None = None) -> list[str]:
    """List the names of the instances that come with the package; each may stand wherever a problem is asked for.

    Parameters
    ----------
    kind
        Of this kind only.

    Returns
    -------
    list of str
        By kind, then by name; none where the package was installed without them.

    Raises
    ------
    UnknownName
        If there is no such kind; the sentence names the nearest.

    Examples
    --------
    >>> from optmodels import instances, load
    >>> "gautam-6x6" in instances("placement"), load(instances("robots")[0]).kind
    (True, 'robots')
    """
    from ..registry import kinds

    if kind is not None:
        kinds.origin(kind)  # refuses what is none
    return [name for name, file in shipped_files().items() if kind in (None, file.parent.name)]


def locate(path: str | os.PathLike[str], suffix: str = ".json") -> Path:
    """Find the file that a path, or the name of a shipped instance, stands for.

    Parameters
    ----------
    path
        Of a file, which comes first; or a name such as ``"gautam-6x6"``, without folder and ``.json``.
    suffix
        What names stand for: ``.json`` for instances, ``.csv`` for logs, of which there is ``"sample-crawl"``.

    Returns
    -------
    Path
        Of the file, which need not be there.

    Raises
    ------
    UnreadableFile
        If it looks like a name, but neither a file nor a shipped instance has it; the sentence names the nearest one.

    Examples
    --------
    >>> locate("gautam-2x3").name, str(locate("mine.json"))
    ('gautam-2x3.json', 'mine.json')
    """
    name = os.fspath(path)
    if not _is_name(name) or os.path.exists(name):
        return Path(path)
    known = shipped_files(suffix)
    if name in known:
        return known[name]
    meant = nearest(name, known)
    question = "" if meant is None else f" Did you mean {meant!r}?"
    noun = "instance" if suffix == ".json" else "log"
    others = (
        " `optmodels list KIND` lists the shipped instances." if suffix == ".json" else f" Known: {', '.join(known)}."
    )
    raise UnreadableFile(f"there is no such file, and no shipped {noun} of this name.{question}{others}", name)


def _is_name(text: str) -> bool:
    return bool(text) and text.isprintable() and not text.endswith(".json") and not set(text) & set(r"/\:")


def _kind_and_name(file: Path) -> tuple[str, str]:
    return file.parent.name, file.stem
