"""The code of a function's generator expressions, and real generators made of it."""

from __future__ import annotations

from collections import deque
from collections.abc import Generator, Iterator
from types import CellType, CodeType, FunctionType

from ljit.records import Record
from ljit.source import SourceRange

__all__ = ["GeneratorMaker", "find_generator_code"]


def find_generator_code(code: CodeType, where: SourceRange) -> CodeType | None:
    """Find the code of the generator expression at `where` in that of the function around; None: nobody can tell."""
    queue = deque([code])
    while queue:
        inside = [const for const in queue.popleft().co_consts if isinstance(const, CodeType)]
        for inner in inside:
            if inner.co_name == "<genexpr>" and _is_within(inner, where):
                return inner
        queue.extend(inside)
    return None


def _is_within(code: CodeType, where: SourceRange) -> bool:
    first = (where.line, where.source.byte_column(where.line, where.column))
    last = (where.end_line, where.source.byte_column(where.end_line, where.end_column))
    places = list(_places(code))
    return bool(places) and all(first <= place <= last for place in places)


def _places(code: CodeType) -> Iterator[tuple[int, int]]:
    """Give the line and column where each instruction begins, but for those that take up no text."""
    for line, end_line, column, end_column in code.co_positions():
        if line is None or end_line is None or column is None or end_column is None:
            continue
        if (line, column) != (end_line, end_column):
            yield line, column


class GeneratorMaker(Record):
    """Makes the generators of one expression, given the values of the variables around it and an iterator.

    The generator sees the variables as they are now: right for those who use it up at once.
    """

    code: CodeType
    namespace: dict[str, object]
    cells: tuple[
        CellType | None, ...
    ]  # of each free variable; None: it is a variable of the function

    def __call__(self, *values: object) -> Generator[object, object, object]:
        """Make one; the last one of `values` is the iterator."""
        *variables, iterator = values
        left = iter(variables)
        closure = tuple([cell or CellType(next(left)) for cell in self.cells])
        function = FunctionType(self.code, self.namespace, self.code.co_name, None, closure)
        function.__qualname__ = self.code.co_qualname
        made: Generator[object, object, object] = function(iterator)
        return made
