"""The view that a loop goes on with, of an iterator with which CPython began it.

An iterator that nobody else has need not be advanced: its place among the items is asked for. All else is a cursor,
which goes on with the very iterator.
"""

from __future__ import annotations

import sys
from array import array
from collections.abc import Callable, Iterable
from typing import Any

from ljit.ops.containers.iteration_views import (
    EnumerateView,
    ReversedView,
    ZipView,
    is_indexed,
    make_cursor,
)

__all__ = ["view_of_iterator"]

_OWNERS = 4  # of an iterator, on the stack of a frame or in another one: that, two variables and an argument
_CONTAINERS: tuple[Iterable[object], ...] = ([], (), "", "\xff", b"", bytearray(), array("d"))
_BY_INDEX = tuple({type(iter(x)) for x in _CONTAINERS})

_NEXT = 1  # trip, where any will do: one is in progress

_View = tuple[Any, int]  # the view, and the trip that comes next


def view_of_iterator(iterator: Any) -> _View:
    """Give the view, and the number of the next trip, 1 at least."""
    found = _indexed(iterator, None)
    return (make_cursor(iterator), _NEXT) if found is None else found


def _indexed(iterator: Any, trip: int | None) -> _View | None:
    """Give a view whose next trip has the given number, or any; None: the iterator has to be advanced."""
    rule = _RULES.get(type(iterator))
    if rule is None or sys.getrefcount(iterator) > _OWNERS:
        return None
    return rule(iterator, trip)


def _of_items(iterator: Any, trip: int | None) -> _View | None:
    _, (items,), *index = iterator.__reduce__()
    if not index or not is_indexed(items) or trip not in (None, index[0]):
        return None
    return items, index[0]


def _of_range(iterator: Any, trip: int | None) -> _View | None:
    _, (items,), *index = iterator.__reduce__()
    rest = items[(index and index[0]) or 0 :]
    trip = trip or _NEXT
    return range(rest.start - trip * rest.step, rest.stop, rest.step), trip


def _of_reversed(iterator: Any, trip: int | None) -> _View | None:
    _, (items,), *index = iterator.__reduce__()
    if not index or not is_indexed(items):
        return None
    trip = trip or _NEXT
    return ReversedView((items, index[0] + 1 + trip)), trip


def _of_enumerate(iterator: Any, trip: int | None) -> _View | None:
    _, (inner, count) = iterator.__reduce__()
    found = _indexed(inner, trip)
    if found is None:
        return None
    return EnumerateView((found[0], count - found[1])), found[1]


def _of_zip(iterator: Any, trip: int | None) -> _View | None:
    """All parts have the same trip: that of the first list, if any."""
    _, inner, *is_strict = iterator.__reduce__()
    if is_strict or not inner:
        return None
    for part in inner:
        found = _indexed(part, trip)
        if found is None:
            return None
        if type(part) in _BY_INDEX:
            trip = found[1]
        del part
    trip = trip or _NEXT
    parts = [_indexed(part, trip) for part in inner]
    if None in parts:
        return None
    return ZipView([part[0] for part in parts if part is not None]), trip


_RULES: dict[type, Callable[[Any, int | None], _View | None]] = {
    **dict.fromkeys(_BY_INDEX, _of_items),
    type(iter(range(0))): _of_range,
    type(reversed([])): _of_reversed,
    enumerate: _of_enumerate,
    zip: _of_zip,
}
