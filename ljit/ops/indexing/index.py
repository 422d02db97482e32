"""``a[index]``: elements, views, and the result types of index arrays.

An index made of ints, slices, ``None`` and ``...`` is *basic*: it gives an element or a view, natively. Masks
and index arrays copy (`index_arrays.py`).
"""

from __future__ import annotations

import operator
import types
from collections.abc import Iterator, Sequence
from functools import lru_cache

import numpy as np

from ljit.ir import Effect, Node, OpDef, Schema, Value, declare, get_op
from ljit.ir.emitter import Emitter, V
from ljit.ir.linear import Linear
from ljit.ir.parts import Parts
from ljit.ir.range_rules import RangeRules, Refused, Symbolic
from ljit.ops.arrays.rules import is_integer_scalar
from ljit.ops.indexing.gathers import infer_places
from ljit.ops.indexing.index_arrays import can_copy, copy_at, infer_copy
from ljit.ops.python.numbers import condition_not
from ljit.ops.python.slices import adjust_slice
from ljit.ops.python.types import is_below, wrap_index
from ljit.ops.ranges.int_ranges import MADE_TUPLE
from ljit.records import Record
from ljit.types import (
    ANY,
    INT,
    INT_MAX,
    NONE,
    ArrayType,
    ObjectType,
    ScalarType,
    SliceType,
    TupleType,
    Type,
)
from ljit.unique import forgets_classes
from ljit.value_types import type_of

__all__ = [
    "FROM_START",
    "INDEX_RANGES",
    "INSIDE",
    "Part",
    "basic_parts",
    "index_checks",
    "index_element",
    "infer_item",
    "is_element",
    "is_inside",
    "refused_indices",
    "view_at",
    "view_type",
]

_ELLIPSIS = ObjectType(types.EllipsisType)
_FULL = SliceType(NONE, NONE, NONE)
_UINT64 = ScalarType(np.dtype(np.uint64))


class Part(Record):
    """What happens to one axis: `type` is the index's type, `item` its position among the items.

    A part of type None makes a new axis; a full slice without item stands for what ``...`` covers.
    """

    type: Type
    item: int | None

    @property
    def is_integer(self) -> bool:
        return is_integer_scalar(self.type)

    @property
    def is_new(self) -> bool:
        return self.type == NONE


@forgets_classes
@lru_cache(maxsize=4096)
def basic_parts(a: ArrayType, index: Type) -> tuple[Part, ...] | None:
    """Spread a basic index over the axes of `a`; None if it is not basic, or has too many items."""
    items = index.items if isinstance(index, TupleType) else (index,)
    if not all(map(_is_basic, items)) or items.count(_ELLIPSIS) > 1:
        return None
    used = sum(t not in (NONE, _ELLIPSIS) for t in items)
    if used > a.ndim:
        return None
    rest = [Part(_FULL, None)] * (a.ndim - used)
    parts: list[Part] = []
    for i, t in enumerate(items):
        parts.extend(rest if t == _ELLIPSIS else [Part(t, i)])
    return tuple(parts if _ELLIPSIS in items else parts + rest)


def _is_basic(t: Type) -> bool:
    return t in (NONE, _ELLIPSIS) or isinstance(t, SliceType) or is_integer_scalar(t)


@forgets_classes
@lru_cache(maxsize=4096)
def is_element(index: Type, parts: tuple[Part, ...]) -> bool:
    """Whether the index gives a NumPy scalar: an int for each axis and no ``...``."""
    items = index.items if isinstance(index, TupleType) else (index,)
    return all(part.is_integer for part in parts) and _ELLIPSIS not in items


# -- types -----------------------------------------------------------------------------------------


def infer_item(a: Type, index: Type) -> Type:
    """Infer ``a[index]``; `Any` for what is no array, or an index that NumPy has to look at."""
    if not isinstance(a, ArrayType):
        return ANY
    parts = basic_parts(a, index)
    if parts is None:
        known = infer_copy(a, index) or infer_places(a, index) or _infer_with_new_axes(a, index)
        return known or ANY
    return a.element if is_element(index, parts) else _view_type(a, parts)


def view_type(a: Type, index: Type) -> Type:
    """The type of the element or view ``a[index]``; `Any` for copies, too."""
    is_basic = isinstance(a, ArrayType) and basic_parts(a, index) is not None
    return infer_item(a, index) if is_basic else ANY


def _view_type(a: ArrayType, parts: Sequence[Part]) -> ArrayType:
    shape: list[int | None] = []
    sizes = iter(a.shape)
    for part in parts:
        size = 1 if part.is_new else next(sizes)
        if not part.is_integer:
            shape.append(size if part.is_new or part.type == _FULL else None)
    layout = "C" if a.layout == "C" and _keeps_order(parts) else "strided"
    return ArrayType(a.dtype, tuple(shape), layout, a.writeable)


def _keeps_order(parts: Sequence[Part]) -> bool:
    """Whether the view is one stretch of C-contiguous memory: ints, a slice of step 1, full slices."""
    axes = [part for part in parts if not part.is_new]
    while axes and axes[0].is_integer:
        axes.pop(0)
    if axes and isinstance(axes[0].type, SliceType) and axes[0].type.step == NONE:
        axes.pop(0)
    return all(part.type == _FULL for part in axes)


def _item_effects(a: Type, index: Type) -> Effect:
    if not isinstance(a, ArrayType):
        return Effect.CALL
    parts = basic_parts(a, index)
    if parts is None:
        return Effect.CALL if infer_item(a, index) == ANY else _COPIES
    return Effect.READ | Effect.RAISE if is_element(index, parts) else Effect.RAISE


_COPIES = Effect.READ | Effect.RAISE | Effect.ALLOC


def _can_lower_item(a: Type, index: Type) -> bool:
    return isinstance(a, ArrayType) and (basic_parts(a, index) is not None or can_copy(a, index))


# -- new axes beside an array ------------------------------------------------------------------------


def _without_new_axes(index: Type) -> tuple[TupleType, tuple[slice | None, ...]] | None:
    """The rest of an index of one array, new axes and full slices, and what puts the new axes into what that gives."""
    items = index.items if isinstance(index, TupleType) else ()
    rest = [t for t in items if t != NONE]
    arrays = [t for t in rest if isinstance(t, ArrayType) and t.ndim]
    if len(rest) == len(items) or len(arrays) != 1 or any(t not in (_FULL, *arrays) for t in rest):
        return None
    count = 1 if arrays[0].dtype.kind == "b" else arrays[0].ndim
    views: list[slice | None] = []
    for t in items:
        views += [None] if t == NONE else [slice(None)] * (count if t in arrays else 1)
    return TupleType(tuple(rest)), tuple(views)


def _infer_with_new_axes(a: ArrayType, index: Type) -> Type | None:
    parts = _without_new_axes(index)
    copied = parts and infer_copy(a, parts[0])
    return view_type(copied, type_of(parts[1])) if parts and copied else None


def _with_new_axes(parts: Parts, a: Value, index: Value) -> Value | None:
    """``a[mask, None]`` is ``a[mask][:, None]``, which native code knows.

    NumPy's is no view if the array is the index's first item; a copy costs something only where it is returned.
    """
    found, made = _without_new_axes(index.type), index.node
    if found is None or made is None or made.op is not get_op("prim::TupleConstruct"):
        return None
    rest = parts.apply("prim::TupleConstruct", *(x for x in made.inputs if x.type != NONE))
    chosen = parts.apply("np::getitem", a, rest)
    view = parts.apply("np::getitem", chosen, parts.constant(found[1]))
    return view if made.inputs[0].type in (NONE, _FULL) else parts.apply("np::array", view)


# -- code ------------------------------------------------------------------------------------------


def _lower_item(e: Emitter, a: V, index: V) -> V:
    parts = basic_parts(a.type, index.type)
    if parts is None:
        return copy_at(e, a, index)
    if is_element(index.type, parts):
        return e.array_load(a, index_element(e, a, index))
    return view_at(e, a, index, parts)


def _items(e: Emitter, index: V) -> Sequence[V]:
    return e.tuple_items(index) if isinstance(index.type, TupleType) else (index,)


def index_element(e: Emitter, a: V, index: V) -> list[V]:
    """Wrap and check the ints of an index with one int for each axis."""
    sizes = e.array_sizes(a)
    pairs = zip(_items(e, index), sizes, strict=True)
    return [_wrapped(e, i, n, axis) for axis, (i, n) in enumerate(pairs)]


def _wrapped(e: Emitter, index: V, size: V, axis: int) -> V:
    i = e.cast(index, INT)
    is_inside = e.is_proven(f"{INSIDE}.{axis}")
    if index.type == _UINT64 and not is_inside:
        e.bail_if(e.compare("lt", i, 0), "index out of bounds")
    if e.is_proven(f"{FROM_START}.{axis}"):
        if not is_inside:
            e.bail_if(e.compare("ge", i, size), "index out of bounds")
        return i
    if e.is_proven(f"{_FROM_END}.{axis}"):
        wrapped = e.add(i, size)
        if not is_inside:
            e.bail_if(e.compare("lt", wrapped, 0), "index out of bounds")
        return wrapped
    found: V = e.once(_from_either_end, index, size)  # ``a[i, j] += 1`` has each twice
    return found


def _from_either_end(e: Emitter, index: V, size: V) -> V:
    """Wrap and check an index of any sign; a branch, since nearly all count from the start.

    LLVM is told so: with the other way in between, loops of few trips took up to three times as long.
    """
    i = e.cast(index, INT)
    known = e.constant_of(i)
    if known is not None and known >= 0:
        e.bail_if(e.compare("ge", i, size), "index out of bounds")
        return i
    if e.is_quick:
        return wrap_index(e, i, size)

    def from_end() -> V:
        wrapped = e.add(i, size)  # is neither too small nor, as a number without sign, too large
        e.bail_if(condition_not(e, is_below(e, wrapped, size)), "index out of bounds")
        return wrapped

    return e.branch(condition_not(e, is_below(e, i, size)), from_end, lambda: i, unlikely=True)


# -- ranges of indices -----------------------------------------------------------------------------

FROM_START = "from_start"  # the index is at least 0
_FROM_END = "from_end"  # it is below 0
INSIDE = "inside"  # there is an element


def _indices(s: Symbolic, node: Node) -> Iterator[tuple[int, int, Linear, Linear]]:
    """Axis, which item of the index it is, that and size, for the axes of an array that have an integer as index."""
    a, index = node.inputs[:2]
    parts = basic_parts(a.type, index.type) if isinstance(a.type, ArrayType) else None
    axis = -1
    for part in parts or ():
        axis += not part.is_new
        if part.is_integer:
            assert part.item is not None
            is_tuple = isinstance(index.type, TupleType)
            i = s.item(index, part.item) if is_tuple else s.value(index)
            yield axis, part.item, i, s.size(a, axis)


def index_checks(s: Symbolic, node: Node) -> Iterator[tuple[str, Linear]]:
    for axis, _, i, size in _indices(s, node):
        if not s.proves(i) and s.proves(-i - 1):
            yield f"{_FROM_END}.{axis}", -1 - i
            yield f"{INSIDE}.{axis}", i + size
        else:
            yield f"{FROM_START}.{axis}", i
            yield f"{INSIDE}.{axis}", i
            yield f"{INSIDE}.{axis}", size - 1 - i


def _index_facts(s: Symbolic, node: Node) -> Iterator[Linear]:
    for _, _, i, size in _indices(s, node):
        yield i + size
        yield size - 1 - i


def refused_indices(s: Symbolic, node: Node) -> Iterator[Refused]:
    index = node.inputs[1]
    made = index.node if isinstance(index.type, TupleType) else None
    if made is not None and made.op.ranges is not MADE_TUPLE:
        return
    for axis, item, _, size in _indices(s, node):
        number = made.inputs[item] if made is not None else index
        yield number, INT_MAX - size, (f"{FROM_START}.{axis}", f"{INSIDE}.{axis}")


def is_inside(node: Node) -> bool:
    """Whether ``a[index]`` is an element that is proven to exist."""
    a, index = node.inputs[0].type, node.inputs[1].type
    if not isinstance(a, ArrayType) or not _all_inside(a.ndim).issubset(node.proven):
        return False
    parts = basic_parts(a, index)
    return parts is not None and is_element(index, parts)


@lru_cache
def _all_inside(ndim: int) -> frozenset[str]:
    """What is to be proven of an element of an array with so many axes."""
    return frozenset(f"{INSIDE}.{axis}" for axis in range(ndim))


def _size_of_view(s: Symbolic, node: Node, axis: int) -> Linear | None:
    """Give a size of rows, columns and the like: of an axis that is taken as a whole."""
    a, index = node.inputs[:2]
    parts = basic_parts(a.type, index.type) if isinstance(a.type, ArrayType) else None
    source = -1
    for part in parts or ():
        source += not part.is_new
        axis -= not part.is_integer
        if axis < 0:
            return s.size(a, source) if part.type == _FULL else None
    return None


INDEX_RANGES = RangeRules(
    size=_size_of_view,
    checks=index_checks,
    facts=_index_facts,
    refused=refused_indices,
    is_complete=is_inside,
)


def view_at(e: Emitter, a: V, index: V, parts: Sequence[Part]) -> V:
    """Make the view that a basic index selects."""
    items = _items(e, index)
    axes = enumerate(zip(e.array_sizes(a), e.array_strides(a), strict=True))
    offset = e.const(INT, 0)
    sizes: list[V] = []
    strides: list[V] = []
    for part in parts:
        if part.is_new:
            sizes.append(e.const(INT, 1))
            strides.append(e.const(INT, 0))
            continue
        axis, (size, stride) = next(axes)
        if part.is_integer:
            assert part.item is not None
            offset = e.add(offset, e.mul(_wrapped(e, items[part.item], size, axis), stride))
        elif part.item is None or part.type == _FULL:
            sizes.append(size)
            strides.append(stride)
        else:
            start, step, count = adjust_slice(e, items[part.item], size)
            offset = e.add(offset, e.mul(start, stride))
            sizes.append(count)
            strides.append(e.mul(step, stride))
    return e.array_view(a, _view_type(a.type, parts), offset, sizes, strides)


declare(
    OpDef(
        "np::getitem",
        Schema("(a, index)"),
        "``a[index]`` of an array.",
        infer=infer_item,
        evaluate=operator.getitem,
        lower=_lower_item,
        can_lower=_can_lower_item,
        decompose=_with_new_axes,
        effects=_item_effects,
        ranges=INDEX_RANGES,
        is_profiled=True,
        symbolic=True,
        reads_part=True,
        samples=(
            (np.arange(6.0).reshape(2, 3), (1, -1)),
            (np.arange(6.0).reshape(2, 3), 1),
            (np.arange(6), slice(1, None, 2)),
            (np.arange(6), np.array([1, 3])),
        ),
    )
)
