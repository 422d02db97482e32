"""Elements with gaps between them, put side by side: so a loop nest has vectors at any strides.

A row is gone through in blocks. What lies otherwise than the loop over a block takes for granted is copied to the stack
first, and results that do are stored there and copied to their places afterwards. The copies are functions
that all units share.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from ljit.codegen.llvm.builder import FunctionBuilder, ModuleBuilder, Ref
from ljit.codegen.llvm.shared_code import PACKING, shared_function

__all__ = [
    "BLOCK_SHIFT",
    "MOST",
    "buffers",
    "copy_function",
    "gather",
    "item_type",
    "loaded_as_one",
    "number_type",
    "scatter",
]

BLOCK_SHIFT = 8  # 1 << 8 elements are a block
_BUFFER_SHIFT = 9  # 1 << 9 elements of the largest fit a buffer
MOST = 8  # blocks that are copied at once
# steps in elements that have loops of their own, with vectors: what is broadcast, and others of elements that small
_STEPS, _SMALL = (0, 2, -1, 3), 8
_AHEAD = 128  # elements: their lines are asked for before the block is computed
_LARGEST = 16  # bytes of an element
_LINE = 64  # bytes of a line of the cache
_PREFETCH = "llvm.prefetch.p0"
_NUMBERS = {4: "float", 8: "double"}  # of which the machine loads one into a part of a vector

#: the copy of one element: names, the place with gaps, the other one
_Move = Callable[[str, str, str], str]
_NOT_UNROLLED = '!{!"llvm.loop.unroll.disable"}'
_PLAIN = ('!{!"llvm.loop.vectorize.enable", i1 false}', _NOT_UNROLLED)
_VECTORS = ('!{!"llvm.loop.interleave.count", i32 1}', _NOT_UNROLLED)


def buffers(f: FunctionBuilder, count: int) -> list[Ref]:
    """Stack memory for so many blocks, or tiles, the same for all nests of a function.

    It begins at a cache line: vectors of 64 bytes that are stored elsewhere take two, and wait for each other.
    """
    while len(f.buffers) < count:
        f.buffers.append(f.alloca("i8", _LARGEST << _BUFFER_SHIFT, align=_LINE))
    return f.buffers[:count]


def gather(f: FunctionBuilder, dtype: np.dtype, buffer: Ref, parts: Sequence[Ref]) -> Ref:
    """Where so many elements lie side by side that are `stride` bytes apart: there, or in the buffer.

    `parts`: the place of the first one, the stride, how many.
    """
    return f.call("ptr", copy_function(dtype, "gather"), [buffer, *parts])


def scatter(f: FunctionBuilder, dtype: np.dtype, buffer: Ref, parts: Sequence[Ref]) -> None:
    """Copy elements from the buffer to places that are `stride` bytes apart, unless they lie there already."""
    f.call("ptr", copy_function(dtype, "scatter"), [buffer, *parts])


def copy_function(dtype: np.dtype, kind: str) -> str:
    """The function that copies a block: "gather" or "scatter"."""
    size = dtype.itemsize
    name = f"{PACKING}{kind}{size}"
    is_gather = kind == "gather"
    return shared_function(
        name,
        lambda module: _write(module, name, size, is_gather),
        straight=not _steps(size, is_gather=is_gather),
    )


def item_type(size: int) -> str:
    """The type of an element of so many bytes that is moved as it is."""
    return {16: "<2 x i64>"}.get(size, f"i{8 * size}")


def number_type(size: int) -> str | None:
    """The type of numbers of so many bytes that the machine loads into a part of a vector; None: there is none."""
    return _NUMBERS.get(size)


def loaded_as_one(name: str, number: str, places: Sequence[str], target: str) -> str:
    """Load numbers from places into one vector, and store that."""
    lines, before, vector = list[str](), "poison", f"<{len(places)} x {number}>"
    for i, place in enumerate(places):
        lines += [
            f"  %{name}.x{i} = load {number}, ptr {place}, align 1",
            f"  %{name}.v{i} = insertelement {vector} {before}, {number} %{name}.x{i}, i32 {i}",
        ]
        before = f"%{name}.v{i}"
    return "\n".join([*lines, f"  store {vector} {before}, ptr {target}, align 1"])


def _steps(size: int, *, is_gather: bool) -> Sequence[int]:
    if not is_gather:
        return ()  # stores with gaps have no vectors
    return _STEPS if size <= _SMALL else _STEPS[:1]


def _write(module: ModuleBuilder, name: str, size: int, is_gather: bool) -> None:
    """A loop for each of the steps of `_STEPS`, and one for others, of four elements a trip."""
    item = item_type(size)
    plain, vectors = (
        module.distinct_metadata(f"!{{{{self}}, {', '.join(map(module.metadata, hints))}}}")
        for hints in (_PLAIN, _VECTORS)
    )

    def move(label: str, strided: str, dense: str) -> str:
        source, target = (strided, dense) if is_gather else (dense, strided)
        return f"""  %{label}.x = load {item}, ptr {source}, align 1
  store {item} %{label}.x, ptr {target}, align 1"""

    steps = _steps(size, is_gather=is_gather)
    cases = " ".join(f"i64 {step * size}, label %step{i}" for i, step in enumerate(steps))
    loops = "".join(
        _step_loop(f"step{i}", step * size, item, move, vectors) for i, step in enumerate(steps)
    )
    number = number_type(size) if is_gather else None
    text = f"""define ptr @{name}(ptr noalias %buffer, ptr noalias %data, i64 %stride, i64 %count) nounwind {{
entry:
  switch i64 %stride, label %any [ i64 {size}, label %unit {cases} ]
unit:
  ret ptr %data
{loops}any:
{_loop_of_fours(_four_elements(item, number, move), item, plain)}
{_loop_of_the_rest(item, move, plain)}
done:
  ret ptr %buffer
}}"""
    module.declare(_PREFETCH, "void", ("ptr", "i32", "i32", "i32"))
    module.define(name, text)


def _step_loop(label: str, stride: int, item: str, move: _Move, hints: str) -> str:
    """A loop for a stride that is known."""
    return f"""{label}:
  %{label}.k = phi i64 [ 0, %entry ], [ %{label}.next, %{label} ]
  %{label}.offset = mul nsw i64 %{label}.k, {stride}
  %{label}.strided = getelementptr i8, ptr %data, i64 %{label}.offset
  %{label}.dense = getelementptr {item}, ptr %buffer, i64 %{label}.k
{move(label, f"%{label}.strided", f"%{label}.dense")}
  %{label}.next = add nuw nsw i64 %{label}.k, 1
  %{label}.more = icmp slt i64 %{label}.next, %count
  br i1 %{label}.more, label %{label}, label %done, !llvm.loop {hints}
"""


def _four_elements(item: str, number: str | None, move: _Move) -> str:
    """Copy four elements, as one vector if they are such numbers."""
    places = "\n".join(
        f"""  %four.step{i} = mul nsw i64 %stride, {i}
  %four.strided{i} = getelementptr i8, ptr %four.from, i64 %four.step{i}"""
        for i in range(4)
    )
    if number is not None:
        from_places = [f"%four.strided{i}" for i in range(4)]
        return f"{places}\n{loaded_as_one('four', number, from_places, '%four.to')}"
    return places + "".join(
        f"""
  %four.dense{i} = getelementptr {item}, ptr %four.to, i64 {i}
{move(f"four{i}", f"%four.strided{i}", f"%four.dense{i}")}"""
        for i in range(4)
    )


def _loop_of_fours(fours: str, item: str, hints: str) -> str:
    return f"""  %fours = lshr i64 %count, 2
  %some = icmp ugt i64 %fours, 0
  br i1 %some, label %four, label %rest
four:
  %four.k = phi i64 [ 0, %any ], [ %four.next, %four ]
  %four.from = phi ptr [ %data, %any ], [ %four.from.next, %four ]
  %four.to = phi ptr [ %buffer, %any ], [ %four.to.next, %four ]
{fours}
  %four.far = mul nsw i64 %stride, {_AHEAD}
  %four.later = getelementptr i8, ptr %four.from, i64 %four.far
  call void @{_PREFETCH}(ptr %four.later, i32 0, i32 3, i32 1)
  %four.step4 = mul nsw i64 %stride, 4
  %four.from.next = getelementptr i8, ptr %four.from, i64 %four.step4
  %four.to.next = getelementptr {item}, ptr %four.to, i64 4
  %four.next = add nuw nsw i64 %four.k, 1
  %four.more = icmp ult i64 %four.next, %fours
  br i1 %four.more, label %four, label %rest, !llvm.loop {hints}"""


def _loop_of_the_rest(item: str, move: _Move, hints: str) -> str:
    return f"""rest:
  %rest.from = phi ptr [ %data, %any ], [ %four.from.next, %four ]
  %rest.to = phi ptr [ %buffer, %any ], [ %four.to.next, %four ]
  %left = and i64 %count, 3
  br label %last
last:
  %last.k = phi i64 [ 0, %rest ], [ %last.next, %one ]
  %last.from = phi ptr [ %rest.from, %rest ], [ %last.from.next, %one ]
  %last.to = phi ptr [ %rest.to, %rest ], [ %last.to.next, %one ]
  %last.more = icmp ult i64 %last.k, %left
  br i1 %last.more, label %one, label %done, !llvm.loop {hints}
one:
{move("one", "%last.from", "%last.to")}
  %last.from.next = getelementptr i8, ptr %last.from, i64 %stride
  %last.to.next = getelementptr {item}, ptr %last.to, i64 1
  %last.next = add nuw nsw i64 %last.k, 1
  br label %last"""
