"""Entries that hand calls to the plain Python function: what CPython runs costs no detour through Python code.

All functions share them. They find the plain function in the object that is called, with a count of the calls that go
there. There are two: one for functions without native code, behind whose last call comes one of `Function._first_call`,
and one behind native entries, for calls that none of these takes; then the slow path is next. A third one hands calls
to Python code of ljit's, which gets frames beyond the recursion limit for that (`cpython/frame_count.py`). They are a
few dozen instructions, assembled here: most programs that leave calls to CPython never load LLVM. Where calls nest,
CPython takes C stack for each of them, so that the entries look how much is left, as native code does.
"""

from __future__ import annotations

import ctypes
import os
import struct
import sys
import threading
from collections.abc import Callable, Iterator, Sequence
from functools import cache
from types import FunctionType

from ljit.cpython.frame_count import GRANTED, recursion_remaining
from ljit.cpython.stack import compiler_frames
from ljit.runtime.vectorcall import (
    TYPE_OF_OBJECT,
    TYPE_VECTORCALL_OFFSET,
    calls_left,
    get_vectorcall,
    set_passed_calls,
    set_vectorcall,
    vectorcall_place,
)

__all__ = [
    "FOR_EVER",
    "MOST_PASSED",
    "MOST_SHORT_ONES",
    "PART_PASSED",
    "SECONDS_PASSED",
    "calls_within",
    "go_on_passing",
    "is_stack_small",
    "last_entry",
    "let_calls_come",
    "let_first_calls_come_to",
    "pass_behind",
    "pass_calls",
    "stop_passing",
]

FOR_EVER = 2**62  # calls
# at a time: what changes is noticed soon, and the way back costs two microseconds
MOST_PASSED = 1000  # calls
_SECONDS_OF_MANY, _MOST_OF_MANY = 0.002, 4000  # or so many of those that take no more all together
MOST_SHORT_ONES = 30_000  # the same of functions without loops
SECONDS_PASSED = 0.01  # that they take
PART_PASSED = 1 / 8  # or this part of the time that those before took

_STACK_RESERVE = 512 * 1024  # bytes, left for what runs between two looks; of a small stack, half
_STACK_OF_COMPILER = 512 * 1024  # bytes: with conditions 200 deep, CPython 3.13 overruns 256 KiB
_PAGE = 4096
_READ, _WRITE, _EXECUTE, _PRIVATE_ANONYMOUS = 1, 2, 4, 0x22  # Linux: sys/mman.h
_WORD = 8

# A vectorcall function gets the callable in rdi; what else it gets stays where it is.
_PASS = """
      48 8b 47 TYPE              mov  rax, [rdi + type]
      48 8b 80 OFFSET            mov  rax, [rax + offset]
      48 01 f8                   add  rax, rdi                  # where the object has its entry
      49 ba STACK                mov  r10, stack                # of the thread that looked last
      49 89 e3                   mov  r11, rsp
      4d 2b 1a                   sub  r11, [r10]                # its lowest usable address
      4d 3b 5a 08                cmp  r11, [r10 + 8]            # the size above it
      73 11                      jae  back
      48 83 68 f8 01             sub  qword [rax - 8], 1        # the count
      78 0a                      js   back
      48 8b 78 f0                mov  rdi, [rax - 16]           # the plain function
      ff a7 FUNCTION             jmp  [rdi + function]          # what calls of a plain function jump to
"""
_BACK = """
back: 49 ba COME                 mov  r10, come                 # from now on the first call
      4c 89 10                   mov  [rax], r10
      41 ff e2                   jmp  r10
"""
# More than a thousand arguments go to `__call__` as if there were no entry: the stack has no room for any number.
_COME = """
      55                         push rbp
      48 89 e5                   mov  rbp, rsp
      53                         push rbx
      41 54                      push r12
      41 55                      push r13
      41 56                      push r14
      41 57                      push r15
      48 83 ec 08                sub  rsp, 8                    # it is a multiple of 16 bytes where calls are
      49 89 fc                   mov  r12, rdi                  # the callable
      49 89 f5                   mov  r13, rsi                  # its arguments
      49 89 d6                   mov  r14, rdx                  # their number
      49 0f ba f6 3f             btr  r14, 63                   # without a flag
      49 89 cf                   mov  r15, rcx                  # names of keywords
      48 b8 THREAD               mov  rax, PyThreadState_Get
      ff d0                      call rax
      48 8d 98 COUNT             lea  rbx, [rax + count]        # how many frames the limit allows
      4c 89 f1                   mov  rcx, r14
      4d 85 ff                   test r15, r15
      74 04                      jz   some
      49 03 4f 10                add  rcx, [r15 + 16]           # the number of keywords
some: 48 81 f9 e8 03 00 00       cmp  rcx, 1000
      76 21                      jbe  few
      48 8d bb BACK              lea  rdi, [rbx - count]        # the thread
      4c 89 e6                   mov  rsi, r12
      4c 89 ea                   mov  rdx, r13
      4c 89 f1                   mov  rcx, r14
      4d 89 f8                   mov  r8, r15
      48 b8 MAKE_CALL            mov  rax, _PyObject_MakeTpCall
      ff d0                      call rax
      eb 4d                      jmp  done
few:  81 03 GRANTED              add  dword [rbx], granted
      48 8d 04 cd 17 00 00 00    lea  rax, [rcx * 8 + 23]       # the callable in front of the arguments
      48 83 e0 f0                and  rax, -16
      48 29 c4                   sub  rsp, rax
      4c 89 24 24                mov  [rsp], r12
      48 8d 7c 24 08             lea  rdi, [rsp + 8]
      4c 89 ee                   mov  rsi, r13
      f3 48 a5                   rep  movsq
      48 b8 FIRST                mov  rax, first
      48 8b 38                   mov  rdi, [rax]
      48 89 e6                   mov  rsi, rsp
      49 8d 56 01                lea  rdx, [r14 + 1]
      4c 89 f9                   mov  rcx, r15
      48 b8 CALL                 mov  rax, PyObject_Vectorcall
      ff d0                      call rax
      81 2b GRANTED              sub  dword [rbx], granted
done: 48 8d 65 d8                lea  rsp, [rbp - 40]
      41 5f                      pop  r15
      41 5e                      pop  r14
      41 5d                      pop  r13
      41 5c                      pop  r12
      5b                         pop  rbx
      5d                         pop  rbp
      c3                         ret
"""
_SLOW = """
back: 48 b8 SLOW                 mov  rax, slow
      ff 20                      jmp  [rax]
"""
# a function of C without parameters: where the stack is
_HERE = bytes.fromhex("4889e0 c3")  # mov rax, rsp; ret


class _Stack(threading.local):
    """Where this thread's stack lies: its lowest usable address, and the size above it."""

    bounds: tuple[int, int] | None = None


_stack = _Stack()


class _Entry:
    """The machine code, and the words for the stack and the slow path; they stay for the life of the process."""

    def __init__(self, libc: ctypes.CDLL) -> None:
        libc.mmap.restype = ctypes.c_void_p
        libc.mmap.argtypes = (
            *(ctypes.c_void_p, ctypes.c_size_t, ctypes.c_int),
            *(ctypes.c_int, ctypes.c_int, ctypes.c_long),
        )
        libc.mprotect.argtypes = (ctypes.c_void_p, ctypes.c_size_t, ctypes.c_int)
        place = libc.mmap(None, 2 * _PAGE, _READ | _WRITE, _PRIVATE_ANONYMOUS, -1, 0)
        if place in (None, ctypes.c_void_p(-1).value):
            raise OSError("no memory for machine code")
        come, passing, back, slow = _machine_code((_COME, _PASS, _BACK, _SLOW), place)
        text = come + passing + back + passing + slow + _HERE
        ctypes.memmove(place, text, len(text))
        if libc.mprotect(place, _PAGE, _READ | _EXECUTE):
            raise OSError("no memory may hold machine code")
        self.address_of_coming: int = place
        self.address: int = place + len(come)
        self.last_address: int = self.address + len(passing + back)
        self._stack = (ctypes.c_uint64 * 2).from_address(place + _PAGE)
        self.slow = ctypes.c_uint64.from_address(place + _PAGE + 2 * _WORD)
        first = ctypes.c_uint64.from_address(place + _PAGE + 3 * _WORD)
        first.value = id(_first_call[0])
        self._here = ctypes.PYFUNCTYPE(ctypes.c_size_t)(place + len(text) - len(_HERE))
        self._libc = libc

    def is_stack_full(self) -> bool:
        """Whether this thread's stack has no room left for further calls."""
        low, size = self._bounds()
        return not 0 <= self._here() - low < size

    def is_stack_small(self) -> bool:
        """Whether this thread's stack was never large enough for a compile."""
        _, size = self._bounds()
        return size < _STACK_OF_COMPILER // 2  # the other half is the reserve

    def look_at_stack(self) -> None:
        """Let calls in this thread pass."""
        self._stack[:] = list(self._bounds())  # at once: no other thread finds a half of it

    def _bounds(self) -> tuple[int, int]:
        if _stack.bounds is None:
            with compiler_frames():
                _stack.bounds = _find_stack(self._libc)
        return _stack.bounds


@cache
def _entry() -> _Entry | None:
    """None: there can be none here."""
    if sys.platform != "linux" or os.uname().machine != "x86_64":
        return None
    try:
        libc = ctypes.CDLL(None)
        _ = libc.pthread_getattr_np
        with (
            compiler_frames()
        ):  # where ctypes converts arguments, a RecursionError is one of its own
            return _Entry(libc)
    except (OSError, AttributeError):
        return None


_first_call: list[Callable[..., object]] = []


def let_first_calls_come_to(method: Callable[..., object]) -> None:
    """Say what calls come to: they are granted `GRANTED` frames beyond the recursion limit."""
    _first_call[:] = [method]


def let_calls_come(owner: object) -> None:
    """Let the next call of `owner` come to what `let_first_calls_come_to` said."""
    entry = _entry()
    set_vectorcall(owner, entry.address_of_coming if entry is not None else 0)


def pass_calls(owner: object, fn: FunctionType, calls: int) -> None:
    """Let the next calls of `owner` jump to the plain function, so many of them."""
    entry = _entry()
    if entry is not None:
        set_passed_calls(owner, fn, calls)
        entry.look_at_stack()
        set_vectorcall(owner, entry.address)


def pass_behind(owner: object, fn: FunctionType, calls: int) -> None:
    """Let the next calls of `owner` that its native entries do not take jump to the plain function, so many of them."""
    entry = _entry()
    if entry is not None:
        set_passed_calls(owner, fn, calls)
        entry.look_at_stack()


def last_entry(slow: int) -> int:
    """The address of the entry behind native entries; `slow`: where the slow path begins."""
    entry = _entry()
    if entry is None:
        return slow
    entry.slow.value = slow
    return entry.last_address


def calls_within(seconds: float, each: float, *, are_short: bool = False) -> int:
    """How many calls that take `each` seconds may pass in the time, at most those of one time."""
    each = max(each, 1e-9)
    most: float = MOST_SHORT_ONES
    if not are_short:
        most = min(max(MOST_PASSED, _SECONDS_OF_MANY / each), _MOST_OF_MANY)
    return int(max(min(seconds / each, most), 0))


def stop_passing(owner: object, fn: FunctionType) -> None:
    """Let the next call come to the executor."""
    entry = _entry()
    set_passed_calls(owner, fn, 0)
    if entry is not None and get_vectorcall(owner) == entry.address:
        let_calls_come(owner)


def go_on_passing(owner: object, fn: FunctionType) -> bool:
    """Whether a call came here only since another thread has looked at its stack: then the next ones pass.

    RecursionError if the stack is full.
    """
    entry = _entry()
    if entry is None:
        return False
    if entry.is_stack_full():
        raise RecursionError("maximum recursion depth exceeded")
    left = calls_left(owner)
    if left <= 0 or get_vectorcall(owner) not in (0, entry.address_of_coming):
        return False
    pass_calls(owner, fn, left)
    return True


def is_stack_small() -> bool:
    """Whether a compile could overrun the stack of this thread, however little of it is in use."""
    entry = _entry()
    return entry is not None and entry.is_stack_small()


def _machine_code(texts: Sequence[str], place: int) -> Iterator[bytes]:
    data, python = place + _PAGE, ctypes.pythonapi
    functions = python.PyThreadState_Get, python._PyObject_MakeTpCall, python.PyObject_Vectorcall
    get_thread, make_call, call = (ctypes.cast(f, ctypes.c_void_p).value for f in functions)
    count = recursion_remaining() or 0  # where it is not known nothing is granted
    words = {
        "TYPE": struct.pack("<b", TYPE_OF_OBJECT),
        "OFFSET": struct.pack("<i", TYPE_VECTORCALL_OFFSET),
        "STACK": struct.pack("<Q", data),
        "SLOW": struct.pack("<Q", data + 2 * _WORD),
        "FUNCTION": struct.pack("<i", vectorcall_place(FunctionType)),
        "COME": struct.pack("<Q", place),
        "THREAD": struct.pack("<Q", get_thread),
        "MAKE_CALL": struct.pack("<Q", make_call),
        "COUNT": struct.pack("<i", count),
        "BACK": struct.pack("<i", -count),
        "GRANTED": struct.pack("<i", GRANTED),
        "FIRST": struct.pack("<Q", data + 3 * _WORD),
        "CALL": struct.pack("<Q", call),
    }
    fields = {name: word.hex() for name, word in words.items()}
    for text in texts:
        code = ""
        for line in text.strip().splitlines():
            instruction = line.rpartition(": ")[2].strip().partition("  ")[0]
            code += "".join(fields.get(part, part) for part in instruction.split())
        yield bytes.fromhex(code)


def _find_stack(libc: ctypes.CDLL) -> tuple[int, int]:
    """Where the stack of this thread lies, less a reserve; glibc tells."""
    attributes = (ctypes.c_uint64 * 16)()
    low, size = ctypes.c_void_p(), ctypes.c_size_t()
    if libc.pthread_getattr_np(ctypes.c_ulong(threading.get_ident()), attributes):
        return 0, 2**63
    libc.pthread_attr_getstack(attributes, ctypes.byref(low), ctypes.byref(size))
    libc.pthread_attr_destroy(attributes)
    reserve = min(_STACK_RESERVE, size.value // 2)
    return (low.value or 0) + reserve, size.value - reserve
