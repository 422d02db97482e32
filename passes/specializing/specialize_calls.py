"""The specialiser's walk over calls: native ones of functions and methods whose code is known.

What variables hold is called by kind (`held_calls.py`). A method of a user's class is called as the function that the
class has now; `prim::check_method` says that it still is that one, `prim::check_super` says it of what `super()` finds,
for which no object is made. Python functions of installed libraries are left to CPython: they are many, long, and
seldom what a loop is about.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from types import FunctionType
from typing import TYPE_CHECKING, Any

from ljit.analysis.assumptions import assumptions_of_cell, python_function
from ljit.ir import Effect, Node, OpDef, Value, get_op
from ljit.ops.containers.tuples import TUPLE_INDEX
from ljit.ops.control import NOT_RUN, PROFILE
from ljit.ops.members import (
    CHECK_IN_CLASS,
    CHECK_MEMBERS,
    CHECK_SUPER,
    IS_KIND,
    MEMBER,
    METHOD,
    NEW_OBJECT,
    SUPER,
    SUPER_METHOD,
)
from ljit.passes.specializing.arguments import Own
from ljit.passes.specializing.call_writer import CallWriter, Walk
from ljit.passes.specializing.callees import (
    ClassMember,
    behind_super,
    function_of,
    has_class_function,
    is_derived,
    member_of_class,
    users_method,
    users_property,
)
from ljit.passes.specializing.held_calls import HeldCalls
from ljit.passes.specializing.named_tuples import NamedTuples
from ljit.passes.specializing.native_calls import NativeCalls, profile_of
from ljit.passes.specializing.optional_arguments import call_by_none
from ljit.passes.specializing.requests import Request
from ljit.passes.specializing.resolve import callable_op, is_fixed, stored_attribute, stored_field
from ljit.passes.specializing.special_methods import (
    MethodCall,
    is_plainly_made,
    method_of_builtin,
    special_method,
)
from ljit.types import NONE, ObjectType, TupleType

if TYPE_CHECKING:
    pass

__all__ = ["Calls"]

_CALL = "__call__"
_PLAIN_STORES = "__setattr__", vars(object)["__setattr__"]
_BOUND = (METHOD, SUPER_METHOD, MEMBER)  # methods that were looked up


class Calls:
    """The part of a walk that handles calls; `handlers` are by op."""

    def __init__(self, walk: Walk, native: NativeCalls) -> None:
        self.walk = walk
        self.native = native
        self.writer = CallWriter(walk, native)
        self.held = HeldCalls(self.writer)
        self.named = NamedTuples(walk)
        self.handlers: dict[OpDef, Callable[[Node], bool]] = {
            get_op("py::call"): self.visit_call_by_none,
            get_op("py::call_ex"): self.visit_spread_call,
            get_op("py::call_method"): self.visit_method_by_none,
            get_op("py::getattr"): self.visit_attribute,
            get_op("py::setattr"): self.visit_attribute_store,
            get_op("prim::bound_super"): self.visit_super,
            IS_KIND: self.held.visit_test,
        }

    def visit_operator(self, node: Node) -> bool:
        """An operation for which users' classes may have a method: a native call of that, or as any other."""
        special, operands = node.op.special, [self.walk.values[v] for v in node.inputs]
        results = self.named.operation(node, operands)
        if results is not None:
            self.walk.finish(node, results)
            return True
        if node.op is get_op("py::setitem"):
            view = stored_field(Request(node.op, tuple(operands), {}))
            if view is not None:
                return self._store_to_view(node, view, operands[-1])
        call = special_method(node.op, operands)
        method = users_method(call.operands[0].type, call.name) if call is not None else None
        if special is None or call is None or method is None:
            return self.walk.visit_operation(node)
        if special.result is None and node.output.uses and profile_of(node) is None:
            self.native.lacks_profiles = True
        return self._call_users_method(node, method, call)

    def visit_call_by_none(self, node: Node) -> bool:
        """A call, in branches if arguments may be None and native code may be called."""
        if self.held.is_for_others(node):
            return self.walk.out.deoptimize(NOT_RUN, node)
        callee = self.walk.values[node.inputs[0]]
        found = _bound_function(callee)[0] or (callee.constant if callee.is_constant else None)
        function = python_function(found)
        if function is None or (function is found and function is not self.native.function):
            return self.visit_call(node)
        return call_by_none(self.walk, node, self.visit_call)

    def visit_method_by_none(self, node: Node) -> bool:
        """Likewise, of a method of an object of a user's class."""
        receiver = self.walk.values[node.inputs[0]]
        if users_method(receiver.type, str(node.attrs["name"])) is not None:
            return call_by_none(self.walk, node, self.visit_method)
        return self.visit_method(node)

    def visit_call(self, node: Node) -> bool:
        """A call: native if the callee is, else what the callee's op or Python does."""
        return self._visit_call(node, [self.walk.values[v] for v in node.inputs[1:]])

    def visit_spread_call(self, node: Node) -> bool:
        """``f(*a)``: of a tuple it is known what is in it."""
        _, args, keywords = (self.walk.values[v] for v in node.inputs)
        args = self.named.iterated(node, args)
        if not isinstance(args.type, TupleType) or keywords.type != NONE:
            return self.walk.visit_operation(node)
        places = range(len(args.type.items))
        items = [self.walk.out.append(TUPLE_INDEX, (args,), {"index": k}) for k in places]
        return self._visit_call(node, [item.output for item in items], is_spread=True)

    def _visit_call(self, node: Node, args: Sequence[Value], *, is_spread: bool = False) -> bool:
        """`is_spread`: the pass "inline" could not tell whether it is worth to call a plain function natively."""
        callee = self.walk.values[node.inputs[0]]
        found, given = _bound_function(callee)
        if found is not None:
            return self._call_function(node, found, [*given, *args])
        if not callee.is_constant and (kinds := self.held.kinds_of(node.inputs[0])):
            return self.held.call_held(node, lambda: callee, kinds, args)
        method = users_method(callee.type, _CALL)
        if method is not None:
            return self._call_users_method(node, method, MethodCall(_CALL, (callee, *args)))
        function: Any = callee.constant if callee.is_constant else None
        wanted = method_of_builtin(function, args[0]) if len(args) == 1 else None
        if wanted is not None:
            method = users_method(args[0].type, wanted.name)
            return self._call_users_method(node, method, wanted)
        if issubclass(type(function), type) and self._makes(node, function, args):
            return True
        is_plain = type(function) is FunctionType and function is not self.native.function
        is_left = is_plain and not is_spread
        call = None if is_left else self.writer.native_call(node, function, args)
        if call is not None:
            return self.writer.emit(node, call)
        if is_spread and callable_op(function, "callables") is not None:
            self.walk.out.effects = Effect.PURE
            return self.writer.apply(node, function, args)
        return self.walk.visit_operation(node)

    def _makes(self, node: Node, cls: type, args: Sequence[Value]) -> bool:
        """Make an object of a user's class and call its ``__init__`` natively; whether that is possible."""
        if callable_op(cls, "callables") is not None:
            return False
        if self.named.make(node, cls, args):
            return True
        made = Own(0, ObjectType(cls))
        method = users_method(made.type, "__init__") if is_plainly_made(cls) else None
        call = self.writer.native_call(node, method, args, [made], is_init=True)
        if call is None:
            return False
        object_ = self.walk.out.append(NEW_OBJECT, (), {"cls": cls}, like=node).output
        self.writer.check_method(node, object_, "__init__", method)
        return self.writer.emit(node, call, lambda _: object_, object_)

    def visit_method(self, node: Node) -> bool:
        """``x.name(...)``."""
        receiver, *args = (self.walk.values[v] for v in node.inputs)
        if self.named.replace(node, receiver, args) or self._call_of_named(node, receiver, args):
            return True
        if (method := behind_super(receiver, str(node.attrs["name"]))) is not None:
            checked = self._check_super(node, receiver, method)
            return self._call_function(node, method, [*checked.inputs, *args])
        if (member := self._member(node, receiver)) is not None:
            function = member.value if member.is_plain else member.function
            return self._call_function(node, function, [*member.given, *args])
        kinds = self.held.kinds_of_attribute(node, receiver)
        if kinds:
            return self.held.call_held(
                node, lambda: self.held.own_attribute(node, receiver), kinds, args
            )
        kinds = self.held.classes_of(node, receiver)
        if kinds:
            return self.held.call_held(node, lambda: receiver, kinds, args)
        name = str(node.attrs["name"])
        if (member := self._member_of_object(receiver, name)) is not None:
            return self._call_member_of_object(node, receiver, member, args)
        method = users_method(receiver.type, name)
        return self._call_users_method(node, method, MethodCall(name, (receiver, *args)))

    def _call_of_named(self, node: Node, receiver: Value, args: Sequence[Value]) -> bool:
        """``x.name(...)`` of a named tuple, if that is a function and native."""
        method = self.named.method(node, receiver)
        if python_function(method) is None:
            return False
        call = self.writer.native_call(node, method, [receiver, *args])
        if call is None:
            return False
        self.named.check_method(node, receiver)
        return self.writer.emit(node, call)

    def _member_of_object(self, receiver: Value, name: str) -> ClassMember | None:
        """The static or class method that the class of an object has under the name."""
        if not isinstance(receiver.type, ObjectType) or not has_class_function(receiver.type, name):
            return None
        return member_of_class(self.walk.out.constant_object(receiver.type.cls), name)

    def _call_member_of_object(
        self, node: Node, receiver: Value, member: ClassMember, args: Sequence[Value]
    ) -> bool:
        """``x.name(...)`` of such a method, if the function in it is native."""
        call = self.writer.native_call(node, member.function, [*member.given, *args])
        if call is None:
            return self.walk.visit_operation(node)
        self.writer.check_method(node, receiver, str(node.attrs["name"]), member.value)
        return self.writer.emit(node, call)

    def _call_users_method(self, node: Node, method: object, wanted: MethodCall) -> bool:
        """Call the method of the first operand as the function that it is, if that is native."""
        receiver = wanted.operands[0]
        call = self.writer.native_call(node, method, wanted.operands)
        if call is None or (wanted.check is not None and call.attrs["result"] != wanted.checked):
            return self.walk.visit_operation(node)
        after = {name: getattr(wanted, name) for name in ("instead", "check", "is_negated")}
        call = call.with_changes(attrs={**call.attrs, **after})
        if wanted.needs is not None:
            self._check_in_class(node, receiver, *wanted.needs)
        self.writer.check_method(node, receiver, wanted.name, method)
        return self.writer.emit(node, call)

    def visit_attribute(self, node: Node) -> bool:
        """``x.name``: of a method that is only called it counts which one it is, not the bound object."""
        receiver, name = self.walk.values[node.inputs[0]], str(node.attrs["name"])
        if is_fixed(receiver, name):
            return self.walk.visit_operation(node)
        if (field := self.named.attribute(node, receiver)) is not None:
            self.walk.finish(node, [field])
            return True
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
        if (parts := users_property(receiver.type, name, is_read=True)) is not None:
            return self._call_of_property(node, *parts)
        is_widened = self.walk.feedback.is_widened(node.id)
        if is_called and not is_widened and (member := self._member_of_object(receiver, name)):
            self.walk.out.effects = Effect.PURE
            self.writer.check_method(node, receiver, name, member.value)
            self.walk.finish(node, [self._value_of_member(node, member)])
            return True
        method = users_method(receiver.type, name) if is_called else None
        if method is None or is_widened:
            return self.walk.visit_operation(node)
        self.walk.out.effects = Effect.PURE
        self.writer.check_method(node, receiver, name, method)
        bound = self.walk.out.append(METHOD, (receiver,), {"name": name}, like=node)
        self.walk.finish(node, bound.outputs)
        return True

    def visit_attribute_store(self, node: Node) -> bool:
        """``x.name = y``: of a property its function; of a view that is an attribute a store to its elements."""
        receiver, value = (self.walk.values[v] for v in node.inputs)
        name = str(node.attrs["name"])
        view = stored_attribute(receiver, name, value)
        if view is not None:
            return self._store_to_view(node, Request(view, (receiver,), {}), value)
        parts = users_property(receiver.type, name, is_read=False)
        if parts is None:
            return self.walk.visit_operation(node)
        return self._call_of_property(node, *parts, needs=[_PLAIN_STORES])

    def _store_to_view(self, node: Node, view: Request, value: Value) -> bool:
        walk = self.walk
        walk.out.effects = Effect.PURE
        made = walk.apply(view, node)
        assert made is not None
        results = walk.apply(Request(get_op("np::assign"), (*made, value), {}), node)
        if results is not None:
            walk.finish(node, results)
        return results is not None

    def _call_of_property(
        self,
        node: Node,
        found: property,
        function: object,
        needs: Sequence[tuple[str, object]] = (),
    ) -> bool:
        """Call the function of a property that the class has, if that is native; `needs`: what it must have, too."""
        operands = [self.walk.values[v] for v in node.inputs]
        call = self.writer.native_call(node, function, operands)
        if call is None:
            return self.walk.visit_operation(node)
        for name, value in ((str(node.attrs["name"]), found), *needs):
            self._check_in_class(node, operands[0], name, value)
        return self.writer.emit(node, call)

    def _check_in_class(self, node: Node, receiver: Value, name: str, value: object) -> None:
        attrs = {"name": name, "value": value}
        self.walk.out.append(CHECK_IN_CLASS, (receiver,), attrs, like=node)

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
        for cls, members in member.needed:
            attrs = {"cls": cls, "members": members}
            self.walk.out.append(CHECK_MEMBERS, (), attrs, like=node)
        return member

    def _value_of_member(self, node: Node, member: ClassMember) -> Value:
        if member.is_plain:
            return self.walk.out.constant_object(member.value)
        attrs = {"name": node.attrs["name"], "type": member.type}
        return self.walk.out.append(MEMBER, (member.cls,), attrs, like=node).output

    def _call_function(self, node: Node, method: object, args: Sequence[Value]) -> bool:
        """Call a method that was looked up, as the function that it is: nobody needs the bound object."""
        call = self.writer.native_call(node, method, args)
        return (
            self.writer.emit(node, call)
            if call is not None
            else self.writer.apply(node, method, args)
        )


def _bound_function(callee: Value) -> tuple[object, Sequence[Value]]:
    """The function of a method that was looked up, and what goes in front of the arguments; None: it is no such."""
    made = next((m for op in _BOUND if (m := callee.made_by(op)) is not None), None)
    return (None, ()) if made is None else function_of(made)


def _is_only_called(value: Value) -> bool:
    """Whether a baseline value is used by one call, as what is called."""
    while len(value.uses) == 1:
        ((user, index),) = value.uses
        if user.op is not PROFILE:
            return user.op is get_op("py::call") and index == 0
        value = user.output
    return False
