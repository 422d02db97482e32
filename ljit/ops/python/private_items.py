"""How the items of private lists lie in memory (`ListType.is_private`), and the lists of Python's that these stand for.

Numbers, and tuples of numbers, lie in the memory of a ``bytearray``, one after the other, so that references to such a
list are counted as to any object; a list of lists is a ``list`` of what the items are. In front of a number of one of
several classes (a Union) is a tag that says which; ints have one place, floats have another one.
"""

from __future__ import annotations

import struct
from collections.abc import Iterator
from typing import Any

import numpy as np

from ljit.types import (
    BOOL,
    FLOAT,
    INT,
    UINT,
    ListType,
    ScalarType,
    TupleType,
    Type,
    UnionType,
    ViewType,
)

__all__ = [
    "holds_numbers",
    "holds_private",
    "number_code",
    "number_codes",
    "numbers_of",
    "python_list",
    "python_value",
]

_CODES: dict[Type, str] = {BOOL: "?", INT: "q", UINT: "Q", FLOAT: "d"}  # of the module struct
_CODES_OF_DTYPES = {"b1": "?", "f2": "e", "f4": "f", "f8": "d"}
_CODES_OF_DTYPES |= {f"i{size}": code for size, code in ((1, "b"), (2, "h"), (4, "i"), (8, "q"))}
_CODES_OF_DTYPES |= {f"u{size}": code for size, code in ((1, "B"), (2, "H"), (4, "I"), (8, "Q"))}
_TAG = ScalarType(np.dtype(np.uint8))


def number_codes(item: Type) -> str:
    """Give the codes of the numbers in an item, as `struct` has them; none: no private list holds such items."""
    codes = [number_code(number) for number in numbers_of(item)]
    return "".join(codes) if all(codes) else ""


def numbers_of(item: Type) -> tuple[Type, ...]:
    """Give the types of what lies in memory for an item."""
    if isinstance(item, TupleType):
        return tuple(x for part in item.items for x in _parts_of(part))
    return _parts_of(item)


def _parts_of(number: Type) -> tuple[Type, ...]:
    return (_TAG, *_places(number).values()) if isinstance(number, UnionType) else (number,)


def _places(union: UnionType) -> dict[str, Type]:
    """The widest of the ints among the members, of the floats and of the bools: the others have their places.

    Ints with a sign and without have none together if the sign of the widest would be that of others.
    """
    found: dict[str, Type] = {}
    for member in union.members:
        kind = _kind(member)
        found[kind] = max(found.get(kind, member), member, key=_width)
    ints = [number_code(member) for member in union.members if _kind(member) == "i"]
    widest = number_code(found.get("i", INT))
    is_known = all(code == widest or _holds(widest, code) for code in ints)
    return found if is_known else {"": union}


def _holds(code: str, other: str) -> bool:
    """Whether ints of one code may be any that another one has."""
    is_same_sign = code.islower() == other.islower()
    is_wider = struct.calcsize(f"={code}") > struct.calcsize(f"={other}")
    return is_wider and (is_same_sign or code.islower())


def _kind(number: Type) -> str:
    """As numbers share components in the machine form of a Union (`codegen/llvm/forms.py`)."""
    code = number_code(number).lower()
    return "i" if code and code in "bhiq" else "f" if code and code in "efd" else code


def _width(number: Type) -> int:
    return struct.calcsize(f"={number_code(number)}")


def number_code(number: Type) -> str:
    """Give the code of a number; none if it is none, or one of several classes."""
    if isinstance(number, ScalarType):
        return _CODES_OF_DTYPES.get(f"{number.dtype.kind}{number.dtype.itemsize}", "")
    return _CODES.get(number, "")


def holds_numbers(t: Type) -> bool:
    """Whether it is a private list of numbers, or of tuples of them."""
    return isinstance(t, ListType) and t.is_private and not isinstance(t.item, ListType)


def holds_private(t: Type) -> bool:
    """Whether values of the type are private lists, or iterations over them."""
    if isinstance(t, ViewType):
        return any(map(holds_private, t.parts))
    return isinstance(t, ListType) and t.is_private


def python_value(x: Any, type_: Type, made: dict[int, list[Any]]) -> Any:
    """Give what a private list stands for as `python_list` does, and an iteration over that."""
    if isinstance(type_, ListType) and type_.is_private:
        return python_list(x, type_, made)
    if not isinstance(type_, ViewType):
        return x
    parts = zip(x, type_.parts, strict=True)
    return type(x)(python_value(part, t, made) for part, t in parts)


def python_list(storage: Any, type_: ListType, made: dict[int, list[Any]] | None = None) -> Any:
    """Give the list of Python's that a private one stands for; `made`: those that there are already, by id."""
    made = {} if made is None else made
    if id(storage) not in made:
        result: list[Any] = []
        made[id(storage)] = result
        result += _items(storage, type_.item, made)
    return made[id(storage)]


def _items(storage: Any, item: Type, made: dict[int, list[Any]]) -> Iterator[Any]:
    if isinstance(item, ListType):
        return (python_list(inner, item, made) for inner in storage)
    if not isinstance(item, TupleType | UnionType):
        # numbers whose dtype is np.int64, not np.longlong, the code of which is "q"
        if isinstance(item, ScalarType):
            return iter(np.frombuffer(storage, item.dtype) if storage else ())
        return iter(np.frombuffer(storage, number_codes(item)).tolist() if storage else ())
    rows = struct.iter_unpack(f"={number_codes(item)}", storage)
    return (_value(item, iter(row)) for row in rows)


def _value(item: Type, numbers: Iterator[Any]) -> Any:
    """Give an item, made of the next numbers in memory."""
    if isinstance(item, TupleType):
        return tuple([_value(part, numbers) for part in item.items])
    if isinstance(item, UnionType):
        member = item.members[next(numbers)]
        found = {kind: next(numbers) for kind in _places(item)}
        return _value(member, iter((found[_kind(member)],)))
    number = next(numbers)
    return item.dtype.type(number) if isinstance(item, ScalarType) else number
