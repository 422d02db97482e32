"""The processor time that something takes, without what is timed within it: calls in calls, compiles in calls.

A thread's stretches of time lie in one another, so that one number says how much of the innermost open one went to
those that have ended in it. What ljit itself does is timed apart, and summed up for the process.
"""

from __future__ import annotations

import functools
import math
import threading
import time
import types
from collections.abc import Iterator
from contextlib import contextmanager

__all__ = [
    "OwnTime",
    "TimeOfCall",
    "add_own_work",
    "seconds_here",
    "seconds_of_own_work",
    "seconds_of_stretch",
    "timed_apart",
    "without_delays",
]

# Of calls that come to Python code to be timed, by what an empty stretch takes: what passes for the call's own time
# (it is two lookups of the time, and the caches are cold), and what is around it (types, binding, entries).
_WITHIN = 1.3
_WITHIN_ON_WALL = 1.5  # of the shortest call so far
_AROUND = 10.0
_DELAY = 8  # at most, of a call that is timed
_NOISE = 2  # likewise: what is as short may as well take nothing
# What a short call is taken to take at first, and how many times longer from one that was timed to the next.
_SECONDS_OF_BYTE = 1.5e-9  # of bytecode, run once
_MORE = 1.25
_STRETCHES = 8  # that are timed, to see what one takes


class _Thread(threading.local):
    within = 0.0  # seconds of the innermost open stretch that belong to others


_thread = _Thread()
_own_work = 0.0  # seconds


class OwnTime:
    """A stretch of time that begins now."""

    __slots__ = ("_around", "_start")

    def __init__(self) -> None:
        self._around = _thread.within
        _thread.within = 0.0
        self._start = time.thread_time()

    def end(self) -> float:
        """Give the seconds that were its own."""
        seconds = time.thread_time() - self._start
        own = seconds - _thread.within
        _thread.within = self._around + seconds
        return own


class TimeOfCall(OwnTime):
    """A stretch of time that is a call of a function; what it takes to time it is nobody's, but ljit's own work.

    To ask for the thread's time takes as long as ten short calls. No call takes longer than on the clock on the wall,
    at which a look takes little; what is around the call takes as long as the shortest one so far.
    """

    __slots__ = ("_begun",)
    _shortest = math.inf

    def __init__(self) -> None:
        super().__init__()
        self._begun = time.perf_counter()

    def end(self) -> float:
        on_wall = time.perf_counter() - self._begun - _thread.within
        seconds, stretch = super().end(), seconds_of_stretch()
        around = _AROUND * stretch
        _thread.within += around
        add_own_work(around)
        TimeOfCall._shortest = min(TimeOfCall._shortest, on_wall)
        delay = _WITHIN * stretch
        on_wall -= min(_WITHIN_ON_WALL * TimeOfCall._shortest, delay)
        return max(min(seconds - delay, on_wall), 0.0)


def without_delays(seconds: float, before: float, code: types.CodeType) -> float:
    """What a call takes of a function without loops, by one that was timed, and what that was `before`.

    A short one that is timed takes several times as long as those that jump: what it needs has left the caches. Of the
    shortest ones the bytecode tells more than a clock.
    """
    stretch, least = seconds_of_stretch(), len(code.co_code) * _SECONDS_OF_BYTE
    if seconds >= _DELAY * stretch:
        return seconds
    if seconds < _NOISE * stretch:
        return min(seconds, least)
    return min(seconds, max(before, least) * _MORE)


@functools.cache
def seconds_of_stretch() -> float:
    """What it takes to time something, at best."""
    seconds = []
    for _ in range(_STRETCHES):
        start = time.thread_time()
        OwnTime().end()
        seconds.append(time.thread_time() - start)
    return min(seconds)


def seconds_here() -> float:
    """A clock of the innermost open stretch: what is timed within it takes no time."""
    return time.thread_time() - _thread.within


@contextmanager
def timed_apart() -> Iterator[None]:
    """Count what happens in it as ljit's own work, and to nothing around it."""
    stretch = OwnTime()
    try:
        yield
    finally:
        add_own_work(stretch.end())


def add_own_work(seconds: float) -> None:
    """Count what ljit took where CPython would have taken nothing. A thread may lose what another adds at once."""
    global _own_work
    _own_work += seconds


def seconds_of_own_work() -> float:
    """What ljit took so far, in this process."""
    return _own_work
