"""What machines compute and NumPy has no function for: arithmetic with one rounding, bits counted."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from typing import Any

import numpy as np

__all__ = ["BIT_COUNTS", "fused_multiply_add"]


def fused_multiply_add(x: np.floating, y: np.floating, z: np.floating) -> float:
    """``x * y + z`` with one rounding (of float32: two, by way of float64)."""
    if not (np.isfinite(x) and np.isfinite(y) and np.isfinite(z)):
        return float(x * y + z)
    exact = Fraction(float(x)) * Fraction(float(y)) + Fraction(float(z))
    return float(exact) if exact else float(x * y + z)


def _leading_zeros(x: np.integer) -> int:
    """How many of the highest bits are 0."""
    return 8 * x.dtype.itemsize - (int(x) % (1 << 8 * x.dtype.itemsize)).bit_length()


def _trailing_zeros(x: np.integer) -> int:
    """How many of the lowest bits are 0."""
    number = int(x)
    return (number & -number).bit_length() - 1 if number else 8 * x.dtype.itemsize


#: by the name of LLVM's intrinsic
BIT_COUNTS: dict[str, Callable[..., Any]] = {
    "ctpop": np.bitwise_count,
    "ctlz": _leading_zeros,
    "cttz": _trailing_zeros,
}
