"""The dtype, shape and layout facts that all NumPy ops share.

Promotion is NumPy's own: `loop_dtypes` asks ``ufunc.resolve_dtypes`` with Python scalars as the
weak kinds of NEP 50, so that nothing here restates NumPy's tables.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import lru_cache

import numpy as np

from ljit.types import (
    ANY,
    BOOL,
    COMPLEX,
    FLOAT,
    INT,
    NATIVE_KINDS,
    ArrayType,
    ScalarType,
    TupleType,
    Type,
    is_native,
)

__all__ = [
    "Kind",
    "array_of",
    "both_arrays",
    "broadcast_shapes",
    "dtype_of",
    "element_of",
    "elementwise_result",
    "is_integer_scalar",
    "is_scalar",
    "kind_of",
    "kinds_of",
    "layout_like",
    "loop_dtypes",
    "result_dtype",
    "strong_kind",
    "to_dtype",
]

Kind = np.dtype | type

_KINDS: dict[Type, Kind] = {BOOL: np.dtype(bool), INT: int, FLOAT: float, COMPLEX: complex}
_DEFAULTS: dict[Kind, np.dtype] = {
    int: np.dtype(np.int64),
    float: np.dtype(np.float64),
    complex: np.dtype(np.complex128),
}

_NUMPY = (ScalarType, ArrayType)


def kind_of(t: Type) -> Kind | None:
    """Give what ``resolve_dtypes`` takes for an operand: a dtype, or a weak Python class.

    >>> kind_of(INT), kind_of(BOOL), kind_of(ANY)
    (<class 'int'>, dtype('bool'), None)
    """
    if isinstance(t, _NUMPY):
        return t.dtype
    return _KINDS.get(t)


def kinds_of(types: Sequence[Type]) -> tuple[Kind, ...] | None:
    """Give the kinds of all operands; None if one of them is not a number or an array."""
    kinds: list[Kind] = []
    for t in types:
        kind = kind_of(t)
        if kind is None:
            return None
        kinds.append(kind)
    return tuple(kinds)


def strong_kind(kind: Kind) -> np.dtype:
    """Give the dtype of the array that NumPy makes of a number."""
    return kind if isinstance(kind, np.dtype) else _DEFAULTS[kind]


@lru_cache(maxsize=8192)
def loop_dtypes(ufunc: np.ufunc, kinds: tuple[Kind, ...]) -> tuple[np.dtype, ...] | None:
    """Give the dtypes of the inner loop (inputs, then outputs); None if there is no such loop."""
    if not any(isinstance(kind, np.dtype) for kind in kinds):
        kinds = tuple(map(strong_kind, kinds))  # NumPy makes arrays of them first
    try:
        found = ufunc.resolve_dtypes(kinds + (None,) * ufunc.nout)
    except TypeError:
        return None
    return found if all(dtype in NATIVE_KINDS for dtype in found) else None


@lru_cache(maxsize=4096)
def result_dtype(kinds: tuple[Kind, ...]) -> np.dtype | None:
    """Give ``np.result_type`` of the kinds (of ``np.where``, ``np.concatenate`` and the like)."""
    weak = {int: 0, float: 0.0, complex: 0j}
    found = np.result_type(*(weak[k] if isinstance(k, type) else k for k in kinds))
    return found if found in NATIVE_KINDS else None


def dtype_of(t: Type) -> np.dtype | None:
    """Give the dtype of ``np.asarray`` of a number or an array."""
    kind = kind_of(t)
    return None if kind is None else strong_kind(kind)


def to_dtype(value: object) -> np.dtype | None:
    """Read a constant ``dtype=`` argument; None if it is not one that native code computes with."""
    if value is None:
        return None
    try:
        dtype = np.dtype(value)  # type: ignore[call-overload]
    except TypeError:
        return None
    return dtype if is_native(dtype) else None


def is_scalar(t: Type) -> bool:
    """Whether `t` is a Python number or a NumPy scalar."""
    return isinstance(t, ScalarType) or t in _KINDS


def is_integer_scalar(t: Type) -> bool:
    """Whether `t` indexes one element: ``int`` or a NumPy integer scalar (bools select instead).

    >>> is_integer_scalar(INT), is_integer_scalar(BOOL)
    (True, False)
    """
    return t == INT or (isinstance(t, ScalarType) and t.dtype.kind in "iu")


def element_of(t: Type) -> Type:
    """Give the type of one element of an array type; other types stay."""
    return t.element if isinstance(t, ArrayType) else t


def both_arrays(x: Type, y: Type) -> tuple[ArrayType, ArrayType] | None:
    """Give two types of arrays that have axes; None if one is anything else."""
    if isinstance(x, ArrayType) and isinstance(y, ArrayType) and x.ndim and y.ndim:
        return x, y
    return None


def broadcast_shapes(shapes: Iterable[tuple[int | None, ...]]) -> tuple[int | None, ...] | None:
    """Broadcast shapes with unknown sizes; None if known sizes contradict.

    >>> broadcast_shapes([(None, 3), (1,)]), broadcast_shapes([(2,), (None,)])
    ((None, 3), (2,))
    >>> broadcast_shapes([(2,), (3,)])
    """
    all_shapes = list(shapes)
    ndim = max(map(len, all_shapes), default=0)
    result: list[int | None] = []
    for axis in range(-ndim, 0):
        sizes = {shape[axis] for shape in all_shapes if len(shape) >= -axis}
        known = {size for size in sizes if size not in (None, 1)}
        if len(known) > 1:
            return None
        result.append(known.pop() if known else (None if None in sizes else 1))
    return tuple(result)


def layout_like(types: Iterable[Type], ndim: int) -> str:
    """Give the layout of a result that NumPy allocates in "keep" order (as the operands lie).

    An operand with a single axis that may be longer than 1 has no order: a column, or a row.
    """
    if ndim <= 1:
        return "C"
    arrays = (t for t in types if isinstance(t, ArrayType) and sum(n != 1 for n in t.shape) > 1)
    return "C" if all(t.layout == "C" for t in arrays) else "strided"


def array_of(dtype: np.dtype | None, shape: tuple[int | None, ...], layout: str = "C") -> Type:
    """Give the type of a fresh array; `Any` if the dtype is unknown."""
    return ANY if dtype is None else ArrayType(dtype, shape, layout)


def elementwise_result(types: Sequence[Type], dtype: np.dtype) -> Type:
    """Give the type of what a ufunc makes of operands: an array, or a NumPy scalar for rank 0."""
    shape = broadcast_shapes(t.shape for t in types if isinstance(t, ArrayType))
    if shape is None:
        return ANY
    if not shape:
        return ScalarType(dtype)
    return ArrayType(dtype, shape, layout_like(types, len(shape)))


def flat_scalars(t: Type) -> tuple[tuple[Type, ...], tuple[int, ...]] | None:
    """Give the scalars and the shape of a nested, regular tuple of numbers; None for others."""
    if is_scalar(t):
        return (t,), ()
    if not isinstance(t, TupleType) or not t.items:
        return None
    parts = [flat_scalars(item) for item in t.items]
    scalars: list[Type] = []
    for part in parts:
        if part is None or parts[0] is None or part[1] != parts[0][1]:
            return None
        scalars.extend(part[0])
    assert parts[0] is not None
    return tuple(scalars), (len(parts), *parts[0][1])
