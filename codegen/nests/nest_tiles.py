"""Rows of arrays that lie the other way around, as those of ``a.T`` do: some at a time, put side by side.

Each element of such a row is in another line of the cache. So the elements of eight rows are moved together: that uses
lines up. The copies are functions that all units share; they take tiles of four by four elements in registers.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from ljit.codegen.llvm.builder import FunctionBuilder, ModuleBuilder, Ref
from ljit.codegen.llvm.shared_code import PACKING, shared_function
from ljit.codegen.nests.nest_packing import copy_function, item_type
from ljit.codegen.nests.nest_transposes import transposed

__all__ = ["HEIGHT_SHIFT", "WIDTH_SHIFT", "gather_rows", "pitch_of", "scatter_rows"]

HEIGHT_SHIFT, WIDTH_SHIFT = 3, 6  # 8 rows of 64 elements are moved at once
_HEIGHT, _WIDTH = 1 << HEIGHT_SHIFT, 1 << WIDTH_SHIFT
_VECTORS = (1, 2, 4, 8)  # bytes of elements that tiles are made of
_OPERANDS = "ptr noalias %buffer, ptr %data, i64 %stride, i64 %count, i64 %row.step, i64 %rows"


def gather_rows(f: FunctionBuilder, dtype: np.dtype, buffer: Ref, parts: Sequence[Ref]) -> Ref:
    """Where so many elements of some rows lie side by side: in the array, if they do so there, or in the buffer.

    `parts`: the place of the first one, the stride, how many, the step from row to row, how many rows.
    """
    return f.call("ptr", _function(dtype, "gather"), [buffer, *parts])


def scatter_rows(f: FunctionBuilder, dtype: np.dtype, buffer: Ref, parts: Sequence[Ref]) -> None:
    """Copy elements of rows from the buffer to their places, unless they lie there already."""
    f.call("ptr", _function(dtype, "scatter"), [buffer, *parts])


def pitch_of(f: FunctionBuilder, dtype: np.dtype, stride: Ref, row_step: Ref) -> Ref:
    """How far the rows are apart that `gather_rows` gives."""
    is_there = f.icmp("eq", stride, dtype.itemsize)
    return f.select(is_there, row_step, dtype.itemsize * _WIDTH)


def _function(dtype: np.dtype, kind: str) -> str:
    size = dtype.itemsize
    name = f"{PACKING}{kind}.tile{size}"
    one = copy_function(dtype, kind)
    return shared_function(
        name, lambda module: _write(module, name, one, size, kind == "gather"), straight=True
    )


def _write(module: ModuleBuilder, name: str, one: str, size: int, is_gather: bool) -> None:
    item = item_type(size)
    fours = _fours(item, size, is_gather) if size in _VECTORS else ""
    first = "four" if fours else "rest"
    module.declare("llvm.prefetch.p0", "void", ["ptr", "i32", "i32", "i32"])
    module.define(
        name,
        f"""define ptr @{name}({_OPERANDS}) nounwind {{
entry:
  %is.unit = icmp eq i64 %stride, {size}
  br i1 %is.unit, label %unit, label %look
unit:
  ret ptr %data
look:
  %are.all = icmp eq i64 %rows, {_HEIGHT}
  %are.near = icmp eq i64 %row.step, {size}
  %next.block = mul i64 %stride, {_WIDTH}
  %ahead = add i64 %next.block, {(_HEIGHT - 1) * size}
  %is.tile = and i1 %are.all, %are.near
  br i1 %is.tile, label %{first}, label %each
each:
  %r = phi i64 [ 0, %look ], [ %r.next, %row ]
  %r.in = icmp slt i64 %r, %rows
  br i1 %r.in, label %row, label %done
row:
  %r.next = add nuw nsw i64 %r, 1
  %r.offset = mul i64 %r, %row.step
  %r.data = getelementptr i8, ptr %data, i64 %r.offset
  %r.pitch = mul i64 %r, {size * _WIDTH}
  %r.buffer = getelementptr i8, ptr %buffer, i64 %r.pitch
  %r.place = call ptr {one}(ptr %r.buffer, ptr %r.data, i64 %stride, i64 %count)
  br label %each
{fours}{_columns(item, size, is_gather, has_fours=bool(fours))}
done:
  ret ptr %buffer
}}""",
    )


def _fours(item: str, size: int, is_gather: bool) -> str:
    """Four columns a trip, in two tiles."""
    lines = []
    for half in range(_HEIGHT // 4):
        near = [((4 * half + i) * _WIDTH) * size for i in range(4)]
        rows = [f"getelementptr i8, ptr %near.at, i64 {offset}" for offset in near]
        columns = [f"getelementptr i8, ptr %far.{c}, i64 {4 * half * size}" for c in range(4)]
        sources, targets = (columns, rows) if is_gather else (rows, columns)
        lines += _tile(f"h{half}", size, sources, targets)
    far = [f"  %far.{c} = getelementptr i8, ptr %far.{c - 1}, i64 %stride" for c in range(1, 4)]
    for c in range(4) if is_gather else ():
        far += [
            f"  %later.{c} = getelementptr i8, ptr %far.{c}, i64 %ahead",
            f"  call void @llvm.prefetch.p0(ptr %later.{c}, i32 0, i32 3, i32 1)",
        ]
    body = "\n".join([*far, *lines])
    return f"""four:
  %k = phi i64 [ 0, %look ], [ %k.next, %tiles ]
  %far.0 = phi ptr [ %data, %look ], [ %far.next, %tiles ]
  %k.next = add nuw nsw i64 %k, 4
  %k.in = icmp sle i64 %k.next, %count
  br i1 %k.in, label %tiles, label %rest
tiles:
  %near.at = getelementptr {item}, ptr %buffer, i64 %k
{body}
  %far.next = getelementptr i8, ptr %far.3, i64 %stride
  br label %four
"""


def _tile(name: str, size: int, sources: Sequence[str], targets: Sequence[str]) -> list[str]:
    """Load four vectors, store those of their first, second ... elements."""
    vector = f"<4 x {item_type(size)}>"
    lines = list[str]()
    for i, place in enumerate(sources):
        lines.append(f"  %{name}.from{i} = {place}")
        lines.append(f"  %{name}.v{i} = load {vector}, ptr %{name}.from{i}, align 1")
    turned, rows = transposed(name, size, [f"%{name}.v{i}" for i in range(4)])
    lines.append(turned.rstrip("\n"))
    for i, (row, place) in enumerate(zip(rows, targets, strict=True)):
        lines.append(f"  %{name}.to{i} = {place}")
        lines.append(f"  store {vector} {row}, ptr %{name}.to{i}, align 1")
    return lines


def _columns(item: str, size: int, is_gather: bool, *, has_fours: bool) -> str:
    """A column a trip."""
    before, start, first = ("four", "%k", "%far.0") if has_fours else ("look", "0", "%data")
    moves = []
    for i in range(_HEIGHT):
        far, near = f"%c.far.{i}", f"%c.near.{i}"
        source, target = (far, near) if is_gather else (near, far)
        moves.append(
            f"""  {far} = getelementptr i8, ptr %c.far, i64 {i * size}
  {near} = getelementptr i8, ptr %c.near, i64 {i * size * _WIDTH}
  %c.x.{i} = load {item}, ptr {source}, align 1
  store {item} %c.x.{i}, ptr {target}, align 1"""
        )
    body = "\n".join(moves)
    return f"""rest:
  %c = phi i64 [ {start}, %{before} ], [ %c.next, %column ]
  %c.far = phi ptr [ {first}, %{before} ], [ %c.far.next, %column ]
  %c.in = icmp slt i64 %c, %count
  br i1 %c.in, label %column, label %done
column:
  %c.near = getelementptr {item}, ptr %buffer, i64 %c
{body}
  %c.far.next = getelementptr i8, ptr %c.far, i64 %stride
  %c.next = add nuw nsw i64 %c, 1
  br label %rest"""
