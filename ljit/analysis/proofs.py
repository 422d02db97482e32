"""Proofs that a polynomial is at least 0, by the facts about its atoms that hold now.

A proof is a sum of facts, each times something that is not negative, that gives the wanted polynomial less a part whose
bounds already show that it is not negative. The search takes out one atom after the other, the youngest first. It is
breadth first, since most proofs have few facts, and bounded, more narrowly in large graphs. So it may fail to prove
what is true, and never proves what is false. Sums are made one by one, as most searches end with the first ones.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable, Iterator

from ljit.ir.linear import Atom, Linear, weakest
from ljit.ops.control import LOOP
from ljit.types import INT_MAX, INT_MIN

__all__ = ["Proofs", "counts_trips"]

#: polynomials without an atom of a polynomial that show, where they are at least 0, that it is
Elimination = Callable[[Linear, Atom], Iterator[Linear]]
_DEPTH = 6  # atoms that a proof takes out one after the other
_STEPS = 20  # polynomials that a proof looks at
_ALL_STEPS = 5_000  # that all proofs of a graph look at; each of those behind looks at few
_FEW_STEPS = 6
_FACTS = 20  # about an atom that each of these steps looks at
# Sizes and bounds of loops are not larger: what an int32 can be at most is no size to ask an array for.
_ORDINARY = 2**30
_ORDINARY_SIZE = 4  # sizes are not less


class Proofs:
    """The searches of one graph."""

    def __init__(self) -> None:
        self.steps = 0  # of all so far

    def finds(self, goal: Linear) -> bool:
        """Whether there is a proof of a polynomial whose bounds are none."""
        sums = self._simpler(goal, _is_any, _by_young_facts, _is_out_of_reach)
        return any(low >= 0 for _, low, _ in sums)

    def least_without(self, goal: Linear, is_gone: Callable[[Atom], bool]) -> Linear | None:
        """Give a polynomial without certain atoms that, where it is at least 0, shows that `goal` is.

        One that is less than 0 where all arrays are equally large is given only if there is no other.
        """

        def accepts(x: Linear) -> bool:
            return not any(map(is_gone, x.atoms())) and _is_plausible(x)

        def is_hopeless(x: Linear) -> bool:
            return x.degree == 1 and any(
                is_gone(atom) and not _has_limit(atom, factor)
                for (atom,), factor in x.terms.items()
            )

        if accepts(goal):
            return goal
        unlikely = None
        for found, _, x in self._simpler(goal, is_gone, _by_old_facts, is_hopeless):
            if not accepts(found):
                continue
            best = weakest(found, _without_one(x, is_gone, _by_old_facts))
            if not _needs_other_sizes(best):
                return best
            unlikely = unlikely or best
        return unlikely

    def _simpler(
        self,
        goal: Linear,
        may_go: Callable[[Atom], bool],
        eliminate: Elimination,
        is_hopeless: Callable[[Linear], bool],
    ) -> Iterator[tuple[Linear, int, Linear]]:
        """The polynomials that show that `goal` is at least 0, with their least value and what they are made of."""
        steps = _STEPS if self.steps < _ALL_STEPS else _FEW_STEPS
        seen, todo = {goal}, deque([(goal, _DEPTH)])
        while todo and steps:
            x, depth = todo.popleft()
            if is_hopeless(x):
                continue
            steps -= 1
            self.steps += 1
            for simpler in _without_one(x, may_go, eliminate):
                low, high = simpler.bounds()
                if high < 0:  # and so are all that are simpler
                    continue
                yield simpler, low, x
                if depth > 1:
                    before = len(seen)
                    seen.add(simpler)  # to ask first would take another hash
                    if len(seen) > before:
                        todo.append((simpler, depth - 1))


def _is_any(_atom: Atom) -> bool:
    return True


def _without_one(
    x: Linear, may_go: Callable[[Atom], bool], eliminate: Elimination
) -> Iterator[Linear]:
    for atom in x.atoms():
        if may_go(atom):
            yield from eliminate(x, atom)


def _is_plausible(x: Linear) -> bool:
    """Whether ordinary numbers make the polynomial at least 0."""
    most = x.constant
    for monomial, factor in x.terms.items():
        corners = [1]
        for atom in monomial:
            least = _ORDINARY_SIZE if atom.path[:1] == ("size",) else -_ORDINARY
            ends = max(atom.low, least), min(atom.high, _ORDINARY)
            corners = [c * end for c in corners for end in ends]
        most += max(factor * c for c in corners)
    return most >= 0


def _needs_other_sizes(x: Linear) -> bool:
    """Whether the polynomial is less than 0 where all sizes are equal, whatever these are."""
    is_of_sizes = all(len(m) == 1 and m[0].path[:1] == ("size",) for m in x.terms)
    return is_of_sizes and x.constant < 0 and not sum(x.terms.values())


def _is_out_of_reach(x: Linear) -> bool:
    """Whether a sum is less than 0 at best: an atom that no fact limits counts with the worse of its bounds."""
    most = x.constant
    for monomial, factor in x.terms.items():
        if len(monomial) > 1:
            return False
        (atom,) = monomial
        is_better_low = (factor < 0) == _has_fact(atom, factor)
        most += factor * (atom.low if is_better_low else atom.high)
    return most < 0


def _has_fact(atom: Atom, factor: int) -> bool:
    """Whether a fact can take the place of the atom in a sum where it has this factor."""
    return bool(atom.facts) and any(own * factor > 0 for own, _ in atom.facts)


def _has_limit(atom: Atom, factor: int) -> bool:
    """The same of a fact or a bound."""
    is_bound = atom.low > INT_MIN if factor > 0 else atom.high < INT_MAX
    return is_bound or _has_fact(atom, factor)


def _by_young_facts(x: Linear, atom: Atom) -> Iterator[Linear]:
    """What was learnt last comes first: mostly it is about what is asked."""
    return _without(x, atom, reversed(atom.facts))


def _by_old_facts(x: Linear, atom: Atom) -> Iterator[Linear]:
    """Bounds of loops say more than the checks in them; where a loop starts is older than all facts."""
    return _without(x, atom, atom.facts, is_low_first=counts_trips(atom))


def _without(
    x: Linear, atom: Atom, facts: Iterable[tuple[int, Linear]], *, is_low_first: bool = False
) -> Iterator[Linear]:
    """Use the facts about `atom`, one after the other, and its bounds behind them, or its least value first.

    What is not below 0 times n, or n - 1 less than that at most, is not below 0: it is an int.
    """
    factor = x.cofactor(atom)
    if factor is None:
        return
    low, high = factor.bounds() if factor.terms else (factor.constant, factor.constant)
    if low < 0 < high:
        return
    sign = 1 if low >= 0 else -1
    size = factor * sign
    is_number, number = not size.terms, size.constant
    if sign > 0 and is_low_first:
        yield x - size * (Linear.of(atom) - atom.low)
    left = _FACTS
    for own, fact in facts:
        if own * sign < 0:
            continue
        if not left:
            break
        left -= 1
        times = own * sign
        simpler = x.less(number, fact, times) if is_number else x * times - size * fact
        yield (simpler if times == 1 else simpler + (times - 1)).reduced()
    if sign > 0 and atom.low > INT_MIN:
        yield x - size * (Linear.of(atom) - atom.low)
    if sign < 0 and atom.high < INT_MAX:
        yield x - size * (atom.high - Linear.of(atom))


def counts_trips(atom: Atom) -> bool:
    """Whether it is the index of a loop's trips, from where the loop starts."""
    owner = atom.value.block.owner
    return (
        atom.low > INT_MIN
        and owner is not None
        and owner.op is LOOP
        and atom.value is owner.blocks[0].params[0]
        and not atom.path
    )
