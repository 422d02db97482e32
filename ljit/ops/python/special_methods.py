"""What Python does where a method that it calls for an operator gives NotImplemented.

The operands are objects of one user's class, or one of them is a number, which has no method for such objects. Each
function here is called with the operands of the method: the object, and the other operand.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

from ljit.cpython.classes import found_in

__all__ = ["asks_other", "asks_plain", "gives_up", "made_of", "truth_given", "untruth_given"]

_Operator = Callable[[Any, Any], Any]
_NOTHING = object()


def truth_given(value: object) -> bool:
    """What ``__bool__`` gave, which must be a bool."""
    if not isinstance(value, bool):
        raise TypeError(f"__bool__ should return bool, returned {type(value).__name__}")
    return value


def untruth_given(value: object) -> bool:
    """The opposite."""
    return not truth_given(value)


def made_of(function: Callable[[Any], object], method: str, cls: str) -> Callable[[object], object]:
    """What a function like `float` makes of what a method of objects of a class so named gave."""
    return partial(_make_of, function, method, cls)


def _make_of(function: Callable[[Any], object], method: str, cls: str, given: object) -> object:
    return function(type(cls, (), {method: lambda _: given})())


def gives_up(operator: _Operator, *, is_swapped: bool = False) -> _Operator:
    """Nothing else is asked: mostly a TypeError; what ``==`` gives says whether both are one object.

    `is_swapped`: the object of the method is the right operand.
    """
    return partial(_give_up, operator, is_swapped)


def asks_other(operator: _Operator, reflected: str) -> _Operator:
    """The reflected method of the other object is asked, of the same class as the first one."""
    return partial(_ask_other, operator, reflected)


def asks_plain(operator: _Operator, plain: str) -> _Operator:
    """For an operator in place: the method of the plain one is asked."""
    return partial(_ask_plain, operator, plain)


def _give_up(operator: _Operator, is_swapped: bool, x: object, y: object) -> object:
    left = _like(x)
    right = left if x is y else _like(y)
    return operator(right, left) if is_swapped else operator(left, right)


def _ask_other(operator: _Operator, reflected: str, x: object, y: object) -> object:
    return _ask(operator, reflected, (y, x), (x, y))


def _ask_plain(operator: _Operator, plain: str, x: object, y: object) -> object:
    return _ask(operator, plain, (x, y), (x, y))


def _ask(
    operator: _Operator, name: str, asked: tuple[object, object], given: tuple[object, object]
) -> object:
    cls = type(asked[0])
    found: Any = found_in(cls, name, _NOTHING)
    if found is not _NOTHING:
        bind: Any = found_in(type(found), "__get__")
        result = found(*asked) if bind is None else bind(found, asked[0], cls)(asked[1])
        if result is not NotImplemented:
            return result
    return _give_up(operator, False, *given)


def _like(x: object) -> object:
    """An object that has no methods for operators, or the number: errors name its class as that of `x`."""
    is_number = isinstance(x, bool | int | float | complex)
    return x if is_number else type(type(x).__name__, (), {})()
