"""Calls that CPython runs with their trips counted: when they are left, and that it makes no difference where."""

from __future__ import annotations

import dis
import sys
import traceback
import weakref

import pytest

import ljit
from ljit import config
from ljit.frontend import counted_trips
from ljit.runtime import counted_calls, repeated, waiting
from ljit.runtime.counted_calls import CountedCalls
from tests.interp.test_functions import PROGRAMS
from tests.programs import harness


class LeftAt(CountedCalls):
    """Looks at the end of each trip, and leaves at the first one from the given number on where that is possible."""

    def __init__(self, fn, look=1):
        decorated = ljit.jit(fn)
        self.first, self.looks, self.left = look, 0, 0
        super().__init__(fn, lambda: decorated._executor)

    def look(self, clock, loop, *iterators):
        self.looks += 1
        if self.looks < self.first or not self._can_leave(loop, iterators):
            return 1, None
        self.left += 1
        return 0, None

    def __call__(self, *args, **kwargs):
        self.looks = 0
        return self.counted(*args, **kwargs)


@pytest.fixture
def each_trip_is_counted(monkeypatch):
    monkeypatch.setattr(counted_trips, "_FIRST_TRIPS", 1)
    with config.overridden(cold_calls=True):
        yield


def has_loop(fn):
    names = {instruction.opname for instruction in dis.get_instructions(fn.__code__)}
    return any(name == "FOR_ITER" or "JUMP_BACKWARD" in name for name in names)


WITH_LOOPS = [program for program in PROGRAMS if has_loop(program.function)]


@pytest.mark.parametrize("program", WITH_LOOPS, ids=[p.name for p in WITH_LOOPS])
def test_calls_of_programs_may_be_left_at_the_end_of_each_trip(program, each_trip_is_counted):
    calls = LeftAt(program.function)
    if calls.counted is None:
        pytest.skip("its loops are not counted")
    for calls.first in (1, 2, 3, 5, 9, 20):
        for factory in program.factories:
            harness.check_calls(program.function, calls, [factory])


# -- what is left, and what is not ---------------------------------------------------------------


def pairs(n, xs):
    found = []
    for i in range(n):
        for k, x in enumerate(xs):
            if x == i:
                continue
            found.append((i, k, x))
        else:
            found.append(i)
    return found


def test_each_loop_is_left_in_the_trip_in_which_it_is(each_trip_is_counted):
    expected = pairs(4, [1, 2, 3])
    for look in range(1, 17):
        calls = LeftAt(pairs, look)
        assert calls(4, [1, 2, 3]) == expected
        assert calls.left == (look < 17)


def test_an_iterator_that_others_have_is_advanced(each_trip_is_counted):
    def halves(xs):
        iterator, found = iter(xs), []
        for x in iterator:
            found.append((x, next(iterator)))
        return found

    calls = LeftAt(halves, 2)
    assert calls(list(range(8))) == halves(list(range(8)))
    assert calls.left == 1


def test_loops_over_generators_are_not_left_since_cpython_holds_these(each_trip_is_counted):
    def items(events):
        try:
            yield from range(5)
        finally:
            events.append("closed")

    def closed(events, make=items):
        for x in make(events):
            if x == 3:
                break
        events.append("behind")
        return events

    calls = LeftAt(closed)
    assert calls([]) == ["closed", "behind"]
    assert calls.left == 0


def test_loops_are_left_where_lists_have_become_variables(each_trip_is_counted):
    def summed(n):
        pair = [n, 1]
        pair[0] += pair[1]
        total, step = pair[0], n * 2
        for i in range(n):
            total += i * step
        return total

    calls = LeftAt(summed, 2)
    assert calls(4) == summed(4)
    assert calls.left == 1


def binds_vars(n):
    global vars
    vars = [*range(n)]
    total = 0
    for x in range(n):
        total += vars[x]
    return total


def asks_vars(thing):
    found = []
    for x in vars(thing):
        found.append(x)
    return found


def test_global_variables_that_are_named_as_builtins_show_no_variables(
    each_trip_is_counted, monkeypatch
):
    monkeypatch.delitem(globals(), "vars", raising=False)
    assert LeftAt(asks_vars).counted is None
    calls = LeftAt(binds_vars, 2)
    assert calls(4) == 6
    assert calls.left == 1
    assert LeftAt(asks_vars).counted is not None
    del globals()["vars"]


class Thing:
    pass


def test_what_variables_held_dies_when_they_are_bound_again(each_trip_is_counted):
    def alive(n):
        references = []
        for _ in range(n):
            thing = Thing()
            references.append(weakref.ref(thing))
        return [reference() is not None for reference in references]

    calls = LeftAt(alive, 2)
    assert calls(5) == alive(5) == [False] * 4 + [True]
    assert calls.left == 1


def test_errors_have_the_functions_frame_once(each_trip_is_counted):
    def quotients(xs):
        found = []
        for x in xs:
            found.append(1 // x)
        return found

    calls = LeftAt(quotients, 2)
    with pytest.raises(ZeroDivisionError) as caught:
        calls([1, 1, 1, 0])
    assert calls.left == 1
    frames = [f for f in traceback.extract_tb(caught.tb) if f.name == "quotients"]
    assert [f.line for f in frames] == ["found.append(1 // x)"]


def goes_through(xs):
    for x in xs:
        print(x)


def positions(function, xs):
    with pytest.raises(TypeError) as caught:
        function(xs)
    last = traceback.extract_tb(caught.tb)[-1]
    return last.lineno, last.end_lineno, last.colno, last.end_colno


def test_what_cannot_be_gone_through_is_an_error_at_the_same_place(each_trip_is_counted):
    calls = LeftAt(goes_through)
    assert positions(calls, 5) == positions(goes_through, 5)


def test_iterators_die_where_an_exception_ends_their_loop(each_trip_is_counted):
    events = []

    def steps():
        try:
            yield from range(3)
        finally:
            events.append("closed")

    def stops(makers):
        for make in makers:
            for k in make():
                1 // (1 - k)

    calls = LeftAt(stops)
    assert calls.counted is not None
    for function in (stops, calls):
        with pytest.raises(ZeroDivisionError):
            function([steps])
        events.append("handled")
    assert events == ["closed", "handled"] * 2


class Base:
    def rest(self, n):
        return n


class Counter(Base):
    __step = 2

    def rest(self, n):
        total = 0
        while n > 0:
            total += super().rest(n)
            n -= self.__step
        return total


def test_methods_have_their_class_and_private_names(each_trip_is_counted):
    calls = LeftAt(Counter.rest, 2)
    assert calls(Counter(), 9) == 25
    assert calls.left == 1


def test_functions_have_their_defaults_as_they_are_now(each_trip_is_counted):
    def summed(xs, start=0):
        for x in xs:
            start += x
        return start

    calls = LeftAt(summed, 2)
    assert calls([1, 2, 3]) == 6
    summed.__defaults__ = (10,)
    assert calls([1, 2, 3]) == 16
    summed.__code__ = pairs.__code__
    assert calls.counted is None


def shares_its_variables(n):
    total, steps = 0, []
    for i in range(n):
        total += i
        steps.append(lambda: total)
    return steps


def handles_what_loops_raise(xs):
    try:
        for x in xs:
            x / 0
    except ZeroDivisionError:
        return len(xs)


def yields(n):
    for i in range(n):
        yield i


def shows_its_variables(n):
    for _ in range(n):
        pass
    return locals()


def evaluates(n):
    for i in range(n):
        n = eval("i")
    return n


def asks_for_its_code(n):
    for _ in range(n):
        pass
    return sys._getframe().f_code


def test_loops_that_cannot_be_left_are_not_counted(each_trip_is_counted):
    functions = (
        shares_its_variables,
        handles_what_loops_raise,
        shows_its_variables,
        evaluates,
        asks_for_its_code,
        yields,
        abs_of_all := lambda xs: [*xs],
    )
    calls = [CountedCalls(fn, lambda: None) for fn in functions]
    assert [c.counted for c in calls] == [None] * 7
    assert [c.has_loops for c in calls] == [True] * 5 + [False] * 2
    assert abs_of_all([1]) == [1]


# -- when calls are left -------------------------------------------------------------------------


class Clock:
    """Goes on by so many seconds a look."""

    def __init__(self, step):
        self.now, self.step = 0.0, step

    def perf_counter(self):
        self.now += self.step
        return self.now


@pytest.fixture
def clock(monkeypatch):
    clock = Clock(0.001)
    monkeypatch.setattr(counted_calls, "time", clock)
    monkeypatch.setattr(counted_calls, "seconds_here", lambda: clock.now)
    monkeypatch.setattr(repeated._Row, "function", 0)
    with config.overridden(cold_calls=True):
        yield clock


def summed(xs):
    total = 0
    for x in xs:
        total += x
    return total


def test_a_short_call_is_cpythons_and_nothing_is_translated(clock):
    f, calls_it = ljit.jit(summed), ljit.jit(lambda: (f([1, 2, 3]), f([1] * 1000)))
    assert f([1, 2, 3]) == 6
    assert calls_it() == (6, 1000)
    assert not f._calls.has_executor()


def test_the_second_call_from_code_that_is_not_decorated_is_profiled_and_the_third_native(clock):
    f = ljit.jit(summed)
    for _ in range(4):
        assert f([1, 2, 3]) == 6
    (info,) = f.specializations
    assert (info.runs, info.compiles, info.calls) == (1, 1, 2)


def test_a_recursive_function_is_translated_at_its_first_call_from_such_code(clock):
    @ljit.jit
    def factorial(n):
        return n if n < 2 else n * factorial(n - 1)

    assert factorial(5) == 120
    assert factorial._calls.has_executor()


def test_a_call_that_took_as_long_as_its_compile_is_left_for_native_code(clock):
    f = ljit.jit(summed)
    assert f([1] * 100_000) == 100_000
    assert f._calls.has_executor()
    (loop,) = f._executor.loops.values()
    assert loop.unit is not None


def test_a_call_is_left_when_there_is_room_for_what_follows(clock, monkeypatch):
    monkeypatch.setattr(counted_calls, "has_room", lambda _price, spent, **_: spent > 0.5)
    f = ljit.jit(summed)
    assert f([1] * 100_000) == 100_000
    assert not f._calls.has_executor()
    assert f([1] * 300_000) == 300_000
    assert f._calls.has_executor()


def test_a_call_with_many_trips_is_left_by_the_stake_for_such_calls(clock, monkeypatch):
    monkeypatch.setattr(counted_calls, "has_room", lambda _price, is_likely, **_: is_likely)
    f = ljit.jit(summed)
    assert f(set(range(300_000))) == 44_999_850_000
    assert not f._calls.has_executor(), "a set may hold anything"
    assert f([1] * 300_000) == 300_000
    assert f._calls.has_executor()


def test_looks_are_as_frequent_as_trips_are_long(monkeypatch):
    calls = CountedCalls(summed, lambda: None)
    calls.seconds = 1.6
    trips, clock = 1, Clock(0.05)
    monkeypatch.setattr(counted_calls, "time", clock)
    trips, looks = calls.look(None, 0)
    seen = [calls.look(looks, 0)[0] for _ in range(7)]
    assert (trips, seen) == (8, [16, 32, 64, 128, 256, 256, 256])
    clock.step = 0.25
    assert [calls.look(looks, 0)[0] for _ in range(9)] == [128, 64, 32, 16, 8, 4, 2, 1, 1]


def looks_until_it_is_left(clock, *, is_likely, most=1000):
    """How many there are of a call that may take a second, one each hundredth."""
    clock.step = 0.01
    calls, looks = CountedCalls(summed, lambda: None), 0
    calls.seconds, calls.is_likely = 1.0, is_likely
    seen = counted_calls._Clock(clock.perf_counter(), clock.now)
    while looks < most and not calls._is_over(seen, clock.perf_counter()):
        looks += 1
    return looks


@pytest.fixture
def claims(clock, monkeypatch):
    """What calls within one took, by the clock: all of them, and those that were given objects."""
    found = {"seconds": lambda now: (0.0, 0.0)}
    monkeypatch.setattr(counted_calls, "counted_once", lambda seconds: seconds)
    monkeypatch.setattr(counted_calls, "seconds_claimed", lambda: found["seconds"](clock.now))
    return found


def test_calls_within_a_likely_one_count_for_a_quarter_until_it_is_left(clock, claims):
    assert 95 <= looks_until_it_is_left(clock, is_likely=True) <= 105
    claims["seconds"] = lambda now: (now, 0.0)
    assert 245 <= looks_until_it_is_left(clock, is_likely=True) <= 255


def test_a_call_that_only_drives_others_is_left_late(clock, claims):
    assert 95 <= looks_until_it_is_left(clock, is_likely=False) <= 105
    claims["seconds"] = lambda now: (now, 0.0)
    assert 740 <= looks_until_it_is_left(clock, is_likely=False) <= 810
    claims["seconds"] = lambda now: (now, now)  # of objects: loops over numbers take no time
    assert 740 <= looks_until_it_is_left(clock, is_likely=True) <= 810


def test_what_calls_within_one_took_counts_when_they_are_native(clock, claims):
    """Then nobody tells what they take."""
    start = clock.now
    claims["seconds"] = lambda now: (0.9 * min(now - start, 1.8), 0.0)
    assert 740 <= looks_until_it_is_left(clock, is_likely=False) <= 810


def test_what_is_loaded_for_calls_that_wait_is_no_compiler(clock, monkeypatch):
    """Their trips are counted where there is no room for a translation, but for what it takes to count."""
    monkeypatch.setattr(waiting, "_STAKE", 0.0)
    monkeypatch.setattr(waiting, "_LEAST_STAKE", 0.0)
    f = ljit.jit(summed)
    assert f([1] * 100) == 100
    assert f._calls.waiting._watched is None


def test_a_set_that_cannot_be_is_an_error_where_a_loop_would_go_through_it(clock):
    @ljit.jit
    def f(wrong):
        total = 0
        if wrong:
            for x in {[1], 2}:
                total += x
        for x in {1, 2, (3)}:
            total += x
        return total

    assert [f(False) for _ in range(3)] == [6] * 3
    with pytest.raises(TypeError, match="unhashable type: 'list'"):
        f(True)
