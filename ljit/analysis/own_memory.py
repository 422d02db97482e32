"""Whether memory that a node writes to is surely none of what others read."""

from __future__ import annotations

from collections.abc import Iterable

from ljit.analysis.dominance import dominates, enclosing_blocks
from ljit.ir import Effect, Node, Value, get_op
from ljit.ops.control import MAP
from ljit.types import ArrayType

__all__ = ["is_apart", "makes_memory"]


def is_apart(target: Value, others: Iterable[Value]) -> bool:
    """Whether memory that is written to is surely none of the others': it was made when those were there already."""
    made = _owner(target)
    if made.node is None or not makes_memory(made.node):
        return False
    return all(_was_there(_owner(v), made.node) for v in others if isinstance(v.type, ArrayType))


def _owner(value: Value) -> Value:
    """The array that a view, or the result of an in-place operator, is part of."""
    node = value.node
    while node is not None:
        is_view = node.op.reads_part and not node.effects & Effect.ALLOC
        is_checked = node.op is get_op("prim::same_sizes")
        if not (is_view or is_checked or (node.op.elementwise and node.op.schema.written)):
            break
        value = node.inputs[1 + value.index if is_checked else 0]
        node = value.node
    return value


def _was_there(value: Value, made: Node) -> bool:
    node = value.node
    if node is not None:
        return node is not made and (makes_memory(node) or dominates(node, made))
    return any(value.owner is block for block, _ in enclosing_blocks(made))


def makes_memory(node: Node) -> bool:
    """Whether the arrays that the node gives are new."""
    effects = node.effects
    return node.op is MAP or bool(
        effects & Effect.ALLOC and not effects & (Effect.WRITE | Effect.CALL)
    )
