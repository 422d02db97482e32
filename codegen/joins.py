"""Places where control flow comes together: the values of each edge become phis."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import accumulate, pairwise
from typing import TYPE_CHECKING

from ljit.codegen.exits.bailout import known_object
from ljit.codegen.exits.convert import convert
from ljit.codegen.llvm.builder import BlockRef, Phi, Ref
from ljit.codegen.llvm.forms import LateSlot, Native, components, owned_positions
from ljit.codegen.references.lifetimes import may_be_changed
from ljit.codegen.references.ownership import OwnedPhis
from ljit.codegen.texts.trips import is_handed_on
from ljit.ir import Value
from ljit.types import STR, ArrayType, Type

if TYPE_CHECKING:
    from ljit.codegen.emitter import Emitter

__all__ = ["Join"]


class Join:
    """A block with one value of each type in `types`, whatever edge it is entered by.

    With `owned`, the join holds references of its own to the objects in its values: they stay alive
    when the definition that an edge took them from runs again. It also knows the objects that views have become, as
    what unknown code may do to them is to be noticed.
    """

    def __init__(
        self,
        e: Emitter,
        types: Sequence[Type],
        hint: str,
        *,
        owned: bool = True,
        values: Sequence[Value] = (),
    ) -> None:
        self.e = e
        self.types = types
        self.block = e.f.new_block(hint)
        self._edges: list[tuple[list[Ref], BlockRef]] = []
        self._phis: list[Phi] | None = None
        starts = self._starts = [0, *accumulate(len(components(type_)) for type_ in types)]
        checked = [isinstance(v.type, ArrayType) and may_be_changed(v) for v in values]
        #: where the objects are that views were made, among the parts
        self._objects = [at for at, is_checked in zip(starts, checked, strict=False) if is_checked]
        positions = [
            at + p for at, type_ in zip(starts, types, strict=False) for p in owned_positions(type_)
        ]
        was_used = e.ownership.loop_depth > 0
        self._owned = OwnedPhis(e.ownership, positions if owned else (), was_used=was_used)
        self._made = OwnedPhis(e.ownership, self._objects if owned else (), was_used=was_used)
        self._memos = {at: LateSlot(e.ownership.new_slot, x) for at, x in self._made.slots.items()}
        self._texts = []  # where strs are among the parts
        for at, type_, value in zip(starts, types, values, strict=False):
            if type_ == STR and owned:
                self._texts.append(at)
                self._owned.note_text(at, value)
        #: from here on: those of what is written until it starts
        self._inner = len(e.ownership.text_slots)

    def jump(self, values: Sequence[Native], suffix: str = "") -> None:
        """End the current block with a branch to the join; `suffix`: its metadata."""
        if not self.e.f.is_reachable:
            return
        parts: list[Ref] = []
        for value, type_ in zip(values, self.types, strict=True):
            given = convert(self.e, value, type_)
            if len(parts) in self._objects:
                given = known_object(self.e.f, given)
            parts += given.parts
        self._owned.take(parts)
        self._made.take(parts)
        block = self.e.f.br(self.block, suffix)
        if block is None:
            return
        if self._phis is None:
            self._edges.append((parts, block))
        else:
            for phi, part in zip(self._phis, parts, strict=True):
                phi.add(part, block)

    def start(self) -> list[Native]:
        """Go on in the block, all of whose edges are known."""
        f = self.e.f
        if not f.start(self.block) or len(self._edges) != 1:
            return self._start_phis_of_end()
        return self._values(self._edges[0][0])

    def _start_phis_of_end(self) -> list[Native]:
        """Strs that were handed on to this join, and are nothing else, have the references of the join alone."""
        values = self._start_phis()
        ownership = self.e.ownership
        inner = ownership.text_slots[self._inner :] if ownership.loop_depth else []
        handed_on = [slot for slot, value in inner if is_handed_on(value)]
        assert self._phis is not None
        for at in self._texts:
            for slot in handed_on:
                ownership.let_go(slot, self._phis[at])
        return values

    def start_loop(self) -> list[Native]:
        """Go on in the block; further edges may come."""
        self.e.f.start(self.block)
        values = self._start_phis()
        self._owned.was_used = self._made.was_used = True
        return values

    def _start_phis(self) -> list[Native]:
        self._phis = [self.e.f.phi(c) for type_ in self.types for c in components(type_)]
        for parts, block in self._edges:
            for phi, part in zip(self._phis, parts, strict=True):
                phi.add(part, block)
        self._owned.note(self._phis)
        return self._values(self._phis)

    def _values(self, parts: Sequence[Ref]) -> list[Native]:
        values = []
        for type_, (start, stop) in zip(self.types, pairwise(self._starts), strict=True):
            # a value without parts starts where the next one does
            slot = self._memos.get(start) if start < stop else None
            memos = {0: slot} if slot is not None else None
            values.append(Native(type_, parts[start:stop], memos))
        return values
