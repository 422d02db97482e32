"""Checks that need not be made, since those of a node that follows at once fail where they would.

    h[int(x) + 1]       # int(x) is the least int64 if x is none, and a sum wraps around: there is no element at either

A check of an index refuses all ints but those near 0 (`RangeRules.refused`): how far a sum that wrapped is from these
depends on how much was added. What stands in between can be done again (`_between`), and does not read the sum: other
sums may be known to fit, which is told LLVM.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from ljit.ir import Node, Value
from ljit.ir.linear import Linear
from ljit.ops.control import SNAPSHOT
from ljit.ops.ranges.int_ranges import MADE_TUPLE

if TYPE_CHECKING:
    from ljit.analysis.ranges import Ranges

__all__ = ["note_refused"]

_Proven = dict[Node, tuple[str, ...]]


def note_refused(s: Ranges, proven: _Proven, node: Node) -> None:
    """Note what `node` refuses: `proven` names the checks of nodes that need not be made."""
    rules = node.op.ranges
    assert rules is not None
    assert rules.refused is not None
    for value, room, checks in rules.refused(s, node):
        if not set(checks).intersection(proven[node]):
            _Refusal(s, proven, node, room).note(value, Linear())


class _Refusal:
    """An int that a node refuses if it is nearer than `room` to the least or the greatest int64."""

    def __init__(self, s: Ranges, proven: _Proven, node: Node, room: Linear) -> None:
        self.s = s
        self.proven = proven
        self.node = node
        self.room = room
        self.sums: list[Node] = []

    def note(self, value: Value, rest: Linear) -> None:
        """Note what makes a value; the int is that and `rest`, which is not too much."""
        source = value.node
        rules = source.op.ranges if source is not None else None
        name = rules.refusal(source) if source and rules and rules.refusal else None
        between = _between(source, self.node) if source is not None and name is not None else None
        if source is None or name is None or between is None:
            return
        known = self.proven[source]
        if not self.s.is_int(source.inputs[0]):  # the least int stands for floats that do not fit
            self.proven[source] = known if name in known else (*known, name)
            return
        for operand in () if known else source.inputs:
            other = self.s.value(value) - self.s.value(operand)
            is_apart = set(other.atoms()).isdisjoint(self.s.value(operand).atoms())
            if is_apart and self._is_little(rest + other) and not self._is_read(value, between):
                self.proven[source] = (name,)
                self.sums.append(source)
                self.note(operand, rest + other)
                return

    def _is_read(self, value: Value, between: Sequence[Node]) -> bool:
        """Whether something else needs a sum in front of its check."""
        readers = (n for n in between if value in n.inputs and n not in self.sums)
        return any(n.op.ranges is not MADE_TUPLE for n in readers)

    def _is_little(self, rest: Linear) -> bool:
        return self.s.proves(self.room - rest) and self.s.proves(self.room + rest)


def _between(earlier: Node, node: Node) -> list[Node] | None:
    """The nodes between two, if a bailout at the second one undoes all that was done since the first one."""
    found = []
    following = earlier.next
    while following is not node:
        if following is None or following.op is SNAPSHOT or following.blocks:
            return None
        if not following.effects.is_repeatable:
            return None
        found.append(following)
        following = following.next
    return None if node.blocks else found
