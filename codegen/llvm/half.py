"""Conversions to and from half for which LLVM calls a library that CPython is not linked with.

Above 2**-14 the double's exponent is rebased and its significand rounded to even in integers; below, adding
2**52 to the value in units of 2**-24 rounds to an integer.
"""

from __future__ import annotations

import re

__all__ = ["HALF_CONVERSIONS", "HALF_NAMES", "HALF_TYPE"]

HALF_CONVERSIONS = """
define half @__truncdfhf2(double %x) {
  %bits = bitcast double %x to i64
  %top = lshr i64 %bits, 48
  %sign = and i64 %top, 32768
  %abs = and i64 %bits, 9223372036854775807
  %rebased = sub i64 %abs, 4539628424389459968
  %shifted = lshr i64 %rebased, 42
  %odd = and i64 %shifted, 1
  %nearly = add i64 %rebased, 2199023255551
  %rounded = add i64 %nearly, %odd
  %normal = lshr i64 %rounded, 42
  %value = bitcast i64 %abs to double
  %units = fmul double %value, 16777216.0
  %magic = fadd double %units, 4503599627370496.0
  %magic.bits = bitcast double %magic to i64
  %subnormal = and i64 %magic.bits, 4095
  %is.small = icmp ult i64 %abs, 4544132024016830464
  %finite = select i1 %is.small, i64 %subnormal, i64 %normal
  %is.big = icmp uge i64 %abs, 4679238012831137792
  %or.inf = select i1 %is.big, i64 31744, i64 %finite
  %is.nan = fcmp uno double %x, 0.0
  %magnitude = select i1 %is.nan, i64 32256, i64 %or.inf
  %all = or i64 %magnitude, %sign
  %small = trunc i64 %all to i16
  %half = bitcast i16 %small to half
  ret half %half
}
define half @__truncsfhf2(float %x) {
  %wide = fpext float %x to double
  %half = call half @__truncdfhf2(double %wide)
  ret half %half
}
define float @__extendhfsf2(half %x) {
  %bits = bitcast half %x to i16
  %wide = zext i16 %bits to i32
  %sign.low = and i32 %wide, 32768
  %sign = shl i32 %sign.low, 16
  %abs = and i32 %wide, 32767
  %moved = shl i32 %abs, 13
  %rebased = add i32 %moved, 939524096
  %count = uitofp i32 %abs to float
  %subnormal = fmul float %count, 0x3E70000000000000
  %subnormal.bits = bitcast float %subnormal to i32
  %is.small = icmp ult i32 %abs, 1024
  %finite = select i1 %is.small, i32 %subnormal.bits, i32 %rebased
  %infinite = add i32 %moved, 1879048192
  %is.big = icmp uge i32 %abs, 31744
  %magnitude = select i1 %is.big, i32 %infinite, i32 %finite
  %all = or i32 %magnitude, %sign
  %float = bitcast i32 %all to float
  ret float %float
}
"""
HALF_TYPE = re.compile(r"half\b(?<![%\w.]half)")  # begins with the word: all texts are searched
HALF_NAMES = ("__truncdfhf2", "__truncsfhf2", "__extendhfsf2")
