"""Products, linear algebra and a few other functions: NumPy's own code with known result types."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from ljit.ops.arrays.boxed import declare_function
from ljit.ops.arrays.rules import array_of, dtype_of, result_dtype
from ljit.ops.formulas.derived import norm_along, norm_of
from ljit.ops.reductions.few import norm_of_few
from ljit.types import ANY, FLOAT, INT, NONE, ArrayType, ScalarType, Type

__all__: list[str] = []

_FLOAT64, _INT64 = np.dtype(np.float64), np.dtype(np.int64)
_VECTOR, _MATRIX = np.arange(3.0), np.arange(9.0).reshape(3, 3) + np.eye(3)


# -- linear algebra --------------------------------------------------------------------------------


def _inexact(t: Type) -> np.dtype | None:
    """The dtype that LAPACK computes in; None for float16, which raises."""
    dtype = dtype_of(t)
    if dtype is None or dtype == np.float16:
        return None
    return _FLOAT64 if dtype.kind in "biu" else dtype


def _infer_norm(
    x: Type, ord: Type = NONE, *, axis: object = None, keepdims: object = False
) -> Type:
    if axis is not None:
        return norm_along(x, axis, keepdims) if ord == NONE else ANY
    dtype = dtype_of(x)
    is_vector = isinstance(x, ArrayType) and x.ndim in (1, 2)
    if dtype is None or not is_vector or ord not in (NONE, INT, FLOAT) or keepdims is not False:
        return ANY
    dtype = _FLOAT64 if dtype.kind in "biu" else np.empty(0, dtype).real.dtype
    return ScalarType(dtype)


def _infer_solve(a: Type, b: Type) -> Type:
    kinds = (_inexact(a), _inexact(b))
    if not isinstance(a, ArrayType) or not isinstance(b, ArrayType) or a.ndim != 2:
        return ANY
    if b.ndim not in (1, 2) or kinds[0] is None or kinds[1] is None:
        return ANY
    return array_of(result_dtype((kinds[0], kinds[1])), b.shape)


def _infer_inv(a: Type) -> Type:
    dtype = _inexact(a)
    if not isinstance(a, ArrayType) or a.ndim != 2:
        return ANY
    return array_of(dtype, a.shape)


def _infer_det(a: Type) -> Type:
    dtype = _inexact(a)
    if not isinstance(a, ArrayType) or a.ndim != 2 or dtype is None:
        return ANY
    return ScalarType(dtype)


declare_function(
    "linalg.norm",
    "(x, ord=None, *, axis=None, keepdims=False)",
    _infer_norm,
    np.linalg.norm,
    symbolic=norm_of_few,
    decompose=norm_of,
    samples=((_VECTOR,), (_MATRIX / 2, None)),
)
_LINALG: tuple[tuple[str, str, Callable[..., Type], tuple[Any, ...]], ...] = (
    ("solve", "(a, b)", _infer_solve, (_MATRIX, _VECTOR)),
    ("inv", "(a)", _infer_inv, (_MATRIX,)),
    ("det", "(a)", _infer_det, (_MATRIX,)),
)
for _name, _schema, _rule, _sample in _LINALG:
    declare_function(
        f"linalg.{_name}", _schema, _rule, getattr(np.linalg, _name), samples=(_sample,)
    )
