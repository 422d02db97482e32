"""One object for equal types, and caches of what is asked of types; neither keeps the user's classes alive.

A type may name a class. That has its methods, with all that was compiled of them, and whatever its attributes hold: a
program that goes on making classes would never be rid of them.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, ClassVar, Protocol, TypeVar
from weakref import WeakValueDictionary, ref

from ljit.cpython.locks import shared_lock

__all__ = ["Unique", "UniqueByClass", "forgets_classes"]

_lock = shared_lock()  # the garbage collector may make types in the midst of it
_all_types: WeakValueDictionary[tuple[type, Any], Any] = WeakValueDictionary()


class Unique:
    """Gives one object for equal fields: types compare by identity, which is what they are asked most.

    A metaclass would do that as well, but `isinstance` takes four times as long for classes that have one.
    """

    __slots__ = ()
    key: tuple[object, ...]
    #: the `__init__` that the class is written with; Python itself would call that for an object that there is, too
    _fill: ClassVar[Callable[..., None]]

    def __init_subclass__(cls) -> None:
        if "__init__" in vars(cls):
            cls._fill = vars(cls)["__init__"]
            type.__delattr__(cls, "__init__")

    def __new__(cls, *fields: Any, **named: Any) -> Any:
        found = _all_types.get((cls, fields)) if not named else None
        return found if found is not None else cls._make(fields, named)

    @classmethod
    def _make(cls, fields: tuple[Any, ...], named: dict[str, Any]) -> Any:
        made = object.__new__(cls)
        made._fill(*fields, **named)
        with _lock:
            made = _all_types.setdefault((cls, _weakly(made.key)), made)
            return made if named else _all_types.setdefault((cls, _weakly(fields)), made)


class UniqueByClass(Unique):
    """Gives one object for each class, which is named by its address: the type keeps it."""

    __slots__ = ()

    def __new__(cls, named: type) -> Any:
        found = _all_types.get((cls, id(named)))
        return found if found is not None else cls._make_of(named)

    @classmethod
    def _make_of(cls, named: type) -> Any:
        made = object.__new__(cls)
        made._fill(named)
        _count_class()
        with _lock:
            return _all_types.setdefault((cls, id(named)), made)


class _Weak(ref[Any]):
    """Stands for a type in a key, equal to it, and lets it go."""

    __slots__ = ()
    __hash__ = ref.__hash__

    def __eq__(self, other: object) -> bool:
        mine = self()
        return other is mine or (type(other) is _Weak and mine is not None and other() is mine)


def _weakly(fields: Any) -> Any:
    """Give the fields of a type with what names classes in them replaced."""
    if type(fields) is tuple:
        return tuple(map(_weakly, fields))
    return _Weak(fields) if _names_class(fields) else fields


def _names_class(field: Any) -> bool:
    if type(field) is tuple:
        return any(map(_names_class, field))
    return isinstance(field, Unique) and (
        isinstance(field, UniqueByClass) or _names_class(field.key)
    )


class _Cache(Protocol):
    def cache_clear(self) -> None: ...


C = TypeVar("C", bound=_Cache)
_MOST_CLASSES = 64  # types of so many classes are made before all is asked again
_caches: list[_Cache] = []
_classes = 0


def forgets_classes(function: C) -> C:
    """Empty the cache of a function of types when many classes have been seen: above `lru_cache`."""
    _caches.append(function)
    return function


def _count_class() -> None:
    """Count the type of a class that was not known, or was forgotten."""
    global _classes
    _classes += 1
    if _classes % _MOST_CLASSES == 0:
        for cache in _caches:
            cache.cache_clear()
