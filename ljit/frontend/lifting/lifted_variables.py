"""Which nested functions can be lifted out of a function, and which variables around they read and bind.

All of them are, or none: those that are defined right in the function's body, once, without decorators, with parameters
by position and constant defaults, and used for nothing but calls that fit. What they read of the function around must
keep its meaning as a parameter of theirs: no other name hides it, nobody looks names up by their texts.
"""

from __future__ import annotations

import ast
import inspect
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from types import CodeType

from ljit.records import Record

__all__ = ["Lifted", "find_lifted", "imported_name", "may_be_lifted"]

#: what asks for names, or makes some that are no variables of the function
_LOOKS_AT_NAMES = frozenset(("locals", "vars", "dir", "eval", "exec", "super", "__class__"))
_NEVER = (ast.ClassDef, ast.AsyncFunctionDef, ast.Await, ast.Yield, ast.YieldFrom)
_GENERATORS = inspect.CO_GENERATOR | inspect.CO_COROUTINE | inspect.CO_ASYNC_GENERATOR


class Lifted(Record):
    """The nested functions by name.

    `captured` are the variables that a function or those that it calls have from around, `called` itself and all that
    it calls, `shared` the variables that nested functions bind again.
    """

    definitions: Mapping[str, ast.FunctionDef]
    captured: Mapping[str, tuple[str, ...]]
    called: Mapping[str, frozenset[str]]
    shared: frozenset[str]


def may_be_lifted(code: CodeType) -> bool:
    """Whether a nested function is a variable that nested functions read: few functions have such a one."""
    nested = [c for c in code.co_consts if isinstance(c, CodeType)]
    names = {c.co_name for c in nested}.intersection(code.co_cellvars)
    return any(not names.isdisjoint(c.co_freevars) for c in nested)


def find_lifted(node: ast.FunctionDef, code: CodeType, class_name: str | None) -> Lifted | None:
    """Find the functions to lift out of `node`, whose code is `code`.

    None: none of them calls itself, or they cannot be lifted.
    """
    definitions = {n.name: n for n in node.body if isinstance(n, ast.FunctionDef)}
    codes = {c.co_name: c for c in code.co_consts if isinstance(c, CodeType)}
    if not definitions or not definitions.keys() <= codes.keys():
        return None
    if not all(_is_plain(n, codes[name]) for name, n in definitions.items()):
        return None
    parts = list(ast.walk(node))
    if not _are_names_plain(parts, class_name) or not _are_only_called(node, definitions):
        return None
    own = {n: frozenset(codes[n].co_freevars) & frozenset(code.co_cellvars) for n in definitions}
    called = _closed({n: own[n] & definitions.keys() for n in definitions})
    if not any(name in called[name] for name in definitions):
        return None  # they are inlined
    called = {name: found | {name} for name, found in called.items()}
    captured = {
        name: frozenset().union(*(own[n] for n in called[name])) - definitions.keys()
        for name in definitions
    }
    names = frozenset(definitions).union(*captured.values())
    shared = {name for n in parts if isinstance(n, ast.Nonlocal) for name in n.names} & names
    imported = {imported_name(n) for n in parts if isinstance(n, ast.alias)}
    if shared & (definitions.keys() | imported):
        return None
    if any(_hides(codes[n], captured[n]) for n in definitions) or names & _bound_apart(node, parts):
        return None
    if names & _bound_otherwise(parts) or _is_kept_and_bound_again(
        node, definitions, names - shared
    ):
        return None
    in_order = {name: tuple(sorted(variables)) for name, variables in captured.items()}
    return Lifted(definitions, in_order, called, frozenset(shared))


def _is_plain(definition: ast.FunctionDef, code: CodeType) -> bool:
    """Whether a function has nothing but parameters by position, with constants as defaults."""
    args = definition.args
    if definition.decorator_list or args.vararg or args.kwonlyargs or args.kwarg:
        return False
    if code.co_flags & _GENERATORS or getattr(definition, "type_params", None):
        return False
    return all(isinstance(default, ast.Constant) for default in args.defaults)


def _are_names_plain(parts: Iterable[ast.AST], class_name: str | None) -> bool:
    """Whether all names mean the same in functions that stand elsewhere."""
    for part in parts:
        if isinstance(part, _NEVER):
            return False
        if isinstance(part, ast.Name):
            if part.id in _LOOKS_AT_NAMES or (class_name and part.id.startswith("__")):
                return False
        if isinstance(part, ast.Attribute) and class_name and part.attr.startswith("__"):
            return False
    return True


def _are_only_called(node: ast.FunctionDef, definitions: Mapping[str, ast.FunctionDef]) -> bool:
    """Whether the functions are bound once and used for nothing but calls that fit."""
    calls = [n for n in ast.walk(node) if isinstance(n, ast.Call) and isinstance(n.func, ast.Name)]
    names = Counter(n.id for n in ast.walk(node) if isinstance(n, ast.Name))
    names.update(n.name for n in ast.walk(node) if isinstance(n, ast.FunctionDef))
    names.update(n.arg for n in ast.walk(node) if isinstance(n, ast.arg))
    for name, definition in definitions.items():
        own = [n for n in calls if isinstance(n.func, ast.Name) and n.func.id == name]
        if names[name] != len(own) + 1 or not all(_fits(n, definition.args) for n in own):
            return False
    return True


def _fits(call: ast.Call, args: ast.arguments) -> bool:
    """Whether a call gives each parameter its value."""
    params = [*args.posonlyargs, *args.args]
    given = [keyword.arg for keyword in call.keywords]
    if None in given or any(isinstance(n, ast.Starred) for n in call.args):
        return False
    by_position = {param.arg for param in params[: len(call.args)]}
    allowed = {param.arg for param in args.args} - by_position
    required = {param.arg for param in params[: len(params) - len(args.defaults)]}
    names = {name for name in given if name is not None}
    return len(call.args) <= len(params) and names <= allowed and required <= by_position | names


def _closed(edges: Mapping[str, frozenset[str]]) -> dict[str, frozenset[str]]:
    """Give the transitive closure."""
    closed = dict(edges)
    for _ in edges:
        closed = {n: found.union(*(closed[m] for m in found)) for n, found in closed.items()}
    return closed


def _hides(code: CodeType, captured: frozenset[str]) -> bool:
    """Whether variables of a function's own have names that its parameters need."""
    return not captured.isdisjoint((*code.co_varnames, *code.co_cellvars))


def _bound_apart(node: ast.FunctionDef, parts: Iterable[ast.AST]) -> set[str]:
    """The names that lambdas, comprehensions and functions further inside bind for themselves."""
    found: set[str] = set()
    for part in parts:
        if isinstance(part, ast.comprehension):
            found.update(_stored(part.target))
        elif isinstance(part, ast.Lambda):
            found.update(n.arg for n in ast.walk(part.args) if isinstance(n, ast.arg))
        elif isinstance(part, ast.FunctionDef) and part is not node and part not in node.body:
            found.update(n.arg for n in ast.walk(part.args) if isinstance(n, ast.arg))
            found.update(_stored(part))
    return found


def _bound_otherwise(parts: Iterable[ast.AST]) -> set[str]:
    """The names that are bound by more than an assignment, a loop or an import, or unbound."""
    found: set[str] = set()
    for part in parts:
        match part:
            case ast.Delete():
                found.update(n.id for n in ast.walk(part) if isinstance(n, ast.Name))
            case ast.NamedExpr(target=ast.Name(id=name)):
                found.add(name)
            case ast.ExceptHandler(name=str(name)) | ast.MatchAs(name=str(name)):
                found.add(name)
            case ast.MatchStar(name=str(name)) | ast.MatchMapping(rest=str(name)):
                found.add(name)
            case ast.Global():
                found.update(part.names)
    return found


def _stored(part: ast.AST) -> Iterator[str]:
    for n in ast.walk(part):
        if isinstance(n, ast.Name) and not isinstance(n.ctx, ast.Load):
            yield n.id
        elif isinstance(n, ast.alias):
            yield imported_name(n)


def imported_name(part: ast.alias) -> str:
    """The variable that an import binds."""
    return part.asname or part.name.partition(".")[0]


def _is_kept_and_bound_again(
    node: ast.FunctionDef, definitions: Mapping[str, ast.FunctionDef], names: frozenset[str]
) -> bool:
    """Whether a function that a lifted one makes reads a variable that may be bound again while it is kept."""
    makers = (ast.Lambda, ast.GeneratorExp, ast.FunctionDef)
    inner = [n for d in definitions.values() for part in d.body for n in ast.walk(part)]
    kept = {
        n.id
        for part in inner
        if isinstance(part, makers)
        for n in ast.walk(part)
        if isinstance(n, ast.Name)
    }
    outside = [part for part in node.body if part not in definitions.values()]
    bound = Counter(name for part in outside for name in _stored(part))
    bound.update(n.arg for n in ast.walk(node.args) if isinstance(n, ast.arg))
    bound.update(
        name
        for part in outside
        for loop in ast.walk(part)
        if isinstance(loop, ast.For | ast.While)
        for name in _stored(loop)
    )
    return any(bound[name] > 1 for name in kept & names)
