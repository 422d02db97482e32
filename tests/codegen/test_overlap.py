"""Destinations that may overlap operands: what has to wait, and what lies between other elements and need not."""

from __future__ import annotations

import ctypes
import itertools
import re

import numpy as np
import pytest

import ljit
from ljit import config
from ljit.codegen.nests import nest_overlap

VIEWS = {
    "all": lambda x: x,
    "columns": lambda x: x[:, :2],
    "other columns": lambda x: x[:, 2:],
    "one column": lambda x: x[:, 1:2],
    "columns backwards": lambda x: x[:, ::-1][:, :2],
    "even columns": lambda x: x[:, ::2],
    "odd columns": lambda x: x[:, 1::2],
    "even rows": lambda x: x[::2],
    "odd rows": lambda x: x[1::2],
    "rows backwards": lambda x: x[::-1],
    "other rows": lambda x: x[1:],
    "vector": lambda x: x[:, 0],
    "other vector": lambda x: x[:, 3],
    "vector backwards": lambda x: x[::-1, 2],
    "part of a vector": lambda x: x[2:, 0],
    "gaps": lambda x: x.reshape(-1)[::3],
    "other gaps": lambda x: x.reshape(-1)[2::3],
    "near gaps": lambda x: x.reshape(-1)[1::2],
}


def wait_of(target: np.ndarray, x: np.ndarray) -> int:
    """What `nest_overlap` says that elements of `target` wait for."""
    numbers = (*target.shape, *target.strides, *x.strides)
    text = nest_overlap._hazard_function(target.ndim)
    kinds = [ctypes.c_int64] * (4 + len(numbers)) + [ctypes.c_bool]
    kinds[4], kinds[-1] = kinds[-1], kinds[4]
    function = ctypes.CFUNCTYPE(ctypes.c_int64, *kinds)(int(re.findall(r"\d{4,}", text)[0]))
    return function(target.ctypes.data, x.ctypes.data, target.itemsize, x.itemsize, False, *numbers)


@pytest.mark.parametrize("dtypes", [("f8", "f8"), ("f4", "f8"), ("f8", "f4"), ("i1", "i2")])
def test_what_shares_memory_waits(dtypes):
    memory = np.zeros(240, "f8")
    cubes = [memory.view(dtype)[:200].reshape(-1, 4) for dtype in dtypes]
    for left, right in itertools.product(VIEWS.values(), repeat=2):
        target, x = left(cubes[0]), right(cubes[1])
        if target.ndim != x.ndim:
            continue
        sizes = tuple(map(min, target.shape, x.shape))
        target, x = (y[tuple(map(slice, sizes))] for y in (target, x))
        is_same = target.ctypes.data == x.ctypes.data and target.strides == x.strides
        if np.shares_memory(target, x) and not (is_same and target.dtype == x.dtype):
            assert wait_of(target, x)


@pytest.mark.parametrize(
    ("left", "right"),
    [
        ("columns", "other columns"),
        ("vector", "other vector"),
        ("part of a vector", "other vector"),
        ("even columns", "odd columns"),
        ("gaps", "other gaps"),
    ],
)
def test_what_lies_between_other_elements_does_not_wait(left, right):
    x = np.zeros((30, 4))
    a, b = VIEWS[left](x), VIEWS[right](x)
    sizes = tuple(map(slice, map(min, a.shape, b.shape)))
    is_apart = left != "columns"  # whose stride is one element: only rows tell
    assert (wait_of(a[sizes], b[sizes]) == 0) == is_apart
    assert (wait_of(b[sizes], a[sizes]) == 0) == is_apart


def test_columns_that_are_made_of_others():
    def step(x):
        x[:, 0] += x[:, 2] * 2
        x[:, 1] = x[:, 0]
        x[1:, 3] = x[:-1, 3] + x[1:, 1]
        x[::-1, 2] = x[:, 0]
        x[:, ::2] = x[:, 1::2] + 1

    f = ljit.jit(step)
    with config.overridden(quick_runs=0):
        for rows in (3000, 3000, 40, 2, 1):
            found, wanted = (np.arange(4.0 * rows).reshape(rows, 4) % 7 for _ in "ab")
            f(found)
            step(wanted)
            np.testing.assert_array_equal(found, wanted)


def test_short_rows_wait_some_at_a_time():
    x = np.zeros((1000, 7))
    assert wait_of(x[20:], x[:-20]) == 2  # for the block behind, of 64 rows
    assert wait_of(x[150:], x[:-150]) == 4  # ... for three blocks behind
    assert wait_of(x[300:], x[:-300]) > 5
    assert wait_of(x[:100][20:], x[:80]) > 5  # as a whole: that is but little


SHAPES = [(2000,), (400, 7), (130, 14), (700, 1), (40, 300), (5, 2, 3), (90, 3, 5), (70, 1, 9)]
STEPS = {
    "behind": lambda x: (x[1:], x[:-1]),
    "ahead": lambda x: (x[:-1], x[1:]),
    "far behind": lambda x: (x[4:], x[:-4]),
    "backwards": lambda x: (x, x[::-1]),
    "every second": lambda x: (x[: len(x) // 2], x[: len(x) // 2 * 2 : 2]),
    "along the last axis": lambda x: (x[..., : x.shape[-1] // 2], x[..., -(x.shape[-1] // 2) :]),
}


@pytest.mark.parametrize("layout", ["in line", "with gaps", "Fortran order"])
@pytest.mark.parametrize("dtype", ["f8", "i1"])
@pytest.mark.parametrize("is_quick", [False, True])
def test_rows_of_all_lengths_in_place(layout, dtype, is_quick):
    def add(out, x):
        out += x

    def flip(out, x):
        out[...] = x

    def laid_out(shape):
        numbers = np.arange(np.prod(shape)).reshape(shape) % 11
        if layout == "Fortran order":
            return np.asfortranarray(numbers.astype(dtype))
        gap = 2 * (layout == "with gaps")
        memory = np.zeros([size + gap for size in shape], dtype)
        view = memory[tuple(slice(gap // 2, gap // 2 + size) for size in shape)]
        view[...] = numbers
        return view

    with config.overridden(quick_runs=10**9 if is_quick else 0, cold_calls=0):
        for plain in (add, flip):
            native = {ndim: ljit.jit(plain) for ndim in (1, 2, 3)}
            for shape, parts in itertools.product(SHAPES, STEPS.values()):
                for _ in range(3):
                    found, wanted = laid_out(shape), laid_out(shape)
                    native[len(shape)](*parts(found))
                    plain(*parts(wanted))
                    np.testing.assert_array_equal(found, wanted)
