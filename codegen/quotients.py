"""Quotients of integers in loops that LLVM makes vectors of: by way of floats, which machines divide as vectors.

They have no instruction that divides vectors of integers, so one `sdiv` makes a whole loop one of single elements. A
quotient of numbers of 8 or 16 bits is that of their float32, of 32 bits that of their float64, without what is behind
the point. That is exact: a quotient that is not whole is at least 1/y away from the next whole number, and rounding
moves it by less, as the float has more bits than x and y.
"""

from __future__ import annotations

from ljit.codegen.builder import FunctionBuilder, Ref

__all__ = ["divide", "take_remainder"]

_FLOATS = {"i8": "float", "i16": "float", "i32": "double"}


def divide(f: FunctionBuilder, x: Ref, y: Ref, *, signed: bool) -> Ref:
    """The truncated quotient; like the instruction, undefined for a divisor of 0 and where it does not fit."""
    if not _is_by_way_of_floats(f, x, y):
        return f.binary("sdiv" if signed else "udiv", x, y)
    sign = "s" if signed else "u"
    type_ = _FLOATS[x.type]
    numerator, denominator = (f.convert(f"{sign}itofp", part, type_) for part in (x, y))
    # written without `float_flags`: it is to be rounded as the proof says
    ratio = f.compute(type_, f"fdiv {numerator.typed}, {denominator}")
    wide = f.convert(f"fpto{sign}i", ratio, "i32")
    return f.convert("trunc", wide, x.type)


def take_remainder(f: FunctionBuilder, x: Ref, y: Ref, *, signed: bool) -> Ref:
    """What the truncated quotient leaves."""
    if not _is_by_way_of_floats(f, x, y):
        return f.binary("srem" if signed else "urem", x, y)
    return f.binary("sub", x, f.binary("mul", divide(f, x, y, signed=signed), y))


def _is_by_way_of_floats(f: FunctionBuilder, x: Ref, y: Ref) -> bool:
    """Whether that is faster: LLVM multiplies instead of dividing by what it knows."""
    return f.has_vectors and x.type in _FLOATS and y.constant is None
