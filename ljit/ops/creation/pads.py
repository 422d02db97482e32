"""``pad``: with a constant, or with elements of the array itself."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from ljit.ir.emitter import Emitter, V
from ljit.ops.arrays.boxed import declare_function
from ljit.ops.arrays.flat import as_vector, product_of
from ljit.ops.arrays.rules import is_integer_scalar
from ljit.ops.creation.fills import fill_stretch, number
from ljit.ops.creation.repeats import in_c_order
from ljit.records import Record
from ljit.types import ANY, INT, ArrayType, TupleType, Type

__all__: list[str] = []

_VECTOR, _MATRIX = np.arange(3.0), np.arange(6).reshape(2, 3)
_MAX_RANK = 3


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


def _infer_pad(array: Type, pad_width: Type, *, mode: object = "constant", **given: object) -> Type:
    if not isinstance(array, ArrayType) or not 1 <= array.ndim <= _MAX_RANK:
        return ANY
    if array.layout != "C" or not _fits(pad_width, array.ndim):
        return ANY
    if mode != "constant":
        is_known = type(mode) is str and mode in _MODES and not given
        return ArrayType(array.dtype, (None,) * array.ndim) if is_known else ANY
    if array.dtype == np.float16 or not _constant(array.dtype, given.get("constant_values", 0)):
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
    e: Emitter, array: V, pad_width: V, *, mode: str = "constant", constant_values: complex = 0
) -> V:
    sizes, zero = list(e.array_sizes(array)), e.const(INT, 0)
    widths = _widths(e, pad_width, len(sizes))
    for x in {id(x): x for pair in widths for x in pair}.values():
        e.bail_if(e.compare("lt", x, zero), "padding of a negative width")
    whole = [e.add(e.add(n, before), behind) for n, (before, behind) in zip(sizes, widths)]
    type_ = ArrayType(array.type.dtype, (None,) * len(sizes))
    if mode != "constant":
        _check_elements(e, sizes, widths, _MODES[mode])
    made = e.array_new(type_, whole, None)
    source, target = as_vector(e, array), as_vector(e, made)
    if mode == "constant":
        _fill_around(e, target, source, sizes, widths, number(e, type_.dtype, constant_values))
    else:
        _repeat_around(e, target, source, sizes, widths, _MODES[mode])
    return made


# -- with a constant -----------------------------------------------------------------------------------


def _fill_around(
    e: Emitter, target: V, source: V, sizes: list[V], widths: list[tuple[V, V]], value: V
) -> None:
    """Copy the elements to their places, and fill what is around them."""
    zero = e.const(INT, 0)
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


# -- with elements of the array ------------------------------------------------------------------------


class _Mode(Record):
    """Which element stands at place `k` in front of `n` elements, where there are `before` of them, and behind.

    `kept`: how many elements of the array are not repeated; as many more may stand on a side as there are others.
    None: any number may.
    """

    before: Callable[[Emitter, V, V, V], V]
    behind: Callable[[Emitter, V, V], V]
    kept: int | None


_MODES = {
    "edge": _Mode(lambda e, n, _, k: e.const(INT, 0), lambda e, n, k: e.sub(n, 1), None),
    "wrap": _Mode(lambda e, n, before, k: e.add(e.sub(n, before), k), lambda e, n, k: k, 0),
    "symmetric": _Mode(
        lambda e, n, before, k: e.sub(e.sub(before, 1), k), lambda e, n, k: e.sub(e.sub(n, 1), k), 0
    ),
    "reflect": _Mode(
        lambda e, n, before, k: e.sub(before, k), lambda e, n, k: e.sub(e.sub(n, 2), k), 1
    ),
}


def _check_elements(
    e: Emitter, sizes: Sequence[V], widths: Sequence[tuple[V, V]], mode: _Mode
) -> None:
    """Leave where there are not as many elements as stand on a side: NumPy goes round and round, or complains."""
    for n, pair in zip(sizes, widths, strict=True):
        for width in dict(zip(map(id, pair), pair, strict=True)).values():
            if mode.kept is None:
                is_more = e.bit_and(e.compare("eq", n, 0), e.compare("gt", width, 0))
            else:
                is_more = e.compare("gt", e.add(width, mode.kept), n)
            e.bail_if(is_more, "padding with more elements than there are")


def _repeat_around(
    e: Emitter, target: V, source: V, sizes: list[V], widths: list[tuple[V, V]], mode: _Mode
) -> None:
    """Copy the elements to their places; then, axis by axis, what stands around from there.

    Rows of the last axis that are not widened are one element of the axis before.
    """
    unit, zero = e.const(INT, 1), e.const(INT, 0)
    if len(sizes) > 1:
        sizes, widths, unit = _with_long_elements(e, sizes, widths)
    whole = [e.add(e.add(n, before), behind) for n, (before, behind) in zip(sizes, widths)]
    blocks = [e.mul(product_of(e, whole[i + 1 :]), unit) for i in range(len(whole))]
    steps = [e.mul(product_of(e, sizes[i + 1 :]), unit) for i in range(len(sizes))]

    def copy(to: V, at: V, axis: int) -> None:
        if axis < len(sizes) - 1:
            e.array_move(target, to, target, at, blocks[axis])
            return
        e.loop(
            unit,
            lambda i: e.array_store(target, [e.add(to, i)], e.array_load(target, [e.add(at, i)])),
        )

    def part(axis: int, to: V, at: V) -> None:
        """Write what stands for one index of the axes in front of this one."""
        (before, behind), block, n = widths[axis], blocks[axis], sizes[axis]
        inside = e.add(to, e.mul(before, block))
        if axis == len(sizes) - 1:
            e.array_move(target, inside, source, at, e.mul(n, unit))
        else:
            e.loop(
                n,
                lambda i: part(
                    axis + 1, e.add(inside, e.mul(i, block)), e.add(at, e.mul(i, steps[axis]))
                ),
            )

        def place(k: V) -> V:
            return e.add(inside, e.mul(k, block))

        rest = place(n)
        e.loop(
            before,
            lambda k: copy(e.add(to, e.mul(k, block)), place(mode.before(e, n, before, k)), axis),
        )
        e.loop(
            behind, lambda k: copy(e.add(rest, e.mul(k, block)), place(mode.behind(e, n, k)), axis)
        )

    part(0, zero, zero)


def _with_long_elements(
    e: Emitter, sizes: Sequence[V], widths: Sequence[tuple[V, V]]
) -> tuple[list[V], list[tuple[V, V]], V]:
    """The sizes and widths, and how many numbers an element has: a row of the last axis, if that is not widened."""
    *outer, rows, last = widths
    *shape, n, count = sizes
    is_same, zero, one = e.compare("eq", e.add(*last), 0), e.const(INT, 0), e.const(INT, 1)
    ends = [(e.select(is_same, zero, x), e.select(is_same, x, y)) for x, y in zip(rows, last)]
    (near, first), (far, behind) = ends
    return (
        [*shape, e.select(is_same, one, n), e.select(is_same, n, count)],
        [*outer, (near, far), (first, behind)],
        e.select(is_same, count, one),
    )


declare_function(
    "pad",
    "(array, pad_width, *, mode='constant', constant_values=0)",
    _infer_pad,
    np.pad,
    lower=_lower_pad,
    can_lower=in_c_order(_infer_pad),
    parameters=("array", "pad_width", "mode", "*", "constant_values"),
    samples=((_VECTOR, 1), (_MATRIX, ((1, 0), (0, 2))), (_MATRIX, (1, 2))),
)
