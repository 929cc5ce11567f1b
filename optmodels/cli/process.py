"""One command from its words to its exit code: signals, streams, and a sentence where there is no answer.

Exit codes: 0 answered, 3 no feasible decision, 2 request or file not understood, 1 a defect of ours.
"""

from __future__ import annotations

import contextlib
import errno
import os
import signal
import sys
import threading
import time
import traceback
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, TextIO

from .. import __version__, clash
from ..entry import INTERRUPTED, hear_lost_interrupts, interrupt, interrupt_or_leave, unanswered
from ..errors import RequestError
from ..registry import BUILT_IN, blamed, kinds, shield
from . import commands
from .arguments import ANSWERED, DEFECT, NOT_UNDERSTOOD, NOTHING_FEASIBLE, spread
from .output import detail, discard, open_closed_streams, say, settle, talk

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
    words, common = take_common(list(sys.argv[1:] if arguments is None else arguments))
    debug = common.debug or os.environ.get("OPTMODELS_DEBUG") == "1"
    words = words or ["--help"]
    open_closed_streams()
    shield()
    before = {number: signal.getsignal(number) for number in (signal.SIGINT, signal.SIGTERM)}, sys.unraisablehook
    _take_signals(interrupt_or_leave if arguments is None else interrupt)
    for stream in (sys.stdout, sys.stderr):
        if hasattr(stream, "reconfigure"):
            stream.reconfigure(errors="backslashreplace")  # a name the terminal cannot show is no reason to fail
    try:
        with _talking(common, words):
            return _deliver(_answer(words, debug))
    except KeyboardInterrupt:  # one more, while the first was answered
        return _deliver(_interrupted(words))
    except RequestError as failure:  # common options that contradict each other, a log file that cannot be written
        return _explain(failure, debug)
    finally:
        if arguments is not None:  # called from Python: the program around us goes on
            _give_back_signals(*before)


@dataclass(frozen=True)
class Common:
    """Options that every command takes, before or after its name."""

    quiet: bool = False
    verbose: bool = False
    debug: bool = False
    log: str | None = None


#: How these options are written; --log is followed by a file.
COMMON = {"-q": "quiet", "--quiet": "quiet", "-v": "verbose", "--verbose": "verbose", "--debug": "debug"}


def take_common(words: Sequence[str]) -> tuple[list[str], Common]:
    """Take the options that every command has out of the words of a command.

    >>> take_common(["-q", "solve", "a.json", "--log", "run.log"])
    (['solve', 'a.json'], Common(quiet=True, verbose=False, debug=False, log='run.log'))

    A command that a kind of another distribution adds may have options of these names itself: after such a command only
    --debug is ours.
    """
    rest: list[str] = []
    found: dict[str, Any] = {}
    command: str | None = None
    coming = iter(words)
    for word in coming:
        if word == "--":
            return [*rest, word, *coming], Common(**found)
        name, equals, value = word.partition("=")
        ours = word == "--debug" or command is None or _is_ours(command)
        if word in COMMON and ours:
            found[COMMON[word]] = True
        elif name == "--log" and ours:
            found["log"] = value if equals else next(coming, "")
        else:
            command = word if command is None and not word.startswith("-") else command
            rest.append(word)
    return rest, Common(**found)


def _is_ours(command: str) -> bool:
    """Tell whether a command is one of this package; one that nobody has is, for the sentence that says so."""
    if command in commands.OWN:
        return True
    owner = commands.added().get(command)
    return owner is None or kinds.origin(owner) == BUILT_IN


@contextlib.contextmanager
def _talking(common: Common, words: Sequence[str]) -> Iterator[None]:
    """Let a command talk as the common options say, and write the log file."""
    before = replace(talk)
    began = time.perf_counter()
    if common.quiet and common.verbose:
        raise RequestError("options -q (say less) and -v (say more) contradict each other; give one of them.")
    with contextlib.ExitStack() as stack:
        log = None
        if common.log is not None:
            log = stack.enter_context(_log_file(common.log))
        talk.quiet, talk.verbose, talk.log = common.quiet, common.verbose, log
        try:
            detail(f"{' '.join(['optmodels', *words])} (version {__version__})")
            yield
        finally:
            detail(f"ended after {time.perf_counter() - began:.2f} s")
            talk.quiet, talk.verbose, talk.log = before.quiet, before.verbose, before.log


def _log_file(path: str) -> TextIO:
    """Open a file to which lines are added."""
    if not path:
        raise RequestError("option --log needs a file: --log run.log.")
    from ..data import open_log

    return open_log(path)


def _answer(words: list[str], debug: bool) -> int:
    """Run the command; whatever comes of it is an exit code, and a sentence where there is no answer."""
    try:
        code = commands.app(args=spread(words), prog_name="optmodels", standalone_mode=False)
        settle()
    except KeyboardInterrupt:
        return _interrupted(words)
    except SystemExit as ended:
        if not isinstance(ended.__context__, BrokenPipeError):
            raise
        discard(sys.stdout)  # typer's word for a reader who has seen enough in the middle of an answer
        return ANSWERED
    except Exception as failure:
        # A Ctrl-C that lands in compiled code, or in a library, may come out so; runs see to it themselves.
        if isinstance(failure.__cause__ or failure.__context__, KeyboardInterrupt):
            return _interrupted(words)
        return _explain(failure, debug)
    return _interrupted(words) if code == 130 else int(code or 0)  # typer's word for Ctrl-C outside a run


def _interrupted(words: Sequence[str]) -> int:
    """Tell that there is no answer; in JSON, too, where a result was asked for."""
    settle()
    result = unanswered(words)
    if result is not None:
        with contextlib.suppress(OSError):  # seen to when the answer is delivered
            print(result)
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
