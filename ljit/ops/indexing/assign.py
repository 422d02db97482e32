"""``a[index] = value``: an element is stored; a slice is a view that `np::assign` fills, also with a tuple of numbers.

The lowerings check everything (bounds, sizes, overlap, that each value fits the dtype) and bail before they
write the first element, so that the interpreter can run the whole operation again.
"""

from __future__ import annotations

import operator
from collections.abc import Iterable, Mapping, Sequence

import numpy as np

from ljit.ir import Effect, Node, OpDef, Schema, declare
from ljit.ir.emitter import Emitter, V
from ljit.ir.linear import Linear
from ljit.ir.range_rules import RangeRules, Refused, Symbolic
from ljit.ops.arrays.convert import (
    STORED,
    can_store,
    scalar_can_bail,
    store_can_bail,
    store_convert,
    store_scalar,
)
from ljit.ops.arrays.rules import broadcast_shapes, dtype_of, element_of, is_scalar
from ljit.ops.indexing.index import (
    INDEX_RANGES,
    basic_parts,
    index_checks,
    index_element,
    infer_item,
    is_element,
    is_inside,
    refused_indices,
    view_at,
)
from ljit.ops.indexing.index_stores import can_store_at, store_at
from ljit.ops.python.numbers import is_held_by
from ljit.ops.ranges.float_bounds import within
from ljit.ops.ranges.int_bounds import is_int
from ljit.types import ANY, INT, ArrayType, ScalarType, TupleType, Type, UnionType

__all__ = ["assign", "can_assign"]

_WRITES = Effect.READ | Effect.WRITE | Effect.RAISE
_Outputs = Type | tuple[Type, ...]

#: by the kind of a dtype: numbers of any of that kind are such, but for the largest of 64 bits without a sign
_WIDEST = {"i": np.dtype(np.int64), "u": np.dtype(np.int64), "f": np.dtype(np.float64)}

# -- types -----------------------------------------------------------------------------------------


def _infer_setitem(a: Type, _index: Type, _value: Type) -> _Outputs:
    return () if isinstance(a, ArrayType) else ANY


def _infer_assign(target: Type, _value: Type) -> _Outputs:
    return () if isinstance(target, ArrayType) else ANY


def _setitem_effects(a: Type, index: Type, value: Type) -> Effect:
    known = isinstance(a, ArrayType) and infer_item(a, index) != ANY
    return _WRITES if known and _is_plain(value) else Effect.CALL


def _assign_effects(target: Type, value: Type) -> Effect:
    return _WRITES if isinstance(target, ArrayType) and _is_plain(value) else Effect.CALL


def _is_plain(value: Type) -> bool:
    """Whether assigning from `value` runs no Python code."""
    return is_scalar(value) or isinstance(value, ArrayType) or _is_row(value)


def _is_row(value: Type) -> bool:
    return (
        isinstance(value, TupleType) and len(value.items) > 0 and all(map(is_scalar, value.items))
    )


def can_assign(target: Type, value: Type) -> bool:
    """Whether `assign` can do it."""
    if not isinstance(target, ArrayType) or not target.writeable:
        return False
    if isinstance(value, TupleType):
        is_vector = target.ndim == 1 and target.shape[0] in (None, len(value.items))
        return is_vector and _is_row(value) and all(can_store(t, target.dtype) for t in value.items)
    if not can_store(element_of(value), target.dtype):
        return False
    if not isinstance(value, ArrayType):
        return True
    if value.ndim > target.ndim:
        return False  # NumPy drops leading axes of size 1
    return broadcast_shapes((target.shape, value.shape)) is not None


def _can_setitem(a: Type, index: Type, value: Type) -> bool:
    if not isinstance(a, ArrayType):
        return False
    parts = basic_parts(a, index)
    if parts is None:
        return can_store_at(a, index, value)
    if is_element(index, parts):
        return a.writeable and is_scalar(value) and can_store(value, a.dtype)
    return can_assign(infer_item(a, index), value)


# -- code ------------------------------------------------------------------------------------------


def _lower_setitem(e: Emitter, a: V, index: V, value: V) -> None:
    parts = basic_parts(a.type, index.type)
    if parts is None:
        store_at(e, a, index, value)
    elif is_element(index.type, parts):
        indices = index_element(e, a, index)
        e.array_store(a, indices, store_scalar(e, value, a.type.dtype))
    else:
        assign(e, view_at(e, a, index, parts), value)


def assign(e: Emitter, target: V, value: V) -> None:
    """``target[...] = value``."""
    dtype = target.type.dtype
    if isinstance(value.type, TupleType):
        _store_row(e, target, e.tuple_items(value))
    elif not isinstance(value.type, ArrayType):
        e.array_assign(target, store_scalar(e, value, dtype), lambda x: x, may_bail=False)
    elif value.type.dtype == dtype and value.type.ndim == target.type.ndim:
        # ``a[i] += x`` stores the very view that it has changed
        done = e.const(INT, 0)
        e.branch(e.array_same(target, value), lambda: done, lambda: _copy(e, target, value))
    else:
        _copy(e, target, value)


def _store_row(e: Emitter, target: V, items: Sequence[V]) -> None:
    """``a[i] = x, y, z``, where there are as many elements as numbers; leaves where there are not."""
    (size,) = e.array_sizes(target)
    e.bail_if(e.compare("ne", size, len(items)), "another number of values than elements")
    stored = [store_scalar(e, item, target.type.dtype) for item in items]
    for i, item in enumerate(stored):
        e.array_store(target, [e.const(INT, i)], item)


def _copy(e: Emitter, target: V, value: V) -> V:
    """Copy an array into another one; gives 0."""
    dtype = target.type.dtype
    may_bail = store_can_bail(element_of(value.type), dtype)
    e.array_assign(target, value, lambda x: store_convert(e, x, dtype), may_bail=may_bail)
    return e.const(INT, 0)


def _assign(target: np.ndarray, value: object) -> None:
    target[...] = value


def _is_stored(node: Node) -> bool:
    """Whether the element exists and takes the value as it is."""
    a, _, value = (v.type for v in node.inputs)
    if not isinstance(a, ArrayType) or not a.writeable or not is_scalar(value):
        return False
    if not is_inside(node) or not can_store(value, a.dtype):
        return False
    return STORED in node.proven or not scalar_can_bail(value, a.dtype)


def _checked_by(node: Node) -> tuple[str, Mapping[str, object]] | None:
    """What converts the number, of a store whose element exists."""
    a, _, value = (v.type for v in node.inputs)
    if not isinstance(a, ArrayType) or not a.writeable or not is_inside(node):
        return None
    if not is_scalar(value) or not can_store(value, a.dtype):
        return None
    return "np::as_element", {"dtype": a.dtype, "wraps": False}


def _setitem_checks(s: Symbolic, node: Node) -> Iterable[tuple[str, Linear]]:
    yield from index_checks(s, node)
    a, value = node.inputs[0].type, node.inputs[2]
    if not isinstance(a, ArrayType) or not is_scalar(value.type):
        return
    if not scalar_can_bail(value.type, a.dtype):
        return
    limits = np.iinfo(a.dtype)
    if is_int(value.type):
        yield STORED, s.value(value) - int(limits.min)
        yield STORED, int(limits.max) - s.value(value)
    elif s.has_exact_floats and within(s.floats(value), int(limits.min), int(limits.max)):
        yield STORED, s.constant(0)


def _refused_indices(s: Symbolic, node: Node) -> Iterable[Refused]:
    return refused_indices(s, node) if _can_setitem(*(v.type for v in node.inputs)) else ()


def _element_type(a: Type, _index: Type, value: Type) -> ScalarType | None:
    """That of the elements; the widest one of its kind for numbers of more bits, which are checked or rounded alike."""
    if not isinstance(a, ArrayType):
        return None
    members = value.members if isinstance(value, UnionType) else ()
    dtypes = [dtype for m in members if (dtype := dtype_of(m)) is not None]
    are_held = all(is_held_by(a.dtype, dtype) for dtype in dtypes)
    return ScalarType(a.dtype if are_held else _WIDEST.get(a.dtype.kind, a.dtype))


declare(
    OpDef(
        "np::setitem",
        Schema("(a!, index, value)"),
        "``a[index] = value`` of an array.",
        infer=_infer_setitem,
        evaluate=operator.setitem,
        lower=_lower_setitem,
        can_lower=_can_setitem,
        writes_part=True,
        effects=_setitem_effects,
        number_type=_element_type,
        checked_by=_checked_by,
        ranges=RangeRules(
            checks=_setitem_checks,
            float_checks=(STORED,),
            facts=INDEX_RANGES.facts,
            refused=_refused_indices,
            is_complete=_is_stored,
        ),
    )
)
declare(
    OpDef(
        "np::assign",
        Schema("(target!, value)"),
        "``target[...] = value``: what a store to a slice does to the view.",
        infer=_infer_assign,
        evaluate=_assign,
        lower=assign,
        can_lower=can_assign,
        effects=_assign_effects,
    )
)
