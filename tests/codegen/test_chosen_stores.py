"""A store of what was there, or of another number, is a choice and a store: no store with a mask, which may be slow."""

import numpy as np
import pytest

import ljit


def clipped(a, b):
    for i in range(len(a)):
        a[i] = min(max(a[i], -1.0), b[i])


def lowest(a, b):
    for i in range(len(a)):
        a[i] = b[i] if b[i] < a[i] else a[i]


def lowest_of_rows(a, b):
    np.minimum(a, b, out=a)
    a[a < -1.0] = -1.0


@pytest.mark.parametrize("dtype", [np.float64, np.float32, np.int32, np.int64])
@pytest.mark.parametrize("f", [clipped, lowest, lowest_of_rows], ids=lambda f: f.__name__)
def test_no_store_has_a_mask(f, dtype):
    if f is clipped and np.dtype(dtype).kind == "i":
        pytest.skip("stores whole parts")
    a, b = (np.random.default_rng(seed).normal(size=1000) * 3 for seed in (1, 2))
    a, b = a.astype(dtype), b.astype(dtype)
    native, expected = ljit.jit(f), a.copy()
    f(expected, b)
    for _ in range(3):
        given = a.copy()
        native(given, b)
        assert given.tobytes() == expected.tobytes()
    assert "maskmov" not in native.dump_asm()
