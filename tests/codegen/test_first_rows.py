"""Extrema of rows that are combined four at a time: one that is left over is what they begin with."""

from __future__ import annotations

import numpy as np
import pytest

import ljit
from ljit import config

SHAPES = (9, 20, 30), (1, 6, 40), (2, 1, 7), (3, 5, 1), (4, 3, 9), (6, 2, 3), (5, 0, 4), (1, 1, 1)


def extrema(a):
    planes = a.max(axis=0), a.min(axis=1), a.max(axis=2, keepdims=True), a.max(axis=(0, 1))
    return *planes, a[0].max(axis=0), a[:, 0].min(axis=1), np.maximum.reduce(a)


def views(a):
    turned = np.ascontiguousarray(a.transpose(2, 0, 1)).transpose(1, 2, 0)
    wide = np.repeat(a, 2, axis=2)[..., ::2]
    return a, a[::-1], a[:, ::-1], a[..., ::-1], np.asfortranarray(a), turned, wide


def result(function, a):
    try:
        return function(a)
    except (ValueError, IndexError) as error:
        return [type(error), str(error)]


@pytest.mark.parametrize("dtype", ["float64", "float32", "int64", "uint8", "bool", "float16"])
@pytest.mark.parametrize("quick_runs", [0, 10**6])
def test_extrema_of_rows_begin_with_one_of_them(dtype, quick_runs):
    f = ljit.jit(extrema)
    with config.overridden(quick_runs=quick_runs, cold_calls=0, profiled_sizes=False):
        for shape in (SHAPES[0], *SHAPES):
            a = (np.random.default_rng(3).integers(0, 50, shape) * 5 % 256).astype(dtype)
            for x in views(a):
                before = x.copy()
                for found, wanted in zip(result(f, x), result(extrema, x), strict=True):
                    np.testing.assert_array_equal(found, wanted)
                    assert getattr(found, "dtype", None) == getattr(wanted, "dtype", None)
                np.testing.assert_array_equal(x, before)


@pytest.mark.parametrize("rows", range(1, 10))
def test_what_is_no_number_is_found_in_each_row(rows):
    f = ljit.jit(lambda a: (a.max(axis=0), a.min(axis=0)))
    with config.overridden(quick_runs=0, profiled_sizes=False):
        for row in range(rows):
            for number in (np.nan, np.inf, -np.inf):
                a = np.random.default_rng(row).random((rows, 33))
                a[row, 5::9] = number
                for x in (a, a[::-1], a[:, ::-1]):
                    for found, wanted in zip(f(x), (x.max(axis=0), x.min(axis=0)), strict=True):
                        np.testing.assert_array_equal(found, wanted)


def test_what_begins_with_a_row_is_not_filled():
    f = ljit.jit(lambda a: a.max(axis=0))
    a = np.ones((5, 60))
    with config.overridden(quick_runs=0, profiled_sizes=False):
        for _ in range(2):
            f(a)
        text = f.dump_llvm()
    assert text.count("; rows.move8") == 1


def test_rows_that_are_stored_elsewhere_are_all_there():
    def step(a, o, p):
        o[...] = a
        p[...] = 7.0
        return a.max(axis=0), o.min(axis=0), p.max(axis=0)

    f = ljit.jit(step)
    with config.overridden(quick_runs=0, cold_calls=0, profiled_sizes=False):
        for shape in ((9, 6, 40), (9, 6, 40), (1, 3, 7), (5, 1, 9), (4, 2, 3)):
            a = np.random.default_rng(3).random(shape)
            outs = [np.zeros_like(a) for _ in range(4)]
            for x, y in zip(f(a, *outs[:2]), step(a, *outs[2:]), strict=True):
                np.testing.assert_array_equal(x, y)
            for x, y in zip(outs[:2], outs[2:], strict=True):
                np.testing.assert_array_equal(x, y)


def test_rows_of_which_something_is_computed_are_no_results():
    f = ljit.jit(
        lambda a, b: ((a - b).max(axis=0), a.max(axis=0), a.astype(np.float32).max(axis=0))
    )
    with config.overridden(quick_runs=0, profiled_sizes=False):
        for rows in (5, 5, 1, 4, 7):
            a, b = np.random.default_rng(rows).random((2, rows, 40))
            found = f(a, b)
            wanted = (a - b).max(axis=0), a.max(axis=0), a.astype(np.float32).max(axis=0)
            for x, y in zip(found, wanted, strict=True):
                np.testing.assert_array_equal(x, y, strict=True)
