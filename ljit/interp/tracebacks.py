"""Tracebacks as CPython would give them: the user's frames, not those of ljit.

An exception that leaves an op is on its way through frames of the machine. They are taken off its
traceback, and in their place stand synthetic frames (`ljit.cpython.frames`) for the interpreted function and the
functions inlined into it. Nothing else of the exception is touched. Native code adds the same frames by itself.
"""

from __future__ import annotations

from types import CodeType, FrameType, TracebackType

from ljit.cpython.frames import frame_at, is_own_frame
from ljit.cpython.own_frames import drop_own_frames
from ljit.source import SourceRange, depth_of

__all__ = ["Entries", "clean_traceback", "drop_callers", "entries_of", "replace_own_frames"]

#: entries of a traceback: frames and lines, those of callees first
Entries = tuple[tuple[FrameType, int], ...]


def clean_traceback(error: BaseException, where: SourceRange | None) -> None:
    """Put frames for `where` (and its callers) in the place of ljit's frames that lead a traceback.

    To be called where `error` was caught, in front of a bare ``raise``.
    """
    try:
        entries = entries_of(where)
    except RecursionError:  # no room left to do it: the exception goes on as it is
        entries = ()
    replace_own_frames(error, entries)


def entries_of(where: SourceRange | None, depth: int = 0) -> Entries:
    """Give the entries for `where` and its callers, but for the `depth` outermost ones."""
    entries: list[tuple[FrameType, int]] = []
    while where is not None and depth_of(where) >= depth:
        entries.append((frame_at(where), where.line))
        where = where.caller
    return tuple(entries)


def replace_own_frames(
    error: BaseException, entries: Entries, step: CodeType | None = None
) -> None:
    """Put `entries` in the place of ljit's frames; `step` is code of ljit that has the places of the user's."""
    drop_own_frames(error, step)
    rest = error.__traceback__
    for frame, line in entries:
        rest = TracebackType(rest, frame, frame.f_lasti, line)
    error.__traceback__ = rest


def drop_callers(error: BaseException, count: int) -> None:
    """Take the first entries off a traceback, but for those of ljit's frames."""
    own: list[TracebackType] = []
    entry = error.__traceback__
    while entry is not None and is_own_frame(entry.tb_frame):
        own.append(entry)
        entry = entry.tb_next
    for _ in range(count):
        entry = entry.tb_next if entry is not None else None
    for each in reversed(own):
        entry = TracebackType(entry, each.tb_frame, each.tb_lasti, each.tb_lineno)
    error.__traceback__ = entry
