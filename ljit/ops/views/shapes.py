"""Other shapes of the same elements: reshape, ravel, transposition."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from ljit.ir import Effect, OpDef, Schema, declare
from ljit.ir.emitter import Emitter, V
from ljit.ops.arrays.boxed import declare_function, shape_rank, sharing_effects
from ljit.ops.arrays.flat import product_of, viewed
from ljit.ops.arrays.rules import broadcast_shapes
from ljit.ops.arrays.versions import SHAPE_OF_RESHAPE
from ljit.ops.control import OTHER_SHAPES
from ljit.types import ANY, INT, ArrayType, TupleType, Type

__all__: list[str] = []


# -- reshape ---------------------------------------------------------------------------------------


def _infer_reshape(a: Type, *shape: Type) -> Type:
    rank = shape_rank(shape[0]) if len(shape) == 1 else shape_rank(TupleType(shape))
    if not isinstance(a, ArrayType) or rank is None or not shape:
        return ANY
    return ArrayType(a.dtype, (None,) * rank, a.layout if rank else "C", a.writeable)


def _can_lower_reshape(a: Type, *shape: Type) -> bool:
    if not isinstance(a, ArrayType) or a.layout != "C":
        return False
    return _infer_reshape(a, *shape) != ANY


def _lower_reshape(e: Emitter, a: V, *shape: V) -> V:
    items: Sequence[V] = shape
    if len(shape) == 1 and isinstance(shape[0].type, TupleType):
        items = e.tuple_items(shape[0])
    sizes = _fill_in(e, [e.cast(n, INT) for n in items], product_of(e, e.array_sizes(a)))
    type_ = _infer_reshape(a.type, *(x.type for x in shape))
    return viewed(e, a, sizes, type_)


def _fill_in(e: Emitter, sizes: list[V], total: V) -> list[V]:
    """Replace the one -1 by what is left of `total`; sizes that do not fit it bail."""
    zero, one, minus = e.const(INT, 0), e.const(INT, 1), e.const(INT, -1)
    known, unknown = one, zero
    for n in sizes:
        is_unknown = e.compare("eq", n, minus)
        e.bail_if(e.compare("lt", n, minus), "negative size in reshape")
        unknown = e.add(unknown, e.select(is_unknown, one, zero))
        known, overflow = e.mul_overflow(known, e.select(is_unknown, one, n))
        e.bail_if(overflow, "reshape too large")
    has_unknown = e.compare("eq", unknown, one)
    e.bail_if(e.compare("gt", unknown, one), "two unknown sizes in reshape")
    is_zero = e.compare("eq", known, zero)
    e.bail_if(e.bit_and(has_unknown, is_zero), "unknown size of an empty reshape")
    rest = e.div(total, e.select(is_zero, one, known))
    filled = e.select(has_unknown, e.mul(rest, known), known)
    e.bail_if(e.compare("ne", filled, total), "reshape to another number of elements")
    return [e.select(e.compare("eq", n, minus), rest, n) for n in sizes]


def _shares(a: Type, *_shape: Type) -> bool | None:
    """Whether the result shares the elements: of C-contiguous arrays always, of others it depends."""
    return True if isinstance(a, ArrayType) and a.layout == "C" else None


_RESHAPE_EFFECTS = sharing_effects(_infer_reshape, _shares)

declare(
    OpDef(
        "np::reshape",
        Schema("(a, *shape)"),
        "``a.reshape(shape)``, ``a.reshape(m, n)``",
        infer=_infer_reshape,
        evaluate=np.ndarray.reshape,
        lower=_lower_reshape,
        can_lower=_can_lower_reshape,
        effects=_RESHAPE_EFFECTS,
        methods=("ndarray.reshape",),
        symbolic=True,
        samples=((np.arange(6), 2, 3), (np.arange(6), (3, -1)), (np.arange(6.0), -1)),
    )
)
declare_function(
    "reshape_to",
    f"(a, /, {SHAPE_OF_RESHAPE})",
    lambda a, shape: _infer_reshape(a, shape),
    np.reshape,
    lower=_lower_reshape,
    can_lower=_can_lower_reshape,
    effects=_RESHAPE_EFFECTS,
    samples=((np.arange(6), (3, -1)),),
)


def _infer_ravel(a: Type) -> Type:
    """A view of a contiguous array, a copy of others: writeable only if both are."""
    return ArrayType(a.dtype, (None,), "C", a.writeable) if isinstance(a, ArrayType) else ANY


def _lower_ravel(e: Emitter, a: V) -> V:
    return viewed(e, a, [product_of(e, e.array_sizes(a))], _infer_ravel(a.type))


declare_function(
    "ravel",
    "(a)",
    _infer_ravel,
    np.ravel,
    lower=_lower_ravel,
    can_lower=lambda a: isinstance(a, ArrayType) and a.layout == "C",
    methods=("ndarray.ravel",),
    symbolic=True,
    effects=sharing_effects(_infer_ravel, _shares),
    samples=((np.arange(6).reshape(2, 3),),),
)


# -- sizes -----------------------------------------------------------------------------------------


def _lower_same_sizes(
    e: Emitter, base: V, *others: V, axes: Sequence[Sequence[int | None]]
) -> tuple[V, ...]:
    whole = _sizes_of(e, base)
    differs, zero = e.compare("le", whole[0], 0), e.const(INT, 0)
    if not isinstance(base.type, ArrayType):
        for n in whole[1:]:
            differs = e.bit_or(differs, e.compare("lt", n, 0))
    given = []
    for other, own in zip(others, axes, strict=True):
        sizes = list(_sizes_of(e, other))
        for i, axis in enumerate(own):
            if axis is not None:
                differs = e.bit_or(differs, e.compare("ne", sizes[i], whole[axis]))
                sizes[i] = whole[axis]
        given.append((other, sizes))
    e.bail_if(differs, OTHER_SHAPES)
    return tuple(
        e.array_view(x, x.type, zero, n, e.array_strides(x)) if isinstance(x.type, ArrayType) else x
        for x, n in given
    )


def _sizes_of(e: Emitter, base: V) -> Sequence[V]:
    if isinstance(base.type, ArrayType):
        return e.array_sizes(base)
    items = e.tuple_items(base) if isinstance(base.type, TupleType) else (base,)
    return [e.cast(n, INT) for n in items]


declare(
    OpDef(
        "prim::same_sizes",
        Schema("(base, *others, axes)"),
        """Leave native code unless the sizes of all are those of `base`, which has any rows.

        Each is an array or a shape. `axes` has for each of the others a tuple with one item an axis: which axis of
        `base` is as large, or None. The results are the others, arrays as views, whose sizes are known to be those.""",
        infer=lambda _base, *others, axes: others,
        evaluate=lambda _base, *others, axes: others,  # nothing but native code depends on it
        lower=_lower_same_sizes,
        effects=Effect.RAISE,
    )
)


def _infer_broadcast(*arrays: Type) -> Type:
    types = [t for t in arrays if isinstance(t, ArrayType)]
    shape = broadcast_shapes([t.shape for t in types])
    if shape is None or not types or len(types) < len(arrays):
        return ANY
    return ArrayType(types[0].dtype, shape, "strided" if shape else "C", writeable=False)


def _lower_broadcast(e: Emitter, *arrays: V) -> V:
    type_ = _infer_broadcast(*(a.type for a in arrays))
    assert isinstance(type_, ArrayType)
    sizes = [e.const(INT, 1) if size is None else e.const(INT, size) for size in type_.shape]
    for a in arrays:
        first = type_.ndim - a.type.ndim
        for axis, size in enumerate(e.array_sizes(a), start=first):
            if type_.shape[axis] is None:
                is_single = e.compare("eq", sizes[axis], 1)
                sizes[axis] = e.select(is_single, size, sizes[axis])
    first, zero = arrays[0], e.const(INT, 0)
    strides = [zero] * (type_.ndim - first.type.ndim)
    for size, stride in zip(e.array_sizes(first), e.array_strides(first), strict=True):
        strides.append(e.select(e.compare("eq", size, 1), zero, stride))
    return e.array_view(first, type_, zero, sizes, strides, is_read_only=True)


declare(
    OpDef(
        "np::broadcast_view",
        Schema("(*arrays)"),
        "The first array as a view with the sizes that all broadcast to: for those that ask for sizes.",
        infer=_infer_broadcast,
        evaluate=lambda *a: np.broadcast_to(a[0], np.broadcast_shapes(*map(np.shape, a))),
        lower=_lower_broadcast,
        can_lower=lambda *arrays: _infer_broadcast(*arrays) != ANY,
        effects=Effect.RAISE,
        samples=((np.arange(3.0), np.arange(2.0)[:, None]), (np.arange(3.0), np.arange(3.0))),
    )
)
