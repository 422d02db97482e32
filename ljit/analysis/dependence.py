"""Which trips of a loop nest depend on each other: direction vectors of accesses to elements of arrays.

An index of an element access is a polynomial (`analysis.ranges`). Where two accesses of the same array have indices
of one axis that are ``c * v + x`` and ``c * v + y``, with `v` the variable of the same loop and ``x - y`` a number,
they meet in trips that are that number by `c` apart. Where the ranges of the indices do not touch, or two
indices without variables differ, they never meet. All else is unknown: any distance is possible.

A dependence is a distance for each loop of the nest, from the outside to the inside: an int, or None for any. An
order of the loops is legal if no two trips that depend on each other change places: each distance that is
lexicographically positive in the program's order is so in the new one.

Reference: Allen, Kennedy, Optimizing Compilers for Modern Architectures, 2001, chapters 2, 3 and 5.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from itertools import product

from ljit.analysis.loop_bounds import Bound, LoopBounds
from ljit.analysis.ranges import Ranges
from ljit.ir import Node, Value
from ljit.ir.linear import Atom, Linear
from ljit.ops.containers.iteration import VIEW_SIZE
from ljit.ops.containers.tuples import TUPLE_CONSTRUCT
from ljit.ops.indexing.index import FROM_START
from ljit.records import Record
from ljit.types import INT, RANGE, ArrayType

__all__ = [
    "Access",
    "Distances",
    "Subscript",
    "Subscripts",
    "distances",
    "indices",
    "is_apart_exactly",
    "is_legal",
]

Distances = tuple[int | None, ...]


class Subscript(Record):
    """An index of one axis: `factors` of the loops' variables (None: it is no such sum) and what is added."""

    factors: tuple[int, ...] | None
    rest: Linear


class Access(Record):
    """A load or store of one element."""

    node: Node
    array: Value
    is_write: bool
    subscripts: tuple[Subscript, ...]


class Subscripts:
    """Indices as sums over the variables of `loops`, a nest with these bounds (`analysis.loop_bounds`)."""

    def __init__(self, loops: Sequence[Node], bounds: Sequence[LoopBounds], ranges: Ranges) -> None:
        self.loops, self.bounds, self.ranges = loops, bounds, ranges
        self.variables = [self._atom(loop.blocks[0].params[0]) for loop in loops]
        self.trips = {
            variable: Linear.of(variable) - found.shift
            for variable, found in zip(self.variables, bounds, strict=True)
        }

    def _atom(self, value: Value) -> Atom:
        (atom,) = self.ranges.value(value).atoms()
        return atom

    def access(self, node: Node, *, is_write: bool) -> Access:
        """The elements that a node of the nest loads or stores."""
        array = node.inputs[0]
        assert isinstance(array.type, ArrayType)
        found = indices(node)
        if len(found) != array.type.ndim:
            return Access(node, array, is_write, (Subscript(None, Linear()),) * array.type.ndim)
        counted = [f"{FROM_START}.{axis}" in node.proven for axis in range(len(found))]
        unknown = Subscript(None, Linear())
        parts = [
            self._subscript(index) if is_counted else unknown
            for index, is_counted in zip(found, counted, strict=True)
        ]
        return Access(node, array, is_write, tuple(parts))

    def _subscript(self, index: Value) -> Subscript:
        whole = self.ranges.value(index).substitute(self.trips)
        factors = tuple(whole.terms.get((variable,), 0) for variable in self.variables)
        own = Linear(0, {(v,): c for v, c in zip(self.variables, factors, strict=True) if c})
        rest = whole - own
        is_outside = not any(atom.value.is_inside(self.loops[0]) for atom in rest.atoms())
        return Subscript(factors if is_outside else None, rest)

    def never_meet(self, a: Subscript, b: Subscript, inner: Collection[int] | None = None) -> bool:
        """Whether two indices are never the same number, in whatever trips.

        `inner`: positions of the loops that may be in other trips; all others are in the same one.
        """
        if a.factors is None or b.factors is None:
            return False
        ends = [[self._end(x, side, inner) for side in (0, 1)] for x in (a, b)]
        gaps = (ends[0][0] - ends[1][1], ends[1][0] - ends[0][1])
        return any(not gap.terms and gap.constant > 0 for gap in gaps)

    def are_apart(self, a: Access, b: Access, inner: Collection[int]) -> bool:
        """Whether accesses to an array are never to one element, if only the loops at `inner` are in other trips."""
        if not isinstance(a.array.type, ArrayType) or a.array.type.layout != "C":
            return False
        pairs = zip(a.subscripts, b.subscripts, strict=True)
        return any(self.never_meet(x, y, inner) for x, y in pairs)

    def _end(self, x: Subscript, side: int, inner: Collection[int] | None) -> Linear:
        """The least (0) or greatest (1) number that an index is, if all loops have trips."""
        assert x.factors is not None
        result = x.rest
        for variable, factor in zip(self.variables, x.factors, strict=True):
            result = result + Linear.of(variable) * factor
        for position in reversed(range(len(self.loops))):
            if inner is not None and position not in inner:
                continue
            factor = result.terms.get((self.variables[position],), 0)
            if factor:
                is_low = (factor > 0) == (side == 0)
                end = self._low(position) if is_low else self._high(position) - 1
                result = result.substitute({self.variables[position]: end})
        return result

    def _low(self, position: int) -> Linear:
        return self._of_others(self.bounds[position].low)

    def _high(self, position: int) -> Linear:
        bounds = self.bounds[position]
        return (
            self._stop(self.loops[position]) if bounds.are_fixed else self._of_others(bounds.high)
        )

    def _of_others(self, bound: Bound) -> Linear:
        if bound.value is not None:
            return self.ranges.value(bound.value)
        return Linear.of(self.variables[bound.loop]) + bound.offset

    def _stop(self, loop: Node) -> Linear:
        """Where a loop that has trips ends; for a range with steps of 1 that is the difference of its bounds."""
        stop = loop.inputs[1]
        if (
            stop.node is not None
            and stop.node.op is VIEW_SIZE
            and stop.node.inputs[0].type == RANGE
        ):
            first, last, step = (self.ranges.item(stop.node.inputs[0], i) for i in range(3))
            if step == Linear(1):
                return last - first
        return self.ranges.value(stop)


def indices(node: Node) -> Sequence[Value]:
    """The indices of an element access, one for each axis; none if they are not known one by one, or no values."""
    if len(node.inputs) == 1:  # places that are known
        return ()
    index = node.inputs[1]
    if (made := index.made_by(TUPLE_CONSTRUCT)) is not None:
        return made.inputs
    return (index,) if index.type == INT else ()


def distances(s: Subscripts, a: Access, b: Access) -> Distances | None:
    """How many trips of each loop lie between accesses to one element of an array; None if there is no such element.

    Of an array whose elements may share memory with each other nothing is known.
    """
    found: list[int | None] = [None] * len(s.loops)
    if not isinstance(a.array.type, ArrayType) or a.array.type.layout != "C":
        return tuple(found)
    for x, y in zip(a.subscripts, b.subscripts, strict=True):
        if s.never_meet(x, y):
            return None
        if x.factors is None or x.factors != y.factors:
            continue
        gap = x.rest - y.rest
        used = [i for i, factor in enumerate(x.factors) if factor]
        if gap.terms or len(used) != 1:
            continue
        (loop,) = used
        steps, left = divmod(gap.constant, x.factors[loop])
        if left or found[loop] not in (None, steps):
            return None
        found[loop] = steps
    for loop, steps in _pinned(s, a, b).items():
        if found[loop] is None:
            found[loop] = steps
    return tuple(found)


def _pinned(s: Subscripts, a: Access, b: Access) -> dict[int, int]:
    """Distances of loops of which both trips are known: where only one of two indices varies, it is the other one.

    So a row and a column (`c[i, j]`, `c[j, i]`) meet at one element, if nothing but `j` varies.
    """
    trips: tuple[dict[int, Linear], dict[int, Linear]] = {}, {}
    for x, y in zip(a.subscripts, b.subscripts, strict=True):
        for known, varying, fixed in ((trips[0], x, y), (trips[1], y, x)):
            if varying.factors is None or fixed.factors is None or any(fixed.factors):
                continue
            used = [i for i, factor in enumerate(varying.factors) if factor]
            if len(used) == 1 and abs(varying.factors[used[0]]) == 1:
                known[used[0]] = (fixed.rest - varying.rest) * varying.factors[used[0]]
    gaps = {loop: trips[1][loop] - trips[0][loop] for loop in trips[0] if loop in trips[1]}
    return {loop: gap.constant for loop, gap in gaps.items() if not gap.terms}


def is_apart_exactly(a: Access, b: Access) -> bool:
    """Whether accesses always meet at the trips that lie between them (`distances`), not only if some values agree."""
    return all(
        x.factors is not None and x.factors == y.factors and not (x.rest - y.rest).terms
        for x, y in zip(a.subscripts, b.subscripts, strict=True)
    )


def is_legal(dependences: Sequence[Distances], order: Sequence[int]) -> bool:
    """Whether the loops may be put in this order: positions in the program's order, from the outside to the inside."""
    return all(
        _sign(signs) == _sign([signs[position] for position in order])
        for distance in dependences
        for signs in _signs(distance)
    )


def _signs(distance: Distances) -> Iterator[Sequence[int]]:
    return product(*((-1, 0, 1) if d is None else ((d > 0) - (d < 0),) for d in distance))


def _sign(signs: Sequence[int]) -> int:
    return next((sign for sign in signs if sign), 0)
