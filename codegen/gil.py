"""What long loops ask of CPython: has a signal come, does another thread wait for the GIL; and giving it up meanwhile.

A loop without loops around it, in which no Python object is known to be touched, has a *state* of three words: the
address of the flag that it looks at, the thread's state while the GIL is released (null: it is held), and whether it
may be released at all. While the GIL is held the flag is CPython's own ``eval_breaker``, set when its interpreter
would have to stop. While it is released that one is about other threads; then the flag is the one that says that a
signal has come in the main thread, which handles signals, and in others one that is never set.

    release_gil(state)     let other threads run
    regain_gil(state)      wait for the GIL, if it is not held
    attend(state) -> i32   the flag is set: GO_ON, LEAVE for the interpreter, or ERROR: a Python error is set
    attend_held() -> i32   the same where the GIL is held all the time

`attend` gives up the GIL, for as long as the loop runs, if another thread waits for it. Where that must not be, the
loop leaves for the interpreter once a thread has waited for some milliseconds; the thread has run then. The
handlers of signals run in here, so that an exception of theirs has the line of the loop.
"""

from __future__ import annotations

import ctypes
import sys
from collections.abc import Callable
from functools import cache

import numpy as np

from ljit.codegen.builder import Ref, address
from ljit.records import Record

__all__ = ["ERROR", "GO_ON", "LEAVE", "SUPPORT_NAMES", "Flags", "flags", "support_text"]

GO_ON, LEAVE, ERROR = 0, 1, 2
SUPPORT_NAMES = ("release_gil", "regain_gil", "attend", "attend_held")


class Flags(Record):
    """CPython's flags, each an i32."""

    requests: Ref  # its interpreter has to stop
    drop: Ref  # as another thread waits for the GIL
    signals: Ref  # as a signal has come


_never = ctypes.c_int32(0)
NEVER = address(ctypes.addressof(_never))
_STATE_BYTES = 2000  # of CPython's state to look through


@cache
def flags() -> Flags:
    """Find CPython's flags; of an unknown version, words that are never set: then nothing interrupts a loop."""
    if sys.version_info[:2] == (3, 11):
        requests, signals = _find_requests(), _find_signals()
        if requests is not None and signals is not None:
            return Flags(address(requests), address(requests + 4), address(signals))
    return Flags(NEVER, NEVER, NEVER)


def _find_requests() -> int | None:
    """In an interpreter's state ``eval_breaker`` and ``gil_drop_request`` follow the recursion limit."""
    get = ctypes.pythonapi.PyInterpreterState_Get
    get.restype = ctypes.c_void_p
    limit = sys.getrecursionlimit()
    found = _find(get(), np.int32, (limit, limit + 997), sys.setrecursionlimit)
    return found + 4 if found is not None else None


def _find_signals() -> int | None:
    """In CPython's state ``signals_pending`` stands in front of the GIL's, which begins with the switch interval."""
    runtime = ctypes.addressof(ctypes.c_char.in_dll(ctypes.pythonapi, "_PyRuntime"))
    interval = round(sys.getswitchinterval() * 1e6)

    def set_interval(microseconds: int) -> None:
        sys.setswitchinterval((microseconds + 0.5) * 1e-6)  # CPython rounds down

    found = _find(runtime, np.uint64, (interval, interval + 997), set_interval)
    return found - 8 if found is not None else None


def _find(
    base: int, kind: type[np.generic], values: tuple[int, int], set_value: Callable[[int], None]
) -> int | None:
    """The only address behind `base` that holds what was set; the first value is set at the end."""
    held = []
    for value in reversed(values):
        set_value(value)
        words = np.frombuffer(ctypes.string_at(base, _STATE_BYTES), kind)
        held.append(words == value)
    (found,) = np.nonzero(held[0] & held[1])
    return base + int(found[0]) * np.dtype(kind).itemsize if len(found) == 1 else None


_SUPPORT = """
declare ptr @PyEval_SaveThread()
declare void @PyEval_RestoreThread(ptr)
declare i32 @PyErr_CheckSignals()
declare i32 @_PyOS_IsMainThread()
declare i32 @clock_gettime(i32, ptr)

define void @release_gil(ptr %state) {
  %is.main = call i32 @_PyOS_IsMainThread()
  %other = icmp eq i32 %is.main, 0
  %flag = select i1 %other, ptr NEVER, ptr SIGNALS
  store ptr %flag, ptr %state
  %saved = call ptr @PyEval_SaveThread()
  %place = getelementptr ptr, ptr %state, i64 1
  store ptr %saved, ptr %place
  ret void
}

define void @regain_gil(ptr %state) {
  %place = getelementptr ptr, ptr %state, i64 1
  %saved = load ptr, ptr %place
  %is.held = icmp eq ptr %saved, null
  br i1 %is.held, label %done, label %wait
wait:
  call void @PyEval_RestoreThread(ptr %saved)
  store ptr null, ptr %place
  store ptr REQUESTS, ptr %state
  br label %done
done:
  ret void
}

define i32 @attend(ptr %state) {
  %place = getelementptr ptr, ptr %state, i64 1
  %saved = load ptr, ptr %place
  %is.held = icmp eq ptr %saved, null
  br i1 %is.held, label %held, label %free
free:
  call void @regain_gil(ptr %state)
  %handled = call i32 @handle_signals()
  ret i32 %handled
held:
  %third = getelementptr ptr, ptr %state, i64 2
  %may.be = load i64, ptr %third
  %may.release = icmp ne i64 %may.be, 0
  %drop = load volatile i32, ptr DROP
  %is.wanted = icmp ne i32 %drop, 0
  %release = and i1 %may.release, %is.wanted
  br i1 %release, label %give, label %keep
give:
  call void @release_gil(ptr %state)
  ret i32 GO_ON
keep:
  %result = call i32 @attend_held()
  ret i32 %result
}

@asked.at = internal global i64 0
define i32 @attend_held() {
  %time = alloca [2 x i64], align 8
  %signals = load volatile i32, ptr SIGNALS
  %drop = load volatile i32, ptr DROP
  %no.signal = icmp eq i32 %signals, 0
  %is.wanted = icmp ne i32 %drop, 0
  %can.wait = and i1 %no.signal, %is.wanted
  br i1 %can.wait, label %measure, label %handle
handle:
  %handled = call i32 @handle_signals()
  ret i32 %handled
measure:
  %ignored = call i32 @clock_gettime(i32 1, ptr %time)
  %seconds = load i64, ptr %time
  %second = getelementptr i64, ptr %time, i64 1
  %rest = load i64, ptr %second
  %whole = mul i64 %seconds, 1000000000
  %now = add i64 %whole, %rest
  %asked = load i64, ptr @asked.at
  %since = sub i64 %now, %asked
  %is.old = icmp sgt i64 %since, 50000000
  br i1 %is.old, label %note, label %compare
note:
  store i64 %now, ptr @asked.at
  ret i32 GO_ON
compare:
  %is.long = icmp sgt i64 %since, 5000000
  br i1 %is.long, label %leave, label %wait
wait:
  ret i32 GO_ON
leave:
  store i64 0, ptr @asked.at
  %saved = call ptr @PyEval_SaveThread()
  call void @PyEval_RestoreThread(ptr %saved)
  %then = call i32 @handle_signals()
  ret i32 %then
}

define internal i32 @handle_signals() {
  %status = call i32 @PyErr_CheckSignals()
  %failed = icmp slt i32 %status, 0
  %result = select i1 %failed, i32 ERROR, i32 LEAVE
  ret i32 %result
}
"""


def support_text() -> str:
    """The functions listed above, as IR."""
    found = flags()
    words = {
        "NEVER": NEVER,
        "SIGNALS": found.signals,
        "REQUESTS": found.requests,
        "DROP": found.drop,
    }
    words |= {"GO_ON": GO_ON, "LEAVE": LEAVE, "ERROR": ERROR}  # type: ignore[dict-item]
    text = _SUPPORT
    for name, value in words.items():
        text = text.replace(name, str(value))
    return text
