"""Dominance in structured control flow: what surely ran, and is visible, when a node runs."""

from __future__ import annotations

from ljit.ir import Block, Node, Value

__all__ = ["dominates", "enclosing_blocks", "holder_in", "is_visible_at", "precedes"]


def enclosing_blocks(node: Node) -> list[tuple[Block, Node]]:
    """List the blocks around `node`, innermost first, each with its node that holds `node`."""
    found: list[tuple[Block, Node]] = []
    inside: Node | None = node
    while inside is not None and inside.block is not None:
        found.append((inside.block, inside))
        inside = inside.block.owner
    return found


def holder_in(node: Node, block: Block | None) -> Node | None:
    """Give the node of `block` that `node` is, or lies (at any depth) in; None: it lies elsewhere."""
    holder: Node | None = node
    while holder is not None and holder.block is not block:
        holder = holder.block.owner if holder.block is not None else None
    return holder


def precedes(a: Node, b: Node) -> bool:
    """Whether `a` stands before `b` in the block that both are in."""
    assert a.block is b.block
    before, after = a.prev, a.next
    while before is not None or after is not None:  # outwards: cheap for near neighbours
        if before is b:
            return False
        if after is b:
            return True
        before = before.prev if before is not None else None
        after = after.next if after is not None else None
    return False


def dominates(a: Node, b: Node) -> bool:
    """Whether every path to `b` runs `a` first.

    True if `a` stands before `b`, or before a node that `b` lies in. A node does not dominate
    itself nor what is inside it.
    """
    for block, inside in enclosing_blocks(b):
        if block is a.block:
            return inside is not a and precedes(a, inside)
    return False


def is_visible_at(value: Value, node: Node) -> bool:
    """Whether `node` may have `value` as an operand."""
    if value.node is not None:
        return dominates(value.node, node)
    return any(block is value.owner for block, _ in enclosing_blocks(node))
