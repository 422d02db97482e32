"""Operands of the trigonometric functions, reduced to ``|r| <= pi/4``.

Up to LIMIT there are no branches and tables (W. J. Cody and W. Waite, "Software Manual for the Elementary Functions",
1980). Larger ones are multiplied by 2/pi in integers, of which only the digits are used that matter (M. H. Payne and
R. N. Hanek, "Radian reduction for trigonometric functions", 1983).
"""

from __future__ import annotations

from ljit.codegen.llvm.refs import byte_array
from ljit.codegen.mathlib.terms import Term, fma

__all__ = ["LIMIT", "reduce", "reduce_huge", "reduce_quickly"]

# pi/2 as a sum of three numbers, each the one nearest to what those before it leave
_HIGH = 1.5707963267948966
_MIDDLE = 6.123233995736766e-17
_LOW = -1.4973849048591833e-33
#: added to a number, it leaves the nearest integer in the low bits of the sum
_TO_INTEGER = 1.5 * 2.0**52

#: up to here the reduced argument is as exact as the functions need; larger ones are rare
LIMIT = 2.0**37


def reduce(x: Term) -> tuple[Term, Term, Term]:
    """Give n in the low bits of an i64 and x - n * pi/2 as the sum of two doubles, for ``0 <= x <= LIMIT``.

    The first difference is exact: its last bit is not below that of pi/2 or `x`, its first not above 1.
    So is the second with its error, since `first` is a multiple of the last place of `product`.
    """
    shifted = fma(x, 0.6366197723675814, _TO_INTEGER)
    n = shifted - _TO_INTEGER
    minus = -n
    first = fma(minus, _HIGH, x)
    product = n * _MIDDLE
    rest = fma(minus, _MIDDLE, product)  # of the product, negated
    high = first - product
    return shifted.bits(), high, fma(minus, _LOW, (first - high) - product + rest)


def reduce_quickly(x: Term) -> tuple[Term, Term]:
    """The same with one double for the difference, exact enough for functions of floats."""
    shifted = fma(x, 0.6366197723675814, _TO_INTEGER)
    n = shifted - _TO_INTEGER
    return shifted.bits(), fma(-n, _MIDDLE, fma(-n, _HIGH, x))


_WINDOW = 192  # bits of 2/pi that a product takes: 53 beyond those that give r to 2**-130
_LEADING = 3  # bytes of zeros in front of the first of 2/pi
_DIGITS = bytes.fromhex(
    "000000a2f9836e4e441529fc2757d1f534ddc0db6295993c439041fe5163abdebbc561b7246e3a424dd2e006492eea09d192"
    "1cfe1deb1cb129a73ee88235f52ebb4484e99c7026b45f7e413991d639835339f49c845f8bbdf9283b1ff897ffde05980fef"
    "2f118b5a0a6d1f6d367ecf27cb09b74f463f669e5fea2d7527bac7ebe5f17b3d0739f78a5292ea6bfb5fb11f8d5d08560330"
)


def reduce_huge(x: Term) -> tuple[Term, Term, Term]:
    """The same for one finite double that is larger than LIMIT.

    ``x = m * 2**e`` for integers. Bits of 2/pi whose product with 2**e is a multiple of 4 are left out, but for less
    than 8: windows begin at bytes. The table is reversed, for machines whose integers begin with the lowest byte.
    """
    bits = x.bits()
    m = ((bits & (2**52 - 1)) | 2**52).convert("zext", f"i{_WINDOW}")
    position = (bits >> 52) - (1075 + 2) + 8 * _LEADING  # of a bit
    table = x.f.module.constant_data(f"[{len(_DIGITS)} x i8]", byte_array(_DIGITS[::-1]))
    last = len(_DIGITS) - _WINDOW // 8
    place = x.f.gep("i8", table, (last - (position >> 3)).ref)
    window = Term(x.f, x.f.load(f"i{_WINDOW}", place, align=1))
    turns = (m * window) << (position & 7).convert("zext", f"i{_WINDOW}")  # 2 bits before the point
    n = (turns + (1 << (_WINDOW - 3))) >> (_WINDOW - 2)
    fraction = ((turns << 2) >> (_WINDOW - 128)).convert("trunc", "i128")
    high, low = _as_doubles(fraction)
    product = high * _HIGH
    rest = fma(high, _HIGH, -product) + fma(high, _MIDDLE, low * _HIGH)
    r = product + rest
    return n.convert("trunc", "i64"), r, (product - r) + rest


def _as_doubles(fraction: Term) -> tuple[Term, Term]:
    """A signed fraction of 128 bits, not 0, as a sum of two doubles."""
    sign = (fraction >> 127).convert("trunc", "i64") << 63
    size = (fraction ^ (0 - (fraction >> 127))) + (fraction >> 127)
    fraction.f.module.declare("llvm.ctlz.i128", "i128", ["i128", "i1"], "")
    zeros = size.new("i128", f"call i128 @llvm.ctlz.i128({size.ref.typed}, i1 true)")
    size = size << zeros
    unit = (1023 - zeros.convert("trunc", "i64") << 52 | sign).as_float()
    parts = (
        (size >> shift).convert("trunc", "i64") & (2**53 - 1) for shift in (128 - 53, 128 - 106)
    )
    high, low = (part.convert("uitofp", "double") for part in parts)
    return high * unit * 2.0**-53, low * unit * 2.0**-106
