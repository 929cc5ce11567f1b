"""The clock of runs stands still while something is compiled, and interrupts wait for the compiler."""

from __future__ import annotations

import os
import signal
import threading
import time
from dataclasses import dataclass
from typing import Any, ClassVar

import numba
import numpy as np
import pytest

from heuristics import Budget, Oracle, Problem, Result, clock, interrupting, run
from heuristics.testing import Separable


def compile_something() -> None:
    """Two functions, one within the other, neither of them known to any cache."""

    @numba.njit
    def inner(x: float) -> float:
        return x + 1.0

    @numba.njit
    def outer(x: float) -> float:
        return 2.0 * inner(x)

    outer(1.0)


@pytest.fixture
def slow_compiler(monkeypatch: pytest.MonkeyPatch) -> list[float]:
    """Let the compiler take a moment more for each function, and tell what the clock of runs shows meanwhile."""
    from numba.core.compiler import Compiler

    seen: list[float] = []
    usual = Compiler.compile_extra

    def slow(self: Any, function: Any) -> Any:
        seen.append(clock.now())
        time.sleep(0.5)
        seen.append(clock.now())
        return usual(self, function)

    monkeypatch.setattr(Compiler, "compile_extra", slow)
    return seen


def test_the_clock_stands_still_while_functions_are_compiled(slow_compiler: list[float]) -> None:
    began, real = clock.start(), time.perf_counter()
    compile_something()
    assert len(slow_compiler) == 4
    assert len(set(slow_compiler)) == 1  # also between the inner function and the outer one
    assert time.perf_counter() - real > 0.1
    assert clock.now() - began < time.perf_counter() - real - 0.1


def test_the_clock_stands_still_for_all_threads(slow_compiler: list[float]) -> None:
    """Time is counted once however many threads compile, and goes on when the last is done."""
    began, real = clock.start(), time.perf_counter()
    threads = [threading.Thread(target=compile_something) for _ in range(3)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    passed, really = clock.now() - began, time.perf_counter() - real
    assert 0 <= passed < really - 0.1
    before = clock.now()
    time.sleep(0.01)
    assert clock.now() - before >= 0.01


def test_a_function_that_cannot_be_compiled_does_not_stop_the_clock_for_ever() -> None:
    @numba.njit
    def wrong(x: float) -> float:
        return x + "x"

    clock.start()
    with pytest.raises(numba.core.errors.TypingError):
        wrong(1.0)
    assert not clock.compiling()


def test_a_run_after_one_that_was_torn_out_of_the_compiler_has_a_clock_that_runs() -> None:
    clock.watch()
    numba.core.event.start_event("numba:compiler_lock")  # and never an end
    frozen = clock.now()
    time.sleep(0.005)
    assert clock.now() == frozen
    Oracle(Separable())
    assert not clock.compiling()
    time.sleep(0.005)
    assert clock.now() > frozen


@dataclass(frozen=True)
class Compiling:
    """Compiles for longer than its budget, then asks."""

    name: ClassVar[str] = "compiling"
    needs: ClassVar[type] = Problem

    def solve(self, oracle: Oracle[Any], rng: np.random.Generator) -> Result:
        compile_something()
        oracle(oracle.problem.space.sample(rng))
        return oracle.result()


def test_a_strategy_of_anybody_that_compiles_longer_than_its_budget_is_not_cut_short(
    slow_compiler: list[float],
) -> None:
    result = run(Separable(), Compiling(), Budget(seconds=0.9))
    assert (result.stopped_by, result.evaluations) == ("complete", 1)


def test_it_is_told_when_something_is_compiled_and_not_when_nothing_is() -> None:
    seen = []
    clock.watch()
    with clock.telling(lambda: seen.append("compiling")):
        run(Separable(), Compiling())
        assert seen == ["compiling", "compiling"]
        compiled = numba.njit(lambda x: x)
        compiled(1)
        del seen[:]
        compiled(2)
        assert seen == []
    compile_something()
    assert seen == []


# -- interrupts -------------------------------------------------------------------------------------------------------


@pytest.fixture
def signals() -> Any:
    """Signals as the command line takes them."""
    before = signal.signal(signal.SIGINT, lambda number, frame: interrupting.interrupt())
    yield
    signal.signal(signal.SIGINT, before)
    interrupting.answered()


@pytest.mark.parametrize("deferred", [False, True])
def test_an_interrupt_waits_until_the_kernel_is_compiled(
    signals: None, monkeypatch: pytest.MonkeyPatch, deferred: bool
) -> None:
    from numba.core.compiler import Compiler

    usual = Compiler.compile_extra
    done = []

    def interrupted(self: Any, function: Any) -> Any:
        os.kill(os.getpid(), signal.SIGINT)
        found = usual(self, function)
        done.append(function)
        return found

    clock.watch()
    monkeypatch.setattr(Compiler, "compile_extra", interrupted)
    one = numba.njit(lambda x: x + 1.0)
    if deferred:  # whoever waits looks by himself
        with interrupting.deferred():
            assert one(1.0) == 2.0
            with pytest.raises(KeyboardInterrupt):
                interrupting.check()
    else:
        with pytest.raises(KeyboardInterrupt):
            one(1.0)
    assert len(done) == 1
    interrupting.answered()
    monkeypatch.undo()
    assert one(1.0) == 2.0  # the compiler is whole


def test_an_interrupt_nobody_looks_at_comes_all_the_same(signals: None, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(interrupting, "PATIENCE", 0.02)
    with interrupting.deferred(), pytest.raises(KeyboardInterrupt):
        interrupting.interrupt()
        time.sleep(20)


def test_an_interrupt_that_was_heard_does_not_come_again(signals: None) -> None:
    with interrupting.deferred():
        interrupting.interrupt()
        with pytest.raises(KeyboardInterrupt):
            interrupting.check()
        interrupting.remind(0.01)
        time.sleep(0.5)  # while the run is closed


def test_an_interrupt_that_was_swallowed_comes_again(signals: None) -> None:
    with pytest.raises(KeyboardInterrupt):
        interrupting.interrupt()
    interrupting.lost()
    with pytest.raises(KeyboardInterrupt):
        time.sleep(20)
