"""Which interpreters functions are compiled for: native code reads CPython's objects where they lie.

What lies where differs from version to version, and in the free-threaded build: on one that is not known,
functions stay as they are, with a warning. `ljit.codegen.layouts.layout` looks at objects before it relies on this.
"""

from __future__ import annotations

import sys
import warnings
from functools import cache

__all__ = ["is_known", "why_unknown"]

_NEXT = (3, 14)  # where tuples begin with a hash, and counts of references have other bits
_FREE_THREADED = "t"  # among the flags of a build


def why_unknown() -> str | None:
    """Say what is not known about this interpreter; None: it is known."""
    if sys.implementation.name != "cpython":
        return f"{sys.implementation.name}, not CPython"
    if sys.version_info >= _NEXT:
        return f"CPython {sys.version_info[0]}.{sys.version_info[1]}, not 3.11 to 3.13"
    if _FREE_THREADED in sys.abiflags:
        return "CPython's free-threaded build"
    return None


@cache
def is_known() -> bool:
    """Whether functions are compiled here; warns if not."""
    found = why_unknown()
    if found is not None:
        message = f"ljit has no native code for this interpreter: it is {found}. Functions stay undecorated"
        # where the first one is decorated: frames of `ljit.api` do not count
        warnings.warn(message, RuntimeWarning, stacklevel=2)
    return found is None
