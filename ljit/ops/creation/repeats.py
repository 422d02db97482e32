"""``repeat``, ``tile`` and ``pad`` with a constant: stretches of memory, copied or filled."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from ljit.ir.emitter import Emitter, V
from ljit.ir.trials import ExpansionError
from ljit.ops.arrays.boxed import axes_of, declare_function
from ljit.ops.arrays.flat import as_vector, product_of, viewed
from ljit.ops.arrays.rules import is_integer_scalar
from ljit.ops.creation.fills import fill_stretch, number
from ljit.types import ANY, INT, ArrayType, TupleType, Type

__all__: list[str] = []

_VECTOR, _MATRIX = np.arange(3.0), np.arange(6).reshape(2, 3)
_MAX_RANK, _MOST_UNROLLED = 3, 16


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


def _can_lower(infer: Callable[..., Type]) -> Callable[..., bool]:
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
    can_lower=_can_lower(_infer_repeat),
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
    can_lower=_can_lower(_infer_tile),
    symbolic=_tiles_of_few,
    samples=((_VECTOR, 2), (_MATRIX, (2, 2)), (_VECTOR, (3, 1)), (_MATRIX, 3)),
)


# -- pad ---------------------------------------------------------------------------------------------


def _is_pair(t: Type) -> bool:
    return isinstance(t, TupleType) and len(t.items) == 2 and all(map(is_integer_scalar, t.items))


def _fits(width: Type, rank: int) -> bool:
    """Whether widths are one number, a pair for all axes, or a pair for each axis."""
    if is_integer_scalar(width) or _is_pair(width):
        return True
    items = width.items if isinstance(width, TupleType) else ()
    return len(items) in (1, rank) and all(map(_is_pair, items))


def _constant(dtype: np.dtype, value: object) -> bool:
    """Whether a number is of the dtype as it is."""
    if dtype.kind in "fc":
        return type(value) in (int, float) and dtype != np.float16
    if type(value) is not int or dtype.kind not in "iu":
        return type(value) is bool or value == 0
    return bool(np.iinfo(dtype).min <= value <= np.iinfo(dtype).max)


def _infer_pad(
    array: Type, pad_width: Type, *, mode: object = "constant", constant_values: object = 0
) -> Type:
    if not isinstance(array, ArrayType) or not 1 <= array.ndim <= _MAX_RANK:
        return ANY
    if mode != "constant" or array.layout != "C" or array.dtype == np.float16:
        return ANY
    if not _fits(pad_width, array.ndim) or not _constant(array.dtype, constant_values):
        return ANY
    return ArrayType(array.dtype, (None,) * array.ndim)


def _widths(e: Emitter, width: V, rank: int) -> list[tuple[V, V]]:
    if not isinstance(width.type, TupleType):
        both = e.cast(width, INT)
        return [(both, both)] * rank
    pairs = [width] if _is_pair(width.type) else list(e.tuple_items(width))
    found = []
    for pair in pairs:
        before, behind = (e.cast(x, INT) for x in e.tuple_items(pair))
        found.append((before, behind))
    return found * (rank // len(found))


def _with_long_rows(
    e: Emitter, sizes: Sequence[V], widths: Sequence[tuple[V, V]]
) -> tuple[list[V], list[tuple[V, V]]]:
    """Take rows that are not widened for one element of the axis before: ``((1, 1), (1, 1), (0, 0))`` of an image."""
    *outer, (before, behind), last = widths
    *shape, rows, count = sizes
    is_same = e.compare("eq", e.add(*last), 0)
    wide = [
        e.select(is_same, e.mul(x, count), y)
        for x, y in zip((rows, before, behind), (count, *last))
    ]
    near = [e.select(is_same, 0, x) for x in (before, behind)]
    length, left, right = wide
    return (
        [*shape, e.select(is_same, 1, rows), length],
        [*outer, (near[0], near[1]), (left, right)],
    )


def _lower_pad(
    e: Emitter, array: V, pad_width: V, *, mode: object = "constant", constant_values: complex = 0
) -> V:
    sizes, zero = list(e.array_sizes(array)), e.const(INT, 0)
    widths = _widths(e, pad_width, len(sizes))
    for x in {id(x): x for pair in widths for x in pair}.values():
        e.bail_if(e.compare("lt", x, zero), "padding of a negative width")
    whole = [e.add(e.add(n, before), behind) for n, (before, behind) in zip(sizes, widths)]
    type_ = ArrayType(array.type.dtype, (None,) * len(sizes))
    made = e.array_new(type_, whole, None)
    source, target = as_vector(e, array), as_vector(e, made)
    value = number(e, array.type.dtype, constant_values)
    if len(sizes) > 1:
        sizes, widths = _with_long_rows(e, sizes, widths)
        whole = [e.add(e.add(n, before), behind) for n, (before, behind) in zip(sizes, widths)]
    blocks = [product_of(e, whole[i + 1 :]) for i in range(len(whole))]
    steps = [product_of(e, sizes[i + 1 :]) for i in range(len(sizes))]

    def part(axis: int, to: V, at: V) -> None:
        """Fill what stands for one index of the axes in front of this one."""
        (before, behind), block = widths[axis], blocks[axis]
        first = e.mul(before, block)
        fill_stretch(e, target, to, first, value)
        inside = e.add(to, first)
        if axis == len(sizes) - 1:
            e.array_move(target, inside, source, at, sizes[axis])
        else:

            def row(i: V) -> None:
                part(axis + 1, e.add(inside, e.mul(i, block)), e.add(at, e.mul(i, steps[axis])))

            e.loop(sizes[axis], row)
        rest = e.add(inside, e.mul(sizes[axis], block))
        fill_stretch(e, target, rest, e.mul(behind, block), value)

    part(0, zero, zero)
    return made


declare_function(
    "pad",
    "(array, pad_width, *, mode='constant', constant_values=0)",
    _infer_pad,
    np.pad,
    lower=_lower_pad,
    can_lower=_can_lower(_infer_pad),
    parameters=("array", "pad_width", "mode", "*", "constant_values"),
    samples=((_VECTOR, 1), (_MATRIX, ((1, 0), (0, 2))), (_MATRIX, (1, 2))),
)
