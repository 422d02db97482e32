"""sliding_window_view gives NumPy's views, flags and errors."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.lib.stride_tricks import sliding_window_view

import ljit
from tests.ops.test_numpy_manipulation import assert_same, outcome


def windows_of_vectors(a, n):
    return (
        sliding_window_view(a, n),
        sliding_window_view(a, (n,))[::2],
        sliding_window_view(a, window_shape=3, axis=-1),
        np.lib.stride_tricks.sliding_window_view(a, 2, 0, subok=True),
    )


def windows_of_matrices(a, n):
    return (
        sliding_window_view(a, (2, n)),
        sliding_window_view(a, n, axis=1),
        sliding_window_view(a, (n, 1), (1, 0)),
        sliding_window_view(a, (n, 2), axis=(1, 1)),
    )


def reductions_of_windows(a, n):
    v = sliding_window_view(a, n)
    return v.mean(axis=-1), v.max(axis=1) - v.min(axis=1), (v * np.arange(n)).sum(axis=-1)


def too_few_windows(a, n):
    return sliding_window_view(a[None], n)


VECTORS = (np.arange(12.0), np.arange(24, dtype=np.uint8)[::-2], np.arange(3) + 1j)
MATRICES = (np.arange(20.0).reshape(4, 5), np.arange(20, dtype=np.int16).reshape(5, 4).T)


@pytest.mark.parametrize("n", [1, 3, np.int64(2), 0, -1, 13, 2.0])
@pytest.mark.parametrize(
    ("function", "operands"),
    [
        (windows_of_vectors, VECTORS),
        (windows_of_matrices, MATRICES),
        (reductions_of_windows, VECTORS[:2]),
        (too_few_windows, VECTORS),
    ],
)
def test_windows_are_those_of_numpy(function, operands, n):
    compiled = ljit.jit(function)
    for operand in operands:
        wanted = outcome(lambda a: function(a, n), operand)
        for _ in range(3):
            assert_same(outcome(lambda a: compiled(a, n), operand), wanted)


def test_windows_are_native_views():
    def first_windows(a, n):
        return sliding_window_view(a, n)[:2]

    compiled, operand = ljit.jit(first_windows), np.arange(9.0)
    for _ in range(3):
        found = compiled(operand, 4)
    assert np.shares_memory(found, operand)
    assert "calls Python" not in compiled.explain()


def test_windows_that_are_written_to():
    def fill(a, n):
        v = sliding_window_view(a, n, writeable=True)
        v[1] = -1
        v[-1, 0] += 5
        return a.sum(), v

    def refused(a, n):
        v = sliding_window_view(a, n)
        v[0, 0] = 1.0

    for function in (fill, refused):
        compiled = ljit.jit(function)
        for _ in range(3):
            mine, theirs = np.arange(9.0), np.arange(9.0)
            wanted = outcome(lambda a, f=function: f(a, 3), theirs)
            assert_same(outcome(lambda a, f=compiled: f(a, 3), mine), wanted)
            assert_same(mine, theirs)
    frozen = np.arange(9.0)
    frozen.flags.writeable = False
    assert_same(
        outcome(lambda a: ljit.jit(fill)(a, 3), frozen), outcome(lambda a: fill(a, 3), frozen)
    )
