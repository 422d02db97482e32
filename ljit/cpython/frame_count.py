"""How many more frames CPython's recursion limit allows this thread: where it counts them, and what ljit makes of that.

Frames of ljit's own are none of the user's. So what calls users' code from within ljit first sets the count to what it
was where the program called the function ([recursion.py](recursion.py)), and whatever comes into ljit from a user's
frame is granted frames beyond the limit. The limit itself stays, so that depths are what they are in CPython.

The count is changed by one statement without calls: no other thread runs meanwhile, nor the handler of a signal.
"""

from __future__ import annotations

import ctypes
import sys
import threading
import weakref
from functools import cache
from typing import Any

__all__ = ["GRANTED", "ThreadFrames", "recursion_remaining", "thread"]

_THREAD_STATE_WORDS = 64  # i32 words of a thread's state to look at
_OTHER_LIMIT = 997  # by how much it is raised to see what changes
_UNKNOWN = 10**6

_thread_state = ctypes.PYFUNCTYPE(ctypes.c_void_p)(("PyThreadState_Get", ctypes.pythonapi))


@cache
def recursion_remaining() -> int | None:
    """Where a thread's state says (in an i32) how many frames the recursion limit still allows; None: unknown.

    The limit itself stands behind it.
    """
    words = (ctypes.c_int32 * _THREAD_STATE_WORDS).from_address(_thread_state())
    limit = sys.getrecursionlimit()
    other = limit + _OTHER_LIMIT
    try:
        before = list(words)
        sys.setrecursionlimit(other)
        after = list(words)
    finally:
        sys.setrecursionlimit(limit)
    found = [
        k
        for k in range(1, _THREAD_STATE_WORDS - 1)
        if (before[k + 1], after[k + 1], after[k] - before[k]) == (limit, other, _OTHER_LIMIT)
    ]
    return 4 * found[0] if len(found) == 1 else None


#: frames beyond the limit for what ljit does in a call that comes to it, but for compiles; native code knows the number
GRANTED = 64 if recursion_remaining() is not None else 0


class _Word:
    """What stands for a count that is not known: ljit's frames count as all others."""

    value = _UNKNOWN


class ThreadFrames:
    """The count of a thread, `left.value`, and what ljit notes of it.

    `called_at`: what the count was where the program made the call that ljit runs; None: there is none, or nobody
    noted it. `depth`: how many functions run by ljit are nested; `most`: as many as the stack has room for, 0: not
    known yet. `compiling`: frames that are granted for compiles now; `compiler`: the stretch that has them, unless it
    is over.
    """

    __slots__ = ("called_at", "compiler", "compiling", "depth", "left", "most")

    def __init__(self) -> None:
        offset = recursion_remaining()
        self.left: ctypes.c_int32 | _Word = _Word()
        if offset is not None:
            self.left = ctypes.c_int32.from_address(_thread_state() + offset)
        self.called_at: int | None = None
        self.depth = self.most = self.compiling = 0
        self.compiler: weakref.ref[Any] | None = None


class _Thread(threading.local):
    """`frames`: what there is for the thread that asks."""

    def __init__(self) -> None:
        self.frames = ThreadFrames()


thread = _Thread()
