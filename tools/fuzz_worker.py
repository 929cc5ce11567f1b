"""One worker of the fuzzer: runs command lines in its own process, and tells what a shell would have seen.

A line of JSON comes in (a command), a line of JSON goes out: exit code, standard output and error, warnings, seconds of
CPU and the largest memory so far. The parent watches the time and starts a new worker now and then.
"""

from __future__ import annotations

import contextlib
import io
import json
import os
import resource
import sys
import time
import traceback
import warnings
from pathlib import Path
from typing import Any


def run(command: list[str]) -> dict[str, Any]:
    """What comes of one command line."""
    from heuristics import clock
    from optmodels.cli import main

    clock.watch()  # kernels are compiled once for all runs, and no run is charged for that
    out, err = io.StringIO(), io.StringIO()
    before, began, clocked = time.process_time(), time.perf_counter(), clock.now()
    with (
        warnings.catch_warnings(record=True) as caught,
        contextlib.redirect_stdout(out),
        contextlib.redirect_stderr(err),
    ):
        warnings.simplefilter("always")
        try:
            code: int | None = main(command)
        except SystemExit as ended:
            code = ended.code if isinstance(ended.code, int) else 1
        except BaseException:
            code = None
            err.write(traceback.format_exc())
    compiling = time.perf_counter() - began - (clock.now() - clocked)
    return {
        "code": code,
        "out": out.getvalue() if "--json" in command else out.getvalue()[-2_000:],
        "err": err.getvalue()[-2_000:],
        "warnings": [f"{each.category.__name__}: {each.message}"[:300] for each in caught],
        "cpu": time.process_time() - before - compiling,
        "megabytes": peak(),
    }


def peak() -> int:
    """The largest memory of this process, in megabytes."""
    status = Path("/proc/self/status")
    if status.exists():  # what the system counts for a process begins with the memory of the one that started it
        lines = dict(line.split(":", 1) for line in status.read_text().splitlines() if ":" in line)
        return int(lines["VmHWM"].split()[0]) // 1024
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024


def serve() -> None:
    """Answer commands until there are none."""
    answers = os.fdopen(os.dup(1), "w", buffering=1)
    os.dup2(os.open(os.devnull, os.O_WRONLY), 1)  # what a library prints by itself must not look like an answer
    for line in sys.stdin:
        answers.write(json.dumps(run(json.loads(line))) + "\n")
        answers.flush()


if __name__ == "__main__":
    serve()
