"""Calls whose code is known, as nodes: native ones, or what the op of the callee makes of them."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Protocol

from ljit.analysis.liveness import Liveness
from ljit.cpython.classes import is_open
from ljit.ir import Effect, Node, Value
from ljit.ops.control import CALL_NATIVE, GUARD, NOT_RUN
from ljit.ops.members import CHECK_METHOD
from ljit.ops.objects import CALL
from ljit.passes.containers.identities import as_whole_object, is_identity_asked
from ljit.passes.specializing.arguments import Arguments, Own, arguments_of
from ljit.passes.specializing.graph_writer import GraphWriter
from ljit.passes.specializing.native_calls import NativeCalls
from ljit.passes.specializing.requests import Request
from ljit.passes.specializing.seen_items import Failures
from ljit.passes.specializing.specialize_names import Changes
from ljit.records import Record
from ljit.types import ANY, NEVER, ObjectType, Type
from ljit.value_types import type_of

if TYPE_CHECKING:
    from ljit.passes.specializing.specialize_control import ControlFlow

__all__ = ["CallWriter", "NativeCall", "Walk"]

_NO_NAMES: Mapping[str, Own] = {}


class Feedback(Failures, Changes, Protocol):
    """What earlier runs have shown about calls and defaults."""


class Walk(Protocol):
    """The walk that calls are part of."""

    out: GraphWriter
    values: dict[Value, Value]
    liveness: Liveness
    control: ControlFlow

    @property
    def feedback(self) -> Feedback:
        """What earlier runs have shown."""

    def visit_operation(self, node: Node) -> bool:
        """Walk a node as any other; False if control does not go on behind it."""

    def apply(self, request: Request, node: Node) -> list[Value] | None:
        """Emit an operation in the place of a node; None if it never comes to an end."""

    def finish(self, node: Node, results: Sequence[Value]) -> None:
        """Note what a node became."""

    def snapshot(self, at: str, live: Iterable[Value], effects: Effect = Effect.PURE) -> None:
        """Put a Snapshot of values of the program here."""


class NativeCall(Record):
    """A native call: its arguments, and the attributes."""

    given: Arguments
    attrs: Mapping[str, object]


def _passed_type(value: Value | Own) -> Type:
    """The type of an argument; of an object that is a constant (a default ``x=MISSING``) it is guarded."""
    if isinstance(value, Own) or value.type != ANY or not value.is_constant:
        return value.type
    found = type_of(value.constant)
    return found if isinstance(found, ObjectType) else ANY


class CallWriter:
    """Writes the calls of a walk."""

    def __init__(self, walk: Walk, native: NativeCalls) -> None:
        self.walk = walk
        self.native = native

    def apply(self, node: Node, function: object, args: Sequence[Value]) -> bool:
        """Call a function that is known."""
        callee = self.walk.out.constant(function)
        attrs = {"kwnames": node.attrs.get("kwnames", ())}
        results = self.walk.apply(Request(CALL, (callee, *args), attrs), node)
        if results is not None:
            self.walk.finish(node, results)
        return results is not None

    def native_call(
        self,
        node: Node,
        callee: object,
        args: Sequence[Value],
        front: Sequence[Own] = (),
        by_name: Mapping[str, Own] = _NO_NAMES,
        *,
        is_init: bool = False,
    ) -> NativeCall | None:
        """Give the native call that a call is, with other values in front of the arguments, or `by_name`.

        None: it is one of objects. That shows what is called the exception that is handled.
        """
        walk = self.walk
        walk.out.effects = Effect.PURE
        if callee is None or walk.feedback.is_widened(node.id) or walk.out.handled:
            return None
        kwnames = node.attrs.get("kwnames", ())
        assert isinstance(kwnames, tuple)
        others = {name: own for name, own in by_name.items() if name not in kwnames}
        values: list[Value | Own] = [*front, *args, *others.values()]
        given = arguments_of(callee, values, (*kwnames, *others), walk.out.constant_object)
        if given is None or any(walk.feedback.is_unstable(a.key) for a in given.assumptions):
            return None
        types_ = self._passed_types(node, given.values)
        if is_init:
            attrs = self.native.init(callee, types_)
        else:
            attrs = self.native.call(node, callee, types_, walk.feedback)
        if attrs is None:
            return None
        if any(map(_has_finalizer, args)):
            attrs = {**attrs, "is_clean": False}
        return NativeCall(given, attrs)

    def _passed_types(self, node: Node, values: Sequence[Value | Own]) -> tuple[Type, ...]:
        """The types of arguments; those whose identity is asked here are passed as the objects that they are."""
        operands = self.walk.values
        asked = [operands[v] for v in node.inputs if is_identity_asked(v, operands[v].type)]
        return tuple(as_whole_object(v.type) if v in asked else _passed_type(v) for v in values)

    def emit(
        self,
        node: Node,
        call: NativeCall,
        own: Callable[[Own], Value] | None = None,
        result: Value | None = None,
    ) -> bool:
        """Emit a native call; `own` gives values of the callable's own.

        `result`: what the node gives, if not what the callee does.
        """
        walk, trys = self.walk, self.walk.control.trys
        if call.attrs["result"] == NEVER:
            return walk.out.deoptimize(NOT_RUN, node)
        for assumption in call.given.assumptions:
            walk.out.assume(assumption, node)
        args = []
        for value in call.given.values:
            if isinstance(value, Own):
                assert own is not None
                value = own(value)
            type_ = _passed_type(value)
            if type_ != value.type:
                value = walk.out.append(GUARD, (value,), {"type": type_}, like=node).output
            args.append(value)

        def emit() -> Node:
            made = walk.out.append(CALL_NATIVE, args, call.attrs, like=node)
            if trys.has_raised(node):  # it stands in a Try, with the state behind it
                walk.values.update((value, result or made.output) for value in node.outputs)
                walk.snapshot(f"after:{node.id}", walk.liveness.live_after(node))
            return made

        made = trys.tried(node, emit).output
        walk.finish(node, [result or made for _ in node.outputs])  # of a statement there are none
        return True

    def check_method(self, node: Node, receiver: Value, name: str, method: object) -> None:
        attrs = {"name": name, "function": method}
        self.walk.out.append(CHECK_METHOD, (receiver,), attrs, like=node)


def _has_finalizer(value: Value) -> bool:
    """Whether an object that dies behind the call that it is for may run code: that of a user's class."""
    return isinstance(value.type, ObjectType) and is_open(value.type.cls)
