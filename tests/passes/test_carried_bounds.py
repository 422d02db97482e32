"""Bounds of what loops carry: programs near them give what CPython gives."""

import numpy as np
import pytest

import ljit
from ljit.analysis.ranges import Ranges
from tests.frontend.harness import function_of

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


def least(x, first, n):
    best = first
    for i in range(n):
        if x[i] < x[best]:
            best = i
    return best


def least_behind(x, first, n):
    best = first
    for i in range(1, n):
        if x[i] < x[best]:
            best = i
    return best, x[best]


def two_least(x, first, n):
    a = b = -1
    for i in range(n):
        if a < 0 or x[i] < x[a]:
            b = a
            a = i
        elif b < 0 or x[i] < x[b]:
            b = i
    return a, b


def one_further(x, first, n):
    best = 0
    for i in range(n - 1):
        if x[i + 1] < x[best]:
            best = i + 1
        elif x[best] == 7:
            continue
    return best


def two_further(x, first, n):
    best = 0
    for i in range(n - 1):
        if x[best] > 5:
            best = i
        elif x[best] > 2:
            best = i + 2
    return best


def moved(x, first, n):
    best = first
    for i in range(n):
        if x[i] < x[best]:
            best = i
        if x[i] == 3:
            best += 1
    return best


def never_set(x, first, n):
    best = first
    for i in range(n):
        if x[i] > 1000:
            best = i
    return x[best]


CHOICES = [least, least_behind, two_least, one_further, two_further, moved, never_set]


def outcome(f, *args):
    try:
        return f(*args)
    except IndexError as error:
        return str(error)


@pytest.mark.parametrize("f", CHOICES, ids=lambda f: f.__name__)
def test_the_number_of_a_trip_that_is_kept_is_an_index_as_far_as_the_loop_goes(f):
    x = np.random.default_rng(2).integers(0, 10, 50)
    native = ljit.jit(f)
    for first, n in (
        (0, 50),
        (3, 50),
        (0, 50),
        (0, 0),
        (49, 0),
        (50, 0),
        (50, 50),
        (-50, 50),
        (-51, 1),
        (7, 3),
        (0, 51),
    ):
        for y in (x, x[::-1].copy(), np.full(50, 3), np.sort(x)[::-1].copy()):
            assert repr(outcome(native, y, first, n)) == repr(outcome(f, y, first, n)), (first, n)


@pytest.mark.parametrize(
    ("f", "is_free"), [(two_least, True), (one_further, True), (moved, False), (two_further, False)]
)
def test_the_number_of_a_trip_that_is_kept_needs_no_check(f, is_free):
    native = ljit.jit(f)
    x = np.arange(50)
    for _ in range(3):
        native(x, 0, 50)
    reads = [line for line in str(native.graph_for(x, 0, 50)).split("\n") if "np::getitem" in line]
    assert reads
    assert all("inside.0" in line for line in reads) == is_free


def test_few_walks_find_what_moves_in_one_direction(monkeypatch):
    """Each walk would refute the guess of one variable more."""
    names = [f"v{k}" for k in range(60)]
    first = "".join(f"    {name} = {k}\n" for k, name in enumerate(names))
    turn = "".join(f"        v{k} = v{(k + 1) % 60} + i\n" for k in range(60))
    loop = f"    for i in range(n):\n{turn}"
    function = function_of(f"def f(n):\n{first}{loop}    return {', '.join(names)}\n")
    walks = []
    below = Ranges.below
    monkeypatch.setattr(Ranges, "below", lambda *args: walks.append(args) or below(*args))
    native = ljit.jit(function)
    for n in (3, 3, 100):
        assert native(n) == function(n)
    assert 0 < len(walks) < 20
