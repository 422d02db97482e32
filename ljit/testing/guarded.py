"""Arrays against a protected page: one byte beyond the buffer is a fault.

`guarded_array` puts the last byte of a buffer directly before a page that nobody may touch (or the first one
directly behind it). Native code that reads or writes outside then ends the process, instead of finding
whatever lies there: run such programs in a process of their own.
"""

from __future__ import annotations

import ctypes
import math
import mmap
from typing import Any, Literal

import numpy as np

__all__ = ["guarded_array"]

_PROT_NONE = 0
_libc = ctypes.CDLL(None, use_errno=True)


def guarded_array(
    shape: int | tuple[int, ...], dtype: Any = np.float64, at: Literal["end", "start"] = "end"
) -> np.ndarray:
    """Give a writable C-contiguous array of zeros between two protected pages, directly at one of them.

    The memory lives as long as the array or any view of it.
    """
    sizes = (shape,) if isinstance(shape, int) else tuple(shape)
    dtype = np.dtype(dtype)
    count = math.prod(sizes) * dtype.itemsize
    room = max(1, -(-count // mmap.PAGESIZE)) * mmap.PAGESIZE
    memory = mmap.mmap(-1, room + 2 * mmap.PAGESIZE)
    first = ctypes.addressof(ctypes.c_char.from_buffer(memory))
    for page in (first, first + mmap.PAGESIZE + room):
        _protect(page)
    offset = mmap.PAGESIZE + (room - count if at == "end" else 0)
    return np.ndarray(sizes, dtype, buffer=memory, offset=offset)


def _protect(address: int) -> None:
    """Forbid all access to the page at `address`."""
    status = _libc.mprotect(ctypes.c_void_p(address), ctypes.c_size_t(mmap.PAGESIZE), _PROT_NONE)
    if status != 0:
        number = ctypes.get_errno()
        message = f"mprotect failed with errno {number}"
        raise OSError(number, message)
