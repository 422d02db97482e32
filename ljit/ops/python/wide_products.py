"""Products of ints in [0, 2**64), of 128 bits, of which a remainder or one half is asked for: ``a * b % m``.

A product is ``a * b + c + d`` of four such ints, less than 2**128: sums of few and products with a carry, too. The
specialiser (`passes/specializing/wide_products.py`) puts `wide::product` where ints grew beyond 64 bits, and the other
ops where remainders and halves of it are taken. It is an object only for those that ask for more.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ljit.ir import Effect, Emitter, OpDef, Schema, declare
from ljit.ir.emitter import V
from ljit.types import ANY, UINT, Type

__all__: list[str] = []

_HALF, _LOW, _MASK = 32, 2**32 - 1, 2**64 - 1
_LARGE = ((_MASK, _MASK, _MASK, _MASK), (2**63, 3, 5, 0), (2**63 + 12345, 2**64 - 59, 7, _MASK))


def _exact(a: int, b: int, c: int, d: int) -> int:
    return a * b + c + d


def _are_uints(*types: Type, **_attrs: object) -> bool:
    return all(t == UINT for t in types)


def _effects(*types: Type, **_attrs: object) -> Effect:
    return Effect.PURE if _are_uints(*types) else Effect.CALL


def _halves(e: Emitter, a: V, b: V, c: V, d: V) -> tuple[V, V]:
    """The high and the low 64 bits."""
    (a1, a0), (b1, b0) = ((e.shr(x, _HALF), e.bit_and(x, _LOW)) for x in (a, b))
    lowest, one, other = e.mul(a0, b0), e.mul(a1, b0), e.mul(a0, b1)
    middle = e.add(e.add(e.shr(lowest, _HALF), e.bit_and(one, _LOW)), e.bit_and(other, _LOW))
    high = e.add(e.mul(a1, b1), e.add(e.shr(one, _HALF), e.shr(other, _HALF)))
    high, low = e.add(high, e.shr(middle, _HALF)), e.mul(a, b)
    for x in (c, d):
        low, carries = e.add_overflow(low, x)
        high = e.add(high, e.select(carries, e.const(UINT, 1), e.const(UINT, 0)))
    return high, low


def _lower_high(e: Emitter, a: V, b: V, c: V, d: V, *, count: int) -> V:
    high, _ = _halves(e, a, b, c, d)
    return e.shr(high, e.const(UINT, count - 64))


def _lower_mod(e: Emitter, a: V, b: V, c: V, d: V, divisor: V) -> V:
    e.bail_if(e.compare("eq", divisor, 0), "division by zero")
    high, low = _halves(e, a, b, c, d)
    is_less = e.compare("lt", high, divisor)
    above = e.branch(is_less, lambda: high, lambda: e.rem(high, divisor))
    is_short = e.compare("eq", above, 0)
    return e.branch(is_short, lambda: e.rem(low, divisor), lambda: _rest(e, above, low, divisor))


def _rest(e: Emitter, high: V, low: V, divisor: V) -> V:
    """The remainder of a number of 128 bits whose high half is less than the divisor: digits of 32 bits (Knuth's D).

    Numbers are shifted for the divisor to have its highest bit set, so that a guess of a digit is too large by two at
    most.
    """
    shift = e.intrinsic("ctlz", divisor)
    divisor = e.shl(divisor, shift)
    # by 64 - shift, in two steps: the shift may be 0
    moved = e.shr(e.shr(low, 1), e.sub(e.const(UINT, 63), shift))
    rest, low = e.bit_or(e.shl(high, shift), moved), e.shl(low, shift)
    for digit in (e.shr(low, _HALF), e.bit_and(low, _LOW)):
        rest = _less_multiple(e, rest, digit, divisor)
    return e.shr(rest, shift)


def _less_multiple(e: Emitter, rest: V, digit: V, divisor: V) -> V:
    """The remainder of ``rest << 32 | digit``."""
    first, second = e.shr(divisor, _HALF), e.bit_and(divisor, _LOW)
    guess = e.div(rest, first)
    left = e.sub(rest, e.mul(guess, first))
    for _ in range(2):
        exceeds = e.compare("gt", e.mul(guess, second), e.bit_or(e.shl(left, _HALF), digit))
        is_large = e.bit_or(e.compare("gt", guess, _LOW), exceeds)
        is_large = e.bit_and(is_large, e.compare("le", left, _LOW))
        guess = e.select(is_large, e.sub(guess, 1), guess)
        left = e.select(is_large, e.add(left, first), left)
    return e.sub(e.bit_or(e.shl(rest, _HALF), digit), e.mul(guess, divisor))


def _op(name: str, doc: str, schema: str, evaluate: Callable[..., Any], **fields: Any) -> None:
    declare(
        OpDef(f"wide::{name}", Schema(schema), doc, evaluate=evaluate, effects=_effects, **fields)
    )


_op(
    "product",
    "``a * b + c + d``, exact, as an object of Python's.",
    "(a, b, c, d, /)",
    _exact,
    infer=lambda *_types: ANY,
    lower=lambda e, *xs: e.call_boxed(_exact, xs),
    can_lower=_are_uints,
    gives_objects=True,
    in_products="product",
)
_op(
    "product_high",
    "``a * b + c + d >> count`` for a constant from 64 to 127.",
    "(a, b, c, d, /, *, count)",
    lambda *xs, count: _exact(*xs) >> count,
    infer=lambda *types, count: UINT if _are_uints(*types) else ANY,
    lower=_lower_high,
    can_lower=_are_uints,
)
_op(
    "product_mod",
    "``(a * b + c + d) % divisor``",
    "(a, b, c, d, divisor, /)",
    lambda *xs: _exact(*xs[:4]) % xs[4],
    infer=lambda *types: UINT if _are_uints(*types) else ANY,
    lower=_lower_mod,
    can_lower=_are_uints,
    samples=[(*xs, m) for xs in _LARGE for m in (2**63, 2**64 - 59, _MASK, 2**63 + 2**32)],
)
