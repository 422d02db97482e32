"""What machines compute and NumPy has no function for: arithmetic with one rounding, bits counted."""

from __future__ import annotations

from fractions import Fraction

import numpy as np

__all__ = ["fused_multiply_add", "trailing_zeros"]


def fused_multiply_add(x: np.floating, y: np.floating, z: np.floating) -> float:
    """``x * y + z`` with one rounding (of float32: two, by way of float64)."""
    if not (np.isfinite(x) and np.isfinite(y) and np.isfinite(z)):
        return float(x * y + z)
    exact = Fraction(float(x)) * Fraction(float(y)) + Fraction(float(z))
    return float(exact) if exact else float(x * y + z)


def trailing_zeros(x: np.integer) -> int:
    """How many of the lowest bits are 0."""
    number = int(x)
    return (number & -number).bit_length() - 1 if number else 8 * x.dtype.itemsize
