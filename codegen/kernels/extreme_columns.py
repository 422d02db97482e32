"""Where the least or greatest elements of many vectors are that lie side by side, as the columns of a matrix do.

Some vectors at a time are lanes of registers, and so are the places. Columns that do not fit behind the others begin
before the end of these: what is stored twice is the same.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from ljit.codegen.kernels.extreme_search import Search, splat

if TYPE_CHECKING:
    from ljit.codegen.llvm.builder import ModuleBuilder

__all__ = ["ColumnSearch"]

_LANES = (16, 4)
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
  br i1 %lanes, label %side, label %single
side:
  br i1 %is.narrow, label %tile.{narrow}, label %tile.{wide}
{self._tiles(wide)}
{self._tiles(narrow)}
single:
  %j = phi i64 [ 0, %entry ], [ %j.next, %one ]
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

    def _tiles(self, n: int) -> str:
        """The loop over `n` columns at a time, whose elements and places are in registers."""
        t, size, mask = self.search.type, self.search.size, f"<{n} x i1>"
        vector, places = f"<{n} x {t}>", f"<{n} x i64>"
        return f"""tile.{n}:
  %j.{n} = phi i64 [ 0, %side ], [ %next.{n}, %end.{n} ]
  %last.{n} = sub i64 %count, {n}
  %is.in.{n} = icmp slt i64 %j.{n}, %last.{n}
  %at.{n} = select i1 %is.in.{n}, i64 %j.{n}, i64 %last.{n}
  %base.{n} = getelementptr {t}, ptr %data, i64 %at.{n}
  %x0.{n} = load {vector}, ptr %base.{n}, align {size}
  br label %row.{n}
row.{n}:
  %k.{n} = phi i64 [ 0, %tile.{n} ], [ %k.next.{n}, %row.{n} ]
  %best.{n} = phi {vector} [ %x0.{n}, %tile.{n} ], [ %new.{n}, %row.{n} ]
  %place.{n} = phi {places} [ zeroinitializer, %tile.{n} ], [ %other.{n}, %row.{n} ]
  %offset.{n} = mul i64 %k.{n}, %stride
  %from.{n} = getelementptr i8, ptr %base.{n}, i64 %offset.{n}
  %x.{n} = load {vector}, ptr %from.{n}, align {size}
{self.search.better(f"better.{n}", vector, mask, f"%x.{n}", f"%best.{n}")}
{splat(f"ks.{n}", f"k.{n}", "i64", n)}
  %new.{n} = select {mask} %better.{n}, {vector} %x.{n}, {vector} %best.{n}
  %other.{n} = select {mask} %better.{n}, {places} %ks.{n}, {places} %place.{n}
  %k.next.{n} = add nuw nsw i64 %k.{n}, 1
  %more.{n} = icmp slt i64 %k.next.{n}, %size
  br i1 %more.{n}, label %row.{n}, label %end.{n}
end.{n}:
  %target.{n} = getelementptr i64, ptr %out, i64 %at.{n}
  store {places} %other.{n}, ptr %target.{n}, align 8
  %next.{n} = add nuw nsw i64 %j.{n}, {n}
  %again.{n} = icmp slt i64 %next.{n}, %count
  br i1 %again.{n}, label %tile.{n}, label %done"""
