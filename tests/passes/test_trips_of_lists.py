"""Loops over what may grow have no more trips than there is memory: what adds to their numbers has tests that hold."""

import pytest

import ljit
from ljit import config
from ljit.testing.chaos import fail_each_guard

MOST = 2**63 - 1


def weighted(xs, i):
    total = 0.0
    for j, x in enumerate(xs):
        total += x / (2 * (i + j) + 1)
    return total


def at_places(text, i):
    found = 0
    for j, c in enumerate(text):
        if c == "a":
            found = found * 3 + (i + j) % 5
    return found


def of_bytes(data, i):
    total = 0
    for j, byte in enumerate(data):
        total += byte * ((i + j) & 7)
    return total


def in_rows(rows, i):
    total = 0
    for j, row in enumerate(rows):
        for k, x in enumerate(row):
            total += x * ((i + j + k) % 3)
    return total


def while_it_grows(xs, i):
    ys = list(xs)
    for j, x in enumerate(ys):
        if x > 1.0:
            ys.append(x / 2 + (i + j) % 2)
        if j > 100:
            break
    return ys


PROGRAMS = [
    (weighted, [0.5] * 20),
    (at_places, "abracadabra"),
    (of_bytes, bytearray(b"abc" * 9)),
    (in_rows, [[1, 2, 3], [4, 5], []]),
    (while_it_grows, [0.5, 8.0, 1.5]),
]
IDS = [f.__name__ for f, _ in PROGRAMS]


@pytest.mark.parametrize(("function", "given"), PROGRAMS, ids=IDS)
def test_no_call_with_usual_numbers_leaves_native_code(function, given):
    with config.overridden(quick_runs=0):
        f = ljit.jit(function)
        for i in (0, 3, 3, 1000, 2**40):
            assert f(given, i) == function(given, i)
    (info,) = f.specializations
    assert (info.bailouts, info.compiles) == (0, 1)


@pytest.mark.parametrize(("function", "given"), PROGRAMS, ids=IDS)
def test_numbers_that_do_not_fit_are_those_of_cpython(function, given):
    with config.overridden(quick_runs=0):
        f = ljit.jit(function)
        for i in (3, 3, -7, MOST - 2**60, MOST - 12, MOST, -MOST, 2**64, 3):
            assert f(given, i) == function(given, i)
        for _ in fail_each_guard(f):
            assert f(given, 7) == function(given, 7)
