"""Arrays made of a few elements: where native code goes on with them, or in the exits alone."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from ljit.codegen.arrays.arrays import new_array, store_element
from ljit.codegen.layouts import layout
from ljit.codegen.llvm.builder import FALSE, NULL, FunctionBuilder, Ref, integer, undef
from ljit.codegen.llvm.forms import Native, array_parts, components, memory_type
from ljit.codegen.llvm.partition import QUICK
from ljit.codegen.references.boxing import Keep, incref
from ljit.codegen.references.unboxing import unbox
from ljit.ir import Node
from ljit.ops.control import SNAPSHOT
from ljit.sizes import small_shape
from ljit.types import ArrayType, Type

if TYPE_CHECKING:
    from ljit.codegen.emitter import Emitter

__all__ = ["is_late", "late_array", "small_array"]


def is_late(node: Node) -> bool:
    """Whether only Snapshots use the array."""
    return all(user.op is SNAPSHOT for user, _ in node.output.uses)


def late_array(e: Emitter, type_: Type, operands: Sequence[Native], *, kept: bool) -> Native:
    """An array that exits make."""
    parts = [undef(part) for part in components(type_)]
    return Native(type_, parts, late=lambda: _object(e, type_, operands, kept=kept))


def small_array(e: Emitter, type_: Type, operands: Sequence[Native], *, kept: bool) -> Native:
    """An array of the elements, or, with `kept`, perhaps the one that has them."""
    assert isinstance(type_, ArrayType)
    if kept:
        pointer = _object(e, type_, operands, kept=True)
        e.bailout.error_if_null(pointer)
        e.ownership.acquire(pointer)
        return unbox(e.f, pointer, type_, e.bailout.fault_block("a small array of another type"))
    sizes = [integer("i64", size) for size in small_shape(type_)]
    made = new_array(e, type_, sizes)
    _fill(e.f, array_parts(made).data, type_.dtype, operands)
    return made


def _fill(f: FunctionBuilder, data: Ref, dtype: np.dtype, elements: Sequence[Native]) -> None:
    for index, element in enumerate(elements):
        place = f.gep("i8", data, index * dtype.itemsize)
        store_element(f, place, dtype, element)


def _object(e: Emitter, type_: Type, operands: Sequence[Native], *, kept: bool) -> Ref:
    """A new reference to the array, or null with an error set: by a function for all arrays of the type."""
    assert isinstance(type_, ArrayType)
    elements = operands[2:] if kept else operands
    original, is_kept = NULL, FALSE
    if kept:
        original, is_kept = array_parts(operands[0]).object, operands[1].ref
    parts = [part for element in elements for part in element.parts]
    name = _maker(e, type_, elements)
    return e.f.call("ptr", name, (original, is_kept, *parts))


def _maker(e: Emitter, type_: ArrayType, elements: Sequence[Native]) -> str:
    name = f"make.{memory_type(type_.dtype)}.{type_.dtype.num}." + ".".join(
        map(str, small_shape(type_))
    )
    module = e.f.module
    if any(function.name == name for function in module.functions):
        return name
    llvm_types = ["ptr", "i1", *(part.type for element in elements for part in element.parts)]
    f = module.function(name, "ptr", llvm_types, "internal")
    f.attributes = f"nounwind noinline {QUICK}"
    original, is_kept, *parts = f.params
    keep, fresh = f.new_block("keep"), f.new_block("fresh")
    f.condbr(is_kept, keep, fresh)
    f.start(keep)
    incref(f, original)
    f.ret(original)
    f.start(fresh)
    made = _new(f, type_, e.context.keep)
    good, failed = f.new_block("good"), f.new_block("failed")
    f.condbr(f.icmp("eq", made, NULL), failed, good, unlikely=True)
    f.start(failed)
    f.ret(NULL)
    f.start(good)
    data = f.load("ptr", f.gep("i8", made, layout.ARRAY_DATA))
    received, rest = [], list(parts)
    for element in elements:
        count = len(element.parts)
        received.append(Native(element.type, rest[:count]))
        rest = rest[count:]
    _fill(f, data, type_.dtype, received)
    f.ret(made)
    return name


def _new(f: FunctionBuilder, type_: ArrayType, keep: Keep) -> Ref:
    shape = small_shape(type_)
    dims = f.alloca("i64", len(shape))
    for index, size in enumerate(shape):
        f.store(integer("i64", size), f.gep("i64", dims, index))
    descriptor = keep(type_.dtype)
    incref(f, descriptor)  # stolen
    zero = integer("i32", 0)
    count = integer("i32", len(shape))
    return f.call_external("ptr", "PyArray_Empty", (count, dims, descriptor, zero))
