"""CPython's limit of how deep calls nest, which ljit raises by what its own frames take.

A compile goes as deep as the function is nested, however deep the call stands that it is for: its frames do not count.
Interpreted calls are counted otherwise ([recursion.py](recursion.py)).
"""

from __future__ import annotations

import sys
import threading
from contextlib import AbstractContextManager

from ljit.locks import shared_lock

__all__ = ["change_limit", "compiler_frames", "lock", "users_limit"]

_COMPILER_FRAMES = 1000  # that a compile may take, imports included: CPython's usual limit
#: frames below the limit that it takes to lower it: CPython lowers it to none that is reached
_MARGIN = 8

lock = shared_lock()
_raised = 0  # by how much CPython's limit is above the user's at the moment, all threads together


class _Compiling(threading.local):
    """Whether this thread compiles."""

    is_on = False


_compiling = _Compiling()


def users_limit() -> int:
    """The limit that the user has set."""
    return sys.getrecursionlimit() - _raised


def change_limit(frames: int) -> None:
    """Raise or lower CPython's limit; the caller holds the lock."""
    global _raised
    sys.setrecursionlimit(sys.getrecursionlimit() + frames)
    _raised += frames


class _CompilerFrames:
    """No generator: the library runs those with builtins that a program may have replaced."""

    __slots__ = ("_is_outermost",)

    def __enter__(self) -> None:
        self._is_outermost = not _compiling.is_on
        if not self._is_outermost:
            return
        with lock:
            limit = sys.getrecursionlimit()
            # RecursionError if it could not be lowered again
            sys.setrecursionlimit(limit - _MARGIN)
            sys.setrecursionlimit(limit)
            change_limit(_COMPILER_FRAMES)
        _compiling.is_on = True

    def __exit__(self, *_: object) -> None:
        if self._is_outermost:
            _compiling.is_on = False
            with lock:
                change_limit(-_COMPILER_FRAMES)


def compiler_frames() -> AbstractContextManager[None]:
    """Raise CPython's limit by what a compile may take; one within another takes no more.

    RecursionError if the caller is at the limit.
    """
    return _CompilerFrames()
