"""Effects: what running an op may do beside computing its results."""

from __future__ import annotations

from typing import ClassVar

__all__ = ["Effect"]


class Effect(int):
    """What running a node may do beside computing its outputs: a set of bits, with one object for each set.

    Passes ask all the time: `&` gives a plain int, which is a truth value at no cost, and the members are plain
    attributes. (Those of an `enum` take up to fifty times as long to read: its metaclass looks for them.)
    """

    PURE: ClassVar[Effect]
    READ: ClassVar[Effect]  # of memory that a WRITE may change: array elements, list items, globals
    WRITE: ClassVar[Effect]  # to memory that others can see
    RAISE: ClassVar[Effect]  # may raise: must not be removed, may be repeated
    CALL: ClassVar[Effect]  # runs unknown Python code: anything may happen
    ALLOC: ClassVar[Effect]  # makes a fresh mutable object: two equal nodes are not the same value
    EXIT: ClassVar[Effect]  # leaves the block (terminators)

    @property
    def names(self) -> tuple[str, ...]:
        """The names of the members that are in it."""
        return tuple(name for bit, name in enumerate(_NAMES) if self >> bit & 1)

    @property
    def is_removable(self) -> bool:
        """Whether a node whose outputs are unused can be dropped."""
        return not self & _KEPT

    @property
    def is_repeatable(self) -> bool:
        """Whether the interpreter may run the node a second time after a bailout."""
        return not self & _DONE_ONCE

    def without(self, other: Effect) -> Effect:
        """Give the effects of this that are not in `other`."""
        return _COMBINATIONS[self & ~other]

    def __or__(self, other: int) -> Effect:
        return _COMBINATIONS[+self | +other]

    def __repr__(self) -> str:
        return "|".join(f"Effect.{name}" for name in self.names or ("PURE",))


_NAMES = ("READ", "WRITE", "RAISE", "CALL", "ALLOC", "EXIT")
_COMBINATIONS = [Effect(bits) for bits in range(1 << len(_NAMES))]
Effect.PURE = _COMBINATIONS[0]
for _bit, _name in enumerate(_NAMES):
    setattr(Effect, _name, _COMBINATIONS[1 << _bit])
_KEPT = Effect.WRITE | Effect.RAISE | Effect.CALL | Effect.EXIT
_DONE_ONCE = Effect.WRITE | Effect.CALL
