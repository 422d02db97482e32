"""Loops that have few trips: something in them halves or doubles in each, or a small number falls.

    while n > 0:              while low < high:                        while x:            while j >= 0 and v[j] > t:
        n //= 10                  middle = (low + high) // 2               x &= x - 1          j -= 1
        ...                       low, high = ...                          ...                 ...

A *measure* is a polynomial of what the loop carries. It is at least 1 in each trip that another one follows, and there
at most half of it, or at least twice. So the loop has no more trips than the measure can have bits, and one. Candidates
are what the condition compares, and each variable by itself. Or it falls by a fixed step, is at least 0 in each trip
that another one follows, and known to be small there. A number can lose a bit in as many trips, too (`lost_bits.py`).

What falls by 1 at least and is not small makes as many trips as it was at first, and two: not too many, if a test in
front of the loops around shows that.

`Loop[most_trips]` says what was found of few trips; `Loop[ends_after]` of others. `codegen/loops/watches.py` needs no
polls there. What the loop counts is bounded, and so is what loops around it count in it.
"""

from __future__ import annotations

from collections.abc import Iterable
from enum import Enum, auto
from itertools import takewhile

from ljit.analysis.ranges import Ranges, is_integer
from ljit.ir import Block, Node, Value
from ljit.ir.linear import Linear
from ljit.ops.control import BREAK, IF, LOOP, SNAPSHOT
from ljit.ops.ranges.int_quotients import FLOORDIV
from ljit.records import Record

__all__ = [
    "MANY",
    "Measure",
    "behind_test",
    "falling",
    "goes_on",
    "head_of",
    "measures",
    "most_trips",
    "note_most",
    "remaining",
    "trips_of",
]

MANY = 2**22  # trips of an inner loop that take some milliseconds

_BITS = 64  # of an int
_MOST_BITS = _BITS + 2  # of a difference of two ints
_SMALL = 70  # a number that falls: as many trips as those of loops that lose bits


class Change(Enum):
    """What becomes of a measure from trip to trip."""

    HALVES = auto()
    DOUBLES = auto()
    FALLS = auto()
    FALLS_FAR = auto()


class Measure(Record):
    """What changes in each trip so that there are few."""

    amount: Linear
    change: Change

    def is_kept(self, s: Ranges, following: Linear) -> bool:
        """Whether a trip may end with this amount for the next one."""
        if self.change is Change.FALLS:
            step = self.amount - following
            falls = not step.terms and step.constant > 0
            return falls and s.proves(self.amount) and s.proves(_SMALL - self.amount)
        if self.change is Change.FALLS_FAR:
            return s.proves(self.amount) and s.proves_by_cases(self.amount - following - 1)
        if not self._is_likely(following):
            return False
        doubles = self.change is Change.DOUBLES
        change = following - self.amount * 2 if doubles else self.amount - following * 2
        return s.proves(self.amount - 1) and s.proves_by_cases(change)

    def most_trips(self) -> int | None:
        """How many trips there are at most; None: too many to tell."""
        if self.change is Change.FALLS:
            return _SMALL + 2
        if self.change is Change.FALLS_FAR:
            return None
        bits = self.amount.bounds()[1].bit_length()
        return bits + 1 if bits <= _MOST_BITS else None

    def _is_likely(self, following: Linear) -> bool:
        """Whether it is worth a search for proofs: no fixed step, nor another variable."""
        if self.change is Change.DOUBLES:
            return any(following.terms.get(term, 0) > 1 for term in self.amount.terms)
        is_computed = any(atom.value.node is not None for atom in following.atoms())
        return is_computed and bool((following - self.amount).terms)


def measures(s: Ranges, loop: Node, conditions: Iterable[Linear]) -> list[Measure]:
    """What may be one of an innermost loop; `conditions` are at least 0 where its body goes on."""
    is_known = "most_trips" in loop.attrs or "ends_after" in loop.attrs
    if is_known or any(node.op is LOOP for node in loop.blocks[0].walk()):
        return []
    variables = [s.value(p) for p in loop.blocks[0].params[1:] if is_integer(p.type)]
    compared = list(conditions)
    halving = dict.fromkeys([*(condition + 1 for condition in compared), *variables])
    found = [Measure(x, Change.HALVES) for x in halving]
    found += [Measure(x, Change.DOUBLES) for x in variables]
    multiplied = (_multiplied_out(s, x, loop) for x in compared)
    steady = [x for x in multiplied if _is_of_variables(x, loop)]
    found += [Measure(x, change) for x in steady for change in (Change.FALLS, Change.FALLS_FAR)]
    return [m for m in found if m.amount.terms]


def _multiplied_out(s: Ranges, amount: Linear, loop: Node) -> Linear:
    """What is at least 0 where an amount is, without a quotient by a constant that the loop computes."""
    for atom in amount.atoms():
        node, factor = atom.value.node, amount.cofactor(atom)
        if node is None or node.op.ranges is not FLOORDIV or factor is None or factor.terms:
            continue
        divisor = s.value(node.inputs[1])
        if atom.value.is_inside(loop) and not divisor.terms and divisor.constant > 0:
            most = s.value(node.inputs[0])  # of ``quotient * divisor``; the least of it is less
            bound = most if factor.constant > 0 else most - (divisor.constant - 1)
            rest = amount - factor * Linear.of(atom)
            return rest * divisor + bound * factor
    return amount


def _is_of_variables(amount: Linear, loop: Node) -> bool:
    """Whether nothing in an amount changes in the loop but variables that it carries."""
    carried = loop.blocks[0].params[1:]
    return all(a.value in carried or not a.value.is_inside(loop) for a in amount.atoms())


def remaining(s: Ranges, loop: Node, found: Iterable[Measure], end: Node) -> list[Measure]:
    """Those that are measures of the trips with this end."""
    following = {
        atom: s.value(value)
        for param, value in zip(loop.blocks[0].params[1:], end.inputs, strict=True)
        if is_integer(param.type)
        for atom in s.value(param).atoms()
    }
    return [m for m in found if m.is_kept(s, m.amount.substitute(following))]


def trips_of(found: Iterable[Measure]) -> int | None:
    """How many trips the loop has at most; None: it has no measure."""
    limits = [m.most_trips() for m in found]
    return min((most for most in limits if most is not None), default=None)


def most_trips(loop: Node) -> int | None:
    """How many trips a loop has at most, by what was found before; None if nothing was."""
    found = (loop.attrs.get(name) for name in ("most_trips", "ends_after"))
    return min((most for most in found if isinstance(most, int)), default=None)


def behind_test(s: Ranges, loop: Node) -> list[Linear]:
    """What is at least 0 where the body of a ``while`` goes on behind its first test."""
    test = first_test(loop)
    if test is None:
        return []
    condition, holds = goes_on(test)
    return list(s.implied(condition, holds=holds))


def note_most(loop: Node, most: int) -> bool:
    """Say how many trips a loop has at most; whether that is new."""
    is_new = loop.attrs.get("most_trips") != most
    loop.attrs["most_trips"] = most
    return is_new


def falling(found: Iterable[Measure]) -> list[Linear]:
    """What falls in each trip, and may have far to go."""
    return [m.amount for m in found if m.change is Change.FALLS_FAR]


# -- the test of a while -----------------------------------------------------------------------------


def first_test(loop: Node) -> Node | None:
    """The first If of a loop's body of which one block does nothing but leave the loop."""
    return next(
        (n for n in loop.blocks[0] if n.op is IF and sum(map(_leaves, n.blocks)) == 1), None
    )


def head_of(loop: Node) -> Node | None:
    """That If, if the body begins with it: what has checks of its own stands behind it."""
    test = first_test(loop)
    in_front = takewhile(lambda node: node is not test, loop.blocks[0])
    return test if all(map(_is_quiet, in_front)) else None


def _leaves(block: Block) -> bool:
    return block.last is block.first and block.last is not None and block.last.op is BREAK


def goes_on(test: Node) -> tuple[Value, bool]:
    """The condition of such an If, and what it is where the body goes on."""
    return test.inputs[0], _leaves(test.blocks[1])


def _is_quiet(node: Node) -> bool:
    """Whether a node may stand in front of the test of a ``while``."""
    return node.op is SNAPSHOT or (not node.blocks and node.effects.is_removable)
