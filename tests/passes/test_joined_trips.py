"""Trips that update the same elements are done four at a time; the results are those of the program's order."""

import numpy as np
import pytest

import ljit
from ljit.passes.loops import strips
from ljit.testing.chaos import fail_each_guard
from tests.passes.nests import SIZE, arrays, outcome


def product_by_rows(a, b, c, n):
    for i in range(SIZE):
        for k in range(n):
            x = a[i, k]
            for j in range(SIZE):
                c[i, j] += x * b[k, j]


def weighted_rows(a, b, c, n):
    for k in range(n):
        for j in range(c.shape[1]):
            c[3, j] += a[2, k] * b[k, j]


def triangle_of_products(a, b, c, n):
    for i in range(SIZE):
        for j in range(i + 1):
            c[i, j] *= a[0, 1]
        for k in range(n):
            for j in range(i + 1):
                c[i, j] += a[1, 2] * a[i, k] * b[k, j]


def rows_above(a, b, c, n):
    for i in range(n):
        for j in range(i, SIZE):
            for k in range(i):
                c[i, j] -= c[i, k] * c[k, j]


def rows_behind(a, b, c, n):
    for i in range(n):
        for j in range(SIZE):
            for k in range(i + 1, n):
                c[i, j] += a[k, i] * c[k, j]


def two_steps_for_each_element(a, b, c, n):
    for i in range(SIZE):
        for k in range(n):
            for j in range(SIZE):
                c[i, j] += a[i, k] * b[k, j]
                c[i, j] *= a[k, i]


def sums_in_a_variable(a, b, c, n):
    for i in range(SIZE):
        for j in range(SIZE):
            s = 0.0
            for k in range(n):
                s += a[i, k] * b[k, j]
            c[i, j] = s


def rows_of_columns(a, b, c, n):
    """The row `c` is computed from the elements `b` of it that are stored beside."""
    for k in range(n):
        for j in range(SIZE):
            b[k, j] = a[k, j] + c[0, j]
            c[0, j] += b[k, j]


PROGRAMS = [
    product_by_rows,
    weighted_rows,
    triangle_of_products,
    rows_above,
    rows_behind,
    two_steps_for_each_element,
    sums_in_a_variable,
    rows_of_columns,
]


def is_joined(f, *args):
    return "most_trips=3" in str(f.graph_for(*args))


@pytest.mark.parametrize("function", PROGRAMS)
def test_trips_are_joined(function, monkeypatch):
    monkeypatch.setenv("LJIT_QUICK_RUNS", "0")
    f = ljit.jit(function)
    for _ in range(3):
        f(*arrays(), 9)
    assert is_joined(f, *arrays(), 9)


@pytest.mark.parametrize("dtype", ["f8", "f4", "i8", "i4", "c16"])
@pytest.mark.parametrize("function", PROGRAMS)
def test_any_number_of_trips_gives_what_python_gives(function, dtype, monkeypatch):
    monkeypatch.setattr(strips, "_CACHE", 64)  # strips of the least size
    f = ljit.jit(function)
    for n in (9, 9, 9, *range(10), SIZE, -3, SIZE + 1):
        assert outcome(f, *arrays(dtype), n) == outcome(function, *arrays(dtype), n)


@pytest.mark.parametrize("function", PROGRAMS)
def test_each_guard_leaves_for_a_state_of_the_program(function):
    f = ljit.jit(function)
    for _ in range(3):
        f(*arrays(), 9)
    for n in (3, 11):
        expected = outcome(function, *arrays(), n)
        for site in fail_each_guard(f):
            assert outcome(f, *arrays(), n) == expected, site


def test_ints_wrap_around():
    f = ljit.jit(product_by_rows)
    for k in range(4):
        expected, given = ([a + 2**61 for a in arrays("i8")] for _ in "ab")
        assert outcome(f, *given, 11 - k) == outcome(product_by_rows, *expected, 11 - k)


@pytest.mark.parametrize("function", [product_by_rows, weighted_rows, rows_behind])
@pytest.mark.parametrize("offset", [0, 1, SIZE, 3 * SIZE + 1, 5 * SIZE, SIZE * SIZE])
def test_arrays_that_overlap_keep_the_order(function, offset):
    def overlapping(which):
        memory = np.sin(np.arange(3.0 * SIZE * SIZE))
        a, b, _ = arrays()
        c = memory[: SIZE * SIZE].reshape(SIZE, SIZE)
        other = memory[offset : offset + SIZE * SIZE].reshape(SIZE, SIZE)
        return (other, b, c) if which == "a" else (a, other, c)

    f = ljit.jit(function)
    for _ in range(3):
        f(*arrays(), 9)
    for which in "abab":
        for n in (5, 12):
            assert outcome(f, *overlapping(which), n) == outcome(function, *overlapping(which), n)


def test_an_index_that_is_out_of_range_raises_in_its_trip():
    f = ljit.jit(product_by_rows)
    for _ in range(3):
        f(*arrays(), 9)
    for rows in (6, 7, 0):
        expected, given = ((a, b[:rows].copy(), c) for a, b, c in (arrays(), arrays()))
        found = outcome(f, *given, 9)
        assert found == outcome(product_by_rows, *expected, 9)
        assert found[0] is not None and "IndexError" in found[0]


def rows_from_places(a, places, c, n):
    for k in range(n):
        for j in range(SIZE):
            c[0, j] += a[places[k], j]


def test_places_that_are_read_are_checked_in_the_program_s_order():
    f = ljit.jit(rows_from_places)
    for bad in (None, None, None, 5, 2):
        places = np.arange(SIZE)[::-1].copy()
        if bad is not None:
            places[bad] = 99
        expected, given = ((a, places.copy(), c) for a, _, c in (arrays(), arrays()))
        assert outcome(f, *given, 9) == outcome(rows_from_places, *expected, 9)
