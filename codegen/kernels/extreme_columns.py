"""Where the least or greatest elements of many vectors are: of columns of a matrix, which lie side by side, or of rows.

Some vectors at a time are lanes of registers, and so are the places: columns, and rows of so few elements that a search
in each takes longer than to put an element of each together. Vectors that do not fit behind the others begin before the
end of these: what is stored twice is the same.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from ljit.codegen.kernels.extreme_search import Search, splat

if TYPE_CHECKING:
    from ljit.codegen.llvm.builder import ModuleBuilder

__all__ = ["ColumnSearch"]

_LANES = (16, 4)
_ROWS, _SHORT = 8, 32  # rows that are lanes, and how many elements they have at most
_REGISTERS = 4  # of elements side by side that a search in one row takes longer for
_PARAMETERS = "ptr %data, i64 %size, i64 %count, i64 %stride, i64 %step, ptr %out"


class ColumnSearch:
    """Writes the function for vectors whose elements `search` compares; other ones it goes through one by one."""

    def __init__(self, search: Search) -> None:
        self.search = search
        self.name = f"{search.name}.many"

    def define(self, module: ModuleBuilder) -> None:
        self.search.define(module)
        module.define(self.name, self._source())

    def _source(self) -> str:
        wide, narrow = _LANES
        size = self.search.size
        return f"""define void @{self.name}({_PARAMETERS}) nounwind {{
entry:
  %is.unit = icmp eq i64 %stride, {size}
  %is.side = icmp eq i64 %step, {size}
  %is.short = icmp slt i64 %count, {narrow}
  %is.narrow = icmp slt i64 %count, {wide}
  %not.lanes = or i1 %is.unit, %is.short
  %lanes = select i1 %not.lanes, i1 false, i1 %is.side
  br i1 %lanes, label %side, label %apart
apart:
  %most = select i1 %is.unit, i64 {min(_SHORT, _REGISTERS * self.search.lanes)}, i64 {_SHORT}
  %is.short.row = icmp sle i64 %size, %most
  %are.rows = icmp sge i64 %count, {_ROWS}
  %are.short.rows = and i1 %is.short.row, %are.rows
  br i1 %are.short.rows, label %rows, label %single
rows:
{self._lanes_apart()}
  br label %tile.rows
{self._tiles("rows", _ROWS)}
side:
  br i1 %is.narrow, label %tile.{narrow}, label %tile.{wide}
{self._tiles(str(wide), wide)}
{self._tiles(str(narrow), narrow)}
single:
  %j = phi i64 [ 0, %apart ], [ %j.next, %one ]
  %more = icmp slt i64 %j, %count
  br i1 %more, label %one, label %done
one:
  %offset = mul i64 %j, %step
  %vector = getelementptr i8, ptr %data, i64 %offset
  %place = call i64 @{self.search.name}(ptr %vector, i64 %size, i64 %stride)
  %target = getelementptr i64, ptr %out, i64 %j
  store i64 %place, ptr %target
  %j.next = add nuw nsw i64 %j, 1
  br label %single
done:
  ret void
}}"""

    def _lanes_apart(self) -> str:
        """How far rows are from the first of those that are done at once."""
        return "\n".join(f"  %lane.{i} = mul i64 %step, {i}" for i in range(_ROWS))

    def _loaded(self, name: str, place: str, n: int, *, is_apart: bool) -> str:
        """Load an element of each vector."""
        t, size, vector, before = (
            self.search.type,
            self.search.size,
            f"<{n} x {self.search.type}>",
            "poison",
        )
        if not is_apart:
            return f"  %{name} = load {vector}, ptr {place}, align {size}"
        lines = list[str]()
        for i in range(n):
            made = f"%{name}" if i == n - 1 else f"%{name}.v{i}"
            lines += [
                f"  %{name}.at{i} = getelementptr i8, ptr {place}, i64 %lane.{i}",
                f"  %{name}.x{i} = load {t}, ptr %{name}.at{i}, align {size}",
                f"  {made} = insertelement {vector} {before}, {t} %{name}.x{i}, i64 {i}",
            ]
            before = made
        return "\n".join(lines)

    def _tiles(self, name: str, n: int) -> str:
        """The loop over `n` vectors at a time, whose elements and places are in registers."""
        t, mask, is_apart = self.search.type, f"<{n} x i1>", name == "rows"
        vector, places = f"<{n} x {t}>", f"<{n} x i64>"
        return f"""tile.{name}:
  %j.{name} = phi i64 [ 0, %{name if is_apart else "side"} ], [ %next.{name}, %end.{name} ]
  %last.{name} = sub i64 %count, {n}
  %is.in.{name} = icmp slt i64 %j.{name}, %last.{name}
  %at.{name} = select i1 %is.in.{name}, i64 %j.{name}, i64 %last.{name}
  %begin.{name} = mul i64 %at.{name}, %step
  %base.{name} = getelementptr i8, ptr %data, i64 %begin.{name}
{self._loaded(f"x0.{name}", f"%base.{name}", n, is_apart=is_apart)}
  br label %row.{name}
row.{name}:
  %k.{name} = phi i64 [ 0, %tile.{name} ], [ %k.next.{name}, %row.{name} ]
  %best.{name} = phi {vector} [ %x0.{name}, %tile.{name} ], [ %new.{name}, %row.{name} ]
  %place.{name} = phi {places} [ zeroinitializer, %tile.{name} ], [ %other.{name}, %row.{name} ]
  %offset.{name} = mul i64 %k.{name}, %stride
  %from.{name} = getelementptr i8, ptr %base.{name}, i64 %offset.{name}
{self._loaded(f"x.{name}", f"%from.{name}", n, is_apart=is_apart)}
{self.search.better(f"better.{name}", vector, mask, f"%x.{name}", f"%best.{name}")}
{splat(f"ks.{name}", f"k.{name}", "i64", n)}
  %new.{name} = select {mask} %better.{name}, {vector} %x.{name}, {vector} %best.{name}
  %other.{name} = select {mask} %better.{name}, {places} %ks.{name}, {places} %place.{name}
  %k.next.{name} = add nuw nsw i64 %k.{name}, 1
  %more.{name} = icmp slt i64 %k.next.{name}, %size
  br i1 %more.{name}, label %row.{name}, label %end.{name}
end.{name}:
  %target.{name} = getelementptr i64, ptr %out, i64 %at.{name}
  store {places} %other.{name}, ptr %target.{name}, align 8
  %next.{name} = add nuw nsw i64 %j.{name}, {n}
  %again.{name} = icmp slt i64 %next.{name}, %count
  br i1 %again.{name}, label %tile.{name}, label %done"""
