"""Python's ``min`` and ``max`` of several numbers or of the items of a tuple, list or vector.

Arguments of different types give a Union: the result is one of the arguments as it was. So are Unions of Python's and
NumPy's numbers taken, without a branch: `min(max(x[i], 0.0), 255.0)`.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import groupby

import numpy as np

from ljit.ir import Effect, Emitter, OpDef, Schema, declare, get_op
from ljit.ir.emitter import V
from ljit.ir.list_uses import ListUse
from ljit.ops.python import compare
from ljit.ops.python.numbers import all_numbers, is_real_scalar, of_any_width, plain_effect
from ljit.ops.python.samples import REAL_PAIRS
from ljit.ops.python.types import join_all
from ljit.ops.ranges.int_bounds import is_int
from ljit.ops.ranges.int_ranges import MAXIMUM, MINIMUM
from ljit.types import ANY, INT, STR, UINT, ArrayType, ListType, TupleType, Type, UnionType

__all__: list[str] = []


def _candidates(args: Sequence[Type]) -> Sequence[Type]:
    """The types that are compared: those of the arguments, or of the items of a single tuple, list or vector."""
    if len(args) == 1:
        if isinstance(args[0], ListType):
            return (args[0].item,)
        if isinstance(args[0], ArrayType):
            return (args[0].element,) if args[0].ndim == 1 else ()
        return args[0].items if isinstance(args[0], TupleType) else ()
    return args


def _are_of_two_classes(*args: Type) -> bool:
    """Whether these are two numbers, Python's, or NumPy's of one dtype, or either: floats, or ints."""
    if len(args) != 2 or not any(isinstance(x, UnionType) for x in args):
        return False
    either = join_all(args)
    return isinstance(either, UnionType) and of_any_width(either) is not None


def _infer_extremum(*args: Type) -> Type:
    if _are_of_two_classes(*args):
        return join_all(args)
    types = _candidates(args)
    if _are_uints(types):
        return UINT
    if not types or not all(map(is_real_scalar, types)):
        is_text = types and not _is_series(args[0]) and all(t == STR for t in types)
        return STR if is_text else ANY
    return join_all(types)


def _is_series(x: Type) -> bool:
    return isinstance(x, ListType | ArrayType)


def _are_uints(types: Sequence[Type]) -> bool:
    return bool(types) and all(t == UINT for t in types)


def _is_comparable(x: Type, y: Type) -> bool:
    """Whether native code compares the two, as Python's numbers or as NumPy's."""
    can_lower = get_op("np::less").can_lower
    return all_numbers(x, y) or (can_lower is not None and can_lower(x, y))


def _can_lower_extremum(*args: Type) -> bool:
    types = _candidates(args)
    return (
        _are_of_two_classes(*args)
        or _are_uints(types)
        or (
            bool(types)
            and all(map(is_real_scalar, types))
            and all(_is_comparable(x, y) for i, x in enumerate(types) for y in types[: i or 1])
            and _infer_extremum(*args) != ANY
        )
    )


def _less(e: Emitter, x: V, y: V) -> V:
    if x.type == y.type == UINT:
        return e.compare("lt", x, y)
    if all_numbers(x.type, y.type):
        return compare.compare_numbers(e, "lt", x, y)
    return compare.compare_with_numpy(e, "np::less", x, y)


def _better(e: Emitter, candidate: V, best: V, *, is_max: bool) -> V:
    return _less(e, best, candidate) if is_max else _less(e, candidate, best)


def _lower_extremum(e: Emitter, args: Sequence[V], *, is_max: bool) -> V:
    """Keep the first of equal values, as Python does."""
    if len(args) == 1 and _is_series(args[0].type):
        return _extremum_of_series(e, args[0], is_max=is_max)
    if _are_of_two_classes(*(x.type for x in args)):
        return _extremum_of_two_classes(e, *args, is_max=is_max)
    values = e.tuple_items(args[0]) if len(args) == 1 else args
    type_ = join_all(v.type for v in values)
    if isinstance(type_, UnionType):
        return _mixed_extremum(e, _without_rivals(e, values, is_max=is_max), type_, is_max=is_max)
    return _first_best(e, values, is_max=is_max)


def _extremum_of_two_classes(e: Emitter, x: V, y: V, *, is_max: bool) -> V:
    """Compare them as what they are, ints by value: the result has the class of the one that it is."""
    type_ = join_all((x.type, y.type))

    def wins_over(a: V) -> V:
        return e.of_members(y, lambda b: _better(e, b, a, is_max=is_max))

    assert isinstance(type_, UnionType)
    if INT in type_.members:
        wins = _better(e, e.cast(y, INT), e.cast(x, INT), is_max=is_max)
    else:
        wins = e.of_members(x, wins_over)
    return e.select(wins, e.widen(y, type_), e.widen(x, type_))


def _first_best(e: Emitter, values: Sequence[V], *, is_max: bool) -> V:
    best = values[0]
    for value in values[1:]:
        best = e.select(_better(e, value, best, is_max=is_max), value, best)
    return best


def _without_rivals(e: Emitter, values: Sequence[V], *, is_max: bool) -> Sequence[V]:
    """Of neighbours that are ints of one class the best ones: no NaN makes it count who is compared first."""
    found: list[V] = []
    for type_, group in groupby(values, key=lambda v: v.type):
        run = [*group]
        found += [_first_best(e, run, is_max=is_max)] if is_int(type_) else run
    return found


def _extremum_of_series(e: Emitter, x: V, *, is_max: bool) -> V:
    is_array = isinstance(x.type, ArrayType)
    count = e.array_sizes(x)[0] if is_array else e.list_size(x)
    e.bail_if(e.compare("eq", count, 0), "extremum of nothing")

    def item(k: V) -> V:
        return e.array_load(x, [k]) if is_array else e.list_load(x, k)

    def choose(k: V, best: V) -> V:
        value = item(e.add(k, 1, fits=True))
        return e.select(_better(e, value, best, is_max=is_max), value, best)

    return e.fold(e.sub(count, 1, fits=True), item(e.const(INT, 0)), choose, _INSTRUCTIONS)


def _mixed_extremum(e: Emitter, values: Sequence[V], type_: UnionType, *, is_max: bool) -> V:
    """Track the position of the best value; each pair is compared as its types demand."""
    position = e.const(INT, 0)
    result = e.widen(values[0], type_)
    for i, value in enumerate(values[1:], 1):
        wins = _better(e, value, values[0], is_max=is_max)
        for j in range(1, i):
            is_best = e.compare("eq", position, j)
            wins = e.select(is_best, _better(e, value, values[j], is_max=is_max), wins)
        position = e.select(wins, i, position)
        result = e.select(wins, e.widen(value, type_), result)
    return result


def _effect_of_extremum(*args: Type) -> Effect:
    if _are_of_two_classes(*args):
        return Effect.PURE
    types = _candidates(args)
    if not _are_uints(types) and (not types or not all(map(is_real_scalar, types))):
        return plain_effect(*args)
    return Effect.READ | Effect.RAISE if _is_series(args[0]) else Effect.PURE


_INSTRUCTIONS = 4  # of a trip through a list, about

_SAMPLES = (
    *REAL_PAIRS[::3],
    *((1, 2.5, 0.5), (0, -0.0, 0.0), (0.0, 0, False), (float("nan"), 1, 2.0), (1.0, float("nan"))),
    *(((1, 2),), ((2.5,),), ((),), ((3, 1.5, True),), ("a", "b"), (1, 2, 3, 4, 5)),
    *((np.float64(1), 2.0), (np.float64(2), np.float64(1), 3.0), (np.int8(5), np.int64(5), 4)),
    *(
        (np.float32(0.1), np.float32(0.2)),
        (np.float32(0.1), 0.1),
        (0, np.float64("nan")),
        (5, None),
    ),
    *(
        (0, np.int64(3), np.int64(5), np.int64(-1)),
        (0, np.int64(-3), np.int64(-1), np.int64(-5)),
        (np.int64(4), 2, 9, 9, np.int64(9)),
        (0, np.int64(0), np.int64(0), np.int64(-1)),
        (0, np.float64("nan"), np.float64(1)),
        (np.float64("nan"), np.float64(1), 0.0),
    ),
    *(
        ([3, 1, 2],),
        ([],),
        ([1.5, float("nan"), 2.5],),
        ([0.0, -0.0],),
        ([-0.0, 0.0],),
        ([False, True],),
    ),
    *((["b", "a"],), ([1, 2.5],), ([2**63, 1],), ([np.float64(1), np.float64(2)],), ([[1], [2]],)),
    *((np.array([0.5, 2.5, np.nan]),), (np.array([np.nan, 1.0]),), (np.array([0.0, -0.0]),)),
    *((np.arange(5, dtype=np.uint8)[::-2],), (np.array([True, False]),), (np.zeros((2, 2)),)),
    *((np.array([], dtype=np.float32),), (np.array([1j, 2]),), (np.array([2**63], np.uint64),)),
    *((np.float32(0.5), 3), (np.int8(5), 1.5), (2.5, np.uint64(2), np.float32(2))),
    *((np.uint64(2**63), 5), (np.uint64(2**63), np.uint64(1)), (2**53 + 1, np.float64(2**53))),
)


def _extremum(function: Callable[..., object], doc: str, *, is_max: bool) -> None:
    declare(
        OpDef(
            f"py::{function.__name__}",
            Schema("(*args)"),
            doc,
            infer=_infer_extremum,
            evaluate=function,
            lower=lambda e, *args: _lower_extremum(e, args, is_max=is_max),
            can_lower=_can_lower_extremum,
            effects=_effect_of_extremum,
            callables=(function,),
            keeps_these_unions=_are_of_two_classes,
            gives_operand=True,
            list_use=ListUse(gives_item=True),
            is_profiled=True,
            ranges=MAXIMUM if is_max else MINIMUM,
            samples=_SAMPLES,
        )
    )


_DOC = "The {} argument, or item of a single iterable argument; the first of equal ones."
_extremum(min, _DOC.format("smallest"), is_max=False)
_extremum(max, _DOC.format("largest"), is_max=True)
