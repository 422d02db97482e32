"""``x[i:j]`` of strs and lists, by the C functions that take the two places as numbers: no slice is made."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ljit.codegen.lists.lists import list_size
from ljit.codegen.llvm.builder import Ref, integer
from ljit.codegen.llvm.forms import Native, split
from ljit.codegen.references.characters import str_size
from ljit.types import BOOL, INT, NONE, STR, ListType, SliceType

if TYPE_CHECKING:
    from collections.abc import Callable

    from ljit.codegen.emitter import Emitter

__all__ = ["part_of"]


def part_of(
    e: Emitter, _with_objects: Callable[[], Native], x: Native, index: Native
) -> Native | None:
    """Give the part; None: it is none of a str or of a list of objects, or has a step."""
    is_list = isinstance(x.type, ListType) and not x.type.is_private
    if not (is_list or x.type == STR) or not isinstance(index.type, SliceType):
        return None
    start, stop, step = split(index)
    if step.type != NONE or not all(bound.type in (INT, BOOL, NONE) for bound in (start, stop)):
        return None
    size = (list_size if is_list else str_size)(e, x).ref
    first = integer("i64", 0) if start.type == NONE else _place(e, start, size)
    last = size if stop.type == NONE else _place(e, stop, size)
    function = "PyList_GetSlice" if is_list else "PyUnicode_Substring"
    return e.owned_result(e.f.call_external("ptr", function, (x.ref, first, last)))


def _place(e: Emitter, bound: Native, size: Ref) -> Ref:
    """A place that is not negative; one behind the end is none for the C functions either."""
    zero, place = integer("i64", 0), e.cast(bound, INT).ref
    behind = e.f.binary("add", place, size)
    from_end = e.f.select(e.f.icmp("slt", behind, zero), zero, behind)
    return e.f.select(e.f.icmp("slt", place, zero), from_end, place)
