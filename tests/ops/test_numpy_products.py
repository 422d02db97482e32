"""Products of matrices in any layout with vectors and matrices give what NumPy gives, to the last bits of sums."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import pytest

import ljit
from tests.ops.layouts import repeated, reversed_, strided

TOLERANCES = {"float32": 1e-6, "complex64": 1e-6}
SHAPES = ((40, 57), (33, 16), (1, 5), (5, 1), (0, 4), (4, 0))


def product(a, b):
    return np.dot(a, b)


def product_by_method(a, b):
    return a.dot(b)


def matrices(shape: tuple[int, int], dtype: str) -> Iterator[np.ndarray]:
    low, high = (1, 90) if dtype == "int32" else (1, 2)
    a = np.random.default_rng(1).uniform(low, high, shape).astype(dtype)
    views = (strided(a), strided(a.T).T, strided(a)[:, ::-1], reversed_(a), a[::-1], repeated(a))
    yield from (a, np.asfortranarray(a), *views)


@pytest.mark.parametrize("function", [product, product_by_method])
@pytest.mark.parametrize("dtype", ["float32", "float64", "complex64", "complex128", "int32"])
def test_a_matrix_with_gaps_and_a_vector(function, dtype: str) -> None:
    compiled = ljit.jit(function)
    for shape in SHAPES:
        for a in matrices(shape, dtype):
            before = a.copy()
            row, column = (strided(np.linspace(1, 9, n).astype(dtype)) for n in shape)
            for x, y in ((a, column), (row, a), (a, column.copy()), (row[::-1], a)) * 2:
                found, wanted = compiled(x, y), function(x, y)
                assert (found.dtype, found.shape) == (wanted.dtype, wanted.shape)
                np.testing.assert_allclose(found, wanted, TOLERANCES.get(dtype, 1e-14))
            assert a.tobytes() == before.tobytes()
    assert any(s.state == "native" for s in compiled.specializations)


def inner(a, b):
    return np.inner(a, b)


def product_with_rows(a, b):
    return np.dot(a, b.T)


@pytest.mark.parametrize("function", [inner, product_with_rows])
@pytest.mark.parametrize("dtype", ["float32", "float64", "complex128", "int32"])
def test_two_matrices_with_gaps(function, dtype: str) -> None:
    compiled = ljit.jit(function)
    for (height, width), count in zip(SHAPES, (3, 7, 1, 0, 3, 2), strict=True):
        for a, b in zip(
            matrices((height, width), dtype), matrices((count, width), dtype), strict=True
        ):
            befores = a.copy(), b.copy()
            for x, y in ((a, b), (b, a), (a, b.copy()), (a, a), (a.copy(), b)):
                found, wanted = compiled(x, y), function(x, y)
                assert (found.dtype, found.shape) == (wanted.dtype, wanted.shape)
                np.testing.assert_allclose(found, wanted, TOLERANCES.get(dtype, 1e-14))
            for x, before in zip((a, b), befores, strict=True):
                assert x.tobytes() == before.tobytes()
    assert any(s.state == "native" for s in compiled.specializations)


def test_sizes_that_do_not_fit_raise() -> None:
    compiled = ljit.jit(product)
    a = strided(np.ones((4, 6)))
    for _ in range(3):
        assert compiled(a, np.ones(6)).tolist() == [6.0] * 4
        with pytest.raises(ValueError, match="not aligned"):
            compiled(a, np.ones(5))


def centred_times(a, m, v):
    centred = a - m
    return centred @ v, centred


def scaled_rows_times(a, m, v):
    return np.dot(np.abs(a) / (m + 3.0), v)


def roots_times(a, m, v):
    return (np.sqrt(a) * m - a) @ v


def columns_times(a, m, v):
    s = (a * v).sum(axis=1)
    return s @ (a * m), (a - m).T @ s, v @ (a - v).T


def power_iteration(a, m, v):
    centred = a - a.sum(axis=0) / max(len(a), 1)
    return centred.T @ (centred @ v)


def combined_columns(a, m, v):
    centred = a - m
    s = (centred * v).sum(axis=1)
    return (centred * s[:, None]).sum(axis=0), (centred - s[:, None] / 7.0).max(axis=0, initial=0)


@pytest.mark.parametrize(
    "function",
    [
        centred_times,
        scaled_rows_times,
        roots_times,
        columns_times,
        power_iteration,
        combined_columns,
    ],
)
@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_a_computed_matrix_and_a_vector(function, dtype: str) -> None:
    compiled = ljit.jit(function)
    for shape in (*SHAPES, (3, 2000)):
        m, v = (np.linspace(k, k + 1, shape[1]).astype(dtype) for k in (-2, 1))
        for a in matrices(shape, dtype):
            if a.size and a.flags.writeable:
                a[-1, -1] = np.nan
            for x, y in ((a, v), (a, strided(v)), (a, v[::-1])):
                results = compiled(x, m, y), function(x, m, y)
                for found, wanted in zip(*results, strict=True):
                    assert (found.dtype, found.shape) == (wanted.dtype, wanted.shape)
                    np.testing.assert_allclose(found, wanted, 10 * TOLERANCES.get(dtype, 1e-14))
    assert any(s.state == "native" for s in compiled.specializations)


def test_a_computed_matrix_and_a_vector_that_does_not_fit() -> None:
    compiled = ljit.jit(centred_times)
    a, m = np.ones((6, 5)), np.ones(5)
    for _ in range(3):
        compiled(a, m, m)
    for v in (np.ones(1), np.ones(6), np.ones(0)):
        with pytest.raises(ValueError, match="matmul: Input operand 1 has a mismatch") as wanted:
            centred_times(a, m, v)
        with pytest.raises(ValueError, match="matmul: Input operand 1 has a mismatch") as found:
            compiled(a, m, v)
        assert str(found.value) == str(wanted.value)


def vector_times_computed(a, v):
    return v @ (a * 2.0), (a + 1.0).T @ v


def test_a_vector_and_a_computed_matrix_that_does_not_fit() -> None:
    compiled = ljit.jit(vector_times_computed)
    for _ in range(3):
        compiled(np.ones((6, 5)), np.ones(6))
    for shape, count in (((6, 5), 1), ((6, 5), 5), ((1, 5), 6), ((0, 5), 1)):
        with pytest.raises(ValueError, match="mismatch in its core dimension") as wanted:
            vector_times_computed(np.ones(shape), np.ones(count))
        with pytest.raises(ValueError, match="mismatch in its core dimension") as found:
            compiled(np.ones(shape), np.ones(count))
        assert str(found.value) == str(wanted.value)


def broadcast_columns(a, b):
    m = (a + b).sum(axis=0)
    kept = (a + b).sum(axis=1, keepdims=True)
    return (a - m).sum(axis=1), a * m, (m * kept, m + m, kept + b)


def test_sums_of_columns_are_not_as_large_as_what_is_smaller() -> None:
    """What is known of sizes: a sum of columns broadcasts with the array that it was made of, not with its parts."""
    compiled = ljit.jit(broadcast_columns)
    for shapes in (
        ((6, 5), (6, 5)),
        ((6, 5), (5,)),
        ((6, 1), (5,)),
        ((1, 5), (6, 1)),
        ((1, 1), (1,)),
    ):
        a, b = (np.arange(np.prod(shape), dtype=float).reshape(shape) for shape in shapes)
        for _ in range(3):
            *found, more = compiled(a, b)
            *wanted, others = broadcast_columns(a, b)
            for x, y in zip((*found, *more), (*wanted, *others), strict=True):
                assert (x.dtype, x.shape, x.tolist()) == (y.dtype, y.shape, y.tolist())


KINDS = "?hLefdD"
MIXED = [(x, y) for x in KINDS for y in KINDS if x != y]


def product_of_two(a, b):
    return a @ b


@pytest.mark.parametrize("function", [product, product_of_two])
def test_operands_of_two_dtypes(function) -> None:
    rng = np.random.default_rng(9)
    for left, right in MIXED:
        compiled = ljit.jit(function)
        for first, second in (((5, 20), (20, 7)), ((5, 20), (20,))):
            x, y = (rng.integers(0, 4, s).astype(t) for s, t in ((first, left), (second, right)))
            for _ in range(3):
                found, wanted = compiled(x, y), function(x, y)
                assert (found.dtype, found.shape) == (wanted.dtype, wanted.shape)
                np.testing.assert_array_equal(found, wanted, f"{left} {right}")


def test_operands_of_two_dtypes_are_native_and_stay_as_they_are() -> None:
    compiled = ljit.jit(product_of_two)
    a, b = np.arange(600).reshape(20, 30) % 7 == 0, np.linspace(0, 1, 330).reshape(30, 11)
    for _ in range(4):
        np.testing.assert_allclose(compiled(a, b), a @ b, 1e-14)
    assert "np::astype" in str(compiled.graph_for(a, b))
    assert a.dtype == np.bool
    np.testing.assert_allclose(compiled(a[:0], b), np.zeros((0, 11)))
    np.testing.assert_allclose(compiled(a, np.asfortranarray(b)), a @ b, 1e-14)
    stack = np.ones((2, 3, 4, 5), np.float32)
    for _ in range(4):
        assert compiled(stack, np.ones((5, 6))).dtype == np.float64
        with pytest.raises(ValueError, match="mismatch"):
            compiled(a, b[1:])
