"""Averages without NaNs, and single ufuncs, give what NumPy gives, with its warnings."""

import warnings

import numpy as np
import pytest

import ljit
from tests.ops.layouts import LAYOUTS, filled

RNG = np.random.default_rng(4)


def whole(a):
    return np.nanmean(a), np.nanvar(a), np.nanstd(a, ddof=1)


def columns(a):
    return np.nanmean(a, axis=0), np.nanvar(a, axis=0, ddof=1), np.nanstd(a, 0)


def rows(a):
    return (
        np.nanmean(a, axis=-1, keepdims=True),
        np.nanvar(a, axis=1, keepdims=True),
        np.nanstd(a, axis=1),
    )


def centred(a):
    return (a - np.nanmean(a, axis=0)) / np.nanstd(a, axis=0), np.nanmean(a * 2), np.nanmean(a[0])


def outcome(function, a):
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        results = function(a)
    texts = {str(w.message) for w in caught if issubclass(w.category, RuntimeWarning)}
    return results, {x for x in texts if "slice" in x}  # arithmetic does not warn


@pytest.mark.parametrize("dtype", ["float64", "float32", "float16", "int32", "bool", "complex128"])
@pytest.mark.parametrize("function", [whole, columns, rows, centred])
def test_averages_without_nans(function, dtype):
    plain = RNG.normal(size=(6, 10)).astype(dtype)
    arrays = [plain, plain.T, plain[::2, ::-3]]
    if dtype[0] in "fc":
        some = plain.copy()
        some[RNG.random(some.shape) < 0.3] = np.nan
        arrays += [some, some.T.copy(), np.asfortranarray(some)]
        bad = some.copy()
        bad[:, 3] = np.nan
        arrays += [bad, np.full((6, 10), np.nan, dtype), plain[:1], some]
    compiled = ljit.jit(function)
    for a in arrays * 2:
        (wanted, noted), (found, heard) = outcome(function, a), outcome(compiled, a)
        assert heard == noted
        for x, y in zip(found, wanted, strict=True):
            assert (type(x), x.dtype, x.shape) == (type(y), y.dtype, y.shape)
            tolerance = {"e": 2e-2, "f": 2e-5, "F": 2e-5}.get(y.dtype.char, 1e-12)
            np.testing.assert_allclose(x, y, rtol=tolerance, atol=tolerance)


@pytest.mark.parametrize("dtype", ["int8", "uint8", "int16", "uint32", "int64", "uint64"])
def test_bits_of_integers_are_counted(dtype):
    def count(a):
        return np.bitwise_count(a) + 1, np.bitwise_count(a[0])

    compiled = ljit.jit(count)
    for layout in (*LAYOUTS, np.copy):
        a = layout(filled((5, 4), dtype))
        for found, wanted in zip(compiled(a), count(a), strict=True):
            np.testing.assert_array_equal(found, wanted, strict=True)


@pytest.mark.parametrize("dtype", ["float64", "float32", "float16"])
def test_nextafter_gives_numpys_neighbours(dtype):
    def next_numbers(a, b):
        return np.nextafter(a, b), np.nextafter(a, 0.0) * 2, np.nextafter(a[0], np.inf)

    compiled = ljit.jit(next_numbers)
    with np.errstate(all="ignore"):
        for a in (filled((40,), dtype), filled((40,), dtype, 1)[::-1], filled((40,), dtype, 2)):
            for found, wanted in zip(compiled(a, a[::-1]), next_numbers(a, a[::-1]), strict=True):
                np.testing.assert_array_equal(found, wanted, strict=True)
