"""Arrays that are made again and again in a loop: the one of the last trip is taken once more, if nobody else has it.

The slot that holds it has the only reference then: what outlives a trip has references of its own. It must still be
as it was made: code that had a reference for a while may have changed it. To the program it is a new array.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from ljit.codegen.array_compare import COMPARE
from ljit.codegen.blocks import array_maker, array_taker
from ljit.codegen.builder import FALSE, TRUE, FunctionBuilder, Ref, integer
from ljit.codegen.layout import ARRAY_DATA

if TYPE_CHECKING:
    from ljit.codegen.emitter import Emitter

__all__ = ["made_array", "renewed_array", "taken_array"]

_NAME = "renew_array"


def renewed_array(
    e: Emitter, sizes: Sequence[Ref], dims: Ref, descriptor: Ref, itemsize: int, *, is_zero: bool
) -> Ref:
    """Give a C-contiguous array in a slot of its own: null if there is no memory."""
    _define(e.f)
    total = _bytes(e.f, sizes, itemsize)
    slot, count = e.ownership.new_slot(), integer("i32", len(sizes))
    return e.f.call(
        "ptr", _NAME, (slot, count, dims, descriptor, total, TRUE if is_zero else FALSE)
    )


def made_array(
    e: Emitter,
    sizes: Sequence[Ref],
    dims: Ref,
    descriptor: Ref,
    itemsize: int,
    is_fortran: Ref,
    *,
    is_zero: bool,
) -> Ref:
    """Give a new reference to a fresh array: null if there is no memory."""
    f = e.f
    fortran, count = f.convert("zext", is_fortran, "i32"), integer("i32", len(sizes))
    total, zero = _bytes(f, sizes, itemsize), TRUE if is_zero else FALSE
    args = (count, dims, descriptor, total, fortran, zero)
    return f.call("ptr", array_maker().text, args)


def taken_array(
    e: Emitter, slot: Ref, sizes: Sequence[Ref], dims: Ref, descriptor: Ref, itemsize: int
) -> Ref:
    """Give a reference to a C-contiguous array: the one in the slot, taken out of it, if it is alike, else a fresh one.

    Null: there is no memory.
    """
    total = _bytes(e.f, sizes, itemsize)
    args = (slot, integer("i32", len(sizes)), dims, descriptor, total)
    return e.f.call("ptr", array_taker().text, args)


def _bytes(f: FunctionBuilder, sizes: Sequence[Ref], itemsize: int) -> Ref:
    """The array's bytes, wrapped if they are too many: NumPy refuses its sizes then."""
    total = integer("i64", itemsize)
    for size in sizes:
        total = f.binary("mul", total, size)
    return total


def _define(f: FunctionBuilder) -> None:
    module = f.module
    module.declare("Py_DecRef", "void", ("ptr",))
    module.declare("llvm.memset.p0.i64", "void", ("ptr", "i8", "i64", "i1"))
    module.define(_NAME, _source())


def _source() -> str:
    params = "ptr %slot, i32 %ndim, ptr %dims, ptr %descriptor, i64 %bytes, i1 %zero"
    return f"""define internal ptr @{_NAME}({params}) noinline nounwind {{
  %old = load ptr, ptr %slot
  %none = icmp eq ptr %old, null
  br i1 %none, label %make, label %compare
{COMPARE}reuse:
  br i1 %zero, label %clear, label %done
clear:
  %data.at = getelementptr i8, ptr %old, i64 {ARRAY_DATA}
  %data = load ptr, ptr %data.at
  call void @llvm.memset.p0.i64(ptr %data, i8 0, i64 %bytes, i1 false)
  ret ptr %old
done:
  ret ptr %old
make:
  %new = call ptr {array_maker()}(i32 %ndim, ptr %dims, ptr %descriptor, i64 %bytes, i32 0, i1 %zero)
  %failed = icmp eq ptr %new, null
  br i1 %failed, label %end, label %keep
keep:
  store ptr %new, ptr %slot
  call void @Py_DecRef(ptr %old)
  br label %end
end:
  ret ptr %new
}}"""
