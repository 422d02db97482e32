"""The Emitter's methods on lists: the Python object itself is read and written, in its own layout.

Private lists of numbers have a layout of their own (`private_lists.py`). A private list of lists is a Python list of
those: its items need no check.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from ljit.codegen.exits.convert import new_object, unbox_or_bail
from ljit.codegen.layouts.layout import LIST_ALLOCATED, LIST_ITEMS, VAR_SIZE
from ljit.codegen.lists import private_lists
from ljit.codegen.lists.boxed_uses import hold_objects
from ljit.codegen.lists.stored_items import item_object, store_item
from ljit.codegen.llvm.builder import NULL, Ref, integer
from ljit.codegen.llvm.forms import Native
from ljit.ops.control import OTHER_ITEM
from ljit.ops.python.private_items import holds_numbers
from ljit.types import ANY, INT, NEVER, ListType, TupleType, Type

if TYPE_CHECKING:
    from ljit.codegen.emitter import Emitter

__all__ = [
    "list_append",
    "list_drop",
    "list_load",
    "list_make",
    "list_pop",
    "list_pop_at",
    "list_size",
    "list_store",
]


def list_size(e: Emitter, x: Native) -> Native:
    if holds_numbers(x.type):
        return private_lists.size(e, x)
    size = e.f.gep("i8", x.ref, VAR_SIZE)
    return Native(INT, (e.f.load("i64", size, suffix=_kind(e, x)),))


def _item_address(e: Emitter, x: Native, index: Native) -> Ref:
    items = e.f.load("ptr", e.f.gep("i8", x.ref, LIST_ITEMS), suffix=_kind(e, x))
    return e.f.gep("ptr", items, index.ref)


def list_load(e: Emitter, x: Native, index: Native) -> Native:
    if holds_numbers(x.type):
        return private_lists.load(e, x, index)
    pointer = e.f.load("ptr", _item_address(e, x, index), suffix=_kind(e, x))
    value = _item_value(e, x, pointer)
    if not e.result_is_used_up:
        _share(e, value, pointer)
    return value


def _share(e: Emitter, value: Native, pointer: Ref) -> None:
    """Hold an item of its own; of a number or a tuple, its object, if that is needed."""
    e.ownership.share(value)
    node = e.bailout.node
    if node is not None and (isinstance(value.type, TupleType) or e.ownership.loop_depth):
        for out in node.outputs:
            hold_objects(e, out, value, pointer)


def _kind(e: Emitter, x: Native) -> str:
    """The metadata of loads from the list itself."""
    is_private = isinstance(x.type, ListType) and x.type.is_private
    return private_lists.kind_of_memory(e.f, "header") if is_private else ""


def _item_value(e: Emitter, x: Native, pointer: Ref) -> Native:
    """An item; leaves if it has another type than the list's items were seen to have."""
    item = x.type.item if isinstance(x.type, ListType) and x.type.item != NEVER else ANY
    if isinstance(x.type, ListType) and x.type.is_private:
        return Native(item, (pointer,))
    with e.bailout.checking_type():
        return unbox_or_bail(e, Native(ANY, (pointer,)), item, OTHER_ITEM)


def list_store(e: Emitter, x: Native, index: Native, value: Native) -> None:
    if holds_numbers(x.type):
        private_lists.store(e, x, index, value)
        return
    store_item(e, _item_address(e, x, index), value)


def list_swap(e: Emitter, x: Native, i: Native, j: Native) -> None:
    """Let two items change places: no reference is counted."""
    f = e.f
    places = _item_address(e, x, i), _item_address(e, x, j)
    first, second = (f.load("ptr", place) for place in places)
    f.store(second, places[0])
    f.store(first, places[1])


def list_append(e: Emitter, x: Native, value: Native) -> None:
    """As CPython: where there is room the item is written, else CPython makes room."""
    if holds_numbers(x.type):
        private_lists.append(e, x, value)
        return
    f = e.f
    item = item_object(e, value)
    size = list_size(e, x)
    room = f.load("i64", f.gep("i8", x.ref, LIST_ALLOCATED))
    grow, write, done = f.new_block("grow"), f.new_block("write"), f.new_block("appended")
    f.condbr(f.icmp("sge", size.ref, room), grow, write, unlikely=True)
    f.start(grow)
    status = f.call_external("i32", "PyList_Append", (x.ref, item))
    f.call_external("void", "Py_DecRef", (item,))
    e.bailout.error_if(f.icmp("slt", status, 0))
    f.br(done)
    f.start(write)
    f.store(item, _item_address(e, x, size))
    following = f.binary("add", size.ref, 1)
    f.store(following, f.gep("i8", x.ref, VAR_SIZE))
    f.br(done)
    f.start(done)


def list_pop(e: Emitter, x: Native) -> Native:
    """Take the last item off; leaves before that if there is none, or it has another type."""
    if holds_numbers(x.type):
        return private_lists.pop(e, x)
    f = e.f
    size = list_size(e, x).ref
    e.bailout.bail_if(f.icmp("eq", size, 0), "pop from an empty list")
    last = f.binary("sub", size, 1)
    pointer = f.load("ptr", _item_address(e, x, Native(INT, (last,))))
    value = _item_value(e, x, pointer)
    _share(e, value, pointer)
    _take_off(e, x, size, pointer)
    return value


def list_drop(e: Emitter, x: Native) -> None:
    if holds_numbers(x.type):
        private_lists.drop(e.f, x)
        return
    size = list_size(e, x).ref
    last = Native(INT, (e.f.binary("sub", size, 1),))
    _take_off(e, x, size, e.f.load("ptr", _item_address(e, x, last)))


def _take_off(e: Emitter, x: Native, size: Ref, item: Ref) -> None:
    """Take off the last of `size` items. As in CPython, a list that uses less than half of its room shrinks."""
    f = e.f
    last = f.binary("sub", size, 1)
    half = f.binary("ashr", f.load("i64", f.gep("i8", x.ref, LIST_ALLOCATED)), 1)
    shrink, keep, done = f.new_block("shrink"), f.new_block("keep"), f.new_block("popped")
    f.condbr(f.icmp("slt", last, half), shrink, keep, unlikely=True)
    f.start(shrink)
    status = f.call_external("i32", "PyList_SetSlice", (x.ref, last, size, NULL))
    e.bailout.error_if(f.icmp("slt", status, 0))
    f.br(done)
    f.start(keep)
    f.store(last, f.gep("i8", x.ref, VAR_SIZE))
    e.ownership.release(item)
    f.br(done)
    f.start(done)


def list_pop_at(e: Emitter, x: Native, index: Native) -> Native:
    """Leaves before that if the item has another type."""
    if holds_numbers(x.type):
        return private_lists.pop_at(e, x, index)
    f = e.f
    value = _item_value(e, x, f.load("ptr", _item_address(e, x, index)))
    e.ownership.share(value)
    following = f.binary("add", index.ref, 1)
    status = f.call_external("i32", "PyList_SetSlice", (x.ref, index.ref, following, NULL))
    e.bailout.error_if(f.icmp("slt", status, 0))
    return value


def list_make(e: Emitter, items: Sequence[Native], type_: Type) -> Native:
    if holds_numbers(type_):
        return private_lists.make(e, items, type_)
    f = e.f
    made = f.call_external("ptr", "PyList_New", (integer("i64", len(items)),))
    e.bailout.error_if_null(made)
    e.ownership.acquire(made)
    result = Native(type_, (made,))
    for index, item in enumerate(items):
        # the list comes first: if there is no memory for an item, it gives those before it back
        place = _item_address(e, result, Native(INT, (integer("i64", index),)))
        f.store(new_object(e, item), place)
    return result
