"""Functions of Python's `bisect` and `heapq` on lists of numbers, or of tuples of numbers.

They look at the same items as the library's, in the same order: so they do the same to lists that are not sorted, or
no heaps. A heap is changed when it is clear how: no check fails behind that.
"""

from __future__ import annotations

import bisect
import heapq
from collections.abc import Callable
from typing import Any

from ljit.ir import Effect, Emitter, OpDef, Schema, declare
from ljit.ir.emitter import V
from ljit.ir.list_uses import ListUse
from ljit.ops.python.compare import can_lower_order, lower_order
from ljit.ops.python.private_items import number_codes
from ljit.types import ANY, BOOL, FLOAT, INT, NONE, ListType, Type

__all__: list[str] = []


def _is_less(e: Emitter, x: V, y: V) -> V:
    return lower_order("lt")(e, x, y)


# -- bisect ----------------------------------------------------------------------------------------


def _can_bisect(a: Type, x: Type) -> bool:
    if not isinstance(a, ListType) or isinstance(a.item, ListType):
        return False
    is_number = a.item in (INT, FLOAT) and x in (INT, FLOAT)
    return is_number or (a.is_private and can_lower_order(a.item, x))


def _lower_bisect(*, after: bool) -> Callable[[Emitter, V, V], V]:
    def lower(e: Emitter, a: V, x: V) -> V:

        def is_more(state: V) -> V:
            low, high = e.tuple_items(state)
            return e.compare("lt", low, high)

        def halve(state: V) -> V:
            low, high = e.tuple_items(state)
            middle = e.shr(e.add(low, high, fits=True), 1)
            item = e.list_load(a, middle)
            is_left = _is_less(e, x, item) if after else _is_less(e, item, x)
            above = e.add(middle, 1, fits=True)
            if after:
                halves = e.select(is_left, low, above), e.select(is_left, middle, high)
            else:
                halves = e.select(is_left, above, low), e.select(is_left, high, middle)
            return e.tuple_make(halves)

        whole = e.tuple_make([e.const(INT, 0), e.list_size(a)])
        return e.tuple_items(e.repeat(whole, is_more, halve))[0]

    return lower


_SEARCHED: tuple[Any, ...] = (
    [],
    [1],
    [1, 3, 3, 7],
    [0.5, 1.5, float("nan"), 2.5],
    [3, 1, 2],
    ["a"],
)

for _name, _after in (("bisect_left", False), ("bisect_right", True)):
    declare(
        OpDef(
            f"py::{_name}",
            Schema("(a, x)"),
            f"``bisect.{_name}(a, x)``",
            infer=lambda a, x: INT if _can_bisect(a, x) else ANY,
            evaluate=getattr(bisect, _name),
            lower=_lower_bisect(after=_after),
            can_lower=_can_bisect,
            effects=lambda a, x: Effect.READ | Effect.RAISE if _can_bisect(a, x) else Effect.CALL,
            library=(f"_bisect.{_name}",),
            list_use=ListUse(),
            samples=tuple((a, x) for a in _SEARCHED for x in (3, 0, 9, 1.5, -0.0, "a")),
        )
    )

# -- heapq -----------------------------------------------------------------------------------------


def _is_heap(heap: Type, item: Type | None = None) -> bool:
    """Whether native code keeps the items of a list in order, and one more."""
    if not isinstance(heap, ListType) or not number_codes(heap.item):
        return False
    return can_lower_order(heap.item, heap.item) and item in (None, heap.item)


def _effect_on_heap(heap: Type, item: Type | None = None) -> Effect:
    return Effect.WRITE | Effect.RAISE if _is_heap(heap, item) else Effect.CALL


def _parent(e: Emitter, place: V) -> V:
    return e.shr(e.sub(place, 1, fits=True), 1)


def _swap(e: Emitter, x: V, i: V, j: V) -> None:
    if not x.type.is_private:
        e.list_swap(x, i, j)
        return
    first, second = e.list_load(x, i), e.list_load(x, j)
    e.list_store(x, i, second)
    e.list_store(x, j, first)


def _is_inside(e: Emitter, place: V, then: Callable[[], V]) -> V:
    """Whether a place is not the root, and a condition holds."""
    is_root = e.compare("eq", place, 0)
    return e.branch(is_root, lambda: e.const(BOOL, False), then)


def _lower_push(e: Emitter, heap: V, item: V) -> V:
    """The item goes up from the end, past those that are greater."""
    last = e.list_size(heap)
    place = e.repeat(
        last,
        lambda k: _is_inside(e, k, lambda: _is_less(e, item, e.list_load(heap, _parent(e, k)))),
        lambda k: _parent(e, k),
    )
    e.list_append(heap, item)

    def move_up(k: V) -> V:
        parent = _parent(e, k)
        _swap(e, heap, k, parent)
        return parent

    e.repeat(last, lambda k: e.compare("gt", k, place), move_up)
    return e.const(NONE, None)


def _lower_pop(e: Emitter, heap: V) -> V:
    """The last item takes the place of the root, goes down where the smaller ones are, and up again."""
    zero = e.const(INT, 0)
    size = e.list_size(heap)
    e.bail_if(e.compare("eq", size, zero), "pop from an empty heap")
    end = e.sub(size, 1, fits=True)
    item = e.list_load(heap, end)
    popped = e.list_load(heap, zero)
    place = e.repeat(
        _leaf_of_smallest(e, heap, end),
        lambda k: _is_inside(e, k, lambda: _is_less(e, item, e.list_load(heap, k))),
        lambda k: _parent(e, k),
    )
    _swap(e, heap, zero, end)
    e.list_drop(heap)
    _move_down(e, heap, place)
    return popped


def _leaf_of_smallest(e: Emitter, heap: V, end: V) -> V:
    """Go down from the root of `end` items to the smaller one of those below, until there is none."""

    def smaller_child(place: V) -> V:
        left = e.add(e.shl(place, 1), 1, fits=True)
        right = e.add(left, 1, fits=True)

        def choose() -> V:
            is_less = _is_less(e, e.list_load(heap, left), e.list_load(heap, right))
            return e.select(is_less, left, right)

        return e.branch(e.compare("lt", right, end), choose, lambda: left)

    half = e.shr(end, 1)
    return e.repeat(e.const(INT, 0), lambda place: e.compare("lt", place, half), smaller_child)


def _move_down(e: Emitter, heap: V, place: V) -> None:
    """Let the root change places with all on the way to a place: the leading bits of its number, counted from 1."""
    zero = e.const(INT, 0)
    number = e.add(place, 1, fits=True)
    depth = e.repeat(
        zero, lambda k: e.compare("gt", e.shr(number, k), 1), lambda k: e.add(k, 1, fits=True)
    )

    def ancestor(k: V) -> V:
        return e.sub(e.shr(number, k), 1, fits=True)

    def swap(k: V) -> V:
        following = e.sub(k, 1, fits=True)
        _swap(e, heap, ancestor(k), ancestor(following))
        return following

    e.repeat(depth, lambda k: e.compare("gt", k, zero), swap)


_HEAPS: tuple[Any, ...] = (
    [],
    [1],
    [1, 3, 2],
    [0.5, 1.5, 2.5, 1.75],
    [(1, 2), (1, 3)],
    [3, 1, 2],
    ["a"],
)

declare(
    OpDef(
        "py::heappush",
        Schema("(heap!, item, /)"),
        "``heapq.heappush(heap, item)``",
        infer=lambda heap, item: NONE if _is_heap(heap, item) else ANY,
        evaluate=heapq.heappush,
        lower=_lower_push,
        can_lower=_is_heap,
        effects=_effect_on_heap,
        library=("_heapq.heappush",),
        list_use=ListUse(puts=1),
        samples=tuple((h, x) for h in _HEAPS for x in (0, 2, 0.5, (1, 1))),
    )
)
declare(
    OpDef(
        "py::heappop",
        Schema("(heap!, /)"),
        "``heapq.heappop(heap)``",
        infer=lambda heap: heap.item if _is_heap(heap) else ANY,
        evaluate=heapq.heappop,
        lower=_lower_pop,
        can_lower=_is_heap,
        effects=_effect_on_heap,
        library=("_heapq.heappop",),
        is_profiled=True,
        list_use=ListUse(gives_item=True),
        samples=tuple((h,) for h in _HEAPS),
    )
)
