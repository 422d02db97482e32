"""Arithmetic ufuncs: the bodies of their inner loops, by NumPy's C code.

Integers wrap; integer division by zero gives 0; floor division of floats is ``npy_divmod``; complex
division is Smith's algorithm. Complex products of scalars are the textbook formula; NumPy's array loops
use fused multiply-add on processors that have it, and so do the element ops here.
"""

from __future__ import annotations

import operator
from functools import partial

import numpy as np

from ljit.ir import Accumulation, Neutral, Value, get_op
from ljit.ir.emitter import Emitter, V
from ljit.ir.parts import Parts
from ljit.ir.range_rules import RangeRules
from ljit.ops.arrays.versions import POWER_IS_ROOT, SCALARS_CHANGE_POWERS
from ljit.ops.python.numbers import complex_product, float_rem, rem_of_few_bits
from ljit.ops.ranges import float_bounds, int_quotients, int_ranges
from ljit.ops.ufuncs.complex_products import odd_layouts, odd_layouts_in_place, product_of_elements
from ljit.ops.ufuncs.power_products import power_product
from ljit.ops.ufuncs.powers import WHOLE, power_of, power_operator_of
from ljit.ops.ufuncs.quotients import integer_divmod, safe_divisor
from ljit.ops.ufuncs.ufuncs import (
    UFUNCS,
    Body,
    constant,
    declare_ufunc,
    is_zero,
    kind,
    scalar_type_of,
)
from ljit.types import ANY, FLOAT, INT, ArrayType, ScalarType, Type

__all__ = ["IN_PLACE"]

# ufuncs whose elements are rounded otherwise where an array takes them that may be an operand
IN_PLACE = {"np::multiply": "np::multiply_in_place", "np::square": "np::square_in_place"}


def _parts(e: Emitter, x: V) -> tuple[V, V]:
    return e.real(x), e.imag(x)


def _is_negative(e: Emitter, x: V) -> V:
    return e.compare("lt", x, constant(e, x, 0))


# -- sums and products -----------------------------------------------------------------------------


def _add(e: Emitter, x: V, y: V) -> V:
    if kind(x) == "b":
        return e.bit_or(x, y)
    if kind(x) == "c":
        (a, b), (c, d) = _parts(e, x), _parts(e, y)
        return e.complex(e.add(a, c), e.add(b, d), x.type)
    return e.add(x, y)


def _subtract(e: Emitter, x: V, y: V) -> V:
    if kind(x) == "c":
        (a, b), (c, d) = _parts(e, x), _parts(e, y)
        return e.complex(e.sub(a, c), e.sub(b, d), x.type)
    return e.sub(x, y)


def _multiply(e: Emitter, x: V, y: V) -> V:
    if kind(x) == "b":
        return e.bit_and(x, y)
    if kind(x) == "c":
        return e.complex(*complex_product(e, x, y), x.type)
    return e.mul(x, y)


def _multiply_elements(e: Emitter, x: V, y: V) -> V:
    return product_of_elements(e, x, y) if kind(x) == "c" else _multiply(e, x, y)


def _negative(e: Emitter, x: V) -> V:
    if kind(x) == "c":
        real, imag = _parts(e, x)
        return e.complex(e.neg(real), e.neg(imag), x.type)
    return e.neg(x)


def _square(e: Emitter, x: V) -> V:
    return _multiply_elements(e, x, x)


def _conjugate(e: Emitter, x: V) -> V:
    if kind(x) != "c":
        return x
    real, imag = _parts(e, x)
    return e.complex(real, e.neg(imag), x.type)


def absolute(e: Emitter, x: V) -> V:
    """``np.absolute`` of one number: the least integer stays itself; a complex has the C library's hypotenuse."""
    if kind(x) in "bu":
        return x
    if kind(x) == "f":
        return e.intrinsic("fabs", x)
    if kind(x) == "c":
        return e.math("hypot", *_parts(e, x))
    return e.select(_is_negative(e, x), e.neg(x), x)


def _absolute_of_element(e: Emitter, x: V) -> V:
    return e.elementary("hypot", *_parts(e, x)) if kind(x) == "c" else absolute(e, x)


def _sign(e: Emitter, x: V) -> V:
    zero, one = constant(e, x, 0), constant(e, x, 1)
    positive = e.compare("gt", x, zero)
    if kind(x) in "u":
        return e.select(positive, one, zero)
    negative = e.select(_is_negative(e, x), constant(e, x, -1), e.select(is_zero(e, x), zero, x))
    return e.select(positive, one, negative)


# -- division --------------------------------------------------------------------------------------


def _float_rem(e: Emitter, x: V, y: V) -> V:
    """C's fmod; that of float32 is the same in float64."""
    return e.cast(float_rem(e, e.cast(x, FLOAT), e.cast(y, FLOAT)), x.type)


def _rem_of_halves(e: Emitter, x: V, y: V) -> V:
    return e.cast(rem_of_few_bits(e, e.cast(x, FLOAT), e.cast(y, FLOAT)), x.type)


def _float_divmod(e: Emitter, x: V, y: V, rem: Body = _float_rem) -> tuple[V, V]:
    """``npy_divmod``: quotient and remainder with the sign of the divisor."""
    zero = constant(e, x, 0.0)
    rest = rem(e, x, y)
    quotient = e.div(e.sub(x, rest), y)
    differ = e.bit_xor(_is_negative(e, y), _is_negative(e, rest))
    adjust = e.bit_and(e.compare("ne", rest, zero), differ)
    quotient = e.select(adjust, e.sub(quotient, constant(e, x, 1.0)), quotient)
    signed_zero = e.intrinsic("copysign", zero, y)
    remainder = e.select(is_zero(e, rest), signed_zero, e.select(adjust, e.add(rest, y), rest))
    floor = e.intrinsic("floor", quotient)
    above = e.compare("gt", e.sub(quotient, floor), constant(e, x, 0.5))
    snapped = e.select(above, e.add(floor, constant(e, x, 1.0)), floor)
    ratio = e.div(x, y)
    snapped = e.select(is_zero(e, quotient), e.intrinsic("copysign", zero, ratio), snapped)
    by_zero = is_zero(e, y)
    return e.select(by_zero, ratio, snapped), e.select(by_zero, rest, remainder)


def _divmod_pair(e: Emitter, x: V, y: V) -> tuple[V, V]:
    return _float_divmod(e, x, y) if kind(x) == "f" else integer_divmod(e, x, y)


def _floor_divide(e: Emitter, x: V, y: V) -> V:
    return _divmod_pair(e, x, y)[0]


def _remainder(e: Emitter, x: V, y: V) -> V:
    return _divmod_pair(e, x, y)[1]


def _divmod(e: Emitter, x: V, y: V) -> V:
    return e.tuple_make(_divmod_pair(e, x, y))


def _divmod_of(parts: Parts, x: Value, y: Value) -> Value | None:
    """Of arrays, both results one by one: a loop nest has them in one pass."""
    halves = ("np::floor_divide", "np::remainder")
    can_lower = get_op(halves[0]).can_lower
    (quotient,) = get_op(halves[0]).infer_types([x.type, y.type], {})
    is_real = isinstance(quotient, ArrayType) and quotient.ndim and quotient.dtype.kind in "iuf"
    if not is_real or can_lower is None or not can_lower(x.type, y.type):
        return None
    return parts.apply("prim::TupleConstruct", *(parts.apply(op, x, y) for op in halves))


def _fmod(e: Emitter, x: V, y: V) -> V:
    if kind(x) == "f":
        return _float_rem(e, x, y)
    return e.select(is_zero(e, y), constant(e, x, 0), e.rem(x, safe_divisor(e, x, y)))


def _reciprocal(e: Emitter, x: V) -> V:
    if kind(x) == "c":
        return _reciprocal_of_complex(e, x)
    if kind(x) == "f":
        return e.div(constant(e, x, 1.0), x)
    e.bail_if(is_zero(e, x), "reciprocal of integer zero")
    return e.div(constant(e, x, 1), x)


def _reciprocal_of_complex(e: Emitter, x: V) -> V:
    """In the order of operations of NumPy's loop."""
    real, imag = _parts(e, x)
    one = constant(e, real, 1.0)
    is_real = e.compare("le", e.intrinsic("fabs", imag), e.intrinsic("fabs", real))
    large, small = e.select(is_real, real, imag), e.select(is_real, imag, real)
    ratio = e.div(small, large)
    size = e.add(large, e.mul(small, ratio))
    inverse, rest = e.div(one, size), e.div(ratio, size)
    return e.complex(
        e.select(is_real, inverse, rest), e.neg(e.select(is_real, rest, inverse)), x.type
    )


# -- powers ----------------------------------------------------------------------------------------


def _power(e: Emitter, x: V, y: V) -> V:
    by_float = _power_by_scalar if POWER_IS_ROOT else _power_of_scalar
    return by_float(e, x, y) if kind(x) == "f" else _integer_power(e, x, y)


def _operator_power(e: Emitter, x: V, y: V) -> V:
    return _power_of_scalar(e, x, y) if kind(x) == "f" else _integer_power(e, x, y)


def _power_of_scalar(e: Emitter, x: V, y: V) -> V:
    """``x ** y`` is C's `pow`, which is not the square root for -inf and -0.0."""

    def root() -> V:
        infinity = constant(e, x, float("inf"))
        is_infinite = e.compare("eq", e.intrinsic("fabs", x), infinity)
        return e.select(is_infinite, infinity, e.intrinsic("sqrt", e.add(x, constant(e, x, 0.0))))

    is_half = e.compare("eq", y, constant(e, y, 0.5))
    return e.branch(is_half, root, lambda: _power_of_array(e, x, y))


def _power_of_array(e: Emitter, x: V, y: V) -> V:
    """``pow``, and products for small constants: they are within the bound on errors, and often wanted."""
    exponent = e.float_constant_of(y)
    if exponent == 1:
        return x
    if exponent is not None and exponent in WHOLE:
        return power_product(e, x, int(exponent))
    is_two = e.compare("eq", y, constant(e, y, 2.0))
    return e.branch(is_two, lambda: e.mul(x, x), lambda: e.elementary("pow", x, y))


def _power_by_scalar(e: Emitter, x: V, y: V) -> V:
    """The power with an exponent that is one scalar for all elements: NumPy takes the square root for 0.5."""
    power = _power_of_array(e, x, y)
    return e.select(e.compare("eq", y, constant(e, y, 0.5)), e.intrinsic("sqrt", x), power)


def _integer_power(e: Emitter, x: V, y: V) -> V:
    """Multiply the squares that the exponent's bits choose; wraps. Exponents above 63 bail: rare."""
    if kind(y) == "i":
        e.bail_if(_is_negative(e, y), "negative power of an integer")
    bits = 6
    e.bail_if(e.compare("ge", y, constant(e, y, 1 << bits)), "large power of an integer")
    zero, one = constant(e, y, 0), constant(e, y, 1)
    result, square = constant(e, x, 1), x
    for bit in range(bits):
        chosen = e.bit_and(e.shr(y, constant(e, y, bit)), one)
        result = e.select(e.compare("ne", chosen, zero), e.mul(result, square), result)
        square = e.mul(square, square)
    return result


def _infer_power(*types: Type) -> Type:
    """Any, for bools: ``a ** 2`` is their square, an int8, any other power is of int64."""
    base, exponent = types[:2]
    if isinstance(base, ArrayType) and base.dtype.kind == "b" and exponent == INT:
        return ANY
    return UFUNCS["np::power"].infer(*types)


def _infer_power_operator(*types: Type) -> Type:
    """Any as well where the number that the exponent is decides about the dtype, or about array or scalar."""
    base, exponent = types[:2]
    if SCALARS_CHANGE_POWERS and isinstance(base, ArrayType):
        has_dtype = isinstance(exponent, ArrayType | ScalarType)
        is_scalar = not (isinstance(exponent, ArrayType) and exponent.ndim)
        if has_dtype and is_scalar and exponent.dtype != base.dtype:  # type: ignore[attr-defined]
            return ANY
        if exponent == FLOAT and (
            base.dtype.kind == "b" or (base.dtype.kind in "iu" and not base.ndim)
        ):
            return ANY
    return _infer_power(*types)


# -- angles ----------------------------------------------------------------------------------------


def _scaled(numerator: float, denominator: float) -> Body:
    def body(e: Emitter, x: V) -> V:
        number = scalar_type_of(x).dtype.type
        return e.mul(x, float(number(numerator) / number(denominator)))

    return body


# -- declarations ----------------------------------------------------------------------------------

declare_ufunc(
    np.add,
    _add,
    "biufc",
    is_cheap=True,
    is_commutative=True,
    neutral=Neutral(0),
    accumulation=Accumulation(
        lambda dtype: dtype.type(0), flags="reassoc", is_compensated=True, is_wider_for_halves=True
    ),
    ranges=int_ranges.WRAPPING_ADD,
)
declare_ufunc(
    np.subtract,
    _subtract,
    "iufc",
    is_cheap=True,
    neutral=Neutral(0, holds_for_floats=True),
    ranges=int_ranges.WRAPPING_SUB,
)
# not commutative to the last bit: a fused product of complex numbers rounds one part product only
declare_ufunc(
    np.multiply,
    _multiply,
    "biufc",
    is_cheap=True,
    element_op="np::multiply_element",
    neutral=Neutral(1, holds_for_floats=True),
    accumulation=Accumulation(
        lambda dtype: dtype.type(1), flags="reassoc", is_wider_for_halves=True
    ),
    ranges=int_ranges.WRAPPING_MUL,
)
declare_ufunc(
    np.multiply,
    _multiply_elements,
    "biufc",
    name="np::multiply_element",
    callables=(),
    is_cheap=True,
    odd_layouts=partial(odd_layouts, "np::multiply"),
)
declare_ufunc(np.negative, _negative, "iufc", is_cheap=True, ranges=int_ranges.WRAPPING_NEG)
declare_ufunc(np.positive, lambda e, x: x, "iufc", is_cheap=True)
declare_ufunc(
    np.square, _square, "iufc", is_cheap=True, odd_layouts=partial(odd_layouts, "np::square")
)
for _name, _body, _kinds in (
    ("np::multiply", _multiply_elements, "biufc"),
    ("np::square", _square, "iuf"),  # complex ones: each pair of strides is rounded in its own way
):
    _plain = get_op(_name)
    declare_ufunc(
        UFUNCS[_name].function,
        _body,
        _kinds,
        name=IN_PLACE[_name],
        callables=(),
        is_cheap=True,
        element_op=_plain.element_op or _name,
        odd_layouts=partial(odd_layouts_in_place, _name),
    )
declare_ufunc(np.conjugate, _conjugate, "iufc", is_cheap=True)
declare_ufunc(
    np.absolute,
    absolute,
    "biufc",
    is_cheap=True,
    complex_instructions=16,
    element_op="np::absolute_of_element",
    ranges=RangeRules(floats=float_bounds.absolute),
)
declare_ufunc(
    np.absolute,
    _absolute_of_element,
    "biufc",
    name="np::absolute_of_element",
    callables=(),
    is_cheap=True,
    complex_instructions=16,
    wide="FD",
)
declare_ufunc(np.fabs, lambda e, x: e.intrinsic("fabs", x), "f", is_cheap=True)
declare_ufunc(np.sign, _sign, "iuf", instructions=4)
declare_ufunc(
    np.divide,
    lambda e, x, y: e.div(x, y),
    "fc",
    instructions=4,
    neutral=Neutral(1, holds_for_floats=True),
    ranges=int_quotients.TRUE_QUOTIENT,
)
declare_ufunc(
    np.floor_divide,
    _floor_divide,
    "iuf",
    halves=lambda e, x, y: _float_divmod(e, x, y, _rem_of_halves)[0],
    neutral=Neutral(1),
    ranges=int_quotients.QUOTIENT,
)
declare_ufunc(
    np.remainder,
    _remainder,
    "iuf",
    halves=lambda e, x, y: _float_divmod(e, x, y, _rem_of_halves)[1],
    ranges=int_quotients.REMAINDER,
)
declare_ufunc(np.divmod, _divmod, "iuf", callables=(np.divmod,), decompose=_divmod_of)
declare_ufunc(np.fmod, _fmod, "iuf", halves=_rem_of_halves)
declare_ufunc(np.reciprocal, _reciprocal, "iufc", raising="iu", instructions=4)
declare_ufunc(
    np.power,
    _power,
    "iuf",
    raising="iu",
    halves=_power_of_array,
    infer=_infer_power,
    decompose=power_of,
)
declare_ufunc(
    np.power,
    _operator_power,
    "iuf",
    raising="iu",
    infer=_infer_power_operator,
    name="np::power_operator",
    evaluate=operator.pow,
    callables=(),
    decompose=power_operator_of,
    ranges=int_ranges.POWER,
)
# of arrays: which of NumPy's ways to take is known (powers.py)
declare_ufunc(
    np.power,
    _power_by_scalar,
    "f",
    name="np::power_by_scalar",
    callables=(),
    wide="fd" if POWER_IS_ROOT else "",  # NumPy's own loop
)
declare_ufunc(np.power, _power_of_array, "f", name="np::power_by_few", callables=())
declare_ufunc(
    np.power,
    _power_of_array,
    "f",
    name="np::power_of_array",
    callables=(),
    wide="fd",
    # powers that are ordinary numbers for sure
    blocks={"f": ((2.0**-8, 2.0**8), (-15.0, 15.0)), "d": ((2.0**-32, 2.0**32), (-31.0, 31.0))},
)
declare_ufunc(np.float_power, lambda e, x, y: e.elementary("pow", x, y), "f")
_RADIANS: tuple[np.ufunc, ...] = (np.deg2rad, np.radians)
_DEGREES: tuple[np.ufunc, ...] = (np.rad2deg, np.degrees)
for _function in _RADIANS:
    declare_ufunc(_function, _scaled(np.pi, 180.0), "f")
for _function in _DEGREES:
    declare_ufunc(_function, _scaled(180.0, np.pi), "f")
