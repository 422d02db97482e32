"""Effects: what running an op may do beside computing its results."""

from __future__ import annotations

import enum

__all__ = ["Effect"]


class Effect(enum.IntFlag):
    """What running a node may do beside computing its outputs.

    Passes ask all the time: `&` gives a plain int, which is a truth value at no cost.
    """

    PURE = 0
    READ = enum.auto()  # reads memory that a WRITE may change (array elements, list items, globals)
    WRITE = enum.auto()  # writes memory that others can see
    RAISE = enum.auto()  # may raise: must not be removed, may be repeated
    CALL = enum.auto()  # runs unknown Python code: anything may happen
    ALLOC = enum.auto()  # makes a fresh mutable object: two equal nodes are not the same value
    EXIT = enum.auto()  # leaves the block (terminators)

    @property
    def is_removable(self) -> bool:
        """Whether a node whose outputs are unused can be dropped."""
        return not self._value_ & _KEPT

    @property
    def is_repeatable(self) -> bool:
        """Whether the interpreter may run the node a second time after a bailout."""
        return not self._value_ & _DONE_ONCE

    def without(self, other: Effect) -> Effect:
        """Give the effects of this that are not in `other`."""
        return _COMBINATIONS[self._value_ & ~other._value_]

    def __or__(self, other: int) -> Effect:  # enum's own looks for the member in a slow way
        return _COMBINATIONS[int.__or__(self, other)]

    __and__ = int.__and__  # type: ignore[assignment]
    __rand__ = int.__rand__  # type: ignore[assignment]


class _Combinations(dict[int, Effect]):
    """The members by their bits, made when asked for."""

    def __missing__(self, bits: int) -> Effect:
        found = self[bits] = Effect(bits)
        return found


_COMBINATIONS = _Combinations()
_KEPT = (Effect.WRITE | Effect.RAISE | Effect.CALL | Effect.EXIT).value
_DONE_ONCE = (Effect.WRITE | Effect.CALL).value
