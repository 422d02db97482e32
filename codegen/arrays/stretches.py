"""Stretches of memory that are copied: short ones by loops, long ones by the C library.

Its stores begin at cache lines, wherever the stretch begins; each vector of a loop may lie in two. It need not read
what is written over, either: a third of the traffic, once a core's own cache is too small.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from ljit.codegen.arrays.arrays import element_address
from ljit.codegen.llvm.builder import FALSE, FunctionBuilder, Ref
from ljit.codegen.llvm.forms import Native
from ljit.types import ArrayType

if TYPE_CHECKING:
    from ljit.codegen.emitter import Emitter

__all__ = ["array_move", "copy_stretch"]

_LONG = (
    1 << 12
)  # bytes: it takes more time to call it for fewer than it gains at addresses that begin no line


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
        f.call_external("void", "llvm.memmove.p0.p0.i64", [target, source, size, FALSE], "")
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
    size = e.f.mul(count.ref, target.type.dtype.itemsize)
    copy_stretch(e.f, into, values, size, lambda: e.loop(count, element))
