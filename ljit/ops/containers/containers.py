"""Ops that make, read and change tuples, lists, sets, dicts and slices."""

from __future__ import annotations

import operator
from array import array
from collections.abc import Iterable
from functools import reduce
from typing import Any, TypeGuard

import numpy as np

from ljit.ir import Effect, Emitter
from ljit.ir.emitter import V
from ljit.ir.list_uses import ListUse
from ljit.ir.special_methods import SpecialMethods
from ljit.ops.objects import object_op
from ljit.ops.python.numbers import is_plain, plain_effect, to_type
from ljit.ops.python.types import check_index, common_type, range_length, select_item, wrap_index
from ljit.ops.ranges.int_ranges import SEQUENCE_INDEX
from ljit.packed_types import is_packed, may_change, packed_item_type, packed_limits
from ljit.types import (
    ANY,
    BOOL,
    BYTES,
    CHARACTER,
    INT,
    INT_MAX,
    INT_MIN,
    NEVER,
    NONE,
    RANGE,
    STR,
    ListType,
    ObjectType,
    SliceType,
    TupleType,
    Type,
    is_index,
    join_items,
    list_of,
    slice_of,
)


def _nothing(*_types: object, **_attrs: object) -> tuple[()]:
    """Infer rule of ops without an output."""
    return ()


# -- making ----------------------------------------------------------------------------------------


def _make_list(*items: object, item: Type = NEVER) -> list[object]:
    return list(items)


def make_set(*items: object) -> set[object]:
    return set(items)


def make_dict(*pairs: object) -> dict[object, object]:
    return dict(zip(pairs[::2], pairs[1::2], strict=True))


def _infer_list(*items: Type, item: Type = NEVER) -> Type:
    return list_of(reduce(join_items, items, item))


def _infer_slice(start: Type, stop: Type, step: Type = NONE) -> Type:
    return slice_of(start, stop, step)


def _can_lower_slice(start: Type, stop: Type, step: Type = NONE) -> bool:
    return isinstance(_infer_slice(start, stop, step), SliceType)


def _effect_of_keys(*keys: Type) -> Effect:
    if not all(map(is_plain, keys)):
        return Effect.CALL
    return Effect.ALLOC | Effect.RAISE if any(map(_has_slice, keys)) else Effect.ALLOC


def _has_slice(key: Type) -> bool:
    """Whether there is a slice in a key: slices have no hash before CPython 3.12."""
    if isinstance(key, TupleType):
        return any(map(_has_slice, key.items))
    return isinstance(key, SliceType)


_ITEMS: tuple[tuple[Any, ...], ...] = ((), (1,), (1, 2.5, None), ("a", (1j, True)), ([1], {}))

LIST_CONSTRUCT = object_op(
    "prim::ListConstruct",
    "(*items, item=None)",
    "``[a, b]``; `item`: the type of what it was seen to hold later.",
    syntax=lambda *items, **_attrs: f"[{', '.join(items)}]",
    keeps_unions=True,
    infer=_infer_list,
    evaluate=_make_list,
    lower=lambda e, *items, **_attrs: e.list_make(items, e.result_types[0]),
    effects=Effect.ALLOC,
    samples=_ITEMS,
)
SET_CONSTRUCT = object_op(
    "prim::SetConstruct",
    "(*items)",
    "``{a, b}``",
    keeps_unions=True,
    infer=lambda *items: ObjectType(set),
    evaluate=make_set,
    effects=_effect_of_keys,
    samples=_ITEMS,
)
DICT_CONSTRUCT = object_op(
    "prim::DictConstruct",
    "(*pairs)",
    "``{k: v}``; the operands are k, v, k, v ...",
    syntax=lambda *pairs: (
        f"{{{', '.join(map(': '.join, zip(pairs[::2], pairs[1::2], strict=True)))}}}"
    ),
    keeps_unions=True,
    infer=lambda *pairs: ObjectType(dict),
    evaluate=make_dict,
    effects=lambda *pairs: _effect_of_keys(*pairs[::2]),
    samples=((), (1, 2), ("a", 1, "b", None), ([], 1)),
)
SLICE_CONSTRUCT = object_op(
    "prim::SliceConstruct",
    "(start, stop, step=None)",
    "``start:stop:step``",
    syntax=lambda *parts: f"slice({', '.join(parts)})",
    infer=_infer_slice,
    evaluate=slice,
    lower=lambda e, *parts: e.slice_make(*parts),
    can_lower=_can_lower_slice,
    effects=Effect.PURE,
    samples=(
        (None, None, None),
        (1, -1, None),
        (0, 9, -2),
        (2**63 - 1, -(2**63), 1),
        (1.5, 0, None),
    ),
)

# -- sets, dicts and lists being filled ------------------------------------------------------------


def _list_append(target: list[object], value: object) -> None:
    target.append(value)


def extend_list(target: list[object], values: Iterable[object]) -> None:
    target[len(target) :] = [*values]


def update_dict(target: dict[object, object], values: Any) -> None:
    target |= {**values}


def _dict_merge(target: dict[object, object], values: Any, f: object) -> None:
    if type(values) is dict and not target:
        target.update(values)
        return
    try:
        keys = values.keys()
    except AttributeError:
        pass
    else:
        _merge_keys(target, keys, values, f)
        return
    kind = type(values).__name__
    raise TypeError(f"{_function_text(f)} argument after ** must be a mapping, not {kind}")


def _merge_keys(target: dict[object, object], keys: Any, values: Any, f: object) -> None:
    for key in keys:
        if key in target:
            message = f"{_function_text(f)} got multiple values for keyword argument '{key}'"
            raise TypeError(message)
        target[key] = values[key]


def _function_text(f: object) -> str:
    """Give the text by which CPython's messages name a callable."""
    name = getattr(f, "__qualname__", None)
    if name is None:
        return str(f)
    module = getattr(f, "__module__", None)
    return f"{name}()" if module in (None, "builtins") else f"{module}.{name}()"


def _lower_append(e: Emitter, target: V, value: V) -> tuple[()]:
    e.list_append(target, value)
    return ()


def _lower_append_method(e: Emitter, target: V, value: V) -> V:
    e.list_append(target, value)
    return e.const(NONE, None)


def _is_list(target: Type, *_types: Type) -> bool:
    return isinstance(target, ListType)


def _effect_on_list(target: Type, *_types: Type) -> Effect:
    return Effect.WRITE if isinstance(target, ListType) else Effect.CALL


def _infer_pop(target: Type, *index: Type) -> Type:
    if not _can_lower_pop(target, *index) or target.item == NEVER:
        return ANY
    return target.item


def _can_lower_pop(target: Type, *index: Type) -> TypeGuard[ListType]:
    return isinstance(target, ListType) and all(map(is_index, index))


def _lower_pop(e: Emitter, target: V, index: V | None = None) -> V:
    if index is None:
        return e.list_pop(target)
    return e.list_pop_at(target, wrap_index(e, index, e.list_size(target)))


def _effect_of_pop(target: Type, *index: Type) -> Effect:
    return Effect.WRITE | Effect.RAISE if _can_lower_pop(target, *index) else Effect.CALL


LIST_APPEND = object_op(
    "prim::list_append",
    "(target!, value)",
    "Append, as a list comprehension does.",
    keeps_unions=True,
    infer=_nothing,
    evaluate=_list_append,
    lower=_lower_append,
    can_lower=_is_list,
    effects=_effect_on_list,
    list_use=ListUse(puts=1),
    samples=(([], 1), ([1.5], 2.5), ([1], None)),
)
LIST_APPEND_METHOD = object_op(
    "py::list_append",
    "(target!, value, /)",
    "``target.append(value)``",
    keeps_unions=True,
    infer=lambda target, value: NONE if isinstance(target, ListType) else ANY,
    evaluate=list.append,
    lower=_lower_append_method,
    can_lower=_is_list,
    effects=_effect_on_list,
    list_use=ListUse(puts=1),
    methods=("list.append",),
    samples=(([], 1), ([1.5], 2.5), ([1], None)),
)
LIST_POP_METHOD = object_op(
    "py::list_pop",
    "(target!, index=-1, /)",
    "``target.pop(index)``",
    infer=_infer_pop,
    evaluate=list.pop,
    lower=_lower_pop,
    can_lower=_can_lower_pop,
    effects=_effect_of_pop,
    is_profiled=True,
    list_use=ListUse(gives_item=True),
    methods=("list.pop",),
    samples=(
        *(([1, 2],), ([1.5, 2.5],), ([],), (["a", None],)),
        *(([1, 2, 3], i) for i in (0, -1, True, 2, -3, 3, -4, 2**63 - 1, np.int8(1), 0.5)),
        *(([], 0), (["a", None], 0), ([1, 2.5], 1)),
    ),
)
SET_ADD = object_op(
    "prim::set_add",
    "(target!, value)",
    "Add to a set, as a set comprehension does.",
    keeps_unions=True,
    infer=_nothing,
    evaluate=set.add,
    samples=(({1}, 2), ({1}, [])),
)
DICT_SET = object_op(
    "prim::dict_set",
    "(target!, key, value)",
    "Set in a dict, as a dict comprehension does.",
    keeps_unions=True,
    infer=_nothing,
    evaluate=operator.setitem,
    samples=(({}, 2, 3), ({1: 2}, [], 1)),
)
LIST_EXTEND = object_op(
    "prim::list_extend",
    "(target!, values)",
    "Extend, as ``[*values]`` does.",
    infer=_nothing,
    evaluate=extend_list,
    samples=(([1], [2]), ([], range(3)), ([1], 5)),
)
DICT_UPDATE = object_op(
    "prim::dict_update",
    "(target!, values)",
    "Update, as ``{**values}`` does.",
    infer=_nothing,
    evaluate=update_dict,
    samples=(({1: 2}, {3: 4}), ({}, 5)),
)
DICT_MERGE = object_op(
    "prim::dict_merge",
    "(target!, values, f)",
    "Add the keyword arguments ``**values`` of a call of `f`.",
    infer=_nothing,
    evaluate=_dict_merge,
)

# -- items -----------------------------------------------------------------------------------------


def _infer_getitem(x: Type, index: Type) -> Type:
    if isinstance(index, SliceType):
        return x if isinstance(x, ListType) or x in (STR, RANGE) else ANY
    if not is_index(index):
        return ANY
    match x:
        case ListType(item):
            return ANY if item == NEVER else item  # NEVER: nothing was seen in the list yet
        case TupleType(items):
            return common_type(items)
    return CHARACTER if x == STR else packed_item_type(x) if x == RANGE or is_packed(x) else ANY


def _can_lower_getitem(x: Type, index: Type) -> bool:
    if not is_index(index):
        return False
    if isinstance(x, TupleType):
        return bool(x.items)
    return isinstance(x, ListType) or x in (RANGE, STR) or is_packed(x)


def _effect_of_getitem(x: Type, index: Type) -> Effect:
    if isinstance(x, ListType) and (is_index(index) or isinstance(index, SliceType)):
        made = Effect.ALLOC if isinstance(index, SliceType) else Effect.PURE
        return Effect.READ | Effect.RAISE | made
    if isinstance(x, TupleType) and (is_index(index) or isinstance(index, SliceType)):
        return Effect.RAISE
    if x in (BYTES, STR, RANGE) and is_index(index):
        return Effect.RAISE
    if may_change(x) and is_index(index):
        return Effect.READ | Effect.RAISE
    return plain_effect(x, index)


def _lower_getitem(e: Emitter, x: V, index: V) -> V:
    if isinstance(x.type, TupleType):
        items = e.tuple_items(x)
        return select_item(e, items, wrap_index(e, index, e.const(INT, len(items))))
    if x.type == RANGE:
        start, _, step = e.range_parts(x)
        return e.add(start, e.mul(wrap_index(e, index, range_length(e, x)), step))
    if x.type == STR:
        return e.str_char(e.str_code(x, wrap_index(e, index, e.str_size(x))))
    if is_packed(x.type):
        return e.packed_load(x, wrap_index(e, index, e.packed_size(x)))
    if x.type.item == NEVER:
        x = e.retype(x, ListType(ANY))
    return e.list_load(x, wrap_index(e, index, e.list_size(x)))


def _lower_setitem(e: Emitter, x: V, index: V, value: V) -> tuple[()]:
    if is_packed(x.type):
        place = wrap_index(e, index, e.packed_size(x))
        e.packed_store(x, place, _fitting(e, to_type(e, value, packed_item_type(x.type)), x.type))
        return ()
    e.list_store(x, wrap_index(e, index, e.list_size(x)), value)
    return ()


def _fitting(e: Emitter, value: V, t: Type) -> V:
    """Bail out unless an int is one that the items may be."""
    limits = packed_limits(t)
    if limits is None or limits == (INT_MIN, INT_MAX):
        return value
    least, most = limits
    if least == 0:
        check_index(e, value, e.const(INT, most + 1))
        return value
    for op, limit in (("lt", least), ("gt", most)):
        e.bail_if(e.compare(op, value, e.const(INT, limit)), "does not fit")
    return value


def _can_lower_setitem(x: Type, index: Type, value: Type) -> bool:
    if may_change(x):
        is_fitting = value in (BOOL, INT) or value == packed_item_type(x)
        return is_index(index) and is_fitting
    return isinstance(x, ListType) and is_index(index)


def _effect_of_setitem(x: Type, index: Type, value: Type) -> Effect:
    return Effect.WRITE | Effect.RAISE if _can_lower_setitem(x, index, value) else Effect.CALL


_NUMPY_INDICES = (np.int64(1), np.int8(-1), np.uint16(3), np.uint64(2**63), np.bool(True))
_INDICES: tuple[Any, ...] = (0, 1, -1, -3, 3, True, 2**63 - 1, -(2**63), 0.5, *_NUMPY_INDICES)
_INDICES += (slice(1, None), slice(None, None, -1))
_INDEXED: tuple[Any, ...] = (
    [1.5, 2.5, 3.5],
    [],
    [1, 2.5],
    (1, 2, 3),
    (1, 2.5),
    (),
    "abc",
    b"a\xff",
    bytearray(b"a\xff"),
    array("d", [0.5, -2.5, 1e300]),
    array("h", [-(2**15), 2**15 - 1]),
    range(3, 9, 2),
    {1: 2},
    7,
)

object_op(
    "py::getitem",
    "(x, index)",
    "``x[index]``",
    syntax="{0}[{1}]",
    infer=_infer_getitem,
    evaluate=operator.getitem,
    special=SpecialMethods("__getitem__"),
    lower=_lower_getitem,
    can_lower=_can_lower_getitem,
    effects=_effect_of_getitem,
    list_use=ListUse(gives_item=True),
    ranges=SEQUENCE_INDEX,
    numpy="np::getitem",
    is_profiled=True,
    samples=tuple((x, i) for x in _INDEXED for i in _INDICES),
)
object_op(
    "py::setitem",
    "(x!, index, value)",
    "``x[index] = value``",
    statement="{0}[{1}] = {2}",
    infer=_nothing,
    evaluate=operator.setitem,
    special=SpecialMethods("__setitem__", result=NONE),
    lower=_lower_setitem,
    can_lower=_can_lower_setitem,
    effects=_effect_of_setitem,
    list_use=ListUse(puts=2),
    ranges=SEQUENCE_INDEX,
    numpy="np::setitem",
    samples=(
        *(([1.5, 2.5], i, 0.5) for i in (0, -1, 1, True, 2, -3, 2**63 - 1, np.int8(-2))),
        *(([1], 0, "a"), ({}, 1, 2), ([1, 2], slice(0, 1), [5, 6]), ((1,), 0, 1)),
    ),
)
