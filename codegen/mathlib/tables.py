"""Tables of sixteen doubles in registers, and what else vectors of 64 bytes (AVX-512) bring along for functions.

A look-up by the low bits of an integer is one permutation there, a multiplication by a power of 2 one instruction for
all exponents, and a reciprocal that a step of Newton's makes good enough takes no division. Functions of doubles made
of these, `elementary(..., with_tables=True)`, have shorter polynomials and shorter chains of dependences. On other
machines a table lies in memory, and functions do without.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from decimal import Decimal

from ljit.codegen.llvm.builder import FunctionBuilder, Ref, float_constant, integer
from ljit.codegen.llvm.engine import vector_bytes
from ljit.codegen.mathlib.terms import Term, fma, vector_of

__all__ = ["SIZE", "Table", "has_tables", "look_up", "parts_of", "rough_reciprocal", "scaled"]

SIZE = 16  # numbers in a table
Table = Sequence[float]

_LANES = 8
_VECTOR = f"<{_LANES} x double>"
_PURE = "nounwind willreturn memory(none)"
_ALL_LANES = Ref("i8", "-1")
_CURRENT_ROUNDING = Ref("i32", "4")


def has_tables() -> bool:
    """Whether this machine has them."""
    return vector_bytes() == _LANES * 8


def parts_of(numbers: Sequence[Decimal], unit: float | None = None) -> tuple[Table, Table]:
    """Numbers as sums of two: the nearest doubles, or multiples of a unit, and the rest."""
    step = None if unit is None else Decimal(unit)
    highs = [float(x if step is None else round(x / step) * step) for x in numbers]
    return highs, [float(x - Decimal(high)) for x, high in zip(numbers, highs, strict=True)]


def look_up(index: Term, table: Table) -> Term:
    """The number that the lowest four bits of an integer choose."""
    f = index.f
    constants = [float_constant("double", number).typed for number in table]
    if index.lanes == 1:
        data = f.module.constant_data(f"[{SIZE} x double]", f"[{', '.join(constants)}]")
        return Term(f, f.load("double", f.gep("double", data, (index & (SIZE - 1)).ref)))
    halves = constants[:_LANES], constants[_LANES:]
    low, high = (Ref(_VECTOR, f"<{', '.join(half)}>") for half in halves)
    return _of_registers("vpermi2var.pd.512", (index,), lambda chosen: [low, chosen, high])


def scaled(x: Term, exponent: Term) -> Term:
    """``x * 2**floor(exponent)``, rounded once."""
    if x.lanes == 1:
        return _of_lowest("mask.scalef.sd", (x, exponent), _ALL_LANES, _CURRENT_ROUNDING)
    return _of_registers(
        "mask.scalef.pd.512",
        (x, exponent),
        lambda x, exponent: [x, exponent, x, _ALL_LANES, _CURRENT_ROUNDING],
    )


def rough_reciprocal(x: Term) -> Term:
    """``1 / x`` with 27 bits: one step of Newton's from 14."""
    if x.lanes == 1:
        rough = _of_lowest("rcp14.sd", (x, x), _ALL_LANES)
    else:
        rough = _of_registers("rcp14.pd.512", (x,), lambda x: [x, x, _ALL_LANES])
    return fma(fma(-x, rough, 1.0), rough, rough)


def _of_registers(name: str, xs: Sequence[Term], operands: Callable[..., Sequence[Ref]]) -> Term:
    """An instruction for each register of vectors."""
    f, lanes = xs[0].f, xs[0].lanes
    parts = [
        _instruction(f, _VECTOR, name, operands(*(_part(x, first, _LANES) for x in xs)))
        for first in range(0, lanes, _LANES)
    ]
    while len(parts) > 1:
        parts = [_joined(f, x, y) for x, y in zip(parts[::2], parts[1::2], strict=True)]
    return Term(f, parts[0], lanes)


def _of_lowest(name: str, xs: Sequence[Term], *others: Ref) -> Term:
    """An instruction for the lowest number in registers."""
    f, vector, lowest = xs[0].f, "<2 x double>", integer("i64", 0)
    registers = [
        f.emit(vector, f"insertelement {vector} poison, {x.ref.typed}, {lowest.typed}") for x in xs
    ]
    found = _instruction(f, vector, name, [*registers, registers[0], *others])
    return Term(f, f.emit("double", f"extractelement {found.typed}, {lowest.typed}"))


def _instruction(f: FunctionBuilder, type_: str, name: str, operands: Sequence[Ref]) -> Ref:
    return f.call_external(type_, f"llvm.x86.avx512.{name}", operands, _PURE)


def _part(x: Term, first: int, lanes: int) -> Ref:
    """Lanes of a vector."""
    if x.lanes == lanes:
        return x.ref
    return _shuffled(x.f, vector_of(x.type, lanes), x.ref, x.ref, range(first, first + lanes))


def _joined(f: FunctionBuilder, x: Ref, y: Ref) -> Ref:
    lanes = 2 * int(x.type.split()[0][1:])
    return _shuffled(f, vector_of("double", lanes), x, y, range(lanes))


def _shuffled(f: FunctionBuilder, type_: str, x: Ref, y: Ref, chosen: range) -> Ref:
    mask = ", ".join(f"i32 {i}" for i in chosen)
    return f.emit(type_, f"shufflevector {x.typed}, {y.typed}, <{len(chosen)} x i32> <{mask}>")
