"""Write short loops over whole arrays out, so that the array that each trip changes is computed in one go.

    for k in range(3):                      total = 0.0 + a[:n]
        total += a[k : k + n]               total = total + a[1 : 1 + n]; ...

Contract: a loop of a few trips, a number known now, becomes its trips if each updates arrays that were made in front of
it, or computes the arrays that it carries, and does nothing else that anybody could see: then `fuse` makes the updates
plain ops and one loop nest of all. So do the loops in it. A loop is left alone where that was tried and shapes turned
out to differ (`failed`), and where there is more to compute than fits into one nest.

A Snapshot stays only where the one before it would not do.
"""

from __future__ import annotations

from collections.abc import Collection

from ljit.analysis.own_memory import makes_memory
from ljit.ir import Block, Effect, Graph, Node, Value
from ljit.ops.control import LOOP, SNAPSHOT, YIELD
from ljit.passes.fusion.fuse_nodes import has_nests, is_elementwise
from ljit.passes.loops.written_out import known_trips, write_out
from ljit.passes.manager import graph_pass, is_allowed
from ljit.types import ArrayType

__all__ = ["unroll_updates"]

NAME = "unroll_updates"
MAX_TRIPS = 5
MAX_COPIES = 12  # of the innermost body
MAX_OPS = 40  # on arrays, of all trips: they have to fit into one nest
_QUIET = Effect.READ | Effect.ALLOC | Effect.RAISE


@graph_pass(NAME)
def unroll_updates(graph: Graph, failed: Collection[int] = ()) -> bool:
    """Write out the loops for which it pays; whether there were any."""
    if not has_nests(graph):
        return False
    changed = False
    for loop in [node for node in graph.walk() if node.op is LOOP]:
        if loop.block is None or not _pays(loop, failed):  # it was part of another one
            continue
        if is_allowed(NAME, loop):
            write_out(loop)
            changed = True
    return changed


def _pays(loop: Node, failed: Collection[int]) -> bool:
    inside = list(loop.walk())
    if any(node.origin in failed for node in inside):
        return False
    copies, computed, gathered = _copies(loop), 0, 0
    for node in inside:
        if node.op is LOOP or node.op in (SNAPSHOT, YIELD):
            continue
        computes = node.op.elementwise and is_elementwise(node)
        is_update = computes and bool(node.op.schema.written)
        if node.effects & ~_QUIET and not (is_update and _is_made_before(node.inputs[0], loop)):
            return False
        computed += computes
        gathered += is_update
    carried = [v for v in loop.blocks[0].terminator.inputs if _is_computed(v)]
    return bool(gathered or carried) and 0 < copies <= MAX_COPIES and computed * copies <= MAX_OPS


def _copies(loop: Node) -> int:
    """How often the innermost body runs; 0 if that is not known, or a loop is left early or takes many trips."""
    trips = known_trips(loop, MAX_TRIPS)
    inner = [node for node in loop.blocks[0] if node.blocks]
    if any(node.op is not LOOP for node in inner):
        return 0
    return trips * max([_copies(node) for node in inner], default=1)


def _is_made_before(value: Value, loop: Node) -> bool:
    """Whether an array that is updated in the loop was made in front of it, in its block."""
    while True:
        node = value.node
        if node is None:  # carried
            owner = value.owner
            assert isinstance(owner, Block)
            if owner.owner is None or owner.owner.op is not LOOP or not value.index:
                return False
            value = owner.owner.inputs[1 + value.index]
        elif node.op.elementwise and node.op.schema.written:
            value = node.inputs[0]
        else:
            return node.block is loop.block and makes_memory(node)


def _is_computed(value: Value) -> bool:
    """Whether it is an array of any size that an elementwise op has made."""
    type_, made = value.type, value.node
    if not isinstance(type_, ArrayType) or None not in type_.shape or made is None:
        return False
    return is_elementwise(made) and not made.op.schema.written
