"""Quotients of integers in loops of vectors: those of NumPy for every pair where rounding could go wrong."""

from __future__ import annotations

import re

import numpy as np
import pytest

import ljit

pytestmark = pytest.mark.filterwarnings("ignore::RuntimeWarning")

FUNCTIONS = {
    "quotient": lambda a, b: a // b,
    "remainder": lambda a, b: a % b,
    "fmod": lambda a, b: np.fmod(a, b),
    "fused": lambda a, b: (a // b) * b + a % b,
}


def hard_pairs(dtype: str) -> tuple[np.ndarray, np.ndarray]:
    """All pairs of bytes; of others multiples of divisors and their neighbours, small to extreme."""
    limits = np.iinfo(dtype)
    if limits.bits == 8:
        every = np.arange(limits.min, limits.max + 1)
        return tuple(x.astype(dtype).ravel() for x in np.meshgrid(every, every))
    low, high = int(limits.min), int(limits.max)
    powers = [2**k + i for k in range(limits.bits) for i in (-1, 0, 1)]
    divisors = [*powers, 3, 5, 7, 10, 641, 65521, high - 2, high // 3, *(-x for x in powers)]
    pairs = []
    for divisor in [x for x in divisors if low <= x <= high] + [low, high, 0]:
        whole = abs(divisor or 1)
        quotients = {high // whole, high // whole // 2, high // whole // 3 * 2, 1, 2, 3, 1000}
        near = [sign * q * whole + i for q in quotients for i in (-1, 0, 1) for sign in (1, -1)]
        pairs += [(x, divisor) for x in (*near, low, high, 0) if low <= x <= high]
    a, b = zip(*pairs, strict=True)
    return np.array(a, dtype), np.array(b, dtype)


@pytest.mark.parametrize("dtype", ["int8", "uint8", "int16", "uint16", "int32", "uint32", "int64"])
@pytest.mark.parametrize("name", FUNCTIONS)
def test_quotients_are_those_of_numpy(name, dtype):
    function = FUNCTIONS[name]
    f = ljit.jit(function)
    a, b = hard_pairs(dtype)
    wanted = function(a, b)
    for _ in range(3):
        found = f(a, b)
        assert found.dtype == wanted.dtype
        np.testing.assert_array_equal(found, wanted)
    gaps = np.repeat(a, 2)[::2], np.repeat(b, 3)[::3]
    np.testing.assert_array_equal(f(*gaps), wanted)
    np.testing.assert_array_equal(f(*gaps), wanted)


@pytest.mark.parametrize("dtype", ["int8", "uint16", "int32", "uint32"])
def test_narrow_quotients_are_vectors(dtype):
    f = ljit.jit(FUNCTIONS["quotient"])
    a, b = hard_pairs(dtype)
    for _ in range(2):
        f(a, b)
    text = f.dump_llvm(optimized=True)
    assert re.search(r"fdiv <\d+ x (float|double)>", text)
    assert not re.search(r"[su]div i(8|16|32) ", text)
