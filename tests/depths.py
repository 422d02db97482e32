"""How deep calls nest that are not native.

CPython 3.12 alone counts what calls from C take of the C stack: fewer of them fit than the recursion limit says.
"""

from __future__ import annotations

import sys

__all__ = ["reachable"]


def reachable(calls: int) -> int:
    """`calls` that nest, or in CPython 3.12 some fewer than what fits of calls of an object."""
    if sys.version_info[:2] != (3, 12):
        return calls
    count = _Count()
    while True:
        try:
            return count(calls + 100) - 100
        except RecursionError:
            calls -= 10


class _Count:
    def __call__(self, n: int) -> int:
        return 0 if n == 0 else self(n - 1) + 1
