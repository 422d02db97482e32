"""``insert`` and ``delete`` of one element of a vector: what is before it and behind it, joined.

What does not fit, as an index from the end that varies, stays a call of NumPy.
"""

from __future__ import annotations

import numpy as np

from ljit.ir import Value
from ljit.ir.parts import Parts
from ljit.ops.arrays.boxed import declare_function
from ljit.ops.arrays.rules import is_scalar, kinds_of, result_dtype
from ljit.types import ANY, INT, ArrayType, Type

__all__: list[str] = []

_VECTOR = np.arange(4.0)


def _infer_insert(arr: Type, obj: Type, values: Type) -> Type:
    if not isinstance(arr, ArrayType) or arr.ndim != 1 or obj != INT or not is_scalar(values):
        return ANY
    kinds = kinds_of((arr, values))
    if kinds is None or result_dtype(kinds) != arr.dtype:
        return ANY  # NumPy converts the number, whatever gets lost
    return ArrayType(arr.dtype, (None,))


def _insert_of(parts: Parts, arr: Value, obj: Value, values: Value) -> Value | None:
    if _infer_insert(arr.type, obj.type, values.type) == ANY:
        return None
    first, rest = _around(parts, arr, obj, left_out=0)
    assert isinstance(arr.type, ArrayType)
    one = parts.apply("prim::TupleConstruct", values)
    middle = parts.apply("np::array", one, dtype=arr.type.dtype)
    return parts.apply("np::concatenate", parts.apply("prim::TupleConstruct", first, middle, rest))


def _infer_delete(arr: Type, obj: Type) -> Type:
    if not isinstance(arr, ArrayType) or arr.ndim != 1 or obj != INT:
        return ANY
    return ArrayType(arr.dtype, (None,))


def _delete_of(parts: Parts, arr: Value, obj: Value) -> Value | None:
    if _infer_delete(arr.type, obj.type) == ANY:
        return None
    ends = _around(parts, arr, obj, left_out=1)
    return parts.apply("np::concatenate", parts.apply("prim::TupleConstruct", *ends))


def _around(parts: Parts, a: Value, index: Value, *, left_out: int) -> tuple[Value, Value]:
    """What is in front of an index and behind it; native code is left if there is no such place."""
    count, none = parts.apply("py::len", a), parts.constant(None)
    if index.is_constant and index.constant < 0:  # type: ignore[operator]
        index = parts.apply("py::add", count, index)
    behind = parts.apply("py::add", index, parts.constant(left_out))
    is_bad = parts.apply("py::lt", index, parts.constant(0))
    parts.apply("np::unless", parts.constant(1.0), is_bad)
    parts.apply("np::unless", parts.constant(1.0), parts.apply("py::gt", behind, count))
    slices = (
        parts.apply("prim::SliceConstruct", none, index, none),
        parts.apply("prim::SliceConstruct", behind, none, none),
    )
    first, rest = (parts.apply("np::getitem", a, x) for x in slices)
    return first, rest


declare_function(
    "insert",
    "(arr, obj, values)",
    _infer_insert,
    np.insert,
    decompose=_insert_of,
    samples=((_VECTOR, 2, 1.5), (_VECTOR, -1, 2)),
)
declare_function(
    "delete",
    "(arr, obj)",
    _infer_delete,
    np.delete,
    decompose=_delete_of,
    samples=((_VECTOR, 0), (_VECTOR, -2)),
)
