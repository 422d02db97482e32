"""Tracebacks as CPython would give them: the user's frames, not those of ljit.

An exception that leaves an op is on its way through frames of the machine. They are taken off its
traceback, and in their place stand synthetic frames for the interpreted function (and the functions
inlined into it): code objects with the user's file, name and position, never run. Nothing else of
the exception is touched.
"""

from __future__ import annotations

import ast
import os
from functools import lru_cache
from types import CodeType, FrameType, FunctionType, TracebackType

from ljit.config import settings
from ljit.errors import InternalError
from ljit.source import SourceRange

__all__ = ["clean_traceback", "drop_own_frames", "is_own_frame"]

_PACKAGE = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
#: `codegen` and `passes` are found through links: their modules may have either name
_OWN = tuple(
    os.path.join(root, "")
    for folder in (_PACKAGE, os.path.join(_PACKAGE, "codegen"), os.path.join(_PACKAGE, "passes"))
    for root in {folder, os.path.realpath(folder)}
)
#: user code that comes with ljit: programs to demonstrate and test it
_GUESTS = tuple(os.path.join(_PACKAGE, name, "") for name in ("cli", "testing"))


def clean_traceback(error: BaseException, where: SourceRange | None) -> None:
    """Put frames for `where` (and its callers) in the place of ljit's frames that lead a traceback.

    To be called where `error` was caught, in front of a bare ``raise``.
    """
    if not isinstance(error, InternalError):
        drop_own_frames(error)
    try:
        rest = error.__traceback__
        while where is not None:
            rest = _entry(rest, where)
            where = where.caller
        error.__traceback__ = rest
    except RecursionError:  # no room left to do it: the exception goes on as it is
        return


def drop_own_frames(error: BaseException) -> None:
    """Take ljit's frames off the front of the traceback, unless ``LJIT_FULL_TRACEBACK=1``.

    A bare ``raise`` adds none for the function that it stands in, so that each function on the way
    out can do this. ljit's own faults keep their frames.
    """
    if settings().full_traceback or isinstance(error, InternalError):
        return
    rest = error.__traceback__
    while rest is not None and is_own_frame(rest.tb_frame):
        rest = rest.tb_next
    error.__traceback__ = rest


def is_own_frame(frame: FrameType) -> bool:
    """Whether the frame runs code of ljit itself."""
    name = frame.f_code.co_filename
    return name.startswith(_OWN) and not name.startswith(_GUESTS)


def _entry(rest: TracebackType | None, where: SourceRange) -> TracebackType:
    frame, instruction = _frame_at(where)
    return TracebackType(rest, frame, instruction, where.line)


@lru_cache(maxsize=1024)
def _frame_at(where: SourceRange) -> tuple[FrameType, int]:
    """Make a frame that stands at `where`, and give the offset of an instruction there too.

    It is the frame of a generator that never runs, since such a frame refers to no caller.
    """
    code = _code_at(where)
    namespace = {"__name__": os.path.splitext(os.path.basename(where.source.filename))[0]}
    generator = FunctionType(code, namespace)()
    place = (where.line, where.end_line, _first_byte(where), _last_byte(where))
    for index, position in enumerate(code.co_positions()):
        if position == place:
            return generator.gi_frame, 2 * index
    return generator.gi_frame, 0


def _code_at(where: SourceRange) -> CodeType:
    """Compile a generator function all of whose code stands at `where`."""
    tree = ast.parse("def f(): yield")
    place = {
        "lineno": where.line,
        "end_lineno": where.end_line,
        "col_offset": _first_byte(where),
        "end_col_offset": _last_byte(where),
    }
    for node in ast.walk(tree):
        for name, value in place.items():
            if hasattr(node, name):
                setattr(node, name, value)
    module = compile(tree, where.source.filename, "exec", dont_inherit=True)
    (code,) = (c for c in module.co_consts if isinstance(c, CodeType))
    name = where.source.function
    return code.replace(co_name=name.rsplit(".", 1)[-1], co_qualname=name)


def _first_byte(where: SourceRange) -> int:
    return _byte_column(where, where.line, where.column)


def _last_byte(where: SourceRange) -> int:
    return _byte_column(where, where.end_line, where.end_column)


def _byte_column(where: SourceRange, line: int, column: int) -> int:
    """Code objects count columns in bytes of UTF-8."""
    lines = where.source.lines
    if not 1 <= line <= len(lines):
        return column
    return len(lines[line - 1][:column].encode())
