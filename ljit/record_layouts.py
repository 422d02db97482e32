"""How the fields of plain records lie, by their dtype."""

from __future__ import annotations

from functools import lru_cache
from itertools import accumulate
from typing import Any

import numpy as np

__all__ = [
    "is_structured",
    "kept_alignment",
    "layout_text",
    "lies_likewise",
    "named_parts",
    "offset_of",
]


def is_structured(dtype: np.dtype) -> bool:
    """Whether a dtype is that of plain records, ``np.void`` with named fields and neither objects nor metadata.

    >>> is_structured(np.dtype([("x", float)])), is_structured(np.dtype([("x", object)]))
    (True, False)
    """
    if dtype.names is None or dtype.type is not np.void or dtype.hasobject or not dtype.itemsize:
        return False
    return _is_bare(dtype)


def _is_bare(dtype: np.dtype) -> bool:
    """Whether nothing is attached to a dtype or its fields: neither metadata nor titles."""
    if dtype.metadata is not None:
        return False
    if dtype.subdtype is not None:
        return _is_bare(dtype.subdtype[0])
    names = dtype.names or ()
    return len(dtype.fields or ()) == len(names) and all(_is_bare(dtype[name]) for name in names)


@lru_cache(maxsize=256)
def kept_alignment(dtype: np.dtype) -> int:
    """To what multiples of bytes records lie, and the steps from one to the next, in arrays that native code knows.

    That is what the numbers in them need that lie in all records likewise.

    >>> kept_alignment(np.dtype([("n", "i4"), ("x", "f8")])), kept_alignment(np.dtype([("x", "f8"), ("n", "i8")]))
    (4, 8)
    """
    inner = (_needed(part) for part, offset in _parts(dtype) if lies_likewise(dtype, part, offset))
    return max(inner, default=1)


def _parts(dtype: np.dtype) -> list[tuple[np.dtype, int]]:
    return [(dtype[name].base, offset_of(dtype, name)) for name in dtype.names or ()]


def offset_of(dtype: np.dtype, name: str) -> int:
    """Where a field begins in a record."""
    fields: Any = dtype.fields
    offset: int = fields[name][1]
    return offset


def _needed(dtype: np.dtype) -> int:
    """The alignment that views of a field need."""
    return kept_alignment(dtype) if dtype.names is not None else dtype.alignment


def lies_likewise(dtype: np.dtype, part: np.dtype, offset: int) -> bool:
    """Whether a part is aligned in all records of an array if it is in the first one."""
    needed = _needed(part)
    return offset % needed == 0 and dtype.itemsize % needed == 0


def named_parts(dtype: np.dtype) -> tuple[tuple[np.dtype, tuple[str, ...]], ...]:
    """Give the dtypes with fields in a dtype, itself first, each with its names.

    A program may give a dtype other names, in place.
    """
    if dtype.names is None:
        return ()
    inner = (named_parts(part) for part, _ in _parts(dtype))
    return (dtype, dtype.names), *(pair for pairs in inner for pair in pairs)


def layout_text(dtype: np.dtype) -> str:
    """Give the text that says where the fields of a record lie; `np.dtype` of what it stands for is an equal dtype.

    >>> layout_text(np.dtype([("x", "f8"), ("p", "i4", 2)]))
    "[('x', '<f8'), ('p', '<i4', (2,))]"
    """
    return str(_layout(dtype))


def _layout(dtype: np.dtype) -> object:
    if dtype.names is None:
        return dtype.str
    fields = [dtype[name] for name in dtype.names]
    sizes = [field.itemsize for field in fields]
    formats = [(_layout(field.base), *(field.shape,) * bool(field.shape)) for field in fields]
    offsets = [offset for _, offset in _parts(dtype)]
    if [*offsets, dtype.itemsize] == list(accumulate(sizes, initial=0)):
        return [(name, *format_) for name, format_ in zip(dtype.names, formats, strict=True)]
    return {
        "names": list(dtype.names),
        "formats": [format_ if len(format_) > 1 else format_[0] for format_ in formats],
        "offsets": offsets,
        "itemsize": dtype.itemsize,
    }
