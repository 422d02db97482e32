"""The element that a sorted vector would have at a place, and the one behind it: medians and quantiles.

A function that units share. The place is narrowed down by pivots, elements of a sample that stand where the wanted one
should: each pass puts lower elements at one end of a buffer and the others at its other end, without a branch on what
it compares. The vector stays as it is.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from ljit.codegen.arrays.arrays import load_element
from ljit.codegen.lists.list_sorts import insertion_text
from ljit.codegen.llvm.builder import ModuleBuilder
from ljit.codegen.llvm.forms import Native, array_parts, memory_type
from ljit.codegen.llvm.shared_code import shared_function
from ljit.types import BOOL, ArrayType, ScalarType

if TYPE_CHECKING:
    from ljit.codegen.emitter import Emitter

__all__ = ["array_order"]

_FEW = 32  # elements that are sorted
_SAMPLE, _LARGE_SAMPLE, _LARGE = 15, 63, 4096  # the second one of so many elements and more
_PASSES = 64  # with more of them the vector is gone through too often


def array_order(e: Emitter, a: Native, place: Native, scratch: Native) -> tuple[Native, Native]:
    """Both elements; the second one is the first where nothing is behind it. Both are NaN if one element is.

    Vectors in C order; `scratch` is twice as long. Native code is left where pivots do not help.
    """
    assert isinstance(a.type, ArrayType)
    dtype, f = a.type.dtype, e.f
    name = f"order.{dtype.kind}{dtype.itemsize}"
    function = shared_function(name, lambda module: _write(module, name, dtype), straight=True)
    parts, into = array_parts(a), e.stack_array(memory_type(dtype), 2)
    operands = (parts.data, parts.sizes[0], place.ref, array_parts(scratch).data, into)
    is_found = Native(BOOL, (f.call("i1", function, operands, "nounwind"),))
    e.bail_if(e.bit_not(is_found), "elements that pivots do not tell apart")
    behind = f.gep(memory_type(dtype), into, 1)
    first, second = (load_element(f, x, dtype, ScalarType(dtype)) for x in (into, behind))
    return first, second


def _write(module: ModuleBuilder, name: str, dtype: np.dtype) -> None:
    item, is_float = memory_type(dtype), dtype.kind == "f"
    is_below = "fcmp olt" if is_float else f"icmp {'s' if dtype.kind == 'i' else 'u'}lt"
    lower, not_higher = f"{is_below} {item} %x, %pivot", f"{is_below} {item} %pivot, %x"
    parts = [
        _whole(name, item, is_float=is_float),
        _pivot(name, item),
        _split(f"{name}.lower", item, f"  %goes = {lower}"),
        _split(
            f"{name}.same", item, f"  %is.higher = {not_higher}\n  %goes = xor i1 %is.higher, true"
        ),
        insertion_text(f"{name}.sort", item, is_below),
        _least(name, item, is_below),
    ]
    if is_float:
        parts.append(_has_nan(name, item))
    module.define(name, "\n\n".join(parts))


def _whole(name: str, item: str, *, is_float: bool) -> str:
    """The passes: `free` is the buffer that the next one writes, `other` the one after that.

    `ceiling` is the least of the elements that the passes put aside as higher, or equal.
    """
    zero = "0.0" if is_float else "0"
    return f"""define i1 @{name}(ptr %source, i64 %size, i64 %wanted, ptr %scratch, ptr %into) nounwind {{
entry:
  %half = getelementptr {item}, ptr %scratch, i64 %size
  %into.behind = getelementptr {item}, ptr %into, i64 1
{_start(name, item) if is_float else "  br label %range"}
range:
  %from = phi ptr [ %source, %entry ], [ %free, %below ], [ %from.above, %above ]
  %count = phi i64 [ %size, %entry ], [ %lower, %below ], [ %count.above, %above ]
  %place = phi i64 [ %wanted, %entry ], [ %place, %below ], [ %place.above, %above ]
  %free = phi ptr [ %scratch, %entry ], [ %other, %below ], [ %other, %above ]
  %other = phi ptr [ %half, %entry ], [ %free, %below ], [ %free, %above ]
  %ceiling = phi {item} [ {zero}, %entry ], [ %pivot, %below ], [ %ceiling, %above ]
  %has.ceiling = phi i1 [ false, %entry ], [ true, %below ], [ %has.ceiling, %above ]
  %pass = phi i64 [ 0, %entry ], [ %pass.next, %below ], [ %pass.next, %above ]
  %pass.next = add i64 %pass, 1
  %are.few = icmp sle i64 %count, {_FEW}
  br i1 %are.few, label %few, label %many
many:
  %is.late = icmp sgt i64 %pass, {_PASSES}
  br i1 %is.late, label %late, label %divide
late:
  ret i1 false
divide:
  %pivot = call {item} @{name}.pivot(ptr %from, i64 %count, i64 %place)
  %lower = call i64 @{name}.lower(ptr %from, i64 %count, {item} %pivot, ptr %free)
  %is.below = icmp slt i64 %place, %lower
  br i1 %is.below, label %below, label %not.below
below:
  br label %range
not.below:
  %are.divided = icmp sgt i64 %lower, 0
  br i1 %are.divided, label %above, label %equal
equal:
  %same = call i64 @{name}.same(ptr %from, i64 %count, {item} %pivot, ptr %free)
  %is.pivot = icmp slt i64 %place, %same
  br i1 %is.pivot, label %at.pivot, label %above
above:
  %passed = phi i64 [ %lower, %not.below ], [ %same, %equal ]
  %from.above = getelementptr {item}, ptr %free, i64 %passed
  %count.above = sub i64 %count, %passed
  %place.above = sub i64 %place, %passed
  br label %range
{_last(name, item)}found:
  %first = phi {item} [ %pivot, %at.pivot ], [ %element, %look ], [ %element, %end ]
  %second = phi {item} [ %pivot, %at.pivot ], [ %least, %look ], [ %top, %end ]
  store {item} %first, ptr %into
  store {item} %second, ptr %into.behind
  ret i1 true
}}"""


def _start(name: str, item: str) -> str:
    """Both elements are NaN if one element is."""
    return f"""  %is.nan = call i1 @{name}.nan(ptr %source, i64 %size)
  br i1 %is.nan, label %nan, label %range
nan:
  store {item} 0x7FF8000000000000, ptr %into
  store {item} 0x7FF8000000000000, ptr %into.behind
  ret i1 true"""


def _last(name: str, item: str) -> str:
    """Few elements are left, or all that are left equal the pivot: the wanted one, and the least of those behind it."""
    return f"""at.pivot:
  %pivot.behind = add i64 %place, 1
  %is.again = icmp slt i64 %pivot.behind, %same
  br i1 %is.again, label %found, label %pivot.last
pivot.last:
  %rest = getelementptr {item}, ptr %free, i64 %same
  %rest.count = sub i64 %count, %same
  br label %last
few:
  %bytes = mul i64 %count, ptrtoint (ptr getelementptr ({item}, ptr null, i64 1) to i64)
  call void @llvm.memcpy.p0.p0.i64(ptr %free, ptr %from, i64 %bytes, i1 false)
  call void @{name}.sort(ptr %free, i64 %count)
  %sorted.at = getelementptr {item}, ptr %free, i64 %place
  %sorted = load {item}, ptr %sorted.at
  %sorted.behind = getelementptr {item}, ptr %sorted.at, i64 1
  %passed.few = add i64 %place, 1
  %behind.count = sub i64 %count, %passed.few
  br label %last
last:
  %element = phi {item} [ %pivot, %pivot.last ], [ %sorted, %few ]
  %behind = phi ptr [ %rest, %pivot.last ], [ %sorted.behind, %few ]
  %others = phi i64 [ %rest.count, %pivot.last ], [ %behind.count, %few ]
  %are.others = icmp sgt i64 %others, 0
  br i1 %are.others, label %look, label %end
look:
  %least = call {item} @{name}.least(ptr %behind, i64 %others)
  br label %found
end:
  %top = select i1 %has.ceiling, {item} %ceiling, {item} %element
  br label %found
"""


def _pivot(name: str, item: str) -> str:
    """The element of a sample that stands where the wanted one should."""
    return f"""define internal {item} @{name}.pivot(ptr %from, i64 %count, i64 %place) nounwind {{
entry:
  %sample = alloca [{_LARGE_SAMPLE} x {item}]
  %is.large = icmp sge i64 %count, {_LARGE}
  %number = select i1 %is.large, i64 {_LARGE_SAMPLE}, i64 {_SAMPLE}
  %step = udiv i64 %count, %number
  %start = lshr i64 %step, 1
  br label %take
take:
  %i = phi i64 [ 0, %entry ], [ %i.next, %take ]
  %offset = mul i64 %i, %step
  %k = add i64 %offset, %start
  %x.at = getelementptr {item}, ptr %from, i64 %k
  %x = load {item}, ptr %x.at
  %to = getelementptr {item}, ptr %sample, i64 %i
  store {item} %x, ptr %to
  %i.next = add i64 %i, 1
  %is.more = icmp slt i64 %i.next, %number
  br i1 %is.more, label %take, label %taken
taken:
  call void @{name}.sort(ptr %sample, i64 %number)
  %scaled = mul i64 %place, %number
  %rank = udiv i64 %scaled, %count
  %pivot.at = getelementptr {item}, ptr %sample, i64 %rank
  %pivot = load {item}, ptr %pivot.at
  ret {item} %pivot
}}"""


def _split(name: str, item: str, goes: str) -> str:
    """Put elements that go there to the front, others to the back, and count the first ones.

    Each is stored at both ends of what is free: one of these places is written over later.
    """
    return f"""define internal i64 @{name}(ptr %from, i64 %count, {item} %pivot, ptr %into) nounwind {{
entry:
  %last = sub i64 %count, 1
  br label %element
element:
  %i = phi i64 [ 0, %entry ], [ %i.next, %element ]
  %front = phi i64 [ 0, %entry ], [ %front.next, %element ]
  %x.at = getelementptr {item}, ptr %from, i64 %i
  %x = load {item}, ptr %x.at
  %not.front = sub i64 %i, %front
  %back = sub i64 %last, %not.front
  %front.at = getelementptr {item}, ptr %into, i64 %front
  %back.at = getelementptr {item}, ptr %into, i64 %back
  store {item} %x, ptr %front.at
  store {item} %x, ptr %back.at
{goes}
  %one = zext i1 %goes to i64
  %front.next = add i64 %front, %one
  %i.next = add i64 %i, 1
  %is.more = icmp slt i64 %i.next, %count
  br i1 %is.more, label %element, label %done
done:
  ret i64 %front.next
}}"""


def _least(name: str, item: str, is_below: str) -> str:
    """The least of some elements, one at least."""
    step = f"""  %is.less = {is_below} {item} %x, %value
  %value.next = select i1 %is.less, {item} %x, {item} %value
"""
    return _reduction(f"{name}.least", item, item, "%first", step)


def _has_nan(name: str, item: str) -> str:
    step = f"""  %is.nan = fcmp uno {item} %x, %x
  %value.next = or i1 %value, %is.nan
"""
    return _reduction(f"{name}.nan", item, "i1", "false", step)


def _reduction(name: str, item: str, result: str, start: str, step: str) -> str:
    """A function of some elements, one at least; `step` makes the next value of a value and an element."""
    return f"""define internal {result} @{name}(ptr %items, i64 %count) nounwind {{
entry:
  %first = load {item}, ptr %items
  br label %element
element:
  %i = phi i64 [ 0, %entry ], [ %i.next, %element ]
  %value = phi {result} [ {start}, %entry ], [ %value.next, %element ]
  %x.at = getelementptr {item}, ptr %items, i64 %i
  %x = load {item}, ptr %x.at
{step}  %i.next = add i64 %i, 1
  %is.more = icmp slt i64 %i.next, %count
  br i1 %is.more, label %element, label %done
done:
  ret {result} %value.next
}}"""
