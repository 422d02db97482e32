"""Scans and what is computed of them, block by block: what NumPy gives, for sizes around those of blocks."""

from __future__ import annotations

import numpy as np
import pytest

import ljit
from ljit.ops.ufuncs import ufuncs
from ljit.passes.fusion.block_loops import BLOCK

SIZES = [1, 2, 7, BLOCK - 1, BLOCK, BLOCK + 1, 3 * BLOCK, 2 * BLOCK + 9]


def weighted_mean(x, y):
    return np.cumsum(x * y) / np.cumsum(y)


def fall(x, y):
    top = np.maximum.accumulate(x)
    below = top - x
    return top, below, below.max(), (np.minimum.accumulate(y) <= 1).sum()


def grown(x, y):
    growth = np.cumprod(1 + x * 1e-5)
    return (growth * 100)[::-1], (y > growth).any(), growth.min()


def of_sums(x, y):
    sums = np.cumsum(x)
    return sums + y, (sums * sums).sum(), np.sqrt(sums), np.cumsum(sums % 7)


def assert_same(found, wanted, *, rtol):
    assert type(found) is type(wanted)
    if isinstance(wanted, tuple):
        for one, other in zip(found, wanted, strict=True):
            assert_same(one, other, rtol=rtol)
        return
    assert found.dtype == wanted.dtype
    assert np.shape(found) == np.shape(wanted)
    assert getattr(found, "strides", None) == getattr(wanted, "strides", None)
    np.testing.assert_allclose(found, wanted, rtol=rtol)


def has_blocks(function, *args) -> bool:
    return "np::scan" in str(function.graph_for(*args))


@pytest.mark.parametrize("dtype", ["float64", "float32", "int64", "int32"])
@pytest.mark.parametrize("function", [weighted_mean, fall, grown, of_sums])
def test_sizes_around_those_of_blocks(function, dtype):
    """Sums of floats are added in another order than NumPy's; all else is exact."""
    compiled = ljit.jit(function)
    for size in SIZES:
        x, y = np.random.default_rng(size).integers(1, 90, (2, size)).astype(dtype)
        rtol = {"float32": 1e-5, "float64": 1e-14}.get(dtype, 0)
        for _ in range(3):
            assert_same(compiled(x, y), function(x, y), rtol=rtol)
    assert has_blocks(compiled, x, y)


def test_products_have_the_bits_of_numpy():
    def grown_by(x):
        return np.cumprod(x) * 2.0

    compiled = ljit.jit(grown_by)
    x = np.random.default_rng(0).uniform(0.9, 1.11, 2 * BLOCK + 100)
    for _ in range(3):
        assert compiled(x).tobytes() == grown_by(x).tobytes()
    assert has_blocks(compiled, x)


def test_zeros_keep_their_sign_and_numbers_that_are_none_go_on():
    def negated(x):
        return -np.cumsum(x), -np.maximum.accumulate(x)

    compiled = ljit.jit(negated)
    x = np.full(2 * BLOCK + 5, -0.0)
    y = np.arange(2.0 * BLOCK)
    y[BLOCK - 3] = np.nan
    for case in (x, y):
        for _ in range(3):
            for found, wanted in zip(compiled(case), negated(case), strict=True):
                assert found.tobytes() == wanted.tobytes()
    assert has_blocks(compiled, x)


@pytest.mark.parametrize("columns", [1, 3, 400, BLOCK + 1])
@pytest.mark.parametrize("rows", [1, 6, 700])
def test_scans_of_rows(rows, columns):
    def paths(z, start):
        moved = np.cumsum(z * 2.0, axis=1)
        return start[:, None] * np.exp(moved * 0.01), moved.max(axis=1)

    compiled = ljit.jit(paths)
    z = np.random.default_rng(1).normal(size=(rows, columns))
    start = np.arange(1.0, rows + 1)
    for _ in range(3):
        assert_same(compiled(z, start), paths(z, start), rtol=1e-10)


def test_other_sizes_are_other_results():
    def ratio(x, y):
        return np.cumsum(x) / y

    compiled = ljit.jit(ratio)
    x = np.arange(1.0, 5002.0)
    for y in (x, x[::-1], np.full(1, 2.0), np.float64(3.0), x):
        for _ in range(3):
            assert_same(compiled(x, y), ratio(x, y), rtol=1e-14)
    for _ in range(3):
        with pytest.raises(ValueError, match="could not be broadcast together"):
            compiled(x, x[1:])
    for _ in range(3):
        assert_same(compiled(x[:0], x[:0]), ratio(x[:0], x[:0]), rtol=0)
        assert_same(compiled(x[::3], x[2::3]), ratio(x[::3], x[2::3]), rtol=1e-14)


def test_extrema_of_no_elements_raise():
    def fallen(x):
        return (np.maximum.accumulate(x) - x).max()

    compiled = ljit.jit(fallen)
    x = np.arange(10.0) % 4
    for case in (x, x[:0], x):
        for _ in range(3):
            if len(case):
                assert_same(compiled(case), fallen(case), rtol=0)
            else:
                with pytest.raises(ValueError, match="zero-size array"):
                    compiled(case)


@pytest.mark.parametrize("wide", [False, True])
@pytest.mark.parametrize("factor", [None, 3.0])
def test_what_numpy_has_a_faster_loop_for_stands_alone(wide, factor, monkeypatch):
    monkeypatch.setattr(ufuncs, "has_wide_vectors", lambda _function, _loop: wide)

    @ljit.jit
    def growth(x, factor):
        found = np.exp(np.cumsum(x))
        return found if factor is None else found * factor

    x = np.linspace(-1, 1, BLOCK + 3)
    for _ in range(3):
        np.testing.assert_allclose(growth(x, factor), growth.__wrapped__(x, factor), rtol=1e-12)
    assert has_blocks(growth, x, factor) is (factor is not None or not wide)
