"""Comparisons of ``hypot(a, b)`` with a bound, without the square root: ``abs(z) <= 2``."""

from __future__ import annotations

import math
from functools import partial
from typing import TYPE_CHECKING

from ljit.codegen.llvm.builder import FALSE, TRUE, BlockRef, FunctionBuilder, Ref, float_constant
from ljit.codegen.llvm.refs import float_value
from ljit.records import Record

if TYPE_CHECKING:
    from ljit.codegen.emitter import Emitter

__all__ = ["HYPOTENUSE", "Hypotenuse", "compare_hypotenuse"]

HYPOTENUSE = "hypot"  # of the C library, and the elementary function
_SMALLEST, _LARGEST = 1e-140, 1e140  # bounds whose squares neither underflow nor overflow


class Hypotenuse(Record):
    """The operands of a ``hypot``; `elementary`: the name of the function that loops call with vectors."""

    a: Ref
    b: Ref
    elementary: str


def compare_hypotenuse(e: Emitter, predicate: str, h: Ref, bound: Ref) -> Ref:
    """Compare the hypotenuse `h`, which the emitter has noted, by the squares of its operands."""
    found = e.hypotenuses[h.text]
    if not found.elementary:
        return _compare_by_squares(e, predicate, found.a, found.b, bound)
    constant = float_value(bound) if bound.type == "double" else None
    if constant is None or not _SMALLEST < constant < _LARGEST:
        return e.f.fcmp(predicate, h, bound)
    return _compare_with_constant(e.f, predicate, found.a, found.b, constant)


def _compare_with_constant(f: FunctionBuilder, predicate: str, a: Ref, b: Ref, bound: float) -> Ref:
    """Decide as the correctly rounded hypotenuse does, without a branch.

    It is at most `bound` if the sum of squares is at most the square of the midpoint between `bound` and the
    number above: both are sums of two doubles. What overflows is a NaN there, and not at most the bound.
    """
    from fractions import Fraction  # a millisecond that few programs need

    is_strict = predicate in ("olt", "oge")  # h < bound: at most the number below
    last = math.nextafter(bound, 0.0) if is_strict else bound
    midpoint = (Fraction(last) + Fraction(math.nextafter(last, math.inf))) / 2
    square = midpoint * midpoint
    high = float(square)
    low = float(square - Fraction(high))
    constant = partial(float_constant, "double")
    total, rest = _sum_of_squares(f, a, b)
    difference = f.binary("fsub", total, constant(high))
    left = f.binary("fadd", difference, f.binary("fsub", rest, constant(low)))
    # then the midpoint rounds to it
    is_even = int(Fraction(last) / Fraction(math.ulp(last))) % 2 == 0
    within = f.fcmp("ole" if is_even else "olt", left, constant(0.0))
    if predicate in ("ole", "olt"):
        return within
    infinite = f.binary("or", _is_infinite(f, a), _is_infinite(f, b))
    beyond = f.binary("and", f.fcmp("ord", a, b), f.binary("xor", within, TRUE))
    return f.binary("or", infinite, beyond)


def _sum_of_squares(f: FunctionBuilder, a: Ref, b: Ref) -> tuple[Ref, Ref]:
    """``a * a + b * b`` as a double and what is left."""
    squares, rests = [], []
    for x in (a, b):
        square = f.binary("fmul", x, x)
        negated = f.binary("fsub", float_constant("double", -0.0), square)
        squares.append(square)
        rests.append(f.call_external("double", "llvm.fma.f64", (x, x, negated), ""))
    x, y = squares
    total = f.binary("fadd", x, y)
    second = f.binary("fsub", total, x)
    first = f.binary("fsub", total, second)
    error = f.binary("fadd", f.binary("fsub", x, first), f.binary("fsub", y, second))
    return total, f.binary("fadd", error, f.binary("fadd", rests[0], rests[1]))


def _is_infinite(f: FunctionBuilder, x: Ref) -> Ref:
    size = f.call_external("double", "llvm.fabs.f64", (x,), "")
    return f.fcmp("oeq", size, float_constant("double", math.inf))


def _compare_by_squares(e: Emitter, predicate: str, a: Ref, b: Ref, bound: Ref) -> Ref:
    """Compare ``hypot(a, b)`` with a bound by the squares, unless both are close to each other.

    Rounding moves the sum of squares and hypot's result by less than the margin, and neither
    overflow nor underflow matters for bounds in this range; a NaN takes the exact way.
    """
    f = e.f
    constant = partial(float_constant, "double")
    squares = f.binary("fadd", f.binary("fmul", a, a), f.binary("fmul", b, b))
    square = f.binary("fmul", bound, bound)
    below = f.fcmp("olt", squares, f.binary("fmul", square, constant(1 - 1e-14)))
    above = f.fcmp("ogt", squares, f.binary("fmul", square, constant(1 + 1e-14)))
    usual = f.binary(
        "and", f.fcmp("ogt", bound, constant(1e-140)), f.fcmp("olt", bound, constant(1e140))
    )
    if e.bailout.late is not None:
        exact = f.fcmp("oeq", b, constant(0.0))  # on the real axis squares compare as moduli do
        decided = f.binary("or", exact, f.binary("or", below, above))
        failed = f.binary("xor", f.binary("and", usual, decided), TRUE)
        e.bailout.bail_late(failed, "a modulus close to its bound")
        return f.fcmp(predicate, squares, square)
    smaller, larger, done = f.new_block("smaller"), f.new_block("larger"), f.new_block("compared")
    not_below, close = f.new_block("not_below"), f.new_block("close")
    f.condbr(f.binary("and", usual, below), smaller, not_below)
    f.start(not_below)
    f.condbr(f.binary("and", usual, above), larger, close)
    f.start(close)
    again = f.call_external("double", HYPOTENUSE, (a, b))  # the first call is dead if this is all
    exact = f.fcmp(predicate, again, bound)
    edges: list[tuple[Ref, BlockRef | None]] = [(exact, f.br(done))]
    is_less = predicate in ("olt", "ole")
    for block, value in ((smaller, is_less), (larger, not is_less)):
        if f.start(block):
            edges.append((TRUE if value else FALSE, f.br(done)))
    f.start(done)
    result = f.phi("i1")
    for ref, left in edges:
        result.add(ref, left)
    return result
