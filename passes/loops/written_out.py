"""Loops of a few trips, a number known now, that are written out: `passes/unroll_updates`, `passes/unroll_products`.

A Snapshot stays only where the one before it would not do.
"""

from __future__ import annotations

from ljit.ir import Node, Value, copy_node, get_op
from ljit.ops.control import LOOP, YIELD
from ljit.passes.rewriting import drop_repeated_snapshot, insert_constant, replace_value

__all__ = ["known_trips", "write_out"]

_MOST = 8  # trips


def known_trips(loop: Node, most: int) -> int:
    """How many trips a loop makes that is never left early; 0 if that is not known, or there are more."""
    start, stop = loop.inputs[:2]
    if len(loop.blocks) > 1 or loop.blocks[0].terminator.op is not YIELD:
        return 0
    if not start.is_constant or start.constant != 0:
        return 0
    count = stop.constant if stop.is_constant else _size(stop)
    return count if isinstance(count, int) and count <= most else 0


def _size(value: Value) -> object:
    """The size of a constant that a loop goes through."""
    made = value.made_by(get_op("prim::view_size"))
    if made is None or not made.inputs[0].is_constant:
        return None
    assert made.op.evaluate is not None
    return made.op.evaluate(made.inputs[0].constant)


def write_out(loop: Node) -> None:
    """Put the trips in the place of a loop with few, then those of the loops in them."""
    body, trips = loop.blocks[0], known_trips(loop, _MOST)
    carried = list(loop.inputs[2:])
    copied: list[Node] = []
    for trip in range(trips):
        k = insert_constant(trip, loop)
        values: dict[Value, Value] = dict(zip(body.params, (k, *carried), strict=True))
        for node in body:
            if node is not body.terminator:
                copied.append(copy_node(node, loop.graph, values, {}).insert_before(loop))
        carried = [values.get(v, v) for v in body.terminator.inputs]
    for out, value in zip(loop.outputs, carried, strict=True):
        replace_value(out, value)
    behind = loop.next
    loop.erase()
    for node in copied:
        if node.op is LOOP:
            write_out(node)
        else:
            drop_repeated_snapshot(node)
    drop_repeated_snapshot(behind)
