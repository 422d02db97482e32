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

from ljit.interp import Code, Trace, observed

__all__ = ["interpreted_trips"]


class _Counter(Trace):
    """Counts how often the bodies of loops are begun; `lines` by the pc of their first instruction."""

    def __init__(self, code: Code, trips: Counter[int]) -> None:
        self.trips = trips
        self.lines: dict[int, int] = {}
        for loop in code.loops:
            header = code.pc_of(f"header:{loop.id}")
            where = code.instructions[header].range
            self.lines[header + 1] = where.line if where is not None else 0

    def observe(self, pc: int, _registers: list[object]) -> None:
        if pc in self.lines:
            self.trips[self.lines[pc]] += 1


@contextmanager
def interpreted_trips(function: Any) -> Iterator[Counter[int]]:
    """Count the trips of the loops of a jitted function that start in the interpreter."""
    baseline = function._executor.baseline
    code = baseline.code
    trips: Counter[int] = Counter()
    baseline.code = observed(code, _Counter(code, trips))
    try:
        yield trips
    finally:
        baseline.code = code
