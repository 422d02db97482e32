"""How ``for`` runs over each kind of view of `iteration_views`: its number of items, item k, whether there is one.

A view's state is the trip index alone.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from ljit import record_types
from ljit.ir import Emitter
from ljit.ir.emitter import V
from ljit.ops.containers import iteration_views as views
from ljit.ops.python.numbers import at_most
from ljit.ops.python.types import (
    UINT64,
    check_index,
    common_type,
    is_below,
    range_count,
    range_length,
    select_item,
    subarray,
)
from ljit.ops.ranges.int_ranges import FITS, INSIDE
from ljit.packed_types import PackedType, may_change, packed_item_type
from ljit.records import Record
from ljit.types import (
    ANY,
    BOOL,
    BYTEARRAY,
    BYTES,
    CHARACTER,
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

__all__ = [
    "can_lower_next",
    "has_fixed_size",
    "has_guarded_items",
    "has_next",
    "holds_cursor",
    "holds_list",
    "is_view",
    "item_at",
    "item_type",
    "make_cursor",
    "reads_memory",
    "release",
    "rule_of",
    "size_of",
]


class _Rule(Record, eq=True):
    """How one kind of view is iterated: the type of its items, their number, item k.

    Where the length may change `has_next` asks for it each time. `size` is None where nobody knows.
    """

    item_type: Callable[[Any], Type]
    item: Callable[[Emitter, V, V], V]
    size: Callable[[Emitter, V], V] | None
    has_next: Callable[[Emitter, V, V], V]
    can_lower: Callable[[Any], bool] = lambda t: True
    may_change: bool = False  # the size


def _is_below_size(size: Callable[[Emitter, V], V]) -> Callable[[Emitter, V, V], V]:
    return lambda e, view, k: is_below(e, k, size(e, view))


# -- range, tuple, list, array ---------------------------------------------------------------------


def _range_has_next(e: Emitter, view: V, k: V) -> V:
    return is_below(e, k, range_count(e, view))


def _range_item(e: Emitter, view: V, k: V) -> V:
    """Give the number of trip `k`, which is in the range: it fits, and so does `k` times a step of one."""
    start, _, step = e.range_parts(view)
    return e.add(start, e.mul(k, step), fits=e.constant_of(step) in (1, -1))


_RANGE = _Rule(lambda t: INT, _range_item, range_length, _range_has_next)


def _tuple_size(e: Emitter, view: V) -> V:
    return e.const(INT, len(view.type.items))


_TUPLE = _Rule(
    lambda t: common_type(t.items),
    lambda e, view, k: select_item(e, e.tuple_items(view), k),
    _tuple_size,
    _is_below_size(_tuple_size),
    lambda t: bool(t.items),
)


def _list_item(e: Emitter, view: V, k: V) -> V:
    check_index(e, k, e.list_size(view))
    if view.type.item == NEVER:  # nothing was ever seen in it
        view = e.retype(view, ListType(ANY))
    return e.list_load(view, k)


_LIST = _Rule(
    lambda t: ANY if t.item == NEVER else t.item,
    _list_item,
    lambda e, view: e.list_size(view),
    _is_below_size(lambda e, view: e.list_size(view)),
    may_change=True,
)


def _array_size(e: Emitter, view: V) -> V:
    return e.array_sizes(view)[0]


def _array_item(e: Emitter, view: V, k: V) -> V:
    if not e.is_proven(INSIDE):
        check_index(e, k, _array_size(e, view))
    if view.type.ndim == 1 and not view.type.has_fields:
        return e.array_load(view, [k])
    return subarray(e, view, k)


_ARRAY = _Rule(record_types.item_type, _array_item, _array_size, _is_below_size(_array_size))

# -- enumerate, zip, reversed ----------------------------------------------------------------------


def _enumerate_item(e: Emitter, view: V, k: V) -> V:
    part, start = e.view_parts(view)
    if e.is_proven(FITS):
        return e.tuple_make([e.add(start, k, fits=True), item_at(e, part, k)])
    number, overflows = e.add_overflow(start, k)
    e.bail_if(overflows, "int overflow")
    return e.tuple_make([number, item_at(e, part, k)])


def _first_size(e: Emitter, view: V) -> V:
    part = e.view_parts(view)[0]
    return size_of(e, part)


_ENUMERATE = _Rule(
    lambda t: TupleType((INT, item_type(t.parts[0]))),
    _enumerate_item,
    _first_size,
    lambda e, view, k: has_next(e, e.view_parts(view)[0], k),
)


def _zip_size(e: Emitter, view: V) -> V:
    sizes = [size_of(e, part) for part in e.view_parts(view)]
    result = sizes[0]
    for size in sizes[1:]:
        result = at_most(e, size, result)
    return result


def _zip_has_next(e: Emitter, view: V, k: V) -> V:
    """Whether all parts have an item; a cursor behind an exhausted part is not advanced."""
    result = e.const(BOOL, True)
    for part in e.view_parts(view):
        if holds_cursor(part.type):
            result = _and_then(e, result, part, k)
        else:
            result = e.bit_and(result, has_next(e, part, k))
    return result


def _and_then(e: Emitter, condition: V, part: V, k: V) -> V:
    return e.branch(condition, lambda: has_next(e, part, k), lambda: e.const(BOOL, False))


_ZIP = _Rule(
    lambda t: TupleType(tuple(map(item_type, t.parts))),
    lambda e, view, k: e.tuple_make([item_at(e, part, k) for part in e.view_parts(view)]),
    _zip_size,
    _zip_has_next,
)


def _reversed_index(e: Emitter, view: V, k: V) -> V:
    return e.sub(e.sub(e.view_parts(view)[1], 1), k)


def _reversed_has_next(e: Emitter, view: V, k: V) -> V:
    return has_next(e, e.view_parts(view)[0], _reversed_index(e, view, k))


_REVERSED = _Rule(
    lambda t: item_type(t.parts[0]),
    lambda e, view, k: item_at(e, e.view_parts(view)[0], _reversed_index(e, view, k)),
    lambda e, view: e.view_parts(view)[1],
    _reversed_has_next,
)

# -- product, ndenumerate --------------------------------------------------------------------------


def _product_size(e: Emitter, view: V) -> V:
    return _product([size_of(e, part) for part in e.view_parts(view)], e)


def _product(sizes: Sequence[V], e: Emitter) -> V:
    """Multiply sizes; whoever makes a view has seen that it fits."""
    result = sizes[0]
    for size in sizes[1:]:
        result = e.mul(result, size, fits=True)
    return result


def _places(e: Emitter, k: V, sizes: Sequence[V]) -> list[V]:
    """The places in each part of combination `k`, which there is: the last part changes fastest."""
    rest, places = e.cast(k, UINT64), []
    for size in reversed(sizes[1:]):
        # Of none there is no combination; the division says so too, wherever it stands
        divisor = e.cast(e.select(e.compare("eq", size, 0), 1, size), UINT64)
        places.append(e.cast(e.rem(rest, divisor), INT))
        rest = e.div(rest, divisor)
    return [e.cast(rest, INT), *reversed(places)]


def _product_item(e: Emitter, view: V, k: V) -> V:
    parts = e.view_parts(view)
    places = _places(e, k, [size_of(e, part) for part in parts])
    return e.tuple_make([item_at(e, *at) for at in zip(parts, places, strict=True)])


_PRODUCT = _Rule(
    lambda t: TupleType(tuple(map(item_type, t.parts))),
    _product_item,
    _product_size,
    _is_below_size(_product_size),
)


def _ndenumerate_item(e: Emitter, view: V, k: V) -> V:
    (array,) = e.view_parts(view)
    places = _places(e, k, e.array_sizes(array))
    return e.tuple_make([e.tuple_make(places), e.array_load(array, places)])


def _count_of_elements(e: Emitter, view: V) -> V:
    (array,) = e.view_parts(view)
    return _product(e.array_sizes(array), e)


_NDENUMERATE = _Rule(
    lambda t: TupleType((TupleType((INT,) * t.parts[0].ndim), scalar_type(t.parts[0].dtype))),
    _ndenumerate_item,
    _count_of_elements,
    _is_below_size(_count_of_elements),
)


# -- cursors, strings and bytes ---------------------------------------------------------------------------


def _cursor_has_next(e: Emitter, view: V, k: V) -> V:
    """Advance as `Cursor.has_next` does when it is asked for a new trip."""
    (cell,) = e.view_parts(view)
    end = e.object_const(views.END)
    item = e.call_function(views.next_of, [cell, end])
    e.list_store(cell, e.const(INT, 1), item)
    e.list_store(cell, e.const(INT, 2), k)
    return e.bit_xor(e.same_object(item, end), True)


_CURSOR = _Rule(
    lambda t: ANY,
    lambda e, view, k: e.list_load(e.view_parts(view)[0], e.const(INT, 1)),
    None,
    _cursor_has_next,
)


def make_cursor(e: Emitter, x: V) -> V:
    cell = e.call_function(views.new_cell, [x, e.object_const(views.END)])
    return e.view_make(views.CURSOR, [e.retype(cell, views.CURSOR.parts[0])])


def release(e: Emitter, view: V) -> None:
    """Let go of the iterators in a view."""
    if view.type == views.CURSOR:
        e.list_store(e.view_parts(view)[0], e.const(INT, 0), e.object_const(views.END))
    elif holds_cursor(view.type):
        for part in reversed(e.view_parts(view)):
            release(e, part)


def _string_item(e: Emitter, view: V, k: V) -> V:
    if not e.is_proven(INSIDE):
        check_index(e, k, e.str_size(view))
    return e.str_char(e.str_code(view, k))


_STRING = _Rule(
    lambda t: CHARACTER,
    _string_item,
    lambda e, view: e.str_size(view),
    _is_below_size(lambda e, view: e.str_size(view)),
)


def _packed_at(e: Emitter, view: V, k: V) -> V:
    if not e.is_proven(INSIDE):
        check_index(e, k, e.packed_size(view))
    return e.packed_load(view, k)


_BYTES = _Rule(
    lambda t: INT,
    _packed_at,
    lambda e, view: e.packed_size(view),
    _is_below_size(lambda e, view: e.packed_size(view)),
)

_CHANGING = _Rule(
    packed_item_type,
    _packed_at,
    lambda e, view: e.packed_size(view),
    _is_below_size(lambda e, view: e.packed_size(view)),
    may_change=True,
)

_ATOM_RULES = {STR: _STRING, BYTES: _BYTES, BYTEARRAY: _CHANGING}
_CLASS_RULES: dict[type, _Rule] = {
    type(RANGE): _RANGE,
    TupleType: _TUPLE,
    ListType: _LIST,
    ArrayType: _ARRAY,
    PackedType: _CHANGING,
}
_VIEW_RULES = {
    "cursor": _CURSOR,
    "enumerate": _ENUMERATE,
    "zip": _ZIP,
    "reversed": _REVERSED,
    "product": _PRODUCT,
    "ndenumerate": _NDENUMERATE,
}


def _rule(t: Type) -> _Rule | None:
    """The rule for a type; None: it is iterated by calling Python."""
    if isinstance(t, ViewType):
        return _VIEW_RULES[t.kind]
    if isinstance(t, ArrayType) and t.ndim == 0:
        return None
    return _ATOM_RULES.get(t) or _CLASS_RULES.get(type(t))


def rule_of(t: Type) -> _Rule:
    rule = _rule(t)
    assert rule is not None
    return rule


def item_type(t: Type) -> Type:
    rule = _rule(t)
    return ANY if rule is None else rule.item_type(t)


def item_at(e: Emitter, view: V, k: V) -> V:
    return rule_of(view.type).item(e, view, k)


def has_next(e: Emitter, view: V, k: V) -> V:
    return rule_of(view.type).has_next(e, view, k)


def size_of(e: Emitter, view: V) -> V:
    size = rule_of(view.type).size
    assert size is not None
    return size(e, view)


def is_view(t: Type) -> bool:
    """Whether values of type `t` are iterated by index."""
    return _rule(t) is not None


def holds_cursor(t: Type) -> bool:
    """Whether asking a view of type `t` runs unknown code."""
    return t == views.CURSOR or (isinstance(t, ViewType) and any(map(holds_cursor, t.parts)))


def holds_list(t: Type) -> bool:
    """Whether it is a view of lists, and of no unknown iterators."""
    if not isinstance(t, ViewType):
        return isinstance(t, ListType)
    return not holds_cursor(t) and any(map(holds_list, t.parts))


def has_fixed_size(t: Type) -> bool:
    """Whether the number of trips is known when the loop begins."""
    if t == views.CURSOR:
        return False
    if isinstance(t, ViewType):
        return all(map(has_fixed_size, _iterated_parts(t)))
    rule = _rule(t)
    return rule is not None and rule.size is not None and not rule.may_change


def _iterated_parts(t: ViewType) -> tuple[Type, ...]:
    return t.parts if t.kind in ("zip", "product") else t.parts[:1]


def can_lower_next(t: Type) -> bool:
    if t == views.CURSOR:
        return True
    if isinstance(t, ViewType):
        return all(map(can_lower_next, _iterated_parts(t)))
    rule = _rule(t)
    return rule is not None and rule.can_lower(t)


def has_guarded_items(t: Type) -> bool:
    """Whether reading an item leaves native code if it is of another type than it should be."""
    if isinstance(t, ViewType):
        return t != views.CURSOR and any(map(has_guarded_items, t.parts))
    return isinstance(t, ListType) and t.item != ANY and not t.is_private


def reads_memory(t: Type) -> bool:
    if isinstance(t, ViewType):
        return any(map(reads_memory, t.parts))
    return isinstance(t, ListType | ArrayType) or may_change(t)
