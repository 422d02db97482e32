"""What an outer loop carries past the sums of inner loops does not keep its trips from running side by side."""

import numpy as np
import pytest

import ljit
from ljit.testing.chaos import fail_each_guard
from tests.programs.harness import compare


def norm(a, x, y):
    total = 0.0
    for i in range(a.shape[0]):
        s = 0.0
        for j in range(a.shape[1]):
            s += a[i, j] * x[j]
        y[i] = s
        total += s * s
    return total


def norm_alone(a, x, _y):
    total = 0.0
    for i in range(a.shape[0]):
        s = 0.0
        for j in range(a.shape[1]):
            s += a[i, j] * x[j]
        total += s * s
    return total


def nearest(a, x, _y):
    best, place = 1e300, -1
    for i in range(a.shape[0]):
        d = 0.0
        for j in range(a.shape[1]):
            d += (a[i, j] - x[j]) * (a[i, j] - x[j])
        if d < best:
            best = d
            place = i
    return place, best


def counted(a, x, y):
    count, last = 0, 1
    for i in range(a.shape[0]):
        s = 0.0
        for j in range(a.shape[1]):
            s += a[i, j] * x[j]
        if s > 0.0:
            count += 1
        y[i] = s
        last = last * 3 + i  # no int64 from the 40th trip on
    return count, last


def in_turns(a, x, y):
    previous, older = 0.0, 1.0
    for i in range(a.shape[0]):
        s = 0.0
        for j in range(a.shape[1]):
            s += a[i, j] * x[j]
        y[i] = s - older
        older, previous = previous, s
    return older, previous


def waits(a, x, y):
    s = 0.0
    for i in range(a.shape[0]):
        s = s * 0.5
        for j in range(a.shape[1]):
            s += a[i, j] * x[j]
        y[i] = s
    return s


def scaled_by_the_last(a, x, y):
    last = 1.0
    for i in range(a.shape[0]):
        s = 0.0
        for j in range(a.shape[1]):
            s += a[i, j] * last
        y[i] = s
        last = s * 1e-3
    return last


SIDE_BY_SIDE = (norm, norm_alone, nearest, counted, in_turns)


def operands(rows, columns=9):
    a = np.cos(np.arange(rows * columns, dtype=float)).reshape(rows, columns)
    return a, np.sin(np.arange(columns, dtype=float)), np.zeros(rows)


def outcome(function, args):
    try:
        return function(*args), args
    except IndexError as error:
        return str(error), args


@pytest.mark.parametrize("function", [*SIDE_BY_SIDE, waits, scaled_by_the_last])
def test_what_is_carried_is_what_the_program_carries(function):
    f = ljit.jit(function)
    for rows in (30, 30, 30, 0, 1, 7, 8, 9, 16, 38, 70, 30):
        expected = outcome(function, operands(rows))
        assert compare(expected, outcome(f, operands(rows))) is None
        if rows == 0:
            is_jammed = "lanes=8" in str(f.graph_for(*operands(30)))
            assert is_jammed == (function in SIDE_BY_SIDE)
    expected = outcome(function, operands(30))
    for _ in fail_each_guard(f):
        assert compare(expected, outcome(f, operands(30))) is None


@pytest.mark.parametrize("function", [norm, counted, in_turns])
def test_exceptions_come_in_their_trips(function):
    f = ljit.jit(function)
    for short in (0, 0, 0, 5, 20, 5, 0):
        given = [(a, x, y[: len(y) - short]) for a, x, y in (operands(30), operands(30))]
        assert compare(outcome(function, given[0]), outcome(f, given[1])) is None


def test_arrays_that_overlap_are_gone_through_in_turns():
    f = ljit.jit(norm)
    for is_shared in (False, False, False, True, False, True):
        results = []
        for g in (norm, f):
            a, x, y = operands(20, 20)
            results.append(outcome(g, (a, x, x if is_shared else y)))
        assert compare(*results) is None
