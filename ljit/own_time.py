"""The processor time that something takes, without what is timed within it: calls in calls, compiles in calls.

A thread's stretches of time lie in one another, so that one number says how much of the innermost open one went to
those that have ended in it. What ljit itself does is timed apart, and summed up for the process.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager

__all__ = ["OwnTime", "add_own_work", "seconds_here", "seconds_of_own_work", "timed_apart"]


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
