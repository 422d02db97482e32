"""The frames of compiles, which go as deep as the function is nested, however deep the call stands that they are for.

So they do not count, nor do those of imports ([frame_count.py](frame_count.py)).

The handler of a signal may raise between any two calls. So what is kept is how many frames there are for compiles now,
not how many more: what was interrupted is made good by the next one.
"""

from __future__ import annotations

import weakref
from contextlib import AbstractContextManager

from ljit.cpython.frame_count import thread

__all__ = ["compiler_frames"]

#: that a compile may take, imports included: ten for each of 200 blocks in one another
_COMPILER_FRAMES = 3000


def _set_frames(count: int) -> None:
    """Grant this thread so many frames for compiles, or take back what is too many."""
    frames = thread.frames
    more = count - frames.compiling
    frames.compiling = count  # from here to the end no handler runs
    frames.left.value += more


class _CompilerFrames:
    """No generator: the library runs those with builtins that a program may have replaced."""

    __slots__ = ("__weakref__", "_is_outermost")

    def __enter__(self) -> None:
        outermost = thread.frames.compiler
        self._is_outermost = outermost is None or outermost() is None
        if self._is_outermost:
            thread.frames.compiler = weakref.ref(self)
            _set_frames(_COMPILER_FRAMES)

    def __exit__(self, *_: object) -> None:
        if self._is_outermost:
            thread.frames.compiler = None
            _set_frames(0)


def compiler_frames() -> AbstractContextManager[None]:
    """Grant what a compile may take; one within another takes no more."""
    return _CompilerFrames()
