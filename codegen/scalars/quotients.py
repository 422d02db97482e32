"""Quotients of integers in loops that LLVM makes vectors of: without division, which machines have no vectors for.

One `sdiv` makes a whole loop one of single elements. A quotient of numbers of 8 or 16 bits is that of their float32, of
32 bits that of their float64, without what is behind the point. That is exact: a quotient that is not whole is at least
1/y away from the next whole number, and rounding moves it by less, as the float has more bits than x and y. One of 64
bits is found in two steps: what the quotient of the floats leaves is divided once more. What stays the same in a loop
divides numbers of 8, 16 and 64 bits by way of its reciprocal (`reciprocals.py`).
"""

from __future__ import annotations

from collections.abc import Sequence

from ljit.codegen.llvm.builder import FunctionBuilder, Ref, float_constant, integer
from ljit.codegen.llvm.engine import vector_bytes
from ljit.codegen.scalars.reciprocals import floor_divide_by_same

__all__ = ["divide", "floor_divide", "take_remainder"]

_SHORT = ("i8", "i16")  # whose products machines have the high halves of
_FLOATS = {"i8": "float", "i16": "float", "i32": "double"}
# the last bit of a sum with these counts ones
_WHOLE = {"float": 1.5 * 2.0**23, "double": 1.5 * 2.0**52}
_WHOLE_BITS = 0x4338000000000000  # of the float64
_BITS = {"float": "i32", "double": "i64"}
_SUFFIX = {"float": "f32", "double": "f64"}
_WIDE = 32  # bytes of vectors in which four products take less than one of 128 bits
_WIDEST = 64  # ... and that numbers of 64 bits become floats in, and back
# times which a quotient that was rounded four times is not above the exact one
_LESS = 1 - 2.0**-50


def divide(f: FunctionBuilder, x: Ref, y: Ref, *, signed: bool) -> Ref:
    """The truncated quotient; like the instruction, undefined for a divisor of 0 and where it does not fit."""
    if _is_by_way_of_floats(f, x, y):
        sign = "s" if signed else "u"
        ratio = _float_operation(f, "fdiv", *_as_floats(f, (x, y), signed=signed))
        return f.convert("trunc", f.convert(f"fpto{sign}i", ratio, "i32"), x.type)
    return f.binary("sdiv" if signed else "udiv", x, y)


def take_remainder(f: FunctionBuilder, x: Ref, y: Ref, *, signed: bool) -> Ref:
    """What the truncated quotient leaves."""
    if not _is_by_way_of_floats(f, x, y):
        return f.binary("srem" if signed else "urem", x, y)
    return f.binary("sub", x, f.binary("mul", divide(f, x, y, signed=signed), y))


def floor_divide(f: FunctionBuilder, x: Ref, y: Ref, *, signed: bool) -> Ref | None:
    """The floored quotient, if that is found faster than the truncated one; anything for a divisor of 0."""
    is_same = f.is_invariant(y) and y.constant != 0
    if is_same and _is_by_way_of_products(x, y):
        return floor_divide_by_same(f, x, y, signed=signed)
    if _is_by_way_of_floats(f, x, y):
        return _floor_divide_floats(f, x, y, signed=signed)
    if f.has_vectors and x.type == "i64" and y.constant is None and vector_bytes() >= _WIDEST:
        return _floor_divide_twice(f, x, y, signed=signed)
    return None


def _floor_divide_floats(f: FunctionBuilder, x: Ref, y: Ref, *, signed: bool) -> Ref:
    """``(x + h) / y - 1/2``, rounded, where h is a half with the sign of y.

    Before it is rounded, that is at least a half of 1/y away from what would be rounded the other way.
    """
    a, b = _as_floats(f, (x, y), signed=signed)
    half = float_constant(a.type, 0.5)
    turned = _float_call(f, "copysign", half, b) if signed else half
    if f.is_invariant(b):
        inverse = _float_operation(f, "fdiv", float_constant(a.type, 1.0), b)
        shift = _float_operation(f, "fsub", _float_operation(f, "fmul", turned, inverse), half)
        ratio = _float_call(f, "fmuladd", a, inverse, shift)
    else:
        ratio = _float_operation(f, "fdiv", _float_operation(f, "fadd", a, turned), b)
        ratio = _float_operation(f, "fsub", ratio, half)
    whole = _float_operation(f, "fadd", ratio, float_constant(a.type, _WHOLE[a.type]))
    bits = f.compute(_BITS[a.type], f"bitcast {whole.typed} to {_BITS[a.type]}")
    return f.convert("trunc", bits, x.type)


def _floor_divide_twice(f: FunctionBuilder, x: Ref, y: Ref, *, signed: bool) -> Ref:
    """The quotient of i64 by way of float64, and that of what it leaves, which is at most about 2**14.

    The first one is not too large, so that what it leaves has the sign of x and fits.
    """
    divisor = f.select(f.icmp("eq", y, 0), integer("i64", 1), y)
    a, b = _as_floats(f, (x, divisor), signed=signed)
    inverse = _float_operation(f, "fdiv", float_constant("double", 1.0), b)
    first = _whole_below(f, _float_operation(f, "fmul", a, inverse), signed=signed)
    rest = f.binary("sub", x, f.binary("mul", first, divisor))
    (left,) = _as_floats(f, (rest,), signed=signed)
    ratio = _float_operation(f, "fmul", left, inverse)
    if not signed:
        second = _whole_below(f, ratio, signed=False)
        rest = f.binary("sub", rest, f.binary("mul", second, divisor))
        more = f.convert("zext", f.icmp("uge", rest, divisor), "i64")
        return f.binary("add", first, f.binary("add", second, more))
    second = _nearest(f, ratio)
    rest = f.binary("sub", rest, f.binary("mul", second, divisor))  # at most half of y, of any sign
    differs = f.icmp("slt", f.binary("xor", rest, divisor), 0)
    less = f.convert("zext", f.binary("and", f.icmp("ne", rest, 0), differs), "i64")
    return f.binary("add", first, f.binary("sub", second, less))


def _whole_below(f: FunctionBuilder, ratio: Ref, *, signed: bool) -> Ref:
    """A whole number that is surely not beyond the exact ratio."""
    less = _float_operation(f, "fmul", ratio, float_constant("double", _LESS))
    return f.convert("fptosi" if signed else "fptoui", less, "i64")


def _nearest(f: FunctionBuilder, ratio: Ref) -> Ref:
    """The whole number next to a ratio of few bits."""
    whole = _float_operation(f, "fadd", ratio, float_constant("double", _WHOLE["double"]))
    bits = f.compute("i64", f"bitcast {whole.typed} to i64")
    return f.binary("sub", bits, _WHOLE_BITS)


def _is_by_way_of_floats(f: FunctionBuilder, x: Ref, y: Ref) -> bool:
    """Whether that is faster: LLVM multiplies instead of dividing by what it knows."""
    return f.has_vectors and x.type in _FLOATS and y.constant is None


def _is_by_way_of_products(x: Ref, y: Ref) -> bool:
    """Whether that is faster where the divisor stays the same."""
    if x.type == "i64":
        return vector_bytes() >= _WIDE
    return x.type in _SHORT and y.constant is None


def _as_floats(f: FunctionBuilder, parts: Sequence[Ref], *, signed: bool) -> list[Ref]:
    opcode = "sitofp" if signed else "uitofp"
    return [f.convert(opcode, part, _FLOATS.get(part.type, "double")) for part in parts]


def _float_operation(f: FunctionBuilder, opcode: str, x: Ref, y: Ref) -> Ref:
    """Written without `float_flags`: it is to be rounded as the proof says."""
    return f.compute(x.type, f"{opcode} {x.typed}, {y}")


def _float_call(f: FunctionBuilder, name: str, *parts: Ref) -> Ref:
    """The intrinsic function of that name."""
    type_ = parts[0].type
    full = f"llvm.{name}.{_SUFFIX[type_]}"
    f.module.declare(full, type_, [part.type for part in parts], "")
    return f.compute(type_, f"call {type_} @{full}({', '.join(part.typed for part in parts)})")
