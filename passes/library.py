"""Functions of Python's library, by name, and what attributes of a constant object stand for.

An op may be a function of a module that ljit does not import (`OpDef.library`): it is known by its module and name,
and by the file that its code comes from. Such a function may look up methods of its first argument
(`OpDef.looks_up`): then that has to be a constant whose methods are the library's; which others may change, so it
is assumed.
"""

from __future__ import annotations

import gc
import os
import sys
from collections.abc import Callable
from functools import cache
from types import FunctionType, MethodDescriptorType

from ljit.analysis.assumptions import MISSING, Assumption
from ljit.ir import REGISTRY, OpDef, Value
from ljit.ops.control import GUARD

__all__ = ["constant_behind", "library_method", "library_op", "looks_up_as_known"]

Assume = Callable[[Assumption], bool]


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


def constant_behind(value: Value) -> Value:
    """Give the constant that a guard checks the class of, or the value itself."""
    node = value.node
    if node is not None and node.op is GUARD and node.inputs[0].is_constant:
        return node.inputs[0]
    return value


def looks_up_as_known(op: OpDef, receiver: Value, assume: Assume) -> bool:
    """Whether the methods that the op's function looks up on its receiver are the library's own."""
    if not op.looks_up:
        return True
    receiver = constant_behind(receiver)
    return receiver.is_constant and all(
        _is_library_method(receiver.constant, name, wanted, assume)
        for name, wanted in op.looks_up.items()
    )


def _is_library_method(receiver: object, name: str, wanted: str, assume: Assume) -> bool:
    found = _member(receiver, name)
    if found is None or _name_in_library(found[-1].value) != wanted:
        return False
    return all(map(assume, found))


def library_method(receiver: object, name: str, assume: Assume) -> object | None:
    """Give ``receiver.name`` if it is a method of the library that is an op; that is assumed then."""
    found = _member(receiver, name)
    if found is None or library_op(found[-1].value) is None:
        return None
    return getattr(receiver, name) if all(map(assume, found)) else None


def _member(receiver: object, name: str) -> list[Assumption] | None:
    """What makes ``receiver.name`` a member of its class; the last one has it. None: it is something else."""
    cls = type(receiver)
    if type(cls) is not type or cls.__getattribute__ is not object.__getattribute__:
        return None
    if hasattr(cls, "__getattr__"):
        return None
    dicts = [vars(receiver)] if hasattr(receiver, "__dict__") else []
    for base in cls.__mro__[:-1]:
        dicts += [d for d in gc.get_referents(vars(base)) if type(d) is dict]
    assumptions: list[Assumption] = []
    for members in dicts:
        assumptions.append(Assumption(members, name, members.get(name, MISSING)))
        if name in members:
            return assumptions if members is not dicts[0] else None
    return None
