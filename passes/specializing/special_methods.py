"""Operators on objects of users' classes as the methods that Python calls: ``a + b`` is ``type(a).__add__(a, b)``.

Python's rules (``binary_op1`` and ``do_richcompare`` in CPython's Objects): the left operand's method, but first the
reflected one of the right operand if its class is derived from the left one's and has another; then the reflected one.
Here the right operand is of the same class, or a number, which has no method for such objects. What follows if a method
gives NotImplemented is `ljit/ops/python/special_methods.py`.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from ljit.cpython.classes import found_in, is_open
from ljit.ir import OpDef, Value, get_op
from ljit.ir.special_methods import SpecialMethods
from ljit.ops.python.special_methods import asks_other, asks_plain, gives_up, made_of
from ljit.ops.python.types import NO_ATTRIBUTE
from ljit.passes.specializing.resolve import callable_op
from ljit.records import Record
from ljit.types import BOOL, COMPLEX, FLOAT, INT, ObjectType, Type

__all__ = ["MethodCall", "is_plainly_made", "method_of_builtin", "special_method"]

_IS_ABSTRACT = 1 << 20  # Py_TPFLAGS_IS_ABSTRACT

_NUMBERS = (BOOL, INT, FLOAT, COMPLEX)


class MethodCall(Record):
    """A call of a method: its name, the receiver and the arguments.

    `instead`: what is called with these if the method gives NotImplemented. `needs`: what the class must still have
    under another name. `check`, `is_negated`: what becomes of the result, which has to be a `checked` one if there are.
    """

    name: str
    operands: tuple[Value, ...]
    instead: Callable[..., object] | None = None
    needs: tuple[str, object] | None = None
    check: Callable[[object], object] | None = None
    is_negated: bool = False
    checked: Type = BOOL


def method_of_builtin(function: object, operand: Value) -> MethodCall | None:
    """Give the method that a builtin function calls, as `abs` does; None: it does other things as well."""
    op = callable_op(function, "callables")
    special = op.special if op is not None and len(op.schema.positional) == 1 else None
    if special is None or special.check is not None or not _is_users(operand.type):
        return None
    if special.exact is None:
        return MethodCall(special.name, (operand,))
    assert isinstance(operand.type, ObjectType)
    assert callable(function)
    check = made_of(function, special.name, operand.type.cls.__name__)
    return MethodCall(special.name, (operand,), check=check, checked=special.exact)


def special_method(op: OpDef, operands: Sequence[Value]) -> MethodCall | None:
    """Give the method that Python calls for the op; None if that depends on more than the operands' types."""
    special = op.special
    assert special is not None
    if special.reflected is not None:
        return _method_of_two(op, special, *operands)
    receiver = operands[special.operand]
    if not _is_users(receiver.type) or special.exact is not None:
        return None
    others = [value for index, value in enumerate(operands) if index != special.operand]
    given = (receiver, *others)
    return MethodCall(special.name, given, check=special.check, is_negated=special.is_negated)


def _method_of_two(
    op: OpDef, special: SpecialMethods, first: Value, second: Value
) -> MethodCall | None:
    is_swapped = first.type in _NUMBERS and _is_users(second.type)
    receiver, other = (second, first) if is_swapped else (first, second)
    if not _is_users(receiver.type) or other.type not in (receiver.type, *_NUMBERS):
        return None
    name, evaluate = special.reflected if is_swapped else special.name, op.evaluate
    assert name is not None and evaluate is not None
    given, in_place = (receiver, other), None if is_swapped else special.in_place
    if in_place is not None and _find(receiver.type, in_place) is not NO_ATTRIBUTE:
        return MethodCall(in_place, given, asks_plain(evaluate, name))
    inherited = vars(object).get(name)
    if special.opposite and _find(receiver.type, name) is inherited:
        call = special_method(get_op(special.opposite), (first, second))
        attrs = {"needs": (name, inherited), "check": special.check, "is_negated": True}
        return call and call.with_changes(**attrs)
    needs = None if in_place is None else (in_place, NO_ATTRIBUTE)
    if special.result == BOOL and other.type == receiver.type:
        return MethodCall(name, given, asks_other(evaluate, str(special.reflected)), needs)
    return MethodCall(name, given, gives_up(evaluate, is_swapped=is_swapped), needs)


def _is_users(type_: Type) -> bool:
    """Whether the type is that of objects of a user's class, all of whose bases are such classes."""
    if not isinstance(type_, ObjectType):
        return False
    return all(cls is object or is_open(cls) for cls in type_.cls.__mro__)


def _find(type_: Type, name: str) -> object:
    assert isinstance(type_, ObjectType)
    return found_in(type_.cls, name, NO_ATTRIBUTE)


def is_plainly_made(cls: type) -> bool:
    """Whether calls of a user's class make what `object.__new__` gives, call ``__init__``, and do nothing else."""
    new: object = cls.__new__
    is_plain = type(cls) is type and new is object.__new__ and not hasattr(cls, "__del__")
    return is_plain and _is_users(ObjectType(cls)) and not cls.__flags__ & _IS_ABSTRACT
