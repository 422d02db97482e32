"""Leaving native code: what was done stays done, what was learnt is used, exceptions are CPython's."""

from __future__ import annotations

import bisect
import operator

import numpy as np
import pytest

import ljit
from ljit import config
from tests.programs.harness import Args, compare
from tests.runtime.outcomes import assert_same_calls, asserts, outcome


def compiles(function):
    return sum(info.compiles for info in function.specializations)


def powers(x, n):
    total = 1
    for k in range(n):
        total = total * x + k
    return total


def test_overflow_at_a_later_call_gives_big_integers():
    f = ljit.jit(powers)
    for n in (5, 5, 80, 5, 80, 80, 81, 6, 100):
        assert compare(powers(3, n), f(3, n)) is None
    assert compiles(f) <= 4
    seen = compiles(f)
    for n in (5, 80) * 20:
        assert f(3, n) == powers(3, n)
    assert compiles(f) == seen


def items(xs):
    total = 0
    for x in xs:
        total = total + x
    return total


def test_items_of_lists_that_change_type_are_learnt():
    f = ljit.jit(items)
    lists = [[1, 2], [1, 2.5], [1.5, 2], [True, 2], [1j, 2], [2**70, 1], [np.float32(1), 2], []]
    for _ in range(4):
        for xs in lists:
            assert compare(items(xs), f(xs)) is None
        with pytest.raises(TypeError) as error:
            f([1, "a"])
        assert str(error.value) == "unsupported operand type(s) for +: 'int' and 'str'"
    seen = compiles(f)
    for _ in range(10):
        for xs in lists:
            assert compare(items(xs), f(xs)) is None
    assert compiles(f) == seen


def places(xs, n):
    return [bisect.bisect_right(xs, k) for k in range(n)]


def test_searches_through_other_items_than_seen_leave_a_few_times():
    """Their results tell nothing of the items."""
    f, xs = ljit.jit(places), [2**k for k in range(300)]
    with config.overridden(cold_calls=False):
        for _ in range(20):
            assert compare(places(xs, 50), f(xs, 50)) is None
    (info,) = f.specializations
    assert (info.state, info.compiles, info.bailouts) == ("native", 3, 4)


def branches(table, flag):
    total = 0.0
    for k in range(4):
        if flag:
            total += k
        else:
            total -= table[k]
    return total


def test_a_branch_that_was_not_run_is_compiled_once_when_it_runs():
    f = ljit.jit(branches)
    table = {k: k + 0.5 for k in range(4)}
    for flag in (1, 1, 1, 0, 0, 0, 1, 0):
        assert compare(branches(table, flag), f(table, flag)) is None
    (info,) = f.specializations
    assert (info.state, info.compiles, info.bailouts) == ("native", 2, 1)


def test_state_that_was_changed_before_the_exception_is_as_in_cpython():
    def f(a, xs, i, n):
        for k in range(n):
            a[k] = k + 0.5
            xs.append(k)
            a[i + k] += 1.0
        return a

    def calls():
        for i, n in ((0, 2), (0, 3), (2, 4), (0, 5), (-9, 2), (1, 4), (3, 2), (0, 1)):
            yield Args((np.zeros(4), [], i, n))

    assert_same_calls(f, ljit.jit(f), calls)


def middle(a, i):
    return a[i] * 2.0


def outer(a, i):
    before = a[0]
    inner = middle(a, i)
    return before + inner


def deepest(x):
    return 1 / x


def through_numpy(xs, x):
    total = 0.0
    for item in xs:
        total += item
    return total + np.vectorize(deepest, otypes=[float])([x])[0]


def through_sort(xs, key):
    total = 0
    for _ in range(3):
        total += len(xs)
    xs.sort(key=key)
    return total


def raising_key(value):
    if value == 3:
        raise KeyError(value)
    return -value


def boxed_in_loop(xs, n):
    total = 0
    for k in range(n):
        total += k
        int(xs[k % 3])
    return total


def multi_line(a, b, i):
    return a[0] + b[i] * 2.0


def raises_from(x):
    if x > 3:
        raise ValueError("big") from KeyError(x)
    return x * 2


def divides(x, y):
    a = x // 2
    b = x / y
    return a + b


CASES = [
    (outer, [(0,), (1,), (2,), (9,), (1,), (-9,), (9,)], lambda i: (np.arange(4.0), i)),
    (through_numpy, [(1,), (2,), (0,), (1,), (0,)], lambda x: ([1.0, 2.0], x)),
    (
        through_sort,
        [([1, 2],), ([2, 1],), ([1, 3, 2],), ([5],), ([3],)],
        lambda xs: (list(xs), raising_key),
    ),
    (boxed_in_loop, [("123",), ("456",), ("12x",), ("123",), ("1x3",)], lambda xs: (xs, 1000)),
    (multi_line, [(0,), (1,), (7,), (2,), (7,)], lambda i: (np.arange(4.0), np.ones(3), i)),
    (asserts, [(1,), (2,), (30,), (1,), (30,), (3,)], lambda x: (x, 3)),
    (raises_from, [(1,), (2,), (5,), (3,), (5,), (5,)], lambda x: (x,)),
    (divides, [(1,), (2,), (0,), (3,), (0,), (0,)], lambda y: (7, y)),
    (divides, [(1.5,), (2.0,), (0.0,), (3.5,), (0.0,)], lambda y: (7, y)),
]


@pytest.mark.parametrize(
    ("function", "variants", "make"), CASES, ids=[c[0].__name__ for c in CASES]
)
def test_exceptions_and_their_frames_are_those_of_cpython(function, variants, make):
    def calls():
        for variant in variants:
            yield Args(make(*variant))

    assert_same_calls(function, ljit.jit(function), calls)


@pytest.mark.parametrize(
    ("function", "variants", "make"), CASES, ids=[c[0].__name__ for c in CASES]
)
def test_exceptions_of_the_first_call_are_those_of_cpython(function, variants, make):
    def calls():
        for variant in reversed(variants):
            yield Args(make(*variant))

    assert_same_calls(function, ljit.jit(function), calls)


def hot_then_raises(a, n, bad):
    total = 0.0
    for k in range(n):
        if k == bad:
            total += a[k]
        total += a[k % 4]
    return total


@pytest.mark.parametrize("bad", [1, 700, 1999])
def test_an_exception_in_an_outlined_loop_has_the_users_frame_once(bad):
    f = ljit.jit(hot_then_raises)
    a = np.arange(4.0)
    expected = outcome(hot_then_raises, Args((a, 2000, bad)))
    for _ in range(3):
        actual = outcome(f, Args((a, 2000, bad)))
        assert actual.failure == expected.failure
        assert [name for name, _ in actual.frames].count("hot_then_raises") == (bad > 3)
        assert actual.frames == expected.frames


def boxed_in_outlined(xs, n):
    total = 0
    for k in range(n):
        total += deepest(xs[k])
    return total


def opaque(xs, n, call):
    total = 0.0
    for k in range(n):
        total += k * 0.5
        call(xs, k)
    return total


@pytest.mark.parametrize("bad", [3, 600, 998])
def test_an_exception_of_a_python_call_in_an_outlined_loop_has_each_frame_once(bad):
    xs = [1] * 1000
    xs[bad] = "a" if bad == 600 else 0
    for function, args in (
        (boxed_in_outlined, (xs, 1000)),
        (opaque, ([1] * bad, 1000, operator.getitem)),
        (opaque, ([1] * bad, 1000, lambda seq, k: seq[k])),
    ):
        f = ljit.jit(function)
        expected = outcome(function, Args(args))
        assert expected.failure is not None
        for _ in range(3):
            actual = outcome(f, Args(args))
            assert actual.failure == expected.failure
            assert actual.frames == expected.frames


def test_a_bailout_inside_an_inlined_callee_keeps_both_frames():
    f = ljit.jit(outer)
    a = np.arange(4.0)
    for _ in range(3):
        f(a, 1)
    with pytest.raises(IndexError) as error:
        f(a, 4)
    assert [entry.name for entry in error.traceback][1:] == ["outer", "middle"]


def test_bailouts_never_compile_without_end():
    @ljit.jit
    def f(x, n):
        for k in range(n):
            x = x * x + k
        return x

    for call in range(300):
        assert f(call, 6) == f.__wrapped__(call, 6)
    assert compiles(f) <= 8


def test_a_raising_generator_argument_leaves_native_code_with_its_error():
    def numbers(n):
        for k in range(n):
            yield k
        raise RuntimeError("exhausted")

    def consume(xs, n):
        total = 0
        for x in xs:
            total += x
        return total

    f = ljit.jit(consume)

    for n in (2, 3, 600, 5):
        expected = outcome(consume, Args((numbers(n), n)))
        actual = outcome(f, Args((numbers(n), n)))
        assert actual.failure == expected.failure
        assert actual.frames == expected.frames


def test_a_test_in_front_of_a_loop_that_fails_costs_one_bailout():
    def first(a, n, steps):
        total = 0.0
        for _ in range(steps):
            for i in range(n):
                if i * i < 30:
                    total += a[i]
        return total

    f = ljit.jit(first)
    for _ in range(6):
        assert f(np.arange(7.0), 20, 6) == first(np.arange(7.0), 20, 6)
    (info,) = f.specializations
    assert info.state == "native"
    assert info.bailouts == info.compiles - 1 > 0


def test_a_test_in_front_of_a_loop_asks_for_no_more_than_the_loop_needs():
    def turn(a, b, steps):
        n, m = len(a), len(b)
        for _ in range(steps):
            for i in range(n):
                b[i % m] = a[(i + 1) % n] + a[(i + 2) % n] + b[(i + 3) % m]
            a, b = b, a
        return a

    f = ljit.jit(turn)
    for _ in range(6):
        mine, plain = ([np.arange(7.0), np.arange(7.0) * 2] for _ in range(2))
        assert np.array_equal(f(*mine, 6), turn(*plain, 6))
    (info,) = f.specializations
    assert info.state == "native"
    assert info.bailouts == 0
