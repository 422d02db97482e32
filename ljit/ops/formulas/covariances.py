"""``np.cov`` and ``np.corrcoef`` of a matrix, or of two vectors: distances from means, and their product.

As NumPy computes them. Native code is left where NumPy warns, and for one variable: the result has no axes then.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from ljit.ir import Value
from ljit.ir.parts import Parts
from ljit.ops.arrays.boxed import declare_function
from ljit.types import ANY, NONE, ArrayType, Type

__all__: list[str] = []

_FLOAT64 = np.dtype(np.float64)
_MATRIX = np.array([[1.0, 2.5, -1.0], [0.5, 0.0, 4.0]])


def _infer(
    m: Type, y: Type = NONE, *, rowvar: object = True, bias: object = False, ddof: object = None
) -> Type:
    if (
        type(rowvar) is not bool
        or type(bias) is not bool
        or not (ddof is None or type(ddof) is int)
    ):
        return ANY
    if not isinstance(m, ArrayType) or m.dtype.kind not in "biuf":
        return ANY
    if y == NONE:
        return ArrayType(_FLOAT64, (None, None)) if m.ndim == 2 else ANY
    are_vectors = m.ndim == 1 and isinstance(y, ArrayType) and y.ndim == 1
    is_known = are_vectors and y.dtype.kind in "biuf" and rowvar  # type: ignore[attr-defined]
    return ArrayType(_FLOAT64, (2, 2)) if is_known else ANY


def _rows_of(parts: Parts, m: Value, y: Value | None, *, rowvar: bool) -> Value:
    """A row for each variable."""
    given = [x for x in (m, y) if x is not None and x.type != NONE]
    m, *more = (
        x
        if x.type.dtype == _FLOAT64  # type: ignore[attr-defined]
        else parts.apply("np::astype", x, dtype=_FLOAT64)
        for x in given
    )
    if more:
        return parts.apply("np::stack", parts.apply("prim::TupleConstruct", m, *more))
    return m if rowvar else parts.apply("np::transpose", m)


def _covariances_of(
    parts: Parts,
    m: Value,
    y: Value | None = None,
    *,
    rowvar: bool = True,
    bias: bool = False,
    ddof: int | None = None,
) -> Value | None:
    types = [x.type for x in (m, y) if x is not None]
    if _infer(*types, rowvar=rowvar, bias=bias, ddof=ddof) == ANY:
        return None
    rows = _rows_of(parts, m, y, rowvar=rowvar)
    degrees = (0 if bias else 1) if ddof is None else ddof
    count = parts.apply("np::reduced_size", rows, axis=1, ddof=degrees)
    is_odd = parts.apply("np::less", count, parts.constant(1))
    if len(types) == 1 or NONE in types:
        variables = parts.apply("np::reduced_size", rows, axis=0)
        is_one = parts.apply("np::less", variables, parts.constant(2))
        is_odd = parts.apply("np::logical_or", is_odd, is_one)
    factor = parts.apply(
        "np::divide", parts.apply("np::unless", parts.constant(1.0), is_odd), count
    )
    mean = parts.apply("np::mean", rows, axis=1, keepdims=True)
    distances = parts.apply("np::subtract", rows, mean)
    product = parts.apply("np::matmul", distances, parts.apply("np::transpose", distances))
    return parts.apply("np::multiply", product, factor)


def _correlations_of(
    parts: Parts, x: Value, y: Value | None = None, *, rowvar: bool = True
) -> Value | None:
    covariances = _covariances_of(parts, x, y, rowvar=rowvar)
    if covariances is None:
        return None
    deviations = parts.apply("np::sqrt", parts.apply("np::diagonal", covariances))
    result = covariances
    for index in ((slice(None), None), (None, slice(None))):
        divisor = parts.apply("np::getitem", deviations, parts.constant(index))
        result = parts.apply("np::divide", result, divisor)
    return parts.apply("np::clip", result, parts.constant(-1.0), parts.constant(1.0))


def _declare(function: Callable[..., Any], schema: str, infer: Any, **fields: Any) -> None:
    samples = ((_MATRIX,), (_MATRIX[0], _MATRIX[1]))
    declare_function(function.__name__, schema, infer, function, samples=samples, **fields)


_declare(
    np.cov, "(m, y=None, *, rowvar=True, bias=False, ddof=None)", _infer, decompose=_covariances_of
)
_declare(
    np.corrcoef,
    "(x, y=None, *, rowvar=True)",
    lambda x, y=NONE, *, rowvar=True: _infer(x, y, rowvar=rowvar),
    decompose=_correlations_of,
)
