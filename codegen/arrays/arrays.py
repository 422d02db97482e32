"""The Emitter's array methods: addresses, elements, allocation, views."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from ljit.codegen.arrays.renewal import made_array, renewed_array, taken_array
from ljit.codegen.layouts.layout import ARRAY_DATA
from ljit.codegen.llvm.builder import FALSE, NULL, TRUE, FunctionBuilder, Ref, integer
from ljit.codegen.llvm.forms import (
    ArrayParts,
    LateSlot,
    Native,
    array_parts,
    array_value,
    memory_type,
)
from ljit.codegen.references.boxing import read_only_view
from ljit.codegen.references.lifetimes import may_be_changed
from ljit.types import BOOL, INT, ArrayType, Type

if TYPE_CHECKING:
    from ljit.codegen.emitter import Emitter

__all__ = ["element_address", "load_element", "store_element", "strides_of"]

_MASKED = ("float", "double", "i32", "i64")  # of which x86 has stores with a mask


def strides_of(f: FunctionBuilder, type_: ArrayType, parts: ArrayParts) -> list[Ref]:
    """Strides in bytes; of a C-contiguous array, products of the sizes."""
    if parts.strides is not None:
        return list(parts.strides)
    strides = [integer("i64", type_.dtype.itemsize)]
    for size in reversed(parts.sizes[1:]):
        f.numbers.note_nonnegative(size)
        strides.append(f.mul(strides[-1], size))
    return strides[::-1][: type_.ndim] if type_.ndim else []


def element_address(e: Emitter, a: Native, indices: Sequence[Ref]) -> Ref:
    """Address of the element at indices that are in range."""
    f, type_, parts = e.f, a.type, array_parts(a)
    assert isinstance(type_, ArrayType)
    if not indices:
        return parts.data
    if parts.strides is not None:
        offset = f.mul(indices[0], parts.strides[0])
        for index, stride in zip(indices[1:], parts.strides[1:], strict=True):
            offset = f.add(offset, f.mul(index, stride))
        return f.gep("i8", parts.data, offset)
    linear = indices[0]
    for index, size in zip(indices[1:], parts.sizes[1:], strict=True):
        linear = f.add(f.mul(linear, size), index)
    element = memory_type(type_.dtype)
    if type_.dtype.kind == "c":
        element = f"{{{element}, {element}}}"
    return f.gep(element, parts.data, linear)


def load_element(
    f: FunctionBuilder,
    pointer: Ref,
    dtype: np.dtype,
    type_: Type,
    suffix: str = "",
    *,
    is_aligned: bool = True,
) -> Native:
    """Load a number of a dtype from memory as a value of `type_`; `suffix` is metadata."""
    llvm, align = memory_type(dtype), _alignment(dtype, is_aligned=is_aligned)
    if dtype.kind == "c":
        second = f.gep(llvm, pointer, 1)
        real = f.load(llvm, pointer, align, suffix)
        return Native(type_, (real, f.load(llvm, second, align, suffix)))
    if dtype == np.float16:
        bits = f.load("i16", pointer, align, suffix)
        return Native(type_, (f.convert("bitcast", bits, llvm),))
    value = f.load(llvm, pointer, align, suffix)
    if dtype.kind == "b":
        value = f.icmp("ne", value, 0)
    return Native(type_, (value,))


def store_element(
    f: FunctionBuilder,
    pointer: Ref,
    dtype: np.dtype,
    value: Native,
    suffix: str = "",
    *,
    is_aligned: bool = True,
) -> None:
    """Store a number whose machine form is that of the dtype.

    LLVM makes a store with a mask of one that stores what was there, or another number: on some processors that takes
    ten times as long. It does not see through a `freeze`, which is no instruction.
    """
    llvm, align = memory_type(dtype), _alignment(dtype, is_aligned=is_aligned)
    if dtype.kind == "c":
        second = f.gep(llvm, pointer, 1)
        f.store(value.parts[0], pointer, align, suffix)
        f.store(value.parts[1], second, align, suffix)
        return
    number = f.convert("zext", value.ref, llvm)
    if number.type in _MASKED and number.text in f.numbers.choices:
        number = f.compute(number.type, f"freeze {number.typed}")
    if dtype == np.float16:
        number = f.convert("bitcast", number, "i16")
    f.store(number, pointer, align, suffix)


def _alignment(dtype: np.dtype, *, is_aligned: bool) -> int:
    return 1 if not is_aligned else dtype.itemsize // (2 if dtype.kind == "c" else 1)


# -- methods of the Emitter ------------------------------------------------------------------------


def array_sizes(_e: Emitter, a: Native) -> list[Native]:
    return [Native(INT, (size,)) for size in array_parts(a).sizes]


def array_strides(e: Emitter, a: Native) -> list[Native]:
    assert isinstance(a.type, ArrayType)
    return [Native(INT, (s,)) for s in strides_of(e.f, a.type, array_parts(a))]


def array_load(
    e: Emitter, a: Native, indices: Sequence[Native], *, is_aligned: bool = True
) -> Native:
    assert isinstance(a.type, ArrayType)
    pointer = element_address(e, a, [i.ref for i in indices])
    suffix = e.access or e.scopes.get(array_parts(a).data.text, "")
    dtype, element = a.type.dtype, a.type.element
    return load_element(e.f, pointer, dtype, element, suffix, is_aligned=is_aligned)


def array_store(
    e: Emitter, a: Native, indices: Sequence[Native], value: Native, *, is_aligned: bool = True
) -> None:
    assert isinstance(a.type, ArrayType)
    pointer = element_address(e, a, [i.ref for i in indices])
    suffix = e.scopes.get(array_parts(a).data.text, "")
    store_element(e.f, pointer, a.type.dtype, value, suffix, is_aligned=is_aligned)


def new_array(
    e: Emitter,
    type_: ArrayType,
    sizes: Sequence[Ref],
    *,
    is_zero: bool = False,
    is_fortran: Ref = FALSE,
    spent: Native | None = None,
) -> Native:
    """A fresh contiguous array; no size is negative.

    In C order, or in Fortran order if the condition (which a run may decide) holds. It may be the array `spent`,
    written over, if that has the same sizes and order.
    """
    f = e.f
    dims = e.stack_array("i64", len(sizes))
    for index, ref in enumerate(sizes):
        f.store(ref, f.gep("i64", dims, index))
    descriptor, itemsize = e.context.keep(type_.dtype), type_.dtype.itemsize
    own = array_parts(spent).object if spent is not None else NULL
    if own.text in e.ownership.acquired:
        slot = e.ownership.holders[own.text]
        made = taken_array(e, slot, sizes, dims, descriptor, itemsize, is_fortran)
        e.bailout.error_if_null(made)
        e.ownership.acquire(made)
    elif e.ownership.loop_depth > 0:
        made = renewed_array(
            e, sizes, dims, descriptor, itemsize, is_fortran, is_zero=is_zero, spent=own
        )
        e.bailout.error_if_null(made)
    else:
        made = made_array(e, sizes, dims, descriptor, itemsize, is_fortran, is_zero=is_zero)
        e.bailout.error_if_null(made)
        e.ownership.acquire(made)
    data = f.load("ptr", f.gep("i8", made, ARRAY_DATA))
    parts = ArrayParts(made, made, data, tuple(sizes), None)
    if type_.layout != "C":
        strides = zip(_fortran_strides(f, type_, sizes), strides_of(f, type_, parts), strict=True)
        chosen = tuple(f.select(is_fortran, reverse, own) for reverse, own in strides)
        parts = parts.with_changes(strides=chosen)
    return array_value(type_, parts)


def _fortran_strides(f: FunctionBuilder, type_: ArrayType, sizes: Sequence[Ref]) -> list[Ref]:
    strides = [integer("i64", type_.dtype.itemsize)]
    for size in sizes[:-1]:
        strides.append(f.mul(strides[-1], size))
    return strides[: len(sizes)]


def flat_address(f: FunctionBuilder, data: Ref, dtype: np.dtype, index: Ref) -> Ref:
    """Address of element `index` of contiguous data."""
    element = memory_type(dtype)
    if dtype.kind == "c":
        element = f"{{{element}, {element}}}"
    return f.gep(element, data, index)


def array_view(
    e: Emitter,
    a: Native,
    type_: Type,
    offset: Native,
    sizes: Sequence[Native],
    strides: Sequence[Native],
    *,
    is_read_only: bool = False,
) -> Native:
    assert isinstance(type_, ArrayType)
    parts = array_parts(a)
    data = e.f.gep("i8", parts.data, offset.ref, "")
    refs = tuple(s.ref for s in sizes), tuple(s.ref for s in strides)
    view = array_value(type_, ArrayParts(NULL, parts.owner, data, *refs))
    if is_read_only:  # views of it ask its object
        made = read_only_view(e.f, view, e.context.keep)
        e.bailout.error_if_null(made)
        e.ownership.acquire(made)
        return array_value(type_, ArrayParts(made, made, data, *refs))
    in_loop, node = e.ownership.loop_depth > 0, e.bailout.node
    is_watched = node is not None and any(map(may_be_changed, node.outputs))
    if is_watched:  # who counts references of the owner finds one of the view's
        e.ownership.retain(parts.owner)
        e.ownership.put(e.ownership.new_slot(), parts.owner)
    if not in_loop or is_watched:
        slot = LateSlot(e.ownership.new_slot)
        view.memos = {0: slot}
        if in_loop:  # the last trip's
            e.ownership.put(slot.ref, NULL)
    return view


def extent(
    f: FunctionBuilder, data: Ref, itemsize: int, axes: Sequence[tuple[Ref, Ref]]
) -> tuple[Ref, Ref]:
    """Lowest and one past the highest address of (size, stride) axes without a 0 size, as integers."""
    zero = integer("i64", 0)
    low = high = f.convert("ptrtoint", data, "i64")
    for size, stride in axes:
        if stride.constant == 0:
            continue
        reach = f.binary("mul", f.binary("sub", size, 1), stride)
        if f.numbers.are_nonnegative(stride):
            high = f.binary("add", high, reach)
            continue
        negative = f.icmp("slt", reach, zero)
        low = f.binary("add", low, f.select(negative, reach, zero))
        high = f.binary("add", high, f.select(negative, zero, reach))
    return low, f.binary("add", high, itemsize)


def array_overlap(e: Emitter, a: Native, b: Native) -> Native:
    extents = []
    for x in (a, b):
        assert isinstance(x.type, ArrayType)
        parts = array_parts(x)
        axes = zip(parts.sizes, strides_of(e.f, x.type, parts), strict=True)
        extents.append(extent(e.f, parts.data, x.type.dtype.itemsize, list(axes)))
    (low, high), (other_low, other_high) = extents
    below, above = e.f.icmp("ult", low, other_high), e.f.icmp("ult", other_low, high)
    return Native(BOOL, (e.f.binary("and", below, above),))


def array_same(e: Emitter, a: Native, b: Native) -> Native:
    assert isinstance(a.type, ArrayType)
    assert isinstance(b.type, ArrayType)
    f, x, y = e.f, array_parts(a), array_parts(b)
    pairs = [(f.convert("ptrtoint", x.data, "i64"), f.convert("ptrtoint", y.data, "i64"))]
    pairs += zip(x.sizes, y.sizes, strict=True)
    pairs += zip(strides_of(f, a.type, x), strides_of(f, b.type, y), strict=True)
    same = TRUE
    for left, right in pairs:
        same = f.binary("and", same, f.icmp("eq", left, right))
    return Native(BOOL, (same,))


def is_contiguous(e: Emitter, type_: ArrayType, parts: ArrayParts) -> Ref:
    """Whether the array is C-contiguous (as NumPy's flag: sizes 0 and 1 forgive any stride)."""
    if parts.strides is None:
        return TRUE
    f = e.f
    good, empty = TRUE, integer("i1", 0)
    expected = integer("i64", type_.dtype.itemsize)
    for size, stride in zip(reversed(parts.sizes), reversed(parts.strides), strict=True):
        one = f.icmp("eq", size, 1)
        good = f.binary("and", good, f.binary("or", one, f.icmp("eq", stride, expected)))
        empty = f.binary("or", empty, f.icmp("eq", size, 0))
        expected = f.binary("mul", expected, size)
    return f.binary("or", good, empty)
