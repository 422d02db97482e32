"""Small arrays: those whose elements native code keeps in registers.

Sizes are not part of the types that native code is made for, with one exception: where few elements are
involved, the sizes seen first are.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import prod

import numpy as np

from ljit.record_types import has_records
from ljit.types import ArrayType, Type

__all__ = [
    "ALL_MAGNITUDES",
    "LARGE",
    "MANY",
    "MAX_ELEMENTS",
    "SOME_VECTORS",
    "common_sizes",
    "elements_of",
    "is_small",
    "may_be_broadcast",
    "sized_types",
    "small_shape",
    "small_sizes",
    "without_sizes",
]

MAX_ELEMENTS = 16  # of an array that is kept in registers
_MAX_AXES = 16  # of such an array: NumPy's iterators, which give the places of elements, take no more than 32
LARGE = 2**15  # elements of an array on all of which work takes a while
MANY = 2**12  # elements of an array on each of which little work is worth a look at another array
SOME_VECTORS = 2**9  # elements of an array that makes more than a few of the widest vectors
ALL_MAGNITUDES = 2**64 - 1  # a bit for each binary order of magnitude of the elements of an array
_MAX_LAST = (
    4  # a last axis of up to this many elements counts as a vector, (n, 3), or as none, (n, 1)
)


def is_small(type_: Type) -> bool:
    """Whether the type is that of an array with a few elements, numbers that are aligned, all sizes known.

    >>> import numpy as np
    >>> double = np.dtype(float)
    >>> is_small(ArrayType(double, (3,))), is_small(ArrayType(double, (None, 3)))
    (True, False)
    """
    if not isinstance(type_, ArrayType) or not 0 < type_.ndim <= _MAX_AXES or has_records(type_):
        return False
    count = 1
    for size in type_.shape:
        if size is None:
            return False
        count *= size
    return 0 < count <= MAX_ELEMENTS


def small_shape(type_: Type) -> tuple[int, ...]:
    """Give the sizes of a type that `is_small`."""
    assert isinstance(type_, ArrayType)
    return tuple(size for size in type_.shape if size is not None)


def small_sizes(shape: Sequence[int]) -> tuple[int | None, ...]:
    """Give the sizes that native code may be made for: all of a small array, the last of rows of vectors and columns.

    >>> small_sizes((3,)), small_sizes((100, 3)), small_sizes((100, 1)), small_sizes((100,))
    ((3,), (None, 3), (None, 1), (None,))
    """
    if 0 < len(shape) <= _MAX_AXES and 0 < prod(shape) <= MAX_ELEMENTS:
        return tuple(shape)
    unknown = (None,) * len(shape)
    if len(shape) > 1 and 0 < shape[-1] <= _MAX_LAST:
        return (*unknown[:-1], shape[-1])
    return unknown


def sized_types(types: Sequence[Type], values: Sequence[object]) -> tuple[Type, ...]:
    """Give the types with the sizes of small arrays among the values."""
    return tuple(map(_sized, types, values))


def may_be_broadcast(values: Sequence[object]) -> bool:
    """Whether one of the values is an array with one element along an axis, and not all arrays have its shape.

    Arrays of one element are of no shape that tells of others. Subclasses of arrays, which may have a `shape` of their
    own, do not count.

    >>> import numpy as np
    >>> column, row = np.zeros((5, 1)), np.zeros(5)
    >>> may_be_broadcast([column, row]), may_be_broadcast([column, column, 2.0])
    (True, False)
    """
    shapes = {x.shape for x in values if type(x) is np.ndarray and x.ndim}
    return any(1 in shape for shape in shapes) and (len(shapes) > 1 or prod(*shapes) == 1)


def elements_of(value: object) -> int:
    """How many elements the value has as a plain array; 0 if it is none."""
    return value.size if type(value) is np.ndarray else 0


def without_sizes(types: Sequence[Type]) -> tuple[Type, ...]:
    """Give the types for arrays of any sizes."""
    return tuple(map(_without_sizes, types))


def common_sizes(types: Sequence[Type], others: Sequence[Type]) -> tuple[Type, ...]:
    """Give the types with the shapes that are the same in others, which differ in nothing else, or with the last sizes.

    >>> import numpy as np
    >>> double = np.dtype(float)
    >>> print(*common_sizes([ArrayType(double, (2, 3))], [ArrayType(double, (None, 3))]))
    Float64(*, 3)
    """
    return tuple(map(_common_sizes, types, others))


def _common_sizes(type_: Type, other: Type) -> Type:
    if not isinstance(type_, ArrayType) or not isinstance(other, ArrayType) or not type_.ndim:
        return type_
    shape = type_.shape
    if shape != other.shape:
        is_same = len(shape) > 1 and shape[-1] == other.shape[-1]
        shape = (*(None,) * (len(shape) - 1), shape[-1] if is_same else None)
    return ArrayType(type_.dtype, shape, type_.layout, type_.writeable)


def _without_sizes(type_: Type) -> Type:
    if not isinstance(type_, ArrayType) or not type_.ndim:
        return type_
    return ArrayType(type_.dtype, (None,) * type_.ndim, type_.layout, type_.writeable)


def _sized(type_: Type, value: object) -> Type:
    if not isinstance(type_, ArrayType) or not isinstance(value, np.ndarray):
        return type_
    shape = small_sizes(value.shape)
    if shape == type_.shape:
        return type_
    return ArrayType(type_.dtype, shape, type_.layout, type_.writeable)
