"""Bounds of what loops carry: programs near them give what CPython gives."""

import re

import numpy as np
import pytest

import ljit
from ljit.analysis.ranges import Ranges
from tests.frontend.harness import function_of
from tests.programs.harness import compare

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


def insertion(a):
    for i in range(1, len(a)):
        x = a[i]
        j = i - 1
        while j >= 0 and a[j] > x:
            a[j + 1] = a[j]
            j -= 1
        a[j + 1] = x
    return a


def by_steps(a):
    for i in range(3, len(a)):
        j = i
        while j >= 3 and a[j - 3] > a[j]:
            a[j], a[j - 3] = a[j - 3], a[j]
            j -= 3
        a[j] += 1
    return a


def below_0(a):
    total = 0
    for i in range(len(a)):
        j = i
        while j >= 0:
            if a[j] == 5:
                break
            j -= 2
        total += a[j + 2] if j + 2 <= i else 1
    return total


@pytest.mark.parametrize("function", [insertion, by_steps, below_0], ids=lambda f: f.__name__)
def test_what_falls_in_a_loop_is_within_bounds_behind_it(function):
    compiled = ljit.jit(function)
    a = np.random.default_rng(3).integers(0, 9, 40)
    for _ in range(3):
        assert compare(function(a.copy()), compiled(a.copy())) is None
    accesses = re.findall(r"np::(?:get|set)item.*", str(compiled.graph_for(a)))
    assert accesses and all("'from_start.0', 'inside.0'" in line for line in accesses)
    for size in (0, 1, 2, 3, 4, 40):
        for b in (a[:size], -np.arange(size), np.full(size, 5), a[::-1][:size]):
            assert compare(function(b.copy()), compiled(b.copy())) is None


def left_with_more(a, to):
    total = 0
    for i in range(len(a)):
        j = i
        while j >= 0:
            if a[j] == 5:
                j = to
                break
            j -= 1
        total += a[j]
        a[i] = -1
    return total


def left_after_more(a, to):
    total = 0
    for i in range(len(a)):
        j = i
        while True:
            j -= 1
            if j < to:
                break
        total += a[j + 1]
        a[i] = -1
    return total


@pytest.mark.parametrize("function", [left_with_more, left_after_more], ids=lambda f: f.__name__)
def test_loops_that_are_left_with_other_numbers_say_nothing_of_what_they_carry(function):
    compiled = ljit.jit(function)
    a = np.array([1, 2, 5, 3, 5, 4])
    for to in (0, 0, 0, 1, -1, -4, 5, 6, -7, 2**40, -(2**63), 2**63 - 1):
        if to < -(2**40) and function is left_after_more:
            continue  # that takes long
        mine, theirs = a.copy(), a.copy()
        assert compare(told(function, theirs, to), told(compiled, mine, to)) is None
        assert compare(theirs, mine) is None


def told(function, *args):
    try:
        return function(*args)
    except IndexError as error:
        return str(error)


def left_with_a_float(a, to):
    total = 0.0
    for i in range(len(a)):
        j = i
        while j >= 0:
            if a[j] == 5:
                j = to[0]
                break
            j -= 1
        total += j
    return total


def test_a_loop_may_be_left_with_no_int():
    compiled = ljit.jit(left_with_a_float)
    a = np.array([1, 2, 5, 3, 5, 4])
    for to in (0.5, 0.5, 0.5, -2.0):
        given = np.array([to])
        assert compare(left_with_a_float(a, given), compiled(a, given)) is None
