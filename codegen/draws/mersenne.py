"""The Mersenne Twister of `random.Random`, on the object's own state.

M. Matsumoto and T. Nishimura, "Mersenne Twister", ACM TOMACS 8 (1998). The object holds 624 words and how many of them
are used up; once all are, the next 624 are made of them, in machine code of its own that is compiled once.
"""

from __future__ import annotations

import math
import sys
from collections.abc import Callable
from functools import cache, partial

from ljit.codegen.layouts.layout import FLOAT_VALUE, OB_TYPE
from ljit.codegen.layouts.random_layout import MERSENNE_INDEX, MERSENNE_WORDS, check_mersenne
from ljit.codegen.llvm import engine
from ljit.codegen.llvm.builder import ModuleBuilder, address, float_constant

__all__ = ["GAUSS", "MERSENNE_FUNCTIONS"]

GAUSS = "{double, i1}"  # what `mersenne.gauss` gives
_GAUSS_NEXT = sys.intern("gauss_next")
_C_FUNCTIONS = (
    ("PyObject_GetAttr", "ptr", ("ptr", "ptr")),
    ("PyObject_SetAttr", "i32", ("ptr", "ptr", "ptr")),
    ("PyErr_Clear", "void", ()),
    ("Py_DecRef", "void", ("ptr",)),
    ("PyFloat_FromDouble", "ptr", ("double",)),
    ("log", "double", ("double",)),
    ("sin", "double", ("double",)),
    ("cos", "double", ("double",)),
    ("llvm.sqrt.f64", "double", ("double",)),
)


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


def _define_can_gauss(module: ModuleBuilder, name: str) -> None:
    """Whether the object's `gauss_next` is a float or None."""
    for function, result, params in _C_FUNCTIONS:
        module.declare(function, result, params)
    module.define(
        name,
        f"""define internal i1 @{name}(ptr %x) nounwind {{
  %kept = call ptr @PyObject_GetAttr(ptr %x, ptr {address(id(_GAUSS_NEXT))})
  %is.lost = icmp eq ptr %kept, null
  br i1 %is.lost, label %lost, label %look
lost:
  call void @PyErr_Clear()
  ret i1 false
look:
  %class.at = getelementptr i8, ptr %kept, i64 {OB_TYPE}
  %class = load ptr, ptr %class.at
  %is.none = icmp eq ptr %kept, {address(id(None))}
  %is.float = icmp eq ptr %class, {address(id(float))}
  %is.good = or i1 %is.none, %is.float
  call void @Py_DecRef(ptr %kept)
  ret i1 %is.good
}}""",
    )


def _define_gauss(module: ModuleBuilder, name: str) -> None:
    """A number of the standard normal distribution, and whether that failed with an error.

    Two numbers are made at a time; the object keeps the second as `gauss_next`, which is None once that was taken.
    """
    _define_double(module, "mersenne.double")
    attribute, none = address(id(_GAUSS_NEXT)), address(id(None))
    module.define(
        name,
        f"""define internal {GAUSS} @{name}(ptr %x) nounwind {{
  %kept = call ptr @PyObject_GetAttr(ptr %x, ptr {attribute})
  %is.none = icmp eq ptr %kept, {none}
  %value.at = getelementptr i8, ptr %kept, i64 {FLOAT_VALUE}
  br i1 %is.none, label %make, label %take
take:
  %second = load double, ptr %value.at
  call void @Py_DecRef(ptr %kept)
  %was.taken = call i32 @PyObject_SetAttr(ptr %x, ptr {attribute}, ptr {none})
  br label %done
make:
  call void @Py_DecRef(ptr %kept)
  %u = call double @mersenne.double(ptr %x)
  %v = call double @mersenne.double(ptr %x)
  %angle = fmul double %u, {float_constant("double", 2.0 * math.pi)}
  %rest = fsub double 1.0, %v
  %log = call double @log(double %rest)
  %log.2 = fmul double %log, -2.0
  %radius = call double @llvm.sqrt.f64(double %log.2)
  %cos = call double @cos(double %angle)
  %sin = call double @sin(double %angle)
  %first = fmul double %cos, %radius
  %other = fmul double %sin, %radius
  %box = call ptr @PyFloat_FromDouble(double %other)
  %is.null = icmp eq ptr %box, null
  br i1 %is.null, label %done, label %keep
keep:
  %was.kept = call i32 @PyObject_SetAttr(ptr %x, ptr {attribute}, ptr %box)
  call void @Py_DecRef(ptr %box)
  br label %done
done:
  %status = phi i32 [ %was.taken, %take ], [ -1, %make ], [ %was.kept, %keep ]
  %number = phi double [ %second, %take ], [ %first, %make ], [ %first, %keep ]
  %failed = icmp slt i32 %status, 0
  %half = insertvalue {GAUSS} poison, double %number, 0
  %pair = insertvalue {GAUSS} %half, i1 %failed, 1
  ret {GAUSS} %pair
}}""",
    )


_Definition = Callable[[ModuleBuilder], None]
_DEFINITIONS = {
    "mersenne.double": _define_double,
    "mersenne.bits": _define_bits,
    "mersenne.below": _define_below,
    "mersenne.can_gauss": _define_can_gauss,
    "mersenne.gauss": _define_gauss,
}
#: what a unit's module needs to call a function on a `random.Random`
MERSENNE_FUNCTIONS: dict[str, _Definition] = {
    name: partial(define, name=name) for name, define in _DEFINITIONS.items()
}
