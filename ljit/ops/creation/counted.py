"""Vectors whose elements follow from their numbers: ``arange`` and ``linspace``, and their `OpDef.counted`.

A ``dtype=`` argument must be a constant, as the result type depends on it.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np

from ljit.ir import Effect, OpDef, Schema, declare
from ljit.ir.emitter import Emitter, V
from ljit.ops.arrays.boxed import Infer, chosen_dtype, declare_function
from ljit.ops.arrays.convert import store_scalar
from ljit.ops.arrays.rules import (
    array_of,
    dtype_of,
    is_integer_scalar,
    is_scalar,
    kinds_of,
    result_dtype,
)
from ljit.ops.ranges.array_ranges import COUNTED
from ljit.records import Record
from ljit.types import ANY, FLOAT, INT, NONE, RANGE, ArrayType, ScalarType, Type

__all__: list[str] = []

_FLOAT64, _INT64 = np.dtype(np.float64), np.dtype(np.int64)
_FRESH = Effect.ALLOC | Effect.RAISE
_LARGE = 2**50
_EXACT = 2**53  # up to which all ints are floats


def _lower_counted(size: Any, item: Any) -> Callable[..., V]:
    """A vector, element by element."""

    def lower(e: Emitter, *operands: V, **attrs: Any) -> V:
        first = item(e, e.const(INT, 0), *operands, **attrs)
        made = e.array_new(
            ArrayType(first.type.dtype, (None,)), [size(e, *operands, **attrs)], None
        )
        e.array_fill(made, lambda k: item(e, k, *operands, **attrs))
        return made

    return lower


def _declare_counted(
    name: str, schema: str, infer: Infer, can_lower: Any, size: Any, item: Any, **fields: Any
) -> None:
    """Declare a function that gives a vector whose elements follow from their numbers, and its `OpDef.counted`."""
    _declare_size(name, schema, infer, can_lower, size)
    _declare_elements(name, schema, infer, can_lower, item)
    declare_function(
        name,
        schema,
        infer,
        getattr(np, name),
        lower=_lower_counted(size, item),
        can_lower=can_lower,
        effect=_FRESH,
        counted=(f"np::{name}_size", f"np::{name}_elements"),
        **fields,
    )


def _declare_size(name: str, schema: str, infer: Infer, can_lower: Any, size: Any) -> None:
    function = getattr(np, name)

    def infer_size(*operands: Type, **attrs: Any) -> Type:
        return INT if isinstance(infer(*operands, **attrs), ArrayType) else ANY

    declare(
        OpDef(
            f"np::{name}_size",
            Schema(schema),
            f"The size of what `np::{name}` gives.",
            infer=infer_size,
            evaluate=lambda *operands, **attrs: len(function(*operands, **attrs)),
            lower=size,
            can_lower=can_lower,
            effects=Effect.RAISE,
        )
    )


def _declare_elements(name: str, schema: str, infer: Infer, can_lower: Any, item: Any) -> None:
    function = getattr(np, name)

    def infer_elements(k: Type, *operands: Type, **attrs: Any) -> Type:
        made = infer(*operands, **attrs)
        if not isinstance(made, ArrayType) or k not in (RANGE, INT):
            return ANY
        return made if k == RANGE else made.element

    declare(
        OpDef(
            f"np::{name}_elements",
            Schema(f"(k, {schema[1:]}"),
            f"Elements of what `np::{name}` gives, from their numbers: of ``range(size)``, or one.",
            infer=infer_elements,
            evaluate=lambda k, *operands, **attrs: function(*operands, **attrs)[k],
            lower=item,
            can_lower=lambda _k, *operands, **attrs: can_lower(*operands, **attrs),
            effects=lambda k, *operands, **attrs: Effect.ALLOC if k == RANGE else Effect.PURE,
            elementwise=True,
            instructions=4,
        )
    )


# -- np.arange --------------------------------------------------------------------------------------


_NUMBERS: dict[Type, Type] = {  # NumPy's compute as Python's do, or with a warning
    INT: INT,
    ScalarType(_INT64): INT,
    FLOAT: FLOAT,
    ScalarType(_FLOAT64): FLOAT,
}


def _infer_arange(
    start: Type, stop: Type = NONE, step: Type = NONE, *, dtype: object = None
) -> Type:
    given = [t for t in (start, stop, step) if t != NONE]
    if start == NONE or not all(_is_real(t) for t in given):
        return ANY
    default = result_dtype((_INT64, *(dtype_of(t) or _INT64 for t in given)))
    return array_of(chosen_dtype(dtype, default), (None,))


def _is_real(t: Type) -> bool:
    return t in (INT, FLOAT) or (isinstance(t, ScalarType) and t.dtype.kind in "iuf")


def _can_lower_arange(*types: Type, **attrs: Any) -> bool:
    result = _infer_arange(*types, **attrs)
    is_real = isinstance(result, ArrayType) and result.dtype.kind in "iuf"
    return is_real and all(t in _NUMBERS for t in types if t != NONE)


def _numbers(e: Emitter, *given: V) -> tuple[V, V, V]:
    """Start, stop and step, all ints or all floats."""
    start, stop, step = (*given, None, None)[:3]
    if stop is None or stop.type == NONE:
        start, stop = None, start
    is_whole = all(_NUMBERS.get(x.type) != FLOAT for x in given)
    number = INT if is_whole else FLOAT
    first, last, difference = (
        e.const(number, default) if x is None or x.type == NONE else e.cast(x, number)
        for x, default in ((start, 0), (stop, 0), (step, 1))
    )
    return first, last, difference


def _dtype_of_arange(given: tuple[V, ...], dtype: object) -> np.dtype:
    result = _infer_arange(*(x.type for x in given), dtype=dtype)
    assert isinstance(result, ArrayType)
    return result.dtype


def _size_of_arange(e: Emitter, *given: V, dtype: object = None) -> V:
    """The number of items; native code is left unless the dtype holds the first two."""
    start, stop, step = _numbers(e, *given)
    if start.type == FLOAT:
        _check_exact(e, given)
        size, second = _float_size(e, start, stop, step), e.add(start, step)
    else:
        size = _int_size(e, start, stop, step)
        second, overflow = e.add_overflow(start, step)
        e.bail_if(overflow, "arange step too large")
    for number in (start, second):
        _check_fits(e, number, _dtype_of_arange(given, dtype))
    return size


def _check_exact(e: Emitter, given: tuple[V, ...]) -> None:
    """Leave if ints beside floats are such as floats do not hold: NumPy subtracts and adds ints first."""
    for x in given:
        if _NUMBERS.get(x.type) == INT:
            number = e.cast(x, INT)
            e.bail_if(e.compare("lt", number, -_EXACT), "an int below all floats'")
            e.bail_if(e.compare("gt", number, _EXACT), "an int above all floats'")


def _check_fits(e: Emitter, number: V, dtype: np.dtype) -> None:
    stored = store_scalar(e, number, dtype)
    if dtype.kind == "f":
        is_finite = e.compare("lt", e.intrinsic("fabs", stored), math.inf)
        e.bail_if(e.bit_not(is_finite), f"a number above {dtype}")


def _item_of_arange(e: Emitter, k: V, *numbers: V, dtype: object = None) -> V:
    """NumPy adds multiples of the difference of the first two, in their dtype (in float32 for float16)."""
    start, _, step = _numbers(e, *numbers)
    made = ScalarType(_dtype_of_arange(numbers, dtype))
    number = ScalarType(np.dtype(np.float32)) if made.dtype == np.float16 else made
    is_float = made.dtype.kind == "f"
    first, second = start, e.add(start, step)
    if is_float:
        first, second = e.cast(first, FLOAT), e.cast(second, FLOAT)
    first, second = (e.cast(e.cast(x, made, fits=not is_float), number) for x in (first, second))
    item = e.add(first, e.mul(e.cast(k, number), e.sub(second, first)))
    if is_float:
        for at, given in enumerate((first, second)):  # the sum is rounded, and no zero below 0
            item = e.select(e.compare("eq", k, at), given, item)
    return e.cast(item, made)


def _int_size(e: Emitter, start: V, stop: V, step: V) -> V:
    """Number of items; bails where NumPy's floating-point count could be off."""
    e.bail_if(e.compare("eq", step, 0), "arange with step 0")
    distance, overflow = e.sub_overflow(stop, start)
    e.bail_if(overflow, "arange too long")
    is_down = e.compare("lt", step, 0)
    distance = e.select(is_down, e.neg(distance), distance)
    e.bail_if(e.compare("gt", distance, _LARGE), "arange too long")
    stride = e.select(is_down, e.neg(step), step)
    e.bail_if(e.compare("lt", stride, 1), "arange step too large")
    count = e.add(e.div(e.sub(distance, 1), stride), 1)
    return e.select(e.compare("le", distance, 0), 0, count)


def _float_size(e: Emitter, start: V, stop: V, step: V) -> V:
    """Number of items."""
    distance = e.sub(stop, start)
    steps = e.div(distance, step)
    vanished = e.bit_and(e.compare("eq", steps, 0.0), e.compare("ne", distance, 0.0))
    e.bail_if(vanished, "arange step too large")
    length = e.intrinsic("ceil", steps)
    fits = e.compare("lt", e.intrinsic("fabs", length), float(_LARGE))
    e.bail_if(e.bit_not(fits), "arange of unknown length")
    return e.cast(e.select(e.compare("gt", length, 0.0), length, 0.0), INT)


_declare_counted(
    "arange",
    "(start, /, stop=None, step=None, *, dtype=None)",  # ``arange(start=5)`` raises
    _infer_arange,
    _can_lower_arange,
    _size_of_arange,
    _item_of_arange,
    ranges=COUNTED,
    samples=((5,), (2, 9, 3), (0.0, 1.0, 0.25), (np.int64(3), 0.5)),
)

# -- np.linspace ------------------------------------------------------------------------------------


def _infer_linspace(
    start: Type,
    stop: Type,
    num: Type = INT,
    *,
    endpoint: object = True,
    retstep: object = False,
    dtype: object = None,
) -> Type:
    kinds = kinds_of((start, stop))
    is_known = is_scalar(start) and is_scalar(stop) and is_integer_scalar(num)
    if kinds is None or not is_known or retstep is not False:
        return ANY
    default = result_dtype((*kinds, float))
    return array_of(chosen_dtype(dtype, default), (None,))


def _can_lower_linspace(start: Type, stop: Type, num: Type = INT, **attrs: object) -> bool:
    """Whether both ends are doubles, or become such, and the result has real numbers."""
    result = _infer_linspace(start, stop, num, **attrs)
    is_real = isinstance(result, ArrayType) and result.dtype.kind in "iuf"
    is_known = start in _NUMBERS and stop in _NUMBERS
    return is_real and is_known and type(attrs.get("endpoint", True)) is bool


class _Steps(Record):
    """Evenly spaced numbers: the ends, how many there are, their distance and that of the ends."""

    first: V
    last: V
    count: V
    step: V
    distance: V
    dtype: np.dtype  # of what is made
    has_last: bool

    @staticmethod
    def of(
        e: Emitter,
        start: V,
        stop: V,
        num: V | None = None,
        *,
        endpoint: bool = True,
        dtype: object = None,
        **_: object,
    ) -> _Steps:
        double = ScalarType(_FLOAT64)
        first, last = e.cast(start, double), e.cast(stop, double)
        count = e.const(INT, 50) if num is None else e.cast(num, INT)
        gaps = e.sub(count, 1) if endpoint else count
        distance = e.sub(last, first)
        has_gaps = e.compare("gt", gaps, 0)
        step = e.div(distance, e.cast(e.select(has_gaps, gaps, 1), double))
        step = e.select(has_gaps, step, distance)
        made = chosen_dtype(dtype, _FLOAT64)
        assert made is not None
        return _Steps(first, last, count, step, distance, made, endpoint)


def _size_of_linspace(e: Emitter, *operands: V, **attrs: Any) -> V:
    steps = _Steps.of(e, *operands, **attrs)
    lost = e.bit_and(e.compare("eq", steps.step, 0.0), e.compare("ne", steps.distance, 0.0))
    e.bail_if(lost, "steps that are too small")
    e.bail_if(e.compare("lt", steps.count, 0), "a negative number of steps")
    for end in (steps.first, steps.last) if steps.dtype != _FLOAT64 else ():
        _check_fits(e, end, steps.dtype)
    return steps.count


def _item_of_linspace(e: Emitter, k: V, *operands: V, **attrs: Any) -> V:
    steps = _Steps.of(e, *operands, **attrs)
    item = e.add(e.mul(e.cast(k, steps.first.type), steps.step), steps.first)
    if steps.has_last:
        is_last = e.compare("eq", k, e.sub(steps.count, 1))
        is_last = e.bit_and(is_last, e.compare("gt", steps.count, 1))
        item = e.select(is_last, steps.last, item)
    is_float = steps.dtype.kind == "f"
    if not is_float:
        item = e.intrinsic("floor", item)
    return e.cast(item, ScalarType(steps.dtype), fits=not is_float)


_declare_counted(
    "linspace",
    "(start, stop, num=50, *, endpoint=True, retstep=False, dtype=None)",
    _infer_linspace,
    _can_lower_linspace,
    _size_of_linspace,
    _item_of_linspace,
    parameters=("start", "stop", "num", "endpoint", "retstep", "dtype"),
    samples=((0.0, 1.0), (0, 3, 7), (1.5, 1.5, 3), (2.0, 3.0, 1), (0.1, 0.7, 0)),
)
