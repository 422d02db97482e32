"""The patterns of ``match`` to tree views."""

from __future__ import annotations

import ast
from collections.abc import Callable, Sequence
from typing import Any

from ljit.frontend.trees import tree_patterns as tree
from ljit.frontend.trees.build_expressions import ExpressionBuilder
from ljit.frontend.trees.tree import Const, Tree
from ljit.records import Record

__all__ = ["PatternBuilder"]


class PatternBuilder(Record):
    """Builds the patterns of one function."""

    expressions: ExpressionBuilder

    def build(self, node: ast.pattern) -> Tree:
        """Build one pattern."""
        return _RULES[type(node)](self, node)

    def build_all(self, nodes: Sequence[ast.pattern]) -> tuple[Tree, ...]:
        return tuple([self.build(node) for node in nodes])

    def name(self, name: str | None) -> str | None:
        return None if name is None else self.expressions.mangle(name)

    def value(self, node: ast.MatchValue) -> Tree:
        where = self.expressions.ranges.of(node)
        return tree.ValuePattern(where, self.expressions.build(node.value), is_singleton=False)

    def singleton(self, node: ast.MatchSingleton) -> Tree:
        where = self.expressions.ranges.of(node)
        return tree.ValuePattern(where, Const(where, node.value), is_singleton=True)

    def sequence(self, node: ast.MatchSequence) -> Tree:
        where = self.expressions.ranges.of(node)
        return tree.SequencePattern(where, self.build_all(node.patterns))

    def star(self, node: ast.MatchStar) -> Tree:
        return tree.StarPattern(self.expressions.ranges.of(node), self.name(node.name))

    def mapping(self, node: ast.MatchMapping) -> Tree:
        where, keys = self.expressions.ranges.of(node), self.expressions.build_all(node.keys)
        patterns = self.build_all(node.patterns)
        return tree.MappingPattern(where, keys, patterns, self.name(node.rest))

    def class_(self, node: ast.MatchClass) -> Tree:
        patterns = self.build_all([*node.patterns, *node.kwd_patterns])
        where = self.expressions.ranges.of(node)
        names = tuple(node.kwd_attrs)  # CPython mangles no attribute of a pattern
        return tree.ClassPattern(where, self.expressions.build(node.cls), patterns, names)

    def any(self, node: ast.MatchAs) -> Tree:
        pattern = None if node.pattern is None else self.build(node.pattern)
        return tree.AnyPattern(self.expressions.ranges.of(node), pattern, self.name(node.name))

    def either(self, node: ast.MatchOr) -> Tree:
        where = self.expressions.ranges.of(node)
        return tree.OrPattern(where, self.build_all(node.patterns))


_Rule = Callable[[PatternBuilder, Any], Tree]  # each takes the node type that it is listed under
_RULES: dict[type[ast.pattern], _Rule] = {
    ast.MatchValue: PatternBuilder.value,
    ast.MatchSingleton: PatternBuilder.singleton,
    ast.MatchSequence: PatternBuilder.sequence,
    ast.MatchStar: PatternBuilder.star,
    ast.MatchMapping: PatternBuilder.mapping,
    ast.MatchClass: PatternBuilder.class_,
    ast.MatchAs: PatternBuilder.any,
    ast.MatchOr: PatternBuilder.either,
}
