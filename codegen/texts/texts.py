"""``s += t`` of strs in place, as CPython does it: if nobody else has `s`, its memory grows.

In a loop that is the difference between linear and quadratic time. `s` must not be looked at any more behind the
addition, nor anything that may hold its pointer without a reference; its slot gives its reference away and takes the
sum. Other slots that still hold `s` for values that are done with let go of it first.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from ljit.characters import is_text
from ljit.codegen.exits.convert import borrow_object
from ljit.codegen.llvm.builder import Ref
from ljit.codegen.llvm.forms import Native
from ljit.codegen.references.characters import leave_if
from ljit.codegen.texts.text_building import can_grow, grow
from ljit.codegen.texts.trips import is_done_with, is_left_over
from ljit.ir import Node
from ljit.types import STR

if TYPE_CHECKING:
    from collections.abc import Callable

    from ljit.codegen.emitter import Emitter

__all__ = ["append_text"]


def append_text(
    e: Emitter, _with_objects: Callable[[], Native], x: Native, y: Native
) -> Native | None:
    """Give the sum of two strs; `x` may be gone. None: they are not strs."""
    if x.type != STR or not is_text(y.type):
        return None
    f, node, ownership = e.f, e.bailout.node, e.ownership
    assert node is not None
    slot = ownership.holders.get(x.ref.text)
    if slot is None or ownership.loop_depth == 0 or not is_done_with(node.inputs[0], node):
        made = f.call_external("ptr", "PyUnicode_Concat", (x.ref, e.widen(y, STR).ref))
        e.bailout.error_if_null(made)
        ownership.text_slots.append((ownership.acquire(made), node.output))
        return Native(STR, (made,))
    _let_go(e, node, x.ref, slot)
    if can_grow():
        done = f.new_block("grown")
        leave_if(f, grow(f, slot, y.ref), done)
        _append(e, slot, y)
        f.br(done)
        f.start(done)
    else:
        _append(e, slot, y)
    made = f.load("ptr", slot)
    e.bailout.error_if_null(made)
    ownership.holders[made.text] = slot
    return Native(STR, (made,))


def _append(e: Emitter, slot: Ref, y: Native) -> None:
    pointer, held = borrow_object(e, y)
    e.f.call_external("void", "PyUnicode_Append", (slot, pointer))
    if held is not None:
        e.ownership.release_slot(held)


def _let_go(e: Emitter, node: Node, pointer: Ref, own: Ref) -> None:
    """Empty the slots of values that are done with and hold the same str."""
    for slot, value in e.ownership.text_slots:
        if slot.text != own.text and is_left_over(value, node):
            e.ownership.let_go(slot, pointer)
