"""Many searches in a sorted array whose items lie about evenly: a table says where to look.

The range of the items is parted into equal cells, some for each item. The table has for each cell how many items are in
those before it, so a number is compared with the few items of its own cell, whichever it is: no branch, no search. A
number's cell is computed as the items' are, and never falls when the number rises; so numbers in other cells than an
item are on the side of it that their cells are on, however the cells were rounded.

The cells of floats are equal in distance, or, where that leaves many items in one, in distance of their bits: such are
about as evenly spread where the items are those of a geometric progression.

A number is compared with all items where these are few: that takes vectors.

The functions say that they have not done it if the array is not sorted or has too many items, if there are too few keys
for a table to pay, or if many items are in a cell. They take a while to compile.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from ljit.codegen.llvm.refs import UNPREDICTABLE
from ljit.codegen.llvm.shared_code import shared_function
from ljit.records import Record

if TYPE_CHECKING:
    from ljit.codegen.emitter import Emitter
    from ljit.codegen.llvm.builder import ModuleBuilder, Ref

__all__ = ["search_grid"]

_CELLS_SHIFT = 2  # four cells for each item
_MANY = 1 << 10  # items, whose table has 16 KiB: those of more are not on the stack
_MOST = 1 << 15  # items, whose table has 512 KiB
_FEW = 16  # items that a number is compared with at once
_KEYS_SHIFT = 2  # the table takes as long as a few searches for each item
_HIGHEST = {"double": "0x7FF0000000000000", "i64": str(2**63 - 1)}
_ALONE, _SOME = (1,), (4, 2, 1)  # steps to the place among one item of a cell, or up to seven
_NOT_UNROLLED = '!{!"llvm.loop.unroll.disable"}'
_PLAIN = ('!{!"llvm.loop.vectorize.enable", i1 false}', _NOT_UNROLLED)
_VECTORS = ('!{!"llvm.loop.interleave.count", i32 1}', _NOT_UNROLLED)


def search_grid(e: Emitter, type_: str, operands: Sequence[Ref], *, after: bool) -> Ref:
    """Look for all keys; whether that was done. The operands are those of the functions of `many_searches.py`."""
    name = f"grid_{'after' if after else 'before'}.{type_}"

    def write(module: ModuleBuilder) -> None:
        module.declare("malloc", "noalias ptr", ("i64",))
        module.declare("free", "void", ("ptr",))
        module.define(name, _Grids(module, type_, after).source(name))

    return e.f.call("i1", shared_function(name, write), operands, "nounwind")


class _Grids(Record):
    """A function for items of a type, which puts numbers behind those equal to them, or (not `after`) in front."""

    module: ModuleBuilder
    type_: str
    after: bool

    def source(self, name: str) -> str:
        spaces = ("double", "bits") if self.type_ == "double" else ("i64",)
        others = (*spaces[1:], "otherwise")
        grids = [self._grid(space, other) for space, other in zip(spaces, others, strict=True)]
        blocks = "\n".join((self._front(spaces[0]), self._few(), *grids))
        parameters = "ptr %a, i64 %size, ptr %keys, i64 %count, i64 %keys.step, ptr noalias %into"
        return f"""define i1 @{name}({parameters}) nounwind {{
entry:
  %near.table = alloca [{(_MANY << _CELLS_SHIFT) + 1} x i32]
  %near.items = alloca [{_MANY + _FEW} x {self.type_}]
{blocks}
refused:
  ret i1 false
otherwise:
  call void @free(ptr %memory)
  ret i1 false
done:
  call void @free(ptr %memory)
  ret i1 true
}}"""

    def _hints(self, hints: Sequence[str]) -> str:
        listed = ", ".join(map(self.module.metadata, hints))
        return f"!llvm.loop {self.module.distinct_metadata(f'!{{{{self}}, {listed}}}')}"

    @property
    def _compare(self) -> str:
        return "icmp s" if self.type_ == "i64" else "fcmp o"

    @property
    def _before(self) -> str:
        """The comparison that holds for items before a number."""
        return f"{self._compare}{'le' if self.after else 'lt'} {self.type_}"

    def _front(self, space: str) -> str:
        """Whether a table pays; the items' range, and guards behind them that no number in it reaches."""
        type_ = self.type_
        return f"""  %is.much = icmp sgt i64 %size, {_MOST}
  %is.nothing = icmp slt i64 %size, 1
  %keys.needed = shl i64 %size, {_KEYS_SHIFT}
  %are.few = icmp slt i64 %count, %keys.needed
  %is.no.size = or i1 %is.much, %is.nothing
  %is.no.grid = or i1 %is.no.size, %are.few
  br i1 %is.no.grid, label %refused, label %grid.memory
grid.memory:
  %cells = shl i64 %size, {_CELLS_SHIFT}
  %are.many = icmp sgt i64 %size, {_MANY}
  br i1 %are.many, label %grid.far, label %grid.range
grid.far:
  %guarded = add i64 %size, {_FEW}
  %far.size = shl i64 %guarded, 3
  %far.cells = shl i64 %guarded, {_CELLS_SHIFT + 2}
  %far.bytes = add i64 %far.size, %far.cells
  %far = call ptr @malloc(i64 %far.bytes)
  %far.table = getelementptr i8, ptr %far, i64 %far.size
  %is.no.memory = icmp eq ptr %far, null
  br i1 %is.no.memory, label %refused, label %grid.range
grid.range:
  %memory = phi ptr [ null, %grid.memory ], [ %far, %grid.far ]
  %items = phi ptr [ %near.items, %grid.memory ], [ %far, %grid.far ]
  %table = phi ptr [ %near.table, %grid.memory ], [ %far.table, %grid.far ]
  %first = load {type_}, ptr %a
  %last.index = sub i64 %size, 1
  %last.at = getelementptr {type_}, ptr %a, i64 %last.index
  %last = load {type_}, ptr %last.at
{self._guards()}
  %cells.number = uitofp i64 %cells to double
  %is.below = {self._compare}lt {type_} %last, {_HIGHEST[type_]}
  br i1 %is.below, label %grid.size, label %otherwise
grid.size:
  %is.short = icmp sle i64 %size, {_FEW}
  %is.dense = icmp eq i64 %keys.step, 8
  %is.few = and i1 %is.short, %is.dense
  br i1 %is.few, label %few, label %{space}"""

    def _guards(self) -> str:
        return "\n".join(
            f"""  %guard.{i} = add i64 %size, {i}
  %guard.at.{i} = getelementptr {self.type_}, ptr %items, i64 %guard.{i}
  store {self.type_} {_HIGHEST[self.type_]}, ptr %guard.at.{i}"""
            for i in range(_FEW)
        )

    def _few(self) -> str:
        """Blocks for few items, and guards behind them: how many are before a number is where it belongs."""
        type_, compare = self.type_, self._before
        loads = "\n".join(
            f"""  %few.at.{i} = getelementptr {type_}, ptr %items, i64 {i}
  %few.item.{i} = load {type_}, ptr %few.at.{i}"""
            for i in range(_FEW)
        )
        counts = "\n".join(
            f"""  %few.before.{i} = {compare} %few.item.{i}, %few.x
  %few.one.{i} = zext i1 %few.before.{i} to i64
  %few.sum.{i + 1} = add i64 %few.sum.{i}, %few.one.{i}"""
            for i in range(_FEW)
        )
        is_number = "icmp eq i64 0, 0" if type_ == "i64" else "fcmp ord double %few.x, 0.0"
        return f"""few:
  %few.j = phi i64 [ 0, %grid.size ], [ %few.j.next, %few.next ]
  %few.last = phi {type_} [ %first, %grid.size ], [ %few.value, %few.next ]
  %few.from = getelementptr {type_}, ptr %a, i64 %few.j
  %few.value = load {type_}, ptr %few.from
  %few.rises = {self._compare}le {type_} %few.last, %few.value
  %few.to = getelementptr {type_}, ptr %items, i64 %few.j
  store {type_} %few.value, ptr %few.to
  br i1 %few.rises, label %few.next, label %otherwise
few.next:
  %few.j.next = add i64 %few.j, 1
  %few.j.more = icmp slt i64 %few.j.next, %size
  br i1 %few.j.more, label %few, label %few.items, {self._hints(_PLAIN)}
few.items:
{loads}
  br label %few.key
few.key:
  %few.k = phi i64 [ 0, %few.items ], [ %few.k.next, %few.key ]
  %few.key.at = getelementptr {type_}, ptr %keys, i64 %few.k
  %few.x = load {type_}, ptr %few.key.at
  %few.sum.0 = add i64 0, 0
{counts}
  %few.is.within = icmp slt i64 %few.sum.{_FEW}, %size
  %few.place = select i1 %few.is.within, i64 %few.sum.{_FEW}, i64 %size
  %few.is.number = {is_number}
  %few.found = select i1 %few.is.number, i64 %few.place, i64 %size
  %few.into = getelementptr i64, ptr %into, i64 %few.k
  store i64 %few.found, ptr %few.into
  %few.k.next = add i64 %few.k, 1
  %few.k.more = icmp slt i64 %few.k.next, %count
  br i1 %few.k.more, label %few.key, label %done, {self._hints(_VECTORS)}"""

    def _grid(self, space: str, otherwise: str) -> str:
        """Blocks of a grid; distances are those of numbers (`i64`, `double`), or of the `bits` of floats."""
        table = self._table(space, otherwise)
        return "\n".join(
            (table, self._keys(space, "alone", _ALONE), self._keys(space, "some", _SOME))
        )

    def _table(self, p: str, otherwise: str) -> str:
        """Blocks that fill the table, and choose the loop over the keys."""
        type_ = self.type_
        zero = "" if p == "double" else _distance(f"{p}.zero", p, "%first", "0") + "\n"
        start = "%first" if p == "double" else f"%{p}.zero.point"
        return f"""{p}:
{zero}{_distance(f"{p}.width", p, "%last", start)}
  %{p}.scale = fdiv double %cells.number, %{p}.width
  %{p}.positive = fcmp ogt double %{p}.scale, 0.0
  %{p}.finite = fcmp olt double %{p}.scale, 0x7FF0000000000000
  %{p}.scaled = and i1 %{p}.positive, %{p}.finite
  br i1 %{p}.scaled, label %{p}.item, label %{otherwise}
{p}.item:
  %{p}.j = phi i64 [ 0, %{p} ], [ %{p}.j.next, %{p}.next ]
  %{p}.before = phi {type_} [ %first, %{p} ], [ %{p}.value, %{p}.next ]
  %{p}.filled = phi i64 [ 0, %{p} ], [ %{p}.filled.next, %{p}.next ]
  %{p}.run = phi i64 [ 0, %{p} ], [ %{p}.run.next, %{p}.next ]
  %{p}.most = phi i64 [ 0, %{p} ], [ %{p}.most.next, %{p}.next ]
  %{p}.item.at = getelementptr {type_}, ptr %a, i64 %{p}.j
  %{p}.value = load {type_}, ptr %{p}.item.at
  %{p}.item.copy = getelementptr {type_}, ptr %items, i64 %{p}.j
  store {type_} %{p}.value, ptr %{p}.item.copy
{_cell(f"{p}.cell", p, f"%{p}.value")}
  %{p}.rises = {self._compare}le {type_} %{p}.before, %{p}.value
  br i1 %{p}.rises, label %{p}.risen, label %otherwise
{p}.risen:
  %{p}.is.new = icmp sge i64 %{p}.cell, %{p}.filled
  br i1 %{p}.is.new, label %{p}.fill, label %{p}.next
{p}.fill:
  %{p}.t = phi i64 [ %{p}.filled, %{p}.risen ], [ %{p}.t.next, %{p}.fill ]
  %{p}.t.at = getelementptr i32, ptr %table, i64 %{p}.t
  %{p}.number = trunc i64 %{p}.j to i32
  store i32 %{p}.number, ptr %{p}.t.at
  %{p}.t.next = add i64 %{p}.t, 1
  %{p}.t.more = icmp sle i64 %{p}.t.next, %{p}.cell
  br i1 %{p}.t.more, label %{p}.fill, label %{p}.next, {self._hints(_PLAIN)}
{p}.next:
  %{p}.filled.next = phi i64 [ %{p}.filled, %{p}.risen ], [ %{p}.t.next, %{p}.fill ]
  %{p}.run.before = phi i64 [ %{p}.run, %{p}.risen ], [ 0, %{p}.fill ]
  %{p}.run.next = add i64 %{p}.run.before, 1
  %{p}.is.longer = icmp sgt i64 %{p}.run.next, %{p}.most
  %{p}.most.next = select i1 %{p}.is.longer, i64 %{p}.run.next, i64 %{p}.most
  %{p}.j.next = add i64 %{p}.j, 1
  %{p}.j.more = icmp slt i64 %{p}.j.next, %size
  br i1 %{p}.j.more, label %{p}.item, label %{p}.filled.all, {self._hints(_PLAIN)}
{p}.filled.all:
  %{p}.are.alone = icmp eq i64 %{p}.most.next, 1
  br i1 %{p}.are.alone, label %{p}.alone, label %{p}.not.alone
{p}.not.alone:
  %{p}.are.some = icmp sle i64 %{p}.most.next, {sum(_SOME)}
  br i1 %{p}.are.some, label %{p}.some, label %{otherwise}"""

    def _keys(self, p: str, name: str, steps: Sequence[int]) -> str:
        """The loop over the keys: each is put behind the items of its cell that are before it."""
        q, type_, compare = f"{p}.{name}", self.type_, self._compare
        before = "filled.all" if steps is _ALONE else "not.alone"
        return f"""{q}:
  %{q}.k = phi i64 [ 0, %{p}.{before} ], [ %{q}.k.next, %{q} ]
  %{q}.offset = mul i64 %keys.step, %{q}.k
  %{q}.at = getelementptr i8, ptr %keys, i64 %{q}.offset
  %{q}.x = load {type_}, ptr %{q}.at
  %{q}.above = {compare}ge {type_} %{q}.x, %first
  %{q}.below = {compare}le {type_} %{q}.x, %last
  %{q}.inside = and i1 %{q}.above, %{q}.below
  %{q}.used = select i1 %{q}.inside, {type_} %{q}.x, {type_} %first{UNPREDICTABLE}
{_cell(f"{q}.cell", p, f"%{q}.used")}
  %{q}.near = load i32, ptr %{q}.cell.at
  %{q}.place.0 = zext i32 %{q}.near to i64
{self._steps(q, steps)}
  %{q}.low = {compare}lt {type_} %{q}.x, %first
  %{q}.outside = select i1 %{q}.low, i64 0, i64 %size{UNPREDICTABLE}
  %{q}.found = select i1 %{q}.inside, i64 %{q}.place.{len(steps)}, i64 %{q}.outside{UNPREDICTABLE}
  %{q}.into = getelementptr i64, ptr %into, i64 %{q}.k
  store i64 %{q}.found, ptr %{q}.into
  %{q}.k.next = add i64 %{q}.k, 1
  %{q}.more = icmp slt i64 %{q}.k.next, %count
  br i1 %{q}.more, label %{q}, label %done, {self._hints(_PLAIN)}"""

    def _steps(self, q: str, steps: Sequence[int]) -> str:
        """Go on by each of these many items if the last of them is before the number."""
        lines, type_ = list[str](), self.type_
        for i, step in enumerate(steps):
            lines.append(f"""  %{q}.index.{i} = add i64 %{q}.place.{i}, {step - 1}
  %{q}.item.at.{i} = getelementptr {type_}, ptr %items, i64 %{q}.index.{i}
  %{q}.item.{i} = load {type_}, ptr %{q}.item.at.{i}
  %{q}.is.before.{i} = {self._before} %{q}.item.{i}, %{q}.used
  %{q}.one.{i} = zext i1 %{q}.is.before.{i} to i64
  %{q}.more.{i} = shl i64 %{q}.one.{i}, {step.bit_length() - 1}
  %{q}.place.{i + 1} = add i64 %{q}.place.{i}, %{q}.more.{i}""")
        return "\n".join(lines)


def _distance(name: str, space: str, x: str, start: str) -> str:
    """How far a number is from the first item, as a double; `%name.point`: where it is."""
    if space == "double":
        return f"  %{name} = fsub double {x}, {start}"
    point = f"  %{name}.point = add i64 {x}, 0"
    if space == "bits":  # zeros are one number
        point = f"""  %{name}.plain = fadd double {x}, 0.0
  %{name}.bits = bitcast double %{name}.plain to i64
  %{name}.sign = ashr i64 %{name}.bits, 63
  %{name}.flip = lshr i64 %{name}.sign, 1
  %{name}.point = xor i64 %{name}.bits, %{name}.flip"""
    return f"""{point}
  %{name}.steps = sub i64 %{name}.point, {start}
  %{name} = uitofp i64 %{name}.steps to double"""


def _cell(name: str, p: str, x: str) -> str:
    """The cell of a number between the first item and the last one."""
    start = "%first" if p == "double" else f"%{p}.zero.point"
    return f"""{_distance(f"{name}.distance", p, x, start)}
  %{name}.place = fmul double %{name}.distance, %{p}.scale
  %{name} = fptosi double %{name}.place to i64
  %{name}.at = getelementptr i32, ptr %table, i64 %{name}"""
