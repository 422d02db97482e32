"""Records of structured arrays: their fields, read and written where they lie, and views of all elements of a field.

``a[i]`` is no object unless something asks for one. ``a["x"]`` is a view, as NumPy's.
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Sequence

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
    index_checks,
    index_element,
    is_element,
    refused_indices,
    view_at,
    view_type,
)
from ljit.record_types import RecordType, UnalignedType, field_offset, type_of_field
from ljit.types import ANY, INT, ArrayType, ScalarType, TupleType, Type

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


declare(
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


declare(
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


declare(
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


# -- stores at an index --------------------------------------------------------------------------------


def _declare_store(
    name: str,
    doc: str,
    stores: Callable[[Type, Type, Type], bool],
    lower: Callable[[Emitter, V, V, V], Sequence[V]],
) -> None:
    """Declare ``a[index] = value`` for the types that `stores` says."""
    quiet = Effect.WRITE | Effect.RAISE
    declare(
        OpDef(
            name,
            Schema("(a!, index, value)"),
            doc,
            infer=lambda *types: () if stores(*types) else ANY,
            takes_records=True,
            evaluate=operator.setitem,
            lower=lower,
            can_lower=stores,
            effects=lambda *types: quiet if stores(*types) else Effect.CALL,
            ranges=RangeRules(checks=index_checks, refused=refused_indices),
        )
    )


# -- elements that are not aligned ---------------------------------------------------------------------


def _infer_unaligned(a: Type, index: Type) -> Type:
    parts = basic_parts(a, index) if isinstance(a, UnalignedType) else None
    return ScalarType(a.dtype) if parts and is_element(index, parts) else ANY  # type: ignore[attr-defined]


declare(
    OpDef(
        "np::unaligned",
        Schema("(a, index)"),
        "``a[index]``: an element of a view of a field, which may lie anywhere.",
        infer=_infer_unaligned,
        takes_records=True,
        evaluate=operator.getitem,
        lower=lambda e, a, index: e.array_load(a, index_element(e, a, index), is_aligned=False),
        effects=lambda a, index: (
            Effect.CALL if _infer_unaligned(a, index) == ANY else Effect.READ | Effect.RAISE
        ),
        ranges=INDEX_RANGES,
    )
)


def _stores_unaligned(a: Type, index: Type, value: Type) -> bool:
    if _infer_unaligned(a, index) == ANY or not is_scalar(value):
        return False
    assert isinstance(a, ArrayType)
    return a.writeable and can_store(value, a.dtype)


def _lower_store_unaligned(e: Emitter, a: V, index: V, value: V) -> Sequence[V]:
    place = index_element(e, a, index)
    e.array_store(a, place, store_scalar(e, value, a.type.dtype), is_aligned=False)
    return ()


_declare_store(
    "np::store_unaligned",
    "``a[index] = value``: store a number into a view of a field.",
    _stores_unaligned,
    _lower_store_unaligned,
)


# -- whole records -------------------------------------------------------------------------------------


def _stores_record(a: Type, index: Type, value: Type) -> bool:
    """Whether a tuple of numbers is stored, one for each field."""
    t = _infer_records(a, index)
    if not isinstance(t, RecordType) or not t.writeable or not isinstance(value, TupleType):
        return False
    fields = [type_of_field(t, name) for name in t.dtype.names or ()]
    if len(fields) != len(value.items) or not all(isinstance(f, ScalarType) for f in fields):
        return False
    pairs = zip(value.items, fields, strict=True)
    return all(is_scalar(x) and can_store(x, f.dtype) for x, f in pairs)  # type: ignore[attr-defined]


def _lower_store_record(e: Emitter, a: V, index: V, value: V) -> Sequence[V]:
    """All numbers are converted before the first is stored."""
    record = _lower_records(e, a, index)
    names = record.type.dtype.names
    places = [_number(e, record, name) for name in names]
    pairs = zip(e.tuple_items(value), places, strict=True)
    numbers = [store_scalar(e, x, place.type.dtype) for x, place in pairs]
    for place, number in zip(places, numbers, strict=True):
        e.array_store(place, (), number, is_aligned=False)
    return ()


_declare_store(
    "np::store_record",
    "``a[index] = (x, y)``: store numbers into the fields of a record.",
    _stores_record,
    _lower_store_record,
)
