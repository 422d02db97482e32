"""How the items of private lists lie in memory (`ListType.is_private`), and the lists of Python's that these stand for.

Numbers, and tuples of numbers, lie in the memory of a ``bytearray``, one after the other, so that references to such a
list are counted as to any object; a list of lists is a ``list`` of what the items are.
"""

from __future__ import annotations

import struct
from collections.abc import Iterator
from typing import Any

import numpy as np

from ljit.types import BOOL, FLOAT, INT, ListType, ScalarType, TupleType, Type, ViewType

__all__ = ["holds_private", "number_codes", "python_list", "python_value"]

_CODES: dict[Type, str] = {BOOL: "?", INT: "q", FLOAT: "d"}  # of the module struct
_CODES_OF_DTYPES = {"b1": "?", "f2": "e", "f4": "f", "f8": "d"}
_CODES_OF_DTYPES |= {f"i{size}": code for size, code in ((1, "b"), (2, "h"), (4, "i"), (8, "q"))}
_CODES_OF_DTYPES |= {f"u{size}": code for size, code in ((1, "B"), (2, "H"), (4, "I"), (8, "Q"))}


def number_codes(item: Type) -> str:
    """Give the codes of the numbers in an item, as `struct` has them; none: no private list holds such items."""
    numbers = item.items if isinstance(item, TupleType) else (item,)
    codes = [_code(number) for number in numbers]
    return "".join(codes) if all(codes) else ""


def _code(number: Type) -> str:
    if isinstance(number, ScalarType):
        return _CODES_OF_DTYPES.get(f"{number.dtype.kind}{number.dtype.itemsize}", "")
    return _CODES.get(number, "")


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
    if not isinstance(item, TupleType):
        numbers = np.frombuffer(storage, number_codes(item)) if storage else np.empty(0)
        return iter(numbers if isinstance(item, ScalarType) else numbers.tolist())
    makers = [x.dtype.type if isinstance(x, ScalarType) else _as_it_is for x in item.items]
    rows = struct.iter_unpack(f"={number_codes(item)}", storage)
    return (tuple(make(x) for make, x in zip(makers, row, strict=True)) for row in rows)


def _as_it_is(x: Any) -> Any:
    return x
