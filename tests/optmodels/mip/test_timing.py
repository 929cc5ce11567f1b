"""Ending in time what has no clock of its own."""

from __future__ import annotations

import contextlib
import signal
import threading
import time

import pytest

from heuristics import BudgetSpent
from optmodels.mip import within


def test_a_block_without_end_is_ended() -> None:
    with pytest.raises(BudgetSpent, match="seconds"), within(0.05):
        while True:
            pass


@pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")
def test_a_signal_that_was_swallowed_comes_again() -> None:
    class Slow:
        def __del__(self) -> None:
            time.sleep(0.2)  # exceptions raised in here go nowhere

    with pytest.raises(BudgetSpent, match="seconds"), within(0.05):
        Slow()
        while True:
            pass


def test_a_library_that_renames_exceptions_does_not_hide_the_end_of_the_time() -> None:
    def library(causes: bool) -> None:
        try:
            while True:
                pass
        except Exception as error:
            if causes:
                raise TypeError("unsupported callable") from error
            raise TypeError("unsupported callable")  # noqa: B904 - as `inspect` does in some places

    for causes in (True, False):
        with pytest.raises(BudgetSpent, match="seconds"), within(0.05):
            library(causes)


def test_a_library_that_stumbles_over_what_was_lost_does_not_hide_the_end_of_the_time() -> None:
    """Pyomo said "out of sync for indexed Var" of a model whose building the signal had ended, and warm-up failed."""

    def library() -> None:
        with contextlib.suppress(BudgetSpent):
            while True:
                pass
        raise RuntimeError("out of sync")

    with pytest.raises(BudgetSpent, match="seconds"), within(0.05):
        library()


def test_an_error_of_the_block_stays_what_it_is() -> None:
    with pytest.raises(TypeError, match="of its own"), within(60.0):
        raise TypeError("of its own")


def test_a_block_in_time_is_left_alone() -> None:
    with within(60.0):
        pass
    with within(float("inf")):
        pass


def test_a_timer_that_was_running_runs_on() -> None:
    before = signal.getitimer(signal.ITIMER_REAL)[0]  # that of the test runner, if it has one
    handler = signal.getsignal(signal.SIGALRM)
    signal.setitimer(signal.ITIMER_REAL, 100.0)
    try:
        with within(5.0):
            time.sleep(0.01)
        left = signal.getitimer(signal.ITIMER_REAL)[0]
        assert 0 < left < 100.0
        assert left > 5.0
        assert signal.getsignal(signal.SIGALRM) is handler
    finally:
        signal.setitimer(signal.ITIMER_REAL, before)


def test_in_another_thread_the_block_takes_as_long_as_it_takes() -> None:
    ended = []

    def work() -> None:
        with within(0.01):
            time.sleep(0.05)
            ended.append(True)

    thread = threading.Thread(target=work)
    thread.start()
    thread.join()
    assert ended
