"""The ops of ``for``: ``prim::has_next(it, k)`` and ``prim::next(it, k)`` over the views of `python_views`.

A view's state is the trip index alone. Over types of fixed length `prim::view_size` gives the number of
trips; the loop can then count instead of asking.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from ljit.ir import Effect, Emitter, OpDef, Schema, any_result, declare
from ljit.ir.opdef import V
from ljit.ops import python_views as views
from ljit.ops.int_ranges import FITS, SAME_ITEMS
from ljit.ops.iteration_ranges import INSIDE, NEXT_RANGES, VIEW_SIZE_RANGES
from ljit.ops.python_types import (
    check_index,
    class_of,
    common_type,
    is_below,
    range_count,
    range_length,
    select_item,
    subarray,
)
from ljit.records import Record
from ljit.types import (
    ANY,
    BOOL,
    INT,
    NEVER,
    RANGE,
    STR,
    ArrayType,
    ListType,
    TupleType,
    Type,
    ViewType,
    scalar_type,
)

__all__ = ["HAS_NEXT", "ITER", "ITER_CALL", "NEXT", "VIEW_SIZE"]


class _Rule(Record, eq=True):
    """How one kind of view is iterated: the type of its items, their number, item k.

    `size` is None where the length may change; `has_next` then asks each time.
    """

    item_type: Callable[[Any], Type]
    item: Callable[[Emitter, V, V], V]
    size: Callable[[Emitter, V], V] | None
    has_next: Callable[[Emitter, V, V], V]
    can_lower: Callable[[Any], bool] = lambda t: True


def _has_fixed(size: Callable[[Emitter, V], V]) -> Callable[[Emitter, V, V], V]:
    return lambda e, view, k: is_below(e, k, size(e, view))


# -- range, tuple, list, array ---------------------------------------------------------------------


def _range_has_next(e: Emitter, view: V, k: V) -> V:
    return is_below(e, k, range_count(e, view))


def _range_item(e: Emitter, view: V, k: V) -> V:
    start, _, step = e.range_parts(view)
    return e.add(start, e.mul(k, step))  # in range whenever trip k takes place


_RANGE = _Rule(lambda t: INT, _range_item, range_length, _range_has_next)


def _tuple_size(e: Emitter, view: V) -> V:
    return e.const(INT, len(view.type.items))


_TUPLE = _Rule(
    lambda t: common_type(t.items),
    lambda e, view, k: select_item(e, e.tuple_items(view), k),
    _tuple_size,
    _has_fixed(_tuple_size),
    lambda t: common_type(t.items) not in (ANY, NEVER),
)


def _list_item(e: Emitter, view: V, k: V) -> V:
    check_index(e, k, e.list_size(view))
    if view.type.item == NEVER:  # nothing was ever seen in it
        view = e.retype(view, ListType(ANY))
    return e.list_load(view, k)


_LIST = _Rule(
    lambda t: ANY if t.item == NEVER else t.item,
    _list_item,
    None,
    lambda e, view, k: is_below(e, k, e.list_size(view)),
)


def _array_size(e: Emitter, view: V) -> V:
    return e.array_sizes(view)[0]


def _array_item(e: Emitter, view: V, k: V) -> V:
    if not e.is_proven(INSIDE):
        check_index(e, k, _array_size(e, view))
    return e.array_load(view, [k]) if view.type.ndim == 1 else subarray(e, view, k)


def _row_type(t: ArrayType) -> Type:
    if t.ndim == 1:
        return scalar_type(t.dtype)
    return ArrayType(t.dtype, t.shape[1:], t.layout, t.writeable)


_ARRAY = _Rule(_row_type, _array_item, _array_size, _has_fixed(_array_size))

# -- enumerate, zip, reversed ----------------------------------------------------------------------


def _enumerate_item(e: Emitter, view: V, k: V) -> V:
    part, start = e.view_parts(view)
    if e.is_proven(FITS):
        return e.tuple_make([e.add(start, k, fits=True), _item(e, part, k)])
    number, overflows = e.add_overflow(start, k)
    e.bail_if(overflows, "int overflow")
    return e.tuple_make([number, _item(e, part, k)])


def _first_size(e: Emitter, view: V) -> V:
    part = e.view_parts(view)[0]
    return _fixed_size(e, part)


_ENUMERATE = _Rule(
    lambda t: TupleType((INT, _item_type(t.parts[0]))),
    _enumerate_item,
    _first_size,
    lambda e, view, k: _has_next(e, e.view_parts(view)[0], k),
)


def _zip_size(e: Emitter, view: V) -> V:
    sizes = [_fixed_size(e, part) for part in e.view_parts(view)]
    result = sizes[0]
    for size in sizes[1:]:
        result = e.select(e.compare("lt", size, result), size, result)
    return result


def _zip_has_next(e: Emitter, view: V, k: V) -> V:
    """Whether all parts have an item; a cursor behind an exhausted part is not advanced."""
    result = e.const(BOOL, True)
    for part in e.view_parts(view):
        if _holds_cursor(part.type):
            result = _and_then(e, result, part, k)
        else:
            result = e.bit_and(result, _has_next(e, part, k))
    return result


def _and_then(e: Emitter, condition: V, part: V, k: V) -> V:
    return e.branch(condition, lambda: _has_next(e, part, k), lambda: e.const(BOOL, False))


_ZIP = _Rule(
    lambda t: TupleType(tuple(map(_item_type, t.parts))),
    lambda e, view, k: e.tuple_make([_item(e, part, k) for part in e.view_parts(view)]),
    _zip_size,
    _zip_has_next,
)


def _reversed_index(e: Emitter, view: V, k: V) -> V:
    return e.sub(e.sub(e.view_parts(view)[1], e.const(INT, 1)), k)


def _reversed_has_next(e: Emitter, view: V, k: V) -> V:
    return _has_next(e, e.view_parts(view)[0], _reversed_index(e, view, k))


_REVERSED = _Rule(
    lambda t: _item_type(t.parts[0]),
    lambda e, view, k: _item(e, e.view_parts(view)[0], _reversed_index(e, view, k)),
    lambda e, view: e.view_parts(view)[1],
    _reversed_has_next,
)

# -- cursors and strings ---------------------------------------------------------------------------


def _cursor_has_next(e: Emitter, view: V, k: V) -> V:
    """Advance as `Cursor.has_next` does when it is asked for a new trip."""
    iterator, cell = e.view_parts(view)
    end = e.object_const(views.END)
    item = e.call_object(e.object_const(next), [iterator, end])
    e.list_store(cell, e.const(INT, 0), item)
    e.list_store(cell, e.const(INT, 1), k)
    return e.bit_xor(e.same_object(item, end), e.const(BOOL, True))


_CURSOR = _Rule(
    lambda t: ANY,
    lambda e, view, k: e.list_load(e.view_parts(view)[1], e.const(INT, 0)),
    None,
    _cursor_has_next,
)


def _make_cursor(e: Emitter, function: object, x: V) -> V:
    iterator = e.call_object(e.object_const(function), [x])
    nothing = [e.object_const(views.END), e.const(INT, -1)]
    return e.view_make(views.CURSOR, [iterator, e.list_make(nothing, views.CURSOR.parts[1])])


def _string_item(e: Emitter, view: V, k: V) -> V:
    check_index(e, k, e.str_size(view))
    return e.str_char(e.str_code(view, k))


_STRING = _Rule(
    lambda t: STR,
    _string_item,
    lambda e, view: e.str_size(view),
    _has_fixed(lambda e, view: e.str_size(view)),
)

_CLASS_RULES: dict[type, _Rule] = {
    type(RANGE): _RANGE,
    TupleType: _TUPLE,
    ListType: _LIST,
    ArrayType: _ARRAY,
}
_VIEW_RULES = {"cursor": _CURSOR, "enumerate": _ENUMERATE, "zip": _ZIP, "reversed": _REVERSED}


def _rule(t: Type) -> _Rule | None:
    """The rule for a type; None: it is iterated by calling Python."""
    if isinstance(t, ViewType):
        return _VIEW_RULES[t.kind]
    if t == STR:
        return _STRING
    if isinstance(t, ArrayType) and t.ndim == 0:
        return None
    return _CLASS_RULES.get(type(t))


def _known(t: Type) -> _Rule:
    rule = _rule(t)
    assert rule is not None
    return rule


def _item_type(t: Type) -> Type:
    rule = _rule(t)
    return ANY if rule is None else rule.item_type(t)


def _item(e: Emitter, view: V, k: V) -> V:
    return _known(view.type).item(e, view, k)


def _has_next(e: Emitter, view: V, k: V) -> V:
    return _known(view.type).has_next(e, view, k)


def _fixed_size(e: Emitter, view: V) -> V:
    size = _known(view.type).size
    assert size is not None
    return size(e, view)


def is_view(t: Type) -> bool:
    """Whether values of type `t` are iterated by index."""
    return _rule(t) is not None


def _holds_cursor(t: Type) -> bool:
    """Whether asking a view of type `t` runs unknown code."""
    return t == views.CURSOR or (isinstance(t, ViewType) and any(map(_holds_cursor, t.parts)))


def has_fixed_size(t: Type) -> bool:
    """Whether the number of trips is known when the loop begins."""
    if t == views.CURSOR:
        return False
    if isinstance(t, ViewType):
        return all(map(has_fixed_size, _iterated_parts(t)))
    rule = _rule(t)
    return rule is not None and rule.size is not None


def _iterated_parts(t: ViewType) -> tuple[Type, ...]:
    return t.parts if t.kind == "zip" else t.parts[:1]


def _can_lower_next(t: Type) -> bool:
    if t == views.CURSOR:
        return True
    if isinstance(t, ViewType):
        return all(map(_can_lower_next, _iterated_parts(t)))
    rule = _rule(t)
    return rule is not None and rule.can_lower(t)


def _reads_memory(t: Type) -> bool:
    if isinstance(t, ViewType):
        return any(map(_reads_memory, t.parts))
    return isinstance(t, ListType | ArrayType)


# -- rules of the ops ------------------------------------------------------------------------------


def _view_type(t: Type) -> Type:
    """The type of the view of an iterable: itself, a cursor, or unknown."""
    if is_view(t):
        return t
    cls = class_of(t)
    return ANY if cls is None or views.is_indexed_class(cls) else views.CURSOR


def _view(e: Emitter, x: V) -> V:
    return x if is_view(x.type) else _make_cursor(e, iter, x)


def _infer_enumerate(iterable: Type, start: Type = INT) -> Type:
    part = _view_type(iterable)
    return ANY if part == ANY or start not in (BOOL, INT) else ViewType("enumerate", (part, INT))


def _infer_zip(*iterables: Type) -> Type:
    parts = tuple(map(_view_type, iterables))
    return ANY if ANY in parts else ViewType("zip", parts) if parts else TupleType(())


def _infer_reversed(sequence: Type) -> Type:
    part = _view_type(sequence)
    if part in (ANY, views.CURSOR):
        return part
    return ANY if isinstance(sequence, ViewType) else ViewType("reversed", (part, INT))


def _lower_enumerate(e: Emitter, iterable: V, start: V | None = None) -> V:
    first = e.const(INT, 0) if start is None else start
    first = e.cast(first, INT) if first.type == BOOL else first
    return e.view_make(_infer_enumerate(iterable.type), [_view(e, iterable), first])


def _lower_zip(e: Emitter, *iterables: V) -> V:
    type_ = _infer_zip(*(v.type for v in iterables))
    return e.view_make(type_, [_view(e, x) for x in iterables])


def _lower_reversed(e: Emitter, sequence: V) -> V:
    type_ = _infer_reversed(sequence.type)
    if type_ == views.CURSOR:
        return _make_cursor(e, reversed, sequence)
    fixed = _known(sequence.type).size
    size = e.list_size(sequence) if fixed is None else fixed(e, sequence)
    return e.view_make(type_, [sequence, size])


def _effect_of_maker(*types: Type) -> Effect:
    """Views are made of known types without running any code; reversed reads the size."""
    if not all(is_view(t) or t in (BOOL, INT) for t in types) or any(map(_holds_cursor, types)):
        return Effect.CALL
    return Effect.READ if any(map(_reads_memory, types)) else Effect.PURE


def _effect_of_has_next(view: Type, k: Type) -> Effect:
    if not is_view(view) or _holds_cursor(view):
        return Effect.CALL
    return Effect.PURE if has_fixed_size(view) else Effect.READ


def _effect_of_next(view: Type, k: Type) -> Effect:
    if not is_view(view):
        return Effect.CALL
    return Effect.READ if _reads_memory(view) else Effect.PURE


def _iteration_op(name: str, schema: str, doc: str, **fields: Any) -> OpDef:
    return declare(OpDef(f"prim::{name}", Schema(schema), doc, **fields))


_ARRAYS = (np.arange(3.0), np.ones((2, 2), np.int8), np.zeros((0, 3)))
_SEQUENCES: tuple[Any, ...] = (
    range(3),
    range(5, -5, -3),
    (1, 2),
    (1, 2.5),
    [1.5, 2.5],
    [],
    *_ARRAYS,
)

ITER = _iteration_op(
    "iter",
    "(x)",
    "The view that ``for v in x`` runs over.",
    infer=_view_type,
    ranges=SAME_ITEMS,
    evaluate=views.make_view,
    lower=_view,
    can_lower=lambda x: _view_type(x) != ANY,
    effects=lambda x: Effect.PURE if is_view(x) else Effect.CALL,
    samples=tuple((x,) for x in _SEQUENCES),
)
ITER_CALL = _iteration_op(
    "iter_call",
    "(f, *args)",
    "The view that ``for v in f(*args)`` runs over.",
    infer=any_result,
    evaluate=views.view_of_call,
    effects=Effect.CALL,
    samples=((range, 3), (enumerate, "ab"), (zip, [1], "a"), (zip,), (reversed, [1]), (iter, "a")),
)
ENUMERATE_VIEW = _iteration_op(
    "enumerate_view",
    "(iterable, start=0)",
    "``for v in enumerate(iterable, start)``",
    infer=_infer_enumerate,
    evaluate=views.enumerate_view,
    lower=_lower_enumerate,
    can_lower=lambda *types: _infer_enumerate(*types) != ANY,
    effects=_effect_of_maker,
    iter_callables=(enumerate,),
    samples=(*((x,) for x in _SEQUENCES), ([1], 5), ((1, 2), True), ("ab",)),
)
ZIP_VIEW = _iteration_op(
    "zip_view",
    "(*iterables)",
    "``for v in zip(*iterables)``",
    infer=_infer_zip,
    evaluate=views.zip_view,
    lower=_lower_zip,
    can_lower=lambda *types: bool(types) and _infer_zip(*types) != ANY,
    effects=_effect_of_maker,
    iter_callables=(zip,),
    samples=(*((x, range(9)) for x in _SEQUENCES), (), ([1],), ("ab", [1])),
)
REVERSED_VIEW = _iteration_op(
    "reversed_view",
    "(sequence, /)",
    "``for v in reversed(sequence)``",
    infer=_infer_reversed,
    evaluate=views.reversed_view,
    lower=_lower_reversed,
    can_lower=lambda sequence: _infer_reversed(sequence) != ANY,
    effects=_effect_of_maker,
    iter_callables=(reversed,),
    samples=(*((x,) for x in _SEQUENCES), ("ab",)),
)
_VIEWS = (
    *_SEQUENCES,
    *(views.enumerate_view([1, 2], 7), views.enumerate_view(range(2), 2**63 - 1)),
    *(views.zip_view([1, 2], (1.5,)), views.zip_view(np.arange(2), range(2, 9))),
    *(views.reversed_view(x) for x in ([1, 2, 3], (1, 2), range(9), np.arange(4.0))),
)
HAS_NEXT = _iteration_op(
    "has_next",
    "(view, k)",
    "Whether trip k of a loop over the view takes place.",
    infer=lambda view, k: BOOL,
    evaluate=views.has_next,
    lower=_has_next,
    can_lower=lambda view, k: is_view(view),
    effects=_effect_of_has_next,
    samples=tuple((view, k) for view in _VIEWS for k in (0, 1, 2, 3, 4)),
)
NEXT = _iteration_op(
    "next",
    "(view, k)",
    "The item of trip k; only after `prim::has_next` gave true for it.",
    infer=lambda view, k: _item_type(view),
    ranges=NEXT_RANGES,
    evaluate=views.next_item,
    lower=_item,
    can_lower=lambda view, k: _can_lower_next(view),
    effects=_effect_of_next,
    is_profiled=True,
    samples=tuple((view, k) for view in _VIEWS for k in range(3) if views.has_next(view, k)),
)
VIEW_SIZE = _iteration_op(
    "view_size",
    "(view)",
    "How many trips a loop over the view takes, where that cannot change while it runs.",
    infer=lambda view: INT,
    ranges=VIEW_SIZE_RANGES,
    evaluate=views.size_of,
    lower=_fixed_size,
    can_lower=has_fixed_size,
    effects=lambda view: Effect.PURE if has_fixed_size(view) else Effect.CALL,
    samples=tuple((view,) for view in _VIEWS if not isinstance(view, list)),
)
