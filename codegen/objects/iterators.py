"""Cursors: the cell that has an iterator, and its next item without a call of Python's `next`."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ljit.codegen.exits.convert import borrow_object
from ljit.codegen.layouts.layout import LIST_ITEMS
from ljit.codegen.llvm.builder import Ref
from ljit.codegen.llvm.forms import Native
from ljit.codegen.references.refcounts import counter
from ljit.ir import Value
from ljit.ops.containers.iteration_rules import is_view
from ljit.ops.control import GUARD, SNAPSHOT
from ljit.types import ANY, INT, ListType

if TYPE_CHECKING:
    from collections.abc import Callable

    from ljit.codegen.emitter import Emitter

__all__ = ["cell_of", "item_of"]

_NAME = "next_of"


def cell_of(e: Emitter, _call: Callable[[], Native], x: Native, end: Native) -> Native:
    """Make the cell of a cursor: it alone has the iterator, as far as this function knows."""
    pointer, slot = borrow_object(e, x)
    iterator = e.owned_result(e.f.call_external("ptr", "PyObject_GetIter", (pointer,)))
    cell = e.list_make([iterator, end, e.const(INT, -1)], ListType(ANY))
    e.ownership.release_early(iterator.ref)
    if slot is not None:
        e.ownership.release_slot(slot)
    elif _is_made_for_loop(e):
        _give_up(e, pointer, iterator.ref)
    return cell


def _is_made_for_loop(e: Emitter) -> bool:
    """Whether all that the node makes cursors of was made for it alone."""
    node = e.bailout.node
    operands = node.inputs if node is not None else ()
    return all(_is_used_once(value) for value in operands if not is_view(value.type))


def _is_used_once(value: Value) -> bool:
    """Whether one node of its block uses the value, but for what checks its type."""
    users = [user for user, _ in value.uses if user.op is not SNAPSHOT]
    if len(users) != 1 or value.node is None or value.node.block is not users[0].block:
        return False
    return value.node.op is not GUARD or _is_used_once(value.node.inputs[0])


def _give_up(e: Emitter, pointer: Ref, iterator: Ref) -> None:
    """Give back the function's own reference to an iterator that a call gave and the cell has now."""
    if pointer.text not in e.ownership.holders:
        return
    f = e.f
    own, done = f.new_block("own"), f.new_block("done")
    f.condbr(f.icmp("eq", pointer, iterator), own, done)
    if f.start(own):
        e.ownership.release_early(pointer)
        f.br(done)
    f.start(done)


def item_of(e: Emitter, _call: Callable[[], Native], cell: Native, end: Native) -> Native:
    """Advance the iterator in a cell; `end` behind its last item."""
    module = e.f.module
    module.declare("PyIter_Next", "ptr", ["ptr"])
    module.declare("PyErr_Occurred", "ptr", [])
    name = module.define(_NAME, _SOURCE.replace("retain", counter(module, "retain")))
    return e.owned_result(e.f.call("ptr", name, (cell.ref, end.ref)))


_SOURCE = f"""define internal ptr @{_NAME}(ptr %cell, ptr %end) nounwind {{
  %place = getelementptr i8, ptr %cell, i64 {LIST_ITEMS}
  %items = load ptr, ptr %place
  %iterator = load ptr, ptr %items
  %item = call ptr @PyIter_Next(ptr %iterator)
  %none = icmp eq ptr %item, null
  br i1 %none, label %ask, label %done
ask:
  %error = call ptr @PyErr_Occurred()
  %failed = icmp ne ptr %error, null
  br i1 %failed, label %done, label %behind
behind:
  call void @retain(ptr %end)
  ret ptr %end
done:
  ret ptr %item
}}"""
