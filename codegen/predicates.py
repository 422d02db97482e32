"""Tests of polynomials in front of loops (`prim::predicate`), in integers wide enough that nothing overflows."""

from __future__ import annotations

from collections.abc import Sequence

from ljit.codegen.builder import TRUE, FunctionBuilder, Ref, integer
from ljit.codegen.emitter import Emitter
from ljit.codegen.forms import Native, dtype_of
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
    fails = f.binary("xor", _holds(f, test, operands), TRUE)
    for condition in given:
        fails = f.binary("and", fails, _holds(f, condition, operands))
    e.bailout.bail_if(fails, OUT_OF_RANGE)


def _holds(f: FunctionBuilder, terms: Sum, operands: Sequence[Native]) -> Ref:
    """Whether a sum is at least 0."""
    wide = f"i{_width(terms)}"
    total = integer(wide, 0)
    for factor, *positions in terms:
        product = integer(wide, factor)
        for position in positions:
            x = operands[position]
            extend = "zext" if dtype_of(x.type).kind in "bu" else "sext"
            product = f.binary("mul", f.convert(extend, x.ref, wide), product)
        total = f.binary("add", product, total)
    return f.icmp("sge", total, integer(wide, 0))


def _width(terms: Sum) -> int:
    """Bits that hold every partial sum: a multiple of 64."""
    most = sum(abs(factor) << 64 * len(positions) for factor, *positions in terms)
    return -(-(most.bit_length() + 1) // 64) * 64
