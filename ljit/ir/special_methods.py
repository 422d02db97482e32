"""What is declared of ops for which users' classes may have methods (`__add__`, `__lt__`, `__setitem__`)."""

from __future__ import annotations

from collections.abc import Callable

from ljit.records import Record
from ljit.types import Type

__all__ = ["SpecialMethods"]


class SpecialMethods(Record):
    """The methods that Python calls for an op.

    - `name`: the method of an operand, if this is of a user's class; `operand` says of which one.
    - `reflected`: the method of operand 1, if operand 0 is a number.
    - `in_place`: the method of operand 0 that is called in place of these if its class has one.
    - `opposite`: the op whose methods are called if the class has no `name` of its own.
    - `result`: what they give as a rule; None: anything, so that the op is profiled in functions with such operands.
    - `exact`: what they have to give to calls of a builtin function; of anything else Python says what follows.
    - `check`: gives what the op does, from what the method gave: that bool, or if the op `is_negated`, the opposite.
    """

    name: str
    reflected: str | None = None
    in_place: str | None = None
    opposite: str | None = None
    operand: int = 0
    result: Type | None = None
    exact: Type | None = None
    check: Callable[[object], object] | None = None
    is_negated: bool = False
