"""``np.add.outer(a, b)`` and the like of vectors: the ufunc on a column and a row."""

from __future__ import annotations

from typing import Any

import numpy as np

from ljit.ir import Value, get_op
from ljit.ir.parts import Parts
from ljit.ops.arrays.boxed import declare_function
from ljit.ops.ufuncs import (
    arithmetic,  # noqa: F401  # declare the ufuncs
    elementary,  # noqa: F401  # declare the ufuncs
    logic,  # noqa: F401  # declare the ufuncs
)
from ljit.types import ANY, ArrayType, Type

__all__: list[str] = []

_COLUMN, _ROW = (slice(None), None), (None, slice(None))
_VECTOR = np.arange(1.0, 4.0)


def _is_vector(t: Type) -> bool:
    return isinstance(t, ArrayType) and t.ndim == 1


def _declare_outer(ufunc: np.ufunc) -> None:
    by = get_op(f"np::{ufunc.__name__}")

    def infer(_ufunc: Type, a: Type, b: Type) -> Type:
        if not _is_vector(a) or not _is_vector(b):
            return ANY
        assert isinstance(a, ArrayType)
        assert isinstance(b, ArrayType)
        column = ArrayType(a.dtype, (None, 1), a.layout)
        (found,) = by.infer_types((column, ArrayType(b.dtype, (1, None), b.layout)), {})
        return found

    def decompose(parts: Parts, _ufunc: Value, a: Value, b: Value) -> Value | None:
        if infer(_ufunc.type, a.type, b.type) == ANY:
            return None
        column = parts.apply("np::getitem", a, parts.constant(_COLUMN))
        return parts.apply(by.name, column, parts.apply("np::getitem", b, parts.constant(_ROW)))

    def outer(ufunc: Any, a: Any, b: Any) -> Any:
        return ufunc.outer(a, b)

    declare_function(
        f"{ufunc.__name__}_outer",
        "(ufunc, a, b)",
        infer,
        ufunc.outer,
        evaluate=outer,
        doc=f"``np.{ufunc.__name__}.outer(a, b)``",
        decompose=decompose,
        callables=(),
        library=(f"numpy.{ufunc.__name__}.outer",),
        samples=((ufunc, _VECTOR, _VECTOR),),
    )


_declare_outer(np.add)
_declare_outer(np.subtract)
_declare_outer(np.multiply)
_declare_outer(np.divide)
_declare_outer(np.maximum)
_declare_outer(np.minimum)
_declare_outer(np.equal)
_declare_outer(np.less)
_declare_outer(np.less_equal)
_declare_outer(np.greater)
_declare_outer(np.greater_equal)
