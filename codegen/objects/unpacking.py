"""``a, b = x`` of an object: a tuple or list of so many items is taken apart without a call of Python.

So is a tuple of a user's class (a ``NamedTuple``) that inherits ``tuple.__iter__``, which unpacking calls. Other
objects are asked for an iterator (CPython's ``unpack_iterable``).
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from ljit.codegen.exits.convert import borrow_object
from ljit.codegen.layouts.layout import OB_TYPE, TYPE_ITER, VAR_SIZE, type_iter
from ljit.codegen.llvm.builder import ModuleBuilder, Ref, address, integer
from ljit.codegen.llvm.forms import Native
from ljit.codegen.references.refcounts import counter
from ljit.ops.objects import parts_unpacked

if TYPE_CHECKING:
    from ljit.codegen.emitter import Emitter

__all__ = ["is_unpacking", "tuple_of_items"]

_NAME = "tuple_of_items"


def is_unpacking(function: object) -> bool:
    """Whether the function unpacks into a tuple, item by item."""
    parts = parts_unpacked(function)
    return parts is not None and parts[0] != 1


def tuple_of_items(e: Emitter, x: Native, function: object, other: Ref) -> Ref:
    """Give a tuple of the items, a new reference; null: an error. `other` does it for any object."""
    parts = parts_unpacked(function)
    assert parts is not None
    count, star = parts
    f = e.f
    for name, (result, params) in _FUNCTIONS.items():
        f.module.declare(name, result, params)
    classes = (e.context.keep(tuple).text, e.context.keep(list).text)
    if star is None:
        name = f.module.define(_NAME, _source(f.module, *classes))
    else:
        name = f"{_NAME}.{count}.{star}"
        f.module.define(name, _source_with_star(name, count, star, *classes))
    pointer, slot = borrow_object(e, x)
    made = f.call("ptr", name, (pointer, integer("i64", count), other))
    if slot is not None:
        e.ownership.release_slot(slot)
    return made


_FUNCTIONS = {
    "Py_IncRef": ("void", ["ptr"]),
    "Py_DecRef": ("void", ["ptr"]),
    "PyTuple_GetSlice": ("ptr", ["ptr", "i64", "i64"]),
    "PyTuple_New": ("ptr", ["i64"]),
    "PyTuple_SetItem": ("i32", ["ptr", "i64", "ptr"]),
    "PyErr_Format": ("ptr", ["ptr", "ptr", "..."]),
    "PyErr_Occurred": ("ptr", []),
    "PyIter_Next": ("ptr", ["ptr"]),
    "PyList_AsTuple": ("ptr", ["ptr"]),
    "PyObject_GetIter": ("ptr", ["ptr"]),
    "PySequence_List": ("ptr", ["ptr"]),
    "PySequence_Tuple": ("ptr", ["ptr"]),
    "PySequence_GetItem": ("ptr", ["ptr", "i64"]),
    "PySequence_GetSlice": ("ptr", ["ptr", "i64", "i64"]),
    "PyObject_CallOneArg": ("ptr", ["ptr", "ptr"]),
}


def _known_class(tuple_class: str, list_class: str) -> str:
    return f"""%class.at = getelementptr i8, ptr %x, i64 {OB_TYPE}
  %class = load ptr, ptr %class.at
  %is_tuple = icmp eq ptr %class, {tuple_class}
  %is_list = icmp eq ptr %class, {list_class}
  %iter.at = getelementptr i8, ptr %class, i64 {TYPE_ITER}
  %iter = load ptr, ptr %iter.at
  %is_like_tuple = icmp eq ptr %iter, {address(type_iter(tuple)).text}
  %is_known = or i1 %is_like_tuple, %is_list
  br i1 %is_known, label %known, label %any
known:
  %size.at = getelementptr i8, ptr %x, i64 {VAR_SIZE}
  %size = load i64, ptr %size.at"""


_CALL = """call:
  %result = call ptr @PyObject_CallOneArg(ptr %other, ptr %x)
  ret ptr %result"""


def _source(module: ModuleBuilder, tuple_class: str, list_class: str) -> str:
    return f"""define internal ptr @{_NAME}(ptr %x, i64 %count, ptr %other) {{
  {_known_class(tuple_class, list_class)}
  %fits = icmp eq i64 %size, %count
  br i1 %fits, label %right, label %any
right:
  br i1 %is_tuple, label %same, label %copy
same:
  call void @{counter(module, "retain")}(ptr %x)
  ret ptr %x
copy:
  br i1 %is_list, label %list, label %like.tuple
list:
  %listed = call ptr @PyList_AsTuple(ptr %x)
  ret ptr %listed
like.tuple:
  %copied = call ptr @PyTuple_GetSlice(ptr %x, i64 0, i64 %count)
  ret ptr %copied
{_through_iterator(module)}
{_CALL}
}}"""


def _through_iterator(module: ModuleBuilder) -> str:
    """What is done with other objects; those without an iterator of their class go to the block ``call``."""
    error = address(id(ValueError)).typed
    few = module.string("not enough values to unpack (expected %zd, got %zd)").typed
    many = module.string("too many values to unpack (expected %zd)").typed
    return f"""any:
  %is.sequence = icmp eq ptr %iter, null
  br i1 %is.sequence, label %call, label %begin
begin:
  %iterator = call ptr @PyObject_GetIter(ptr %x)
  %no.iterator = icmp eq ptr %iterator, null
  br i1 %no.iterator, label %failed, label %make
make:
  %made = call ptr @PyTuple_New(i64 %count)
  %no.tuple = icmp eq ptr %made, null
  br i1 %no.tuple, label %drop.iterator, label %next
next:
  %i = phi i64 [ 0, %make ], [ %i.next, %store ]
  %is.full = icmp eq i64 %i, %count
  %item = call ptr @PyIter_Next(ptr %iterator)
  %is.over = icmp eq ptr %item, null
  br i1 %is.over, label %over, label %one
one:
  br i1 %is.full, label %too.many, label %store
store:
  call i32 @PyTuple_SetItem(ptr %made, i64 %i, ptr %item)
  %i.next = add i64 %i, 1
  br label %next
over:
  %error = call ptr @PyErr_Occurred()
  %has.failed = icmp ne ptr %error, null
  br i1 %has.failed, label %drop, label %end
end:
  br i1 %is.full, label %whole, label %too.few
whole:
  call void @Py_DecRef(ptr %iterator)
  ret ptr %made
too.few:
  call ptr (ptr, ptr, ...) @PyErr_Format({error}, {few}, i64 %count, i64 %i)
  br label %drop
too.many:
  call void @Py_DecRef(ptr %item)
  call ptr (ptr, ptr, ...) @PyErr_Format({error}, {many}, i64 %count)
  br label %drop
drop:
  call void @Py_DecRef(ptr %made)
  br label %drop.iterator
drop.iterator:
  call void @Py_DecRef(ptr %iterator)
  br label %failed
failed:
  ret ptr null"""


_NEXT_LINE = "\n  "


def _source_with_star(name: str, count: int, star: int, *classes: str) -> str:
    """A list is copied first: what makes objects may run code that changes it."""
    behind = count - 1 - star
    lines = []
    for i in range(count):
        if i == star:
            lines.append(f"call i32 @PyTuple_SetItem(ptr %made, i64 {i}, ptr %rest)")
            continue
        place = f"{i}" if i < star else f"%place{i}"
        if i > star:
            lines.append(f"%place{i} = sub i64 %size, {count - i}")
        lines.append(f"%item{i} = call ptr @PySequence_GetItem(ptr %all, i64 {place})")
        lines.append(f"call i32 @PyTuple_SetItem(ptr %made, i64 {i}, ptr %item{i})")
    return f"""define internal ptr @{name}(ptr %x, i64 %count, ptr %other) {{
  {_known_class(*classes)}
  %fits = icmp sge i64 %size, {count - 1}
  br i1 %fits, label %right, label %any
right:
  %all = call ptr @PySequence_Tuple(ptr %x)
  %failed = icmp eq ptr %all, null
  br i1 %failed, label %done, label %there
there:
  %stop = sub i64 %size, {behind}
  %part = call ptr @PySequence_GetSlice(ptr %all, i64 {star}, i64 %stop)
  %none = icmp eq ptr %part, null
  br i1 %none, label %drop.all, label %copy
copy:
  %rest = call ptr @PySequence_List(ptr %part)
  call void @Py_DecRef(ptr %part)
  %lost = icmp eq ptr %rest, null
  br i1 %lost, label %drop.all, label %make
make:
  %made = call ptr @PyTuple_New(i64 {count})
  %full = icmp eq ptr %made, null
  br i1 %full, label %drop, label %fill
drop:
  call void @Py_DecRef(ptr %rest)
  br label %drop.all
drop.all:
  call void @Py_DecRef(ptr %all)
  br label %done
fill:
  {_NEXT_LINE.join(lines)}
  call void @Py_DecRef(ptr %all)
  ret ptr %made
done:
  ret ptr null
any:
  br label %call
{_CALL}
}}"""
