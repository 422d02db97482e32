"""Detours: calls that native entries hand on, and that CPython runs whatever their types are.

Where some types of arguments have native code, calls with others come to the executor one by one. To tell their types
takes ten times as long as a small function. Where that led to CPython, as types are too many, not worth a compile yet,
or refused, the next calls that native entries do not take go there at once: as many as came the long way so far, for
some milliseconds at most. Then one is looked at again, and counts for all of them. Where there is no native code any
more, they jump there (`passing.py`).

Calls with keywords or defaults are looked at as long as native code runs some of them that no entry takes.

No detours are there for functions of which any call may take long, since that one may be for native code: an entry
whose code is to be optimised, or whose assumptions fail, hands its calls on as well.
"""

from __future__ import annotations

import time
import types
from collections.abc import Mapping

from ljit.recursion import call_plainly
from ljit.runtime.passing import SECONDS_PASSED, calls_within, pass_calls

__all__ = ["Detours"]


class Detours:
    """How many of the next calls of one function CPython runs without a look at them."""

    __slots__ = ("_arguments", "_came", "_fn", "_left", "_seconds", "_taken", "takes_bound_calls")

    def __init__(self, fn: types.FunctionType, *, are_calls_short: bool) -> None:
        self._fn = fn
        self._arguments = fn.__code__.co_argcount if are_calls_short else -1
        self.takes_bound_calls = are_calls_short  # with keywords or defaults
        self._came = 0  # the long way
        self._left = 0
        self._seconds = 0.0  # for those that are left
        self._taken = 0  # of which nobody knows yet

    def takes(self, args: tuple[object, ...], kwargs: object) -> bool:
        """Whether the call is one of them: not if it is one that the executor binds for native code."""
        if self._left <= 0:
            return False
        return self.takes_bound_calls or (not kwargs and len(args) == self._arguments)

    def note_bound_call(self, *, is_last: bool) -> None:
        """Note that native code ran a call with keywords or defaults; the last one: entries take them from now on."""
        self.takes_bound_calls = is_last and self._arguments >= 0

    def run(self, args: tuple[object, ...], kwargs: Mapping[str, object]) -> object:
        """Let CPython run one of them; one that takes long is the last."""
        start = time.perf_counter()
        try:
            return call_plainly(self._fn, args, kwargs)
        finally:
            self._left -= 1
            self._taken += 1
            self._seconds -= time.perf_counter() - start
            if self._seconds < 0:
                self._left = 0

    def note(self, seconds: float) -> int:
        """Note that a call came the long way to CPython, which took so long; gives the calls since the last one."""
        calls, self._taken = 1 + self._taken, 0
        self._came += 1
        self._left = min(self._came, calls_within(SECONDS_PASSED, seconds))
        self._seconds = SECONDS_PASSED
        return calls

    def pass_on(self, owner: object) -> None:
        """Let them jump to CPython, as there are no native entries that they must come by."""
        if self._arguments >= 0 and self._left:
            pass_calls(owner, self._fn, self._left)
            self._left = 0
