"""Megabytes that a core install (no extras) adds to numpy and scipy; the promise is less than 350.

The core dependencies are installed into an environment of their own, at the locked versions where there are some, and
the files are counted, compiled Python included. What optmodels itself adds is well under one megabyte.
"""

import re
import subprocess
import sys
import tempfile
import tomllib
import venv
from pathlib import Path

ROOT = Path(__file__).parents[1]
LIMIT = 350.0
BASE = ("numpy", "scipy")


def pins(lock: str) -> str:
    """Return the lock file without its hashes, to serve as constraints."""
    return "\n".join(line.rstrip(" \\") for line in lock.splitlines() if re.match(r"[a-z]", line))


def megabytes(folder: Path) -> dict[str, float]:
    """Return the size of each entry of a folder, the largest first."""
    sizes = {
        entry.name: sum(file.lstat().st_size for file in (entry, *entry.rglob("*")) if file.is_file()) / 1e6
        for entry in folder.iterdir()
    }
    return dict(sorted(sizes.items(), key=lambda item: -item[1]))


def main() -> int:
    """Install, count, print."""
    core = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]["dependencies"]
    with tempfile.TemporaryDirectory() as folder:
        constraints = Path(folder, "constraints.txt")
        constraints.write_text(pins((ROOT / "requirements.lock").read_text(encoding="utf-8")), encoding="utf-8")
        home = Path(folder, "environment")
        venv.create(home, with_pip=True)
        python = str(next(home.glob("*/python")))
        purelib = subprocess.run(
            [python, "-c", "import sysconfig; print(sysconfig.get_path('purelib'))"],
            check=True, capture_output=True, text=True,
        ).stdout.strip()  # fmt: skip

        def install(*requirements: str) -> dict[str, float]:
            subprocess.run(
                [python, "-m", "pip", "install", "--quiet", "--constraint", str(constraints), *requirements], check=True
            )
            return megabytes(Path(purelib))

        before = install(*BASE)
        after = install(*core)
    added = {name: size - before.get(name, 0.0) for name, size in after.items()}
    for name, size in sorted(added.items(), key=lambda item: -item[1])[:8]:
        print(f"{size:8.1f} MB  {name}")
    total = sum(added.values())
    print(f"{total:8.1f} MB  core install beyond {' and '.join(BASE)} (limit {LIMIT:.0f})")
    return 0 if total < LIMIT else 1


if __name__ == "__main__":
    sys.exit(main())
