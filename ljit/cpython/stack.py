"""CPython's limit of how deep calls nest, which ljit raises by what its own frames take.

A compile goes as deep as the function is nested, however deep the call stands that it is for: its frames do not count.
Interpreted calls are counted otherwise ([recursion.py](recursion.py)).

The handler of a signal may raise between any two calls. So each purpose says how many frames it has room for now, not
how many more: what was interrupted is made good by the next one.
"""

from __future__ import annotations

import sys
import threading
import weakref
from contextlib import AbstractContextManager

from ljit.cpython.locks import shared_lock

__all__ = ["Room", "compiler_frames", "set_room", "users_limit"]

#: that a compile may take, imports included: ten for each of 200 blocks in one another
_COMPILER_FRAMES = 3000
#: frames below the limit that it takes to lower it: CPython lowers it to none that is reached
_MARGIN = 4

_LIMIT_IS_REACHED = "maximum recursion depth exceeded"  # as CPython says it

_lock = shared_lock()
_raised = 0  # by how much CPython's limit is above the user's at the moment, all threads together


class Room(threading.local):
    """By how many frames a thread has raised the limit for one purpose."""

    frames = 0


class _Compiling(Room):
    """The room for compiles; `outermost`: the stretch that has raised the limit, if it is not over."""

    outermost: weakref.ref[_CompilerFrames] | None = None


_compiling = _Compiling()


def users_limit() -> int:
    """The limit that the user has set."""
    with _lock:
        return sys.getrecursionlimit() - _raised


def set_room(room: Room, frames: int) -> None:
    """Raise or lower CPython's limit until this thread has so many frames for the purpose."""
    global _raised
    with _lock:
        change = frames - room.frames
        limit = sys.getrecursionlimit() + change
        room.frames += change  # from here to the end of the call that follows no handler runs
        _raised += change
        try:
            sys.setrecursionlimit(limit)
        except RecursionError:  # it is reached
            room.frames -= change
            _raised -= change
            raise RecursionError(_LIMIT_IS_REACHED) from None


class _CompilerFrames:
    """No generator: the library runs those with builtins that a program may have replaced."""

    __slots__ = ("__weakref__", "_is_outermost")

    def __enter__(self) -> None:
        outermost = _compiling.outermost
        self._is_outermost = outermost is None or outermost() is None
        if not self._is_outermost:
            return
        with _lock:
            limit = sys.getrecursionlimit()
            try:  # RecursionError if it could not be lowered again
                sys.setrecursionlimit(limit - _MARGIN)
            except RecursionError:
                raise RecursionError(_LIMIT_IS_REACHED) from None
            finally:
                sys.setrecursionlimit(limit)
        _compiling.outermost = weakref.ref(self)
        set_room(_compiling, _COMPILER_FRAMES)

    def __exit__(self, *_: object) -> None:
        if self._is_outermost:
            _compiling.outermost = None
            set_room(_compiling, 0)


def compiler_frames() -> AbstractContextManager[None]:
    """Raise CPython's limit by what a compile may take; one within another takes no more.

    RecursionError if the caller is at the limit.
    """
    return _CompilerFrames()
