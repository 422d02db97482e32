"""Sorting of private lists of numbers, and of records of keys and places: merges of runs, short ones by insertion.

Both keep equal ones in order: 0.0 and -0.0 can be told apart. What is in order already is only copied.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from ljit.codegen.lists import private_lists
from ljit.codegen.llvm.builder import FunctionBuilder, Ref
from ljit.codegen.llvm.forms import Native, dtype_of
from ljit.types import ListType

if TYPE_CHECKING:
    from ljit.codegen.emitter import Emitter

__all__ = ["insertion_text", "sort", "sort_items"]

_RUN = 16  # so many are sorted by insertion


def sort(e: Emitter, x: Native, room: Native, *, is_falling: bool) -> None:
    assert isinstance(x.type, ListType)
    is_float = dtype_of(x.type.item).kind == "f"
    item, order = "double" if is_float else "i64", "gt" if is_falling else "lt"
    start = private_lists.start
    operands = (start(e.f, x), start(e.f, room), private_lists.count(e.f, x))
    is_before = f"fcmp o{order}" if is_float else f"icmp s{order}"
    sort_items(e.f, f"sort_{item}_{order}", item, 8, is_before, operands)


def sort_items(
    f: FunctionBuilder, name: str, item: str, size: int, is_before: str, operands: tuple[Ref, ...]
) -> None:
    """Sort items of an LLVM type, of so many bytes: where they lie, room for as many, and their count are given.

    `is_before`: as for `insertion_text`. It, and the type, are the same for all of the name.
    """
    f.module.declare("llvm.memmove.p0.p0.i64", "void", ["ptr", "ptr", "i64", "i1"], "")
    text = _SOURCE.format(
        name=name,
        type=item,
        size=size,
        is_mixed=_test(is_before, item, "%is.mixed", "%upper", "%lower"),
        is_b=_test(is_before, item, "%is.b", "%b", "%a"),
        run=_RUN,
    )
    f.module.define(name, insertion_text(f"{name}.insert", item, is_before) + text)
    f.call("void", name, operands)


def _test(is_before: str, item: str, result: str, a: str, b: str) -> str:
    """The text that says whether one comes before the other."""
    if is_before.startswith("@"):
        return f"{result} = call i1 {is_before}({item} {a}, {item} {b})"
    return f"{result} = {is_before} {item} {a}, {b}"


def insertion_text(name: str, item: str, is_before: str) -> str:
    """A function that sorts some items where they lie: each goes where it belongs among those in front of it.

    `is_before`: an LLVM comparison, or the name of a function, of two items.
    """
    test = _test(is_before, item, "%is.before", "%number", "%other")
    return _INSERTION.format(name=name, type=item, is_before=test)


_INSERTION = """define internal void @{name}(ptr %items, i64 %count) nounwind noinline {{
entry:
  br label %outer
outer:
  %k = phi i64 [ 1, %entry ], [ %k.next, %placed ]
  %more = icmp slt i64 %k, %count
  br i1 %more, label %take, label %done
take:
  %k.at = getelementptr {type}, ptr %items, i64 %k
  %number = load {type}, ptr %k.at
  br label %inner
inner:
  %j = phi i64 [ %k, %take ], [ %left, %shift ]
  %is.first = icmp eq i64 %j, 0
  br i1 %is.first, label %placed, label %look
look:
  %left = sub i64 %j, 1
  %left.at = getelementptr {type}, ptr %items, i64 %left
  %other = load {type}, ptr %left.at
  {is_before}
  br i1 %is.before, label %shift, label %placed
shift:
  %shift.at = getelementptr {type}, ptr %items, i64 %j
  store {type} %other, ptr %shift.at
  br label %inner
placed:
  %place = phi i64 [ 0, %inner ], [ %j, %look ]
  %place.at = getelementptr {type}, ptr %items, i64 %place
  store {type} %number, ptr %place.at
  %k.next = add i64 %k, 1
  br label %outer
done:
  ret void
}}
"""

_SOURCE = """
define internal void @{name}.merge(ptr %from, ptr %to, i64 %first, i64 %middle, i64 %end) nounwind noinline {{
  %last = sub i64 %middle, 1
  %last.at = getelementptr {type}, ptr %from, i64 %last
  %middle.at = getelementptr {type}, ptr %from, i64 %middle
  %lower = load {type}, ptr %last.at
  %upper = load {type}, ptr %middle.at
  {is_mixed}
  br i1 %is.mixed, label %turn, label %rest
turn:
  %i = phi i64 [ %first, %0 ], [ %i.next, %turn ]
  %j = phi i64 [ %middle, %0 ], [ %j.next, %turn ]
  %k = phi i64 [ %first, %0 ], [ %k.next, %turn ]
  %i.at = getelementptr {type}, ptr %from, i64 %i
  %j.at = getelementptr {type}, ptr %from, i64 %j
  %a = load {type}, ptr %i.at
  %b = load {type}, ptr %j.at
  {is_b}
  %number = select i1 %is.b, {type} %b, {type} %a
  %k.at = getelementptr {type}, ptr %to, i64 %k
  store {type} %number, ptr %k.at
  %step = zext i1 %is.b to i64
  %j.next = add i64 %j, %step
  %other.step = xor i64 %step, 1
  %i.next = add i64 %i, %other.step
  %k.next = add i64 %k, 1
  %is.i = icmp slt i64 %i.next, %middle
  %is.j = icmp slt i64 %j.next, %end
  %more = and i1 %is.i, %is.j
  br i1 %more, label %turn, label %rest
rest:
  %i.rest = phi i64 [ %first, %0 ], [ %i.next, %turn ]
  %j.rest = phi i64 [ %middle, %0 ], [ %j.next, %turn ]
  %k.rest = phi i64 [ %first, %0 ], [ %k.next, %turn ]
  %is.left = icmp slt i64 %i.rest, %middle
  %rest.first = select i1 %is.left, i64 %i.rest, i64 %j.rest
  %rest.at = getelementptr {type}, ptr %from, i64 %rest.first
  %to.at = getelementptr {type}, ptr %to, i64 %k.rest
  %rest.count = sub i64 %end, %k.rest
  %bytes = mul i64 %rest.count, {size}
  call void @llvm.memmove.p0.p0.i64(ptr %to.at, ptr %rest.at, i64 %bytes, i1 false)
  ret void
}}
define internal void @{name}(ptr %items, ptr %room, i64 %count) nounwind {{
  br label %runs
runs:
  %run = phi i64 [ 0, %0 ], [ %run.next, %insert ]
  %is.run = icmp slt i64 %run, %count
  br i1 %is.run, label %insert, label %widths
insert:
  %run.rest = sub i64 %count, %run
  %is.short = icmp slt i64 %run.rest, {run}
  %run.size = select i1 %is.short, i64 %run.rest, i64 {run}
  %run.at = getelementptr {type}, ptr %items, i64 %run
  call void @{name}.insert(ptr %run.at, i64 %run.size)
  %run.next = add i64 %run, {run}
  br label %runs
widths:
  %width = phi i64 [ {run}, %runs ], [ %width.next, %pairs ]
  %from = phi ptr [ %items, %runs ], [ %to, %pairs ]
  %to = phi ptr [ %room, %runs ], [ %from, %pairs ]
  %is.width = icmp slt i64 %width, %count
  %width.next = shl i64 %width, 1
  br i1 %is.width, label %pairs, label %back
pairs:
  %first = phi i64 [ 0, %widths ], [ %end, %next ]
  %is.pair = icmp slt i64 %first, %count
  br i1 %is.pair, label %pair, label %widths
pair:
  %behind = add i64 %first, %width
  %is.one = icmp sge i64 %behind, %count
  %middle = select i1 %is.one, i64 %count, i64 %behind
  %behind.next = add i64 %first, %width.next
  %is.end = icmp sge i64 %behind.next, %count
  %end = select i1 %is.end, i64 %count, i64 %behind.next
  br i1 %is.one, label %one, label %two
one:
  %one.from = getelementptr {type}, ptr %from, i64 %first
  %one.to = getelementptr {type}, ptr %to, i64 %first
  %one.size = sub i64 %count, %first
  %one.bytes = mul i64 %one.size, {size}
  call void @llvm.memmove.p0.p0.i64(ptr %one.to, ptr %one.from, i64 %one.bytes, i1 false)
  br label %next
two:
  call void @{name}.merge(ptr %from, ptr %to, i64 %first, i64 %middle, i64 %end)
  br label %next
next:
  br label %pairs
back:
  %is.there = icmp eq ptr %from, %items
  br i1 %is.there, label %done, label %copy
copy:
  %bytes = mul i64 %count, {size}
  call void @llvm.memmove.p0.p0.i64(ptr %items, ptr %from, i64 %bytes, i1 false)
  br label %done
done:
  ret void
}}"""
