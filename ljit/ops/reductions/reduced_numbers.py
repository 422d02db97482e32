"""Reductions of NumPy's scalars: the number itself, in the dtype of the result."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from ljit.ir import Value
from ljit.ir.parts import Parts
from ljit.types import ScalarType

__all__ = ["or_number"]

Decompose = Callable[..., Value | None]


def or_number(
    decompose: Decompose | None, *, adds: bool = False, kinds: str = "biufc"
) -> Decompose:
    """How a reduction is taken apart: `decompose` says it of arrays, and this of numbers.

    `adds`: NumPy begins with 0.0, so -0.0 becomes 0.0. `kinds`: of the results that are meant.
    """

    def decompose_either(parts: Parts, a: Value, **attrs: Any) -> Value | None:
        if isinstance(a.type, ScalarType):
            return _number(parts, a, kinds, adds=adds)
        return None if decompose is None else decompose(parts, a, **attrs)

    return decompose_either


def _number(parts: Parts, a: Value, kinds: str, *, adds: bool) -> Value | None:
    result = parts.type
    if not isinstance(a.type, ScalarType) or not isinstance(result, ScalarType):
        return None
    is_plain = result.dtype.kind == "b" or np.can_cast(a.type.dtype, result.dtype, "same_kind")
    if result.dtype.kind not in kinds or not is_plain:
        return None
    x = a if a.type == result else parts.apply("np::astype", a, dtype=result.dtype)
    if adds and result.dtype.kind in "fc":
        x = parts.apply("np::add", x, parts.constant(result.dtype.type(0)))
    return x
