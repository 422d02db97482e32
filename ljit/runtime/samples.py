"""Arguments that are like those of a call, for whoever asks what would be compiled for it before anything is loaded.

They keep nothing of the call alive. Types of arguments are known to modules that load NumPy.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from typing import Any

from ljit.cpython.classes import is_plain_class

__all__ = ["samples_of"]

_ITEMS = 16  # of a list that are looked at, and of a tuple at most
_LARGE = 1000  # elements of an array, or characters
_LEVELS = 3  # of tuples and lists in one another
_ITSELF = frozenset((type(None), bool, int, float, complex, range))


class _UnknownError(Exception):
    """An object of a class that nothing is known of."""


def samples_of(values: Sequence[object]) -> tuple[object, ...] | None:
    """Give one for each of the values; None: there is none for some of them."""
    try:
        return tuple(_sample(value, _LEVELS) for value in values)
    except _UnknownError:
        return None


def _sample(value: Any, levels: int) -> Any:
    cls = type(value)
    if not is_plain_class(cls):
        raise _UnknownError
    if cls in _ITSELF:
        return value
    if cls in (str, bytes):
        return value[:_LARGE]
    if cls is list and levels:
        return [_sample(x, levels - 1) for x in value[:_ITEMS]]
    if cls is tuple and levels and len(value) <= _ITEMS:
        return tuple(_sample(x, levels - 1) for x in value)
    numpy = sys.modules.get("numpy")
    if (
        numpy is not None
        and cls is numpy.ndarray
        and value.size <= _LARGE
        and not value.dtype.hasobject
    ):
        return value.copy(order="K")
    raise _UnknownError
