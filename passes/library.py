"""Functions of Python's library, by name, and methods that are such functions.

An op may be a function of a module that ljit does not import (`OpDef.library`): it is known by its module and name,
and by the file that its code comes from. Such a function may look up methods of its first argument
(`OpDef.looks_up`): these have to be the library's, which others may change. That the classes do not change is
assumed, that the object hides no method is checked.
"""

from __future__ import annotations

import gc
import os
import sys
from functools import cache
from types import FunctionType, MethodDescriptorType
from typing import Protocol

from ljit.analysis.assumptions import MISSING, Assumption
from ljit.ir import REGISTRY, OpDef, Value
from ljit.ops.python_types import has_plain_lookup
from ljit.types import ObjectType, Type

__all__ = ["Objects", "library_method", "library_op", "looks_up_as_known"]


class Objects(Protocol):
    """What can be taken for granted about objects, and is checked then."""

    def assume(self, assumption: Assumption) -> bool:
        """Let native code check the assumption; False if it was seen not to hold."""

    def check_no_attributes(self, value: Value, names: tuple[str, ...]) -> None:
        """Let native code check that an object has no attributes of its own of these names."""


@cache
def _ops() -> dict[str, OpDef]:
    return {name: op for op in REGISTRY.values() for name in op.library}


def library_op(function: object) -> OpDef | None:
    """Give the op that a function of Python's library is."""
    name = _name_in_library(function)
    return None if name is None else _ops().get(name)


def _name_in_library(function: object) -> str | None:
    if isinstance(function, MethodDescriptorType):
        return f"{function.__objclass__.__module__}.{function.__qualname__}"
    if not isinstance(function, FunctionType):
        return None
    code, module = function.__code__, function.__module__
    is_original = code.co_filename == _file_of(module)
    return f"{module}.{code.co_qualname}" if is_original else None


def _file_of(module: str) -> str | None:
    """The file of a module that lies where the library does."""
    path = getattr(sys.modules.get(module), "__file__", None)
    is_library = isinstance(path, str) and os.path.dirname(path) == os.path.dirname(os.__file__)
    return path if is_library else None


def looks_up_as_known(op: OpDef, receiver: Value, objects: Objects) -> bool:
    """Whether the methods that the op's function looks up on its receiver are the library's own."""
    for name, wanted in op.looks_up.items():
        if _name_in_library(_member(receiver.type, name, objects)) != wanted:
            return False
    if op.looks_up:
        objects.check_no_attributes(receiver, tuple(op.looks_up))
    return True


def library_method(receiver: Value, name: str, objects: Objects) -> object | None:
    """Give the function of the method ``receiver.name`` if it is one of the library that is an op."""
    t = receiver.type
    if not isinstance(t, ObjectType) or library_op(getattr(t.cls, name, None)) is None:
        return None
    function = _member(t, name, objects)
    if function is not None:
        objects.check_no_attributes(receiver, (name,))
    return function


def _member(type_: Type, name: str, objects: Objects) -> object | None:
    """Give what the class has under the name, which is assumed not to change; None: not known."""
    if not isinstance(type_, ObjectType) or type(type_.cls) is not type:
        return None
    if not has_plain_lookup(type_.cls) or not type_.cls.__dictoffset__:
        return None
    assumptions = _members(type_.cls, name)
    is_assumed = bool(assumptions) and all(map(objects.assume, assumptions))
    return assumptions[-1].value if is_assumed else None


def _members(cls: type, name: str) -> list[Assumption]:
    """What makes ``cls.name`` what it is: each class up to the one that has it; [] if none has."""
    assumptions: list[Assumption] = []
    for base in cls.__mro__[:-1]:
        (members,) = (d for d in gc.get_referents(vars(base)) if type(d) is dict)
        assumptions.append(Assumption(members, name, members.get(name, MISSING)))
        if name in members:
            return assumptions
    return []
