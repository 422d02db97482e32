"""Arrays die behind their last use: not before anything that shares their memory, not much later."""

from __future__ import annotations

import gc
import tracemalloc
import weakref

import numpy as np
import pytest

import ljit

SIZE = 1 << 17


def whole_numbers(size):
    """Floats whose sums are exact in any order."""
    return np.random.default_rng(size).integers(0, 1000, size).astype(float)


def chain(a, b):
    x = np.sort(a * b)
    y = np.sort(x + a)
    z = np.sort(y + b)
    w = np.sort(z - a)
    return np.sort(w - b).sum()


def views_of_the_dead(a):
    x = a * 2.0
    y = x[::-1]
    z = y[1:]
    w = a * 3.0
    return z.sum() + w.sum(), z * 1.0


def held_in_objects(a):
    x = a * 2.0
    pair = [x, a]
    shape = (x, x[2:])
    y = a * 5.0
    return pair[0].sum() + y.sum(), shape


def chosen(a, flag):
    x = a * 2.0
    y = x if flag else a * 3.0
    z = np.sort(a * 4.0)
    return y + z


def in_branches(a, flag):
    if flag:
        x = np.sort(a * 2.0)
        y = np.cumsum(x)
        total = y.sum() + x[0]
    else:
        total = 0.0
    z = np.sort(a * 4.0)
    return total + z[-1]


def used_behind_a_loop(a, n):
    x = a * 2.0
    total = 0.0
    for i in range(n):
        total += x[i]
    y = a * 3.0
    for i in range(n):
        total += y[i] - x[n - i]
    return total, a * 7.0


def written(a, b):
    x = a * 2.0
    a[1:] = x[:-1]
    y = b * 3.0
    b[:] = y[::-1]
    return a + b


def same_object(a):
    x = np.asarray(a * 2.0)
    y = np.ascontiguousarray(x)
    z = np.sort(a)
    return y, z, y is x


def written_over(a):
    x = np.sort(a * 2.0)
    return np.maximum(x + 1.0, 2.0)


def read_backwards(a):
    x = np.cumsum(a * 2.0)
    back = x[::-1]
    return x * 2.0 + back


def read_again(a):
    x = np.cumsum(a * 2.0)
    y = x * 2.0
    return np.sort(y) + x, y


def broadcast(a):
    x = np.cumsum(a[:1] * 2.0)
    y = np.cumsum(a * 2.0)
    z = x * a
    w = np.sort(z)
    return y[None, :] * w, np.sort(w)


def other_dtypes(a):
    x = np.cumsum(a * 2.0)
    y = x > 5.0
    z = np.cumsum(y)
    w = z * 1.5
    return w, np.sqrt(np.cumsum(w))


def kept_by_a_list(a, kept):
    x = np.cumsum(a * 2.0)
    kept.append(x)
    y = x + 1.0
    z = np.sort(y)
    return z * 2.0


def watched(a, watch):
    x = np.cumsum(a * 2.0)
    watch(x)
    return x + 1.0


def whole_rows(a):
    m = np.sort(np.stack((a, a * 2.0)), axis=1)
    n = m * 2.0 - a
    return np.sort(n, axis=0) / 4.0


def in_memory_order(a):
    m = np.asarray(a[: a.size // 10 * 10].reshape(-1, 10), order="F")
    x = np.ones_like(m) - m
    y = np.cumsum(m, axis=0) * m.T.copy().T
    z = np.sort(m, axis=0) + m.copy()
    w = np.cumsum(m.copy(), axis=1) - 1.0
    return x, y, z, w, x.flags.f_contiguous, z.flags.c_contiguous


def in_loops(a):
    m, kept = np.asarray(a[: a.size // 10 * 10].reshape(-1, 10), order="F"), []
    total, last = 0.0, m
    for k in range(5):
        x = np.sort(m + k, axis=0)
        y = x - m
        back = y[::-1]
        z = np.cumsum(y, axis=0) - back
        w = np.sort(z, axis=1) * 2.0
        total += (w - last)[0, 0]
        last = np.sort(w, axis=0) + k
        if k % 2:
            kept.append(w)
            kept.append(np.cumsum(a) - a)
    return kept, total, last


def left_in_loops(a, limit):
    total, found = 0, []
    for k in range(6):
        x = np.cumsum(a)
        y = np.sort(x) - k
        z = np.sort(y) * 2.0
        total = total * 1000 + limit
        found.append(z)
        if total > 1 << 60:
            y = x + z
            found.append(y)
    return total, found


def flattened(value):
    if isinstance(value, tuple | list):
        return [x for item in value for x in flattened(item)]
    return [value]


def agrees(function, *args):
    compiled = ljit.jit(function)
    for _ in range(4):
        expected = function(*(a.copy() if isinstance(a, np.ndarray) else a for a in args))
        mine = [a.copy() if isinstance(a, np.ndarray) else a for a in args]
        found = compiled(*mine)
        np.sort(np.random.rand(3 * SIZE))  # takes memory that was freed too early
        for x, y in zip(flattened(found), flattened(expected), strict=True):
            assert type(x) is type(y)
            assert np.array_equal(x, y)


@pytest.mark.parametrize("size", [50, SIZE])
@pytest.mark.parametrize("function", [chain, written])
def test_operands_that_die_may_be_written_over(function, size):
    agrees(function, whole_numbers(size), whole_numbers(size))


@pytest.mark.parametrize("size", [50, 1 << 11])
@pytest.mark.parametrize(
    "function",
    [
        views_of_the_dead,
        held_in_objects,
        same_object,
        written_over,
        read_backwards,
        read_again,
        broadcast,
        other_dtypes,
        whole_rows,
        in_memory_order,
        in_loops,
    ],
)
def test_what_shares_memory_keeps_it(function, size):
    agrees(function, whole_numbers(size))


@pytest.mark.parametrize("size", [50, SIZE])
@pytest.mark.parametrize("flag", [True, False])
@pytest.mark.parametrize("function", [chosen, in_branches])
def test_operands_that_die_in_a_branch_only_are_kept_in_the_other(function, flag, size):
    agrees(function, whole_numbers(size), flag)


@pytest.mark.parametrize("size", [50, SIZE])
def test_loops_between_uses(size):
    agrees(used_behind_a_loop, whole_numbers(size), 40)


@pytest.mark.parametrize("limit", [1, 1 << 50])
def test_loops_that_leave_native_code(limit):
    agrees(left_in_loops, whole_numbers(50), limit)


def peak_of(function, *args):
    compiled = ljit.jit(function)
    for _ in range(4):
        compiled(*args)
    gc.collect()
    tracemalloc.start()
    try:
        compiled(*args)
        return tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()


def test_a_chain_of_temporaries_needs_three_at_a_time():
    a, b = np.random.rand(SIZE), np.random.rand(SIZE)
    assert peak_of(chain, a, b) < 3.5 * a.nbytes


def test_what_a_list_keeps_is_not_written_over():
    a, kept = whole_numbers(SIZE), []
    compiled = ljit.jit(kept_by_a_list)
    for _ in range(5):
        assert np.array_equal(compiled(a, kept), (np.sort(np.cumsum(a * 2.0) + 1.0)) * 2.0)
    assert all(np.array_equal(x, np.cumsum(a * 2.0)) for x in kept)


def test_what_a_weak_reference_sees_is_not_written_over():
    a, references = whole_numbers(SIZE), []
    compiled = ljit.jit(watched)
    for _ in range(5):
        compiled(a, lambda x: references.append(weakref.ref(x)))
    assert [reference() for reference in references] == [None] * 5


def test_an_operand_that_nobody_needs_is_written_over():
    a = whole_numbers(SIZE)
    assert peak_of(written_over, a) < 2.5 * a.nbytes


def ones_minus(m):
    return np.ones_like(m) - m


def ones_minus_in_a_loop(m):
    total = 0.0
    for _ in range(5):
        x = np.ones_like(m) - m
        total += x[0, 1]
    return total


@pytest.mark.parametrize("order", ["C", "F"])
@pytest.mark.parametrize(("function", "arrays"), [(ones_minus, 1), (ones_minus_in_a_loop, 2)])
def test_results_of_calls_are_written_over_in_either_order(function, arrays, order):
    m = np.asarray(whole_numbers(SIZE).reshape(-1, 128), order=order)
    assert peak_of(function, m) < (arrays + 0.5) * m.nbytes
