"""The Emitter's new arrays, and how vectors are filled whose elements follow from their numbers."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

from ljit.codegen.arrays.arrays import flat_address, new_array, store_element
from ljit.codegen.llvm.builder import Ref, float_constant, integer
from ljit.codegen.llvm.forms import Native, array_parts, dtype_of
from ljit.types import INT, ArrayType, Type

if TYPE_CHECKING:
    from ljit.codegen.emitter import Emitter

__all__ = ["array_fill", "array_new", "fill_array", "is_all_zero"]


def array_new(
    e: Emitter, type_: Type, sizes: Sequence[Native], fill: Native | None = None
) -> Native:
    assert isinstance(type_, ArrayType)
    f = e.f
    refs = [size.ref for size in sizes]
    for ref in refs:
        e.bailout.bail_if(f.icmp("slt", ref, 0), "negative size of an array")
    is_zero = fill is not None and is_all_zero(fill)
    array = new_array(e, type_, refs, is_zero=is_zero)
    if fill is not None and not is_zero:
        fill_array(e, array, refs, fill)
    return array


def fill_array(e: Emitter, array: Native, sizes: Sequence[Ref], fill: Native) -> None:
    """Store a number to all elements of a fresh array of these sizes."""
    total = integer("i64", 1)
    for size in sizes:
        total = e.f.mul(total, size)
    e.loop(Native(INT, (total,)), _storing(e, array, lambda _: fill))


def array_fill(e: Emitter, a: Native, value: Callable[[Native], Native]) -> None:
    (size,) = array_parts(a).sizes
    e.loop(Native(INT, (size,)), _storing(e, a, value))


def _storing(e: Emitter, a: Native, value: Callable[[Native], Native]) -> Callable[[Native], None]:
    """What stores the value of an element by its number."""
    assert isinstance(a.type, ArrayType)
    f, dtype, data = e.f, a.type.dtype, array_parts(a).data
    return lambda k: store_element(f, flat_address(f, data, dtype, k.ref), dtype, value(k))


def is_all_zero(fill: Native) -> bool:
    """Whether all bytes of the constant are zero (so not -0.0)."""
    if dtype_of(fill.type).kind in "fc":
        return all(p.text == float_constant(p.type, 0.0).text for p in fill.parts)
    return fill.ref.constant == 0
