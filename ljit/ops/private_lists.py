"""Lists that only native code sees (`ListType.is_private`): how they are made, and made lists of Python's.

`passes/unbox_lists.py` puts these ops in. Numbers, and tuples of numbers, lie in the memory of a ``bytearray``, one
after the other, so that references to such a list are counted as to any object; a list of lists is a ``list`` of
what the items are.
"""

from __future__ import annotations

import struct
from collections.abc import Iterator
from typing import Any

import numpy as np

from ljit.ir import Effect, Emitter, OpDef, Schema, declare
from ljit.ir.emitter import V
from ljit.types import BOOL, FLOAT, INT, ListType, TupleType, Type

__all__ = ["PRIVATE_LIST", "PRIVATE_REPEATED", "PYTHON_LIST", "number_codes", "python_list"]

_CODES: dict[Type, str] = {BOOL: "?", INT: "q", FLOAT: "d"}  # of the module struct


def number_codes(item: Type) -> str:
    """Give the codes of the numbers in an item, as `struct` has them; none: no private list holds such items."""
    numbers = item.items if isinstance(item, TupleType) else (item,)
    codes = [_CODES.get(number, "") for number in numbers]
    return "".join(codes) if all(codes) else ""


def python_list(storage: Any, type_: ListType, made: dict[int, list[Any]] | None = None) -> Any:
    """Give the list of Python's that a private one stands for; `made`: those that there are already, by id."""
    made = {} if made is None else made
    if id(storage) not in made:
        result: list[Any] = []
        made[id(storage)] = result
        result += _items(storage, type_.item, made)
    return made[id(storage)]


def _items(storage: Any, item: Type, made: dict[int, list[Any]]) -> Iterator[Any] | list[Any]:
    if isinstance(item, ListType):
        return (python_list(inner, item, made) for inner in storage)
    codes = number_codes(item)
    if isinstance(item, TupleType):
        return struct.iter_unpack(f"={codes}", storage)
    items: list[Any] = np.frombuffer(storage, codes).tolist() if storage else []
    return items


def _make_list(*items: object, item: Type) -> list[object]:
    return list(items)


def _make_repeated(value: object, count: int, *, item: Type) -> list[object]:
    return [value] * count


def _infer_private(*_operands: Type, item: Type) -> Type:
    return ListType(item, True)


def _lower_shown(e: Emitter, x: V) -> V:
    row = x.type.item
    if not isinstance(row, ListType) or not isinstance(row.item, ListType):
        return e.list_shown(x, e.result_types[0])
    return e.retype(e.call_function(_Shown(x.type), [x]), e.result_types[0])


class _Shown:
    """`python_list` for one type."""

    __slots__ = ("type",)

    def __init__(self, type_: ListType) -> None:
        self.type = type_

    def __call__(self, storage: object) -> object:
        return python_list(storage, self.type)


def _op(name: str, schema: str, doc: str, **fields: Any) -> OpDef:
    return declare(OpDef(f"prim::{name}", Schema(schema), doc, **fields))


PRIVATE_LIST = _op(
    "private_list",
    "(*items, item)",
    "``[a, b]``, a list that nobody else sees, with items of type `item`.",
    infer=_infer_private,
    evaluate=_make_list,
    lower=lambda e, *items, item: e.list_make(items, e.result_types[0]),
    effects=Effect.ALLOC,
)
PRIVATE_REPEATED = _op(
    "private_repeated",
    "(value, count, *, item)",
    "``[value] * count``, a list that nobody else sees, with items of type `item`, a number.",
    infer=_infer_private,
    evaluate=_make_repeated,
    lower=lambda e, value, count, *, item: e.list_repeated(value, count, e.result_types[0]),
    effects=Effect.ALLOC | Effect.RAISE,
)
PYTHON_LIST = _op(
    "python_list",
    "(x)",
    "The list of Python's that a private list is from here on.",
    infer=lambda x: ListType(_public(x.item)) if isinstance(x, ListType) else x,
    evaluate=lambda x: x,
    lower=_lower_shown,
    effects=Effect.READ | Effect.ALLOC,
)


def _public(item: Type) -> Type:
    return ListType(_public(item.item)) if isinstance(item, ListType) else item
