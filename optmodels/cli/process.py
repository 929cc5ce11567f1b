"""One command from its words to its exit code: signals, streams, and a sentence where there is no answer.

Exit codes: 0 answered, 3 no feasible decision, 2 request or file not understood, 1 a defect of ours.
"""

from __future__ import annotations

import errno
import os
import signal
import sys
import threading
import traceback
from collections.abc import Mapping, Sequence
from typing import Any

from .. import clash
from ..entry import INTERRUPTED, hear_lost_interrupts, interrupt, interrupt_or_leave
from ..errors import RequestError
from ..registry import blamed, shield
from . import commands
from .arguments import ANSWERED, DEFECT, NOT_UNDERSTOOD, NOTHING_FEASIBLE, spread
from .output import discard, open_closed_streams, say, settle

#: What goes wrong with standard output, not with us: a full disk, a quota, a dead device, a closed stream.
UNWRITABLE = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG, errno.EIO, errno.EBADF)


def main(arguments: Sequence[str] | None = None) -> int:
    """Run one command of the command line.

    Parameters
    ----------
    arguments
        Its words; those that the process was started with unless said.

    Returns
    -------
    int
        The exit code: 0 answered, 3 no feasible decision, 2 not understood, 1 a defect of ours.
    """
    words = list(sys.argv[1:] if arguments is None else arguments)
    debug = "--debug" in words or os.environ.get("OPTMODELS_DEBUG") == "1"
    words = [word for word in words if word != "--debug"] or ["--help"]
    open_closed_streams()
    shield()
    before = {number: signal.getsignal(number) for number in (signal.SIGINT, signal.SIGTERM)}, sys.unraisablehook
    _take_signals(interrupt_or_leave if arguments is None else interrupt)
    for stream in (sys.stdout, sys.stderr):
        if hasattr(stream, "reconfigure"):
            stream.reconfigure(errors="backslashreplace")  # a name the terminal cannot show is no reason to fail
    try:
        return _deliver(_answer(words, debug))
    except KeyboardInterrupt:  # one more, while the first was answered
        return _interrupted()
    finally:
        if arguments is not None:  # called from Python: the program around us goes on
            _give_back_signals(*before)


def _answer(words: list[str], debug: bool) -> int:
    """Run the command; whatever comes of it is an exit code, and a sentence where there is no answer."""
    try:
        code = commands.app(args=spread(words), prog_name="optmodels", standalone_mode=False)
        settle()
    except KeyboardInterrupt:
        return _interrupted()
    except SystemExit as ended:
        if not isinstance(ended.__context__, BrokenPipeError):
            raise
        discard(sys.stdout)  # typer's word for a reader who has seen enough in the middle of an answer
        return ANSWERED
    except Exception as failure:
        # A Ctrl-C that lands in compiled code, or in a library, may come out so; runs see to it themselves.
        if isinstance(failure.__cause__ or failure.__context__, KeyboardInterrupt):
            return _interrupted()
        return _explain(failure, debug)
    return _interrupted() if code == 130 else int(code or 0)  # typer's word for Ctrl-C outside a run


def _interrupted() -> int:
    settle()
    say(INTERRUPTED)
    return NOTHING_FEASIBLE


def _deliver(code: int) -> int:
    """See what was printed on its way; the exit code tells if it cannot be."""
    settle()
    try:
        sys.stdout.flush()
    except BrokenPipeError:  # the reader, `head` perhaps, has seen enough
        discard(sys.stdout)
    except OSError as failure:
        return _undelivered(failure)
    return code


def _undelivered(failure: OSError) -> int:
    discard(sys.stdout)
    say(f"the answer cannot be written to standard output: {failure.strerror or failure}.")
    return NOT_UNDERSTOOD


def _give_back_signals(handlers: Mapping[signal.Signals, Any], hook: Any) -> None:
    sys.unraisablehook = hook
    if threading.current_thread() is threading.main_thread():
        for number, handler in handlers.items():
            if handler is not None:  # set by something other than Python
                signal.signal(number, handler)


def _explain(failure: Exception, debug: bool) -> int:
    if debug:
        traceback.print_exception(failure)
    if isinstance(failure, RequestError):
        say(str(failure))
        return NOT_UNDERSTOOD
    if isinstance(failure, OSError) and failure.errno in UNWRITABLE and failure.filename is None:
        return _undelivered(failure)
    if hasattr(failure, "format_message"):  # usage errors; their class depends on the version of typer
        context = getattr(failure, "ctx", None)
        where = context.command_path if context is not None else "optmodels"
        say(f"{failure.format_message().rstrip('. ')} (see {where} --help).")
        return NOT_UNDERSTOOD
    if isinstance(failure, ImportError) and (sentence := clash(failure)):
        say(sentence)
        return DEFECT
    from heuristics import UnsupportedProblem

    if isinstance(failure, UnsupportedProblem):
        say(str(failure))
        return NOT_UNDERSTOOD
    if isinstance(failure, MemoryError):
        say(f"the memory of this machine does not suffice: {failure}")
        return DEFECT
    if (broken := blamed(failure)) is not None:
        say(str(broken))
        return NOT_UNDERSTOOD
    hint = "" if debug else "; --debug shows where"
    say(f"this is a defect of optmodels, please report it: {type(failure).__name__}: {failure}{hint}")
    return DEFECT


def _take_signals(handler: Any) -> None:
    """Let SIGINT and SIGTERM end a run on its incumbent, also where a shell started us with SIGINT ignored."""
    sys.unraisablehook = hear_lost_interrupts
    if threading.current_thread() is threading.main_thread():
        for number in (signal.SIGINT, signal.SIGTERM):
            signal.signal(number, handler)
