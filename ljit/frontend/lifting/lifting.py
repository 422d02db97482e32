"""Nested functions that cannot be inlined where they are called become functions of their own (lambda lifting).

That is for functions that call themselves or one another: ``def f(xs): def go(i): ... go(i + 1) ...; return go(0)``.
The variables of `f` that `go` reads are parameters in front of its own; those that it binds again (``nonlocal``) are in
lists of one item, which all of them share. What is given here is `f` written so, with the lifted functions in its
closure: real functions of Python, whose code stands where the user wrote it, so they are called, profiled, compiled and
shown in tracebacks as any other.

That is right where the nested functions are used for calls alone, and where all that they read is bound at each call
(`lifted_variables` and `bound_variables` say whether): while a call runs, only ``nonlocal`` binds a variable again.
"""

from __future__ import annotations

import ast
import copy
from collections.abc import Iterable, Iterator, Mapping, Sequence
from types import CellType, CodeType, FunctionType

from ljit.frontend.lifting.bound_variables import are_bound
from ljit.frontend.lifting.lifted_variables import Lifted, find_lifted, may_be_lifted
from ljit.frontend.sources import (
    FUTURE_FLAGS,
    FunctionSource,
    find_source,
    has_lazy_annotations,
    remember_source,
    without_warnings,
)

__all__ = ["lift_nested"]


#: the name that the function around is compiled under: no lifted one has it
_AROUND = "<around>"


def lift_nested(fn: FunctionType) -> FunctionType | None:
    """Give a function that does what `fn` does, with its nested functions in its closure; None: it cannot be."""
    if not isinstance(fn, FunctionType) or not may_be_lifted(fn.__code__):
        return None  # `find_source` says why the former is not translated
    found = find_source(fn)
    if not isinstance(found.node, ast.FunctionDef):
        return None
    lifted = find_lifted(found.node, fn.__code__, found.class_name)
    if lifted is None or not are_bound(found.node, lifted):
        return None
    return _make(fn, found, found.node, lifted)


def _make(
    fn: FunctionType, found: FunctionSource, node: ast.FunctionDef, lifted: Lifted
) -> FunctionType:
    """Compile the rewritten functions, and make them with their closures."""
    nodes = {name: _lifted_definition(lifted, name) for name in lifted.definitions}
    around = _definition_around(node, lifted, is_lazy=has_lazy_annotations(fn.__code__))
    codes = _compile([*nodes.values(), around], fn.__code__)
    cells = dict(zip(fn.__code__.co_freevars, fn.__closure__ or (), strict=True))
    cells |= {name: CellType() for name in nodes}
    qualname = fn.__code__.co_qualname
    for name, definition in nodes.items():
        made = _function(codes[name], fn, cells)
        made.__defaults__ = tuple(map(ast.literal_eval, definition.args.defaults)) or None
        ranges = found.ranges.within(f"{qualname}.<locals>.{name}", definition)
        remember_source(made, FunctionSource(definition, found.class_name, ranges))
        cells[name].cell_contents = made
    code = codes[_AROUND].replace(co_name=node.name, co_qualname=qualname)
    made = _function(code, fn, cells)
    remember_source(made, FunctionSource(around, found.class_name, found.ranges))
    return made


def _function(code: CodeType, fn: FunctionType, cells: Mapping[str, CellType]) -> FunctionType:
    closure = tuple(cells[name] for name in code.co_freevars)
    made = FunctionType(code, fn.__globals__, code.co_name, None, closure)
    made.__module__ = fn.__module__
    return made


def _compile(nodes: Sequence[ast.FunctionDef], code: CodeType) -> dict[str, CodeType]:
    """Compile functions side by side, the last one under another name; they stand where `code` has its nested ones."""
    *lifted, around = nodes
    named = copy.copy(around)
    named.name = _AROUND
    module = ast.parse("def f(): pass")
    (outer,) = module.body
    assert isinstance(outer, ast.FunctionDef)
    outer.name = code.co_qualname
    outer.args.args = [ast.arg(name, lineno=1, col_offset=0) for name in code.co_freevars]
    outer.body = [*lifted, named]
    flags = code.co_flags & FUTURE_FLAGS
    with without_warnings():
        compiled = compile(module, code.co_filename, "exec", flags=flags, dont_inherit=True)
    inside = next(const for const in compiled.co_consts if isinstance(const, CodeType))
    return {c.co_name: c for c in inside.co_consts if isinstance(c, CodeType)}


def _lifted_definition(lifted: Lifted, name: str) -> ast.FunctionDef:
    """Give the definition of a lifted function: what it has from around are parameters in front of its own."""
    definition = copy.deepcopy(lifted.definitions[name])
    definition.returns = None
    for param in (*definition.args.posonlyargs, *definition.args.args):
        param.annotation = None
    captured = [ast.copy_location(ast.arg(c), definition) for c in lifted.captured[name]]
    definition.args.posonlyargs[:0] = captured
    definition.body = _Rewriter(lifted).all(definition.body)
    return ast.fix_missing_locations(definition)


def _definition_around(node: ast.FunctionDef, lifted: Lifted, *, is_lazy: bool) -> ast.FunctionDef:
    """Give the definition of the function around: in the place of lifted ones it evaluates their annotations."""
    body: list[ast.stmt] = [_list_of(name, node) for name in sorted(lifted.shared)]
    for statement in copy.deepcopy(node.body):
        if not isinstance(statement, ast.FunctionDef):
            body += _Rewriter(lifted).all([statement])
        elif not is_lazy:
            body += [ast.copy_location(ast.Expr(a), a) for a in _annotations(statement)]
    definition = copy.copy(node)
    definition.body, definition.decorator_list = body or [ast.Pass()], []
    return ast.fix_missing_locations(definition)


def _annotations(definition: ast.FunctionDef) -> Iterator[ast.expr]:
    for param in (*definition.args.posonlyargs, *definition.args.args):
        if param.annotation is not None:
            yield param.annotation
    if definition.returns is not None:
        yield definition.returns


def _list_of(name: str, node: ast.FunctionDef) -> ast.stmt:
    """Make ``x = [x]`` of a parameter, ``x = [None]`` of another variable: none is read before it is bound."""
    is_param = any(isinstance(n, ast.arg) and n.arg == name for n in ast.walk(node.args))
    item = ast.Name(name, ast.Load()) if is_param else ast.Constant(None)
    made = ast.Assign([ast.Name(name, ast.Store())], ast.List([item], ast.Load()))
    return ast.fix_missing_locations(ast.copy_location(made, node.body[0]))


class _Rewriter(ast.NodeTransformer):
    """Gives calls of lifted functions what these have from around, and takes shared variables from their lists."""

    def __init__(self, lifted: Lifted) -> None:
        self.lifted = lifted

    def all(self, body: Iterable[ast.stmt]) -> list[ast.stmt]:
        return [self.visit(statement) for statement in body]

    def visit_Call(self, node: ast.Call) -> ast.AST:
        self.generic_visit(node)
        if isinstance(node.func, ast.Name) and node.func.id in self.lifted.definitions:
            names = self.lifted.captured[node.func.id]
            node.args[:0] = [ast.copy_location(ast.Name(n, ast.Load()), node.func) for n in names]
        return node

    def visit_Name(self, node: ast.Name) -> ast.AST:
        if node.id not in self.lifted.shared:
            return node
        of = ast.copy_location(ast.Name(node.id, ast.Load()), node)
        first = ast.copy_location(ast.Constant(0), node)
        return ast.copy_location(ast.Subscript(of, first, node.ctx), node)

    def visit_AnnAssign(self, node: ast.AnnAssign) -> ast.AST:
        self.generic_visit(node)
        node.simple = int(node.simple and isinstance(node.target, ast.Name))
        return node

    def visit_Nonlocal(self, node: ast.Nonlocal) -> ast.AST:
        names = [name for name in node.names if name not in self.lifted.shared]
        left = ast.Nonlocal(names) if names else ast.Pass()
        return ast.copy_location(left, node)
