"""Run the commands that the README shows, in an empty folder, and say which fail.

>>> python tools/readme_commands.py README.md path/to/optmodels

A command is a line of a block of code that begins with ``optmodels``; what stands behind three spaces, or behind ``#``,
explains it. Time limits are cut to a second and seeds to one: it is tried whether commands work, not how well.
"""

from __future__ import annotations

import re
import shlex
import subprocess
import sys
import tempfile
from pathlib import Path


def commands(text: str) -> list[list[str]]:
    r"""List the words of every command, without the first, in order.

    >>> commands("```\noptmodels solve x --seconds 60 --seeds 5     a table\nother\n```")
    [['solve', 'x', '--seconds', '1', '--seeds', '1']]
    """
    found, inside = [], False
    for line in text.splitlines():
        if line.startswith("```"):
            inside = not inside
        elif inside and line.startswith("optmodels "):
            told = re.split(r" {3,}| #", line)[0]
            cut = re.sub(r"(--seconds|--seeds) \S+", r"\1 1", told)
            found.append(shlex.split(cut)[1:])
    return found


def main() -> int:
    """Run them all in one folder: later ones read what earlier ones wrote."""
    readme, program = Path(sys.argv[1]), Path(sys.argv[2]).absolute()
    asked = commands(readme.read_text(encoding="utf-8"))
    failed = 0
    with tempfile.TemporaryDirectory() as folder:
        for words in asked:
            done = subprocess.run([program, *words], cwd=folder, capture_output=True, text=True)
            if done.returncode != 0:
                failed += 1
                print(f"exit {done.returncode}: optmodels {shlex.join(words)}\n{done.stderr}")
    print(f"{len(asked)} commands of {readme.name}, {failed} failed")
    return 1 if failed or not asked else 0


if __name__ == "__main__":
    sys.exit(main())
