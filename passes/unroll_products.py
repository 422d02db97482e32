"""Write short loops out that multiply an int which they carry, or make ints of floats: bounds are known trip by trip.

    for k in range(8):                          v1 = b[0] - 48
        v = v * 10 + (b[k] - 48)                v2 = v1 * 10 + (b[1] - 48); ...

What grows so is bounded by no fixed step: in the loop each product has a check. Of trips in a row the range analysis
knows what each can give. LLVM writes such loops out itself, but behind the checks. So it is with sums of ints that are
made of floats near 0 (`loops/near_numbers.py`); the loop around, in which no loop is left, can have vectors
(`distribute_checks`).

Contract: a loop in another one, of a few trips, a number known now, becomes its trips if all that it does is to compute
and to read. Cost: at most `MAX_NODES` more nodes for each.
"""

from __future__ import annotations

from ljit.ir import Effect, Graph, Node
from ljit.ops.control import IF, LOOP, SNAPSHOT, YIELD
from ljit.ops.ranges.float_bounds import is_float
from ljit.ops.ranges.int_products import MUL
from ljit.ops.ranges.int_ranges import IN_32_BITS
from ljit.passes.loops.written_out import known_trips, write_out
from ljit.passes.manager import graph_pass, is_allowed
from ljit.types import INT

__all__ = ["unroll_products"]

NAME = "unroll_products"
MAX_TRIPS = 8
MAX_NODES = 300  # of all trips
_QUIET = Effect.READ | Effect.RAISE


@graph_pass(NAME)
def unroll_products(graph: Graph) -> bool:
    """Write out the loops for which it pays; whether there were any."""
    changed = False
    for loop in reversed([node for node in graph.walk() if node.op is LOOP]):  # inner ones first
        if _is_inner(loop) and _pays(loop) and is_allowed(NAME, loop):
            write_out(loop)
            changed = True
    return changed


def _is_inner(loop: Node) -> bool:
    return any(block.owner is not None and block.owner.op is LOOP for block in loop.blocks_around())


def _pays(loop: Node) -> bool:
    trips = known_trips(loop, MAX_TRIPS)
    if not trips:
        return False
    inside = [*loop.blocks[0].walk()]
    return (
        trips * len(inside) <= MAX_NODES
        and any(_multiplies_carried(node, loop) or _is_of_float(node) for node in inside)
        and all(map(_only_computes, inside))
    )


def _multiplies_carried(node: Node, loop: Node) -> bool:
    """Whether a node is a product, with a check, of an int that a loop carries."""
    is_checked = node.op.ranges is MUL and node.output.type == INT and node.op.can_leave(node)
    return is_checked and any(v in loop.blocks[0].params[1:] for v in node.inputs)


def _is_of_float(node: Node) -> bool:
    """Whether a node makes an int of a float."""
    rules = node.op.ranges
    is_whole = rules is not None and IN_32_BITS in rules.float_checks and len(node.inputs) == 1
    return is_whole and is_float(node.inputs[0].type)


def _only_computes(node: Node) -> bool:
    """Whether a node, without what lies in it, has no effect that anybody could see, and is no way out of a loop."""
    if node.op in (IF, YIELD, SNAPSHOT):
        return True
    return not (node.blocks or node.op.is_terminator or node.effects & ~_QUIET)
