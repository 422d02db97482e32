"""Records of structured arrays: their fields, read and written where they lie, and views of all elements of a field.

``a[i]`` is no object unless something asks for one. ``a["x"]`` is a view, as NumPy's.
"""

from __future__ import annotations

import operator
from collections.abc import Sequence

import numpy as np

from ljit.ir import Effect, Node, OpDef, Schema, declare
from ljit.ir.emitter import Emitter, V
from ljit.ir.linear import Linear
from ljit.ir.range_rules import RangeRules, Symbolic
from ljit.ops.arrays.convert import can_store, store_scalar
from ljit.ops.arrays.rules import is_scalar
from ljit.ops.indexing.index import (
    INDEX_RANGES,
    basic_parts,
    index_element,
    is_element,
    view_at,
    view_type,
)
from ljit.record_types import RecordType, field_offset, type_of_field
from ljit.types import ANY, INT, ArrayType, ScalarType, Type

__all__: list[str] = []

_POINT = np.dtype([("n", np.int8), ("x", np.float64), ("p", np.int32, 2)], align=True)
_PACKED = np.dtype([("n", np.int8), ("x", np.float64), ("z", np.complex64), ("h", np.float16)])
_POINTS = np.array([(1, 2.5, (3, 4)), (-5, -0.0, (7, 8)), (9, np.nan, (10, 11))], _POINT)
_PACKS = np.array([(1, 2.5, 3j, 0.5), (-5, -0.0, 1.0, np.inf)], _PACKED)


# -- a record, or some -----------------------------------------------------------------------------------


def _infer_records(a: Type, index: Type) -> Type:
    if not isinstance(a, ArrayType) or not a.has_fields or isinstance(a, RecordType):
        return ANY
    parts = basic_parts(a, index)
    if parts is not None and is_element(index, parts):
        return RecordType(a.dtype, a.writeable)
    return view_type(a, index)


def _lower_records(e: Emitter, a: V, index: V) -> V:
    parts = basic_parts(a.type, index.type)
    assert parts is not None
    if not is_element(index.type, parts):
        return view_at(e, a, index, parts)
    offset = e.const(INT, 0)
    for i, stride in zip(index_element(e, a, index), e.array_strides(a), strict=True):
        offset = e.add(offset, e.mul(i, stride, fits=True), fits=True)
    return e.array_view(a, RecordType(a.type.dtype, a.type.writeable), offset, (), ())


RECORDS = declare(
    OpDef(
        "np::records",
        Schema("(a, index)"),
        "``a[index]`` of a structured array: a record, or a view of several.",
        infer=_infer_records,
        takes_records=True,
        evaluate=operator.getitem,
        lower=_lower_records,
        effects=lambda a, index: Effect.CALL if _infer_records(a, index) == ANY else Effect.RAISE,
        ranges=INDEX_RANGES,
        samples=(
            *((_POINTS, 1), (_POINTS[::-1], -3), (_PACKS.reshape(2, 1), (1, 0)), (_POINTS, 3)),
            *((_POINTS, slice(1, None)), (_PACKS, slice(None, None, -1))),
        ),
    )
)


# -- its fields ----------------------------------------------------------------------------------------


def _field(x: object, *, name: str) -> object:
    return x[name]  # type: ignore[index]


def _view(e: Emitter, x: V, name: str, type_: ArrayType) -> V:
    """The view of a field."""
    sizes, strides = list(e.array_sizes(x)), list(e.array_strides(x))
    own = type_.shape[len(sizes) :]
    step = type_.dtype.itemsize
    inner: list[V] = []
    for size in reversed(own):
        inner.insert(0, e.const(INT, step))
        step *= size or 0
    sizes += [e.const(INT, size) for size in own]
    offset = e.const(INT, field_offset(x.type, name))
    known = type_.layout == "C"
    return e.array_view(x, type_, offset, sizes, () if known else [*strides, *inner])


def _lower_field(e: Emitter, x: V, *, name: str) -> V:
    type_ = type_of_field(x.type, name)
    if isinstance(type_, ArrayType):
        return _view(e, x, name, type_)
    return e.array_load(_number(e, x, name), (), is_aligned=False)


def _number(e: Emitter, x: V, name: str) -> V:
    """The memory of a record's number, as an array without axes that may lie anywhere."""
    type_ = type_of_field(x.type, name)
    assert isinstance(type_, ScalarType)
    return _view(e, x, name, ArrayType(type_.dtype, (), "C", x.type.writeable))


def _effect_of_field(x: Type, *, name: str) -> Effect:
    type_ = type_of_field(x, name)
    if type_ == ANY:
        return Effect.CALL
    return Effect.READ if isinstance(type_, ScalarType) else Effect.PURE


def _size_of_field(s: Symbolic, node: Node, axis: int) -> Linear | None:
    (x,) = node.inputs
    assert isinstance(x.type, ArrayType)
    return s.size(x, axis) if axis < x.type.ndim else None


FIELD = declare(
    OpDef(
        "np::field",
        Schema("(x, *, name)"),
        "``x[name]`` of a structured array or a record: a view of the field, or the number that a record has there.",
        infer=lambda x, *, name: type_of_field(x, name),
        takes_records=True,
        evaluate=_field,
        lower=_lower_field,
        effects=_effect_of_field,
        ranges=RangeRules(size=_size_of_field),
    )
)


def _can_store_field(x: Type, value: Type, *, name: str) -> bool:
    type_ = type_of_field(x, name)
    if not isinstance(x, RecordType) or not x.writeable or not isinstance(type_, ScalarType):
        return False
    return is_scalar(value) and can_store(value, type_.dtype)


def _store_field(x: object, value: object, *, name: str) -> None:
    x[name] = value  # type: ignore[index]


def _lower_store(e: Emitter, x: V, value: V, *, name: str) -> Sequence[V]:
    number = _number(e, x, name)
    e.array_store(number, (), store_scalar(e, value, number.type.dtype), is_aligned=False)
    return ()


STORE_FIELD = declare(
    OpDef(
        "np::store_field",
        Schema("(x!, value, *, name)"),
        "``x[name] = value``: store a number into a record.",
        infer=lambda x, value, *, name: () if _can_store_field(x, value, name=name) else ANY,
        takes_records=True,
        evaluate=_store_field,
        lower=_lower_store,
        can_lower=_can_store_field,
        effects=lambda x, value, *, name: (
            Effect.WRITE | Effect.RAISE if _can_store_field(x, value, name=name) else Effect.CALL
        ),
    )
)
