"""How strs begin and end, and parts that are looked for in them: natively, or by C functions that take numbers."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

from ljit.codegen.layouts import text_layout as layout
from ljit.codegen.llvm.builder import FALSE, FunctionBuilder, Ref, integer
from ljit.codegen.llvm.forms import Native
from ljit.codegen.references.characters import READS, field_of, function_of, latin_items, leave_if
from ljit.types import BOOL, INT, STR

if TYPE_CHECKING:
    from collections.abc import Callable

    from ljit.codegen.emitter import Emitter

__all__ = ["count_parts", "find_part", "replace_parts", "tail_test"]

_START, _END, _ALL = integer("i64", 0), integer("i64", 2**63 - 1), integer("i64", -1)


def _are_strs(*operands: Native) -> bool:
    return all(x.type == STR for x in operands)


# -- beginnings and ends ---------------------------------------------------------------------------


def tail_test(direction: int) -> Callable[..., Native | None]:
    """Make ``x.startswith(part)`` (-1) or ``x.endswith(part)`` (1) of strs."""

    def test(e: Emitter, _with_objects: Callable[[], Native], *operands: Native) -> Native | None:
        if len(operands) != 2 or not _are_strs(*operands):
            return None
        f, (x, part) = e.f, (operand.ref for operand in operands)
        if not layout.is_known():
            return Native(BOOL, (_asked(f, x, part, direction),))
        write = partial(_write_test, direction=direction)
        name = "text.ends" if direction > 0 else "text.starts"
        name = function_of(f, name, "i1", write, ("ptr", "ptr"), reads=True)
        return Native(BOOL, (f.call("i1", name, (x, part)),))

    return test


def _asked(f: FunctionBuilder, x: Ref, part: Ref, direction: int) -> Ref:
    operands = (x, part, _START, _END, integer("i32", direction))
    found = f.call_external("i64", "PyUnicode_Tailmatch", operands, READS)
    return f.icmp("ne", found, _START)


def _write_test(f: FunctionBuilder, direction: int) -> None:
    x, part = f.params
    wide, longer = f.new_block("wide"), f.new_block("longer")
    items, wanted = (latin_items(f, text, wide) for text in (x, part))
    size, count = (field_of(f, "i64", text, layout.TEXT_SIZE) for text in (x, part))
    leave_if(f, f.icmp("ugt", count, size), longer)
    first = f.gep("i8", items, f.binary("sub", size, count)) if direction > 0 else items
    differ = f.call_external("i32", "memcmp", (first, wanted, count), READS)
    f.ret(f.icmp("eq", differ, 0))
    if f.start(longer):
        f.ret(FALSE)
    if f.start(wide):
        f.ret(_asked(f, x, part, direction))


# -- places ----------------------------------------------------------------------------------------


def find_part(direction: int) -> Callable[..., Native | None]:
    """Make ``x.find(part)`` (1) or ``x.rfind(part)`` (-1) of strs."""

    def find(e: Emitter, _with_objects: Callable[[], Native], *operands: Native) -> Native | None:
        if len(operands) != 2 or not _are_strs(*operands):
            return None
        x, part = (operand.ref for operand in operands)
        arguments = (x, part, _START, _END, integer("i32", direction))
        place = e.f.call_external("i64", "PyUnicode_Find", arguments)
        e.bailout.error_if(e.f.icmp("slt", place, -1))
        return Native(INT, (place,))

    return find


def count_parts(
    e: Emitter, _with_objects: Callable[[], Native], *operands: Native
) -> Native | None:
    """``x.count(part)`` of strs; None: they are none."""
    if len(operands) != 2 or not _are_strs(*operands):
        return None
    x, part = (operand.ref for operand in operands)
    count = e.f.call_external("i64", "PyUnicode_Count", (x, part, _START, _END))
    e.bailout.error_if(e.f.icmp("slt", count, _START))
    return Native(INT, (count,))


def replace_parts(
    e: Emitter, _with_objects: Callable[[], Native], *operands: Native
) -> Native | None:
    """``x.replace(old, new)`` of strs; None: they are none."""
    if len(operands) != 3 or not _are_strs(*operands):
        return None
    pointers = (operand.ref for operand in operands)
    return e.owned_result(e.f.call_external("ptr", "PyUnicode_Replace", (*pointers, _ALL)))
