"""The methods of context managers, looked up as CPython does: in the class, by its own function."""

from __future__ import annotations

import ctypes
from typing import TYPE_CHECKING

from ljit.codegen.exits.convert import borrow_object
from ljit.codegen.llvm.builder import NULL, Ref
from ljit.codegen.llvm.forms import Native
from ljit.codegen.objects.objects import call_boxed, without_frames
from ljit.types import ANY, TupleType

if TYPE_CHECKING:
    from ljit.codegen.emitter import Emitter

__all__ = ["context_methods"]

_LOOK_UP = "_PyObject_LookupSpecial"  # null without an error: there is none
_METHODS = ("__enter__", "__exit__")


def context_methods(e: Emitter, function: object, manager: Native) -> object:
    """Give the methods that ``with manager:`` calls; `function` raises what CPython says where one is missing."""
    if not hasattr(ctypes.pythonapi, _LOOK_UP):
        return call_boxed(e, function, (manager,))
    pointer, slot = borrow_object(e, manager)
    raiser = e.context.keep(without_frames(function))
    found = [_look_up(e, pointer, name, raiser) for name in _METHODS]
    if slot is not None:
        e.ownership.release_slot(slot)
    return Native(TupleType((ANY,) * len(found)), found)


def _look_up(e: Emitter, manager: Ref, name: str, raiser: Ref) -> Ref:
    f = e.f
    found = f.call_external("ptr", _LOOK_UP, (manager, e.context.keep(name)))
    nothing, missing, failed, following = map(
        f.new_block, ("nothing", "missing", "failed", "found")
    )
    f.condbr(f.icmp("eq", found, NULL), nothing, following, unlikely=True)
    if f.start(nothing, cold=True):
        raised = f.call_external("ptr", "PyErr_Occurred", ())
        f.condbr(f.icmp("eq", raised, NULL), missing, failed)
    if f.start(missing, cold=True):
        f.call_external("ptr", "PyObject_CallOneArg", (raiser, manager))
        f.br(failed)
    if f.start(failed, cold=True):
        f.br(e.bailout.error_block())
    f.start(following)
    e.ownership.acquire(found)
    return found
