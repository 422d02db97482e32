"""What `sys.exc_info` shows to code that a native handler calls."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

from ljit.codegen.bailout import Landing
from ljit.codegen.builder import NULL, Ref

if TYPE_CHECKING:
    from ljit.codegen.emitter import Emitter

__all__ = ["handling"]


@contextmanager
def handling(e: Emitter, error: Ref) -> Iterator[None]:
    """Let `error` be the exception that is handled; what is raised meanwhile has it as context, and leaves."""
    f = e.f
    before = f.call_external("ptr", "PyErr_GetHandledException", ())
    slot = e.ownership.acquire_temporary(before)
    f.call_external("void", "PyErr_SetHandledException", (error,))
    failed = f.new_block("failed")
    outer, e.bailout.landing = e.bailout.landing, Landing(failed)
    yield
    e.bailout.landing = outer
    behind = f.new_block("handled")
    f.br(behind)
    if f.start(failed, cold=True):
        f.call_external("void", "PyErr_SetHandledException", (f.load("ptr", slot),))
        e.ownership.leave_with(NULL)
    if f.start(behind):
        f.call_external("void", "PyErr_SetHandledException", (before,))
        e.ownership.release_slot(slot)
