"""Elements where a mask holds: ``a[mask]``, ``a[mask] = value`` and the places of a mask.

A mask is C-contiguous. 32 of its bytes are looked at at once: where none holds nothing is done, where all hold it is
done with vectors, else one after the other, without a branch for each. The functions are over memory: what they move
are items of a size.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from ljit.codegen.arrays.arrays import store_element, strides_of
from ljit.codegen.kernels.index_loops import product_of
from ljit.codegen.llvm.builder import Ref
from ljit.codegen.llvm.forms import Native, array_parts
from ljit.codegen.llvm.shared_code import shared_function
from ljit.types import INT, ArrayType

if TYPE_CHECKING:
    from ljit.codegen.emitter import Emitter
    from ljit.codegen.llvm.builder import ModuleBuilder

__all__ = ["array_compress", "array_expand", "mask_count", "mask_places"]

_BLOCK, _WIDE = 32, 128  # bytes
_NEVER_ALL = "  %is.unit = or i1 false, false"


def mask_count(e: Emitter, mask: Native) -> Native:
    """How often a mask holds."""
    function = shared_function("mask.count", _write_count)
    return Native(INT, (e.f.call("i64", function, _of_mask(e, mask), _COUNTS),))


def _write_count(module: ModuleBuilder) -> None:
    for bits in (_BLOCK, _WIDE):
        module.declare(f"llvm.ctpop.i{bits}", f"i{bits}", [f"i{bits}"])
    module.define("mask.count", _COUNT)


def array_compress(e: Emitter, a: Native, mask: Native, into: Native) -> None:
    """Fill a vector with the elements of `a` where the mask holds, in C order.

    `a` has the mask's sizes, and is a vector or C-contiguous.
    """
    assert isinstance(a.type, ArrayType)
    parts, size = array_parts(a), a.type.dtype.itemsize
    stride = strides_of(e.f, a.type, parts)[-1]
    operands = [*_of_mask(e, mask), parts.data, stride, array_parts(into).data]
    item, whole = f"i{8 * size}", f"<{_BLOCK * size // 8} x i64>"
    each = f"""  %offset = mul i64 %i, %stride
  %from = getelementptr i8, ptr %data, i64 %offset
  %x = load {item}, ptr %from, align 1
  %to = getelementptr {item}, ptr %into, i64 %n
  store {item} %x, ptr %to, align 1"""
    all_ = f"""  %from.all = getelementptr {item}, ptr %data, i64 %base
  %x.all = load {whole}, ptr %from.all, align 1
  %to.all = getelementptr {item}, ptr %into, i64 %k
  store {whole} %x.all, ptr %to.all, align 1"""
    params = "ptr %data, i64 %stride, ptr noalias %into"
    head = f"  %is.unit = icmp eq i64 %stride, {size}"
    e.f.call("void", _shared(f"mask.compress.{item}", params, each, all_, head), operands)


def array_expand(e: Emitter, a: Native, mask: Native, values: Native) -> None:
    """Store the elements of a vector where the mask holds, or the one that there is: a number of the dtype of `a`."""
    assert isinstance(a.type, ArrayType)
    size, f = a.type.dtype.itemsize, e.f
    item, whole = f"i{8 * size}", f"<{_BLOCK * size // 8} x i64>"
    target = [array_parts(a).data, strides_of(f, a.type, array_parts(a))[-1]]
    each = f"""  %offset = mul i64 %i, %stride
  %to = getelementptr i8, ptr %data, i64 %offset
{{load}}
  store {item} %x, ptr %to, align 1"""
    if isinstance(values.type, ArrayType):
        parts = array_parts(values)
        operands = [parts.data, strides_of(f, values.type, parts)[0]]
        load = f"""  %offset.from = mul i64 %n, %step
  %from = getelementptr i8, ptr %values, i64 %offset.from
  %x = load {item}, ptr %from, align 1"""
        all_ = f"""  %from.all = getelementptr {item}, ptr %values, i64 %k
  %x.all = load {whole}, ptr %from.all, align 1
  %to.all = getelementptr {item}, ptr %data, i64 %base
  store {whole} %x.all, ptr %to.all, align 1"""
        params = "ptr %data, i64 %stride, ptr %values, i64 %step"
        head = f"""  %is.unit.a = icmp eq i64 %stride, {size}
  %is.unit.b = icmp eq i64 %step, {size}
  %is.unit = and i1 %is.unit.a, %is.unit.b"""
        function = _shared(f"mask.expand.{item}", params, each.format(load=load), all_, head)
    else:
        place = e.stack_array("i64", 2)
        store_element(f, place, a.type.dtype, values)
        operands = [place]
        vector = f"<{_BLOCK} x {item}>"
        all_ = f"""  %to.all = getelementptr {item}, ptr %data, i64 %base
  %x.one = insertelement {vector} poison, {item} %x, i64 0
  %x.all = shufflevector {vector} %x.one, {vector} poison, <{_BLOCK} x i32> zeroinitializer
  store {vector} %x.all, ptr %to.all, align 1"""
        head = f"""  %x = load {item}, ptr %value, align 1
  %is.unit = icmp eq i64 %stride, {size}"""
        params = "ptr %data, i64 %stride, ptr %value"
        function = _shared(f"mask.fill.{item}", params, each.format(load=""), all_, head)
    f.call("void", function, [*_of_mask(e, mask), *target, *operands])


def mask_places(e: Emitter, mask: Native, into: Native) -> None:
    """Fill an int64 vector with the places where a mask holds."""
    each = """  %to = getelementptr i64, ptr %into, i64 %n
  store i64 %i, ptr %to"""
    function = _shared("mask.places", "ptr %into", each)
    e.f.call("void", function, [*_of_mask(e, mask), array_parts(into).data])


def _of_mask(e: Emitter, mask: Native) -> list[Ref]:
    parts = array_parts(mask)
    return [parts.data, product_of(e, parts.sizes)]


def _shared(name: str, params: str, each: str, all_: str = "", head: str = _NEVER_ALL) -> str:
    """A function that does `each` for each place `%i` where the mask holds, `%n` of them before.

    Where it holds for a whole block that begins at `%base`, `%k` before, that is `all_`, if `%is.unit`: `head` says so.
    """

    def write(module: ModuleBuilder) -> None:
        module.declare("llvm.ctpop.i32", "i32", ["i32"])
        module.declare("llvm.cttz.i32", "i32", ["i32", "i1"])
        params_of_all = f"ptr %mask, i64 %size, {params}"
        body = _begin_block(head) + _some_hold(each, all_)
        module.define(
            name, f"define void @{name}({params_of_all}) nounwind willreturn {{\n{body}}}"
        )

    return shared_function(name, write)


def _begin_block(head: str) -> str:
    """The loop over blocks; gives the bits of a mask's block where one of them holds."""
    return f"""entry:
{head}
  br label %block
block:
  %base = phi i64 [ 0, %entry ], [ %base.next, %after ], [ %base.quiet, %none ], [ %base.quiet, %quiet.block ]
  %k = phi i64 [ 0, %entry ], [ %k.next, %after ], [ %k, %none ], [ %k, %quiet.block ]
  %left = sub i64 %size, %base
  %is.full = icmp sge i64 %left, {_BLOCK}
  br i1 %is.full, label %vector, label %some
vector:
  %at = getelementptr i8, ptr %mask, i64 %base
  %bytes = load <{_BLOCK} x i8>, ptr %at, align 1
  %holds = icmp ne <{_BLOCK} x i8> %bytes, zeroinitializer
  %bits.vector = bitcast <{_BLOCK} x i1> %holds to i32
  br label %begin
some:
  %is.done = icmp sle i64 %left, 0
  br i1 %is.done, label %done, label %last
last:
  %j = phi i64 [ 0, %some ], [ %j.next, %last ]
  %bits.before = phi i32 [ 0, %some ], [ %bits.last, %last ]
  %j.place = add i64 %base, %j
  %j.at = getelementptr i8, ptr %mask, i64 %j.place
  %j.byte = load i8, ptr %j.at
  %j.holds = icmp ne i8 %j.byte, 0
  %j.bit = zext i1 %j.holds to i32
  %j.shift = trunc i64 %j to i32
  %j.moved = shl i32 %j.bit, %j.shift
  %bits.last = or i32 %bits.before, %j.moved
  %j.next = add nuw nsw i64 %j, 1
  %j.more = icmp slt i64 %j.next, %left
  br i1 %j.more, label %last, label %begin
begin:
  %bits = phi i32 [ %bits.vector, %vector ], [ %bits.last, %last ]
  %count = call i32 @llvm.ctpop.i32(i32 %bits)
  %count.wide = zext i32 %count to i64
  %is.none = icmp eq i32 %bits, 0
  %base.none = add nuw nsw i64 %base, {_BLOCK}
  br i1 %is.none, label %none, label %any
none:
  %base.quiet = phi i64 [ %base.none, %begin ], [ %quiet.end, %quiet.block ]
  %quiet.end = add nuw nsw i64 %base.quiet, {_WIDE}
  %quiet.in = icmp sle i64 %quiet.end, %size
  br i1 %quiet.in, label %quiet.block, label %block
quiet.block:
  %quiet.at = getelementptr i8, ptr %mask, i64 %base.quiet
  %quiet.bytes = load <{_WIDE} x i8>, ptr %quiet.at, align 1
  %quiet.holds = icmp ne <{_WIDE} x i8> %quiet.bytes, zeroinitializer
  %quiet.bits = bitcast <{_WIDE} x i1> %quiet.holds to i{_WIDE}
  %quiet.none = icmp eq i{_WIDE} %quiet.bits, 0
  br i1 %quiet.none, label %none, label %block
"""


def _some_hold(each: str, all_: str) -> str:
    """What is done where some bits of a block hold."""
    return f"""any:
  %holds.all = icmp eq i32 %bits, -1
  %is.all = and i1 %holds.all, %is.unit
  br i1 %is.all, label %all, label %one
all:
{all_}
  br label %after
one:
  %b = phi i32 [ %bits, %any ], [ %b.next, %one ]
  %n = phi i64 [ %k, %any ], [ %n.next, %one ]
  %lowest = call i32 @llvm.cttz.i32(i32 %b, i1 true)
  %lowest.wide = zext i32 %lowest to i64
  %i = add nuw nsw i64 %base, %lowest.wide
{each}
  %n.next = add nuw nsw i64 %n, 1
  %b.less = sub i32 %b, 1
  %b.next = and i32 %b, %b.less
  %b.more = icmp ne i32 %b.next, 0
  br i1 %b.more, label %one, label %after
after:
  %base.next = add nuw nsw i64 %base, {_BLOCK}
  %k.next = add nuw nsw i64 %k, %count.wide
  br label %block
done:
  ret void
"""


def _count_blocks(name: str, size: int, before: str, k: str, total: str, following: str) -> str:
    """Count in blocks of `size` bytes as long as there are such: `%{name}.k` and `%{name}.sum` go on from others."""
    return f"""{name}:
  %{name}.k = phi i64 [ {k}, %{before} ], [ %{name}.next, %{name}.block ]
  %{name}.sum = phi i64 [ {total}, %{before} ], [ %{name}.new, %{name}.block ]
  %{name}.next = add nuw nsw i64 %{name}.k, {size}
  %{name}.in = icmp sle i64 %{name}.next, %size
  br i1 %{name}.in, label %{name}.block, label %{following}
{name}.block:
  %{name}.at = getelementptr i8, ptr %mask, i64 %{name}.k
  %{name}.bytes = load <{size} x i8>, ptr %{name}.at, align 1
  %{name}.holds = icmp ne <{size} x i8> %{name}.bytes, zeroinitializer
  %{name}.bits = bitcast <{size} x i1> %{name}.holds to i{size}
  %{name}.count = call i{size} @llvm.ctpop.i{size}(i{size} %{name}.bits)
  %{name}.word = {"trunc" if size > 64 else "zext"} i{size} %{name}.count to i64
  %{name}.new = add nuw nsw i64 %{name}.sum, %{name}.word
  br label %{name}"""


_COUNTS = "nounwind willreturn memory(argmem: read)"
_COUNT = f"""define i64 @mask.count(ptr %mask, i64 %size) {_COUNTS} {{
entry:
  br label %wide
{_count_blocks("wide", _WIDE, "entry", "0", "0", "narrow")}
{_count_blocks("narrow", _BLOCK, "wide", "%wide.k", "%wide.sum", "one")}
one:
  %k = phi i64 [ %narrow.k, %narrow ], [ %k.next, %look ]
  %all = phi i64 [ %narrow.sum, %narrow ], [ %all.next, %look ]
  %k.in = icmp slt i64 %k, %size
  br i1 %k.in, label %look, label %done
look:
  %byte.at = getelementptr i8, ptr %mask, i64 %k
  %byte = load i8, ptr %byte.at
  %is.set = icmp ne i8 %byte, 0
  %bit = zext i1 %is.set to i64
  %all.next = add nuw nsw i64 %all, %bit
  %k.next = add nuw nsw i64 %k, 1
  br label %one
done:
  ret i64 %all
}}"""
