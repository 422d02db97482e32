"""Contests: calls on arrays of which CPython and native code run some by turns, to see which is faster.

Native code of array statements takes a part of NumPy's time nearly always. Where it takes longer, that depends on
sizes, strides and the processor, and no model of costs knows all of them. So the entry hands on calls with arrays of
sizes that it was not timed with, and both sides run some of these. Then the entry knows who is faster: it takes the
calls, or leaves them to CPython.

The longer the two have taken turns, the less has to lie between them: after n runs of each, the contest is over if one
took longer than the other by more than two n-ths, the shortest runs compared. For what disturbs a run, a busy machine
or a cold cache, only makes it longer: the shortest of n has about an n-th of the usual delays. So where native code is
faster, CPython's turns cost no more than a few of its calls. Before the two were compared twice, that is not known:
then native code has to pay.

What was found holds for some time, and for twice as long each time: data may change. Quick code is optimised when the
side that runs the calls had as much time as that takes.

One thread at a time has calls timed; native code runs those of others meanwhile.

Only code of statements in a row is in contests (`worth.may_lose`). CPython is never faster at loops, and may take a
thousand times as long.
"""

from __future__ import annotations

import math
import os
import threading
import time
from collections.abc import Callable, Iterable, Iterator
from typing import TYPE_CHECKING

import numpy as np

from ljit.cpython.frame_count import thread
from ljit.cpython.own_time import seconds_of_own_work
from ljit.records import Record, made_by
from ljit.runtime.native import MISMATCH, NativeUnit

if TYPE_CHECKING:
    from ljit.codegen import ChoiceCell
    from ljit.runtime.executor import ProfilingExecutor
    from ljit.runtime.plans import Plan

__all__ = ["Contest", "most_elements"]

_FEW = 6  # magnitude of elements: of less, the calls of NumPy cost more than its work
_LEAST_RUNS, _MOST_RUNS = 2, 20  # of each side; one of CPython's if it is long
_DELAYS = 2  # of the usual runs, by what those without take
_LEAST_RUNS_OF_LOSER = 5  # of native code that loses: that is the mistake which costs most
_SECONDS_OF_LONG_RUN = 0.1
_SECONDS_OF_LEAVING = 4e-8  # what an entry takes that leaves a call to CPython
# that CPython may take before native code has paid for it: less than a compile takes
_SECONDS_AT_ONCE = 1e-3
_SHARE = 1 / 3  # of native code's time, for what CPython runs then
_SLOWER = 4.0  # times native code's time, as nothing is known of CPython's
_CLEAR = 1.5  # times native code's time, which CPython takes: so it will with larger arrays
_LARGER = 4  # magnitudes: optimised code takes arrays as much larger without a contest then
_SURE = 16  # times native code's time, which a run of CPython's or the interpreter's took: a second costs too much
_SECONDS_OF_VERDICT, _CALLS_OF_VERDICT = 0.1, 1000  # for which it holds at first, whichever is more
_OPTIMISING = 2  # times as long as making quick code takes, about


class Side(Record, frozen=False):
    """The calls that one of the two has run."""

    calls: int = 0
    runs: int = 0  # that count
    total: float = 0.0  # seconds of these
    fastest: float = math.inf

    def time(self, function: Callable[..., object], values: Iterable[object]) -> object:
        """Run a call; one of the first within which ljit works, on a callee, does not count."""
        called_at, left = thread.frames.called_at, thread.frames.left
        granted = called_at - left.value if called_at is not None else 0
        left.value += granted
        own_work, start = seconds_of_own_work(), time.perf_counter()
        try:
            result = function(*values)
            seconds = time.perf_counter() - start
        finally:
            left.value -= granted
        if result is not MISMATCH:
            self.calls += 1
            if self.calls > _MOST_RUNS or seconds_of_own_work() == own_work:
                self.runs += 1
                self.total += seconds
                self.fastest = min(self.fastest, seconds)
        return result


class Round(Record, frozen=False):
    """The contest for calls whose largest arrays have about as many elements; the interpreter needed `expected`."""

    native: Side = made_by(factory=Side)
    plain: Side = made_by(factory=Side)
    expected: float | None = None  # seconds

    @property
    def is_plain_due(self) -> bool:
        """Whether CPython is to run the next call.

        The turns are native, plain, plain, native and so on: so both get their share of arguments that alternate.
        """
        native, plain = self.native, self.plain
        if plain.runs > native.runs or (plain.runs == native.runs and plain.runs % 2 == 0):
            return False
        if plain.runs >= _LEAST_RUNS:
            return True
        expected = plain.fastest
        if not plain.runs:
            expected = min(self.expected or math.inf, _SLOWER * native.fastest)
        return plain.total + expected <= max(_SECONDS_AT_ONCE, _SHARE * native.total)

    @property
    def is_over(self) -> bool:
        native, plain = self.native, self.plain
        taken = plain.fastest if plain.runs else self.expected or 0.0
        if plain.runs < _LEAST_RUNS and taken > _SURE * native.fastest:
            return plain.total + taken > _SECONDS_AT_ONCE
        runs = min(native.runs, plain.runs)
        if not runs or runs >= _MOST_RUNS:
            return runs > 0
        if plain.fastest > native.fastest * (1 + _DELAYS / runs):
            return runs >= _LEAST_RUNS or plain.fastest > _SECONDS_OF_LONG_RUN
        return runs >= _LEAST_RUNS_OF_LOSER and plain.fastest < native.fastest * (
            1 - _DELAYS / runs
        )

    @property
    def is_clear(self) -> bool:
        """Whether native code is faster by far."""
        taken = self.plain.fastest if self.plain.runs else self.expected or 0.0
        return taken > _CLEAR * self.native.fastest

    @property
    def is_lost(self) -> bool:
        """Whether native code is slower than to leave calls to CPython."""
        plain = self.plain.fastest + _SECONDS_OF_LEAVING
        return self.is_over and plain < self.native.fastest * (1 - 1 / _MOST_RUNS)


class Contest:
    """The contest of a plan's native code with CPython, whose runs in the one before count.

    `expected`: of a run in the interpreter, how many elements the largest array had, and the seconds.
    """

    def __init__(
        self,
        unit: NativeUnit,
        choice: ChoiceCell,
        expected: tuple[int, float],
        before: Contest | None = None,
    ) -> None:
        elements, seconds = expected
        rounds = before.rounds.copy() if before is not None else {}
        self.rounds: dict[int, Round] = {k: Round(plain=found.plain) for k, found in rounds.items()}
        self.rounds.setdefault(_magnitude(elements), Round()).expected = seconds
        self.unit = unit
        self._choice = choice
        self._verdicts = 0  # that had their time
        #: the thread whose call is timed, by process: a child has none of its parent's threads
        self._timed: dict[int, int] = {}
        self._begin()

    @staticmethod
    def of(unit: NativeUnit, expected: tuple[int, float], before: Contest | None) -> Contest | None:
        """None: the code has no rival."""
        choice = unit.code.choice
        return Contest(unit, choice, expected, before) if choice is not None else None

    def call(self, executor: ProfilingExecutor, plan: Plan, values: tuple[object, ...]) -> object:
        """Run a call that the entries have not taken; MISMATCH if native code does not, for another reason."""
        own = threading.get_ident()
        if self._timed.setdefault(os.getpid(), own) != own:
            return self.unit.call(values)
        try:
            return self._call(executor, plan, values)
        finally:
            self._timed.pop(os.getpid(), None)

    def _call(self, executor: ProfilingExecutor, plan: Plan, values: tuple[object, ...]) -> object:
        if self._choice.calls <= 0:
            if self.unit.code.is_quick:
                executor.optimize(plan)
                return executor.run_plainly(values, {})
            self._begin_anew()
        magnitude = _magnitude(most_elements(values))
        found = self.rounds.setdefault(magnitude, Round())
        if self._choice.plain >> magnitude & 1:
            return executor.run_plainly(values, {})
        if self._choice.native >> magnitude & 1:
            return self.unit.call(values)
        if found.is_plain_due:
            result = found.plain.time(executor.fn, values)
        else:
            result = found.native.time(self.unit.callable, values)
        if found.is_over:
            self._decide(magnitude, found)
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

    def _begin(self) -> None:
        self._choice.native = (1 << _FEW) - 1
        self._choice.plain = 0
        self._choice.calls = self._choice.ALWAYS

    def _begin_anew(self) -> None:
        """Forget the verdicts."""
        self._verdicts += 1
        self.rounds = {k: Round(expected=found.expected) for k, found in list(self.rounds.items())}
        self._begin()

    def _decide(self, magnitude: int, found: Round) -> None:
        """Let the entry give calls with arrays of about that size, or of larger ones, too, to the side that won."""
        choice = self._choice
        if found.is_lost:
            choice.plain |= 1 << magnitude
        else:
            is_likely = found.is_clear and not self.unit.code.is_quick
            last = magnitude + (_LARGER if is_likely else 0)
            won = sum(1 << k for k in range(magnitude, last + 1))
            choice.native |= won & ~choice.plain
        self._hold(min(found.native.fastest, found.plain.fastest))

    def _hold(self, fastest: float) -> None:
        """Let the verdicts hold for some calls, which take so many seconds each."""
        code = self.unit.code
        if code.is_quick:
            code.stay_quick()  # what it counts is a guess of the time that calls take, which is known now
            calls = int(_OPTIMISING * self.unit.seconds / fastest) + 1
        else:
            calls = max(int(_SECONDS_OF_VERDICT / fastest), _CALLS_OF_VERDICT) << self._verdicts
        self._choice.calls = min(self._choice.calls, calls)


def most_elements(values: Iterable[object]) -> int:
    """How many elements the largest array has."""
    return max((x.size for x in values if type(x) is np.ndarray), default=0)


def _magnitude(elements: int) -> int:
    """The binary order of magnitude."""
    return max(elements, 1).bit_length() - 1
