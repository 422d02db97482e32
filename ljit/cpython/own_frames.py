"""Tracebacks without ljit's own frames: they show what CPython's show, before the compiler is loaded, too."""

from __future__ import annotations

from types import CodeType

from ljit.config import settings
from ljit.cpython.frames import is_import_frame, is_own_frame
from ljit.errors import InternalError

__all__ = ["drop_own_frames"]


def drop_own_frames(error: BaseException, step: CodeType | None = None) -> None:
    """Take ljit's frames off the front of the traceback, unless ``LJIT_FULL_TRACEBACK=1``.

    A bare ``raise`` adds none for the function that it stands in, so that each function on the way
    out can do this. With ljit's frames go those of its own imports: what a signal's handler raises may come from
    there. ljit's own faults keep their frames.
    """
    if settings().full_traceback or isinstance(error, InternalError):
        return
    rest = error.__traceback__
    is_own = False
    while rest is not None:
        frame = rest.tb_frame
        is_own = frame.f_code is step or is_own_frame(frame) or (is_own and is_import_frame(frame))
        if not is_own:
            break
        rest = rest.tb_next
    error.__traceback__ = rest
