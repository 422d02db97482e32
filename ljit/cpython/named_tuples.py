"""Classes of named tuples: which ones are known, and what is in them.

A class that `collections.namedtuple` or `typing.NamedTuple` made has a function ``__new__`` that hands its arguments on
to `tuple.__new__`, and a descriptor for each field. Its objects are their items and nothing else, as are those of a
subclass with ``__slots__ = ()``. All of this is what a class had when it was asked: others may change it.
"""

from __future__ import annotations

import collections
from types import CodeType, FunctionType
from weakref import WeakKeyDictionary

from ljit.cpython.classes import found_in

__all__ = ["count_of_fields", "field_of", "maker_of", "makes_of_items", "replaces_fields"]

_ANY = collections.namedtuple("_ANY", "x")
_FIELD = type(vars(_ANY)["x"])
_REPLACE: CodeType = vars(_ANY)["_replace"].__code__
_MAKE: CodeType = vars(_ANY)["_make"].__func__.__code__
_PARTS = "co_code co_consts co_names co_varnames co_flags co_argcount co_posonlyargcount co_kwonlyargcount".split()
_counts: WeakKeyDictionary[type, int] = WeakKeyDictionary()
_NO_COUNT = -1


def count_of_fields(cls: type) -> int | None:
    """How many items the objects of a class have, which are nothing but these; None: the class is no such one."""
    count = _counts.get(cls)
    if count is None:
        count = _counts[cls] = _count_of(cls)
    return None if count == _NO_COUNT else count


def _count_of(cls: type) -> int:
    adds_nothing = not (cls.__dictoffset__ or cls.__weakrefoffset__)
    has_size = cls.__basicsize__ == tuple.__basicsize__
    is_plain = type(cls) is type and adds_nothing and has_size and not hasattr(cls, "__del__")
    new = maker_of(cls) if is_plain else None
    return _NO_COUNT if new is None else new.__code__.co_argcount - 1


def maker_of(cls: type) -> FunctionType | None:
    """The ``__new__`` of a class, if that makes a named tuple of its arguments."""
    found = found_in(cls, "__new__")
    new = found.__func__ if type(found) is staticmethod else None
    if type(new) is not FunctionType or new.__globals__.get("_tuple_new") is not tuple.__new__:
        return None
    code = new.__code__
    if code.co_name != "<lambda>" or code.co_filename != "<string>":
        return None
    usual = _usual_code(code.co_varnames[1 : code.co_argcount])
    return new if _parts(code) == _parts(usual) else None


def _usual_code(fields: tuple[str, ...]) -> CodeType:
    made: FunctionType = collections.namedtuple("_Any", fields, rename=True).__new__  # type: ignore[misc, assignment]
    return made.__code__


def _parts(code: CodeType) -> list[object]:
    return [getattr(code, name) for name in _PARTS]


def field_of(cls: type, name: str) -> int | None:
    """The place of the item that an attribute of the objects is; None: it is none."""
    found = found_in(cls, name)
    if type(found) is not _FIELD:
        return None
    index: int = found.__reduce__()[1][0]  # type: ignore[index, assignment]
    return index


def replaces_fields(function: object) -> bool:
    """Whether it is the ``_replace`` of a class that `collections.namedtuple` made."""
    return type(function) is FunctionType and function.__code__ is _REPLACE


def makes_of_items(method: object) -> bool:
    """Whether it is the ``_make`` of such a class."""
    return type(method) is classmethod and getattr(method.__func__, "__code__", None) is _MAKE
