"""What names stand for while a function is translated. The graph asks again in each call."""

from __future__ import annotations

import builtins
from collections.abc import Callable, Sequence
from types import FunctionType

from ljit.cpython.classes import variables_of_module
from ljit.frontend.emitting.emission import Emission
from ljit.frontend.trees import tree
from ljit.frontend.trees.tree import Tree
from ljit.ir import Value
from ljit.source import SourceRange
from ljit.types import BOOL

__all__ = ["are_known", "either", "known_value", "outer_value"]


def known_value(e: Emission, function: Tree) -> object:
    """Give what a global name, or an attribute of a module, stands for now; None if unknown."""
    if isinstance(function, tree.Var):
        fn = e.function
        if e.find(function.name) is not None or function.name in fn.__code__.co_freevars:
            return None
        return fn.__globals__.get(function.name, getattr(builtins, function.name, None))
    if isinstance(function, tree.Select):
        variables = variables_of_module(known_value(e, function.value))
        return variables.get(function.name) if variables is not None else None
    return None


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
