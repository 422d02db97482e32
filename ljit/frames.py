"""Places in the user's source as CPython knows them: in code objects and frames.

`frame_at` gives a frame that never runs: what an entry of a traceback refers to. It has the user's file, function
name, line and columns, so that `traceback`, debuggers and notebooks show what they show for CPython's own frames.
It belongs to a generator that is never started: such a frame has no caller, no local variables, and stays usable
after `frame.clear()`.

`relocated` gives code that does run the places of the user's code that it stands for, for whoever looks at the
frames of the functions that it calls: `warnings`, `logging`.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from functools import lru_cache
from types import CodeType, FrameType, FunctionType, GeneratorType

from ljit.source import Source, SourceRange

__all__ = ["frame_at", "is_raised_by_handler", "outermost", "relocated"]


def _template() -> Iterator[None]:
    yield


@lru_cache(maxsize=4096)
def frame_at(where: SourceRange) -> FrameType:
    """Give the frame that stands at `where`: each of its instructions does."""
    code = _template.__code__
    table = _table_of(where, len(code.co_code) // 2)
    code = _as_code_of(where.source, code, where.line, table)
    generator = FunctionType(code, {"__name__": where.source.module})()
    assert isinstance(generator, GeneratorType) and generator.gi_frame is not None
    return generator.gi_frame


def is_raised_by_handler(error: BaseException) -> bool:
    """Whether the handler of a signal has raised the error, and not what the signal came into.

    A handler is given the frame that is interrupted, which stands next to its own in the traceback.
    """
    before: FrameType | None = None
    entry = error.__traceback__
    while entry is not None:
        frame = entry.tb_frame
        if before is not None and any(_holds(value, before) for value in frame.f_locals.values()):
            return True
        before, entry = frame, entry.tb_next
    return False


def _holds(value: object, frame: FrameType) -> bool:
    return value is frame or (type(value) is tuple and any(item is frame for item in value))


def outermost(ranges: Iterable[SourceRange | None]) -> Source | None:
    """Give the function into which all else in `ranges` was inlined."""
    where = next(filter(None, ranges), None)
    while where is not None and where.caller is not None:
        where = where.caller
    return where.source if where is not None else None


def relocated(code: CodeType, source: Source, ranges: Sequence[SourceRange | None]) -> CodeType:
    """Give `code` as code of the function `source`: its line n stands where the n-th of `ranges` begins.

    What was inlined from another file stands at the place of the call. Columns are left out: this runs in a first
    call, and tracebacks have frames of their own.
    """
    lines: list[int | None] = [None]  # what has no line of its own comes first
    last: SourceRange | None = None
    for where in ranges:
        lines.append(lines[-1] if where is last else _line_in(source, where))
        last = where
    ends: list[tuple[int, int | None]] = []  # of stretches on one line
    before: int | None = -1
    for _, end, own in code.co_lines():
        line = lines[own or 0]
        if line == before:
            ends[-1] = end, line
        else:
            ends.append((end, line))
            before = line
    return _as_code_of(source, code, 1, _table_of_lines(ends))


def _line_in(source: Source, where: SourceRange | None) -> int | None:
    while where is not None and where.source.filename != source.filename:
        where = where.caller
    return where.line if where is not None else None


def _as_code_of(source: Source, code: CodeType, first_line: int, table: bytes) -> CodeType:
    name = source.function
    return code.replace(
        co_filename=source.filename,
        co_name=name.rsplit(".", 1)[-1],
        co_qualname=name,
        co_firstlineno=first_line,
        co_linetable=table,
    )


# -- location tables (CPython's Objects/locations.md) ----------------------------------------------------

_LONG_FORM = 0x80 | 14 << 3  # kinds of entries: with end line and columns
_LINE_ONLY = 0x80 | 13 << 3
_NOWHERE = 0x80 | 15 << 3
_UNITS_OF_ENTRY = 8


def _table_of(where: SourceRange, units: int) -> bytes:
    """Give the table by which all code units stand at `where`, whose line is the first."""
    columns = (
        where.source.byte_column(where.line, where.column),
        where.source.byte_column(where.end_line, where.end_column),
    )
    place = b"".join(map(_varint, (0, where.end_line - where.line, columns[0] + 1, columns[1] + 1)))
    table = b""
    for left in range(units, 0, -_UNITS_OF_ENTRY):
        table += bytes((_LONG_FORM | min(left, _UNITS_OF_ENTRY) - 1,)) + place
    return table


def _table_of_lines(ends: Iterable[tuple[int, int | None]]) -> bytes:
    """Give the table for code whose stretches end at some offsets and stand on some lines, the first one 1."""
    table = bytearray()
    start, present = 0, 1
    for end, line in ends:
        for left in range((end - start) // 2, 0, -_UNITS_OF_ENTRY):
            covered = min(left, _UNITS_OF_ENTRY) - 1
            if line is None:
                table.append(_NOWHERE | covered)
                continue
            step, present = line - present, line
            table.append(_LINE_ONLY | covered)
            table += _varint(-step << 1 | 1 if step < 0 else step << 1)
        start = end
    return bytes(table)


def _varint(number: int) -> bytes:
    """Six bits a byte, the low ones first; bit 6: more follow."""
    parts = []
    while number > 63:
        parts.append(number & 63 | 64)
        number >>= 6
    return bytes((*parts, number))
