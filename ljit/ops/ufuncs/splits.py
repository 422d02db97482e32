"""Ufuncs that split numbers: floats into parts, which ldexp puts together again; integers into divisors."""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np

from ljit.ir import Value, get_op
from ljit.ir.emitter import Emitter, V
from ljit.ir.parts import Parts
from ljit.ops.arrays.rules import dtype_of, elementwise_result
from ljit.ops.python.int_divisors import greatest_divisor, magnitude
from ljit.ops.python.numbers import at_least, at_most
from ljit.ops.python.samples import each
from ljit.ops.ufuncs.ufuncs import UFUNCS, Body, constant, declare_ufunc
from ljit.types import ANY, FLOAT, ScalarType, Type

__all__: list[str] = []

# Doubles: stored bits, what is added to the power of two, the field of it that infinities and NaN have.
_DIGITS, _BIAS, _ODD_FIELD = 52, 1023, 0x7FF
_OF_HALF = _BIAS - 1  # the field of numbers in [0.5, 1)
_LOWEST, _HIGHEST = 1 - _BIAS, _BIAS  # powers of two that are normal numbers
_UP = 54  # a power of two that makes all subnormal numbers normal ones
_INT32, _INT64, _FLOAT64 = (ScalarType(np.dtype(x)) for x in (np.int32, np.int64, np.float64))


# -- floats ----------------------------------------------------------------------------------------


def _fraction(e: Emitter, x: V) -> V:
    """What is behind the point, with the sign of the number; of infinities 0."""
    rest = e.sub(x, e.intrinsic("trunc", x))
    infinite = e.compare("eq", e.intrinsic("fabs", x), constant(e, x, float("inf")))
    rest = e.select(infinite, constant(e, x, 0.0), rest)
    return e.intrinsic("copysign", rest, x)


def _mantissa(e: Emitter, x: V) -> V:
    return e.cast(_split(e, e.cast(x, _FLOAT64))[0], x.type)


def _exponent(e: Emitter, x: V) -> V:
    return e.cast(_split(e, e.cast(x, _FLOAT64))[1], _INT32)


def _split(e: Emitter, x: V) -> tuple[V, V]:
    """A double's part in [0.5, 1) and its power of two; zeros, infinities and NaN stay as they are, and have 0."""

    def bits(value: int) -> V:
        return e.const(_INT64, value)

    least = e.const(_FLOAT64, float(np.finfo(np.float64).smallest_normal))
    is_small = e.compare("lt", e.intrinsic("fabs", x), least)
    normal = e.select(is_small, e.mul(x, 2.0**_UP), x)
    word = e.retype(normal, _INT64)
    biased = e.bit_and(e.shr(word, bits(_DIGITS)), bits(_ODD_FIELD))
    exponent = e.sub(e.sub(biased, bits(_OF_HALF)), e.select(is_small, bits(_UP), bits(0)))
    fraction = e.bit_and(word, bits(~(_ODD_FIELD << _DIGITS)))
    half = e.bit_or(fraction, bits(_OF_HALF << _DIGITS))
    is_finite = e.compare("ne", biased, bits(_ODD_FIELD))
    is_split = e.bit_and(is_finite, e.compare("ne", x, 0.0))
    mantissa = e.select(is_split, e.retype(half, _FLOAT64), x)
    return mantissa, e.select(is_split, exponent, bits(0))


def _scaled(e: Emitter, x: V, n: V) -> V:
    """``x * 2**n``: what cannot be a power of two is multiplied in steps, of which none but the last may round."""
    number, power = e.cast(x, _FLOAT64), e.cast(n, _INT64)
    for _ in range(2):
        is_high, is_low = e.compare("gt", power, _HIGHEST), e.compare("lt", power, _LOWEST)
        step = e.select(is_low, e.const(_INT64, _LOW), 0)
        step = e.select(is_high, _HIGHEST, step)
        number, power = e.mul(number, _power_of_two(e, step)), e.sub(power, step)
    power = at_least(e, at_most(e, power, _HIGHEST), _LOWEST)
    return e.cast(e.mul(number, _power_of_two(e, power)), x.type)


def _power_of_two(e: Emitter, n: V) -> V:
    biased = e.add(n, _BIAS)
    return e.retype(e.shl(biased, _DIGITS), _FLOAT64)


# -- integers --------------------------------------------------------------------------------------


def _gcd(e: Emitter, x: V, y: V) -> V:
    return e.retype(greatest_divisor(e, magnitude(e, x), magnitude(e, y)), x.type)


def _lcm(e: Emitter, x: V, y: V) -> V:
    """It wraps; that of zeros is 0."""
    size, other = magnitude(e, x), magnitude(e, y)
    divisor = greatest_divisor(e, size, other)
    divisor = e.select(e.compare("eq", divisor, 0), 1, divisor)
    return e.retype(e.mul(e.div(size, divisor), other), x.type)


# -- declarations ----------------------------------------------------------------------------------


def _infer_exponent(x: Type) -> Type:
    if UFUNCS["np::mantissa"].infer(x) == ANY:
        return ANY
    return elementwise_result([x], np.dtype(np.int32))


def _parts_of(names: tuple[str, str], parts: Parts, x: Value) -> Value | None:
    """Both results of a float, or of an array of them, one by one: a loop nest has them in one pass."""
    dtype = np.dtype(np.float64) if x.type == FLOAT else dtype_of(x.type)
    if (
        dtype is None
        or dtype.kind != "f"
        or not all(get_op(op).has_lowering([x.type]) for op in names)
    ):
        return None
    return parts.apply("prim::TupleConstruct", *(parts.apply(op, x) for op in names))


def _declare_part(
    name: str, doc: str, body: Body, whole: np.ufunc, place: int, **fields: Any
) -> None:
    """One result of a ufunc that has two; its loops are for the dtypes that those of `np.fabs` are for."""
    declare_ufunc(
        np.fabs,
        body,
        "f",
        name=name,
        doc=doc,
        evaluate=lambda x: whole(x)[place],
        callables=(),
        samples=each((0.0, -0.0, -3.75, 5e-324, 1e300, np.inf, np.nan, np.float32(1e-40), _FLOATS)),
        **fields,
    )


_LOW = _LOWEST + _DIGITS + 1  # after such a step a number that is not too small has all its bits
_FLOATS = np.array([0.5, -7.25, 2.0**-1030, -np.inf, 0.1, -0.0])
_declare_part("np::fraction", "``np.modf(x)[0]``", _fraction, np.modf, 0)
_declare_part("np::mantissa", "``np.frexp(x)[0]``", _mantissa, np.frexp, 0)
_declare_part(
    "np::exponent",
    "``np.frexp(x)[1]``",
    _exponent,
    np.frexp,
    1,
    infer=_infer_exponent,
    widens=False,
)
for _function, _names in (
    (np.modf, ("np::fraction", "np::trunc")),
    (np.frexp, ("np::mantissa", "np::exponent")),
):
    declare_ufunc(_function, None, decompose=partial(_parts_of, _names))
declare_ufunc(np.ldexp, _scaled, "fi")
declare_ufunc(np.gcd, _gcd, "iu", is_commutative=True)
declare_ufunc(np.lcm, _lcm, "iu", is_commutative=True)
