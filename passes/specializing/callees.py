"""What is known of the callables that may come to a call, and of other members of a user's classes.

Functions are found by objects, by `super()`, by the class's own name, or in variables.
"""

from __future__ import annotations

import builtins
from collections.abc import Iterator, Sequence
from types import MethodType
from typing import Any

from ljit.analysis.assumptions import python_function
from ljit.analysis.held_callees import is_made_anew, is_of_library
from ljit.cpython.classes import found_in, is_open, is_plain_class
from ljit.held import HeldKind, MadeFunctions
from ljit.ir import Node, Value
from ljit.ops.members import MEMBER, SUPER, SUPER_METHOD
from ljit.ops.python.types import NO_ATTRIBUTE, find_behind, has_plain_lookup, has_plain_stores
from ljit.passes.specializing.resolve import callable_op
from ljit.profile import Observation
from ljit.records import Record
from ljit.types import ObjectType, Type

__all__ = [
    "ClassMember",
    "behind_super",
    "function_of",
    "has_class_function",
    "is_derived",
    "member_of_class",
    "users_method",
    "users_property",
    "worth_a_check",
]

_MISSING = object()
_LOOKUP = "__getattribute__"


class ClassMember(Record):
    """What a class, which is known, has under a name; its function, if it is one, and whether that gets the class."""

    cls: Value
    name: str
    value: object
    function: object = None
    is_bound: bool = False

    @property
    def given(self) -> Sequence[Value]:
        """What goes in front of the arguments of a call."""
        return (self.cls,) if self.is_bound else ()

    @property
    def type(self) -> Type:
        """That of the function as the class gives it."""
        return ObjectType(MethodType if self.is_bound else type(self.function))

    @property
    def needed(self) -> Iterator[tuple[builtins.type, tuple[tuple[str, object], ...]]]:
        """What must be as it is, class by class: the class of the class could have a say in it, too."""
        cls = self.cls.constant
        assert isinstance(cls, builtins.type)
        yield cls, ((self.name, self.value),)
        above = builtins.type(cls)
        if above is not builtins.type:
            yield above, ((self.name, NO_ATTRIBUTE), (_LOOKUP, vars(builtins.type)[_LOOKUP]))

    @property
    def is_plain(self) -> bool:
        """Whether the class gives it as it is."""
        return not hasattr(type(self.value), "__get__")


def worth_a_check(seen: Observation | None) -> Sequence[HeldKind]:
    """The kinds of callables that came to a place, if these may come again, and if one is known better than any object.

    A decorated function that a function has made is another one in other calls.
    """
    kinds = seen.kinds if seen is not None else None
    if kinds is None or any(map(is_made_anew, kinds)):
        return ()
    return kinds if any(map(_is_known, kinds)) else ()


def _is_known(kind: HeldKind) -> bool:
    """Whether it is known what callables of the kind do: of others than Python's those that have an op."""
    function = python_function(kind.function)
    if isinstance(kind, MadeFunctions):
        return not is_of_library(kind.code)
    if function is None:
        return callable_op(kind.function, "callables") is not None
    return not is_of_library(function.__code__)


def users_method(type_: Type, name: str) -> object:
    """Give the function that the class of the objects has under the name, decorated or not.

    None: it has another thing there, or none.
    """
    if not isinstance(type_, ObjectType) or not is_open(type_.cls):
        return None
    return _users_function(found_in(type_.cls, name)) if has_plain_lookup(type_.cls) else None


def has_class_function(type_: Type, name: str) -> bool:
    """Whether the class of the objects has a static or class method under the name."""
    if not isinstance(type_, ObjectType) or not is_open(type_.cls):
        return False
    is_plain = has_plain_lookup(type_.cls)
    return is_plain and type(found_in(type_.cls, name)) in (staticmethod, classmethod)


def users_property(type_: Type, name: str, *, is_read: bool) -> tuple[property, object] | None:
    """Give the property that the class of the objects has under the name, and its function that reads or writes it."""
    if not isinstance(type_, ObjectType) or not is_open(type_.cls):
        return None
    found = found_in(type_.cls, name) if has_plain_lookup(type_.cls) else None
    if type(found) is not property or not (is_read or has_plain_stores(type_.cls)):
        return None
    function = _users_function(found.fget if is_read else found.fset)
    return None if function is None else (found, function)


def member_of_class(receiver: Value, name: str) -> ClassMember | None:
    """Give what a class that is a constant has under the name; None: nothing that is known, or its class decides."""
    cls: Any = receiver.constant if receiver.is_constant else None
    if not issubclass(type(cls), type) or not is_plain_class(cls):
        return None
    if not is_open(cls) or hasattr(type(cls), name):
        return None
    found = found_in(cls, name, _MISSING)
    inner: Any = found
    if issubclass(type(found), classmethod | staticmethod):
        inner = inner.__func__
    function, is_bound = _users_function(inner), type(found) is classmethod
    member = ClassMember(receiver, name, found, function, is_bound)
    is_known = found is not _MISSING and (member.is_plain or function is not None)
    return member if is_known else None


def _users_function(found: object) -> object:
    """What a class has, if it is a function, decorated or not, and not one of an installed library; else None."""
    function = python_function(found)
    return None if function is None or is_of_library(function.__code__) else found


def function_of(bound: Node) -> tuple[object, Sequence[Value]]:
    """The function of a method that was looked up, or None, and what goes in front of the arguments."""
    name = str(bound.attrs["name"])
    if bound.op is MEMBER:
        member = member_of_class(bound.inputs[0], name)
        return (None, ()) if member is None else (member.function, member.given)
    is_super = bound.op is SUPER_METHOD
    method = _function_behind(bound, name) if is_super else users_method(bound.inputs[0].type, name)
    return method, bound.inputs


def is_derived(type_: Type, above: object) -> bool:
    """Whether the objects, which are no classes, are of a class that is derived from another."""
    return (
        isinstance(type_, ObjectType)
        and not issubclass(type_.cls, type)
        and above in type_.cls.__mro__
    )


def behind_super(receiver: Value, name: str) -> object:
    """The function that ``super()`` finds under the name; None: it is no such value, or finds another thing."""
    made = receiver.made_by(SUPER)
    return None if made is None else _function_behind(made, name)


def _function_behind(made: Node, name: str) -> object:
    """The same, of a node that says in front of which class it begins."""
    (x,), above = made.inputs, made.attrs["above"]
    assert isinstance(x.type, ObjectType) and isinstance(above, type)
    return _users_function(find_behind(x.type.cls, above, name))
