"""Masks and remainders of numbers beyond int64 are those of CPython, and stay native."""

import numpy as np
import pytest

import ljit

MOST = 2**63 - 1


def product(x, y):
    return (x * y + 11) & 0xFFFFFFFFFFFF


def difference(x, y):
    return (y - x * 3 - (x + y) * y) % 65536


def in_place(x, y):
    z = x
    z *= y
    z -= x
    z &= MOST
    return z


def sequence(x, n):
    total = 0.0
    for _ in range(n):
        x = (x * 0x5DEECE66D + 11) % (1 << 48)
        total += x / 281474976710656.0
    return x, total


def with_other_uses(x, y):
    p = x * y
    return p & 255, p


def numpys(x, y):
    return (x * y + int(x)) & 4095


PAIRS = [
    (3, 5),
    (MOST, MOST),
    (-MOST - 1, -1),
    (-MOST - 1, MOST),
    (0x5DEECE66D, 2**47 - 3),
    (-7, 2**40),
    (0, -MOST - 1),
    (2**70, 3),
    (True, 2**62),
]


@pytest.mark.parametrize("f", [product, difference, in_place, with_other_uses])
def test_numbers_beyond_int64_give_what_cpython_gives(f):
    native = ljit.jit(f)
    for _ in range(3):
        for x, y in PAIRS:
            assert repr(native(x, y)) == repr(f(x, y))


def test_of_numpys_numbers_the_products_wrap_as_numpys_do():
    native = ljit.jit(numpys)
    with np.errstate(over="ignore"):
        for x in (3, 2**62, -(2**63)):
            for y in (5, 2**40, -1):
                got, expected = native(np.int64(x), np.int64(y)), numpys(np.int64(x), np.int64(y))
                assert repr(got) == repr(expected)


@pytest.mark.parametrize("f", [product, difference, in_place])
def test_such_numbers_do_not_leave_native_code(f):
    native = ljit.jit(f)
    for _ in range(6):
        assert native(MOST, MOST - 5) == f(MOST, MOST - 5)
    assert [s.bailouts for s in native.specializations] == [0]


def test_a_random_sequence_stays_native():
    native = ljit.jit(sequence)
    for _ in range(4):
        assert repr(native(12345, 2000)) == repr(sequence(12345, 2000))
    (specialisation,) = native.specializations
    assert specialisation.bailouts == 0
    assert "Any" not in str(native.graph_for(12345, 2000))
