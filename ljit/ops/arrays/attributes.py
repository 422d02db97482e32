"""Attributes of arrays and NumPy scalars: sizes, dtype, and the views ``T``, ``real``, ``imag``."""

from __future__ import annotations

import operator
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from ljit.ir import UNKNOWN, Effect, OpDef, Schema, declare
from ljit.ir.emitter import Emitter, V
from ljit.ir.range_rules import RangeRules
from ljit.ops.arrays.convert import component, python_type, to_python
from ljit.ops.arrays.rules import dtype_of, is_scalar
from ljit.types import ANY, BOOL, INT, ArrayType, ObjectType, ScalarType, TupleType, Type

__all__: list[str] = []


def _ndim(t: Type) -> int | None:
    """The rank of an array or a number; None for other types."""
    if isinstance(t, ArrayType):
        return t.ndim
    return 0 if is_scalar(t) else None


def _int_result(a: Type) -> Type:
    return ANY if _ndim(a) is None else INT


def _int_tuple(a: Type) -> Type:
    ndim = _ndim(a)
    return ANY if ndim is None else TupleType((INT,) * ndim)


def _effects(infer: Callable[[Type], Type], known: Effect) -> Callable[[Type], Effect]:
    def effects(a: Type) -> Effect:
        return Effect.CALL if infer(a) == ANY else known

    return effects


_ARRAY = np.arange(6.0)
_SAMPLES: tuple[tuple[object, ...], ...] = ((np.arange(6.0).reshape(2, 3),), (np.complex64(1j),))


def _declare(
    name: str, infer: Callable[[Type], Type], lower: Callable[..., V], **fields: Any
) -> None:
    effect = fields.pop("effect", Effect.PURE)
    declare(
        OpDef(
            f"np::{name}",
            Schema(fields.pop("schema", "(a)")),
            fields.pop("doc", f"``a.{name}``"),
            infer=infer,
            evaluate=fields.pop("evaluate", operator.attrgetter(name)),
            lower=lower,
            can_lower=fields.pop("can_lower", lambda a: infer(a) != ANY),
            effects=_effects(infer, effect),
            attributes=fields.pop("attributes", (f"ndarray.{name}", f"generic.{name}")),
            samples=fields.pop("samples", _SAMPLES),
            **fields,
        )
    )


# -- sizes -----------------------------------------------------------------------------------------


def _sizes(e: Emitter, a: V) -> list[V]:
    return list(e.array_sizes(a)) if isinstance(a.type, ArrayType) else []


def _lower_shape(e: Emitter, a: V) -> V:
    return e.tuple_make(_sizes(e, a))


def _lower_strides(e: Emitter, a: V) -> V:
    return e.tuple_make(list(e.array_strides(a)) if isinstance(a.type, ArrayType) else [])


def _is_strided(a: Type) -> bool:
    return isinstance(a, ScalarType) or (isinstance(a, ArrayType) and a.layout != "C")


def _lower_size(e: Emitter, a: V) -> V:
    total = e.const(INT, 1)
    for size in _sizes(e, a):
        total = e.mul(total, size)
    return total


def _lower_ndim(e: Emitter, a: V) -> V:
    return e.const(INT, _ndim(a.type))


def _itemsize(a: Type) -> int:
    dtype = dtype_of(a)
    assert dtype is not None
    return dtype.itemsize


def _lower_nbytes(e: Emitter, a: V) -> V:
    return e.mul(_lower_size(e, a), _itemsize(a.type))


def _lower_len(e: Emitter, a: V) -> V:
    return e.array_sizes(a)[0]


def _infer_len(a: Type) -> Type:
    return INT if isinstance(a, ArrayType) and a.ndim else ANY


def _fold(known: Callable[[Type], object]) -> Callable[[Sequence[Type], object], object]:
    def fold(types: Sequence[Type], _constants: object) -> object:
        return UNKNOWN if _ndim(types[0]) is None else known(types[0])

    return fold


_declare(
    "shape",
    _int_tuple,
    _lower_shape,
    evaluate=np.shape,
    callables=(np.shape,),
    ranges=RangeRules(item=lambda s, node, axis: s.size(node.inputs[0], axis)),
    reads_sizes=True,
    takes_records=True,
)
# of a contiguous array, those of axes with one element, or of an empty array, can be any: the object knows
_declare("strides", _int_tuple, _lower_strides, can_lower=_is_strided)
_declare(
    "size",
    _int_result,
    _lower_size,
    evaluate=np.size,
    callables=(np.size,),
    reads_sizes=True,
    takes_records=True,
)
_declare(
    "ndim",
    _int_result,
    _lower_ndim,
    evaluate=np.ndim,
    callables=(np.ndim,),
    fold=_fold(_ndim),
    takes_records=True,
)
_declare(
    "itemsize", _int_result, lambda e, a: e.const(INT, _itemsize(a.type)), fold=_fold(_itemsize)
)
_declare("nbytes", _int_result, _lower_nbytes)
_declare(
    "len",
    _infer_len,
    _lower_len,
    doc="``len(a)`` of an array.",
    evaluate=len,
    attributes=(),
    ranges=RangeRules(value=lambda s, node, _: s.size(node.inputs[0], 0)),
    reads_sizes=True,
    takes_records=True,
    samples=_SAMPLES[:1],
)


# -- dtype -----------------------------------------------------------------------------------------


def _infer_dtype(a: Type) -> Type:
    return ObjectType(type(a.dtype)) if isinstance(a, ArrayType | ScalarType) else ANY


def _known_dtype(a: Type) -> object:
    return a.dtype if isinstance(a, ArrayType | ScalarType) else UNKNOWN


def _lower_dtype(e: Emitter, a: V) -> V:
    return e.object_const(a.type.dtype)


_declare("dtype", _infer_dtype, _lower_dtype, fold=_fold(_known_dtype))


# -- views -----------------------------------------------------------------------------------------


def _infer_transpose(a: Type) -> Type:
    if not isinstance(a, ArrayType):
        return a if isinstance(a, ScalarType) else ANY
    layout = a.layout if a.ndim < 2 else "strided"
    return ArrayType(a.dtype, a.shape[::-1], layout, a.writeable)


def _lower_transpose(e: Emitter, a: V) -> V:
    if not isinstance(a.type, ArrayType):
        return a
    sizes, strides = list(e.array_sizes(a)), list(e.array_strides(a))
    zero = e.const(INT, 0)
    return e.array_view(a, _infer_transpose(a.type), zero, sizes[::-1], strides[::-1])


def _infer_part(a: Type) -> Type:
    """Type of ``real`` and ``imag`` of complex operands, of ``real`` of others: a view or the same."""
    if isinstance(a, ScalarType):
        return component(a.dtype) if a.dtype.kind == "c" else a
    if not isinstance(a, ArrayType) or a.dtype.kind != "c":
        return a if isinstance(a, ArrayType) else ANY
    dtype = component(a.dtype).dtype
    return ArrayType(dtype, a.shape, "strided" if a.ndim else "C", a.writeable)


def _infer_imag(a: Type) -> Type:
    if isinstance(a, ArrayType) and a.dtype.kind != "c":  # zeros, read-only
        return ArrayType(a.dtype, a.shape, a.layout if a.ndim > 1 else "C", writeable=False)
    return _infer_part(a)


def _lower_real(e: Emitter, a: V) -> V:
    if a.type.dtype.kind != "c":
        return a
    return _part_view(e, a, 0) if isinstance(a.type, ArrayType) else e.real(a)


def _lower_imag(e: Emitter, a: V) -> V:
    if isinstance(a.type, ArrayType):
        return _part_view(e, a, component(a.type.dtype).dtype.itemsize)
    return e.imag(a) if a.type.dtype.kind == "c" else e.const(a.type, 0)


def _part_view(e: Emitter, a: V, offset: int) -> V:
    sizes, strides = e.array_sizes(a), e.array_strides(a)
    return e.array_view(a, _infer_part(a.type), e.const(INT, offset), sizes, strides)


def _can_lower_imag(a: Type) -> bool:
    if isinstance(a, ArrayType):
        return a.dtype.kind == "c"
    return isinstance(a, ScalarType)


def _stores_part(a: Type, value: Type) -> bool:
    """Whether it stores numbers or elements that are no complex ones to a part of complex ones."""
    dtype = dtype_of(value)
    is_complex = isinstance(a, ArrayType) and a.dtype.kind == "c"
    return is_complex and dtype is not None and dtype.kind in "biuf"


_declare(
    "transpose",
    _infer_transpose,
    _lower_transpose,
    doc="``a.T``: the axes in reverse order.",
    evaluate=np.transpose,
    attributes=("ndarray.T", "generic.T"),
    symbolic=True,
)
_declare(
    "real",
    _infer_part,
    _lower_real,
    callables=(np.real,),
    schema="(val)",
    stores_by_attribute=_stores_part,
)
_declare(
    "imag",
    _infer_imag,
    _lower_imag,
    can_lower=_can_lower_imag,
    callables=(np.imag,),
    schema="(val)",
    stores_by_attribute=_stores_part,
)


declare(
    OpDef(
        "np::flat",
        Schema("(a)"),
        "``a.flat``: an iterator, which may be asked for items, too.",
        infer=lambda a: ObjectType(np.flatiter) if isinstance(a, ArrayType) else ANY,
        evaluate=operator.attrgetter("flat"),
        effects=Effect.CALL,
        attributes=("ndarray.flat",),
        iterated="np::ravel",
        samples=((np.arange(6.0).reshape(2, 3),),),
    )
)


# -- items -----------------------------------------------------------------------------------------


def _infer_item(a: Type) -> Type:
    return python_type(a.dtype) if isinstance(a, ArrayType | ScalarType) else ANY


def _lower_item(e: Emitter, a: V) -> V:
    """The only element, as a Python number; arrays of other sizes bail, NumPy raises."""
    if not isinstance(a.type, ArrayType):
        return to_python(e, a)
    zero = e.const(INT, 0)
    for size in e.array_sizes(a):
        e.bail_if(e.compare("ne", size, 1), "item() of an array of several elements")
    return to_python(e, e.array_load(a, [zero] * a.type.ndim))


_declare(
    "item",
    _infer_item,
    _lower_item,
    doc="``a.item()``: the only element as a Python number.",
    evaluate=operator.methodcaller("item"),
    attributes=(),
    methods=("ndarray.item", "generic.item"),
    effect=Effect.READ | Effect.RAISE,
    samples=((np.array([2.5]),), (np.int32(7),)),
)


# -- memory ----------------------------------------------------------------------------------------


def _are_arrays(a: Type, b: Type) -> bool:
    return isinstance(a, ArrayType) and isinstance(b, ArrayType)


def _may_share(a: np.ndarray, b: np.ndarray) -> bool:
    """What NumPy says of arrays; of records, of which it looks at copies, that they may."""
    return any(isinstance(x, np.void) for x in (a, b)) or np.may_share_memory(a, b)


def _declare_overlap(name: str, doc: str, **fields: Any) -> None:
    declare(
        OpDef(
            f"np::{name}",
            Schema("(a, b, /)"),
            doc,
            infer=lambda a, b: BOOL if _are_arrays(a, b) else ANY,
            lower=lambda e, a, b: e.array_overlap(a, b),
            can_lower=_are_arrays,
            effects=lambda a, b: Effect.PURE if _are_arrays(a, b) else Effect.CALL,
            samples=(
                (_ARRAY, _ARRAY),
                (_ARRAY, _ARRAY[1:]),
                (_ARRAY, np.arange(3)),
                (_ARRAY[:3], _ARRAY[3:]),
            ),
            **fields,
        )
    )


_declare_overlap(
    "may_share_memory",
    "Whether the memory that lies between the first and the last element of arrays, or records, overlaps.",
    evaluate=_may_share,
    takes_records=True,
)
_declare_overlap(
    "said_to_share_memory",
    "``np.may_share_memory(a, b)``",
    evaluate=np.may_share_memory,
    callables=(np.may_share_memory,),
)
