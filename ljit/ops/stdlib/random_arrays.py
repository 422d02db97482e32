"""Arrays of numbers from NumPy's random streams (``size=``): their types, and the memory that is filled."""

from __future__ import annotations

import numpy as np

from ljit.ir import Emitter
from ljit.ir.emitter import V
from ljit.ops.arrays.boxed import shape_rank
from ljit.ops.arrays.flat import product_of
from ljit.ops.arrays.rules import array_of
from ljit.types import ANY, INT, TupleType, Type

__all__ = ["drawn_array", "new_array"]


def drawn_array(dtype: np.dtype, size: Type) -> Type:
    """The type of an array of the dtype that ``size=`` asks for."""
    rank = shape_rank(size)
    return array_of(dtype, (None,) * rank) if rank else ANY


def new_array(e: Emitter, type_: Type, size: V) -> tuple[V, V]:
    """Make the array; it and how many numbers it has."""
    items = e.tuple_items(size) if isinstance(size.type, TupleType) else (size,)
    sizes = [e.cast(n, INT) for n in items]
    return e.array_new(type_, sizes, None), product_of(e, sizes)
