"""Sums and products of integers, and whether they fit.

LLVM's functions for that (``llvm.smul.with.overflow``) read a flag of the processor, of which it makes no vectors. In
loops that are to have some, what does not fit is told by

- the signs, of sums and differences;
- the bounds of the other factor, of products with a constant;
- the same product of floats, of others: what is left of one that does not fit is ``2**63`` away from that or further,
  one that fits ``2**13`` at most.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from ljit.codegen.llvm.builder import FunctionBuilder, Ref, float_constant, integer
from ljit.codegen.llvm.forms import Native, dtype_of
from ljit.types import BOOL

if TYPE_CHECKING:
    from ljit.codegen.emitter import Emitter

__all__ = ["add_overflow", "mul_overflow", "sub_overflow"]

_LEAST, _MOST = -(2**63), 2**63 - 1
_NEAR = 2.0**32  # a product that fits is nearer to the same one of floats, others are not


def add_overflow(e: Emitter, x: Native, y: Native) -> tuple[Native, Native]:
    return _with_overflow(e, "add", x, y)


def sub_overflow(e: Emitter, x: Native, y: Native) -> tuple[Native, Native]:
    return _with_overflow(e, "sub", x, y)


def mul_overflow(e: Emitter, x: Native, y: Native) -> tuple[Native, Native]:
    return _with_overflow(e, "mul", x, y)


def _with_overflow(e: Emitter, name: str, x: Native, y: Native) -> tuple[Native, Native]:
    is_signed, llvm = dtype_of(x.type).kind == "i", x.ref.type
    folded = _fold(name, x.ref, y.ref) if is_signed else None
    if folded is not None:
        return Native(x.type, (folded,)), Native(BOOL, (integer("i1", 0),))
    if is_signed and llvm == "i64" and e.f.has_vectors:
        value = e.f.binary(name, x.ref, y.ref)
        return Native(x.type, (value,)), Native(BOOL, (_VECTORS[name](e.f, x.ref, y.ref, value),))
    function = f"llvm.{'s' if is_signed else 'u'}{name}.with.overflow.{llvm}"
    pair = e.f.call_external(f"{{{llvm}, i1}}", function, (x.ref, y.ref), "")
    value, flag = e.f.extract(llvm, pair, 0), e.f.extract("i1", pair, 1)
    return Native(x.type, (value,)), Native(BOOL, (flag,))


def _fold(name: str, x: Ref, y: Ref) -> Ref | None:
    """The exact result for two constants whose result fits, or for a neutral operand."""
    neutral = 1 if name == "mul" else 0
    if y.constant == neutral:
        return x
    if x.constant == neutral and name != "sub":
        return y
    if x.constant is None or y.constant is None:
        return None
    a, b = x.constant, y.constant
    exact = {"add": a + b, "sub": a - b, "mul": a * b}[name]
    wrapped = integer(x.type, exact)
    return wrapped if wrapped.constant == exact else None


def _of_sum(f: FunctionBuilder, x: Ref, y: Ref, value: Ref) -> Ref:
    changes = f.binary("and", f.binary("xor", x, value), f.binary("xor", y, value))
    return f.icmp("slt", changes, 0)


def _of_difference(f: FunctionBuilder, x: Ref, y: Ref, value: Ref) -> Ref:
    changes = f.binary("and", f.binary("xor", x, y), f.binary("xor", x, value))
    return f.icmp("slt", changes, 0)


def _of_product(f: FunctionBuilder, x: Ref, y: Ref, value: Ref) -> Ref:
    for factor, other in ((x.constant, y), (y.constant, x)):
        if factor:
            least, most = (_LEAST, _MOST) if factor > 0 else (_MOST, _LEAST)
            low, high = -(-least // factor), min(most // factor, _MOST)
            return f.binary("or", f.icmp("slt", other, low), f.icmp("sgt", other, high))
    wide, other, made = (f.convert("sitofp", ref, "double") for ref in (x, y, value))
    distance = f.binary("fsub", f.binary("fmul", wide, other), made)
    size = f.call_external("double", "llvm.fabs.double", (distance,), "")
    return f.fcmp("ogt", size, float_constant("double", _NEAR))


_VECTORS = {"add": _of_sum, "sub": _of_difference, "mul": _of_product}
