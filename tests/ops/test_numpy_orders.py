"""median, percentile and quantile give what NumPy gives, to the bit: any order of elements, axes and dtypes."""

from __future__ import annotations

import itertools

import numpy as np
import pytest

import ljit
from tests.ops.layouts import strided


def median(a):
    return np.median(a)


def median_of_columns(a):
    return np.median(a, axis=0)


def median_of_rows(a):
    return np.median(a, axis=-1)


def median_in_between(a):
    return np.median(a, 1)


def percentile(a, q):
    return np.percentile(a, q)


def percentile_of_columns(a, q):
    return np.percentile(a, q, axis=0)


def quantile(a, q):
    return np.quantile(a, q)


def quantile_of_rows(a, q):
    return np.quantile(a, q, -1)


# few elements, as many as are sorted, one more; a sample, a larger one
LENGTHS = (1, 2, 5, 32, 33, 100, 301, 5000)


def orders(length: int) -> list[np.ndarray]:
    rng = np.random.default_rng(length)
    mixed = rng.integers(0, 10**6, length)
    few = [rng.integers(0, n, length) for n in (1, 2, 5)]
    waves = np.arange(length) % 15
    return [mixed, np.sort(mixed), np.sort(mixed)[::-1].copy(), waves, *few]


def assert_like(compiled, function, *operands) -> None:
    wanted = function(*operands)
    for _ in range(3):
        found = compiled(*operands)
        assert (type(found), found.dtype, found.shape) == (type(wanted), wanted.dtype, wanted.shape)
        np.testing.assert_array_equal(found, wanted)


def assert_native(compiled) -> None:
    assert any(s.state == "native" for s in compiled.specializations)
    assert "calls Python" not in compiled.explain()


@pytest.mark.parametrize("dtype", [*"bBhHiIlLfd"])
def test_medians_are_those_of_numpy(dtype: str) -> None:
    compiled = ljit.jit(median)
    for length in LENGTHS:
        for order in orders(length):
            a = order.astype(dtype)
            before = a.copy()
            assert_like(compiled, median, a)
            np.testing.assert_array_equal(a, before)
            assert_like(compiled, median, strided(a))
    assert_native(compiled)


@pytest.mark.parametrize("dtype", [*"bHilLd"])
@pytest.mark.parametrize("function", [percentile, quantile])
def test_quantiles_are_those_of_numpy(function, dtype: str) -> None:
    compiled = ljit.jit(function)
    scale = 100 if function is percentile else 1
    for length in LENGTHS:
        for order in orders(length):
            for q in (0.0, 0.25, 0.5, 0.999, 1.0):
                assert_like(compiled, function, order.astype(dtype), q * scale)
        assert_like(compiled, function, order.astype(dtype), np.float64(0.7))
        assert_like(compiled, function, order.astype(dtype), 1)
    assert any(s.state == "native" for s in compiled.specializations)


def quartiles(a):
    return np.percentile(a, [25, 50, 75])


def some_quantiles(a):
    return np.quantile(a, (0.1, 0.25))


def listed(a, x, y):
    return np.percentile(a, [x, y])


@pytest.mark.parametrize("dtype", [*"bilLd"])
@pytest.mark.parametrize("function", [quartiles, some_quantiles])
def test_several_quantiles_at_once_are_those_of_numpy(function, dtype: str) -> None:
    compiled = ljit.jit(function)
    for length in LENGTHS:
        for order in orders(length):
            assert_like(compiled, function, order.astype(dtype))
    assert_like(compiled, function, order.astype(dtype).reshape(4, -1))
    assert_native(compiled)


@pytest.mark.parametrize("function", [percentile, quantile])
def test_quantiles_of_arrays_and_lists(function) -> None:
    compiled = ljit.jit(function)
    a = np.random.default_rng(5).random(200)
    for q in ([0.5, 0.25], (0.5, 0.25, 1.0, 0.0), [0, 1], [0, 0.5], (1, 0.0), [], [[0.5]], [True]):
        assert_like(compiled, function, a, q)
        for dtype in (float, np.float32, int):
            x = np.array(q, dtype)
            assert_like(compiled, function, a, x)
            assert_like(compiled, function, a.reshape(20, 10), x[::-1])
    pair = ljit.jit(listed)
    for x, y in ((1, 99), (2.5, 97.5), (0, 99.5)):
        assert_like(pair, listed, a, x, y)
    with pytest.raises(ValueError, match="range"):
        pair(a, 2.5, 100.5)


@pytest.mark.parametrize("function", [median, median_of_columns, median_of_rows, median_in_between])
@pytest.mark.parametrize("shape", [(1, 1), (3, 40), (33, 4), (2, 5, 34)])
def test_medians_along_axes(function, shape) -> None:
    compiled = ljit.jit(function)
    for dtype in "bfd?Dl":
        a = np.random.default_rng(1).integers(0, 99, shape).astype(dtype)
        for x in (a, a.T, np.asfortranarray(a), strided(a)):
            if dtype != "D":
                assert_like(compiled, function, x)


@pytest.mark.parametrize("function", [percentile_of_columns, quantile_of_rows])
def test_quantiles_along_axes(function) -> None:
    compiled = ljit.jit(function)
    for shape in ((1, 1), (3, 40), (33, 4), (2, 5, 34)):
        for dtype in "bfdl":
            a = np.random.default_rng(2).integers(0, 99, shape).astype(dtype)
            for x in (a, a.T):
                assert_like(compiled, function, x, 0.3)


def median_of_windows(a):
    return np.median(a, axis=(2, 3))


@pytest.mark.parametrize("dtype", [*"bhilLfd"])
@pytest.mark.parametrize("function", [median_of_columns, median_in_between, median_of_rows])
def test_medians_of_many_short_rows(function, dtype: str) -> None:
    """Rows that are sorted side by side, up to 64 elements, and the first longer ones; one block of rows and more."""
    compiled = ljit.jit(function)
    rng = np.random.default_rng(5)
    for count in (1, 2, 3, 4, 7, 9, 16, 33, 64, 65):
        for shape in ((count, 5), (count, 70), (2, count, 35), (90, count), (3, 40, count)):
            a = rng.integers(0, 99, shape).astype(dtype)
            assert_like(compiled, function, a)
    assert_native(compiled)


@pytest.mark.parametrize("length", range(1, 11))
def test_all_orders_of_two_numbers_are_sorted(length: int) -> None:
    """What sorts all rows of two different elements sorts all rows."""
    a = (np.arange(2**length) >> np.arange(length)[:, None] & 1).astype(np.float64)
    compiled = ljit.jit(percentile_of_columns)
    for k in range(length):
        assert_like(compiled, percentile_of_columns, a, 100 * k / max(length - 1, 1))


@pytest.mark.filterwarnings("ignore:invalid value")
@pytest.mark.parametrize("function", [median_of_columns, percentile_of_columns])
def test_short_columns_that_are_not_finite(function) -> None:
    rest = (40.0,) if function is percentile_of_columns else ()
    compiled = ljit.jit(function)
    for special in (np.nan, np.inf, -np.inf):
        for row in range(5):
            a = np.random.default_rng(row).random((5, 70))
            a[row, ::7] = special
            a[:, 3] = special
            assert_like(compiled, function, a, *rest)


@pytest.mark.parametrize("length", [1, 2, 3, 4])
def test_medians_of_zeros_have_no_sign(length: int) -> None:
    columns = np.array([*itertools.product((0.0, -0.0, 1.0), repeat=length)]).T.copy()
    compiled, of_columns = ljit.jit(median), ljit.jit(median_of_columns)
    for _ in range(3):
        found = of_columns(columns)
        assert found.tobytes() == median_of_columns(columns).tobytes()
        assert [compiled(a).tobytes() for a in columns.T] == [x.tobytes() for x in found]


@pytest.mark.parametrize("window", [(1, 1), (3, 3), (1, 4), (8, 8), (5, 14)])
def test_medians_of_windows(window: tuple[int, int]) -> None:
    """Other orders of what is kept than that of memory give other orders of results."""
    compiled = ljit.jit(median_of_windows)
    image = np.random.default_rng(6).integers(0, 99, (30, 50)).astype(np.float64)
    for a in (image, image[::-1], image[:, ::2], image.T, np.broadcast_to(image[0], (30, 50))):
        windows = np.lib.stride_tricks.sliding_window_view(a, window)
        wanted = median_of_windows(windows)
        for _ in range(3):
            found = compiled(windows)
            assert (found.dtype, found.strides) == (wanted.dtype, wanted.strides)
            np.testing.assert_array_equal(found, wanted)
    assert_native(compiled)


@pytest.mark.filterwarnings("ignore:invalid value")
def test_what_is_not_finite() -> None:
    for function, q in (
        (median, ()),
        (percentile, (30.0,)),
        (percentile, (100.0,)),
        (quantile, (0.5,)),
    ):
        compiled = ljit.jit(function)
        for length in (3, 4, 33, 400):
            for special in (np.nan, np.inf, -np.inf):
                for count in (1, length // 2 + 1, length):
                    a = np.arange(float(length))[::-1].copy()
                    a[:count] = special
                    assert_like(compiled, function, a, *q)


def test_quantiles_that_there_are_not() -> None:
    compiled = ljit.jit(percentile)
    a = np.arange(5.0)
    for _ in range(3):
        compiled(a, 10.0)
    for q in (-1.0, 100.5, np.nan):
        with pytest.raises(ValueError, match="range"):
            compiled(a, q)


@pytest.mark.filterwarnings("ignore:Mean of empty", "ignore:invalid value")
def test_medians_of_no_elements_are_those_of_numpy() -> None:
    compiled = ljit.jit(median)
    for a in (np.arange(3.0), np.zeros(0)):
        for _ in range(3):
            np.testing.assert_array_equal(compiled(a), median(a))
    rows = ljit.jit(median_of_rows)
    for a in (np.ones((3, 2)), np.ones((0, 4))):
        assert_like(rows, median_of_rows, a)


def test_samples_that_are_the_least_elements() -> None:
    """The first pivots are the least of all, or next to them."""
    a = np.arange(40_000.0)
    step = len(a) // 63
    a[step // 2 :: step] = -np.arange(len(a[step // 2 :: step]))
    compiled = ljit.jit(median)
    assert_like(compiled, median, a)
    assert_like(compiled, median, np.repeat(a, 2))
