"""Types of containers whose items lie side by side as numbers of the machine: bytes, bytearrays, and `array.array`.

CPython makes an int or a float of each item that is read, and refuses what is no number or does not fit.
"""

from __future__ import annotations

from array import array
from typing import Any, Final

import numpy as np

from ljit.types import BYTEARRAY, BYTES, FLOAT, INT, ObjectType, Type
from ljit.unique import Unique
from ljit.value_types import register_class

__all__ = [
    "TYPECODES",
    "PackedType",
    "is_packed",
    "may_change",
    "packed_dtype",
    "packed_item_type",
    "packed_limits",
]

#: of arrays whose items all fit in native ints and floats; others ("L", "Q", characters) are objects
TYPECODES = frozenset("bBhHiIlqfd")
_BYTE = np.dtype(np.uint8)


class PackedType(ObjectType):
    """An `array.array` with items of this type code."""

    __slots__ = ("typecode",)

    def __new__(cls, typecode: str) -> Any:
        return Unique.__new__(cls, typecode)

    def __init__(self, typecode: str) -> None:
        self.key = (typecode,)
        self.cls = array  # type: ignore[misc]
        self.typecode: Final = typecode

    def __str__(self) -> str:
        return f"Packed[{self.typecode}]"


def _type_of_array(x: Any) -> Type:
    return PackedType(x.typecode) if x.typecode in TYPECODES else ObjectType(array)


register_class(array, _type_of_array)


def packed_dtype(t: Type) -> np.dtype | None:
    """As what the items lie in memory; None: the type is none of these."""
    if t in (BYTES, BYTEARRAY):
        return _BYTE
    return np.dtype(t.typecode) if isinstance(t, PackedType) else None


def packed_limits(t: Type) -> tuple[int, int] | None:
    """The least and the greatest int that an item may be; None: the type is none of these, or of floats."""
    dtype = packed_dtype(t)
    if dtype is None or dtype.kind == "f":
        return None
    limits = np.iinfo(dtype)
    return int(limits.min), int(limits.max)


def is_packed(t: Type) -> bool:
    """Whether the items of such containers are read where they lie."""
    return t in (BYTES, BYTEARRAY) or isinstance(t, PackedType)


def may_change(t: Type) -> bool:
    """Whether they can be stored to, and get more or fewer items."""
    return t == BYTEARRAY or isinstance(t, PackedType)


def packed_item_type(t: Type) -> Type:
    """What reading an item of a packed type gives."""
    return FLOAT if isinstance(t, PackedType) and t.typecode in "fd" else INT
