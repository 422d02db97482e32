"""The frontend: a Python function's source to tree views, and those to a graph."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from types import FunctionType

from ljit.frontend.emitting.emit import build_graph
from ljit.frontend.trees.build import build_def
from ljit.frontend.trees.tree import dump

__all__ = ["build_def", "build_graph", "dump_tree"]


def dump_tree(fn: Callable[..., object]) -> str:
    """Give the tree views of `fn`, a function or what wraps one, as an s-expression."""
    if not isinstance(fn, FunctionType):
        fn = inspect.unwrap(getattr(fn, "__func__", fn))
    return dump(build_def(fn))  # type: ignore[arg-type]  # which says what is wrong with others
