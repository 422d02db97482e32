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
from ljit.ops.numpy_index import adjust_slice
from ljit.ops.python_types import range_length
from ljit.types import ANY, BOOL, FLOAT, INT, NONE, ListType, ScalarType, SliceType, TupleType, Type

__all__ = [
    "PRIVATE_LIST",
    "PRIVATE_RANGE",
    "PRIVATE_REPEATED",
    "PRIVATE_SECTION",
    "PYTHON_LIST",
    "number_codes",
    "python_list",
]

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


def _make_list(*items: object, item: Type) -> list[object]:
    return list(items)


def _make_repeated(value: object, count: int, *, item: Type) -> list[object]:
    return [value] * count


def _make_range(x: range, *, item: Type) -> list[int]:
    return list(x)


def _lower_range(e: Emitter, x: V, *, item: Type) -> V:
    start, _, step = e.range_parts(x)

    def number(k: V) -> V:
        return e.add(start, e.mul(k, step))

    return e.list_filled(range_length(e, x), number, e.result_types[0])


def _make_section(x: list[object], part: slice | None = None) -> list[object]:
    return list(x) if part is None else x[part]


def _lower_section(e: Emitter, x: V, part: V | None = None) -> V:
    if part is None:
        return e.list_filled(e.list_size(x), lambda k: e.list_load(x, k), e.result_types[0])
    start, step, count = adjust_slice(e, part, e.list_size(x))
    return e.list_filled(
        count, lambda k: e.list_load(x, e.add(start, e.mul(k, step))), e.result_types[0]
    )


def _is_of_ints(part: Type) -> bool:
    parts = (part.start, part.stop, part.step) if isinstance(part, SliceType) else (ANY,)
    return all(t in (NONE, BOOL, INT) for t in parts)


def _infer_private(*_operands: Type, item: Type) -> Type:
    return ListType(item, True)


def _make_python(x: list[object], *, type: Type) -> list[object]:
    return x


def _lower_shown(e: Emitter, x: V, *, type: Type) -> V:
    row = x.type.item
    if not isinstance(row, ListType) or not isinstance(row.item, ListType):
        return e.list_shown(x, type)
    return e.retype(e.call_function(_Shown(x.type), [x]), type)


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
    lower=lambda e, value, count, *, item: e.list_filled(count, lambda _: value, e.result_types[0]),
    effects=Effect.ALLOC | Effect.RAISE,
)
PRIVATE_RANGE = _op(
    "private_range",
    "(x, *, item)",
    "``list(x)`` of a range, a list that nobody else sees.",
    infer=_infer_private,
    evaluate=_make_range,
    lower=_lower_range,
    effects=Effect.ALLOC | Effect.RAISE,
)
PRIVATE_SECTION = _op(
    "private_section",
    "(x, part=None)",
    "``x[part]`` of a list that nobody else sees, for a slice, or ``list(x)``: one more such list.",
    infer=lambda x, part=NONE: x,
    evaluate=_make_section,
    lower=_lower_section,
    can_lower=lambda x, part=NONE: part == NONE or _is_of_ints(part),
    effects=Effect.READ | Effect.ALLOC | Effect.RAISE,
)
PYTHON_LIST = _op(
    "python_list",
    "(x, *, type)",
    "The list of Python's, seen to be of `type`, that a private list is from here on.",
    infer=lambda _x, *, type: type,
    evaluate=_make_python,
    lower=_lower_shown,
    effects=Effect.READ | Effect.ALLOC,
)
