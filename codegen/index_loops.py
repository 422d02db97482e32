"""Elements at the places that an array of ints names: ``a[index]`` and ``a[index] = value``.

The loops are functions over memory: what they move are items of a size, or rows of a number of bytes.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from ljit.codegen.arrays import store_element, strides_of
from ljit.codegen.builder import NULL, Ref, integer
from ljit.codegen.forms import Native, array_parts
from ljit.types import BOOL, ArrayType

if TYPE_CHECKING:
    import numpy as np

    from ljit.codegen.emitter import Emitter

__all__ = ["are_inside", "array_gather", "array_scatter", "product_of"]

_SHORT_ROW = 64  # bytes: longer rows are copied by the C library


def array_gather(e: Emitter, a: Native, index: Native, into: Native) -> Native:
    """Fill a C-contiguous array with the rows of `a` that `index` names; whether there are all of these.

    `a` is a vector, or C-contiguous, and so is `index`.
    """
    f, parts = e.f, array_parts(a)
    assert isinstance(a.type, ArrayType)
    assert isinstance(index.type, ArrayType)
    itemsize = a.type.dtype.itemsize
    operands = [*_source(e, a, index), array_parts(into).data]
    if a.type.ndim == 1:
        name = _define_gather(e, index.type.dtype, itemsize)
    else:
        name = _define_gather_rows(e, index.type.dtype)
        operands.append(f.mul(product_of(e, parts.sizes[1:]), integer("i64", itemsize)))
    return Native(BOOL, (f.call("i1", name, operands),))


def are_inside(e: Emitter, a: Native, index: Native) -> Native:
    """Whether a vector has all the elements that `index` names."""
    assert isinstance(index.type, ArrayType)
    dtype = index.type.dtype
    name = f"are.inside.{dtype.kind}{dtype.itemsize}"
    nothing = "  br label %copied.{0}\ncopied.{0}:"
    e.f.module.define(name, _loops(name, dtype, nothing, group=4))
    operands = [*_source(e, a, index), NULL]
    return Native(BOOL, (e.f.call("i1", name, operands),))


def array_scatter(e: Emitter, a: Native, index: Native, values: Native) -> None:
    """Store the elements of a vector, or a number of the dtype of `a`, at the places that `index` names, one by one.

    `a` is a vector that has them.
    """
    assert isinstance(a.type, ArrayType)
    assert isinstance(index.type, ArrayType)
    f, dtype, item = e.f, index.type.dtype, f"i{8 * a.type.dtype.itemsize}"
    if isinstance(values.type, ArrayType):
        parts = array_parts(values)
        source, step = parts.data, strides_of(f, values.type, parts)[0]
    else:
        source, step = e.stack_array("i64", 2), integer("i64", 0)
        store_element(f, source, a.type.dtype, values)
    name = f"scatter.{item}.{dtype.kind}{dtype.itemsize}"
    copy = f"""  %offset.of.{{0}} = mul i64 %k.{{0}}, %value.step
  %value.{{0}} = getelementptr i8, ptr %into, i64 %offset.of.{{0}}
  %x.{{0}} = load {item}, ptr %value.{{0}}, align 1
  store {item} %x.{{0}}, ptr %from.{{0}}, align 1
  br label %copied.{{0}}
copied.{{0}}:"""
    f.module.define(name, _loops(name, dtype, copy, group=4, more=", i64 %value.step"))
    f.call("i1", name, [*_source(e, a, index), source, step])


def _source(e: Emitter, a: Native, index: Native) -> list[Ref]:
    """An array and its indices as operands of the functions."""
    assert isinstance(a.type, ArrayType)
    assert isinstance(index.type, ArrayType)
    parts, places = array_parts(a), array_parts(index)
    return [
        parts.data,
        parts.sizes[0],
        strides_of(e.f, a.type, parts)[0],
        places.data,
        product_of(e, places.sizes),
        strides_of(e.f, index.type, places)[-1],
    ]


def product_of(e: Emitter, sizes: tuple[Ref, ...]) -> Ref:
    total = integer("i64", 1)
    for size in sizes:
        total = e.f.mul(total, size)
    return total


_OPERANDS = "ptr %data, i64 %size, i64 %stride, ptr %index, i64 %count, i64 %step, ptr %into"


def _define_gather(e: Emitter, index: np.dtype, itemsize: int) -> str:
    item = f"i{8 * itemsize}"
    name = f"gather.{item}.{index.kind}{index.itemsize}"
    copy = f"""  %x.{{0}} = load {item}, ptr %from.{{0}}, align 1
  %to.{{0}} = getelementptr {item}, ptr %into, i64 %k.{{0}}
  store {item} %x.{{0}}, ptr %to.{{0}}, align 1
  br label %copied.{{0}}
copied.{{0}}:"""
    return e.f.module.define(name, _loops(name, index, copy, group=4))


def _define_gather_rows(e: Emitter, index: np.dtype) -> str:
    name = f"gather.rows.{index.kind}{index.itemsize}"
    e.f.module.declare("memcpy", "ptr", ["ptr", "ptr", "i64"])
    copy = f"""  %offset.to = mul i64 %k.0, %bytes
  %to = getelementptr i8, ptr %into, i64 %offset.to
  %is.long = icmp ugt i64 %bytes, {_SHORT_ROW}
  %rest = and i64 %bytes, 7
  %has.rest = icmp ne i64 %rest, 0
  %is.whole = or i1 %is.long, %has.rest
  br i1 %is.whole, label %whole, label %words
whole:
  call ptr @memcpy(ptr %to, ptr %from.0, i64 %bytes)
  br label %copied.0
words:
  %w = phi i64 [ 0, %inside.0 ], [ %w.next, %word ]
  %w.in = icmp ult i64 %w, %bytes
  br i1 %w.in, label %word, label %copied.0
word:
  %w.from = getelementptr i8, ptr %from.0, i64 %w
  %w.to = getelementptr i8, ptr %to, i64 %w
  %x = load i64, ptr %w.from, align 1
  store i64 %x, ptr %w.to, align 1
  %w.next = add nuw nsw i64 %w, 8
  br label %words, !llvm.loop {_plain_loop(e)}
copied.0:"""
    return e.f.module.define(name, _loops(name, index, copy, more=", i64 %bytes"))


def _plain_loop(e: Emitter) -> str:
    """Metadata of a loop of a few trips."""
    module = e.f.module
    hints = (
        '!{!"llvm.loop.vectorize.enable", i1 false}',
        '!{!"llvm.loop.unroll.disable"}',
    )
    return module.distinct_metadata(f"!{{{{self}}, {', '.join(map(module.metadata, hints))}}}")


def _loops(name: str, index: np.dtype, copy: str, *, group: int = 1, more: str = "") -> str:
    """A function that copies what each index means; `group` of them in one trip as long as there are as many.

    `copy` copies from `%from.0` to place `%k.0`, where 0 stands for what tells copies apart, and ends in `copied.0`.
    """
    trips = _trips(
        "group", range(group), index, copy, "entry", "0", "rest" if group > 1 else "good"
    )
    rest = _trips("rest", [group], index, copy, "group", "%group.k", "good") if group > 1 else ""
    return f"""define internal i1 @{name}({_OPERANDS}{more}) noinline nounwind willreturn {{
entry:
  br label %group
{trips}
{rest}
good:
  ret i1 true
bad:
  ret i1 false
}}"""


def _trips(
    loop: str,
    numbers: Sequence[int],
    index: np.dtype,
    copy: str,
    before: str,
    start: str,
    following: str,
) -> str:
    """A loop whose trips copy some elements each; it ends where there are not as many."""
    steps = "\n".join(
        f"""  %k.{i} = add nuw nsw i64 %{loop}.k, {place}
{_look(index, i)}
{copy.replace("{0}", str(i))}"""
        for place, i in enumerate(numbers)
    )
    return f"""{loop}:
  %{loop}.k = phi i64 [ {start}, %{before} ], [ %{loop}.next, %copied.{numbers[-1]} ]
  %{loop}.next = add nuw nsw i64 %{loop}.k, {len(numbers)}
  %{loop}.in = icmp sle i64 %{loop}.next, %count
  br i1 %{loop}.in, label %{loop}.trip, label %{following}
{loop}.trip:
{steps}
  br label %{loop}"""


def _look(index: np.dtype, i: int) -> str:
    """Find where index number `i` points; before anything is done with it, look whether that is inside."""
    word = f"i{8 * index.itemsize}"
    extension = "sext" if index.kind == "i" else "zext"
    given = f"{extension} {word} %index.{i} to" if index.itemsize < 8 else f"add i64 0, %index.{i}"
    given = f"{given} i64" if index.itemsize < 8 else given
    return f"""  %index.offset.{i} = mul i64 %k.{i}, %step
  %index.at.{i} = getelementptr i8, ptr %index, i64 %index.offset.{i}
  %index.{i} = load {word}, ptr %index.at.{i}, align 1
  %given.{i} = {given}
  %from.end.{i} = add i64 %given.{i}, %size
  %is.negative.{i} = icmp slt i64 %given.{i}, 0
  %row.{i} = select i1 %is.negative.{i}, i64 %from.end.{i}, i64 %given.{i}
  %is.inside.{i} = icmp ult i64 %row.{i}, %size
  br i1 %is.inside.{i}, label %inside.{i}, label %bad
inside.{i}:
  %offset.{i} = mul i64 %row.{i}, %stride
  %from.{i} = getelementptr i8, ptr %data, i64 %offset.{i}"""
