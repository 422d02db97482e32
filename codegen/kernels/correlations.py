"""Sums of products of taps and of elements of a vector, at one place after the other: ``np.correlate``.

Places where all taps meet elements are done side by side, in vectors; those at both ends one by one. Units share the
function, which is called as NumPy's inner loops are. Products are added up in blocks of 128, and those then.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from ljit.codegen.llvm.builder import ModuleBuilder, Ref
from ljit.codegen.llvm.engine import vector_bytes
from ljit.codegen.llvm.forms import Native, array_parts, memory_type
from ljit.codegen.llvm.loop_texts import loop_text
from ljit.codegen.llvm.shared_code import shared_function
from ljit.codegen.nests.ufunc_loops import call_long
from ljit.types import INT, ArrayType

if TYPE_CHECKING:
    from ljit.codegen.emitter import Emitter

__all__ = ["array_correlate"]

_WIDE = 4  # vectors of places that are done together
_BLOCK = 128


def array_correlate(
    e: Emitter, a: Native, taps: Native, into: Native, ends: tuple[Native, Native]
) -> None:
    """Fill `into`; `ends` are how many places have elements for some of the taps only, in front and behind."""
    assert isinstance(a.type, ArrayType)
    item, size = memory_type(a.type.dtype), a.type.dtype.itemsize
    name = f"correlate.{item}"
    function = shared_function(name, lambda module: _write(module, name, item, size), straight=True)
    parts = [array_parts(x) for x in (a, taps, into)]
    count, length = (Native(INT, x.sizes) for x in (parts[2], parts[1]))
    for end in ends:
        count = e.sub(count, end)
    sizes, steps = [count.ref, length.ref], [end.ref for end in ends]
    call_long(e, Ref("ptr", function), [x.data for x in parts], sizes, steps)


class _Numbers:
    """How numbers of a type are added and multiplied; a product may be rounded with the sum that it is added to."""

    def __init__(self, item: str, size: int) -> None:
        is_float = item in ("float", "double")
        self.item, self.size, self.lanes = item, size, vector_bytes() // size
        self.vector = f"<{self.lanes} x {item}>"
        self.add, self.mul = ("fadd contract", "fmul contract") if is_float else ("add", "mul")
        self.zero = "0.0" if is_float else "0"
        short = f"{'f' if is_float else 'i'}{8 * size}"
        reduce = f"@llvm.vector.reduce.{'fadd' if is_float else 'add'}.v{self.lanes}{short}"
        first = f"{item} {self.zero}, " if is_float else ""
        flags = "reassoc " if is_float else ""
        self.total = f"call {flags}{item} {reduce}({first}{self.vector} {{}})"


def _write(module: ModuleBuilder, name: str, item: str, size: int) -> None:
    x = _Numbers(item, size)
    module.define(
        name,
        f"""{_whole(name, x)}

{_one(name, x)}""",
    )


def _whole(name: str, x: _Numbers) -> str:
    """All places: those in front, those in the middle, those behind."""
    loads = "".join(
        f"  %{what}.at = getelementptr {type_}, ptr %{source}, i64 {i}\n"
        f"  %{what} = load {type_}, ptr %{what}.at\n"
        for source, type_, names in (
            ("operands", "ptr", ("a", "taps", "into")),
            ("sizes", "i64", ("count", "length")),
            ("strides", "i64", ("left", "right")),
        )
        for i, what in enumerate(names)
    )
    in_front = f"""  %missing = sub i64 %left, %front
  %front.count = sub i64 %length, %missing
  %front.taps = getelementptr {x.item}, ptr %taps, i64 %missing
{_placed(name, x, "front", "%a", "%front.taps", "%front.count", "%into")}"""
    behind = f"""  %behind.step = add i64 %behind, 1
  %behind.count = sub i64 %length, %behind.step
  %behind.place = add i64 %behind, %count
  %behind.a = getelementptr {x.item}, ptr %a, i64 %behind.place
{_placed(name, x, "behind", "%behind.a", "%taps", "%behind.count", "%into.behind")}"""
    return f"""define void @{name}(ptr %operands, ptr %sizes, ptr %strides, ptr %data) nounwind {{
entry:
{loads}  %into.middle = getelementptr {x.item}, ptr %into, i64 %left
  %into.behind = getelementptr {x.item}, ptr %into.middle, i64 %count
{loop_text("front", "%left", in_front)}{_middle(name, x)}{loop_text("behind", "%right", behind)}  ret void
}}"""


def _placed(name: str, x: _Numbers, at: str, a: str, taps: str, count: str, into: str) -> str:
    return f"""  %{at}.sum = call {x.item} @{name}.one(ptr {a}, ptr {taps}, i64 {count})
  %{at}.to = getelementptr {x.item}, ptr {into}, i64 %{at}
  store {x.item} %{at}.sum, ptr %{at}.to
"""


def _middle(name: str, x: _Numbers) -> str:
    """Some vectors of places after the other, single ones for the rest; the last of these has some places again."""
    width = _WIDE * x.lanes
    last = f"""  %rest.next.at = add i64 %begun, %rest
  %rest.at = call i64 @llvm.smin.i64(i64 %rest.next.at, i64 %last)
{_side_by_side("rest", x, 1, "%rest.at")}"""
    wide = loop_text("wide", "%begun", _side_by_side("wide", x, _WIDE, "%wide"), step=width)
    rest = loop_text("rest", "%over", last, step=x.lanes)
    single = f"""  %single.a = getelementptr {x.item}, ptr %a, i64 %single
{_placed(name, x, "single", "%single.a", "%taps", "%length", "%into.middle")}"""
    return f"""  %over = urem i64 %count, {width}
  %begun = sub i64 %count, %over
  %last = sub i64 %count, {x.lanes}
  %are.few = icmp slt i64 %count, {x.lanes}
  br i1 %are.few, label %few, label %many
many:
{wide}{rest}  br label %over.middle
few:
{loop_text("single", "%count", single)}  br label %over.middle
over.middle:
"""


def _side_by_side(block: str, x: _Numbers, vectors: int, place: str) -> str:
    """As many vectors of places, in registers."""
    n, lanes = block, range(vectors)
    totals = _phis(f"{n}.t", lanes, x.vector, (f"%{n}.start", f"%{n}.sum.done"))
    sums = _phis(f"{n}.s", lanes, x.vector, (f"%{n}.sum.start", f"%{n}.sum.body"))
    elements = "".join(
        f"""  %{n}.from.{v} = getelementptr {x.vector}, ptr %{n}.from, i64 {v}
  %{n}.x{v} = load {x.vector}, ptr %{n}.from.{v}, align {x.size}
  %{n}.p{v} = {x.mul} {x.vector} %{n}.x{v}, %{n}.tap
  %{n}.s{v}.next = {x.add} {x.vector} %{n}.s{v}, %{n}.p{v}
"""
        for v in lanes
    )
    added = "".join(
        f"  %{n}.t{v}.next = {x.add} {x.vector} %{n}.t{v}, %{n}.s{v}.next\n" for v in lanes
    )
    stores = "".join(
        f"""  %{n}.to.{v} = getelementptr {x.vector}, ptr %{n}.to, i64 {v}
  store {x.vector} %{n}.t{v}, ptr %{n}.to.{v}, align {x.size}
"""
        for v in lanes
    )
    return f"""  %{n}.a = getelementptr {x.item}, ptr %a, i64 {place}
  %{n}.to = getelementptr {x.item}, ptr %into.middle, i64 {place}
  br label %{n}.start
{n}.start:
  br label %{n}.blocks
{n}.blocks:
  %{n}.k0 = phi i64 [ 0, %{n}.start ], [ %{n}.k1, %{n}.sum.done ]
{totals}  %{n}.is.more = icmp slt i64 %{n}.k0, %length
  br i1 %{n}.is.more, label %{n}.sum.start, label %{n}.store
{n}.sum.start:
  %{n}.full = add i64 %{n}.k0, {_BLOCK}
  %{n}.k1 = call i64 @llvm.smin.i64(i64 %{n}.full, i64 %length)
  br label %{n}.sum.body
{n}.sum.body:
  %{n}.k = phi i64 [ %{n}.k0, %{n}.sum.start ], [ %{n}.k.next, %{n}.sum.body ]
{sums}  %{n}.tap.at = getelementptr {x.item}, ptr %taps, i64 %{n}.k
  %{n}.tap.item = load {x.item}, ptr %{n}.tap.at
  %{n}.tap.one = insertelement {x.vector} poison, {x.item} %{n}.tap.item, i32 0
  %{n}.tap = shufflevector {x.vector} %{n}.tap.one, {x.vector} poison, <{x.lanes} x i32> zeroinitializer
  %{n}.from = getelementptr {x.item}, ptr %{n}.a, i64 %{n}.k
{elements}  %{n}.k.next = add i64 %{n}.k, 1
  %{n}.sum.more = icmp slt i64 %{n}.k.next, %{n}.k1
  br i1 %{n}.sum.more, label %{n}.sum.body, label %{n}.sum.done
{n}.sum.done:
{added}  br label %{n}.blocks
{n}.store:
{stores}"""


def _phis(name: str, lanes: range, vector: str, blocks: tuple[str, str]) -> str:
    start, again = blocks
    return "".join(
        f"  %{name}{v} = phi {vector} [ zeroinitializer, {start} ], [ %{name}{v}.next, {again} ]\n"
        for v in lanes
    )


def _one(name: str, x: _Numbers) -> str:
    """The sum for a single place, along which the vectors lie."""
    return f"""define internal {x.item} @{name}.one(ptr %a, ptr %taps, i64 %count) nounwind {{
entry:
  br label %several
{_along("several", x, _WIDE, ("0", "zeroinitializer", "%entry"))}  br label %vector
{_along("vector", x, 1, ("%several.k", "%several.sum", "%several.done"))}  %total = {x.total.format("%vector.sum")}
  br label %single
single:
  %i = phi i64 [ %vector.k, %vector.done ], [ %i.next, %single.body ]
  %sum = phi {x.item} [ %total, %vector.done ], [ %sum.next, %single.body ]
  %is.more = icmp slt i64 %i, %count
  br i1 %is.more, label %single.body, label %single.done
single.body:
  %x.at = getelementptr {x.item}, ptr %a, i64 %i
  %x = load {x.item}, ptr %x.at
  %y.at = getelementptr {x.item}, ptr %taps, i64 %i
  %y = load {x.item}, ptr %y.at
  %product = {x.mul} {x.item} %x, %y
  %sum.next = {x.add} {x.item} %sum, %product
  %i.next = add i64 %i, 1
  br label %single
single.done:
  ret {x.item} %sum
}}"""


def _along(loop: str, x: _Numbers, vectors: int, start: tuple[str, str, str]) -> str:
    """As many vectors a trip, from a place and a sum on, as long as there are so many; `.sum` is the sum of all."""
    place, sum_, block = start
    n, lanes = loop, range(vectors)
    firsts = (sum_, *("zeroinitializer",) * (vectors - 1))
    sums = "".join(
        f"  %{n}.s{v} = phi {x.vector} [ {first}, {block} ], [ %{n}.s{v}.next, %{n}.body ]\n"
        for v, first in zip(lanes, firsts, strict=True)
    )
    products = "".join(
        f"""  %{n}.x{v}.at = getelementptr {x.vector}, ptr %{n}.xs, i64 {v}
  %{n}.x{v} = load {x.vector}, ptr %{n}.x{v}.at, align {x.size}
  %{n}.y{v}.at = getelementptr {x.vector}, ptr %{n}.ys, i64 {v}
  %{n}.y{v} = load {x.vector}, ptr %{n}.y{v}.at, align {x.size}
  %{n}.p{v} = {x.mul} {x.vector} %{n}.x{v}, %{n}.y{v}
  %{n}.s{v}.next = {x.add} {x.vector} %{n}.s{v}, %{n}.p{v}
"""
        for v in lanes
    )
    return f"""{n}:
  %{n}.k = phi i64 [ {place}, {block} ], [ %{n}.next, %{n}.body ]
{sums}  %{n}.next = add i64 %{n}.k, {vectors * x.lanes}
  %{n}.is.in = icmp sle i64 %{n}.next, %count
  br i1 %{n}.is.in, label %{n}.body, label %{n}.done
{n}.body:
  %{n}.xs = getelementptr {x.item}, ptr %a, i64 %{n}.k
  %{n}.ys = getelementptr {x.item}, ptr %taps, i64 %{n}.k
{products}  br label %{n}
{n}.done:
{_sum_of(n, x, vectors)}"""


def _sum_of(loop: str, x: _Numbers, vectors: int) -> str:
    """Add the vectors up, pair by pair."""
    names, lines = [f"%{loop}.s{v}" for v in range(vectors)], list[str]()
    while len(names) > 1:
        left, right, *names = names
        names.append(f"%{loop}.sum{len(lines)}")
        lines.append(f"  {names[-1]} = {x.add} {x.vector} {left}, {right}\n")
    last = f"  %{loop}.sum = {x.add} {x.vector} {names[0]}, zeroinitializer\n"
    return "".join([*lines, last])
