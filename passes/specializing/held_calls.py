"""Calls of what variables and attributes hold, and methods of objects of several classes: a branch for each kind.

A function that a variable, or an attribute of an object, holds is called as the one that it was in each profiled run,
natively or by its op; `prim::check_kind` says that it still is that one. One that a function has made is another one in
each run, of the same code, and so is a bound method, or a `functools.partial`, one of the same function: they are of
one kind, and what each gives of its own (`prim::given_value`) goes in front of the arguments. Where callables of a few
kinds came to the place, there is a branch for each kind (`prim::is_kind`). So there is where a method is called of
objects of a few classes.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from ljit.cpython.classes import is_open
from ljit.held import HeldKind, Receivers
from ljit.ir import Node, Value
from ljit.ops.control import GUARD, IF, OTHER_CALLABLE, PROFILE
from ljit.ops.members import CHECK_KIND, GIVEN_VALUE, IS_KIND, OWN_ATTRIBUTE
from ljit.passes.specializing.arguments import Own
from ljit.passes.specializing.call_writer import CallWriter, NativeCall
from ljit.passes.specializing.callees import worth_a_check
from ljit.passes.specializing.resolve import callable_op
from ljit.records import Record
from ljit.types import ANY, ObjectType

__all__ = ["HeldCalls"]


class _Way(Record):
    """How callables of a kind are called: of what they give, these are `used`; `emit` does it for one of them."""

    kind: HeldKind
    used: tuple[int, ...]
    emit: Callable[[Value], bool]


class HeldCalls:
    """The part of a walk that handles calls of what variables and attributes hold, and of methods by class."""

    def __init__(self, writer: CallWriter) -> None:
        self.writer = writer
        self.walk = writer.walk

    def kinds_of(self, variable: Value) -> Sequence[HeldKind]:
        """Which callables a variable of the baseline graph held, see `worth_a_check`."""
        if variable.node is None or variable.node.op is not PROFILE:
            return ()
        return worth_a_check(self.walk.feedback.observation(variable.node.id))

    def kinds_of_attribute(self, node: Node, receiver: Value) -> Sequence[HeldKind]:
        """Which callables objects had in the place of a method, see `worth_a_check`."""
        is_plain = isinstance(receiver.type, ObjectType) and is_open(receiver.type.cls)
        kinds = worth_a_check(self.walk.feedback.held(node.id)) if is_plain else ()
        return [kind for kind in kinds if not isinstance(kind, Receivers)]

    def classes_of(self, node: Node, receiver: Value) -> Sequence[HeldKind]:
        """Of which classes the objects of a method were, if the type does not tell; none if others came, too."""
        kinds = worth_a_check(self.walk.feedback.held(node.id)) if receiver.type == ANY else ()
        return kinds if all(isinstance(kind, Receivers) for kind in kinds) else ()

    def call_held(
        self,
        node: Node,
        variable: Callable[[], Value],
        kinds: Sequence[HeldKind],
        args: Sequence[Value],
    ) -> bool:
        """Call what a variable holds: natively, or by its op, if it is of a kind of which more is known than of any."""
        ways = [way for kind in kinds if (way := self._way(node, kind, args)) is not None]
        if not ways:
            return self.walk.visit_operation(node)
        held = variable()
        if len(kinds) == 1 and node.id not in self.walk.feedback.failed_tests:
            self.walk.out.append(CHECK_KIND, (held,), {"kind": kinds[0]}, like=node)
            return ways[0].emit(held)
        results = self._choose(node, held, ways, has_others=len(ways) < len(kinds))
        if results is None:
            return False
        self.walk.values[node.output] = results[0]
        self.walk.snapshot(f"after:{node.id}", self.walk.liveness.live_after(node))
        return True

    def is_for_others(self, node: Node) -> bool:
        """Whether a call of the baseline graph is for other callables than those inlined there, and none came."""
        around, seen = node.block.owner if node.block is not None else None, node.inputs[0].node
        if around is None or around.op is not IF or around.inputs[0].made_by(IS_KIND) is None:
            return False
        assert seen is not None
        return seen.op is PROFILE and self.walk.feedback.observation(seen.id) is None

    def visit_test(self, node: Node) -> bool:
        """``prim::is_kind`` of the baseline graph: no test where callables of one kind came, but a check.

        The check may go in front of a loop. Where it failed there, the call was not reached: the test stays.
        """
        held, kind, used = self.walk.values[node.inputs[0]], node.attrs["kind"], node.attrs["used"]
        assert isinstance(kind, HeldKind) and isinstance(used, tuple)
        kinds = self.kinds_of(node.inputs[0])
        feedback = self.walk.feedback
        has_failed = feedback.is_widened(node.id) or node.id in feedback.failed_tests
        if not kinds or not held.type.is_boxed or has_failed:
            return self.walk.visit_operation(node)
        is_here = any(kind.joined(other) is not None for other in kinds)
        if is_here and len(kinds) > 1:
            return self.walk.visit_operation(node)
        if is_here:
            self.walk.out.append(CHECK_KIND, (held,), {"kind": kind}, like=node)
        self.walk.finish(node, [self.walk.out.constant_object(is_here)])
        return True

    def _choose(
        self, node: Node, held: Value, ways: Sequence[_Way], *, has_others: bool
    ) -> list[Value] | None:
        """Branch on the kind of what is called; `has_others`: some are called as any object is."""
        walk, out = self.walk, self.walk.out

        def result(*, goes_on: bool) -> list[Value] | None:
            return [walk.values[node.output]] if goes_on else None

        if not ways and has_others:
            return result(goes_on=walk.visit_operation(node))
        if not ways:
            return result(goes_on=out.deoptimize(OTHER_CALLABLE, node))
        first, *others = ways
        attrs = {"kind": first.kind, "used": first.used}
        test = out.append(IS_KIND, (held,), attrs, like=node).output
        branch, was_dirty = out.append(IF, (test,), like=node), out.dirty
        end = out.in_branch(branch, lambda: result(goes_on=first.emit(held)))
        is_dirty, out.dirty = out.dirty, was_dirty
        other = out.in_branch(
            branch, lambda: self._choose(node, held, others, has_others=has_others)
        )
        out.dirty |= is_dirty
        return out.merge(branch, [end, other], node)

    def _way(self, node: Node, kind: HeldKind, args: Sequence[Value]) -> _Way | None:
        """Give the way of calling a callable of the kind: natively or by its op, if it has one."""
        front = [Own(index, type_) for index, type_ in enumerate(kind.given)]
        by_name = {name: Own(index, kind.types[index]) for name, index in kind.keywords.items()}
        call = self.writer.native_call(node, kind.function, args, front, by_name)
        if call is None:
            has_op = callable_op(kind.function, "callables") is not None
            if not has_op or kind.classes or self.walk.feedback.is_widened(node.id):
                return None
            return _Way(kind, (), lambda _: self.writer.apply(node, kind.function, args))
        if isinstance(kind, Receivers):
            return self._way_by_class(node, kind, call)
        out, native = self.walk.out, call

        def emit(held: Value) -> bool:
            def own(value: Own) -> Value:
                place = {"kind": kind, "index": value.index}
                found = out.append(GIVEN_VALUE, (held,), place, like=node).output
                return out.append(GUARD, (found,), {"type": value.type}, like=node).output

            return self.writer.emit(node, native, own)

        used = tuple(value.index for value in call.given.values if isinstance(value, Own))
        return _Way(kind, used, emit)

    def _way_by_class(self, node: Node, kind: Receivers, call: NativeCall) -> _Way:
        """Give the way of calling the method of objects of a class, which may die behind the call."""
        native = call.with_changes(attrs={**call.attrs, "is_clean": False})

        def emit(object_: Value) -> bool:
            def receiver(own: Own) -> Value:
                found = self.walk.out.append(GUARD, (object_,), {"type": own.type}, like=node)
                self.writer.check_method(node, found.output, kind.method, kind.function)
                return found.output

            return self.writer.emit(node, native, receiver)

        return _Way(kind, (), emit)

    def own_attribute(self, node: Node, receiver: Value) -> Value:
        attrs = {"name": node.attrs["name"]}
        return self.walk.out.append(OWN_ATTRIBUTE, (receiver,), attrs, like=node).output
