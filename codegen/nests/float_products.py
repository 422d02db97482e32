"""Products of matrices of floats: a function that all units share, for the vectors of this processor.

Up to four vectors of columns of the right matrix (two, where there are few registers) meet six rows of the left one in
registers: a tile of the result. It goes down a block of rows of the right matrix. Where many tiles do, the columns are
put side by side first. The last vector of a tile has a mask; the last rows are smaller tiles. Each number is a
sum in the order of the rows, in whatever tile it is: equal rows and columns give equal numbers.
"""

from __future__ import annotations

import itertools

from ljit.codegen.llvm.builder import ModuleBuilder
from ljit.codegen.llvm.loop_texts import loop_text
from ljit.codegen.nests.product_texts import OPERANDS, ProductShape, mask_text, operands_text
from ljit.codegen.nests.turned_columns import TURNED_PARAMETERS, turned_columns

__all__ = ["write_float_product"]

_HEIGHTS = (6, 4, 2, 1)  # rows of tiles
_BASES = 3  # rows of a tile that one register and its multiples reach
_ROWS = 192  # of the left matrix: what of them meets a block stays in the second cache
_PANEL = 24 * 1024  # bytes of the right matrix that stay in the nearest cache
_FEW = 4  # tiles that read columns where they lie, as putting them side by side takes longer


def write_float_product(module: ModuleBuilder, name: str, item: str) -> None:
    """Write the function; its operands are those of the inner loop of ``np.matmul``."""
    shape = ProductShape(item)
    module.define(f"{name}.declarations", shape.declarations)
    for height, width in itertools.product(_HEIGHTS, range(1, shape.vectors + 1)):
        tile = f"{name}.tile.{height}.{width}"
        module.define(tile, _Tile(shape, height, width).text(tile))
    module.define(f"{name}.turned", turned_columns(shape, f"{name}.turned"))
    module.define(name, f"define void @{name}{OPERANDS} nounwind {{\n{_whole(shape, name)}}}")


def _depth(shape: ProductShape) -> int:
    """Rows of the right matrix that are a block."""
    return _PANEL // (shape.columns * shape.size)


# -- a tile ----------------------------------------------------------------------------------------


class _Tile:
    """A function for some rows and vectors of columns.

    Its sums are in registers; they go on from what is in memory if the block is not the first.
    """

    def __init__(self, shape: ProductShape, height: int, width: int) -> None:
        self.shape, self.height, self.width = shape, height, width
        self.sums = [*itertools.product(range(height), range(width))]
        self.bases = range(0, height, _BASES)

    def text(self, name: str) -> str:
        bases = "".join(
            f"  %a{r}.begin = getelementptr i8, ptr %a, i64 %a.step.{r}\n" for r in self.bases
        )
        return f"""define internal void @{name}({_TILE_PARAMETERS}) noinline nounwind {{
entry:
{mask_text(self.shape, "last")}{self._rows()}{bases}  br i1 %is.first, label %start, label %again
again:
{"".join(self._at(f"f{r}{v}", f"%c{r}", v) + self._loaded(f"f{r}{v}", v) for r, v in self.sums)}  br label %start
start:
{self._begun()}  br label %head
head:
{self._carried()}{self._trip()}  %k.next = sub i64 %k, 1
  %k.done = icmp eq i64 %k.next, 0
  br i1 %k.done, label %done, label %head
done:
{"".join(self._at(f"t{r}{v}", f"%c{r}", v) + self._stored(r, v) for r, v in self.sums)}  ret void
}}"""

    def _rows(self) -> str:
        """Where each row of the result begins, and how far rows of the left matrix are from its first."""
        text = ""
        for r in range(self.height):
            text += f"  %a.step.{r} = mul i64 %a.row.step, {r}\n  %c.step.{r} = mul i64 %c.row.step, {r}\n"
            text += f"  %c{r} = getelementptr i8, ptr %c, i64 %c.step.{r}\n"
        return text

    def _begun(self) -> str:
        vector = self.shape.vector
        return "".join(
            f"  %b{r}{v} = phi {vector} [ zeroinitializer, %entry ], [ %f{r}{v}, %again ]\n"
            for r, v in self.sums
        )

    def _carried(self) -> str:
        carried = [("k", "i64", "%count"), ("right", "ptr", "%b")]
        carried += [(f"a{r}", "ptr", f"%a{r}.begin") for r in self.bases]
        carried += [(f"s{r}{v}", self.shape.vector, f"%b{r}{v}") for r, v in self.sums]
        return "".join(
            f"  %{x} = phi {type_} [ {start}, %start ], [ %{x}.next, %head ]\n"
            for x, type_, start in carried
        )

    def _trip(self) -> str:
        """A number of each row meets a row of the right matrix."""
        text = "".join(
            self._at(f"r{v}", "%right", v) + self._loaded(f"r{v}", v) for v in range(self.width)
        )
        text += "".join(self._row_trip(r) for r in range(self.height))
        text += "  %right.next = getelementptr i8, ptr %right, i64 %b.step\n"
        for r in self.bases:
            text += f"  %a{r}.next = getelementptr i8, ptr %a{r}, i64 %a.step.in\n"
        return text

    def _row_trip(self, r: int) -> str:
        base, beyond = r - r % _BASES, r % _BASES
        far = f"%a.step.{beyond}" if beyond else 0
        text = f"  %l{r}.at = getelementptr i8, ptr %a{base}, i64 {far}\n"
        text += self.shape.spread(f"l{r}", f"%l{r}.at")
        for v in range(self.width):
            text += self.shape.added(f"s{r}{v}.next", f"l{r}", f"r{v}", f"s{r}{v}")
        return text

    def _at(self, name: str, base: str, v: int) -> str:
        return f"  %{name}.at = getelementptr {self.shape.vector}, ptr {base}, i64 {v}\n"

    def _loaded(self, name: str, v: int) -> str:
        return self.shape.loaded(name, is_masked=v == self.width - 1)

    def _stored(self, r: int, v: int) -> str:
        return self.shape.stored(f"s{r}{v}.next", f"t{r}{v}", is_masked=v == self.width - 1)


_TILE_PARAMETERS = (
    "ptr %a, i64 %a.row.step, i64 %a.step.in, ptr %b, i64 %b.step, ptr %c, i64 %c.row.step, "
    "i64 %count, i64 %last, i1 %is.first"
)


# -- the whole -------------------------------------------------------------------------------------


def _whole(shape: ProductShape, name: str) -> str:
    walks = {x: (f"%{x}.first", f"%{x}.step") for x in "abc"}
    return f"""entry:
  %panel = alloca [{_depth(shape) * shape.vectors} x {shape.vector}], align 64
{operands_text()}  %a.block.step = mul i64 %a.step.in, {_depth(shape)}
  %b.block.step = mul i64 %b.row.step, {_depth(shape)}
  %a.rows.step = mul i64 %a.row.step, {_ROWS}
  %c.rows.step = mul i64 %c.row.step, {_ROWS}
  %b.panel.step = mul i64 %b.column.step, {shape.columns}
  %c.panel.step = mul i64 %c.column.step, {shape.columns}
  %b.is.near = icmp eq i64 %b.column.step, {shape.size}
  %b.is.turned = icmp eq i64 %b.row.step, {shape.size}
  %row.bytes = mul i64 %columns, {shape.size}
  %is.flat = icmp eq i64 %depth, 0
{_tile_steps()}{loop_text("time", "%times", _matrix(shape, name), walks=walks)}  ret void
"""


def _matrix(shape: ProductShape, name: str) -> str:
    zeros = "  call void @llvm.memset.p0.i64(ptr %zeros, i8 0, i64 %row.bytes, i1 false)\n"
    walks = {"zeros": ("%c", "%c.row.step")}
    return f"""  br i1 %is.flat, label %flat, label %deep
flat:
{loop_text("none", "%rows", zeros, walks=walks)}  br label %time.latch
deep:
{_row_blocks(shape, name)}"""


def _tile_steps() -> str:
    return "".join(
        f"  %{x}.step.{height} = mul i64 %{x}.row.step, {height}\n"
        for x, height in itertools.product("ac", _HEIGHTS)
    )


def _row_blocks(shape: ProductShape, name: str) -> str:
    """Blocks of rows of the left matrix, each with all of the right one; how many tiles of each height they have."""
    body = f"""  %high.left = sub i64 %rows, %high
  %left.0 = call i64 @llvm.smin.i64(i64 %high.left, i64 {_ROWS})
  %are.few = icmp ule i64 %left.0, {_FEW * _HEIGHTS[0]}
  %is.direct = and i1 %are.few, %b.is.near
"""
    for i, height in enumerate(_HEIGHTS):
        body += f"""  %tiles.{height} = udiv i64 %left.{i}, {height}
  %left.{i + 1} = urem i64 %left.{i}, {height}
"""
    walks = {"a.high": ("%a", "%a.rows.step"), "c.high": ("%c", "%c.rows.step")}
    return loop_text("high", "%rows", body + _blocks(shape, name), step=_ROWS, walks=walks)


def _blocks(shape: ProductShape, name: str) -> str:
    """Blocks of rows of the right matrix."""
    body = f"""  %depth.left = sub i64 %depth, %block
  %count = call i64 @llvm.smin.i64(i64 %depth.left, i64 {_depth(shape)})
  %is.first = icmp eq i64 %block, 0
{_panels(shape, name)}"""
    walks = {"a.block": ("%a.high", "%a.block.step"), "b.block": ("%b", "%b.block.step")}
    return loop_text("block", "%depth", body, step=_depth(shape), walks=walks)


def _panels(shape: ProductShape, name: str) -> str:
    """Columns of a block, as many as tiles have; `before` are those of their vectors that are full."""
    body = f"""  %left = sub i64 %columns, %column
  %filled = call i64 @llvm.smin.i64(i64 %left, i64 {shape.columns})
  %last.column = sub i64 %filled, 1
  %before = udiv i64 %last.column, {shape.lanes}
  %lanes.before = mul i64 %before, {shape.lanes}
  %last = sub i64 %filled, %lanes.before
{_packed(shape, name)}{_tiles(shape, name)}"""
    walks = {"b.panel": ("%b.block", "%b.panel.step"), "c.panel": ("%c.high", "%c.panel.step")}
    return loop_text("column", "%columns", body, step=shape.columns, walks=walks)


def _packed(shape: ProductShape, name: str) -> str:
    """Put the columns side by side, unless few tiles read them."""
    one = f"""  %number = load {shape.item}, ptr %one.from
  store {shape.item} %number, ptr %one.to
"""
    width = shape.columns * shape.size
    walks = {"one.from": ("%far.from", "%b.column.step"), "one.to": ("%far.to", str(shape.size))}
    bodies = {
        "near": "  call void @llvm.memcpy.p0.p0.i64(ptr %near.to, ptr %near.from, i64 %bytes, i1 false)\n",
        "far": loop_text("one", "%filled", one, walks=walks),
        "whole": f"  call void @llvm.memcpy.p0.p0.i64(ptr %whole.to, ptr %whole.from, i64 {width}, i1 false)\n",
    }
    places = ("%b.panel", "%b.row.step"), ("%panel", str(width))
    loops = {
        x: loop_text(x, "%count", body, walks=dict(zip((f"{x}.from", f"{x}.to"), places)))
        for x, body in bodies.items()
    }
    return f"""  br i1 %is.direct, label %packed, label %pack
pack:
  %bytes = mul i64 %filled, {shape.size}
  %is.whole = icmp eq i64 %filled, {shape.columns}
  br i1 %b.is.near, label %pack.near, label %pack.far
pack.near:
  br i1 %is.whole, label %pack.whole, label %pack.part
pack.whole:
{loops["whole"]}  br label %packed
pack.part:
{loops["near"]}  br label %packed
pack.far:
  br i1 %b.is.turned, label %pack.turned, label %pack.each
pack.turned:
  call void @{name}.turned({TURNED_PARAMETERS})
  br label %packed
pack.each:
{loops["far"]}  br label %packed
packed:
  %from = select i1 %is.direct, ptr %b.panel, ptr %panel
  %from.step = select i1 %is.direct, i64 %b.row.step, i64 {width}
"""


def _tiles(shape: ProductShape, name: str) -> str:
    """Tiles of all heights, from the highest to the lowest."""
    text, a, c = "", "%a.block", "%c.panel"
    for height in _HEIGHTS:
        x = f"tile.{height}"
        operands = (
            f"ptr %{x}.a, i64 %a.row.step, i64 %a.step.in, ptr %from, i64 %from.step, "
            f"ptr %{x}.c, i64 %c.row.step, i64 %count, i64 %last, i1 %is.first"
        )
        text += shape.chosen(f"{name}.{x}", x)
        walks = {f"{x}.{side}": (at, f"%{side}.step.{height}") for side, at in (("a", a), ("c", c))}
        text += loop_text(
            x, f"%tiles.{height}", f"  call void %{x}.function({operands})\n", walks=walks
        )
        a, c = f"%{x}.a", f"%{x}.c"
    return text
