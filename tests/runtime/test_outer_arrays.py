"""Arrays that global and closure variables name are checked in front of loops: what changes about them is seen."""

from __future__ import annotations

import numpy as np
import pytest

import ljit
from ljit import config
from tests.programs.harness import Args, compare
from tests.runtime.outcomes import assert_same_calls

#: that an array gets another shape or dtype in place, of which NumPy 2.5 warns
NEW_SHAPES = pytest.mark.filterwarnings("ignore:Setting the .* on a NumPy array:DeprecationWarning")
TABLE = np.arange(6.0)


def look_up(xs, n, asks):
    total = xs[0]
    for i in range(n):
        if asks:
            total = total + xs[i] * TABLE[i]
        else:
            total = total - xs[i]
    return total


def compiles(function):
    return sum(info.compiles for info in function.specializations)


def guards_in_loops(graph):
    text = str(graph)
    return text.count("prim::guard", text.index("prim::Loop"))


def test_the_check_stands_in_front_of_the_loops():
    f, xs = ljit.jit(look_up), np.ones(6)
    for _ in range(3):
        assert compare(look_up(xs, 6, True), f(xs, 6, True)) is None
    graph = f.graph_for(xs, 6, True)
    assert str(graph).count("in_front=True") == 1
    assert guards_in_loops(graph) == 0


def same_calls(f, *asked):
    assert_same_calls(look_up, f, lambda: (Args((np.ones(6), 6, asks)) for asks in asked))


@NEW_SHAPES
def test_an_array_that_changes_is_seen_by_loops_that_read_it_and_does_not_matter_to_others():
    global TABLE
    before = TABLE
    with config.overridden(quick_runs=0):
        f = ljit.jit(look_up)
        try:
            for table in (before, np.arange(12.0)):
                TABLE = table
                same_calls(f, True, False, True, True)
                for shape in ((2, -1), (-1,), (-1, 1)):
                    TABLE.shape = shape
                    same_calls(f, False, True, False, True, False, True)
                TABLE.shape = (-1,)
                for dtype in (np.int64, np.float32, np.float64):
                    TABLE.dtype = dtype
                    same_calls(f, False, True, False, True)
        finally:
            TABLE = before
        seen = compiles(f)
        same_calls(f, *(False, True) * 10)
        assert compiles(f) <= seen + 1
        seen = compiles(f)
        same_calls(f, *(False, True) * 10)
        assert compiles(f) == seen


@NEW_SHAPES
def test_a_check_that_fails_in_front_of_loops_that_do_not_need_it_is_put_back():
    table = np.arange(6.0)

    def scan(xs, asks):
        total = xs[0]
        for i in range(len(xs)):
            if asks:
                total += table[i]
            total += xs[i]
        return total

    xs = np.ones(6)
    with config.overridden(quick_runs=0):
        f = ljit.jit(scan)
        for asks in (True, False, True):
            assert f(xs, asks) == scan(xs, asks)
        assert guards_in_loops(f.graph_for(xs, True)) == 0
        table.shape = (2, 3)
        for _ in range(3):
            assert f(xs, False) == 7.0
        assert guards_in_loops(f.graph_for(xs, False)) == 1
        (info,) = f.specializations
        calls = info.calls
        assert f(xs, False) == 7.0
        (info,) = f.specializations
        assert info.calls == calls + 1
        table.shape = (6,)
        assert f(xs, True) == scan(xs, True)


def test_a_loop_that_changes_the_array_looks_at_it_in_each_trip():
    table = np.arange(4.0)

    def grow(n):
        total = 0.0
        for k in range(n):
            total += table[-1] + len(table)
            table.resize(len(table) + 1, refcheck=False)
            table[-1] = k
        return total

    f = ljit.jit(grow)
    for _ in range(5):
        table.resize(4, refcheck=False)
        table[:] = 2.0
        expected = grow(6)
        table.resize(4, refcheck=False)
        table[:] = 2.0
        assert compare(expected, f(6)) is None


SQUARE = np.zeros((9, 9))


def spread(xs, n):
    for j in range(n):
        for i in range(n):
            xs[i + 1, j + 1] = SQUARE[i, j] + xs[j, i] * 0.5


def test_the_array_may_be_an_argument_as_well():
    f = ljit.jit(spread)
    for shift in (0, 0, 0, 1, 0, 1):
        results = []
        for function in (spread, f):
            SQUARE[...] = np.arange(81.0).reshape(9, 9)
            function(SQUARE[shift:, shift:], 7)
            results.append(SQUARE.copy())
        assert compare(*results) is None


def test_the_array_may_be_written_to_by_its_name():
    def sums(n):
        for k in range(n):
            for i in range(8):
                SQUARE[i + 1, k] += SQUARE[i, k] * 0.25
        return SQUARE.sum()

    f = ljit.jit(sums)
    for _ in range(5):
        results = []
        for function in (sums, f):
            SQUARE[...] = np.arange(81.0).reshape(9, 9)
            results.append((function(8), SQUARE.copy()))
        assert compare(*results) is None
