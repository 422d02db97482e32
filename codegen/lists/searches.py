"""``x in xs`` for a number and a list of numbers: the objects are compared where they lie.

As soon as an item is of another class, CPython compares all of them. The numbers of a private list are compared 32 at a
time, with vectors.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from ljit.codegen.layouts.layout import (
    FLOAT_VALUE,
    LIST_ITEMS,
    LONG_DIGIT,
    LONG_TAG,
    LONG_TAG_IS_SIZE,
    OB_TYPE,
    VAR_SIZE,
)
from ljit.codegen.lists import private_lists
from ljit.codegen.llvm.builder import Ref
from ljit.codegen.llvm.forms import Native
from ljit.types import BOOL, FLOAT, INT, ListType

if TYPE_CHECKING:
    from collections.abc import Callable

    from ljit.codegen.emitter import Emitter

__all__ = ["are_same_bytes", "find_item", "find_number", "is_number_missing"]

_UNKNOWN = -1


def find_number(
    e: Emitter, compare_all: Callable[[], Native], item: Native, container: Native
) -> Native | None:
    """Whether the list has the number; None if this is no such search."""
    if not isinstance(container.type, ListType) or item.type not in (INT, FLOAT):
        return None
    name = "list_has_int" if item.type == INT else "list_has_float"
    cls = e.context.keep(int if item.type == INT else float)
    e.f.module.define(name, _source(name, item.ref.type, cls))
    found = e.f.call("i32", name, (container.ref, item.ref))
    is_unknown = Native(BOOL, (e.f.icmp("eq", found, _UNKNOWN),))
    return e.branch(is_unknown, compare_all, lambda: Native(BOOL, (e.f.icmp("ne", found, 0),)))


def is_number_missing(
    e: Emitter, compare_all: Callable[[], Native], item: Native, container: Native
) -> Native | None:
    """Whether the list does not have the number; `compare_all` gives the same."""

    def is_there() -> Native:
        return Native(BOOL, (e.f.bool_not(compare_all().ref),))

    found = find_number(e, is_there, item, container)
    return None if found is None else Native(BOOL, (e.f.bool_not(found.ref),))


def find_item(e: Emitter, x: Native, item: Native) -> Native:
    """The first place of an equal one in a private list of ints or floats, or -1."""
    type_ = item.ref.type
    name, compare = f"find_{type_}", "icmp eq" if type_ == "i64" else "fcmp oeq"
    e.f.module.define(name, _FIND_NUMBER.format(name=name, type=type_, compare=compare))
    operands = (private_lists.start(e.f, x), private_lists.count(e.f, x), item.ref)
    return Native(INT, (e.f.call("i64", name, operands),))


def are_same_bytes(e: Emitter, x: Native, y: Native) -> Native:
    """Whether two private lists of numbers, of one type, are the same byte for byte."""
    f = e.f
    starts, sizes = ([g(f, v) for v in (x, y)] for g in (private_lists.start, private_lists.used))

    def compare() -> Native:
        differ = f.call_external("i32", "memcmp", (*starts, sizes[0]))
        return Native(BOOL, (f.icmp("eq", differ, 0),))

    is_as_long = Native(BOOL, (f.icmp("eq", *sizes),))
    return e.branch(is_as_long, compare, lambda: e.const(BOOL, False))


_FIND_NUMBER = """define internal i64 @{name}(ptr %items, i64 %size, {type} %value) nounwind {{
  %whole = and i64 %size, -32
  br label %blocks
blocks:
  %first = phi i64 [ 0, %0 ], [ %behind, %block ]
  %is.rest = icmp uge i64 %first, %whole
  br i1 %is.rest, label %rest, label %turn
turn:
  %j = phi i64 [ 0, %blocks ], [ %j.next, %turn ]
  %any = phi i1 [ false, %blocks ], [ %any.next, %turn ]
  %at = add i64 %first, %j
  %place = getelementptr {type}, ptr %items, i64 %at
  %number = load {type}, ptr %place
  %same = {compare} {type} %number, %value
  %any.next = or i1 %any, %same
  %j.next = add i64 %j, 1
  %is.end = icmp eq i64 %j.next, 32
  br i1 %is.end, label %block, label %turn
block:
  %behind = add i64 %first, 32
  br i1 %any.next, label %rest, label %blocks
rest:
  %k = phi i64 [ %first, %blocks ], [ %first, %block ], [ %k.next, %next ]
  %more = icmp ult i64 %k, %size
  br i1 %more, label %next, label %none
next:
  %k.place = getelementptr {type}, ptr %items, i64 %k
  %k.number = load {type}, ptr %k.place
  %k.same = {compare} {type} %k.number, %value
  %k.next = add i64 %k, 1
  br i1 %k.same, label %found, label %rest
found:
  ret i64 %k
none:
  ret i64 -1
}}"""


def _source(name: str, type_: str, cls: Ref) -> str:
    return f"""define internal i32 @{name}(ptr %list, {type_} %value) nounwind {{
  %size.at = getelementptr i8, ptr %list, i64 {VAR_SIZE}
  %size = load i64, ptr %size.at
  %items.at = getelementptr i8, ptr %list, i64 {LIST_ITEMS}
  %items = load ptr, ptr %items.at
  br label %loop
loop:
  %k = phi i64 [ 0, %0 ], [ %following, %next ]
  %more = icmp slt i64 %k, %size
  br i1 %more, label %look, label %none
look:
  %place = getelementptr ptr, ptr %items, i64 %k
  %item = load ptr, ptr %place
  %class.at = getelementptr i8, ptr %item, i64 {OB_TYPE}
  %class = load ptr, ptr %class.at
  %is.number = icmp eq ptr %class, {cls}
  br i1 %is.number, label %read, label %unknown
read:
{_COMPARE_INT if type_ == "i64" else _COMPARE_FLOAT}
next:
  %following = add i64 %k, 1
  br label %loop
found:
  ret i32 1
none:
  ret i32 0
unknown:
  ret i32 {_UNKNOWN}
}}"""


#: whether an int has at most one digit, and its sign: -1, 0 or 1
_IS_SHORT = (
    """%above = add i64 %tag, 1
  %is.short = icmp ult i64 %above, 3
  %sign = add i64 %tag, 0"""
    if LONG_TAG_IS_SIZE
    else """%is.short = icmp ult i64 %tag, 16
  %low = and i64 %tag, 3
  %sign = sub i64 1, %low"""
)
#: An int of more digits than one is another number than one that fits a digit.
_COMPARE_INT = f"""  %tag.at = getelementptr i8, ptr %item, i64 {LONG_TAG}
  %tag = load i64, ptr %tag.at
  %digit.at = getelementptr i8, ptr %item, i64 {LONG_DIGIT}
  %digit = load i32, ptr %digit.at
  {_IS_SHORT}
  br i1 %is.short, label %short, label %long
short:
  %wide = zext i32 %digit to i64
  %number = mul i64 %sign, %wide
  %same = icmp eq i64 %number, %value
  br i1 %same, label %found, label %next
long:
  %shifted = add i64 %value, {2**30 - 1}
  %fits.digit = icmp ult i64 %shifted, {2**31 - 1}
  br i1 %fits.digit, label %next, label %unknown"""

#: A NaN is in a list if it is the same object.
_COMPARE_FLOAT = f"""  %number.at = getelementptr i8, ptr %item, i64 {FLOAT_VALUE}
  %number = load double, ptr %number.at
  %is.nan = fcmp uno double %value, %number
  br i1 %is.nan, label %unknown, label %compare
compare:
  %same = fcmp oeq double %value, %number
  br i1 %same, label %found, label %next"""
