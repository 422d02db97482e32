"""Contests of native code with CPython: who runs calls on arrays of which sizes, by what they take."""

from __future__ import annotations

import os
import threading

import numpy as np
import pytest

import ljit
from ljit import config
from ljit.cpython.own_time import add_own_work
from ljit.runtime import contests
from ljit.runtime.contests import Round, Side

pytestmark = pytest.mark.usefixtures("no_trips_are_counted")


@pytest.fixture(autouse=True)
def calls_may_be_left():
    with config.overridden(cold_calls=True):
        yield


@pytest.fixture
def takes(monkeypatch):
    """Say what calls take that are timed: `takes(function, native=.., plain=..)`, seconds by the number of elements."""
    functions = {}

    def time(side, function, values):
        before = {f: _native_calls(f) for f in functions}
        result = function(*values)
        (found,) = (f for f in functions if _contest_has(f, side))
        kind = "native" if _native_calls(found) > before[found] else "plain"
        seconds = functions[found][kind](result.size)
        side.runs += 1
        side.total += seconds
        side.fastest = min(side.fastest, seconds)
        return result

    monkeypatch.setattr(Side, "time", time)
    return lambda f, native, plain: functions.update({f: {"native": native, "plain": plain}})


def _plan(f):
    (plan,) = f._executor.plans.values()
    return plan


def _native_calls(f):
    return _plan(f).native_calls


def _contest_has(f, side):
    rounds = _plan(f).contest.rounds.values()
    return any(side is x for found in rounds for x in (found.native, found.plain))


def double_up(a):
    a += a
    return a * 0.5


def jitted():
    made = ljit.jit(double_up)
    for _ in range(3):
        made(np.arange(20.0))
    return made


def optimised():
    made = jitted()
    assert not _plan(made).unit.code.is_quick
    return made


def call(f, size, times=1):
    """Call it so often; gives how many of the calls were native. Each runs once, whoever runs it."""
    before = _native_calls(f)
    for _ in range(times):
        a = np.ones(size)
        result = f(a)
        assert result.tolist() == [1.0] * size
        assert a.tolist() == [2.0] * size
    return _native_calls(f) - before


def test_native_code_that_is_faster_runs_all_calls_behind_the_contest(takes):
    f = optimised()
    takes(f, native=lambda _: 1e-5, plain=lambda _: 1e-4)
    assert call(f, 1000, 4) == 2  # by turns
    assert call(f, 1000, 50) == call(f, 15_000, 50) == 50
    assert call(f, 30_000, 4) == 2  # much larger


def test_cpython_runs_calls_of_the_sizes_at_which_it_is_faster(takes):
    f = optimised()
    takes(f, native=lambda _: 1e-5, plain=lambda n: 1e-6 if 512 <= n < 2048 else 5e-5)
    assert call(f, 1000, 10) == 5
    assert call(f, 1000, 50) == call(f, 600, 50) == 0
    assert call(f, 1500, 10) == 5
    assert call(f, 1500, 50) == call(f, 1000, 50) == 0
    assert call(f, 300, 4) == call(f, 20_000, 4) == 2
    assert call(f, 10, 50) == call(f, 300, 50) == call(f, 500, 50) == 50
    assert call(f, 5000, 50) == call(f, 20_000, 50) == 50
    assert call(f, 1000, 50) == 0


def test_times_that_are_close_are_taken_more_often(takes):
    f = optimised()
    takes(f, native=lambda _: 1.05e-5, plain=lambda _: 1e-5)
    assert call(f, 1000, 40) == 20
    assert call(f, 1000, 50) == 50
    takes(f, native=lambda _: 1e-5, plain=lambda _: 1.45e-5)
    assert call(f, 100, 10) == 5
    assert call(f, 100, 50) == 50
    takes(f, native=lambda _: 1e-5, plain=lambda _: 0.94e-5)
    assert call(f, 300_000, 40) == 20
    assert call(f, 300_000, 50) == 0


def test_leaving_calls_to_cpython_has_a_price(takes):
    f = optimised()
    takes(f, native=lambda _: 3e-7, plain=lambda _: 2.6e-7)
    assert call(f, 1000, 32) == 16
    assert call(f, 1000, 50) == 50
    takes(f, native=lambda _: 3e-7, plain=lambda _: 2.4e-7)
    assert call(f, 100, 22) == 11
    assert call(f, 100, 50) == 0


def test_arguments_that_alternate_are_shared(takes):
    f = optimised()
    takes(f, native=lambda n: n * 1e-8, plain=lambda n: n * 1.3e-8)
    for _ in range(12):
        call(f, 1000)
        call(f, 600)
    assert call(f, 600, 20) == call(f, 1000, 20) == 20


def test_a_verdict_holds_for_some_time_and_then_for_twice_as_long(takes, monkeypatch):
    monkeypatch.setattr(contests, "_SECONDS_OF_VERDICT", 1e-5)
    monkeypatch.setattr(contests, "_CALLS_OF_VERDICT", 20)
    f = optimised()
    takes(f, native=lambda _: 1e-5, plain=lambda _: 1e-4)
    assert call(f, 1000, 4) == 2
    takes(f, native=lambda _: 1e-4, plain=lambda _: 1e-5)
    assert call(f, 1000, 20) == 20
    assert call(f, 1000, 10) == 5
    assert call(f, 1000, 40) == 0
    takes(f, native=lambda _: 1e-5, plain=lambda _: 1e-4)
    assert call(f, 1000, 4) == 2
    assert call(f, 1000, 80) == 80
    assert call(f, 20, 50) == 50  # no contest
    assert call(f, 1000, 4) == 2


def test_quick_code_that_loses_is_optimised_when_cpython_had_as_much_time(takes):
    with config.overridden(quick_runs=10**6):
        f = jitted()
        takes(f, native=lambda _: 1e-5, plain=lambda _: 1e-6)
        unit = _plan(f).unit
        assert unit.code.is_quick
        unit.seconds = 1e-5
        assert call(f, 1000, 10) == 5
        assert call(f, 1000, 20) == 0
        assert _plan(f).unit is unit
        takes(f, native=lambda _: 5e-7, plain=lambda _: 1e-6)
        call(f, 1000, 3)
        assert _plan(f).unit is not unit
        assert not _plan(f).unit.code.is_quick
        assert call(f, 1000, 50) == 50  # what CPython takes is known


def test_quick_code_that_wins_has_a_contest_for_each_size(takes):
    with config.overridden(quick_runs=10**6):
        f = jitted()
        takes(f, native=lambda n: n * 1e-8, plain=lambda _: 1e-5)
        assert call(f, 100, 4) == 2
        assert call(f, 100, 20) == 20
        assert call(f, 4000, 10) == 5
        assert call(f, 4000, 20) == 0
        assert call(f, 100, 20) == 20
        assert _plan(f).unit.code.is_quick


def test_quick_code_that_wins_is_optimised_when_it_has_run_for_as_long(takes):
    with config.overridden(quick_runs=3000):
        f = jitted()
        unit = _plan(f).unit
        assert unit.code.is_quick
        unit.seconds = 1e-3
        takes(f, native=lambda _: 1e-5, plain=lambda _: 1e-4)
        call(f, 1000, 200)
        assert _plan(f).unit is unit  # however much it counts
        call(f, 1000, 10)
        assert not _plan(f).unit.code.is_quick


def test_cpython_gets_a_third_of_the_time_for_calls_that_take_long(takes):
    f = optimised()
    takes(f, native=lambda _: 0.01, plain=lambda _: 0.049)
    assert call(f, 1000, 13) == 13
    assert call(f, 1000, 1) == 0  # it was taken for four times as slow
    assert call(f, 1000, 17) == 17
    assert call(f, 1000, 1) == 0
    assert call(f, 1000, 50) == 50


def test_what_the_interpreter_took_says_how_much_is_to_be_paid_for(takes):
    f = optimised()
    _plan(f).contest.rounds[9] = Round(expected=0.02)
    takes(f, native=lambda _: 0.01, plain=lambda _: 0.2)
    assert call(f, 1000, 6) == 6
    assert call(f, 1000, 1) == 0
    assert call(f, 1000, 50) == 50  # one long call was enough


def test_one_run_is_enough_if_it_took_much_longer(takes):
    f = optimised()
    takes(f, native=lambda _: 1e-6, plain=lambda _: 0.008)  # perhaps since the machine was busy
    assert call(f, 1000, 2) == 1
    assert call(f, 1000, 50) == 50
    assert _plan(f).contest.rounds[9].native.runs == 1


def test_there_is_no_contest_where_the_interpreter_took_much_longer(takes):
    f = optimised()
    _plan(f).contest.rounds[9] = Round(expected=1.0)
    takes(f, native=lambda _: 0.01, plain=lambda _: 0.2)
    assert call(f, 1000, 400) == 400
    assert _plan(f).contest.rounds[9].native.runs == 1


def test_cpython_gets_a_millisecond_at_once(takes):
    f = optimised()
    takes(f, native=lambda _: 1e-4, plain=lambda _: 4.5e-4)
    assert call(f, 1000, 4) == 2
    assert call(f, 1000, 50) == 50
    takes(f, native=lambda _: 1e-4, plain=lambda _: 7e-4)
    assert call(f, 100, 2) == 1
    assert call(f, 100, 30) == 30
    assert call(f, 100, 30) == 29
    assert call(f, 100, 50) == 50


def test_there_are_none_without_calls_that_may_be_left_or_with_loops():
    def summed(a):
        total = 0.0
        for x in a:
            total += x
        return total

    loop = ljit.jit(summed)
    for _ in range(3):
        loop(np.ones(3))
    assert _plan(loop).unit is not None
    assert _plan(loop).contest is None
    with config.overridden(cold_calls=False):
        f = optimised()
    assert _plan(f).contest is None
    assert call(f, 5000, 20) == 20


def test_keyword_arguments_and_other_layouts_are_as_right(takes):
    f = optimised()
    takes(f, native=lambda _: 1e-5, plain=lambda _: 1e-6)
    call(f, 1000, 10)
    a = np.ones(2000)[::2]
    assert f(a).tolist() == [1.0] * 1000
    assert a.tolist() == [2.0] * 1000
    a = np.ones(1000)
    assert f(a=a).tolist() == [1.0] * 1000
    assert a.tolist() == [2.0] * 1000


def test_an_exception_is_that_of_the_side_that_runs_the_call(takes):
    def summed(a, b):
        return a + b

    f = ljit.jit(summed)
    for _ in range(3):
        f(np.ones(20), np.ones(20))
    takes(f, native=lambda _: 1e-5, plain=lambda _: 1e-6)
    for _ in range(20):
        with pytest.raises(ValueError, match="could not be broadcast together with shapes"):
            f(np.ones(100), np.ones(101))
        assert f(np.ones(100), np.ones(100)).tolist() == [2.0] * 100


def in_a_thread(function, *args):
    """Call it in a thread, to its end."""
    results = []
    thread = threading.Thread(target=lambda: results.append(function(*args)), daemon=True)
    thread.start()
    thread.join(120)
    (result,) = results
    return result


@pytest.mark.parametrize(
    ("is_native", "timed_calls", "native_calls"), [(True, 4, 4 + 8), (False, 10, 10 + 5)]
)
def test_a_call_is_timed_while_other_threads_call(
    monkeypatch, is_native, timed_calls, native_calls
):
    f, others = optimised(), []

    def time(side, function, values):
        others.append(in_a_thread(call, f, 1000))
        result = function(*values)
        side.runs += 1
        side.fastest = 1e-6 if (side is _plan(f).contest.rounds[9].native) == is_native else 1e-5
        return result

    monkeypatch.setattr(Side, "time", time)
    assert call(f, 1000, 10) == native_calls
    assert others == [1] * timed_calls  # native, and not timed themselves
    assert call(f, 1000, 20) == (20 if is_native else 0)
    assert _plan(f).mismatches == 0


def test_a_verdict_may_end_while_a_call_is_timed(monkeypatch):
    f = optimised()

    def time(side, function, values):
        _plan(f).contest._choice.calls = 0  # as other threads have used them up
        side.runs += 1
        side.fastest = 1e-5
        return function(*values)

    monkeypatch.setattr(Side, "time", time)
    assert call(f, 1000, 20) == 20
    assert _plan(f).mismatches == 0


def test_a_child_process_goes_on_with_a_contest_of_which_a_thread_has_a_call_timed(takes):
    f = optimised()
    contest = _plan(f).contest
    takes(f, native=lambda _: 1e-5, plain=lambda _: 1e-6)
    contest._timed[os.getpid()] = -1  # no thread of this process
    assert call(f, 1000, 20) == 20
    assert 9 not in contest.rounds
    contest._timed = {-1: -1}
    call(f, 1000, 10)
    assert call(f, 1000, 20) == 0


def test_eight_threads_have_one_contest():
    f = optimised()

    def work():
        for size in [100, 1000, 10_000, 100_000] * 20:
            assert f(np.ones(size)).sum() == size

    threads = [threading.Thread(target=work, daemon=True) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(120)
    assert _plan(f).refused is None
    assert _plan(f).mismatches == 0


def test_new_code_begins_a_new_contest(takes):
    f = optimised()
    takes(f, native=lambda _: 1e-5, plain=lambda _: 1e-6)
    call(f, 1000, 10)
    assert call(f, 1000, 10) == 0
    f._executor.retire(_plan(f), "a test")
    takes(f, native=lambda _: 5e-7, plain=lambda _: 1e-3)
    call(f, 1000)
    assert call(f, 1000, 10) == 10  # what CPython took is known


def test_explain_tells_which_sizes_are_left_to_cpython(takes):
    f = optimised()
    takes(f, native=lambda _: 1e-5, plain=lambda _: 1e-6)
    assert "elements" not in f.explain()
    call(f, 1000, 10)
    assert "512 to 1023 elements are left to CPython, which took 1.0 us, not 10.0" in f.explain()


def test_what_ljit_does_for_a_callee_counts_for_nobody():
    side = Side()
    add_work = [True, True, False]

    def function(x):
        if add_work.pop(0):
            add_own_work(1e-9)
        return x

    assert [side.time(function, (i,)) for i in range(3)] == [0, 1, 2]
    assert (side.calls, side.runs) == (3, 1)


def test_a_callee_for_which_ljit_always_works_is_timed_in_the_end():
    side = Side()
    for _ in range(contests._MOST_RUNS + 2):
        side.time(add_own_work, (1e-9,))
    assert side.runs == 2
