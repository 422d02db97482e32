"""Lists that only native code sees: items side by side in the memory of a ``bytearray``, without objects.

`lists.py` asks these functions for lists of numbers, and of tuples of numbers. Items have the sizes and
the order that the module `struct` gives them; the size of a ``bytearray`` is a whole number of them. What lies in the
header (size, room, place of the items) is another kind of memory than the items: LLVM is told, so that a loop that
stores items reads the header once.
"""

from __future__ import annotations

import struct
from collections.abc import Callable, Iterator, Sequence
from typing import TYPE_CHECKING

from ljit.codegen.exits.convert import convert
from ljit.codegen.layouts.layout import BYTEARRAY_ALLOCATED, BYTEARRAY_START, VAR_SIZE
from ljit.codegen.llvm.builder import FALSE, NULL, FunctionBuilder, Ref, integer
from ljit.codegen.llvm.forms import Native, dtype_of, memory_type
from ljit.ops.python.private_items import number_codes, numbers_of
from ljit.types import INT, ListType, Type

if TYPE_CHECKING:
    from ljit.codegen.emitter import Emitter

__all__ = [
    "append",
    "count",
    "drop",
    "filled",
    "item_at",
    "kind_of_memory",
    "load",
    "make",
    "move",
    "pop",
    "pop_at",
    "resize",
    "size",
    "start",
    "store",
    "used",
]

_ROOT = '!{!"private lists"}'
_MAX_BYTES = 2**60


def size(e: Emitter, x: Native) -> Native:
    return Native(INT, (count(e.f, x),))


def load(e: Emitter, x: Native, index: Native) -> Native:
    return item_at(e.f, x, index.ref)


def store(e: Emitter, x: Native, index: Native, value: Native) -> None:
    offset = e.f.mul(index.ref, _size_of(_item(x)))
    _store_at(e, x, offset, value)


def append(e: Emitter, x: Native, value: Native) -> None:
    """Where there is room, the item is written; else there will be twice as much."""
    end = used(e.f, x)
    following = e.f.binary("add", end, _size_of(_item(x)))
    _make_room(e, x, following)
    _store_at(e, x, end, value)
    _set_used(e.f, x, following)


def resize(e: Emitter, x: Native, count: Native) -> None:
    end = e.f.mul(count.ref, _size_of(_item(x)))
    _make_room(e, x, end)
    _set_used(e.f, x, end)


def move(e: Emitter, x: Native, to: Native, source: Native, at: Native, count: Native) -> None:
    f, width = e.f, _size_of(_item(x))
    target = f.gep("i8", start(f, x), f.mul(to.ref, width))
    first = f.gep("i8", start(f, source), f.mul(at.ref, width))
    size = f.mul(count.ref, width)
    f.call_external("void", "llvm.memmove.p0.p0.i64", [target, first, size, FALSE], "")


def _make_room(e: Emitter, x: Native, used: Ref) -> None:
    """Let there be room for so many bytes; if there is not, make it twice as much."""
    f = e.f
    room = f.load("i64", _field(e.f, x, BYTEARRAY_ALLOCATED), suffix=kind_of_memory(f, "header"))
    grow, write = f.new_block("grow"), f.new_block("write")
    f.condbr(f.icmp("sge", used, room), grow, write, unlikely=True)
    f.start(grow)
    wanted = f.binary("add", f.binary("shl", used, 1), 64)
    status = f.call_external("i32", "PyByteArray_Resize", (x.ref, wanted))
    e.bailout.error_if(f.icmp("slt", status, 0))
    f.br(write)
    f.start(write)


def pop(e: Emitter, x: Native) -> Native:
    """Take the last item off; leaves before that if there is none."""
    f = e.f
    end = used(e.f, x)
    e.bailout.bail_if(f.icmp("eq", end, 0), "pop from an empty list")
    last = f.binary("sub", end, _size_of(_item(x)))
    value = _load_at(e.f, x, last)
    _set_used(e.f, x, last)
    return value


def drop(f: FunctionBuilder, x: Native) -> None:
    """Take the last item off, which is there."""
    _set_used(f, x, f.binary("sub", used(f, x), _size_of(_item(x))))


def pop_at(e: Emitter, x: Native, index: Native) -> Native:
    """Take an item off; those behind it move up."""
    f = e.f
    value = load(e, x, index)
    last = Native(INT, (f.binary("sub", count(f, x), 1),))
    following = Native(INT, (f.binary("add", index.ref, 1),))
    move(e, x, index, x, following, Native(INT, (f.binary("sub", last.ref, index.ref),)))
    resize(e, x, last)
    return value


def make(e: Emitter, items: Sequence[Native], type_: Type) -> Native:
    assert isinstance(type_, ListType)
    width = _width(type_.item)
    result = _new(e, integer("i64", len(items) * width), type_)
    for place, item in enumerate(items):
        _store_at(e, result, integer("i64", place * width), item)
    return result


def filled(e: Emitter, count: Native, item: Callable[[Native], Native], type_: Type) -> Native:
    """A list of ``item(k)`` for k = 0 .. count-1; a count below 0 is 0."""
    f = e.f
    assert isinstance(type_, ListType)
    width = _width(type_.item)
    limit = _MAX_BYTES // width
    e.bailout.bail_if(f.icmp("sgt", count.ref, limit), "a list too large")
    is_none = f.icmp("slt", count.ref, 0)
    trips = f.select(is_none, integer("i64", 0), count.ref)
    result = _new(e, f.mul(trips, width), type_)
    e.loop(Native(INT, (trips,)), lambda k: store(e, result, k, item(k)))
    return result


def count(f: FunctionBuilder, x: Native) -> Ref:
    """The number of items."""
    found = f.binary("udiv", used(f, x), _size_of(_item(x)), "exact")
    f.numbers.note_nonnegative(found)
    return found


def start(f: FunctionBuilder, x: Native) -> Ref:
    """The address of the items."""
    return f.load("ptr", _field(f, x, BYTEARRAY_START), suffix=kind_of_memory(f, "header"))


def item_at(f: FunctionBuilder, x: Native, index: Ref) -> Native:
    return _load_at(f, x, f.mul(index, _size_of(_item(x))))


# -- memory ----------------------------------------------------------------------------------------


def _item(x: Native) -> Type:
    assert isinstance(x.type, ListType)
    return x.type.item


def _width(item: Type) -> int:
    return struct.calcsize(f"={number_codes(item)}")


def _size_of(item: Type) -> Ref:
    return integer("i64", _width(item))


def _field(f: FunctionBuilder, x: Native, offset: int) -> Ref:
    return f.gep("i8", x.ref, offset)


def used(f: FunctionBuilder, x: Native) -> Ref:
    """How many bytes the items take."""
    size = f.load("i64", _field(f, x, VAR_SIZE), suffix=kind_of_memory(f, "header"))
    f.numbers.note_nonnegative(size)
    return size


def _set_used(f: FunctionBuilder, x: Native, used: Ref) -> None:
    f.store(used, _field(f, x, VAR_SIZE), suffix=kind_of_memory(f, "header"))


def kind_of_memory(f: FunctionBuilder, name: str) -> str:
    """The metadata of an access to this kind of memory: "header" or "item"."""
    root = f.module.metadata(_ROOT)
    kind = f.module.metadata(f'!{{!"{name}", {root}, i64 0}}')
    return f", !tbaa {f.module.metadata(f'!{{{kind}, {kind}, i64 0}}')}"


def _new(e: Emitter, used: Ref, type_: ListType) -> Native:
    made = e.f.call_external("ptr", "PyByteArray_FromStringAndSize", (NULL, used))
    e.bailout.error_if_null(made)
    e.ownership.acquire(made)
    return Native(type_, (made,))


def _places(
    f: FunctionBuilder, x: Native, offset: Ref, item: Type
) -> Iterator[tuple[Ref, Type, int]]:
    """Give address, type and alignment of each number of the item at an offset in bytes."""
    codes = number_codes(item)
    first = f.gep("i8", start(f, x), offset)
    align = min(struct.calcsize(code) for code in codes) if len(set(codes)) == 1 else 1
    for k, number in enumerate(numbers_of(item)):
        before = struct.calcsize(f"={codes[:k]}")
        yield f.gep("i8", first, before), number, align


def _load_at(f: FunctionBuilder, x: Native, offset: Ref) -> Native:
    """What lies in memory for an item are the components of its machine form, one after the other."""
    item, parts = _item(x), []
    for place, number, align in _places(f, x, offset, item):
        memory = memory_type(dtype_of(number))
        value = f.load(memory, place, align, kind_of_memory(f, "item"))
        if dtype_of(number).kind == "b":
            value = f.icmp("ne", value, 0)
        parts.append(value)
    return Native(item, parts)


def _store_at(e: Emitter, x: Native, offset: Ref, value: Native) -> None:
    f, parts = e.f, convert(e, value, _item(x)).parts
    for part, (place, number, align) in zip(parts, _places(f, x, offset, _item(x)), strict=True):
        bits = f.convert("zext", part, memory_type(dtype_of(number)))
        f.store(bits, place, align, kind_of_memory(f, "item"))
