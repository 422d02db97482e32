"""Stores beside the inner loop of a nest get loops of their own; the results are those of the program's order."""

import numpy as np
import pytest

import ljit
from ljit.testing.chaos import fail_each_guard
from tests.passes.nests import SIZE, arrays, outcome


def product(a, b, t, n):
    for i in range(SIZE):
        for j in range(SIZE):
            t[i, j] = 0.0
            for k in range(n):
                t[i, j] += 1.5 * a[i, k] * b[k, j]


def scaled_product(a, b, t, n):
    for i in range(SIZE):
        for j in range(SIZE):
            t[i, j] *= 3
            for k in range(n):
                t[i, j] += a[i, k] * b[k, j]


def covariances(a, b, t, n):
    for i in range(SIZE):
        for j in range(i, SIZE):
            t[i, j] = 0.0
            for k in range(n):
                t[i, j] += a[k, i] * a[k, j]
            t[i, j] *= 0.25
            t[j, i] = t[i, j]


def sums_of_columns(a, b, t, n):
    for j in range(SIZE):
        t[0, j] = b[0, j]
        for i in range(n):
            t[0, j] += a[i, j]
        t[0, j] *= b[1, j]


def stores_behind(a, b, t, n):
    for j in range(SIZE):
        for i in range(n):
            t[2, j] += a[i, j] * b[0, j]
        t[3, j] -= t[2, j]


def chosen_in_front(a, b, t, n):
    for j in range(SIZE):
        if b[0, j] > b[1, j]:
            t[0, j] += b[2, j]
        for i in range(n):
            t[0, j] += a[i, j]
        if t[0, j] > b[0, j]:
            t[0, j] = b[0, j]


def with_what_is_read_in_front(a, b, t, n):
    for j in range(SIZE):
        x = b[0, j]
        t[0, j] = x
        for i in range(n):
            t[0, j] += a[i, j] * x
        t[0, j] -= x


def for_the_next_column(a, b, t, n):
    for j in range(SIZE - 1):
        t[0, j + 1] = b[0, j]
        for i in range(n):
            t[0, j] += a[i, j]


def into_the_column_before(a, b, t, n):
    for j in range(1, SIZE):
        t[0, j] *= 0.5
        for i in range(n):
            t[0, j - 1] += a[i, j]


def rows_and_columns(a, b, t, n):
    for i in range(SIZE):
        for j in range(SIZE):
            t[i, j] *= 0.5
            for k in range(n):
                t[i, j] += a[k, j]
            t[j, i] = t[i, j]


PROGRAMS = [
    product,
    scaled_product,
    covariances,
    sums_of_columns,
    stores_behind,
    chosen_in_front,
    with_what_is_read_in_front,
    for_the_next_column,
    into_the_column_before,
    rows_and_columns,
]


def into_the_next_column(a, b, t, n):
    for j in range(SIZE - 1):
        t[0, j] *= 0.5
        for i in range(n):
            t[0, j + 1] += a[i, j]


def column_before_is_needed_behind(a, b, t, n):
    for j in range(1, SIZE):
        for i in range(n):
            t[0, j] += a[i, j] * t[0, j - 1]
        t[0, j] *= 0.5


def sums_into_the_next_column(a, b, t, n):
    for j in range(1, SIZE):
        t[0, j] = t[0, j - 1] + b[0, j]
        for i in range(n):
            t[0, j] += a[i, j]


def the_last_element_counts(a, b, t, n):
    for j in range(SIZE):
        t[0, 0] = b[0, j]
        for i in range(n):
            t[0, 0] += a[i, j]


def what_is_read_in_front_is_stored_behind(a, b, t, n):
    for j in range(SIZE):
        x = t[1, j]
        t[0, j] = x
        for i in range(n):
            t[0, j] += a[i, j] * x
        t[1, j] = t[0, j] * x


def into_columns_from_the_end(a, b, t, n):
    for j in range(SIZE):
        t[0, j] *= 0.5
        for i in range(n):
            t[0, SIZE - 1 - j] += a[i, j]


def places_of_the_program(a, b, t, n):
    for j in range(SIZE):
        t[1, (j * 7) % SIZE] = b[0, j]
        for i in range(n):
            t[1, j] += a[i, j]


OTHERS = [
    into_the_next_column,
    column_before_is_needed_behind,
    sums_into_the_next_column,
    the_last_element_counts,
    what_is_read_in_front_is_stored_behind,
    into_columns_from_the_end,
    places_of_the_program,
]


def compiled(function):
    f = ljit.jit(function)
    for _ in range(3):
        f(*arrays(), 9)
    return f


def is_split(f):
    return "reordered=True" in str(f.graph_for(*arrays(), 9))


@pytest.mark.parametrize("function", PROGRAMS)
def test_nests_are_split(function, monkeypatch):
    monkeypatch.setenv("LJIT_QUICK_RUNS", "0")
    assert is_split(compiled(function))


@pytest.mark.parametrize("function", OTHERS)
def test_nests_whose_trips_need_each_other_stay(function, monkeypatch):
    monkeypatch.setenv("LJIT_QUICK_RUNS", "0")
    assert not is_split(compiled(function))


@pytest.mark.parametrize("dtype", ["f8", "f4", "i8", "i4", "c16"])
@pytest.mark.parametrize("function", [*PROGRAMS, *OTHERS])
def test_any_number_of_trips_gives_what_python_gives(function, dtype):
    f = ljit.jit(function)
    for n in (9, 9, 9, *range(10), SIZE, -3, SIZE + 1):
        assert outcome(f, *arrays(dtype), n) == outcome(function, *arrays(dtype), n)


@pytest.mark.parametrize("function", [*PROGRAMS, *OTHERS])
def test_each_guard_leaves_for_a_state_of_the_program(function):
    f = compiled(function)
    for n in (3, 11):
        expected = outcome(function, *arrays(), n)
        for site in fail_each_guard(f):
            assert outcome(f, *arrays(), n) == expected, site


@pytest.mark.parametrize("function", PROGRAMS)
@pytest.mark.parametrize("offset", [0, 1, SIZE, 3 * SIZE + 1, SIZE * SIZE - 1, SIZE * SIZE])
def test_arrays_that_overlap_keep_the_order(function, offset):
    def overlapping(which):
        memory = np.sin(np.arange(3.0 * SIZE * SIZE))
        a, b, _ = arrays()
        t = memory[: SIZE * SIZE].reshape(SIZE, SIZE)
        other = memory[offset : offset + SIZE * SIZE].reshape(SIZE, SIZE)
        return (other, b, t) if which == "a" else (a, other, t)

    f = compiled(function)
    for which in "abab":
        for n in (5, 12):
            assert outcome(f, *overlapping(which), n) == outcome(function, *overlapping(which), n)


@pytest.mark.parametrize("function", [product, scaled_product, covariances])
def test_an_index_that_is_out_of_range_raises_in_its_trip(function):
    f = compiled(function)
    for rows in (6, 7, 0):
        expected, given = (
            (a[:rows].copy(), b[:rows].copy(), t) for a, b, t in (arrays(), arrays())
        )
        found = outcome(f, *given, 9)
        assert found == outcome(function, *expected, 9)
        assert found[0] is not None and "IndexError" in found[0]


LONG = 700


def long_scaled_product(a, b, t, n):
    for i in range(n):
        for j in range(n):
            t[i, j] = t[i, j] * 0.5 + 1.0
            for k in range(n):
                t[i, j] += a[i, k] * b[k, j]
            t[i, j] -= 0.25


def test_handlers_of_signals_run_and_nothing_is_done_twice():
    """A poll in such loops cannot leave: the code does so behind them."""
    import signal

    f = ljit.jit(long_scaled_product)
    for _ in range(3):
        f(*arrays(), SIZE)
    rng = np.random.default_rng(3)
    a, b, t = (rng.normal(size=(LONG, LONG)) for _ in range(3))
    expected, given = t.copy(), t.copy()
    f(a, b, expected, LONG)
    calls = []
    before = signal.signal(signal.SIGALRM, lambda *_: calls.append(1))
    signal.setitimer(signal.ITIMER_REAL, 0.001, 0.001)
    try:
        f(a, b, given, LONG)
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)
    assert calls
    assert np.array_equal(expected, given)
