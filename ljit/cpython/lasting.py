"""What stays until the process ends, and CPython's garbage collector.

The compiler and the libraries that it needs are 40,000 objects: functions, classes, declarations of ops. A full
collection goes through all objects there are, so that a program that makes many would pay for these in each of them.
They are taken out of the collector's sight, as `gc.freeze` does it, which would freeze the program's own objects as
well. They still go when nothing refers to them any more, but for cycles.

The collector's lists are rings in the interpreters that ljit knows: a head before each object has the addresses of the
next head and of the one before. What was made between two marks lies between them, and becomes a ring of its own, which
nobody goes through.
"""

from __future__ import annotations

import gc
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from itertools import repeat
from math import inf
from operator import is_

from ljit.cpython.interpreters import why_unknown

__all__ = ["lasting"]

_HEAD = 16  # bytes before an object
_FEW = 100  # objects, for which it would take longer than a collection does
_FLAGS = 3  # of the object itself, in the second address of its head

_is_within = False
_limited = 0  # objects taken out by uses with a limit


@contextmanager
def lasting(most: float = inf) -> Iterator[None]:
    """Take what is made here out of the collector's sight. Nothing is collected meanwhile.

    `most`: nothing is taken out any more when so many objects have been by uses with such a limit.
    """
    global _is_within, _limited
    is_full = most < inf and _limited >= most
    if _is_within or is_full or _may_be_the_programs() or why_unknown() is not None:
        yield
        return
    is_enabled, count = gc.isenabled(), gc.get_count()[0]
    before: list[object] = []  # four marks, two of them in a row
    first: list[object] = []
    try:
        gc.disable()
        _is_within = True
        yield
    finally:
        last: list[object] = []
        behind: list[object] = []
        _is_within = False
        made = gc.get_count()[0] - count
        if made >= _FEW and not _may_be_the_programs():
            _take_out(before, first, last, behind)
            _limited += made if most < inf else 0
        if is_enabled:
            gc.enable()


def _may_be_the_programs() -> bool:
    """Whether what is made now may be the program's: other threads, debuggers and the like go on meanwhile."""
    is_watched = sys.gettrace() is not None or sys.getprofile() is not None
    return is_watched or len(sys._current_frames()) > 1


def _are_young(first: object, last: object) -> bool:
    """Whether the youngest objects begin before the first one, and end behind the last."""
    young = gc.get_objects(generation=0)
    return any(map(is_, young, repeat(first))) and any(map(is_, reversed(young), repeat(last)))


def _take_out(*marks: object) -> None:
    """Make a ring of what lies from the second mark to the third. The first is in front of it, the last behind.

    If that is not so, as after a collection that somebody asked for, nothing is done.
    """
    ctypes = sys.modules.get("ctypes")
    if ctypes is None:  # who only decorates need not load it
        return
    before, first, last, behind = places = [id(mark) - _HEAD for mark in marks]
    heads = [(ctypes.c_size_t * 2).from_address(place) for place in places]
    if [heads[0][0], heads[2][0]] != [first, behind] or not _are_young(marks[1], marks[2]):
        return
    back_of_first = last | heads[1][1] & _FLAGS
    back_of_behind = before | heads[3][1] & _FLAGS
    # no signal's handler runs, nor another thread, until all are set
    heads[0][0] = behind
    heads[1][1] = back_of_first
    heads[2][0] = first
    heads[3][1] = back_of_behind
