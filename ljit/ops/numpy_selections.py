"""``nonzero``, ``flatnonzero`` and ``take``: native for masks, and for rows of arrays in C order."""

from __future__ import annotations

from typing import Any

import numpy as np

from ljit.ir import Value
from ljit.ir.parts import Parts
from ljit.ops.numpy_boxed import declare_function
from ljit.ops.numpy_index_arrays import can_copy, gathered, places_of, rows_type
from ljit.types import ANY, ArrayType, TupleType, Type

__all__: list[str] = []

_INT64 = np.dtype(np.int64)
_VECTOR, _MATRIX = np.arange(3.0), np.arange(9.0).reshape(3, 3)


# -- where a mask holds ----------------------------------------------------------------------------


def _infer_nonzero(a: Type) -> Type:
    if not isinstance(a, ArrayType) or not a.ndim:
        return ANY
    return TupleType((ArrayType(_INT64, (None,), "strided"),) * a.ndim)


def _infer_flat_index(a: Type) -> Type:
    return ArrayType(_INT64, (None,)) if isinstance(a, ArrayType) else ANY


def _can_find(a: Type) -> bool:
    is_mask = isinstance(a, ArrayType) and a.dtype.kind == "b" and a.layout == "C"
    return is_mask and a.ndim > 0  # type: ignore[attr-defined]


def _truth_of(parts: Parts, a: Value) -> Value | None:
    """Whether the elements are other than 0."""
    is_number = isinstance(a.type, ArrayType) and a.type.dtype.kind in "iufc"
    return parts.apply("np::not_equal", a, parts.constant(0)) if is_number else None


def _nonzero_of(parts: Parts, a: Value) -> Value | None:
    truth = _truth_of(parts, a) if isinstance(a.type, ArrayType) and a.type.ndim == 1 else None
    return None if truth is None else parts.apply("np::nonzero", truth)


def _flat_nonzero_of(parts: Parts, a: Value) -> Value | None:
    truth = _truth_of(parts, a)
    return None if truth is None else parts.apply("np::flatnonzero", truth)


declare_function(
    "nonzero",
    "(a)",
    _infer_nonzero,
    np.nonzero,
    lower=lambda e, a: e.tuple_make([places_of(e, a, ArrayType(_INT64, (None,), "strided"))]),
    can_lower=lambda a: _can_find(a) and a.ndim == 1,
    decompose=_nonzero_of,
    callables=(np.nonzero, np.where),
    methods=("ndarray.nonzero",),
    samples=((_MATRIX,), (np.arange(4) > 1,)),
)
declare_function(
    "flatnonzero",
    "(a)",
    _infer_flat_index,
    np.flatnonzero,
    lower=lambda e, a: places_of(e, a),
    can_lower=_can_find,
    decompose=_flat_nonzero_of,
    samples=((_MATRIX,), (np.arange(4) > 1,)),
)


# -- take ------------------------------------------------------------------------------------------


def _infer_take(a: Type, indices: Type, *, axis: object = None) -> Type:
    if not isinstance(a, ArrayType) or not isinstance(indices, ArrayType) or not indices.ndim:
        return ANY
    is_first = (axis == 0 and type(axis) is int) or (axis is None and a.ndim == 1)
    if not is_first or not a.ndim or indices.dtype.kind not in "iu" or indices.dtype == np.uint64:
        return ANY
    return ArrayType(a.dtype, indices.shape + a.shape[1:])


def _can_take(a: Type, indices: Type, *, axis: object = None) -> bool:
    if _infer_take(a, indices, axis=axis) == ANY:
        return False
    assert isinstance(a, ArrayType)
    return can_copy(a, indices)


def _take(a: Any, indices: Any, *, axis: Any = None) -> Any:
    return np.take(a, indices, axis)


declare_function(
    "take",
    "(a, indices, *, axis=None)",
    _infer_take,
    np.take,
    evaluate=_take,
    lower=lambda e, a, i, **_attrs: gathered(e, a, i, rows_type(a.type, i.type)),
    can_lower=_can_take,
    parameters=("a", "indices", "axis"),
    methods=("ndarray.take",),
    samples=((_VECTOR, np.array([1, -1])),),
)
