"""Tests of polynomials in front of loops (`prim::predicate`), in integers wide enough that nothing overflows."""

from __future__ import annotations

from collections.abc import Sequence

from ljit.codegen.emitter import Emitter
from ljit.codegen.llvm.builder import FunctionBuilder, Ref, integer
from ljit.codegen.llvm.forms import Native, dtype_of
from ljit.ir import Node
from ljit.ops.control import OUT_OF_RANGE

__all__ = ["emit_predicate"]

Sum = tuple[tuple[int, ...], ...]


def emit_predicate(e: Emitter, node: Node, operands: Sequence[Native]) -> None:
    """Leave if the loop has trips and the test fails."""
    f = e.f
    given, test = node.attrs["given"], node.attrs["test"]
    assert isinstance(given, tuple)
    assert isinstance(test, tuple)
    fails = f.bool_not(_holds(f, test, operands))
    for condition in given:
        fails = f.binary("and", fails, _holds(f, condition, operands))
    e.bailout.bail_if(fails, OUT_OF_RANGE)


def _holds(f: FunctionBuilder, terms: Sum, operands: Sequence[Native]) -> Ref:
    """Whether a sum is at least 0."""
    sides = _plain_sides(terms, operands)
    if sides is not None:
        more, less, is_strict = sides
        return f.icmp("sgt" if is_strict else "sge", more, less)
    wide = f"i{_width(terms)}"
    total = integer(wide, 0)
    for factor, *positions in terms:
        is_negative = factor < 0 and bool(positions)
        product = integer(wide, -factor if is_negative else factor)
        for position in positions:
            x = operands[position]
            extend = "zext" if dtype_of(x.type).kind in "bu" else "sext"
            product = f.binary("mul", f.convert(extend, x.ref, wide), product)
        total = f.binary("sub", total, product) if is_negative else f.binary("add", total, product)
    return f.icmp("sge", total, 0)


def _plain_sides(terms: Sum, operands: Sequence[Native]) -> tuple[Ref, Ref, bool] | None:
    """Two int64 of which the first has to be larger (True) or not less, if the sum says no more than that."""
    constant = sum(factor for factor, *positions in terms if not positions)
    parts: dict[int, Ref] = {}
    for factor, *positions in terms:
        if not positions:
            continue
        if factor in parts or abs(factor) != 1 or len(positions) > 1:
            return None
        x = operands[positions[0]]
        if x.ref.type != "i64" or dtype_of(x.type).kind != "i":
            return None
        parts[factor] = x.ref
    if len(parts) == 2:
        return (parts[1], parts[-1], constant == -1) if constant in (0, -1) else None
    if not parts or not -(2**62) < constant < 2**62:
        return None
    limit = integer("i64", -constant)
    return (parts[1], limit, False) if 1 in parts else (integer("i64", constant), parts[-1], False)


def _width(terms: Sum) -> int:
    """Bits that hold every partial sum: a multiple of 64."""
    most = sum(abs(factor) << 64 * len(positions) for factor, *positions in terms)
    return -(-(most.bit_length() + 1) // 64) * 64
