"""The functions of the module `cmath` that programs use in loops, with CPython's formulas.

Native code computes on finite numbers that neither overflow nor underflow, and bails out on others.
"""

from __future__ import annotations

import cmath
from collections.abc import Callable
from typing import Any

from ljit.ir import Effect, Emitter, OpDef, Schema, declare
from ljit.ir.emitter import V
from ljit.ops.python.numbers import (
    c_abs,
    condition_and,
    condition_not,
    condition_or,
    is_finite,
    is_real_scalar,
    plain_effect,
    to_float,
)
from ljit.ops.python.samples import COMPLEXES, REAL_PAIRS, each
from ljit.types import ANY, COMPLEX, FLOAT, ScalarType, TupleType, Type

__all__: list[str] = []

_LARGEST_EXPONENT = 708.0  # CPython scales above the logarithm of a quarter of the largest float
_LEAST_NORMAL = 2.0**-1022


def _is_number(t: Type) -> bool:
    is_complex = isinstance(t, ScalarType) and t.dtype.kind == "c"
    return is_complex or t == COMPLEX or is_real_scalar(t)


def _parts(e: Emitter, x: V) -> tuple[V, V]:
    """The real and imaginary part, as floats."""
    if is_real_scalar(x.type):
        return to_float(e, x), e.const(FLOAT, 0.0)
    return e.cast(e.real(x), FLOAT), e.cast(e.imag(x), FLOAT)


def _bail_unless_finite(e: Emitter, *xs: V) -> None:
    finite = condition_and(e, *(is_finite(e, x) for x in xs))
    e.bail_if(condition_not(e, finite), "special values")


def _lower_exp(e: Emitter, z: V) -> V:
    real, imag = _parts(e, z)
    _bail_unless_finite(e, real, imag)
    e.bail_if(e.compare("gt", real, _LARGEST_EXPONENT), "large exponent")
    return _from_polar(e, e.math("exp", real), imag)


def _from_polar(e: Emitter, r: V, phi: V) -> V:
    return e.complex(e.mul(r, e.math("cos", phi)), e.mul(r, e.math("sin", phi)), COMPLEX)


def _lower_rect(e: Emitter, r: V, phi: V) -> V:
    r, phi = to_float(e, r), to_float(e, phi)
    _bail_unless_finite(e, r, phi)
    return _from_polar(e, r, phi)


def _lower_sqrt(e: Emitter, z: V) -> V:
    """Half the angle, by the larger part first; subnormal numbers bail out."""
    real, imag = _parts(e, z)
    _bail_unless_finite(e, real, imag)
    x, y = e.intrinsic("fabs", real), e.intrinsic("fabs", imag)
    is_zero = e.bit_and(e.compare("eq", x, 0.0), e.compare("eq", y, 0.0))
    normal = condition_or(e, *(e.compare("ge", v, _LEAST_NORMAL) for v in (x, y)))
    e.bail_if(condition_not(e, e.bit_or(normal, is_zero)), "subnormal number")
    x, distance = e.mul(x, 0.125), e.math("hypot", e.mul(x, 0.125), e.mul(y, 0.125))
    large = e.mul(2.0, e.intrinsic("sqrt", e.add(x, distance)))
    small = e.div(y, e.mul(2.0, large))
    is_right = e.compare("ge", real, 0.0)
    first, second = e.select(is_right, large, small), e.select(is_right, small, large)
    second = e.intrinsic("copysign", second, imag)
    return e.complex(e.select(is_zero, 0.0, first), e.select(is_zero, imag, second), COMPLEX)


def _lower_phase(e: Emitter, z: V) -> V:
    real, imag = _parts(e, z)
    return e.math("atan2", imag, real)


def _lower_polar(e: Emitter, z: V) -> V:
    real, imag = _parts(e, z)
    return e.tuple_make([c_abs(e, e.complex(real, imag, COMPLEX)), e.math("atan2", imag, real)])


def _effects(*types: Type) -> Effect:
    return Effect.RAISE if all(map(_is_number, types)) else plain_effect(*types)


def _declare(name: str, doc: str, lower: Callable[..., V], result: Type, **fields: Any) -> None:
    function = getattr(cmath, name)
    takes = fields.pop("takes", _is_number)
    declare(
        OpDef(
            f"cmath::{name}",
            Schema(fields.pop("schema", "(z, /)")),
            doc,
            infer=lambda *types: result if all(map(takes, types)) else ANY,
            evaluate=function,
            lower=lower,
            can_lower=lambda *types: all(map(takes, types)),
            effects=_effects,
            callables=(function,),
            samples=fields.pop("samples", (*each(COMPLEXES), (2.5,), (-3,), (5e-324j,), ("a",))),
        )
    )


_declare("exp", "e to the power of z; raises where it is too large.", _lower_exp, COMPLEX)
_declare("sqrt", "The square root whose real part is not negative.", _lower_sqrt, COMPLEX)
_declare("phase", "The angle of z, from -pi to pi.", _lower_phase, FLOAT)
_declare("polar", "Absolute value and angle of z.", _lower_polar, TupleType((FLOAT, FLOAT)))
_declare(
    "rect",
    "The complex number of an absolute value and an angle.",
    _lower_rect,
    COMPLEX,
    takes=is_real_scalar,
    schema="(r, phi, /)",
    samples=(*REAL_PAIRS[::7], (1, "a")),
)
