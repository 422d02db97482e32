"""What may be computed although it need not be."""

from __future__ import annotations

from ljit.codegen.forms import is_scalar
from ljit.ir import Node
from ljit.ops.control import IF, SNAPSHOT, YIELD

__all__ = ["is_select", "may_be_in_front_of_checks"]


def is_select(node: Node) -> bool:
    """Whether an If only chooses between numbers."""
    return all(
        block.first is block.last
        and block.terminator.op is YIELD
        and all(
            v.type == out.type and is_scalar(v.type)
            for v, out in zip(block.terminator.inputs, node.outputs, strict=True)
        )
        for block in node.blocks
    )


def may_be_in_front_of_checks(node: Node) -> bool:
    """Whether it does no harm to do the node although a late check has failed."""
    if node.op is IF:
        return is_select(node)
    if node.blocks or node.op.is_terminator or node.op is SNAPSHOT:
        return False
    return node.op.can_be_speculated(node)
