"""Rows of elements by elementary functions: loops that take what NumPy's inner ones do, compiled once in the process.

They go through four registers of elements at a time, whose instructions take turns: a processor that looks ahead over a
hundred of them waits for results otherwise. That is more than fit into registers, and what lies in the frame meanwhile
must not have the lowest twelve bits of its address in common with the constants that are read next: the processor takes
one for the other then (4K aliasing), and the loop takes twice as long. Constants begin at a page's start, so the buffer
of the frame does, too, and all else of the frame lies in front of that.
"""

from __future__ import annotations

from functools import cache

from ljit.codegen.llvm.builder import ModuleBuilder
from ljit.codegen.llvm.engine import CompiledModule, Passes, compile_ir, vector_bytes
from ljit.codegen.llvm.shared_code import ELEMENTARY, PAGE
from ljit.codegen.mathlib.shared import PURE, shared_symbols
from ljit.codegen.mathlib.terms import vector_of

__all__ = ["row_function"]

_REGISTERS = 4  # in a trip


def row_function(name: str, type_: str) -> int:
    """The address of the loop of a function of one operand, for ``double`` or ``float``."""
    return _compiled(name, type_).address


@cache
def _compiled(name: str, type_: str) -> CompiledModule:
    size = 8 if type_ == "double" else 4
    few = vector_bytes() // size
    many = few * _REGISTERS
    module = ModuleBuilder("row")
    calls = []
    for lanes in (few, many):
        vector = vector_of(type_, lanes)
        called = module.declare(f"{ELEMENTARY}{name}.{type_}.x{lanes}", vector, [vector], PURE)
        calls.append(f"call {vector} @{called}({vector}")
    text = _ROW.format(
        type=type_, size=size, few=few, many=many, page=PAGE, call_few=calls[0], call_many=calls[1]
    )
    return compile_ir(
        module.render() + text, "row", find=shared_symbols, passes=Passes(straight=True)
    )


# The last elements, and all that do not lie side by side, go through a buffer.
_ROW = """
define void @row(ptr %operands, ptr %sizes, ptr %strides, ptr %data) {{
entry:
  %buffer = alloca <{few} x {type}>, align {page}
  store <{few} x {type}> splat ({type} 1.0), ptr %buffer
  %count = load i64, ptr %sizes
  %from = load ptr, ptr %operands
  %to.place = getelementptr ptr, ptr %operands, i64 1
  %to = load ptr, ptr %to.place
  %from.step = load i64, ptr %strides
  %to.step.place = getelementptr i64, ptr %strides, i64 1
  %to.step = load i64, ptr %to.step.place
  %from.unit = icmp eq i64 %from.step, {size}
  %to.unit = icmp eq i64 %to.step, {size}
  %unit = and i1 %from.unit, %to.unit
  %multiple = and i64 %count, -{many}
  %whole = select i1 %unit, i64 %multiple, i64 0
  %some = icmp sgt i64 %whole, 0
  br i1 %some, label %many, label %rest
many:
  %k = phi i64 [ 0, %entry ], [ %next, %many ]
  %many.from = getelementptr {type}, ptr %from, i64 %k
  %many.x = load <{many} x {type}>, ptr %many.from, align {size}
  %many.y = {call_many} %many.x)
  %many.to = getelementptr {type}, ptr %to, i64 %k
  store <{many} x {type}> %many.y, ptr %many.to, align {size}
  %next = add i64 %k, {many}
  %more = icmp slt i64 %next, %whole
  br i1 %more, label %many, label %rest
rest:
  %r = phi i64 [ %whole, %entry ], [ %whole, %many ], [ %rest.next, %put ]
  %left = sub i64 %count, %r
  %any = icmp sgt i64 %left, 0
  br i1 %any, label %few, label %done
few:
  %is.short = icmp slt i64 %left, {few}
  %is.long = xor i1 %is.short, true
  %is.direct = and i1 %unit, %is.long
  br i1 %is.direct, label %direct, label %packed
direct:
  %direct.from = getelementptr {type}, ptr %from, i64 %r
  %direct.x = load <{few} x {type}>, ptr %direct.from, align {size}
  %direct.y = {call_few} %direct.x)
  %direct.to = getelementptr {type}, ptr %to, i64 %r
  store <{few} x {type}> %direct.y, ptr %direct.to, align {size}
  br label %put
packed:
  %elements = select i1 %is.short, i64 %left, i64 {few}
  br label %take
take:
  %i = phi i64 [ 0, %packed ], [ %i.next, %take ]
  %i.at = add i64 %r, %i
  %i.offset = mul i64 %i.at, %from.step
  %i.from = getelementptr i8, ptr %from, i64 %i.offset
  %i.x = load {type}, ptr %i.from
  %i.place = getelementptr {type}, ptr %buffer, i64 %i
  store {type} %i.x, ptr %i.place
  %i.next = add i64 %i, 1
  %i.more = icmp slt i64 %i.next, %elements
  br i1 %i.more, label %take, label %compute
compute:
  %x = load <{few} x {type}>, ptr %buffer
  %y = {call_few} %x)
  store <{few} x {type}> %y, ptr %buffer
  br label %give
give:
  %j = phi i64 [ 0, %compute ], [ %j.next, %give ]
  %j.at = add i64 %r, %j
  %j.offset = mul i64 %j.at, %to.step
  %j.to = getelementptr i8, ptr %to, i64 %j.offset
  %j.place = getelementptr {type}, ptr %buffer, i64 %j
  %j.y = load {type}, ptr %j.place
  store {type} %j.y, ptr %j.to
  %j.next = add i64 %j, 1
  %j.more = icmp slt i64 %j.next, %elements
  br i1 %j.more, label %give, label %put
put:
  %rest.next = add i64 %r, {few}
  br label %rest
done:
  ret void
}}
"""
