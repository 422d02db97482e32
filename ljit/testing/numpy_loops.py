"""What NumPy's inner loops do, and ljit's in their place: methods of the `ScalarEmitter`, on whole arrays."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from ljit.types import INT, ArrayType, ScalarType, Type

if TYPE_CHECKING:
    from ljit.testing.scalar_emitter import Number, ScalarEmitter

__all__ = ["array_correlate", "array_order", "array_orders", "inner_loop", "products"]

_Arrays = Sequence[tuple["Number", "Number"]]  # with offsets


def inner_loop(
    e: ScalarEmitter,
    ufunc: np.ufunc,
    arrays: _Arrays,
    sizes: Sequence[Number],
    strides: Sequence[Number],
    result: Type,
    work: Number | None = None,  # for other threads
) -> Number | None:
    """Call the ufunc on views with all the axes that its inner loop walks."""
    core = re.findall(r"\((.*?)\)", (ufunc.signature or "").replace(" ", ""))
    names = [part.split(",") if part else [] for part in core]
    order = list(dict.fromkeys(name for part in names for name in part))
    extents = [int(n.value) for n in sizes]
    outer, rest = strides[: len(names)], list(strides[len(names) :])
    views = []
    for (array, offset), step, part in zip(arrays, outer, names, strict=False):
        shape = (extents[0], *(extents[1 + order.index(name)] for name in part))
        steps = [step, *(rest.pop(0) for _ in part)]
        type_ = ArrayType(array.value.dtype, (None,) * len(shape), "strided")
        given = [e.const(INT, n) for n in shape]
        views.append(e.array_view(array, type_, offset, given, steps).value)
    if isinstance(result, ScalarType):
        return e.const(result, ufunc(*views).reshape(())[()])
    ufunc(*views[:-1], out=views[-1])
    return None


def products(
    e: ScalarEmitter, arrays: _Arrays, sizes: Sequence[Number], strides: Sequence[Number]
) -> None:
    """The loop of products of matrices."""
    inner_loop(e, np.matmul, arrays, sizes, strides, arrays[-1][0].type)


def array_correlate(
    _e: ScalarEmitter, a: Number, taps: Number, into: Number, ends: tuple[Number, Number]
) -> None:
    """Correlate an array with zeros around it: finite taps make nothing of them."""
    left, right = (int(n.value) for n in ends)
    into.value[...] = np.correlate(np.pad(a.value, (left, right)), taps.value)


def array_order(
    e: ScalarEmitter, a: Number, place: Number, scratch: Number
) -> tuple[Number, Number]:
    """Sort the vector; NaN is last."""
    numbers = np.sort(a.value)
    k = int(place.value)
    assert len(scratch.value) == 2 * len(numbers)
    low, high = (
        x if numbers[-1] == numbers[-1] else numbers[-1]
        for x in (numbers[k], numbers[min(k + 1, len(numbers) - 1)])
    )
    type_ = ScalarType(a.value.dtype)
    return e.const(type_, low), e.const(type_, high)


def array_orders(_e: ScalarEmitter, a: Number, place: Number, into: Number) -> None:
    """Sort the columns; NaN is last."""
    numbers = np.sort(a.value.reshape(-1, a.value.shape[-1]), axis=0)
    k = int(place.value)
    behind = min(k + 1, len(numbers) - 1)
    found = np.where(numbers[-1] == numbers[-1], numbers[[k, behind]], numbers[-1])
    into.value[:, : found.shape[1]] = found
