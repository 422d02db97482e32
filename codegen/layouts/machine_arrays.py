"""Where an `array.array` has what native code reads of it."""

from __future__ import annotations

from array import array
from functools import cache

from ljit.codegen.layouts.layout import VAR_SIZE, word_at
from ljit.errors import InternalError

__all__ = ["ARRAY_ALLOCATED", "ARRAY_DESCRIPTOR", "ARRAY_EXPORTS", "ARRAY_START", "descriptor_of"]

_WORD = 8

ARRAY_START = 3 * _WORD  # pointer to the first item
ARRAY_ALLOCATED = 4 * _WORD  # for how many items there is room
ARRAY_DESCRIPTOR = 5 * _WORD  # pointer to what all arrays of a type code share
ARRAY_EXPORTS = 7 * _WORD  # how many others use the memory


@cache
def descriptor_of(typecode: str) -> int:
    """The address of what arrays of this type code share, as long as the process lasts."""
    probe, other = array(typecode, [1, 2]), array(typecode)
    with memoryview(probe):
        fields = VAR_SIZE, ARRAY_START, ARRAY_ALLOCATED, ARRAY_DESCRIPTOR, ARRAY_EXPORTS
        seen = [word_at(id(probe) + field) for field in fields]
    shared = word_at(id(other) + ARRAY_DESCRIPTOR)
    wanted = [2, probe.buffer_info()[0], 2, shared, 1]
    if seen != wanted:
        message = f"unknown object layout: array.array reads {seen} where {wanted} was written"
        raise InternalError(message)
    return shared
