"""Grids: ``meshgrid``, ``mgrid``, ``ogrid`` and ``indices`` are vectors along an axis each, broadcast.

Loop nests that use a grid need none in memory: `np::left_of` gives a vector the sizes of all.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from ljit.ir import Effect, OpDef, Schema, Value, declare, get_op
from ljit.ir.emitter import Emitter, V
from ljit.ir.parts import Parts
from ljit.ops.arrays.boxed import declare_function
from ljit.ops.arrays.rules import elementwise_result
from ljit.types import ANY, INT, NONE, ArrayType, ScalarType, SliceType, TupleType, Type

__all__: list[str] = []

_INT64, _FRESH = np.dtype(np.int64), Effect.RAISE | Effect.ALLOC
_VECTOR = np.arange(3.0)

# -- meshgrid --------------------------------------------------------------------------------------


def _infer_left(x: Type, y: Type) -> Type:
    if not all(isinstance(t, ArrayType | ScalarType) for t in (x, y)):
        return ANY
    if isinstance(x, ScalarType) and isinstance(y, ScalarType):
        return x
    return elementwise_result((x, y), x.dtype)  # type: ignore[attr-defined]


def _left_effects(x: Type, y: Type) -> Effect:
    makes_array = isinstance(x, ArrayType) or isinstance(y, ArrayType)
    return Effect.READ | _FRESH if makes_array else Effect.PURE


declare(
    OpDef(
        "np::left_of",
        Schema("(x, y)"),
        "The first operand, broadcast as both would be.",
        infer=_infer_left,
        evaluate=lambda x, y: (
            np.broadcast_arrays(x, y)[0].copy() if np.ndim(x) or np.ndim(y) else x
        ),
        lower=lambda e, x, y: x,
        effects=_left_effects,
        elementwise=True,
        is_cheap=True,
        samples=((np.arange(3.0), np.ones((2, 1))), (np.float64(2.0), np.arange(3.0))),
    )
)


def _infer_meshgrid(x: Type, y: Type, *, indexing: object = "xy") -> Type:
    both = (x, y)
    if indexing not in ("xy", "ij") or not all(isinstance(t, ArrayType) for t in both):
        return ANY
    if any(t.ndim != 1 for t in both):  # type: ignore[attr-defined]
        return ANY
    shape = (x.shape[0], y.shape[0])[:: -1 if indexing == "xy" else 1]  # type: ignore[attr-defined]
    return TupleType(tuple(ArrayType(t.dtype, shape) for t in both))  # type: ignore[attr-defined]


def _meshgrid_of(parts: Parts, x: Value, y: Value, *, indexing: object = "xy") -> Value | None:
    """Both vectors as a row and a column, broadcast: a loop nest that uses them needs no grid."""
    if _infer_meshgrid(x.type, y.type, indexing=indexing) == ANY:
        return None
    row, column = parts.constant((None, slice(None))), parts.constant((slice(None), None))
    indices = (row, column) if indexing == "xy" else (column, row)
    views = [parts.apply("np::getitem", *pair) for pair in zip((x, y), indices, strict=True)]
    grids = [parts.apply("np::left_of", *pair) for pair in (views, views[::-1])]
    return parts.apply("prim::TupleConstruct", *grids)


declare_function(
    "meshgrid",
    "(x, y, /, *, indexing='xy')",
    _infer_meshgrid,
    np.meshgrid,
    decompose=_meshgrid_of,
    samples=((_VECTOR, np.arange(2.0)),),
)


# -- grids of ints ---------------------------------------------------------------------------------


def _lower_axis(e: Emitter, start: V, stop: V) -> V:
    size, overflow = e.sub_overflow(stop, start)
    e.bail_if(overflow, "a grid that is too large")
    e.bail_if(e.compare("lt", size, 0), "a grid of negative size")
    element = ScalarType(_INT64)
    made = e.array_new(ArrayType(_INT64, (None,)), [size], None)
    e.loop(size, lambda k: e.array_store(made, [k], e.retype(e.add(start, k), element)))
    return made


declare(
    OpDef(
        "np::grid_axis",
        Schema("(start, stop)"),
        "``arange(start, stop)`` along an axis of a grid; leaves native code if `stop` is the lesser one.",
        infer=lambda start, stop: ArrayType(_INT64, (None,)) if start == stop == INT else ANY,
        evaluate=np.arange,
        lower=_lower_axis,
        effects=_FRESH,
        samples=((0, 3), (-2, 2), (4, 4)),
    )
)


def _is_range(t: Type) -> bool:
    """Whether a slice is ``start:stop`` with ints; of no start, 0 stands there."""
    return isinstance(t, SliceType) and t.start in (INT, NONE) and t.stop == INT and t.step == NONE


def _rank_of_key(key: Type) -> int:
    """How many axes slices stand for; 0: others than these."""
    items = key.items if isinstance(key, TupleType) else ()
    return len(items) if all(map(_is_range, items)) else 0


def _infer_grid(rank: int) -> Type:
    return ArrayType(_INT64, (rank, *(None,) * rank)) if rank else ANY


def _infer_open(rank: int) -> Type:
    if not rank:
        return ANY
    shapes = [tuple(None if i == k else 1 for i in range(rank)) for k in range(rank)]
    return TupleType(tuple(ArrayType(_INT64, shape) for shape in shapes))


def _vectors(parts: Parts, bounds: Sequence[tuple[Value, Value]]) -> list[Value]:
    """A vector along each axis, between axes of size 1."""
    found = []
    for k, (start, stop) in enumerate(bounds):
        index = tuple(slice(None) if i == k else None for i in range(len(bounds)))
        vector = parts.apply("np::grid_axis", start, stop)
        found.append(parts.apply("np::getitem", vector, parts.constant(index)))
    return found


def _grid(parts: Parts, bounds: Sequence[tuple[Value, Value]]) -> Value:
    vectors, grids = _vectors(parts, bounds), []
    for vector in vectors:
        whole = vector
        for other in vectors:
            if other is not vector:
                whole = parts.apply("np::left_of", whole, other)
        grids.append(whole)
    return parts.apply("np::stack", parts.apply("prim::TupleConstruct", *grids), axis=0)


def _bounds_of(parts: Parts, key: Value) -> list[tuple[Value, Value]] | None:
    """Start and stop of each slice, if the graph makes them."""
    made = key.made_by(get_op("prim::TupleConstruct"))
    if made is None or not _rank_of_key(key.type):
        return None
    found = []
    for item in made.inputs:
        given: Any = item.constant if item.is_constant else None
        if given is not None:
            start, stop = parts.constant(given.start or 0), parts.constant(given.stop)
        elif (cut := item.made_by(get_op("prim::SliceConstruct"))) is not None:
            start, stop, *_ = cut.inputs
            start = parts.constant(0) if start.type == NONE else start
        else:
            return None
        found.append((start, stop))
    return found


def _grid_of(parts: Parts, key: Value) -> Value | None:
    bounds = _bounds_of(parts, key)
    return None if bounds is None else _grid(parts, bounds)


def _open_grid_of(parts: Parts, key: Value) -> Value | None:
    bounds = _bounds_of(parts, key)
    if bounds is None:
        return None
    return parts.apply("prim::TupleConstruct", *_vectors(parts, bounds))


_KEY = (slice(0, 3), slice(None, 2))


def _declare_by_slices(
    name: str, grids: Any, infer: Callable[[int], Type], decompose: Callable[..., Any]
) -> None:
    """Declare ``np.mgrid[key]`` or ``np.ogrid[key]``, of a slice or a tuple of slices."""
    declare_function(
        name,
        "(key)",
        lambda key: infer(_rank_of_key(key)),
        lambda key: grids[key],
        callables=(),
        subscripted=(grids,),
        decompose=decompose,
        samples=((_KEY,),),
    )


_declare_by_slices("mgrid", np.mgrid, _infer_grid, _grid_of)
_declare_by_slices("ogrid", np.ogrid, _infer_open, _open_grid_of)


def _infer_indices(dimensions: Type) -> Type:
    items = dimensions.items if isinstance(dimensions, TupleType) else ()
    return _infer_grid(len(items) if all(t == INT for t in items) else 0)


def _indices_of(parts: Parts, dimensions: Value) -> Value | None:
    if _infer_indices(dimensions.type) == ANY:
        return None
    zero = parts.constant(0)
    items = range(len(dimensions.type.items))  # type: ignore[attr-defined]  # a tuple of ints
    sizes = [parts.apply("prim::TupleIndex", dimensions, index=i) for i in items]
    return _grid(parts, [(zero, size) for size in sizes])


declare_function(
    "indices",
    "(dimensions)",
    _infer_indices,
    np.indices,
    decompose=_indices_of,
    samples=(((2, 3),),),
)
