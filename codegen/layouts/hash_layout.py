"""Where dicts and sets keep their keys, and in which order a key is looked for.

`is_known` reads a dict and a set as native code does, before any does. Where they read
otherwise, CPython looks up all keys.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from ctypes import c_int8
from functools import cache

from ljit.codegen.layouts.layout import DICT_VERSION, IS_IMMORTAL_AWARE, word_at

__all__ = [
    "ANY_KEYS",
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
    "TEXT_ENTRY_KEY",
    "TEXT_ENTRY_SIZE",
    "TEXT_ENTRY_VALUE",
    "TEXT_KEYS",
    "WATCHERS",
    "is_known",
]

_WORD = 8

DICT_KEYS = 4 * _WORD  # pointer to the keys of a dict
KEYS_LOG_SIZE = _WORD  # i8: two to its power is the number of indices, ...
KEYS_LOG_BYTES = _WORD + 1  # i8: ... that of their bytes
KEYS_KIND = _WORD + 2  # i8: `ANY_KEYS`, `TEXT_KEYS`, or another kind of strs alone
KEYS_INDICES = 4 * _WORD  # the indices themselves; the entries follow
ANY_KEYS, TEXT_KEYS = 0, 1
ENTRY_HASH, ENTRY_KEY, ENTRY_VALUE = 0, _WORD, 2 * _WORD
ENTRY_SIZE = 3 * _WORD
TEXT_ENTRY_KEY, TEXT_ENTRY_VALUE = 0, _WORD  # of `TEXT_KEYS`: strs know their hashes
TEXT_ENTRY_SIZE = 2 * _WORD

SET_MASK = 4 * _WORD  # the number of places less one
SET_PLACES = 5 * _WORD  # pointer to the places
PLACE_KEY, PLACE_HASH = 0, _WORD
PLACE_SIZE = 2 * _WORD
LINEAR_PROBES = 9  # so many places behind one are looked at, too

PERTURB_SHIFT = 5  # by so many bits the hash is shifted from place to place

#: The bits of a dict's version that say who wants to hear of its changes; None: nobody can
WATCHERS = (DICT_VERSION, 0xFF) if IS_IMMORTAL_AWARE else None


@cache
def is_known() -> bool:
    """Whether dicts and sets of this interpreter read as this file says."""
    numbers, texts = [k << 6 for k in range(40)], [f"{k}" for k in range(40)]
    hashes = {id(text): _hash(text) for text in texts}
    some, named, others = dict.fromkeys(numbers), dict.fromkeys(texts), set(numbers)
    del some[numbers[3]], named[texts[3]]
    others.remove(numbers[3])
    searches: tuple[tuple[Callable[[int], int], Sequence[object]], ...] = (
        (lambda hash_: _key_in_dict(id(some), hash_, {}), numbers),
        (lambda hash_: _key_in_dict(id(named), hash_, hashes), texts),
        (lambda hash_: _key_in_set(id(others), hash_), numbers),
    )
    return all(
        search(_hash(key)) == (id(key) if key is not keys[3] else 0)
        for search, keys in searches
        for key in keys
    )


def _hash(key: object) -> int:
    """A hash as a word without a sign."""
    return hash(key) & 0xFFFF_FFFF_FFFF_FFFF


def _places(hash_: int, mask: int) -> Iterator[int]:
    place = perturb = hash_
    while True:
        yield place & mask
        perturb >>= PERTURB_SHIFT
        place = (place & mask) * 5 + perturb + 1


def _key_in_dict(table: int, hash_: int, hashes: Mapping[int, int]) -> int:
    """Give the address of a key with the hash, in a small dict; 0 if there is none.

    `hashes`: of the strs that may be there, by their addresses.
    """
    keys = word_at(table + DICT_KEYS)
    size = c_int8.from_address(keys + KEYS_LOG_SIZE).value
    bytes_ = c_int8.from_address(keys + KEYS_LOG_BYTES).value
    kind = c_int8.from_address(keys + KEYS_KIND).value
    if kind not in (ANY_KEYS, TEXT_KEYS) or bytes_ != size:
        return -1
    is_text = kind == TEXT_KEYS
    entry_size = TEXT_ENTRY_SIZE if is_text else ENTRY_SIZE
    for place in _places(hash_, (1 << size) - 1):
        index = c_int8.from_address(keys + KEYS_INDICES + place).value
        if index == -1:
            return 0
        entry = keys + KEYS_INDICES + (1 << bytes_) + index * entry_size
        if index >= 0:
            key = word_at(entry + (TEXT_ENTRY_KEY if is_text else ENTRY_KEY))
            if hash_ == (hashes.get(key) if is_text else word_at(entry + ENTRY_HASH)):
                return key
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
