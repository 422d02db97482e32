"""Python's ``sum`` of a tuple's or a list's numbers."""

from __future__ import annotations

import builtins
import sys

from ljit.ir import Effect, Emitter, OpDef, Schema, declare
from ljit.ir.emitter import V
from ljit.ir.list_uses import ListUse
from ljit.ops.python import arithmetic
from ljit.ops.python.numbers import all_numbers, arithmetic_type, plain_effect, to_type
from ljit.types import ANY, BOOL, FLOAT, INT, ListType, TupleType, Type

__all__: list[str] = []

_ADDS_FLOATS_PLAINLY = sys.version_info < (3, 12)  # later versions compensate rounding errors
_INSTRUCTIONS = 3  # of a trip, about


def _infer_sum(iterable: Type, start: Type = INT) -> Type:
    if isinstance(iterable, ListType):
        return _type_of_list(iterable.item, start)
    if not isinstance(iterable, TupleType) or not all_numbers(*iterable.items, start):
        return ANY
    if not iterable.items:
        return start
    return arithmetic_type(*iterable.items, start)


def _type_of_list(item: Type, start: Type) -> Type:
    """The type of a sum of items; Any: CPython adds them."""
    if item in (BOOL, INT) and start in (BOOL, INT):
        return INT
    is_of_floats = item == FLOAT and start in (BOOL, INT, FLOAT)
    return FLOAT if is_of_floats and _ADDS_FLOATS_PLAINLY else ANY


def _can_lower_sum(iterable: Type, start: Type = INT) -> bool:
    result = _infer_sum(iterable, start)
    if isinstance(iterable, ListType):
        return result != ANY
    if not isinstance(iterable, TupleType) or not arithmetic.can_lower_number(
        *iterable.items, start
    ):
        return False
    return result == INT or (_ADDS_FLOATS_PLAINLY and result != ANY)


def _effect_of_sum(iterable: Type, start: Type = INT) -> Effect:
    if _infer_sum(iterable, start) == ANY:
        return plain_effect(iterable, start)
    if isinstance(iterable, ListType):
        return Effect.READ | Effect.RAISE
    first = iterable.items[:1] if isinstance(iterable, TupleType) else ()
    adds_ints = bool(first) and {start, *first} <= {BOOL, INT}
    return Effect.RAISE if adds_ints else Effect.PURE  # their sum may not fit


def _lower_sum(e: Emitter, iterable: V, start: V | None = None) -> V:
    result = e.const(INT, 0) if start is None else start
    if isinstance(iterable.type, ListType):
        return _sum_of_list(e, iterable, result)
    for item in e.tuple_items(iterable):
        result = arithmetic.lower_add(e, result, item)
    return result


def _sum_of_list(e: Emitter, x: V, start: V) -> V:
    """Add in turn; leaves where the sum outgrows a word, or is one of no floats, and no float then."""
    count = e.list_size(x)
    type_ = _infer_sum(x.type, start.type)
    if type_ == FLOAT != start.type:
        e.bail_if(e.compare("eq", count, 0), "the sum of no floats")

    def add(k: V, total: V) -> V:
        return arithmetic.lower_add(e, total, to_type(e, e.list_load(x, k), type_))

    return e.fold(count, to_type(e, start, type_), add, _INSTRUCTIONS)


declare(
    OpDef(
        "py::sum",
        Schema("(iterable, /, start=0)"),
        "``sum(iterable, start)``",
        infer=_infer_sum,
        evaluate=builtins.sum,
        lower=_lower_sum,
        can_lower=_can_lower_sum,
        effects=_effect_of_sum,
        callables=(builtins.sum,),
        list_use=ListUse(combines=True),
        is_profiled=True,
        samples=(
            *(
                ((),),
                ((), True),
                ((1, 2.5, True),),
                ((2**63 - 1, 1),),
                ((1e308, 1e308),),
                ((-0.0,),),
            ),
            *(((0.1, 0.2, 0.3), 1), ((1j, 2),), (range(5),), ((1, "a"),), ((1.5,), -0.0)),
            *(([1, 2, 3],), ([],), ([True, True], False), ([2**63 - 1, 1, -1],), ([1, 2], 0.5)),
            *(([-0.0],), ([0.1, 0.2, 0.3], 1), ([1e308, 1e308, -1e308], 0.5), ([1, 2.5],)),
        ),
    )
)
