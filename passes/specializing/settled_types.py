"""Types that the carried values of a loop settle to: what they are from some trip on, and not at first."""

from __future__ import annotations

from collections.abc import Sequence

from ljit.characters import as_text
from ljit.ir import Node
from ljit.ops.control import LOOP
from ljit.passes.specializing.narrowing import without
from ljit.types import NEVER, STR, ItemsType, Type, join

__all__ = ["can_be_two", "holds", "settled_types"]

MAX_TWICE = 120  # nodes of a loop body that may be written twice


def can_be_two(loop: Node) -> bool:
    """Whether the body of a baseline loop may be written twice: it is short and has no loop in it."""
    inside = list(loop.blocks[0].walk())
    return (
        len(loop.blocks) == 1 and len(inside) <= MAX_TWICE and all(n.op is not LOOP for n in inside)
    )


def settled_types(initial: Sequence[Type], after_trip: Sequence[Type]) -> list[Type] | None:
    """Give the types that carried values settle to; None if they stay what they are or mix with those."""
    if NEVER in after_trip:
        return None
    initial = [
        as_text(t) if after == STR else t for t, after in zip(initial, after_trip, strict=True)
    ]
    settled = list(map(_settled, initial, after_trip))
    if NEVER in settled or all(map(holds, settled, initial)):
        return None
    return settled


def _settled(initial: Type, after_trip: Type) -> Type:
    if isinstance(initial, ItemsType) and initial.is_like(after_trip):
        return initial.with_items(map(_settled, initial.items, after_trip.items))  # type: ignore[attr-defined]
    if holds(initial, after_trip):
        return after_trip
    return without(after_trip, initial)


def holds(wide: Type, narrow: Type) -> bool:
    """Whether each value of the narrow type is one of the wide one."""
    return join(wide, narrow) == wide
