"""Where CPython's compiler lets errors of statements stand: versions differ, within 3.12 too, so it is asked."""

from __future__ import annotations

import dis
import enum
from functools import cache

__all__ = ["AssertPlace", "assert_place", "iterator_has_place", "manager_has_place"]


class AssertPlace(enum.Enum):
    """Where a failing assert stands."""

    LAST_COMPARISON = enum.auto()  # of the condition; the statement, if there is none: CPython 3.11
    STATEMENT = enum.auto()
    CONDITION = enum.auto()  # CPython 3.13


@cache
def assert_place() -> AssertPlace:
    """Where a failing assert stands."""
    if _line_of("RAISE_VARARGS", "assert (\na)") == 2:
        return AssertPlace.CONDITION
    if _line_of("RAISE_VARARGS", "assert (\na > b)") == 2:
        return AssertPlace.LAST_COMPARISON
    return AssertPlace.STATEMENT


@cache
def iterator_has_place() -> bool:
    """Whether errors of the iterator stand at the iterable, not at the statement."""
    return _line_of("GET_ITER", "for x in (\nxs): pass") == 2


@cache
def manager_has_place() -> bool:
    """Whether errors of a context manager stand at it, not at the ``with`` statement: CPython 3.13."""
    return _line_of("BEFORE_WITH", "with (\na): pass") == 2


def _line_of(opname: str, text: str) -> int | None:
    """The line of the first such instruction of a program."""
    instructions = dis.get_instructions(compile(text, "<places>", "exec"))
    found = next(i for i in instructions if i.opname == opname)
    return found.positions.lineno if found.positions is not None else None
