"""``x.append(byte)`` of bytearrays."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ljit.codegen.llvm.forms import Native
from ljit.types import BOOL, BYTEARRAY, INT, NONE

if TYPE_CHECKING:
    from collections.abc import Callable

    from ljit.codegen.emitter import Emitter

__all__ = ["append_byte"]


def append_byte(
    e: Emitter, with_objects: Callable[[], Native], x: Native, item: Native
) -> Native | None:
    """CPython refuses what is no byte, and makes room; None: they are no bytearray and int."""
    if x.type != BYTEARRAY or item.type != INT:
        return None
    f = e.f

    def append() -> Native:
        size = e.packed_size(x)
        following = f.binary("add", size.ref, 1)
        status = f.call_external("i32", "PyByteArray_Resize", (x.ref, following))
        e.bailout.error_if(f.icmp("slt", status, 0))
        e.packed_store(x, size, item)
        return Native(NONE, ())

    is_none = Native(BOOL, (f.icmp("uge", item.ref, 256),))
    return e.branch(is_none, with_objects, append)
