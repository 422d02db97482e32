"""The Mersenne Twister of `random.Random`, on the object's own state.

M. Matsumoto and T. Nishimura, "Mersenne Twister", ACM TOMACS 8 (1998). The object holds 624 words and how many of them
are used up; once all are, the next 624 are made of them, in machine code of its own that is compiled once.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache, partial

from ljit.codegen import engine
from ljit.codegen.builder import ModuleBuilder, address
from ljit.codegen.random_layout import MERSENNE_INDEX, MERSENNE_WORDS, check_mersenne

__all__ = ["MERSENNE_FUNCTIONS"]


def _steps(name: str, first: int, last: int, distance: int, before: str, after: str) -> str:
    """A loop over words ``first <= i < last``, each made of itself, the next and the one at a distance."""
    return f"""{name}:
  %{name}.i = phi i64 [ {first}, %{before} ], [ %{name}.next, %{name} ]
  %{name}.next = add nuw nsw i64 %{name}.i, 1
  %{name}.far = add nsw i64 %{name}.i, {distance}
  %{name}.at = getelementptr inbounds i32, ptr %words, i64 %{name}.i
  %{name}.next.at = getelementptr inbounds i32, ptr %words, i64 %{name}.next
  %{name}.far.at = getelementptr inbounds i32, ptr %words, i64 %{name}.far
  %{name}.x = load i32, ptr %{name}.at
  %{name}.y = load i32, ptr %{name}.next.at
  %{name}.z = load i32, ptr %{name}.far.at
{_twist(name)}
  %{name}.done = icmp eq i64 %{name}.next, {last}
  br i1 %{name}.done, label %{after}, label %{name}
"""


def _twist(name: str) -> str:
    return f"""  %{name}.high = and i32 %{name}.x, -2147483648
  %{name}.low = and i32 %{name}.y, 2147483647
  %{name}.both = or i32 %{name}.high, %{name}.low
  %{name}.half = lshr i32 %{name}.both, 1
  %{name}.bit = and i32 %{name}.y, 1
  %{name}.minus = sub i32 0, %{name}.bit
  %{name}.matrix = and i32 %{name}.minus, {0x9908B0DF - 2**32}
  %{name}.mixed = xor i32 %{name}.z, %{name}.half
  %{name}.new = xor i32 %{name}.mixed, %{name}.matrix
  store i32 %{name}.new, ptr %{name}.at"""


_REFILL = f"""define void @refill(ptr %words) nounwind {{
entry:
  br label %head
{_steps("head", 0, 227, 397, "entry", "tail")}
{_steps("tail", 227, 623, -227, "head", "end")}
end:
  %end.at = getelementptr inbounds i32, ptr %words, i64 623
  %end.far.at = getelementptr inbounds i32, ptr %words, i64 396
  %end.x = load i32, ptr %end.at
  %end.y = load i32, ptr %words
  %end.z = load i32, ptr %end.far.at
{_twist("end")}
  ret void
}}
"""


@cache
def _refill() -> engine.CompiledModule:
    check_mersenne()
    return engine.compile_ir(_REFILL, "refill")


def _temper(x: str, type_: str) -> str:
    """Text that makes ``%out`` of the word or vector of words `x`."""

    def constant(value: int) -> str:
        value -= 2**32 if value >= 2**31 else 0
        return f"splat (i32 {value})" if type_[0] == "<" else str(value)

    return f"""  %t1 = lshr {type_} {x}, {constant(11)}
  %t2 = xor {type_} {x}, %t1
  %t3 = shl {type_} %t2, {constant(7)}
  %t4 = and {type_} %t3, {constant(0x9D2C5680)}
  %t5 = xor {type_} %t2, %t4
  %t6 = shl {type_} %t5, {constant(15)}
  %t7 = and {type_} %t6, {constant(0xEFC60000)}
  %t8 = xor {type_} %t5, %t7
  %t9 = lshr {type_} %t8, {constant(18)}
  %out = xor {type_} %t8, %t9"""


def _call_refill() -> str:
    return f"call void {address(_refill().address)}(ptr %words) nounwind memory(argmem: readwrite)"


def _begin(result: str, name: str, params: str = "") -> str:
    return f"""define internal {result} @{name}(ptr %x{params}) nounwind {{
entry:
  %index.at = getelementptr i8, ptr %x, i64 {MERSENNE_INDEX}
  %words = getelementptr i8, ptr %x, i64 {MERSENNE_WORDS}
  %index = load volatile i32, ptr %index.at"""


def _define_double(module: ModuleBuilder, name: str) -> None:
    """53 bits of two words as a float of [0, 1)."""
    module.define(
        name,
        f"""{_begin("double", name)}
  %is.near = icmp ult i32 %index, 623
  br i1 %is.near, label %near, label %far
near:
  %wide = zext i32 %index to i64
  %near.at = getelementptr i32, ptr %words, i64 %wide
  %near.pair = load <2 x i32>, ptr %near.at, align 4
  %near.next = add i32 %index, 2
  br label %draw
far:
  %last.at = getelementptr i32, ptr %words, i64 623
  %last = load i32, ptr %last.at
  {_call_refill()}
  %fresh = load <2 x i32>, ptr %words, align 4
  %first = extractelement <2 x i32> %fresh, i32 0
  %mixed = insertelement <2 x i32> poison, i32 %last, i32 0
  %mixed.2 = insertelement <2 x i32> %mixed, i32 %first, i32 1
  %is.last = icmp eq i32 %index, 623
  %far.pair = select i1 %is.last, <2 x i32> %mixed.2, <2 x i32> %fresh
  %far.next = select i1 %is.last, i32 1, i32 2
  br label %draw
draw:
  %pair = phi <2 x i32> [ %near.pair, %near ], [ %far.pair, %far ]
  %next = phi i32 [ %near.next, %near ], [ %far.next, %far ]
  store volatile i32 %next, ptr %index.at
{_temper("%pair", "<2 x i32>")}
  %high = extractelement <2 x i32> %out, i32 0
  %low = extractelement <2 x i32> %out, i32 1
  %high.27 = lshr i32 %high, 5
  %low.26 = lshr i32 %low, 6
  %high.wide = zext i32 %high.27 to i64
  %low.wide = zext i32 %low.26 to i64
  %high.up = shl nuw nsw i64 %high.wide, 26
  %bits = or disjoint i64 %high.up, %low.wide
  %number = sitofp i64 %bits to double
  %result = fmul double %number, 0x3CA0000000000000
  ret double %result
}}""",
    )


def _define_word(module: ModuleBuilder, name: str) -> None:
    """32 random bits."""
    module.define(
        name,
        f"""{_begin("i32", name)}
  %is.near = icmp ult i32 %index, 624
  br i1 %is.near, label %draw, label %far
far:
  {_call_refill()}
  br label %draw
draw:
  %place = phi i32 [ %index, %entry ], [ 0, %far ]
  %next = add i32 %place, 1
  store volatile i32 %next, ptr %index.at
  %wide = zext i32 %place to i64
  %word.at = getelementptr i32, ptr %words, i64 %wide
  %word = load i32, ptr %word.at
{_temper("%word", "i32")}
  ret i32 %out
}}""",
    )


def _define_bits(module: ModuleBuilder, name: str) -> None:
    """``k`` random bits, 0 < k < 64."""
    _define_word(module, "mersenne.word")
    module.define(
        name,
        f"""define internal i64 @{name}(ptr %x, i64 %k) nounwind {{
  %negated = sub i64 0, %k
  %spare = trunc i64 %negated to i32
  %less = and i32 %spare, 31
  %is.wide = icmp ugt i64 %k, 32
  %word = call i32 @mersenne.word(ptr %x)
  br i1 %is.wide, label %two, label %one
one:
  %short = lshr i32 %word, %less
  %result = zext i32 %short to i64
  ret i64 %result
two:
  %upper = call i32 @mersenne.word(ptr %x)
  %upper.less = lshr i32 %upper, %less
  %upper.wide = zext i32 %upper.less to i64
  %upper.up = shl nuw i64 %upper.wide, 32
  %wide = zext i32 %word to i64
  %both = or disjoint i64 %upper.up, %wide
  ret i64 %both
}}""",
    )


def _define_below(module: ModuleBuilder, name: str) -> None:
    """An int of [0, n) for n > 0: as many bits as n has, until they are below it."""
    _define_bits(module, "mersenne.bits")
    module.declare("llvm.ctlz.i64", "i64", ("i64", "i1"))
    module.define(
        name,
        f"""define internal i64 @{name}(ptr %x, i64 %n) nounwind {{
entry:
  %zeros = call i64 @llvm.ctlz.i64(i64 %n, i1 false)
  %k = sub i64 64, %zeros
  br label %again
again:
  %number = call i64 @mersenne.bits(ptr %x, i64 %k)
  %fits = icmp ult i64 %number, %n
  br i1 %fits, label %done, label %again
done:
  ret i64 %number
}}""",
    )


_Definition = Callable[[ModuleBuilder], None]
_DEFINITIONS = {
    "mersenne.double": _define_double,
    "mersenne.bits": _define_bits,
    "mersenne.below": _define_below,
}
#: what a unit's module needs to call a function on a `random.Random`
MERSENNE_FUNCTIONS: dict[str, _Definition] = {
    name: partial(define, name=name) for name, define in _DEFINITIONS.items()
}
