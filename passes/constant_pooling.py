"""Keep one node for each constant of a graph, at its start.

Contract: two constants are the same if they have the same type and are the same object, or are
equal numbers, strings, None or tuples of these with equal types and signs (``1`` is not ``True``,
``0.0`` not ``-0.0``). Constants move to the start of the graph, in the order of their first
appearance.
"""

from __future__ import annotations

from ljit.ir import Graph, Node
from ljit.ops.control import CONSTANT, UNINITIALIZED
from ljit.passes.manager import graph_pass
from ljit.passes.values import constant_key

__all__ = ["constant_pooling"]


@graph_pass("constant_pooling")
def constant_pooling(graph: Graph) -> bool:
    """Merge and hoist the constants; whether anything changed."""
    before = graph.version
    found: dict[object, Node] = {}
    behind: Node | None = None  # the last of the pooled nodes at the start
    for node in list(graph.walk()):
        if node.op is not CONSTANT and node.op is not UNINITIALIZED:
            continue
        key = (node.op, constant_key(node.attrs.get("value")), node.outputs[0].type)
        known = found.setdefault(key, node)
        if known is not node:
            node.replace_with(known.outputs)
            continue
        _move_behind(node, behind, graph)
        behind = node
    return graph.version != before


def _move_behind(node: Node, behind: Node | None, graph: Graph) -> None:
    place = behind.next if behind is not None else graph.block.first
    if place is not node:
        assert place is not None
        node.move_before(place)
