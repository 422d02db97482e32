"""Products of arrays of complex numbers, rounded as NumPy's vector loops do on this machine.

These fuse one product of parts with the sum, where the processor can. Beside them NumPy has plain loops, for what its
vectors do not take: which arrays these are depends on its version and on the dtype, so it is asked by trial.
"""

from __future__ import annotations

from functools import cache

import numpy as np

from ljit.ir import OddLayout
from ljit.ir.emitter import Emitter, V
from ljit.ops.python.numbers import complex_product
from ljit.ops.ufuncs.ufuncs import UFUNCS
from ljit.types import Type

__all__ = ["odd_layouts", "odd_layouts_in_place", "product_of_elements"]


def product_of_elements(e: Emitter, x: V, y: V) -> V:
    """One element of a product of complex arrays."""
    if not _FUSES:
        return e.complex(*complex_product(e, x, y), x.type)
    (a, b), (c, d) = ((e.real(z), e.imag(z)) for z in (x, y))
    real = e.intrinsic("fma", a, c, e.neg(e.mul(b, d)))
    return e.complex(real, e.intrinsic("fma", a, d, e.mul(b, c)), x.type)


def odd_layouts(ufunc: str, *types: Type) -> OddLayout:
    """Where fresh products are rounded otherwise than `product_of_elements`; `types` are those of elements."""
    return _odd_layouts(ufunc, types)[0]


def odd_layouts_in_place(ufunc: str, *types: Type) -> OddLayout:
    """Likewise, of products that may overwrite an operand."""
    fresh, in_place = _odd_layouts(ufunc, types)
    return fresh | in_place


@cache
def _odd_layouts(ufunc: str, types: tuple[Type, ...]) -> tuple[OddLayout, OddLayout]:
    rule = UFUNCS[ufunc]
    loop, function = rule.loop(types), rule.function
    if loop is None or loop[-1].kind != "c":
        return OddLayout.NONE, OddLayout.NONE
    x = _trial(loop[-1])
    is_fused, turned, one = _is_fused(function, x, x), x[::-1], x[:1].copy()
    orders = ((turned, x), (x, turned), (turned, turned))
    is_same = all(_is_fused(function, *order) == is_fused for order in orders)
    fresh = OddLayout.NONE if is_same else OddLayout.BACKWARDS
    is_same = _is_fused(function, one, one, out=one) == is_fused
    return fresh, OddLayout.NONE if is_same else OddLayout.ONE_ELEMENT


def _trial(dtype: np.dtype) -> np.ndarray:
    """Numbers whose squares show how they were rounded."""
    low = 2.0 ** -(np.finfo(dtype).nmant // 2 + 4)
    return np.full(16, complex(1 + low, 1 - low / 2), dtype)


def _is_fused(function: np.ufunc, *operands: np.ndarray, **out: np.ndarray) -> bool:
    """Whether the loop leaves the rounding error of a product that is subtracted from itself."""
    x = operands[0].flat[0]
    plain = x.real * x.real - x.imag * x.imag
    return bool(function(*operands[: function.nin], **out).real[0] != plain)


_FUSES = _is_fused(np.square, _trial(np.dtype("D")))
