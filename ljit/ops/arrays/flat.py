"""C-contiguous arrays with other sizes: the same memory as a vector, or as rows. It declares no ops."""

from __future__ import annotations

from collections.abc import Sequence
from functools import reduce

from ljit.ir.emitter import Emitter, V
from ljit.types import INT, ArrayType, Type

__all__ = ["as_vector", "product_of", "viewed"]


def product_of(e: Emitter, sizes: Sequence[V]) -> V:
    return reduce(e.mul, sizes, e.const(INT, 1))


def viewed(e: Emitter, a: V, sizes: Sequence[V], type_: Type | None = None) -> V:
    """The elements of a C-contiguous array in the same order with other sizes."""
    step = e.const(INT, a.type.dtype.itemsize)
    strides: list[V] = []
    for size in reversed(sizes):
        strides.insert(0, step)
        step = e.mul(step, size)
    type_ = type_ or ArrayType(a.type.dtype, (None,) * len(sizes))
    return e.array_view(a, type_, e.const(INT, 0), sizes, strides)


def as_vector(e: Emitter, a: V) -> V:
    """The elements of a vector, or of a C-contiguous array."""
    return a if a.type.ndim == 1 else viewed(e, a, [product_of(e, e.array_sizes(a))])
