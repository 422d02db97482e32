"""The functions of the module `math`.

CPython calls the C library and turns its NaN and infinity out of ordinary numbers into exceptions; native code
calls the same functions and bails out in those cases. What CPython computes by itself (`gamma`, `fsum`) is a boxed
call.
"""

from __future__ import annotations

import functools
import math
from collections.abc import Callable
from typing import Any

import numpy as np

from ljit.ir import Effect, Emitter, OpDef, Schema, declare
from ljit.ir.emitter import V
from ljit.ir.range_rules import RangeRules
from ljit.ops.python import powers
from ljit.ops.python.numbers import (
    check_result,
    condition_not,
    float_rem,
    is_finite,
    is_infinite,
    is_nan,
    is_real_scalar,
    of_either_class,
    of_floats,
    plain_effect,
    to_float,
    to_type,
)
from ljit.ops.python.samples import REAL_PAIRS, REALS, each
from ljit.ops.ranges import float_bounds
from ljit.ops.ranges.int_ranges import NONNEGATIVE
from ljit.ops.ranges.whole_parts import CEIL, CONVERT, FLOOR, ROOT
from ljit.ops.stdlib.builtins_numbers import float_to_int
from ljit.types import ANY, BOOL, FLOAT, INT, ScalarType, TupleType, Type

__all__ = ["PAIR_SAMPLES", "all_real", "declare_math", "effect_of_partial"]

Lowering = Callable[..., V]

_SAMPLES = each((*REALS, 0.25, -0.75, 710.0, -745.0, 1.5707963267948966, np.float32(0.3), "a", 1j))
PAIR_SAMPLES = (*REAL_PAIRS[::2], (1, "a"), (np.float64(2), 0.5), (3.0, 1j))


def all_real(*types: Type) -> bool:
    return all(map(is_real_scalar, types))


def _infer_float(*types: Type) -> Type:
    return FLOAT if all_real(*types) else ANY


def _infer_bool(*types: Type) -> Type:
    return BOOL if all_real(*types) else ANY


def _effect_of_total(*types: Type) -> Effect:
    """Functions that are defined for all real numbers."""
    return Effect.PURE if all_real(*types) else plain_effect(*types)


def effect_of_partial(*types: Type) -> Effect:
    """Functions that raise for some real numbers."""
    return Effect.RAISE if all_real(*types) else plain_effect(*types)


def declare_math(name: str, schema: str, doc: str, **fields: Any) -> OpDef:
    function = getattr(math, name)
    fields.setdefault("infer", _infer_float)
    fields.setdefault("can_lower", all_real)
    fields.setdefault("number_type", of_either_class)
    return declare(
        OpDef(
            f"math::{name}", Schema(schema), doc, evaluate=function, callables=(function,), **fields
        )
    )


# -- functions of the C library --------------------------------------------------------------------

_ERROR = "math error"


def _bounded_call(name: str, e: Emitter, x: V) -> V:
    """Call a function that gives no infinity for a finite number."""
    x = to_float(e, x)
    result = e.math(name, x)
    e.bail_if(is_nan(e, result), _ERROR, also=lambda: condition_not(e, is_nan(e, x)))
    return result


def _periodic_call(name: str, e: Emitter, x: V) -> V:
    """Call a function that is defined for all finite numbers."""
    x = to_float(e, x)
    e.bail_if(is_infinite(e, x), _ERROR)
    return e.math(name, x)


def _growing_call(name: str, e: Emitter, x: V) -> V:
    """Call a function that is defined for all numbers."""
    x = to_float(e, x)
    result = e.math(name, x)
    e.bail_if(is_infinite(e, result), _ERROR, also=lambda: is_finite(e, x))
    return result


def _call(name: str, e: Emitter, *operands: V) -> V:
    return e.math(name, *(to_float(e, x) for x in operands))


def _checked_call(name: str, e: Emitter, *operands: V) -> V:
    floats = [to_float(e, x) for x in operands]
    return check_result(e, e.math(name, *floats), floats, _ERROR)


_TOTAL = {
    "asinh": "Inverse hyperbolic sine",
    "atan": "Arc tangent",
    "cbrt": "Cube root",
    "erf": "Error function",
    "erfc": "Complementary error function",
    "tanh": "Hyperbolic tangent",
}
_BOUNDED = {"acos": "Arc cosine", "acosh": "Inverse hyperbolic cosine", "asin": "Arc sine"}
_PERIODIC = {"cos": "Cosine", "sin": "Sine", "tan": "Tangent"}
_GROWING = {
    "cosh": "Hyperbolic cosine",
    "exp": "e to the power of x",
    "exp2": "2 to the power of x",
    "expm1": "``exp(x) - 1`` without cancellation",
    "sinh": "Hyperbolic sine",
}
_PARTIAL = {
    "atanh": "Inverse hyperbolic tangent",
    "log10": "Logarithm to base 10",
    "log1p": "``log(1 + x)`` without cancellation",
    "log2": "Logarithm to base 2",
}
_BETWEEN = {"sin": (-1.0, 1.0), "cos": (-1.0, 1.0), "tanh": (-1.0, 1.0), "atan": (-1.58, 1.58)}
_LIMITED = {
    name: RangeRules(floats=float_bounds.in_between(*ends)) for name, ends in _BETWEEN.items()
}
for _name, _doc in _TOTAL.items():
    declare_math(
        _name, "(x, /)", f"{_doc}.", ranges=_LIMITED.get(_name),
        lower=functools.partial(_call, _name), effects=_effect_of_total, is_called=True,
        samples=_SAMPLES,
    )  # fmt: skip
for _docs, _caller in (
    (_BOUNDED, _bounded_call),
    (_PERIODIC, _periodic_call),
    (_GROWING, _growing_call),
    (_PARTIAL, _checked_call),
):
    for _name, _doc in _docs.items():
        declare_math(
            _name, "(x, /)", f"{_doc}; raises where it is not defined.", ranges=_LIMITED.get(_name),
            lower=functools.partial(_caller, _name), effects=effect_of_partial, is_called=True,
            samples=_SAMPLES,
        )  # fmt: skip
declare_math(
    "atan2", "(y, x, /)", "Angle of the point (x, y).",
    lower=functools.partial(_call, "atan2"), effects=_effect_of_total, is_called=True,
    samples=PAIR_SAMPLES,
)  # fmt: skip


def _lower_fmod(e: Emitter, x: V, y: V) -> V:
    x, y = to_float(e, x), to_float(e, y)
    return check_result(e, float_rem(e, x, y), (x, y), _ERROR)


for _name, _doc, _lower in (
    ("fmod", "Remainder as in C", _lower_fmod),
    ("remainder", "IEEE 754 remainder", functools.partial(_checked_call, "remainder")),
):
    declare_math(
        _name, "(x, y, /)", f"{_doc}; raises for y = 0 and infinite x.",
        lower=_lower, effects=effect_of_partial, is_called=True, samples=PAIR_SAMPLES,
    )  # fmt: skip


def _on_floats(lower: Lowering) -> Lowering:
    """Make a lowering that gets its operands as floats from one that takes numbers."""

    @functools.wraps(lower)
    def converted(e: Emitter, *operands: V) -> V:
        return lower(e, *(to_float(e, x) for x in operands))

    return converted


declare_math(
    "pow", "(x, y, /)", "``x`` to the power of ``y``, as floats.",
    lower=_on_floats(powers.float_pow), effects=effect_of_partial, is_called=True,
    samples=PAIR_SAMPLES,
)  # fmt: skip


def _lower_sqrt(e: Emitter, x: V) -> V:
    x = to_float(e, x)
    if not e.is_proven(NONNEGATIVE):
        e.bail_if(e.compare("lt", x, 0.0), "root of a negative number")
    return e.intrinsic("sqrt", x)


declare_math(
    "sqrt", "(x, /)", "Square root; raises for negative x.",
    lower=_lower_sqrt, effects=effect_of_partial, ranges=ROOT, checks_can_wait=True,
    samples=_SAMPLES,
)  # fmt: skip


def _lower_log(e: Emitter, x: V, base: V | None = None) -> V:
    result = _checked_call("log", e, x)
    if base is None:
        return result
    divisor = _checked_call("log", e, base)
    e.bail_if(e.compare("eq", divisor, 0.0), "division by zero")
    return e.div(result, divisor)


declare(
    OpDef(
        "math::log",
        Schema("(x, base=None, /)"),
        "Natural logarithm, or that to `base`; raises for x <= 0.",
        infer=_infer_float,
        evaluate=math.log,
        lower=_lower_log,
        can_lower=all_real,
        effects=effect_of_partial,
        is_called=True,
        callables=(math.log,),
        samples=(*_SAMPLES, *PAIR_SAMPLES, (8, 2), (5.0, 1.0), (2**70,)),
    )
)

# -- signs, angles, classification -----------------------------------------------------------------

declare_math(
    "fabs", "(x, /)", "Absolute value, as a float.",
    lower=lambda e, x: e.intrinsic("fabs", to_float(e, x)), effects=_effect_of_total,
    ranges=RangeRules(floats=float_bounds.absolute), samples=_SAMPLES,
)  # fmt: skip
declare_math(
    "copysign", "(x, y, /)", "``x`` with the sign of ``y``.",
    lower=lambda e, x, y: e.intrinsic("copysign", to_float(e, x), to_float(e, y)),
    effects=_effect_of_total, samples=PAIR_SAMPLES,
)  # fmt: skip
declare_math(
    "degrees", "(x, /)", "Convert radians to degrees.",
    lower=lambda e, x: e.mul(to_float(e, x), 180.0 / math.pi),
    effects=_effect_of_total, samples=_SAMPLES,
)  # fmt: skip
declare_math(
    "radians", "(x, /)", "Convert degrees to radians.",
    lower=lambda e, x: e.mul(to_float(e, x), math.pi / 180.0),
    effects=_effect_of_total, samples=_SAMPLES,
)  # fmt: skip
declare_math(
    "isnan", "(x, /)", "Whether x is NaN.", infer=_infer_bool,
    lower=lambda e, x: is_nan(e, to_float(e, x)), effects=_effect_of_total, samples=_SAMPLES,
)  # fmt: skip
declare_math(
    "isinf", "(x, /)", "Whether x is infinite.", infer=_infer_bool,
    lower=lambda e, x: is_infinite(e, to_float(e, x)), effects=_effect_of_total, samples=_SAMPLES,
)  # fmt: skip
declare_math(
    "isfinite", "(x, /)", "Whether x is neither infinite nor NaN.", infer=_infer_bool,
    lower=lambda e, x: is_finite(e, to_float(e, x)), effects=_effect_of_total, samples=_SAMPLES,
)  # fmt: skip

# -- to integers -----------------------------------------------------------------------------------

_FLOAT64 = ScalarType(np.dtype(np.float64))


def _infer_whole(x: Type) -> Type:
    """Of NumPy's numbers, float64 alone has all three methods; floor and ceil take `float(x)` of others."""
    return INT if is_real_scalar(x) else ANY


def _infer_trunc(x: Type) -> Type:
    return INT if x in (BOOL, INT, FLOAT, _FLOAT64) else ANY


def _whole(name: str, e: Emitter, x: V) -> V:
    if x.type in (BOOL, INT):
        return to_type(e, x, INT)
    return float_to_int(e, e.intrinsic(name, to_float(e, x)))


def _declare_whole(name: str, doc: str, infer: Callable[[Type], Type], ranges: RangeRules) -> None:
    declare_math(
        name, "(x, /)", f"{doc}.", infer=infer, lower=functools.partial(_whole, name),
        can_lower=lambda x: infer(x) == INT, effects=effect_of_partial, is_profiled=True,
        checks_can_wait=True, number_type=of_floats, ranges=ranges,
        samples=(*_SAMPLES, (np.float64(-2.5),), (np.int64(2**53 + 1),), (np.uint64(2**63),)),
    )  # fmt: skip


_declare_whole("floor", "The largest int that is not above x", _infer_whole, FLOOR)
_declare_whole("ceil", "The smallest int that is not below x", _infer_whole, CEIL)
_declare_whole("trunc", "The int next to x towards zero", _infer_trunc, CONVERT)


# -- parts of a float ------------------------------------------------------------------------------


def _lower_modf(e: Emitter, x: V) -> V:
    x = to_float(e, x)
    whole = e.intrinsic("trunc", x)
    fraction = e.select(is_infinite(e, x), 0.0, e.sub(x, whole))
    return e.tuple_make([e.intrinsic("copysign", fraction, x), whole])


def _infer_modf(x: Type) -> Type:
    return TupleType((FLOAT, FLOAT)) if is_real_scalar(x) else ANY


declare_math(
    "modf", "(x, /)", "Fraction and whole part of x, as floats.", infer=_infer_modf,
    lower=_lower_modf, effects=_effect_of_total, samples=_SAMPLES,
)  # fmt: skip
declare_math(
    "frexp", "(x, /)", "Mantissa and exponent of x: ``x == m * 2**e``.",
    infer=lambda x: TupleType((FLOAT, INT)) if is_real_scalar(x) else ANY,
    can_lower=None, effects=_effect_of_total, samples=_SAMPLES,
)  # fmt: skip
declare_math(
    "ldexp", "(x, i, /)", "``x * 2**i``; raises if that is too large.",
    infer=lambda x, i: FLOAT if is_real_scalar(x) and i in (BOOL, INT) else ANY,
    can_lower=None, effects=effect_of_partial, number_type=None,
    samples=((1.5, 3), (1, -1080), (1.0, 2000), (0.1, 2.0), (math.inf, 5)),
)  # fmt: skip
declare_math(
    "nextafter", "(x, y, /)", "The float next to x towards y.",
    lower=functools.partial(_call, "nextafter"), effects=_effect_of_total, samples=PAIR_SAMPLES,
)  # fmt: skip

# -- boxed -----------------------------------------------------------------------------------------

for _name, _doc in {"gamma": "Gamma function", "lgamma": "Logarithm of it"}.items():
    declare_math(
        _name, "(x, /)", f"{_doc}; raises at its poles.", can_lower=None,
        effects=effect_of_partial, samples=_SAMPLES,
    )  # fmt: skip
