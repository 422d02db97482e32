"""Where the least or greatest elements of many vectors are: of columns of a matrix, which lie side by side, or of rows.

Some vectors at a time are lanes of registers, and so are the places: columns, and rows of so few elements that a search
in each takes longer than to put an element of each together. Vectors that do not fit behind the others begin before the
end of these: what is stored twice is the same. Long columns are gone through in some parts side by side.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from ljit.codegen.kernels.extreme_search import Search, splat
from ljit.codegen.llvm.engine import has_avx512

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ljit.codegen.llvm.builder import ModuleBuilder

__all__ = ["ColumnSearch"]

_LANES = (16, 4)
_ROWS, _SHORT = 8, 32  # rows that are lanes, and how many elements they have at most
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
  %most = select i1 %is.unit, i64 {min(_SHORT, self.search.least_by_itself - 1)}, i64 {_SHORT}
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
        is_apart = name == "rows"
        chains = [f"{name}.{i}" for i in range(_chains(n))]
        begins = "\n".join(self._begin(name, i, n, is_apart=is_apart) for i in range(len(chains)))
        phis = "\n".join(self._phis(name, chain, n) for chain in chains)
        trips = "\n".join(self._trip(name, chain, n, is_apart=is_apart) for chain in chains)
        return f"""tile.{name}:
  %j.{name} = phi i64 [ 0, %{name if is_apart else "side"} ], [ %next.{name}, %end.{name} ]
  %last.{name} = sub i64 %count, {n}
  %is.in.{name} = icmp slt i64 %j.{name}, %last.{name}
  %at.{name} = select i1 %is.in.{name}, i64 %j.{name}, i64 %last.{name}
  %begin.{name} = mul i64 %at.{name}, %step
  %base.{name} = getelementptr i8, ptr %data, i64 %begin.{name}
  %rounded.{name} = add i64 %size, {len(chains) - 1}
  %trips.{name} = udiv i64 %rounded.{name}, {len(chains)}
  %most.{name} = sub i64 %size, %trips.{name}
{begins}
  br label %row.{name}
row.{name}:
  %k.{name} = phi i64 [ 0, %tile.{name} ], [ %k.next.{name}, %row.{name} ]
{phis}
  %offset.{name} = mul i64 %k.{name}, %stride
{splat(f"ks.{name}", f"k.{name}", "i64", n)}
{trips}
  %k.next.{name} = add nuw nsw i64 %k.{name}, 1
  %more.{name} = icmp slt i64 %k.next.{name}, %trips.{name}
  br i1 %more.{name}, label %row.{name}, label %end.{name}
end.{name}:
{self._store(name, chains, n)}
  %next.{name} = add nuw nsw i64 %j.{name}, {n}
  %again.{name} = icmp slt i64 %next.{name}, %count
  br i1 %again.{name}, label %tile.{name}, label %done"""

    def _begin(self, name: str, i: int, n: int, *, is_apart: bool) -> str:
        """Where a chain begins: behind those before, or so that it ends with the last elements."""
        chain = f"{name}.{i}"
        return f"""  %behind.{chain} = mul i64 %trips.{name}, {i}
  %is.near.{chain} = icmp slt i64 %behind.{chain}, %most.{name}
  %first.{chain} = select i1 %is.near.{chain}, i64 %behind.{chain}, i64 %most.{name}
  %ahead.{chain} = mul i64 %first.{chain}, %stride
  %base.{chain} = getelementptr i8, ptr %base.{name}, i64 %ahead.{chain}
{self._loaded(f"x0.{chain}", f"%base.{chain}", n, is_apart=is_apart)}"""

    def _phis(self, name: str, chain: str, n: int) -> str:
        vector, _, places = self._vectors(n)
        before, again = f"%tile.{name}", f"%row.{name}"
        return f"""  %best.{chain} = phi {vector} [ %x0.{chain}, {before} ], [ %new.{chain}, {again} ]
  %place.{chain} = phi {places} [ zeroinitializer, {before} ], [ %other.{chain}, {again} ]"""

    def _trip(self, name: str, chain: str, n: int, *, is_apart: bool) -> str:
        """An element of each vector; places are counted from where the chain begins."""
        vector, mask, places = self._vectors(n)
        better = f"{mask} %better.{chain}"
        return f"""  %from.{chain} = getelementptr i8, ptr %base.{chain}, i64 %offset.{name}
{self._loaded(f"x.{chain}", f"%from.{chain}", n, is_apart=is_apart)}
{self.search.better(f"better.{chain}", vector, mask, f"%x.{chain}", f"%best.{chain}")}
  %new.{chain} = select {better}, {vector} %x.{chain}, {vector} %best.{chain}
  %other.{chain} = select {better}, {places} %ks.{name}, {places} %place.{chain}"""

    def _store(self, name: str, chains: Sequence[str], n: int) -> str:
        """Store the places of what is best of all chains: of the first one where some are as good."""
        vector, mask, places = self._vectors(n)
        best, place = f"%new.{chains[0]}", f"%other.{chains[0]}"
        lines = list[str]()
        for chain in chains[1:]:
            better = f"{mask} %is.better.{chain}"
            lines += [
                splat(f"firsts.{chain}", f"first.{chain}", "i64", n),
                f"  %there.{chain} = add {places} %other.{chain}, %firsts.{chain}",
                self.search.better(f"is.better.{chain}", vector, mask, f"%new.{chain}", best),
                f"  %best.of.{chain} = select {better}, {vector} %new.{chain}, {vector} {best}",
                f"  %place.of.{chain} = select {better}, {places} %there.{chain}, {places} {place}",
            ]
            best, place = f"%best.of.{chain}", f"%place.of.{chain}"
        lines += [
            f"  %target.{name} = getelementptr i64, ptr %out, i64 %at.{name}",
            f"  store {places} {place}, ptr %target.{name}, align 8",
        ]
        return "\n".join(lines)

    def _vectors(self, n: int) -> tuple[str, str, str]:
        """The types of elements, of what is asked of them, and of their places."""
        return f"<{n} x {self.search.type}>", f"<{n} x i1>", f"<{n} x i64>"


def _chains(n: int) -> int:
    """How many parts of `n` columns are gone through side by side: in each, a row waits for the one before.

    As many as there are registers for.
    """
    narrow, wide = 4, 2 if has_avx512() else 1
    return {min(_LANES): narrow, max(_LANES): wide}.get(n, 1)
