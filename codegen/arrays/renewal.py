"""Arrays that are made again and again in a loop: the one of the last trip is taken once more, if nobody else has it.

The slot that holds it has the only reference then: what outlives a trip has references of its own. Only what the loop
carries to the place where it is used up (``y = y + h[k] * x[k : k + n]``) has one more. It must still be as it was
made: code that had a reference for a while may have changed it. To the program it is a new array.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from ljit.codegen.arrays.blocks import array_maker, array_renewer, array_taker
from ljit.codegen.llvm.builder import FALSE, TRUE, FunctionBuilder, Ref, integer

if TYPE_CHECKING:
    from ljit.codegen.emitter import Emitter

__all__ = ["made_array", "renewed_array", "taken_array"]


def renewed_array(
    e: Emitter,
    sizes: Sequence[Ref],
    dims: Ref,
    descriptor: Ref,
    itemsize: int,
    is_fortran: Ref,
    *,
    is_zero: bool,
    spent: Ref,
) -> Ref:
    """Give an array in a slot of its own: null if there is no memory.

    That may be `spent`, which the loop has carried here from the slot: to be written over.
    """
    f, total = e.f, _bytes(e.f, sizes, itemsize)
    slot, count = e.ownership.new_slot(), integer("i32", len(sizes))
    fortran, zero = f.convert("zext", is_fortran, "i32"), TRUE if is_zero else FALSE
    args = (slot, count, dims, descriptor, total, fortran, zero, spent)
    return f.call("ptr", array_renewer().text, args)


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
    e: Emitter,
    slot: Ref,
    sizes: Sequence[Ref],
    dims: Ref,
    descriptor: Ref,
    itemsize: int,
    is_fortran: Ref,
) -> Ref:
    """Give a reference to an array: the one in the slot, taken out of it, if it is alike, else a fresh one.

    Null: there is no memory.
    """
    total = _bytes(e.f, sizes, itemsize)
    fortran = e.f.convert("zext", is_fortran, "i32")
    args = (slot, integer("i32", len(sizes)), dims, descriptor, total, fortran)
    return e.f.call("ptr", array_taker().text, args)


def _bytes(f: FunctionBuilder, sizes: Sequence[Ref], itemsize: int) -> Ref:
    """The array's bytes, wrapped if they are too many: NumPy refuses its sizes then."""
    total = integer("i64", itemsize)
    for size in sizes:
        total = f.binary("mul", total, size)
    return total
