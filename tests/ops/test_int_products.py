"""Products of matrices of ints, which are ljit's own, are NumPy's to the last bit: for all sizes of a tile, and layouts."""

from __future__ import annotations

import itertools

import numpy as np
import pytest

import ljit
from ljit import config
from tests.ops.layouts import repeated, reversed_, strided

DTYPES = (*"bBhHiIlL", "?")
# less than a tile, a tile and one more of it, more rows than are put side by side, none
SHAPES = ((1, 1, 1), (4, 7, 1), (1, 9, 16), (5, 3, 17), (9, 128, 33), (6, 129, 130), (3, 300, 5))
EMPTY = ((0, 3, 4), (5, 0, 7), (3, 4, 0), (40, 0, 40))
SMALL = ((1, 1, 1), (2, 2, 2), (3, 3, 3), (2, 5, 4), (1, 30, 7), (30, 4, 1), (2, 0, 3))


def product(a, b):
    return a @ b


def by_einsum(a, b):
    return np.einsum("ij,jk->ik", a, b)


def any_ints(shape, dtype: str) -> np.ndarray:
    return (
        np.random.default_rng(sum(shape))
        .integers(0, 256, (*shape, 8), np.uint8)
        .view(dtype)[..., 0]
    )


def assert_products(compiled, a, b, function=product) -> None:
    wanted = function(a, b)
    for _ in range(3):
        found = compiled(a, b)
        assert (type(found), found.dtype, found.shape) == (type(wanted), wanted.dtype, wanted.shape)
        np.testing.assert_array_equal(found, wanted)
        assert found.flags.c_contiguous


def layouts(a: np.ndarray) -> list[np.ndarray]:
    return [a.copy(), np.asfortranarray(a), strided(a), strided(a.T).T, reversed_(a), repeated(a)]


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("function", [product, by_einsum])
def test_products_of_two_matrices_are_those_of_numpy(dtype: str, function) -> None:
    compiled = ljit.jit(function)
    for rows, depth, columns in (*SHAPES, *EMPTY):
        a, b = any_ints((rows, depth), dtype), any_ints((depth, columns), dtype)
        assert_products(compiled, a.copy(), b.copy(), function)
    if dtype != "?":
        assert any(s.state == "native" for s in compiled.specializations)


@pytest.mark.parametrize("dtype", ["b", "l"])
def test_two_matrices_in_any_layout(dtype: str) -> None:
    compiled = ljit.jit(product)
    for rows, depth, columns in (SHAPES[3], SHAPES[5], EMPTY[1]):
        for a in layouts(any_ints((rows, depth), dtype)):
            for b in layouts(any_ints((depth, columns), dtype)):
                assert_products(compiled, a, b)


@pytest.mark.parametrize("dtype", DTYPES)
def test_a_matrix_and_a_vector(dtype: str) -> None:
    compiled = ljit.jit(product)
    for rows, depth, _ in (*SHAPES, *EMPTY):
        vectors = [
            x
            for n in (rows, depth)
            for x in (any_ints((n,), dtype), any_ints((2 * n,), dtype)[::-2])
        ]
        for a in layouts(any_ints((rows, depth), dtype)):
            for x in vectors:
                if len(x) == depth:
                    assert_products(compiled, a, x)
                if len(x) == rows:
                    assert_products(compiled, x, a)


def test_products_of_stacks_of_matrices_are_those_of_numpy() -> None:
    compiled = ljit.jit(product)
    a, b = any_ints((2, 3, 5, 6), "i"), any_ints((3, 6, 4), "i")
    for x, y in ((a, b), (a, b[0]), (a[0, 0], b), (a[0], b[:1]), (a, any_ints((6,), "i"))):
        assert_products(compiled, x, y)


@pytest.mark.parametrize("dtype", DTYPES)
def test_stacks_of_small_matrices(dtype: str) -> None:
    """Their numbers are multiplied one by one."""
    compiled = ljit.jit(product)
    for rows, depth, columns in SMALL:
        left, right = any_ints((9, rows, depth), dtype), any_ints((9, depth, columns), dtype)
        for a in (left, left[::-2], left[:, ::-1], left.swapaxes(1, 2).copy().swapaxes(1, 2)):
            for b in (right[: len(a)], right[: len(a), :, ::-1], right[:1]):
                assert_products(compiled, a, b)


@pytest.mark.parametrize(
    "shapes", [((3, 4), (5, 2)), ((3, 4), (1, 2)), ((3, 1), (4,)), ((4,), (1, 3))]
)
def test_sizes_that_do_not_fit(shapes) -> None:
    compiled = ljit.jit(product)
    first, second = (np.ones(shape, int) for shape in shapes)
    fitting = (first, np.ones((first.shape[-1], *second.shape[1:]), int))
    for _ in range(3):
        compiled(*fitting)
    for _ in range(2):
        with pytest.raises(ValueError, match="mismatch in its core dimension") as found:
            compiled(first, second)
        with pytest.raises(ValueError, match="mismatch in its core dimension") as wanted:
            product(first, second)
        assert str(found.value) == str(wanted.value)


def of_vectors(a, b):
    return a @ b, np.dot(a, b), np.inner(a, b), np.vdot(a, b)


@pytest.mark.parametrize("dtype", "bBhHiIlL?fdFD")
def test_products_of_vectors_in_any_layout_and_size(dtype: str) -> None:
    compiled = ljit.jit(of_vectors)
    with config.overridden(cold_calls=0, profiled_sizes=False):
        for count in (5, 40, 1, 0, 300):
            vector = any_ints((count,), dtype if dtype in "bBhHiIlL?" else "b").astype(dtype)
            for a, b in itertools.product(layouts(vector), repeat=2):
                for found, wanted in zip(compiled(a, b), of_vectors(a, b), strict=True):
                    assert type(found) is type(wanted)
                    rtol = 1e-5 if dtype in "fF" else 1e-14 if dtype in "dD" else 0
                    np.testing.assert_allclose(found, wanted, rtol=rtol)


def test_vectors_whose_sizes_do_not_fit() -> None:
    compiled = ljit.jit(lambda a, b: a @ b)
    with config.overridden(cold_calls=0, profiled_sizes=False):
        for count in (3, 3, 3, 1, 4, 1):
            if count == 3:
                assert compiled(np.arange(3), np.arange(count)) == 5
            else:
                with pytest.raises(ValueError, match="mismatch"):
                    compiled(np.arange(3), np.arange(count))


def test_products_of_vectors_of_ints_are_sums_of_products() -> None:
    compiled = ljit.jit(lambda a, b: np.vdot(a * 2, b))
    with config.overridden(cold_calls=0, profiled_sizes=False):
        a = np.arange(300)
        assert compiled(a, a) == compiled(a, a) == 2 * a @ a
        text = str(compiled.graph_for(a, a))
    assert text.count("prim::Map") == 1
    assert "np::dot" not in text
