"""Where strs keep their length, their hash and their characters.

`is_known` reads some of each kind as native code does, before any does. Where they read otherwise, CPython is asked.
"""

from __future__ import annotations

import ctypes
import sys
from functools import cache

from ljit.codegen.layouts.layout import int32_at, word_at

__all__ = [
    "ASCII_ITEMS",
    "IS_ASCII",
    "IS_INTERNED",
    "LATIN_ITEMS",
    "TEXT_HASH",
    "TEXT_KIND",
    "TEXT_SIZE",
    "TEXT_STATE",
    "flags_of_bytes",
    "is_known",
]

_WORD = 8

TEXT_SIZE = 2 * _WORD
TEXT_HASH = 3 * _WORD  # -1: nobody has asked for it yet
TEXT_STATE = 4 * _WORD  # i32: flags
TEXT_KIND = 0b111 << 2  # the bytes of a character; 0: they are not in their place yet (up to 3.11)
_ONE_BYTE = 1 << 2
_IS_COMPACT = 1 << 5  # the characters follow the object's own fields
IS_ASCII = 1 << 6
IS_INTERNED = 0b11  # two bits: there are kinds of it
LATIN_ITEMS = str.__basicsize__ - _WORD
ASCII_ITEMS = LATIN_ITEMS - (3 if sys.version_info < (3, 12) else 2) * _WORD


def flags_of_bytes() -> tuple[int, int]:
    """The flags that say that characters of one byte follow the fields: which ones, and what they are."""
    return TEXT_KIND | _IS_COMPACT, _ONE_BYTE | _IS_COMPACT


@cache
def is_known() -> bool:
    """Whether strs of this interpreter read as this file says."""
    texts = ("", "a", "ab" * 50, "\xe4", "a\xff" * 9, "\u20ac", "a\u20ac", "\U0001f600", "x" * 300)
    return all(map(_reads, texts)) and all(chr(k) is chr(k) for k in range(256))


def _reads(text: str) -> bool:
    place, wanted = id(text), hash(text)
    mask, value = flags_of_bytes()
    state = int32_at(place + TEXT_STATE)
    if word_at(place + TEXT_SIZE) != len(text) or not state & TEXT_KIND:
        return False
    if ctypes.c_int64.from_address(place + TEXT_HASH).value != wanted:
        return False
    if (state & mask == value) != all(c <= "\xff" for c in text):
        return False
    if bool(state & IS_ASCII) != text.isascii():
        return False
    items = ASCII_ITEMS if text.isascii() else LATIN_ITEMS
    found = ctypes.string_at(place + items, len(text) + 1)
    return state & mask != value or found == text.encode("latin-1") + b"\0"
