"""What can be asked of a class without running the user's code.

A metaclass may define what ``==``, `hash` and attributes of its classes are, and `x in (int, float)`, a key of a dict
and `hasattr` ask just that. Most metaclasses leave it alone.
"""

from __future__ import annotations

from abc import ABCMeta
from enum import EnumMeta
from types import ModuleType
from typing import Any

__all__ = ["flags_of", "found_in", "is_open", "is_plain_class", "variables_of_module"]

_VARIABLES = vars(ModuleType)["__dict__"]
_BASES, _MEMBERS, _FLAGS = (vars(type)[name] for name in ("__mro__", "__dict__", "__flags__"))
_HEAP_TYPE, _IMMUTABLE_TYPE = 1 << 9, 1 << 8  # see Include/object.h
_ASKED = ("__eq__", "__hash__", "__getattribute__")


def is_plain_class(cls: type) -> bool:
    """Whether a class is compared, hashed and looked into as classes are: its metaclass changes none of that.

    >>> is_plain_class(int), is_plain_class(type("C", (), {}))
    (True, True)
    >>> is_plain_class(type("Meta", (type,), {"__eq__": lambda c, other: True})("C", (), {}))
    False
    """
    metaclass = type(cls)
    return metaclass is type or metaclass is ABCMeta or _is_usual(metaclass)


def _is_usual(metaclass: type) -> bool:
    if type(metaclass) is not type:  # one that has a metaclass
        return False
    finds_more = found_in(metaclass, "__getattr__")
    if finds_more is not None and finds_more is not vars(EnumMeta).get("__getattr__"):
        return False
    return all(getattr(metaclass, name) is getattr(type, name) for name in _ASKED)


def found_in(cls: type, name: str, missing: object = None) -> object:
    """What a class, or one that it is derived from, has under a name, as CPython's own look-ups see it."""
    for base in _BASES.__get__(cls):
        members = _MEMBERS.__get__(base)
        if name in members:
            found: object = members[name]
            return found
    return missing


def flags_of(cls: type) -> int:
    """`tp_flags` of a class."""
    flags: int = _FLAGS.__get__(cls)
    return flags


def is_open(cls: type) -> bool:
    """Whether a program may change what the class has: it is none of those of C, as it is a user's mostly."""
    return flags_of(cls) & (_HEAP_TYPE | _IMMUTABLE_TYPE) == _HEAP_TYPE


def variables_of_module(module: object) -> dict[str, Any] | None:
    """Give the variables of what `sys.modules` has under a name; None: a program has put something else there.

    To ask the module itself may run its `__getattr__`.
    """
    if not issubclass(type(module), ModuleType):
        return None
    found: dict[str, Any] = _VARIABLES.__get__(module)
    return found
