"""``a, b = x`` of an object: a tuple or list of so many items is taken apart without a call of Python."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

from ljit.codegen.builder import Ref, integer
from ljit.codegen.convert import borrow_object
from ljit.codegen.forms import Native
from ljit.codegen.layout import IS_IMMORTAL_AWARE, OB_TYPE, VAR_SIZE
from ljit.ops.objects import unpack

if TYPE_CHECKING:
    from ljit.codegen.emitter import Emitter

__all__ = ["is_unpacking", "tuple_of_items"]

_NAME = "tuple_of_items"


def is_unpacking(function: object) -> bool:
    """Whether the function unpacks into a tuple, item by item."""
    if not isinstance(function, partial) or function.func is not unpack:
        return False
    return function.keywords["count"] != 1 and function.keywords["star"] is None


def tuple_of_items(e: Emitter, x: Native, count: int, other: Ref) -> Ref:
    """Give a tuple of the items, a new reference; null: an error. `other` does it for any object."""
    f = e.f
    for name, params in (
        ("Py_IncRef", ["ptr"]),
        ("PyList_AsTuple", ["ptr"]),
        ("PyObject_CallOneArg", ["ptr", "ptr"]),
    ):
        f.module.declare(name, "void" if name == "Py_IncRef" else "ptr", params)
    f.module.define(_NAME, _source(e.context.keep(tuple), e.context.keep(list)))
    pointer, slot = borrow_object(e, x)
    made = f.call("ptr", _NAME, (pointer, integer("i64", count), other))
    if slot is not None:
        e.ownership.release_slot(slot)
    return made


_COUNT = """%references = load i64, ptr %x
  %more = add i64 %references, 1
  store i64 %more, ptr %x"""


def _source(tuple_class: Ref, list_class: Ref) -> str:
    retain = "call void @Py_IncRef(ptr %x)" if IS_IMMORTAL_AWARE else _COUNT
    return f"""define internal ptr @{_NAME}(ptr %x, i64 %count, ptr %other) {{
  %class.at = getelementptr i8, ptr %x, i64 {OB_TYPE}
  %class = load ptr, ptr %class.at
  %is_tuple = icmp eq ptr %class, {tuple_class.text}
  %is_list = icmp eq ptr %class, {list_class.text}
  %is_known = or i1 %is_tuple, %is_list
  br i1 %is_known, label %known, label %any
known:
  %size.at = getelementptr i8, ptr %x, i64 {VAR_SIZE}
  %size = load i64, ptr %size.at
  %fits = icmp eq i64 %size, %count
  br i1 %fits, label %right, label %any
right:
  br i1 %is_tuple, label %same, label %copy
same:
  {retain}
  ret ptr %x
copy:
  %copied = call ptr @PyList_AsTuple(ptr %x)
  ret ptr %copied
any:
  %made = call ptr @PyObject_CallOneArg(ptr %other, ptr %x)
  ret ptr %made
}}"""
