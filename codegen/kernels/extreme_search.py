"""Where the least or greatest element of a vector is: ``np.argmin`` and ``np.argmax``.

A vector without gaps is gone through in blocks: the extremum of a block, in SIMD registers, is compared with the
best of all blocks before. Which element it is, is looked for in one block, at the end. A register of elements that does
not fit behind the others begins before the end of these: elements seen twice change nothing.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from ljit.codegen.kernels.first_bools import LEAST_AT_ONCE, first_bool
from ljit.codegen.llvm.forms import memory_type

if TYPE_CHECKING:
    import numpy as np

    from ljit.codegen.llvm.builder import ModuleBuilder

__all__ = ["PLACE_ATTRIBUTES", "Search", "splat"]

_REGISTER, _BLOCK = 32, 2048  # bytes
_GROUP = 8  # elements with gaps between them
_REGISTERS = 4  # of elements side by side that a search in one vector takes longer for


class Search:
    """Writes the functions for one dtype."""

    def __init__(self, dtype: np.dtype, *, greatest: bool) -> None:
        self.type = memory_type(dtype)
        self.is_float, self.is_bool = dtype.kind == "f", dtype.kind == "b"
        self.size = dtype.itemsize
        self.lanes = _REGISTER // max(self.size, 4 if self.type == "half" else 1)
        order = "g" if greatest else "l"
        sign = "s" if dtype.kind == "i" else "u"
        #: `before`: a number before another; `improves`: also where either is NaN
        self.before = f"fcmp o{order}t" if self.is_float else f"icmp {sign}{order}t"
        self.improves = f"fcmp u{order}t" if self.is_float else self.before
        bits = 8 * self.size
        self.extreme = _extreme(dtype.kind, bits, greatest=greatest)
        self.mask = f"i{bits}"
        self.greatest = greatest
        kind = "bool" if self.is_bool else f"{sign}.{self.type}"
        self.name = f"{'greatest' if greatest else 'least'}.{kind}"

    def define(self, module: ModuleBuilder) -> None:
        """Write the function for one vector."""
        widths = {LEAST_AT_ONCE} if self.is_bool else {self.lanes, 4 * self.lanes, _GROUP}
        for bits in sorted(widths):
            module.declare(f"llvm.cttz.i{bits}", f"i{bits}", [f"i{bits}", "i1"])
        if self.is_bool:
            source = first_bool(self.name, PLACE_ATTRIBUTES, holds=self.greatest)
        else:
            source = self._source_for_one()
        module.define(self.name, source)

    @property
    def least_by_itself(self) -> int:
        """How many elements without gaps one vector has at least that is not better searched together with others."""
        return LEAST_AT_ONCE if self.is_bool else _REGISTERS * self.lanes + 1

    # -- one vector --------------------------------------------------------------------------------

    def _source_for_one(self) -> str:
        t, n = self.type, self.lanes
        return f"""define i64 @{self.name}(ptr %data, i64 %size, i64 %stride) {PLACE_ATTRIBUTES} {{
entry:
  %x0 = load {t}, ptr %data
  %last = sub i64 %size, {n}
  %last.group = sub i64 %size, {_GROUP}
  %is.long = icmp sge i64 %last, 0
  %is.unit = icmp eq i64 %stride, {self.size}
  br i1 %is.long, label %long, label %few
long:
  br i1 %is.unit, label %block, label %gaps
{self._few()}
{self._strided()}
{self._block()}
{self._find()}
}}"""

    def _few(self) -> str:
        """A loop without branches, for a few elements: all, or those of a group."""
        t = self.type
        is_settled = f"fcmp uno {t} %few.new, %few.new" if self.is_float else "or i1 false, false"
        return f"""few:
  %few.k = phi i64 [ 0, %entry ], [ 0, %gaps ], [ %here, %better ], [ %few.next, %few ]
  %few.end = phi i64 [ %size, %entry ], [ %size, %gaps ], [ %here.end, %better ], [ %few.end, %few ]
  %few.best = phi {t} [ %x0, %entry ], [ %x0, %gaps ], [ %many.best, %better ], [ %few.new, %few ]
  %few.place = phi i64 [ 0, %entry ], [ 0, %gaps ], [ %many.place, %better ], [ %few.other, %few ]
  %few.offset = mul i64 %few.k, %stride
  %few.at = getelementptr i8, ptr %data, i64 %few.offset
  %few.x = load {t}, ptr %few.at
{self.better("few.better", t, "i1", "%few.x", "%few.best")}
  %few.new = select i1 %few.better, {t} %few.x, {t} %few.best
  %few.other = select i1 %few.better, i64 %few.k, i64 %few.place
  %few.next = add nuw nsw i64 %few.k, 1
  %few.more = icmp slt i64 %few.next, %few.end
  br i1 %few.more, label %few, label %few.done
few.done:
  %few.settled = {is_settled}
  %few.last = icmp sge i64 %few.end, %size
  %few.all = or i1 %few.settled, %few.last
  br i1 %few.all, label %few.found, label %many
few.found:
  ret i64 %few.other"""

    def better(self, name: str, type_: str, mask: str, x: str, best: str) -> str:
        """Whether `x` is nearer to the extremum: a NaN is, but not than a NaN."""
        if not self.is_float:
            return f"  %{name} = {self.before} {type_} {x}, {best}"
        return f"""  %{name}.unordered = {self.improves} {type_} {x}, {best}
  %{name}.number = fcmp ord {type_} {best}, {best}
  %{name} = and {mask} %{name}.unordered, %{name}.number"""

    def _strided(self) -> str:
        """A loop over groups of elements with gaps between them; those with a NaN are gone through one by one."""
        t, n = self.type, _GROUP
        vector, group = f"<{n} x {t}>", f"%group.{_GROUP - 1}"
        is_nan = f"{'fcmp uno' if self.is_float else 'icmp ne'} {vector} {group}, {group}"
        is_same = f"{'fcmp oeq' if self.is_float else 'icmp eq'} {vector} {group}"
        loads = "\n".join(
            f"""  %m{k}.offset = mul i64 %stride, {k}
  %m{k}.at = getelementptr i8, ptr %many.at, i64 %m{k}.offset
  %m{k} = load {t}, ptr %m{k}.at
  %group.{k} = insertelement {vector} {f"%group.{k - 1}" if k else "poison"}, {t} %m{k}, i64 {k}"""
            for k in range(n)
        )
        return f"""gaps:
  %is.group = icmp sge i64 %last.group, 0
  br i1 %is.group, label %many, label %few
many:
  %many.k = phi i64 [ 0, %gaps ], [ %few.end, %few.done ], [ %many.next, %onwards ]
  %many.best = phi {t} [ %x0, %gaps ], [ %few.new, %few.done ], [ %many.new, %onwards ]
  %many.place = phi i64 [ 0, %gaps ], [ %few.other, %few.done ], [ %many.other, %onwards ]
  %many.in = icmp slt i64 %many.k, %last.group
  %here = select i1 %many.in, i64 %many.k, i64 %last.group
  %here.end = add nuw nsw i64 %here, {n}
  %many.offset = mul i64 %here, %stride
  %many.at = getelementptr i8, ptr %data, i64 %many.offset
{loads}
{splat("many.start", "many.best", t, n)}
  %group.better = {self.improves} {vector} {group}, %many.start
  %group.bits = bitcast <{n} x i1> %group.better to i{n}
  %group.none = icmp eq i{n} %group.bits, 0
  br i1 %group.none, label %onwards, label %better
better:
  %group.nan = {is_nan}
  %nan.in.group = bitcast <{n} x i1> %group.nan to i{n}
  %no.nan = icmp eq i{n} %nan.in.group, 0
  br i1 %no.nan, label %best.of.group, label %few
best.of.group:
{self._fold(group[1:], n, 1)}
  %best.in.group = extractelement <1 x {t}> {group}.1, i64 0
{splat("best.lanes", "best.in.group", t, n)}
  %same.lanes = {is_same}, %best.lanes
  %same.bits = bitcast <{n} x i1> %same.lanes to i{n}
  %best.lane = call i{n} @llvm.cttz.i{n}(i{n} %same.bits, i1 true)
  %best.lane.wide = zext i{n} %best.lane to i64
  %best.place = add i64 %here, %best.lane.wide
  br label %onwards
onwards:
  %many.new = phi {t} [ %many.best, %many ], [ %best.in.group, %best.of.group ]
  %many.other = phi i64 [ %many.place, %many ], [ %best.place, %best.of.group ]
  %many.next = add nuw nsw i64 %many.k, {n}
  %many.more = icmp slt i64 %many.next, %size
  br i1 %many.more, label %many, label %many.done
many.done:
  ret i64 %many.other"""

    def _block(self) -> str:
        """The loop over blocks: four registers at a time, then one at a time."""
        t, n, size = self.type, self.lanes, _BLOCK // self.size
        return f"""block:
  %first = phi i64 [ 0, %long ], [ %next.first, %again ]
  %best = phi {t} [ %x0, %long ], [ %new.best, %again ]
  %place = phi i64 [ 0, %long ], [ %new.place, %again ]
  %is.in = icmp sle i64 %first, %last
  %begin = select i1 %is.in, i64 %first, i64 %last
  %full = add i64 %begin, {size}
  %is.full = icmp sle i64 %full, %size
  %end = select i1 %is.full, i64 %full, i64 %size
  %end.narrow = sub i64 %end, {n}
  %end.wide = sub i64 %end, {4 * n}
{splat("narrow.start", "best", t, n)}
{splat("wide.start", "best", t, 4 * n)}
  %has.wide = icmp sle i64 %begin, %end.wide
  br i1 %has.wide, label %wide, label %rest
{self._wide_part()}
{self._narrow_part()}
{self._any_better()}
  br i1 %is.better, label %better.block, label %again
better.block:
{self._fold("all", n, 1)}
  %found.best = extractelement <1 x {t}> %all.1, i32 0
  %is.settled = {self._is_settled()}
  br i1 %is.settled, label %find, label %again
again:
  %new.best = phi {t} [ %best, %narrow.done ], [ %found.best, %better.block ]
  %new.place = phi i64 [ %place, %narrow.done ], [ %begin, %better.block ]
  %next.first = add nuw nsw i64 %first, {size}
  %more.blocks = icmp slt i64 %next.first, %size
  br i1 %more.blocks, label %block, label %find"""

    def _wide_part(self) -> str:
        """The loop over four registers at a time."""
        t, n = self.type, self.lanes
        wide = f"<{4 * n} x {t}>"
        return f"""wide:
  %wk = phi i64 [ %begin, %block ], [ %wk.next, %wide ]
  %wide.best = phi {wide} [ %wide.start, %block ], [ %wide.new, %wide ]
{self._nan_phi("wide", "block", 2 * n)}
  %wide.at = getelementptr {t}, ptr %data, i64 %wk
  %wx = load {wide}, ptr %wide.at, align {self.size}
  %wide.better = {self.before} {wide} %wx, %wide.best
  %wide.new = select <{4 * n} x i1> %wide.better, {wide} %wx, {wide} %wide.best
{self._note_nans_of_halves(4 * n)}
  %wk.next = add nuw nsw i64 %wk, {4 * n}
  %wide.more = icmp sle i64 %wk.next, %end.wide
  br i1 %wide.more, label %wide, label %wide.done
wide.done:
{self._fold("wide.new", 4 * n, n)}
{self._fold_nans("wide.nan.new", 2 * n)}
  br label %rest"""

    def _narrow_part(self) -> str:
        """The loop over the registers that are left of a block."""
        t, n = self.type, self.lanes
        narrow = f"<{n} x {t}>"
        return f"""rest:
  %k0 = phi i64 [ %begin, %block ], [ %wk.next, %wide.done ]
  %best0 = phi {narrow} [ %narrow.start, %block ], [ %wide.new.{n}, %wide.done ]
{self._rest_nans()}
  %has.rest = icmp slt i64 %k0, %end
  br i1 %has.rest, label %narrow, label %narrow.done
narrow:
  %nk = phi i64 [ %k0, %rest ], [ %nk.next, %narrow ]
  %narrow.best = phi {narrow} [ %best0, %rest ], [ %narrow.new, %narrow ]
{self._nan_phi("narrow", "rest", n, "%nan0")}
  %narrow.in = icmp slt i64 %nk, %end.narrow
  %narrow.k = select i1 %narrow.in, i64 %nk, i64 %end.narrow
  %narrow.at = getelementptr {t}, ptr %data, i64 %narrow.k
  %nx = load {narrow}, ptr %narrow.at, align {self.size}
  %narrow.better = {self.before} {narrow} %nx, %narrow.best
  %narrow.new = select <{n} x i1> %narrow.better, {narrow} %nx, {narrow} %narrow.best
{self._note_nans("narrow", n, "%nx", "%nx")}
  %nk.next = add nuw nsw i64 %nk, {n}
  %narrow.more = icmp slt i64 %nk.next, %end
  br i1 %narrow.more, label %narrow, label %narrow.done
narrow.done:
  %all = phi {narrow} [ %best0, %rest ], [ %narrow.new, %narrow ]"""

    @property
    def _is_same(self) -> str:
        """The comparison of a register with the extremum."""
        return f"{'fcmp oeq' if self.is_float else 'icmp eq'} <{self.lanes} x {self.type}>"

    def _find(self) -> str:
        """The search for the element that was found to be the extremum, or a NaN."""
        t, n = self.type, self.lanes
        skip = "%has.nan" if self.is_float else "false"
        return f"""find:
  %the.best = phi {t} [ %found.best, %better.block ], [ %new.best, %again ]
  %the.place = phi i64 [ %begin, %better.block ], [ %new.place, %again ]
{splat("wanted", "the.best", t, n)}
  %last.far = sub i64 %size, {4 * n}
  br i1 {skip}, label %near, label %far
{self._find_far()}
{self._find_near()}"""

    def _find_far(self) -> str:
        """The search in four registers at a time."""
        t, n = self.type, self.lanes
        vector, mask = f"<{n} x {t}>", f"<{n} x i1>"
        quarters = "\n".join(
            f"""  %q{k}.at = getelementptr {t}, ptr %far.at, i64 {k * n}
  %q{k} = load {vector}, ptr %q{k}.at, align {self.size}
  %q{k}.hit = {self._is_same} %q{k}, %wanted"""
            for k in range(4)
        )
        joined = "\n".join(
            f"""  %q{k}.bits = bitcast {mask} %q{k}.hit to i{n}
  %q{k}.far = zext i{n} %q{k}.bits to i{4 * n}
  %q{k}.shifted = shl i{4 * n} %q{k}.far, {k * n}
  %q{k}.all = or i{4 * n} %q{k}.shifted, {f"%q{k - 1}.all" if k else "0"}"""
            for k in range(4)
        )
        return f"""far:
  %far.k = phi i64 [ %the.place, %find ], [ %far.next, %look.far ]
  %far.in = icmp sle i64 %far.k, %last.far
  br i1 %far.in, label %look.far, label %near
look.far:
  %far.at = getelementptr {t}, ptr %data, i64 %far.k
{quarters}
  %q01 = or {mask} %q0.hit, %q1.hit
  %q23 = or {mask} %q2.hit, %q3.hit
  %q = or {mask} %q01, %q23
  %q.bits = bitcast {mask} %q to i{n}
  %q.none = icmp eq i{n} %q.bits, 0
  %far.next = add nuw nsw i64 %far.k, {4 * n}
  br i1 %q.none, label %far, label %far.done
far.done:
{joined}
  %far.lane = call i{4 * n} @llvm.cttz.i{4 * n}(i{4 * n} %q3.all, i1 true)
  %far.lane.wide = {"trunc" if n > 16 else "bitcast" if n == 16 else "zext"} i{4 * n} %far.lane to i64
  %far.result = add i64 %far.k, %far.lane.wide
  ret i64 %far.result"""

    def _find_near(self) -> str:
        """The search in one register at a time: behind the others, or for a NaN."""
        t, n = self.type, self.lanes
        vector, mask = f"<{n} x {t}>", f"<{n} x i1>"
        hit = f"  %hit = {self._is_same} %fx, %wanted"
        if self.is_float:
            hit = f"""  %is.same = {self._is_same} %fx, %wanted
  %is.nan = fcmp uno {vector} %fx, %fx
  %hit = select i1 %has.nan, {mask} %is.nan, {mask} %is.same"""
        return f"""near:
  %near.k = phi i64 [ %the.place, %find ], [ %far.k, %far ]
  br label %look
look:
  %fk = phi i64 [ %near.k, %near ], [ %fk.next, %look ]
  %find.in = icmp slt i64 %fk, %last
  %find.k = select i1 %find.in, i64 %fk, i64 %last
  %find.at = getelementptr {t}, ptr %data, i64 %find.k
  %fx = load {vector}, ptr %find.at, align {self.size}
{hit}
  %bits = bitcast {mask} %hit to i{n}
  %fk.next = add nuw nsw i64 %fk, {n}
  %is.none = icmp eq i{n} %bits, 0
  br i1 %is.none, label %look, label %done
done:
  %lane = call i{n} @llvm.cttz.i{n}(i{n} %bits, i1 true)
  %lane.wide = zext i{n} %lane to i64
  %result = add i64 %find.k, %lane.wide
  ret i64 %result"""

    def _fold(self, name: str, count: int, to: int) -> str:
        """Halve a vector until it has `to` lanes: `name.to`."""
        lines, source = [], name
        while count > to:
            count //= 2
            target = f"{name}.{count}"
            vector, mask = f"<{count} x {self.type}>", f"<{count} x i1>"
            high, low = f"{vector} %{target}.high", f"{vector} %{target}.low"
            lines += [
                _half(f"{target}.low", source, self.type, 2 * count, 0),
                _half(f"{target}.high", source, self.type, 2 * count, count),
                f"  %{target}.better = {self.before} {high}, %{target}.low",
                f"  %{target} = select {mask} %{target}.better, {high}, {low}",
            ]
            source = target
        return "\n".join(lines)

    # -- NaN: lanes of masks -----------------------------------------------------------------------

    def _nan_phi(self, name: str, before: str, count: int, start: str = "zeroinitializer") -> str:
        if not self.is_float:
            return ""
        vector = f"<{count} x {self.mask}>"
        return f"  %{name}.nan = phi {vector} [ {start}, %{before} ], [ %{name}.nan.new, %{name} ]"

    def _note_nans(self, name: str, count: int, x: str, y: str) -> str:
        if not self.is_float:
            return ""
        vector = f"<{count} x {self.mask}>"
        return f"""  %{name}.unordered = fcmp uno <{count} x {self.type}> {x}, {y}
  %{name}.mask = sext <{count} x i1> %{name}.unordered to {vector}
  %{name}.nan.new = or {vector} %{name}.nan, %{name}.mask"""

    def _note_nans_of_halves(self, count: int) -> str:
        """One comparison finds the NaNs of two registers."""
        if not self.is_float:
            return ""
        low = _half("wide.low", "wx", self.type, count, 0)
        high = _half("wide.high", "wx", self.type, count, count // 2)
        return f"{low}\n{high}\n" + self._note_nans("wide", count // 2, "%wide.low", "%wide.high")

    def _fold_nans(self, name: str, count: int) -> str:
        if not self.is_float:
            return ""
        low = _half("nan.low", name, self.mask, count, 0)
        high = _half("nan.high", name, self.mask, count, count // 2)
        return f"{low}\n{high}\n  %nan.wide = or <{count // 2} x {self.mask}> %nan.low, %nan.high"

    def _rest_nans(self) -> str:
        if not self.is_float:
            return ""
        vector = f"<{self.lanes} x {self.mask}>"
        return f"  %nan0 = phi {vector} [ zeroinitializer, %block ], [ %nan.wide, %wide.done ]"

    def _any_better(self) -> str:
        """Whether a lane of the block is better than all before: nothing waits for the branch, if it is foreseen."""
        n, narrow = self.lanes, f"<{self.lanes} x {self.type}>"
        if not self.is_float:
            return f"""  %lanes = {self.before} {narrow} %all, %narrow.start
  %lane.bits = bitcast <{n} x i1> %lanes to i{n}
  %is.better = icmp ne i{n} %lane.bits, 0"""
        vector = f"<{n} x {self.mask}>"
        return f"""  %nans = phi {vector} [ %nan0, %rest ], [ %narrow.nan.new, %narrow ]
  %lanes = {self.before} {narrow} %all, %narrow.start
  %nan.lanes = icmp ne {vector} %nans, zeroinitializer
  %either = or <{n} x i1> %lanes, %nan.lanes
  %lane.bits = bitcast <{n} x i1> %either to i{n}
  %is.better = icmp ne i{n} %lane.bits, 0
  %nan.bits = bitcast <{n} x i1> %nan.lanes to i{n}
  %has.nan = icmp ne i{n} %nan.bits, 0"""

    def _is_settled(self) -> str:
        """Whether no element behind can be better."""
        if not self.is_float:
            return f"icmp eq {self.type} %found.best, {self.extreme}"
        return "or i1 %has.nan, false"


PLACE_ATTRIBUTES = "nounwind willreturn memory(argmem: read)"


def _extreme(kind: str, bits: int, *, greatest: bool) -> int:
    """The integer beyond which there is none."""
    high = (1 << bits) - 1 if kind == "u" else (1 << (bits - 1)) - 1
    return high if greatest else (0 if kind == "u" else -high - 1)


def splat(name: str, source: str, type_: str, count: int) -> str:
    """A vector of which each element is `source`."""
    vector = f"<{count} x {type_}>"
    return f"""  %{name}.one = insertelement {vector} poison, {type_} %{source}, i64 0
  %{name} = shufflevector {vector} %{name}.one, {vector} poison, <{count} x i32> zeroinitializer"""


def _half(name: str, source: str, type_: str, count: int, first: int) -> str:
    vector = f"<{count} x {type_}>"
    lanes = ", ".join(f"i32 {first + k}" for k in range(count // 2))
    return f"  %{name} = shufflevector {vector} %{source}, {vector} poison, <{count // 2} x i32> <{lanes}>"
