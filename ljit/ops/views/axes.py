"""Views with axes in another order (transpose with axes, swapaxes, moveaxis), and with one more for each window.

Axes and windows may be known to a run only.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from ljit.ir.emitter import Emitter, V
from ljit.ops.arrays.boxed import VIEWS, axes_of, declare_function, is_flag, shape_rank
from ljit.ops.arrays.rules import is_integer_scalar
from ljit.types import ANY, BOOL, INT, NONE, ArrayType, ScalarType, TupleType, Type

__all__: list[str] = []

_MATRIX, _CUBE = np.arange(6).reshape(2, 3), np.arange(24.0).reshape(2, 3, 4)


def _reordered(a: ArrayType) -> ArrayType:
    layout = a.layout if a.ndim < 2 else "strided"
    return ArrayType(a.dtype, (None,) * a.ndim if a.ndim > 1 else a.shape, layout, a.writeable)


def _axis_types(axes: Sequence[Type]) -> Sequence[Type]:
    """The axes themselves, which may be given as one tuple."""
    if len(axes) == 1 and isinstance(axes[0], TupleType):
        return axes[0].items
    return () if tuple(axes) == (NONE,) else axes


def _infer_permuted(a: Type, *axes: Type) -> Type:
    given = _axis_types(axes)
    if isinstance(a, ScalarType) and not axes:
        return a
    if not isinstance(a, ArrayType) or len(given) not in (0, a.ndim):
        return ANY
    if not given and a.ndim and axes != () and axes != (NONE,):
        return ANY  # an empty tuple, of which NumPy says that it does not match
    if not given:
        layout = a.layout if a.ndim < 2 else "strided"
        return ArrayType(a.dtype, a.shape[::-1], layout, a.writeable)
    return _reordered(a) if all(map(is_integer_scalar, given)) else ANY


def _infer_two_axes(a: Type, first: Type, second: Type) -> Type:
    is_known = isinstance(a, ArrayType) and a.ndim and is_integer_scalar(first)
    if not is_known or not is_integer_scalar(second):
        return ANY
    assert isinstance(a, ArrayType)
    return _reordered(a)


# -- native code -----------------------------------------------------------------------------------


def _axis(e: Emitter, axis: V, rank: int) -> V:
    """An axis counted from the front; one that does not exist bails."""
    number = e.cast(axis, INT)
    is_negative = e.compare("lt", number, 0)
    counted = e.select(is_negative, e.add(number, rank), number)
    outside = e.bit_or(e.compare("lt", counted, 0), e.compare("ge", counted, rank))
    e.bail_if(outside, "an axis that does not exist")
    return counted


def _view(e: Emitter, a: V, type_: Type, order: Sequence[V]) -> V:
    sizes, strides = e.array_sizes(a), e.array_strides(a)
    return e.array_view(
        a,
        type_,
        e.const(INT, 0),
        [e.item_at(sizes, axis) for axis in order],
        [e.item_at(strides, axis) for axis in order],
    )


def _lower_permuted(e: Emitter, a: V, *axes: V) -> V:
    if not isinstance(a.type, ArrayType):
        return a
    type_ = _infer_permuted(a.type, *(axis.type for axis in axes))
    given: Sequence[V] = axes
    if len(axes) == 1 and isinstance(axes[0].type, TupleType):
        given = e.tuple_items(axes[0])
    if not _axis_types([axis.type for axis in axes]):
        return _view(e, a, type_, [e.const(INT, i) for i in reversed(range(a.type.ndim))])
    order = [_axis(e, axis, a.type.ndim) for axis in given]
    repeated = e.const(BOOL, value=False)
    for i, axis in enumerate(order):
        for other in order[:i]:
            repeated = e.bit_or(repeated, e.compare("eq", axis, other))
    e.bail_if(repeated, "an axis that is given twice")
    return _view(e, a, type_, order)


def _lower_swapaxes(e: Emitter, a: V, axis1: V, axis2: V) -> V:
    first, second = (_axis(e, axis, a.type.ndim) for axis in (axis1, axis2))
    order = []
    for i in range(a.type.ndim):
        back = e.select(e.compare("eq", i, second), first, i)
        order.append(e.select(e.compare("eq", i, first), second, back))
    return _view(e, a, _reordered(a.type), order)


def _lower_moveaxis(e: Emitter, a: V, source: V, destination: V) -> V:
    taken, place = (_axis(e, axis, a.type.ndim) for axis in (source, destination))
    order = []
    for i in range(a.type.ndim):
        own = e.const(INT, i)
        behind = e.compare("gt", own, place)
        rest = e.select(behind, e.sub(own, 1), own)
        rest = e.select(e.compare("ge", rest, taken), e.add(rest, 1), rest)
        order.append(e.select(e.compare("eq", own, place), taken, rest))
    return _view(e, a, _reordered(a.type), order)


# -- the ops ---------------------------------------------------------------------------------------


def _permute(a: Any, *axes: Any) -> Any:
    return a.transpose(*axes)


def _declare(name: str, schema: str, infer: Callable[..., Type], **fields: Any) -> None:
    declare_function(
        name, schema, infer, fields.pop("function"), effect=VIEWS, symbolic=True, **fields
    )


_declare(
    "permute",
    "(a, *axes)",
    _infer_permuted,
    function=_permute,
    lower=_lower_permuted,
    doc="``a.transpose(1, 0, 2)``: the axes in that order, without any in reverse order.",
    callables=(),
    methods=("ndarray.transpose", "generic.transpose"),
    samples=((_CUBE, 1, 0, 2), (_CUBE, (0, -1, 1)), (_MATRIX,)),
)
_declare(
    "permuted",
    "(a, axes=None)",
    _infer_permuted,
    function=np.transpose,
    lower=_lower_permuted,
    doc="``np.transpose(a, axes)``",
    samples=((_CUBE, (1, 0, 2)), (_MATRIX, None)),
)
_declare(
    "swapaxes",
    "(a, axis1, axis2)",
    _infer_two_axes,
    function=np.swapaxes,
    lower=_lower_swapaxes,
    calls_method="swapaxes",
    samples=((_MATRIX, 0, 1), (_CUBE, -1, 0)),
)
_declare(
    "swapaxes_method",
    "(a, axis1, axis2, /)",
    _infer_two_axes,
    function=np.ndarray.swapaxes,
    lower=_lower_swapaxes,
    doc="``a.swapaxes(axis1, axis2)``: it takes no names.",
    callables=(),
    methods=("ndarray.swapaxes",),
    samples=((_MATRIX, 0, 1), (_CUBE, -1, 0)),
)
_declare(
    "moveaxis",
    "(a, source, destination)",
    _infer_two_axes,
    function=np.moveaxis,
    lower=_lower_moveaxis,
    samples=((_CUBE, 0, -1), (_CUBE, -1, 1)),
)


# -- windows -----------------------------------------------------------------------------------------


def _infer_windows(
    x: Type,
    window_shape: Type,
    *,
    axis: object = None,
    subok: object = False,
    writeable: object = False,
) -> Type:
    """All axes of the array, and one for each window."""
    rank = shape_rank(window_shape)
    if not isinstance(x, ArrayType) or not rank or not (is_flag(subok) and is_flag(writeable)):
        return ANY
    axes = axes_of(axis, x.ndim)
    if axes is None or len(axes) != rank:
        return ANY
    return ArrayType(
        x.dtype, (None,) * (x.ndim + rank), "strided", x.writeable and writeable is True
    )


def _lower_windows(
    e: Emitter,
    x: V,
    window_shape: V,
    *,
    axis: object = None,
    subok: bool = False,
    writeable: bool = False,
) -> V:
    is_tuple = isinstance(window_shape.type, TupleType)
    windows = [
        e.cast(n, INT) for n in (e.tuple_items(window_shape) if is_tuple else [window_shape])
    ]
    sizes, strides = list(e.array_sizes(x)), list(e.array_strides(x))
    axes = axes_of(axis, x.type.ndim)
    assert axes is not None
    moved = [strides[i] for i in axes]
    one = e.const(INT, 1)
    for i, n in zip(axes, windows, strict=True):
        does_not_fit = e.bit_or(e.compare("lt", n, one), e.compare("lt", sizes[i], n))
        e.bail_if(does_not_fit, "a window of no element, or larger than the array")
        sizes[i] = e.add(e.sub(sizes[i], n), one)
    attrs = {"axis": axis, "subok": subok, "writeable": writeable}
    type_ = _infer_windows(x.type, window_shape.type, **attrs)
    zero = e.const(INT, 0)
    return e.array_view(
        x, type_, zero, [*sizes, *windows], [*strides, *moved], is_read_only=not writeable
    )


declare_function(
    "sliding_window_view",
    "(x, window_shape, *, axis=None, subok=False, writeable=False)",
    _infer_windows,
    np.lib.stride_tricks.sliding_window_view,
    lower=_lower_windows,
    effect=VIEWS,
    parameters=("x", "window_shape", "axis", "*", "subok", "writeable"),
    doc="``np.lib.stride_tricks.sliding_window_view``",
    samples=((np.arange(6.0), 3), (_MATRIX, (1, 2))),
)
