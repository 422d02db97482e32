"""Whether arrays of ints name places that there are: looked at with vectors."""

from __future__ import annotations

import numpy as np

from ljit.codegen.llvm.builder import ModuleBuilder
from ljit.codegen.llvm.shared_code import shared_function

__all__ = ["LANES", "OPERANDS", "as_i64", "check_function", "look_at_block"]

LANES = 16  # indices that are looked at together
OPERANDS = "ptr %data, i64 %size, i64 %stride, ptr %index, i64 %count, i64 %step, ptr %into"


def check_function(index: np.dtype) -> str:
    """The function that looks at all indices."""
    name = f"are.inside.{index.kind}{index.itemsize}"

    def write(module: ModuleBuilder) -> None:
        module.declare(f"llvm.vector.reduce.or.v{LANES}i64", "i64", [f"<{LANES} x i64>"])
        module.define(name, _check_text(name, index))

    return shared_function(name, write)


def _check_text(name: str, index: np.dtype) -> str:
    """Look at all indices: one that is outside makes the sign bit of `index + size` or of `size - 1 - index` 1."""
    word = f"i{8 * index.itemsize}"

    def look(loop: str, type_: str, many: str) -> str:
        lanes, zero = type_.replace("i64", "{}"), "zeroinitializer" if many else "0"
        return f"""  %{loop}.index = load {lanes.format(word)}, ptr %{loop}.at, align 1
  %{loop}.given = {as_i64(index, f"%{loop}.index", lanes, zero)}
  %{loop}.below = add {type_} %{loop}.given, %size{many}
  %{loop}.above = sub {type_} %last{many}, %{loop}.given
  %{loop}.either = or {type_} %{loop}.below, %{loop}.above
  %{loop}.next = or {type_} %{loop}.sum, %{loop}.either"""

    many = f"<{LANES} x i64>"
    spread = "".join(
        f"""
  %{x}.one = insertelement {many} poison, i64 %{x}, i64 0
  %{x}.many = shufflevector {many} %{x}.one, {many} poison, <{LANES} x i32> zeroinitializer"""
        for x in ("size", "last")
    )
    return f"""define i1 @{name}({OPERANDS}) nounwind willreturn {{
entry:
  %last = sub i64 %size, 1{spread}
  %is.plain = icmp eq i64 %step, {index.itemsize}
  %whole = and i64 %count, {-LANES}
  %first = select i1 %is.plain, i64 %whole, i64 0
  br label %vectors
vectors:
  %v = phi i64 [ 0, %entry ], [ %v.next, %vector ]
  %vector.sum = phi {many} [ zeroinitializer, %entry ], [ %vector.next, %vector ]
  %v.in = icmp slt i64 %v, %first
  br i1 %v.in, label %vector, label %added
vector:
  %v.next = add nuw nsw i64 %v, {LANES}
  %vector.at = getelementptr {word}, ptr %index, i64 %v
{look("vector", many, ".many")}
  br label %vectors
added:
  %start = call i64 @llvm.vector.reduce.or.v{LANES}i64({many} %vector.sum)
  br label %rest
rest:
  %k = phi i64 [ %first, %added ], [ %k.next, %one ]
  %one.sum = phi i64 [ %start, %added ], [ %one.next, %one ]
  %k.in = icmp slt i64 %k, %count
  br i1 %k.in, label %one, label %looked
one:
  %k.next = add nuw nsw i64 %k, 1
  %offset = mul i64 %k, %step
  %one.at = getelementptr i8, ptr %index, i64 %offset
{look("one", "i64", "")}
  br label %rest
looked:
  %are.inside = icmp sge i64 %one.sum, 0
  ret i1 %are.inside
}}"""


def look_at_block(index: np.dtype) -> str:
    """Whether each index of a block counts from the start and is inside: signs of all, and of what is left above."""
    word, many = f"i{8 * index.itemsize}", f"<{LANES} x i64>"
    return f"""look:
  %v = phi i64 [ 0, %block ], [ %v.next, %look ]
  %v.sum = phi {many} [ zeroinitializer, %block ], [ %v.sum.next, %look ]
  %v.at = getelementptr {word}, ptr %b.index, i64 %v
  %v.index = load <{LANES} x {word}>, ptr %v.at, align 1
  %v.given = {as_i64(index, "%v.index", f"<{LANES} x {{}}>", "zeroinitializer")}
  %v.above = sub {many} %last.many, %v.given
  %v.either = or {many} %v.given, %v.above
  %v.sum.next = or {many} %v.sum, %v.either
  %v.next = add nuw nsw i64 %v, {LANES}
  %v.more = icmp slt i64 %v.next, %b.count
  br i1 %v.more, label %look, label %looked
looked:
  %either = call i64 @llvm.vector.reduce.or.v{LANES}i64({many} %v.sum.next)
  %is.simple = icmp sge i64 %either, 0
  br i1 %is.simple, label %move, label %careful"""


def as_i64(index: np.dtype, value: str, lanes: str, zero: str) -> str:
    """An index as i64, or a vector of them: what stands right of the name."""
    word = f"i{8 * index.itemsize}"
    if word == "i64":
        return f"or {lanes.format('i64')} {value}, {zero}"
    extension = "sext" if index.kind == "i" else "zext"
    return f"{extension} {lanes.format(word)} {value} to {lanes.format('i64')}"
