"""Vectors whose elements follow from their numbers (`arange`, `linspace`) are no arrays where nests need them.

    x * np.arange(n)        one nest: x[k] * k for k in range(n)

`fuse` does this before it makes nests: the vector becomes an elementwise op on a range (`OpDef.counted`), which joins
its users as any other does.
"""

from __future__ import annotations

from ljit.ir import Block, Node, get_op
from ljit.passes.fusion.fuse_nodes import is_elementwise, is_reduction
from ljit.passes.manager import is_allowed

__all__ = ["count_elements"]

NAME = "fuse"


def count_elements(block: Block) -> bool:
    """Rewrite the vectors of one block; whether there were any."""
    changed = False
    for node in list(block):
        if node.op.counted is not None and _is_for_nests(node) and is_allowed(NAME, node):
            _write(node, *node.op.counted)
            changed = True
    return changed


def _is_for_nests(node: Node) -> bool:
    """Whether native code makes the vector, and nests in the same block alone need its elements."""
    is_native = node.op.has_lowering([v.type for v in node.inputs], node.attrs)
    users = [user for user, _ in node.output.uses]
    return is_native and bool(users) and all(_needs_elements(user, node.block) for user in users)


def _needs_elements(user: Node, block: Block | None) -> bool:
    is_plain = is_elementwise(user) and not user.op.schema.written
    return user.block is block and (is_plain or is_reduction(user))


def _write(node: Node, size_op: str, elements_op: str) -> None:
    graph, inputs = node.graph, node.inputs

    def add(op: str, *operands: object, **attrs: object) -> Node:
        new = graph.create(get_op(op), operands, attrs, like=node)  # type: ignore[arg-type]
        return new.insert_before(node)

    size = add(size_op, *inputs, **node.attrs).output
    elements = add(elements_op, add("py::range", size).output, *inputs, **node.attrs)
    elements.output.name = node.output.name
    node.replace_with([elements.output])
