"""Where dicts and sets keep their keys, and in which order a key is looked for.

`is_known` reads a dict and a set as native code does, before any does. Where they read
otherwise, CPython looks up all keys.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from ctypes import c_int8
from functools import cache

from ljit.codegen.layout import DICT_VERSION, IS_IMMORTAL_AWARE, word_at

__all__ = [
    "DICT_KEYS",
    "ENTRY_HASH",
    "ENTRY_KEY",
    "ENTRY_SIZE",
    "ENTRY_VALUE",
    "KEYS_INDICES",
    "KEYS_KIND",
    "KEYS_LOG_BYTES",
    "KEYS_LOG_SIZE",
    "LINEAR_PROBES",
    "PERTURB_SHIFT",
    "PLACE_HASH",
    "PLACE_KEY",
    "PLACE_SIZE",
    "SET_MASK",
    "SET_PLACES",
    "WATCHERS",
    "is_known",
]

_WORD = 8

DICT_KEYS = 4 * _WORD  # pointer to the keys of a dict
KEYS_LOG_SIZE = _WORD  # i8: two to its power is the number of indices, ...
KEYS_LOG_BYTES = _WORD + 1  # i8: ... that of their bytes
KEYS_KIND = _WORD + 2  # i8: 0 where keys are of any class, else all of them are strs
KEYS_INDICES = 4 * _WORD  # the indices themselves; the entries follow
ENTRY_HASH, ENTRY_KEY, ENTRY_VALUE = 0, _WORD, 2 * _WORD
ENTRY_SIZE = 3 * _WORD

SET_MASK = 4 * _WORD  # the number of places less one
SET_PLACES = 5 * _WORD  # pointer to the places
PLACE_KEY, PLACE_HASH = 0, _WORD
PLACE_SIZE = 2 * _WORD
LINEAR_PROBES = 9  # so many places behind one are looked at, too

PERTURB_SHIFT = 5  # by so many bits the hash is shifted from place to place

#: The bits of a dict's version that say who wants to hear of its changes; None: nobody can
WATCHERS = (DICT_VERSION, 0xFF) if IS_IMMORTAL_AWARE else None

_NEXT_LAYOUT = (3, 14)


@cache
def is_known() -> bool:
    """Whether dicts and sets of this interpreter read as this file says."""
    if sys.version_info >= _NEXT_LAYOUT:
        return False
    numbers = [k << 6 for k in range(40)]
    some, others = dict.fromkeys(numbers), set(numbers)
    del some[numbers[3]]
    others.remove(numbers[3])
    searches: tuple[tuple[Callable[[int, int], int], object], ...] = (
        (_key_in_dict, some),
        (_key_in_set, others),
    )
    return all(
        search(id(table), number) == (id(number) if number != numbers[3] else 0)
        for search, table in searches
        for number in numbers
    )


def _places(hash_: int, mask: int) -> Iterator[int]:
    place = perturb = hash_
    while True:
        yield place & mask
        perturb >>= PERTURB_SHIFT
        place = (place & mask) * 5 + perturb + 1


def _key_in_dict(table: int, hash_: int) -> int:
    """Give the address of the key with a small hash, 0 if there is none."""
    keys = word_at(table + DICT_KEYS)
    size = c_int8.from_address(keys + KEYS_LOG_SIZE).value
    bytes_ = c_int8.from_address(keys + KEYS_LOG_BYTES).value
    if c_int8.from_address(keys + KEYS_KIND).value != 0 or bytes_ != size:
        return -1
    indices = keys + KEYS_INDICES
    for place in _places(hash_, (1 << size) - 1):
        index = c_int8.from_address(indices + place).value
        entry = indices + (1 << bytes_) + index * ENTRY_SIZE
        if index == -1:
            return 0
        if index >= 0 and word_at(entry + ENTRY_HASH) == hash_:
            return word_at(entry + ENTRY_KEY)
    return 0


def _key_in_set(table: int, hash_: int) -> int:
    """Likewise."""
    mask, places = word_at(table + SET_MASK), word_at(table + SET_PLACES)
    for first in _places(hash_, mask):
        count = LINEAR_PROBES + 1 if first + LINEAR_PROBES <= mask else 1
        for place in range(first, first + count):
            at = places + place * PLACE_SIZE
            if word_at(at + PLACE_KEY) == 0:
                return 0
            if word_at(at + PLACE_HASH) == hash_:
                return word_at(at + PLACE_KEY)
    return 0
