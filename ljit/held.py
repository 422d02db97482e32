"""Callables that variables hold: which kinds of them come to a place of a program.

Many are made anew for each use, and give a function values of their own in front of the arguments: a lambda, or a
function that a function makes, gives what is in its cells (and its defaults, behind the arguments), a bound method its
object, a `functools.partial` its arguments. Those that differ in these values alone are of one kind, if they are of the
same classes. Any other function is a kind of its own. Where a method of objects is called, those of one class are a
kind.
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Mapping
from functools import partial
from types import (
    BuiltinFunctionType,
    CellType,
    CodeType,
    FunctionType,
    MethodDescriptorType,
    MethodType,
    ModuleType,
)
from typing import Any, Self
from weakref import ReferenceType, ref

import numpy as np

from ljit.cpython.classes import found_in, is_plain_class
from ljit.records import Record
from ljit.types import NEVER, Type, join
from ljit.value_types import type_of

__all__ = [
    "BoundMethods",
    "HeldKind",
    "HeldMethod",
    "KnownFunction",
    "MadeFunctions",
    "Partials",
    "Receivers",
    "count_as_function",
    "held_kind",
    "with_kind",
]

MAX_KINDS = 4  # at one place

_functions = {FunctionType, BuiltinFunctionType, MethodDescriptorType, np.ufunc, type}
_functions.add(type(np.concatenate))  # of NumPy's functions that classes of arrays may override
_plain_of: dict[type, Callable[[Any], FunctionType | None]] = {}


def count_as_function(cls: type, plain_of: Callable[[Any], FunctionType | None]) -> None:
    """Let objects of a class be functions that are known; `plain_of` gives the one that does the same, if one does."""
    _functions.add(cls)
    _plain_of[cls] = plain_of


class HeldKind(Record):
    """Callables that differ in the values alone which they give in front.

    `given` are the types of these, `classes` the classes of all that they give (None: an empty cell).
    """

    given: tuple[Type, ...]
    classes: tuple[type | None, ...]

    @property
    def types(self) -> tuple[Type, ...]:
        """All that callables of the kind may give."""
        return self.given

    @property
    def keywords(self) -> Mapping[str, int]:
        """Which of `types` are given by name."""
        return {}

    @property
    def key(self) -> tuple[object, ...]:
        """What is the same for all callables of the kind, besides classes, to be compared by identity."""
        raise NotImplementedError

    @property
    def function(self) -> object:
        """What they call; functions that functions make have one together, see `ljit.runtime.twins`."""
        raise NotImplementedError

    def joined(self, other: HeldKind) -> Self | None:
        """Both together; None: they are of different kinds."""
        if type(other) is not type(self) or len(other.given) != len(self.given):
            return None
        mine, others = (*self.key, *self.classes), (*other.key, *other.classes)
        if len(mine) != len(others) or any(map(operator.is_not, mine, others)):
            return None
        return self.with_changes(given=tuple(map(join, self.given, other.given)))

    def value(self, callable_: Any, index: int) -> object:
        """What a callable of the kind gives."""
        raise NotImplementedError


class KnownFunction(HeldKind):
    """A function, or anything else that is called: the one object."""

    called: object

    @property
    def key(self) -> tuple[object, ...]:
        """The object."""
        return (self.called,)

    @property
    def function(self) -> object:
        """The object."""
        return self.called


class HeldMethod(HeldKind):
    """A method of C code with its object, which does not live on for us: known for as long as the program holds it."""

    called: ReferenceType[object]

    @property
    def key(self) -> tuple[object, ...]:
        """The method, or None."""
        return (self.function,)

    @property
    def function(self) -> object:
        """The method; None: it is gone."""
        return self.called()

    def joined(self, other: HeldKind) -> Self | None:
        """The same, if it still is."""
        return super().joined(other) if self.function is not None else None


class MadeFunctions(HeldKind):
    """Functions that functions make: their code and their global variables; Never is given for an empty cell.

    `defaults` are the types of those of the last parameters. `decorated` is the class of decorated ones.
    """

    code: CodeType
    variables: dict[str, Any]
    defaults: tuple[Type, ...]
    decorated: type | None

    @property
    def types(self) -> tuple[Type, ...]:
        """What is in cells, and the defaults."""
        return (*self.given, *self.defaults)

    def default_of(self, name: str) -> int | None:
        """Which of `types` is that of a parameter's default; None: it has none, or it can only be given by name."""
        place = self.code.co_varnames.index(name) - self.code.co_argcount
        return len(self.types) + place if -len(self.defaults) <= place < 0 else None

    def joined(self, other: HeldKind) -> Self | None:
        """The same; the types of defaults, too."""
        both = super().joined(other)
        if both is None or not isinstance(other, MadeFunctions):
            return None
        return both.with_changes(defaults=tuple(map(join, self.defaults, other.defaults)))

    @property
    def key(self) -> tuple[object, ...]:
        """The code, the variables and the class."""
        return self.code, self.variables, self.decorated

    @property
    def function(self) -> object:
        """The kind itself."""
        return self

    def value(self, callable_: Any, index: int) -> object:
        """What is in a cell, or a default."""
        if self.decorated is not None:
            callable_ = _plain_of[self.decorated](callable_)
        if index < len(self.given):
            return callable_.__closure__[index].cell_contents
        return callable_.__defaults__[index - len(self.given)]


class BoundMethods(HeldKind):
    """Methods with their objects."""

    bound: object

    @property
    def key(self) -> tuple[object, ...]:
        """The function."""
        return (self.bound,)

    @property
    def function(self) -> object:
        """The function."""
        return self.bound

    def value(self, callable_: Any, index: int) -> object:
        """The object."""
        return callable_.__self__


class Partials(HeldKind):
    """Objects of `functools.partial`; `by_name` are the types of the arguments that they give under the `names`."""

    bound: object
    names: tuple[str, ...]
    by_name: tuple[Type, ...]

    @property
    def types(self) -> tuple[Type, ...]:
        """Those of all arguments."""
        return (*self.given, *self.by_name)

    @property
    def keywords(self) -> Mapping[str, int]:
        """Where arguments with names are."""
        return {name: len(self.given) + index for index, name in enumerate(self.names)}

    def joined(self, other: HeldKind) -> Self | None:
        """The same; the types of arguments with names, too."""
        both = super().joined(other)
        if both is None or not isinstance(other, Partials):
            return None
        return both.with_changes(by_name=tuple(map(join, self.by_name, other.by_name)))

    @property
    def key(self) -> tuple[object, ...]:
        """The function and the names."""
        return self.bound, *self.names

    @property
    def function(self) -> object:
        """The function."""
        return self.bound

    def value(self, callable_: Any, index: int) -> object:
        """One of the arguments."""
        if index < len(self.given):
            return callable_.args[index]
        return callable_.keywords[self.names[index - len(self.given)]]


class Receivers(HeldKind):
    """Objects of one class, of which a method is called."""

    method: str

    @property
    def key(self) -> tuple[object, ...]:
        """The class is all."""
        return ()

    @property
    def function(self) -> object:
        """What the class has now."""
        (cls,) = self.classes
        assert cls is not None
        return found_in(cls, self.method)


def held_kind(value: object) -> HeldKind | None:
    """Give the kind of callables that an object is one of; None: it is no such callable."""
    cls = type(value)
    if not is_plain_class(cls):
        return None
    plain = value if cls is FunctionType else _plain_of.get(cls, lambda _: None)(value)
    if isinstance(plain, FunctionType) and _is_made(plain.__code__):
        cells = tuple(map(_type_in, plain.__closure__ or ()))
        defaults = plain.__defaults__ or ()
        classes = (*map(_class_in, plain.__closure__ or ()), *map(type, defaults))
        of_defaults = tuple(map(type_of, defaults))
        decorated = None if cls is FunctionType else cls
        code, variables = plain.__code__, plain.__globals__
        return MadeFunctions(cells, classes, code, variables, of_defaults, decorated)
    if type(value) is MethodType:
        object_ = value.__self__
        return BoundMethods((type_of(object_),), (type(object_),), value.__func__)
    if type(value) is partial:
        by_name = tuple(value.keywords.values())
        classes = (*map(type, value.args), *map(type, by_name))
        types_ = tuple(map(type_of, value.args)), tuple(map(type_of, by_name))
        return Partials(types_[0], classes, value.func, tuple(value.keywords), types_[1])
    if type(value) is BuiltinFunctionType and not isinstance(value.__self__, ModuleType | None):
        return HeldMethod((), (), ref(value))
    return KnownFunction((), (), value) if type(value) in _functions else None


def with_kind(found: HeldKind | None, kinds: tuple[HeldKind, ...]) -> tuple[HeldKind, ...] | None:
    """Count in what has come to the place of the kinds; None: too many kinds come there, or no callables."""
    if found is None:
        return None
    for index, kind in enumerate(kinds):
        both = kind.joined(found)
        if both is not None:
            return (*kinds[:index], both, *kinds[index + 1 :])
    has_methods = kinds and any(isinstance(kind, HeldMethod) for kind in (*kinds, found))
    return None if has_methods or len(kinds) == MAX_KINDS else (*kinds, found)


def _is_made(code: CodeType) -> bool:
    """Whether functions of the code are made where they are used: by other functions, or as lambdas."""
    return code.co_name == "<lambda>" or "<locals>" in code.co_qualname


def _type_in(cell: CellType) -> Type:
    try:
        return type_of(cell.cell_contents)
    except ValueError:
        return NEVER


def _class_in(cell: CellType) -> type | None:
    try:
        return type(cell.cell_contents)
    except ValueError:
        return None
