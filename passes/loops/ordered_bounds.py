"""The bounds of the loops of a nest in another order, where they depend on each other (`analysis.loop_bounds`).

    for j in range(n):                        for i in range(0, n):
        for i in range(j, n):                     for j in range(0, min(n, i + 1)):

What the bounds say are inequalities between two variables, or of one alone. Each of the first kind is kept by the
loop that is further inside. Around it, where a bound needs a variable that is not known yet, stands the farthest value
that this can make of it: some loops in it then have no trips.

The bounds are fixed values in front of the nest. Where those are enormous, so that sums with them might not fit, the
code leaves there.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from ljit.analysis.loop_bounds import Bound, LoopBounds
from ljit.ir import Block, Node, Value
from ljit.passes.loops.bound_writer import BoundWriter

__all__ = ["OrderedBounds"]

_ENORMOUS = 2**62
_TESTS = ("py::lt", "py::gt")  # of a low and a high bound


class OrderedBounds:
    """Writes the bounds, those in front of the nest at once."""

    def __init__(
        self, before: Node, bounds: Sequence[LoopBounds], leave_if: Callable[[Value], None]
    ) -> None:
        self.bounds = bounds
        self.write = BoundWriter(before)
        self.farthest: list[tuple[Value, Value]] = []
        tested: set[tuple[Value, int]] = set()
        for found in bounds:
            ends = self._farthest(found.low, 0), self._farthest(found.high, 1)
            for value, name, most in zip(ends, _TESTS, (-_ENORMOUS, _ENORMOUS), strict=True):
                if not (_is_ordinary(value) or (value, most) in tested):
                    leave_if(self.write.op(name, value, self.write.constant(most)))
                    tested.add((value, most))
            self.farthest.append(ends)

    def _farthest(self, bound: Bound, side: int) -> Value:
        """The least (0) or greatest (1) number that a bound is."""
        if bound.value is not None:
            return bound.value
        return self.write.plus(self.farthest[bound.loop][side], bound.offset - side)

    def of(
        self, position: int, outer: Mapping[int, Value], block: Block | None
    ) -> tuple[Value, Value]:
        """The bounds of a loop, written at the end of `block`, in loops with these variables."""
        self.write.within = block
        own, (low, high) = self.bounds[position], self.farthest[position]
        lows, highs = [self._own(own.low, outer, low)], [self._own(own.high, outer, high)]
        for other, variable in outer.items():
            # variable >= ours + offset, and variable < ours + offset
            for bound, found in ((self.bounds[other].low, highs), (self.bounds[other].high, lows)):
                if bound.value is None and bound.loop == position:
                    found.append(self.write.plus(variable, 1 - bound.offset))
        return self.write.largest(lows), self.write.smallest(highs)

    def _own(self, bound: Bound, outer: Mapping[int, Value], farthest: Value) -> Value:
        if bound.value is not None or bound.loop not in outer:
            return farthest
        return self.write.plus(outer[bound.loop], bound.offset)


def _is_ordinary(value: Value) -> bool:
    number = value.constant if value.is_constant else None
    return isinstance(number, int) and abs(number) <= _ENORMOUS
