"""A Python function to a `Def` tree: statements; the expressions are in build_expressions.py."""

from __future__ import annotations

import ast
from collections.abc import Callable, Sequence
from types import FunctionType
from typing import Any

from ljit.frontend.sources import find_source, has_lazy_annotations
from ljit.frontend.trees import tree, tree_patterns
from ljit.frontend.trees.build_expressions import BINARY_OPERATORS, ExpressionBuilder, unsupported
from ljit.frontend.trees.build_patterns import PatternBuilder
from ljit.frontend.trees.tree import Tree
from ljit.records import Record
from ljit.source import SourceRange

__all__ = ["build_def"]

_UNSUPPORTED = {
    "TryStar": "try/except* is not translated; move it into a function that calls this one",
    "ClassDef": "a class in a function is not translated; define it at module level",
    "AsyncFunctionDef": "async code is not translated; move the numeric part into a plain function",
    "AsyncFor": "async code is not translated; move the numeric part into a plain function",
    "AsyncWith": "async code is not translated; move the numeric part into a plain function",
    "TypeAlias": "a type alias in a function is not translated; define it at module level",
}


def build_def(fn: FunctionType) -> tree.Def:
    """Build the tree of `fn`.

    Raises SourceUnavailableError if there is no source, UnsupportedSyntaxError if something in
    it is not translated.
    """
    found = find_source(fn)
    is_lazy = has_lazy_annotations(fn.__code__)
    builder = ExpressionBuilder(found.ranges, found.class_name, is_lazy)
    node = found.node
    if isinstance(node, ast.AsyncFunctionDef):
        raise unsupported(_UNSUPPORTED["AsyncFunctionDef"], found.ranges.of(node))
    where = found.ranges.of(node)
    returns = None if isinstance(node, ast.Lambda) else node.returns
    decl = builder.declaration(node.args, returns, is_nested=False)
    if isinstance(node, ast.Lambda):
        value = builder.build(node.body)
        return tree.Def(where, "<lambda>", decl, (tree.Return(value.range, value),), is_lazy)
    return tree.Def(where, node.name, decl, StatementBuilder(builder).build_all(node.body), is_lazy)


def _parts_of(node: ast.stmt) -> Sequence[ast.stmt]:
    """Take ``import a, b`` apart, which is ``import a`` and ``import b``."""
    if not isinstance(node, ast.Import):
        return (node,)
    return [ast.copy_location(ast.Import([alias]), node) for alias in node.names]


class StatementBuilder(Record):
    """Builds the statements of one function."""

    expressions: ExpressionBuilder

    def build_all(self, nodes: Sequence[ast.stmt]) -> tuple[Tree, ...]:
        """Build statements in turn."""
        return tuple([self.build(part) for node in nodes for part in _parts_of(node)])

    def build(self, node: ast.stmt) -> Tree:
        """Build one statement."""
        rule = _RULES.get(type(node))
        if rule is None:
            name = type(node).__name__
            other = f"a statement of kind {name} is not translated; write it in other words"
            message = _UNSUPPORTED.get(name, other)
            raise unsupported(message, self._where(node))
        return rule(self, node)

    def _where(self, node: ast.AST) -> SourceRange:
        return self.expressions.ranges.of(node)

    def definition(self, node: ast.FunctionDef) -> Tree:
        outer = self.expressions
        inner = outer.inside(node.name, node)
        return tree.Def(
            self._where(node),
            outer.mangle(node.name),
            outer.declaration(node.args, node.returns),
            StatementBuilder(inner).build_all(node.body),
            outer.has_lazy_annotations,
            outer.build_all(node.decorator_list),
        )

    def assign(self, node: ast.Assign) -> Tree:
        value = self.expressions.build(node.value)
        targets = self.expressions.build_all(node.targets)
        return tree.Assign(self._where(node), targets, value, None)

    def annotated_assign(self, node: ast.AnnAssign) -> Tree:
        if isinstance(node.target, ast.Name) and node.value is None and not node.simple:
            return tree.Pass(self._where(node))  # ``(x): int`` makes no variable of x
        value = self.expressions.optional(node.value)
        annotation = self.expressions.hint(node.annotation, is_evaluated=False)
        target = self.expressions.build(node.target)
        return tree.Assign(self._where(node), (target,), value, annotation)

    def augmented_assign(self, node: ast.AugAssign) -> Tree:
        target = self.expressions.build(node.target)
        operator = "i" + BINARY_OPERATORS[type(node.op)]
        return tree.AugAssign(
            self._where(node), operator, target, self.expressions.build(node.value)
        )

    def delete(self, node: ast.Delete) -> Tree:
        return tree.Delete(self._where(node), self.expressions.build_all(node.targets))

    def expression(self, node: ast.Expr) -> Tree:
        return tree.ExprStmt(self._where(node), self.expressions.build(node.value))

    def return_(self, node: ast.Return) -> Tree:
        where = self._where(node)
        value = self.expressions.optional(node.value)
        return tree.Return(where, value if value is not None else tree.Const(where, None))

    def if_(self, node: ast.If) -> Tree:
        condition = self.expressions.build(node.test)
        body, orelse = self.build_all(node.body), self.build_all(node.orelse)
        return tree.If(self._where(node), condition, body, orelse)

    def while_(self, node: ast.While) -> Tree:
        condition = self.expressions.build(node.test)
        body, orelse = self.build_all(node.body), self.build_all(node.orelse)
        return tree.While(self._where(node), condition, body, orelse)

    def for_(self, node: ast.For) -> Tree:
        target, iterable = self.expressions.build(node.target), self.expressions.build(node.iter)
        body, orelse = self.build_all(node.body), self.build_all(node.orelse)
        return tree.For(self._where(node), (target,), (iterable,), body, orelse)

    def match(self, node: ast.Match) -> Tree:
        patterns = PatternBuilder(self.expressions)
        cases = [
            tree_patterns.Case(
                self._where(case.pattern),
                patterns.build(case.pattern),
                self.expressions.optional(case.guard),
                self.build_all(case.body),
            )
            for case in node.cases
        ]
        subject = self.expressions.build(node.subject)
        return tree_patterns.Match(self._where(node), subject, tuple(cases))

    def assert_(self, node: ast.Assert) -> Tree:
        condition = self.expressions.build(node.test)
        return tree.Assert(self._where(node), condition, self.expressions.optional(node.msg))

    def raise_(self, node: ast.Raise) -> Tree:
        exception = self.expressions.optional(node.exc)
        return tree.Raise(self._where(node), exception, self.expressions.optional(node.cause))

    def try_(self, node: ast.Try) -> Tree:
        body = self.build_all(node.body)
        handlers = tuple([self.handler(handler) for handler in node.handlers])
        orelse, final = self.build_all(node.orelse), self.build_all(node.finalbody)
        return tree.Try(self._where(node), body, handlers, orelse, final)

    def handler(self, node: ast.ExceptHandler) -> tree.Handler:
        classes = self.expressions.optional(node.type)
        name = self.expressions.mangle(node.name) if node.name else ""
        return tree.Handler(self._where(node), classes, name, self.build_all(node.body))

    def with_(self, node: ast.With) -> Tree:
        """``with a, b:`` is ``with a: with b:``."""
        where, body = self._where(node), self.build_all(node.body)
        for item in reversed(node.items):
            manager = self.expressions.build(item.context_expr)
            target = self.expressions.optional(item.optional_vars)
            body = (tree.With(where, manager, (target,) if target is not None else (), body),)
        return body[0]

    def import_(self, node: ast.Import) -> Tree:
        (alias,) = node.names
        first, *path = alias.name.split(".")
        bound = self._bound(node, alias.asname or first)
        paths = (tuple(path) if alias.asname else (),)
        return tree.Import(self._where(node), alias.name, 0, None, paths, (bound,))

    def import_from(self, node: ast.ImportFrom) -> Tree:
        names = tuple([alias.name for alias in node.names])
        bound = tuple([self._bound(node, alias.asname or alias.name) for alias in node.names])
        paths = tuple([(name,) for name in names])
        return tree.Import(self._where(node), node.module or "", node.level, names, paths, bound)

    def _bound(self, node: ast.stmt, name: str) -> Tree:
        return tree.Var(self._where(node), self.expressions.mangle(name))

    def outside(self, node: ast.Global | ast.Nonlocal) -> Tree:
        names = tuple([self.expressions.mangle(name) for name in node.names])
        return tree.Outside(self._where(node), names, isinstance(node, ast.Global))

    def pass_(self, node: ast.Pass) -> Tree:
        return tree.Pass(self._where(node))

    def break_(self, node: ast.Break) -> Tree:
        return tree.Break(self._where(node))

    def continue_(self, node: ast.Continue) -> Tree:
        return tree.Continue(self._where(node))


_Rule = Callable[[StatementBuilder, Any], Tree]  # each takes the node type that it is listed under
_RULES: dict[type[ast.stmt], _Rule] = {
    ast.FunctionDef: StatementBuilder.definition,
    ast.Assign: StatementBuilder.assign,
    ast.AnnAssign: StatementBuilder.annotated_assign,
    ast.AugAssign: StatementBuilder.augmented_assign,
    ast.Delete: StatementBuilder.delete,
    ast.Expr: StatementBuilder.expression,
    ast.Return: StatementBuilder.return_,
    ast.If: StatementBuilder.if_,
    ast.While: StatementBuilder.while_,
    ast.For: StatementBuilder.for_,
    ast.Match: StatementBuilder.match,
    ast.Assert: StatementBuilder.assert_,
    ast.Raise: StatementBuilder.raise_,
    ast.Try: StatementBuilder.try_,
    ast.With: StatementBuilder.with_,
    ast.Import: StatementBuilder.import_,
    ast.ImportFrom: StatementBuilder.import_from,
    ast.Global: StatementBuilder.outside,
    ast.Nonlocal: StatementBuilder.outside,
    ast.Pass: StatementBuilder.pass_,
    ast.Break: StatementBuilder.break_,
    ast.Continue: StatementBuilder.continue_,
}
