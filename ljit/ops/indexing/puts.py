"""``np.put``, ``np.putmask`` and ``np.copyto``: stores that are spelled as calls, native as ``a[index] = value`` is."""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np

from ljit.ir import Effect
from ljit.ir.emitter import Emitter, V
from ljit.ops.arrays.boxed import declare_function
from ljit.ops.arrays.convert import can_store
from ljit.ops.arrays.flat import as_vector
from ljit.ops.arrays.rules import dtype_of, element_of
from ljit.ops.indexing.assign import assign, can_assign
from ljit.ops.indexing.index_stores import can_store_at, check_apart, store_at
from ljit.types import ANY, BOOL, FLOAT, INT, NONE, ArrayType, TupleType, Type

__all__: list[str] = []

_WRITES = Effect.READ | Effect.WRITE | Effect.RAISE
_UINT64 = np.dtype(np.uint64)
_PUT_SAMPLES = ((np.zeros(4), np.array([1, -1]), np.arange(2.0)), (np.zeros(4), np.array([3]), 2.5))
_MASK = np.array([True, False, True, False])
_WEAK = {BOOL: "b", INT: "i", FLOAT: "f"}


def _vector_type(a: ArrayType) -> ArrayType | None:
    """The type of all elements as a vector; None if that is no view."""
    if a.ndim == 1:
        return a
    return ArrayType(a.dtype, (None,), "C", a.writeable) if a.ndim and a.layout == "C" else None


# -- put -------------------------------------------------------------------------------------------


def _infer_put(a: Type, ind: Type, v: Type, *, mode: object = "raise") -> Type:
    if not isinstance(a, ArrayType) or not isinstance(ind, ArrayType) or mode != "raise":
        return ANY
    vector = _vector_type(a)
    is_index = ind.dtype.kind in "iu" and ind.dtype != _UINT64
    if vector is None or not is_index or ind.ndim != 1:
        return ANY
    return NONE if can_store_at(vector, ind, v) else ANY


def _lower_put(e: Emitter, a: V, ind: V, v: V, *, mode: object = "raise") -> V:
    store_at(e, as_vector(e, a), ind, v)
    return e.const(NONE, None)


declare_function(
    "put",
    "(a!, ind, v, *, mode='raise')",
    _infer_put,
    np.put,
    effect=_WRITES,
    lower=_lower_put,
    parameters=("a", "ind", "v", "mode"),
    samples=_PUT_SAMPLES,
)
declare_function(
    "put_method",
    "(a!, indices, values, *, mode='raise')",
    _infer_put,
    np.ndarray.put,
    doc="``a.put``",
    callables=(),
    effect=_WRITES,
    lower=_lower_put,
    parameters=("a", "indices", "values", "mode"),
    methods=("ndarray.put",),
    samples=_PUT_SAMPLES,
)


# -- putmask and copyto ----------------------------------------------------------------------------


def _is_masked_by(a: Type, mask: Type, values: Type) -> bool:
    """Whether `_store_masked` can do it."""
    if not isinstance(a, ArrayType) or not isinstance(mask, ArrayType) or not a.ndim:
        return False
    if not a.writeable or not a.layout == mask.layout == "C":
        return False
    if mask.dtype.kind != "b" or mask.ndim != a.ndim or not can_store(element_of(values), a.dtype):
        return False
    return not isinstance(values, ArrayType) or (
        values.dtype == a.dtype and values.ndim == a.ndim and values.layout == "C"
    )


def _store_masked(e: Emitter, a: V, mask: V, values: V) -> V:
    """Store a number, or the values in the same places, where a mask holds."""
    if not isinstance(values.type, ArrayType):
        store_at(e, a, mask, values)
        return e.const(NONE, None)
    check_apart(e, a, mask)
    e.bail_if(e.array_overlap(a, values), "values in the array itself")
    for other in (mask, values):
        for size, same in zip(e.array_sizes(other), e.array_sizes(a), strict=True):
            e.bail_if(e.compare("ne", size, same), "values of another shape")
    a, mask, values = (as_vector(e, x) for x in (a, mask, values))
    zero = e.const(INT, 0)

    def store(k: V) -> V:
        e.array_store(a, [k], e.array_load(values, [k]))
        return zero

    def step(k: V) -> None:
        e.branch(e.array_load(mask, [k]), partial(store, k), lambda: zero)

    e.loop(e.array_sizes(a)[0], step)
    return e.const(NONE, None)


def _infer_putmask(a: Type, mask: Type, values: Type) -> Type:
    return NONE if _is_masked_by(a, mask, values) else ANY


declare_function(
    "putmask",
    "(a!, mask, values)",
    _infer_putmask,
    np.putmask,
    effect=_WRITES,
    lower=_store_masked,
    parameters=("a", "/", "mask", "values"),
    samples=((np.zeros(4), _MASK, np.arange(4.0)), (np.zeros(4), _MASK, 2.5)),
)


def _infer_copyto(
    dst: Type, src: Type, where: Type | None = None, *, casting: object = "same_kind"
) -> Type:
    if casting != "same_kind" or not isinstance(dst, ArrayType) or not _is_same_kind(src, dst):
        return ANY
    if where is None:
        return NONE if not isinstance(src, TupleType) and can_assign(dst, src) else ANY
    return NONE if _is_masked_by(dst, where, src) else ANY


def _is_same_kind(src: Type, dst: ArrayType) -> bool:
    if src in _WEAK:
        return np.can_cast(np.dtype(_WEAK[src]), dst.dtype, "same_kind")
    dtype = dtype_of(src)
    return dtype is not None and np.can_cast(dtype, dst.dtype, "same_kind")


def _lower_copyto(
    e: Emitter, dst: V, src: V, where: V | None = None, *, casting: object = "same_kind"
) -> V:
    if where is not None:
        return _store_masked(e, dst, where, src)
    assign(e, dst, src)
    return e.const(NONE, None)


def _copyto(dst: Any, src: Any, where: Any = True, *, casting: Any = "same_kind") -> None:
    np.copyto(dst, src, casting, where)


declare_function(
    "copyto",
    "(dst!, src, where=True, *, casting='same_kind')",
    _infer_copyto,
    np.copyto,
    evaluate=_copyto,
    effect=_WRITES,
    lower=_lower_copyto,
    parameters=("dst", "src", "casting", "where"),
    samples=((np.zeros(4), np.arange(4.0), _MASK), (np.zeros(4), 2.5, _MASK)),
)
