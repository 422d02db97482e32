"""Loops that take bits off a number have no checks but one in front, that it is not below 0."""

import numpy as np
import pytest

import ljit


def without_the_lowest(a, most):
    s = 0
    for i in range(len(a)):
        v = int(a[i])
        while v:
            v &= v - 1
            s += 1
        if s > most:
            break
    return s


def less_the_lowest(a, most):
    s = found = 0
    for x in a:
        v = int(x)
        while v != 0:
            bit = v & -v
            v -= bit
            found ^= bit
            s += 1
            if s > most:
                return s, found
    return s, found


def flipped(a, most):
    s = 0
    for x in a:
        v = int(x)
        while v:
            v ^= v & -v
            s += 1
            if s > most:
                return s
    return s


PROGRAMS = [without_the_lowest, less_the_lowest, flipped]


def numbers():
    a = np.random.default_rng(3).integers(0, 2**63 - 1, 200)
    a[:4] = 0, 1, 2**62, 2**63 - 1
    return a


def optimised(f):
    native = ljit.jit(f)
    for _ in range(3):
        assert native(numbers(), 10**6) == f(numbers(), 10**6)
    native.dump_asm()  # what is optimised from now on
    assert native(numbers(), 10**6) == f(numbers(), 10**6)
    return native


@pytest.mark.parametrize("f", PROGRAMS, ids=lambda f: f.__name__)
def test_no_difference_is_checked_in_the_loop(f):
    native = optimised(f)
    lines = str(native.graph_for(numbers(), 10**6)).splitlines()
    taken_off = [x for x in lines if any(op in x for op in ("py::sub(", "py::isub(", "py::neg("))]
    assert not taken_off
    assert any("prim::predicate[given=(), test=((1, 0),)]" in line for line in lines)
    assert [info.bailouts for info in native.specializations] == [0]


@pytest.mark.parametrize("f", [less_the_lowest, flipped], ids=lambda f: f.__name__)
@pytest.mark.parametrize("wrong", [-1, -6, -(2**63)])
def test_a_number_below_0_goes_on_for_ever(f, wrong):
    native = optimised(f)
    a = numbers()
    a[100] = wrong
    for _ in range(3):
        assert native(a, 8000) == f(a, 8000)
    assert native(numbers(), 10**6) == f(numbers(), 10**6)


def ones(n):
    count = 0
    while n:
        n &= n - 1
        count += 1
    return count


def test_ints_of_any_size_are_counted():
    native = ljit.jit(ones)
    for n in (5, 7, 0, 2**62 + 1, 2**63 - 1, 2**64 - 1, 2**70 + 5, 1, 3):
        assert native(n) == n.bit_count()
