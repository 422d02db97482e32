"""Count the trips of loops that the interpreter runs: all others are run by native code.

    with interpreted_trips(function) as trips:
        function(10**6)
    assert trips.total() < 10_000

`trips` is a Counter by the line of the loop in the source.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from ljit.interp import Code

__all__ = ["interpreted_trips"]


class _CountedStretch(tuple[Any, ...]):
    """The instructions at the start of a loop's body: the machine iterates over them once a trip."""

    trips: Counter[int]
    line: int

    def __iter__(self) -> Iterator[Any]:
        self.trips[self.line] += 1
        return super().__iter__()


@contextmanager
def interpreted_trips(function: Any) -> Iterator[Counter[int]]:
    """Count the trips of the loops of a jitted function that start in the interpreter."""
    baseline = function._executor.baseline
    code = baseline.code
    trips: Counter[int] = Counter()
    baseline.code = _counting(code, trips)
    try:
        yield trips
    finally:
        baseline.code = code


def _counting(code: Code, trips: Counter[int]) -> Code:
    segments = list(code.segments)
    for loop in code.loops:
        header = code.pc_of(f"header:{loop.id}")
        where, stretch = code.ranges[header], segments[header + 1]
        assert stretch is not None, "the body of a loop is jumped to"
        counted = _CountedStretch(stretch)
        counted.trips, counted.line = trips, where.line if where is not None else 0
        segments[header + 1] = counted
    return code.with_changes(segments=tuple(segments))
