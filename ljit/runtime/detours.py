"""Detours: calls that native entries hand on, and that CPython runs whatever their types are.

Where some types of arguments have native code, calls with others come to the executor one by one. To tell their types
takes ten times as long as a small function. Where that led to CPython, as types are too many, not worth a compile yet,
or refused, the next calls that native entries do not take jump there (`passing.py`): a fourth as many as there were so
far, for some milliseconds at most. Then one is looked at again, and counts for all of them.

Of functions of which any call may take long, fewer do: one with new types is looked at, mostly. Calls with the types of
native code end the detours if its entry does not take them, as it is to be optimised, or as a variable has changed. So
do calls with keywords or defaults that native code runs, as long as no entry binds these.
"""

from __future__ import annotations

import types
from collections.abc import Mapping

from ljit.cpython.recursion import call_plainly
from ljit.runtime.passing import (
    MOST_PASSED,
    MOST_SHORT_ONES,
    SECONDS_PASSED,
    calls_within,
    pass_behind,
    pass_calls,
)
from ljit.runtime.vectorcall import calls_left

__all__ = ["Detours"]

_PART = 4  # of the calls so far, that jump next
_PART_OF_LONG = 32  # where any call may take long; and a fourth as many at most


class Detours:
    """How many of the next calls of one function CPython runs without a look at them."""

    __slots__ = ("_are_short", "_calls", "_fn", "_given", "_most", "_owner", "_part")

    def __init__(self, owner: object, fn: types.FunctionType, *, are_calls_short: bool) -> None:
        self._owner = owner
        self._fn = fn
        self._part = _PART if are_calls_short else _PART_OF_LONG
        self._most = MOST_SHORT_ONES if are_calls_short else MOST_PASSED // 4
        self._are_short = are_calls_short
        self._calls = 0
        self._given = 0

    def go_on(self) -> bool:
        """Whether a call of theirs came the long way, since another thread had looked at its stack."""
        return self._given > 0 and calls_left(self._owner) > 0

    def run(self, args: tuple[object, ...], kwargs: Mapping[str, object]) -> object:
        """Let CPython run it; the next ones jump there."""
        pass_behind(self._owner, self._fn, calls_left(self._owner) - 1)
        return call_plainly(self._fn, args, kwargs)

    def note(self, seconds: float) -> int:
        """Note that a call came the long way to CPython, which took so long; gives the calls since the last one."""
        taken = self._given - max(calls_left(self._owner), 0)
        calls = 1 + max(taken, 0)  # others may have let more calls jump than were given here
        self._calls += calls
        most = min(self._calls // self._part, self._most)
        self._given = min(most, calls_within(SECONDS_PASSED, seconds, are_short=self._are_short))
        pass_behind(self._owner, self._fn, self._given)
        return calls

    def begin_anew(self) -> None:
        """Look at the next calls again."""
        self._calls = self._given = 0
        pass_behind(self._owner, self._fn, 0)

    def pass_on(self) -> None:
        """Let them jump to CPython, as there are no native entries that they must come by."""
        if self._given:
            pass_calls(self._owner, self._fn, self._given)
