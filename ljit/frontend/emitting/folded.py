"""Tuples and sets of constants, which CPython's compiler makes once."""

from __future__ import annotations

from collections.abc import Sequence

from ljit.frontend.emitting.emission import Emission
from ljit.frontend.function_code import find_set
from ljit.frontend.trees import tree
from ljit.frontend.trees.tree import Tree

__all__ = ["constant_items", "folded_set"]


def constant_items(items: Sequence[Tree]) -> tuple[object, ...] | None:
    """Give the values if all are constants, as CPython's compiler folds them."""
    values: list[object] = []
    for item in items:
        if isinstance(item, tree.Const):
            values.append(item.value)
        elif isinstance(item, tree.UnaryOp) and _is_negative(item):
            values.append(-item.operand.value)  # type: ignore[attr-defined]
        elif isinstance(item, tree.TupleLiteral):
            inner = constant_items(item.items)
            if inner is None:
                return None
            values.append(inner)
        else:
            return None
    return tuple(values)


def _is_negative(item: tree.UnaryOp) -> bool:
    """Whether it is a number with a minus."""
    number = item.operand.value if isinstance(item.operand, tree.Const) else None
    return item.operator == "neg" and isinstance(number, int | float | complex)


def folded_set(e: Emission, display: Tree) -> frozenset[object] | None:
    """Give the set that CPython has in the place of a display: how it was made, and loaded, decides its order."""
    values = constant_items(display.items) if isinstance(display, tree.SetLiteral) else None
    return None if values is None else find_set(e.function.__code__, frozenset(values))
