"""Calls leave nothing behind: no references, no objects, no memory, however they end."""

from __future__ import annotations

import gc
import sys
import tracemalloc
import warnings
import weakref

import numpy as np
import pytest

import ljit
from ljit.testing.chaos import eager_loops

CALLS = 4_000


class Thing:
    def __init__(self, x):
        self.x = x

    def twice(self):
        return self.x * 2.0


XS, YS, THING = np.arange(4.0), np.ones(4), Thing(1.5)


def floats(x, y):
    return x * y + 1.0


def arrays(x, y):
    z = x * y + x
    z[0] = y[1]
    return z


def tuples(x, y):
    return x, (y, x + y), [x]


def views(x, y):
    a = x[1:]
    b = y[:-1]
    return a + b, x, a


def boxed_calls(thing, x):
    return thing.twice() + x, f"{x}", {"x": thing}


def appends(xs, n):
    made = []
    for x in xs:
        for k in range(n):
            made.append(x * k)
    return made


def pushes_and_pops(rows, n):
    stack = []
    for _ in range(n):
        for i in range(len(rows)):
            stack.append(rows[i][0])
            stack.append(rows[i])
        stack.append(stack.pop()[0])
    return stack


def private_lists(n, place):
    row, rows = [n], [[0.5] * n, [1.5]]
    for i in range(n):
        row.append(row[i] * 3)
        rows[1].append(rows[0][i])
    rows[1][place] += 1.0
    return row[n], rows


def settles(xs, stop):
    best = None
    total = 0
    for x in xs:
        total += x
        if best is None or x > best[0]:
            best = (x, [total])
        if x == stop:
            break
    return best, total


def objects(xs, key):
    found = [x for x in xs if x is not key]
    return found, xs[0]


def big_integers(x, n):
    for _ in range(n):
        x = x * x
    return x


def native_exception(xs, i):
    total = 0.0
    copy = xs * 2.0
    for k in range(i):
        total += copy[k]
    return total


def boxed_exception(xs, name):
    copy = xs + 1.0
    pair = (copy, name)
    return int(pair[1]) + copy[0]


def raises_itself(xs, x):
    copy = xs + x
    if x > 1:
        raise ValueError("too much", copy)
    return copy


def calls_that_raise_in_native_handlers(pair, thing, n):
    failed = 0
    for _ in range(n):
        try:
            pair.append(thing)
        except AttributeError:
            failed += 1
    return failed


def bails_with_arrays(xs, n):
    copy = xs * 2.0
    part = copy[1:]
    total = n
    for _ in range(4):
        total = total * 3
    return part, total


def keywords(x, *, y=2.0):
    return x * y


def defaults(x, y=YS):
    return x, y[1:]


def wrong_arguments(x):
    return x


def call(function, args):
    try:
        function(*args)
    except (ValueError, IndexError, TypeError):
        pass


CASES = [
    (floats, [(1.5, 2.5)]),
    (arrays, [(XS, YS)]),
    (tuples, [(1.5, 10**6)]),
    (views, [(XS, YS)]),
    (boxed_calls, [(THING, 1.5)]),
    (appends, [([1.0, 2.5], 3), ([10**6, 2], 3)]),
    (pushes_and_pops, [([[1.5], [2.5]], 300), ([["a"], [10**6]], 300)]),
    (private_lists, [(9, 3), (9, 77), (60, 3)]),
    (settles, [(XS, 9.0), (XS, 2.0), (XS[:0], 2.0)]),
    (objects, [([THING, XS, "text"], XS)]),
    (big_integers, [(3, 8)]),
    (native_exception, [(XS, 3), (XS, 7), (XS, 4)]),
    (boxed_exception, [(XS, "12"), (XS, "12x"), (XS, "13")]),
    (raises_itself, [(XS, 0.5), (XS, 1.5), (XS, 0.5)]),
    (calls_that_raise_in_native_handlers, [((1, 2), THING, 20)]),
    (bails_with_arrays, [(XS, 5), (XS, 2**62), (XS, 7), (XS, 9), (XS, 2)]),
    (keywords, [(1.5,)]),
    (defaults, [(XS,)]),
    (wrong_arguments, [(1.5, 2.5), (1.5,)]),
]


def counts(variants):
    watched = [None, True, float, np.ndarray, np.dtype(np.float64), XS, YS, THING, Thing]
    for args in variants:
        watched.append(args)
        watched.extend(args)
        for arg in args:
            watched.extend(arg if isinstance(arg, list) else ())
    return [sys.getrefcount(value) for value in watched]


def call_often(compiled, variants, calls):
    for k in range(calls):
        call(compiled, variants[k % len(variants)])
    gc.collect()


def assert_flat(compiled, variants, calls):
    call_often(compiled, variants, 300)  # compiles, learns, settles
    references, objects = counts(variants), len(gc.get_objects())
    growth = []
    tracemalloc.start()
    try:
        for _ in range(5):
            before = tracemalloc.get_traced_memory()[0]
            call_often(compiled, variants, calls // 4)
            growth.append(tracemalloc.get_traced_memory()[0] - before)
    finally:
        tracemalloc.stop()
    drift = max(abs(x - y) for x, y in zip(references, counts(variants), strict=True))
    # Threads of the test runner may have made some meanwhile; a leak is one a call.
    assert drift <= calls // 100, "reference counts drift"
    assert len(gc.get_objects()) - objects <= calls // 100, "objects stay alive"
    # A leak shows in each round, with 16 bytes a call at least; what the interpreter keeps for itself does not.
    assert min(growth) < calls, "memory grows"


@pytest.mark.parametrize(("function", "variants"), CASES, ids=[c[0].__name__ for c in CASES])
def test_calls_leave_nothing_behind(function, variants):
    assert_flat(ljit.jit(function), variants, CALLS)


def test_interpreted_calls_leave_nothing_behind():
    assert_flat(ljit.jit(num_profiled_runs=2**40)(native_exception), [(XS, 3), (XS, 7)], 2000)


def outlined(xs, thing, n, bad):
    total = 0.0
    made = []
    copy = xs * 2.0
    for k in range(n):
        total += copy[k % 4]
        if k % 64 == 0:
            made.append((copy, thing))
        if k == bad:
            total += copy[k]
    return total, made, copy[1:]


@pytest.mark.parametrize("bad", [-1, 100])
def test_outlined_loops_leave_nothing_behind(bad):
    compiled = ljit.jit(num_profiled_runs=2**40)(outlined)
    with eager_loops(32):  # a few trips are interpreted, objects are kept by native ones too
        assert_flat(compiled, [(XS, THING, 130, bad)], 1500)
    loops = compiled._executor.loops
    assert sum(loop.unit.code.calls for loop in loops.values() if loop.unit) > 500


def test_functions_and_their_code_die():
    kept = []
    for _ in range(3):
        compiled = ljit.jit(lambda x, y: x * y + 1.0)
        for _ in range(4):
            compiled(1.5, 2.0)
            compiled(2**62, 5)
        kept.append([weakref.ref(compiled._executor)])
        del compiled
    gc.collect()
    assert all(ref() is None for (ref,) in kept)


class Failing(Thing):
    def check(self):
        if self.x < 0.0:
            raise ValueError(self.x)
        return self.x


def failing_calls(thing, n):
    total = 0.0
    for _ in range(n):
        total += thing.check()
    return total


def failing_loops(thing, n):
    for x in map(Failing.check, (thing,) * n):
        thing.x += x


def failing_warnings(thing, n):
    if thing.x < 0.0:
        warnings.warn("less than zero", stacklevel=1)
    return thing.x * n


@pytest.mark.parametrize("function", [failing_calls, failing_loops, failing_warnings])
def test_what_an_exception_holds_dies_with_it(function):
    """In each tier, and where it is the first to come: no cycles that wait for the garbage collector."""
    compiled = ljit.jit(function)
    gc.disable()
    try:
        for x in (1.0, 1.0, 1.0, -1.0, -1.0, 1, -1, -1, 1.0, -1.0):
            n = (
                2 if x > 0 or type(x) is float else np.int64(2)
            )  # types of arguments whose first call raises
            thing = Failing(x)
            reference = weakref.ref(thing)
            try:
                compiled(thing, n)
            except (ValueError, UserWarning):
                assert x < 0
            del thing
            assert reference() is None, x
    finally:
        gc.enable()
