"""Rows of a matrix whose elements lie apart, those that an array of ints names: ``m[:, columns]``, rows of ``m.T``.

Mostly each line of the cache has elements of many rows. So a few elements of all of these rows are moved before the
next few: they lie in lines that stay near meanwhile. Rows whose elements are nearer to each other go at once.
"""

from __future__ import annotations

import numpy as np

from ljit.codegen.kernels.index_checks import OPERANDS, as_i64
from ljit.codegen.llvm.builder import ModuleBuilder
from ljit.codegen.llvm.loop_texts import loop_text
from ljit.codegen.llvm.shared_code import shared_function
from ljit.codegen.nests.nest_packing import item_type, loaded_as_one, number_type

__all__ = ["column_gather"]

_FEW = 8  # elements of a row that are moved at once
# elements of each row that are moved before the next ones if there are less than 16 rows
_HIGH, _RARE = 512, 16
_OPERANDS = f"{OPERANDS}, i64 %length, i64 %apart"


def column_gather(index: np.dtype, size: int) -> str:
    """The function for indices of a dtype, which were checked, and elements of `size` bytes.

    Its operands: the matrix, how many rows it has and how far they are apart, the indices, their number and stride,
    where to, how many elements a row has, and how far these are apart.
    """
    name = f"gather.columns{size}.{index.kind}{index.itemsize}"
    return shared_function(name, lambda module: _write(module, name, index, size), straight=True)


def _write(module: ModuleBuilder, name: str, index: np.dtype, size: int) -> None:
    module.define(
        name,
        f"""define void @{name}({_OPERANDS}) nounwind {{
entry:
  %pitch = mul i64 %length, {size}
  %far = mul i64 %apart, {_FEW}
  %are.few = icmp slt i64 %length, {_FEW}
  br i1 %are.few, label %short, label %several
several:
  %are.long = icmp sge i64 %length, {_HIGH}
  %are.rare = icmp slt i64 %count, {_RARE}
  %are.high = and i1 %are.long, %are.rare
  br i1 %are.high, label %long, label %not.long
long:
{_blocks("high", _HIGH, index, size)}  ret void
not.long:
  %element.far = call i64 @llvm.abs.i64(i64 %apart, i1 false)
  %row.far = call i64 @llvm.abs.i64(i64 %stride, i1 false)
  %are.near = icmp slt i64 %element.far, %row.far
  br i1 %are.near, label %whole.rows, label %many
whole.rows:
{_whole_rows(index, size)}  ret void
many:
{_blocks("few", _FEW, index, size)}  ret void
short:
{_blocks("one", 1, index, size)}  ret void
}}""",
    )


def _blocks(block: str, height: int, index: np.dtype, size: int) -> str:
    """`height` elements of each row, then the next ones; the last of them are some of those before, too."""
    row, source, target = f"{block}.row", f"{block}.from.0", f"{block}.to.0"
    moves = _moves(block, min(height, _FEW), size)
    if height > _FEW:
        walks = {source: (f"%{row}.from", "%far"), target: (f"%{row}.to", str(_FEW * size))}
        moves = loop_text(f"{block}.group", str(height), moves, step=_FEW, walks=walks)
        source, target = f"{row}.from", f"{row}.to"
    body = _place_of_row(block, index, f"{block}.data", source) + moves
    walks = {f"{block}.index": ("%index", "%step"), target: (f"%{block}.into", "%pitch")}
    begin = f"""  %{block}.last = sub i64 %length, {height}
  %{block}.first = call i64 @llvm.smin.i64(i64 %{block}, i64 %{block}.last)
  %{block}.from.offset = mul i64 %{block}.first, %apart
  %{block}.to.offset = mul i64 %{block}.first, {size}
  %{block}.data = getelementptr i8, ptr %data, i64 %{block}.from.offset
  %{block}.into = getelementptr i8, ptr %into, i64 %{block}.to.offset
"""
    rows = loop_text(row, "%count", body, walks=walks)
    return loop_text(block, "%length", begin + rows, step=height)


def _whole_rows(index: np.dtype, size: int) -> str:
    """Row by row: elements of a row are nearer to each other than those of a column."""
    walks = {"group.from.0": ("%near.from", "%far"), "group.to.0": ("%near.to", str(_FEW * size))}
    moves = _moves("group", _FEW, size, as_one=False)
    groups = loop_text("group", "%near.whole", moves, step=_FEW, walks=walks)
    walks = {"rest.from.0": ("%rest.from", "%apart"), "rest.to.0": ("%rest.to", str(size))}
    rest = loop_text("rest", "%near.over", _moves("rest", 1, size), walks=walks)
    row = f"""{_place_of_row("near", index, "data", "near.from")}{groups}  %rest.offset = mul i64 %near.whole, %apart
  %rest.from = getelementptr i8, ptr %near.from, i64 %rest.offset
  %rest.to = getelementptr {item_type(size)}, ptr %near.to, i64 %near.whole
{rest}"""
    walks = {"near.index": ("%index", "%step"), "near.to": ("%into", "%pitch")}
    return f"""  %near.over = urem i64 %length, {_FEW}
  %near.whole = sub i64 %length, %near.over
{loop_text("near", "%count", row, walks=walks)}"""


def _place_of_row(block: str, index: np.dtype, data: str, place: str) -> str:
    """Name where the elements of the row lie that an index names; the first row is at `data`."""
    word = f"i{8 * index.itemsize}"
    return f"""  %{block}.word = load {word}, ptr %{block}.index, align 1
  %{block}.given = {as_i64(index, f"%{block}.word", "{}", "0")}
  %{block}.from.end = add i64 %{block}.given, %size
  %{block}.is.negative = icmp slt i64 %{block}.given, 0
  %{block}.place = select i1 %{block}.is.negative, i64 %{block}.from.end, i64 %{block}.given
  %{block}.offset = mul i64 %{block}.place, %stride
  %{place} = getelementptr i8, ptr %{data}, i64 %{block}.offset
"""


def _moves(loop: str, count: int, size: int, *, as_one: bool = True) -> str:
    """Move elements that lie apart from the first place on to the other one, side by side."""
    number, item, far = number_type(size), item_type(size), range(count)
    steps = "".join(
        f"  %{loop}.from.{i} = getelementptr i8, ptr %{loop}.from.{i - 1}, i64 %apart\n"
        for i in far[1:]
    )
    if count > 1 and number is not None and as_one:
        places = [f"%{loop}.from.{i}" for i in far]
        return steps + loaded_as_one(loop, number, places, f"%{loop}.to.0") + "\n"
    loads = [f"  %{loop}.x{i} = load {item}, ptr %{loop}.from.{i}, align 1\n" for i in far]
    stores = [
        f"""  %{loop}.at.{i} = getelementptr {item}, ptr %{loop}.to.0, i64 {i}
  store {item} %{loop}.x{i}, ptr %{loop}.at.{i}, align 1
"""
        for i in far
    ]
    return "".join([steps, *loads, *stores])
