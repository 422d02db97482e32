"""Quotients of integers that are divided by the same number all along: products with its reciprocal.

That is what compilers make of constants (Granlund and Montgomery, "Division by invariant integers using
multiplication"), written of operations that machines have vectors for; LLVM computes what depends on the divisor alone
in front of the loop. Bytes are divided as numbers of 16 bits, of whose products machines give the high halves.
"""

from __future__ import annotations

from ljit.codegen.llvm.builder import FunctionBuilder, ModuleBuilder, Ref, float_constant, integer
from ljit.codegen.llvm.shared_code import shared_function

__all__ = ["floor_divide_by_same"]

_HALF = 32
_LOW = 2**32 - 1
_PURE = "nounwind willreturn memory(none)"
_ZEROS = "llvm.ctlz.i64"
_HIGH = "llvm.umul.fix.i16"  # which LLVM does not take apart, as it does products of twice the bits
_FACTOR = "integer.factor"
_SCALE = float_constant("double", 2.0**32 * (1 - 2.0**-49))


def floor_divide_by_same(f: FunctionBuilder, x: Ref, y: Ref, *, signed: bool) -> Ref:
    """The quotient of i8, i16 or i64, rounded down; anything for a divisor of 0.

    Of a signed one the sizes are divided: ``x // -y`` is ``-x // y``, and of a negative number it is ``~(~x // y)``.
    """
    if x.type == "i8":
        opcode = "sext" if signed else "zext"
        a, b = f.convert(opcode, x, "i16"), f.convert(opcode, y, "i16")
        return f.convert("trunc", _floor_divide(f, a, b, 2**8 - 1, signed=signed), "i8")
    return _floor_divide(f, x, y, 2 ** int(x.type[1:]) - 1, signed=signed)


def _floor_divide(f: FunctionBuilder, x: Ref, y: Ref, most: int, *, signed: bool) -> Ref:
    if not signed:
        return _divide(f, x, y, most)
    last = int(x.type[1:]) - 1
    if y.constant is not None:
        turned, size = integer(y.type, -(y.constant < 0)), integer(y.type, abs(y.constant))
    else:
        turned = f.binary("ashr", y, last)
        size = f.binary("sub", f.binary("xor", y, turned), turned)
    number = f.binary("sub", f.binary("xor", x, turned), turned)
    # of which the opposite is no negative number, as it seems to be
    is_least = f.binary("and", x, turned)
    sign = f.binary("ashr", f.binary("and", number, f.binary("xor", is_least, -1)), last)
    return f.binary("xor", _divide(f, f.binary("xor", number, sign), size, most // 2 + 1), sign)


def _divide(f: FunctionBuilder, x: Ref, y: Ref, most: int) -> Ref:
    """The quotient of natural numbers, of which x is `most` at most."""
    if y.constant is not None:
        return _divide_by_constant(f, x, y.constant % 2**64, most)
    divisor = f.select(f.icmp("eq", y, 0), integer(y.type, 1), y)
    if x.type == "i64":
        return _divide_by_invariant(f, x, divisor)
    wide = f.convert("zext", divisor, "i64")
    if most < 2**8:
        return _divide_few_bits(f, x, wide)
    return _divide_16_bits(f, x, wide)


def _divide_few_bits(f: FunctionBuilder, x: Ref, y: Ref) -> Ref:
    """The quotient of an i16 below 2**8: ``(x + 1) * factor >> 16``, where the factor is 2**16 / y, made less.

    That is less than ``(x + 1) / y``, but by no more than 1 / 2**8, which is less than 1 / y.
    """
    factor = _ratio(f, integer("i64", 2**16 - 1), y)
    return _high_of_product(f, f.binary("add", x, 1), factor)


def _divide_16_bits(f: FunctionBuilder, x: Ref, y: Ref) -> Ref:
    """The quotient of an i16 by an i64 that stays the same."""
    shift = _bits_above(f, y)
    first = f.convert("zext", f.icmp("ne", shift, 0), "i64")
    power = f.binary("shl", integer("i64", 2**16), shift)
    factor = f.binary("add", _ratio(f, power, y), 1)
    shifts = (f.convert("trunc", n, "i16") for n in (first, f.binary("sub", shift, first)))
    return _shifted_quotient(f, x, _high_of_product(f, x, factor), *shifts)


def _ratio(f: FunctionBuilder, power: Ref, y: Ref) -> Ref:
    """The low 16 bits of a quotient of i64 that have few bits, by way of floats: LLVM moves that out of loops."""
    a, b = (f.convert("sitofp", part, "double") for part in (power, y))
    ratio = f.compute("double", f"fdiv {a.typed}, {b}")
    return f.convert("trunc", f.convert("fptosi", ratio, "i64"), "i16")


def _high_of_product(f: FunctionBuilder, x: Ref, y: Ref) -> Ref:
    """The high half of a product of i16, for which machines have an instruction."""
    f.module.declare(_HIGH, "i16", ("i16", "i16", "i32"), _PURE)
    return f.compute("i16", f"call i16 @{_HIGH}({x.typed}, {y.typed}, i32 16)")


def _divide_by_constant(f: FunctionBuilder, x: Ref, divisor: int, most: int) -> Ref:
    """The quotient of an i64 that is `most` at most."""
    if divisor == 1:
        return x
    shift = (divisor - 1).bit_length()
    for fewer in range(shift + 1):
        power = 1 << 64 + fewer
        factor = -(-power // divisor)
        if factor < 1 << 64 and (factor * divisor - power) * most < power:
            high = _high_of_halves(f, x, *_halves(factor))
            return f.binary("lshr", high, fewer)
    factor = (1 << 64) * ((1 << shift) - divisor) // divisor + 1
    shifts = integer("i64", 1), integer("i64", shift - 1)
    return _shifted_quotient(f, x, _high_of_halves(f, x, *_halves(factor)), *shifts)


def _halves(factor: int) -> tuple[Ref, Ref]:
    return integer("i64", factor % 2**32), integer("i64", factor >> 32)


def _divide_by_invariant(f: FunctionBuilder, x: Ref, y: Ref) -> Ref:
    """The quotient of i64 by a number that stays the same: LLVM computes factor and shifts in front of the loop."""
    shift = _bits_above(f, y)
    first = f.convert("zext", f.icmp("ne", shift, 0), "i64")
    function = shared_function(_FACTOR, _write_factor, straight=True)
    turned = f.compute("i64", f"call i64 {function}({y.typed}) {_PURE}")
    halves = f.binary("lshr", turned, _HALF), f.binary("and", turned, _LOW)
    return _shifted_quotient(
        f, x, _high_of_halves(f, x, *halves), first, f.binary("sub", shift, first)
    )


def _bits_above(f: FunctionBuilder, divisor: Ref) -> Ref:
    """The exponent of the least power of 2 that is not less than an i64."""
    f.module.declare(_ZEROS, "i64", ("i64", "i1"), _PURE)
    less = f.binary("sub", divisor, 1)
    zeros = f.compute("i64", f"call i64 @{_ZEROS}({less.typed}, i1 false)")
    return f.binary("sub", integer("i64", 64), zeros)


def _shifted_quotient(f: FunctionBuilder, x: Ref, high: Ref, first: Ref, second: Ref) -> Ref:
    """The quotient for a factor that has one bit more than fits: ``(high + x) >> (first + second)``."""
    half = f.binary("lshr", f.binary("sub", x, high), first)
    return f.binary("lshr", f.binary("add", high, half), second)


def _high_of_halves(f: FunctionBuilder, x: Ref, low: Ref, high: Ref) -> Ref:
    """The high half of a product with a number in halves: machines have vectors for products of halves."""
    a, b = f.binary("and", x, _LOW), f.binary("lshr", x, _HALF)
    inner = f.binary("lshr", f.binary("mul", a, low), _HALF)
    middle = f.binary("add", f.binary("mul", b, low), inner)
    lower = f.binary("add", f.binary("mul", a, high), f.binary("and", middle, _LOW))
    upper = f.binary("add", f.binary("mul", b, high), f.binary("lshr", middle, _HALF))
    return f.binary("add", upper, f.binary("lshr", lower, _HALF))


def _write_factor(module: ModuleBuilder) -> None:
    """``2**64 * (2**shift - divisor) // divisor + 1`` for the least power that is not less than the divisor.

    Its quotient has two digits of 32 bits: each is found as a float, made so much smaller that it is right or one too
    small. The halves change places: LLVM would see that products of x with halves of one number are one of 128 bits,
    for which it has no vectors.
    """
    digits = "".join(map(_digit, range(2)))
    module.declare(_ZEROS, "i64", ("i64", "i1"), _PURE)
    module.define(
        _FACTOR,
        f"""define i64 @{_FACTOR}(i64 %divisor) nounwind {{
  %wide = zext i64 %divisor to i128
  %float = uitofp i64 %divisor to double
  %less = sub i64 %divisor, 1
  %zeros = call i64 @{_ZEROS}(i64 %less, i1 false)
  %shift = sub i64 64, %zeros
  %long.shift = zext i64 %shift to i128
  %power = shl i128 1, %long.shift
  %above = sub i128 %power, %wide
  %rest0 = trunc i128 %above to i64{digits}
  %high = shl i64 %digit0, 32
  %both = or i64 %high, %digit1
  %factor = add i64 %both, 1
  %upper = lshr i64 %factor, 32
  %lower = shl i64 %factor, 32
  %turned = or i64 %lower, %upper
  ret i64 %turned
}}""",
    )


def _digit(i: int) -> str:
    return f"""
  %float{i} = uitofp i64 %rest{i} to double
  %ratio{i} = fdiv double %float{i}, %float
  %scaled{i} = fmul double %ratio{i}, {_SCALE}
  %guess{i} = fptoui double %scaled{i} to i64
  %all{i} = zext i64 %rest{i} to i128
  %shifted{i} = shl i128 %all{i}, 32
  %long{i} = zext i64 %guess{i} to i128
  %taken{i} = mul i128 %long{i}, %wide
  %left{i} = sub i128 %shifted{i}, %taken{i}
  %is.more{i} = icmp uge i128 %left{i}, %wide
  %one{i} = zext i1 %is.more{i} to i64
  %digit{i} = add i64 %guess{i}, %one{i}
  %less{i} = sub i128 %left{i}, %wide
  %chosen{i} = select i1 %is.more{i}, i128 %less{i}, i128 %left{i}
  %rest{i + 1} = trunc i128 %chosen{i} to i64"""
