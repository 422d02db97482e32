"""``repeat`` and ``tile``: stretches of memory, copied or filled."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from ljit.ir.emitter import Emitter, V
from ljit.ir.trials import ExpansionError
from ljit.ops.arrays.boxed import axes_of, declare_function
from ljit.ops.arrays.flat import as_vector, product_of, viewed
from ljit.ops.arrays.rules import is_integer_scalar
from ljit.ops.creation.fills import fill_stretch
from ljit.types import ANY, INT, ArrayType, TupleType, Type

__all__ = ["in_c_order"]

_VECTOR, _MATRIX = np.arange(3.0), np.arange(6).reshape(2, 3)
_MOST_UNROLLED = 16


# -- repeat ------------------------------------------------------------------------------------------


def _infer_repeat(a: Type, repeats: Type, *, axis: object = None) -> Type:
    if not isinstance(a, ArrayType) or not a.ndim or not is_integer_scalar(repeats):
        return ANY
    if axis is None:
        return ArrayType(a.dtype, (None,))
    axes = axes_of(axis, a.ndim) if type(axis) is int else None
    if axes is None:
        return ANY
    return ArrayType(a.dtype, tuple(None if i in axes else n for i, n in enumerate(a.shape)))


def in_c_order(infer: Callable[..., Type]) -> Callable[..., bool]:
    """Whether the operand is in C order."""

    def can_lower(a: Type, *others: Type, **attrs: object) -> bool:
        return isinstance(a, ArrayType) and a.layout == "C" and infer(a, *others, **attrs) != ANY

    return can_lower


def _lower_repeat(e: Emitter, a: V, repeats: V, *, axis: int | None = None) -> V:
    sizes, times = list(e.array_sizes(a)), e.cast(repeats, INT)
    e.bail_if(e.compare("lt", times, 0), "a negative number of repeats")
    type_ = _infer_repeat(a.type, repeats.type, axis=axis)
    if axis is None:
        along, sizes = 0, [product_of(e, sizes)]
    else:
        along = axis % len(sizes)
    block, count = product_of(e, sizes[along + 1 :]), product_of(e, sizes[: along + 1])
    sizes[along] = e.mul(sizes[along], times)
    made = e.array_new(type_, sizes, None)
    source, target = as_vector(e, a), as_vector(e, made)
    if (e.constant_of(times) or 0) > _MOST_UNROLLED:  # else LLVM writes out each of the stores
        times = e.select(e.compare("eq", count, 0), 0, times)

    def several(i: V) -> None:
        at = e.mul(i, block)
        start = e.mul(at, times)
        if e.constant_of(block) == 1:
            fill_stretch(e, target, start, times, e.array_load(source, [at]))
        else:
            e.loop(
                times,
                lambda k: e.array_move(target, e.add(start, e.mul(k, block)), source, at, block),
            )

    e.loop(count, several)
    return made


declare_function(
    "repeat",
    "(a, repeats, *, axis=None)",
    _infer_repeat,
    np.repeat,
    lower=_lower_repeat,
    can_lower=in_c_order(_infer_repeat),
    symbolic=True,
    parameters=("a", "repeats", "axis"),
    methods=("ndarray.repeat",),
    samples=((_VECTOR, 2), (_MATRIX, 3), (_VECTOR, 0)),
)


# -- tile --------------------------------------------------------------------------------------------


def _times(reps: Type) -> tuple[Type, ...]:
    items = reps.items if isinstance(reps, TupleType) else (reps,)
    return items if all(map(is_integer_scalar, items)) else ()


def _infer_tile(a: Type, reps: Type) -> Type:
    count = len(_times(reps))
    if not isinstance(a, ArrayType) or not 1 <= a.ndim <= 2 or not 1 <= count <= 2:
        return ANY
    return ArrayType(a.dtype, (None,) * max(a.ndim, count))


def _lower_tile(e: Emitter, a: V, reps: V) -> V:
    given = e.tuple_items(reps) if isinstance(reps.type, TupleType) else [reps]
    times = [e.cast(x, INT) for x in given]
    zero, one = e.const(INT, 0), e.const(INT, 1)
    all_once = None
    for x in times:
        e.bail_if(e.compare("lt", x, zero), "tile of a negative number")
        is_once = e.compare("eq", x, one)
        all_once = is_once if all_once is None else e.bit_and(all_once, is_once)
    e.bail_if(all_once, "tile that is a copy")
    sizes = list(e.array_sizes(a))
    type_ = _infer_tile(a.type, reps.type)
    assert isinstance(type_, ArrayType)
    rank = type_.ndim
    (rows, columns), (down, right) = ([one] * (2 - len(x)) + list(x) for x in (sizes, times))
    width = e.mul(columns, right)
    block = e.mul(rows, width)
    vector = ArrayType(type_.dtype, (None,))
    target, source = e.array_new(vector, [e.mul(block, down)], None), as_vector(e, a)

    def row(i: V) -> None:
        at, to = e.mul(i, columns), e.mul(i, width)
        e.loop(
            right, lambda k: e.array_move(target, e.add(to, e.mul(k, columns)), source, at, columns)
        )

    is_empty = e.compare("eq", down, zero)
    e.loop(e.select(is_empty, zero, rows), row)
    again = e.select(is_empty, zero, e.sub(down, one))
    e.loop(again, lambda k: e.array_move(target, e.mul(e.add(k, one), block), target, zero, block))
    whole = [e.mul(rows, down), width] if rank == 2 else [width]
    return viewed(e, target, whole)


def _tiles_of_few(a: Any, reps: Any) -> Any:
    """The tiles of a few elements; no copy of a matrix: it keeps the order in memory, `_lower_tile` leaves for it."""
    if np.ndim(a) > 1 and all(x == 1 for x in np.atleast_1d(reps)):
        raise ExpansionError("a tile that is a copy")
    return np.tile(a, reps)


declare_function(
    "tile",
    "(A, reps)",
    _infer_tile,
    np.tile,
    lower=_lower_tile,
    can_lower=in_c_order(_infer_tile),
    symbolic=_tiles_of_few,
    samples=((_VECTOR, 2), (_MATRIX, (2, 2)), (_VECTOR, (3, 1)), (_MATRIX, 3)),
)
