"""Frames that never run: what an entry of a traceback refers to for a place in the user's source.

Such a frame has the user's file, function name, line and columns, so that `traceback`, debuggers and notebooks show
what they show for CPython's own frames. It belongs to a generator that is never started: such a frame has no
caller, no local variables, and stays usable after `frame.clear()`.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from functools import lru_cache
from types import CodeType, FrameType, FunctionType, GeneratorType

from ljit.source import SourceRange

__all__ = ["frame_at"]


def _template() -> Iterator[None]:
    yield


_LONG_FORM = 0x80 | 14 << 3  # of an entry of a location table: with end line and columns
_UNITS_OF_ENTRY = 8


@lru_cache(maxsize=4096)
def frame_at(where: SourceRange) -> FrameType:
    """Give the frame that stands at `where`: each of its instructions does."""
    code = _code_at(where)
    namespace = {"__name__": os.path.splitext(os.path.basename(where.source.filename))[0]}
    generator = FunctionType(code, namespace)()
    assert isinstance(generator, GeneratorType) and generator.gi_frame is not None
    return generator.gi_frame


def _code_at(where: SourceRange) -> CodeType:
    code = _template.__code__
    name = where.source.function
    return code.replace(
        co_filename=where.source.filename,
        co_name=name.rsplit(".", 1)[-1],
        co_qualname=name,
        co_firstlineno=where.line,
        co_linetable=_location_table(where, len(code.co_code) // 2),
    )


def _location_table(where: SourceRange, units: int) -> bytes:
    """Give the table by which all `units` code units stand at `where` (CPython's Objects/locations.md)."""
    lines = where.end_line - where.line
    columns = (
        _byte_column(where, where.line, where.column),
        _byte_column(where, where.end_line, where.end_column),
    )
    place = b"".join(map(_varint, (0, lines, columns[0] + 1, columns[1] + 1)))
    table = b""
    while units > 0:
        covered = min(units, _UNITS_OF_ENTRY)
        table += bytes((_LONG_FORM | covered - 1,)) + place
        units -= covered
    return table


def _varint(number: int) -> bytes:
    """Six bits a byte, the low ones first; bit 6: more follow."""
    parts = []
    while number > 63:
        parts.append(number & 63 | 64)
        number >>= 6
    return bytes((*parts, number))


def _byte_column(where: SourceRange, line: int, column: int) -> int:
    """Code objects count columns in bytes of UTF-8."""
    lines = where.source.lines
    if not 1 <= line <= len(lines):
        return column
    return len(lines[line - 1][:column].encode())
