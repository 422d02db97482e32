"""The elements that would stand at a place, and behind it, if columns of a few rows were sorted: medians of planes.

A function that units share. Some columns lie side by side in a buffer; rows of them are exchanged element by element
where they are in the wrong order, by vector operations, in the order of Batcher's merge exchange (Knuth's Algorithm
5.2.2 M), which is the same for all columns and asks nothing about their elements.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from ljit.codegen.llvm.builder import ModuleBuilder
from ljit.codegen.llvm.forms import Native, array_parts, memory_type
from ljit.codegen.llvm.shared_code import shared_function
from ljit.ir.emitter import MOST_SORTED, SORTED_BYTES
from ljit.types import ArrayType

if TYPE_CHECKING:
    from ljit.codegen.emitter import Emitter

__all__ = ["array_orders"]

_SHAPE = "i64 %planes, i64 %lines, i64 %width, i64 %plane.step, i64 %line.step, i64 %step"


def array_orders(e: Emitter, a: Native, place: Native, into: Native) -> None:
    """Both elements of each column, in the two rows of `into`; they are NaN if one element is."""
    assert isinstance(a.type, ArrayType)
    dtype, f = a.type.dtype, e.f
    name = f"orders.{dtype.kind}{dtype.itemsize}"
    function = shared_function(name, lambda module: _write(module, name, dtype), straight=True)
    parts = array_parts(a)
    shape = (*parts.sizes, *(parts.strides or ()))
    operands = (parts.data, *shape, place.ref, array_parts(into).data)
    f.call("void", function, operands, "nounwind")


def _write(module: ModuleBuilder, name: str, dtype: np.dtype) -> None:
    item, many = memory_type(dtype), SORTED_BYTES // dtype.itemsize
    is_float = dtype.kind == "f"
    row, flags = f"<{many} x {item}>", f"<{many} x i{8 * dtype.itemsize}>"
    is_less = "fcmp olt" if is_float else f"icmp {'s' if dtype.kind == 'i' else 'u'}lt"
    module.define(
        name,
        "\n\n".join(
            [
                _copy(f"{name}.copy", item, row, dtype.itemsize),
                _sort(f"{name}.sort", row, is_less),
                _nans(f"{name}.nans", row, flags) if is_float else "",
                _whole(name, row, flags, dtype.itemsize, is_float=is_float),
            ]
        ),
    )


def _whole(name: str, row: str, flags: str, align: int, *, is_float: bool) -> str:
    find, known = "", ("%first", "%second")
    if is_float:
        find = f"  %flags = call {flags} @{name}.nans(ptr %buffer, i64 %rows)\n"
        known = ("%first.known", "%second.known")
    return f"""define void @{name}(ptr %source, {_SHAPE}, i64 %place, ptr %into) nounwind {{
  %buffer = alloca [{MOST_SORTED} x {row}], align 64
  %rows = mul i64 %planes, %lines
  call void @{name}.copy(ptr %source, {_SHAPE}, ptr %buffer)
{find}  call void @{name}.sort(ptr %buffer, i64 %rows)
  %behind = add i64 %place, 1
  %last = sub i64 %rows, 1
  %is.in = icmp slt i64 %place, %last
  %second.place = select i1 %is.in, i64 %behind, i64 %last
  %first.at = getelementptr {row}, ptr %buffer, i64 %place
  %second.at = getelementptr {row}, ptr %buffer, i64 %second.place
  %first = load {row}, ptr %first.at, align 64
  %second = load {row}, ptr %second.at, align 64
{_marked(row, flags) if is_float else ""}  store {row} {known[0]}, ptr %into, align {align}
  %into.second = getelementptr {row}, ptr %into, i64 1
  store {row} {known[1]}, ptr %into.second, align {align}
  ret void
}}"""


def _marked(row: str, flags: str) -> str:
    """Both are NaN where the column had one."""
    many, item = row[1:-1].split(" x ")
    lines = [f"  %has.nan = icmp ne {flags} %flags, zeroinitializer"]
    lines += [
        f"  %{x}.known = select <{many} x i1> %has.nan,"
        f" {row} splat ({item} 0x7FF8000000000000), {row} %{x}"
        for x in ("first", "second")
    ]
    return "\n".join(lines) + "\n"


def _copy(name: str, item: str, row: str, align: int) -> str:
    """Put rows into the buffer: whole ones without gaps at once."""
    many = row.split()[0][1:]
    return f"""define internal void @{name}(ptr %source, {_SHAPE}, ptr %buffer) nounwind {{
entry:
  %is.near = icmp eq i64 %step, {align}
  %is.whole = icmp eq i64 %width, {many}
  %at.once = and i1 %is.near, %is.whole
  br label %plane
plane:
  %i = phi i64 [ 0, %entry ], [ %i.next, %plane.done ]
  %plane.into = phi ptr [ %buffer, %entry ], [ %line.into.next, %plane.done ]
  %plane.offset = mul i64 %i, %plane.step
  %plane.from = getelementptr i8, ptr %source, i64 %plane.offset
  br label %line
line:
  %j = phi i64 [ 0, %plane ], [ %j.next, %line.done ]
  %line.from = phi ptr [ %plane.from, %plane ], [ %line.from.next, %line.done ]
  %line.into = phi ptr [ %plane.into, %plane ], [ %line.into.next, %line.done ]
  br i1 %at.once, label %whole, label %element
whole:
  %x = load {row}, ptr %line.from, align {align}
  store {row} %x, ptr %line.into, align 64
  br label %line.done
element:
  %k = phi i64 [ 0, %line ], [ %k.next, %element ]
  %from = phi ptr [ %line.from, %line ], [ %from.next, %element ]
  %into = getelementptr {item}, ptr %line.into, i64 %k
  %y = load {item}, ptr %from, align {align}
  store {item} %y, ptr %into, align {align}
  %from.next = getelementptr i8, ptr %from, i64 %step
  %k.next = add i64 %k, 1
  %k.more = icmp slt i64 %k.next, %width
  br i1 %k.more, label %element, label %line.done
line.done:
  %line.from.next = getelementptr i8, ptr %line.from, i64 %line.step
  %line.into.next = getelementptr {row}, ptr %line.into, i64 1
  %j.next = add i64 %j, 1
  %j.more = icmp slt i64 %j.next, %lines
  br i1 %j.more, label %line, label %plane.done
plane.done:
  %i.next = add i64 %i, 1
  %i.more = icmp slt i64 %i.next, %planes
  br i1 %i.more, label %plane, label %done
done:
  ret void
}}"""


def _nans(name: str, row: str, flags: str) -> str:
    """Numbers that are not 0 in columns with a NaN."""
    many = row.split()[0][1:]
    return f"""define internal {flags} @{name}(ptr %buffer, i64 %rows) nounwind {{
entry:
  br label %row
row:
  %k = phi i64 [ 0, %entry ], [ %k.next, %row ]
  %found = phi {flags} [ zeroinitializer, %entry ], [ %found.next, %row ]
  %at = getelementptr {row}, ptr %buffer, i64 %k
  %x = load {row}, ptr %at, align 64
  %is.nan = fcmp uno {row} %x, %x
  %wide = sext <{many} x i1> %is.nan to {flags}
  %found.next = or {flags} %found, %wide
  %k.next = add i64 %k, 1
  %more = icmp slt i64 %k.next, %rows
  br i1 %more, label %row, label %done
done:
  ret {flags} %found.next
}}"""


def _sort(name: str, row: str, is_less: str) -> str:
    """Sort the columns: passes over pairs at distances that halve, as Knuth names them `p`, `q`, `r` and `d`."""
    many = row.split()[0][1:]
    return f"""define internal void @{name}(ptr %buffer, i64 %rows) nounwind {{
entry:
  %last = sub i64 %rows, 1
  %zeros = call i64 @llvm.ctlz.i64(i64 %last, i1 false)
  %bits = sub i64 64, %zeros
  %top.double = shl i64 1, %bits
  %top = lshr i64 %top.double, 1
  %is.one = icmp eq i64 %last, 0
  br i1 %is.one, label %done, label %stage
stage:
  %p = phi i64 [ %top, %entry ], [ %p.next, %stage.done ]
  br label %pass
pass:
  %q = phi i64 [ %top, %stage ], [ %q.next, %pass.next ]
  %r = phi i64 [ 0, %stage ], [ %p, %pass.next ]
  %d = phi i64 [ %p, %stage ], [ %d.next, %pass.next ]
  %end = sub i64 %rows, %d
  br label %pair
pair:
  %i = phi i64 [ 0, %pass ], [ %i.next, %pair.done ]
  %bit = and i64 %i, %p
  %is.pair = icmp eq i64 %bit, %r
  %is.in = icmp slt i64 %i, %end
  %are.exchanged = and i1 %is.pair, %is.in
  br i1 %are.exchanged, label %exchange, label %pair.done
exchange:
  %j = add i64 %i, %d
  %x.at = getelementptr {row}, ptr %buffer, i64 %i
  %y.at = getelementptr {row}, ptr %buffer, i64 %j
  %x = load {row}, ptr %x.at, align 64
  %y = load {row}, ptr %y.at, align 64
  %is.less = {is_less} {row} %y, %x
  %low = select <{many} x i1> %is.less, {row} %y, {row} %x
  %high = select <{many} x i1> %is.less, {row} %x, {row} %y
  store {row} %low, ptr %x.at, align 64
  store {row} %high, ptr %y.at, align 64
  br label %pair.done
pair.done:
  %i.next = add i64 %i, 1
  %more = icmp slt i64 %i.next, %end
  br i1 %more, label %pair, label %pass.done
pass.done:
  %is.end = icmp eq i64 %q, %p
  br i1 %is.end, label %stage.done, label %pass.next
pass.next:
  %d.next = sub i64 %q, %p
  %q.next = lshr i64 %q, 1
  br label %pass
stage.done:
  %p.next = lshr i64 %p, 1
  %is.last = icmp eq i64 %p.next, 0
  br i1 %is.last, label %done, label %stage
done:
  ret void
}}"""
