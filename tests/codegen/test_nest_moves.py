"""Elements that are moved as they are: between all kinds of rows, of all sizes of elements."""

from __future__ import annotations

import itertools

import numpy as np
import pytest

import ljit
from ljit import config
from ljit.codegen.llvm.instructions import callee_of
from ljit.codegen.llvm.shared_code import PACKING, is_shared

DTYPES = ["uint8", "int16", "float32", "float64", "complex128"]
SHAPES = [(1, 1), (1, 9), (9, 1), (3, 5), (2, 50), (50, 2), (16, 16), (17, 33), (70, 65), (7, 100)]
STEPS = [1, -1, 2, -2, 3]


def rows(shape: tuple[int, int], steps: tuple[int, int], dtype: str, *, turned: bool) -> np.ndarray:
    """A matrix with such steps, in elements, of an array or of one that lies the other way around."""
    sizes = [n * abs(step) for n, step in zip(shape, steps, strict=True)]
    whole = np.arange(1, 1 + sizes[0] * sizes[1]).astype(dtype)
    whole = whole.reshape(sizes[::-1]).T if turned else whole.reshape(sizes)
    return whole[tuple(slice(None, None, step) for step in steps)]


@pytest.mark.parametrize("dtype", DTYPES)
def test_rows_are_moved_from_anywhere_to_anywhere(dtype):
    @ljit.jit
    def store(a, b):
        a[...] = b

    with config.overridden(quick_runs=0):
        for shape in (SHAPES[-1], *SHAPES):
            layouts = itertools.product(itertools.product(STEPS, STEPS), (False, True))
            sources = [rows(shape, steps, dtype, turned=turned) for steps, turned in layouts]
            for i, source in enumerate(sources):
                steps, turned = (STEPS[i % 3], STEPS[i // 3 % 3]), i % 2 == 0
                found, wanted = (rows(shape, steps, dtype, turned=turned) for _ in range(2))
                whole, expected = (x if x.base is None else x.base for x in (found, wanted))
                whole[...] = expected[...] = 0  # what is around the elements is seen, too
                store(found, source)
                wanted[...] = source
                np.testing.assert_array_equal(whole, expected)


@pytest.mark.parametrize("dtype", DTYPES)
def test_copies_of_rows_that_lie_the_other_way_around(dtype):
    f = ljit.jit(lambda a: a.copy())
    with config.overridden(quick_runs=0):
        for shape, steps in itertools.product(SHAPES, itertools.product(STEPS, STEPS)):
            a = rows(shape, steps, dtype, turned=True)
            found, wanted = f(a), a.copy()
            assert (found.dtype, found.strides) == (wanted.dtype, wanted.strides)
            np.testing.assert_array_equal(found, wanted)


@pytest.mark.parametrize("n", [5, 40, 130])
def test_rows_that_are_also_read_are_moved_by_way_of_others(n):
    functions = [
        lambda x: x.__setitem__(..., x.T),
        lambda x: x.__setitem__(..., x[::-1, ::-1]),
        lambda x: x[1:].__setitem__(..., x[:-1, ::-1]),
        lambda x: x[:, ::2].__setitem__(..., x[:, 1::2]),
    ]
    with config.overridden(quick_runs=0):
        for function in functions:
            f = ljit.jit(function)
            for order in ("C", "F", "C"):
                found, wanted = (
                    np.arange(4.0 * n * n).reshape((2 * n, 2 * n), order=order) for _ in range(2)
                )
                f(found)
                function(wanted)
                np.testing.assert_array_equal(found, wanted)


def test_more_axes_are_moved_two_at_a_time():
    @ljit.jit
    def store(a, b):
        a[...] = b

    b = np.arange(7 * 20 * 30).reshape(7, 20, 30)
    with config.overridden(quick_runs=0):
        for axes in itertools.permutations(range(3)):
            source = b.transpose(axes)[:, ::-1]
            found = np.zeros(source.shape, int)
            store(found, source)
            np.testing.assert_array_equal(found, source)


@pytest.mark.parametrize("dtype", DTYPES)
def test_small_planes_are_moved_together(dtype):
    f = ljit.jit(lambda a: a.copy())
    with config.overridden(quick_runs=0):
        for shape in ((300, 3, 3), (260, 4, 8), (5, 11, 3), (2, 3, 1), (1, 1, 7), (0, 2, 2)):
            b = np.arange(np.prod(shape) * 4).astype(dtype)
            for axes in itertools.permutations(range(3)):
                sizes = [2 * shape[i] if i else shape[i] for i in range(3)]
                whole = b.reshape([sizes[i] for i in axes]).transpose(np.argsort(axes))
                for steps in ((1, 2, 2), (-1, 2, -2), (1, -2, 2)):
                    source = whole[tuple(slice(None, None, step) for step in steps)]
                    found, wanted = f(source), source.copy()
                    assert (found.dtype, found.strides) == (wanted.dtype, wanted.strides)
                    np.testing.assert_array_equal(found, wanted)


def test_single_columns_and_parts_of_short_rows_are_moved():
    functions = [
        lambda a, k: a[:, k : k + 1].copy(),
        lambda a, k: a[:, k:].copy(),
        lambda a, k: a[1:, ::-1][:, k : k + 2].copy(),
    ]
    with config.overridden(quick_runs=0):
        for function, width, dtype in itertools.product(functions, (1, 3, 9), DTYPES):
            f = ljit.jit(function)
            for n in (1030, 1030, 5, 1, 2100):
                a = np.arange(n * width).astype(dtype).reshape(n, width)
                for k in (0, 1):
                    found, wanted = f(a, k), function(a, k)
                    assert (found.dtype, found.shape) == (wanted.dtype, wanted.shape)
                    np.testing.assert_array_equal(found, wanted)


def test_a_copy_is_one_call_for_some_rows():
    f = ljit.jit(lambda a: a.T.copy())
    a = np.arange(6000.0).reshape(60, 100)
    with config.overridden(quick_runs=0):
        for _ in range(2):
            f(a)
    lines = f.dump_llvm(optimized=False).splitlines()
    assert sum(is_shared(f"{PACKING}move", callee_of(line) or "") for line in lines) == 1


@pytest.mark.parametrize("dtype", DTYPES)
def test_planes_of_short_rows_that_are_read_side_by_side(dtype):
    f = ljit.jit(lambda a: a.T.copy())

    @ljit.jit
    def store(a, b):
        a[...] = b.T

    with config.overridden(quick_runs=0):
        for shape in (
            (3, 70, 100),
            (3, 70, 100),
            (2, 64, 128),
            (7, 5, 9),
            (1, 3, 8),
            (8, 70, 11),
            (8, 64, 19),
            (16, 128, 9),
            (3, 0, 9),
        ):
            for step in (1, 2, -1):
                a = np.arange(np.prod(shape)).astype(dtype).reshape(shape)[:, ::step]
                found, wanted = f(a), a.T.copy()
                assert (found.dtype, found.strides) == (wanted.dtype, wanted.strides)
                np.testing.assert_array_equal(found, wanted)
                found = np.zeros((*wanted.shape[:-1], 2 * shape[0]), dtype)
                store(found[..., ::2], a)
                np.testing.assert_array_equal(found[..., ::2], wanted)
                assert not found[..., 1::2].any()


@pytest.mark.parametrize("width", [256, 512, 1024, 1040])
@pytest.mark.parametrize("dtype", DTYPES)
def test_tiles_of_rows_that_take_each_others_place_in_the_cache(dtype, width):
    f = ljit.jit(lambda a: a.T.copy())
    with config.overridden(quick_runs=0):
        for height in (70, 70, 8, 19, 129):
            a = np.arange(height * width).astype(dtype).reshape(width, height)
            np.testing.assert_array_equal(f(a), a.T)


def test_planes_are_moved_in_one_of_two_ways():
    f = ljit.jit(lambda a: a.T.copy())
    a = np.arange(6000.0).reshape(3, 20, 100)
    with config.overridden(quick_runs=0):
        for _ in range(2):
            f(a)
    lines = f.dump_llvm(optimized=False).splitlines()
    assert sum(is_shared(f"{PACKING}move", callee_of(line) or "") for line in lines) == 2
