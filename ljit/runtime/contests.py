"""Contests: calls on arrays of which CPython and native code run some by turns, to see which is faster.

Native code of array statements takes a part of NumPy's time nearly always. Where it takes longer, that depends on
sizes, strides and the processor, and no model of costs knows all of them. So the entry of optimised code hands on calls
with arrays of sizes that it was not timed with. Some of these are timed; CPython runs a few of them, for which it gets
a third of the time. If it is clearly faster, another entry leaves calls with arrays of about that size to CPython. Else
the code takes them, and those with larger arrays.

Only code of statements in a row is in contests (`worth.may_lose`). CPython is never faster at loops, and may take a
thousand times as long.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import TYPE_CHECKING

import numpy as np

from ljit.records import Record, made_by
from ljit.runtime.native import MISMATCH, NativeUnit, make_pass_on
from ljit.sizes import ALL_MAGNITUDES

if TYPE_CHECKING:
    from ljit.runtime.executor import ProfilingExecutor
    from ljit.runtime.plans import Plan

__all__ = ["Contest", "most_elements"]

_FEW = 6  # magnitude of elements: of less, the calls of NumPy cost more than its work
_SHARE = 1 / 3  # of native code's time, for what CPython runs
_SHORT_RUNS, _SHORT_RUNS_OF_CLOSE = 5, 12  # of CPython's that show how long it takes
_RUNS = 3  # that are not short; two if native code is clearly faster, and one if it took long
_LEAD = 0.92  # of native code's time, which CPython may take at most to win
_CLEAR, _CLOSE = 1.5, 1.15  # times native code's time
_SURE = 16  # times native code's time, which the interpreter took: it takes more than CPython, and first calls do
_SLOWER = 4.0  # times native code's time, as nothing is known of CPython's
_SECONDS_OF_SHORT_RUN, _SECONDS_OF_LONG_RUN = 1e-3, 0.1
_SECONDS_OF_WAY = 2e-5  # through the executor, about
_LARGER = 4  # magnitudes: arrays that are as much larger need no contest of their own then


class Side(Record, frozen=False):
    """The calls that one of the two has run."""

    runs: int = 0
    total: float = 0.0  # seconds
    fastest: float = math.inf

    def time(self, function: Callable[..., object], values: Iterable[object]) -> object:
        start = time.perf_counter()
        result = function(*values)
        seconds = time.perf_counter() - start
        if result is not MISMATCH:
            self.runs += 1
            self.total += seconds
            self.fastest = min(self.fastest, seconds)
        return result


class Round(Record, frozen=False):
    """The contest for calls whose largest arrays have about as many elements; CPython is taken to need `expected`."""

    native: Side = made_by(factory=Side)
    plain: Side = made_by(factory=Side)
    expected: float | None = None  # seconds

    @property
    def is_plain_due(self) -> bool:
        """Whether CPython is to run the next call: when native code has paid for it; by turns if CPython takes little
        more, or calls are so short that the way to the contest is what costs.
        """
        expected = self.plain.fastest
        if not self.plain.runs:
            expected = min(self.expected or math.inf, _SLOWER * self.native.fastest)
        elif not self.is_clear:
            return self.plain.runs < self.native.runs
        if self.native.fastest < _SECONDS_OF_WAY:
            return self.plain.runs < self.native.runs
        return self.plain.total + expected <= _SHARE * self.native.total

    @property
    def is_over(self) -> bool:
        if not self.plain.runs:
            return self.expected is not None and self.expected > _SURE * self.native.fastest
        if self.plain.fastest < _SECONDS_OF_SHORT_RUN:
            is_close = 1 / _CLEAR < self.plain.fastest / self.native.fastest < _CLOSE
            return self.plain.runs >= (_SHORT_RUNS_OF_CLOSE if is_close else _SHORT_RUNS)
        is_long = self.plain.fastest > _SECONDS_OF_LONG_RUN
        spared = 1 + is_long if self.is_clear else 0
        return self.plain.runs >= _RUNS - spared

    @property
    def is_clear(self) -> bool:
        """Whether native code is faster by far."""
        taken = self.plain.fastest if self.plain.runs else self.expected or 0.0
        return taken > _CLEAR * self.native.fastest

    @property
    def is_lost(self) -> bool:
        """Whether native code is slower."""
        return self.is_over and self.plain.fastest < _LEAD * self.native.fastest


class Contest:
    """The contest of a plan's native code with CPython.

    `expected`: of a run in the interpreter, how many elements the largest array had, and the seconds.
    """

    def __init__(self, unit: NativeUnit, expected: tuple[int, float]) -> None:
        elements, seconds = expected
        self.rounds = {_magnitude(elements): Round(expected=seconds)}
        self._unit = unit
        self._taken = unit.code.magnitudes = (1 << _FEW) - 1

    def call(self, executor: ProfilingExecutor, plan: Plan, values: tuple[object, ...]) -> object:
        """Run a call that the entries have not taken; MISMATCH if native code does not, for another reason."""
        magnitude = _magnitude(most_elements(values))
        found = self.rounds.setdefault(magnitude, Round())
        if found.is_lost:
            return executor.run_plainly(values, {})
        if self._taken >> magnitude & 1:
            return self._unit.call(values)
        if found.is_plain_due:
            result = found.plain.time(executor.fn, values)
        else:
            result = self._time_native(found.native, values)
        if found.is_lost:
            self._leave(executor, plan)
        elif found.is_over:
            self._take(magnitude, magnitude + (_LARGER if found.is_clear else 0))
        return result

    def losses(self) -> Iterator[str]:
        """Say which calls CPython runs, and why."""
        for magnitude, found in sorted(self.rounds.items()):
            if found.is_lost:
                plain, native = found.plain.fastest * 1e6, found.native.fastest * 1e6
                yield (
                    f"  arrays of {1 << magnitude} to {(2 << magnitude) - 1} elements are left to CPython, "
                    f"which took {plain:.1f} us, not {native:.1f}"
                )

    def _time_native(self, side: Side, values: Sequence[object]) -> object:
        code = self._unit.code
        code.magnitudes = ALL_MAGNITUDES
        try:
            return side.time(self._unit.callable, values)
        finally:
            code.magnitudes = self._taken

    def _take(self, first: int, last: int) -> None:
        """Let native code take calls with arrays of these sizes, but for those that were lost."""
        for magnitude in range(first, last + 1):
            if magnitude not in self.rounds or not self.rounds[magnitude].is_lost:
                self._taken |= 1 << magnitude
        self._unit.code.magnitudes = self._taken

    def _leave(self, executor: ProfilingExecutor, plan: Plan) -> None:
        """Leave calls with arrays of the sizes that were lost to CPython."""
        with executor.lock:
            if plan.pass_on is None:
                plan.pass_on = make_pass_on(executor.fn, plan.types)
            lost = [magnitude for magnitude, found in self.rounds.items() if found.is_lost]
            plan.pass_on_calls(sum(1 << magnitude for magnitude in lost))
            executor.link_entries()


def most_elements(values: Iterable[object]) -> int:
    """How many elements the largest array has."""
    return max((x.size for x in values if type(x) is np.ndarray), default=0)


def _magnitude(elements: int) -> int:
    """The binary order of magnitude."""
    return max(elements, 1).bit_length() - 1
