"""Calls of native functions by native code: `prim::call_native`."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from ljit.codegen.bodies import FAILED, Body, flatten
from ljit.codegen.builder import FALSE, NULL, TRUE, Ref, integer
from ljit.codegen.context import Context
from ljit.codegen.convert import borrow_object, convert, unbox_or_bail
from ljit.codegen.entry import emit_assumptions
from ljit.codegen.forms import Native
from ljit.ops.control import CALLEE_LEFT
from ljit.types import ANY, ArrayType

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ljit.codegen.emitter import Emitter

__all__ = ["SetState", "call_native"]

#: makes the state behind the call the one to leave with; the call's result is the given value there
SetState = Callable[[Native], None]

_HOLDS = "assumptions_hold"


def call_native(
    e: Emitter, args: Sequence[Native], set_state: SetState, *, is_clean: bool
) -> Native:
    """Call the function's own body."""
    body = e.body
    assert body is not None
    if not is_clean:  # the body takes for granted what its entry has checked
        holds = _assumptions_hold(e)
        e.bailout.bail_if(e.f.bool_not(holds), "a variable has changed")
    refs, slots = _arguments(e, body, args)
    less = e.f.binary("sub", e.room, integer("i64", 1))
    value, status = body.call(e.f, body.name, less, refs)
    for slot in slots:
        e.ownership.release_slot(slot)
    if value.type.is_boxed:
        e.bailout.error_if_null(status)
        e.ownership.acquire(status)
        return value
    return _checked(e, value, status, set_state, is_clean=is_clean)


def _arguments(e: Emitter, body: Body, args: Sequence[Native]) -> tuple[list[Ref], list[Ref]]:
    """What to pass, and the slots of objects made for it. Of arrays there has to be an object."""
    refs: list[Ref] = []
    slots: list[Ref] = []
    for arg, type_ in zip(args, body.signature.params, strict=True):
        value, made = convert(e, arg, type_), None
        if isinstance(type_, ArrayType):
            made, slot = borrow_object(e, value)
            slots += [slot] if slot is not None else []
        refs += flatten(value, made)
    return refs, slots


def _checked(
    e: Emitter, value: Native, status: Ref, set_state: SetState, *, is_clean: bool
) -> Native:
    """The result; or leave behind the call with the object that came back instead."""
    f, bailout = e.f, e.bailout
    left, good = f.new_block("left"), f.new_block("result")
    fast = f.condbr(f.icmp("ne", status, NULL), left, good, unlikely=True)
    edges = [(value.parts, fast)]
    if f.start(left, cold=True):
        bailout.error_if(f.icmp("eq", status, FAILED))
        slot = e.ownership.acquire_temporary(status)
        before = bailout.current
        made = Native(ANY, (status,))
        set_state(made)
        found = unbox_or_bail(e, made, value.type, f"not {value.type}")
        if is_clean:
            bailout.bail_if(TRUE, CALLEE_LEFT)
        e.ownership.release_slot(slot)
        edges.append((found.parts, f.br(good)))
        bailout.current = before
    f.start(good)
    if sum(block is not None for _, block in edges) < 2:
        return value
    phis = [f.phi(part.type) for part in value.parts]
    for parts, block in edges:
        for phi, part in zip(phis, parts, strict=True):
            phi.add(part, block)
    return Native(value.type, phis)


def _assumptions_hold(e: Emitter) -> Ref:
    """Whether all that the unit takes for granted about variables still holds."""
    context: Context = e.context
    if not context.options.assumptions:
        return TRUE
    if not any(function.name == _HOLDS for function in context.module.functions):
        f = context.module.function(_HOLDS, "i1", (), "internal")
        start, f.block = f.block, None
        changed = f.new_block("changed")
        f.start(changed, reachable=True, cold=True)
        f.ret(FALSE)
        f.block = start
        emit_assumptions(f, context.options.assumptions, changed, context.keep)
        f.ret(TRUE)
    return e.f.call("i1", _HOLDS, ())
