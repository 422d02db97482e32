"""Python's ``sum`` of the numbers of a tuple, a list or a vector."""

from __future__ import annotations

import builtins

import numpy as np

from ljit.ir import Effect, Emitter, OpDef, Schema, declare, get_op
from ljit.ir.emitter import V
from ljit.ir.list_uses import ListUse
from ljit.ops.python import arithmetic
from ljit.ops.python.numbers import all_numbers, arithmetic_type, plain_effect, to_type
from ljit.ops.stdlib.compensated_sums import COMPENSATES, lost_by_adding, with_lost
from ljit.types import ANY, BOOL, FLOAT, INT, ArrayType, ListType, TupleType, Type

__all__: list[str] = []

_INSTRUCTIONS = 3  # of a trip, about
#: of sums of floats; what begins with a bool is not compensated for
_STARTS = (INT, FLOAT) if COMPENSATES else (BOOL, INT, FLOAT)


def _infer_sum(iterable: Type, start: Type = INT) -> Type:
    if isinstance(iterable, ListType):
        return _type_of_list(iterable.item, start)
    if isinstance(iterable, ArrayType):
        return _type_of_vector(iterable, start)
    if not isinstance(iterable, TupleType) or not all_numbers(*iterable.items, start):
        return ANY
    if not iterable.items:
        return start
    return arithmetic_type(*iterable.items, start)


def _type_of_list(item: Type, start: Type) -> Type:
    """The type of a sum of items; Any: CPython adds them."""
    if item in (BOOL, INT) and start in (BOOL, INT):
        return INT
    return FLOAT if item == FLOAT and start in _STARTS else ANY


def _type_of_vector(x: ArrayType, start: Type) -> Type:
    """The type of the elements, if it is that of their sum; Any: NumPy adds them."""
    if x.ndim != 1 or start not in (INT, FLOAT):
        return ANY
    add = get_op("np::add")
    is_native = all(add.has_lowering((first, x.element)) for first in (start, x.element))
    keeps = all(add.infer_types((t, x.element), {}) == (x.element,) for t in (start, x.element))
    return x.element if is_native and keeps else ANY


def _can_lower_sum(iterable: Type, start: Type = INT) -> bool:
    result = _infer_sum(iterable, start)
    if isinstance(iterable, ListType | ArrayType):
        return result != ANY
    if not isinstance(iterable, TupleType) or not arithmetic.can_lower_number(
        *iterable.items, start
    ):
        return False
    if not COMPENSATES:
        return result != ANY
    return result == INT or (result == FLOAT and start in _STARTS)


def _effect_of_sum(iterable: Type, start: Type = INT) -> Effect:
    if _infer_sum(iterable, start) == ANY:
        return plain_effect(iterable, start)
    if isinstance(iterable, ListType | ArrayType):
        return Effect.READ | Effect.RAISE
    first = iterable.items[:1] if isinstance(iterable, TupleType) else ()
    adds_ints = bool(first) and {start, *first} <= {BOOL, INT}
    return Effect.RAISE if adds_ints else Effect.PURE  # their sum may not fit


def _lower_sum(e: Emitter, iterable: V, start: V | None = None) -> V:
    result = e.const(INT, 0) if start is None else start
    if isinstance(iterable.type, ListType):
        return _sum_of_list(e, iterable, result)
    if isinstance(iterable.type, ArrayType):
        return _sum_of_vector(e, iterable, result)
    lost = e.const(FLOAT, 0.0)
    for item in e.tuple_items(iterable):
        result, lost = _added(e, result, lost, item)
    return with_lost(e, result, lost) if COMPENSATES else result


def _added(e: Emitter, total: V, lost: V, item: V) -> tuple[V, V]:
    """The sum with one more item, and what it has lost."""
    new = arithmetic.lower_add(e, total, item)
    return new, lost_by_adding(e, lost, total, item, new) if COMPENSATES else lost


def _sum_of_vector(e: Emitter, x: V, start: V) -> V:
    """Add in turn, as NumPy's numbers; leaves if there are none: their sum is `start` itself."""
    (count,) = e.array_sizes(x)
    e.bail_if(e.compare("eq", count, 0), "the sum of no elements")
    add = get_op("np::add").lower
    assert add is not None
    first = add(e, start, e.array_load(x, [e.const(INT, 0)]))

    def add_next(k: V, total: V) -> V:
        return add(e, total, e.array_load(x, [e.add(k, 1, fits=True)]))

    return e.fold(e.sub(count, 1, fits=True), first, add_next, _INSTRUCTIONS)


def _sum_of_list(e: Emitter, x: V, start: V) -> V:
    """Add in turn; leaves where the sum outgrows a word, or is one of no floats, and no float then."""
    count, done = e.list_size(x), e.const(INT, 0)
    type_ = _infer_sum(x.type, start.type)

    def item(k: V) -> V:
        return to_type(e, e.list_load(x, k), type_)

    if type_ == FLOAT != start.type:  # what this sum loses is lost
        e.bail_if(e.compare("eq", count, 0), "the sum of no floats")
        start, done = arithmetic.lower_add(e, start, item(done)), e.const(INT, 1)

    def add(k: V, carried: V) -> V:
        total, lost = e.tuple_items(carried)
        return e.tuple_make(_added(e, total, lost, item(e.add(k, done, fits=True))))

    first = e.tuple_make([to_type(e, start, type_), e.const(FLOAT, 0.0)])
    left = e.sub(count, done, fits=True)
    total, lost = e.tuple_items(e.fold(left, first, add, _INSTRUCTIONS))
    return with_lost(e, total, lost) if COMPENSATES else total


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
            *((np.array([0.1, 0.2, 0.3]),), (np.array([], dtype=np.int64),), (np.array([True]),)),
            *((np.array([1, 2], dtype=np.int8), 3), (np.array([1j, 2]),), (np.ones((2, 2)),)),
            *((np.array([1, 2], dtype=np.int32), 0.5), (np.arange(9.0)[::-2], 1.5)),
            *(([-0.0],), ([0.1, 0.2, 0.3], 1), ([1e308, 1e308, -1e308], 0.5), ([1, 2.5],)),
        ),
    )
)
