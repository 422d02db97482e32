"""Bounds of what loops carry: programs near them give what CPython gives."""

import numpy as np
import pytest

import ljit

MOST = 2**63 - 1


def clipped(x, factor):
    y1 = y2 = 0
    for v in x:
        y = int(v) + factor * y1 - 9830 * y2
        if y > 32767:
            y = 32767
        elif y < -32768:
            y = -32768
        y2 = y1
        y1 = y
    return y1, y2


def clipped_on_one_side(x, factor):
    y = 0
    for v in x:
        z = factor * y - int(v)
        y = 1000 if z > 1000 else z
    return y


def started_far_away(x, factor):
    y = factor
    z = 0
    for v in x:
        z = y * 3
        y = int(v) if v > 0 else 7
    return y, z


def left_by_continue(x, factor):
    y = 1
    for v in x:
        if v > 100:
            y = factor * y
            continue
        y = 5
    return y


def swapped(x, factor):
    y, z, n = 3, 5, 0
    for v in x:
        y, z = z, y
        if v > 0:
            n = y * factor
        else:
            y = n
    return y, z, n


def lessened(x, factor):
    a, b, trips = factor, 1001, 0
    while a != b and trips < 50:
        if a > b:
            a -= b
        else:
            b -= a
        trips += 1
    return a, b


def taken_around(x, factor):
    y = 0
    for v in x:
        y += 3
        if y >= v:
            y -= int(v) * factor
        if y < 0:
            y = 0
    return y


def clipped_at_zero(x, factor):
    y, asked = 7, 0
    for v in x:
        y = y - int(v) if y > v else y + factor
        if y < 0:
            asked += 1
            y = 0
        elif y >= 0:
            y -= 1
    return y, asked


def known_of_a_sum_that_one_side_needs(x, factor):
    y = factor + 1
    if factor < MOST:
        return len(x)
    return y


PROGRAMS = [clipped, clipped_on_one_side, started_far_away, left_by_continue, swapped]
PROGRAMS += [lessened, taken_around, clipped_at_zero, known_of_a_sum_that_one_side_needs]


@pytest.mark.parametrize("f", PROGRAMS, ids=lambda f: f.__name__)
@pytest.mark.parametrize("factor", [16384, -3, 2**40, MOST, -MOST - 1])
def test_what_loops_carry_is_that_of_cpython(f, factor):
    random = np.random.default_rng(2)
    native = ljit.jit(f)
    for low, high in ((0, 127), (-128, 1), (-128, 127), (101, 127)):
        for n in (0, 1, 2, 3, 200):
            x = random.integers(low, high, n).astype(np.int8)
            assert repr(native(x, factor)) == repr(f(x, factor))


def far_below(numbers, a):
    x = 3
    total = 0.0
    for v in numbers:
        if x >= 0:
            total += a[x]
        x = (int(v) if v > 0 else 5) - 2**62
    return total


def test_what_comes_of_a_number_of_which_nothing_is_known_is_checked():
    native, a = ljit.jit(far_below), np.arange(10.0)
    inside = np.array([2**62 + 1, 2**62 + 7, -1, 2**62 + 9, 1])
    for _ in range(3):
        assert repr(native(inside, a)) == repr(far_below(inside, a))
    with pytest.raises(IndexError):
        native(np.array([2**62 + 1, 2**62 + 5000, 1]), a)
