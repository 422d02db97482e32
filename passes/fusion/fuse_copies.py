"""Copies of arrays whose elements nests need are elementwise ops: casts.

    y = x.copy(); y[y < 0] = 0; y *= s      y = x.astype(x.dtype); y[y < 0] = 0; y *= s

So `fuse` computes with the elements of what was copied, and a copy that nobody else sees is never made. Copies of
arrays in C order alone: others decide the order in memory of what is computed with them.
"""

from __future__ import annotations

from ljit.analysis.own_memory import makes_memory
from ljit.ir import Block, Node, get_op
from ljit.passes.fusion.fuse_nodes import is_elementwise, is_reduction
from ljit.passes.manager import is_allowed
from ljit.types import ArrayType

__all__ = ["cast_copies"]

NAME = "fuse"


def cast_copies(block: Block) -> bool:
    """Rewrite the copies of one block; whether there were any."""
    changed = False
    for node in [node for node in block if node.op.copies]:
        if _is_plain(node) and any(_takes_elements(user, node) for user, _ in node.output.uses):
            changed |= _cast(node)
    return changed


def _is_plain(node: Node) -> bool:
    """Whether it is a copy in C order of an array in C order."""
    (source, *_), out = node.inputs, node.output.type
    if not isinstance(source.type, ArrayType) or not isinstance(out, ArrayType):
        return False
    is_ordered = source.type.layout == out.layout == "C" and source.type.shape == out.shape
    return is_ordered and out.ndim > 0 and makes_memory(node)


def _takes_elements(user: Node, copy: Node) -> bool:
    """Whether a nest, or a store where a mask holds, could take the elements of the copy."""
    is_near = user.block is copy.block
    return is_near and (is_elementwise(user) or is_reduction(user) or user.op.writes_part)


def _cast(node: Node) -> bool:
    out = node.output.type
    assert isinstance(out, ArrayType)
    new = node.create_before(
        get_op("np::astype"), node.inputs[:1], {"dtype": out.dtype}, outputs=[out], like=node
    )
    if not is_elementwise(new) or not is_allowed(NAME, node):
        new.erase()
        return False
    new.output.name = node.output.name
    node.replace_with([new.output])
    return True
