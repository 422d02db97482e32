"""The code of nested functions and generator expressions as CPython compiled it."""

from __future__ import annotations

import marshal
from collections import deque
from collections.abc import Iterable, Iterator
from types import CodeType
from typing import Any

from ljit.source import SourceRange

__all__ = [
    "constants_inside",
    "find_annotations",
    "find_code",
    "find_code_of_constant",
    "find_set",
    "with_sets_of",
]


def find_code(
    around: CodeType, name: str, where: SourceRange, body: SourceRange
) -> CodeType | None:
    """Find the code of that name at `where` in the code of the function around; None: nobody can tell.

    Its instructions stand in `body`: a default, in front of that, has code of its own.
    """
    codes = (code for code in _codes_inside(around) if code.co_name == name)
    return next((code for code in codes if _is_of(code, where, body)), None)


def find_code_of_constant(around: CodeType, value: object, where: SourceRange) -> CodeType | None:
    """Find the code of a lambda that gives a constant: in CPython 3.12 none of its instructions has a place.

    It is known if there is no other one on its line.
    """
    codes = (code for code in _codes_inside(around) if code.co_name == "<lambda>")
    found = [c for c in codes if c.co_firstlineno == where.line and not any(_places(c))]
    if len(found) != 1 or not any(
        type(c) is type(value) and c == value for c in found[0].co_consts
    ):
        return None
    return found[0]


def find_annotations(around: CodeType, names: tuple[str, ...]) -> tuple[str, ...] | None:
    """Find the texts that CPython makes of the annotations of these names, where nothing evaluates them.

    They are known if there are no other ones of the same names.
    """
    tuples = {
        c
        for c in constants_inside(around)
        if isinstance(c, tuple) and all(isinstance(x, str) for x in c)
    }
    found = [c[1::2] for c in tuples if c[::2] == names and len(c) == 2 * len(names)]
    return found[0] if len(found) == 1 else None


def find_set(around: CodeType, like: frozenset[Any]) -> frozenset[object] | None:
    """Find the set of constants with these items: how it was made, and loaded, decides its order."""
    wanted = _content(like)
    sets = (c for c in constants_inside(around) if isinstance(c, frozenset))
    return next((c for c in sets if _content(c) == wanted), None)


def with_sets_of(around: CodeType, code: CodeType) -> CodeType:
    """Give code that was compiled again with the sets of the code that was loaded, which may have another order."""
    if not any(isinstance(c, frozenset) for c in constants_inside(around)):
        return code

    def constant(value: Any) -> Any:
        if isinstance(value, CodeType):
            return with_sets_of(around, value)
        return find_set(around, value) or value if isinstance(value, frozenset) else value

    return code.replace(co_consts=tuple(map(constant, code.co_consts)))


def _content(items: Iterable[Any]) -> set[bytes]:
    """What is in a set, where 0.0, -0.0 and False are three things. Version 0 keeps nothing of where it is from."""
    return {marshal.dumps(item, 0) for item in items}


def constants_inside(around: CodeType) -> Iterator[object]:
    """The constants of a function and of those in it."""
    return (const for code in (around, *_codes_inside(around)) for const in code.co_consts)


def _codes_inside(around: CodeType) -> Iterator[CodeType]:
    """The codes of the functions in a function, outer ones first."""
    queue = deque([around])
    while queue:
        inside = [const for const in queue.popleft().co_consts if isinstance(const, CodeType)]
        yield from inside
        queue.extend(inside)


def _is_of(code: CodeType, where: SourceRange, body: SourceRange) -> bool:
    places = list(_places(code))
    if code.co_name != "<genexpr>" and _first(where) in places:
        return False  # ``lambda: lambda: x``: what begins with the text of a function makes it
    last = (body.end_line, body.source.byte_column(body.end_line, body.end_column))
    return bool(places) and all(_first(body) <= place <= last for place in places)


def _first(where: SourceRange) -> tuple[int, int]:
    return where.line, where.source.byte_column(where.line, where.column)


def _places(code: CodeType) -> Iterator[tuple[int, int]]:
    """Give the line and column where each instruction begins, but for those that take up no text."""
    for line, end_line, column, end_column in code.co_positions():
        if line is None or end_line is None or column is None or end_column is None:
            continue
        if (line, column) != (end_line, end_column):
            yield line, column
