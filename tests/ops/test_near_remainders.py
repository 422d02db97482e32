"""Remainders of numbers that are near the divisor: neighbours on a ring or torus."""

import numpy as np
import pytest

import ljit


def neighbours(a):
    n = len(a)
    s = 0
    for i in range(n):
        s = s * 3 + a[(i + 1) % n] - 2 * a[(i - 1) % n] + 5 * a[i % n] + 7 * a[(i + n) % n]
        s %= 1000003
    return s


def on_torus(a):
    h, w = a.shape
    s = 0
    for y in range(h):
        for x in range(w):
            for dy in (-1, 0, 1):
                for dx in (1, 0, -1):
                    s += (dx + 2 * dy) * a[(y + dy) % h, (x + dx) % w]
            s %= 1000003
    return s


def four_of_torus(a):
    h, w = a.shape
    s = 0
    for y in range(h):
        for x in range(w):
            for dy, dx in ((0, 1), (1, 0), (0, -1), (-1, 0)):
                s += (dx + 2 * dy) * a[(y + dy) % h, (x + dx) % w]
            s %= 1000003
    return s


def fixed_ring(a):
    s = 0
    for i in range(624):
        s += a[(i + 397) % 624] ^ a[(i - 624) % 624]
    return s


def from_below(a):
    n = len(a)
    s = 0
    for i in range(-n, n):
        s = s * 3 + a[i % n]
        s %= 1000003
    return s


@pytest.mark.parametrize("f", [neighbours, on_torus, four_of_torus, fixed_ring, from_below])
def test_a_number_near_the_divisor_needs_no_division(f):
    compiled = ljit.jit(f)
    rng = np.random.default_rng(3)
    is_flat = f not in (on_torus, four_of_torus)
    sizes = [624] if f is fixed_ring else [5, 7, 1, 2, 3, 0]
    for size in sizes * 2:
        for other in (size,) if is_flat else (1, 2, 4):
            a = rng.integers(0, 9, size if is_flat else (size, other))
            expected, found = f(a), compiled(a)
            assert (type(found), found) == (type(expected), expected)
    a = np.ones(624 if is_flat else (5, 7), np.int64)
    constants = ("1000003", "624")
    lines = compiled.dump_llvm(a).splitlines()
    divisions = [line for line in lines if any(op in line for op in ("srem", "urem", "sdiv"))]
    assert not [line for line in divisions if not line.endswith(constants)]


def steps(a, step):
    n = len(a)
    s = 0
    for i in range(n):
        s = s * 3 + a[(i + 2) % n] + a[(i - step) % n] + a[(2 * i + 1) % n]
        s %= 1000003
    return s


def backwards(a):
    n = len(a)
    s = 0
    for i in range(n):
        s += a[(i + 1) % -n] * i
    return s


def test_others_are_divided():
    for f, rest in (steps, (1,)), (steps, (-9,)), (steps, (2**62,)), (backwards, ()):
        compiled = ljit.jit(f)
        for size in (5, 7, 1, 2, 3, 4, 5, 6):
            a = np.random.default_rng(size).integers(0, 9, size)
            expected, found = f(a, *rest), compiled(a, *rest)
            assert (type(found), found) == (type(expected), expected)


def test_columns_of_a_constant_tuple_may_be_anything():
    def mixed(a):
        n = len(a)
        s = 0
        for i in range(n):
            for d, e, text in ((1, True, None), (-1, False, "text"), (0, True, 2.5)):
                s += a[(i + d) % n] * (i + e) % n + (text is None)
        return s

    compiled = ljit.jit(mixed)
    for size in (5, 7, 1, 2, 3):
        a = np.arange(size)
        expected, found = mixed(a), compiled(a)
        assert (type(found), found) == (type(expected), expected)
