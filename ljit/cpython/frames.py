"""Places in the user's source as CPython knows them: in code objects and frames.

`frame_at` gives a frame that never runs: what an entry of a traceback refers to. It has the user's file, function
name, line and columns, so that `traceback`, debuggers and notebooks show what they show for CPython's own frames.
It belongs to a generator that is never started: such a frame has no caller, no local variables, and stays usable
after `frame.clear()`.

`relocated` gives code that does run the places of the user's code that it stands for, for whoever looks at the
frames of the functions that it calls: `warnings`, `logging`. `call_at` calls a function from a frame at a place.
`pass_over` hides frames of ljit itself from these two.
"""

from __future__ import annotations

import importlib
import os
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import lru_cache
from itertools import pairwise
from types import CodeType, FrameType, FunctionType, GeneratorType, ModuleType
from typing import Any

from ljit.cpython.classes import is_plain_class, variables_of_module
from ljit.records import Record
from ljit.source import Source, SourceRange

__all__ = [
    "FRAME_FUNCTIONS",
    "IS_RELOCATED",
    "LOOK_AT_FRAME",
    "LOOK_AT_FRAME_WITHOUT_ARGUMENTS",
    "Place",
    "asks_for_a_module",
    "call_at",
    "calls_for_frames",
    "frame_at",
    "is_import_frame",
    "is_own_frame",
    "is_raised_by_handler",
    "looks_at_caller",
    "outermost",
    "pass_over",
    "place_above",
    "relocated",
]

_PACKAGE = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))  # all of ljit
#: `codegen` and `passes` are found through links: their modules may have either name
_OWN = tuple(
    os.path.join(root, "")
    for folder in (_PACKAGE, os.path.join(_PACKAGE, "codegen"), os.path.join(_PACKAGE, "passes"))
    for root in {folder, os.path.realpath(folder)}
)
#: user code that comes with ljit: programs to demonstrate and test it
_GUESTS = tuple(os.path.join(_PACKAGE, name, "") for name in ("cli", "testing"))
#: a global variable of `relocated` code
IS_RELOCATED = "ljit runs this in place of the function"
#: functions that give the frame of their caller, or of one further up
FRAME_FUNCTIONS = frozenset(("_getframe", "currentframe", "_getframemodulename"))
#: functions that look at the frame of their caller: always, and when called without arguments
LOOK_AT_FRAME = FRAME_FUNCTIONS | {"locals", "globals", "eval", "exec", "breakpoint", "warn"}
LOOK_AT_FRAME_WITHOUT_ARGUMENTS = frozenset(("vars", "dir", "super"))
# `typing` lets these modules, whose frame it looks for, ask whether a class is of any Protocol.
_TRUSTED, _QUESTIONS = frozenset(("abc", "functools")), frozenset(("isinstance", "issubclass"))
_IS_CALLED = 1  # in the operand of LOAD_GLOBAL
_NO_OPERATION = ("CACHE", "PUSH_NULL")  # may stand between a function and what it is called with


def looks_at_caller(function: object) -> bool:
    """Whether a call of it looks at the frame that calls: of a function of Python's, decorated or not, or of a class.

    It names one of `FRAME_FUNCTIONS`, or calls by a global name a function that looks further up than its own caller.
    Other objects are not asked for attributes: that runs code of theirs.
    """
    if type(function) is type:
        return any(_looks_up(vars(function).get(name)) for name in ("__init__", "__new__"))
    return _looks_up(function)


def _looks_up(function: object) -> bool:
    code = _code_of(function)
    if code is None:
        return False
    if not FRAME_FUNCTIONS.isdisjoint(code.co_names):
        return True
    variables = getattr(function, "__globals__", {})
    far = {name for name in code.co_names if _looks_further_up(variables.get(name))}
    return bool(far) and not far.isdisjoint(_called_names(code))


def _looks_further_up(function: object) -> bool:
    """Whether it asks for another frame than its own and its caller's: ``sys._getframe(depth)``."""
    code = _code_of(function)
    if code is None or FRAME_FUNCTIONS.isdisjoint(code.co_names):
        return False
    import dis  # as below

    instructions = [i for i in dis.get_instructions(code) if i.opname not in _NO_OPERATION]
    return any(
        name.argval in FRAME_FUNCTIONS and first.opname.startswith("LOAD_FAST")
        for name, first in pairwise(instructions)
    )


def _code_of(function: object) -> CodeType | None:
    cls = type(function)
    has_code = is_plain_class(cls) and hasattr(cls, "__code__")
    code = getattr(function, "__code__", None) if has_code else None
    return code if isinstance(code, CodeType) else None


def asks_for_a_module(fn: FunctionType) -> bool:
    """Whether it asks what only functions of its module may ask: its frame must be there."""
    is_trusted = fn.__globals__.get("__name__") in _TRUSTED
    return is_trusted and not _QUESTIONS.isdisjoint(fn.__code__.co_names)


def calls_for_frames(fn: FunctionType) -> bool:
    """Whether a function looks at frames, or calls by a global name, as far as bound by now, one that does.

    The name may be that of a module, and an attribute of it: ``inspect.stack()``.
    """
    if looks_at_caller(fn):
        return True
    variables, names = fn.__globals__, fn.__code__.co_names
    bound = [(name, variables[name]) for name in names if name in variables]
    named = {name for name, value in bound if looks_at_caller(value)}
    named.update(
        f"{name}.{member}"
        for name, value in bound
        if type(value) is ModuleType
        for member in names
        if looks_at_caller(vars(value).get(member))
    )
    return bool(named) and not named.isdisjoint(_called_names(fn.__code__))


def _called_names(code: CodeType) -> Iterator[str]:
    """The global names that calls start with, and attributes of global names: other attributes may have such names."""
    import dis  # takes a millisecond, and hardly any function comes here

    of = ""
    for i in dis.get_instructions(code):
        if i.opname == "LOAD_GLOBAL" and (i.arg or 0) & _IS_CALLED:
            yield i.argval
        elif of and i.opname in ("LOAD_ATTR", "LOAD_METHOD"):
            yield f"{of}.{i.argval}"
        of = i.argval if i.opname == "LOAD_GLOBAL" else ""


def _template() -> Iterator[None]:
    yield


@lru_cache(maxsize=4096)
def frame_at(where: SourceRange) -> FrameType:
    """Give the frame that stands at `where`: each of its instructions does."""
    code = _template.__code__
    table = _table_of(where, len(code.co_code) // 2)
    code = _as_code_of(where.source, code, table)
    generator = FunctionType(code, _variables_of(where.source.module))()
    assert isinstance(generator, GeneratorType) and generator.gi_frame is not None
    return generator.gi_frame


def _variables_of(module: str) -> dict[str, Any]:
    """Give the global variables of a module: whoever shows a frame asks them for `__loader__` or `__unittest`."""
    found = variables_of_module(sys.modules.get(module))
    return found if found is not None else {"__name__": module}


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
    return _as_code_of(source, code, _table_of_lines(ends, source.first_line))


def _line_in(source: Source, where: SourceRange | None) -> int | None:
    while where is not None and where.source.filename != source.filename:
        where = where.caller
    return where.line if where is not None else None


def _as_code_of(source: Source, code: CodeType, table: bytes) -> CodeType:
    name = source.function
    return code.replace(
        co_filename=source.filename,
        co_name=name.rsplit(".", 1)[-1],
        co_qualname=name,
        co_firstlineno=source.first_line,
        co_linetable=table,
    )


def is_own_frame(frame: FrameType) -> bool:
    """Whether the frame runs code of ljit itself."""
    name = frame.f_code.co_filename
    return name.startswith(_OWN) and not name.startswith(_GUESTS)


def is_import_frame(frame: FrameType) -> bool:
    """Whether the frame runs code of the import system."""
    name = frame.f_code.co_filename
    return name.startswith("<frozen importlib.") or name == importlib.__file__


# -- frames that nobody counts ------------------------------------------------------------------------------

#: behind the name of a file: `warnings` and `logging` pass over frames whose file has both words in its name
_PASSED_OVER = " (passed over like importlib._bootstrap)"


def pass_over(names: Iterable[str]) -> None:
    """Let warnings and log records pass over the functions of modules: they count frames up to a user's caller.

    A call that ljit leaves to CPython, and times, has such frames above it. Tracebacks find the source text still.
    """
    for name in names:
        module = sys.modules[name]
        for function in _functions_of(module):
            if not function.__code__.co_filename.endswith(_PASSED_OVER):
                function.__code__ = _passed_over(function.__code__)


def _functions_of(module: ModuleType) -> Iterator[FunctionType]:
    for value in list(vars(module).values()):
        if getattr(value, "__module__", None) == module.__name__:
            members = list(vars(value).values()) if isinstance(value, type) else [value]
            yield from (member for member in members if isinstance(member, FunctionType))


def _passed_over(code: CodeType) -> CodeType:
    inner = [_passed_over(c) if isinstance(c, CodeType) else c for c in code.co_consts]
    return code.replace(co_filename=code.co_filename + _PASSED_OVER, co_consts=tuple(inner))


# -- callers -----------------------------------------------------------------------------------------------


class Place(Record):
    """Where a function is called from: a line of a file, with the global variables there."""

    filename: str
    qualname: str
    first_line: int  # of the function
    line: int
    variables: dict[str, Any]


def call_at(
    place: Place, f: Callable[..., object], args: Sequence[object], keywords: Mapping[str, object]
) -> object:
    """Call a function from a frame at a place, which tracebacks do not show."""
    code = _code_at(place.filename, place.qualname, place.first_line, place.line)
    try:
        return FunctionType(code, place.variables)(f, args, keywords)
    except BaseException as error:
        _drop_frames_until(error, code)
        raise


def _drop_frames_until(error: BaseException, code: CodeType) -> None:
    """Let the traceback begin behind the frame of `code`."""
    entry = error.__traceback__
    while entry is not None and entry.tb_frame.f_code is not code:
        entry = entry.tb_next
    if entry is not None:
        error.__traceback__ = entry.tb_next


def _call(f: Any, args: Sequence[object], keywords: Mapping[str, object]) -> object:
    return f(*args, **keywords)


@lru_cache(maxsize=1024)
def _code_at(filename: str, qualname: str, first_line: int, line: int) -> CodeType:
    code = _call.__code__
    return code.replace(
        co_filename=filename,
        co_name=qualname.rsplit(".", 1)[-1],
        co_qualname=qualname,
        co_firstlineno=first_line,
        co_linetable=_table_of_lines([(len(code.co_code), line)], first_line),
    )


def place_above(function: FunctionType, levels: int) -> Place | None:
    """Give the place so many frames above `function`, which the present function runs for; None: there is none.

    Frames of ljit, and those of the import system, do not count. Native code has no frame, `relocated` code has one.
    """
    code = function.__code__
    frames = _users_frames(sys._getframe(1))
    frame = next(frames, None)
    if frame is not None and IS_RELOCATED in frame.f_globals:
        if (frame.f_code.co_filename, frame.f_code.co_qualname) == (
            code.co_filename,
            code.co_qualname,
        ):
            frame = next(frames, None)
    for _ in range(levels - 1):
        frame = next(frames, None)
    if frame is None:
        return None
    variables = frame.f_globals
    if IS_RELOCATED in variables:
        variables = _variables_of(variables["__name__"])
    code = frame.f_code
    return Place(code.co_filename, code.co_qualname, code.co_firstlineno, frame.f_lineno, variables)


def _users_frames(frame: FrameType | None) -> Iterator[FrameType]:
    while frame is not None:
        name = frame.f_code.co_filename
        if not is_own_frame(frame) and not ("importlib" in name and "_bootstrap" in name):
            yield frame
        frame = frame.f_back


# -- location tables (CPython's Objects/locations.md) ----------------------------------------------------

_LONG_FORM = 0x80 | 14 << 3  # kinds of entries: with end line and columns
_LINE_ONLY = 0x80 | 13 << 3
_NOWHERE = 0x80 | 15 << 3
_UNITS_OF_ENTRY = 8


def _table_of(where: SourceRange, units: int) -> bytes:
    """Give the table by which all code units stand at `where`."""
    columns = (
        where.source.byte_column(where.line, where.column) + 1,
        where.source.byte_column(where.end_line, where.end_column) + 1,
    )
    place = b"".join(map(_varint, (where.end_line - where.line, *columns)))
    table = b""
    step = where.line - where.source.first_line
    for left in range(units, 0, -_UNITS_OF_ENTRY):
        table += bytes((_LONG_FORM | min(left, _UNITS_OF_ENTRY) - 1,)) + _signed(step) + place
        step = 0
    return table


def _table_of_lines(ends: Iterable[tuple[int, int | None]], first_line: int) -> bytes:
    """Give the table for code whose stretches end at some offsets and stand on some lines."""
    table = bytearray()
    start, present = 0, first_line
    for end, line in ends:
        for left in range((end - start) // 2, 0, -_UNITS_OF_ENTRY):
            covered = min(left, _UNITS_OF_ENTRY) - 1
            if line is None:
                table.append(_NOWHERE | covered)
                continue
            step, present = line - present, line
            table.append(_LINE_ONLY | covered)
            table += _signed(step)
        start = end
    return bytes(table)


def _signed(number: int) -> bytes:
    return _varint(-number << 1 | 1 if number < 0 else number << 1)


def _varint(number: int) -> bytes:
    """Six bits a byte, the low ones first; bit 6: more follow."""
    parts = []
    while number > 63:
        parts.append(number & 63 | 64)
        number >>= 6
    return bytes((*parts, number))
