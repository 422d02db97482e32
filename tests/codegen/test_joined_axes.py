"""Neighbouring axes that are stepped through as one: all of them, or some although others cannot be."""

from __future__ import annotations

import re

import numpy as np
import pytest

import ljit
from ljit import config
from tests.codegen.harness import steps

SIZES = [(3, 4, 5), (1, 4, 5), (3, 1, 5), (3, 4, 1), (1, 1, 5), (3, 1, 1), (0, 4, 5), (3, 4, 0)]
LAYOUTS = {
    "C": lambda x: x,
    "Fortran": np.asfortranarray,
    "gaps behind": lambda x: np.repeat(x, 2, axis=-1)[..., ::2],
    "gaps in front": lambda x: np.repeat(x, 2, axis=0)[::2],
    "gaps between": lambda x: np.repeat(x, 2, axis=1)[:, ::2],
}
OTHERS = {  # which axes the other operand has elements along
    "row": (0, 0, 1),
    "column": (0, 1, 0),
    "planes": (1, 0, 0),
    "plane": (0, 1, 1),
    "rows": (1, 0, 1),
    "all": (1, 1, 1),
}


@pytest.fixture(autouse=True)
def optimised():
    with config.overridden(quick_runs=0):
        yield


def numbers(shape: tuple[int, ...], layout: str) -> np.ndarray:
    return LAYOUTS[layout](np.arange(1, 1 + np.prod(shape), dtype=np.float32).reshape(shape))


def check(f, *args: np.ndarray) -> None:
    found, wanted = ljit.jit(f), f(*args)
    for _ in range(3):
        result = found(*args)
        assert (type(result), result.dtype) == (type(wanted), wanted.dtype)
        assert np.shape(result) == np.shape(wanted)
        assert steps(result) == steps(wanted)
        np.testing.assert_array_equal(result, wanted)


@pytest.mark.parametrize("other", OTHERS)
@pytest.mark.parametrize("layout", LAYOUTS)
def test_elements_of_three_axes_beside_what_is_broadcast(layout, other):
    for sizes in SIZES:
        shape = [size if has else 1 for size, has in zip(sizes, OTHERS[other], strict=True)]
        for values in (numbers(shape, "C"), numbers(shape, "Fortran")):
            check(lambda a, b: a * b, numbers(sizes, layout), values)


@pytest.mark.parametrize("axes", [None, (0, 1), (1, 2), 0, 1, 2])
@pytest.mark.parametrize("layout", LAYOUTS)
def test_sums_along_some_of_three_axes(layout, axes):
    for sizes in SIZES:
        check(lambda a: a.sum(axis=axes), numbers(sizes, layout))


@pytest.mark.parametrize("dtype", ["float32", "complex64"])
@pytest.mark.parametrize("axes", [None, (1, 2)])
@pytest.mark.parametrize("quick_runs", [0, 10**9])
def test_sums_of_many_rows_lose_as_little_as_those_of_one(quick_runs, axes, dtype):
    rows = np.full((3, 9000, 7), 4 / 3, np.float32).astype(dtype)
    rows *= dtype == "float32" or 1 - 2j
    whole = np.repeat(rows, 2, axis=-1)
    for x in (whole[..., ::2], whole[:, :, :7], whole[:, ::-1, 1::2]):
        for f in (lambda x: x, lambda x: x * x + 1):
            exact = f(x).astype(np.complex128).sum(axis=axes)
            with config.overridden(quick_runs=quick_runs, cold_calls=False):
                native = ljit.jit(lambda x: f(x).sum(axis=axes))
                for _ in range(3):
                    found = native(x)
                    assert found.dtype == x.dtype
                    assert np.all(np.abs(found - exact) < 5e-7 * np.abs(exact))  # of a row


@pytest.mark.filterwarnings("ignore")
def test_sums_of_rows_that_are_infinite_or_zero():
    x = np.full((50, 10), -0.0)[:, :7]
    check(lambda x: x.sum(), x)
    assert np.signbit(ljit.jit(lambda x: x.sum())(x)) == np.signbit(x.sum())
    for value in (np.inf, -np.inf, np.nan, 1e308):
        x[20, 3] = x[30, 4] = value
        check(lambda x: x.sum(), x)


@pytest.mark.parametrize("layout", LAYOUTS)
def test_stores_of_three_axes_that_overlap_what_is_read(layout):
    def shift(a):
        a[1:, :, :] = a[:-1, :, :] * 2
        a[:, 1:, :] = a[:, :-1, :] + 1
        return a.copy()

    a = numbers((3, 4, 5), layout)
    native = ljit.jit(shift)
    for _ in range(3):
        x, y = (numbers((3, 4, 5), layout) for _ in range(2))
        np.testing.assert_array_equal(native(x), shift(y))
        np.testing.assert_array_equal(x, y)
        assert x.strides == a.strides


@pytest.mark.parametrize("sizes", [(2, 3, 4, 5), (2, 1, 4, 1), (1, 3, 1, 5), (2, 3, 1, 1)])
def test_four_axes_of_which_pairs_are_joined(sizes):
    a = np.arange(np.prod(sizes), dtype=float).reshape(sizes)
    check(lambda a, b: a + b, a, a[:, :, :1, :1])
    check(lambda a, b: a + b, a, a[:1, :1])
    check(lambda a, b: a + b, a, a[:, :1, :, :1])
    check(lambda a: a.sum(axis=(0, 1)), a)
    check(lambda a, b: (a * b).max(axis=(2, 3)), a, a[:, :1])
    check(lambda a, b: a * b, a.T, a.T[:1])


@pytest.mark.parametrize("is_quick", [False, True])
def test_planes_that_are_one_row_need_no_loop_over_rows(is_quick):
    a = np.ones((30, 5, 6))
    with config.overridden(quick_runs=10**12 if is_quick else 0, cold_calls=0):
        f = ljit.jit(lambda a: a[::-1] + a)
        for _ in range(3):
            np.testing.assert_array_equal(f(a), a[::-1] + a)
        (plan,) = f._executor.plans.values()
        assert plan.unit.code.is_quick == is_quick
    following = re.findall(r"= add nuw nsw i64 \S+, 1\n", plan.unit.code.ir)
    assert len(following) == 2  # planes, and elements of one
