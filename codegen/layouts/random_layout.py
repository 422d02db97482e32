"""Where NumPy's and Python's random streams keep what native code reads: found by looking at known objects.

What is not found is an `InternalError`: the function stays interpreted.
"""

from __future__ import annotations

import ctypes
import sys
import threading
from collections.abc import Sequence
from functools import cache
from typing import Any

from ljit.errors import InternalError
from ljit.records import Record

__all__ = [
    "MERSENNE_INDEX",
    "MERSENNE_WORDS",
    "Lock",
    "Stream",
    "check_mersenne",
    "known_sources",
    "lock_layout",
    "random_function",
    "stream_of",
]

MERSENNE_INDEX = 16  # i32: how many of the words of a `random.Random` are used up
MERSENNE_WORDS = 20  # 624 of them

_WORD = 8
_CAPSULE = b"BitGenerator"
NEXT_WORD = 2 * _WORD  # in a bitgen_t: state, next_uint64, next_uint32, next_double, next_raw
NEXT_DOUBLE = 3 * _WORD
_BITGEN_WORDS = 5
_BIT_GENERATORS = ("PCG64", "MT19937", "PCG64DXSM", "Philox", "SFC64")


class Stream(Record):
    """Byte offsets in a Generator or RandomState."""

    bitgen: int  # its own copy of the bit generator's bitgen_t
    lock: int
    #: of a RandomState: after a pointer to the bitgen_t, a flag (i32) and the number put by
    gauss: int


class Lock(Record):
    """How to see that a lock of the streams is held: a number of this LLVM type that is not 0."""

    cls: type
    offset: int
    type: str


def _words(address: int, count: int) -> list[int]:
    return list((ctypes.c_uint64 * count).from_address(address))


def _find(words: Sequence[int], wanted: Sequence[int], what: str) -> int:
    count = len(wanted)
    found = [i for i in range(len(words) - count + 1) if words[i : i + count] == wanted]
    if not found:
        message = f"unknown object layout: {what} not found"
        raise InternalError(message)
    return found[0] * _WORD


def _numpy_random() -> Any:
    return sys.modules["numpy.random"]  # whoever has a stream has imported it


def _bitgen(bit_generator: Any) -> list[int]:
    pointer = ctypes.pythonapi.PyCapsule_GetPointer
    pointer.argtypes = (ctypes.py_object, ctypes.c_char_p)
    pointer.restype = ctypes.c_void_p
    return _words(pointer(bit_generator.capsule, _CAPSULE), _BITGEN_WORDS)


@cache
def stream_of(cls: type) -> Stream:
    """Find out where objects of a class, Generator or RandomState, keep their stream."""
    bit_generator = _numpy_random().MT19937(1)
    made = cls(bit_generator)
    words = _words(id(made), cls.__basicsize__ // _WORD)
    bitgen = _find(words, _bitgen(bit_generator), "bitgen_t")
    lock = _find(words, [id(bit_generator.lock)], "lock of a stream")
    if not hasattr(made, "randn"):
        return Stream(bitgen, lock, 0)
    gauss = _find(words, [id(made) + bitgen], "legacy state")
    made.standard_normal()
    kept = ctypes.c_double.from_address(id(made) + gauss + 2 * _WORD).value
    if (_words(id(made) + gauss, 2)[1] & 0xFFFFFFFF, kept) != made.get_state()[3:]:
        raise InternalError("unknown object layout: legacy state")
    return Stream(bitgen, lock, gauss + _WORD)


@cache
def lock_layout() -> Lock:
    """Find out how the locks of streams say that they are held."""
    lock = _numpy_random().PCG64(1).lock
    cls = type(lock)
    type_, step = ("i64", _WORD) if cls is type(threading.RLock()) else ("i8", 1)
    number = ctypes.c_uint64 if type_ == "i64" else ctypes.c_uint8

    def read() -> list[int]:
        places = range(2 * _WORD, cls.__basicsize__, step)
        return [number.from_address(id(lock) + place).value for place in places]

    before = read()
    with lock:
        held = read()
    after = read()
    pairs = zip(before, held, after, strict=True)
    found = [i for i, (x, y, z) in enumerate(pairs) if x == z == 0 != y]
    if not found:
        raise InternalError("unknown object layout: lock of a stream")
    return Lock(cls, 2 * _WORD + found[0] * step, type_)


@cache
def known_sources() -> tuple[int, ...]:
    """The functions that give a double, of NumPy's own bit generators: they run no Python code."""
    module = _numpy_random()
    makers = [getattr(module, name, None) for name in _BIT_GENERATORS]
    return tuple(_bitgen(make(1))[NEXT_DOUBLE // _WORD] for make in makers if make is not None)


@cache
def random_function(name: str) -> int:
    """Address of a function that `numpy.random` exports for extensions (numpy/random/distributions.h)."""
    try:
        library = ctypes.CDLL(_numpy_random()._generator.__file__)
        return ctypes.cast(getattr(library, name), ctypes.c_void_p).value or 0
    except (AttributeError, OSError) as error:
        message = f"numpy.random does not export {name}"
        raise InternalError(message) from error


@cache
def check_mersenne() -> None:
    """Read the state of a `random.Random` in place; raise `InternalError` if it reads wrong."""
    made = sys.modules["random"].Random(1)
    made.random()
    index, *words = (ctypes.c_uint32 * 625).from_address(id(made) + MERSENNE_INDEX)
    if (*words, index) != made.getstate()[1]:
        raise InternalError("unknown object layout: random.Random")
