"""Stretches of memory that are copied: short ones by loops, long ones by the C library.

Its stores begin at cache lines, wherever the stretch begins; each vector of a loop may lie in two. It need not read
what is written over, either: a third of the traffic, once a core's own cache is too small.

In optimised code both are a function that all units share, but within loops, whose rows may be short: three arrays that
are stacked took two fifths of LLVM's time to compile an ensemble of trajectories.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from ljit.codegen.arrays.arrays import element_address
from ljit.codegen.llvm.builder import FALSE, FunctionBuilder, ModuleBuilder, Ref
from ljit.codegen.llvm.forms import Native
from ljit.codegen.llvm.loop_texts import loop_text
from ljit.codegen.llvm.shared_code import PACKING, shared_function
from ljit.codegen.loops.nest_functions import LIKE_A_NEST
from ljit.types import ArrayType

if TYPE_CHECKING:
    from ljit.codegen.emitter import Emitter

__all__ = ["array_move", "copy_stretch"]

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
        f.call_external("void", _MOVE, [target, source, size, FALSE], "")
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
        e.f.call("void", _copier(min(itemsize, _WORD)), [into, values, size], LIKE_A_NEST)


def _copier(step: int) -> str:
    """A function that copies bytes, so many at a time."""
    name = f"{PACKING}stretch{step}"
    return shared_function(name, lambda module: _write(module, name, step))


def _write(module: ModuleBuilder, name: str, step: int) -> None:
    module.declare(_MOVE, "void", ("ptr", "ptr", "i64", "i1"))
    item = f"i{8 * step}"
    element = f"""  %item = getelementptr inbounds i8, ptr %from, i64 %k
  %place = getelementptr inbounds i8, ptr %to, i64 %k
  %x = load {item}, ptr %item
  store {item} %x, ptr %place
"""
    module.define(
        name,
        f"""define void @{name}(ptr noalias %to, ptr noalias %from, i64 %size) nounwind {{
  %is.long = icmp ugt i64 %size, {_LONG}
  br i1 %is.long, label %long, label %short
long:
  call void @{_MOVE}(ptr %to, ptr %from, i64 %size, i1 false)
  ret void
short:
{loop_text("k", "%size", element, step=step)}  ret void
}}""",
    )
