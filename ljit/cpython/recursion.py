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

from ljit.cpython import stack

__all__ = ["activations", "call_plainly", "enter_frame", "is_deep", "leave_frame"]

_FRAMES = 12  # Python frames that one activation takes, callers in the runtime included, at most
_STEP = 16 * _FRAMES  # frames by which CPython's limit is changed
_DEEP = 256  # activations
#: that CPython's limit has to allow behind an activation's own: its handlers run, whatever they raise
_FREE_FRAMES = 16
_C_STACK = 2048  # bytes of C stack that one activation takes (measured: 1350 through a Function)
_DEFAULT_STACK = 8 << 20  # of Linux, for the main thread and others
_UNKNOWN_STACK = 1 << 20  # where the system does not say


class Activations(stack.Room):
    """How many activations of this thread are nested, and by how much the limit is raised for them."""

    depth = 0
    most = 0  # activations that the C stack has room for; 0: not known yet


activations = Activations()


def enter_frame() -> None:
    """Count an activation in; raises RecursionError if there are too many.

    Whoever enters one notes `activations.depth` before it, and sets it again behind it, in front of `leave_frame`: so
    the count is right whatever the handler of a signal has interrupted.
    """
    depth = activations.depth + 1
    if depth * _FRAMES > activations.frames + _STEP:
        _raise_limit(depth)
    activations.depth = depth


def leave_frame() -> None:
    """Lower the limit when enough activations are left."""
    frames = activations.frames
    if activations.depth * _FRAMES < frames:
        stack.set_room(activations, frames - _STEP)


def is_deep() -> bool:
    """Whether so many activations, or frames, are nested that CPython had better run further calls."""
    return activations.depth >= _DEEP or not _has_frames(_FREE_FRAMES)


def _has_frames(count: int) -> bool:
    try:
        _nest(count)
    except RecursionError:
        return False
    return True


def _nest(count: int) -> None:
    if count > 1:
        _nest(count - 1)


def call_plainly(
    fn: Callable[..., object], args: tuple[object, ...], kwargs: Mapping[str, object]
) -> object:
    """Let CPython run a call; recursion through here may go as deep as without ljit."""
    depth = activations.depth
    try:
        enter_frame()
        return fn(*args, **kwargs)
    finally:
        activations.depth = depth
        leave_frame()


def _raise_limit(depth: int) -> None:
    if depth > _most_activations():
        raise RecursionError("maximum recursion depth exceeded")
    if depth > stack.users_limit():
        raise RecursionError("maximum recursion depth exceeded")
    stack.set_room(activations, activations.frames + _STEP)


def _most_activations() -> int:
    """How many activations fit into three quarters of this thread's stack."""
    if activations.most == 0:
        size = threading.stack_size() or _default_stack()
        activations.most = size * 3 // 4 // _C_STACK
    return activations.most


def _default_stack() -> int:
    if resource is None:
        return _UNKNOWN_STACK
    soft, _ = resource.getrlimit(resource.RLIMIT_STACK)
    if soft == resource.RLIM_INFINITY or threading.current_thread() is not threading.main_thread():
        return _DEFAULT_STACK
    return soft
