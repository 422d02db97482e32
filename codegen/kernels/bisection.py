"""Where a number belongs in a sorted array: the binary searches of ``np.searchsorted`` and ``np.interp``.

They look at the same elements as NumPy's, so that they give the same for arrays that are not sorted.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from ljit.codegen.arrays.arrays import strides_of
from ljit.codegen.llvm.forms import Native, array_parts, llvm_of_dtype
from ljit.types import INT, ArrayType

if TYPE_CHECKING:
    from ljit.codegen.emitter import Emitter

__all__ = ["array_interval", "array_position"]

_NEAR = 8  # elements behind the first guess that NumPy tries next


def array_position(e: Emitter, a: Native, key: Native, *, after: bool) -> Native:
    """How many elements are before the key: lower ones, or (`after`) all that are not higher. NaN is highest."""
    assert isinstance(a.type, ArrayType)
    type_, dtype = key.ref.type, a.type.dtype
    name = f"position_{'after' if after else 'before'}.{type_}.{dtype.str[1:]}"
    source = _SEARCH.format(
        name=name,
        type=type_,
        comparison=_comparison(type_, after=after),
        load=_load_as("mid", dtype, type_),
    )
    return _call(e, name, source, a, key)


def array_interval(e: Emitter, a: Native, key: Native) -> Native:
    """Between which elements a double is, as ``np.interp`` searches: the index of the lower, -1, or the size."""
    loads = {f"load{k}": _load(f"{k}", "double", name=f"x{k}") for k in (0, 1, 2, 3, _NEAR + 1)}
    source = _INTERVAL.format(
        near=_NEAR + 1,
        last=_load("last", "double", name="x.last"),
        item=_load("i", "double", name="x.i"),
        middle=_load("mid", "double"),
        **loads,
    )
    return _call(e, "interval", source, a, key)


def _call(e: Emitter, name: str, source: str, a: Native, key: Native) -> Native:
    assert isinstance(a.type, ArrayType)
    parts = array_parts(a)
    (stride,) = strides_of(e.f, a.type, parts)
    e.f.module.define(name, source)
    return Native(INT, (e.f.call("i64", name, (parts.data, parts.sizes[0], stride, key.ref)),))


def _load(index: str, type_: str, name: str = "item") -> str:
    operand = index if index.isdigit() else f"%{index}"
    return f"""  %{name}.offset = mul i64 %stride, {operand}
  %{name}.at = getelementptr i8, ptr %data, i64 %{name}.offset
  %{name} = load {type_}, ptr %{name}.at"""


def _load_as(index: str, dtype: np.dtype, type_: str) -> str:
    """Load an item of a dtype as a double or an i64, to compare it with a key of that type."""
    own = llvm_of_dtype(dtype)
    if own == type_:
        return _load(index, type_)
    is_signed = dtype.kind == "i"
    to_float = "fpext" if dtype.kind == "f" else "sitofp" if is_signed else "uitofp"
    to_int = "sext" if is_signed else "zext"
    widened = to_float if type_ == "double" else to_int
    return f"{_load(index, own, 'own')}\n  %item = {widened} {own} %own to {type_}"


def _comparison(type_: str, *, after: bool) -> str:
    """Whether the item is before the key, as `%before`."""
    if type_ == "i64":
        return f"  %before = icmp {'sle' if after else 'slt'} i64 %item, %key"
    first, second = ("%key", "%item") if after else ("%item", "%key")
    return f"""  %lower = fcmp olt double {first}, {second}
  %second.nan = fcmp uno double {second}, 0.0
  %first.number = fcmp ord double {first}, 0.0
  %first.only = and i1 %second.nan, %first.number
  %less = or i1 %lower, %first.only
  %before = xor i1 %less, {"true" if after else "false"}"""


_PARAMETERS = "ptr %data, i64 %size, i64 %stride"
_ATTRIBUTES = "nounwind willreturn memory(argmem: read)"
_SEARCH = f"""define internal i64 @{{name}}({_PARAMETERS}, {{type}} %key) {_ATTRIBUTES} {{{{
entry:
  br label %head
head:
  %low = phi i64 [ 0, %entry ], [ %next.low, %look ]
  %high = phi i64 [ %size, %entry ], [ %next.high, %look ]
  %more = icmp slt i64 %low, %high
  br i1 %more, label %look, label %done
look:
  %distance = sub i64 %high, %low
  %half = lshr i64 %distance, 1
  %mid = add i64 %low, %half
{{load}}
{{comparison}}
  %behind = add i64 %mid, 1
  %next.low = select i1 %before, i64 %behind, i64 %low
  %next.high = select i1 %before, i64 %high, i64 %mid
  br label %head
done:
  ret i64 %low
}}}}"""

_INTERVAL = f"""define internal i64 @interval({_PARAMETERS}, double %key) {_ATTRIBUTES} {{{{
entry:
  %last = sub i64 %size, 1
{{last}}
  %is.above = fcmp ogt double %key, %x.last
  br i1 %is.above, label %above, label %not.above
above:
  ret i64 %size
not.above:
{{load0}}
  %is.below = fcmp olt double %key, %x0
  br i1 %is.below, label %below, label %inside
below:
  ret i64 -1
inside:
  %is.short = icmp sle i64 %size, 4
  br i1 %is.short, label %linear, label %first
linear:
  %i = phi i64 [ 1, %inside ], [ %following, %onwards ]
  %is.end = icmp sge i64 %i, %size
  br i1 %is.end, label %here, label %try
try:
{{item}}
  %is.behind = fcmp oge double %key, %x.i
  br i1 %is.behind, label %onwards, label %here
onwards:
  %following = add i64 %i, 1
  br label %linear
here:
  %before.i = sub i64 %i, 1
  ret i64 %before.i
first:
{{load1}}
  %is.first = fcmp olt double %key, %x1
  br i1 %is.first, label %at.first, label %second
at.first:
  ret i64 0
second:
{{load2}}
  %is.second = fcmp olt double %key, %x2
  br i1 %is.second, label %at.second, label %third
at.second:
  ret i64 1
third:
{{load3}}
  %is.third = fcmp olt double %key, %x3
  br i1 %is.third, label %at.third, label %far
at.third:
  ret i64 2
far:
  %is.longer = icmp sgt i64 %last, {{near}}
  br i1 %is.longer, label %guess, label %head
guess:
{{load{_NEAR + 1}}}
  %is.near = fcmp olt double %key, %x{_NEAR + 1}
  %limit = select i1 %is.near, i64 {{near}}, i64 %size
  br label %head
head:
  %low = phi i64 [ 3, %far ], [ 3, %guess ], [ %next.low, %look ]
  %high = phi i64 [ %size, %far ], [ %limit, %guess ], [ %next.high, %look ]
  %more = icmp slt i64 %low, %high
  br i1 %more, label %look, label %done
look:
  %distance = sub i64 %high, %low
  %half = lshr i64 %distance, 1
  %mid = add i64 %low, %half
{{middle}}
  %before = fcmp oge double %key, %item
  %behind = add i64 %mid, 1
  %next.low = select i1 %before, i64 %behind, i64 %low
  %next.high = select i1 %before, i64 %high, i64 %mid
  br label %head
done:
  %result = sub i64 %low, 1
  ret i64 %result
}}}}"""
