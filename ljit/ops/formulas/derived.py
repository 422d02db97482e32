"""Functions of NumPy that are views, elementwise ops and sums: what `OpDef.decompose` makes of them.

As NumPy computes them, in its order. What does not fit stays a call of NumPy.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ljit.ir import Value, get_op
from ljit.ir.parts import Parts
from ljit.ops.arrays.boxed import axes_of, declare_function
from ljit.ops.arrays.rules import dtype_of
from ljit.types import ANY, NONE, ArrayType, TupleType, Type
from ljit.value_types import type_of

__all__ = ["all_close", "difference", "difference_of", "infer_difference", "norm_along", "norm_of"]

_FLOATS = (np.dtype(np.float32), np.dtype(np.float64))
_LATER, _EARLIER = slice(1, None), slice(None, -1)
_MOST_DIFFERENCES = 4  # of differences


def _is_float_array(t: Type) -> bool:
    return isinstance(t, ArrayType) and t.ndim > 0 and t.dtype in _FLOATS


def _slice(parts: Parts, a: Value, axis: int, chosen: slice) -> Value:
    """The elements before or behind, along an axis."""
    index = (*(slice(None),) * axis, chosen) if axis else chosen
    return parts.apply("np::getitem", a, parts.constant(index))


# -- differences -------------------------------------------------------------------------------------


def infer_difference(a: Type, *ends: Type, n: object = 1, axis: object = -1) -> Type:
    """The type of ``np.diff``: that of differences of two views, ever again."""
    if ends:
        a = _with_ends(a, *ends)
    if not isinstance(a, ArrayType) or not a.ndim or type(n) is not int or n < 1:
        return ANY
    axes = axes_of(axis, a.ndim) if isinstance(axis, int) else None
    if axes is None:
        return ANY
    result: Type = a
    for _ in range(min(n, _MOST_DIFFERENCES)):
        if not isinstance(result, ArrayType):
            return ANY
        view = _view_type(result, axes[0])
        (result,) = get_op(_difference_op(result)).infer_types([view, view], {})
    return result


def difference(a: Any, *ends: Any, **attrs: Any) -> Any:
    """``np.diff`` with what is in front of the array and behind it by position."""
    return np.diff(a, **dict(zip(("prepend", "append"), ends, strict=False)), **attrs)


def _with_ends(a: Type, *ends: Type) -> Type:
    """The type of a vector with numbers or vectors in front of it and behind."""
    items = _in_order(a, *ends)
    vectors = [
        x if isinstance(x, ArrayType) else ArrayType(dtype, (1,))
        for x in items
        if (dtype := dtype_of(x))
    ]
    is_known = isinstance(a, ArrayType) and len(vectors) == len(items)
    if not is_known or not all(x.ndim == 1 for x in vectors):
        return ANY
    return get_op("np::concatenate").infer_types([TupleType(tuple(vectors))], {})[0]


def _in_order(a: Any, *ends: Any) -> list[Any]:
    prepended, *appended = ends
    return [prepended, a, *appended]


def _view_type(a: ArrayType, axis: int) -> Type:
    index = (*(slice(None),) * axis, _LATER) if axis else _LATER
    (view,) = get_op("np::getitem").infer_types([a, type_of(index)], {})
    return view


def _difference_op(a: ArrayType) -> str:
    return "np::not_equal" if a.dtype.kind == "b" else "np::subtract"


def difference_of(
    parts: Parts, a: Value, *ends: Value, n: object = 1, axis: object = -1
) -> Value | None:
    """``a[1:] - a[:-1]``, with what is in front of the vector or behind it."""
    if infer_difference(a.type, *(x.type for x in ends), n=n, axis=axis) == ANY:
        return None
    assert isinstance(a.type, ArrayType)
    axes = axes_of(axis, a.type.ndim)
    assert axes is not None
    assert isinstance(n, int)
    if n > _MOST_DIFFERENCES:
        return None
    if ends:
        vectors = (
            x
            if isinstance(x.type, ArrayType)
            else parts.apply("np::array", parts.apply("prim::TupleConstruct", x))
            for x in _in_order(a, *ends)
        )
        a = parts.apply("np::concatenate", parts.apply("prim::TupleConstruct", *vectors))
    for _ in range(n):
        assert isinstance(a.type, ArrayType)
        later, earlier = (_slice(parts, a, axes[0], chosen) for chosen in (_LATER, _EARLIER))
        a = parts.apply(_difference_op(a.type), later, earlier)
    return a


# -- closeness ---------------------------------------------------------------------------------------


def all_close(parts: Parts, a: Value, b: Value, **tolerances: object) -> Value | None:
    """``bool(np.all(np.isclose(a, b)))``."""
    types = [a.type, b.type]
    is_close = get_op("np::isclose")
    (close,) = is_close.infer_types(types, tolerances)
    if not isinstance(close, ArrayType) or not close.ndim:
        return None
    each = parts.apply("np::isclose", a, b, **tolerances)
    return parts.apply("py::bool", parts.apply("np::all", each))


# -- norms -------------------------------------------------------------------------------------------


def norm_along(x: Type, axis: object, keepdims: object) -> Type:
    """The type of the norms of vectors along one axis."""
    if not _is_float_array(x) or not isinstance(axis, int) or type(keepdims) is not bool:
        return ANY
    (total,) = get_op("np::sum").infer_types([x], {"axis": axis, "keepdims": keepdims})
    return total


def norm_of(
    parts: Parts,
    x: Value,
    ord: Value | None = None,
    *,
    axis: object = None,
    keepdims: object = False,
) -> Value | None:  # NumPy's names
    """The root of the product of a vector with itself, or of the sum of squares along an axis."""
    if not _is_float_array(x.type) or (ord is not None and ord.type != NONE):
        return None
    assert isinstance(x.type, ArrayType)
    if axis is None:
        if keepdims is not False or x.type.layout != "C" or x.type.ndim != 1:
            return None
        return parts.apply("np::sqrt", parts.apply("np::dot", x, x))
    if norm_along(x.type, axis, keepdims) == ANY:
        return None
    squares = parts.apply("np::multiply", x, x)
    attrs = {"axis": axis, **({"keepdims": True} if keepdims else {})}
    return parts.apply("np::sqrt", parts.apply("np::sum", squares, **attrs))


# -- integrals ---------------------------------------------------------------------------------------


def _infer_trapezoid(y: Type, x: Type = NONE, *, dx: object = 1.0, axis: object = -1) -> Type:
    if not _is_float_array(y) or not isinstance(axis, int) or type(dx) not in (int, float):
        return ANY
    assert isinstance(y, ArrayType)
    same = isinstance(x, ArrayType) and x.ndim == 1 and x.dtype == y.dtype
    if not same and x != NONE:
        return ANY
    return get_op("np::sum").infer_types([y], {"axis": axis})[0]


def _trapezoid_of(
    parts: Parts, y: Value, x: Value | None = None, *, dx: float = 1.0, axis: int = -1
) -> Value | None:
    """Half the sum of steps times both their ends."""
    is_even = x is None or x.type == NONE
    if _infer_trapezoid(y.type, NONE if is_even else x.type, dx=dx, axis=axis) == ANY:  # type: ignore[union-attr]
        return None
    assert isinstance(y.type, ArrayType)
    (along,) = axes_of(axis, y.type.ndim) or ()
    step: Value | None = parts.constant(dx) if is_even else difference_of(parts, x)  # type: ignore[arg-type]
    assert step is not None
    if not is_even and along < y.type.ndim - 1:
        index = (slice(None), *(None,) * (y.type.ndim - 1 - along))
        step = parts.apply("np::getitem", step, parts.constant(index))
    both = parts.apply(
        "np::add", *(_slice(parts, y, along, chosen) for chosen in (_LATER, _EARLIER))
    )
    areas = parts.apply("np::divide", parts.apply("np::multiply", step, both), parts.constant(2.0))
    return parts.apply("np::sum", areas, **({"axis": axis} if y.type.ndim > 1 else {}))


declare_function(
    "trapezoid",
    "(y, x=None, *, dx=1.0, axis=-1)",
    _infer_trapezoid,
    np.trapezoid,
    decompose=_trapezoid_of,
    parameters=("y", "x", "dx", "axis"),
    samples=((np.arange(4.0),), (np.arange(4.0), np.arange(4.0) ** 2)),
)
