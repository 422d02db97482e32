"""Where the loops of a nest begin and end: at fixed numbers, or at the variable of a loop around them plus a constant.

    for i in range(n):
        for j in range(i + 1, n):

A loop is known by a variable: its trip or, if a bound of the nest varies, the number in its range: `j`, not
``j - (i + 1)``. So the elements of an array have the same places, and dependent trips the same distance, in all orders
of the loops. The trips of a nest are the points with ``low <= variable < high`` for each loop: these are inequalities,
which any order of the loops can keep.
"""

from __future__ import annotations

from collections.abc import Container, Sequence

from ljit.analysis.ranges import Ranges
from ljit.ir import Node, Value, get_op
from ljit.ir.linear import Atom, Linear
from ljit.ops.containers.iteration import ITER, VIEW_SIZE
from ljit.records import Record

__all__ = ["Bound", "LoopBounds", "loop_bounds"]

_MOST = 2**20  # of a constant that is added


class Bound(Record):
    """A fixed value; or, if that is None, `offset` behind the variable of the loop at this position."""

    value: Value | None
    loop: int = 0
    offset: int = 0


class LoopBounds(Record):
    """Of one loop, whose trip is its variable less `shift`; `first` is that as a value (None: 0)."""

    low: Bound
    high: Bound
    shift: Linear
    first: Value | None

    @property
    def are_fixed(self) -> bool:
        return self.low.value is not None and self.high.value is not None


def loop_bounds(
    loops: Sequence[Node], varying: Container[Value], ranges: Ranges
) -> list[LoopBounds] | None:
    """The bounds of loops within each other; None if they are no such.

    `varying`: what depends on the trips of the loops.
    """
    if not any(value in varying for loop in loops for value in loop.inputs[:2]):
        return [_fixed(loop) for loop in loops]
    nest = _Nest(loops, varying, ranges)
    found: list[LoopBounds] = []
    for loop, atom in zip(loops, nest.atoms, strict=True):
        bounds = nest.bounds(loop)
        if bounds is None:
            return None
        found.append(bounds)
        nest.trips[atom] = Linear.of(atom) - bounds.shift
    return found


class _Nest:
    def __init__(self, loops: Sequence[Node], varying: Container[Value], ranges: Ranges) -> None:
        self.varying, self.ranges = varying, ranges
        trips = (ranges.value(loop.blocks[0].params[0]) for loop in loops)
        self.atoms: list[Atom] = [next(trip.atoms()) for trip in trips]
        self.trips: dict[Atom, Linear] = {}  # of the loops so far, by their variables

    def bounds(self, loop: Node) -> LoopBounds | None:
        start, stop = loop.inputs[:2]
        made = _range_of(stop)
        if made is None or not (start.is_constant and start.constant == 0):
            is_fixed = start not in self.varying and stop not in self.varying
            return _fixed(loop) if is_fixed else None
        first, last, step = (
            self.ranges.item(made.output, i).substitute(self.trips) for i in range(3)
        )
        begin = made.inputs[0] if len(made.inputs) > 1 else None
        low = Bound(start) if begin is None else self._bound(begin, first)
        high = self._bound(made.inputs[min(len(made.inputs) - 1, 1)], last)
        if step != Linear(1) or low is None or high is None:
            return None
        return LoopBounds(low, high, first, begin)

    def _bound(self, value: Value, number: Linear) -> Bound | None:
        if value not in self.varying:
            return Bound(value)
        atoms = list(number.atoms())
        if len(atoms) != 1 or atoms[0] not in self.trips:
            return None
        offset = number - Linear.of(atoms[0])
        if offset.terms or abs(offset.constant) > _MOST:
            return None
        return Bound(None, self.atoms.index(atoms[0]), offset.constant)


def _fixed(loop: Node) -> LoopBounds:
    start, stop = loop.inputs[:2]
    return LoopBounds(Bound(start), Bound(stop), Linear(), None)


def _range_of(size: Value) -> Node | None:
    """What makes the range of which a value is the number of items."""
    node = size.node.inputs[0].node if size.node is not None and size.node.op is VIEW_SIZE else None
    if node is not None and node.op is ITER:
        node = node.inputs[0].node
    return node if node is not None and node.op is get_op("py::range") else None
