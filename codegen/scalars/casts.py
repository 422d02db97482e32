"""Conversions between number types: what ``astype`` of NumPy does on this machine, never poison.

Floats that do not fit an integer type give what x86's conversion instructions give, as NumPy's C casts
do: the least int64 or int32, of which narrower types take the low bits.
"""

from __future__ import annotations

import platform
from collections.abc import Sequence

import numpy as np

from ljit.codegen.llvm.builder import FunctionBuilder, Ref, float_constant, integer
from ljit.codegen.llvm.engine import has_avx512
from ljit.codegen.llvm.forms import Native, dtype_of, llvm_of_dtype
from ljit.types import Type

__all__ = ["cast_value", "number_parts"]

_PURE = "nounwind willreturn memory(none)"


def cast_value(f: FunctionBuilder, x: Native, type_: Type, *, fits: bool = False) -> Native:
    """Convert a number to another number type; `fits`: a float that does not fit may give any integer."""
    if x.type == type_:
        return x
    if fits and dtype_of(x.type).kind == "f":
        return Native(type_, (_fitting_float_to_int(f, x.ref, dtype_of(type_)),))
    return Native(type_, _cast(f, x.parts, dtype_of(x.type), dtype_of(type_)))


def number_parts(type_: Type, value: object) -> tuple[Ref, ...]:
    """The components of a constant of a number type."""
    dtype = dtype_of(type_)
    llvm = llvm_of_dtype(dtype)
    if dtype.kind == "c":
        number = complex(value)  # type: ignore[call-overload]
        return float_constant(llvm, number.real), float_constant(llvm, number.imag)
    if dtype.kind == "f":
        return (float_constant(llvm, float(value)),)  # type: ignore[arg-type]
    return (integer(llvm, int(value)),)  # type: ignore[call-overload]


def _cast(
    f: FunctionBuilder, parts: Sequence[Ref], source: np.dtype, target: np.dtype
) -> tuple[Ref, ...]:
    if target.kind == "c":
        half = np.dtype(f"f{target.itemsize // 2}")
        if source.kind == "c":
            inner = np.dtype(f"f{source.itemsize // 2}")
            return tuple(_real(f, part, inner, half) for part in parts)
        return _real(f, parts[0], source, half), float_constant(llvm_of_dtype(half), 0.0)
    if source.kind != "c":
        return (_real(f, parts[0], source, target),)
    inner = np.dtype(f"f{source.itemsize // 2}")
    if target.kind == "b":
        real, imag = (_real(f, part, inner, target) for part in parts)
        return (f.binary("or", real, imag),)
    return (_real(f, parts[0], inner, target),)


def _real(f: FunctionBuilder, x: Ref, source: np.dtype, target: np.dtype) -> Ref:
    """Convert one machine number."""
    if target.kind == "b":
        return _to_bool(f, x)
    llvm = llvm_of_dtype(target)
    if source.kind != "f":
        return _from_int(f, x, source, target, llvm)
    if target.kind != "f":
        return _float_to_int(f, x, target)
    if target.itemsize > source.itemsize:
        return f.convert("fpext", x, llvm)
    return f.convert("fptrunc", x, llvm)


def _to_bool(f: FunctionBuilder, x: Ref) -> Ref:
    if x.type == "i1":
        return x
    if x.type[0] == "i":
        return f.icmp("ne", x, 0)
    return f.fcmp("une", x, float_constant(x.type, 0.0))


def _from_int(f: FunctionBuilder, x: Ref, source: np.dtype, target: np.dtype, llvm: str) -> Ref:
    signed = source.kind == "i"
    if target.kind != "f":
        if target.itemsize < source.itemsize:
            return f.convert("trunc", x, llvm)
        return f.convert("sext" if signed else "zext", x, llvm)
    if x.constant is not None and signed and llvm == "double":
        return float_constant(llvm, float(x.constant))
    opcode = "sitofp" if signed else "uitofp"
    if llvm == "half":  # NumPy goes through float32
        return f.convert("fptrunc", f.convert(opcode, x, "float"), llvm)
    return f.convert(opcode, x, llvm)


def _float_to_int(f: FunctionBuilder, x: Ref, target: np.dtype) -> Ref:
    if x.type == "half":
        x = f.convert("fpext", x, "float")
    if target == np.uint64:
        return _float_to_uint64(f, x)
    if target == np.uint32 or target.itemsize == 8:
        wide = _checked_fptosi(f, x, 64)
    else:
        wide = _checked_fptosi(f, x, 32)
    return f.convert("trunc", wide, llvm_of_dtype(target))


def _fitting_float_to_int(f: FunctionBuilder, x: Ref, target: np.dtype) -> Ref:
    """The integer of a float that fits, or any: without the comparisons that `_checked_fptosi` has of its own."""
    bits = 64 if target == np.uint32 or target.itemsize == 8 else 32
    has_instruction = bits == 32 or not f.has_vectors or has_avx512()
    if target == np.uint64 or not has_instruction:
        return _float_to_int(f, x, target)
    converted = f.convert("fptosi", x, f"i{bits}")
    frozen = f.compute(converted.type, f"freeze {converted.typed}")
    return f.convert("trunc", frozen, llvm_of_dtype(target))


def _checked_fptosi(f: FunctionBuilder, x: Ref, bits: int) -> Ref:
    """``fptosi``, or the least integer if the value does not fit (or is a NaN)."""
    if bits == 64 and platform.machine() == "x86_64":
        if not f.has_vectors:
            return _x86_fptosi(f, x)
        if not has_avx512():
            return _fptosi_of_halves(f, x)
    bound = 2.0 ** (bits - 1)
    low = _exclusive_low(x.type, bits)
    above = f.fcmp(low[0], x, float_constant(x.type, low[1]))
    fits = f.binary("and", above, f.fcmp("olt", x, float_constant(x.type, bound)))
    converted = f.convert("fptosi", x, f"i{bits}")
    return f.select(fits, converted, -(1 << (bits - 1)))


def _x86_fptosi(f: FunctionBuilder, x: Ref) -> Ref:
    """The instruction itself, which gives the least integer for what does not fit."""
    name, lanes = {"double": ("sse2.cvttsd2si64", 2), "float": ("sse.cvttss2si64", 4)}[x.type]
    vector = f"<{lanes} x {x.type}>"
    packed = f.emit(vector, f"insertelement {vector} zeroinitializer, {x.typed}, i64 0")
    return f.call_external("i64", f"llvm.x86.{name}", (packed,), "")


def _fptosi_of_halves(f: FunctionBuilder, x: Ref) -> Ref:
    """The same, made of operations that the machine has for vectors.

    The high and the low 32 bits are whole floats: added to a number so large that its last bit counts ones, they are
    the last bits of the sum. (Written without `float_flags`: these sums are exact as they are.)
    """
    x = f.convert("fpext", x, "double")
    whole = f.call_external("double", "llvm.trunc.f64", (x,), _PURE)
    scaled = f.compute("double", f"fmul double {whole}, {float_constant('double', 2.0**-32)}")
    high = f.call_external("double", "llvm.floor.f64", (scaled,), _PURE)
    above = f.compute("double", f"fmul double {high}, {float_constant('double', 2.0**32)}")
    low = f.compute("double", f"fsub double {whole}, {above}")
    parts = []
    for half, one in ((high, 1.5 * 2.0**52), (low, 2.0**52)):
        total = f.compute("double", f"fadd double {half}, {float_constant('double', one)}")
        parts.append(f.compute("i64", f"bitcast {total.typed} to i64"))
    high_bits = f.binary("shl", parts[0], 32)
    low_bits = f.binary("and", parts[1], 2**32 - 1)
    size = f.call_external("double", "llvm.fabs.f64", (x,), _PURE)
    fits = f.compute("i1", f"fcmp olt double {size}, {float_constant('double', 2.0**63)}")
    return f.select(fits, f.binary("or", high_bits, low_bits), -(2**63))


def _exclusive_low(llvm: str, bits: int) -> tuple[str, float]:
    """The lower bound as a comparison: truncation allows values down to (not with) -2**31 - 1."""
    if bits == 32 and llvm == "double":
        return "ogt", -(2.0**31) - 1.0
    return "oge", -(2.0 ** (bits - 1))


def _float_to_uint64(f: FunctionBuilder, x: Ref) -> Ref:
    bound = float_constant(x.type, 2.0**63)
    big = f.fcmp("oge", x, bound)
    shifted = f.select(big, f.binary("fsub", x, bound), x)
    low = _checked_fptosi(f, shifted, 64)
    top = f.select(big, integer("i64", -(2**63)), 0)
    return f.binary("xor", low, top)
