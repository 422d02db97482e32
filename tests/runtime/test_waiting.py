"""What ljit may take of a program's time: CPython runs calls until there is room for their function."""

from __future__ import annotations

import gc
import importlib
import os
import subprocess
import sys
import traceback
import warnings
import weakref

import numpy as np
import pytest

import ljit
from ljit import config
from ljit.cpython import own_time
from ljit.runtime import bets, cold, gains, likely, prices, repeated, waiting
from ljit.runtime.options import TWIN_OPTIONS
from ljit.runtime.plans import Plan
from ljit.runtime.vectorcall import calls_left
from tests.depths import reachable

pytestmark = pytest.mark.usefixtures("no_trips_are_counted")


class Clock:
    """Stands for the module `time`."""

    now = 0.0

    def process_time(self):
        return self.now

    thread_time = perf_counter = process_time

    def go_on(self, seconds):
        self.now += seconds


@pytest.fixture
def clock(monkeypatch):
    """Nothing has run yet, nothing is staked, and all may gain."""
    clock = Clock()
    monkeypatch.setattr(gains.Gain, "part", lambda *_: 1.0)
    monkeypatch.setattr(waiting, "_STAKE", 0.0)
    monkeypatch.setattr(waiting, "_LEAST_STAKE", 0.0)
    monkeypatch.setattr(bets.Bet, "won", 0.0)
    monkeypatch.setattr(bets.Bet, "loading", 0.0)
    monkeypatch.setattr(waiting, "time", clock)
    monkeypatch.setattr(own_time, "time", clock)
    monkeypatch.setattr(own_time, "seconds_of_stretch", lambda: 0.0)
    monkeypatch.setattr(waiting._Start, "of_process", None)
    monkeypatch.setattr(waiting._claims, "seconds", 0.0)
    monkeypatch.setattr(repeated._Row, "function", 0)
    with config.overridden(cold_calls=True):
        yield clock


def counts_as_waiting(fn) -> bool:
    return fn._calls.waiting is not None and not fn._calls.has_executor()


def tick(clock, seconds):
    clock.go_on(seconds)
    return seconds


def total(n):
    result = 0
    for k in range(n):
        result += k
    return result


def total_of(xs):
    result = 0
    for x in xs:
        result += x
    return result


def decorate_others(count):
    return [ljit.jit(lambda: None) for _ in range(count)]


def price_of(fn) -> float:
    """What translating a function is taken to take, the compiler loaded."""
    _ = ljit.jit(lambda: None)._executor
    return waiting.Waiting(fn)._price


def test_the_stake_is_for_all_decorated_functions_together(clock, monkeypatch):
    monkeypatch.setattr(waiting, "_STAKE", 50 * waiting._ODDS * price_of(total))
    waits = []
    for others in (4, 200, 0):
        keep = decorate_others(others)
        f = ljit.jit(total)
        assert f(4) == 6
        waits.append(counts_as_waiting(f))
        del keep
        gc.collect()
    assert waits == [False, True, False]


def test_most_of_the_stake_is_for_loops_over_numbers(clock, monkeypatch):
    def length(xs):
        count = 0
        for _ in xs:
            count += 1
        return count

    class Items(list):
        pass

    matrix = [[1.0, 2.0], [3.0, 4.0]]
    monkeypatch.setattr(likely, "_MANY_TRIPS", 2)
    monkeypatch.setattr(likely, "_MANY_ON_ARRAYS", 2)
    monkeypatch.setattr(waiting, "_functions", weakref.WeakSet())
    monkeypatch.setattr(waiting, "_STAKE", 24 * price_of(length))
    keep = decorate_others(4)
    for xs in (matrix, (1, 2), np.zeros(2), b"ab", range(2)):
        f = ljit.jit(length)
        assert f(xs) == 2
        assert not counts_as_waiting(f)
    for xs in ("ab", {1: 1, 2: 2}, Items(matrix), [None, 1], [[[[1]]], 1]):
        f = ljit.jit(length)
        assert f(xs) == 2
        assert counts_as_waiting(f)
    del keep


def test_most_of_the_stake_is_for_large_arrays_too(clock, monkeypatch):
    def scaled(a):
        return a * 2 + 1

    monkeypatch.setattr(waiting, "_STAKE", 50 * price_of(scaled))
    waits = []
    for elements in (3, 99, 100, 1000):
        f = ljit.jit(scaled)
        assert f(np.ones(elements)).tolist() == [3.0] * elements
        waits.append(counts_as_waiting(f))
        del f
        gc.collect()
    assert waits == [True, True, False, False]


def test_a_call_with_many_trips_is_bet_on_though_those_before_were_short(clock, monkeypatch):
    monkeypatch.setattr(waiting, "_STAKE", 50 * price_of(total))
    f = ljit.jit(total)
    calls_it = ljit.jit(lambda: [f(4) for _ in range(7)])
    assert calls_it() == [6] * 7
    assert counts_as_waiting(f)
    assert f(30_000) == 449_985_000
    assert not counts_as_waiting(f)


def test_defaults_count_where_no_argument_is_given_for_them(clock, monkeypatch):
    def summed(step, n=40_000):
        result = 0
        for k in range(0, n, step):
            result += k
        return result

    monkeypatch.setattr(waiting, "_STAKE", 50 * price_of(summed))
    f, g = ljit.jit(summed), ljit.jit(summed)
    assert f(1, 4) == 6
    assert counts_as_waiting(f)
    assert g(1000) == 780_000
    assert not counts_as_waiting(g)


def test_objects_have_less_than_their_part_of_the_stake_in_a_large_package(clock, monkeypatch):
    def length(text):
        count = 0
        for _ in text:
            count += 1
        return count

    waits = []
    for functions in (waiting._FEW, 4 * waiting._FEW):
        monkeypatch.setattr(waiting, "_functions", weakref.WeakSet())
        stake = 20 * waiting._ODDS * functions * price_of(length)
        monkeypatch.setattr(waiting, "_STAKE", stake)
        keep = decorate_others(functions - 1)
        f = ljit.jit(length)
        assert f("ab") == 2
        waits.append(counts_as_waiting(f))
        del keep
    assert waits == [False, True]


def test_likely_bets_have_less_than_their_part_of_the_stake_in_a_large_package(clock, monkeypatch):
    waits = []
    for functions in (waiting._FEW, 4 * waiting._FEW):
        monkeypatch.setattr(waiting, "_functions", weakref.WeakSet())
        monkeypatch.setattr(waiting, "_STAKE", 2 * functions * price_of(total))
        keep = decorate_others(functions - 1)
        f = ljit.jit(total)
        assert f(30_000) == 449_985_000
        waits.append(counts_as_waiting(f))
        del keep
    assert waits == [False, True]


def test_a_little_is_bet_on_what_is_likely_however_many_functions_there_are(clock, monkeypatch):
    monkeypatch.setattr(waiting, "_LEAST_STAKE", 2 * price_of(total))
    f, g = ljit.jit(total), ljit.jit(total)
    assert f(4) == 6
    assert counts_as_waiting(f)
    assert g(30_000) == 449_985_000
    assert not counts_as_waiting(g)


def test_bets_that_are_won_leave_the_stake_to_others(clock, monkeypatch):
    monkeypatch.setattr(waiting, "_LEAST_STAKE", 1.0)
    bet = bets.Bet()
    assert waiting.has_room()
    with own_time.timed_apart():
        clock.go_on(0.9)
    bet.add(0.9)
    assert not waiting.has_room(0.2, is_likely=True)
    assert not waiting.is_staked(0.2, is_likely=True)
    bet.win()
    assert bet.seconds == 0.0
    assert waiting.has_room(0.2, is_likely=True)
    assert waiting.is_staked(0.2, is_likely=True)
    assert not waiting.has_room(0.2), "for what is likely only"
    assert not waiting.has_room(1.1, is_likely=True)
    with own_time.timed_apart():
        clock.go_on(0.9)
    bet.add(0.9)
    assert waiting.has_room(0.2, is_likely=True), "its function has shown that it runs long"
    with waiting.loading():
        clock.go_on(0.9)
    assert not waiting.has_room(0.2, is_likely=True)
    bets.Bet().win()
    assert waiting.has_room(0.2, is_likely=True)


def test_loading_counts_until_the_program_has_run_as_long(clock):
    assert waiting.has_room()
    with waiting.loading():
        clock.go_on(0.9)
    clock.go_on(0.8)
    assert not waiting.has_room(0.1)
    clock.go_on(0.2)
    assert waiting.has_room(0.1)
    assert not waiting.has_room(0.2)


def test_optimised_code_and_hot_loops_win_what_was_bet(monkeypatch):
    monkeypatch.setattr(bets.Bet, "won", 0.0)
    f, g = ljit.jit(total), ljit.jit(total)
    with config.overridden(cold_calls=False, quick_runs=1):
        assert [f(4) for _ in range(2)] == [6] * 2
        bet = f._executor.bet
        assert bet.seconds > 0.0 == bets.Bet.won
        (plan,) = f._executor.plans.values()
        f._executor.optimize(plan)
        assert f(4) == 6
        assert bets.Bet.won > bet.seconds == 0.0
        before = bets.Bet.won
        assert g(1_000_000) == 499_999_500_000
        assert bets.Bet.won > before


def test_plain_functions_that_decorated_ones_call_wait_as_these_do(clock, monkeypatch):
    f = ljit.jit(total)
    twin = f._executor._twin_of(tick)
    assert [twin(clock, 0.0) for _ in range(20)] == [0.0] * 20
    assert counts_as_waiting(twin)
    clock.go_on(1e6)
    size = twin._executor.baseline.size  # it is translated now
    monkeypatch.setattr(prices, "_SECONDS_OF_NODE", 100.0 / size)
    for _ in range(50):
        assert twin(clock, 1.0) == 1.0
    (plan,) = twin._executor.plans.values()
    assert plan.runs > TWIN_OPTIONS.num_profiled_runs
    assert plan.compiles == 0, "it is not earned"
    for _ in range(1000):  # most of them jump
        assert twin(clock, 1.0) == 1.0
    assert plan.compiles == 1


def test_calls_while_a_module_is_imported_are_no_bets(clock, monkeypatch, tmp_path):
    module = """
import ljit

@ljit.jit
def length(text):
    count = 0
    for _ in text:
        count += 1
    return count

@ljit.jit
def size(text):
    count = 0
    for _ in text:
        count += 1
    return count

assert length("ab") == 2
"""
    (tmp_path / "prepared.py").write_text(module, encoding="utf-8")
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.setattr(waiting, "_STAKE", float("inf"))
    prepared = importlib.import_module("prepared")
    assert prepared.size("ab") == 2
    assert counts_as_waiting(prepared.length)
    assert not counts_as_waiting(prepared.size)


def test_calls_without_arguments_may_be_long_where_few_functions_are_decorated(clock, monkeypatch):
    def count():
        result = 0
        for k in range(4):
            result += k
        return result

    waits, price = [], price_of(count)
    for functions in (waiting._FEW, waiting._FEW + 1):
        monkeypatch.setattr(waiting, "_functions", weakref.WeakSet())
        monkeypatch.setattr(waiting, "_STAKE", 2 * functions * price)
        keep = decorate_others(functions - 1)
        f = ljit.jit(count)
        assert f() == 6
        waits.append(counts_as_waiting(f))
        del keep
    assert waits == [False, True]


def test_functions_together_took_no_more_than_the_program(clock):
    assert not waiting.has_room(1.0)
    clock.go_on(4.0)
    assert waiting.counted_once(waiting.claim(3.0)) == 3.0
    assert waiting.counted_once(waiting.claim(5.0)) == 2.5, "a caller of it, for example"
    with own_time.timed_apart():
        clock.go_on(2.0)
    assert waiting.counted_once(5.0) == 2.5, "ljit's own work is nobody's time"
    assert not waiting.has_room(1.01 * waiting._SHARE * 2.5, spent=5.0)
    assert waiting.has_room(0.99 * waiting._SHARE * 2.5, spent=5.0)
    assert waiting.has_room(0.99 * 2.5, spent=5.0, of_numbers=True), "which gain much"
    assert not waiting.has_room(1.01 * 2.5, spent=5.0, of_numbers=True)


def test_what_it_takes_to_time_calls_is_ljits_own_work(clock, monkeypatch):
    monkeypatch.setattr(own_time, "seconds_of_stretch", lambda: 1.0)
    around, before = own_time.TimeOfCall(), own_time.seconds_of_own_work()
    clock.go_on(16.0)
    within = own_time.TimeOfCall()
    clock.go_on(8.0)
    assert within.end() == 8.0 - own_time._WITHIN
    assert own_time.seconds_of_own_work() == before + own_time._AROUND
    assert around.end() == 16.0 - own_time._AROUND - own_time._WITHIN


def test_short_calls_that_are_timed_count_as_those_before(monkeypatch):
    monkeypatch.setattr(own_time, "seconds_of_stretch", lambda: 1.0)
    code = (lambda: 0).__code__
    each, seen = 0.0, []
    for seconds in (3.0, 3.0, 1.0, 1e-9, 3.0, 100.0, 3.0):
        each = own_time.without_delays(seconds, each, code)
        seen.append(each)
    least, more = len(code.co_code) * own_time._SECONDS_OF_BYTE, own_time._MORE
    assert seen == [least * more, least * more * more, least, 1e-9, least * more, 100.0, 3.0]


def test_calls_that_are_let_within_a_recursive_one_end_with_it(clock):
    @ljit.jit
    def countdown(n):
        for _ in range(2):
            clock.go_on(1e-6)
        return 0 if n == 0 else countdown(n - 1)

    for n in (0, 3, 0):
        countdown(n)
        assert counts_as_waiting(countdown)
        assert calls_left(countdown) <= 0


def test_a_call_takes_no_longer_than_on_the_wall(monkeypatch):
    class Clock:
        def __init__(self):
            self.now = self.processor = 0.0

        def perf_counter(self):
            return self.now

        def thread_time(self):
            return self.processor

    clock = Clock()
    monkeypatch.setattr(own_time, "time", clock)
    monkeypatch.setattr(own_time, "seconds_of_stretch", lambda: 1.0)
    monkeypatch.setattr(own_time.TimeOfCall, "_shortest", 0.5)
    taken = []
    for processor, wall in ((9.0, 3.0), (9.0, 30.0)):
        stretch = own_time.TimeOfCall()
        clock.now, clock.processor = clock.now + wall, clock.processor + processor
        taken.append(stretch.end())
    delay = own_time._WITHIN_ON_WALL * 0.5
    assert taken == [3.0 - delay, 9.0 - own_time._WITHIN]


def test_loading_the_compiler_takes_longer_where_it_loads_numpy(monkeypatch):
    with_numpy = waiting._seconds_of_loading()
    monkeypatch.delitem(sys.modules, "numpy")
    assert waiting._seconds_of_loading() > with_numpy


def test_options_and_settings_that_say_when_to_compile_are_obeyed(clock):
    f = ljit.jit(total, num_profiled_runs=3)
    assert f(4) == 6
    assert not counts_as_waiting(f)
    with config.overridden(cold_calls=False):
        g = ljit.jit(total)
        assert g(4) == 6
        assert not counts_as_waiting(g)


def test_a_function_with_loops_is_translated_at_its_first_call_if_there_is_room(clock):
    first, second, straight = ljit.jit(total), ljit.jit(total), ljit.jit(lambda x: x + 1)
    assert first(4) == 6
    assert counts_as_waiting(first)
    clock.go_on(1000.0)
    assert (second(4), straight(4)) == (6, 5)
    assert not counts_as_waiting(second)
    assert counts_as_waiting(straight)


def test_the_first_calls_of_a_function_without_loops_jump_if_the_one_before_was_short(clock):
    ljit.jit(tick)(clock, 0.0)
    f, long = ljit.jit(tick), ljit.jit(tick)
    seconds = price_of(tick) / (waiting._PASSED_AT_FIRST + 2)
    f(clock, seconds)
    long(clock, 2 * price_of(tick))
    given = [waiting.calls_left(x) for x in (f, long)]
    assert given == [waiting._PASSED_AT_FIRST, 0]


def calls_until_translated(clock, fn) -> int:
    """How many calls there are that take a thousandth of what its translation is taken to take."""
    calls, price = 0, price_of(fn)
    while not fn._calls.has_executor():
        fn(clock, price / 1000)
        calls += 1
    return calls


def test_a_function_without_loops_waits_until_its_calls_took_as_long(clock):
    ljit.jit(tick)(clock, 100.0)
    assert 900 <= calls_until_translated(clock, ljit.jit(tick)) <= 1200


def test_a_function_whose_calls_took_much_longer_is_translated_whatever_ljit_took(clock):
    f = ljit.jit(tick)
    f(clock, 0.0)
    with own_time.timed_apart():
        clock.go_on(1000.0)
    assert price_of(tick) == f._calls.waiting._price
    # Several times as many calls jump as there were before one is looked at.
    most = 1000 * (1 + waiting._TIMES_PASSED)
    assert 1000 <= calls_until_translated(clock, f) * waiting._SHARE <= most


def test_ljit_takes_a_share_of_the_time(clock):
    share = waiting._SHARE
    assert not waiting.has_room(0.1 * share)
    clock.go_on(1.0)
    assert waiting.has_room(0.9 * share)
    assert not waiting.has_room(1.1 * share)
    with own_time.timed_apart():
        clock.go_on(0.99 * share)
    assert waiting.has_room()
    with own_time.timed_apart():
        clock.go_on(0.02 * share)
    assert not waiting.has_room()
    clock.go_on(1.0)
    assert waiting.has_room(0.9 * share)


@pytest.fixture
def as_long_as_the_program(clock, monkeypatch):
    """There is room in the stake for all, but not in the time that the program took."""
    monkeypatch.setattr(waiting, "_MOST", 1.0)
    monkeypatch.setattr(waiting, "_LITTLE", 0.05)
    monkeypatch.setattr(waiting, "_STAKE", float("inf"))


def test_ljit_takes_no_longer_than_the_program_but_for_what_is_likely(
    clock, as_long_as_the_program
):
    assert waiting.has_room(waiting._LITTLE)
    assert not waiting.has_room(0.5)
    assert not waiting.is_staked(0.5)
    assert waiting.has_room(0.5, is_likely=True)
    assert waiting.is_staked(0.5, is_likely=True)
    clock.go_on(1.0)
    assert waiting.has_room(0.9)
    assert waiting.is_staked(0.9)
    with waiting.loading():
        clock.go_on(10.0)
    assert waiting.has_room(0.9), "what is loaded had better be used"
    with own_time.timed_apart():
        clock.go_on(0.8)
    assert not waiting.has_room(0.3)
    assert waiting.has_room(0.1)
    clock.go_on(0.2)
    assert waiting.has_room(0.3)
    with config.overridden(cold_calls=False):
        assert waiting.has_room(100.0)
        assert waiting.is_within_most(100.0)


def test_the_compiler_is_loaded_when_the_program_took_as_long_as_that_and_a_compile(
    clock, as_long_as_the_program, monkeypatch
):
    f = ljit.jit(tick)
    needed = 1.0 + price_of(tick) + waiting._SECONDS_OF_COMPILE
    monkeypatch.setattr(waiting, "_seconds_of_loading", lambda: 1.0)
    ljit.jit(tick)(clock, 0.9 * needed)
    f(clock, 2 * price_of(tick))
    for _ in range(100):
        f(clock, 0.0)
    assert counts_as_waiting(f), (
        "its calls have paid for it, but the program ends soon, for all that is known"
    )
    clock.go_on(0.1 * needed)
    for _ in range(1000):  # those that jump come first
        f(clock, 0.0)
    assert not counts_as_waiting(f)


def test_a_first_call_that_cannot_be_left_is_the_interpreters_whatever_the_program_took(
    clock, as_long_as_the_program, monkeypatch
):
    monkeypatch.setattr(waiting, "_SECONDS_OF_UNIT", 1.0)
    first, within = ljit.jit(total), ljit.jit(total)
    assert first(4) == 6
    (plan,) = first._executor.plans.values()
    assert plan.runs == 1
    calls_it = ljit.jit(lambda: within(4))
    assert calls_it() == 6
    assert counts_as_waiting(within), "it is part of what is called"


def test_functions_that_are_given_arrays_need_not_wait_until_the_program_took_as_long(
    clock, as_long_as_the_program
):
    f = ljit.jit(total_of)
    for _ in range(4):
        assert f(np.array([1.0, 2.0])) == 3.0
    (plan,) = f._executor.plans.values()
    assert (plan.runs, plan.compiles) == (1, 1)


def test_quick_code_is_not_optimised_before_the_program_took_as_long(clock, as_long_as_the_program):
    class Code:
        times = 0.0

        def go_on_quick(self, times):
            self.times = times

    class Unit:
        code, begun, seconds = Code(), 0.0, 0.25

    assert not prices.is_optimising_due(Unit)
    assert Unit.code.times == prices._MOST_TIMES - 1.0
    clock.go_on(0.8)
    assert not prices.is_optimising_due(Unit)
    assert Unit.code.times == pytest.approx(0.25)
    clock.go_on(0.4)
    assert prices.is_optimising_due(Unit)
    with own_time.timed_apart():
        clock.go_on(0.5)
    Unit.code.times = 0.0
    assert not prices.is_optimising_due(Unit), "other compiles took most of it"
    assert Unit.code.times == prices._LEAST_TIMES


def test_what_was_translated_is_interpreted_and_compiled_while_there_is_room(clock, monkeypatch):
    monkeypatch.setattr(prices, "_SECONDS_OF_NODE", 1e-9)
    monkeypatch.setattr(prices, "_SECONDS_OF_COMPILE", 0.0)
    monkeypatch.setattr(cold, "SECONDS_OF_LLVM", 1.0)
    f = ljit.jit(total)
    _ = f._executor.baseline
    assert [f(4) for _ in range(4)] == [6] * 4
    (plan,) = f._executor.plans.values()
    assert (plan.runs, plan.compiles) == (0, 0)
    clock.go_on(1000.0)
    for _ in range(1100):  # those that jump come first
        assert f(4) == 6
    assert plan.runs > 0
    plan.seconds = 1.0
    for _ in range(1100):
        assert f(4) == 6
    assert plan.compiles == 1


def test_a_function_that_took_much_longer_than_its_compile_is_compiled_whatever_ljit_took(
    clock, monkeypatch
):
    def tick_in_loop(clock, seconds):
        for _ in range(1):
            clock.go_on(seconds)
        return seconds

    monkeypatch.setattr(cold, "SECONDS_OF_LLVM", 0.0)
    f = ljit.jit(tick_in_loop)
    price = prices.price(Plan(), f._executor.baseline)
    assert not waiting.has_room(price)
    with own_time.timed_apart():
        clock.go_on(1000.0)
    seen = []
    for _ in range(4):
        f(clock, 0.51 * price / waiting._SHARE)
        (plan,) = f._executor.plans.values()
        seen.append((plan.runs, plan.compiles))
    assert seen == [(0, 0), (0, 0), (1, 0), (1, 1)], "CPython runs two, the interpreter one"


def test_compiles_for_calls_with_many_trips_have_most_of_the_stake(clock):
    executor = ljit.jit(total)._executor
    for n, result, is_likely in ((4, 6, False), (30_000, 449_985_000, True), (5, 10, False)):
        assert executor.call((n,), {}) == result
        (plan,) = executor.plans.values()
        assert executor.cold.is_likely(plan) is is_likely


def test_calls_that_are_likely_to_be_long_are_interpreted_without_room_for_a_compile(
    clock, monkeypatch
):
    monkeypatch.setattr(prices, "_SECONDS_OF_NODE", 1e9)
    monkeypatch.setattr(waiting, "_LEAST_STAKE", 1e-3)
    executor, looks = ljit.jit(total)._executor, []
    interpret = executor.interpret
    executor.interpret = lambda *a: looks.append(a) or interpret(*a)
    for n, result, count in ((4, 6, 0), (30_000, 449_985_000, 1), (5, 10, 1)):
        assert executor.call((n,), {}) == result
        assert len(looks) == count
    (plan,) = executor.plans.values()
    assert plan.compiles == 0


def test_code_that_has_run_often_is_optimised_without_room(clock):
    f = ljit.jit(total)
    with config.overridden(cold_calls=False):
        assert [f(4) for _ in range(3)] == [6] * 3
    executor = f._executor
    executor.cold.may_wait = True
    (plan,) = executor.plans.values()
    assert plan.unit is not None
    plan.unit.seconds = 1.0
    executor.retire(plan, "it has to be compiled again")
    assert [f(4) for _ in range(3)] == [6] * 3
    assert plan.compiles == 1
    executor.optimize(plan)
    for _ in range(1100):  # those that jump come first
        assert f(4) == 6
    assert plan.compiles == 2


def test_code_that_leaves_too_often_is_dropped_if_there_is_no_room_for_better(clock):
    @ljit.jit
    def kind(n, table):
        result = 0
        for k in range(n):
            result += k
        return table["sign"] * result if table else result

    with config.overridden(cold_calls=False):
        for _ in range(3):
            assert kind(4, {}) == 6
    (plan,) = kind._executor.plans.values()
    assert plan.unit is not None
    plan.unit.seconds = 1.0
    kind._executor.cold.may_wait = True
    for _ in range(9):
        result = kind(4, {"sign": -1.0})
        assert (result, type(result)) == (-6.0, float)
    assert plan.unit is None
    assert plan.compiles == 1


def test_calls_that_wait_are_those_of_cpython(clock):
    def ratio(x, y=2.0, *more, scale=1, **named):
        if named:
            warnings.warn("named", stacklevel=1)
        return [x / y * scale, *more, *named.items()]

    f = ljit.jit(ratio)
    for k in range(1, 20):
        assert f(k) == ratio(k)
        assert f(k, 3, "a", scale=k) == ratio(k, 3, "a", scale=k)
        with warnings.catch_warnings(record=True) as seen:
            warnings.simplefilter("always")
            assert f(k, self=3) == ratio(k, self=3)
        assert [w.lineno for w in seen] == [ratio.__code__.co_firstlineno + 2] * 2
        with pytest.raises(ZeroDivisionError) as error:
            f(k, 0)
        assert [entry.name for entry in traceback.extract_tb(error.tb)][1:] == ["ratio"]
        with pytest.raises(TypeError, match=r"ratio\(\) missing 1 required positional argument"):
            f(y=k)
    assert counts_as_waiting(f)


def test_recursion_goes_as_deep_as_in_cpython_while_it_waits(clock, nothing_is_collected):
    @ljit.jit
    def depth(n):
        return 0 if n == 0 else 1 + depth(n - 1)

    most = reachable(sys.getrecursionlimit() - 200)
    for _ in range(3):
        assert depth(most) == most
        with pytest.raises(RecursionError):
            depth(10**6)
    assert counts_as_waiting(depth)


@pytest.mark.skipif(sys.version_info >= (3, 12), reason="calls from C nest less deep in CPython")
def test_recursion_goes_deeper_than_frames_of_ljit_have_room_for(clock, nothing_is_collected):
    @ljit.jit
    def depth(n):
        return 0 if n == 0 else 1 + depth(n - 1)

    limit = sys.getrecursionlimit()
    try:
        sys.setrecursionlimit(10**5)
        for _ in range(3):
            assert depth(8000) == 8000
    finally:
        sys.setrecursionlimit(limit)
    assert counts_as_waiting(depth)
    assert depth._calls.waiting._calls >= 8001


PACKAGES = """
import difflib, fractions, html, html.parser, json, json.decoder, json.encoder, json.scanner, statistics, string, sys
import textwrap, tokenize, types, io, random, copy
import ljit

def run():
    parser_seen = []
    class Parser(html.parser.HTMLParser):
        def handle_starttag(self, tag, attrs):
            parser_seen.append((tag, attrs))
    Parser().feed("<p class='a'>x<br/>" * 40)
    F = fractions.Fraction
    rng = random.Random(3)
    data = [rng.gauss(2, 3) for _ in range(300)]
    text = "The quick brown fox jumps over the lazy dog. " * 20
    tokens = [t.string for t in tokenize.generate_tokens(io.StringIO("x = [1, 'a', 2.5e3]\\n" * 20).readline)]
    return [
        parser_seen[-1], sum((F(1, k) for k in range(1, 60)), F(0)), F("3.125") ** 2, F(1, 3).limit_denominator(2),
        list(difflib.unified_diff(text.split(), text.upper().split()))[:9], textwrap.wrap(text, 33)[:4],
        difflib.get_close_matches("appel", ["ape", "apple", "peach"]), statistics.median(data), statistics.stdev(data),
        statistics.quantiles(data), statistics.linear_regression(data, data[::-1]), tokens[:12],
        json.loads(json.dumps({"a": [1, 2.5, None, {"b": text}]}, indent=1)), string.capwords(text)[:20],
        copy.deepcopy({"a": [F(1, 2), {3}]}), html.unescape("&lt;&amp;&eacute;"),
        string.Template("$a ${b}").substitute(a=1, b=2),
    ]

expected = repr(run())
modules = [difflib, fractions, html, html.parser, json, json.decoder, json.encoder, json.scanner, statistics, string]
modules += [textwrap, tokenize, random, copy]
made = 0
for module in modules:
    for holder in [module, *(c for c in vars(module).values() if isinstance(c, type) and c.__module__ == module.__name__)]:
        for name, fn in list(vars(holder).items()):
            if isinstance(fn, types.FunctionType) and fn.__module__ == module.__name__:
                setattr(holder, name, ljit.jit(fn))
                made += 1
print(made > 100)
for k in range(4):
    print(repr(run()) == expected)
print("llvmlite" in sys.modules)
"""


def test_packages_of_which_all_functions_are_decorated_give_what_they_gave(tmp_path):
    program = tmp_path / "program.py"
    program.write_text(PACKAGES, encoding="utf-8")
    environment = {**os.environ, "LJIT_COLD_CALLS": "1", "PYTHONPATH": os.pathsep.join(sys.path)}
    done = subprocess.run(
        [sys.executable, program], capture_output=True, text=True, check=False, env=environment
    )
    assert done.stderr == ""
    assert done.stdout.splitlines() == ["True"] * 5 + ["False"]


FAILING = """
import sys
import traceback

import ljit

@ljit.jit
def fails(x):
    raise ValueError(x)

@ljit.jit
def calls(x):
    return fails(x)

for _ in range(3):
    try:
        calls(3)
    except ValueError as error:
        print([entry.name for entry in traceback.extract_tb(error.__traceback__)])
print("ljit.interp" in sys.modules)
"""


def test_tracebacks_have_no_frames_of_ljit_before_there_is_a_compiler(tmp_path):
    functions = "".join(f"ljit.jit(lambda x: x + {k})," for k in range(200))
    program = tmp_path / "program.py"
    program.write_text(FAILING.replace("import ljit\n", f"import ljit\nothers = [{functions}]\n"))
    environment = {**os.environ, "LJIT_COLD_CALLS": "1", "PYTHONPATH": os.pathsep.join(sys.path)}
    done = subprocess.run(
        [sys.executable, program], capture_output=True, text=True, check=False, env=environment
    )
    entries = "['<module>', 'calls', 'fails']"
    assert (done.stdout.splitlines(), done.stderr) == ([entries] * 3 + ["False"], "")
