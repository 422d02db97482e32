"""What long loops ask of CPython: has a signal come, does another thread wait for the GIL; and giving it up meanwhile.

A loop without loops around it, in which no Python object is known to be touched, has a *state* of three words: the
address of the flag that it looks at, the thread's state while the GIL is released (null: it is held), and whether it
may be released at all. While the GIL is held the flag is CPython's own ``eval_breaker``, set when its interpreter
would have to stop. While it is released that one is about other threads; then the flag is the one that says that a
signal has come in the main thread, which handles signals, and in others one that is never set. From CPython 3.13 on
each thread has a flag of its own, which is about that thread alone; it is looked at all the time.

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
from string import Template
from typing import cast

import numpy as np

from ljit.codegen.llvm.builder import Ref, address
from ljit.records import Record

__all__ = ["ERROR", "GO_ON", "LEAVE", "SUPPORT_NAMES", "Flags", "flags", "support_text"]

GO_ON, LEAVE, ERROR = 0, 1, 2
SUPPORT_NAMES = ("release_gil", "regain_gil", "attend", "attend_held")


class Flags(Record):
    """CPython's flags, each a number whose lowest byte is to be looked at."""

    requests: Ref  # its interpreter has to stop
    drop: Ref  # as another thread waits for the GIL
    signals: Ref  # as a signal has come
    of_thread: bool = False  # these are none; the flag is one word of each thread's state


_never = ctypes.c_int32(0)
NEVER = address(ctypes.addressof(_never))
_STATE_BYTES = 2000  # of CPython's state to look through
THREAD_FLAG = 24  # where it is in a thread's state, behind the pointer to the interpreter's state


@cache
def flags() -> Flags:
    """Find CPython's flags; of an unknown version, words that are never set: then nothing interrupts a loop."""
    if sys.version_info >= (3, 13):
        words = ctypes.cast(_pointer_from("PyThreadState_Get"), ctypes.POINTER(ctypes.c_void_p))
        of_thread = words[THREAD_FLAG // 8 - 1] == _pointer_from("PyInterpreterState_Get")
        return Flags(NEVER, NEVER, NEVER, of_thread)
    requests, signals = _find_requests(), _find_signals()
    if requests is None or signals is None:
        return Flags(NEVER, NEVER, NEVER)
    return Flags(address(requests), address(requests + 4), address(signals))


def _pointer_from(getter: str) -> int:
    get = getattr(ctypes.pythonapi, getter)
    get.restype = ctypes.c_void_p
    return cast(int, get())


def _find_requests() -> int | None:
    """In an interpreter's state ``eval_breaker``, ``gil_drop_request`` and the recursion limit are neighbours."""
    limit = sys.getrecursionlimit()
    values = (limit, limit + 997)
    found = _find(_pointer_from("PyInterpreterState_Get"), np.int32, values, sys.setrecursionlimit)
    if found is None:
        return None
    return found + 4 if sys.version_info < (3, 12) else found - 8


def _find_signals() -> int | None:
    """Find the flag in CPython's state by what stands behind it.

    In 3.11 that is the GIL's state, which begins with the switch interval; in 3.12 SIG_DFL and SIG_IGN as ints.
    """
    runtime = ctypes.addressof(ctypes.c_char.in_dll(ctypes.pythonapi, "_PyRuntime"))
    if sys.version_info >= (3, 12):
        state = np.frombuffer(ctypes.string_at(runtime, 2 * _STATE_BYTES), np.uint64)
        (places,) = np.nonzero((state[1:-1] == id(0)) & (state[2:] == id(1)))
        return runtime + 8 * int(places[0]) if len(places) == 1 else None
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
  call void @watch_signals(ptr %state)
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
  call void @watch_requests(ptr %state)
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
  %is.wanted = call i1 @is_wanted()
  %release = and i1 %may.release, %is.wanted
  br i1 %release, label %give, label %keep
give:
  call void @release_gil(ptr %state)
  ret i32 $GO_ON
keep:
  %result = call i32 @attend_held()
  ret i32 %result
}

@asked.at = internal global i64 0
define i32 @attend_held() {
  %time = alloca [2 x i64], align 8
  %signal = call i1 @has_signal()
  %no.signal = xor i1 %signal, true
  %is.wanted = call i1 @is_wanted()
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
  ret i32 $GO_ON
compare:
  %is.long = icmp sgt i64 %since, 5000000
  br i1 %is.long, label %leave, label %wait
wait:
  ret i32 $GO_ON
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
  %result = select i1 %failed, i32 $ERROR, i32 $LEAVE
  ret i32 %result
}
"""

# How the flags are read where all threads share them.
_OF_ALL = """
define internal i1 @is_wanted() {
  %drop = load volatile i32, ptr $DROP
  %is.set = icmp ne i32 %drop, 0
  ret i1 %is.set
}

define internal i1 @has_signal() {
  %signals = load volatile i32, ptr $SIGNALS
  %is.set = icmp ne i32 %signals, 0
  ret i1 %is.set
}

define internal void @watch_requests(ptr %state) {
  store ptr $REQUESTS, ptr %state
  ret void
}

define internal void @watch_signals(ptr %state) {
  %is.main = call i32 @_PyOS_IsMainThread()
  %other = icmp eq i32 %is.main, 0
  %flag = select i1 %other, ptr $NEVER, ptr $SIGNALS
  store ptr %flag, ptr %state
  ret void
}
"""

# The same where each thread has its own, with a bit for each request.
_OF_THREAD = """
define internal i1 @is_wanted() {
  %is.set = call i1 @is_requested(i8 1)
  ret i1 %is.set
}

define internal i1 @has_signal() {
  %is.set = call i1 @is_requested(i8 2)
  ret i1 %is.set
}

define internal i1 @is_requested(i8 %bit) {
  %thread = call ptr @PyThreadState_Get()
  %place = getelementptr i8, ptr %thread, i64 $THREAD_FLAG
  %requests = load volatile i8, ptr %place
  %found = and i8 %requests, %bit
  %is.set = icmp ne i8 %found, 0
  ret i1 %is.set
}

define internal void @watch_requests(ptr %state) {
  ret void
}

define internal void @watch_signals(ptr %state) {
  ret void
}
"""


def support_text() -> str:
    """The functions listed above, as IR."""
    found = flags()
    return Template(_SUPPORT + (_OF_THREAD if found.of_thread else _OF_ALL)).substitute(
        NEVER=NEVER,
        SIGNALS=found.signals,
        REQUESTS=found.requests,
        DROP=found.drop,
        GO_ON=GO_ON,
        LEAVE=LEAVE,
        ERROR=ERROR,
        THREAD_FLAG=THREAD_FLAG,
    )
