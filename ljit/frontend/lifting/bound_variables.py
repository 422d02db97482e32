"""Whether variables are bound wherever lifted functions, or reads of what they share, need them."""

from __future__ import annotations

import ast
from collections.abc import Iterable, Sequence

from ljit.frontend.lifting.lifted_variables import Lifted, imported_name

__all__ = ["are_bound"]

#: the names that are bound at a place; None: control does not come there
_Bound = frozenset[str] | None
_LEAVES = (ast.Return, ast.Raise, ast.Break, ast.Continue)
_COMPOUND = (ast.For, ast.While, ast.With, ast.Try, ast.Match)
_PARTS = (ast.excepthandler, ast.match_case)
_SIMPLE = (
    ast.Assign,
    ast.AugAssign,
    ast.AnnAssign,
    ast.Expr,
    ast.Assert,
    ast.Pass,
    ast.Delete,
    ast.Import,
    ast.ImportFrom,
    ast.Global,
)


def are_bound(node: ast.FunctionDef, lifted: Lifted) -> bool:
    """Whether each call in `node` finds what the function called needs, and each read of a shared variable finds it."""
    params = frozenset(n.arg for n in ast.walk(node.args) if isinstance(n, ast.arg))
    try:
        _Walk(lifted).statements(node.body, params)
    except _UnboundError:
        return False
    return True


class _UnboundError(Exception):
    """A variable may not be bound, or nobody can tell."""


class _Walk:
    """Walks over statements with the names that are bound on every way to them."""

    def __init__(self, lifted: Lifted) -> None:
        self.lifted = lifted

    def statements(self, statements: Sequence[ast.stmt], bound: frozenset[str]) -> _Bound:
        now: _Bound = bound
        for statement in statements:
            if now is None:
                return None
            now = self.statement(statement, now)
        return now

    def statement(self, statement: ast.stmt, bound: frozenset[str]) -> _Bound:
        if isinstance(statement, ast.FunctionDef) and statement.name in self.lifted.definitions:
            return bound | {statement.name}
        if isinstance(statement, ast.If):
            self.check(statement.test, bound)
            ways = [self.statements(b, bound) for b in (statement.body, statement.orelse)]
            return _joined(ways)
        if isinstance(statement, _COMPOUND):
            self.compound(statement, bound)
            return bound
        if not isinstance(statement, (*_SIMPLE, *_LEAVES)):
            raise _UnboundError
        self.check(statement, bound)
        return None if isinstance(statement, _LEAVES) else bound | _stored([statement])

    def compound(self, statement: ast.AST, bound: frozenset[str]) -> None:
        """Look at a statement whose parts may run any number of times; or at a handler, or case, of one."""
        children = list(ast.iter_child_nodes(statement))
        heads = [part for part in children if not isinstance(part, (ast.stmt, *_PARTS))]
        for head in heads:
            self.check(head, bound)
        self.statements(getattr(statement, "body", ()), bound | _stored(heads))
        for part in children:
            if isinstance(part, _PARTS):
                self.compound(part, bound)
        for rest in ("orelse", "finalbody"):
            self.statements(getattr(statement, rest, ()), bound)

    def check(self, part: ast.AST, bound: frozenset[str]) -> None:
        """Look at what expressions need."""
        for n in ast.walk(part):
            if not isinstance(n, ast.Name):
                continue
            if n.id in self.lifted.definitions and not self._needs(n.id) <= bound:
                raise _UnboundError
            is_read = isinstance(n.ctx, ast.Load) or isinstance(part, ast.AugAssign)
            if n.id in self.lifted.shared and is_read and n.id not in bound:
                raise _UnboundError

    def _needs(self, name: str) -> frozenset[str]:
        return self.lifted.called[name].union(self.lifted.captured[name])


def _joined(ways: Iterable[_Bound]) -> _Bound:
    found = [way for way in ways if way is not None]
    return frozenset.intersection(*found) if found else None


def _stored(parts: Iterable[ast.AST]) -> frozenset[str]:
    """The names that are bound; those without a value (``x: int``) are not."""
    return frozenset(
        name
        for part in parts
        if not (isinstance(part, ast.AnnAssign) and part.value is None)
        for n in ast.walk(part)
        if (name := _bound_by(n)) is not None
    )


def _bound_by(part: ast.AST) -> str | None:
    if isinstance(part, ast.Name) and isinstance(part.ctx, ast.Store):
        return part.id
    return imported_name(part) if isinstance(part, ast.alias) else None
