"""What is known of the callables that may come to a call: functions of a user's classes, and those in variables."""

from __future__ import annotations

import os
from collections.abc import Sequence
from types import CodeType

from ljit.analysis.assumptions import python_function
from ljit.held import HeldKind, KnownFunction, MadeFunctions
from ljit.ir import Node, Value
from ljit.ops.members import SUPER, SUPER_METHOD
from ljit.ops.python_types import find_behind, has_plain_lookup, is_open
from ljit.passes.specializing.resolve import callable_op
from ljit.profile import Observation
from ljit.types import ObjectType, Type

__all__ = ["behind_super", "function_of", "is_derived", "users_method", "worth_a_check"]

_LIBRARY = os.path.join(os.path.dirname(os.__file__), "")


def worth_a_check(seen: Observation | None) -> Sequence[HeldKind]:
    """The kinds of callables that came to a place, if these may come again, and if one is known better than any object.

    A decorated function that a function has made is another one in other calls.
    """
    kinds = seen.kinds if seen is not None else None
    if kinds is None or any(map(_is_made_anew, kinds)):
        return ()
    return kinds if any(map(_is_known, kinds)) else ()


def _is_made_anew(kind: HeldKind) -> bool:
    function = python_function(kind.function)
    return (
        isinstance(kind, KnownFunction)
        and function is not None
        and "<locals>" in function.__qualname__
    )


def _is_known(kind: HeldKind) -> bool:
    """Whether it is known what callables of the kind do: of others than Python's those that have an op."""
    function = python_function(kind.function)
    if isinstance(kind, MadeFunctions):
        return not _is_of_library(kind.code)
    if function is None:
        return callable_op(kind.function, "callables") is not None
    return not _is_of_library(function.__code__)


def _is_of_library(code: CodeType) -> bool:
    """Whether it is of an installed library."""
    return code.co_filename.startswith(_LIBRARY)


def users_method(type_: Type, name: str) -> object:
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


def function_of(bound: Node) -> object:
    """The function of a method that was looked up."""
    name = str(bound.attrs["name"])
    if bound.op is SUPER_METHOD:
        return _function_behind(bound, name)
    return users_method(bound.inputs[0].type, name)


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
