"""``a[mask]`` and ``a[index]`` with one array as index: native copies of elements in C order.

Everything is checked natively; where NumPy raises, the code leaves. Arrays in another order than C are NumPy's.
"""

from __future__ import annotations

from collections.abc import Sequence

from ljit.ir.emitter import Emitter, V
from ljit.types import ArrayType, Type

__all__ = ["can_copy", "copy_at", "infer_copy"]


def infer_copy(a: ArrayType, index: Type) -> ArrayType | None:
    """The type of ``a[index]`` for a single mask over all axes, or a single array of ints."""
    if not isinstance(index, ArrayType) or not index.ndim or not a.ndim:
        return None
    if index.dtype.kind == "b":
        return ArrayType(a.dtype, (None,)) if index.ndim == a.ndim else None
    if index.dtype.kind not in "iu":
        return None
    shape = index.shape + a.shape[1:]
    return ArrayType(a.dtype, shape, "C" if _is_ordered(a, index) else "strided")


def _is_ordered(*arrays: ArrayType) -> bool:
    """Whether the elements lie in C order, evenly spaced."""
    return all(x.ndim == 1 or x.layout == "C" for x in arrays)


def can_copy(a: ArrayType, index: Type) -> bool:
    """Whether `copy_at` can do it."""
    if infer_copy(a, index) is None:
        return False
    assert isinstance(index, ArrayType)
    is_mask = index.dtype.kind == "b"
    return _is_ordered(a, index) and (index.layout == "C" or not is_mask)


def copy_at(e: Emitter, a: V, index: V) -> V:
    """Copy the elements that an array selects."""
    made = infer_copy(a.type, index.type)
    assert made is not None
    if index.type.dtype.kind == "b":
        check_sizes(e, e.array_sizes(a), e.array_sizes(index))
        result = e.array_new(made, [e.mask_count(index)], None)
        e.array_compress(a, index, result)
        return result
    result = e.array_new(made, [*e.array_sizes(index), *e.array_sizes(a)[1:]], None)
    e.bail_if(e.bit_not(e.array_gather(a, index, result)), "index out of bounds")
    return result


def check_sizes(e: Emitter, sizes: Sequence[V], others: Sequence[V]) -> None:
    """Leave unless a mask has the sizes of the array."""
    bad = None
    for size, other in zip(sizes, others, strict=True):
        differs = e.compare("ne", size, other)
        bad = differs if bad is None else e.bit_or(bad, differs)
    e.bail_if(bad, "a mask of another shape")
