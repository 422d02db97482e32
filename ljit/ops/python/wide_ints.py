"""Python's ints in [0, 2**64), as numbers of 64 bits without a sign: hashes, random numbers, bitboards.

The specialiser puts these ops in the place of Python's operators (`OpDef.wide`) where an operand is a `uint`, and the
conversions in front of them (`passes/specializing/wide_forms.py`). Results are exact: one outside of [0, 2**64) leaves
native code. Unless the op `wraps`: then its readers ask for the low 64 bits alone (`passes/drop_high_bits.py`).
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Sequence
from typing import Any

from ljit.ir import Effect, Emitter, OpDef, Schema, declare
from ljit.ir.emitter import V
from ljit.ir.graph import Node
from ljit.ir.linear import Linear
from ljit.ir.range_rules import Bounds, RangeRules, Symbolic
from ljit.ops.control import NO_UINT
from ljit.ops.python.bits import shift_count
from ljit.ops.python.numbers import EXACT_FLOAT
from ljit.ops.ranges import int_ranges as ranges
from ljit.types import ANY, BOOL, FLOAT, INT, UINT, Type

__all__: list[str] = []

_BITS = 2**64
_CHECKED = RangeRules(is_complete=ranges.wraps)
_EXACT = RangeRules(is_complete=lambda _node: True)
_SAMPLES = ((2**63, 2**64 - 1), (2**64 - 1, 2**63), (2**64 - 1, 2**64 - 1), (2**63, 2**63 + 5))


def _signed(x: int) -> int:
    """The int64 with the low 64 bits of an int."""
    return (x + _BITS // 2) % _BITS - _BITS // 2


def _op(
    name: str,
    doc: str,
    evaluate: Callable[..., Any],
    lower: Callable[..., V],
    *,
    takes: Sequence[Type] = (UINT, UINT),
    gives: Type = UINT,
    can_raise: bool = False,
    can_wrap: bool = False,
    **fields: Any,
) -> None:
    """Declare an op on ints of these types, and no others."""
    takes = tuple(takes)

    def low_bits(*xs: int, wraps: bool = False) -> Any:
        return evaluate(*xs) % _BITS if wraps else evaluate(*xs)

    def suits(*types: Type, **_attrs: object) -> bool:
        return types == takes

    effect = Effect.RAISE if can_raise else Effect.PURE
    names = ", ".join("xy"[: len(takes)])
    fields.setdefault("samples", _SAMPLES if takes == (UINT, UINT) else ())
    declare(
        OpDef(
            f"wide::{name}",
            Schema(f"({names}, *, wraps=False)" if can_wrap else f"({names}, /)"),
            doc,
            infer=lambda *types, **_attrs: gives if types == takes else ANY,
            evaluate=low_bits if can_wrap else evaluate,
            lower=lower,
            can_lower=suits,
            effects=lambda *types, **_attrs: effect if types == takes else Effect.CALL,
            **{"is_modular": can_wrap, **fields},
        )
    )


def _operator(
    name: str, sign: str, evaluate: Callable[..., Any], lower: Callable[..., V], **fields: Any
) -> None:
    """Declare a binary operator."""
    _op(name, f"``x {sign} y``", evaluate, lower, **fields)


# -- conversions -----------------------------------------------------------------------------------


def _lower_from_int(e: Emitter, x: V, *, wraps: bool = False) -> V:
    if not wraps:
        e.bail_if(e.compare("lt", x, 0), NO_UINT)
    return e.retype(x, UINT)


def _lower_to_int(e: Emitter, x: V, *, wraps: bool = False) -> V:
    made = e.retype(x, INT)
    if not wraps:
        e.bail_if(e.compare("lt", made, 0), "int beyond int64")
    return made


_op(
    "from_int",
    "An int as one in [0, 2**64); `wraps`: the one with the same low 64 bits.",
    lambda x: x,
    _lower_from_int,
    takes=(INT,),
    can_wrap=True,
    samples=((0,), (5,), (2**63 - 1,)),
    ranges=ranges.FROM_INT,
    checks_can_wait=True,
)
declare(
    OpDef(
        "wide::to_int",
        Schema("(x, *, wraps=False)"),
        "An int in [0, 2**64) as an int64; `wraps`: the one with the same 64 bits.",
        infer=lambda x, *, wraps=False: INT if x == UINT else ANY,
        evaluate=lambda x, *, wraps=False: _signed(x) if wraps else x,
        lower=_lower_to_int,
        can_lower=lambda x, *, wraps=False: x == UINT,
        effects=lambda x, *, wraps=False: Effect.PURE if x == UINT else Effect.CALL,
    )
)
_op(
    "float",
    "``float(x)``",
    float,
    lambda e, x: e.cast(x, FLOAT),
    takes=(UINT,),
    gives=FLOAT,
    samples=((2**63,), (2**64 - 1,), (2**63 + 1025,)),
)
_op("same", "``+x``", lambda x: x, lambda e, x: x, takes=(UINT,), samples=((2**63,),))
_op(
    "object",
    "The int as an object of Python's.",
    lambda x: x,
    lambda e, x: e.widen(x, ANY),
    takes=(UINT,),
    gives=ANY,
    gives_objects=True,
)


# -- arithmetic ------------------------------------------------------------------------------------


def _arithmetic(plain: str, checked: str) -> Callable[..., V]:
    def lower(e: Emitter, x: V, y: V, *, wraps: bool = False) -> V:
        if wraps:
            return getattr(e, plain)(x, y)
        result, overflows = getattr(e, checked)(x, y)
        e.bail_if(overflows, NO_UINT)
        return result

    return lower


def _lower_neg(e: Emitter, x: V, *, wraps: bool = False) -> V:
    if not wraps:
        e.bail_if(e.compare("ne", x, 0), NO_UINT)
    return e.neg(x)


def _lower_invert(e: Emitter, x: V, *, wraps: bool = False) -> V:
    if not wraps:
        e.bail_if(e.const(BOOL, True), NO_UINT)
    return e.bit_not(x)


for _name, _sign, _function, _part, _ranges in (
    ("add", "+", operator.add, "summands", _CHECKED),
    ("sub", "-", operator.sub, None, ranges.WIDE_SUB),
    ("mul", "*", operator.mul, "factors", _CHECKED),
):
    _operator(
        _name,
        _sign,
        _function,
        _arithmetic(_name, f"{_name}_overflow"),
        can_wrap=True,
        in_products=_part,
        samples=(),  # those of two uints beyond int64 leave native code
        ranges=_ranges,
        is_commutative=_name != "sub",
    )
for _name, _sign, _function, _ranges in (
    ("and", "&", operator.and_, ranges.BITS_AND),
    ("or", "|", operator.or_, _EXACT),
    ("xor", "^", operator.xor, ranges.WIDE_XOR),
):
    _operator(
        _name,
        _sign,
        _function,
        lambda e, x, y, *, method=f"bit_{_name}": getattr(e, method)(x, y),
        ranges=_ranges,
        is_modular=True,
        is_commutative=True,
    )
_op(
    "mask",
    "``x & y`` of any int64: what is negative has all high bits, so nothing of `x` may be lost.",
    operator.and_,
    lambda e, x, y: e.bit_and(x, e.retype(y, UINT)),
    takes=(UINT, INT),
    samples=((2**64 - 1, -8), (2**63, -1), (2**63 + 5, 7), (5, -(2**63))),
)
for _name, _sign, _opposite, _lower, _ranges in (
    ("neg", "-", operator.neg, _lower_neg, ranges.WIDE_NEG),
    ("invert", "~", operator.invert, _lower_invert, _CHECKED),
):
    _op(_name, f"``{_sign}x``", _opposite, _lower, takes=(UINT,), can_wrap=True, ranges=_ranges)


def _bail_if_zero(e: Emitter, y: V) -> None:
    e.bail_if(e.compare("eq", y, 0), "division by zero")


def _lower_floordiv(e: Emitter, x: V, y: V) -> V:
    _bail_if_zero(e, y)
    return e.div(x, y)


def _lower_mod(e: Emitter, x: V, y: V) -> V:
    _bail_if_zero(e, y)
    return e.rem(x, y)


def _lower_truediv(e: Emitter, x: V, y: V) -> V:
    """Ints divide as floats, which rounds once only if both are floats exactly."""
    _bail_if_zero(e, y)
    for number in (x, y):
        e.bail_if(e.compare("gt", number, EXACT_FLOAT), NO_UINT)
    return e.div(e.cast(x, FLOAT), e.cast(y, FLOAT))


_operator("truediv", "/", operator.truediv, _lower_truediv, gives=FLOAT, can_raise=True, samples=())
_operator("floordiv", "//", operator.floordiv, _lower_floordiv, can_raise=True)
_operator("mod", "%", operator.mod, _lower_mod, can_raise=True)


# -- shifts ----------------------------------------------------------------------------------------


def _lower_lshift(e: Emitter, x: V, y: V, *, wraps: bool = False) -> V:
    count, is_large = shift_count(e, y)
    count = e.retype(count, UINT)
    result = e.shl(x, count)
    if wraps:
        return e.select(is_large, 0, result)
    e.bail_if(e.bit_and(is_large, e.compare("ne", x, 0)), NO_UINT)
    e.bail_if(e.compare("ne", e.shr(result, count), x), NO_UINT)
    return result


def _lower_rshift(e: Emitter, x: V, y: V) -> V:
    count, is_large = shift_count(e, y)
    return e.select(is_large, 0, e.shr(x, e.retype(count, UINT)))


_SHIFTS = tuple((2**64 - 1, n) for n in (0, 1, 63, 64, 100, -1))
_operator(
    "lshift",
    "<<",
    operator.lshift,
    _lower_lshift,
    takes=(UINT, INT),
    can_raise=True,
    can_wrap=True,
    samples=_SHIFTS,
)
_operator(
    "rshift",
    ">>",
    operator.rshift,
    _lower_rshift,
    takes=(UINT, INT),
    can_raise=True,
    samples=_SHIFTS,
    in_products="high bits",
)


def _high_bits_bounds(_s: Symbolic, node: Node) -> Bounds:
    return 0, (_BITS - 1) >> int(node.attrs["count"])  # type: ignore[call-overload]


def _high_bits_facts(s: Symbolic, node: Node) -> Sequence[Linear]:
    if node.output.type != INT:
        return ()
    low, high = _high_bits_bounds(s, node)
    value = s.value(node.output)
    return value - low, high - value


declare(
    OpDef(
        "wide::high_bits",
        Schema("(x, *, count)"),
        "``x >> count`` for a constant from 1 to 63: an int64.",
        infer=lambda x, *, count: INT if x == UINT else ANY,
        evaluate=lambda x, *, count: x >> count,
        lower=lambda e, x, *, count: e.retype(e.shr(x, count), INT),
        can_lower=lambda x, *, count: x == UINT,
        effects=lambda x, *, count: Effect.PURE if x == UINT else Effect.CALL,
        ranges=RangeRules(
            bounds=_high_bits_bounds, facts=_high_bits_facts, is_complete=lambda _node: True
        ),
    )
)


# -- comparisons -----------------------------------------------------------------------------------

for _name, _sign, _function in (
    ("lt", "<", operator.lt),
    ("le", "<=", operator.le),
    ("gt", ">", operator.gt),
    ("ge", ">=", operator.ge),
    ("eq", "==", operator.eq),
    ("ne", "!=", operator.ne),
):
    _operator(
        _name,
        _sign,
        _function,
        lambda e, x, y, *, predicate=_name: e.compare(predicate, x, y),
        gives=BOOL,
        is_commutative=_name in ("eq", "ne"),
    )
_op(
    "truth",
    "``bool(x)``",
    operator.truth,
    lambda e, x: e.compare("ne", x, 0),
    ranges=ranges.TRUTH,
    takes=(UINT,),
    gives=BOOL,
    samples=((2**63,), (2**64 - 1,)),
)
_op(
    "not",
    "``not x``",
    operator.not_,
    lambda e, x: e.compare("eq", x, 0),
    ranges=ranges.NOT,
    takes=(UINT,),
    gives=BOOL,
    samples=((2**63,), (2**64 - 1,)),
)
