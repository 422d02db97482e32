"""np.searchsorted and np.interp of one number give what NumPy gives, also for arrays that are not sorted."""

from __future__ import annotations

import numpy as np
import pytest

import ljit


def left(a, keys):
    return [np.searchsorted(a, k) for k in keys]


def right(a, keys):
    return [np.searchsorted(a, k, side="right") for k in keys]


def by_method(a, keys):
    return [a.searchsorted(k, side="right") for k in keys]


def interpolated(xs, xp, fp):
    out = np.empty(len(xs))
    for i in range(len(xs)):
        out[i] = np.interp(xs[i], xp, fp)
    return out


SIZES = [1, 2, 4, 5, 10, 11, 12, 40]


def arrays(size, dtype):
    """Sorted, with equal elements, shuffled, and every other element of memory."""
    rng = np.random.default_rng(size)
    values = rng.normal(size=size) * 10
    yield np.sort(values).astype(dtype)
    yield np.sort(np.round(values / 10)).astype(dtype)
    yield values.astype(dtype)
    yield np.sort(np.repeat(values, 2)).astype(dtype)[::2]


def keys_for(a):
    keys = [*a.tolist(), *(a + 1).tolist(), -1000, 1000, 0]
    return keys if a.dtype.kind == "i" else [*map(float, keys), 0.5, np.inf, -np.inf, np.nan]


@pytest.mark.parametrize("size", SIZES)
@pytest.mark.parametrize("dtype", [np.float64, np.int64])
@pytest.mark.parametrize("function", [left, right, by_method])
def test_searchsorted(function, dtype, size):
    compiled = ljit.jit(function)
    for a in arrays(size, dtype):
        keys = keys_for(a)
        for _ in range(3):
            found = compiled(a, keys)
        wanted = function(a, keys)
        assert list(map(type, found)) == list(map(type, wanted))
        assert found == wanted


@pytest.mark.parametrize("size", SIZES)
def test_interp(size):
    compiled = ljit.jit(interpolated)
    rng = np.random.default_rng(size)
    for xp in arrays(size, np.float64):
        fp = rng.normal(size=size)
        fp[rng.integers(size)] = rng.choice([np.nan, np.inf, 1.0])
        xs = np.array(keys_for(xp))
        for _ in range(3):
            found = compiled(xs, xp, fp)
        assert found.view(np.int64).tolist() == interpolated(xs, xp, fp).view(np.int64).tolist()


def test_interp_has_a_loop_without_calls_of_numpy():
    compiled = ljit.jit(interpolated)
    xp = np.linspace(0.0, 1.0, 20)
    for _ in range(4):
        compiled(xp, xp, xp)
    assert "@interval" in compiled.dump_llvm()


@pytest.mark.parametrize(("points", "values"), [(0, 0), (3, 2)])
def test_bad_points_raise_as_in_numpy(points, values):
    def f(x, xp, fp):
        return np.interp(x, xp, fp)

    compiled = ljit.jit(f)
    good = np.arange(3.0)
    for _ in range(4):
        compiled(1.5, good, good)
    with pytest.raises(ValueError) as wanted:
        f(1.5, good[:points], good[:values])
    with pytest.raises(ValueError) as found:
        compiled(1.5, good[:points], good[:values])
    assert str(found.value) == str(wanted.value)
