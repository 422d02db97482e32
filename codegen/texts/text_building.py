"""Strs of ASCII that are put together natively: grown in place, joined, and turned around.

CPython does it for all others, where the layout of strs is not known, and where the result may be one of the operands,
or a character: those are objects that there are already.
"""

from __future__ import annotations

import ctypes
import sys
from functools import cache, partial
from typing import TYPE_CHECKING

from ljit.codegen.layouts import text_layout as layout
from ljit.codegen.llvm.builder import FALSE, NULL, TRUE, FunctionBuilder, Ref, integer
from ljit.codegen.llvm.forms import Native, split
from ljit.codegen.references.characters import field_of, function_of, leave_if
from ljit.types import BOOL, NONE, STR, SliceType

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from ljit.codegen.emitter import Emitter
    from ljit.codegen.llvm.builder import BlockRef

__all__ = ["can_grow", "grow", "joined_texts", "reversed_text", "str_join"]

_MOST_PARTS = 8
_UNKNOWN_HASH = integer("i64", -1)
_ONE = integer("i64", 1)


# -- growing ---------------------------------------------------------------------------------------

_LOG_GRAIN = 3  # what is allocated has room up to a multiple of eight bytes
#: of CPython's own allocator; larger blocks are the C library's, which knows their sizes
_LARGEST_SMALL = 512
_LOG_SPARE = 3  # an eighth more than is needed


@cache
def can_grow() -> bool:
    """Whether memory of strs comes from CPython's usual allocators, of which it is known how they round sizes."""
    if not layout.is_known() or sys.platform != "linux":
        return False
    name_of_allocator = getattr(ctypes.pythonapi, "_PyMem_GetCurrentAllocatorName", None)
    if name_of_allocator is None:
        return False
    name_of_allocator.restype = ctypes.c_char_p
    return name_of_allocator() in (b"pymalloc", b"malloc")


def grow(f: FunctionBuilder, slot: Ref, more: Ref) -> Ref:
    """Append a str, or the character of a code, to the str in a slot if its memory has room; whether it was."""
    of_code = more.type == "i32"
    name, write = ("text.grow.code", _write_grow_code) if of_code else ("text.grow", _write_grow)
    return f.call("i1", function_of(f, name, "i1", write, ("ptr", more.type)), (slot, more))


def _write_grow(f: FunctionBuilder) -> None:
    slot, more = f.params
    other = f.new_block("other")
    _require_ascii(f, more, other)
    size = field_of(f, "i64", more, layout.TEXT_SIZE)
    _append(f, slot, size, other, partial(_copy, source=_items(f, more), size=size))


def _write_grow_code(f: FunctionBuilder) -> None:
    slot, code = f.params
    other = f.new_block("other")
    leave_if(f, f.icmp("ugt", code, 127), other)

    def write(f: FunctionBuilder, place: Ref) -> None:
        f.store(f.convert("trunc", code, "i8"), place)

    _append(f, slot, _ONE, other, write)


def _append(
    f: FunctionBuilder,
    slot: Ref,
    count: Ref,
    other: BlockRef,
    write: Callable[[FunctionBuilder, Ref], None],
) -> None:
    """Let `write` write so many characters behind those of the str that is in the slot, and nowhere else."""
    text = f.load("ptr", slot)
    leave_if(f, f.icmp("ne", f.load("i64", text), _ONE), other)
    _require_ascii(f, text, other, layout.IS_INTERNED)
    size = field_of(f, "i64", text, layout.TEXT_SIZE)
    total = f.binary("add", size, count)
    roomy = _with_room(f, slot, text, size, total, other)
    write(f, f.gep("i8", _items(f, roomy), size))
    f.store(integer("i8", 0), f.gep("i8", _items(f, roomy), total))
    f.store(total, f.gep("i8", roomy, layout.TEXT_SIZE))
    f.store(_UNKNOWN_HASH, f.gep("i8", roomy, layout.TEXT_HASH))
    f.ret(TRUE)
    if f.start(other):
        f.ret(FALSE)


def _with_room(
    f: FunctionBuilder, slot: Ref, text: Ref, size: Ref, total: Ref, other: BlockRef
) -> Ref:
    """The str with memory for so many characters: as it is, or moved, or given up."""
    has_room, moved = f.new_block("room"), f.new_block("moved")
    had, needed = (f.binary("add", n, layout.ASCII_ITEMS) for n in (size, total))
    grain = _LOG_GRAIN
    is_near = f.icmp("eq", f.binary("lshr", had, grain), f.binary("lshr", needed, grain))
    far = f.new_block("far")
    near = f.condbr(is_near, has_room, far)
    f.start(far)
    leave_if(f, f.icmp("ult", had, _LARGEST_SMALL), other)
    usable = f.call_external("i64", "malloc_usable_size", (text,))
    in_room = f.condbr(f.icmp("ugt", usable, needed), has_room, moved)
    f.start(moved)
    spare = f.binary("lshr", needed, _LOG_SPARE)
    wanted = f.binary("add", f.binary("add", needed, spare), _ONE)
    larger = f.call_external("ptr", "PyObject_Realloc", (text, wanted))
    leave_if(f, f.icmp("eq", larger, NULL), other)
    f.store(larger, slot)
    after = f.br(has_room)
    f.start(has_room)
    roomy = f.phi("ptr")
    for pointer, block in ((text, near), (text, in_room), (larger, after)):
        roomy.add(pointer, block)
    return roomy


# -- joining ---------------------------------------------------------------------------------------


def str_join(e: Emitter, parts: Sequence[Native], otherwise: Callable[[], Native]) -> Native:
    """The strs put together; `otherwise` does it with objects."""
    count = len(parts)
    if count > _MOST_PARTS or not layout.is_known():
        return otherwise()
    f = e.f
    write = partial(_write_join)
    name = function_of(f, f"text.join.{count}", "ptr", write, ["ptr"] * count)
    made = f.call("ptr", name, [part.ref for part in parts])
    return _or_else(e, made, otherwise)


def _or_else(e: Emitter, made: Ref, otherwise: Callable[[], Native]) -> Native:
    """What was made, a new reference, or if it is null, what `otherwise` gives."""

    def owned() -> Native:
        e.ownership.acquire(made)
        return Native(STR, (made,))

    is_none = Native(BOOL, (e.f.icmp("eq", made, NULL),))
    return e.branch(is_none, lambda: Native(STR, otherwise().parts), owned)


def joined_texts(
    e: Emitter, with_objects: Callable[[], Native], x: Native, y: Native
) -> Native | None:
    """``x + y`` of strs; None: they are none."""
    return str_join(e, (x, y), with_objects) if x.type == y.type == STR else None


def _write_join(f: FunctionBuilder) -> None:
    """Null if a part is empty or not of ASCII, or there is no memory."""
    texts, other = f.params, f.new_block("other")
    sizes = []
    for text in texts:
        _require_ascii(f, text, other)
        sizes.append(field_of(f, "i64", text, layout.TEXT_SIZE))
        leave_if(f, f.icmp("eq", sizes[-1], 0), other)
    total = sizes[0]
    for size in sizes[1:]:
        total = f.binary("add", total, size)
    made = _new_text(f, total, other)
    place = _items(f, made)
    for text, size in zip(texts, sizes, strict=True):
        _copy(f, place, source=_items(f, text), size=size)
        place = f.gep("i8", place, size)
    f.ret(made)
    if f.start(other):
        f.ret(NULL)


# -- turning around --------------------------------------------------------------------------------


def reversed_text(
    e: Emitter, with_objects: Callable[[], Native], x: Native, index: Native
) -> Native | None:
    """``x[::-1]`` of a str; None: it is none, or another part of one."""
    if x.type != STR or not isinstance(index.type, SliceType) or not layout.is_known():
        return None
    start, stop, step = split(index)
    if start.type != NONE or stop.type != NONE or step.type == NONE or step.ref.constant != -1:
        return None
    name = function_of(e.f, "text.reversed", "ptr", _write_reversed, ["ptr"])
    return _or_else(e, e.f.call("ptr", name, (x.ref,)), with_objects)


def _write_reversed(f: FunctionBuilder) -> None:
    """Null if it has less than two characters or others than ASCII's, or there is no memory."""
    (text,), other = f.params, f.new_block("other")
    _require_ascii(f, text, other)
    size = field_of(f, "i64", text, layout.TEXT_SIZE)
    leave_if(f, f.icmp("ule", size, _ONE), other)
    made = _new_text(f, size, other)
    source, place = _items(f, text), _items(f, made)
    trip, done, entered = f.new_block("trip"), f.new_block("done"), f.block
    f.br(trip)
    f.start(trip)
    k = f.phi("i64")
    k.add(0, entered)
    following = f.binary("add", k, _ONE)
    mirrored = f.binary("sub", size, following)
    f.store(f.load("i8", f.gep("i8", source, mirrored)), f.gep("i8", place, k))
    k.add(following, f.condbr(f.icmp("eq", following, size), done, trip))
    f.start(done)
    f.ret(made)
    if f.start(other):
        f.ret(NULL)


# -- shared ----------------------------------------------------------------------------------------


def _require_ascii(f: FunctionBuilder, text: Ref, other: BlockRef, without: int = 0) -> None:
    """Go to `other` unless the characters are ASCII's, in their place, and the flags `without` are not set."""
    mask, value = (flags | layout.IS_ASCII for flags in layout.flags_of_bytes())
    state = field_of(f, "i32", text, layout.TEXT_STATE)
    found = f.binary("and", state, mask | without)
    leave_if(f, f.icmp("ne", found, value), other)


def _items(f: FunctionBuilder, text: Ref) -> Ref:
    return f.gep("i8", text, layout.ASCII_ITEMS)


def _new_text(f: FunctionBuilder, size: Ref, other: BlockRef) -> Ref:
    """Make a str of ASCII; without memory go to `other`, from where CPython tries again: no error is set."""
    made = f.call_external("ptr", "PyUnicode_New", (size, integer("i32", 127)))
    failed, good = f.new_block("failed"), f.new_block("good")
    f.condbr(f.icmp("eq", made, NULL), failed, good, unlikely=True)
    if f.start(failed, cold=True):
        f.call_external("void", "PyErr_Clear", ())
        f.br(other)
    f.start(good)
    return made


def _copy(f: FunctionBuilder, place: Ref, *, source: Ref, size: Ref) -> None:
    f.call_external("ptr", "memcpy", (place, source, size))
