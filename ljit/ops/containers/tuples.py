"""Ops that make and read tuples, and those that are named."""

from __future__ import annotations

from collections.abc import Iterable

from ljit.ir import Effect, any_operands
from ljit.ops.objects import object_op
from ljit.ops.ranges.int_ranges import ITEM_OF_TUPLE, MADE_TUPLE
from ljit.types import (
    ANY,
    ListType,
    NamedTupleType,
    ObjectType,
    TupleType,
    Type,
    named_tuple_of,
    tuple_of,
)

__all__ = ["AS_NAMED", "AS_TUPLE", "TUPLE_CONSTRUCT", "TUPLE_INDEX"]


def _make_tuple(*items: object) -> tuple[object, ...]:
    return items


def _extend_tuple(x: tuple[object, ...], values: Iterable[object]) -> tuple[object, ...]:
    return (*x, *values)


def _are_tuples(x: Type, values: Type) -> bool:
    return isinstance(x, TupleType) and isinstance(values, TupleType)


def _infer_extended(x: Type, values: Type) -> Type:
    if isinstance(x, TupleType) and isinstance(values, TupleType):
        return tuple_of(x.items + values.items)
    return ANY


def _effect_of_extended(x: Type, values: Type) -> Effect:
    if _are_tuples(x, values):
        return Effect.PURE
    return Effect.READ if isinstance(values, ListType) else Effect.CALL


def _infer_named(x: Type, *, cls: type) -> Type:
    return named_tuple_of(cls, x.items) if isinstance(x, TupleType) else ObjectType(cls)


def _infer_unnamed(x: Type) -> Type:
    return tuple_of(x.items) if isinstance(x, NamedTupleType) else ObjectType(tuple)


def _item_of_tuple(x: tuple[object, ...], *, index: int) -> object:
    return x[index]


TUPLE_CONSTRUCT = object_op(
    "prim::TupleConstruct",
    "(*items)",
    "``(a, b)``",
    syntax=lambda *items: f"({', '.join(items)}{',' * (len(items) == 1)})",
    keeps_unions=True,
    infer=lambda *items: tuple_of(items),
    takes_characters=any_operands,
    takes_records=True,
    evaluate=_make_tuple,
    lower=lambda e, *items: e.tuple_make(items),
    can_lower=lambda *items: isinstance(tuple_of(items), TupleType),
    effects=Effect.PURE,
    ranges=MADE_TUPLE,
    samples=((), (1,), (1, 2.5, None), ("a", (1j, True)), ([1], {})),
)
TUPLE_EXTEND = object_op(
    "prim::tuple_extend",
    "(x, values)",
    "The tuple ``(*x, *values)`` of a tuple `x`.",
    infer=_infer_extended,
    evaluate=_extend_tuple,
    lower=lambda e, x, values: e.tuple_make([*e.tuple_items(x), *e.tuple_items(values)]),
    can_lower=_are_tuples,
    effects=_effect_of_extended,
    is_profiled=True,
    samples=(((1, 2.5), (None,)), ((), [1, 2]), ((1,), "ab"), ((1,), 5)),
)
TUPLE_INDEX = object_op(
    "prim::TupleIndex",
    "(x, *, index)",
    "Item of a tuple at a fixed place.",
    infer=lambda x, *, index: x.items[index] if isinstance(x, TupleType) else ANY,
    takes_characters=any_operands,
    takes_records=True,
    evaluate=_item_of_tuple,
    lower=lambda e, x, *, index: e.tuple_items(x)[index],
    can_lower=lambda x, *, index: isinstance(x, TupleType),
    effects=lambda x, *, index: Effect.PURE if isinstance(x, TupleType) else Effect.CALL,
    ranges=ITEM_OF_TUPLE,
)
AS_NAMED = object_op(
    "prim::as_named",
    "(x, *, cls)",
    "The named tuple of a class with the items of `x`, which are as many as it has fields.",
    infer=_infer_named,
    takes_characters=any_operands,
    takes_records=True,
    evaluate=lambda x, *, cls: tuple.__new__(cls, x),
    lower=lambda e, x, *, cls: e.retype(x, _infer_named(x.type, cls=cls)),
    can_lower=lambda x, *, cls: isinstance(_infer_named(x, cls=cls), NamedTupleType),
    effects=Effect.PURE,
)
AS_TUPLE = object_op(
    "prim::as_tuple",
    "(x)",
    "The plain tuple of the items of a named one.",
    infer=_infer_unnamed,
    takes_characters=any_operands,
    takes_records=True,
    evaluate=lambda x: tuple.__getitem__(x, slice(None)),
    lower=lambda e, x: e.retype(x, _infer_unnamed(x.type)),
    can_lower=lambda x: isinstance(x, NamedTupleType),
    effects=Effect.PURE,
)
