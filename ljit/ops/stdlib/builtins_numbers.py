"""Python's builtin functions on numbers: abs, round, int, float, bool, complex, divmod, pow."""

from __future__ import annotations

import builtins
import operator
from typing import Any

import numpy as np

from ljit.characters import is_text
from ljit.ir import Effect, Emitter, OpDef, Schema, declare
from ljit.ir.emitter import V
from ljit.ir.range_rules import RangeRules
from ljit.ir.special_methods import SpecialMethods
from ljit.ops.control import CHECKED_IN_FRONT
from ljit.ops.python import arithmetic, compare, powers
from ljit.ops.python.numbers import (
    c_abs,
    is_plain,
    is_real_scalar,
    of_any_width,
    of_either_class,
    plain_effect,
    to_float,
    to_int,
    to_type,
)
from ljit.ops.python.samples import COMPLEXES, NUMBERS, REAL_PAIRS, REALS, each
from ljit.ops.ranges import float_bounds
from ljit.ops.ranges import int_ranges as ranges
from ljit.ops.ranges.int_bounds import is_int, of_type
from ljit.ops.ranges.whole_parts import CONVERT, ROUND
from ljit.types import (
    ANY,
    BOOL,
    CHARACTER,
    COMPLEX,
    FLOAT,
    INT,
    INT_MAX,
    INT_MIN,
    NONE,
    STR,
    ScalarType,
    Type,
    is_number,
)

__all__ = ["float_to_int"]


def _builtin(name: str, schema: str, doc: str, *, op: str = "", **fields: Any) -> OpDef:
    function = getattr(builtins, name)
    fields.setdefault("evaluate", function)
    fields.setdefault("callables", (function,))
    return declare(OpDef(f"py::{op or name}", Schema(schema), doc, **fields))


_REAL_NAMES = ("bool", "int8", "int64", "uint8", "uint64", "float16", "float32", "float64")
_NUMPY_REALS = (
    *(np.dtype(name).type(value) for name in _REAL_NAMES for value in (0, 1)),
    *(
        np.float32(-2.5),
        np.float64("nan"),
        np.float32("inf"),
        np.int64(-(2**63)),
        np.float64(1e300),
    ),
)

# -- abs, divmod, pow ------------------------------------------------------------------------------


def _infer_abs(x: Type) -> Type:
    return FLOAT if x == COMPLEX else arithmetic.infer_sign(x)


def _lower_abs(e: Emitter, x: V) -> V:
    if x.type == COMPLEX:
        return c_abs(e, x)
    if x.type == FLOAT:
        return e.intrinsic("fabs", x)
    x = to_type(e, x, INT)
    if not e.is_proven(ranges.FITS):
        e.bail_if(e.compare("eq", x, INT_MIN), "int overflow")
    return e.select(e.compare("lt", x, 0), e.neg(x), x)


_builtin(
    "abs",
    "(x, /)",
    "``abs(x)``; of a complex number that is too large: OverflowError.",
    infer=_infer_abs,
    lower=_lower_abs,
    can_lower=is_number,
    effects=lambda x: Effect.PURE if is_number(x) and x != COMPLEX else plain_effect(x),
    ranges=ranges.ABSOLUTE,
    is_speculatable=True,
    ignores_class=(INT, FLOAT),
    numpy="np::absolute",
    wide="wide::same",
    special=SpecialMethods("__abs__"),
    samples=each(NUMBERS),
)
_builtin(
    "divmod",
    "(x, y, /)",
    "``divmod(x, y)``",
    infer=arithmetic.infer_divmod,
    lower=arithmetic.lower_divmod,
    can_lower=arithmetic.can_lower_real,
    effects=plain_effect,
    numpy="np::divmod",
    samples=REAL_PAIRS,
)


def _infer_power(base: Type, exp: Type, mod: Type = NONE) -> Type:
    return arithmetic.infer_sub(base, exp) if mod == NONE else ANY


def _can_lower_power(base: Type, exp: Type, mod: Type = NONE) -> bool:
    return mod == NONE and powers.can_lower_pow(base, exp)


_builtin(
    "pow",
    "(base, exp, mod=None)",
    "``pow(base, exp)``: ``base ** exp``.",
    op="pow_call",
    infer=_infer_power,
    lower=lambda e, base, exp, mod=None: powers.lower_pow(e, base, exp),
    can_lower=_can_lower_power,
    effects=plain_effect,
    numpy="np::power_operator",
    is_profiled=True,
    samples=(
        (2, 3),
        (2, -1),
        (2.5, 2),
        (-8.0, 1 / 3),
        (1j, 2),
        (3, 4, 5),
        (0, -1),
        (2, 62),
        (2, 63),
    ),
)

# -- conversions -----------------------------------------------------------------------------------


_INT32 = ScalarType(np.dtype(np.int32))


def float_to_int(e: Emitter, x: V) -> V:
    """Truncate a float; NaN, infinities and what is beyond int64 bail out."""
    if e.is_proven(ranges.IN_32_BITS) and not e.has_long_casts:
        return e.cast(e.cast(x, _INT32, fits=True), INT)
    if any(map(e.is_proven, (ranges.IN_32_BITS, ranges.FITS, CHECKED_IN_FRONT))):
        return e.cast(x, INT, fits=True)
    if e.has_vectors and not e.is_proven(ranges.REFUSED):
        size = e.intrinsic("fabs", x)  # one comparison; the least int leaves, too
        e.bail_if(e.bit_not(e.compare("lt", size, 2.0**63)), "float beyond int64")
        return e.cast(x, INT, fits=True)
    result = e.cast(x, INT)  # what does not fit gives the least int
    if not e.is_proven(ranges.REFUSED):
        e.bail_if(e.compare("eq", result, -(2**63)), "float beyond int64")
    return result


def _is_character(*types: Type) -> bool:
    return types == (CHARACTER,)


def _infer_int(x: Type = INT) -> Type:
    return INT if is_real_scalar(x) or is_text(x) else ANY


def _lower_int(e: Emitter, x: V | None = None) -> V:
    if x is None:
        return e.const(INT, 0)
    if is_text(x.type):
        number, is_read = e.str_number(x) if x.type == STR else _digit(e, x)
        return e.branch(is_read, lambda: number, lambda: e.call_boxed(to_int, (x,)))
    kind = x.type.dtype.kind if isinstance(x.type, ScalarType) else ""
    if kind == "f" or x.type == FLOAT:
        return float_to_int(e, to_float(e, x))
    result = e.cast(x, INT)
    if kind == "u" and of_type(x.type)[1] > INT_MAX:
        e.bail_if(e.compare("lt", result, 0), "beyond int64")
    return result


def _digit(e: Emitter, c: V) -> tuple[V, V]:
    """The value of a digit of ASCII, and whether it is one."""
    digit = e.sub(e.text_code(c), ord("0"))
    is_behind = e.compare("ge", digit, 0)
    return digit, e.bit_and(is_behind, e.compare("le", digit, 9))


def _effect_of_conversion(*args: Type) -> Effect:
    return Effect.RAISE if all(is_plain(t) or is_real_scalar(t) for t in args) else Effect.CALL


def _effect_of_int(*args: Type) -> Effect:
    """Ints of some kind are ints, floats need not be."""
    return Effect.PURE if len(args) == 1 and is_int(args[0]) else _effect_of_conversion(*args)


def _effect_of_exact_conversion(*args: Type) -> Effect:
    return Effect.PURE if all(map(is_real_scalar, args)) else _effect_of_conversion(*args)


_builtin(
    "int",
    "(x=0, /)",
    "``int(x)``: truncates floats; NaN and infinities raise.",
    evaluate=to_int,
    wide="wide::same",
    infer=_infer_int,
    takes_characters=_is_character,
    lower=_lower_int,
    ranges=CONVERT,
    can_lower=lambda x=INT: _infer_int(x) == INT,
    effects=_effect_of_int,
    number_type=of_any_width,
    is_profiled=True,
    checks_can_wait=True,
    special=SpecialMethods("__int__", exact=INT),
    samples=(
        *(*each((*REALS, *_NUMPY_REALS)), (), (1j,), (2**70,)),
        *each(("12", "-5", "0", "-0", "007", "", "-", "+4", " 12\n", "1_0", "x", "3x")),
        *each(("\u0663", "\xb2", "9" * 18, "-" + "9" * 18, "9" * 19, "1\x00", "--1", "1.5")),
    ),
)
_builtin(
    "float",
    "(x=0.0, /)",
    "``float(x)``",
    wide="wide::float",
    infer=lambda x=FLOAT: FLOAT,
    lower=lambda e, x=None: e.const(FLOAT, 0.0) if x is None else to_float(e, x),
    can_lower=lambda x=FLOAT: is_real_scalar(x),
    effects=_effect_of_exact_conversion,
    ranges=RangeRules(floats=float_bounds.of_first),
    number_type=of_either_class,
    special=SpecialMethods("__float__", exact=FLOAT),
    samples=(*each((*REALS, *_NUMPY_REALS)), (), ("1.5",), ("x",), (1j,), (2**70,), (10**400,)),
)
_builtin(
    "bool",
    "(x=False, /)",
    "``bool(x)``",
    wide="wide::truth",
    infer=lambda x=BOOL: BOOL,
    lower=lambda e, x=None: e.const(BOOL, False) if x is None else compare.lower_truth(e, x),
    can_lower=lambda x=BOOL: compare.can_lower_truth(x),
    effects=lambda x=BOOL: compare.effect_of_truth(x),
    fold=lambda types, constants: compare.fold_truth(types, constants) if types else False,
    samples=(*each((*NUMBERS, *_NUMPY_REALS, None, "", (), [1])), ()),
)


def _infer_complex(real: Type = FLOAT, imag: Type = FLOAT) -> Type:
    return COMPLEX


def _can_lower_complex(real: Type = FLOAT, imag: Type = FLOAT) -> bool:
    return is_real_scalar(imag) and (is_real_scalar(real) or real == COMPLEX)


def _lower_complex(e: Emitter, real: V | None = None, imag: V | None = None) -> V:
    """``complex(z, y)`` adds ``y * 1j`` to z; without y the sign of a zero stays."""
    zero = e.const(FLOAT, 0.0)
    y = zero if imag is None else to_float(e, imag)
    if real is None:
        return e.complex(zero, y, COMPLEX)
    if real.type == COMPLEX:
        return real if imag is None else e.complex(e.real(real), e.add(e.imag(real), y), COMPLEX)
    return e.complex(to_float(e, real), y, COMPLEX)


_builtin(
    "complex",
    "(real=0, imag=0)",
    "``complex(real, imag)``",
    infer=_infer_complex,
    lower=_lower_complex,
    can_lower=_can_lower_complex,
    effects=lambda *args: (
        Effect.PURE if _can_lower_complex(*args) else _effect_of_conversion(*args)
    ),
    samples=(
        *(*REAL_PAIRS[::2], *each((*REALS, *COMPLEXES, *_NUMPY_REALS)), (), ("1j",), (None,)),
        *((1 + 1j, 2.5), (complex(-0.0, -0.0), -0.0), (np.float32(1.5), np.int8(3)), (1, 1j)),
    ),
)

# -- round and sum ---------------------------------------------------------------------------------


def _infer_round(number: Type, ndigits: Type = NONE) -> Type:
    if isinstance(number, ScalarType):
        return INT if ndigits == NONE and number.dtype.kind in "iuf" else ANY
    if number in (BOOL, INT):
        return INT if ndigits in (NONE, BOOL, INT) else ANY
    if number != FLOAT:
        return ANY
    return INT if ndigits == NONE else FLOAT if ndigits in (BOOL, INT) else ANY


def _can_lower_round(number: Type, ndigits: Type = NONE) -> bool:
    return ndigits == NONE and _infer_round(number) == INT


def _lower_round(e: Emitter, number: V, ndigits: V | None = None) -> V:
    if number.type in (BOOL, INT):
        return to_type(e, number, INT)
    if number.type == FLOAT or number.type.dtype.kind == "f":
        return float_to_int(e, e.intrinsic("rint", to_float(e, number)))
    return _lower_int(e, number)


_builtin(
    "round",
    "(number, ndigits=None)",
    "``round(x)``: to the nearest int, halves to even.",
    infer=_infer_round,
    lower=_lower_round,
    can_lower=_can_lower_round,
    ranges=ROUND,
    effects=_effect_of_conversion,
    number_type=lambda *types: of_either_class(*types) if len(types) == 1 else None,
    is_profiled=True,
    checks_can_wait=True,
    samples=(
        *(*each(REALS), *((x, n) for x in REALS[::2] for n in (0, 2, -1, True))),
        *((2.5, None), (0.49999999999999994,), (1j,), (np.float64(2.55), 1), ("a",), (7, 400)),
        *(*each(_NUMPY_REALS), (np.float32(3.5), None), (np.uint64(2**63 + 5),)),
    ),
)

# -- parts of numbers ------------------------------------------------------------------------------


def _method(name: str, schema: str, doc: str, **fields: Any) -> OpDef:
    return declare(OpDef(f"py::{name}", Schema(schema), doc, **fields))


def _real_part_type(x: Type) -> Type:
    return FLOAT if x == COMPLEX else arithmetic.infer_sign(x)


def _effect_of_part(x: Type) -> Effect:
    return Effect.PURE if is_number(x) else Effect.CALL


_PYTHON_NUMBERS = ("bool", "int", "float", "complex")

_method(
    "real",
    "(x)",
    "``x.real``",
    infer=_real_part_type,
    evaluate=operator.attrgetter("real"),
    lower=lambda e, x: e.real(x) if x.type == COMPLEX else arithmetic.lower_pos(e, x),
    can_lower=is_number,
    effects=_effect_of_part,
    attributes=tuple(f"{name}.real" for name in _PYTHON_NUMBERS),
    samples=each(NUMBERS),
)
_method(
    "imag",
    "(x)",
    "``x.imag``",
    infer=_real_part_type,
    evaluate=operator.attrgetter("imag"),
    lower=lambda e, x: e.imag(x) if x.type == COMPLEX else e.const(_real_part_type(x.type), 0),
    can_lower=is_number,
    effects=_effect_of_part,
    attributes=tuple(f"{name}.imag" for name in _PYTHON_NUMBERS),
    samples=each(NUMBERS),
)


def _lower_conjugate(e: Emitter, x: V) -> V:
    if x.type != COMPLEX:
        return arithmetic.lower_pos(e, x)
    return e.complex(e.real(x), e.neg(e.imag(x)), COMPLEX)


_method(
    "conjugate",
    "(x, /)",
    "``x.conjugate()``",
    infer=arithmetic.infer_sign,
    evaluate=operator.methodcaller("conjugate"),
    lower=_lower_conjugate,
    can_lower=is_number,
    effects=_effect_of_part,
    methods=tuple(f"{name}.conjugate" for name in _PYTHON_NUMBERS),
    samples=each(NUMBERS),
)
