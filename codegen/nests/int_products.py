"""Products of matrices of ints, for which NumPy's inner loop has no vectors: a function that all units share.

Some columns of the right matrix, as many as two vectors hold, are put side by side, a block of rows of it at a time.
Four rows of the left matrix meet them in registers. Where most of a tile would be empty, numbers are multiplied one by
one: matrices of a few numbers, of which a stack has many, and those of few columns. Ints wrap, in whatever order they
are added.
"""

from __future__ import annotations

import itertools

from ljit.codegen.llvm.builder import ModuleBuilder
from ljit.codegen.llvm.engine import vector_bytes
from ljit.codegen.llvm.loop_texts import loop_text
from ljit.codegen.llvm.shared_code import shared_function
from ljit.codegen.nests.product_texts import operands_text

__all__ = ["int_product"]

_ROWS, _VECTORS = 4, 2  # of a tile of the result, that are in registers together
_DEPTH = 128  # rows of the right matrix that are put side by side: they stay in the nearest cache
_STEP = 16  # products of numbers take as long as those of a tile for one row of the right matrix
_TILE = [*itertools.product(range(_ROWS), range(_VECTORS))]


def int_product(size: int) -> str:
    """The function for ints of `size` bytes; its operands are those of the inner loop of ``np.matmul``."""
    name = f"product.int{size}"
    return shared_function(name, lambda module: _write(module, name, size), straight=True)


def _write(module: ModuleBuilder, name: str, size: int) -> None:
    """Two ways, each a function of its own: so that registers hold what its own loops need."""
    few, tiled = f"{name}.few", f"{name}.tiled"
    operands = "(ptr %operands, ptr %sizes, ptr %strides, ptr %data) nounwind"
    module.define(few, f"define internal void @{few}{operands} {{\n{_one_by_one(size)}}}")
    module.define(tiled, f"define internal void @{tiled}{operands} {{\n{_tiled(size)}}}")
    module.define(name, f"define void @{name}{operands} {{\n{_chosen(size, few, tiled)}}}")


def _chosen(size: int, few: str, tiled: str) -> str:
    """Numbers one by one where there are fewer than what tiles and the columns of a part of one cost."""
    count = _VECTORS * vector_bytes() // size
    calls = "".join(
        f"""{label}:
  tail call void @{function}(ptr %operands, ptr %sizes, ptr %strides, ptr %data)
  ret void
"""
        for label, function in (("few", few), ("tiled", tiled))
    )
    return f"""entry:
{operands_text()}  %cells = mul i64 %rows, %columns
  %part = urem i64 %columns, {count}
  %columns.filled = add i64 %columns, {count - 1}
  %panels = udiv i64 %columns.filled, {count}
  %rows.filled = add i64 %rows, {_ROWS - 1}
  %tiles.high = udiv i64 %rows.filled, {_ROWS}
  %tiles = mul i64 %tiles.high, %panels
  %steps = mul i64 %tiles, {_STEP}
  %cost = add i64 %steps, %part
  %are.few = icmp ule i64 %cells, %cost
  br i1 %are.few, label %few, label %tiled
{calls}"""


def _tiled(size: int) -> str:
    vector, width = _vector(size), _VECTORS * vector_bytes()
    walks = {x: (f"%{x}.first", f"%{x}.step") for x in "abc"}
    return f"""entry:
  %panel = alloca [{_DEPTH * _VECTORS} x {vector}], align 64
  %tile = alloca [{len(_TILE)} x {vector}], align 64
{operands_text()}  %deep = call i64 @llvm.smax.i64(i64 %depth, i64 1)
  %panel.step = mul i64 %b.column.step, {width // size}
  %out.step = mul i64 %c.column.step, {width // size}
  %a.block.step = mul i64 %a.step.in, {_DEPTH}
  %b.block.step = mul i64 %b.row.step, {_DEPTH}
  %a.rows.step = mul i64 %a.row.step, {_ROWS}
  %c.rows.step = mul i64 %c.row.step, {_ROWS}
  %b.is.near = icmp eq i64 %b.column.step, {size}
  %c.is.near = icmp eq i64 %c.column.step, {size}
{loop_text("time", "%times", _columns(size), walks=walks)}  ret void
"""


def _vector(size: int) -> str:
    return f"<{vector_bytes() // size} x i{8 * size}>"


def _one_by_one(size: int) -> str:
    """Each number of each product, as a sum: two products in a trip, then the one that is left."""
    item, wide = f"i{8 * size}", f"i{max(32, 8 * size)}"
    both = f"""  %u.second.at = getelementptr i8, ptr %u.first.at, i64 %a.step.in
  %v.second.at = getelementptr i8, ptr %v.first.at, i64 %b.row.step
{_product("first", item, wide)}{_product("second", item, wide)}  %one = add {wide} %two, %first
  %two.next = add {wide} %one, %second
"""
    walks = {"u.first.at": ("%a.row", "%a.two"), "v.first.at": ("%b.column", "%b.two")}
    number = loop_text("pair", "%even", both, step=2, walks=walks, sums={"two": (wide, "0")})
    last = f"{_product('last', item, wide)}  %sum.next = add {wide} %sum, %last\n"
    walks = {"u.last.at": ("%u.first.at", "0"), "v.last.at": ("%v.first.at", "0")}
    number += loop_text("last.one", "%odd", last, walks=walks, sums={"sum": (wide, "%two")})
    narrow = "%sum"
    if wide != item:
        narrow = "%narrow"
        number += f"  {narrow} = trunc {wide} %sum to {item}\n"
    number += f"  store {item} {narrow}, ptr %c.at, align 1\n"
    walks = {"b.column": ("%b", "%b.column.step"), "c.at": ("%c.row", "%c.column.step")}
    row = loop_text("column", "%columns", number, walks=walks)
    walks = {"a.row": ("%a", "%a.row.step"), "c.row": ("%c", "%c.row.step")}
    whole = loop_text("row", "%rows", row, walks=walks)
    walks = {x: (f"%{x}.first", f"%{x}.step") for x in "abc"}
    return f"""entry:
{operands_text()}  %odd = and i64 %depth, 1
  %even = sub i64 %depth, %odd
  %a.two = shl i64 %a.step.in, 1
  %b.two = shl i64 %b.row.step, 1
{loop_text("time", "%times", whole, walks=walks)}  ret void
"""


def _product(name: str, item: str, wide: str) -> str:
    """The product of two numbers; short ones are made longer, as the machine multiplies bytes in one register only."""
    lines = ""
    for x in (f"u.{name}", f"v.{name}"):
        loaded = x if item == wide else f"{x}.short"
        lines += f"  %{loaded} = load {item}, ptr %{x}.at, align 1\n"
        if loaded != x:
            lines += f"  %{x} = zext {item} %{loaded} to {wide}\n"
    return lines + f"  %{name} = mul {wide} %u.{name}, %v.{name}\n"


def _columns(size: int) -> str:
    """Two vectors of columns after the other, and along them the blocks of rows of the right matrix."""
    count = _VECTORS * vector_bytes() // size
    begin = f"""  %left = sub i64 %columns, %column
  %filled = call i64 @llvm.smin.i64(i64 %left, i64 {count})
  %is.whole = icmp eq i64 %filled, {count}
  %b.is.whole = and i1 %is.whole, %b.is.near
  %c.is.whole = and i1 %is.whole, %c.is.near
"""
    block = f"""  %depth.left = sub i64 %depth, %block
  %count = call i64 @llvm.smin.i64(i64 %depth.left, i64 {_DEPTH})
  %is.first = icmp eq i64 %block, 0
{_packed(size)}{_tiles(size)}"""
    walks = {"a.block": ("%a", "%a.block.step"), "b.block": ("%b.panel", "%b.block.step")}
    blocks = loop_text("block", "%deep", block, step=_DEPTH, walks=walks)
    walks = {"b.panel": ("%b", "%panel.step"), "c.panel": ("%c", "%out.step")}
    return loop_text("column", "%columns", begin + blocks, step=count, walks=walks)


def _packed(size: int) -> str:
    """Put the block's columns side by side; there are zeros where the matrix has none."""
    item, vector, width = f"i{8 * size}", _vector(size), _VECTORS * vector_bytes()
    copy = "".join(
        f"""  %copied.from.{v} = getelementptr {vector}, ptr %copied.from, i64 {v}
  %copied.to.{v} = getelementptr {vector}, ptr %copied.to, i64 {v}
  %copied.{v} = load {vector}, ptr %copied.from.{v}, align 1
  store {vector} %copied.{v}, ptr %copied.to.{v}
"""
        for v in range(_VECTORS)
    )
    one = f"""  %one = load {item}, ptr %one.from, align 1
  store {item} %one, ptr %one.to
"""
    walks = {"one.from": ("%line.from", "%b.column.step"), "one.to": ("%line.to", str(size))}
    line = loop_text("cell", "%filled", one, walks=walks)
    places = ("%b.block", "%b.row.step"), ("%panel", str(width))
    return f"""  br i1 %b.is.whole, label %pack.whole, label %pack.part
pack.whole:
{loop_text("copy", "%count", copy, walks=dict(zip(("copied.from", "copied.to"), places)))}  br label %packed
pack.part:
  %panel.size = mul i64 %count, {width}
  call void @llvm.memset.p0.i64(ptr align 64 %panel, i8 0, i64 %panel.size, i1 false)
{loop_text("line", "%count", line, walks=dict(zip(("line.from", "line.to"), places)))}  br label %packed
packed:
"""


def _tiles(size: int) -> str:
    """Four rows of the left matrix after the other; the last of them may be there several times."""
    rows = "".join(
        f"""  %r{r}.is.there = call i64 @llvm.smin.i64(i64 %row.last, i64 {r})
  %r{r}.offset = mul i64 %r{r}.is.there, %a.row.step
  %r{r} = getelementptr i8, ptr %a.rows, i64 %r{r}.offset
"""
        for r in range(_ROWS)
    )
    body = f"""  %row.left = sub i64 %rows, %row
  %row.count = call i64 @llvm.smin.i64(i64 %row.left, i64 {_ROWS})
  %row.last = sub i64 %row.count, 1
{rows}{_sums(size)}{_stored(size)}"""
    walks = {"a.rows": ("%a.block", "%a.rows.step"), "c.rows": ("%c.panel", "%c.rows.step")}
    return loop_text("row", "%rows", body, step=_ROWS, walks=walks)


def _sums(size: int) -> str:
    """The sums of a tile, in registers, and then in memory."""
    item, vector, width = f"i{8 * size}", _vector(size), _VECTORS * vector_bytes()
    lanes = vector_bytes() // size
    lines = ["  br label %sum.before\nsum.before:\n  br label %sum.head\nsum.head:\n"]
    start = {"k": "i64", "near": "i64", **{f"s{r}{v}": vector for r, v in _TILE}}
    for name, type_ in start.items():
        zero = "0" if type_ == "i64" else "zeroinitializer"
        lines.append(
            f"  %{name} = phi {type_} [ {zero}, %sum.before ], [ %{name}.next, %sum.body ]\n"
        )
    lines.append(
        f"""  %k.more = icmp slt i64 %k, %count
  br i1 %k.more, label %sum.body, label %sum.done
sum.body:
  %k.next = add i64 %k, 1
  %near.next = add i64 %near, %a.step.in
  %b.offset = mul i64 %k, {width}
  %b0.at = getelementptr i8, ptr %panel, i64 %b.offset
"""
    )
    for v in range(_VECTORS):
        if v:
            lines.append(f"  %b{v}.at = getelementptr {vector}, ptr %b0.at, i64 {v}\n")
        lines.append(f"  %b{v} = load {vector}, ptr %b{v}.at\n")
    for r in range(_ROWS):
        lines.append(
            f"""  %a{r}.at = getelementptr i8, ptr %r{r}, i64 %near
  %a{r}.item = load {item}, ptr %a{r}.at, align 1
  %a{r}.one = insertelement {vector} poison, {item} %a{r}.item, i32 0
  %a{r} = shufflevector {vector} %a{r}.one, {vector} poison, <{lanes} x i32> zeroinitializer
"""
        )
    for r, v in _TILE:
        lines.append(
            f"""  %p{r}{v} = mul {vector} %a{r}, %b{v}
  %s{r}{v}.next = add {vector} %s{r}{v}, %p{r}{v}
"""
        )
    lines.append("  br label %sum.head\nsum.done:\n")
    for place, (r, v) in enumerate(_TILE):
        lines.append(
            f"""  %t{r}{v} = getelementptr {vector}, ptr %tile, i64 {place}
  store {vector} %s{r}{v}, ptr %t{r}{v}
"""
        )
    return "".join(lines)


def _stored(size: int) -> str:
    """Store the tile's rows, or add them to what the blocks before gave."""
    item, vector, width = f"i{8 * size}", _vector(size), _VECTORS * vector_bytes()
    whole = "".join(
        f"""  %out.to.{v} = getelementptr {vector}, ptr %out.to, i64 {v}
  %out.from.{v} = getelementptr {vector}, ptr %out.from, i64 {v}
{_accumulated(f"out.{v}", vector, f"%out.from.{v}", f"%out.to.{v}", "zeroinitializer")}"""
        for v in range(_VECTORS)
    )
    one = _accumulated("piece.sum", item, "%piece.from", "%piece.to", "0")
    walks = {"piece.from": ("%out.from", str(size)), "piece.to": ("%out.to", "%c.column.step")}
    body = f"""  br i1 %c.is.whole, label %out.whole, label %out.part
out.whole:
{whole}  br label %out.latch
out.part:
{loop_text("piece", "%filled", one, walks=walks)}"""
    walks = {"out.from": ("%tile", str(width)), "out.to": ("%c.rows", "%c.row.step")}
    return loop_text("out", "%row.count", body, walks=walks)


def _accumulated(name: str, type_: str, source: str, target: str, zero: str) -> str:
    return f"""  %{name}.new = load {type_}, ptr {source}
  %{name}.found = load {type_}, ptr {target}, align 1
  %{name}.old = select i1 %is.first, {type_} {zero}, {type_} %{name}.found
  %{name} = add {type_} %{name}.old, %{name}.new
  store {type_} %{name}, ptr {target}, align 1
"""
