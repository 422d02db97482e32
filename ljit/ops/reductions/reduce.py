"""Reductions: the result types that follow from dtype and axis.

Those with an `OpDef.reduction` become loop nests, others are NumPy's own code, boxed.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from ljit.ir import Reduction, Value, get_op
from ljit.ir.parts import Parts
from ljit.ops.arrays.boxed import axes_of, chosen_dtype, declare_function, is_flag
from ljit.ops.arrays.rules import array_of, dtype_of, is_scalar, layout_like
from ljit.ops.formulas.derived import all_close, difference, difference_of, infer_difference
from ljit.ops.reductions.averages import (
    count_of_nonzero,
    extremum_of_halves,
    extremum_of_numbers,
    mean_of,
    range_of,
    std_of,
    sum_of_numbers,
    total_of_halves,
    var_of,
)
from ljit.ops.reductions.few import SYMBOLIC_REDUCTIONS
from ljit.ops.reductions.nan_averages import mean_of_numbers, std_of_numbers, var_of_numbers
from ljit.ops.reductions.reduced_numbers import or_number
from ljit.types import ANY, BOOL, ArrayType, ScalarType, Type
from ljit.value_types import type_of

__all__ = ["accumulated"]

DtypeRule = Callable[[np.dtype], np.dtype | None]

_BOOL, _INT64, _UINT64 = np.dtype(bool), np.dtype(np.int64), np.dtype(np.uint64)
_FLOAT64 = np.dtype(np.float64)
_MATRIX = np.arange(6.0).reshape(2, 3)


# -- dtypes ----------------------------------------------------------------------------------------


def accumulated(dtype: np.dtype) -> np.dtype:
    """Sums and products of small integers are made in the widest integer."""
    if dtype.kind == "u":
        return _UINT64
    return _INT64 if dtype.kind in "bi" else dtype


def _averaged(dtype: np.dtype) -> np.dtype:
    return _FLOAT64 if dtype.kind in "biu" else dtype


def _spread(dtype: np.dtype) -> np.dtype:
    """Variances are real."""
    return np.empty(0, dtype).real.dtype if dtype.kind == "c" else _averaged(dtype)


def _same(dtype: np.dtype) -> np.dtype:
    return dtype


def _ordered(dtype: np.dtype) -> np.dtype | None:
    return None if dtype.kind == "b" else dtype


def _index(_dtype: np.dtype) -> np.dtype:
    return _INT64


def _truth(_dtype: np.dtype) -> np.dtype:
    return _BOOL


# -- shapes ----------------------------------------------------------------------------------------


def _reduced(a: Type, dtype: np.dtype | None, axis: object, keepdims: object) -> Type:
    """Type of a reduction over `axis` (None, an int or a tuple, constant)."""
    if dtype is None or not is_flag(keepdims):
        return ANY
    shape = a.shape if isinstance(a, ArrayType) else ()
    axes = axes_of(axis, len(shape))
    if axes is None:
        return ANY
    if keepdims:
        kept: list[int | None] = [1 if i in axes else n for i, n in enumerate(shape)]
    else:
        kept = [n for i, n in enumerate(shape) if i not in axes]
    if not kept:
        return ScalarType(dtype)
    return ArrayType(dtype, tuple(kept), layout_like((a,), sum(n != 1 for n in kept)))


def _reduction(rule: DtypeRule, *, has_dtype: bool) -> Callable[..., Type]:
    def infer(
        a: Type,
        *,
        axis: object = None,
        keepdims: object = False,
        dtype: object = None,
        ddof: object = 0,
    ) -> Type:
        if not (isinstance(a, ArrayType) or is_scalar(a)):
            return ANY
        own = dtype_of(a)
        assert own is not None
        return _reduced(a, chosen_dtype(dtype, rule(own)), axis, keepdims)

    def infer_without_dtype(a: Type, *, axis: object = None, keepdims: object = False) -> Type:
        return infer(a, axis=axis, keepdims=keepdims)

    return infer if has_dtype else infer_without_dtype


def _declare_reduction(
    name: str,
    rule: DtypeRule,
    attrs: str,
    order: tuple[str, ...],
    *,
    is_method: bool = True,
    **fields: Any,
) -> None:
    methods = (f"ndarray.{name}", f"generic.{name}") if is_method else ()
    function = getattr(np, name)
    declare_function(
        name,
        f"(a, *, {attrs})",
        _reduction(rule, has_dtype="dtype" in attrs),
        function,
        parameters=("a", *order),
        methods=methods,
        samples=((_MATRIX,), (np.arange(4),)),
        **fields,
    )


_SUMS = "axis=None, dtype=None, keepdims=False"
_SPREADS = "axis=None, dtype=None, ddof=0, keepdims=False"
_PLAIN = "axis=None, keepdims=False"
_SUM_ORDER, _PLAIN_ORDER = ("axis", "dtype", "out", "keepdims"), ("axis", "out", "keepdims")
for _name, _combine, _kinds in (
    ("sum", "np::add", "iufc"),
    ("prod", "np::multiply", "iuf"),  # NaN times 1 is NaN in both parts of a complex number
):
    _declare_reduction(
        _name,
        accumulated,
        _SUMS,
        _SUM_ORDER,
        reduction=Reduction(_combine),
        decompose=or_number(total_of_halves(f"np::{_name}"), adds=_name == "sum", kinds=_kinds),
        symbolic=SYMBOLIC_REDUCTIONS[_name],
    )
_declare_reduction(
    "mean",
    _averaged,
    _SUMS,
    _SUM_ORDER,
    decompose=or_number(mean_of, adds=True, kinds="f"),  # complex numbers are divided by 1
    symbolic=SYMBOLIC_REDUCTIONS["mean"],
)
for _name, _decompose in (("std", std_of), ("var", var_of)):
    _order = ("axis", "dtype", "out", "ddof", "keepdims")
    _declare_reduction(_name, _spread, _SPREADS, _order, decompose=_decompose)
for _name, _combine in (("min", "np::minimum"), ("max", "np::maximum")):
    _declare_reduction(
        _name,
        _same,
        _PLAIN,
        _PLAIN_ORDER,
        reduction=Reduction(_combine),
        decompose=or_number(extremum_of_halves(f"np::{_name}")),
        symbolic=SYMBOLIC_REDUCTIONS[_name],
    )
for _name, _combine in (("any", "np::logical_or"), ("all", "np::logical_and")):
    _declare_reduction(
        _name,
        _truth,
        _PLAIN,
        _PLAIN_ORDER,
        reduction=Reduction(_combine),
        decompose=or_number(None),
        symbolic=SYMBOLIC_REDUCTIONS[_name],
    )
_declare_reduction(
    "nansum", accumulated, _SUMS, _SUM_ORDER, is_method=False, decompose=sum_of_numbers
)
_declare_reduction("nanprod", accumulated, _SUMS, _SUM_ORDER, is_method=False)
_declare_reduction(
    "nanmean", _averaged, _SUMS, _SUM_ORDER, is_method=False, decompose=mean_of_numbers
)
for _name, _decompose in (("nanstd", std_of_numbers), ("nanvar", var_of_numbers)):
    _order = ("axis", "dtype", "out", "ddof", "keepdims")
    _declare_reduction(_name, _spread, _SPREADS, _order, is_method=False, decompose=_decompose)
for _name, _decompose in (
    ("nanmin", extremum_of_numbers("np::min", "np::minimum", 1)),
    ("nanmax", extremum_of_numbers("np::max", "np::maximum", -1)),
):
    _declare_reduction(_name, _same, _PLAIN, _PLAIN_ORDER, is_method=False, decompose=_decompose)
for _name, _combine in (("amin", "np::minimum"), ("amax", "np::maximum")):
    _declare_reduction(
        _name,
        _same,
        _PLAIN,
        _PLAIN_ORDER,
        is_method=False,
        reduction=Reduction(_combine),
        decompose=or_number(extremum_of_halves(f"np::{_name}")),
    )
_declare_reduction("ptp", _ordered, _PLAIN, _PLAIN_ORDER, is_method=False, decompose=range_of)


# -- orders -----------------------------------------------------------------------------------------


def _infer_sort(a: Type, *, axis: object = -1) -> Type:
    return _ordering(a, _same, axis)


def _infer_argsort(a: Type, *, axis: object = -1) -> Type:
    return _ordering(a, _index, axis)


def _ordering(a: Type, rule: DtypeRule, axis: object) -> Type:
    if not isinstance(a, ArrayType) or not a.ndim:
        return ANY
    if axis is None:
        return array_of(rule(a.dtype), (None,))
    if not isinstance(axis, int) or axes_of(axis, a.ndim) is None:
        return ANY
    return array_of(rule(a.dtype), a.shape, layout_like((a,), a.ndim))


_SHUFFLED = np.array([[3.0, 1.0, 2.0], [0.5, 7.0, -1.0]])
declare_function("sort", "(a, *, axis=-1)", _infer_sort, np.sort, samples=((_SHUFFLED,),))
declare_function(
    "argsort",
    "(a, *, axis=-1)",
    _infer_argsort,
    np.argsort,
    methods=("ndarray.argsort",),
    samples=((_SHUFFLED,),),
)


declare_function(
    "diff",
    "(a, prepend=None, append=None, *, n=1, axis=-1)",
    infer_difference,
    np.diff,
    evaluate=difference,
    decompose=difference_of,
    parameters=("a", "n", "axis", "prepend", "append"),
    samples=((_MATRIX,), (np.arange(4),), (np.arange(4), 1.5), (np.arange(4.0), 0, np.arange(2))),
)


_COUNT = type_of(np.count_nonzero(_MATRIX))  # int or np.int64: NumPy versions differ


def _infer_count(a: Type, *, axis: object = None, keepdims: object = False) -> Type:
    if not isinstance(a, ArrayType):
        return ANY
    return _COUNT if axis is None and keepdims is False else _reduced(a, _INT64, axis, keepdims)


def _infer_verdict(a: Type, b: Type, **_attrs: Any) -> Type:
    known = all(isinstance(t, ArrayType) or is_scalar(t) for t in (a, b))
    return BOOL if known else ANY


declare_function(
    "count_nonzero",
    "(a, *, axis=None, keepdims=False)",
    _infer_count,
    np.count_nonzero,
    parameters=("a", "axis", "*", "keepdims"),
    decompose=count_of_nonzero,
    samples=((_MATRIX,),),
)
declare_function(
    "array_equal",
    "(a1, a2)",
    _infer_verdict,
    np.array_equal,
    samples=((_MATRIX, _MATRIX), (_MATRIX, 1)),
)
declare_function(
    "allclose",
    "(a, b, *, rtol=1e-05, atol=1e-08, equal_nan=False)",
    _infer_verdict,
    np.allclose,
    decompose=all_close,
    samples=((_MATRIX, _MATRIX), (_MATRIX, 1)),
)


# -- ufunc.reduce ----------------------------------------------------------------------------------


def _declare_reduce(ufunc: np.ufunc, name: str, *, has_dtype: bool) -> None:
    """``np.maximum.reduce(a)``: what `name` is of, but along the first axis where none is given."""

    def attributes(axis: object, dtype: object, keepdims: object) -> dict[str, object] | None:
        attrs = {"axis": axis, "keepdims": keepdims}
        if has_dtype:
            return {**attrs, "dtype": dtype}
        return attrs if dtype is None else None

    def infer(
        _ufunc: Type,
        array: Type,
        *,
        axis: object = 0,
        dtype: object = None,
        keepdims: object = False,
    ) -> Type:
        attrs = attributes(axis, dtype, keepdims)
        if attrs is None or not isinstance(array, ArrayType):
            return ANY
        return get_op(name).infer_types([array], attrs)[0]

    def decompose(
        parts: Parts,
        _ufunc: Value,
        array: Value,
        *,
        axis: object = 0,
        dtype: object = None,
        keepdims: object = False,
    ) -> Value | None:
        attrs = attributes(axis, dtype, keepdims)
        if infer(ANY, array.type, axis=axis, dtype=dtype, keepdims=keepdims) == ANY:
            return None
        return None if attrs is None else parts.apply(name, array, **attrs)

    declare_function(
        f"{ufunc.__name__}_reduce",
        "(ufunc, array, *, axis=0, dtype=None, keepdims=False)",
        infer,
        ufunc.reduce,
        evaluate=lambda ufunc, array, **attrs: ufunc.reduce(array, **attrs),
        doc=f"``np.{ufunc.__name__}.reduce(array)``",
        decompose=decompose,
        parameters=("ufunc", "array", "axis", "dtype", "out", "keepdims"),
        callables=(),
        library=(f"numpy.{ufunc.__name__}.reduce",),
        samples=((ufunc, _MATRIX), (ufunc, np.arange(4))),
    )


_declare_reduce(np.add, "np::sum", has_dtype=True)
_declare_reduce(np.multiply, "np::prod", has_dtype=True)
_declare_reduce(np.maximum, "np::max", has_dtype=False)
_declare_reduce(np.minimum, "np::min", has_dtype=False)
_declare_reduce(np.logical_or, "np::any", has_dtype=False)
_declare_reduce(np.logical_and, "np::all", has_dtype=False)
