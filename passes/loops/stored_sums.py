"""Sums of one loop in another, made where they are stored, so that the loops can change places (`passes/interchange`).

    for j in range(p):                        for j in range(p):
        s = 0.0                                   c[i, j] = 0.0
        for k in range(m):                    for k in range(m):
            s += a[i, k] * b[k, j]                for j in range(p):
        c[i, j] = s                                   c[i, j] += a[i, k] * b[k, j]

Each element gets its terms in the program's order. The array has the dtype of the sum and is not read by the loops, and
nothing between its first and its last store can leave.
"""

from __future__ import annotations

from collections.abc import Sequence

from ljit.ir import Block, Node, Value
from ljit.ops.control import LOOP, REGION, SNAPSHOT, YIELD
from ljit.records import Record
from ljit.types import ArrayType, ScalarType

__all__ = ["StoredSum", "match"]


class StoredSum(Record):
    """What a loop does that sums in one loop and stores the sum."""

    before: list[Node]  # in front of the inner loop
    loop: Node  # the inner loop
    index: list[Node]  # computes where it is stored
    store: Node


def match(outer: Node) -> StoredSum | None:
    """Find the parts of a loop of that kind."""
    nodes = _nodes(outer.blocks[0])
    loop = next((n for n in nodes if n.op in (LOOP, REGION)), None)
    if loop is None or not _is_sum(loop) or nodes[-1].op is not YIELD:
        return None
    position = nodes.index(loop)
    store = _store(nodes[position + 1 : -1], loop.output)
    if store is None:
        return None
    array = store[1].inputs[0].type
    if not (isinstance(array, ArrayType) and loop.output.type == ScalarType(array.dtype)):
        return None
    return StoredSum(nodes[:position], loop, *store)


def _nodes(block: Block) -> list[Node]:
    return [n for n in block if n.op is not SNAPSHOT]


def _store(nodes: Sequence[Node], value: Value) -> tuple[list[Node], Node] | None:
    """What computes where `value` is stored, and the store; None if there is more to it than that."""
    users = {user for user, _ in value.uses if user.op is not SNAPSHOT}
    if not nodes:
        return None
    *index, last = nodes
    if list(last.inputs[-1:]) != [value]:
        return None
    is_store = len(last.inputs) == 3 and not last.outputs
    return (index, last) if is_store and not users - {last} else None


def _is_sum(loop: Node) -> bool:
    """Whether it is a counted loop that carries one value."""
    is_plain = loop.op is LOOP and len(loop.inputs) == 3 and len(loop.blocks) == 1
    return is_plain and loop.blocks[0].terminator.op is YIELD
