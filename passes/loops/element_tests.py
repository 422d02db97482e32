"""Ints that a loop reads again in each trip, as the weights of a filter, are tested in front of it to be near 0.

    for dy in range(3):
        for dx in range(3):                             # no weight is further than 2**20 away from 0
            s += int(image[y + dy, x + dx]) * int(weights[dy, dx])

So neither the product nor the sum is checked. All elements of the array are looked at, if they are few and the loop
writes to other arrays only (`repeated_elements.py`). If one is further away, the interpreter goes on in front of the
loop, and the next compile keeps the checks.

How far a sum gets has to be known before its loop is walked: so the graph is walked again with what was found.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from ljit.analysis.limits import limits_of_atoms
from ljit.analysis.ranges import Ranges
from ljit.ir import Node, Value
from ljit.ir.linear import Atom, Linear
from ljit.passes.loops.float_tests import FloatTests
from ljit.passes.loops.repeated_elements import RepeatedElements

__all__ = ["ElementTests"]

# that sums may grow by in each trip: so how far they get is known of many trips, or of a few hundred
_STEPS = (2**31, 2**52)
_NEAR = (2**20, 2**15)

_Place = tuple[Node, Value]  # a loop, and the array that is looked at in front of it


class ElementTests:
    """What walks over one graph find, which must not change meanwhile."""

    def __init__(self) -> None:
        self._elements = RepeatedElements()
        self._most: dict[Value, int] = {}
        self._wanted: dict[_Place, tuple[Node, int]] = {}
        self.changes = 0  # so often more was found

    def assume(self, s: Ranges) -> None:
        """Let a new walk know how near to 0 elements are."""
        for value, most in self._most.items():
            s.note_limit(value, most)

    def find(self, node: Node, parts: Iterable[Linear], loops: Sequence[Node]) -> None:
        """Look for elements of arrays that have to be near 0, so that the products in what is checked are small."""
        products = [x for x in map(_products_of, parts) if x.terms]
        for step in _STEPS if products and loops else ():
            limits = limits_of_atoms([x + step for x in products], _NEAR)
            atoms = [next(iter(limit.atoms())) for limit in limits]
            tested = [self._tested(atom, loops) for atom in atoms]
            if limits and None not in tested:
                self._want(node, zip(atoms, limits, filter(None, tested), strict=True))
                return

    def _want(self, node: Node, found: Iterable[tuple[Atom, Linear, _Place]]) -> None:
        for atom, limit, place in found:
            most = limit.constant
            self._most[atom.value] = most
            _, least = self._wanted.get(place, (node, most))
            self._wanted[place] = node, min(most, least)
            self.changes += 1

    def _tested(self, atom: Atom, loops: Sequence[Node]) -> _Place | None:
        """The outermost loop of which all trips read the same, and the array, if that is not looked at again and again.

        Else each trip of the loops around would look at an array of which it needs one element.
        """
        around = [loop for loop in loops if atom.value.is_inside(loop)] if not atom.path else []
        arrays = [self._elements.array_of(loop, atom.value) for loop in around]
        for loop, array in zip(around, arrays, strict=True):
            if array is not None:
                return (loop, array) if loop is loops[0] or arrays[-1] is None else None
        return None

    def put_into(self, tests: FloatTests) -> None:
        """Have the arrays tested."""
        for (loop, array), (node, most) in self._wanted.items():
            tests.want(node, loop, array, float(most))


def _products_of(x: Linear) -> Linear:
    """The products in a polynomial."""
    return Linear(0, {atoms: factor for atoms, factor in x.terms.items() if len(atoms) > 1})
