"""The frontend: a Python function's source to tree views, and those to a graph."""

from __future__ import annotations

from types import FunctionType

from ljit.frontend.build import build_def
from ljit.frontend.emit import build_graph
from ljit.frontend.tree import dump

__all__ = ["build_def", "build_graph", "dump_tree"]


def dump_tree(fn: FunctionType) -> str:
    """Print the tree views of `fn` as an s-expression."""
    return dump(build_def(fn))
