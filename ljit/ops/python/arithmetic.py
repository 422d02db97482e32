"""Infer rules and lowerings of ``+ - * / // % divmod`` and the signs on Python's numbers.

Also of what ``+`` and ``*`` mean for str, tuple and list, which are boxed calls except tuple + tuple.
"""

from __future__ import annotations

from collections.abc import Callable

from ljit.characters import is_text
from ljit.ir import Effect, Emitter
from ljit.ir.emitter import V
from ljit.ops.python.numbers import (
    MIXED_COMPLEX,
    UINT64,
    all_numbers,
    are_python_operands,
    arithmetic_type,
    bail_if_inexact,
    c_mul,
    c_quot,
    float_rem,
    plain_effect,
    shift_of,
    to_common_type,
    to_float,
    to_type,
)
from ljit.ops.ranges.int_products import ROOM, has_room
from ljit.ops.ranges.int_ranges import BELOW, FITS, NEAR, NONNEGATIVE, NONZERO, POSITIVE, REFUSED
from ljit.packed_types import is_packed
from ljit.types import (
    ANY,
    BOOL,
    COMPLEX,
    FLOAT,
    INT,
    INT_MAX,
    INT_MIN,
    STR,
    ListType,
    TupleType,
    Type,
    is_number,
    join_items,
    tuple_of,
)

__all__ = [
    "can_lower_add",
    "can_lower_number",
    "can_lower_real",
    "effect_of_add",
    "effect_of_add_in_place",
    "effect_of_mod",
    "effect_of_mul",
    "effect_of_mul_in_place",
    "effect_of_sign",
    "effect_of_sub",
    "infer_add",
    "infer_divmod",
    "infer_mod",
    "infer_mul",
    "infer_real_division",
    "infer_sign",
    "infer_sub",
    "infer_truediv",
    "lower_add",
    "lower_divmod",
    "lower_floordiv",
    "lower_mod",
    "lower_mul",
    "lower_neg",
    "lower_pos",
    "lower_sub",
    "lower_truediv",
]

# -- types -----------------------------------------------------------------------------------------


def infer_sub(x: Type, y: Type) -> Type:
    """Infer arithmetic that exists for numbers only."""
    return arithmetic_type(x, y) if are_python_operands(x, y) else ANY


def infer_add(x: Type, y: Type) -> Type:
    """Infer ``x + y``."""
    if x == STR and is_text(y):
        return STR
    if isinstance(x, TupleType) and isinstance(y, TupleType):
        return tuple_of(x.items + y.items)
    if isinstance(x, ListType) and isinstance(y, ListType):
        return ListType(join_items(x.item, y.item))
    return infer_sub(x, y)


def _is_repeated(t: Type) -> bool:
    return t == STR or isinstance(t, ListType) or is_packed(t)


def infer_mul(x: Type, y: Type) -> Type:
    """Infer ``x * y``."""
    for sequence, count in ((x, y), (y, x)):
        if count in (BOOL, INT) and _is_repeated(sequence):
            return sequence
    return infer_sub(x, y)


def infer_truediv(x: Type, y: Type) -> Type:
    """Infer ``x / y``."""
    return join_float(infer_sub(x, y))


def join_float(t: Type) -> Type:
    """Give the type of a quotient of operands of type `t`."""
    return FLOAT if t == INT else t


def infer_real_division(x: Type, y: Type) -> Type:
    """Infer ``x // y``, which complex numbers do not have."""
    result = infer_sub(x, y)
    return ANY if result == COMPLEX else result


def infer_mod(x: Type, y: Type) -> Type:
    """Infer ``x % y``."""
    return STR if x == STR else infer_real_division(x, y)


def infer_divmod(x: Type, y: Type) -> Type:
    """Infer ``divmod(x, y)``."""
    result = infer_real_division(x, y)
    return ANY if result == ANY else TupleType((result, result))


def infer_sign(x: Type) -> Type:
    """Infer ``-x`` and ``+x``."""
    return arithmetic_type(x) if is_number(x) else ANY


def can_lower_number(*types: Type) -> bool:
    """Whether the operands are numbers that are converted to a common type first."""
    if not are_python_operands(*types):
        return False
    return MIXED_COMPLEX or COMPLEX not in types or set(types) == {COMPLEX}


def can_lower_add(x: Type, y: Type) -> bool:
    """Whether ``x + y`` has native code."""
    return can_lower_number(x, y) or isinstance(infer_add(x, y), TupleType)


def can_lower_real(*types: Type) -> bool:
    """Whether all are real numbers."""
    return all_numbers(*types) and COMPLEX not in types


# -- effects ---------------------------------------------------------------------------------------


def effect_of_sub(x: Type, y: Type) -> Effect:
    """Numbers: pure, since an int result that overflows is not a value of type int but a bailout."""
    return Effect.PURE if are_python_operands(x, y) else plain_effect(x, y)


def effect_of_add(x: Type, y: Type) -> Effect:
    """Lists are read and made; their items are not touched."""
    if isinstance(x, ListType) and isinstance(y, ListType):
        return Effect.READ | Effect.ALLOC
    return (
        Effect.PURE
        if isinstance(infer_add(x, y), TupleType) or x == y == STR
        else effect_of_sub(x, y)
    )


def effect_of_add_in_place(x: Type, y: Type) -> Effect:
    """``x += y`` extends a list, and a str that nobody else has."""
    if x == STR and is_text(y):
        return Effect.WRITE | Effect.RAISE
    return Effect.CALL if isinstance(x, ListType) else effect_of_add(x, y)


def effect_of_mul(x: Type, y: Type) -> Effect:
    """Lists are read and made."""
    if isinstance(infer_mul(x, y), ListType):
        return Effect.READ | Effect.ALLOC
    return effect_of_sub(x, y)


def effect_of_mul_in_place(x: Type, y: Type) -> Effect:
    """``x *= y`` repeats a list in place."""
    return Effect.CALL if isinstance(x, ListType) else effect_of_mul(x, y)


def effect_of_mod(x: Type, y: Type) -> Effect:
    """``x % y`` of numbers may raise, formatting plain values too."""
    return plain_effect(x, y)


def effect_of_sign(x: Type) -> Effect:
    """Signs of numbers are pure."""
    return Effect.PURE if is_number(x) else plain_effect(x)


# -- + - * -----------------------------------------------------------------------------------------


def _checked(e: Emitter, operation: Callable[[V, V], tuple[V, V]], x: V, y: V) -> V:
    """Compute on ints; a result beyond int64 bails out."""
    result, overflows = operation(x, y)
    e.bail_if(overflows, "int overflow")
    return result


def _sum(e: Emitter, x: V, y: V, plain: Callable[..., V], checked: Callable[..., tuple[V, V]]) -> V:
    """Compute on numbers: on ints that may overflow with a check, on those that cannot without."""
    if x.type != INT:
        return plain(x, y)
    if e.is_proven(REFUSED):
        return plain(x, y)
    return plain(x, y, fits=True) if e.is_proven(FITS) else _checked(e, checked, x, y)


def lower_add(e: Emitter, x: V, y: V) -> V:
    """Lower ``x + y``."""
    if isinstance(x.type, TupleType):
        return e.tuple_make([*e.tuple_items(x), *e.tuple_items(y)])
    x, y = to_common_type(e, x, y)
    return _sum(e, x, y, e.add, e.add_overflow)


def lower_sub(e: Emitter, x: V, y: V) -> V:
    """Lower ``x - y``."""
    x, y = to_common_type(e, x, y)
    return _sum(e, x, y, e.sub, e.sub_overflow)


def lower_mul(e: Emitter, x: V, y: V) -> V:
    """Lower ``x * y``."""
    x, y = to_common_type(e, x, y)
    if x.type == COMPLEX:
        return c_mul(e, x, y)
    if x.type == INT and not e.is_proven(FITS):
        for number, factor in ((x, e.constant_of(y)), (y, e.constant_of(x))):
            if factor == 2:  # of a product, LLVM would make a test of the other factor
                return _checked(e, e.add_overflow, number, number)
            if factor is not None and has_room(factor):
                _bail_unless_roomy(e, number, factor)
                return e.mul(x, y, fits=True)
    return _sum(e, x, y, e.mul, e.mul_overflow)


def _bail_unless_roomy(e: Emitter, x: V, factor: int) -> None:
    """Leave if a product is not `ROOM` away from what does not fit."""
    most = (INT_MAX - ROOM) // factor
    too_low = e.compare("lt", x, -most)
    too_high = e.compare("gt", x, most)
    e.bail_if(e.bit_or(too_low, too_high), "int overflow")


def lower_neg(e: Emitter, x: V) -> V:
    """Lower ``-x``."""
    x = to_type(e, x, arithmetic_type(x.type))
    if x.type != INT:
        return e.neg(x)
    return _sum(e, e.const(INT, 0), x, e.sub, e.sub_overflow)


def lower_pos(e: Emitter, x: V) -> V:
    """Lower ``+x``."""
    return to_type(e, x, arithmetic_type(x.type))


# -- division --------------------------------------------------------------------------------------


def lower_truediv(e: Emitter, x: V, y: V) -> V:
    """Lower ``x / y``. Ints divide as floats, which rounds once only if both are floats exactly."""
    x, y = to_common_type(e, x, y)
    if x.type == COMPLEX:
        return c_quot(e, x, y)
    if x.type == INT:
        bail_if_inexact(e, x)
        bail_if_inexact(e, y)
        x, y = to_float(e, x), to_float(e, y)
    _bail_if_zero(e, y)
    return e.div(x, y)


def _bail_if_zero(e: Emitter, y: V) -> None:
    if not e.is_proven(NONZERO):
        e.bail_if(e.compare("eq", y, 0), "division by zero")


def lower_floordiv(e: Emitter, x: V, y: V) -> V:
    """Lower ``x // y``."""
    x, y = to_common_type(e, x, y)
    _bail_if_zero(e, y)
    return _int_floordiv(e, x, y) if x.type == INT else _float_divmod(e, x, y)[0]


def lower_mod(e: Emitter, x: V, y: V) -> V:
    """Lower ``x % y``."""
    x, y = to_common_type(e, x, y)
    _bail_if_zero(e, y)
    return _int_mod(e, x, y) if x.type == INT else _float_mod(e, x, y)


def lower_divmod(e: Emitter, x: V, y: V) -> V:
    """Lower ``divmod(x, y)``."""
    x, y = to_common_type(e, x, y)
    _bail_if_zero(e, y)
    if x.type == INT:
        quotient = _int_floordiv(e, x, y)
        return e.tuple_make([quotient, e.sub(x, e.mul(quotient, y))])
    return e.tuple_make(_float_divmod(e, x, y))


def _int_floordiv(e: Emitter, x: V, y: V) -> V:
    shift = shift_of(e, y)
    if shift is not None:
        return e.shr(x, shift)
    if e.is_proven(POSITIVE):
        if e.is_proven(NONNEGATIVE):
            return _unsigned(e, e.div, x, y)
        quotient = e.div(x, y)
        rest = e.sub(x, e.mul(quotient, y))
        is_below = e.compare("lt", rest, 0)
        return e.select(is_below, e.sub(quotient, 1), quotient)
    smallest = e.compare("eq", x, INT_MIN)
    minus_one = e.compare("eq", y, -1)
    e.bail_if(e.bit_and(smallest, minus_one), "int overflow")
    quotient = e.div(x, y)
    rest = e.sub(x, e.mul(quotient, y))
    return e.select(_needs_floor(e, rest, y), e.sub(quotient, 1), quotient)


def _unsigned(e: Emitter, operation: Callable[[V, V], V], x: V, y: V) -> V:
    """Divide numbers that are not negative: LLVM, which does not know, need not correct for signs."""
    return e.retype(operation(e.retype(x, UINT64), e.retype(y, UINT64)), INT)


def _int_mod(e: Emitter, x: V, y: V) -> V:
    shift = shift_of(e, y)
    if shift is not None:
        return e.bit_and(x, (1 << shift) - 1)
    if e.is_proven(NEAR):
        return _near_remainder(e, x, y)
    if e.is_proven(POSITIVE):
        if e.is_proven(NONNEGATIVE):
            return _unsigned(e, e.rem, x, y)
        rest = e.rem(x, y)
        return e.select(e.compare("lt", rest, 0), e.add(rest, y), rest)
    minus_one = e.compare("eq", y, -1)
    rest = e.rem(x, e.select(minus_one, 1, y))  # MIN % -1 would trap
    return e.select(_needs_floor(e, rest, y), e.add(rest, y), rest)


def _near_remainder(e: Emitter, x: V, y: V) -> V:
    """``x % y`` for ``-y <= x < 2 * y``, without a division."""
    if not e.is_proven(NONNEGATIVE):
        x = e.select(e.compare("lt", x, 0), e.add(x, y), x)
    if e.is_proven(BELOW):
        return x
    return e.select(e.compare("lt", x, y), x, e.sub(x, y))


def _needs_floor(e: Emitter, rest: V, y: V) -> V:
    """Whether the truncated quotient is one too large: the remainder's sign is not the divisor's."""
    nonzero = e.compare("ne", rest, 0)
    return e.bit_and(nonzero, e.bit_xor(e.compare("lt", rest, 0), e.compare("lt", y, 0)))


def _float_mod(e: Emitter, x: V, y: V) -> V:
    """As `float_rem` of CPython: fmod, then the sign of the divisor."""
    zero = e.const(FLOAT, 0.0)
    rest = float_rem(e, x, y)
    fixed = e.select(_needs_floor(e, rest, y), e.add(rest, y), rest)
    return e.select(e.compare("eq", rest, zero), e.intrinsic("copysign", zero, y), fixed)


def _float_divmod(e: Emitter, x: V, y: V) -> tuple[V, V]:
    """As `_float_div_mod` of CPython: the quotient is snapped to the nearest integer below."""
    zero = e.const(FLOAT, 0.0)
    rest = float_rem(e, x, y)
    exact = e.div(e.sub(x, rest), y)
    needs_floor = _needs_floor(e, rest, y)
    exact = e.select(needs_floor, e.sub(exact, 1.0), exact)
    fixed = e.select(needs_floor, e.add(rest, y), rest)
    fixed = e.select(e.compare("eq", rest, zero), e.intrinsic("copysign", zero, y), fixed)
    floor = e.intrinsic("floor", exact)
    too_low = e.compare("gt", e.sub(exact, floor), 0.5)
    floor = e.select(too_low, e.add(floor, 1.0), floor)
    signed_zero = e.intrinsic("copysign", zero, e.div(x, y))
    return e.select(e.compare("eq", exact, zero), signed_zero, floor), fixed
