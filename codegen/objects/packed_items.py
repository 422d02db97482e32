"""Items of bytes, bytearrays and arrays of the module `array`, where they lie."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from ljit.codegen.layouts.layout import BYTEARRAY_START, BYTES_ITEMS, VAR_SIZE
from ljit.codegen.layouts.machine_arrays import ARRAY_ALLOCATED, ARRAY_EXPORTS, ARRAY_START
from ljit.codegen.lists.private_lists import kind_of_memory
from ljit.codegen.llvm.builder import TRUE, Ref, integer
from ljit.codegen.llvm.forms import Native
from ljit.packed_types import PackedType, packed_dtype, packed_item_type, packed_limits
from ljit.types import BOOL, BYTEARRAY, BYTES, FLOAT, INT, INT_MAX, INT_MIN, NONE

if TYPE_CHECKING:
    from collections.abc import Callable

    from ljit.codegen.emitter import Emitter

__all__ = ["append_item", "packed_load", "packed_size", "packed_store"]


def packed_size(e: Emitter, x: Native) -> Native:
    return Native(INT, (_field(e, x, VAR_SIZE),))


def packed_load(e: Emitter, x: Native, index: Native) -> Native:
    f, type_ = e.f, _llvm_type(x)
    item = f.load(type_, _place(e, x, index), suffix=kind_of_memory(f, "item"))
    if packed_item_type(x.type) == FLOAT:
        return Native(FLOAT, (item if type_ == "double" else f.convert("fpext", item, "double"),))
    if type_ == "i64":
        return Native(INT, (item,))
    is_signed = _dtype(x).kind == "i"
    return Native(INT, (f.convert("sext" if is_signed else "zext", item, "i64"),))


def packed_store(e: Emitter, x: Native, index: Native, value: Native) -> None:
    f, type_, item = e.f, _llvm_type(x), value.ref
    if type_ == "float":
        item = f.convert("fptrunc", item, type_)
    elif type_ not in ("double", "i64"):
        item = f.convert("trunc", item, type_)
    f.store(item, _place(e, x, index), suffix=kind_of_memory(f, "item"))


def append_item(
    e: Emitter, with_objects: Callable[[], Native], x: Native, item: Native
) -> Native | None:
    """``x.append(item)`` of an array where there is room, and the item fits; None: it is no such array or item."""
    if not isinstance(x.type, PackedType) or item.type != packed_item_type(x.type):
        return None
    f, size = e.f, packed_size(e, x)
    allocated, exports = (_field(e, x, place) for place in (ARRAY_ALLOCATED, ARRAY_EXPORTS))
    has_room = f.binary("and", f.icmp("slt", size.ref, allocated), f.icmp("eq", exports, 0))
    has_room = f.binary("and", has_room, _fits(e, x, item))

    def append() -> Native:
        packed_store(e, x, size, item)
        place = f.gep("i8", x.ref, VAR_SIZE)
        f.store(f.binary("add", size.ref, 1), place, suffix=kind_of_memory(f, "header"))
        return Native(NONE, ())

    is_refused = f.binary("xor", has_room, TRUE)
    return e.branch(Native(BOOL, (is_refused,)), with_objects, append)


def _fits(e: Emitter, x: Native, item: Native) -> Ref:
    """Whether CPython takes an item of the right type."""
    limits = packed_limits(x.type)
    if limits is None or limits == (INT_MIN, INT_MAX):
        return TRUE
    least, most = (integer("i64", limit) for limit in limits)
    return e.f.binary("and", e.f.icmp("sge", item.ref, least), e.f.icmp("sle", item.ref, most))


def _field(e: Emitter, x: Native, place: int) -> Ref:
    return e.f.load("i64", e.f.gep("i8", x.ref, place), suffix=kind_of_memory(e.f, "header"))


def _place(e: Emitter, x: Native, index: Native) -> Ref:
    if x.type == BYTES:
        items = e.f.gep("i8", x.ref, BYTES_ITEMS)
    else:
        start = e.f.gep("i8", x.ref, BYTEARRAY_START if x.type == BYTEARRAY else ARRAY_START)
        items = e.f.load("ptr", start, suffix=kind_of_memory(e.f, "header"))
    return e.f.gep(_llvm_type(x), items, index.ref)


def _dtype(x: Native) -> np.dtype:
    dtype = packed_dtype(x.type)
    assert dtype is not None
    return dtype


def _llvm_type(x: Native) -> str:
    dtype = _dtype(x)
    if dtype.kind == "f":
        return "double" if dtype.itemsize == 8 else "float"
    return f"i{8 * dtype.itemsize}"
