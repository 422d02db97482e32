"""The processor time that something takes, without what is timed within it: calls in calls, compiles in calls.

A thread's stretches of time lie in one another, so that one number says how much of the innermost open one went to
those that have ended in it. What ljit itself does is timed apart, and summed up for the process.
"""

from __future__ import annotations

import functools
import threading
import time
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
_AROUND = 10.0
_DELAY = 8  # at most, of a call that is timed
# What a short call is taken to take at first, and how many times longer from one that was timed to the next.
_LEAST, _MORE = 1 / 16, 1.25
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
    """A stretch of time that is a call of a function; what it takes to time it is nobody's, but ljit's own work."""

    __slots__ = ()

    def end(self) -> float:
        seconds, stretch = super().end(), seconds_of_stretch()
        around = _AROUND * stretch
        _thread.within += around
        add_own_work(around)
        return max(seconds - _WITHIN * stretch, 0.0)


def without_delays(seconds: float, before: float) -> float:
    """What a call takes of a function without loops, by one that was timed, and what that was `before`.

    A short one that is timed takes several times as long as those that jump: what it needs has left the caches.
    """
    stretch = seconds_of_stretch()
    if seconds >= _DELAY * stretch:
        return seconds
    return min(seconds, max(before, _LEAST * stretch) * _MORE)


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
