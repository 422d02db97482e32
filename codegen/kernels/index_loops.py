"""Elements at the places that an array of ints names: ``a[index]`` and ``a[index] = value``.

The loops are functions over memory: what they move are items of a size, or rows of a number of bytes.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

from ljit.codegen.arrays.arrays import store_element, strides_of
from ljit.codegen.kernels.column_gathers import column_gather
from ljit.codegen.kernels.index_checks import LANES, OPERANDS, as_i64, check_function, look_at_block
from ljit.codegen.llvm.builder import NULL, Ref, integer
from ljit.codegen.llvm.forms import Native, array_parts
from ljit.codegen.llvm.shared_code import shared_function
from ljit.types import BOOL, ArrayType

if TYPE_CHECKING:
    import numpy as np

    from ljit.codegen.emitter import Emitter
    from ljit.codegen.llvm.builder import ModuleBuilder

__all__ = ["are_inside", "array_gather", "array_scatter", "product_of"]

_PIECE = 16  # bytes
_LONG = 512  # bytes: of more the C library makes the copy
_ITEMS = {1: "i8", 2: "i16", 4: "i32", 8: "i64", 16: "<2 x i64>", 32: "<4 x i64>"}  # of rows
_BLOCK = 256  # indices that are looked at before their items are moved
_FREQUENT = (4, 8, 16, 32)


def array_gather(e: Emitter, a: Native, index: Native, into: Native) -> Native:
    """Fill a C-contiguous array with the rows of `a` that `index` names; whether there are all of these.

    `a` is a vector, C-contiguous, or a matrix of any strides; `index` is a vector or C-contiguous.
    """
    f = e.f
    assert isinstance(a.type, ArrayType)
    assert isinstance(index.type, ArrayType)
    operands = [*_source(e, a, index), array_parts(into).data]
    dtype, size = index.type.dtype, _row_bytes(e, a)
    if a.type.ndim > 1 and a.type.layout != "C":
        parts = array_parts(a)
        operands += [parts.sizes[1], strides_of(f, a.type, parts)[1]]
        function = _gather_any_rows(dtype, a.type.dtype.itemsize)
    elif size.constant in _ITEMS:
        function = _gather(dtype, _ITEMS[size.constant])
    else:
        function = _gather_rows(dtype)
        operands.append(size)
    return Native(BOOL, (f.call("i1", function, operands),))


def are_inside(e: Emitter, a: Native, index: Native) -> Native:
    """Whether a vector has all the elements that `index` names."""
    assert isinstance(index.type, ArrayType)
    operands = [*_source(e, a, index), NULL]
    return Native(BOOL, (e.f.call("i1", check_function(index.type.dtype), operands),))


def array_scatter(e: Emitter, a: Native, index: Native, values: Native) -> None:
    """Store the elements of a vector, or a number of the dtype of `a`, at the places that `index` names, one by one.

    `a` has them, and is a vector; or it is C-contiguous, and so are the values: as many rows, or one.
    """
    assert isinstance(a.type, ArrayType)
    assert isinstance(index.type, ArrayType)
    f, dtype, item = e.f, index.type.dtype, f"i{8 * a.type.dtype.itemsize}"
    if a.type.ndim > 1:
        assert isinstance(values.type, ArrayType)
        size = _row_bytes(e, a)
        step = size if values.type.ndim == a.type.ndim else integer("i64", 0)
        operands = [*_source(e, a, index), array_parts(values).data, step, size]
        f.call("i1", _scatter_rows(dtype), operands)
        return
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
    more = ", i64 %value.step"
    function = _shared(name, lambda _module: _loops(name, dtype, copy, group=4, more=more))
    f.call("i1", function, [*_source(e, a, index), source, step])


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


def _row_bytes(e: Emitter, a: Native) -> Ref:
    assert isinstance(a.type, ArrayType)
    itemsize = a.type.dtype.itemsize
    return e.f.mul(product_of(e, array_parts(a).sizes[1:]), itemsize)


def product_of(e: Emitter, sizes: tuple[Ref, ...]) -> Ref:
    total = integer("i64", 1)
    for size in sizes:
        total = e.f.mul(total, size)
    return total


def _shared(name: str, source: Callable[[ModuleBuilder], str], *, straight: bool = False) -> str:
    return shared_function(
        name, lambda module: module.define(name, source(module)), straight=straight
    )


def _gather(index: np.dtype, item: str) -> str:
    """Items of a type. A block of indices is checked with vectors; then items take loads and stores alone."""
    name = f"gather.{item.strip('<>').replace(' ', '')}.{index.kind}{index.itemsize}"

    def source(module: ModuleBuilder) -> str:
        module.declare(f"llvm.vector.reduce.or.v{LANES}i64", "i64", [f"<{LANES} x i64>"])
        one_by_one = _loops(f"{name}.checked", index, _item_copy(item), group=4)
        return f"{one_by_one}\n{_gather_blocks(name, index, item)}"

    return _shared(name, source, straight=True)  # it is written as it is to run


def _gather_blocks(name: str, index: np.dtype, item: str) -> str:
    """Blocks with an index that is negative or outside, and what is left, are done one by one."""
    word, many = f"i{8 * index.itemsize}", f"<{LANES} x i64>"
    itemsize = next(size for size, type_ in _ITEMS.items() if type_ == item)

    def one_by_one(of: str) -> str:
        operands = "ptr %data, i64 %size, i64 %stride, "
        operands += f"ptr %{of}.index, i64 %{of}.count, i64 %step, ptr %{of}.into"
        return f"call i1 @{name}.checked({operands})"

    return f"""define i1 @{name}({OPERANDS}) nounwind willreturn {{
entry:
  %last = sub i64 %size, 1
  %last.one = insertelement {many} poison, i64 %last, i64 0
  %last.many = shufflevector {many} %last.one, {many} poison, <{LANES} x i32> zeroinitializer
  %is.plain.index = icmp eq i64 %step, {index.itemsize}
  %is.plain.data = icmp eq i64 %stride, {itemsize}
  %all = and i64 %count, {-LANES}
  %whole = select i1 %is.plain.index, i64 %all, i64 0
  br label %blocks
blocks:
  %k = phi i64 [ 0, %entry ], [ %k.next, %block.done ]
  %b.index = phi ptr [ %index, %entry ], [ %b.index.next, %block.done ]
  %b.into = phi ptr [ %into, %entry ], [ %b.into.next, %block.done ]
  %left = sub i64 %whole, %k
  %k.in = icmp sgt i64 %left, 0
  br i1 %k.in, label %block, label %blocks.end
block:
  %is.last = icmp slt i64 %left, {_BLOCK}
  %b.count = select i1 %is.last, i64 %left, i64 {_BLOCK}
  %k.next = add nuw nsw i64 %k, %b.count
  %b.index.next = getelementptr {word}, ptr %b.index, i64 %b.count
  %b.into.next = getelementptr {item}, ptr %b.into, i64 %b.count
  br label %look
{look_at_block(index)}
move:
  br i1 %is.plain.data, label %near, label %far
{_moves_of_block("near", index, item)}
{_moves_of_block("far", index, item, is_far=True)}
careful:
  %are.good = {one_by_one("b")}
  br i1 %are.good, label %block.done, label %bad
block.done:
  br label %blocks
blocks.end:
  %r.count = sub i64 %count, %whole
  %r.offset = mul i64 %whole, %step
  %r.index = getelementptr i8, ptr %index, i64 %r.offset
  %r.into = getelementptr {item}, ptr %into, i64 %whole
  %good = {one_by_one("r")}
  ret i1 %good
bad:
  ret i1 false
}}"""


def _moves_of_block(loop: str, index: np.dtype, item: str, *, is_far: bool = False) -> str:
    """Move items whose indices are known to be good, four in a trip; `is_far`: they lie `stride` bytes apart."""
    word = f"i{8 * index.itemsize}"
    unit, step = ("i8", f"%{loop}.offset") if is_far else (item, f"%{loop}.place")
    fours = "\n".join(
        f"""  %{loop}.at.{i} = getelementptr {word}, ptr %{loop}.index, i64 {i}
  %{loop}.{i} = load {word}, ptr %{loop}.at.{i}, align 1
  %{loop}.place.{i} = {as_i64(index, f"%{loop}.{i}", "{}", "0")}
  %{loop}.offset.{i} = mul i64 %{loop}.place.{i}, %stride
  %{loop}.from.{i} = getelementptr {unit}, ptr %data, i64 {step}.{i}
  %{loop}.x.{i} = load {item}, ptr %{loop}.from.{i}, align 1
  %{loop}.to.{i} = getelementptr {item}, ptr %{loop}.into, i64 {i}
  store {item} %{loop}.x.{i}, ptr %{loop}.to.{i}, align 1"""
        for i in range(4)
    )
    return f"""{loop}:
  %{loop}.m = phi i64 [ 0, %move ], [ %{loop}.next, %{loop} ]
  %{loop}.index = getelementptr {word}, ptr %b.index, i64 %{loop}.m
  %{loop}.into = getelementptr {item}, ptr %b.into, i64 %{loop}.m
{fours}
  %{loop}.next = add nuw nsw i64 %{loop}.m, 4
  %{loop}.more = icmp slt i64 %{loop}.next, %b.count
  br i1 %{loop}.more, label %{loop}, label %block.done"""


def _item_copy(item: str) -> str:
    """Copy an item of a type."""
    return f"""  %x.{{0}} = load {item}, ptr %from.{{0}}, align 1
  %to.{{0}} = getelementptr {item}, ptr %into, i64 %k.{{0}}
  store {item} %x.{{0}}, ptr %to.{{0}}, align 1
  br label %copied.{{0}}
copied.{{0}}:"""


def _gather_rows(index: np.dtype) -> str:
    """Rows of any size; those that are as large as an item of some type have loops of their own."""
    name = f"gather.rows.{index.kind}{index.itemsize}"

    def source(module: ModuleBuilder) -> str:
        copy = f"""  %offset.to = mul i64 %k.0, %bytes
  %to = getelementptr i8, ptr %into, i64 %offset.to
{_row_copy(module, "%from.0", "%to")}"""
        cases, loops = "", _trips("group", [0], index, copy, "entry", "0", "good")
        for size in _FREQUENT:
            cases += f" i64 {size}, label %items.{size}"
            loops += f"""
items.{size}:
  %items.good.{size} = call i1 {_gather(index, _ITEMS[size])}({OPERANDS})
  ret i1 %items.good.{size}"""
        entry = f"switch i64 %bytes, label %group [{cases} ]"
        return _function(name, entry, loops, more=", i64 %bytes")

    return _shared(name, source)


def _gather_any_rows(index: np.dtype, size: int) -> str:
    """Rows of `length` elements of `size` bytes, which are `apart` bytes from each other."""
    name = f"gather.any.rows{size}.{index.kind}{index.itemsize}"
    more = ", i64 %length, i64 %apart"
    operands = OPERANDS + more

    def source(_module: ModuleBuilder) -> str:
        return f"""define i1 @{name}({operands}) nounwind {{
entry:
  %are.near = icmp eq i64 %apart, {size}
  br i1 %are.near, label %near, label %look
near:
  %bytes = mul i64 %length, {size}
  %are.moved = call i1 {_gather_rows(index)}({OPERANDS}, i64 %bytes)
  ret i1 %are.moved
look:
  %are.inside = call i1 {check_function(index)}({OPERANDS})
  br i1 %are.inside, label %far, label %bad
far:
  call void {column_gather(index, size)}({operands})
  ret i1 true
bad:
  ret i1 false
}}"""

    return _shared(name, source, straight=True)


def _scatter_rows(index: np.dtype) -> str:
    name = f"scatter.rows.{index.kind}{index.itemsize}"

    def source(module: ModuleBuilder) -> str:
        copy = f"""  %offset.of = mul i64 %k.0, %value.step
  %of = getelementptr i8, ptr %into, i64 %offset.of
{_row_copy(module, "%of", "%from.0")}"""
        return _loops(name, index, copy, more=", i64 %value.step, i64 %bytes")

    return _shared(name, source)


def _row_copy(module: ModuleBuilder, source: str, target: str) -> str:
    """Copy `%bytes`: short rows from both ends, in pieces that may overlap."""
    module.declare("memcpy", "ptr", ["ptr", "ptr", "i64"])
    piece, double = f"<{_PIECE} x i8>", f"<{2 * _PIECE} x i8>"

    def moved(name: str, type_: str, offset: str) -> str:
        return f"""  %{name}.from = getelementptr i8, ptr {source}, i64 {offset}
  %{name}.to = getelementptr i8, ptr {target}, i64 {offset}
  %{name} = load {type_}, ptr %{name}.from, align 1
  store {type_} %{name}, ptr %{name}.to, align 1"""

    return f"""  %is.short = icmp ule i64 %bytes, {2 * _PIECE}
  br i1 %is.short, label %short, label %not.short
short:
  %is.tiny = icmp ult i64 %bytes, {_PIECE}
  br i1 %is.tiny, label %tiny, label %pieces
pieces:
  %last = sub i64 %bytes, {_PIECE}
{moved("piece.first", piece, "0")}
{moved("piece.last", piece, "%last")}
  br label %copied.0
tiny:
  %is.word = icmp uge i64 %bytes, 8
  br i1 %is.word, label %words, label %single
words:
  %last.word = sub i64 %bytes, 8
{moved("word.first", "i64", "0")}
{moved("word.last", "i64", "%last.word")}
  br label %copied.0
single:
  %b = phi i64 [ 0, %tiny ], [ %b.next, %byte ]
  %b.in = icmp ult i64 %b, %bytes
  br i1 %b.in, label %byte, label %copied.0
byte:
{moved("x", "i8", "%b")}
  %b.next = add nuw nsw i64 %b, 1
  br label %single, !llvm.loop {_plain_loop(module)}
not.short:
  %middle.last = sub i64 %bytes, {2 * _PIECE}
  %is.long = icmp ugt i64 %bytes, {_LONG}
  br i1 %is.long, label %long, label %middle
middle:
  %m = phi i64 [ 0, %not.short ], [ %m.next, %middle ]
{moved("middle.piece", double, "%m")}
  %m.next = add nuw nsw i64 %m, {2 * _PIECE}
  %m.more = icmp ult i64 %m.next, %middle.last
  br i1 %m.more, label %middle, label %middle.end, !llvm.loop {_plain_loop(module)}
middle.end:
{moved("middle.rest", double, "%middle.last")}
  br label %copied.0
long:
  call ptr @memcpy(ptr {target}, ptr {source}, i64 %bytes)
  br label %copied.0
copied.0:"""


def _plain_loop(module: ModuleBuilder) -> str:
    """Metadata of a loop of a few trips."""
    hints = ('!{!"llvm.loop.vectorize.enable", i1 false}', '!{!"llvm.loop.unroll.disable"}')
    return module.distinct_metadata(f"!{{{{self}}, {', '.join(map(module.metadata, hints))}}}")


def _loops(name: str, index: np.dtype, copy: str, *, group: int = 1, more: str = "") -> str:
    """A function that copies what each index means; `group` of them in one trip as long as there are as many.

    `copy` copies from `%from.0` to place `%k.0`, where 0 stands for what tells copies apart, and ends in `copied.0`.
    """
    following = "rest" if group > 1 else "good"
    loops = _trips("group", range(group), index, copy, "entry", "0", following)
    if group > 1:
        loops += "\n" + _trips("rest", [group], index, copy, "group", "%group.k", "good")
    return _function(name, "br label %group", loops, more)


def _function(name: str, entry: str, loops: str, more: str) -> str:
    return f"""define i1 @{name}({OPERANDS}{more}) nounwind willreturn {{
entry:
  {entry}
{loops}
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
