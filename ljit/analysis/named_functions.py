"""What a function may call by name: what its global and closure variables hold now."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from types import FunctionType

from ljit.analysis.assumptions import python_function

__all__ = ["leads_to", "named_in"]

_MOST_FUNCTIONS = 100  # that are looked at


def named_in(fn: FunctionType) -> Iterator[object]:
    """What the names of global and closure variables in the function stand for."""
    yield from (fn.__globals__[name] for name in fn.__code__.co_names if name in fn.__globals__)
    for cell in fn.__closure__ or ():
        try:
            yield cell.cell_contents
        except ValueError:  # not bound yet
            continue


def leads_to(fn: FunctionType, others: Sequence[object]) -> bool:
    """Whether calls by name may go from the function to one of the others, from one function to the next."""
    found = [fn]
    for function in found:
        for named in map(python_function, named_in(function)):
            if named is None or any(named is f for f in found):
                continue
            if any(named is other for other in others):
                return True
            if len(found) < _MOST_FUNCTIONS:
                found.append(named)
    return False
