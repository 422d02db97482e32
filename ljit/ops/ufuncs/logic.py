"""Comparisons, logic, bits, extrema and choices: ufuncs that select or test rather than compute."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from ljit.ir import Accumulation, Effect, Neutral, OpDef, Schema, declare
from ljit.ir.emitter import Emitter, V
from ljit.ir.range_rules import FloatBounds, RangeRules
from ljit.ops.arrays.convert import as_condition, convert
from ljit.ops.arrays.rules import (
    element_of,
    elementwise_result,
    is_integer_scalar,
    kinds_of,
    loop_dtypes,
    result_dtype,
)
from ljit.ops.formulas.combined import clip_effects, clip_of, infer_clip
from ljit.ops.ranges import float_bounds, int_ranges
from ljit.ops.ufuncs.ufuncs import UFUNCS, Body, declare_boxed_ufunc, declare_ufunc, scalar_type_of
from ljit.types import ANY, BOOL, INT, NONE, ArrayType, ScalarType, Type

__all__: list[str] = []

_INT64 = np.dtype(np.int64)
_UINT64 = ScalarType(np.dtype(np.uint64))
_UINT8 = ScalarType(np.dtype(np.uint8))


# -- comparisons -----------------------------------------------------------------------------------


def _comparison(function: np.ufunc, predicate: str) -> Body:
    """The body of one comparison, on unconverted operands: exact between all integers."""

    def body(e: Emitter, x: V, y: V) -> V:
        if is_integer_scalar(x.type) and is_integer_scalar(y.type):
            return _compare_integers(e, predicate, x, y)
        loop = loop_dtypes(function, kinds_of((x.type, y.type)) or ())
        assert loop is not None
        return _compare_same(e, predicate, convert(e, x, loop[0]), convert(e, y, loop[1]))

    return body


def _compare_same(e: Emitter, predicate: str, x: V, y: V) -> V:
    """Compare scalars of one dtype; complex numbers with ``eq`` and ``ne`` only."""
    kind = scalar_type_of(x).dtype.kind
    if kind == "b":
        return e.compare(predicate, e.cast(x, _UINT8), e.cast(y, _UINT8))
    if kind != "c":
        return e.compare(predicate, x, y)
    real = e.compare(predicate, e.real(x), e.real(y))
    imag = e.compare(predicate, e.imag(x), e.imag(y))
    return e.bit_and(real, imag) if predicate == "eq" else e.bit_or(real, imag)


def _compare_integers(e: Emitter, predicate: str, x: V, y: V) -> V:
    """Compare in int64; where one is a uint64, in uint64 after a look at the other's sign."""
    if _UINT64 not in (x.type, y.type):
        return e.compare(predicate, e.cast(x, INT), e.cast(y, INT))
    plain = e.compare(predicate, e.cast(x, _UINT64), e.cast(y, _UINT64))
    if x.type != _UINT64:
        return e.select(_is_negative(e, x), _outcome(e, predicate, {"ne", "lt", "le"}), plain)
    if y.type != _UINT64:
        return e.select(_is_negative(e, y), _outcome(e, predicate, {"ne", "gt", "ge"}), plain)
    return plain


def _outcome(e: Emitter, predicate: str, holding: set[str]) -> V:
    return e.const(BOOL, predicate in holding)


def _is_negative(e: Emitter, x: V) -> V:
    return e.compare("lt", e.cast(x, INT), 0)


_RANGES = {
    "eq": int_ranges.EQUAL,
    "ne": int_ranges.NOT_EQUAL,
    "lt": int_ranges.LESS,
    "le": int_ranges.LESS_EQUAL,
    "gt": int_ranges.GREATER,
    "ge": int_ranges.GREATER_EQUAL,
}


def _declare_comparison(function: np.ufunc, predicate: str, kinds: str) -> None:
    declare_ufunc(
        function,
        _comparison(function, predicate),
        kinds,
        converts=False,
        is_commutative=predicate in ("eq", "ne"),
        is_cheap=True,
        ranges=_RANGES[predicate],
    )


# -- logic and bits --------------------------------------------------------------------------------


def _logical(combine: Callable[[Emitter, V, V], V]) -> Body:
    def body(e: Emitter, x: V, y: V) -> V:
        return combine(e, as_condition(e, x), as_condition(e, y))

    return body


def _logical_not(e: Emitter, x: V) -> V:
    return e.bit_not(as_condition(e, x))


def _shift(e: Emitter, x: V, y: V, *, is_left: bool) -> V:
    """Shift; a count outside of [0, bits) moves every bit out."""
    bits = scalar_type_of(x).dtype.itemsize * 8
    zero = e.const(x.type, 0)
    valid = e.compare("lt", y, bits)
    if scalar_type_of(y).dtype.kind == "i":
        valid = e.bit_and(valid, e.compare("ge", y, zero))
    count = e.select(valid, y, zero)
    if is_left:
        return e.select(valid, e.shl(x, count), zero)
    if scalar_type_of(x).dtype.kind == "u":
        return e.select(valid, e.shr(x, count), zero)
    emptied = e.select(e.compare("lt", x, zero), -1, zero)
    return e.select(valid, e.shr(x, count), emptied)


# -- extrema ---------------------------------------------------------------------------------------


def _is_nan(e: Emitter, x: V) -> V:
    return e.compare("ne", x, x)


def _extremum(predicate: str, *, skips_nan: bool) -> Body:
    """Choose x if it is beyond y, else y.

    Where they are equal that is y, as of vector instructions; x for the predicates "ge" and "le", as of float16.
    """

    def body(e: Emitter, x: V, y: V) -> V:
        kind = scalar_type_of(x).dtype.kind
        if kind == "b":
            return e.bit_or(x, y) if predicate == "gt" else e.bit_and(x, y)
        chosen = e.compare(predicate, x, y)
        if kind == "f":
            chosen = e.bit_or(chosen, _is_nan(e, y if skips_nan else x))
        return e.select(chosen, x, y)

    return body


def _accumulated_extremum(predicate: str) -> Accumulation:
    """How to find the extremum of many elements."""
    body = _extremum(predicate, skips_nan=False)
    suffix = "max" if predicate == "gt" else "min"
    names = {"f": f"{suffix}imum", "i": f"s{suffix}", "u": f"u{suffix}"}

    def start(dtype: np.dtype) -> object:
        if dtype.kind == "b":
            return predicate == "lt"
        if dtype.kind == "f":
            return dtype.type("-inf" if predicate == "gt" else "inf")
        limits = np.iinfo(dtype)
        return limits.min if predicate == "gt" else limits.max

    def step(e: Emitter, x: V, y: V) -> V:
        """The new element first: what is a NaN then is no choice between it and memory, but the element itself."""
        kind = scalar_type_of(x).dtype.kind
        return body(e, x, y) if kind == "b" else e.intrinsic(names[kind], y, x)

    return Accumulation(
        start, has_identity=False, flags="nsz", step=step, saturated=predicate == "gt"
    )


def _clip(e: Emitter, x: V, low: V, high: V) -> V:
    """Bound from below, then from above; NaNs of all operands spread."""
    for bound, predicate in ((low, "lt"), (high, "gt")):
        beyond = e.compare(predicate, x, bound)
        if scalar_type_of(x).dtype.kind == "f":
            beyond = e.bit_and(e.bit_or(beyond, _is_nan(e, bound)), e.compare("eq", x, x))
        x = e.select(beyond, bound, x)
    return x


# -- tests of floats -------------------------------------------------------------------------------


def _test(of_float: Callable[[Emitter, V], V], *, both: bool, otherwise: bool) -> Body:
    """A test that holds for a complex if it does for one (or for `both`) of its parts."""

    def body(e: Emitter, x: V) -> V:
        kind = scalar_type_of(x).dtype.kind
        if kind == "f":
            return of_float(e, x)
        if kind != "c":
            return e.const(BOOL, otherwise)
        real, imag = of_float(e, e.real(x)), of_float(e, e.imag(x))
        return e.bit_and(real, imag) if both else e.bit_or(real, imag)

    return body


def _compare_with_inf(predicate: str) -> Callable[[Emitter, V], V]:
    def test(e: Emitter, x: V) -> V:
        return e.compare(predicate, e.intrinsic("fabs", x), float("inf"))

    return test


def _signbit(e: Emitter, x: V) -> V:
    signed = e.intrinsic("copysign", e.const(x.type, 1.0), x)
    return e.compare("lt", signed, 0.0)


def _heaviside(e: Emitter, x: V, y: V) -> V:
    step = e.select(e.compare("gt", x, 0.0), 1.0, e.select(e.compare("eq", x, 0.0), y, 0.0))
    return e.select(_is_nan(e, x), x, step)


def _bitwise_count(e: Emitter, x: V) -> V:
    """The bits of the size: of negative numbers, too."""
    unsigned = ScalarType(np.dtype(f"u{scalar_type_of(x).dtype.itemsize}"))
    size = e.select(e.compare("lt", x, 0), e.neg(x), x)
    return e.cast(e.intrinsic("ctpop", e.retype(size, unsigned)), _UINT8)


# -- np.where --------------------------------------------------------------------------------------


def _infer_select(condition: Type, x: Type, y: Type) -> Type:
    kinds = kinds_of((x, y))
    dtype = result_dtype(kinds) if kinds is not None and kinds_of((condition,)) else None
    return ANY if dtype is None else elementwise_result((condition, x, y), dtype)


def _infer_where(condition: Type, x: Type, y: Type) -> Type:
    result = _infer_select(condition, x, y)
    return ArrayType(result.dtype, ()) if isinstance(result, ScalarType) else result


def _where_dtype(types: Sequence[Type]) -> np.dtype | None:
    kinds = kinds_of([element_of(t) for t in types[1:]])
    return None if kinds is None else result_dtype(kinds)


def _can_select(condition: Type, x: Type, y: Type) -> bool:
    return _where_dtype((condition, x, y)) is not None and kinds_of((condition,)) is not None


def _can_lower_where(condition: Type, x: Type, y: Type) -> bool:
    result = _infer_where(condition, x, y)
    return isinstance(result, ArrayType) and result.ndim > 0 and _can_select(condition, x, y)


def _lower_select(e: Emitter, condition: V, x: V, y: V) -> V:
    dtype = _where_dtype((condition.type, x.type, y.type))
    assert dtype is not None
    first, second = convert(e, x, dtype), convert(e, y, dtype)
    chosen = as_condition(e, condition)
    if dtype.kind != "c":
        return e.select(chosen, first, second)
    real = e.select(chosen, e.real(first), e.real(second))
    return e.complex(real, e.select(chosen, e.imag(first), e.imag(second)), first.type)


def _select_effects(*types: Type) -> Effect:
    if kinds_of(types) is None:
        return Effect.CALL
    arrays = any(isinstance(t, ArrayType) for t in types)
    dtype = _where_dtype(types)
    narrows = INT in types[1:] and dtype is not None and dtype.kind in "iu" and dtype != _INT64
    return (
        (Effect.ALLOC | Effect.READ | Effect.RAISE)
        if arrays
        else (Effect.RAISE if narrows else Effect.PURE)
    )


def _where_effects(*types: Type) -> Effect:
    return _select_effects(*types) | Effect.ALLOC


def _select(condition: object, x: object, y: object) -> object:
    return np.where(condition, x, y)[()]  # type: ignore[call-overload]


declare(
    OpDef(
        "np::select",
        Schema("(condition, x, y)"),
        "One element of ``np.where``.",
        infer=_infer_select,
        evaluate=_select,
        lower=_lower_select,
        can_lower=_can_select,
        effects=_select_effects,
        elementwise=True,
        is_cheap=True,
        samples=((np.bool(True), np.float64(1.5), 2), (np.arange(3) > 1, np.arange(3), 0.5)),
    )
)
declare(
    OpDef(
        "np::where",
        Schema("(condition, x, y, /)"),
        "``np.where(condition, x, y)``: always an array, of rank 0 for scalars.",
        infer=_infer_where,
        evaluate=np.where,
        lower=_lower_select,
        can_lower=_can_lower_where,
        effects=_where_effects,
        callables=(np.where,),
        elementwise=True,
        is_cheap=True,
        element_op="np::select",
        samples=((True, 1.5, 2), (np.arange(3) > 1, np.arange(3), 0.5)),
    )
)

# -- declarations ----------------------------------------------------------------------------------

_declare_comparison(np.equal, "eq", "biufc")
_declare_comparison(np.not_equal, "ne", "biufc")
_declare_comparison(np.less, "lt", "biuf")
_declare_comparison(np.less_equal, "le", "biuf")
_declare_comparison(np.greater, "gt", "biuf")
_declare_comparison(np.greater_equal, "ge", "biuf")

declare_ufunc(
    np.logical_and,
    _logical(lambda e, x, y: e.bit_and(x, y)),
    "biufc",
    is_commutative=True,
    is_cheap=True,
    accumulation=Accumulation(lambda _dtype: True, saturated=False),
)
declare_ufunc(
    np.logical_or,
    _logical(lambda e, x, y: e.bit_or(x, y)),
    "biufc",
    is_commutative=True,
    is_cheap=True,
    accumulation=Accumulation(lambda _dtype: False, saturated=True),
)
declare_ufunc(
    np.logical_xor,
    _logical(lambda e, x, y: e.bit_xor(x, y)),
    "biufc",
    is_commutative=True,
    is_cheap=True,
)
declare_ufunc(np.logical_not, _logical_not, "biufc", is_cheap=True)

declare_ufunc(
    np.bitwise_and,
    lambda e, x, y: e.bit_and(x, y),
    "biu",
    is_commutative=True,
    is_cheap=True,
    neutral=Neutral(-1),
    ranges=int_ranges.BITS_AND,
)
declare_ufunc(
    np.bitwise_or,
    lambda e, x, y: e.bit_or(x, y),
    "biu",
    is_commutative=True,
    is_cheap=True,
    neutral=Neutral(0),
    ranges=int_ranges.BITS_OR,
)
declare_ufunc(
    np.bitwise_xor,
    lambda e, x, y: e.bit_xor(x, y),
    "biu",
    is_commutative=True,
    is_cheap=True,
    neutral=Neutral(0),
    ranges=int_ranges.BITS_XOR,
)
declare_ufunc(np.invert, lambda e, x: e.bit_not(x), "biu", is_cheap=True)
declare_ufunc(np.left_shift, lambda e, x, y: _shift(e, x, y, is_left=True), "iu", instructions=4)
declare_ufunc(
    np.right_shift,
    lambda e, x, y: _shift(e, x, y, is_left=False),
    "iu",
    instructions=4,
    ranges=int_ranges.RSHIFT,
)


def _bounds_of_extremum(order: str) -> Callable[..., FloatBounds | None]:
    return float_bounds.numpys_extremum(max if order == "g" else min)


def _declare_extremum(function: np.ufunc, order: str, *, skips_nan: bool) -> None:
    """Declare the ufunc that gives the greater operand (`order` "g"), or the less one ("l")."""
    declare_ufunc(
        function,
        _extremum(f"{order}t", skips_nan=skips_nan),
        "biuf",
        halves=_extremum(f"{order}e", skips_nan=skips_nan),
        is_cheap=True,
        accumulation=None if skips_nan else _accumulated_extremum(f"{order}t"),
        ranges=None if skips_nan else RangeRules(floats=_bounds_of_extremum(order)),
    )


_declare_extremum(np.maximum, "g", skips_nan=False)
_declare_extremum(np.minimum, "l", skips_nan=False)
_declare_extremum(np.fmax, "g", skips_nan=True)
_declare_extremum(np.fmin, "l", skips_nan=True)
declare_ufunc(
    np._core.umath.clip,  # type: ignore[attr-defined]
    _clip,
    "iuf",
    strong=1,
    schema="(a, a_min, a_max)",
    evaluate=np.clip,  # which also takes bounds that the dtype cannot hold
    infer=lambda a, low, high: (infer_clip if NONE in (low, high) else UFUNCS["np::clip"].infer)(
        a, low, high
    ),
    effects=lambda a, low, high: (
        clip_effects if NONE in (low, high) else UFUNCS["np::clip"].effects
    )(a, low, high),
    decompose=clip_of,
    callables=(np.clip,),
    calls_method="clip",
)

declare_ufunc(np.isnan, _test(_is_nan, both=False, otherwise=False), "biufc", is_cheap=True)
declare_ufunc(
    np.isinf, _test(_compare_with_inf("eq"), both=False, otherwise=False), "biufc", is_cheap=True
)
declare_ufunc(
    np.isfinite, _test(_compare_with_inf("lt"), both=True, otherwise=True), "biufc", is_cheap=True
)
declare_ufunc(np.signbit, _signbit, "f", is_cheap=True)
declare_ufunc(np.copysign, lambda e, x, y: e.intrinsic("copysign", x, y), "f", is_cheap=True)
declare_ufunc(np.heaviside, _heaviside, "f")
declare_ufunc(np.nextafter, lambda e, x, y: e.math("nextafter", x, y), "f", widens=False)
declare_boxed_ufunc(np.spacing)
declare_ufunc(np.bitwise_count, _bitwise_count, "iu")
