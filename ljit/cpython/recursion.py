"""How deep functions that ljit runs may call one another: as deep as CPython lets them.

A call that comes to ljit notes what CPython's count of frames was where the program made it (`called_at`,
[frame_count.py](frame_count.py)). Whoever runs users' code for it sets the count so that this code finds what it finds
in CPython, however many frames of ljit's are in between, and sets it back behind that.
What needs frames of its own beside the user's, as the interpreter does, is for calls that are not close to the limit:
CPython runs others.

Each activation also takes C stack, of which a thread has little, however high the limit is: beyond that the answer is
RecursionError as well, never a crash.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Mapping

try:
    import resource
except ImportError:  # not on Windows
    resource = None  # type: ignore[assignment]

from ljit.cpython.frame_count import thread

__all__ = ["FEW_FRAMES", "call_plainly", "check_depth", "is_close_to_limit", "is_deep"]

#: what the interpreter, and its handlers, may take beside the user's frames
FEW_FRAMES = 32
_DEEP = 256  # activations
_C_STACK = 2048  # bytes of C stack that one activation takes (measured: 1350 through a Function)
_DEFAULT_STACK = 8 << 20  # of Linux, for the main thread and others
_UNKNOWN_STACK = 1 << 20  # where the system does not say


def check_depth(depth: int) -> None:
    """Raise RecursionError if the C stack has no room for so many activations."""
    if thread.frames.most == 0:
        thread.frames.most = _most_activations()
    if depth > thread.frames.most:
        raise RecursionError("maximum recursion depth exceeded")


def is_close_to_limit() -> bool:
    """Whether the call that ljit runs was made so deep that only CPython has the frames for it."""
    called_at = thread.frames.called_at
    return called_at is not None and called_at < FEW_FRAMES


def is_deep() -> bool:
    """Whether so many activations are nested that CPython had better run further calls, which takes less stack."""
    return thread.frames.depth >= _DEEP


def call_plainly(
    fn: Callable[..., object], args: tuple[object, ...], kwargs: Mapping[str, object]
) -> object:
    """Let CPython run a call; recursion through here goes as deep as without ljit."""
    frames = thread.frames
    depth, called_at, left = frames.depth, frames.called_at, frames.left
    if depth >= frames.most:
        check_depth(depth + 1)
    granted = 0 if called_at is None else called_at - left.value
    frames.depth = depth + 1
    left.value += granted  # behind all else: there may be no frame left, not even for a comparison
    try:
        return fn(*args, **kwargs)
    finally:
        left.value -= granted
        frames.depth = depth


def _most_activations() -> int:
    """How many activations fit into three quarters of this thread's stack."""
    size = threading.stack_size() or _default_stack()
    return size * 3 // 4 // _C_STACK


def _default_stack() -> int:
    if resource is None:
        return _UNKNOWN_STACK
    soft, _ = resource.getrlimit(resource.RLIMIT_STACK)
    if soft == resource.RLIM_INFINITY or threading.current_thread() is not threading.main_thread():
        return _DEFAULT_STACK
    return soft
