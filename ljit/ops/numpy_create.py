"""Making arrays: ``zeros``, ``full_like``, ``arange``, ``array`` and their relatives.

A ``dtype=`` argument must be a constant, as the result type depends on it. A shape is an int or a tuple of
ints; sizes are run-time values.
"""

from __future__ import annotations

from collections.abc import Callable
from math import prod
from typing import Any

import numpy as np

from ljit.ir import Effect, OpDef, Schema, declare
from ljit.ir.emitter import Emitter, V
from ljit.ops.array_ranges import COUNTED, LIKE_FIRST, OF_SHAPE
from ljit.ops.numpy_boxed import Infer, chosen_dtype, declare_function, shape_rank
from ljit.ops.numpy_convert import can_store, store_scalar
from ljit.ops.numpy_rules import (
    array_of,
    dtype_of,
    is_integer_scalar,
    is_scalar,
    kinds_of,
    layout_like,
    result_dtype,
)
from ljit.records import Record
from ljit.sizes import MAX_ELEMENTS
from ljit.types import (
    ANY,
    FLOAT,
    INT,
    NONE,
    RANGE,
    ArrayType,
    ScalarType,
    TupleType,
    Type,
)

__all__ = ["if_small"]

_FLOAT64 = np.dtype(np.float64)
_INT64 = np.dtype(np.int64)
_FRESH = Effect.ALLOC | Effect.RAISE
_LARGE = 2**50


def if_small(function: Callable[..., Any]) -> Callable[..., Any]:
    """`OpDef.symbolic` of a function of a shape: for few elements only."""

    def symbolic(shape: Any, *others: Any, **attrs: Any) -> Any:
        sizes = shape if isinstance(shape, tuple) else (shape,)
        if prod(sizes) > MAX_ELEMENTS:
            raise ValueError(shape)
        return function(shape, *others, **attrs)

    return symbolic


# -- of a shape ------------------------------------------------------------------------------------


def _of_shape(shape: Type, dtype: np.dtype | None, order: object) -> Type:
    rank = shape_rank(shape)
    if rank is None or order not in ("C", "F"):
        return ANY
    return array_of(dtype, (None,) * rank, "C" if order == "C" or rank < 2 else "strided")


def _infer_shape(shape: Type, *, dtype: object = None, order: object = "C") -> Type:
    return _of_shape(shape, chosen_dtype(dtype, _FLOAT64), order)


def _infer_full(
    shape: Type, fill_value: Type, *, dtype: object = None, order: object = "C"
) -> Type:
    default = dtype_of(fill_value) if is_scalar(fill_value) else None
    return _of_shape(shape, chosen_dtype(dtype, default), order)


def _is_c(t: Type) -> bool:
    return isinstance(t, ArrayType) and t.layout == "C"


def _sizes(e: Emitter, shape: V) -> list[V]:
    items = e.tuple_items(shape) if isinstance(shape.type, TupleType) else (shape,)
    return [e.cast(n, INT) for n in items]


def _lower_shape(fill: float | None) -> Callable[..., V]:
    def lower(e: Emitter, shape: V, **attrs: Any) -> V:
        type_ = _infer_shape(shape.type, **attrs)
        value = None if fill is None else _fill_constant(e, type_, fill)
        return e.array_new(type_, _sizes(e, shape), value)

    return lower


def _fill_constant(e: Emitter, type_: Type, fill: float) -> V:
    assert isinstance(type_, ArrayType)
    return e.const(type_.element, type_.dtype.type(fill))


def _lower_full(e: Emitter, shape: V, fill_value: V, **attrs: Any) -> V:
    type_ = _infer_full(shape.type, fill_value.type, **attrs)
    assert isinstance(type_, ArrayType)
    value = store_scalar(e, fill_value, type_.dtype)
    return e.array_new(type_, _sizes(e, shape), value)


def _can_lower_full(shape: Type, fill_value: Type, **attrs: Any) -> bool:
    type_ = _infer_full(shape, fill_value, **attrs)
    return _is_c(type_) and isinstance(type_, ArrayType) and can_store(fill_value, type_.dtype)


_SHAPE_FILLS: tuple[tuple[Callable[..., Any], float | None], ...] = (
    (np.empty, None),
    (np.zeros, 0),
    (np.ones, 1),
)
for _function, _fill in _SHAPE_FILLS:
    declare_function(
        _function.__name__,
        "(shape, *, dtype=None, order='C')",
        _infer_shape,
        _function,
        lower=_lower_shape(_fill),
        ranges=OF_SHAPE,
        can_lower=lambda *types, **attrs: _is_c(_infer_shape(*types, **attrs)),
        effect=_FRESH,
        fill=_fill,
        symbolic=if_small(np.zeros if _fill is None else _function),
        samples=((3,), ((2, 3),)) if _fill is not None else ((0,), ((2, 0),)),
    )
declare_function(
    "full",
    "(shape, fill_value, *, dtype=None, order='C')",
    _infer_full,
    np.full,
    lower=_lower_full,
    ranges=OF_SHAPE,
    can_lower=_can_lower_full,
    effect=_FRESH,
    symbolic=if_small(np.full),
    samples=((3, 1.5), ((2, 3), 7)),
)


# -- like another array ----------------------------------------------------------------------------


def _infer_like(
    a: Type,
    *,
    dtype: object = None,
    order: object = "K",
    subok: object = True,
    shape: object = None,
) -> Type:
    chosen = chosen_dtype(dtype, dtype_of(a))
    if order not in ("K", "C") or shape is not None or dtype_of(a) is None:
        return ANY
    if not isinstance(a, ArrayType):
        return array_of(chosen, ())
    return array_of(chosen, a.shape, "C" if order == "C" else layout_like((a,), a.ndim))


def _lower_like(fill: float | None) -> Callable[..., V]:
    def lower(e: Emitter, a: V, **attrs: Any) -> V:
        type_ = _infer_like(a.type, **attrs)
        value = None if fill is None else _fill_constant(e, type_, fill)
        return e.array_new(type_, e.array_sizes(a), value)

    return lower


def _can_lower_like(a: Type, **attrs: Any) -> bool:
    return isinstance(a, ArrayType) and _is_c(_infer_like(a, **attrs))


def _infer_full_like(a: Type, fill_value: Type, **attrs: Any) -> Type:
    return _infer_like(a, **attrs) if is_scalar(fill_value) else ANY


def _lower_full_like(e: Emitter, a: V, fill_value: V, **attrs: Any) -> V:
    type_ = _infer_like(a.type, **attrs)
    assert isinstance(type_, ArrayType)
    value = store_scalar(e, fill_value, type_.dtype)
    return e.array_new(type_, e.array_sizes(a), value)


def _can_lower_full_like(a: Type, fill_value: Type, **attrs: Any) -> bool:
    type_ = _infer_like(a, **attrs)
    fits = isinstance(type_, ArrayType) and can_store(fill_value, type_.dtype)
    return fits and _can_lower_like(a, **attrs)


_LIKE_FILLS: tuple[tuple[Callable[..., Any], str, float | None], ...] = (
    (np.empty_like, "prototype", None),
    (np.zeros_like, "a", 0),
    (np.ones_like, "a", 1),
)
for _function, _name, _fill in _LIKE_FILLS:
    declare_function(
        _function.__name__,
        f"({_name}, *, dtype=None, order='K', subok=True, shape=None)",
        _infer_like,
        _function,
        lower=_lower_like(_fill),
        ranges=LIKE_FIRST,
        can_lower=_can_lower_like,
        effect=_FRESH,
        fill=_fill,
        symbolic=np.zeros_like if _fill is None else True,
        samples=((np.arange(3 if _fill is not None else 0),),),
    )
declare_function(
    "full_like",
    "(a, fill_value, *, dtype=None, order='K', subok=True, shape=None)",
    _infer_full_like,
    np.full_like,
    lower=_lower_full_like,
    ranges=LIKE_FIRST,
    can_lower=_can_lower_full_like,
    effect=_FRESH,
    samples=((np.arange(3), 2.5),),
)


# -- sequences of numbers --------------------------------------------------------------------------


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
    given = {t for t in types if t != NONE}
    if not isinstance(result, ArrayType) or not given <= {INT, FLOAT}:
        return False
    return result.dtype == (_FLOAT64 if FLOAT in given else _INT64)


def _numbers(e: Emitter, *given: V) -> tuple[V, V, V]:
    """Start, stop and step, all ints or all floats."""
    types = [x.type for x in given]
    result = _infer_arange(*types)
    assert isinstance(result, ArrayType)
    start, stop, step = (*given, None, None)[:3]
    if stop is None or stop.type == NONE:
        start, stop = None, start
    number = FLOAT if result.dtype == _FLOAT64 else INT
    first, last, difference = (
        e.const(number, default) if x is None or x.type == NONE else e.cast(x, number)
        for x, default in ((start, 0), (stop, 0), (step, 1))
    )
    return first, last, difference


def _size_of_arange(e: Emitter, *given: V, **_attrs: Any) -> V:
    start, stop, step = _numbers(e, *given)
    return (_float_size if start.type == FLOAT else _int_size)(e, start, stop, step)


def _item_of_arange(e: Emitter, k: V, *given: V, **_attrs: Any) -> V:
    """NumPy adds multiples of the difference of the first two."""
    start, _, step = _numbers(e, *given)
    number, second = start.type, e.add(start, step)
    difference = e.sub(second, start) if number == FLOAT else step
    item = e.add(start, e.mul(e.cast(k, number), difference))
    item = e.select(e.compare("eq", k, e.const(INT, 1)), second, item)
    return e.retype(item, ScalarType(_FLOAT64 if number == FLOAT else _INT64))


def _lower_counted(size: Any, item: Any) -> Callable[..., V]:
    """A vector, element by element."""

    def lower(e: Emitter, *operands: V, **attrs: Any) -> V:
        first = item(e, e.const(INT, 0), *operands, **attrs)
        made = e.array_new(
            ArrayType(first.type.dtype, (None,)), [size(e, *operands, **attrs)], None
        )
        (count,) = e.array_sizes(made)
        e.loop(count, lambda k: e.array_store(made, [k], item(e, k, *operands, **attrs)))
        return made

    return lower


def _int_size(e: Emitter, start: V, stop: V, step: V) -> V:
    """Number of items; bails where NumPy's floating-point count could be off."""
    zero, one = e.const(INT, 0), e.const(INT, 1)
    e.bail_if(e.compare("eq", step, zero), "arange with step 0")
    distance, overflow = e.sub_overflow(stop, start)
    e.bail_if(overflow, "arange too long")
    is_down = e.compare("lt", step, zero)
    distance = e.select(is_down, e.neg(distance), distance)
    e.bail_if(e.compare("gt", distance, e.const(INT, _LARGE)), "arange too long")
    stride = e.select(is_down, e.neg(step), step)
    e.bail_if(e.compare("lt", stride, one), "arange step too large")
    count = e.add(e.div(e.sub(distance, one), stride), one)
    return e.select(e.compare("le", distance, zero), zero, count)


def _float_size(e: Emitter, start: V, stop: V, step: V) -> V:
    """Number of items."""
    zero = e.const(FLOAT, 0.0)
    distance = e.sub(stop, start)
    steps = e.div(distance, step)
    vanished = e.bit_and(e.compare("eq", steps, zero), e.compare("ne", distance, zero))
    e.bail_if(vanished, "arange step too large")
    length = e.intrinsic("ceil", steps)
    fits = e.compare("lt", e.intrinsic("fabs", length), e.const(FLOAT, float(_LARGE)))
    e.bail_if(e.bit_not(fits), "arange of unknown length")
    return e.cast(e.select(e.compare("gt", length, zero), length, zero), INT)


def _declare_counted(
    name: str, schema: str, infer: Infer, can_lower: Any, size: Any, item: Any, **fields: Any
) -> None:
    """Declare a function that gives a vector whose elements follow from their numbers, and its `OpDef.counted`."""
    function = getattr(np, name)

    def infer_elements(k: Type, *operands: Type, **attrs: Any) -> Type:
        made = infer(*operands, **attrs)
        if not isinstance(made, ArrayType) or k not in (RANGE, INT):
            return ANY
        return made if k == RANGE else made.element

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
    declare_function(
        name,
        schema,
        infer,
        function,
        lower=_lower_counted(size, item),
        can_lower=can_lower,
        effect=_FRESH,
        counted=(f"np::{name}_size", f"np::{name}_elements"),
        **fields,
    )


_declare_counted(
    "arange",
    "(start, stop=None, step=None, *, dtype=None)",
    _infer_arange,
    _can_lower_arange,
    _size_of_arange,
    _item_of_arange,
    ranges=COUNTED,
    samples=((5,), (2, 9, 3), (0.0, 1.0, 0.25)),
)


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
    """Whether both ends are doubles, or become such, and the result has them."""
    result = _infer_linspace(start, stop, num, **attrs)
    wide = (INT, FLOAT, ScalarType(_FLOAT64), ScalarType(_INT64))
    is_double = isinstance(result, ArrayType) and result.dtype == _FLOAT64
    return (
        is_double and start in wide and stop in wide and type(attrs.get("endpoint", True)) is bool
    )


class _Steps(Record):
    """The ends of evenly spaced numbers, how many there are, their distance and that of the ends."""

    first: V
    last: V
    count: V
    step: V
    distance: V

    @staticmethod
    def of(e: Emitter, start: V, stop: V, num: V | None, *, endpoint: bool) -> _Steps:
        double, one, zero = ScalarType(_FLOAT64), e.const(INT, 1), e.const(INT, 0)
        first, last = e.cast(start, double), e.cast(stop, double)
        count = e.const(INT, 50) if num is None else e.cast(num, INT)
        gaps = e.sub(count, one) if endpoint else count
        distance = e.sub(last, first)
        has_gaps = e.compare("gt", gaps, zero)
        step = e.div(distance, e.cast(e.select(has_gaps, gaps, one), double))
        return _Steps(first, last, count, e.select(has_gaps, step, distance), distance)


def _size_of_linspace(
    e: Emitter, start: V, stop: V, num: V | None = None, *, endpoint: bool = True, **_: object
) -> V:
    steps = _Steps.of(e, start, stop, num, endpoint=endpoint)
    none = e.const(ScalarType(_FLOAT64), 0.0)
    lost = e.bit_and(e.compare("eq", steps.step, none), e.compare("ne", steps.distance, none))
    e.bail_if(lost, "steps that are too small")
    e.bail_if(e.compare("lt", steps.count, e.const(INT, 0)), "a negative number of steps")
    return steps.count


def _item_of_linspace(
    e: Emitter,
    k: V,
    start: V,
    stop: V,
    num: V | None = None,
    *,
    endpoint: bool = True,
    **_: object,
) -> V:
    steps, one = _Steps.of(e, start, stop, num, endpoint=endpoint), e.const(INT, 1)
    item = e.add(e.mul(e.cast(k, steps.first.type), steps.step), steps.first)
    if not endpoint:
        return item
    is_last = e.compare("eq", k, e.sub(steps.count, one))
    return e.select(e.bit_and(is_last, e.compare("gt", steps.count, one)), steps.last, item)


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


declare(
    OpDef(
        "prim::new_array",
        Schema("(*sizes, type)"),
        "A fresh array of the type: its elements are whatever was there before.",
        infer=lambda *_sizes, type: type,
        evaluate=lambda *sizes, type: np.empty(sizes, type.dtype),
        lower=lambda e, *sizes, type: e.array_new(type, sizes),
        effects=_FRESH,
    )
)
