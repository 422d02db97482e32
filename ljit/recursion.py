"""How deep interpreted functions may call one another.

CPython counts its own frames, and an interpreted call takes several of them, so that the user's
recursion would end at a fraction of the depth that it has in CPython. So the interpreter counts its
activations itself, against the limit that the user has set (`sys.getrecursionlimit`), and while
activations are nested it raises CPython's limit by what they take. Each one also takes C stack, of
which a thread has little: beyond that the answer is RecursionError as well, never a crash.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Mapping

try:
    import resource
except ImportError:  # not on Windows
    resource = None  # type: ignore[assignment]

from ljit import stack

__all__ = ["call_plainly", "enter_frame", "is_deep", "leave_frame"]

_STEP = 16  # activations between two changes of CPython's limit
_FRAMES = 12  # Python frames that one activation takes, callers in the runtime included, at most
_DEEP = 256  # activations
_C_STACK = 2048  # bytes of C stack that one activation takes (measured: 1350 through a Function)
_DEFAULT_STACK = 8 << 20  # of Linux, for the main thread and others
_UNKNOWN_STACK = 1 << 20  # where the system does not say


class _Depth(threading.local):
    """Per thread: nested activations, and at how many of them the limit has to be raised again."""

    depth = 0
    ceiling = _STEP
    most = 0  # activations that the C stack has room for; 0: not known yet


_state = _Depth()


def enter_frame() -> None:
    """Count an activation in; raises RecursionError if there are too many."""
    depth = _state.depth + 1
    if depth > _state.ceiling:
        _raise_limit(depth)
    _state.depth = depth


def leave_frame() -> None:
    """Count an activation out."""
    depth = _state.depth - 1
    _state.depth = depth
    if depth < _state.ceiling - _STEP:
        _lower_limit()


def is_deep() -> bool:
    """Whether so many activations are nested that CPython had better run further calls, which take less stack there."""
    return _state.depth >= _DEEP


def call_plainly(
    fn: Callable[..., object], args: tuple[object, ...], kwargs: Mapping[str, object]
) -> object:
    """Let CPython run a call; recursion through here may go as deep as without ljit."""
    enter_frame()
    try:
        return fn(*args, **kwargs)
    finally:
        leave_frame()


def _raise_limit(depth: int) -> None:
    if depth > _most_activations():
        raise RecursionError("maximum recursion depth exceeded")
    with stack.lock:
        if depth > stack.users_limit():
            raise RecursionError("maximum recursion depth exceeded")
        stack.change_limit(_STEP * _FRAMES)
    _state.ceiling += _STEP


def _lower_limit() -> None:
    with stack.lock:
        stack.change_limit(-_STEP * _FRAMES)
    _state.ceiling -= _STEP


def _most_activations() -> int:
    """How many activations fit into three quarters of this thread's stack."""
    if _state.most == 0:
        size = threading.stack_size() or _default_stack()
        _state.most = size * 3 // 4 // _C_STACK
    return _state.most


def _default_stack() -> int:
    if resource is None:
        return _UNKNOWN_STACK
    soft, _ = resource.getrlimit(resource.RLIMIT_STACK)
    if soft == resource.RLIM_INFINITY or threading.current_thread() is not threading.main_thread():
        return _DEFAULT_STACK
    return soft
