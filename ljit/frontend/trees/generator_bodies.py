"""Which generator functions can run in the place of the call that makes their generator.

A generator runs from one yield to the next while a loop waits for it. That the loop has its body instead differs where
somebody could tell that a generator was given up: so a body has simple statements only (no ``try``, no ``with``).
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from ljit.frontend.trees import tree
from ljit.frontend.trees.tree import Tree
from ljit.frontend.trees.tree_base import parts_of
from ljit.frontend.trees.tree_patterns import Match

__all__ = ["can_run_in_place", "yields_of"]

_MOST_YIELDS = 4  # the loop's body is written as often
_STATEMENTS = (
    (tree.Assert | tree.Assign | tree.AugAssign | tree.Break | tree.Continue | tree.Delete)
    | (tree.ExprStmt | tree.For | tree.If | Match | tree.Pass | tree.Raise | tree.Return)
    | tree.While
)


def can_run_in_place(definition: tree.Def) -> bool:
    """Whether a generator function has simple statements, and few yields, all of them statements."""
    statements = list(_statements(definition.body))
    yields = yields_of(definition)
    alone = [s.value for s in statements if isinstance(s, tree.ExprStmt)]
    return (
        len(yields) <= _MOST_YIELDS
        and all(isinstance(statement, _STATEMENTS) for statement in statements)
        and all(any(part is value for value in alone) for part in yields)
    )


def yields_of(definition: tree.Def) -> list[tree.Yield]:
    """Give the yields of a generator function that can run in place."""
    parts = (part for statement in definition.body for part in parts_of(statement))
    return [part for part in parts if isinstance(part, tree.Yield)]


def _statements(body: Sequence[Tree]) -> Iterator[Tree]:
    for statement in body:
        yield statement
        if isinstance(statement, tree.If | tree.For | tree.While):
            yield from _statements((*statement.body, *statement.orelse))
        elif isinstance(statement, Match):
            for case in statement.cases:
                yield from _statements(case.body)
