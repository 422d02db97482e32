"""Check what global and closure variables name in front of loops, not in each trip.

    for i in range(n):                 table = guard(TABLE)
        s += guard(TABLE)[i]           for i in range(n):
                                           s += table[i]

An array that a name stands for is a constant, but for its sizes, its dtype and where its elements lie, which
only unknown code can change: so a `prim::guard` of a constant goes in front of the outermost loop around it in which
none runs. There its sizes are known to all passes as those of an argument, and its pointer stays in a register.

A guard in front runs where the one inside might not have. If it fails, the interpreter runs the loop, and the next
compile leaves the guard where it is (`failed`). Guards of other values stay: what they find may differ
from run to run. Cost: linear.
"""

from __future__ import annotations

from collections.abc import Container

from ljit.ir import Block, Effect, Graph, Node
from ljit.ops.control import GUARD, LOOP
from ljit.passes.manager import graph_pass, is_allowed

__all__ = ["hoist_guards"]

_NAME = "hoist_guards"


@graph_pass(_NAME)
def hoist_guards(graph: Graph, failed: Container[int] = ()) -> bool:
    """Move guards of constants out of loops; whether there were any. `failed`: origins of those that failed there."""
    return _visit(graph.block, failed)


def _visit(block: Block, failed: Container[int]) -> bool:
    changed = False
    for node in block:
        if node.op is LOOP and not node.effects & Effect.CALL:
            for guard in _guards_in(node, failed):
                guard.attrs["in_front"] = True
                guard.move_before(node)
                changed = True
            continue  # what is left failed before
        for inner in node.blocks:
            changed |= _visit(inner, failed)
    return changed


def _guards_in(loop: Node, failed: Container[int]) -> list[Node]:
    return [
        node
        for node in loop.walk()
        if node.op is GUARD
        and node.inputs[0].is_constant
        and not node.inputs[0].is_inside(loop)
        and node.origin not in failed
        and is_allowed(_NAME, node)
    ]
