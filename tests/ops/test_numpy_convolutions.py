"""convolve and correlate give what NumPy gives, to the last bits of sums: any lengths, layouts, modes and dtypes."""

from __future__ import annotations

import numpy as np
import pytest

import ljit
from tests.ops.layouts import strided


def convolve(a, v):
    return np.convolve(a, v)


def convolve_same(a, v):
    return np.convolve(a, v, "same")


def convolve_valid(a, v):
    return np.convolve(a, v, mode="valid")


def correlate(a, v):
    return np.correlate(a, v)


def correlate_same(a, v):
    return np.correlate(a, v, mode="same")


def correlate_full(a, v):
    return np.correlate(a, v, "full")


FUNCTIONS = (convolve, convolve_same, convolve_valid, correlate, correlate_same, correlate_full)
# fewer places than a vector has, vectors with a rest and without, more taps than are added up at once, more taps than elements
LENGTHS = ((1, 1), (5, 2), (3, 7), (40, 4), (64, 1), (130, 67), (300, 129), (300, 300))


def numbers(length: int, dtype: str, seed: int) -> np.ndarray:
    """Small ones: their products and sums are exact for floats as well."""
    rng = np.random.default_rng(seed)
    low, high = (0, 255) if dtype in "BHIL" else (-99, 99)
    return rng.integers(low, high, length).astype(dtype)


def assert_like(compiled, function, a, v) -> None:
    wanted = function(a, v)
    for _ in range(3):
        found = compiled(a, v)
        assert (type(found), found.dtype, found.shape) == (type(wanted), wanted.dtype, wanted.shape)
        np.testing.assert_array_equal(found, wanted)


@pytest.mark.parametrize("dtype", [*"bBhHiIlLfd"])
@pytest.mark.parametrize("function", FUNCTIONS)
def test_vectors_of_one_dtype(function, dtype: str) -> None:
    compiled = ljit.jit(function)
    for length, count in LENGTHS:
        a, v = numbers(length, dtype, 1), numbers(count, dtype, 2)
        assert_like(compiled, function, a, v)
        assert_like(compiled, function, strided(a), v[::-1])
    assert any(s.state == "native" for s in compiled.specializations)


@pytest.mark.parametrize("function", FUNCTIONS)
@pytest.mark.parametrize("dtypes", ["dl", "id", "fd", "bi", "lf", "?d", "??", "eD", "dO", "eh"])
def test_vectors_of_two_dtypes(function, dtypes: str) -> None:
    compiled = ljit.jit(function)
    for length, count in LENGTHS[:4]:
        a, v = (numbers(n, dtype, 3) for n, dtype in zip((length, count), dtypes, strict=True))
        assert_like(compiled, function, a, v)


@pytest.mark.parametrize("function", FUNCTIONS)
def test_what_is_not_finite_stays_where_it_is(function) -> None:
    """No tap beyond the ends is multiplied with anything, and zeros have NumPy's signs."""
    compiled = ljit.jit(function)
    for special in (np.nan, np.inf, -np.inf, -0.0):
        for place in (0, 2, -1):
            a, v = np.arange(40.0), np.arange(5.0)
            v[place] = special
            assert_like(compiled, function, a, v)
            assert_like(compiled, function, v, -a * 0.0)
            assert_like(compiled, function, np.full(20, -0.0), np.abs(np.nan_to_num(v)))
            wanted = function(np.full(20, -0.0), np.ones(3))
            assert (np.signbit(compiled(np.full(20, -0.0), np.ones(3))) == np.signbit(wanted)).all()


@pytest.mark.parametrize("function", FUNCTIONS)
def test_sums_are_as_exact_as_those_of_numpy(function) -> None:
    compiled = ljit.jit(function)
    rng = np.random.default_rng(4)
    for length, count in ((1000, 7), (1000, 600)):
        a, v = rng.normal(size=length), rng.normal(size=count)
        bound = count * np.finfo(float).eps * function(abs(a), abs(v))
        for _ in range(3):
            assert (abs(compiled(a, v) - function(a, v)) <= bound).all()


@pytest.mark.parametrize("function", FUNCTIONS)
def test_vectors_without_elements_are_refused(function) -> None:
    compiled = ljit.jit(function)
    some, none = np.arange(3.0), np.zeros(0)
    for _ in range(3):
        compiled(some, some)
    for operands in ((some, none), (none, some), (none, none)):
        with pytest.raises(ValueError) as wanted:  # noqa: PT011  # NumPy's message is compared
            function(*operands)
        with pytest.raises(ValueError, match=str(wanted.value)):
            compiled(*operands)


def smoothed_and_the_rest(a, width):
    smooth = np.convolve(a, np.ones(width) / width, "same")
    a -= smooth
    return smooth


def test_operands_may_be_changed_behind_it() -> None:
    compiled = ljit.jit(smoothed_and_the_rest)
    for _ in range(4):
        a = np.arange(50.0)
        b = a.copy()
        np.testing.assert_array_equal(compiled(a, 4), smoothed_and_the_rest(b, 4))
        np.testing.assert_array_equal(a, b)
