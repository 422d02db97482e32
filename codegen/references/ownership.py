"""References to Python objects: who holds them, and that each is given back exactly once.

Every reference that the function acquires lives in a slot: a stack variable that is null at entry.
Acquiring again in a loop releases what the slot held. All ways out meet in one block that releases
all slots. LLVM turns the slots into registers; where nothing is owned, nothing remains.
"""

from __future__ import annotations

from contextlib import contextmanager
from typing import TYPE_CHECKING

from ljit.codegen.functions.bodies import FAILED
from ljit.codegen.functions.recursion import raise_depth
from ljit.codegen.llvm.builder import NULL, BlockRef, FunctionBuilder, Ref, undef
from ljit.codegen.llvm.forms import Native, owned_positions
from ljit.codegen.references.refcounts import change_count, releaser_of_slots

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from ljit.codegen.functions.bodies import Body
    from ljit.ir import Value

__all__ = ["OwnedPhis", "Ownership"]

_MAX_PHI_OPERANDS = 500  # of the slots of one function at its end, if they are registers
_SLOTS_OF_CALL = 8  # that are given back by one call, if they are not


#: a type, and the texts of components
_Key = tuple[object, ...]


def _key(value: Native) -> _Key:
    return value.type, *(part.text for part in value.parts)


class Ownership:
    """The slots of one function and the block through which it is left."""

    def __init__(self, f: FunctionBuilder, body: Body | None = None) -> None:
        self.f = f
        self.body = body  # None: the function gives an object, or null
        self.frames: Ref | None = None  # to take off CPython's count of frames on the way out
        self.loop_depth = 0
        self._slots: list[Ref] = []
        self._free: list[Ref] = []  # temporary slots that are null now
        self._noted: dict[str, Ref] = {}  # temporary slots by their text, for `noting_temporaries`
        self.leave = f.new_block("leave")
        self.holders: dict[str, Ref] = {}  # the slots of values by their text
        self.objects: dict[_Key, Ref] = {}  # that numbers and tuples were read from, while held
        self.made: dict[_Key, Ref] = {}  # of tuples, in this block
        self.acquired: list[str] = []  # the texts of all that was acquired in slots of their own
        self.text_slots: list[tuple[Ref, Value]] = []  # those of strs
        self._results: list[tuple[Ref, Sequence[Ref], BlockRef]] = []

    @contextmanager
    def in_loop(self) -> Iterator[None]:
        """What is acquired inside may be acquired again by the next trip."""
        self.loop_depth += 1
        free, self._free = self._free, []
        try:
            yield
        finally:
            self.loop_depth -= 1
            self._free = free

    def new_slot(self) -> Ref:
        """A slot, null at entry, released on the way out."""
        slot = self.f.alloca("ptr", zero=True)
        self._slots.append(slot)
        return slot

    def acquire(self, pointer: Ref) -> Ref:
        """Put a new reference (or null) into a slot of its own; gives the slot."""
        slot = self.holders[pointer.text] = self.new_slot()
        self.acquired.append(pointer.text)
        self.put(slot, pointer)
        return slot

    def release_early(self, pointer: Ref) -> None:
        """Give back what `acquire` was given, outside of loops, unless it was taken out of the slot."""
        self.put(self.holders[pointer.text], NULL, was_used=True)

    def put(self, slot: Ref, pointer: Ref, *, was_used: bool | None = None) -> None:
        """Move a new reference into a slot; what it held is released.

        `was_used` says whether it may hold something; by default, if the code is in a loop.
        """
        if was_used is None:
            was_used = self.loop_depth > 0
        if not was_used:
            self.f.store(pointer, slot)
            return
        old = self.f.load("ptr", slot)
        self.f.store(pointer, slot)
        self.release(old)

    def acquire_temporary(self, pointer: Ref) -> Ref:
        """Like `acquire`, for a reference that `release_slot` gives back soon."""
        slot = self._free.pop() if self._free else self.new_slot()
        self._noted[slot.text] = slot
        self.f.store(pointer, slot)
        return slot

    def release_slot(self, slot: Ref) -> None:
        """Release what a temporary slot holds; the slot can be used again."""
        old = self.f.load("ptr", slot)
        self.f.store(NULL, slot)
        self.release(old)
        self._free.append(slot)

    @contextmanager
    def noting_temporaries(self) -> Iterator[dict[str, Ref]]:
        """Gather the temporary slots of what is written inside: what jumps out of there leaves them filled."""
        outer, self._noted = self._noted, {}
        yield self._noted
        self._noted = outer | self._noted

    def empty(self, slots: dict[str, Ref]) -> None:
        """Release what temporary slots hold, where code goes on that a jump has come to."""
        for slot in slots.values():
            self.put(slot, NULL, was_used=True)

    def retain(self, pointer: Ref) -> None:
        """Take a reference (null: nothing)."""
        if pointer.constant is None:
            change_count(self.f, pointer, "retain", in_line=self.loop_depth > 0)

    def release(self, pointer: Ref) -> None:
        """Give a reference back (null: nothing)."""
        if pointer.constant is None:
            change_count(self.f, pointer, "release", in_line=self.loop_depth > 0)

    def let_go(self, slot: Ref, pointer: Ref) -> None:
        """Empty a slot if it holds this object."""
        f = self.f
        drop, done = f.new_block("drop"), f.new_block("kept")
        f.condbr(f.icmp("eq", f.load("ptr", slot), pointer), drop, done)
        f.start(drop)
        f.store(NULL, slot)
        self.release(pointer)
        f.br(done)
        f.start(done)

    def share(self, value: Native) -> None:
        """Make the borrowed objects in `value` owned by the function."""
        for position in owned_positions(value.type):
            pointer = value.parts[position]
            if pointer.constant is None:
                self.retain(pointer)
                self.acquire(pointer)

    def hold_object(self, value: Native, pointer: Ref) -> None:
        """Keep the object of a number or a tuple, which is needed as an object later."""
        self.retain(pointer)
        self.acquire(pointer)
        self.objects[_key(value)] = pointer

    def hold_made(self, value: Native, pointer: Ref) -> None:
        """Keep the object that was made of a tuple, a new reference, for the rest of the block."""
        self.acquire(pointer)
        self.made[_key(value)] = pointer

    @contextmanager
    def in_block(self) -> Iterator[None]:
        """Behind the block nobody knows whether the objects made in it are there."""
        outer, self.made = self.made, dict(self.made)
        try:
            yield
        finally:
            self.made = outer

    def object_of(self, value: Native) -> Ref | None:
        """The object that a number or a tuple was read from, or that was made of it, if it is kept."""
        if not value.parts or not (self.objects or self.made):
            return None
        key = _key(value)
        return self.objects.get(key) or self.made.get(key)

    def leave_with(self, result: Ref) -> None:
        """Leave the function; `result` is a new reference, or null: an error is set."""
        if self.body is not None:
            failed = self.f.icmp("eq", result, NULL)
            status = self.f.select(failed, FAILED, result)
            self._leave(status, [undef(part) for part in self.body.parts])
        else:
            self._leave(result, ())

    def leave_natively(self, parts: Sequence[Ref]) -> None:
        """Leave a body with the components of its result."""
        self._leave(NULL, parts)

    def _leave(self, status: Ref, parts: Sequence[Ref]) -> None:
        block = self.f.br(self.leave)
        if block is not None:
            self._results.append((status, parts, block))

    def finish(self) -> None:
        """Write the common exit. Nothing can be acquired afterwards."""
        f = self.f
        if not f.start(self.leave):
            return
        status = f.phi("ptr")
        parts = [f.phi(part) for part in (self.body.parts if self.body is not None else ())]
        for value, values, block in self._results:
            status.add(value, block)
            for phi, part in zip(parts, values, strict=True):
                phi.add(part, block)
        self._release_all()
        if self.frames is not None:
            raise_depth(f, self.frames)
        if self.body is not None:
            self.body.ret(f, parts, status)
        else:
            f.ret(status)

    def _release_all(self) -> None:
        """Release what the slots hold.

        As registers, slots are phis of all ways out: too many for LLVM in a large function. There they stay in
        memory, since a function is given their addresses.
        """
        slots, f = self._slots, self.f
        if len(slots) * len(self._results) <= _MAX_PHI_OPERANDS:
            for slot in slots:
                self._release_if_any(f.load("ptr", slot))
            return
        for start in range(0, len(slots), _SLOTS_OF_CALL):
            given = slots[start : start + _SLOTS_OF_CALL]
            f.call("void", releaser_of_slots(f.module, len(given)), given)

    def _release_if_any(self, pointer: Ref) -> None:
        """Of a body's slots most are null when it returns, and LLVM can see which."""
        if self.body is None:
            self.release(pointer)
            return
        f = self.f
        some, done = f.new_block("some"), f.new_block("none")
        f.condbr(f.icmp("ne", pointer, NULL), some, done)
        if f.start(some):
            self.release(pointer)
            f.br(done)
        f.start(done)


class OwnedPhis:
    """Slots for the references held by the phis of one join.

    An edge first takes references to all new values, then moves them into the slots: values may
    be permuted between the phis.
    """

    __slots__ = ("_ownership", "slots", "was_used")

    def __init__(self, ownership: Ownership, positions: Sequence[int], *, was_used: bool) -> None:
        self._ownership = ownership
        self.slots = {position: ownership.new_slot() for position in positions}
        self.was_used = was_used

    def note(self, parts: Sequence[Ref]) -> None:
        """Note whose references the slots hold."""
        for position, slot in self.slots.items():
            self._ownership.holders[parts[position].text] = slot

    def note_text(self, position: int, value: Value) -> None:
        """Note that a slot holds a str."""
        self._ownership.text_slots.append((self.slots[position], value))

    def take(self, parts: Sequence[Ref]) -> None:
        """Move references to the parts into the slots, at the end of a predecessor."""
        for position in self.slots:
            self._ownership.retain(parts[position])
        for position, slot in self.slots.items():
            self._ownership.put(slot, parts[position], was_used=self.was_used)
