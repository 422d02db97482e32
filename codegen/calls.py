"""Calls of native functions by native code: `prim::call_native`."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

from ljit.codegen.exits.convert import borrow_object, convert, unbox_or_bail
from ljit.codegen.functions.assumptions import emit_assumptions
from ljit.codegen.functions.bodies import FAILED, NOT_TAKEN, Body, flatten, room_below
from ljit.codegen.functions.context import Context
from ljit.codegen.functions.recursion import lower_depth, raise_depth
from ljit.codegen.llvm.builder import (
    FALSE,
    NULL,
    TRUE,
    BlockRef,
    FunctionBuilder,
    Ref,
    address,
    integer,
    undef,
)
from ljit.codegen.llvm.forms import Native, undef_of
from ljit.codegen.objects.objects import ARGUMENTS_OFFSET, without_frames
from ljit.codegen.references.boxing import Keep, box, decref
from ljit.ops.control import CALLEE_LEFT
from ljit.records import Record
from ljit.source import depth_of
from ljit.types import ANY, NONE, ArrayType

if TYPE_CHECKING:
    from ljit.analysis.signatures import NativeLink
    from ljit.codegen.emitter import Emitter

__all__ = ["AfterCall", "SetState", "call_itself", "call_link"]

#: makes the state behind the call the one to leave with; the call's result is the given value there
SetState = Callable[[Native], None]

_HOLDS = "assumptions_hold"


class AfterCall(Record):
    """What becomes of an object that came back from a call.

    `instead` is called with the same objects if it is NotImplemented. `check` gives the result in its place; it is an
    error if that raises. `is_negated`: the result is the opposite of the bool that native code gives.
    """

    instead: Callable[..., object] | None
    check: Callable[[object], object] | None
    is_negated: bool

    def looked_at(self, e: Emitter, status: Ref, link: NativeLink, refs: Sequence[Ref]) -> Ref:
        """What came back, or the result in its place."""
        f, is_boxed = e.f, link.signature.result.is_boxed
        if self.instead is not None:
            other = _boxed_call(e, link, without_frames(self.instead))
            is_other = f.icmp("eq", status, e.context.keep(NotImplemented))

            def asked() -> Ref:
                decref(f, status)
                return _or_failed(f, f.call("ptr", other, (e.room, *refs)), is_boxed=is_boxed)

            status = _instead(f, status, is_other, asked)
        if self.check is None:
            return status
        nothing = e.context.keep(None) if link.signature.result == NONE else FAILED
        found = status

        def checked() -> Ref:
            is_right = f.binary("or", f.icmp("eq", found, FAILED), f.icmp("eq", found, nothing))
            return _instead(f, found, f.bool_not(is_right), lambda: _checked_by(e, self, found))

        return _instead(f, status, f.icmp("ne", status, NULL), checked)


def _checked_by(e: Emitter, after: AfterCall, found: Ref) -> Ref:
    f, keep = e.f, e.context.keep
    array = f.alloca("ptr", 1)
    f.store(found, array)
    check = keep(without_frames(after.check))
    made = f.call_external("ptr", "PyObject_Vectorcall", (check, array, integer("i64", 1), NULL))
    decref(f, found)
    return _or_failed(f, made, is_boxed=False)


def _or_failed(f: FunctionBuilder, made: Ref, *, is_boxed: bool) -> Ref:
    """An object that was made, or what says that none was."""
    return made if is_boxed else f.select(f.icmp("eq", made, NULL), FAILED, made)


def call_itself(
    e: Emitter, args: Sequence[Native], set_state: SetState, *, is_clean: bool
) -> Native:
    """Call the function's own body."""
    body = e.body
    assert body is not None
    if not is_clean:  # the body takes for granted what its entry has checked
        holds = _assumptions_hold(e)
        e.bailout.bail_if(e.f.bool_not(holds), "a variable has changed")
    refs, slots = _arguments(e, body, args)
    less = room_below(e.f, e.room, _frames(e))
    value, status = body.call(e.f, body.name, less, refs)
    for slot in slots:
        e.ownership.release_slot(slot)
    return _result(e, value, status, set_state, is_clean=is_clean)


def call_link(
    e: Emitter, link: NativeLink, args: Sequence[Native], set_state: SetState, after: AfterCall
) -> Native:
    """Call the native code of another unit if there is any; else the function, with objects."""
    f, body = e.f, Body("", link.signature, link.is_clean)
    refs, slots = _arguments(e, body, args)
    linked, maybe, boxed, done = (
        f.new_block(name) for name in ("linked", "maybe", "boxed", "ready")
    )
    e.context.keep(link)
    code = f.load("ptr", address(link.place))
    f.condbr(f.icmp("eq", code, NULL), boxed, linked, unlikely=True)
    f.start(linked)
    less = room_below(f, e.room, _frames(e))
    value, status = body.call(f, code.text, less, refs)
    fast = f.condbr(f.icmp("ne", status, NULL), maybe, done, unlikely=not value.type.is_boxed)
    f.start(maybe, cold=not value.type.is_boxed)
    other = f.condbr(f.icmp("eq", status, NOT_TAKEN), boxed, done, unlikely=True)
    f.start(boxed, cold=True)
    made = f.call("ptr", _boxed_call(e, link, link.callee), (e.room, *refs))
    made = _or_failed(f, made, is_boxed=value.type.is_boxed)
    slow = f.br(done)
    f.start(done)
    status = _phi(f, ((status, fast), (status, other), (made, slow)))
    nothing = [undef(part.type) for part in value.parts]
    parts = (
        [status]
        if value.type.is_boxed
        else [
            _phi(f, ((part, fast), (part, other), (none, slow)))
            for part, none in zip(value.parts, nothing, strict=True)
        ]
    )
    status = after.looked_at(e, status, link, refs)
    if value.type.is_boxed:
        parts = [status]
    elif after.is_negated:
        parts = [f.bool_not(parts[0])]
    for slot in slots:
        e.ownership.release_slot(slot)
    result = Native(value.type, parts)
    return _result(e, result, status, set_state, is_clean=link.is_clean)


def _instead(f: FunctionBuilder, status: Ref, is_other: Ref, make: Callable[[], Ref]) -> Ref:
    """What came back, or what `make` gives in its place, which is rare."""
    other, done = f.new_block("other"), f.new_block("as.wanted")
    fast = f.condbr(is_other, other, done, unlikely=True)
    f.start(other, cold=True)
    made = make()
    slow = f.br(done)
    f.start(done)
    return _phi(f, ((status, fast), (made, slow)))


def _frames(e: Emitter) -> int:
    """How many frames lie between those of the function and of what it calls: of inlined functions, too."""
    return 1 + (depth_of(e.bailout.node.range) if e.bailout.node is not None else 0)


def _phi(f: FunctionBuilder, edges: Sequence[tuple[Ref, BlockRef | None]]) -> Ref:
    phi = f.phi(edges[0][0].type)
    for value, block in edges:
        if block is not None:
            phi.add(value, block)
    return phi


def _boxed_call(e: Emitter, link: NativeLink, callee: object) -> str:
    """A function that makes objects of a body's arguments and calls `callee`; gives an object, or null."""
    module, keep = e.context.module, e.context.keep
    name = module.symbol("boxed_call", link.place, id(callee))
    if any(function.name == name for function in module.functions):
        return name
    body = Body(name, link.signature)
    f = module.function(name, "ptr", body.llvm_params, "internal")
    f.attributes = "nounwind cold noinline"
    failed = f.new_block("failed")
    array = f.alloca("ptr", len(link.signature.params) + 1)
    boxes = [_boxed_argument(f, value, keep) for value in body.arguments(f)]
    for index, (pointer, _) in enumerate(boxes):
        given = f.new_block("given")
        f.condbr(f.icmp("eq", pointer, NULL), failed, given, unlikely=True)
        f.start(given)
        f.store(pointer, f.gep("ptr", array, index + 1))
    frames = lower_depth(f, f.params[0])
    first = f.gep("ptr", array, 1)
    count = integer("i64", len(boxes) - len(link.by_name) + ARGUMENTS_OFFSET)
    by_name = keep(link.by_name) if link.by_name else NULL
    called = keep(callee), first, count, by_name
    result = f.call_external("ptr", "PyObject_Vectorcall", called)
    raise_depth(f, frames)
    for pointer, is_new in boxes:
        if is_new:
            decref(f, pointer)
    f.ret(result)
    if f.start(failed, cold=True):
        f.ret(NULL)
    return name


def _boxed_argument(f: FunctionBuilder, value: Native, keep: Keep) -> tuple[Ref, bool]:
    """The object of an argument, and whether it was made for this."""
    if value.type.is_boxed or isinstance(value.type, ArrayType):
        return value.parts[0], False
    return box(f, value, keep), True


def _result(
    e: Emitter, value: Native, status: Ref, set_state: SetState, *, is_clean: bool
) -> Native:
    """The value of a call, which may have left native code or failed."""
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
        if is_clean:
            bailout.bail_if(TRUE, CALLEE_LEFT)
            f.br(good)
        else:
            is_used = bailout.node is None or bailout.node.output.uses
            found = undef_of(value.type)
            if is_used:
                found = unbox_or_bail(e, made, value.type, f"not {value.type}")
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
