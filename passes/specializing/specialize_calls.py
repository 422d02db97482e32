"""The specialiser's walk over calls: native ones of functions and methods whose code is known.

A function that a variable, or an attribute of an object, holds is called as the one that it was in each profiled run,
natively or by its op; `prim::check_kind` says that it still is that one. One that a function has made is another one in
each run, of the same code, and so is a bound method, or a `functools.partial`, one of the same function: they are of
one kind, and what each gives of its own (`prim::given_value`) goes in front of the arguments. Where callables of a few
kinds came to the place, there is a branch for each kind (`prim::is_kind`). A method of a user's class is called as the
function that the class has now; `prim::check_method` says that it still is that one, `prim::check_super`
says it of what `super()` finds, for which no object is made. Python functions of installed libraries are left to
CPython: they are many, long, and seldom what a loop is about.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from types import FunctionType
from typing import TYPE_CHECKING, Protocol

from ljit.analysis.assumptions import assumptions_of_cell
from ljit.analysis.liveness import Liveness
from ljit.held import HeldKind
from ljit.ir import Effect, Node, OpDef, Value, get_op
from ljit.ops.containers import TUPLE_INDEX
from ljit.ops.control import CALL_NATIVE, GUARD, IF, NOT_RUN, OTHER_CALLABLE, PROFILE
from ljit.ops.members import (
    CHECK_KIND,
    CHECK_MEMBER,
    CHECK_METHOD,
    CHECK_SUPER,
    GIVEN_VALUE,
    IS_KIND,
    MEMBER,
    METHOD,
    NEW_OBJECT,
    OWN_ATTRIBUTE,
    SUPER,
    SUPER_METHOD,
)
from ljit.ops.objects import CALL
from ljit.ops.python_types import is_open
from ljit.passes.specializing.arguments import Arguments, Own, arguments_of
from ljit.passes.specializing.callees import (
    ClassMember,
    behind_super,
    function_of,
    is_derived,
    member_of_class,
    users_method,
    worth_a_check,
)
from ljit.passes.specializing.graph_writer import GraphWriter
from ljit.passes.specializing.native_calls import NativeCalls, profile_of
from ljit.passes.specializing.resolve import Request, callable_op
from ljit.passes.specializing.seen_items import Failures
from ljit.passes.specializing.special_methods import is_plainly_made, special_method
from ljit.passes.specializing.specialize_names import Changes
from ljit.records import Record
from ljit.types import NEVER, NONE, ObjectType, TupleType

if TYPE_CHECKING:
    from ljit.passes.specializing.specialize_control import ControlFlow

__all__ = ["Calls"]

_CALL = "__call__"
_NO_NAMES: Mapping[str, Own] = {}
_BOUND = (METHOD, SUPER_METHOD, MEMBER)  # methods that were looked up


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


class _NativeCall(Record):
    """A native call: its arguments, and the attributes."""

    given: Arguments
    attrs: Mapping[str, object]


class _Way(Record):
    """How callables of a kind are called: of what they give, these are `used`; `emit` does it for one of them."""

    kind: HeldKind
    used: tuple[int, ...]
    emit: Callable[[Value], bool]


class Calls:
    """The part of a walk that handles calls; `handlers` are by op."""

    def __init__(self, walk: Walk, native: NativeCalls) -> None:
        self.walk = walk
        self.native = native
        self.handlers: dict[OpDef, Callable[[Node], bool]] = {
            get_op("py::call"): self.visit_call,
            get_op("py::call_ex"): self.visit_spread_call,
            get_op("py::call_method"): self.visit_method,
            get_op("py::getattr"): self.visit_attribute,
            get_op("prim::bound_super"): self.visit_super,
        }

    def visit_operator(self, node: Node) -> bool:
        """An operation for which users' classes may have a method: a native call of that, or as any other."""
        operands = [self.walk.values[v] for v in node.inputs]
        call = special_method(node.op, operands)
        method = users_method(call.operands[0].type, call.name) if call is not None else None
        if call is None or method is None:
            return self.walk.visit_operation(node)
        if node.output.uses and profile_of(node) is None:
            self.native.lacks_profiles = True
        method = self._unless_left(method)
        return self._call_users_method(node, method, call.name, call.operands, call.instead)

    def visit_call(self, node: Node) -> bool:
        """A call: native if the callee is, else what the callee's op or Python does."""
        return self._visit_call(node, [self.walk.values[v] for v in node.inputs[1:]])

    def visit_spread_call(self, node: Node) -> bool:
        """``f(*a)``: of a tuple it is known what is in it."""
        _, args, keywords = (self.walk.values[v] for v in node.inputs)
        if not isinstance(args.type, TupleType) or keywords.type != NONE:
            return self.walk.visit_operation(node)
        places = range(len(args.type.items))
        items = [self.walk.out.append(TUPLE_INDEX, (args,), {"index": k}) for k in places]
        return self._visit_call(node, [item.output for item in items], is_spread=True)

    def _visit_call(self, node: Node, args: Sequence[Value], *, is_spread: bool = False) -> bool:
        """`is_spread`: the pass "inline" could not tell whether it is worth to call a plain function natively."""
        callee = self.walk.values[node.inputs[0]]
        made = next((m for op in _BOUND if (m := callee.made_by(op)) is not None), None)
        found, given = (None, ()) if made is None else function_of(made)
        if found is not None:
            return self._call_function(node, found, [*given, *args])
        if not callee.is_constant and (kinds := self._kinds_of(node.inputs[0])):
            return self._call_held(node, lambda: callee, kinds, args)
        method = self._unless_left(users_method(callee.type, _CALL))
        if method is not None:
            return self._call_users_method(node, method, _CALL, [callee, *args])
        function = callee.constant if callee.is_constant else None
        if isinstance(function, type) and self._makes(node, function, args):
            return True
        is_plain = isinstance(function, FunctionType) and function is not self.native.function
        is_left = is_plain and not is_spread
        call = None if is_left else self._native_call(node, function, args)
        return self.walk.visit_operation(node) if call is None else self._emit(node, call)

    def _makes(self, node: Node, cls: type, args: Sequence[Value]) -> bool:
        """Make an object of a user's class and call its ``__init__`` natively; whether that is possible."""
        made = Own(0, ObjectType(cls))
        method = users_method(made.type, "__init__") if is_plainly_made(cls) else None
        call = self._native_call(node, self._unless_left(method), args, [made], is_init=True)
        if call is None:
            return False
        object_ = self.walk.out.append(NEW_OBJECT, (), {"cls": cls}, like=node).output
        self._check_method(node, object_, "__init__", method)
        return self._emit(node, call, lambda _: object_, object_)

    def visit_method(self, node: Node) -> bool:
        """``x.name(...)``."""
        receiver, *args = (self.walk.values[v] for v in node.inputs)
        if (method := behind_super(receiver, str(node.attrs["name"]))) is not None:
            checked = self._check_super(node, receiver, method)
            return self._call_function(node, method, [*checked.inputs, *args])
        if (member := self._member(node, receiver)) is not None:
            function = member.value if member.is_plain else member.function
            return self._call_function(node, function, [*member.given, *args])
        kinds = self._kinds_of_attribute(node, receiver)
        if kinds:
            return self._call_held(node, lambda: self._own_attribute(node, receiver), kinds, args)
        name = str(node.attrs["name"])
        method = self._unless_left(users_method(receiver.type, name))
        return self._call_users_method(node, method, name, [receiver, *args])

    def _call_users_method(
        self,
        node: Node,
        method: object,
        name: str,
        args: Sequence[Value],
        instead: tuple[object, ...] | None = None,
    ) -> bool:
        """Call the method of the first argument as the function that it is, if that is native.

        `instead`: a function and its arguments, called if the method gives NotImplemented.
        """
        call = self._native_call(node, method, args)
        if call is None:
            return self.walk.visit_operation(node)
        if instead is not None:
            call = call.with_changes(attrs={**call.attrs, "instead": instead})
        self._check_method(node, args[0], name, method)
        return self._emit(node, call)

    def visit_attribute(self, node: Node) -> bool:
        """``x.name``: of a method that is only called it counts which one it is, not the bound object."""
        receiver, name = self.walk.values[node.inputs[0]], str(node.attrs["name"])
        is_called = _is_only_called(node.output)
        if is_called and (found := behind_super(receiver, name)) is not None:
            checked = self._check_super(node, receiver, found)
            attrs = {"above": checked.attrs["above"], "name": name}
            bound = self.walk.out.append(SUPER_METHOD, checked.inputs, attrs, like=node)
            self.walk.finish(node, bound.outputs)
            return True
        if (member := self._member(node, receiver, is_called=is_called)) is not None:
            self.walk.finish(node, [self._value_of_member(node, member)])
            return True
        method = users_method(receiver.type, name) if is_called else None
        if method is None or self.walk.feedback.is_widened(node.id):
            return self.walk.visit_operation(node)
        self.walk.out.effects = Effect.PURE
        self._check_method(node, receiver, name, method)
        bound = self.walk.out.append(METHOD, (receiver,), {"name": name}, like=node)
        self.walk.finish(node, bound.outputs)
        return True

    def visit_super(self, node: Node) -> bool:
        """``super()``: for an object of a user's class it is known what is found by it."""
        receiver, scope = self.walk.values[node.inputs[0]], node.attrs["scope"]
        assert isinstance(scope, FunctionType)
        assumptions = assumptions_of_cell("__class__", scope)
        if not assumptions or self.walk.feedback.is_unstable("__class__"):
            return self.walk.visit_operation(node)
        above = assumptions[0].value
        if not is_derived(receiver.type, above):
            return self.walk.visit_operation(node)
        self.walk.out.assume(assumptions[0], node)
        self.walk.out.effects = Effect.PURE
        made = self.walk.out.append(SUPER, (receiver,), {"above": above}, like=node)
        self.walk.finish(node, made.outputs)
        return True

    def _check_super(self, node: Node, bound: Value, function: object) -> Node:
        """Check that the function still is what ``super().name`` finds; its input is the object of the method."""
        self.walk.out.effects = Effect.PURE
        made = bound.made_by(SUPER)
        assert made is not None
        attrs = {**made.attrs, "name": node.attrs["name"], "function": function}
        return self.walk.out.append(CHECK_SUPER, made.inputs, attrs, like=node)

    def _member(self, node: Node, receiver: Value, *, is_called: bool = True) -> ClassMember | None:
        """What a class that is known has, behind a check; None: it may change, or has no use but a call."""
        name = str(node.attrs["name"])
        member = member_of_class(receiver, name)
        is_widened = self.walk.feedback.is_widened(node.id)
        if member is None or is_widened or not (is_called or member.is_plain):
            return None
        self.walk.out.effects = Effect.PURE
        attrs = {"cls": receiver.constant, "name": name, "value": member.value}
        self.walk.out.append(CHECK_MEMBER, (), attrs, like=node)
        return member

    def _value_of_member(self, node: Node, member: ClassMember) -> Value:
        if member.is_plain:
            return self.walk.out.constant_object(member.value)
        attrs = {"name": node.attrs["name"], "type": member.type}
        return self.walk.out.append(MEMBER, (member.cls,), attrs, like=node).output

    def _kinds_of(self, variable: Value) -> Sequence[HeldKind]:
        """Which callables a variable of the baseline graph held, see `worth_a_check`."""
        if variable.node is None or variable.node.op is not PROFILE:
            return ()
        return worth_a_check(self.walk.feedback.observation(variable.node.id))

    def _kinds_of_attribute(self, node: Node, receiver: Value) -> Sequence[HeldKind]:
        """Which callables objects had in the place of a method, see `worth_a_check`."""
        is_plain = isinstance(receiver.type, ObjectType) and is_open(receiver.type.cls)
        return worth_a_check(self.walk.feedback.held(node.id)) if is_plain else ()

    def _call_held(
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
        if len(kinds) == 1:
            self.walk.out.append(CHECK_KIND, (held,), {"kind": kinds[0]}, like=node)
            return ways[0].emit(held)
        results = self._choose(node, held, ways, has_others=len(ways) < len(kinds))
        if results is None:
            return False
        self.walk.values[node.output] = results[0]
        self.walk.snapshot(f"after:{node.id}", self.walk.liveness.live_after(node))
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
        call = self._native_call(node, kind.function, args, front, by_name)
        if call is None:
            has_op = callable_op(kind.function, "callables") is not None
            if not has_op or kind.classes or self.walk.feedback.is_widened(node.id):
                return None
            return _Way(kind, (), lambda _: self._apply(node, kind.function, args))
        out, native = self.walk.out, call

        def emit(held: Value) -> bool:
            def own(value: Own) -> Value:
                place = {"kind": kind, "index": value.index}
                found = out.append(GIVEN_VALUE, (held,), place, like=node).output
                return out.append(GUARD, (found,), {"type": value.type}, like=node).output

            return self._emit(node, native, own)

        used = tuple(value.index for value in call.given.values if isinstance(value, Own))
        return _Way(kind, used, emit)

    def _own_attribute(self, node: Node, receiver: Value) -> Value:
        attrs = {"name": node.attrs["name"]}
        return self.walk.out.append(OWN_ATTRIBUTE, (receiver,), attrs, like=node).output

    def _call_function(self, node: Node, method: object, args: Sequence[Value]) -> bool:
        """Call a method that was looked up, as the function that it is: nobody needs the bound object."""
        call = self._native_call(node, self._unless_left(method), args)
        return self._emit(node, call) if call is not None else self._apply(node, method, args)

    def _apply(self, node: Node, function: object, args: Sequence[Value]) -> bool:
        """Call a function that is known."""
        callee = self.walk.out.constant(function)
        attrs = {"kwnames": node.attrs.get("kwnames", ())}
        results = self.walk.apply(Request(CALL, (callee, *args), attrs), node)
        if results is not None:
            self.walk.finish(node, results)
        return results is not None

    def _native_call(
        self,
        node: Node,
        callee: object,
        args: Sequence[Value],
        front: Sequence[Own] = (),
        by_name: Mapping[str, Own] = _NO_NAMES,
        *,
        is_init: bool = False,
    ) -> _NativeCall | None:
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
        if is_init:
            attrs = self.native.init(callee, given.types)
        else:
            attrs = self.native.call(node, callee, given.types, walk.feedback)
        if attrs is None:
            return None
        if any(map(_has_finalizer, args)):
            attrs = {**attrs, "is_clean": False}
        return _NativeCall(given, attrs)

    def _emit(
        self,
        node: Node,
        call: _NativeCall,
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
            args.append(value)

        def emit() -> Node:
            made = walk.out.append(CALL_NATIVE, args, call.attrs, like=node)
            if trys.has_raised(node):  # it stands in a Try, with the state behind it
                walk.values[node.output] = result or made.output
                walk.snapshot(f"after:{node.id}", walk.liveness.live_after(node))
            return made

        outputs = trys.tried(node, emit).outputs
        walk.finish(node, outputs if result is None else [result])
        return True

    def _check_method(self, node: Node, receiver: Value, name: str, method: object) -> None:
        attrs = {"name": name, "function": method}
        self.walk.out.append(CHECK_METHOD, (receiver,), attrs, like=node)

    def _unless_left(self, method: object) -> object:
        """The method; None if code like this calls methods as objects: it is compiled again once it runs often."""
        if method is None or self.native.has_methods:
            return method
        self.native.leaves_methods = True
        return None


def _has_finalizer(value: Value) -> bool:
    """Whether an object that dies behind the call that it is for may run code: that of a user's class."""
    return isinstance(value.type, ObjectType) and is_open(value.type.cls)


def _is_only_called(value: Value) -> bool:
    """Whether a baseline value is used by one call, as what is called."""
    while len(value.uses) == 1:
        ((user, index),) = value.uses
        if user.op is not PROFILE:
            return user.op is get_op("py::call") and index == 0
        value = user.output
    return False
