"""What names stand for while a function is translated. The graph asks again in each call."""

from __future__ import annotations

import builtins
from types import FunctionType, ModuleType

from ljit.frontend import tree
from ljit.frontend.emission import Emission
from ljit.frontend.tree import Tree

__all__ = ["known_value", "outer_value"]


def known_value(e: Emission, function: Tree) -> object:
    """Give what a global name, or an attribute of a module, stands for now; None if unknown."""
    if isinstance(function, tree.Var):
        fn = e.function
        if e.find(function.name) is not None or function.name in fn.__code__.co_freevars:
            return None
        return fn.__globals__.get(function.name, getattr(builtins, function.name, None))
    if isinstance(function, tree.Select):
        module = known_value(e, function.value)
        return getattr(module, function.name, None) if isinstance(module, ModuleType) else None
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
