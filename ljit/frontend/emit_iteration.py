"""What loops and comprehensions share: what they run over, and how they end."""

from __future__ import annotations

import sys
from collections.abc import Sequence

from ljit.frontend.emission import Emission, Exit
from ljit.frontend.tree import Tree
from ljit.ir import Value
from ljit.source import SourceRange

__all__ = ["leave_unless", "place_of_iterator"]

#: CPython 3.12 moved errors of the iterator from the statement to the iterable
_ITERATOR_HAS_PLACE = sys.version_info >= (3, 12)


def place_of_iterator(iterable: Tree, around: SourceRange) -> SourceRange:
    """Where errors of the iterator stand."""
    return iterable.range if _ITERATOR_HAS_PLACE else around


def leave_unless(
    e: Emission,
    loop: Exit,
    outer: Exit | None,
    more: Value,
    orelse: Sequence[Tree],
    where: SourceRange,
) -> None:
    """Leave the loop through its `else` clause, which belongs to the loop around it."""

    def leave() -> Sequence[Value]:
        e.loop = outer
        e.statements(orelse)
        e.loop = loop
        if not e.block.is_terminated:
            e.leave(loop, where)
        return ()

    e.branch(more, tuple, leave, where)
