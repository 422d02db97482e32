"""Methods of lists, and `del`: native code for private lists of numbers (`ListType.is_private`), CPython for others.

What is done to those moves items as a whole.
"""

from __future__ import annotations

import operator
from functools import partial
from typing import Any

from ljit.ir import Effect, Emitter, OpDef, Schema, declare
from ljit.ir.emitter import V
from ljit.ir.list_uses import ListUse
from ljit.ops.python.compare import can_lower_in
from ljit.ops.python.numbers import at_least, at_most
from ljit.ops.python.private_items import holds_numbers, number_code
from ljit.ops.python.slices import adjust_slice, is_slice_of_ints, splice_bounds
from ljit.ops.python.types import wrap_index
from ljit.types import (
    ANY,
    BOOL,
    CHARACTER,
    FLOAT,
    INT,
    NONE,
    STR,
    ListType,
    SliceType,
    TupleType,
    Type,
    is_index,
    join,
)

__all__: list[str] = []


def _method(name: str, schema: str, doc: str, **fields: Any) -> None:
    function = getattr(list, name)
    fields.setdefault("evaluate", function)
    fields.setdefault("methods", (f"list.{name}",))
    declare(OpDef(f"py::list_{name}", Schema(schema), doc, **fields))


# -- extend and + ----------------------------------------------------------------------------------


def _infer_extend(target: Type, values: Type) -> Type:
    return NONE if isinstance(target, ListType) and isinstance(values, ListType) else ANY


def _effect_of_extend(target: Type, values: Type) -> Effect:
    return Effect.CALL if _infer_extend(target, values) == ANY else Effect.WRITE


def _are_alike(x: Type, y: Type) -> bool:
    return holds_numbers(x) and x == y


def _lower_extend(e: Emitter, target: V, values: V) -> V:
    """The values may be the target itself."""
    size, more = e.list_size(target), e.list_size(values)
    e.list_resize(target, e.add(size, more, fits=True))
    e.list_move(target, size, values, e.const(INT, 0), more)
    return e.const(NONE, None)


def _join(x: list[Any], y: list[Any]) -> list[Any]:
    return x + y


def _lower_joined(e: Emitter, x: V, y: V) -> V:
    made, zero = e.list_make([], x.type), e.const(INT, 0)
    size, more = e.list_size(x), e.list_size(y)
    e.list_resize(made, e.add(size, more, fits=True))
    e.list_move(made, zero, x, zero, size)
    e.list_move(made, size, y, zero, more)
    return made


_method(
    "extend",
    "(target!, values, /)",
    "``target.extend(values)``, and ``target += values`` for lists",
    infer=_infer_extend,
    lower=_lower_extend,
    can_lower=_are_alike,
    effects=_effect_of_extend,
    list_use=ListUse(other=1),
    samples=(([1], [2, 3]), ([], [1.5]), ([1], range(3)), ([1], 5), ([1], ["a"])),
)
declare(
    OpDef(
        "prim::private_joined",
        Schema("(x, y)"),
        "``x + y`` of lists that nobody else sees: one more such list.",
        infer=lambda x, y: x,
        evaluate=_join,
        lower=_lower_joined,
        can_lower=_are_alike,
        effects=Effect.READ | Effect.ALLOC | Effect.RAISE,
    )
)

# -- insert and reverse ----------------------------------------------------------------------------


def _infer_insert(target: Type, index: Type, value: Type) -> Type:
    return NONE if isinstance(target, ListType) and index in (BOOL, INT) else ANY


def _effect_of_insert(target: Type, index: Type, value: Type) -> Effect:
    return Effect.CALL if _infer_insert(target, index, value) == ANY else Effect.WRITE


def _lower_insert(e: Emitter, target: V, index: V, value: V) -> V:
    """An index beyond an end is that end."""
    size = e.list_size(target)
    index = e.cast(index, INT) if index.type == BOOL else index
    is_from_end = e.compare("lt", index, 0)
    place = e.select(is_from_end, e.add(index, size), index)
    place = at_most(e, at_least(e, place, 0), size)
    e.list_resize(target, e.add(size, 1, fits=True))
    behind = e.sub(size, place, fits=True)
    e.list_move(target, e.add(place, 1, fits=True), target, place, behind)
    e.list_store(target, place, value)
    return e.const(NONE, None)


def _lower_reverse(e: Emitter, target: V) -> V:
    size = e.list_size(target)
    last = e.sub(size, 1, fits=True)

    def swap(k: V) -> None:
        other = e.sub(last, k, fits=True)
        first, second = e.list_load(target, k), e.list_load(target, other)
        e.list_store(target, k, second)
        e.list_store(target, other, first)

    e.loop(e.shr(size, 1), swap)
    return e.const(NONE, None)


_method(
    "insert",
    "(target!, index, value, /)",
    "``target.insert(index, value)``",
    keeps_unions=True,
    infer=_infer_insert,
    lower=_lower_insert,
    can_lower=lambda target, index, value: (
        holds_numbers(target) and join(target.item, value) == target.item and index in (BOOL, INT)
    ),
    effects=_effect_of_insert,
    list_use=ListUse(puts=2),
    samples=(([1, 2], 1, 5), ([], -3, 1.5), ([1], True, 2), ([1, 2], 0.5, 1), ([1], 9, None)),
)
_method(
    "reverse",
    "(target!, /)",
    "``target.reverse()``",
    infer=lambda target: NONE if isinstance(target, ListType) else ANY,
    lower=_lower_reverse,
    can_lower=holds_numbers,
    effects=lambda target: Effect.WRITE if isinstance(target, ListType) else Effect.CALL,
    list_use=ListUse(),
    samples=(([1, 2, 3],), ([],), (["a", 1],)),
)

# -- sort ------------------------------------------------------------------------------------------


def _can_sort(x: Type, *, reverse: object = False) -> bool:
    """Whether native code sorts it; the classes of other items say how they are ordered."""
    is_list = holds_numbers(x) and isinstance(x, ListType) and number_code(x.item) in ("q", "d")
    return is_list and _is_flag(reverse)


def _is_flag(reverse: object) -> bool:
    """Whether CPython takes it for one: no float, nor another int than C's."""
    return isinstance(reverse, bool) or (type(reverse) is int and -(2**31) <= reverse < 2**31)


def _sort(e: Emitter, x: V, reverse: object) -> None:
    """Where NaN is, it depends on the way of sorting what becomes of them all: CPython does it then."""
    size = e.list_size(x)
    if number_code(x.type.item) == "d":

        def is_nan_there(k: V, found: V) -> V:
            number = e.list_load(x, k)
            return e.bit_or(found, e.compare("ne", number, number))

        e.bail_if(e.fold(size, e.const(BOOL, False), is_nan_there, 3), "NaN is sorted")
    room = e.list_make([], x.type)
    e.list_resize(room, size)
    e.list_sort(x, room, is_falling=bool(reverse))


def _lower_sort(e: Emitter, target: V, *, reverse: object = False) -> V:
    _sort(e, target, reverse)
    return e.const(NONE, None)


def _lower_sorted(e: Emitter, x: V, *, reverse: object = False) -> V:
    made, zero, size = e.list_make([], x.type), e.const(INT, 0), e.list_size(x)
    e.list_resize(made, size)
    e.list_move(made, zero, x, zero, size)
    _sort(e, made, reverse)
    return made


_method(
    "sort",
    "(target!, /, *, reverse=False)",
    "``target.sort(reverse=reverse)``",
    infer=lambda target, *, reverse=False: NONE if isinstance(target, ListType) else ANY,
    lower=_lower_sort,
    can_lower=_can_sort,
    parameters=("target", "*", "reverse"),
    effects=lambda target, *, reverse=False: (
        Effect.WRITE | Effect.RAISE if _can_sort(target, reverse=reverse) else Effect.CALL
    ),
    list_use=ListUse(),
    samples=(([3, 1, 2],), ([],), ([2.5, 1.5],), (["b", "a"],), ([1, "a"],)),
)
declare(
    OpDef(
        "py::sorted",
        Schema("(iterable, /, *, reverse=False)"),
        "``sorted(iterable, reverse=reverse)``",
        infer=lambda iterable, *, reverse=False: (
            iterable if isinstance(iterable, ListType) else ANY
        ),
        evaluate=sorted,
        effects=Effect.CALL,
        callables=(sorted,),
        parameters=("iterable", "*", "reverse"),
        list_use=ListUse(copies="prim::private_sorted"),
        is_profiled=True,
        samples=(([3, 1, 2],), ([],), ([2.5, 1.5],), (["b", "a"],), ([1, "a"],), ((2, 1),)),
    )
)
declare(
    OpDef(
        "prim::private_sorted",
        Schema("(x, *, reverse=False)"),
        "``sorted(x, reverse=reverse)`` of a list that nobody else sees: one more such list.",
        infer=lambda x, *, reverse=False: x,
        evaluate=sorted,
        lower=_lower_sorted,
        can_lower=_can_sort,
        effects=Effect.READ | Effect.ALLOC | Effect.RAISE,
    )
)


_KEYS = (INT, FLOAT, STR, CHARACTER)


def _sorted_by_keys(items: list[Any], keys: list[Any], *, reverse: bool = False) -> list[Any]:
    made = list(items)
    try:
        made.sort(key=partial(next, iter(keys)), reverse=reverse)
    except BaseException:
        items[:] = made
        raise
    return made


def _are_sorted_by_keys(items: Type, keys: Type, *, reverse: object = False) -> bool:
    """Whether native code knows how keys are compared."""
    if not (isinstance(items, ListType) and isinstance(keys, ListType)):
        return False
    return not items.is_private and _is_flag(reverse) and _has_order(keys.item)


def _has_order(key: Type) -> bool:
    return all(map(_has_order, key.items)) if isinstance(key, TupleType) else key in _KEYS


def _lower_by_keys(e: Emitter, items: V, keys: V, *, reverse: object = False) -> V:
    """The items are objects meanwhile, whatever is known of them."""
    places = e.list_order(keys, is_falling=bool(reverse))
    objects = e.retype(items, ListType(ANY))
    made = e.list_make([], ListType(ANY))

    def take(k: V) -> None:
        e.list_append(made, e.list_load(objects, e.list_load(places, k)))

    e.loop(e.list_size(places), take)
    return e.retype(made, items.type)


declare(
    OpDef(
        "prim::sorted_by_keys",
        Schema("(items!, keys, *, reverse=False)"),
        "The items in the order of their keys; those with equal keys as they stand. "
        "If a comparison raises, `items` are left half sorted, as CPython leaves them.",
        infer=lambda items, keys, *, reverse=False: items if isinstance(items, ListType) else ANY,
        evaluate=_sorted_by_keys,
        lower=_lower_by_keys,
        can_lower=_are_sorted_by_keys,
        effects=lambda items, keys, *, reverse=False: (
            Effect.READ | Effect.ALLOC | Effect.RAISE
            if _are_sorted_by_keys(items, keys, reverse=reverse)
            else Effect.CALL
        ),
        list_use=ListUse(operand=1),
        samples=(
            (["a", None], [2.5, 1.5]),
            ([], []),
            ([7, 8, 9], [1, 1, 0]),
            ([7, 8, 9], ["b", "a\xff", "a"]),
            ([7, 8, 9], [(1, "b"), (0, "\u0100"), (1, "a")]),
            ([7, 8], ["b", 1]),
        ),
    )
)

# -- copy and clear --------------------------------------------------------------------------------


def _lower_clear(e: Emitter, target: V) -> V:
    e.list_resize(target, e.const(INT, 0))
    return e.const(NONE, None)


_method(
    "copy",
    "(x, /)",
    "``x.copy()``",
    infer=lambda x: x if isinstance(x, ListType) else ANY,
    effects=lambda x: Effect.READ | Effect.ALLOC if isinstance(x, ListType) else Effect.CALL,
    list_use=ListUse(copies="prim::private_section"),
    is_profiled=True,
    samples=(([1, 2, 3],), ([],), (["a", 1],)),
)
_method(
    "clear",
    "(target!, /)",
    "``target.clear()``",
    infer=lambda target: NONE if isinstance(target, ListType) else ANY,
    lower=_lower_clear,
    can_lower=holds_numbers,
    effects=lambda target: Effect.WRITE if holds_numbers(target) else Effect.CALL,
    list_use=ListUse(),
    samples=(([1, 2, 3],), ([],), (["a", 1],)),
)

# -- del -------------------------------------------------------------------------------------------


def _is_deleted(x: Type, index: Type) -> bool:
    """Whether it is an item of a list, or items side by side."""
    if not isinstance(x, ListType):
        return False
    return is_index(index) or (isinstance(index, SliceType) and index.step == NONE)


def _lower_del(e: Emitter, x: V, index: V) -> tuple[()]:
    """What is behind moves up."""
    size = e.list_size(x)
    if isinstance(index.type, SliceType):
        first, _, count = adjust_slice(e, index, size)
    else:
        first, count = wrap_index(e, index, size), e.const(INT, 1)
    behind = e.add(first, count, fits=True)
    e.list_move(x, first, x, behind, e.sub(size, behind, fits=True))
    e.list_resize(x, e.sub(size, count, fits=True))
    return ()


declare(
    OpDef(
        "py::delitem",
        Schema("(x!, index)"),
        "``del x[index]``",
        statement="del {0}[{1}]",
        infer=lambda x, index: (),
        evaluate=operator.delitem,
        lower=_lower_del,
        can_lower=lambda x, index: holds_numbers(x) and _is_deleted(x, index),
        effects=lambda x, index: (
            Effect.WRITE | Effect.RAISE if _is_deleted(x, index) else Effect.CALL
        ),
        list_use=ListUse(),
        samples=(
            *(([1, 2, 3], i) for i in (0, -1, 3, -4, True, slice(1, None), slice(None, -5))),
            *(([1, 2, 3], slice(None, None, 2)), ({1: 2}, 1), ([], 0), (["a"], 0), ((1,), 0)),
        ),
    )
)

# -- items side by side, and others at equal distances, replaced -----------------------------------


def _are_replaced(x: Type, part: Type, values: Type) -> bool:
    return _are_alike(x, values) and is_slice_of_ints(part)


def _lower_assign(e: Emitter, x: V, part: V, values: V) -> tuple[()]:
    """``x[part] = x`` stores a copy: CPython does that."""
    e.bail_if(e.same_object(x, values), "a list that is stored into itself")
    size, more, zero = e.list_size(x), e.list_size(values), e.const(INT, 0)
    _, _, step = e.slice_parts(part)
    if step.type != NONE:
        first, step, count = adjust_slice(e, part, size)
        is_splice = e.compare("eq", e.cast(e.slice_parts(part)[2], INT), 1)
        e.bail_if(is_splice, "a slice with the step 1")  # it may have another number of items
        e.bail_if(e.compare("ne", count, more), "a slice of another size")
        e.loop(
            count, lambda k: e.list_store(x, e.add(first, e.mul(k, step)), e.list_load(values, k))
        )
        return ()
    first, end = splice_bounds(e, part, size)
    behind = e.sub(size, end, fits=True)
    after = e.add(first, more, fits=True)
    left = e.add(after, behind, fits=True)
    e.list_resize(x, at_least(e, left, size))
    e.list_move(x, after, x, end, behind)
    e.list_resize(x, left)
    e.list_move(x, first, values, zero, more)
    return ()


declare(
    OpDef(
        "py::list_assign",
        Schema("(x!, part, values)"),
        "``x[part] = values``, a list into a slice of a list",
        statement="{0}[{1}] = {2}",
        infer=lambda x, part, values: (),
        evaluate=operator.setitem,
        lower=_lower_assign,
        can_lower=_are_replaced,
        effects=lambda x, part, values: (
            Effect.WRITE | Effect.RAISE if _are_replaced(x, part, values) else Effect.CALL
        ),
        list_use=ListUse(other=2),
        samples=(
            *(([1, 2, 3], slice(*part), [7, 8]) for part in ((1, None), (3,), (2, 1), (-9, 9))),
            *(([1, 2, 3], slice(None, None, step), [7, 8]) for step in (2, -2, 3, 1, 0)),
            ([1, 2], slice(0, 1), []),
            (["a"], slice(0, 1), [None, 2]),
        ),
    )
)

# -- count and index -------------------------------------------------------------------------------


def _is_compared(x: Type, value: Type) -> bool:
    """Whether native code finds the number; those of other classes may be equal, too."""
    return isinstance(x, ListType) and x.is_private and can_lower_in(value, x)


def _infer_place(x: Type, value: Type) -> Type:
    return INT if isinstance(x, ListType) else ANY


def _lower_count(e: Emitter, x: V, value: V) -> V:
    def add(k: V, total: V) -> V:
        is_it = e.compare("eq", e.retype(e.list_load(x, k), value.type), value)
        return e.add(total, e.cast(is_it, INT), fits=True)

    return e.fold(e.list_size(x), e.const(INT, 0), add, 3)


def _lower_index(e: Emitter, x: V, value: V) -> V:
    place = e.list_find(x, value)
    e.bail_if(e.compare("lt", place, 0), "a number that is not in the list")
    return place


for _name, _lower in (("count", _lower_count), ("index", _lower_index)):
    _method(
        _name,
        "(x, value, /)",
        f"``x.{_name}(value)``",
        infer=_infer_place,
        lower=_lower,
        can_lower=_is_compared,
        effects=lambda x, value: (
            Effect.READ | Effect.RAISE if _is_compared(x, value) else Effect.CALL
        ),
        list_use=ListUse(),
        samples=(([3, 1, 3], 3), ([3, 1], 2), ([0.5, -0.0], 0.0), (["a"], "a"), ([1, 2.0], True)),
    )
