"""Numbers that may be Python's or NumPy's, of more bits than the elements of the array that they are stored in."""

import numpy as np
import pytest

import ljit
from ljit import config


def least(a, out, start):
    n, m = a.shape
    for i in range(n):
        v = start
        for j in range(m):
            v = min(v, a[i, j])
        out[i] = v


def either(a, out, number, which):
    for i in range(len(a)):
        v = a[i] if which[i] else number
        out[i] = v


def outcome(f, *args):
    try:
        return f(*args)
    except OverflowError as error:
        return str(error)


@pytest.mark.parametrize("dtype", ["uint8", "int16", "uint32", "int64", "float16", "float32"])
@pytest.mark.parametrize("target", ["uint8", "int16", "uint32", "float16", "float32"])
def test_the_least_of_a_row(dtype, target):
    a = np.random.default_rng(1).integers(0, 256, (20, 30)).astype(dtype)
    start = 255.0 if a.dtype.kind == "f" else 255
    with config.overridden(cold_calls=False, quick_runs=5):
        f = ljit.jit(least)
        for _ in range(12):
            out, expected = np.zeros(20, target), np.zeros(20, target)
            f(a, out, start)
            least(a, expected, start)
            assert np.array_equal(out, expected)
        empty = a[:, :0]
        for s in (start, 0, 17):
            f(empty, out, s)
            least(empty, expected, s)
            assert np.array_equal(out, expected)


@pytest.mark.parametrize(
    ("dtype", "target"),
    [("int64", "uint8"), ("int32", "int8"), ("uint8", "int8"), ("float64", "float32"), ("float32", "float16")],
)  # fmt: skip
def test_numbers_that_do_not_fit(dtype, target):
    rng = np.random.default_rng(2)
    a, which = rng.integers(0, 100, 40).astype(dtype), rng.random(40) < 0.5
    number = 7.25 if a.dtype.kind == "f" else 7
    with config.overridden(cold_calls=False, quick_runs=5), np.errstate(over="ignore"):
        f = ljit.jit(either)
        for _ in range(12):
            out, expected = np.zeros(40, target), np.zeros(40, target)
            f(a, out, number, which)
            either(a, expected, number, which)
            assert np.array_equal(out, expected)
        for large in (number * 100, -number, number * 10**20):
            assert outcome(f, a, out, large, which) == outcome(either, a, expected, large, which)
            assert np.array_equal(out, expected)
        b = a.copy()
        b[3], which[3] = 120 if dtype == "uint8" else 60000, True
        assert outcome(f, b, out, number, which) == outcome(either, b, expected, number, which)
        assert np.array_equal(out, expected)


def test_one_store_for_both_classes():
    a = np.random.default_rng(3).integers(0, 256, (9, 30)).astype(np.uint8)
    out = np.zeros(9, np.uint8)
    with config.overridden(cold_calls=False):
        f = ljit.jit(least)
        for _ in range(5):
            f(a, out, 255)
        assert str(f.graph_for(a, out, 255)).count("np::setitem") == 1
