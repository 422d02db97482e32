"""Raising where the function has a handler, and what `sys.exc_info` shows to code that a native handler calls."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING

from ljit.codegen.bailout import Landing
from ljit.codegen.builder import NULL, Ref, integer
from ljit.codegen.forms import Native
from ljit.codegen.layout import OB_TYPE
from ljit.codegen.objects import owned_result
from ljit.ops.python_types import class_of

if TYPE_CHECKING:
    from ljit.codegen.emitter import Emitter

__all__ = ["handling", "raise_"]

_IS_HEAP_TYPE = 1 << 9  # Py_TPFLAGS_HEAPTYPE


@contextmanager
def handling(e: Emitter, error: Ref) -> Iterator[None]:
    """Let `error` be the exception that is handled; what is raised meanwhile has it as context.

    That leaves the function, or goes to the handler around this one.
    """
    f = e.f
    before = f.call_external("ptr", "PyErr_GetHandledException", ())
    slot = e.ownership.acquire_temporary(before)
    f.call_external("void", "PyErr_SetHandledException", (error,))
    failed = f.new_block("failed")
    outer = e.bailout.landing
    e.bailout.landing = Landing(failed, outer.depth if outer is not None else 0)
    yield
    e.bailout.landing = outer
    behind = f.new_block("handled")
    f.br(behind)
    if f.start(failed, cold=True):
        old = f.load("ptr", slot)
        f.call_external("void", "PyErr_SetHandledException", (old,))
        if outer is not None:
            f.store(NULL, slot)
            e.ownership.release(old)
            f.br(outer.block)
        else:
            e.ownership.leave_with(NULL)
    if f.start(behind):
        f.call_external("void", "PyErr_SetHandledException", (before,))
        e.ownership.release_slot(slot)


def raise_(e: Emitter, operands: Sequence[Native], *, has_cause: bool) -> None:
    """Raise where the function has a handler, if that runs no unknown code; else the interpreter does."""
    node, f = e.bailout.node, e.f
    operand = node.inputs[0] if node is not None and len(operands) == 1 else None
    if has_cause or operand is None or not e.bailout.is_handled:
        e.bail("raise")
        return
    cls, pointer = class_of(operand.type), operands[0].ref
    handled = e.bailout.handled
    if handled is not None and handled.text == pointer.text:  # raised again, as it is
        with handling(e, handled):
            own = f.load("ptr", f.gep("i8", pointer, integer("i64", OB_TYPE)))
            f.call_external("void", "PyErr_SetObject", (own, pointer))
            f.br(e.bailout.error_block())
        return
    if cls is not None and issubclass(cls, BaseException):
        f.call_external("void", "PyErr_SetObject", (e.context.keep(cls), pointer))
    elif operand.is_constant and _is_builtin_exception(operand.constant):
        made = owned_result(e, f.call_external("ptr", "PyObject_CallNoArgs", (pointer,)))
        f.call_external("void", "PyErr_SetObject", (pointer, made.ref))
    else:
        e.bail("raise")
        return
    f.br(e.bailout.error_block())


def _is_builtin_exception(value: object) -> bool:
    """Whether the value is a class of exceptions whose instances C code makes."""
    if not isinstance(value, type) or not issubclass(value, BaseException):
        return False
    return not value.__flags__ & _IS_HEAP_TYPE
