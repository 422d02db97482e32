"""Joining arrays: ``concatenate``, ``stack`` and their relatives fill the parts of a fresh array."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

import numpy as np

from ljit.ir import Value, get_op
from ljit.ir.emitter import Emitter, V
from ljit.ir.parts import Parts
from ljit.ops.arrays.boxed import axes_of, declare_function
from ljit.ops.arrays.convert import can_store, store_convert
from ljit.ops.arrays.flat import as_vector, product_of
from ljit.ops.arrays.rules import is_scalar, result_dtype
from ljit.types import ANY, COMPLEX, FLOAT, INT, ArrayType, ScalarType, TupleType, Type
from ljit.value_types import type_of

__all__: list[str] = []

_VECTOR, _MATRIX = np.arange(3.0), np.arange(6).reshape(2, 3)


def _items_of(arrays: Type) -> tuple[Type, ...]:
    return arrays.items if isinstance(arrays, TupleType) else ()


def _arrays(arrays: Type) -> tuple[ArrayType, ...]:
    """The types of what is joined; none if they are not all arrays of one rank."""
    items = _items_of(arrays)
    found = tuple(t for t in items if isinstance(t, ArrayType))
    return found if len(found) == len(items) and len({t.ndim for t in found}) == 1 else ()


def _joined_dtype(arrays: Sequence[ArrayType]) -> np.dtype | None:
    return result_dtype(tuple(t.dtype for t in arrays))


def _joined_axis(axis: object, rank: int) -> int | None:
    axes = axes_of(axis, rank) if type(axis) is int else None
    return None if axes is None else axes[0]


# -- concatenate -------------------------------------------------------------------------------------


def _common(sizes: Sequence[int | None]) -> int | None:
    return next((size for size in sizes if size is not None), None)


def _layout(items: Sequence[ArrayType], rank: int) -> str:
    """Of arrays in C order the whole is in C order; of others NumPy decides."""
    return "C" if rank == 1 or all(t.layout == "C" for t in items) else "strided"


def _infer_concatenate(arrays: Type, *, axis: object = 0) -> Type:
    items = _arrays(arrays)
    dtype = _joined_dtype(items) if items else None
    if dtype is None:
        return ANY
    if axis is None:
        return ArrayType(dtype, (None,))
    rank = items[0].ndim
    along = _joined_axis(axis, rank)
    if along is None:
        return ANY
    columns = zip(*(t.shape for t in items), strict=True)
    shape = tuple(None if i == along else _common(sizes) for i, sizes in enumerate(columns))
    return ArrayType(dtype, shape, _layout(items, rank))


def _infer_stack(arrays: Type, *, axis: object = 0) -> Type:
    items = _arrays(arrays)
    dtype = _joined_dtype(items) if items else None
    if dtype is None:
        return ANY
    rank = items[0].ndim
    along = _joined_axis(axis, rank + 1)
    if along is None:
        return ANY
    shape = [_common(sizes) for sizes in zip(*(t.shape for t in items), strict=True)]
    shape.insert(along, len(items))
    return ArrayType(dtype, tuple(shape), _layout(items, rank + 1))


def _can_join(infer: Callable[..., Type]) -> Callable[..., bool]:
    def can_join(arrays: Type, *, axis: object = 0) -> bool:
        result = infer(arrays, axis=axis)
        if not isinstance(result, ArrayType) or result.layout != "C" or axis is None:
            return False
        return all(can_store(t.element, result.dtype) for t in _arrays(arrays))

    return can_join


def _result(type_: Type, axis: object) -> tuple[ArrayType, int]:
    """The type of the whole, which is an array, and the axis that the parts lie along."""
    assert isinstance(type_, ArrayType)
    along = _joined_axis(axis, type_.ndim)
    assert along is not None
    return type_, along


def _lower_concatenate(e: Emitter, arrays: V, *, axis: object = 0) -> V:
    items = e.tuple_items(arrays)
    type_, along = _result(_infer_concatenate(arrays.type, axis=axis), axis)
    sizes, *others = [list(e.array_sizes(x)) for x in items]
    for other in others:
        for i, size in enumerate(other):
            if i == along:
                sizes[i] = e.add(sizes[i], size)
            else:
                e.bail_if(e.compare("ne", sizes[i], size), "arrays to be joined differ in size")
    made = e.array_new(type_, sizes, None)
    _fill_parts(e, made, items, [list(e.array_sizes(x)) for x in items], along)
    return made


def _lower_stack(e: Emitter, arrays: V, *, axis: object = 0) -> V:
    items = e.tuple_items(arrays)
    type_, along = _result(_infer_stack(arrays.type, axis=axis), axis)
    sizes, *others = [list(e.array_sizes(x)) for x in items]
    for other in others:
        for size, own in zip(sizes, other, strict=True):
            e.bail_if(e.compare("ne", size, own), "arrays to be stacked differ in size")
    made = e.array_new(type_, [*sizes[:along], e.const(INT, len(items)), *sizes[along:]], None)
    raised = [*sizes[:along], e.const(INT, 1), *sizes[along:]]
    _fill_parts(e, made, items, [raised] * len(items), along)
    return made


def _fill_parts(
    e: Emitter, made: V, items: Sequence[V], sizes: Sequence[list[V]], along: int
) -> None:
    """Copy arrays of these sizes to `made`, one behind the other along an axis."""
    strides, start = list(e.array_strides(made)), e.const(INT, 0)
    whole = product_of(e, list(e.array_sizes(made))[along:])
    inner = product_of(e, sizes[0][along + 1 :])
    for item, own in zip(items, sizes, strict=True):
        if item.type.layout == "C" and item.type.dtype == made.type.dtype:
            times, block = product_of(e, own[:along]), e.mul(own[along], inner)
            target, source = as_vector(e, made), as_vector(e, item)
            first = e.mul(start, inner)
            _copy_blocks(e, (target, whole), (source, block), times, block, first)
        else:
            _fill(e, made, e.mul(start, strides[along]), item, own, along)
        start = e.add(start, own[along])


def _copy_blocks(
    e: Emitter, target: tuple[V, V], source: tuple[V, V], times: V, block: V, first: V
) -> None:
    """Copy stretches of memory; each of `target` and `source` is a vector and how far its blocks are apart.

    `first`: where the first block of the target begins.
    """
    (into, far), (values, near) = target, source

    def copy(t: V) -> None:
        e.array_move(into, e.add(first, e.mul(t, far)), values, e.mul(t, near), block)

    e.loop(times, copy)


def _fill(e: Emitter, made: V, offset: V, part: V, sizes: Sequence[V], along: int) -> None:
    """Copy an array that lies in another order, or has another dtype."""
    dtype, strides = made.type.dtype, list(e.array_strides(made))
    if part.type.ndim < len(strides):  # it is stacked
        sizes = [*sizes[:along], *sizes[along + 1 :]]
        strides.pop(along)
    type_ = ArrayType(dtype, part.type.shape, "strided" if along else "C")
    target = e.array_view(made, type_, offset, sizes, strides)
    if not sizes:
        e.array_store(target, [], store_convert(e, e.array_load(part, []), dtype))
        return
    convert = partial(store_convert, e, dtype=dtype)
    e.array_assign(target, part, convert, may_bail=False, is_apart=True)


# -- lists of numbers among arrays -------------------------------------------------------------------


def _array_type(t: Type) -> Type:
    """The type of ``np.array`` of an item."""
    return t if isinstance(t, ArrayType) else get_op("np::array").infer_types([t], {})[0]


def _with_arrays(arrays: Type) -> Type:
    if not isinstance(arrays, TupleType):
        return ANY
    return TupleType(tuple(map(_array_type, arrays.items)))


def _items(parts: Parts, arrays: Value) -> list[Value]:
    """The items as arrays."""
    assert isinstance(arrays.type, TupleType)
    found = []
    for i, t in enumerate(arrays.type.items):
        item = parts.apply("prim::TupleIndex", arrays, index=i)
        found.append(item if isinstance(t, ArrayType) else parts.apply("np::array", item))
    return found


def _declare_join(function: Callable[..., Any], infer: Callable[..., Type], lower: Any) -> None:
    name = function.__name__

    def infer_any(arrays: Type, *, axis: object = 0) -> Type:
        if axis is None and any(t in (INT, FLOAT, COMPLEX) for t in _items_of(arrays)):
            return ANY  # NumPy gives way to the dtypes of the others
        return infer(_with_arrays(arrays), axis=axis)

    def decompose(parts: Parts, arrays: Value, **attrs: object) -> Value | None:
        if infer_any(arrays.type, **attrs) == ANY or _arrays(arrays.type):
            return None
        made = parts.apply("prim::TupleConstruct", *_items(parts, arrays))
        return parts.apply(f"np::{name}", made, **attrs)

    declare_function(
        name,
        "(arrays, *, axis=0)",
        infer_any,
        function,
        lower=lower,
        can_lower=_can_join(infer),
        decompose=decompose,
        joins="along a new axis" if function is np.stack else "along an axis",
        reads_items=True,
        symbolic=True,
        parameters=("arrays", *(("/",) if function is np.concatenate else ()), "axis"),
        samples=(((np.arange(3), np.ones(3)),), (((1.0, 2.0, 3.0), _VECTOR),)),
    )


_declare_join(np.concatenate, _infer_concatenate, _lower_concatenate)
_declare_join(np.stack, _infer_stack, _lower_stack)


# -- functions of concatenate and stack --------------------------------------------------------------

#: the op, its axis, and an index of each item of lower rank
Plan = tuple[str, int, tuple[object, ...]]


def _declare_plan(
    function: Callable[..., Any], plan_of: Callable[[int], Plan], *, rank: int, **fields: Any
) -> None:
    """Declare a function that gives all items the rank of the others, at least `rank`, and joins them.

    `plan_of` says how arrays of one rank are joined, and how one of less than `rank` becomes one of it.
    """

    def plan(arrays: Type) -> tuple[Plan, Type] | None:
        types = _with_arrays(arrays)
        items = types.items if isinstance(types, TupleType) else ()
        ranks = {t.ndim for t in items if isinstance(t, ArrayType)}
        if not items or not all(isinstance(t, ArrayType) for t in items) or 0 in ranks:
            return None
        chosen = plan_of(min(ranks))
        if len(ranks) > 1:
            op, axis, index = plan_of(rank)[0], plan_of(rank)[1], chosen[2]
            types = TupleType(tuple(_raised(t, index, rank) for t in items))
            if any(not isinstance(t, ArrayType) or t.ndim < rank for t in types.items):
                return None
            chosen = (op, axis, index)
        return chosen, types

    def infer(arrays: Type) -> Type:
        found = plan(arrays)
        if found is None:
            return ANY
        (op, axis, _), types = found
        return get_op(op).infer_types([types], {"axis": axis})[0]

    def decompose(parts: Parts, arrays: Value) -> Value | None:
        found = plan(arrays.type)
        if found is None or infer(arrays.type) == ANY:
            return None
        (op, axis, index), types = found
        assert isinstance(types, TupleType)
        if not get_op(op).has_lowering([types], {"axis": axis}):
            return None  # the call of `function` costs less than that of what it calls
        items = [
            _with_rank(parts, item, type_, index)
            for item, type_ in zip(_items(parts, arrays), types.items, strict=True)
        ]
        return parts.apply(op, parts.apply("prim::TupleConstruct", *items), axis=axis)

    declare_function(
        function.__name__,
        "(tup)",
        infer,
        function,
        decompose=decompose,
        reads_items=True,
        symbolic=True,
        **fields,
    )


def _with_rank(parts: Parts, item: Value, wanted: Type, index: tuple[object, ...]) -> Value:
    """An item with the axes of the wanted type."""
    assert isinstance(item.type, ArrayType)
    assert isinstance(wanted, ArrayType)
    if item.type.ndim == wanted.ndim:
        return item
    return parts.apply("np::getitem", item, parts.constant(index))


def _raised(t: Type, index: tuple[object, ...], rank: int) -> Type:
    """The type of an item once it has at least `rank` axes."""
    if isinstance(t, ArrayType) and t.ndim < rank:
        return get_op("np::getitem").infer_types([t, type_of(index)], {})[0]
    return t


_CONCATENATE, _STACK, _FULL = "np::concatenate", "np::stack", slice(None)
_MIXED = (((_VECTOR, _VECTOR),), ((_MATRIX, _VECTOR),))
_declare_plan(
    np.hstack, lambda rank: (_CONCATENATE, min(rank - 1, 1), ()), rank=1, samples=_MIXED[:1]
)
_declare_plan(
    np.vstack,
    lambda rank: (_STACK if rank == 1 else _CONCATENATE, 0, (None, _FULL)),
    rank=2,
    samples=_MIXED,
)
_declare_plan(
    np.column_stack,
    lambda rank: (_STACK if rank == 1 else _CONCATENATE, 1, (_FULL, None)),
    rank=2,
    samples=_MIXED[:1],
)


_declare_plan(
    np.dstack,
    lambda rank: (_STACK if rank < 3 else _CONCATENATE, 2, (_FULL, _FULL, None)),
    rank=3,
    samples=(((_MATRIX, _MATRIX),), ((_MATRIX, np.ones((2, 3, 2))),), ((_VECTOR, _VECTOR),)),
)


# -- append ------------------------------------------------------------------------------------------


def _appended(t: Type) -> Type:
    return _array_type(TupleType((t,)) if is_scalar(t) else t)


def _infer_append(arr: Type, values: Type, *, axis: object = None) -> Type:
    both = (_appended(arr), _appended(values))
    if not isinstance(arr, ArrayType) or not all(isinstance(t, ArrayType) for t in both):
        return ANY
    if axis is None and {t.ndim for t in both} != {1}:  # type: ignore[attr-defined]
        return ANY  # made flat
    if axis is not None and is_scalar(values):
        return ANY  # an error
    return _infer_concatenate(TupleType(both), axis=0 if axis is None else axis)


def _append_of(parts: Parts, arr: Value, values: Value, *, axis: object = None) -> Value | None:
    if _infer_append(arr.type, values.type, axis=axis) == ANY:
        return None
    if is_scalar(values.type):
        values = parts.apply("prim::TupleConstruct", values)
    if not isinstance(values.type, ArrayType):
        values = parts.apply("np::array", values)
    both = parts.apply("prim::TupleConstruct", arr, values)
    return parts.apply("np::concatenate", both, axis=0 if axis is None else axis)


declare_function(
    "append",
    "(arr, values, *, axis=None)",
    _infer_append,
    np.append,
    decompose=_append_of,
    reads_items=True,
    symbolic=True,
    parameters=("arr", "values", "axis"),
    samples=((_VECTOR, 1.5), (_VECTOR, _VECTOR), (_VECTOR, (1, 2))),
)


# -- np.r_ and np.c_ -------------------------------------------------------------------------------

_FLOAT64, _INT64 = np.dtype(np.float64), np.dtype(np.int64)
#: the classes of numbers that become elements of arrays of a dtype
_ELEMENTS = {_FLOAT64: (FLOAT, INT, ScalarType(_FLOAT64)), _INT64: (INT, ScalarType(_INT64))}


def _arrays_of_key(key: Type) -> TupleType | None:
    """The types of what is joined: arrays of one rank; numbers beside vectors of the same dtype are vectors."""
    items = key.items if isinstance(key, TupleType) else ()
    arrays = [t for t in items if isinstance(t, ArrayType)]
    dtypes = {t.dtype for t in arrays}
    if not arrays or len({t.ndim for t in arrays}) > 1 or not arrays[0].ndim:
        return None
    if len(arrays) == len(items):
        return TupleType(items)
    (dtype, *others) = dtypes
    numbers = _ELEMENTS.get(dtype, ())
    if others or arrays[0].ndim > 1 or any(t not in numbers for t in items if t not in arrays):
        return None
    one = ArrayType(dtype, (1,))
    return TupleType(tuple(t if isinstance(t, ArrayType) else one for t in items))


def _declare_by_key(name: str, joiner: Any, plan_of: Callable[[int], tuple[str, int]]) -> None:
    """Declare ``np.r_[a, b]`` or ``np.c_[a, b]``."""

    def infer(key: Type) -> Type:
        types = _arrays_of_key(key)
        if types is None:
            return ANY
        op, axis = plan_of(types.items[0].ndim)  # type: ignore[attr-defined]
        return get_op(op).infer_types([types], {"axis": axis})[0]

    def decompose(parts: Parts, key: Value) -> Value | None:
        types = _arrays_of_key(key.type)
        if types is None:
            return None
        op, axis = plan_of(types.items[0].ndim)  # type: ignore[attr-defined]
        if not get_op(op).has_lowering([types], {"axis": axis}):
            return None
        items = []
        for i, t in enumerate(types.items):
            item = parts.apply("prim::TupleIndex", key, index=i)
            if not isinstance(item.type, ArrayType):
                row = parts.apply("prim::TupleConstruct", item)
                item = parts.apply("np::array", row, dtype=t.dtype)  # type: ignore[attr-defined]
            items.append(item)
        return parts.apply(op, parts.apply("prim::TupleConstruct", *items), axis=axis)

    declare_function(
        name,
        "(key)",
        infer,
        lambda key: joiner[key],
        callables=(),
        subscripted=(joiner,),
        decompose=decompose,
        doc=f"``np.{name}[key]`` of a tuple of arrays",
        samples=_MIXED[:1],
    )


_declare_by_key("r_", np.r_, lambda _rank: (_CONCATENATE, 0))
_declare_by_key("c_", np.c_, lambda rank: (_STACK if rank == 1 else _CONCATENATE, max(rank - 1, 1)))
