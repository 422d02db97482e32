"""Handlers of signals that wait until code has ended that nothing may come into.

CPython runs them in the main thread, behind almost any call of anybody's code, and they may raise. llvmlite is not
written for that: it frees a second time what it was freeing then, or keeps the lock that all its functions take. So
handlers wait while LLVM works: signals are noted, and what their handlers raise is raised behind it. It is not for
work that takes long: Ctrl-C waits with the others.
"""

from __future__ import annotations

import _signal  # type: ignore[import-not-found]  # what `signal` is made of
import os
import signal
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import FrameType
from typing import Any

__all__ = ["handlers_wait"]

_SIGNALS = tuple(signal.valid_signals())


@contextmanager
def handlers_wait() -> Iterator[None]:
    """Let the handlers of signals that come meanwhile run behind it.

    Threads that are given exceptions (`PyThreadState_SetAsyncExc`) get them at once.
    """
    waiting = _Waiting()
    try:
        waiting.begin()
        yield
    finally:
        waiting.end()


class _Waiting:
    """What stands in the place of all handlers."""

    def __init__(self) -> None:
        # of 64 signals `signal.getsignal` would make members of enums, a fifth of a millisecond in each compile
        handlers = {number: _signal.getsignal(number) for number in _SIGNALS}
        self._handlers: dict[int, Callable[[int, FrameType | None], Any]] = {
            number: handler for number, handler in handlers.items() if callable(handler)
        }
        self._came: list[int] = []
        self._process = os.getpid()
        self._is_over = False

    def __call__(self, number: int, frame: FrameType | None) -> None:
        """Note a signal. In a process that another thread has forked meanwhile nobody would come back to it."""
        if self._is_over or os.getpid() != self._process:
            self._handlers[number](number, frame)
        elif number not in self._came:
            self._came.append(number)

    def begin(self) -> None:
        """Take the place of the handlers."""
        for number in self._handlers:
            try:
                signal.signal(number, self)
            except ValueError:  # this is not the thread that runs them
                return

    def end(self) -> None:
        """Give it back where nobody has taken it meanwhile, and run the handlers of what has come."""
        try:
            for number, handler in self._handlers.items():
                if signal.getsignal(number) is self:
                    signal.signal(number, handler)
        finally:  # handlers that have their place again may raise at once
            self._is_over = True
            self._run()

    def _run(self) -> None:
        if self._came:
            number = self._came.pop(0)
            try:
                self._handlers[number](number, sys._getframe())
            finally:
                self._run()
