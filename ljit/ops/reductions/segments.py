"""``np.add.reduceat`` and the like: segments of a vector are combined, each to one number.

A segment ends where the next index is; one that would have no elements is the element at its index. Sums are as
exact as those of whole arrays. Other ranks, dtypes and sequences are NumPy's.
"""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np

from ljit.ir import Scan, get_op
from ljit.ir.emitter import Emitter, V
from ljit.ops.arrays.boxed import axes_of, chosen_dtype, declare_function
from ljit.ops.arrays.rules import array_of
from ljit.ops.python.numbers import at_least
from ljit.ops.reductions import scans  # noqa: F401  # declares the scans
from ljit.ops.reductions.reduce import accumulated
from ljit.types import ANY, INT, ArrayType, Type

__all__: list[str] = []

_VECTOR, _STARTS = np.arange(6.0), np.array([0, 4, 2])


def _infer(
    _ufunc: Type,
    array: Type,
    indices: Type,
    *,
    axis: object = 0,
    dtype: object = None,
    keeps_dtype: bool,
) -> Type:
    if not isinstance(array, ArrayType) or not isinstance(indices, ArrayType):
        return ANY
    if array.ndim != 1 or indices.ndim != 1 or axes_of(axis, 1) != (0,):
        return ANY
    if indices.dtype.kind not in "iu" or not np.can_cast(indices.dtype, np.int64):
        return ANY
    chosen = chosen_dtype(dtype, array.dtype if keeps_dtype else accumulated(array.dtype))
    return array_of(chosen, (None,))


def _can_lower(ufunc: Type, array: Type, indices: Type, *, keeps_dtype: bool, **attrs: Any) -> bool:
    """Whether the elements are real numbers that fit the result as they are."""
    result = _infer(ufunc, array, indices, keeps_dtype=keeps_dtype, **attrs)
    if not isinstance(result, ArrayType) or not isinstance(array, ArrayType):
        return False
    if keeps_dtype and result.dtype != array.dtype:
        return False
    is_real = array.dtype.kind in "biuf" and result.dtype.kind in "iuf" and result.dtype != np.half
    return is_real and np.can_cast(array.dtype, result.dtype)


def _lower(e: Emitter, array: V, indices: V, scan: Scan, type_: Type) -> V:
    assert isinstance(type_, ArrayType)
    (size,), (count,) = e.array_sizes(array), e.array_sizes(indices)
    last = e.sub(count, 1)
    made = e.array_new(type_, [count], None)

    def segment(k: V) -> None:
        first = e.cast(e.array_load(indices, [k]), INT)
        is_last = e.compare("eq", k, last)
        following = e.cast(e.array_load(indices, [e.select(is_last, k, e.add(k, 1))]), INT)
        outside = e.bit_or(e.compare("lt", first, 0), e.compare("ge", first, size))
        beyond = e.compare("gt", following, size)
        e.bail_if(e.bit_or(outside, beyond), "index out of bounds")
        elements = e.sub(e.select(is_last, size, following), first)
        elements = at_least(e, elements, 1)
        e.array_store(made, [k], e.array_combine(array, first, elements, scan, type_.element))

    e.loop(count, segment)
    return made


def _declare(ufunc: np.ufunc) -> None:
    scan = get_op(f"np::{ufunc.__name__}_accumulate").scan
    assert scan is not None
    keeps_dtype = ufunc in (np.maximum, np.minimum)
    infer = partial(_infer, keeps_dtype=keeps_dtype)

    def lower(e: Emitter, ufunc: V, array: V, indices: V, **attrs: Any) -> V:
        type_ = infer(ufunc.type, array.type, indices.type, **attrs)
        return _lower(e, array, indices, scan, type_)

    declare_function(
        f"{ufunc.__name__}_reduceat",
        "(ufunc, array, indices, *, axis=0, dtype=None)",
        infer,
        ufunc.reduceat,
        evaluate=lambda ufunc, array, indices, **attrs: ufunc.reduceat(array, indices, **attrs),
        doc=f"``np.{ufunc.__name__}.reduceat(array, indices)``",
        lower=lower,
        can_lower=partial(_can_lower, keeps_dtype=keeps_dtype),
        callables=(),
        library=(f"numpy.{ufunc.__name__}.reduceat",),
        samples=((ufunc, _VECTOR, _STARTS), (ufunc, _VECTOR, _STARTS[:1])),
    )


for _ufunc in (np.add, np.multiply, np.maximum, np.minimum):
    _declare(_ufunc)
