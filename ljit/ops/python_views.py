"""What stands for an iterator in a loop: views indexed by the trip number, and cursors.

Exact lists, tuples, ranges and arrays are their own views. A view of enumerate, zip or reversed is an
instance of a tuple subclass whose items are the parts of its `ViewType`, so that native code builds it and
takes it apart as it does tuples; `VIEW_CLASSES` gives the class of a kind. Any other iterator is in a Cursor.
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from ljit.types import ObjectType, Type, ViewType, register_class, type_of

__all__ = [
    "VIEW_CLASSES",
    "Cursor",
    "EnumerateView",
    "ReversedView",
    "ZipView",
    "enumerate_view",
    "has_next",
    "is_indexed",
    "make_view",
    "next_item",
    "reversed_view",
    "size_of",
    "view_of_call",
    "zip_view",
]

_INDEXED = (list, tuple, range, np.ndarray)


class Cursor:
    """Any iterator: `has_next` advances it once a trip, `next_item` reads what came."""

    __slots__ = ("_has_item", "_item", "_iterator", "_position")

    def __init__(self, iterator: Iterator[object]) -> None:
        self._iterator = iterator
        self._position = -1
        self._has_item = False
        self._item: object = None

    def has_next(self, k: int) -> bool:
        """Whether there is an item for trip k."""
        if k != self._position:
            self._item = None
            self._has_item = False
            for item in self._iterator:
                self._item = item
                self._has_item = True
                break
            self._position = k
        return self._has_item

    def next_item(self, k: int) -> object:
        """Give the item of trip k."""
        return self._item


class EnumerateView(tuple[Any, int]):
    """``enumerate(part, start)``, as (part, start)."""

    __slots__ = ()

    def has_next(self, k: int) -> bool:
        """Whether the part has an item k."""
        return has_next(self[0], k)

    def next_item(self, k: int) -> object:
        """Give the number and the item."""
        return (self[1] + k, next_item(self[0], k))


class ZipView(tuple[Any, ...]):
    """``zip(*parts)`` of at least one part."""

    __slots__ = ()

    def has_next(self, k: int) -> bool:
        """Whether each part has an item k; later ones are not asked once one has not."""
        return all(has_next(part, k) for part in self)

    def next_item(self, k: int) -> object:
        """Give the tuple of the items."""
        return tuple([next_item(part, k) for part in self])


class ReversedView(tuple[Any, int]):
    """``reversed(part)`` of an indexed view that had `size` items at first, as (part, size)."""

    __slots__ = ()

    def has_next(self, k: int) -> bool:
        """Whether item size - 1 - k is still there."""
        return 0 <= self[1] - 1 - k < len(self[0])

    def next_item(self, k: int) -> object:
        """Give item size - 1 - k."""
        return self[0][self[1] - 1 - k]


VIEW_CLASSES: dict[str, type[tuple[Any, ...]]] = {
    "enumerate": EnumerateView,
    "zip": ZipView,
    "reversed": ReversedView,
}


def _type_rule(kind: str, cls: type) -> Callable[[Any], Type]:
    def rule(view: tuple[Any, ...]) -> Type:
        parts = tuple(map(type_of, view))
        vague = any(isinstance(t, ObjectType) for t in parts)
        return ObjectType(cls) if vague else ViewType(kind, parts)

    return rule


for _kind, _cls in VIEW_CLASSES.items():
    register_class(_cls, _type_rule(_kind, _cls))


def is_indexed(x: object) -> bool:
    """Whether `x` is its own view."""
    return type(x) in _INDEXED and not (type(x) is np.ndarray and x.ndim == 0)


def make_view(x: Any) -> object:
    """Give the view of ``iter(x)``."""
    return x if is_indexed(x) else Cursor(iter(x))


def enumerate_view(iterable: object, start: object = 0) -> object:
    """Give the view of ``enumerate(iterable, start)``."""
    return EnumerateView((make_view(iterable), operator.index(start)))  # type: ignore[arg-type]


def zip_view(*iterables: object) -> object:
    """Give the view of ``zip(*iterables)``."""
    return ZipView(map(make_view, iterables)) if iterables else ()


def reversed_view(sequence: Any) -> object:
    """Give the view of ``reversed(sequence)``."""
    if is_indexed(sequence):
        return ReversedView((sequence, len(sequence)))
    return Cursor(reversed(sequence))


def view_of_call(f: Any, *args: Any) -> object:
    """Give the view of ``iter(f(*args))``."""
    if f is enumerate and len(args) in (1, 2):
        return enumerate_view(*args)
    if f is zip:
        return zip_view(*args)
    if f is reversed and len(args) == 1:
        return reversed_view(*args)
    return make_view(f(*args))


def has_next(view: Any, k: int) -> bool:
    """Whether trip k takes place."""
    return k < len(view) if type(view) in _INDEXED else view.has_next(k)


def next_item(view: Any, k: int) -> object:
    """Give the item of trip k."""
    return view[k] if type(view) in _INDEXED else view.next_item(k)


def size_of(view: Any) -> int:
    """Give the number of trips of a loop over a view of fixed length."""
    match view:
        case EnumerateView():
            return size_of(view[0])
        case ReversedView():
            return view[1]
        case ZipView():
            return min(map(size_of, view))
    return len(view)
