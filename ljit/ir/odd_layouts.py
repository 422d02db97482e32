"""Where arrays lie so that NumPy rounds results otherwise than it mostly does: native code leaves them to it."""

from __future__ import annotations

import enum

__all__ = ["OddLayout"]


class OddLayout(enum.Flag):
    """Layouts of the arrays of one nest."""

    NONE = 0
    BACKWARDS = enum.auto()  # one of them has a negative stride
    ONE_ELEMENT = enum.auto()  # there is a single element to go through
