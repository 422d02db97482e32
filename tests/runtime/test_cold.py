"""Cold functions: which ones are left to CPython, for how long, and that calls there are those of CPython."""

from __future__ import annotations

import os
import subprocess
import sys

import numpy as np
import pytest

import ljit
import ljit.codegen
from ljit import config
from ljit.cpython import own_time
from ljit.ops.control import CALL_NATIVE
from ljit.runtime import callees, cold, likely, passing, plans, prices, waiting
from ljit.runtime.cold import ColdCalls
from ljit.runtime.options import Options
from ljit.runtime.plans import MANY_KINDS, RUNS_OF_SHORT_ONE, Plan
from ljit.runtime.vectorcall import calls_left
from ljit.types import FLOAT, INT
from tests.depths import reachable

pytestmark = pytest.mark.usefixtures("no_trips_are_counted")


@pytest.fixture(autouse=True)
def calls_are_cold_at_first(monkeypatch):
    monkeypatch.setattr(cold, "_SECONDS_OF_BETS", 0.0)
    monkeypatch.setattr(prices, "_SECONDS_OF_COMPILE", 0.0)
    monkeypatch.setattr(prices, "_SECONDS_OF_DOUBT", 1e18)
    monkeypatch.setattr(prices, "OPTIMISING", 1)
    monkeypatch.setattr(waiting, "_STAKE", float("inf"))
    monkeypatch.setattr(waiting, "counted_once", lambda seconds: seconds)
    monkeypatch.setattr(cold, "counted_once", lambda seconds: seconds)
    with config.overridden(cold_calls=True):
        yield


@pytest.fixture
def warm_after_50(monkeypatch):
    monkeypatch.setattr(cold, "_CALLS", 50)
    monkeypatch.setattr(cold, "_INSTRUCTIONS", 0)
    monkeypatch.setattr(prices, "_SECONDS_OF_NODE", 1e9)
    monkeypatch.setattr(cold, "_SECONDS_UNTIL_LOOK", 1e9)


def polynomial(x, y=2.0, *, z=1.0):
    return x * y + z


def is_cold(fn) -> bool:
    return not ColdCalls.of(fn, Options()).is_over


def plain_loop(n):
    total = 0
    for i in range(n):
        total += i
    return total


def plain_recursion(n):
    return n if n < 2 else plain_recursion(n - 1) + plain_recursion(n - 2)


def test_functions_without_loops_are_cold_others_only_if_they_go_through_containers():
    def branches(x):
        return -x if x < 0 else x

    def goes_through(self):
        for x in self.items:
            self.seen(x)
        return [x for x in self.items]

    def counts(n):
        return [i for i in range(n)]

    def waits(x):
        while x > 0:
            x -= 1

    def generates(xs):
        yield from xs

    assert is_cold(branches)
    assert is_cold(goes_through)
    assert not any(map(is_cold, (counts, waits, generates, plain_loop)))


def test_callers_of_plain_functions_that_may_take_long_are_not_cold():
    decorated = ljit.jit(plain_loop)

    def calls_loop(n):
        return plain_loop(n) + 1

    def calls_recursion(n):
        return plain_recursion(n) + 1

    def calls_decorated(n):
        return decorated(n) + 1

    assert not is_cold(calls_loop)
    assert not is_cold(calls_recursion)
    assert is_cold(plain_recursion) is False
    assert is_cold(calls_decorated)


def test_callers_of_generator_functions_with_loops_are_not_cold():
    def generates(n):
        i = 0
        while i < n:
            yield i
            i += 1

    generates = ljit.jit(generates)
    through_another = ljit.jit(lambda n: (yield from generates(n)))
    without_loops = ljit.jit(lambda n: (yield n))

    assert not is_cold(lambda n: sum(generates(n)))
    assert not is_cold(lambda n: sum(through_another(n)))
    assert is_cold(lambda n: sum(without_loops(n)))


def test_options_that_say_how_often_to_profile_are_obeyed():
    assert ColdCalls.of(polynomial, Options(num_profiled_runs=0)).is_over
    assert ColdCalls.of(polynomial, Options(num_profiled_runs=3)).is_over


def test_a_cold_function_is_compiled_after_its_calls(warm_after_50):
    f = ljit.jit(polynomial)
    for k in range(50):
        assert f(k, 2) == polynomial(k, 2)
    executor = f._executor
    assert executor.cold.calls <= 50
    assert not executor.plans
    for k in range(10 + cold.PROFILED_RUNS):
        assert f(k, 2) == polynomial(k, 2)
    (plan,) = executor.plans.values()
    assert plan.runs == cold.PROFILED_RUNS
    assert plan.unit is not None


def test_each_kind_of_arguments_takes_calls_of_its_own(warm_after_50):
    f = ljit.jit(polynomial)
    for k in range(70):
        for x in (k, float(k)):
            result = f(x, x)
            assert (result, type(result)) == (polynomial(x, x), float)
    executor = f._executor
    assert len(executor.cold.kinds) == 2
    assert 90 <= executor.cold.calls <= 110


def count_down(n, step):
    while n > 0:
        n -= step
    return n


def test_functions_with_loops_are_compiled_when_the_interpreter_has_taken_as_long(monkeypatch):
    monkeypatch.setattr(prices, "_SECONDS_OF_NODE", 1e9)
    f = ljit.jit(count_down)
    for k in range(4):
        assert f(k, 2) == -(k % 2)
    (plan,) = f._executor.plans.values()
    assert (plan.runs, plan.compiles) == (4, 0)
    assert plan.seconds > 0
    price = 0.99 * plan.seconds / f._executor.baseline.size
    monkeypatch.setattr(prices, "_SECONDS_OF_NODE", price)
    assert f(4, 2) == 0
    assert (plan.runs, plan.compiles) == (4, 1)


def test_the_first_compiles_of_a_process_need_not_be_earned(monkeypatch):
    def count_length(x):
        total = 0
        while total < x.length:
            total += 1
        return total

    class Line:
        length = 3

    first, second, with_object = ljit.jit(count_down), ljit.jit(plain_loop), ljit.jit(count_length)
    monkeypatch.setattr(prices, "_SECONDS_OF_NODE", 1e9)
    assert [(first(5, 2), second(3), with_object(Line())) for _ in range(2)] == [(-1, 3, 3)] * 2
    size = first._executor.baseline.size
    monkeypatch.setattr(prices, "_SECONDS_OF_NODE", 100.0 / size)
    monkeypatch.setattr(cold, "_SECONDS_OF_BETS", 15.0)  # ten times as many for long loops
    monkeypatch.setattr(likely, "_MANY_TRIPS", 5)
    assert [(with_object(Line()), first(5, 2)) for _ in range(2)] == [(3, -1)] * 2
    own_time.add_own_work(100.0)
    assert [second(3) for _ in range(2)] == [3] * 2
    compiles = [
        plan.compiles for f in (first, second, with_object) for plan in f._executor.plans.values()
    ]
    assert compiles == [1, 0, 0]


def test_short_calls_of_functions_with_loops_are_left_to_cpython_until_they_took_as_long(
    monkeypatch,
):
    monkeypatch.setattr(prices, "_SECONDS_OF_NODE", 1e9)
    monkeypatch.setattr(cold, "_SECONDS_OF_SHORT_CALL", 1e9)
    f, interpreted, seen = ljit.jit(count_down), [], []
    executor = f._executor
    interpret, run_plainly = executor.interpret, executor.run_plainly
    executor.interpret = lambda *a: interpreted.append(a) or interpret(*a)
    executor.run_plainly = lambda *a: seen.append(a) or run_plainly(*a)
    for k in range(100):
        assert f(k, 2) == -(k % 2)
    assert len(interpreted) == RUNS_OF_SHORT_ONE
    if ljit.runtime.native.is_compiler_loaded():
        assert len(seen) < 40  # the others have jumped
    (plan,) = executor.plans.values()
    assert 40 <= plan.runs <= 100
    monkeypatch.setattr(prices, "_SECONDS_OF_NODE", 0.0)
    for k in range(100):
        assert f(k, 2) == -(k % 2)
    assert plan.unit is not None
    assert plan.runs <= 160
    calls = plan.unit.code.calls
    assert f(7, 2) == -1
    assert plan.unit.code.calls == calls + 1


def test_calls_just_before_a_compile_are_profiled_too(monkeypatch):
    monkeypatch.setattr(prices, "_SECONDS_OF_NODE", 1e9)
    monkeypatch.setattr(cold, "_SECONDS_OF_SHORT_CALL", 1e9)
    monkeypatch.setattr(cold, "_SHARE_OF_LOOKS", float("inf"))
    f = ljit.jit(count_down)
    executor, looks = f._executor, []
    interpret = executor.interpret
    executor.interpret = lambda *a: looks.append(a) or interpret(*a)
    for k in range(100):
        assert f(k, 2) == -(k % 2)
    assert len(looks) == RUNS_OF_SHORT_ONE
    monkeypatch.setattr(prices, "_SECONDS_OF_NODE", 1e-12)
    for k in range(300):  # some of them jump to CPython
        assert f(k, 2) == -(k % 2)
    (plan,) = executor.plans.values()
    assert (len(looks), plan.compiles) == (RUNS_OF_SHORT_ONE + cold.PROFILED_RUNS, 1)


def test_between_looks_at_a_recursion_cpython_runs_calls_for_they_may_all_be_leaves(
    warm_after_50, monkeypatch
):
    monkeypatch.setattr(cold, "_SHARE_OF_LOOKS", float("inf"))
    native, looks = ljit.jit(plain_recursion), []
    monkeypatch.setitem(globals(), "plain_recursion", native)
    executor = native._executor
    interpret = executor.interpret
    executor.interpret = lambda *a: looks.append(a) or interpret(*a)
    for k in range(1000):
        assert native(k % 2) == k % 2
    (plan,) = executor.plans.values()
    assert plan.unit is None
    assert 5 < len(looks) < cold.PROFILED_RUNS
    assert native(10) == 55


class Interrupted:
    """A plan: while it is looked at, another thread starts one."""

    runs = compiles = 0

    def __init__(self, plans):
        self.plans = plans

    def start_one(self):
        if len(self.plans) < 8:
            self.plans[len(self.plans)] = Interrupted(self.plans)

    unit = property(start_one)
    refused = property(lambda self: self.start_one() or "no gain")


@pytest.mark.parametrize("refused", [None, "no gain"])
def test_threads_may_start_plans_while_a_call_is_left_to_cpython(monkeypatch, refused):
    monkeypatch.setattr(prices, "_SECONDS_OF_NODE", 1e9)
    monkeypatch.setattr(cold, "_SECONDS_OF_SHORT_CALL", 1e9)
    f = ljit.jit(count_down)
    for k in range(RUNS_OF_SHORT_ONE):
        assert f(k, 2) == -(k % 2)
    plans = f._executor.plans
    (plan,) = plans.values()
    plan.refused = refused
    plans[0] = Interrupted(plans)
    assert f(3, 2) == -1
    assert len(plans) > 2


def test_calls_without_loops_are_left_to_cpython_however_long_they_are(monkeypatch):
    monkeypatch.setattr(prices, "_SECONDS_OF_NODE", 1e9)
    monkeypatch.setattr(cold, "_SECONDS_OF_SHORT_CALL", 0.0)
    f, left = ljit.jit(lambda x: x * 2), []
    executor = f._executor
    run_plainly = executor.run_plainly
    executor.run_plainly = lambda *a: left.append(a) or run_plainly(*a)
    executor.warm_up()
    for _ in range(RUNS_OF_SHORT_ONE):
        assert f(2.0) == 4.0
    assert not left
    assert f(2.0) == 4.0
    assert left


def test_long_calls_are_not_left_to_cpython(monkeypatch):
    monkeypatch.setattr(prices, "_SECONDS_OF_NODE", 1e9)
    monkeypatch.setattr(cold, "_SECONDS_OF_SHORT_CALL", 0.0)
    f, seen = ljit.jit(count_down), []
    f._executor.run_plainly = lambda args, kwargs: seen.append(args)
    for k in range(3 * RUNS_OF_SHORT_ONE):
        assert f(k, 2) == -(k % 2)
    assert not seen


def test_what_bailouts_cost_pays_for_the_next_compile(monkeypatch):
    @ljit.jit
    def kind(n, table):
        total = 0
        for k in range(n):
            total += k
        return table["sign"] * total if table else total

    monkeypatch.setattr(prices, "_SECONDS_OF_NODE", 0.0)
    for _ in range(3):
        assert kind(4, {}) == 6
    (plan,) = kind._executor.plans.values()
    first = plan.unit
    assert first is not None
    first.seconds = 1e9
    for _ in range(5):
        assert kind(4, {"sign": -1.0}) == -6.0
    assert plan.unit is first
    first.seconds = 0.0
    for _ in range(2):
        assert kind(4, {"sign": -1.0}) == -6.0
    assert plan.compiles == 2
    assert kind(4, {"sign": -1.0}) == -6.0
    assert sum(plan.unit.bailouts.values()) == 0


def test_code_for_many_kinds_of_arguments_is_no_bet_and_costs_more_and_more(monkeypatch):
    monkeypatch.setattr(prices, "_SECONDS_OF_NODE", 0.0)
    monkeypatch.setattr(prices, "_SECONDS_OF_COMPILE", 1.0)
    monkeypatch.setattr(cold, "_SECONDS_OF_BETS", 1e9)
    executor, plan = ljit.jit(plain_loop)._executor, Plan(types=(INT,))
    found, baseline = executor.cold, executor.baseline
    assert found.is_bet(plan, baseline, MANY_KINDS - 1)
    assert not found.is_bet(plan, baseline, MANY_KINDS)
    for kinds, price in ((0, 1.0), (MANY_KINDS - 1, 1.0), (MANY_KINDS, 2.0), (2 * MANY_KINDS, 3.0)):
        plan.seconds = price - 0.1
        assert not found.is_earned(plan, baseline, kinds)
        plan.seconds = price
        assert found.is_earned(plan, baseline, kinds)
    plan.seconds, plan.runs, found.has_run_often = 0.0, RUNS_OF_SHORT_ONE, True
    assert not found.leaves(plan, baseline, MANY_KINDS - 1)
    assert found.leaves(plan, baseline, MANY_KINDS)
    plan.runs = cold.PROFILED_RUNS
    assert found.is_earned(plan, baseline, MANY_KINDS - 1)
    assert not found.is_earned(plan, baseline, MANY_KINDS)


def test_kinds_are_those_that_had_a_compile_or_were_given_up():
    executor = ljit.jit(polynomial)._executor
    assert executor.kinds == 0
    executor.table.evictions = 2
    executor.table.plans[(INT,)] = Plan(types=(INT,), compiles=3)
    executor.table.plans[(FLOAT,)] = Plan(types=(FLOAT,))
    assert executor.kinds == 3


def test_short_calls_that_leave_native_code_are_cpythons_until_a_compile_is_earned(monkeypatch):
    @ljit.jit
    def power(x, n):
        product = 1
        for _ in range(n):
            product *= x
        return product

    monkeypatch.setattr(prices, "_SECONDS_OF_NODE", 0.0)
    monkeypatch.setattr(cold, "_SECONDS_OF_SHORT_CALL", 1e9)
    for _ in range(100):
        assert power(3, 4) == 81
    (plan,) = power._executor.plans.values()
    unit = plan.unit
    assert unit is not None
    unit.seconds = 1e9
    for _ in range(50):
        assert power(3, 60) == 3**60
    assert plan.unit is None
    assert plan.refused is None
    assert plan.compiles == 1
    assert unit.bailouts.total() <= RUNS_OF_SHORT_ONE + 2
    unit.seconds = 0.0
    for _ in range(300):  # some of them jump to CPython
        assert power(3, 60) == 3**60
    assert plan.compiles == 2
    assert not plan.is_waiting


def test_calls_that_seldom_leave_native_code_stay_native(monkeypatch):
    @ljit.jit
    def product(x, y):
        total = 1
        for _ in range(2):
            total *= x * y
        return total

    monkeypatch.setattr(prices, "_SECONDS_OF_NODE", 0.0)
    monkeypatch.setattr(cold, "_SECONDS_OF_SHORT_CALL", 1e9)
    for _ in range(3):
        assert product(3, 4) == 144
    (plan,) = product._executor.plans.values()
    unit = plan.unit
    assert unit is not None
    unit.seconds = 1e9
    for _ in range(20):
        assert product(2**40, 2**40) == 2**160
        for _ in range(3):
            assert product(3, 4) == 144
    assert plan.unit is unit


def test_calls_that_seldom_leave_are_cpythons_when_that_took_a_part_of_a_compile(monkeypatch):
    @ljit.jit
    def product(x, y):
        total = 1
        for _ in range(2):
            total *= x * y
        return total

    monkeypatch.setattr(prices, "_SECONDS_OF_NODE", 0.0)
    for _ in range(3):
        assert product(3, 4) == 144
    (plan,) = product._executor.plans.values()
    assert plan.unit is not None
    plan.unit.seconds = 1e9

    def leave_seldom():
        for _ in range(RUNS_OF_SHORT_ONE):
            for _ in range(20):
                assert product(3, 4) == 144
            assert product(2**40, 2**40) == 2**160

    leave_seldom()
    assert plan.unit is not None
    plan.seconds = 2e9 * cold._SHARE_OF_LOOKS
    leave_seldom()
    assert plan.unit is None
    assert plan.is_waiting


class Clock:
    """Stands for the module `time`."""

    now = 0.0

    def thread_time(self):
        return self.now

    perf_counter = thread_time

    def go_on(self, seconds):
        self.now += seconds


def test_time_in_callees_is_none_of_the_caller(monkeypatch):
    clock = Clock()
    monkeypatch.setattr(own_time, "time", clock)
    monkeypatch.setattr(own_time, "seconds_of_stretch", lambda: 0.0)
    monkeypatch.setattr(prices, "_SECONDS_OF_NODE", 1e9)
    monkeypatch.setattr(callees, "_function_to_inline", lambda _kind: None)

    @ljit.jit
    def inner(n):
        for _ in range(n):
            clock.go_on(1.0)

    @ljit.jit
    def outer(f, n):
        clock.go_on(0.25)
        for _ in range(n):
            f(2)

    for _ in range(2):
        outer(inner, 3)
    (of_inner,) = inner._executor.plans.values()
    (of_outer,) = outer._executor.plans.values()
    assert (of_inner.seconds, of_outer.seconds) == (12.0, 0.5)


def test_who_looks_at_a_function_need_not_wait(monkeypatch):
    monkeypatch.setattr(prices, "_SECONDS_OF_NODE", 1e9)
    f = ljit.jit(count_down)
    assert f(3, 2) == -1
    assert [info.state for info in f.specializations] != ["native"]
    assert f(3, 2) == -1
    assert [info.state for info in f.specializations] == ["native"]


def test_closures_that_are_decorated_in_each_call_are_not_compiled_each_time(monkeypatch):
    monkeypatch.setattr(prices, "_SECONDS_OF_NODE", 1e9)

    def multiples(factor):
        @ljit.jit
        def total(n):
            result = 0
            for i in range(n):
                result += i * factor
            return result

        assert [total(n) for n in (3, 4, 5)] == [3 * factor, 6 * factor, 10 * factor]
        (plan,) = total._executor.plans.values()
        return plan.compiles

    assert [multiples(k) for k in range(6)] == [0] * 6


def test_few_kinds_of_arguments_are_kept(monkeypatch):
    monkeypatch.setattr(passing, "MOST_PASSED", 0)  # so that each call is timed
    f = ljit.jit(lambda x: x)
    for k in range(3 * plans.MAX_PLANS):
        value = type(f"Kind{k}", (), {})()
        assert f(value) is value
    assert 0 < len(f._executor.cold.kinds) <= plans.MAX_PLANS


def test_long_calls_with_objects_are_compiled_the_second_time(monkeypatch):
    monkeypatch.setattr(prices, "_SECONDS_OF_NODE", 0.0)

    @ljit.jit
    def count_down(self, n):
        while n > 0:
            n -= self.held
        return n

    for _ in range(3):
        assert count_down(Holder(2), 5) == -1
    (plan,) = count_down._executor.plans.values()
    assert (plan.runs, plan.compiles) == (1, 1)


def test_most_calls_of_a_cold_function_do_not_come_to_the_executor(warm_after_50):
    f = ljit.jit(polynomial)
    executor = f._executor
    seen = []
    run_plainly = executor.run_plainly
    executor.run_plainly = lambda args, kwargs: seen.append(args) or run_plainly(args, kwargs)
    for k in range(50):
        f(k)
    assert 5 <= len(seen) <= 8


@pytest.mark.parametrize("array", [np.arange(3.0), np.float32(2.5)])
def test_arrays_and_their_numbers_make_a_function_warm_at_once(monkeypatch, array):
    monkeypatch.setattr(prices, "_SECONDS_OF_NODE", 0.0)
    f = ljit.jit(polynomial)
    for _ in range(2):
        np.testing.assert_array_equal(f(array), polynomial(array))
    (plan,) = f._executor.plans.values()
    assert plan.unit is not None


class Holder:
    def __init__(self, held):
        self.held = held
        self.items = [held] * 4


def doubled(self):
    return self.held + self.held


@pytest.mark.parametrize(("held", "plans"), [(np.arange(3.0), [1]), (2.5, [])])
def test_a_function_that_takes_long_is_warm_if_it_sees_arrays(monkeypatch, held, plans):
    monkeypatch.setattr(cold, "_SECONDS_UNTIL_LOOK", 0.0)
    monkeypatch.setattr(prices, "_SECONDS_OF_NODE", 0.0)
    f = ljit.jit(doubled)
    for _ in range(3):
        np.testing.assert_array_equal(f(Holder(held)), held + held)
    assert f._executor.cold.was_looked_at
    assert [plan.compiles for plan in f._executor.plans.values() if plan.compiles] == plans


def test_loops_over_containers_are_profiled_first_and_warm_when_they_took_long(monkeypatch):
    @ljit.jit
    def total(self):
        result = 0.0
        for x in self.items:
            result += x
        return result

    holder = Holder(1.5)
    for _ in range(5):
        assert total(holder) == 6.0
    (plan,) = total._executor.plans.values()
    assert (plan.runs, plan.compiles) == (1, 0)
    monkeypatch.setattr(cold, "_SECONDS_OF_LOOPS", 0.0)
    for _ in range(20 + cold.PROFILED_RUNS):
        assert total(holder) == 6.0
    assert plan.unit is not None


def test_loops_over_containers_of_no_object_are_native_in_the_second_call(monkeypatch):
    monkeypatch.setattr(prices, "_SECONDS_OF_NODE", 0.0)

    @ljit.jit
    def total(xs):
        result = 0.0
        for x in xs:
            result += x
        return result

    for _ in range(2):
        assert total([1.5] * 4) == 6.0
    (plan,) = total._executor.plans.values()
    assert plan.unit is not None


@pytest.mark.parametrize("seconds_until_look", [0.0, 1e9])
def test_who_looks_at_a_function_has_it_compiled(monkeypatch, seconds_until_look):
    monkeypatch.setattr(cold, "_SECONDS_UNTIL_LOOK", seconds_until_look)
    f = ljit.jit(polynomial)
    for k in range(10):
        f(float(k))
    assert [info.state for info in f.specializations] == ["native"]


@pytest.mark.parametrize("calls", [1, 2, 3, 10])
def test_there_is_llvm_ir_of_what_was_called(calls):
    f = ljit.jit(polynomial)
    for k in range(calls):
        f(float(k))
    assert "fmul" in f.dump_llvm()
    assert "| native" in f.explain()
    assert f(2.0) == polynomial(2.0)


def test_looking_at_what_gains_nothing_without_a_profile_leaves_it_open(monkeypatch):
    monkeypatch.setattr(cold, "_SECONDS_UNTIL_LOOK", 1e9)

    class Holder:
        def __init__(self, x):
            self.x = x

    @ljit.jit
    def area(holder):
        return holder.x * holder.x * 0.5 + holder.x * 2.0

    for k in range(10):
        area(Holder(float(k)))
    assert "left to CPython so far: a compile would not pay yet" in area.explain()
    for k in range(4):
        assert area(Holder(float(k))) == k * k * 0.5 + k * 2.0
    assert [info.state for info in area.specializations] == ["native"]


def test_a_cold_function_that_a_native_loop_calls_is_warm(monkeypatch):
    monkeypatch.setattr(prices, "_SECONDS_OF_NODE", 0.0)

    @ljit.jit
    def step(x, depth):
        return x + 1 if depth == 0 else step(x, depth - 1)

    @ljit.jit
    def steps(n):
        x = 0
        for _ in range(n):
            x = step(x, 1)
        return x

    for _ in range(4):
        assert steps(20) == 20
    assert step._executor.cold.is_over


class Meter:
    def __init__(self):
        self.total = 0

    @ljit.jit
    def add(self, x):
        self.total += x

    @ljit.jit
    def add_all(self, n):
        for k in range(n):
            self.add(k)
        return self.total


def test_short_methods_are_native_for_native_callers_only():
    meter, plain = Meter(), 0
    with config.overridden(quick_runs=10**9):
        for k in range(20_000):
            meter.add(k)
            plain += k
        for _ in range(60):
            plain += 499_500
            assert meter.add_all(1000) == plain
            if any(plan.unit is not None for plan in Meter.add._executor.plans.values()):
                break
        (plan,) = Meter.add._executor.plans.values()
        assert plan.unit is not None and plan.is_called
    caller = Meter.add_all._executor
    units = [u for plan in (*caller.plans.values(), *caller.loops.values()) for u in plan.units]
    calls = [n.attrs["callee"] for unit in units for n in unit.graph.walk() if n.op is CALL_NATIVE]
    assert any(link.address for link in calls)


def test_errors_of_a_cold_function_are_those_of_cpython():
    f = ljit.jit(polynomial)
    for k in range(20):
        with pytest.raises(TypeError, match="unsupported operand|can't multiply") as error:
            f({}, k)
        assert [entry.name for entry in error.traceback][1:] == ["polynomial"]
        with pytest.raises(
            TypeError, match=r"polynomial\(\) takes from 1 to 2 positional arguments"
        ):
            f(1, 2, 3)
        assert f(1, y=3, z=k) == 3 + k


def test_a_cold_function_recurses_as_deep_as_in_cpython():
    @ljit.jit
    def depth(n):
        return 0 if n == 0 else 1 + depth(n - 1)

    for _ in range(20):
        assert depth(0) == 0
    most = reachable(sys.getrecursionlimit() - 200)
    assert depth(most) == most
    with pytest.raises(RecursionError):
        depth(10**6)


def test_methods_are_cold_as_well():
    class Counter:
        def __init__(self):
            self.n = 0

        @ljit.jit
        def add(self, k, *more, by=1):
            self.n += k * by + len(more)
            return self

    counter = Counter()
    for _ in range(100):
        assert counter.add(1, 2, by=3) is counter
    assert counter.n == 400
    assert calls_left(Counter.add) >= 0
    assert not Counter.add._executor.cold.is_over


BEFORE_LLVM = """
import sys, traceback
import ljit
from ljit.runtime.vectorcall import calls_left

@ljit.jit
def ratio(x, y):
    return x / y

@ljit.jit
def text(x, y):
    return "{} {}".format(x, y)

@ljit.jit
def count(n):
    return 0 if n == 0 else 1 + count.again(n - 1)

came = []
call = type(ratio._executor).call
type(ratio._executor).call = lambda self, *args: came.append(self.fn) or call(self, *args)
count.again = count
for k in range(3000):
    assert ratio(3.0, 2.0) == 1.5
    assert text("a", k) == f"a {k}"
assert count(400) == 400
print(came.count(ratio.__wrapped__) < 60, came.count(text.__wrapped__) < 60)
for k in range(2):
    try:
        ratio(1.0, 0.0)
    except ZeroDivisionError as error:
        print([frame.name for frame in traceback.extract_tb(error.__traceback__)])
print("llvmlite" in sys.modules, calls_left(ratio) > 0)
ratio.explain()  # has it compiled
print(ratio(3.0, 2.0), [s.state for s in ratio.specializations], calls_left(ratio))
"""


def test_most_calls_left_to_cpython_do_not_come_to_the_executor_before_llvm_is_loaded(tmp_path):
    program = tmp_path / "program.py"
    program.write_text(BEFORE_LLVM, encoding="utf-8")
    environment = {**os.environ, "LJIT_COLD_CALLS": "1", "PYTHONPATH": os.pathsep.join(sys.path)}
    done = subprocess.run(
        [sys.executable, program], capture_output=True, text=True, check=False, env=environment
    )
    assert done.stderr == ""
    assert done.stdout.splitlines() == [
        "True True",
        "['<module>', 'ratio']",
        "['<module>', 'ratio']",
        "False True",
        "1.5 ['native'] 0",
    ]
