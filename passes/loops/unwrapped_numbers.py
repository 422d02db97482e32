"""NumPy's integers as they are where they do not wrap, with the tests in front of loops that show it.

    for j in range(size):
        total += a[starts[i] + j]

The index is ``starts[i] + j`` for sure only if `starts[i]` is not far from 0: that is tested in front of the loop, and
then the checks of the index can be, too.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager

from ljit.analysis.limits import limits_of_atoms
from ljit.analysis.proofs import counts_trips
from ljit.analysis.ranges import Ranges
from ljit.ir import Node
from ljit.ir.linear import Atom, Linear
from ljit.ops.ranges import int_bounds
from ljit.passes.loops.predicates import Predicate

__all__ = ["Test", "Unwrapped"]

Test = tuple[int, Predicate]  # and the scope in which what it says holds
FindTests = Callable[[Sequence[Linear]], list[Test] | None]


class Unwrapped:
    """The NumPy integers computed so far that may wrap."""

    def __init__(self, ranges: Ranges) -> None:
        self._ranges = ranges
        self._exact: dict[Atom, Linear] = {}  # what they are if they do not wrap

    def note(self, node: Node, exact: Linear | None) -> None:
        """Remember what the output of a node is if it does not wrap."""
        if exact is not None and self._ranges.value(node.output) != exact:
            (atom,) = self._ranges.value(node.output).atoms()
            self._exact[atom] = exact

    @contextmanager
    def assumed(
        self, find_tests: FindTests, parts: Sequence[Linear], around: Sequence[Linear]
    ) -> Iterator[tuple[list[Linear], list[Test]]]:
        """Assume for a while that no number that has to do with `parts`, and with facts `around` them, wraps.

        `find_tests(goals)` gives the tests that make all goals at least 0, or None.
        Gives the parts without such numbers (none, if nothing was to be assumed) and the tests that show it.
        """
        made: list[Test] = []
        exact: dict[Atom, Linear] = {}
        self._ranges.open()
        for atom in self._atoms([*parts, *around]):
            number = self._exact[atom].substitute(exact)
            found = self._tests_of_fit(find_tests, atom, number)
            if found is not None:
                made += found
                exact[atom] = number
                self._ranges.assume(number - Linear.of(atom))
                self._ranges.assume(Linear.of(atom) - number)
        yield [part.substitute(exact) for part in parts] if exact else [], made
        self._ranges.close()

    def _atoms(self, polynomials: Iterable[Linear]) -> list[Atom]:
        """The numbers that polynomials are made of, in their order."""
        todo, found = [*polynomials], set[Atom]()
        while todo:
            new = {atom for atom in todo.pop().atoms() if atom in self._exact} - found
            found |= new
            todo += [self._exact[atom] for atom in new]
        return [atom for atom in self._exact if atom in found]

    def _tests_of_fit(self, find_tests: FindTests, atom: Atom, exact: Linear) -> list[Test] | None:
        """The tests that show that a number does not wrap; None if there are no such.

        Mostly they say that what it is made of is not far from 0.
        """
        low, high = int_bounds.of_type(atom.value.type)
        made: list[Test] = []
        self._ranges.open()
        for choose in (_limits_of_others, list):
            goals = [x for x in (exact - low, high - exact) if not self._ranges.proves(x)]
            found = find_tests(choose(goals))
            if found is None:
                break
            made += found
            for _, predicate in found:
                self._ranges.assume(predicate.test)
        self._ranges.close()
        return None if found is None else made


def _limits_of_others(goals: Sequence[Linear]) -> list[Linear]:
    """Limits of the atoms that do not count trips: of these loops say more."""
    limits = limits_of_atoms(goals)
    return [x for x in limits if not any(map(counts_trips, x.atoms()))]
