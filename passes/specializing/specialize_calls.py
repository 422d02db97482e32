"""The specialiser's walk over calls: native ones of functions and methods whose code is known.

A function that a variable, or an attribute of an object, holds is called as the one that it was in each profiled run,
natively or by its op; `prim::check_function` says that it still is that one. One that a function has made is another
one in each run, of the same code, and so is a bound method, or a `functools.partial`, one of the same function:
`prim::check_kind` says so, and what it gives of its own (`prim::given_value`) goes in front of the arguments. A
method of a user's class is called as the function that the class has now; `prim::check_method` says that it still is
that one, `prim::check_super` says it of what `super()` finds, for which no object is made. Python functions of
installed libraries are left to CPython: they are many, long, and seldom what a loop is about.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Mapping, Sequence
from types import CodeType, FunctionType
from typing import TYPE_CHECKING, Protocol

from ljit.analysis.assumptions import assumptions_of_cell, python_function
from ljit.analysis.liveness import Liveness
from ljit.held import HeldKind, MadeFunctions
from ljit.ir import Effect, Node, OpDef, Value, get_op
from ljit.ops.control import CALL_NATIVE, GUARD, NOT_RUN, PROFILE
from ljit.ops.members import (
    CHECK_FUNCTION,
    CHECK_KIND,
    CHECK_METHOD,
    CHECK_SUPER,
    GIVEN_VALUE,
    METHOD,
    NEW_OBJECT,
    OWN_ATTRIBUTE,
    SUPER,
    SUPER_METHOD,
)
from ljit.ops.objects import CALL
from ljit.ops.python_types import find_behind, has_plain_lookup, is_open
from ljit.passes.specializing.arguments import Arguments, Own, arguments_of
from ljit.passes.specializing.graph_writer import GraphWriter
from ljit.passes.specializing.native_calls import NativeCalls, profile_of
from ljit.passes.specializing.resolve import Request, callable_op
from ljit.passes.specializing.seen_items import Failures
from ljit.passes.specializing.special_methods import is_plainly_made, special_method
from ljit.passes.specializing.specialize_names import Changes
from ljit.profile import Observation
from ljit.records import Record
from ljit.types import NEVER, ObjectType, Type

if TYPE_CHECKING:
    from ljit.passes.specializing.specialize_control import ControlFlow

__all__ = ["Calls"]

_CALL = "__call__"
_LIBRARY = os.path.join(os.path.dirname(os.__file__), "")


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


class Calls:
    """The part of a walk that handles calls; `handlers` are by op."""

    def __init__(self, walk: Walk, native: NativeCalls) -> None:
        self.walk = walk
        self.native = native
        self.handlers: dict[OpDef, Callable[[Node], bool]] = {
            get_op("py::call"): self.visit_call,
            get_op("py::call_method"): self.visit_method,
            get_op("py::getattr"): self.visit_attribute,
            get_op("prim::bound_super"): self.visit_super,
        }

    def visit_operator(self, node: Node) -> bool:
        """An operation for which users' classes may have a method: a native call of that, or as any other."""
        operands = [self.walk.values[v] for v in node.inputs]
        call = special_method(node.op, operands)
        method = _users_method(call.operands[0].type, call.name) if call is not None else None
        if call is None or method is None:
            return self.walk.visit_operation(node)
        if node.output.uses and profile_of(node) is None:
            self.native.lacks_profiles = True
        method = self._unless_left(method)
        return self._call_users_method(node, method, call.name, call.operands, call.instead)

    def visit_call(self, node: Node) -> bool:
        """A call: native if the callee is, else what the callee's op or Python does."""
        callee, *args = (self.walk.values[v] for v in node.inputs)
        made = callee.made_by(METHOD) or callee.made_by(SUPER_METHOD)
        if made is not None and (method := _function_of(made)):
            return self._call_function(node, method, [*made.inputs, *args])
        if not callee.is_constant and (held := self._function_held(node.inputs[0])) is not None:
            return self._call_held(node, lambda: callee, held, args)
        method = self._unless_left(_users_method(callee.type, _CALL))
        if method is not None:
            return self._call_users_method(node, method, _CALL, [callee, *args])
        function = callee.constant if callee.is_constant else None
        if isinstance(function, type) and self._makes(node, function, args):
            return True
        is_plain = isinstance(function, FunctionType) and function is not self.native.function
        call = None if is_plain else self._native_call(node, function, args)
        return self.walk.visit_operation(node) if call is None else self._emit(node, call)

    def _makes(self, node: Node, cls: type, args: Sequence[Value]) -> bool:
        """Make an object of a user's class and call its ``__init__`` natively; whether that is possible."""
        made = Own(0, ObjectType(cls))
        method = _users_method(made.type, "__init__") if is_plainly_made(cls) else None
        call = self._native_call(node, self._unless_left(method), args, [made], is_init=True)
        if call is None:
            return False
        object_ = self.walk.out.append(NEW_OBJECT, (), {"cls": cls}, like=node).output
        self._check_method(node, object_, "__init__", method)
        return self._emit(node, call, lambda _: object_, object_)

    def visit_method(self, node: Node) -> bool:
        """``x.name(...)``."""
        receiver, *args = (self.walk.values[v] for v in node.inputs)
        if (method := _behind_super(receiver, str(node.attrs["name"]))) is not None:
            checked = self._check_super(node, receiver, method)
            return self._call_function(node, method, [*checked.inputs, *args])
        held = self._attribute_held(node, receiver)
        if held is not None:
            return self._call_held(node, lambda: self._own_attribute(node, receiver), held, args)
        name = str(node.attrs["name"])
        method = self._unless_left(_users_method(receiver.type, name))
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
        if is_called and (found := _behind_super(receiver, name)) is not None:
            checked = self._check_super(node, receiver, found)
            attrs = {"above": checked.attrs["above"], "name": name}
            bound = self.walk.out.append(SUPER_METHOD, checked.inputs, attrs, like=node)
            self.walk.finish(node, bound.outputs)
            return True
        method = _users_method(receiver.type, name) if is_called else None
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
        if not _is_derived(receiver.type, above):
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

    def _function_held(self, variable: Value) -> object:
        """What a variable of the baseline graph held each time, see `_worth_a_check`."""
        if variable.node is None or variable.node.op is not PROFILE:
            return None
        return _worth_a_check(self.walk.feedback.observation(variable.node.id))

    def _attribute_held(self, node: Node, receiver: Value) -> object:
        """What objects had each time in the place of a method, see `_worth_a_check`."""
        is_plain = isinstance(receiver.type, ObjectType) and is_open(receiver.type.cls)
        return _worth_a_check(self.walk.feedback.held(node.id)) if is_plain else None

    def _call_held(
        self, node: Node, variable: Callable[[], Value], held: object, args: Sequence[Value]
    ) -> bool:
        """Call the function that a variable held, if that is better than to call any: if its code or op is known."""
        if isinstance(held, HeldKind):
            return self._call_kind(node, variable, held, args)
        call = self._native_call(node, held, args)
        has_op = callable_op(held, "callables") is not None
        if call is None and (not has_op or self.walk.feedback.is_widened(node.id)):
            return self.walk.visit_operation(node)
        self.walk.out.append(CHECK_FUNCTION, (variable(),), {"function": held}, like=node)
        if call is not None:
            return self._emit(node, call)
        return self._apply(node, held, args)

    def _call_kind(
        self, node: Node, variable: Callable[[], Value], kind: HeldKind, args: Sequence[Value]
    ) -> bool:
        """Call what gives a function values of its own in front: natively, if at all."""
        function = kind if isinstance(kind, MadeFunctions) else kind.key[0]
        front = [Own(index, type_) for index, type_ in enumerate(kind.given)]
        call = self._native_call(node, function, args, front)
        if call is None:
            return self.walk.visit_operation(node)
        out, held = self.walk.out, variable()
        out.append(CHECK_KIND, (held,), {"kind": kind}, like=node)

        def value(own: Own) -> Value:
            place = {"kind": kind, "index": own.index}
            found = out.append(GIVEN_VALUE, (held,), place, like=node).output
            return out.append(GUARD, (found,), {"type": own.type}, like=node).output

        return self._emit(node, call, value)

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
        *,
        is_init: bool = False,
    ) -> _NativeCall | None:
        """Give the native call that a call is, with other values in front of the arguments.

        None: it is one of objects. That shows what is called the exception that is handled.
        """
        walk = self.walk
        walk.out.effects = Effect.PURE
        if callee is None or walk.feedback.is_widened(node.id) or walk.out.handled:
            return None
        kwnames = node.attrs.get("kwnames", ())
        assert isinstance(kwnames, tuple)
        given = arguments_of(callee, [*front, *args], kwnames, walk.out.constant_object)
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


def _worth_a_check(seen: Observation | None) -> object:
    """The function that was seen each time, if it may be again, and if it is known more of it than of any object.

    One that a function has made is another one in other calls: of these the kind is known. Of others than Python's only
    those count that have an op. None: it is not worth it.
    """
    if seen is None:
        return None
    if seen.kind is not None:
        return None if _is_of_library(_code_of(seen.kind)) else seen.kind
    function = python_function(seen.constant)
    if function is None or _is_of_library(function.__code__):
        return None if callable_op(seen.constant, "callables") is None else seen.constant
    return None if "<locals>" in function.__qualname__ else seen.constant


def _code_of(kind: HeldKind) -> CodeType | None:
    if isinstance(kind, MadeFunctions):
        return kind.code
    function = python_function(kind.key[0])
    return None if function is None else function.__code__


def _is_of_library(code: CodeType | None) -> bool:
    """Whether it is of an installed library, or nobody's."""
    return code is None or code.co_filename.startswith(_LIBRARY)


def _has_finalizer(value: Value) -> bool:
    """Whether an object that dies behind the call that it is for may run code: that of a user's class."""
    return isinstance(value.type, ObjectType) and is_open(value.type.cls)


def _users_method(type_: Type, name: str) -> object:
    """Give the function that the class of the objects has under the name, decorated or not.

    None: it has another thing there, or none.
    """
    if not isinstance(type_, ObjectType) or not is_open(type_.cls):
        return None
    if not has_plain_lookup(type_.cls):
        return None
    return _users_function(
        next((vars(c)[name] for c in type_.cls.__mro__ if name in vars(c)), None)
    )


def _users_function(found: object) -> object:
    """What a class has, if it is a function, decorated or not, and not one of an installed library; else None."""
    function = python_function(found)
    return None if function is None or _is_of_library(function.__code__) else found


def _function_of(bound: Node) -> object:
    """The function of a method that was looked up."""
    name = str(bound.attrs["name"])
    if bound.op is SUPER_METHOD:
        return _function_behind(bound, name)
    return _users_method(bound.inputs[0].type, name)


def _is_derived(type_: Type, above: object) -> bool:
    """Whether the objects, which are no classes, are of a class that is derived from another."""
    return (
        isinstance(type_, ObjectType)
        and not issubclass(type_.cls, type)
        and above in type_.cls.__mro__
    )


def _behind_super(receiver: Value, name: str) -> object:
    """The function that ``super()`` finds under the name; None: it is no such value, or finds another thing."""
    made = receiver.made_by(SUPER)
    return None if made is None else _function_behind(made, name)


def _function_behind(made: Node, name: str) -> object:
    """The same, of a node that says in front of which class it begins."""
    (x,), above = made.inputs, made.attrs["above"]
    assert isinstance(x.type, ObjectType) and isinstance(above, type)
    return _users_function(find_behind(x.type.cls, above, name))


def _is_only_called(value: Value) -> bool:
    """Whether a baseline value is used by one call, as what is called."""
    while len(value.uses) == 1:
        ((user, index),) = value.uses
        if user.op is not PROFILE:
            return user.op is get_op("py::call") and index == 0
        value = user.output
    return False
