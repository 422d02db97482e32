"""What names stand for while a function is translated. The graph asks again in each call."""

from __future__ import annotations

import builtins
import sys
from collections.abc import Callable, Sequence
from types import FunctionType

from ljit.cpython.classes import variables_of_module
from ljit.frontend.emitting.emission import Emission
from ljit.frontend.trees import tree
from ljit.frontend.trees.tree import Tree
from ljit.ir import Value
from ljit.source import SourceRange
from ljit.types import BOOL

__all__ = ["are_known", "either", "imported_value", "known_value", "likely_value", "outer_value"]


def known_value(e: Emission, function: Tree) -> object:
    """Give what a global name, or an attribute of a module, stands for now; None if unknown."""
    if isinstance(function, tree.Var):
        fn = e.function
        if e.find(function.name) is not None or function.name in fn.__code__.co_freevars:
            return None
        return fn.__globals__.get(function.name, getattr(builtins, function.name, None))
    if isinstance(function, tree.Select):
        return _member(known_value(e, function.value), function.name)
    return None


def likely_value(e: Emission, function: Tree) -> object:
    """Give what such an expression stands for if no variable is bound again; None if unknown.

    Other than `known_value` it knows closure variables, and those that an import or another name gave their value:
    enough to refuse.
    """
    known = known_value(e, function)
    if known is not None:
        return known
    if isinstance(function, tree.Select):
        return _member(likely_value(e, function.value), function.name)
    if isinstance(function, tree.Var):
        found = e.find(function.name)
        if found is not None:
            return e.likely.get(found[1])
        return outer_value(e.function, function.name)
    return None


def imported_value(fn: FunctionType, statement: tree.Import, path: Sequence[str]) -> object:
    """Give what an import of a function binds, if the module is there by now; None if unknown."""
    name = statement.module
    if statement.level:
        package = fn.__globals__.get("__package__") or ""
        parent = package.rsplit(".", statement.level - 1)[0]
        name = f"{parent}.{name}" if name else parent
    value: object = sys.modules.get(name if statement.names else name.partition(".")[0])
    for part in path:
        value = _member(value, part)
    return value


def _member(module: object, name: str) -> object:
    """Give a variable of a module; no module is asked to make one."""
    variables = variables_of_module(module)
    return variables.get(name) if variables is not None else None


def outer_value(fn: FunctionType, name: str) -> object:
    """Give what a closure variable of a function, or a global one (no builtin), stands for now; None if unknown."""
    free = fn.__code__.co_freevars
    if name not in free:
        return fn.__globals__.get(name)
    assert fn.__closure__ is not None
    try:
        return fn.__closure__[free.index(name)].cell_contents
    except ValueError:
        return None


def are_known(e: Emission, pairs: Sequence[tuple[Value, object]], where: SourceRange) -> Value:
    """Ask whether all values still are the objects that they were."""
    (value, known), *others = pairs
    result = e.emit("py::is", value, e.constant(known, where), where=where)
    if not others:
        return result
    (answer,) = e.branch(
        result, lambda: (are_known(e, others, where),), lambda: (result,), where, outputs=(BOOL,)
    )
    return answer


def either(
    e: Emission,
    is_known: Value,
    inline: Callable[[], Value],
    call_plainly: Callable[[], Value],
    where: SourceRange,
) -> Value:
    """Emit what functions do if they still are the known ones, else the call."""
    slot = e.fresh_slot()

    def inlined() -> Sequence[Value]:
        e.store(slot, inline(), where)
        return ()

    def called() -> Sequence[Value]:
        e.store(slot, call_plainly(), where)
        return ()

    e.branch(is_known, inlined, called, where)
    return e.load(slot, where)
