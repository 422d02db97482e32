"""Iteration: views whose state is the trip index alone, and cursors for everything else.

``for v in x`` becomes a Loop over k with ``prim::has_next(it, k)`` and ``prim::next(it, k)``. Exact lists,
tuples, ranges and arrays are their own views; enumerate, zip and reversed in the head of a loop make
the views below; any other iterable is wrapped in a Cursor.
"""

from __future__ import annotations

import operator
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np

from ljit.ir import Effect, OpDef, Schema, any_result, declare
from ljit.types import BOOL, INT

__all__ = [
    "Cursor",
    "EnumerateView",
    "ReversedView",
    "View",
    "ZipView",
    "has_next",
    "make_view",
    "next_item",
]

_INDEXED = (list, tuple, range, np.ndarray)


class View(Protocol):
    """What stands for an iterator: asked for k = 0, 1, 2 ... in turn, each as often as one likes."""

    def has_next(self, k: int) -> bool: ...
    def next_item(self, k: int) -> object: ...


class Cursor:
    """Any iterator: `has_next` advances it, `next_item` reads what came."""

    __slots__ = ("_has_item", "_item", "_iterator", "_position")

    def __init__(self, iterator: Iterator[object]) -> None:
        self._iterator = iterator
        self._position = -1
        self._has_item = False
        self._item: object = None

    def has_next(self, k: int) -> bool:
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
        return self._item


@dataclass(frozen=True, slots=True)
class EnumerateView:
    """``enumerate(part, start)``"""

    part: Any
    start: int

    def has_next(self, k: int) -> bool:
        return has_next(self.part, k)

    def next_item(self, k: int) -> object:
        return (self.start + k, next_item(self.part, k))


@dataclass(frozen=True, slots=True)
class ZipView:
    """``zip(*parts)`` of at least one part."""

    parts: tuple[Any, ...]

    def has_next(self, k: int) -> bool:
        return all(has_next(part, k) for part in self.parts)

    def next_item(self, k: int) -> object:
        return tuple([next_item(part, k) for part in self.parts])


@dataclass(frozen=True, slots=True)
class ReversedView:
    """``reversed(part)`` of an indexed view that had `size` items when the loop began."""

    part: Any
    size: int

    def has_next(self, k: int) -> bool:
        return 0 <= self.size - 1 - k < len(self.part)

    def next_item(self, k: int) -> object:
        return self.part[self.size - 1 - k]


def _is_indexed(x: object) -> bool:
    return type(x) in _INDEXED and not (type(x) is np.ndarray and x.ndim == 0)


def make_view(x: Any) -> object:
    """Give the view of ``iter(x)``."""
    return x if _is_indexed(x) else Cursor(iter(x))


def _enumerate_view(x: object, start: object = 0) -> object:
    return EnumerateView(make_view(x), operator.index(start))  # type: ignore[arg-type]


def _zip_view(*xs: object) -> object:
    return ZipView(tuple(map(make_view, xs))) if xs else ()


def _reversed_view(x: Any) -> object:
    return ReversedView(x, len(x)) if _is_indexed(x) else Cursor(reversed(x))


_VIEWS = {
    enumerate: (_enumerate_view, 1, 2),
    zip: (_zip_view, 0, 64),
    reversed: (_reversed_view, 1, 1),
}


def _call_view(f: Any, *args: object) -> object:
    """Give the view of ``iter(f(*args))``."""
    try:
        rule, least, most = _VIEWS[f]
    except (KeyError, TypeError):  # TypeError: not hashable
        return make_view(f(*args))
    if not least <= len(args) <= most:
        return make_view(f(*args))
    return rule(*args)


def has_next(view: Any, k: int) -> bool:
    """Whether trip k takes place."""
    return k < len(view) if type(view) in _INDEXED else view.has_next(k)


def next_item(view: Any, k: int) -> object:
    """Give the item of trip k."""
    return view[k] if type(view) in _INDEXED else view.next_item(k)


def _iteration_op(name: str, schema: str, doc: str, **fields: Any) -> OpDef:
    fields.setdefault("infer", any_result)
    fields.setdefault("effects", Effect.CALL)
    return declare(OpDef(name, Schema.parse(schema), doc, **fields))


ITER = _iteration_op(
    "prim::iter", "(x)", "The view that ``for v in x`` runs over.", evaluate=make_view
)
ITER_CALL = _iteration_op(
    "prim::iter_call",
    "(f, *args)",
    "The view that ``for v in f(*args)`` runs over.",
    evaluate=_call_view,
)
ENUMERATE_VIEW = _iteration_op(
    "prim::enumerate_view",
    "(iterable, start=0)",
    "``for v in enumerate(iterable, start)``",
    evaluate=_enumerate_view,
)
ZIP_VIEW = _iteration_op(
    "prim::zip_view", "(*iterables)", "``for v in zip(*iterables)``", evaluate=_zip_view
)
REVERSED_VIEW = _iteration_op(
    "prim::reversed_view",
    "(sequence, /)",
    "``for v in reversed(sequence)``",
    evaluate=_reversed_view,
)
HAS_NEXT = _iteration_op(
    "prim::has_next",
    "(view, k)",
    "Whether trip k of a loop over the view takes place.",
    infer=lambda view, k: BOOL,
    evaluate=has_next,
)
NEXT = _iteration_op(
    "prim::next",
    "(view, k)",
    "The item of trip k; only after `prim::has_next` gave true for it.",
    evaluate=next_item,
    is_profiled=True,
)
VIEW_SIZE = _iteration_op(
    "prim::view_size",
    "(view)",
    "How many trips a loop over the view takes, if that cannot change while it runs.",
    infer=lambda view: INT,
    evaluate=len,
)
