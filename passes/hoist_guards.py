"""Check what global and closure variables name, and which function a variable holds, in front of loops.

    for i in range(n):                 table = guard(TABLE)
        s += guard(TABLE)[i]           for i in range(n):
                                           s += table[i]

An array that a name stands for is a constant, but for its sizes, its dtype and where its elements lie, which
only unknown code can change: so a `prim::guard` of a constant goes in front of the outermost loop around it in which
none runs. There its sizes are known to all passes as those of an argument, and its pointer stays in a register.

So does a `prim::check_kind` of what a variable from in front of the loop holds.

A guard in front runs where the one inside might not have. If it fails, the interpreter runs the loop, and the next
compile leaves the guard where it is (`failed`). Guards of other values stay: what they find may differ
from run to run. Cost: linear.
"""

from __future__ import annotations

from collections.abc import Container

from ljit.ir import Block, Effect, Graph, Node
from ljit.ops.control import GUARD, IF, LOOP
from ljit.ops.members import CHECK_KIND, IS_KIND
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
        for inner in node.blocks:
            changed |= _visit(inner, failed)
    return changed


def _is_steady(node: Node) -> bool:
    """Whether it finds the same in each trip."""
    return node.op is CHECK_KIND or (node.op is GUARD and node.inputs[0].is_constant)


def _is_by_kind(owner: Node) -> bool:
    """Whether it is a branch on what a variable holds: what is checked in it does not hold elsewhere."""
    return owner.op is IF and owner.inputs[0].made_by(IS_KIND) is not None


def _guards_in(loop: Node, failed: Container[int]) -> list[Node]:
    return [
        node
        for node in loop.walk()
        if _is_steady(node)
        and not node.inputs[0].is_inside(loop)
        and not any(map(_is_by_kind, node.owners()))
        and node.origin not in failed
        and is_allowed(_NAME, node)
    ]
