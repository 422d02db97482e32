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


PROGRAMS = [clipped, clipped_on_one_side, started_far_away, left_by_continue, swapped]


@pytest.mark.parametrize("f", PROGRAMS, ids=lambda f: f.__name__)
@pytest.mark.parametrize("factor", [16384, -3, 2**40, MOST, -MOST - 1])
def test_what_loops_carry_is_that_of_cpython(f, factor):
    random = np.random.default_rng(2)
    native = ljit.jit(f)
    for low, high in ((0, 127), (-128, 1), (-128, 127), (101, 127)):
        for n in (0, 1, 2, 3, 200):
            x = random.integers(low, high, n).astype(np.int8)
            assert repr(native(x, factor)) == repr(f(x, factor))
