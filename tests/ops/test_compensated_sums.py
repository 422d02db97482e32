"""Sums of generators lose what the sums of CPython 3.12 and later lose: nothing much.

The rule of those versions is written down here once more, from their documentation of ``sum``, so that it is tested
under all versions; where `sum` follows it, it must give the same.
"""

import enum
import math
import random
import sys
from fractions import Fraction

import numpy as np
import pytest

import ljit
from ljit.frontend.emitting import generators

INT64 = range(-(2**63), 2**63)


class Level(enum.IntEnum):
    LOW = 1


class Float(float):
    pass


def expected(items, start=0):
    """``sum(items, start)`` of CPython 3.12: ints, then floats with Neumaier's compensation, then anything."""
    items = list(items)
    total, is_small = start, type(start) is int and start in INT64
    while items and is_small:
        total += (item := items.pop(0))
        is_small = type(item) in (int, bool) and item in INT64 and total in INT64
    lost = 0.0
    while items and type(total) is float:
        item = items[0]
        if type(item) is float:
            new = total + item
            larger, smaller = (total, item) if abs(total) >= abs(item) else (item, total)
            lost += (larger - new) + smaller
            total = new
        elif isinstance(item, int) and int(item) in INT64:
            total += float(item)
        else:
            break
        items.pop(0)
    if lost and math.isfinite(lost):
        total += lost
    for item in items:
        total = total + item
    return total


def plain(xs):
    return sum(x for x in xs)


def from_float(xs):
    return sum((x for x in xs), -0.0)


def from_large(xs):
    return sum((x for x in xs), 9223372036854775808)


def from_complex(xs):
    return sum((x for x in xs), 0j)


RNG = random.Random(5)
MANY = [RNG.gauss(0, 1) * 10.0 ** RNG.randrange(-20, 20) for _ in range(500)]
ITEMS = {
    "nothing": [],
    "tenths": [0.1] * 10,
    "cancelled": [1e16, 1.0, -1e16],
    "cancelled_behind_ints": [3, 1e16, True, 1.0, 2, -1e16],
    "many": MANY,
    "zeros": [-0.0, -0.0],
    "infinite": [1e308, 1e308, -1e308, 0.1, 0.2],
    "infinities": [math.inf, 1.0, 1.0],
    "no_number": [1e16, math.nan, 1.0],
    "ints": [1, 2, True, 3],
    "large_ints": [2**62, 2**62, 0.1, 0.2, 0.3, 1e16, -1e16],
    "back_to_small_ints": [2**62, 2**62, -(2**62), 0.1, 0.2, 0.3],
    "float_and_large_int": [0.1, 0.2, 2**70, 0.3, -(2**70), 0.1],
    "complex_behind_floats": [0.1, 0.2, 0.3, 1j, 0.1, 0.2],
    "numpys_behind_floats": [0.1, 0.2, 0.3, np.float64(0.3), 0.1, 1e16, 1.0, -1e16],
    "numpys": [np.float64(0.1)] * 10,
    "other_ints": [Level.LOW, 0.1, 0.2, 0.3, 1e16, 1.0, -1e16],
    "other_ints_behind_floats": [0.1, 0.2, Level.LOW, 0.3, 1e16, 1.0, -1e16],
    "other_floats": [0.1, 0.2, 0.3, Float(0.1), 1e16, 1.0, -1e16],
    "fractions": [Fraction(1, 3), 1e16, 1.0, -1e16],
    "fractions_behind_floats": [0.1, 0.2, 0.3, Fraction(1, 3), 1e16, 1.0, -1e16],
}


def same(x, y):
    return type(x) is type(y) and (repr(x) == repr(y))


@pytest.mark.parametrize("function", [plain, from_float, from_large, from_complex])
@pytest.mark.parametrize("name", ITEMS)
def test_sums_of_generators_are_compensated(name, function, monkeypatch):
    monkeypatch.setattr(generators, "COMPENSATES", True)
    items = ITEMS[name]
    start = {from_float: -0.0, from_large: 2**63, from_complex: 0j}.get(function, 0)
    wanted = expected(items, start)
    if sys.version_info >= (3, 12):
        assert same(wanted, function(items))
    compiled = ljit.jit(function)
    assert all(same(compiled(items), wanted) for _ in range(4))
    native = ljit.jit(function)
    native(ITEMS["many"])
    native(ITEMS["ints"])
    assert all(same(native(items), wanted) for _ in range(3))


def test_sums_of_lists_and_tuples_are_those_of_cpython():
    @ljit.jit
    def sums(xs, n):
        made = [x * n for x in xs]
        x, y, z = made[0], made[1], made[2]
        bools = sum(made, True), sum((x, y, z), True)
        return (
            sum(made),
            sum(made, 1),
            sum((x, y, z)),
            sum((1, x, y, z), 0.5),
            sum([n, n], 2),
            bools,
        )

    for xs in (MANY, ITEMS["cancelled"], ITEMS["infinite"], ITEMS["zeros"] * 2, [1e16, -1.0, 1.0]):
        made = [x * 3 for x in xs]
        x, y, z = made[0], made[1], made[2]
        bools = sum(made, True), sum((x, y, z), True)
        tuples = sum((x, y, z)), sum((1, x, y, z), 0.5)
        wanted = sum(made), sum(made, 1), *tuples, sum([3, 3], 2), bools
        for _ in range(4):
            assert same(sums(xs, 3), wanted)


def test_sums_of_ints_are_only_that(monkeypatch):
    monkeypatch.setattr(generators, "COMPENSATES", True)

    @ljit.jit
    def squares(n):
        return sum(i * i for i in range(n))

    for _ in range(3):
        assert squares(100) == 328350
    text = str(squares.graph_for(100))
    assert "py::add" in text
    assert "lost" not in text
