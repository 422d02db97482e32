"""``triu_indices`` and ``tril_indices``: the places of a triangle, row by row. And ``ix_``: places along each axis."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from ljit.ir import Effect, Value
from ljit.ir.emitter import Emitter, V
from ljit.ir.parts import Parts
from ljit.ops.arrays.boxed import declare_function
from ljit.ops.python.numbers import at_least, at_most
from ljit.types import ANY, INT, NONE, ArrayType, ScalarType, TupleType, Type

__all__: list[str] = []

_INT64 = np.dtype(np.int64)
_VECTOR, _ELEMENT = ArrayType(_INT64, (None,)), ScalarType(_INT64)
_MOST = 2**31  # rows, columns and the offset: sums of these fit
_FRESH = Effect.RAISE | Effect.ALLOC


# -- triangles -----------------------------------------------------------------------------------------


def _infer_triangle(n: Type, k: Type = INT, m: Type = NONE) -> Type:
    return TupleType((_VECTOR, _VECTOR)) if n == k == INT and m in (INT, NONE) else ANY


def _limited(e: Emitter, x: V, least: int) -> V:
    is_inside = e.bit_and(e.compare("ge", x, -_MOST), e.compare("le", x, _MOST))
    e.bail_if(e.bit_not(is_inside), "a triangle that is too large")
    return at_least(e, x, least)


def _places(e: Emitter, sizes: tuple[V, V], row: Callable[[V], tuple[V, V]]) -> V:
    """The rows and the columns of places; `row` gives where the columns of a row begin and end."""
    (height, width), zero = sizes, e.const(INT, 0)

    def columns(i: V) -> tuple[V, V]:
        start, stop = (at_most(e, at_least(e, x, 0), width) for x in row(i))
        return start, e.sub(stop, start)

    total = e.fold(height, zero, lambda i, so_far: e.add(so_far, columns(i)[1]), 8)
    rows, places = (e.array_new(_VECTOR, [total], None) for _ in range(2))

    def fill(i: V, at: V) -> V:
        start, count = columns(i)

        def one(j: V) -> None:
            e.array_store(rows, [e.add(at, j)], e.retype(i, _ELEMENT))
            e.array_store(places, [e.add(at, j)], e.retype(e.add(start, j), _ELEMENT))

        e.loop(count, one)
        return e.add(at, count)

    e.fold(height, zero, fill, 20)
    return e.tuple_make([rows, places])


def _lower_triangle(e: Emitter, n: V, k: V | None = None, m: V | None = None, *, up: bool) -> V:
    offset = e.const(INT, 0) if k is None else _limited(e, k, -_MOST)
    height = _limited(e, n, 0)
    width = height if m is None or m.type == NONE else _limited(e, m, 0)

    def row(i: V) -> tuple[V, V]:
        first = e.add(i, offset)
        return (first, width) if up else (e.const(INT, 0), e.add(first, 1))

    return _places(e, (height, width), row)


def _declare_triangle(function: Callable[..., object], up: bool) -> None:
    declare_function(
        function.__name__,
        "(n, k=0, m=None)",
        _infer_triangle,
        function,
        effect=_FRESH,
        lower=lambda e, *given: _lower_triangle(e, *given, up=up),
        samples=((3,), (4, 1), (3, -2), (2, 0, 5), (4, 1, 2), (0,), (-3,), (3, 9), (3, -9)),
    )


_declare_triangle(np.triu_indices, True)
_declare_triangle(np.tril_indices, False)


# -- places along axes ---------------------------------------------------------------------------------


def _infer_ix(*args: Type) -> Type:
    """Of vectors of int64 views; others, and those without elements of other dtypes, are cast."""
    if not args or not all(isinstance(t, ArrayType) and t.ndim == 1 for t in args):
        return ANY
    views: list[Type] = []
    for k, t in enumerate(args):
        assert isinstance(t, ArrayType)
        if t.dtype != _INT64:
            return ANY
        shape = (*(1,) * k, t.shape[0], *(1,) * (len(args) - k - 1))
        views.append(ArrayType(t.dtype, shape, t.layout, t.writeable))
    return TupleType(tuple(views))


def _ix_of(parts: Parts, *args: Value) -> Value | None:
    if _infer_ix(*(x.type for x in args)) == ANY:
        return None
    views = []
    for k, x in enumerate(args):
        index = (*(None,) * k, slice(None), *(None,) * (len(args) - k - 1))
        views.append(parts.apply("np::getitem", x, parts.constant(index)))
    return parts.apply("prim::TupleConstruct", *views)


_PLACES = np.array([2, 0])
declare_function(
    "ix_",
    "(*args)",
    _infer_ix,
    np.ix_,
    effect=Effect.RAISE,
    decompose=_ix_of,
    samples=((_PLACES, _PLACES), (_PLACES[::-1], _PLACES[:1], _PLACES), (_PLACES,)),
)
