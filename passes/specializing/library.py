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
from types import BuiltinFunctionType, FunctionType, MethodDescriptorType, ModuleType
from typing import Protocol

import numpy as np

from ljit.analysis.assumptions import MISSING, Assumption
from ljit.cpython.classes import variables_of_module
from ljit.ir import REGISTRY, OpDef, Value, get_op
from ljit.ops.python.types import has_plain_lookup
from ljit.types import ObjectType, Type

__all__ = ["Objects", "library_method", "library_op", "looks_up_as_known", "op_named"]


class Objects(Protocol):
    """What can be taken for granted about objects, and is checked then."""

    def assume(self, assumption: Assumption) -> bool:
        """Let native code check the assumption; False if it was seen not to hold."""

    def check_no_attributes(self, value: Value, names: tuple[str, ...]) -> None:
        """Let native code check that an object has no attributes of its own of these names."""


@cache
def _ops() -> dict[str, str]:
    """The names of ops by the functions that they are."""
    return {str(name): op for field, name, op in REGISTRY.facts() if field == "library"}


def _op(function: str) -> OpDef | None:
    name = _ops().get(function)
    return None if name is None else get_op(name)


@cache
def _names() -> frozenset[str]:
    return frozenset(name.rpartition(".")[2] for name in _ops())


def op_named(name: str) -> OpDef | None:
    """Give an op that is a function of that name, as a guess."""
    return next(
        (get_op(op) for full, op in _ops().items() if full.rpartition(".")[2] == name), None
    )


def library_op(function: object, receiver: Value) -> OpDef | None:
    """Give the op that a function of Python's library is; a method of one ufunc may be an op of its own."""
    name = _name_in_library(function)
    if name is None:
        return None
    return _op_of_ufunc(receiver, name.rpartition(".")[2]) or _op(name)


def _op_of_ufunc(receiver: Value, name: str) -> OpDef | None:
    if not receiver.is_constant or not isinstance(receiver.constant, np.ufunc):
        return None
    ufunc = receiver.constant.__name__
    is_numpys = getattr(np, ufunc, None) is receiver.constant
    return _op(f"numpy.{ufunc}.{name}") if is_numpys else None


def _name_in_library(function: object) -> str | None:
    if type(function) is MethodDescriptorType:
        return f"{function.__objclass__.__module__}.{function.__qualname__}"
    if type(function) is BuiltinFunctionType and isinstance(function.__self__, ModuleType):
        is_original = getattr(function.__self__, function.__name__, None) is function
        return f"{function.__self__.__name__}.{function.__name__}" if is_original else None
    if type(function) is not FunctionType:
        return None
    code, module = function.__code__, function.__module__
    is_original = code.co_filename == _file_of(module)
    return f"{module}.{code.co_qualname}" if is_original else None


def _file_of(module: str) -> str | None:
    """The file of a module that lies where the library does."""
    path = (variables_of_module(sys.modules.get(module)) or {}).get("__file__")
    is_library = isinstance(path, str) and os.path.dirname(path) == os.path.dirname(os.__file__)
    return path if is_library else None


def looks_up_as_known(op: OpDef, receiver: Value, objects: Objects) -> bool:
    """Whether the methods that the op's function looks up on its receiver are the library's own."""
    for name, wanted in op.looks_up.items():
        members = _members(receiver.type, name)
        if not members or (_name_in_library(members[-1].value) or "") != wanted:
            return False
        if (not wanted and members[-1].value is not MISSING) or not all(
            map(objects.assume, members)
        ):
            return False
    methods = tuple(name for name, wanted in op.looks_up.items() if wanted)
    if methods:
        objects.check_no_attributes(receiver, methods)
    return True


def library_method(receiver: Value, name: str, objects: Objects) -> object | None:
    """Give the function of the method ``receiver.name`` if it is one of the library that is an op."""
    if name not in _names():
        return None
    if receiver.is_constant and isinstance(receiver.constant, np.ufunc):
        return _method_of_ufunc(receiver, name, objects)
    members = _members(receiver.type, name)
    if not members or library_op(members[-1].value, receiver) is None:
        return None
    if not all(map(objects.assume, members)):
        return None
    objects.check_no_attributes(receiver, (name,))
    return members[-1].value


def _method_of_ufunc(receiver: Value, name: str, objects: Objects) -> object | None:
    """A method of the class, which is C's; the object may hide it, if it takes attributes (NumPy 2.0's doesn't)."""
    function = getattr(np.ufunc, name, None)
    if library_op(function, receiver) is None:
        return None
    members = getattr(receiver.constant, "__dict__", None)
    is_plain = members is None or objects.assume(Assumption(members, name, MISSING))
    return function if is_plain else None


def _members(type_: Type, name: str) -> list[Assumption]:
    """What makes ``x.name`` what it is: each class up to the one that has it (or all); [] if that is not known."""
    if not isinstance(type_, ObjectType) or type(type_.cls) is not type:
        return []
    cls = type_.cls
    if not has_plain_lookup(cls) or not cls.__dictoffset__:
        return []
    assumptions: list[Assumption] = []
    for base in cls.__mro__[:-1]:
        (members,) = (d for d in gc.get_referents(vars(base)) if type(d) is dict)
        assumptions.append(Assumption(members, name, members.get(name, MISSING)))
        if name in members:
            break
    return assumptions
