"""Copies of graphs, and of parts of them: a whole graph by `clone`, nodes with their blocks by `copy_nodes`."""

from __future__ import annotations

from ljit.ir.graph import Block, Graph, Node, Value

__all__ = ["clone", "copy_node", "copy_nodes"]


def clone(graph: Graph) -> Graph:
    """Copy the whole graph; node ids and origins stay the same."""
    copy = Graph(graph.name)
    values: dict[Value, Value] = {}
    for param in graph.params:
        values[param] = copy.block.add_param(param.name, param.type)
    copy_nodes(graph.block, copy.block, values, {}, keep_ids=True)
    copy.next_id = graph.next_id
    return copy


def copy_nodes(
    source: Block,
    into: Block,
    values: dict[Value, Value],
    targets: dict[Node, Node],
    *,
    keep_ids: bool = False,
) -> None:
    """Append copies of all nodes of `source` to `into`.

    `values` maps values of the source graph to values of the target graph and is extended; a value
    that is not in it stays itself (cloning inside one graph). `targets` does the same for the nodes
    that exits name.
    """
    for node in source:
        into.append(copy_node(node, into.graph, values, targets, keep_ids=keep_ids))


def copy_node(
    node: Node,
    graph: Graph,
    values: dict[Value, Value],
    targets: dict[Node, Node],
    *,
    keep_ids: bool = False,
) -> Node:
    """Copy one node with its blocks into `graph`, unlinked. See `copy_nodes`."""
    new = Node(graph, node.op)
    if keep_ids:
        new.id = node.id
    new.origin = node.origin
    new.attrs = dict(node.attrs)
    new.range = node.range
    new.proven = node.proven
    new.is_fast = node.is_fast
    if node.target is not None:
        new.target = targets.get(node.target, node.target)
    targets[node] = new
    new.add_inputs([values.get(value, value) for value in node.inputs])
    for block in node.blocks:
        inner = new.add_block()
        for param in block.params:
            values[param] = inner.add_param(param.name, param.type)
        copy_nodes(block, inner, values, targets, keep_ids=keep_ids)
    for out in node.outputs:
        values[out] = new.add_output(out.type, out.name)
    return new
