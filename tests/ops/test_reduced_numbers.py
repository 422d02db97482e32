"""Reductions of NumPy's scalars are the numbers themselves, in the dtype of the result, without a call of NumPy's."""

from __future__ import annotations

import numpy as np
import pytest

import ljit

FUNCTIONS = {
    "sum": lambda x: (x.sum(), np.sum(x), np.sum(x, keepdims=True)),
    "prod": lambda x: (x.prod(), np.prod(x, axis=None)),
    "mean": lambda x: (x.mean(), np.mean(x)),
    "extrema": lambda x: (x.min(), np.max(x), np.amin(x), np.amax(x)),
    "truth": lambda x: (x.any(), np.all(x)),
    "dtypes": lambda x: (
        np.sum(x, dtype=np.complex128),
        np.prod(x, dtype=np.complex128),
        np.mean(x, dtype=np.complex64),
    ),
    "narrower dtypes": lambda x: (np.sum(x, dtype=np.float32), np.mean(x, dtype=np.int16)),
}
NUMBERS = [
    np.bool_(True),
    np.int8(-3),
    np.uint16(65535),
    np.int64(2**60 + 1),
    np.float16(-0.0),
    np.float32(2.5),
    np.float64(-0.0),
    np.float64(np.nan),
    np.complex128(complex(-0.0, -0.0)),
    np.complex64(complex(np.inf, np.nan)),
]


def exact(values):
    return [(type(x), x.dtype, x.tobytes()) for x in values]


@pytest.mark.filterwarnings("ignore::RuntimeWarning", "ignore::numpy.exceptions.ComplexWarning")
@pytest.mark.parametrize("number", NUMBERS, ids=repr)
@pytest.mark.parametrize("name", FUNCTIONS)
def test_reductions_of_numbers_are_numpys(name, number):
    function = FUNCTIONS[name]
    f = ljit.jit(function)
    for _ in range(4):
        assert exact(f(number)) == exact(function(number))


@pytest.mark.parametrize("name", ["sum", "prod", "mean", "extrema", "truth"])
def test_reductions_of_numbers_are_native(name):
    f = ljit.jit(FUNCTIONS[name])
    for _ in range(4):
        f(np.float64(1.5))
    assert "calls Python" not in f.explain()
