"""Functions that functions make, as functions of the module: what their closures hold are parameters in front.

For ``def make(k): return lambda x: k * x`` that is the function ``lambda k, x: k * x``, whose code stands where the
user wrote it. Whoever calls it reads the cells of the closure at hand. That is right where no variable in the cells is
bound again while the call runs: no nested function binds it (``nonlocal``), and the functions around are no generators,
which go on when they are asked for their next item.
"""

from __future__ import annotations

import ast
import copy
import inspect
import weakref
from collections.abc import Iterator, Sequence
from types import CellType, CodeType, FunctionType
from typing import Any

from ljit.cpython.parameters import has_keywords, has_rest
from ljit.errors import SourceUnavailableError
from ljit.frontend.sources import (
    FunctionNode,
    FunctionSource,
    compile_alone,
    find_source,
    nodes_around,
    remember_source,
)

__all__ = ["with_cells_as_parameters"]

_RUNS_LATER = inspect.CO_GENERATOR | inspect.CO_COROUTINE | inspect.CO_ASYNC_GENERATOR
_FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda)

#: by the ids of the code and the variables, which `_origins` lets live as long
_made: weakref.WeakValueDictionary[tuple[int, int], FunctionType] = weakref.WeakValueDictionary()
_origins: weakref.WeakKeyDictionary[FunctionType, CodeType] = weakref.WeakKeyDictionary()


def with_cells_as_parameters(code: CodeType, variables: dict[str, Any]) -> FunctionType | None:
    """Give the function that does what those made of the code do; None: there may be none.

    `variables` are the global ones. There is one function at a time for both.
    """
    key = id(code), id(variables)
    made = _made.get(key)
    if made is None:
        made = _make(code, variables)
        if made is not None:
            _made[key], _origins[made] = made, code
    return made


def _make(code: CodeType, variables: dict[str, Any]) -> FunctionType | None:
    if has_rest(code) or has_keywords(code) or code.co_flags & _RUNS_LATER:
        return None
    if "__class__" in code.co_freevars:
        return None
    if not code.co_freevars:
        return FunctionType(code, variables)
    closure = tuple(CellType() for _ in code.co_freevars)
    try:
        found = find_source(FunctionType(code, variables, closure=closure))
    except SourceUnavailableError:
        return None
    if not _are_steady(code.co_freevars, nodes_around(code, found)):
        return None
    node = _with_parameters(found.node, code.co_freevars)
    compiled = compile_alone(node, found.class_name, code)
    if compiled is None or compiled.co_freevars:
        return None
    made = FunctionType(compiled, variables)
    remember_source(made, FunctionSource(node, found.class_name, found.ranges))
    return made


def _are_steady(names: Sequence[str], around: Sequence[ast.AST]) -> bool:
    """Whether none of the variables can be bound again while a function that has them in cells runs.

    `around` is what the function stands in, the outermost function first; nothing: nobody can tell.
    """
    if not around or any(map(_may_go_on, around)):
        return False
    rebound = (n for n in ast.walk(around[0]) if isinstance(n, ast.Nonlocal))
    return not any(name in names or name.startswith("__") for n in rebound for name in n.names)


def _may_go_on(node: ast.AST) -> bool:
    """Whether it is run in parts, between which others run."""
    if isinstance(node, ast.GeneratorExp | ast.AsyncFunctionDef):
        return True
    return isinstance(node, _FUNCTIONS) and any(
        isinstance(n, ast.Yield | ast.YieldFrom | ast.Await) for n in _own_nodes(node)
    )


def _own_nodes(function: ast.AST) -> Iterator[ast.AST]:
    """What is in a function, not in those that are nested in it."""
    pending = list(ast.iter_child_nodes(function))
    while pending:
        node = pending.pop()
        yield node
        if not isinstance(node, _FUNCTIONS):
            pending += ast.iter_child_nodes(node)


def _with_parameters(node: FunctionNode, names: Sequence[str]) -> FunctionNode:
    """Give the function with more parameters in front, and without what is evaluated where it is made."""
    made = copy.deepcopy(node)
    params = [*made.args.posonlyargs, *made.args.args, *made.args.kwonlyargs]
    for param in params:
        param.annotation = None
    if not isinstance(made, ast.Lambda):
        made.decorator_list, made.returns = [], None
    made.args.defaults, made.args.kw_defaults = [], [None] * len(made.args.kwonlyargs)
    made.args.posonlyargs[:0] = [ast.copy_location(ast.arg(name), node) for name in names]
    return ast.fix_missing_locations(made)
