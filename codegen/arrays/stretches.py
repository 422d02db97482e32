"""Stretches of memory that are copied: short ones by loops, long ones by the C library.

Its stores begin at cache lines, wherever the stretch begins; each vector of a loop may lie in two. It need not read
what is written over, either: a third of the traffic, once a core's own cache is too small.

In optimised code arrays are copied by it whatever their length, and rows are rolled by a function that all units share:
three arrays that are stacked took two fifths of LLVM's time to compile an ensemble of trajectories, two rolls half of
that of shallow water.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from ljit.codegen.arrays.arrays import element_address
from ljit.codegen.llvm.builder import FALSE, FunctionBuilder, ModuleBuilder, Ref, integer
from ljit.codegen.llvm.forms import Native
from ljit.codegen.llvm.loop_texts import loop_text
from ljit.codegen.llvm.shared_code import PACKING, shared_function
from ljit.codegen.loops.nest_functions import LIKE_A_NEST
from ljit.types import ArrayType

if TYPE_CHECKING:
    from ljit.codegen.emitter import Emitter

__all__ = ["array_move", "array_roll", "copy_stretch"]

# bytes: it takes more time to call it for fewer than it gains at addresses that begin no line
_LONG = 1 << 12
_MOVE = "llvm.memmove.p0.p0.i64"
_WORD = 8  # bytes of the largest item that is loaded at once


def copy_stretch(
    f: FunctionBuilder, target: Ref, source: Ref, size: Ref, loop: Callable[[], object]
) -> None:
    """Copy `size` bytes; `loop` writes what copies a short stretch."""
    if size.constant is not None and size.constant <= _LONG:
        loop()
        return
    long, short, copied = (f.new_block(name) for name in ("long", "short", "copied"))
    f.condbr(f.icmp("ugt", size, _LONG), long, short)
    if f.start(long):
        _move(f, target, source, size)
        f.br(copied)
    if f.start(short):
        loop()
        f.br(copied)
    f.start(copied)


def array_move(
    e: Emitter, target: Native, to: Native, source: Native, at: Native, count: Native
) -> None:
    assert isinstance(target.type, ArrayType)

    def element(k: Native) -> None:
        e.array_store(target, [e.add(to, k)], e.array_load(source, [e.add(at, k)]))

    if count.ref.constant == 1:
        element(e.const(count.type, 0))
        return
    into, values = element_address(e, target, [to.ref]), element_address(e, source, [at.ref])
    itemsize = target.type.dtype.itemsize
    size = e.f.mul(count.ref, itemsize)
    if e.is_quick or e.is_in_loop or size.constant is not None:
        copy_stretch(e.f, into, values, size, lambda: e.loop(count, element))
    else:
        _move(e.f, into, values, size, LIKE_A_NEST)


def array_roll(
    e: Emitter, target: Native, source: Native, block: Native, head: Native, times: Native
) -> None:
    assert isinstance(target.type, ArrayType)
    tail = e.sub(block, head)

    def move(t: Native) -> None:
        base = e.mul(t, block)
        array_move(e, target, base, source, e.add(base, tail), head)
        array_move(e, target, e.add(base, head), source, base, tail)

    if e.is_quick or times.ref.constant == 1 or block.ref.constant is not None:
        e.loop(times, move)
        return
    zero, itemsize = integer("i64", 0), target.type.dtype.itemsize
    places = [element_address(e, x, [zero]) for x in (target, source)]
    sizes = [e.f.mul(x.ref, itemsize) for x in (head, tail)]
    step = min(itemsize, _WORD)
    name = f"{PACKING}roll{step}"
    function = shared_function(name, lambda module: _write_roll(module, name, step))
    e.f.call("void", function, [*places, *sizes, times.ref], LIKE_A_NEST)


def _write_roll(module: ModuleBuilder, name: str, step: int) -> None:
    """The end of each row comes first. That rows do not overlap is not said: LLVM would call memcpy for short ones."""
    module.declare(_MOVE, "void", ("ptr", "ptr", "i64", "i1"))
    hint = module.metadata('!{!"llvm.loop.unroll.disable"}')
    properties = module.distinct_metadata(f"!{{{{self}}, {hint}}}")
    end = _part("end", "%target", "%middle", "%head", step, properties)
    rest = _part("rest", "%behind", "%source", "%tail", step, properties)
    row = f"""  %middle = getelementptr i8, ptr %source, i64 %tail
  %behind = getelementptr i8, ptr %target, i64 %head
{end}{rest}"""
    walks = {"target": ("%to", "%block"), "source": ("%from", "%block")}
    module.define(
        name,
        f"""define void @{name}(ptr %to, ptr %from, i64 %head, i64 %tail, i64 %rows) nounwind {{
  %block = add i64 %head, %tail
{loop_text("row", "%rows", row, walks=walks, properties=properties)}  ret void
}}""",
    )


def _part(name: str, to: str, source: str, size: str, step: int, properties: str) -> str:
    """Copy so many bytes of a row."""
    item = f"i{8 * step}"
    element = f"""  %{name}.from = getelementptr inbounds {item}, ptr {source}, i64 %{name}
  %{name}.x = load {item}, ptr %{name}.from
  %{name}.to = getelementptr inbounds {item}, ptr {to}, i64 %{name}
  store {item} %{name}.x, ptr %{name}.to
"""
    count = f"%{name}.count"
    return f"""  {count} = lshr i64 {size}, {step.bit_length() - 1}
  %{name}.is.long = icmp ugt i64 {size}, {_LONG}
  br i1 %{name}.is.long, label %{name}.long, label %{name}.short
{name}.long:
  call void @{_MOVE}(ptr {to}, ptr {source}, i64 {size}, i1 false)
  br label %{name}.copied
{name}.short:
{loop_text(name, count, element, properties=properties)}  br label %{name}.copied
{name}.copied:
"""


def _move(f: FunctionBuilder, target: Ref, source: Ref, size: Ref, attributes: str = "") -> None:
    f.module.declare(_MOVE, "void", ("ptr", "ptr", "i64", "i1"))
    f.call("void", _MOVE, [target, source, size, FALSE], attributes)
