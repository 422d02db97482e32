"""Calls of one function, one after the other, by code that is not decorated, which take long, or are many.

Whoever calls so waits for that function: a program that goes on in steps, or somebody who warms it up to time it. Then
native code for it is worth more than others' in a package of many decorated functions, whatever its calls took so far.
Most functions of a package are called by others of it, or in turns.
"""

from __future__ import annotations

import types

from ljit.cpython.frame_count import thread

__all__ = ["are_in_a_row", "may_be_in_a_row", "note_calls"]

_SECONDS_OF_LONG_CALL = 1e-4
_LONG_CALLS = 2
_SECONDS = 1e-3  # of all


class _Row:
    """The last calls."""

    # by its id: no object of the program, nor one of the collector's, may come and go for this; if another function
    # has it later, that is bet on a little early
    function = 0
    long_calls = 0
    seconds = 0.0


def note_calls(fn: types.FunctionType, calls: int, seconds: float) -> None:
    """Note calls that have ended, and took so many seconds each."""
    if thread.frames.depth:
        return
    if not _is_of(fn):
        _Row.function, _Row.long_calls, _Row.seconds = id(fn), 0, 0.0
    _Row.long_calls = _Row.long_calls + 1 if seconds >= _SECONDS_OF_LONG_CALL else 0
    _Row.seconds += calls * seconds


def are_in_a_row(fn: types.FunctionType) -> bool:
    """Whether the call that begins is a further one of the function's."""
    is_one = _Row.seconds >= _SECONDS or _Row.long_calls >= _LONG_CALLS
    return is_one and _is_of(fn) and thread.frames.depth == 0


def may_be_in_a_row(fn: types.FunctionType) -> bool:
    """Whether the next call is to be seen, as it may be in a row behind the one that has just been noted."""
    is_long = 0 < _Row.long_calls <= _LONG_CALLS
    return is_long and _is_of(fn) and thread.frames.depth == 0


def _is_of(fn: types.FunctionType) -> bool:
    return _Row.function == id(fn)
