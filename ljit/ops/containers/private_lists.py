"""Lists that only native code sees (`ListType.is_private`): how they are made, and made lists of Python's.

`passes/unbox_lists.py` puts these ops in; `private_items.py` says how the items lie.
"""

from __future__ import annotations

from typing import Any

from ljit.ir import Effect, Emitter, OpDef, Schema, declare
from ljit.ir.emitter import V
from ljit.ops.python.numbers import at_least
from ljit.ops.python.private_items import python_list
from ljit.ops.python.slices import adjust_slice, is_slice_of_ints
from ljit.ops.python.types import range_length
from ljit.types import BOOL, INT, NONE, ListType, Type

__all__: list[str] = []

_MAX_TIMES = 2**24


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


def _make_product(x: list[object], count: int) -> list[object]:
    return x * count


def _lower_product(e: Emitter, x: V, count: V) -> V:
    made, zero, size = e.list_make([], x.type), e.const(INT, 0), e.list_size(x)
    count = e.cast(count, INT) if count.type == BOOL else count
    times = at_least(e, count, zero)
    e.bail_if(e.compare("gt", times, _MAX_TIMES), "a list too large")
    e.bail_if(e.compare("gt", size, _MAX_TIMES), "a list too large")
    e.list_resize(made, e.mul(size, times))
    e.loop(times, lambda k: e.list_move(made, e.mul(k, size), x, zero, size))
    return made


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


def _op(name: str, schema: str, doc: str, **fields: Any) -> None:
    declare(OpDef(f"prim::{name}", Schema(schema), doc, **fields))


_op(
    "private_list",
    "(*items, item)",
    "``[a, b]``, a list that nobody else sees, with items of type `item`.",
    infer=_infer_private,
    evaluate=_make_list,
    lower=lambda e, *items, item: e.list_make(items, e.result_types[0]),
    effects=Effect.ALLOC,
)
_op(
    "private_repeated",
    "(value, count, *, item)",
    "``[value] * count``, a list that nobody else sees, with items of type `item`, a number.",
    infer=_infer_private,
    evaluate=_make_repeated,
    lower=lambda e, value, count, *, item: e.list_filled(count, lambda _: value, e.result_types[0]),
    effects=Effect.ALLOC | Effect.RAISE,
)
_op(
    "private_range",
    "(x, *, item)",
    "``list(x)`` of a range, a list that nobody else sees.",
    infer=_infer_private,
    evaluate=_make_range,
    lower=_lower_range,
    effects=Effect.ALLOC | Effect.RAISE,
)
_op(
    "private_section",
    "(x, part=None)",
    "``x[part]`` of a list that nobody else sees, for a slice, or ``list(x)``: one more such list.",
    infer=lambda x, part=NONE: x,
    evaluate=_make_section,
    lower=_lower_section,
    can_lower=lambda x, part=NONE: part == NONE or is_slice_of_ints(part),
    effects=Effect.READ | Effect.ALLOC | Effect.RAISE,
)
_op(
    "private_product",
    "(x, count)",
    "``x * count`` of a list that nobody else sees: one more such list.",
    infer=lambda x, count: x,
    evaluate=_make_product,
    lower=_lower_product,
    can_lower=lambda x, count: not isinstance(x.item, ListType) and count in (BOOL, INT),
    effects=Effect.READ | Effect.ALLOC | Effect.RAISE,
)
_op(
    "python_list",
    "(x, *, type)",
    "The list of Python's, seen to be of `type`, that a private list is from here on.",
    infer=lambda _x, *, type: type,
    evaluate=_make_python,
    lower=_lower_shown,
    effects=Effect.READ | Effect.ALLOC,
)
