"""Operators on objects of users' classes as the methods that Python calls: ``a + b`` is ``type(a).__add__(a, b)``.

Python's rules (``binary_op1`` in CPython's Objects/abstract.c): the left operand's method, but first the reflected one
of the right operand if its class is derived from the left one's and has another; then the reflected one. Here the
right operand is of the same class, or a number, which has no method for such objects: if the left one's gives
NotImplemented, a TypeError follows.
"""

from __future__ import annotations

from collections.abc import Sequence

from ljit.ir import OpDef, Value
from ljit.ops.python.types import is_open
from ljit.records import Record
from ljit.types import BOOL, COMPLEX, FLOAT, INT, ObjectType, Type

__all__ = ["MethodCall", "is_plainly_made", "special_method"]

_IS_ABSTRACT = 1 << 20  # Py_TPFLAGS_IS_ABSTRACT

_NUMBERS: dict[Type, object] = {BOOL: False, INT: 0, FLOAT: 0.0, COMPLEX: 0j}


class MethodCall(Record):
    """A call of a method: its name, the receiver and the arguments.

    `instead`: a function and its arguments, which is called if the method gives NotImplemented.
    """

    name: str
    operands: tuple[Value, ...]
    instead: tuple[object, ...] | None = None


def special_method(op: OpDef, operands: Sequence[Value]) -> MethodCall | None:
    """Give the method that Python calls for the op; None if that depends on more than the operands' types."""
    first, *others = operands
    name, *reflected = op.special_methods
    if not reflected:
        return MethodCall(name, tuple(operands)) if _is_users(first.type) else None
    (second,) = others
    if _is_users(first.type) and (second.type == first.type or second.type in _NUMBERS):
        given = first, second
    elif first.type in _NUMBERS and _is_users(second.type):
        name, given = reflected[0], (second, first)
    else:
        return None
    return MethodCall(name, given, (op.evaluate, _like(first.type), _like(second.type)))


def _is_users(type_: Type) -> bool:
    """Whether the type is that of objects of a user's class, all of whose bases are such classes."""
    if not isinstance(type_, ObjectType):
        return False
    return all(cls is object or is_open(cls) for cls in type_.cls.__mro__)


def is_plainly_made(cls: type) -> bool:
    """Whether calls of a user's class make what `object.__new__` gives, call ``__init__``, and do nothing else."""
    new: object = cls.__new__
    is_plain = type(cls) is type and new is object.__new__ and not hasattr(cls, "__del__")
    return is_plain and _is_users(ObjectType(cls)) and not cls.__flags__ & _IS_ABSTRACT


def _like(type_: Type) -> object:
    """An object that has no methods for operators: errors name its class as that of the type."""
    if not isinstance(type_, ObjectType):
        return _NUMBERS[type_]
    return type(type_.cls.__name__, (), {})()
