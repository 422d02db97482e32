"""What would stand at a place if rows of elements were sorted, and what is made of it: medians, quantiles. No ops.

Long rows are gone through one by one. Short ones, as the pixels of some planes or of windows, are sorted side by side,
in vectors: one operation compares elements of as many rows as a vector has elements.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import pairwise

from ljit.ir.emitter import MOST_SORTED, SORTED_BYTES, Emitter, V
from ljit.ops.arrays.boxed import axes_of
from ljit.ops.arrays.flat import product_of, viewed
from ljit.records import Record
from ljit.types import INT, ArrayType

__all__ = ["Wanted", "of_each_row", "scratch_of", "whole_vector"]

Axis = tuple[V, V]  # its size and stride


class Wanted(Record):
    """Which place of the sorted elements is asked for, and what is made of what stands there and behind it."""

    place: V
    value: Callable[[V, V], V]


class _Axes(Record):
    """The axes of an array that are kept, and those whose elements are a row."""

    array: V
    kept: Sequence[Axis]
    combined: Sequence[Axis]

    @property
    def is_c(self) -> bool:
        return bool(self.array.type.layout == "C")


def of_each_row(
    e: Emitter, a: V, type_: ArrayType, axis: int | tuple[int, ...], wanted: Callable[[V], Wanted]
) -> V:
    """An array of what is wanted of rows of that length; of other arrays than in C order along last axes."""
    axes = axes_of(axis, a.type.ndim)
    assert axes is not None
    pairs = list(zip(e.array_sizes(a), e.array_strides(a), strict=True))
    kept = [pair for i, pair in enumerate(pairs) if i not in axes]
    found = _Axes(a, kept, [pairs[i] for i in axes])
    if not found.is_c:
        _check_order(e, kept)
    length, sizes = _count(e, found.combined), [size for size, _ in kept]
    e.bail_if(e.compare("eq", length, 0), "no elements")
    want, made, count = wanted(length), e.array_new(type_, sizes, None), product_of(e, sizes)
    results, near = viewed(e, made, [count]), _near(e, found, axes)
    limit = e.shl(near.kept[-1][0], 2)  # few long columns are no work for vectors
    are_short = e.compare("le", length, limit)
    are_short = e.bit_and(are_short, e.compare("le", length, MOST_SORTED))
    is_along = found.is_c and axes[-1] == a.type.ndim - 1
    rows = whole_vector(e, a) if is_along else _copied_rows(e, found, are_short)
    _one_by_one(e, rows, (e.select(are_short, 0, count), length), want, results)
    _side_by_side(e, near, e.cast(are_short, INT), want, results)
    return made


def _count(e: Emitter, axes: Sequence[Axis]) -> V:
    return product_of(e, [size for size, _ in axes])


def _check_order(e: Emitter, kept: Sequence[Axis]) -> None:
    """Leave where NumPy's result would not be in C order: it follows the array."""
    zero = e.const(INT, 0)
    steps = [e.select(e.compare("lt", s, 0), e.sub(zero, s), s) for _, s in kept]
    for outer, inner in pairwise(steps):
        e.bail_if(e.compare("lt", outer, inner), "an array in another order")


# -- row by row ------------------------------------------------------------------------------------


def scratch_of(e: Emitter, a: V, length: V) -> V:
    """What a search needs beside rows of that length."""
    return e.array_new(ArrayType(a.type.dtype, (None,)), [e.add(length, length)], None)


def whole_vector(e: Emitter, a: V) -> V:
    """All elements, one behind the other."""
    pairs = list(zip(e.array_sizes(a), e.array_strides(a), strict=True))
    return viewed(e, a, [_count(e, pairs)]) if a.type.layout == "C" else _copied(e, a, pairs)


def _copied(e: Emitter, a: V, axes: Sequence[Axis]) -> V:
    """A vector of the elements, those along the last one of these axes behind one another."""
    sizes, strides = [size for size, _ in axes], [stride for _, stride in axes]
    turned = ArrayType(a.type.dtype, (None,) * len(sizes), "strided")
    source = e.array_view(a, turned, e.const(INT, 0), sizes, strides)
    made = e.array_new(ArrayType(a.type.dtype, turned.shape), sizes, None)
    e.array_assign(made, source, lambda x: x, may_bail=False, is_apart=True)
    return viewed(e, made, [product_of(e, sizes)])


def _copied_rows(e: Emitter, axes: _Axes, are_needless: V) -> V:
    """The rows behind one another in a vector, or nothing."""
    size, stride = axes.kept[0]
    first = e.select(are_needless, 0, size), stride
    return _copied(e, axes.array, [first, *axes.kept[1:], *axes.combined])


def _one_by_one(e: Emitter, rows: V, sizes: tuple[V, V], want: Wanted, results: V) -> None:
    """So many rows of a length: all, or none."""
    count, length = sizes
    item, vector = e.const(INT, rows.type.dtype.itemsize), ArrayType(rows.type.dtype, (None,))
    scratch = scratch_of(e, rows, length)

    def row(k: V) -> None:
        start = e.mul(e.mul(k, length), item)
        elements = e.array_view(rows, vector, start, [length], [item])
        value = want.value(*e.array_order(elements, want.place, scratch))
        e.array_store(results, [k], value)

    e.loop(count, row)


# -- side by side ----------------------------------------------------------------------------------


def _near(e: Emitter, axes: _Axes, numbers: Sequence[int]) -> _Axes:
    """The same with as many rows as can be along the last axis that is kept: in C order, axes are put together."""
    if not axes.is_c:
        return axes
    a = axes.array
    item, sizes = e.const(INT, a.type.dtype.itemsize), e.array_sizes(a)
    outer, inner = product_of(e, sizes[: numbers[0]]), product_of(e, sizes[numbers[-1] + 1 :])
    length = _count(e, axes.combined)
    step = e.mul(inner, item)
    kept = [(outer, e.mul(length, step))]
    if numbers[-1] + 1 < len(sizes):
        kept.append((inner, item))
    return _Axes(a, kept, [(length, step)])


def _side_by_side(e: Emitter, axes: _Axes, times: V, want: Wanted, results: V) -> None:
    """All rows, once or not at all: those of some elements that follow one another along the last axis at a time."""
    a = axes.array
    many = SORTED_BYTES // a.type.dtype.itemsize
    found = e.array_new(
        ArrayType(a.type.dtype, (2, many)), [e.const(INT, n) for n in (2, many)], None
    )
    *outer, (count, step) = axes.kept
    blocks = e.shr(e.add(count, many - 1), many.bit_length() - 1)
    lead = [(e.const(INT, 1), e.const(INT, 0))] * (2 - len(axes.combined))
    rows = [*lead, *axes.combined]
    type_ = ArrayType(a.type.dtype, (None,) * 3, "strided")

    def block(k: V, offset: V, place: V) -> None:
        first = e.mul(k, many)
        left = e.sub(count, first)
        width = e.select(e.compare("lt", left, many), left, many)
        sizes, strides = [*(n for n, _ in rows), width], [*(s for _, s in rows), step]
        source = e.array_view(a, type_, e.add(offset, e.mul(first, step)), sizes, strides)
        e.array_orders(source, want.place, found)
        start = e.add(e.mul(place, count), first)

        def element(i: V) -> None:
            low, high = (e.array_load(found, [e.const(INT, n), i]) for n in (0, 1))
            e.array_store(results, [e.add(start, i)], want.value(low, high))

        e.loop(width, element)

    def through(left: Sequence[Axis], offset: V, place: V) -> None:
        if not left:
            e.loop(blocks, lambda k: block(k, offset, place))
            return
        size, stride = left[0]

        def inside(k: V) -> None:
            moved, number = e.add(offset, e.mul(k, stride)), e.add(e.mul(place, size), k)
            through(left[1:], moved, number)

        e.loop(size, inside)

    zero = e.const(INT, 0)
    through([(times, zero), *outer], zero, zero)
