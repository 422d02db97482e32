"""Remainders of divisions."""

from __future__ import annotations

from ljit.codegen.mathlib.registry import Beyond, elementary
from ljit.codegen.mathlib.terms import Term, fma, intrinsic, select

__all__: list[str] = []

_LARGE = 2.0**52


def _are_rare(x: Term, y: Term) -> Term:
    """Whether the quotient may have more bits than a float, or the divisor is infinite."""
    a, b, infinity = intrinsic("fabs", x), intrinsic("fabs", y), x.constant(float("inf"))
    is_large = (a >= b * _LARGE) & (b > 0.0) & (a < infinity)
    return is_large | (b == infinity)


def _by_c(x: Term, y: Term) -> Term:
    attributes = "nobuiltin nounwind willreturn"
    return Term(x.f, x.f.call_external("double", "fmod", [x.ref, y.ref], attributes))


@elementary("fmod", "double", beyond=Beyond(_are_rare, (0.0, 1.0), _by_c))
def fmod(x: Term, y: Term) -> Term:
    """C's fmod, exactly.

    The truncated quotient of the rounded division is right or one too large; what a product with it leaves is a float,
    which a fused multiply-add gives, and one addition of the divisor corrects.
    """
    zero = x.constant(0.0)
    rest = fma(-intrinsic("trunc", x / y), y, x)
    overshot = ((rest < zero) ^ (x < zero)) & (rest != zero)
    rest = select(overshot, rest + intrinsic("copysign", y, x), rest)
    return intrinsic("copysign", rest, x)
