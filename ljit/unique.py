"""One object for equal types, and caches of what is asked of types; neither keeps the user's classes alive.

A type may name a class. That has its methods, with all that was compiled of them, and whatever its attributes hold: a
program that goes on making classes would never be rid of them.
"""

from __future__ import annotations

from typing import Any, Protocol, TypeVar
from weakref import WeakValueDictionary, ref

from ljit.locks import shared_lock

__all__ = ["Unique", "UniqueByClass", "forgets_classes"]

_lock = shared_lock()  # the garbage collector may make types in the midst of it
_all_types: WeakValueDictionary[tuple[type, Any], Any] = WeakValueDictionary()


class Unique(type):
    """Gives one object for equal fields: types compare by identity, which is what they are asked most."""

    def __call__(cls, *fields: Any, **named: Any) -> Any:
        found = _all_types.get((cls, fields)) if not named else None
        return found if found is not None else cls._make(fields, named)

    def _make(cls, fields: tuple[Any, ...], named: dict[str, Any]) -> Any:
        made = super().__call__(*fields, **named)
        with _lock:
            made = _all_types.setdefault((cls, _weakly(made.key)), made)
            return made if named else _all_types.setdefault((cls, _weakly(fields)), made)


class UniqueByClass(Unique):
    """Gives one object for each class, which is named by its address: the type keeps it."""

    def __call__(cls, named: type) -> Any:  # type: ignore[override] # the only field
        found = _all_types.get((cls, id(named)))
        return found if found is not None else cls._make_of(named)

    def _make_of(cls, named: type) -> Any:
        made = type.__call__(cls, named)
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
    kind = type(field)
    return isinstance(kind, Unique) and (isinstance(kind, UniqueByClass) or _names_class(field.key))


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
