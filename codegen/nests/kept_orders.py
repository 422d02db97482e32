"""Fresh arrays that lie in neither C nor Fortran order, as what is computed of `a.transpose(1, 2, 0)`.

They are made in C order first. Then a function that all units share finds the order of NumPy's iterator, and gives the
array the strides of that.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from ljit.codegen.layouts.layout import (
    ARRAY_DIMENSIONS,
    ARRAY_NDIM,
    ARRAY_STRIDES,
    FLAG_C_CONTIGUOUS,
    FLAG_F_CONTIGUOUS,
)
from ljit.codegen.llvm.builder import FALSE, ModuleBuilder, integer
from ljit.codegen.llvm.forms import Native, array_parts, array_value
from ljit.codegen.llvm.loop_texts import loop_text
from ljit.codegen.llvm.shared_code import PACKING, shared_function
from ljit.codegen.nests.memory_order import MemoryOrder
from ljit.types import ArrayType

if TYPE_CHECKING:
    from ljit.codegen.emitter import Emitter

__all__ = ["kept_order"]

_MOST = 64  # axes of an array
_NAME = f"{PACKING}order"


def kept_order(e: Emitter, made: Native, order: MemoryOrder) -> Native:
    """Let an array that was just made lie in an order of its own, if it shall."""
    if order.is_mixed is FALSE:
        return made
    f, parts = e.f, array_parts(made)
    assert isinstance(made.type, ArrayType)
    assert parts.strides is not None
    first_known = made.type.ndim - order.is_last_known
    mixed, done = f.new_block("mixed"), f.new_block("ordered")
    is_asked = order.is_mixed.constant is None  # it is not where all strides are known
    before = f.block if is_asked else None
    f.condbr(order.is_mixed, mixed, done)
    f.start(mixed)
    steps = e.stack_array("i64", len(order.steps) * made.type.ndim)
    for i, step in enumerate(x for own in order.steps for x in own):
        f.store(step, f.gep("i64", steps, i))
    function = shared_function(_NAME, _write)
    operands, size = integer("i64", len(order.steps)), integer("i64", made.type.dtype.itemsize)
    f.call("void", function, [parts.object, steps, operands, size], "nounwind")
    own = f.load("ptr", f.gep("i8", parts.object, ARRAY_STRIDES))
    found = [f.load("i64", f.gep("i64", own, axis)) for axis in range(first_known)]
    f.br(done)
    f.start(done)
    chosen = [f.phi("i64") for _ in found]
    for phi, near, far in zip(chosen, parts.strides, found, strict=False):
        phi.add(near, before)
        phi.add(far, mixed)
    strides = (*chosen, *parts.strides[first_known:])
    return array_value(made.type, parts.with_changes(strides=strides))


# How two axes step along one operand.
_COMPARED = """  %own.at = getelementptr i64, ptr %steps.of, i64 %axis
  %own = load i64, ptr %own.at
  %its.at = getelementptr i64, ptr %steps.of, i64 %inner
  %its = load i64, ptr %its.at
  %has.own = icmp ne i64 %own, 0
  %has.its = icmp ne i64 %its, 0
  %both = and i1 %has.own, %has.its
  %is.longer = icmp sle i64 %its, %own
  %stays = and i1 %both, %is.longer
  %known.next = or i1 %known, %both
  %fixed.next = or i1 %fixed, %stays
"""
# Where an axis goes among those that have been put into order.
_PLACED = """  %axis = sub i64 %last, %i
  br label %look
look:
  %k = phi i64 [ %i, %i.body ], [ %before, %passed ]
  %at = phi i64 [ %i, %i.body ], [ %at.next, %passed ]
  %is.first = icmp eq i64 %k, 0
  br i1 %is.first, label %found, label %compare
compare:
  %before = sub i64 %k, 1
  %inner.at = getelementptr i64, ptr %order, i64 %before
  %inner = load i64, ptr %inner.at
{looked}  br i1 %fixed, label %found, label %passed
passed:
  %at.next = select i1 %known, i64 %before, i64 %at
  br label %look
found:
  %from = getelementptr i64, ptr %order, i64 %at
  %to = getelementptr i64, ptr %from, i64 1
  %count = sub i64 %i, %at
  %bytes = shl i64 %count, 3
  call void @llvm.memmove.p0.p0.i64(ptr %to, ptr %from, i64 %bytes, i1 false)
  store i64 %axis, ptr %from
"""
# The stride of the next axis.
_STEPPED = """  %next.at = getelementptr i64, ptr %order, i64 %n
  %next.axis = load i64, ptr %next.at
  %stride.at = getelementptr i64, ptr %strides, i64 %next.axis
  store i64 %stride, ptr %stride.at
  %size.at = getelementptr i64, ptr %sizes, i64 %next.axis
  %its.size = load i64, ptr %size.at
  %stride.next = mul i64 %stride, %its.size
"""


def _write(module: ModuleBuilder) -> None:
    """Put the axes into order, the last one first, and give the array the strides of that.

    As NumPy does it: an axis goes inside of another one if its steps are the shorter ones in all operands that step
    along both; one of which no operand can tell is passed over.
    """
    looked = loop_text(
        "operand",
        "%operands",
        _COMPARED,
        walks={"steps.of": ("%steps", "%row")},
        sums={"known": ("i1", "false"), "fixed": ("i1", "false")},
    )
    axes = loop_text("i", "%rank", _PLACED.format(looked=looked))
    steps = loop_text("n", "%rank", _STEPPED, sums={"stride": ("i64", "%size")})
    module.declare("PyArray_UpdateFlags", "void", ("ptr", "i32"))
    module.declare("llvm.memmove.p0.p0.i64", "void", ("ptr", "ptr", "i64", "i1"))
    module.define(
        _NAME,
        f"""define void @{_NAME}(ptr %array, ptr %steps, i64 %operands, i64 %size) nounwind {{
  %order = alloca i64, i64 {_MOST}
  %rank.at = getelementptr i8, ptr %array, i64 {ARRAY_NDIM}
  %rank.32 = load i32, ptr %rank.at
  %rank = zext i32 %rank.32 to i64
  %last = sub i64 %rank, 1
  %row = shl i64 %rank, 3
  %sizes.at = getelementptr i8, ptr %array, i64 {ARRAY_DIMENSIONS}
  %sizes = load ptr, ptr %sizes.at
  %strides.at = getelementptr i8, ptr %array, i64 {ARRAY_STRIDES}
  %strides = load ptr, ptr %strides.at
{axes}{steps}  call void @PyArray_UpdateFlags(ptr %array, i32 {FLAG_C_CONTIGUOUS | FLAG_F_CONTIGUOUS})
  ret void
}}""",
    )
