"""What stands for an iterator in a loop: views indexed by the trip number, and cursors.

Exact lists, tuples, ranges, strings, bytes, bytearrays and arrays are their own views. A view of enumerate, zip,
reversed, product or ndenumerate, and the cursor that holds any other iterator, is an instance of a tuple subclass whose
items are the parts of its `ViewType`, so that native code builds it and takes it apart as it does tuples;
`VIEW_CLASSES` gives the class of a kind.
"""

from __future__ import annotations

import itertools
import math
import operator
import sys
from array import array
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any

import numpy as np

from ljit.cpython.classes import is_plain_class
from ljit.cpython.frame_count import thread
from ljit.packed_types import TYPECODES
from ljit.types import ANY, ListType, ObjectType, Type, ViewType
from ljit.value_types import register_class, type_of

__all__ = [
    "CURSOR",
    "END",
    "VIEW_CLASSES",
    "Cursor",
    "EnumerateView",
    "NumberedView",
    "ProductView",
    "ReversedView",
    "ZipView",
    "enumerate_view",
    "form_of",
    "has_next",
    "is_indexed",
    "make_cursor",
    "make_view",
    "most_of_a_part",
    "ndenumerate_view",
    "ndindex_view",
    "new_cell",
    "next_item",
    "next_of",
    "product_view",
    "release",
    "reversed_view",
    "size_of",
    "trips_of",
    "view_of_call",
    "zip_view",
]

_INDEXED = (list, tuple, range, str, bytes, bytearray, array, np.ndarray)
_MOST_COPIED = 2**24  # items of a part of a product: more may be more than there is memory for
_CHANGEABLE = (list, bytearray, array, np.ndarray)
_EMPTY: Sequence[Iterable[object]] = ([], (), range(0), "", b"", {}, set(), {}.values(), {}.items())
#: classes of what needs a cursor, but runs no code of a user's
QUIET = frozenset((*map(type, _EMPTY), *(type(iter(x)) for x in _EMPTY), frozenset))


class _End:
    """The class of `END`."""

    __slots__ = ()

    def __repr__(self) -> str:
        return "<end>"


END = _End()  # what a cursor holds behind its last item


def new_cell(iterable: Iterable[object], end: object) -> list[Any]:
    """Make the cell of a cursor that was not asked yet."""
    return [iter(iterable), end, -1]


def next_of(cell: list[Any], end: object) -> object:
    """Advance the iterator in a cell, which gives `end` behind its last item."""
    return next(cell[0], end)


_FRAMES_TO_ITERATOR = 3  # from where the loop asks: `has_next`, the cursor's, and this one's


def _next_of_users(iterator: Iterator[object]) -> object:
    """What an iterator gives that may run users' code, which finds the frames of the loop, none of ljit's."""
    left = thread.frames.left
    left.value += _FRAMES_TO_ITERATOR
    try:
        return next(iterator, END)
    finally:
        left.value -= _FRAMES_TO_ITERATOR


class Cursor(tuple[list[Any]]):
    """Any iterator, as ([iterator, item, k],): asked for trip k, it advances; then it has the item.

    Only the cell has the iterator: whoever runs the loop can let go of it there (`release`).
    """

    __slots__ = ()

    def has_next(self, k: int) -> bool:
        """Whether there is an item for trip k; asked again for the same k, it does not advance."""
        (cell,) = self
        if k != cell[2]:
            cell[1] = next(cell[0], END) if type(cell[0]) in QUIET else _next_of_users(cell[0])
            cell[2] = k
        return cell[1] is not END

    def next_item(self, k: int) -> object:
        """Give the item of trip k."""
        return self[0][1]


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
        return tuple([part[k] if type(part) is list else next_item(part, k) for part in self])


class ReversedView(tuple[Any, int]):
    """``reversed(part)`` of an indexed view that had `size` items at first, as (part, size)."""

    __slots__ = ()

    def has_next(self, k: int) -> bool:
        """Whether item size - 1 - k is still there."""
        return 0 <= self[1] - 1 - k < len(self[0])

    def next_item(self, k: int) -> object:
        """Give item size - 1 - k."""
        return self[0][self[1] - 1 - k]


class ProductView(tuple[Any, ...]):
    """``itertools.product(*parts)`` of parts that stay as they are; of ranges it is ``np.ndindex``, too."""

    __slots__ = ()

    def has_next(self, k: int) -> bool:
        """Whether there are more than k combinations."""
        return k < size_of(self)

    def next_item(self, k: int) -> object:
        """Give combination k: the last part changes fastest."""
        items = []
        for part in reversed(self):
            k, place = divmod(k, len(part))
            items.append(part[place])
        return tuple(reversed(items))


class NumberedView(tuple[np.ndarray]):
    """``np.ndenumerate(part)`` of an array that has axes."""

    __slots__ = ()

    def has_next(self, k: int) -> bool:
        """Whether there are more than k elements."""
        return k < size_of(self)

    def next_item(self, k: int) -> object:
        """Give the indices and the value of element k in C order."""
        (array,) = self
        place = tuple(map(int, np.unravel_index(k, array.shape)))
        return place, array[place]


VIEW_CLASSES: dict[str, type[tuple[Any, ...]]] = {
    "cursor": Cursor,
    "enumerate": EnumerateView,
    "zip": ZipView,
    "reversed": ReversedView,
    "product": ProductView,
    "ndenumerate": NumberedView,
}


CURSOR = ViewType("cursor", (ListType(ANY),))


def _type_rule(kind: str) -> Callable[[Any], Type]:
    """Views of what native code cannot index (tuples that are very long) are objects to it."""

    def rule(view: Any) -> Type:
        parts = tuple(map(type_of, view))
        is_known = not any(part == ANY or isinstance(part, ObjectType) for part in parts)
        return ViewType(kind, parts) if is_known else ObjectType(type(view))

    return rule


for _kind, _cls in VIEW_CLASSES.items():
    register_class(_cls, _type_rule(_kind))
register_class(Cursor, lambda _view: CURSOR)


def make_cursor(iterable: Iterable[object]) -> Cursor:
    """Give the cursor of a new iterator."""
    return Cursor((new_cell(iterable, END),))


def is_indexed(x: object) -> bool:
    """Whether `x` is its own view."""
    if type(x) is array:
        return x.typecode in TYPECODES
    cls = type(x)
    return is_plain_class(cls) and cls in _INDEXED and not (cls is np.ndarray and x.ndim == 0)  # type: ignore[attr-defined]


def form_of(view: Any) -> int:
    """As which form of `OpDef.in_line` a view is asked; 1: it is its own, 2: ``enumerate`` of such a one, 0: none."""
    if type(view) is range:  # it may have more items than len() can say
        return int(max(abs(view.start), abs(view.stop)) <= sys.maxsize // 2)
    if type(view) is EnumerateView:
        return 2 * (form_of(view[0]) == 1)
    return int(type(view) in _INDEXED)


def make_view(x: Any) -> object:
    """Give the view of ``iter(x)``."""
    return x if is_indexed(x) else make_cursor(x)


def enumerate_view(iterable: object, start: object = 0) -> object:
    """Give the view of ``enumerate(iterable, start)``."""
    return EnumerateView((make_view(iterable), operator.index(start)))  # type: ignore[arg-type]


def zip_view(*iterables: object) -> object:
    """Give the view of ``zip(*iterables)``.

    What can change is asked for its item by a cursor if one comes behind it, which may run code that changes it.
    """
    if not iterables:
        return ()
    parts = [make_view(x) for x in iterables]
    loud = [k for k, part in enumerate(parts) if isinstance(part, Cursor)]
    last = max((k for k in loud if type(iterables[k]) not in QUIET), default=0)
    for k, part in enumerate(parts[:last]):
        if type(part) in _CHANGEABLE:
            parts[k] = make_cursor(part)  # type: ignore[arg-type]
    return ZipView(parts)


def reversed_view(sequence: Any) -> object:
    """Give the view of ``reversed(sequence)``."""
    if is_indexed(sequence):
        try:
            return ReversedView((sequence, len(sequence)))
        except OverflowError:  # a range of more items than len() can say
            return sequence[::-1]
    return make_cursor(reversed(sequence))


def most_of_a_part(count: int) -> int:
    """How many items each of so many parts of a product may have, so that the number of combinations fits in an int."""
    return min(_MOST_COPIED, int(2 ** (60 // count)))


def product_view(*iterables: Any) -> object:
    """Give the view of ``itertools.product(*iterables)``, which puts all items into tuples first."""
    are_fixed = bool(iterables) and all(type(x) in (range, tuple, str, bytes) for x in iterables)
    if are_fixed and not any(x[most_of_a_part(len(iterables)) :] for x in iterables):
        return ProductView(iterables)
    return make_cursor(itertools.product(*iterables))


def ndindex_view(*shape: Any) -> object:
    """Give the view of ``np.ndindex(*shape)``."""
    made = np.ndindex(*shape)  # it says what is wrong with a shape
    sizes = shape[0] if len(shape) == 1 and type(shape[0]) is tuple else shape
    if not sizes or not all(type(n) is int for n in sizes):
        return make_cursor(made)
    return (
        ProductView(map(range, sizes))
        if max(sizes) <= most_of_a_part(len(sizes))
        else make_cursor(made)
    )


def ndenumerate_view(a: Any) -> object:
    """Give the view of ``np.ndenumerate(a)``."""
    return (
        NumberedView((a,)) if type(a) is np.ndarray and a.ndim else make_cursor(np.ndenumerate(a))
    )


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
    try:
        return k < len(view) if type(view) in _INDEXED else view.has_next(k)
    except OverflowError:
        if type(view) is not range:
            raise
        return True  # it has more items than len() can say


def next_item(view: Any, k: int) -> object:
    """Give the item of trip k."""
    return view[k] if type(view) in _INDEXED else view.next_item(k)


def release(view: Any, *_kept: object) -> None:
    """Let go of the iterators in a view: generators that nobody else has are closed."""
    if isinstance(view, Cursor):
        view[0][0] = END
    elif isinstance(view, EnumerateView | ZipView):
        for part in reversed(view):  # as CPython gives a tuple's items back
            release(part)


def trips_of(view: Any) -> float | None:
    """How many trips a loop over the view has, by what it goes through now; None: nobody knows."""
    match view:
        case EnumerateView():
            return trips_of(view[0])
        case ReversedView():
            return view[1]  # type: ignore[no-any-return]
        case ProductView() | NumberedView():
            return size_of(view)
        case ZipView():
            known = [trips for trips in map(trips_of, view) if trips is not None]
            return min(known, default=None)
    try:
        return len(view) if is_indexed(view) else None
    except OverflowError:  # a range of more items than len() can say
        return math.inf


def size_of(view: Any) -> int:
    """Give the number of trips of a loop over a view of fixed length."""
    match view:
        case EnumerateView():
            return size_of(view[0])
        case ReversedView():
            return view[1]
        case ZipView():
            return min(map(size_of, view))
        case ProductView():
            return math.prod(map(len, view))
        case NumberedView():
            return view[0].size
    return len(view)
