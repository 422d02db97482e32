"""`np.roll` and `np.cross`: native loops over the rows of arrays in C order; other arrays boxed."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import TypeVar

import numpy as np

from ljit.ir import Value
from ljit.ir.emitter import Emitter, V
from ljit.ir.parts import Parts
from ljit.ops.arrays.boxed import axes_of, declare_function
from ljit.ops.arrays.flat import as_vector, product_of
from ljit.ops.arrays.rules import broadcast_shapes, layout_like
from ljit.types import ANY, INT, ArrayType, TupleType, Type

__all__: list[str] = []

_T = TypeVar("_T")  # a number, or a column of them
_Binary = Callable[[_T, _T], _T]
_Three = Sequence[_T]

_VECTOR, _MATRIX = np.arange(3.0), np.arange(12.0).reshape(4, 3)


# -- roll ------------------------------------------------------------------------------------------


def _infer_roll(a: Type, shift: Type, *, axis: object = None) -> Type:
    if not isinstance(a, ArrayType) or not _fits(shift, axis):
        return ANY
    if axis is not None and axes_of(axis, a.ndim) is None:
        return ANY
    return ArrayType(a.dtype, a.shape, layout_like((a,), a.ndim))


def _fits(shift: Type, axis: object) -> bool:
    """Whether it is one number for one axis, or for all elements, or several ones for as many axes."""
    if not isinstance(axis, tuple):
        return shift == INT and (axis is None or type(axis) is int)
    return len(axis) > 0 and shift in (INT, TupleType((INT,) * len(axis)))


def _can_lower_roll(a: Type, shift: Type, *, axis: object = None) -> bool:
    is_plain = isinstance(a, ArrayType) and a.layout == "C" and a.ndim > 0
    return is_plain and not isinstance(axis, tuple) and _infer_roll(a, shift, axis=axis) != ANY


def _axis_by_axis(parts: Parts, a: Value, shift: Value, *, axis: object = None) -> Value | None:
    """Rolls along one axis each; one at least, as the result is another array. Of a vector with gaps, of a copy."""
    if _infer_roll(a.type, shift.type, axis=axis) == ANY:
        return None
    if not isinstance(axis, tuple):
        has_gaps = isinstance(a.type, ArrayType) and a.type.ndim == 1 and a.type.layout != "C"
        return parts.apply("np::roll", parts.apply("np::copy", a), shift) if has_gaps else None
    shifts = [shift] * len(axis)
    if isinstance(shift.type, TupleType):
        shifts = [parts.apply("prim::TupleIndex", shift, index=i) for i in range(len(axis))]
        if shift.is_constant:
            shifts = [parts.constant(x) for x in shift.constant]  # type: ignore[attr-defined]
    pairs = [(x, i) for x, i in zip(shifts, axis) if not x.is_constant or x.constant != 0]
    for x, i in pairs or [(shifts[0], axis[0])]:
        a = parts.apply("np::roll", a, x, axis=i)
    return a


def _lower_roll(e: Emitter, a: V, shift: V, *, axis: int | None = None) -> V:
    """Copy blocks: of each stretch along the axis the end comes first."""
    sizes = list(e.array_sizes(a))
    made = e.array_new(_infer_roll(a.type, shift.type, axis=axis), sizes, None)
    first = 0 if axis is None else axis % len(sizes)
    rest = sizes if axis is None else sizes[first + 1 :]
    inner = e.const(INT, 1) if axis is None else product_of(e, rest)
    length = product_of(e, sizes) if axis is None else sizes[first]
    times = e.const(INT, 1) if axis is None else product_of(e, sizes[:first])
    is_empty = e.compare("eq", length, 0)
    divisor = e.select(is_empty, 1, length)
    start = e.rem(shift, divisor)
    start = e.select(e.compare("lt", start, 0), e.add(start, divisor), start)
    start = e.select(is_empty, 0, start)
    block, head = e.mul(length, inner), e.mul(start, inner)
    e.array_roll(as_vector(e, made), as_vector(e, a), block, head, times)
    return made


declare_function(
    "roll",
    "(a, shift, *, axis=None)",
    _infer_roll,
    np.roll,
    lower=_lower_roll,
    can_lower=_can_lower_roll,
    decompose=_axis_by_axis,
    reads_items=True,
    keeps_shape=True,
    parameters=("a", "shift", "axis"),
    samples=((_VECTOR, 1), (_MATRIX, -5)),
)


# -- ends that go on with the other end ------------------------------------------------------------


def _infer_wrapped(a: Type, *, before: tuple[int, ...], after: tuple[int, ...]) -> Type:
    if not isinstance(a, ArrayType) or a.layout != "C" or not a.ndim == len(before) == len(after):
        return ANY
    ends = [x + y for x, y in zip(before, after)]
    shape = [None if n is None else n + more for n, more in zip(a.shape, ends)]
    return ArrayType(a.dtype, tuple(shape))


def _wrapped(a: np.ndarray, *, before: tuple[int, ...], after: tuple[int, ...]) -> np.ndarray:
    return np.pad(a, tuple(zip(before, after)), mode="wrap")


def _lower_wrapped(e: Emitter, a: V, *, before: tuple[int, ...], after: tuple[int, ...]) -> V:
    """Copy row by row, the ends of each element by element."""
    sizes, last = list(e.array_sizes(a)), len(before) - 1
    e.bail_if(e.compare("eq", product_of(e, sizes), 0), "nothing to wrap around")
    longer = [e.add(n, b + c) for n, b, c in zip(sizes, before, after)]
    made = e.array_new(_infer_wrapped(a.type, before=before, after=after), longer, None)
    source, target = as_vector(e, a), as_vector(e, made)
    firsts = [e.mul(e.sub(n, 1), b) for n, b in zip(sizes, before)]  # -b, but not negative
    n, first = sizes[last], firsts[last]
    heads = [e.rem(e.add(first, k), n) for k in range(before[last])]
    tails = [e.rem(e.const(INT, k), n) for k in range(after[last])]

    def copy(at: V, to: V) -> None:
        behind = e.add(to, before[last])
        for start, places in ((to, heads), (e.add(behind, n), tails)):
            for k, place in enumerate(places):
                e.array_store(target, [e.add(start, k)], e.array_load(source, [e.add(at, place)]))
        e.array_move(target, behind, source, at, n)

    def through(axis: int, at: V, to: V) -> None:
        if axis == last:
            copy(at, to)
            return

        def row(k: V) -> None:
            place = e.rem(e.add(k, firsts[axis]), sizes[axis])
            through(
                axis + 1,
                e.mul(e.add(at, place), sizes[axis + 1]),
                e.mul(e.add(to, k), longer[axis + 1]),
            )

        e.loop(longer[axis], row)

    zero = e.const(INT, 0)
    through(0, zero, zero)
    return made


declare_function(
    "wrapped",
    "(a, *, before, after)",
    _infer_wrapped,
    _wrapped,
    callables=(),
    lower=_lower_wrapped,
    can_lower=lambda a, **attrs: _infer_wrapped(a, **attrs) != ANY,
    doc="The array with more elements in front and behind, along each axis: those that come if it is repeated.",
)


# -- cross -----------------------------------------------------------------------------------------


def _infer_cross(a: Type, b: Type) -> Type:
    """Only vectors of three elements, of floats of one dtype, whose number is known to be three."""
    if not isinstance(a, ArrayType) or not isinstance(b, ArrayType):
        return ANY
    is_simple = a.dtype == b.dtype and a.dtype.kind == "f" and min(a.ndim, b.ndim) >= 1
    if not is_simple or max(a.ndim, b.ndim) > 2 or a.shape[-1:] != (3,) or b.shape[-1:] != (3,):
        return ANY
    shape = broadcast_shapes((a.shape, b.shape))
    return ANY if shape is None else ArrayType(a.dtype, shape)


def _lower_cross(e: Emitter, a: V, b: V) -> V:
    type_ = _infer_cross(a.type, b.type)
    if a.type.ndim == b.type.ndim == 1:
        made = e.array_new(type_, [e.const(INT, 3)], None)
        _store(e, made, [], _cross_of(e.mul, e.sub, _vector(e, a, []), _vector(e, b, [])))
        return made
    zero = e.const(INT, 0)
    counts = [e.array_sizes(x)[0] for x in (a, b) if x.type.ndim == 2]
    rows = counts[0]
    if len(counts) == 2:
        rows = e.select(e.compare("eq", counts[0], 1), counts[1], counts[0])
        fits = e.bit_or(e.compare("eq", counts[1], 1), e.compare("eq", counts[1], rows))
        e.bail_if(e.bit_not(fits), "vectors that do not broadcast")
    made = e.array_new(type_, [rows, e.const(INT, 3)], None)
    steps = [
        e.select(e.compare("eq", e.array_sizes(x)[0], 1), zero, 1) if x.type.ndim == 2 else None
        for x in (a, b)
    ]

    def row(k: V) -> None:
        left, right = (
            _vector(e, x, [] if step is None else [e.mul(k, step)])
            for x, step in zip((a, b), steps)
        )
        _store(e, made, [k], _cross_of(e.mul, e.sub, left, right))

    e.loop(rows, row)
    return made


def _vector(e: Emitter, a: V, place: list[V]) -> list[V]:
    return [e.array_load(a, [*place, e.const(INT, i)]) for i in range(3)]


def _cross_of(
    multiply: _Binary[_T], subtract: _Binary[_T], a: _Three[_T], b: _Three[_T]
) -> list[_T]:
    pairs = ((1, 2), (2, 0), (0, 1))
    return [subtract(multiply(a[i], b[j]), multiply(a[j], b[i])) for i, j in pairs]


def _store(e: Emitter, made: V, place: list[V], values: Sequence[V]) -> None:
    for i, value in enumerate(values):
        e.array_store(made, [*place, e.const(INT, i)], value)


def _cross_columns(apply: Callable[..., _T], a: _Three[_T], b: _Three[_T]) -> list[_T]:
    return _cross_of(partial(apply, "np::multiply"), partial(apply, "np::subtract"), a, b)


declare_function(
    "cross",
    "(a, b)",
    _infer_cross,
    np.cross,
    lower=_lower_cross,
    columns=_cross_columns,
    symbolic=True,
    samples=(
        (np.array([1.0, 2.0, 3.0]), np.array([-1.0, 0.5, 4.0])),
        (np.arange(6.0).reshape(2, 3), np.ones((2, 3))),
    ),
)
