"""Where objects of Python's classes have their attributes, and what their classes say of it.

Objects of ordinary classes have a row of values, or a dict. Where the row is differs: CPython 3.11 has a pointer to
it beside that to the dict. 3.12 has one pointer for both, to one byte in front of the row if it is that. In 3.13 the
row is part of the object, behind bytes that say how many values there may be and are, and whether they count.
Elsewhere `type_version` is 0, and attributes are looked up.
"""

from __future__ import annotations

import ctypes
import sys
import types
from functools import cache

from ljit.codegen.layouts.layout import MANAGED_DICT, METHOD_DEF, int32_at, python_function, word_at

__all__ = [
    "ARE_VALUES_INSIDE",
    "INSIDE_CAPACITY",
    "INSIDE_IS_VALID",
    "INSIDE_NUMBER",
    "INSIDE_VALUES",
    "INSTANCE_VALUES",
    "IS_DICT_OR_VALUES",
    "TYPE_GETATTRO",
    "TYPE_VERSION",
    "VALUES_NUMBER",
    "are_versions_known",
    "find_in_class",
    "has_values",
    "member_offset",
    "names_of_values",
    "place_of_bases",
    "reads_as_object",
    "type_version",
    "value_index",
    "writes_as_object",
]

_WORD = ctypes.sizeof(ctypes.c_void_p)
TYPE_GETATTRO = 144
_TYPE_SETATTRO = 152
TYPE_VERSION = 384  # i32; 0: none
INSTANCE_VALUES = -4 * _WORD  # pointer to an object's values; null: it has a dict
#: u8, of the values that are set; in front of it their indices, the last one first
VALUES_NUMBER = -2
IS_DICT_OR_VALUES = sys.version_info[:2] == (3, 12)  # one pointer, at MANAGED_DICT
ARE_VALUES_INSIDE = sys.version_info >= (3, 13)
INSIDE_CAPACITY, INSIDE_NUMBER, INSIDE_IS_VALID = (
    16,
    17,
    19,
)  # u8; behind the values stand their indices, in order
INSIDE_VALUES = 24
_HAS_MANAGED_DICT = 1 << 4
_HAS_VALUES_INSIDE = 1 << 2
_OBJECT_MEMBER = 16  # T_OBJECT_EX
_DICT_KEYS = 4 * _WORD
_KEYS_LOG2_INDEX_BYTES, _KEYS_KIND, _KEYS_COUNT, _KEYS_INDICES = 9, 10, 24, 32
_SPLIT_KEYS = 2
_MISSING = object()


def reads_as_object(cls: type) -> bool:
    """Whether attributes of the class's objects are read as ``object`` does it."""
    return word_at(id(cls) + TYPE_GETATTRO) == python_function("PyObject_GenericGetAttr")


def writes_as_object(cls: type) -> bool:
    """Whether they are written so: those of a frozen dataclass are not."""
    return word_at(id(cls) + _TYPE_SETATTRO) == python_function("PyObject_GenericSetAttr")


def find_in_class(cls: type, name: str) -> object:
    """What the class and its bases have under the name, not bound; None: nothing. Gives the type a version."""
    look = ctypes.pythonapi._PyType_Lookup
    look.argtypes, look.restype = (ctypes.py_object, ctypes.py_object), ctypes.c_void_p
    found = look(cls, name)
    return None if found is None else ctypes.cast(found, ctypes.py_object).value


def are_versions_known() -> bool:
    """Whether types have version tags, and objects their values, where they are looked for."""
    return _keys_place() is not None


def type_version(cls: type) -> int:
    """Give the tag of the type, which no other type has and which changes with it; 0: unknown."""
    return int32_at(id(cls) + TYPE_VERSION) if are_versions_known() else 0


@cache
def place_of_bases() -> int | None:
    """Where a type has the tuple of all classes that it is derived from; None: unknown."""
    size: int = type.__basicsize__  # type: ignore[assignment]  # mypy takes it for a method
    found = [k for k in range(0, size, _WORD) if word_at(id(type) + k) == id(type.__mro__)]
    return found[0] if len(found) == 1 else None


def member_offset(member: types.MemberDescriptorType) -> int | None:
    """Where objects have the reference of a slot (``__slots__``); None: it is something else."""
    definition = word_at(id(member) + METHOD_DEF)
    kind, flags = int32_at(definition + _WORD), int32_at(definition + 3 * _WORD)
    return word_at(definition + 2 * _WORD) if kind == _OBJECT_MEMBER and flags == 0 else None


def value_index(cls: type, name: str) -> int | None:
    """At which index of their values objects of the class have an attribute; None: not known (yet)."""
    keys = _names(cls)
    if not keys:
        return None
    log2 = ctypes.c_uint8.from_address(keys + _KEYS_LOG2_INDEX_BYTES).value
    first = keys + _KEYS_INDICES + (1 << log2)
    for index in range(word_at(keys + _KEYS_COUNT)):
        if ctypes.cast(word_at(first + 2 * _WORD * index), ctypes.py_object).value == name:
            return index
    return None


def names_of_values(cls: type) -> tuple[int, int] | None:
    """Where the class has the number of names that its objects' values have, and the number; None: not known (yet).

    The number changes when an object gets an attribute of another name.
    """
    keys = _names(cls)
    return (keys + _KEYS_COUNT, word_at(keys + _KEYS_COUNT)) if keys else None


def has_values(cls: type) -> bool:
    """Whether objects of the class have attributes of their own as values, or in a dict that takes their place."""
    return bool(cls.__flags__ & _HAS_MANAGED_DICT)


def _names(cls: type) -> int:
    """Address of the names of the values that objects of the class have; 0: not known."""
    place = _keys_place()
    may_have_values = has_values(cls) and (
        not ARE_VALUES_INSIDE or cls.__flags__ & _HAS_VALUES_INSIDE
    )
    keys = word_at(id(cls) + place) if place is not None and may_have_values else 0
    if keys and ctypes.c_uint8.from_address(keys + _KEYS_KIND).value != _SPLIT_KEYS:
        return 0
    return keys


@cache
def _keys_place() -> int | None:
    """Where a type has the names of its objects' values; None: unknown."""
    if sys.version_info >= (3, 14):
        return None

    class Probe:
        """A class whose objects have two attributes."""

        def __init__(self) -> None:
            self.first: object = _MISSING
            self.second: object = types

    find_in_class(Probe, "first")
    probe, other = Probe(), Probe()
    values, order = _values(other)
    size: int = type.__basicsize__  # type: ignore[assignment]  # mypy takes it for a method
    keys = word_at(id(vars(probe)) + _DICT_KEYS)
    places = [_WORD * k for k in range(size // _WORD) if word_at(id(Probe) + _WORD * k) == keys]
    version = int32_at(id(Probe) + TYPE_VERSION)
    Probe.third = 3  # type: ignore[attr-defined]
    is_as_known = (
        len(places) == 1
        and version > 0
        and int32_at(id(Probe) + TYPE_VERSION) != version
        and (word_at(values), word_at(values + _WORD)) == (id(_MISSING), id(types))
        and order == [0, 1]
        and word_at(id(probe) + MANAGED_DICT) == id(vars(probe))
    )
    return places[0] if is_as_known else None


def _values(x: object) -> tuple[int, list[int]]:
    """Where an object of an ordinary class has its values, and the order in which it got them."""
    byte = ctypes.c_uint8.from_address
    if ARE_VALUES_INSIDE:
        capacity, number = byte(id(x) + INSIDE_CAPACITY).value, byte(id(x) + INSIDE_NUMBER).value
        behind = id(x) + INSIDE_VALUES + _WORD * capacity
        is_valid = byte(id(x) + INSIDE_IS_VALID).value == 1
        return id(x) + INSIDE_VALUES, [byte(behind + k).value for k in range(number)] * is_valid
    values = (
        word_at(id(x) + MANAGED_DICT) + 1 if IS_DICT_OR_VALUES else word_at(id(x) + INSTANCE_VALUES)
    )
    last = values + VALUES_NUMBER
    return values, [byte(last - 1 - k).value for k in range(byte(last).value)]
