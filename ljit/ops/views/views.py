"""Functions that give views: of these, most are a basic index, so that loop nests see through them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from ljit.ir import Effect, Value, get_op
from ljit.ir.emitter import Emitter, V
from ljit.ir.parts import Parts
from ljit.ops.arrays.boxed import VIEWS, axes_of, declare_function, shape_rank
from ljit.ops.indexing.index import infer_item
from ljit.ops.python.numbers import at_most
from ljit.types import ANY, INT, ArrayType, ListType, TupleType, Type
from ljit.value_types import type_of

__all__: list[str] = []

_VECTOR, _MATRIX = np.arange(3.0), np.arange(6).reshape(2, 3)
_CUBE = np.arange(24.0).reshape(2, 3, 4)
_FULL, _BACK = slice(None), slice(None, None, -1)
_MAX_SECTIONS = 16


# -- views that are an index -------------------------------------------------------------------------


def _declare_index(
    name: str,
    schema: str,
    index_of: Callable[..., tuple[object, ...] | None],
    function: Callable[..., Any],
    **fields: Any,
) -> None:
    """Declare what is ``a[index]``; of an empty index, the array itself."""

    def infer(a: Type, **attrs: object) -> Type:
        index = index_of(a, **attrs) if isinstance(a, ArrayType) and a.ndim else None
        if index is None:
            return ANY
        return infer_item(a, type_of(index)) if index else a

    def decompose(parts: Parts, a: Value, **attrs: object) -> Value | None:
        index = index_of(a.type, **attrs) if infer(a.type, **attrs) != ANY else None
        if index is None:
            return None
        return parts.apply("np::getitem", a, parts.constant(index)) if index else a

    declare_function(
        name, schema, infer, function, decompose=decompose, effect=VIEWS, symbolic=True, **fields
    )


def _flipped(a: ArrayType, *, axis: object = None) -> tuple[object, ...] | None:
    axes = axes_of(axis, a.ndim)
    if axes is None or isinstance(axis, bool):
        return None
    return tuple(_BACK if i in axes else _FULL for i in range(a.ndim))


def _expanded(a: ArrayType, *, axis: object) -> tuple[object, ...] | None:
    rank = a.ndim + (len(axis) if isinstance(axis, tuple) else 1)
    axes = None if axis is None or isinstance(axis, bool) else axes_of(axis, rank)
    return None if axes is None else tuple(None if i in axes else _FULL for i in range(rank))


def _at_least_3d(a: ArrayType) -> tuple[object, ...]:
    return {1: (None, _FULL, None), 2: (_FULL, _FULL, None)}.get(a.ndim, ())


_declare_index(
    "flip",
    "(m, *, axis=None)",
    _flipped,
    np.flip,
    parameters=("m", "axis"),
    samples=((_MATRIX,), (_VECTOR,)),
)
_declare_index("flipud", "(m)", lambda a: _flipped(a, axis=0), np.flipud, samples=((_MATRIX,),))
_declare_index("fliplr", "(m)", lambda a: _flipped(a, axis=1), np.fliplr, samples=((_MATRIX,),))
_declare_index("expand_dims", "(a, *, axis)", _expanded, np.expand_dims, parameters=("a", "axis"))
_declare_index("atleast_1d", "(a, /)", lambda _: (), np.atleast_1d, samples=((_VECTOR,),))
_declare_index(
    "atleast_2d",
    "(a, /)",
    lambda a: (None, _FULL) if a.ndim == 1 else (),
    np.atleast_2d,
    samples=((_VECTOR,), (_MATRIX,)),
)
_declare_index(
    "atleast_3d", "(a, /)", _at_least_3d, np.atleast_3d, samples=((_VECTOR,), (_MATRIX,), (_CUBE,))
)


def _turned(a: ArrayType, k: object) -> tuple[object, ...]:
    """What is flipped before the first two axes change places, if they do."""
    rows = _BACK if k in (2, 3) else _FULL
    columns = _BACK if k in (1, 2) else _FULL
    return (rows, columns, *(_FULL,) * (a.ndim - 2))


def _infer_rot90(m: Type, *, k: object = 1) -> Type:
    if not isinstance(m, ArrayType) or m.ndim < 2 or type(k) is not int:
        return ANY
    view = infer_item(m, type_of(_turned(m, k % 4)))
    if not k % 2:
        return view
    (turned,) = get_op("np::swapaxes").infer_types([view, INT, INT], {})
    return turned


def _rot90_of(parts: Parts, m: Value, *, k: int = 1) -> Value | None:
    if _infer_rot90(m.type, k=k) == ANY:
        return None
    assert isinstance(m.type, ArrayType)
    view = parts.apply("np::getitem", m, parts.constant(_turned(m.type, k % 4)))
    if not k % 2:
        return view
    return parts.apply("np::swapaxes", view, parts.constant(0), parts.constant(1))


declare_function(
    "rot90",
    "(m, *, k=1)",
    _infer_rot90,
    np.rot90,
    decompose=_rot90_of,
    effect=VIEWS,
    symbolic=True,
    parameters=("m", "k"),
    samples=((_MATRIX,), (_CUBE,)),
)


# -- axes of one element -----------------------------------------------------------------------------


def _dropped(a: Type, axis: object) -> tuple[int, ...] | None:
    """Which axes ``squeeze`` drops: those named, or those known to have one element."""
    if not isinstance(a, ArrayType) or isinstance(axis, bool):
        return None
    if axis is not None:
        return axes_of(axis, a.ndim)
    return tuple(i for i, size in enumerate(a.shape) if size == 1)


def _infer_squeeze(a: Type, *, axis: object = None) -> Type:
    dropped = _dropped(a, axis)
    if not dropped or not isinstance(a, ArrayType) or len(dropped) == a.ndim:
        return ANY
    if any(a.shape[i] not in (1, None) for i in dropped):
        return ANY
    shape = tuple(size for i, size in enumerate(a.shape) if i not in dropped)
    return ArrayType(a.dtype, shape, a.layout, a.writeable)


def _lower_squeeze(e: Emitter, a: V, *, axis: object = None) -> V:
    dropped = _dropped(a.type, axis)
    assert dropped is not None
    sizes, strides, zero = [], [], e.const(INT, 0)
    for i, (size, stride) in enumerate(zip(e.array_sizes(a), e.array_strides(a), strict=True)):
        is_one = e.compare("eq", size, 1)
        if i in dropped:
            e.bail_if(e.bit_not(is_one), "squeeze of an axis with several elements")
            continue
        if axis is None:
            e.bail_if(is_one, "squeeze drops an axis that had several elements before")
        sizes.append(size)
        strides.append(stride)
    return e.array_view(a, _infer_squeeze(a.type, axis=axis), zero, sizes, strides)


declare_function(
    "squeeze",
    "(a, *, axis=None)",
    _infer_squeeze,
    np.squeeze,
    lower=_lower_squeeze,
    effect=VIEWS,
    symbolic=True,
    parameters=("a", "axis"),
    methods=("ndarray.squeeze",),
    samples=((_MATRIX[:, None],), (_VECTOR,)),
)


# -- diagonals ---------------------------------------------------------------------------------------


def _infer_diagonal(a: Type, *, offset: object = 0, axis1: object = 0, axis2: object = 1) -> Type:
    if not isinstance(a, ArrayType) or type(offset) is not int or abs(offset) > 2**31:
        return ANY
    axes = axes_of((axis1, axis2), a.ndim)
    if axes is None:
        return ANY
    rest = tuple(size for i, size in enumerate(a.shape) if i not in axes)
    return ArrayType(a.dtype, (*rest, None), "strided", writeable=False)


def _lower_diagonal(
    e: Emitter, a: V, *, offset: int = 0, axis1: object = 0, axis2: object = 1
) -> V:
    axes = axes_of((axis1, axis2), a.type.ndim)
    assert axes is not None
    sizes, strides = list(e.array_sizes(a)), list(e.array_strides(a))
    rows, columns = (sizes[i] for i in axes)
    skipped = e.const(INT, abs(offset))
    moved = strides[axes[1] if offset > 0 else axes[0]]
    if offset > 0:
        columns = e.sub(columns, skipped)
    else:
        rows = e.sub(rows, skipped)
    count = at_most(e, rows, columns)
    is_empty = e.compare("lt", count, 0)
    count = e.select(is_empty, 0, count)
    start = e.select(is_empty, 0, e.mul(skipped, moved))
    rest = [i for i in range(a.type.ndim) if i not in axes]
    return e.array_view(
        a,
        _infer_diagonal(a.type, offset=offset, axis1=axis1, axis2=axis2),
        start,
        [*(sizes[i] for i in rest), count],
        [*(strides[i] for i in rest), e.add(*(strides[i] for i in axes))],
        is_read_only=True,
    )


declare_function(
    "diagonal",
    "(a, *, offset=0, axis1=0, axis2=1)",
    _infer_diagonal,
    np.diagonal,
    lower=_lower_diagonal,
    effect=VIEWS,
    symbolic=True,
    parameters=("a", "offset", "axis1", "axis2"),
    methods=("ndarray.diagonal",),
    samples=((_MATRIX,), (_CUBE,)),
)


# -- broadcasting ------------------------------------------------------------------------------------


def _infer_broadcast(a: Type, shape: Type) -> Type:
    rank = shape_rank(shape)
    if not isinstance(a, ArrayType) or rank is None or rank < max(a.ndim, 1):
        return ANY
    return ArrayType(a.dtype, (None,) * rank, "strided", writeable=False)


def _lower_broadcast(e: Emitter, a: V, shape: V) -> V:
    items = e.tuple_items(shape) if isinstance(shape.type, TupleType) else (shape,)
    wanted = [e.cast(n, INT) for n in items]
    zero = e.const(INT, 0)
    for n in wanted:
        e.bail_if(e.compare("lt", n, zero), "broadcast to a negative size")
    missing = len(wanted) - a.type.ndim
    strides = [zero] * missing
    for n, size, stride in zip(wanted[missing:], e.array_sizes(a), e.array_strides(a), strict=True):
        is_single = e.compare("eq", size, 1)
        fits = e.bit_or(is_single, e.compare("eq", size, n))
        e.bail_if(e.bit_not(fits), "broadcast to a size that does not fit")
        strides.append(e.select(is_single, zero, stride))
    type_ = _infer_broadcast(a.type, shape.type)
    return e.array_view(a, type_, zero, wanted, strides, is_read_only=True)


declare_function(
    "broadcast_to",
    "(array, shape)",
    _infer_broadcast,
    np.broadcast_to,
    lower=_lower_broadcast,
    effect=VIEWS,
    symbolic=True,
    samples=((_VECTOR, (2, 3)), (_VECTOR[:1], 4)),
)


# -- sections ----------------------------------------------------------------------------------------


def _infer_section(a: Type, *, place: int, of: int, axis: int, equal: bool) -> Type:
    if not isinstance(a, ArrayType):
        return ANY
    shape = tuple(None if i == axis else size for i, size in enumerate(a.shape))
    layout = a.layout if axis == 0 else "strided"
    return ArrayType(a.dtype, shape, layout, a.writeable)


def _section(a: np.ndarray, *, place: int, of: int, axis: int, equal: bool) -> np.ndarray:
    split = np.split if equal else np.array_split
    return split(a, of, axis)[place]


def _lower_section(e: Emitter, a: V, *, place: int, of: int, axis: int, equal: bool) -> V:
    sizes, strides = list(e.array_sizes(a)), list(e.array_strides(a))
    each, rest = e.div(sizes[axis], of), e.rem(sizes[axis], of)
    if equal:
        e.bail_if(e.compare("ne", rest, 0), "a split into unequal sections")
        first, size = e.mul(place, each), each
    else:  # the first ones have one more
        is_longer = e.compare("lt", place, rest)
        before = e.select(is_longer, place, rest)
        first = e.add(e.mul(place, each), before)
        size = e.select(is_longer, e.add(each, 1), each)
    sizes[axis] = size
    type_ = _infer_section(a.type, place=place, of=of, axis=axis, equal=equal)
    return e.array_view(a, type_, e.mul(first, strides[axis]), sizes, strides)


declare_function(
    "section",
    "(a, *, place, of, axis, equal)",
    _infer_section,
    _section,
    doc="One item of ``np.split(a, of, axis)``, or of ``np.array_split``.",
    callables=(),
    lower=_lower_section,
    can_lower=lambda a, **_: isinstance(a, ArrayType),
    effect=VIEWS,
    symbolic=True,
)


def _split(name: str, *, equal: bool, function: Callable[..., Any]) -> None:
    def infer(a: Type, *, indices_or_sections: object, axis: object = 0) -> Type:
        count = indices_or_sections if type(indices_or_sections) is int else 0
        axes = axes_of(axis, a.ndim) if isinstance(a, ArrayType) and type(axis) is int else None
        if axes is None or not 0 < count <= _MAX_SECTIONS:
            return ANY
        return ListType(_infer_section(a, place=0, of=count, axis=axes[0], equal=equal))

    def decompose(
        parts: Parts, a: Value, *, indices_or_sections: int, axis: object = 0
    ) -> Value | None:
        if infer(a.type, indices_or_sections=indices_or_sections, axis=axis) == ANY:
            return None
        assert isinstance(a.type, ArrayType)
        (along,) = axes_of(axis, a.type.ndim) or (0,)
        attrs = {"of": indices_or_sections, "axis": along, "equal": equal}
        places = range(indices_or_sections)
        views = [parts.apply("np::section", a, place=i, **attrs) for i in places]
        return parts.apply("prim::ListConstruct", *views)

    declare_function(
        name,
        "(ary, *, indices_or_sections, axis=0)",
        infer,
        function,
        decompose=decompose,
        effect=Effect.RAISE | Effect.ALLOC,
        parameters=("ary", "indices_or_sections", "axis"),
    )


def _split_axis(function: Callable[..., Any], axis_of: Callable[[int], int]) -> None:
    """``hsplit`` and ``vsplit``: the axis follows from the rank."""

    def attrs(a: Type, count: object) -> dict[str, object]:
        rank = a.ndim if isinstance(a, ArrayType) else 0
        return {"indices_or_sections": count, "axis": axis_of(rank)}

    def infer(ary: Type, *, indices_or_sections: object) -> Type:
        return get_op("np::split").infer_types([ary], attrs(ary, indices_or_sections))[0]

    def decompose(parts: Parts, ary: Value, *, indices_or_sections: object) -> Value | None:
        if infer(ary.type, indices_or_sections=indices_or_sections) == ANY:
            return None
        return parts.apply("np::split", ary, **attrs(ary.type, indices_or_sections))

    declare_function(
        function.__name__,
        "(ary, *, indices_or_sections)",
        infer,
        function,
        decompose=decompose,
        effect=Effect.RAISE | Effect.ALLOC,
        parameters=("ary", "indices_or_sections"),
    )


_split("split", equal=True, function=np.split)
_split("array_split", equal=False, function=np.array_split)
_split_axis(np.hsplit, lambda rank: 1 if rank > 1 else 0)
_split_axis(np.vsplit, lambda rank: 0 if rank > 1 else 99)
