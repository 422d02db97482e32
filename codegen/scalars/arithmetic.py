"""The scalar arithmetic of the Emitter. Each function here is one of its methods.

Operands have equal types. Floats follow IEEE 754 exactly (flags only under ``fastmath``), integers
wrap; complex numbers are pairs. Division of complex numbers follows CPython for `complex` and NumPy
for NumPy's types, which round differently.
"""

from __future__ import annotations

import platform
from typing import TYPE_CHECKING

from ljit.codegen.llvm.builder import TRUE, ModuleBuilder, Ref, float_constant, integer
from ljit.codegen.llvm.forms import Native, components, dtype_of, llvm_of_dtype
from ljit.codegen.llvm.refs import float_value
from ljit.codegen.scalars.casts import cast_value, number_parts
from ljit.codegen.scalars.hypotenuses import HYPOTENUSE, Hypotenuse, compare_hypotenuse
from ljit.codegen.scalars.quotients import divide, floor_divide, take_remainder
from ljit.codegen.scalars.unions import as_number
from ljit.types import BOOL, COMPLEX, FLOAT, NONE, ScalarType, Type, UnionType

if TYPE_CHECKING:
    from ljit.codegen.emitter import Emitter

_ON_BOOLS = {"add": "or", "mul": "and", "sub": "xor"}


def kind_of(x: Native) -> str:
    """The dtype kind of a number: b i u f c."""
    return dtype_of(x.type).kind


def _componentwise(e: Emitter, opcode: str, x: Native, y: Native, *, fits: bool) -> Native:
    """`add` or `sub` on each component."""
    kind = kind_of(x)
    if kind == "b":
        opcode = _ON_BOOLS[opcode]
    elif kind in "fc":
        opcode = "f" + opcode
    # A product of what a check has refused, which is looked at later, may not fit: it must not be poison.
    is_known = fits and kind in "iu" and e.bailout.gathered is None
    flags = ("nsw" if kind == "i" else "nuw") if is_known else ""
    pairs = zip(x.parts, y.parts, strict=True)
    return Native(x.type, [e.f.binary(opcode, a, b, flags) for a, b in pairs])


def const(_e: Emitter, type_: Type, value: object) -> Native:
    return Native(type_, number_parts(type_, value) if type_ != NONE else ())


def constant_of(_e: Emitter, x: Native) -> int | None:
    return x.ref.constant


def float_constant_of(_e: Emitter, x: Native) -> float | None:
    return float_value(x.ref)


def cast(e: Emitter, x: Native, type_: Type, *, fits: bool = False) -> Native:
    if isinstance(x.type, UnionType):
        number = as_number(e.f, x, type_)
        return e.of_members(x, lambda member: e.cast(member, type_)) if number is None else number
    return cast_value(e.f, x, type_, fits=fits)


def retype(e: Emitter, x: Native, type_: Type) -> Native:
    pairs = zip(x.parts, components(type_), strict=True)
    return Native(type_, [e.f.convert("bitcast", part, to) for part, to in pairs])


def _pair(x: Native | float, y: Native | float) -> tuple[Native, Native]:
    """Two operands: a Python number beside a value is a constant of its type."""
    if isinstance(x, Native):
        return x, y if isinstance(y, Native) else Native(x.type, number_parts(x.type, y))
    assert isinstance(y, Native), "which type?"
    return Native(y.type, number_parts(y.type, x)), y


def select(
    e: Emitter, condition: Native, x: Native | float, y: Native | float, *, suffix: str = ""
) -> Native:
    x, y = _pair(x, y)
    pairs = zip(x.parts, y.parts, strict=True)
    return Native(x.type, [e.f.select(condition.ref, a, b, suffix=suffix) for a, b in pairs])


def add(e: Emitter, x: Native | float, y: Native | float, *, fits: bool = False) -> Native:
    return _componentwise(e, "add", *_pair(x, y), fits=fits)


def sub(e: Emitter, x: Native | float, y: Native | float, *, fits: bool = False) -> Native:
    return _componentwise(e, "sub", *_pair(x, y), fits=fits)


def mul(e: Emitter, x: Native | float, y: Native | float, *, fits: bool = False) -> Native:
    x, y = _pair(x, y)
    if kind_of(x) != "c":
        return _componentwise(e, "mul", x, y, fits=fits)
    f = e.f
    (a, b), (c, d) = x.parts, y.parts
    real = f.binary("fsub", f.binary("fmul", a, c), f.binary("fmul", b, d))
    imag = f.binary("fadd", f.binary("fmul", a, d), f.binary("fmul", b, c))
    return Native(x.type, (real, imag))


def div(e: Emitter, x: Native | float, y: Native | float) -> Native:
    x, y = _pair(x, y)
    kind = kind_of(x)
    if kind == "c":
        return _complex_div(e, x, y)
    if kind == "f":
        return Native(x.type, (e.f.binary("fdiv", x.ref, y.ref),))
    return Native(x.type, (divide(e.f, x.ref, y.ref, signed=kind == "i"),))


def floored_quotient(e: Emitter, x: Native, y: Native) -> Native | None:
    found = floor_divide(e.f, x.ref, y.ref, signed=kind_of(x) == "i")
    return None if found is None else Native(x.type, (found,))


def _complex_div(e: Emitter, x: Native, y: Native) -> Native:
    """Smith's algorithm, with operands swapped by selects instead of branches."""
    f = e.f
    (a, b), (c, d) = x.parts, y.parts
    big = f.fcmp("oge", _fabs(e, c), _fabs(e, d))
    p, q = f.select(big, c, d), f.select(big, d, c)
    u, v = f.select(big, a, b), f.select(big, b, a)
    ratio = f.binary("fdiv", q, p)
    scale = f.binary("fadd", p, f.binary("fmul", q, ratio))
    real = f.binary("fadd", u, f.binary("fmul", v, ratio))
    product = f.binary("fmul", u, ratio)
    imag = f.select(big, f.binary("fsub", v, product), f.binary("fsub", product, v))
    if x.type == COMPLEX:
        return Native(x.type, (f.binary("fdiv", real, scale), f.binary("fdiv", imag, scale)))
    inverse = f.binary("fdiv", float_constant(c.type, 1.0), scale)
    real, imag = f.binary("fmul", real, inverse), f.binary("fmul", imag, inverse)
    zero = f.binary(
        "and",
        f.fcmp("oeq", c, float_constant(c.type, 0.0)),
        f.fcmp("oeq", d, float_constant(d.type, 0.0)),
    )
    infinity = float_constant(c.type, float("inf"))  # times it is divided by the size of 0
    real = f.select(zero, f.binary("fmul", a, infinity), real)
    return Native(x.type, (real, f.select(zero, f.binary("fmul", b, infinity), imag)))


def rem(e: Emitter, x: Native | float, y: Native | float) -> Native:
    x, y = _pair(x, y)
    if kind_of(x) == "f":
        return _float_rem(e, x, y)
    return Native(x.type, (take_remainder(e.f, x.ref, y.ref, signed=kind_of(x) == "i"),))


def _float_rem(e: Emitter, x: Native, y: Native) -> Native:
    """C's fmod, as a call that LLVM does not make where it is not needed: a loop of vectors would make it always."""
    wide, llvm = "double", x.ref.type
    refs = [e.f.convert("fpext", ref, wide) for ref in (x.ref, y.ref)]
    attributes = "nobuiltin nounwind willreturn cold memory(inaccessiblemem: readwrite)"
    return Native(
        x.type, (e.f.convert("fptrunc", e.f.call_external(wide, "fmod", refs, attributes), llvm),)
    )


def neg(e: Emitter, x: Native) -> Native:
    if kind_of(x) in "fc":
        return Native(x.type, [e.f.emit(p.type, f"fneg {p.typed}") for p in x.parts])
    return Native(x.type, (e.f.binary("sub", integer(x.ref.type, 0), x.ref),))


def _of_bits(e: Emitter, opcode: str, x: Native | int, y: Native | int) -> Native:
    x, y = _pair(x, y)
    return Native(x.type, (e.f.binary(opcode, x.ref, y.ref),))


def bit_and(e: Emitter, x: Native | int, y: Native | int) -> Native:
    return _of_bits(e, "and", x, y)


def bit_or(e: Emitter, x: Native | int, y: Native | int) -> Native:
    return _of_bits(e, "or", x, y)


def bit_xor(e: Emitter, x: Native | int, y: Native | int) -> Native:
    return _of_bits(e, "xor", x, y)


def bit_not(e: Emitter, x: Native) -> Native:
    ones = TRUE if x.ref.type == "i1" else integer(x.ref.type, -1)
    return Native(x.type, (e.f.binary("xor", x.ref, ones),))


def shl(e: Emitter, x: Native | int, y: Native | int) -> Native:
    return _of_bits(e, "shl", x, y)


def shr(e: Emitter, x: Native | int, y: Native | int) -> Native:
    x, y = _pair(x, y)
    opcode = "ashr" if kind_of(x) == "i" else "lshr"
    return Native(x.type, (e.f.binary(opcode, x.ref, y.ref),))


def compare(e: Emitter, predicate: str, x: Native | float, y: Native | float) -> Native:
    f = e.f
    x, y = _pair(x, y)
    kind = kind_of(x)
    if kind == "c":
        assert predicate in ("eq", "ne"), "complex numbers have no order"
        ordered = "oeq" if predicate == "eq" else "une"
        real, imag = (f.fcmp(ordered, a, b) for a, b in zip(x.parts, y.parts, strict=True))
        return Native(BOOL, (f.binary("and" if predicate == "eq" else "or", real, imag),))
    if kind == "f":
        ordered = "une" if predicate == "ne" else "o" + predicate
        if x.ref.text in e.hypotenuses and predicate in ("lt", "le", "gt", "ge"):
            return Native(BOOL, (compare_hypotenuse(e, ordered, x.ref, y.ref),))
        return Native(BOOL, (f.fcmp(ordered, x.ref, y.ref),))
    if predicate not in ("eq", "ne"):
        predicate = ("s" if kind == "i" else "u") + predicate
    return Native(BOOL, (f.icmp(predicate, x.ref, y.ref),))


def real(_e: Emitter, x: Native) -> Native:
    if kind_of(x) != "c":
        return x
    return Native(_half_type(x.type), x.parts[:1])


def imag(_e: Emitter, x: Native) -> Native:
    if kind_of(x) != "c":
        return Native(x.type, number_parts(x.type, 0))
    return Native(_half_type(x.type), x.parts[1:])


def _half_type(type_: Type) -> Type:
    if isinstance(type_, ScalarType):
        return ScalarType(type_.dtype.type(0).real.dtype)
    return FLOAT


def make_complex(_e: Emitter, real: Native, imag: Native, type_: Type) -> Native:
    return Native(type_, (real.ref, imag.ref))


#: intrinsics with an immediate operand behind the value
_IMMEDIATE = {"abs": ", i1 false", "ctlz": ", i1 false", "cttz": ", i1 false"}


def intrinsic(e: Emitter, name: str, *xs: Native) -> Native:
    first = xs[0].ref
    full = f"llvm.{name}.{_suffix(first)}"
    params = [x.ref.type for x in xs]
    immediate = _IMMEDIATE.get(name, "")
    if immediate:
        params.append("i1")
    e.f.module.declare(full, first.type, params, "")
    operands = ", ".join(x.ref.typed for x in xs)
    flags = e.f.float_flags + " " if e.f.float_flags and first.type[0] != "i" else ""
    result = e.f.emit(first.type, f"call {flags}{first.type} @{full}({operands}{immediate})")
    return Native(xs[0].type, (result,))


def _suffix(x: Ref) -> str:
    return {"half": "f16", "float": "f32", "double": "f64"}.get(x.type, x.type)


# nobuiltin: LLVM would rewrite pow(x, 2.0) to x * x, which rounds differently from the C library
_PURE = "nounwind willreturn memory(none)"
_MATHEMATICS = f"nobuiltin {_PURE}"
_IN_PAIRS = ("sin", "cos")  # LLVM, which may know these, makes one call of both of the same number


def math(e: Emitter, name: str, *xs: Native) -> Native:
    if len(xs[0].parts) > 1:
        return _complex_math(e, name, xs[0])
    type_ = xs[0].type
    llvm = llvm_of_dtype(dtype_of(type_))
    refs = [x.ref for x in xs]
    if llvm == "half":
        refs = [e.f.convert("fpext", ref, "float") for ref in refs]
    wide = refs[0].type
    symbol = name + ("f" if wide == "float" else "")
    if e.is_of_steady_numbers:
        result = e.f.call(wide, _steady(e.f.module, wide, symbol, len(refs)), refs)
    else:
        attributes = _PURE if symbol in _IN_PAIRS else _MATHEMATICS
        result = e.f.call_external(wide, symbol, refs, attributes)
    if symbol == HYPOTENUSE:
        e.hypotenuses[result.text] = Hypotenuse(refs[0], refs[1], "")
    return Native(type_, (e.f.convert("fptrunc", result, llvm),))


def _steady(module: ModuleBuilder, type_: str, symbol: str, arity: int) -> str:
    """Define a function for calls that give the same in all loops around them: LLVM may make them in front, always.

    Only there: of others LLVM would make those that stand in a branch without being asked for.
    """
    module.declare(symbol, type_, [type_] * arity, _MATHEMATICS)
    name = f"steady.{symbol}"
    params = ", ".join(f"{type_} %x{k}" for k in range(arity))
    return module.define(
        name,
        f"""define internal {type_} @{name}({params}) noinline speculatable nounwind willreturn memory(none) {{
  %result = call {type_} @{symbol}({params})
  ret {type_} %result
}}""",
    )


def _complex_math(e: Emitter, name: str, x: Native) -> Native:
    """A function of one complex number: of floats both parts are in one register (on x86-64), of doubles in two."""
    f, part = e.f, x.parts[0].type
    if part == "double" or platform.machine() != "x86_64":
        symbol = name if part == "double" else name + "f"
        pair = f.call_external(f"{{{part}, {part}}}", symbol, x.parts, _MATHEMATICS)
        return Native(x.type, [f.extract(part, pair, k) for k in range(2)])
    vector = f"<2 x {part}>"
    packed = Ref(vector, "poison")
    for k, value in enumerate(x.parts):
        packed = f.emit(vector, f"insertelement {packed.typed}, {value.typed}, i64 {k}")
    both = f.call_external(vector, name + "f", (packed,), _MATHEMATICS)
    return Native(x.type, [f.emit(part, f"extractelement {both.typed}, i64 {k}") for k in range(2)])


def _fabs(e: Emitter, x: Ref) -> Ref:
    name = f"llvm.fabs.{_suffix(x)}"
    return e.f.call_external(x.type, name, (x,), "")
