"""Columns, elements along an axis, and masks of arrays in any order: values, strides, bases and errors are NumPy's."""

import numpy as np
import pytest

import ljit
from tests.ops.layouts import DTYPES, LAYOUTS, filled
from tests.ops.test_numpy_index_arrays import INDEX_DTYPES, check, is_native

RNG = np.random.default_rng(11)
SHAPES = ((3, 5), (40, 6), (1, 1), (0, 4), (33, 64), (65, 3))


def columns(a, i):
    return a[:, i]


def last(a, i):
    return a[..., i]


def taken(a, i):
    return np.take(a, i, axis=1)


def taken_last(a, i):
    return a.take(i, -1)


def along_rows(a, i):
    return np.take_along_axis(a, i, axis=-1)


def along_columns(a, i):
    return np.take_along_axis(a, i, 0)


def masked(a, m):
    return a[m]


def compressed(a, m):
    return np.compress(m, a)


def extracted(a, m):
    return np.extract(m, a)


def indices(width, count, dtype="int64"):
    low = -width if dtype.startswith("int") else 0
    return RNG.integers(low, max(width, 1), count).astype(dtype)


@pytest.mark.filterwarnings(
    "ignore:Out of bound index found:DeprecationWarning"
)  # NumPy before 2.3
@pytest.mark.parametrize("function", [columns, last, taken, taken_last])
@pytest.mark.parametrize("dtype", DTYPES)
def test_columns_of_matrices_of_each_dtype(function, dtype):
    cases = [(filled(s, dtype), indices(s[1], n)) for s in SHAPES for n in (1, 4, 40)]
    cases += [(filled((3, 5), dtype), indices(5, 0)), (filled((3, 5), dtype), np.array([0, 5]))]
    cases += [(filled((0, 5), dtype), np.array([0, 5, -6]))]
    assert is_native(check(function, cases))


@pytest.mark.parametrize("dtype", ["int8", "float16", "float32", "complex64", "complex128"])
def test_columns_are_moved_in_blocks_of_rows(dtype):
    for rows in (1, 7, 8, 9, 17, 511, 512, 513, 1100):
        a = filled((rows, 6), dtype)
        cases = [
            (x, indices(6, n))
            for x in (a, a[::-1, ::-1], np.asfortranarray(a))
            for n in (1, 15, 16, 17)
        ]
        check(columns, cases)


@pytest.mark.parametrize("function", [columns, last, taken, taken_last])
@pytest.mark.parametrize("dtype", INDEX_DTYPES)
def test_columns_at_indices_of_each_dtype(function, dtype):
    check(function, [(filled((4, 7), "float64"), indices(7, n, dtype)) for n in (3, 30)])


@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("function", [columns, taken, masked, along_rows, along_columns])
def test_columns_and_masks_of_matrices_in_each_layout(function, layout):
    a = filled((4, 6), "float64")
    if function is masked:
        given = [a > 0, np.asfortranarray(a > 0), (a > 0)[::-1]]
    elif function in (columns, taken):
        given = [indices(6, 5), indices(6, 10)[::2]]
    else:
        shape = (4, 3) if function is along_rows else (3, 6)
        given = [RNG.integers(-4, 4, shape), np.asfortranarray(RNG.integers(-4, 4, shape))]
    for x in given:
        check(function, [(layout(a), x)] * 2)


@pytest.mark.parametrize("function", [columns, last, taken, taken_last])
def test_arrays_of_three_axes(function):
    for shape in ((3, 4, 5), (2, 40, 3)):
        check(function, [(filled(shape, "int32"), indices(3, n)) for n in (2, 20)])
        check(function, [(filled(shape, "float64"), indices(3, (2, n))) for n in (2, 3)])
        check(function, [(filled(shape, "float64").transpose(1, 2, 0), indices(2, 4))])


@pytest.mark.parametrize("function", [columns, last])
def test_columns_where_a_mask_holds(function):
    for width in (6, 40):
        marks = [RNG.random(width) < share for share in (0, 0.3, 1)]
        cases = [(filled((7, width), "float64"), m) for m in (*marks, marks[1][1:])]
        check(function, cases)


@pytest.mark.parametrize("function", [along_rows, along_columns])
def test_elements_along_an_axis(function):
    for shape in ((3, 5), (40, 33), (7,), (2, 3, 4), (0, 3)):
        a = filled(shape, "float64")
        axis = -1 if function is along_rows else 0
        lengths = (shape[axis], 2, 0)
        cases = []
        for n in lengths:
            own = list(shape)
            own[axis] = n
            cases.append((a, RNG.integers(-shape[axis], max(shape[axis], 1), own)))
        cases.append((a, np.full(shape, 60)))
        cases.append((a, np.zeros((1,) * len(shape), np.int64)))
        check(function, cases)


@pytest.mark.parametrize("function", [compressed, extracted])
def test_elements_that_a_condition_names(function):
    a = filled((40,), "float64")
    for m in (a > 0, (a > 0)[:30], np.ones(50, bool), np.zeros(40, bool), (a > 0).astype(int)):
        check(function, [(a, m), (a[::-1], m), (a.reshape(5, 8), m)])


def in_other_work(a, i, j):
    b = a[:, i] * 2 + a[:, j]
    return np.concatenate((b.sum(axis=0), b.T.ravel(), (np.take(a, i, 1) @ b.T).ravel()))


def test_columns_within_other_work():
    a = np.arange(60.0).reshape(6, 10)
    check(in_other_work, [(a, indices(10, 4), indices(10, 4)) for _ in range(3)])


def test_bytes_of_bools_are_moved_as_they_are():
    compiled, j = ljit.jit(lambda a, j: a[:, j]), np.array([2, 0, 1])
    a = np.arange(12, dtype=np.uint8).reshape(4, 3).view(bool)
    for x in (a, a, np.asfortranarray(a)):
        found, wanted = compiled(x, j), x[:, j]
        assert found.dtype == bool
        assert found.view(np.uint8).tolist() == wanted.view(np.uint8).tolist()
