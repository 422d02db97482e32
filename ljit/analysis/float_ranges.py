"""What floats of a graph are between at one place: `Symbolic.floats`.

A float is what its op says of it (`RangeRules.floats`), within what the conditions say that were passed on the way to
the place (`RangeRules.limits`). What an If gives is looked at case by case, each under its condition: so numbers that a
program clips are known. Of elements and arguments only conditions tell, of what loops carry also what is added up in
them (`float_sums.py`). Cost: a bounded walk over what the float is computed of, each time anew.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Set
from typing import TYPE_CHECKING

import numpy as np

from ljit.analysis.float_sums import CarriedSum, bounds_of_sum, is_carried
from ljit.ir import Node, Value
from ljit.ir.range_rules import FloatBounds, FloatLimit
from ljit.ops.control import GUARD, IF, YIELD
from ljit.ops.ranges.float_bounds import ANYTHING, is_float, joined, met, of_first
from ljit.types import FLOAT, ScalarType, Type, UnionType

if TYPE_CHECKING:
    from ljit.analysis.ranges import Ranges

__all__ = ["FloatRanges"]

_STEPS = 100  # numbers that are looked at for one
_DEPTH = 30

_Limits = dict[Value, FloatBounds]


class FloatRanges:
    """The floats of one graph, and what is known of them now; `s` is what is known of its ints."""

    def __init__(self) -> None:
        self.limits: _Limits = {}  # replaced, never changed
        self.of_all_trips: _Limits = {}  # likewise: those of `limits` that hold wherever the float is
        self._depth = self._steps = 0
        self._unknown: dict[Value, None] = {}
        self._sums: dict[Value, CarriedSum | None] = {}
        self._open: Set[Value] = frozenset()  # names of the sums that are looked at
        self._known: _Limits = {}  # what was found out for the number that is asked for

    def assume(self, limits: Iterable[FloatLimit], *, in_all_trips: bool = False) -> bool:
        """Take for granted that floats are within bounds; False if one cannot be."""
        limits = list(limits)
        if not limits:
            return True
        if in_all_trips:
            self.of_all_trips = {**self.of_all_trips, **dict(limits)}
        known = dict(self.limits)
        for value, bounds in limits:
            for name in _names(value):
                known[name] = met(known.get(name, ANYTHING), bounds)
        self.limits = known
        return not any(_is_nothing(known[value]) for value, _ in limits)

    def bounds(self, s: Ranges, value: Value) -> FloatBounds:
        """Give what a number is between."""
        if not self._depth:
            self._steps, self._unknown, self._known = _STEPS, {}, {}
        if value in self._known:
            return self._known[value]
        limit = self.limits.get(value, ANYTHING)
        if not self._steps or self._depth == _DEPTH:
            self._unknown[value] = None
            return limit
        self._steps -= 1
        self._depth += 1
        found = self._bounds(s, value)
        self._depth -= 1
        if found is None and limit[2]:
            self._unknown[value] = None
        self._known[value] = limit if found is None else met(found, limit)
        return self._known[value]

    def unknown(self, s: Ranges, value: Value) -> list[Value]:
        """The numbers of which a float is made that may be NaN, and of which no more is known."""
        self.bounds(s, value)
        return list(self._unknown)

    def _bounds(self, s: Ranges, value: Value) -> FloatBounds | None:
        """The same by what the number is computed of; None if nothing is said of that."""
        if value.is_constant:
            return _of_constant(value.constant)
        node = value.node
        if s.is_int(value):
            low, high = s.bounds(value)
            if not self._open:
                least, most = s.value(value).bounds()
                low, high = max(low, least), min(high, most)
            return float(low), float(high), False
        if not (is_float(value.type) or isinstance(value.type, UnionType)):
            return None
        if is_carried(value):
            return self._of_carried(s, value)
        if node is None:
            return None
        if node.op is IF:
            return self._of_cases(s, node, value.index)
        if node.op is GUARD:
            return self.bounds(s, node.inputs[0])
        rules = node.op.ranges
        if rules is None or rules.floats is None:
            return None
        return rules.floats(s, node) or ANYTHING

    def _of_carried(self, s: Ranges, value: Value) -> FloatBounds | None:
        """Of a sum, whose terms are those of all trips: what holds here is known of the last ones only."""
        if value not in self._sums:
            self._sums[value] = CarriedSum.of(value)
        found = self._sums[value]
        if found is None or value in self._open:
            return None
        before = self._open, self.limits, self._known
        self._open = self._open | found.names.keys()
        outside = {v: bounds for v, bounds in self.limits.items() if found.is_outside(v)}
        self.limits = self.of_all_trips | outside
        self._known = {}
        first = [self.bounds(s, v) for v in found.first]
        terms = [(sign, self.bounds(s, v)) for sign, v in found.terms]
        self._open, self.limits, self._known = before
        return bounds_of_sum(first, terms) if first else None

    def _of_cases(self, s: Ranges, choice: Node, index: int) -> FloatBounds:
        found = None
        before, known = self.limits, self._known
        for block, holds in zip(choice.blocks, (True, False), strict=True):
            end = block.last
            if end is None or end.op is not YIELD:
                continue
            if self.assume(s.limits(choice.inputs[0], holds=holds)):
                self._known = known if self.limits is before else {}
                given = self.bounds(s, end.inputs[index])
                found = given if found is None else joined(found, given)
            self.limits, self._known = before, known
        return found or ANYTHING


def _names(value: Value) -> Iterator[Value]:
    """A float, and what it is as another type: ``s`` of the two classes that a clipped number may be of."""
    yield value
    while (node := value.node) is not None and node.op.ranges is not None:
        if node.op.ranges.floats is not of_first or not node.inputs:
            return
        value = node.inputs[0]
        if not all(map(_is_double, _members(value.type))):
            return
        yield value


def _members(t: Type) -> Iterable[Type]:
    return t.members if isinstance(t, UnionType) else (t,)


def _is_double(t: Type) -> bool:
    return t == FLOAT or (isinstance(t, ScalarType) and t.dtype == np.float64)


def _is_nothing(bounds: FloatBounds) -> bool:
    low, high, may_be_nan = bounds
    return low > high and not may_be_nan


def _of_constant(constant: object) -> FloatBounds:
    if not isinstance(constant, int | float | np.bool | np.integer | np.float32):
        return ANYTHING
    try:
        number = float(constant)
    except OverflowError:
        return ANYTHING
    return (number, number, False) if number == number else ANYTHING
