"""The frontend: a Python function's source to tree views, and those to a graph.

Hardly anything is loaded here: functions whose loops are counted (`counted_trips.py`) need no more than syntax trees.
"""

from __future__ import annotations

from collections.abc import Callable
from types import FunctionType

__all__ = ["dump_tree"]


def dump_tree(fn: Callable[..., object]) -> str:
    """Give the tree views of `fn`, a function or what wraps one, as an s-expression."""
    import inspect

    from ljit.frontend.trees.build import build_def
    from ljit.frontend.trees.tree import dump

    if not isinstance(fn, FunctionType):
        fn = inspect.unwrap(getattr(fn, "__func__", fn))
    return dump(build_def(fn))  # type: ignore[arg-type]  # which says what is wrong with others
