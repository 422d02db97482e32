"""Callables that give a function values of their own in front of the arguments: what different ones have in common.

Such a one is made anew for each use: a function that a function makes gives what is in its cells (and its defaults,
behind the arguments), a bound method its object, a `functools.partial` its arguments. What `held_kind` gives of those
at one place of a program is joined.
"""

from __future__ import annotations

from functools import partial
from types import CellType, CodeType, FunctionType, MethodType
from typing import Any, Self

from ljit.records import Record
from ljit.types import NEVER, Type, join, type_of

__all__ = ["BoundMethods", "HeldKind", "MadeFunctions", "Partials", "held_kind"]


class HeldKind(Record):
    """Callables that differ in the values alone which they give in front; `given` are their types."""

    given: tuple[Type, ...]

    @property
    def types(self) -> tuple[Type, ...]:
        """All that callables of the kind may give."""
        return self.given

    @property
    def key(self) -> tuple[object, ...]:
        """What is the same for all callables of the kind, to be compared by identity."""
        raise NotImplementedError

    def joined(self, other: HeldKind | None) -> Self | None:
        """Both together; None: they have nothing in common."""
        if type(other) is not type(self) or len(other.given) != len(self.given):
            return None
        if any(a is not b for a, b in zip(self.key, other.key, strict=True)):
            return None
        return self.with_changes(given=tuple(map(join, self.given, other.given)))

    def value(self, callable_: Any, index: int) -> object:
        """What a callable of the kind gives."""
        raise NotImplementedError


class MadeFunctions(HeldKind):
    """Functions that functions make: their code and their global variables; Never is given for an empty cell.

    `defaults` are the types of those of the last parameters.
    """

    code: CodeType
    variables: dict[str, Any]
    defaults: tuple[Type, ...]

    @property
    def types(self) -> tuple[Type, ...]:
        """What is in cells, and the defaults."""
        return (*self.given, *self.defaults)

    def default_of(self, name: str) -> int | None:
        """Which of `types` is that of a parameter's default; None: it has none, or it can only be given by name."""
        place = self.code.co_varnames.index(name) - self.code.co_argcount
        return len(self.types) + place if -len(self.defaults) <= place < 0 else None

    def joined(self, other: HeldKind | None) -> Self | None:
        """The same, if there are as many defaults."""
        both = super().joined(other)
        if both is None or not isinstance(other, MadeFunctions):
            return None
        if len(self.defaults) != len(other.defaults):
            return None
        return both.with_changes(defaults=tuple(map(join, self.defaults, other.defaults)))

    @property
    def key(self) -> tuple[object, ...]:
        """The code and the variables."""
        return self.code, self.variables

    def value(self, callable_: Any, index: int) -> object:
        """What is in a cell, or a default."""
        if index < len(self.given):
            return callable_.__closure__[index].cell_contents
        return callable_.__defaults__[index - len(self.given)]


class BoundMethods(HeldKind):
    """Methods with their objects."""

    function: object

    @property
    def key(self) -> tuple[object, ...]:
        """The function."""
        return (self.function,)

    def value(self, callable_: Any, index: int) -> object:
        """The object."""
        return callable_.__self__


class Partials(HeldKind):
    """Objects of `functools.partial` without keywords."""

    function: object

    @property
    def key(self) -> tuple[object, ...]:
        """The function."""
        return (self.function,)

    def value(self, callable_: Any, index: int) -> object:
        """One of the arguments."""
        return callable_.args[index]


def held_kind(value: object) -> HeldKind | None:
    """Give the kind of callables that an object is one of; None: it is no such callable."""
    if type(value) is FunctionType and "<locals>" in value.__code__.co_qualname:
        cells = tuple(map(_type_in, value.__closure__ or ()))
        defaults = tuple(map(type_of, value.__defaults__ or ()))
        return MadeFunctions(cells, value.__code__, value.__globals__, defaults)
    if type(value) is MethodType:
        return BoundMethods((type_of(value.__self__),), value.__func__)
    if type(value) is partial and not value.keywords:
        return Partials(tuple(map(type_of, value.args)), value.func)
    return None


def _type_in(cell: CellType) -> Type:
    try:
        return type_of(cell.cell_contents)
    except ValueError:
        return NEVER
