"""Reductions of what a mask chooses, and from a first value on: ``np.sum(a, where=mask)``, ``a.max(initial=0)``.

Elements that the mask leaves out become such as change nothing; the first value is combined with the result. Means
and variances divide by how often the mask holds; where it never does native code leaves: NumPy warns.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from ljit.ir import Value, get_op
from ljit.ir.parts import Parts
from ljit.ops.arrays.boxed import axes_of, declare_function
from ljit.ops.arrays.rules import dtype_of, is_scalar
from ljit.ops.reductions.nan_averages import divided
from ljit.types import ANY, BOOL, FLOAT, ArrayType, Type

__all__: list[str] = []

_BOOL, _FLOAT64 = np.dtype(bool), np.dtype(np.float64)
_AVERAGED = (np.dtype(np.float32), _FLOAT64)
_MATRIX = np.arange(6.0).reshape(2, 3)
_MASK = _MATRIX % 2 > 0


def _is_mask(where: Type, a: Type) -> bool:
    """Whether `where` is a mask for the array, or a bool."""
    if not isinstance(a, ArrayType) or not a.ndim:
        return False
    is_mask = isinstance(where, ArrayType) and (where.dtype, where.ndim) == (_BOOL, a.ndim)
    return is_mask or where == BOOL


def _chosen(parts: Parts, a: Value, where: Value | None, rest: Value) -> Value | None:
    """The array, with another number where the mask does not hold; native code is left if the mask has other sizes."""
    if where is None or where.type == BOOL:
        is_all = where is None or (where.is_constant and where.constant is True)
        return a if is_all else None
    return parts.apply("np::where", parts.apply("np::same_shape", where, a), a, rest)


def _declare(
    name: str,
    attrs: str,
    order: tuple[str, ...],
    infer: Callable[..., Type],
    decompose: Callable[..., Value | None],
    *,
    takes_first: bool = True,
) -> None:
    function, missing = getattr(np, name), {"initial": np._NoValue} if takes_first else {}
    last = ("initial", "where") if takes_first else ("*", "where")

    def evaluate(a: Any, where: Any = True, *initial: Any, **attrs: Any) -> Any:
        given = {**missing, **dict(zip(missing, initial, strict=False))}
        return function(a, where=where, **given, **attrs)

    declare_function(
        f"{name}_where",
        f"(a, where=True{', initial=None' if takes_first else ''}, *, {attrs})",
        infer,
        function,
        doc=f"``np.{name}`` with ``where``{' or ``initial``' if takes_first else ''}.",
        evaluate=evaluate,
        parameters=("a", *order, *last),
        methods=(f"ndarray.{name}",),
        decompose=decompose,
        samples=((_MATRIX, _MASK, 2), (_MATRIX, True, 2)) if takes_first else ((_MATRIX, _MASK),),
    )


# -- sums and products -------------------------------------------------------------------------------


def _neutral(dtype: np.dtype, number: int) -> object:
    """Zero or one, as a number beside which arrays keep the dtype; of floats -0.0, which changes no zero's sign."""
    if dtype.kind in "fc" and not number:
        return -0.0
    return bool(number) if dtype.kind == "b" else number


def _masked_total(
    parts: Parts, name: str, combine: str, number: int, a: Value, where: Value | None, **attrs: Any
) -> Value | None:
    """The total that begins with the number, as NumPy's does where there is a mask: a sum is never -0.0."""
    assert isinstance(a.type, ArrayType)
    chosen = _chosen(parts, a, where, parts.constant(_neutral(a.type.dtype, number)))
    if chosen is None:
        return None
    total = parts.apply(name, chosen, **attrs)
    dtype = dtype_of(total.type)
    is_signed = chosen is not a and dtype is not None and dtype.kind in "fc"
    return parts.apply(combine, total, parts.constant(float(number))) if is_signed else total


def _not_negative_zero(parts: Parts, first: Value) -> Value:
    """The first value of a sum; native code is left for -0.0, to which it would add the 0.0 that sums begin with."""
    if first.type != FLOAT and getattr(dtype_of(first.type), "kind", "") != "f":
        return first
    is_zero = parts.apply("np::equal", first, parts.constant(0.0))
    is_bad = parts.apply("np::logical_and", is_zero, parts.apply("np::signbit", first))
    multiply = "py::mul" if first.type == FLOAT else "np::multiply"
    return parts.apply(multiply, first, parts.apply("np::unless", parts.constant(1.0), is_bad))


def _with_first(combine: str, result: Type, initial: tuple[Type, ...]) -> Type:
    """The type of the result combined with the first value, if that keeps the dtype."""
    for first in initial:
        dtype = dtype_of(result)
        (result,) = get_op(combine).infer_types([result, first], {}) if is_scalar(first) else (ANY,)
        if dtype_of(result) != dtype:
            return ANY
    return result


def _declare_total(name: str, combine: str, number: int) -> None:
    plain = f"np::{name}"

    def infer(a: Type, where: Type = BOOL, *initial: Type, **attrs: Any) -> Type:
        if not _is_mask(where, a) or a.dtype == np.float16:  # type: ignore[attr-defined]
            return ANY
        return _with_first(combine, get_op(plain).infer_types([a], attrs)[0], initial)

    def decompose(
        parts: Parts, a: Value, where: Value | None = None, *initial: Value, **attrs: object
    ) -> Value | None:
        if not initial:
            return _masked_total(parts, plain, combine, number, a, where, **attrs)
        assert isinstance(a.type, ArrayType)
        if a.type.dtype.kind == "c":
            return None  # what is made of its parts depends on which numbers are combined first
        if not number:  # what begins with 0.0 is never -0.0
            if any(first.is_constant and str(first.constant) == "-0.0" for first in initial):
                return None
            initial = tuple(_not_negative_zero(parts, first) for first in initial)
        chosen = _chosen(parts, a, where, parts.constant(_neutral(a.type.dtype, number)))
        if chosen is None:
            return None
        return parts.apply(combine, parts.apply(plain, chosen, **attrs), *initial)

    order = ("axis", "dtype", "out", "keepdims")
    _declare(name, "axis=None, dtype=None, keepdims=False", order, infer, decompose)


_declare_total("sum", "np::add", 0)
_declare_total("prod", "np::multiply", 1)


# -- extrema -----------------------------------------------------------------------------------------


def _declare_extremum(name: str, combine: str) -> None:
    """Elements that the mask leaves out become the first value, without which NumPy takes no mask."""
    plain = f"np::{name}"

    def infer(a: Type, where: Type = BOOL, *initial: Type, **attrs: Any) -> Type:
        if not _is_mask(where, a) or not initial:
            return ANY
        assert isinstance(a, ArrayType)
        if a.dtype.kind not in "iuf" or _with_first(combine, a.element, initial) == ANY:
            return ANY
        return _with_first(combine, get_op(plain).infer_types([a], attrs)[0], initial)

    def decompose(
        parts: Parts, a: Value, where: Value, initial: Value, **attrs: object
    ) -> Value | None:
        chosen = _chosen(parts, a, where, initial)
        if chosen is None:
            return None
        return parts.apply(combine, parts.apply(plain, chosen, **attrs), initial)

    order = ("axis", "out", "keepdims")
    _declare(name, "axis=None, keepdims=False", order, infer, decompose)


for _name, _combine in (("min", "np::minimum"), ("max", "np::maximum")):
    _declare_extremum(_name, _combine)


# -- truth -------------------------------------------------------------------------------------------


def _declare_truth(name: str, number: int) -> None:
    plain = f"np::{name}"

    def infer(a: Type, where: Type = BOOL, **attrs: Any) -> Type:
        return get_op(plain).infer_types([a], attrs)[0] if _is_mask(where, a) else ANY

    def decompose(
        parts: Parts, a: Value, where: Value | None = None, **attrs: object
    ) -> Value | None:
        assert isinstance(a.type, ArrayType)
        chosen = _chosen(parts, a, where, parts.constant(_neutral(a.type.dtype, number)))
        return None if chosen is None else parts.apply(plain, chosen, **attrs)

    order, attrs = ("axis", "out", "keepdims"), "axis=None, keepdims=False"
    _declare(name, attrs, order, infer, decompose, takes_first=False)


_declare_truth("any", 0)
_declare_truth("all", 1)


# -- averages ----------------------------------------------------------------------------------------


def _averaged(a: ArrayType) -> np.dtype:
    return _FLOAT64 if a.dtype.kind in "biu" else a.dtype


def _infer_average(a: Type, where: Type = BOOL, *, ddof: object = 0, **attrs: Any) -> Type:
    if not _is_mask(where, a) or where == BOOL or type(ddof) is not int:
        return ANY
    assert isinstance(a, ArrayType)
    dtype = _averaged(a)
    if dtype not in _AVERAGED or attrs.get("dtype") is not None:
        return ANY
    (result,) = get_op("np::mean").infer_types([a], attrs)
    return result


def _mean_of(
    parts: Parts, a: Value, where: Value, *, axis: object = None, keepdims: object = False, **_: Any
) -> Value | None:
    """The sum, divided by how often the mask holds."""
    assert isinstance(a.type, ArrayType)
    dtype, attrs = _averaged(a.type), {"axis": axis, "keepdims": keepdims}
    total = _masked_total(parts, "np::sum", "np::add", 0, a, where, dtype=dtype, **attrs)
    assert total is not None
    return divided(parts, total, parts.apply("np::sum", where, **attrs), dtype)


def _var_of(
    parts: Parts,
    a: Value,
    where: Value,
    *,
    axis: object = None,
    ddof: int = 0,
    keepdims: object = False,
    **_: Any,
) -> Value | None:
    """The mean of the squared distances from the mean: two passes."""
    assert isinstance(a.type, ArrayType)
    is_whole = len(axes_of(axis, a.type.ndim) or ()) == a.type.ndim
    mean = _mean_of(parts, a, where, axis=axis, keepdims=not is_whole)
    assert mean is not None
    squares = parts.apply("np::square", parts.apply("np::subtract", a, mean))
    chosen = _chosen(parts, squares, where, parts.constant(0.0))
    assert chosen is not None
    attrs = {"axis": axis, "keepdims": keepdims}
    total, count = (parts.apply("np::sum", x, **attrs) for x in (chosen, where))
    if ddof:
        count = parts.apply("np::subtract", count, parts.constant(ddof))
    return divided(parts, total, count, _averaged(a.type))


def _std_of(parts: Parts, a: Value, where: Value, **attrs: Any) -> Value | None:
    variance = _var_of(parts, a, where, **attrs)
    return None if variance is None else parts.apply("np::sqrt", variance)


_AVERAGE, _PARAMETERS = "axis=None, dtype=None, ", ("axis", "dtype", "out")
_declare(
    "mean",
    f"{_AVERAGE}keepdims=False",
    (*_PARAMETERS, "keepdims"),
    _infer_average,
    _mean_of,
    takes_first=False,
)
for _name, _decompose in (("std", _std_of), ("var", _var_of)):
    _declare(
        _name,
        f"{_AVERAGE}ddof=0, keepdims=False",
        (*_PARAMETERS, "ddof", "keepdims"),
        _infer_average,
        _decompose,
        takes_first=False,
    )
