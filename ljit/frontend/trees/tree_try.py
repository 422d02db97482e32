"""Tree views of ``raise``, ``try`` and ``with``; see tree.py, which gives them out."""

from __future__ import annotations

from ljit.frontend.trees.tree_base import Tree

__all__ = ["Handler", "Raise", "Try", "With"]


class Raise(Tree):
    """``raise exception from cause``; without an exception the one that is being handled"""

    exception: Tree | None
    cause: Tree | None
    name_of_kind = "raise"


class Handler(Tree):
    """``except classes as name: body`` of a Try; both may be missing (None, "")."""

    classes: Tree | None
    name: str
    body: tuple[Tree, ...]
    name_of_kind = "except"


class Try(Tree):
    """``try: body``, handlers, ``else: orelse``, ``finally: final``"""

    body: tuple[Tree, ...]
    handlers: tuple[Handler, ...]
    orelse: tuple[Tree, ...]
    final: tuple[Tree, ...]
    name_of_kind = "try"
    optional_lists = frozenset(("handlers", "orelse", "final"))


class With(Tree):
    """``with manager as target: body``; there is one target or none."""

    manager: Tree
    targets: tuple[Tree, ...]
    body: tuple[Tree, ...]
    name_of_kind = "with"
    optional_lists = frozenset(("targets",))
