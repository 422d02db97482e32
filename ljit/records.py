"""Records: classes of plain data that cost nothing to make.

`dataclass` compiles the methods of each class when it is made, a quarter of a millisecond a class: most of what the
import of the compiler cost, in the first call of a function. The subclasses of `Record` share their methods;
an instance takes about a microsecond, so that classes with very many instances write their `__init__` out.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, ClassVar, NoReturn, Self, dataclass_transform

__all__ = ["Record", "made_by"]


class _MadeBy:
    """The default of a field that each instance has an object of its own for."""

    __slots__ = ("factory",)

    def __init__(self, factory: Callable[[], object]) -> None:
        self.factory = factory


def made_by(*, factory: Callable[[], Any]) -> Any:
    """Give the default of a field that each instance has an object of its own for."""
    return _MadeBy(factory)


@dataclass_transform(frozen_default=True, eq_default=False, field_specifiers=(made_by,))
class Record:
    """Like a dataclass: annotations name the fields, values are defaults.

    Instances cannot be changed, and compare by identity; ``class X(Record, frozen=False)`` can be changed,
    ``class X(Record, eq=True)`` compares by the class and the fields.
    """

    #: names of the fields -> their annotations
    fields_of_record: ClassVar[dict[str, str]] = {}
    _required: ClassVar[frozenset[str]] = frozenset()
    #: defaults that a class attribute would make methods of
    _functions: ClassVar[dict[str, object]] = {}
    _factories: ClassVar[dict[str, Callable[[], object]]] = {}

    def __init_subclass__(cls, *, frozen: bool = True, eq: bool = False) -> None:
        own = {k: v for k, v in cls.__annotations__.items() if not v.startswith("ClassVar")}
        fields = cls.fields_of_record = {**cls.fields_of_record, **own}
        defaults = {k: getattr(cls, k) for k in fields if hasattr(cls, k)}
        cls.__match_args__ = tuple(fields)  # type: ignore[attr-defined, misc]
        cls._required = frozenset(fields.keys() - defaults.keys())
        cls._functions = {k: v for k, v in defaults.items() if hasattr(v, "__get__")}
        cls._factories = {k: v.factory for k, v in defaults.items() if isinstance(v, _MadeBy)}
        if not frozen:
            cls.__setattr__ = object.__setattr__  # type: ignore[method-assign,assignment]
        if eq:
            cls.__eq__ = _equal  # type: ignore[method-assign,assignment]
            cls.__hash__ = _hash_of_fields  # type: ignore[method-assign,assignment]

    def __init__(self, *values: object, **named: object) -> None:
        fields = self.fields_of_record
        if len(values) == len(fields) and not named:
            self.__dict__.update(zip(fields, values, strict=True))
            return
        given = dict(zip(fields, values, strict=False))
        if len(given) < len(values):
            self._refuse()
        self._complete(given, named)
        self.__dict__.update(given)

    def _complete(self, given: dict[str, object], named: dict[str, object]) -> None:
        """Check the names and add them to `given`; fill in defaults."""
        count = len(given) + len(named)
        given |= named
        names = given.keys()
        if len(given) < count or not self._required <= names <= self.fields_of_record.keys():
            self._refuse()
        self.__dict__.update(self._functions)
        for name, factory in self._factories.items():
            if name not in given:
                given[name] = factory()

    def _refuse(self) -> NoReturn:
        message = f"{type(self).__name__} has the fields {', '.join(self.fields_of_record)}"
        raise TypeError(message)

    def __setattr__(self, name: str, value: object) -> None:
        message = f"{type(self).__name__}.{name} cannot be set: this record does not change"
        raise AttributeError(message)

    def with_changes(self, **changes: object) -> Self:
        """Give a copy in which some fields are others."""
        unchanged = {n: getattr(self, n) for n in self.fields_of_record if n not in changes}
        return type(self)(**unchanged, **changes)

    def __repr__(self) -> str:
        values = ", ".join(f"{name}={getattr(self, name)!r}" for name in self.fields_of_record)
        return f"{type(self).__name__}({values})"


def _values(record: Record) -> tuple[object, ...]:
    return tuple([getattr(record, name) for name in record.fields_of_record])


def _equal(self: Record, other: object) -> bool:
    if self is other:
        return True
    return (
        isinstance(other, Record) and type(self) is type(other) and _values(self) == _values(other)
    )


def _hash_of_fields(self: Record) -> int:
    return hash(_values(self))
