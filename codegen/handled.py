"""Raising, and what `sys.exc_info` shows to code that a native handler calls."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager, nullcontext
from typing import TYPE_CHECKING

from ljit.codegen.exits.bailout import Landing, Retry
from ljit.codegen.layouts.layout import OB_TYPE
from ljit.codegen.llvm.builder import NULL, Ref
from ljit.codegen.llvm.forms import Native
from ljit.codegen.objects.objects import owned_result
from ljit.cpython.classes import is_open
from ljit.ops.python.types import class_of
from ljit.types import NONE

if TYPE_CHECKING:
    from ljit.codegen.emitter import Emitter

__all__ = ["handling", "raise_"]


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
    left = f.new_block("left")
    outer, outer_retry = e.bailout.landing, e.bailout.retry
    e.bailout.landing = Landing(failed, outer.depth if outer is not None else 0, is_shown=True)
    e.bailout.retry = Retry(left)
    yield
    e.bailout.landing, e.bailout.retry = outer, outer_retry
    behind = f.new_block("handled")
    f.br(behind)
    if f.start(failed, cold=True):
        _handle_as_before(e, slot)
        f.br(outer.block if outer is not None else e.bailout.error_block_of_handler())
    if f.start(left, cold=True):
        _handle_as_before(e, slot)
        e.bail("a check in a handler")
    if f.start(behind):
        f.call_external("void", "PyErr_SetHandledException", (before,))
        e.ownership.release_slot(slot)


def _handle_as_before(e: Emitter, slot: Ref) -> None:
    """Let the exception in the slot be the one that is handled, on a way out."""
    before = e.f.load("ptr", slot)
    e.f.call_external("void", "PyErr_SetHandledException", (before,))
    e.f.store(NULL, slot)
    e.ownership.release(before)


def raise_(e: Emitter, operands: Sequence[Native], *, has_cause: bool) -> None:
    """Raise, if that runs no unknown code; else the interpreter does."""
    node, f, handled = e.bailout.node, e.f, e.bailout.handled
    first = node.inputs[0] if node is not None and operands else None
    makes_one = first is not None and first.is_constant and _is_builtin(first.constant)
    is_known = makes_one or (first is not None and _is_exception(e, operands[0]))
    has_known_cause = not has_cause or operands[1].type == NONE or _is_exception(e, operands[1])
    if not (is_known and has_known_cause):
        e.bail("raise")
        return
    with handling(e, handled) if handled is not None else nullcontext():
        error = operands[0].ref
        if makes_one:
            error = owned_result(e, f.call_external("ptr", "PyObject_CallNoArgs", (error,))).ref
        if has_cause:
            _set_cause(e, error, operands[1])
        cls = f.load("ptr", f.gep("i8", error, OB_TYPE))
        f.call_external("void", "PyErr_SetObject", (cls, error))
        f.br(e.bailout.error_block())


def _set_cause(e: Emitter, error: Ref, cause: Native) -> None:
    """``from cause``: the exception takes a reference; none stands for None."""
    cause_or_null = cause.ref if cause.type != NONE else NULL
    e.ownership.retain(cause_or_null)
    e.f.call_external("void", "PyException_SetCause", (error, cause_or_null))


def _is_exception(e: Emitter, x: Native) -> bool:
    """Whether it is an exception for sure: by its class, or being one that is handled."""
    cls, state = class_of(x.type), e.bailout.current
    if cls is not None:
        return issubclass(cls, BaseException)
    handled = state.values[len(state.info.names) :] if state is not None else ()
    return any(error.ref.text == x.ref.text for error in handled)


def _is_builtin(value: object) -> bool:
    """Whether the value is a class of exceptions whose instances C code makes."""
    if not isinstance(value, type) or not issubclass(value, BaseException):
        return False
    return not is_open(value)
