"""Dicts that are made step by step: displays, and the keyword arguments of calls with ``**``."""

from __future__ import annotations

from ljit.frontend.emitting.emission import Emission, emits
from ljit.frontend.trees import tree
from ljit.frontend.trees.tree import Tree
from ljit.ir import Value
from ljit.source import SourceRange

__all__ = ["GrowingDict"]


class GrowingDict:
    """A dict of runs of pairs and of other dicts, put together in the order of the source.

    `merge` is the op that puts another dict into it; `operands` are what it takes behind the two.
    """

    def __init__(self, e: Emission, where: SourceRange, merge: str, *operands: Value) -> None:
        self._emission = e
        self._where = where
        self._merge = merge
        self._operands = operands
        self._made: Value | None = None
        self._pairs: list[Value] = []

    def add(self, key: Value, value: Value) -> None:
        """Add a pair."""
        self._pairs += [key, value]

    def merge(self, other: Tree) -> None:
        """Add the pairs of a mapping; what is before it is in the dict by then."""
        self._made = self.value()
        self._pairs = []
        self._put(self._made, self._emission.expression(other))

    def value(self) -> Value:
        """Give the dict with all pairs in it."""
        if self._made is None:
            return self._run_of_pairs()
        if self._pairs:
            self._put(self._made, self._run_of_pairs())
        return self._made

    def _run_of_pairs(self) -> Value:
        return self._emission.emit("prim::DictConstruct", *self._pairs, where=self._where)

    def _put(self, made: Value, other: Value) -> None:
        self._emission.effect(self._merge, made, other, *self._operands, where=self._where)


@emits(tree.DictLiteral)
def _dict(e: Emission, literal: tree.DictLiteral) -> Value:
    made = GrowingDict(e, literal.range, "prim::dict_update")
    for entry in literal.entries:
        if isinstance(entry, tree.DictEntry):
            made.add(e.expression(entry.key), e.expression(entry.value))
        else:
            assert isinstance(entry, tree.DoubleStarred)
            made.merge(entry.value)
    return made.value()
