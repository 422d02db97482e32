"""Slices of so many items, of arrays or lists: their bounds, clipped as CPython clips them."""

from __future__ import annotations

from ljit.ir import Emitter
from ljit.ir.emitter import V
from ljit.ops.python.numbers import at_least, at_most
from ljit.types import ANY, BOOL, INT, NONE, SliceType, Type

__all__ = ["adjust_slice", "is_slice_of_ints", "splice_bounds"]

_LARGEST, _LEAST = 2**63 - 1, -(2**63)
_ORDINARY = 2**32


def is_slice_of_ints(t: Type) -> bool:
    """Whether it is a slice whose parts need no `__index__` of another class."""
    parts = (t.start, t.stop, t.step) if isinstance(t, SliceType) else (ANY,)
    return all(part in (NONE, BOOL, INT) for part in parts)


def adjust_slice(e: Emitter, x: V, size: V) -> tuple[V, V, V]:
    """Give start, step and count of a slice of `size` items, as ``PySlice_AdjustIndices``.

    An empty slice starts at 0 with step 1, as NumPy's views do.
    """
    adjusted: tuple[V, V, V] = e.once(_adjusted, x, size)
    return adjusted


def _adjusted(e: Emitter, x: V, size: V) -> tuple[V, V, V]:
    start, stop, step = (p if p.type == NONE else e.cast(p, INT) for p in e.slice_parts(x))
    zero, one = e.const(INT, 0), e.const(INT, 1)
    if step.type == NONE:
        single = _single_item(e, start, stop)
        if single is not None:
            is_empty = e.compare("le", size, max(single, 0))
            first = e.const(INT, single) if single >= 0 else e.sub(size, one)
            return e.select(is_empty, zero, first), one, e.select(is_empty, zero, one)
        cut = _cut_off(e, start, stop)
        if cut is not None:
            left = e.add(size, -sum(cut))
            is_empty = e.compare("le", left, zero)
            first = e.select(is_empty, zero, cut[0])
            return first, one, e.select(is_empty, zero, left)
        first = zero if start.type == NONE else _clip_bound(e, start, size, zero, size)
        last = size if stop.type == NONE else _clip_bound(e, stop, size, zero, size)
        is_empty = e.compare("le", last, first)
        return e.select(is_empty, zero, first), one, e.select(is_empty, zero, e.sub(last, first))
    e.bail_if(e.compare("eq", step, zero), "slice step is zero")
    step = e.select(e.compare("eq", step, _LEAST), -_LARGEST, step)
    is_down = e.compare("lt", step, zero)
    minus = e.const(INT, -1)
    low = e.select(is_down, minus, zero)
    high = e.select(is_down, e.sub(size, one), size)
    first = e.select(is_down, high, low)
    last = e.select(is_down, low, high)
    if start.type != NONE:
        first = _clip_bound(e, start, size, low, high)
    if stop.type != NONE:
        last = _clip_bound(e, stop, size, low, high)
    distance = e.select(is_down, e.sub(first, last), e.sub(last, first))
    stride = e.select(is_down, e.neg(step), step)
    count = e.add(e.div(e.sub(distance, one), stride), one)
    is_empty = e.compare("le", distance, zero)
    chosen = (e.select(is_empty, *pair) for pair in ((zero, first), (one, step), (zero, count)))
    first, step, count = chosen
    return first, step, count


def _single_item(e: Emitter, start: V, stop: V) -> int | None:
    """Which item is all that there is to a slice, if constants say so: that of ``a[2:3]``, ``a[:1]``, ``a[-1:]``.

    So sizes are selected from 0 and 1, and loop nests know that there is no more.
    """
    first = 0 if start.type == NONE else e.constant_of(start)
    last = 0 if stop.type == NONE else e.constant_of(stop)
    if first is None or last is None or last - first != 1:
        return None
    return first if first >= 0 or stop.type == NONE else None


def _cut_off(e: Emitter, start: V, stop: V) -> tuple[int, int] | None:
    """How many items a slice leaves out at both ends, if constants say that of any size.

    Views that leave out as many have the same size then, which is computed once: ``a[2:]`` and ``a[1:-1]``.
    """
    first = 0 if start.type == NONE else e.constant_of(start)
    behind = 0 if stop.type == NONE else e.constant_of(stop)
    if first is None or behind is None or not 0 <= first < _ORDINARY:
        return None
    if stop.type != NONE and not -_ORDINARY < behind < 0:
        return None
    return first, -behind


def splice_bounds(e: Emitter, x: V, size: V) -> tuple[V, V]:
    """Give the bounds of a slice without a step, between which others are put: also of an empty one."""
    start, stop, _ = (p if p.type == NONE else e.cast(p, INT) for p in e.slice_parts(x))
    zero = e.const(INT, 0)
    first = zero if start.type == NONE else _clip_bound(e, start, size, zero, size)
    end = size if stop.type == NONE else _clip_bound(e, stop, size, zero, size)
    return first, e.select(e.compare("lt", end, first), first, end)


def _clip_bound(e: Emitter, bound: V, size: V, low: V, high: V) -> V:
    """Count a negative bound from the end and clip it to [low, high]; `low` is 0 or -1."""
    known = e.constant_of(bound)
    if known is not None and known >= 0:
        return at_most(e, bound, high)
    is_negative = e.compare("lt", bound, 0)
    bound = e.select(is_negative, e.add(bound, size), bound)
    return at_most(e, at_least(e, bound, low), high)
