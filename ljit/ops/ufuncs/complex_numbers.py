"""Transcendental ufuncs of complex numbers, made of real ones: each component within three units in the last place.

Infinities and NaN give what C99's annex G says, as in NumPy.
"""

from __future__ import annotations

import numpy as np

from ljit.ir import Effect, OpDef, Schema, declare
from ljit.ir.emitter import Emitter, V
from ljit.ops.arrays.rules import elementwise_result, kinds_of
from ljit.types import ANY, ArrayType, Type

__all__ = ["exp", "exp2", "expm1", "log", "log1p", "log2", "log10", "sqrt"]


def _parts(e: Emitter, z: V) -> tuple[V, V]:
    return e.real(z), e.imag(z)


def _is_infinite(e: Emitter, x: V) -> V:
    return e.compare("eq", e.intrinsic("fabs", x), float("inf"))


def _is_zero(e: Emitter, x: V) -> V:
    return e.compare("eq", x, 0.0)


def exp(e: Emitter, z: V) -> V:
    """Scale the cosine and the sine of the imaginary part; where the scale alone would overflow, by two factors."""
    x, y = _parts(e, z)
    limits = np.finfo(x.type.dtype)
    step = float(np.floor(np.log(float(limits.max)) * 0.9))
    is_large = e.compare("gt", x, step)
    shifted = e.select(is_large, e.sub(x, step), x)
    factor = e.select(is_large, e.const(x.type, float(np.exp(step))), 1.0)
    size = e.elementary("exp", shifted)
    vanishes = e.compare("eq", x, float("-inf"))  # whatever the angle is
    nothing = e.intrinsic("copysign", e.const(x.type, 0.0), y)
    angle = e.select(e.bit_and(vanishes, _is_not_finite(e, y)), nothing, y)
    real = e.mul(e.mul(size, e.elementary("cos", angle)), factor)
    imag = e.mul(e.mul(size, e.elementary("sin", angle)), factor)
    is_real = _is_zero(e, y)
    is_infinite = e.bit_and(e.compare("eq", x, float("inf")), _is_not_finite(e, y))
    return e.complex(e.select(is_infinite, x, real), e.select(is_real, y, imag), z.type)


def _is_not_finite(e: Emitter, x: V) -> V:
    difference = e.sub(x, x)
    return e.compare("ne", difference, difference)


def sqrt(e: Emitter, z: V) -> V:
    """Half the angle, by the larger part first."""
    x, y = _parts(e, z)
    limits = np.finfo(x.type.dtype)
    size_x, size_y = e.intrinsic("fabs", x), e.intrinsic("fabs", y)
    larger = e.select(e.compare("gt", size_x, size_y), size_x, size_y)
    is_large = e.compare("gt", larger, 2.0 ** (limits.maxexp - 4))
    is_small = e.compare("lt", larger, 2.0 ** (limits.minexp + 2 * limits.nmant))
    up = 2.0 ** (4 * limits.nmant)

    def scaled(large: float, small: float) -> V:
        return e.select(is_large, large, e.select(is_small, small, e.const(x.type, 1.0)))

    scale, back = scaled(2.0**-4, up), scaled(4.0, up**-0.5)
    size_x, size_y = e.mul(size_x, scale), e.mul(size_y, scale)
    total = e.mul(e.add(e.elementary("hypot", size_x, size_y), size_x), 0.5)
    large = e.intrinsic("sqrt", total)
    small = e.div(e.mul(size_y, 0.5), e.select(_is_zero(e, large), 1.0, large))
    small = e.select(_is_infinite(e, x), e.select(_is_not_finite(e, y), y, 0.0), small)
    large, small = e.mul(large, back), e.mul(small, back)
    is_right = e.compare("ge", x, 0.0)
    real, imag = e.select(is_right, large, small), e.select(is_right, small, large)
    is_infinite = _is_infinite(e, y)
    real = e.select(is_infinite, size_y, real)
    imag = e.select(is_infinite, size_y, imag)
    return e.complex(real, e.intrinsic("copysign", imag, y), z.type)


def log(e: Emitter, z: V) -> V:
    """The logarithm of the absolute value, and the angle."""
    x, y = _parts(e, z)
    limits = np.finfo(x.type.dtype)
    size_x, size_y = e.intrinsic("fabs", x), e.intrinsic("fabs", y)
    swap = e.compare("gt", size_y, size_x)
    larger, smaller = e.select(swap, size_y, size_x), e.select(swap, size_x, size_y)
    is_large = e.compare("gt", larger, 2.0 ** (limits.maxexp - 4))
    is_small = e.compare("lt", larger, 2.0 ** (limits.minexp + limits.nmant))
    up = 2 * limits.nmant

    def scaled(usual: float, large: float, small: float) -> V:
        rare = e.select(is_small, small, e.const(x.type, usual))
        return e.select(is_large, large, rare)

    scale = scaled(1.0, 2.0**-4, 2.0**up)
    size = e.elementary("hypot", e.mul(larger, scale), e.mul(smaller, scale))
    far = e.add(e.elementary("log", size), scaled(0.0, 4 * np.log(2.0), -up * np.log(2.0)))
    near = e.mul(0.5, e.elementary("log1p", _square_less_one(e, larger, smaller)))
    is_near = e.bit_and(e.compare("gt", larger, 0.5), e.compare("lt", larger, 2.0))
    return e.complex(e.select(is_near, near, far), e.elementary("atan2", y, x), z.type)


def log2(e: Emitter, z: V) -> V:
    return _scaled(e, log(e, z), 1.442695040888963407359924681002)


def log10(e: Emitter, z: V) -> V:
    return _scaled(e, log(e, z), 0.434294481903251827651128918917)


def exp2(e: Emitter, z: V) -> V:
    return exp(e, _scaled(e, z, np.log(2.0)))


def _scaled(e: Emitter, z: V, factor: float) -> V:
    x, y = _parts(e, z)
    number = e.const(x.type, float(factor))
    return e.complex(e.mul(x, number), e.mul(y, number), z.type)


def log1p(e: Emitter, z: V) -> V:
    """The hypotenuse and the angle of ``1 + z``: by NumPy's steps, which cancel, and so by its functions."""
    x, y = _parts(e, z)
    x = e.add(x, 1.0)
    return e.complex(e.math("log", e.math("hypot", x, y)), e.math("atan2", y, x), z.type)


def expm1(e: Emitter, z: V) -> V:
    """``expm1(x) * cos(y) - 2 * sin(y / 2)**2``, and ``exp(x) * sin(y)``, likewise."""
    x, y = _parts(e, z)
    half = e.math("sin", e.mul(y, 0.5))
    square = e.mul(e.mul(2.0, half), half)
    real = e.sub(e.mul(e.math("expm1", x), e.math("cos", y)), square)
    return e.complex(real, e.mul(e.math("exp", x), e.math("sin", y)), z.type)


def _square_less_one(e: Emitter, x: V, y: V) -> V:
    """``x*x + y*y - 1`` with what each step rounds off: it is small near the unit circle."""
    square_x, square_y = e.mul(x, x), e.mul(y, y)
    rest_x, rest_y = (
        e.intrinsic("fma", part, part, e.neg(square))
        for part, square in ((x, square_x), (y, square_y))
    )
    first, first_low = _sum(e, square_x, e.const(x.type, -1.0))
    total, low = _sum(e, first, square_y)
    rests, rests_low = _sum(e, rest_x, rest_y)
    rests, more_low = _sum(e, rests, e.add(first_low, low))
    total, low = _sum(e, total, rests)
    return e.add(total, e.add(low, e.add(rests_low, more_low)))


def _sum(e: Emitter, x: V, y: V) -> tuple[V, V]:
    """A sum and what it rounds off."""
    total = e.add(x, y)
    part = e.sub(total, x)
    return total, e.add(e.sub(x, e.sub(total, part)), e.sub(y, part))


# -- np.angle ----------------------------------------------------------------------------------------


def _infer_angle(z: Type, *, deg: object = False) -> Type:
    kinds = kinds_of((z,))
    if kinds is None or type(deg) is not bool:
        return ANY
    dtype = np.dtype(kinds[0])
    if dtype.kind != "c":
        return ANY
    component = np.empty(0, dtype).real.dtype
    return elementwise_result((z,), component)


def _angle_effects(z: Type, *, deg: object = False) -> Effect:
    result = _infer_angle(z, deg=deg)
    if result == ANY:
        return Effect.CALL
    if not isinstance(z, ArrayType):
        return Effect.PURE
    return Effect.READ | Effect.ALLOC if z.ndim else Effect.READ


def _lower_angle(e: Emitter, z: V, *, deg: bool = False) -> V:
    x, y = _parts(e, z)
    angle = e.elementary("atan2", y, x)
    if deg:
        angle = e.mul(angle, 180.0 / np.pi)
    return e.retype(angle, _infer_angle(z.type))


declare(
    OpDef(
        "np::angle",
        Schema("(z, *, deg=False)"),
        "``np.angle`` of complex numbers.",
        infer=_infer_angle,
        evaluate=np.angle,
        lower=_lower_angle,
        effects=_angle_effects,
        callables=(np.angle,),
        elementwise=True,
        samples=((np.complex128(1 + 2j),), (np.array([1j, -1.0, 0.5 - 2j]),), (-1j,)),
    )
)
