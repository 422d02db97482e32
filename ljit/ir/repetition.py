"""Find work that a bailout would do twice.

A bailout goes back to the last Snapshot and the interpreter does again what was done since. So
between a node that must not be repeated (a write, a call) and the next node that can leave, there
must be a Snapshot, on every path. One forward walk with one fact: whether something has been done
since.
"""

from __future__ import annotations

from ljit.ir.graph import Block, Graph, Node
from ljit.ir.registry import get_op

__all__ = ["nodes_that_repeat_effects"]


def nodes_that_repeat_effects(graph: Graph) -> list[Node]:
    """List the nodes that can leave although a write or call before them has no Snapshot behind it."""
    walk = _Walk()
    walk.block(graph.block, done=False)
    return list(walk.found)


class _Walk:
    def __init__(self) -> None:
        self.found: dict[Node, None] = {}
        self.snapshot = get_op("prim::Snapshot")
        self.loop = get_op("prim::Loop")
        self.yield_ = get_op("prim::Yield")
        self.continue_ = get_op("prim::Continue")
        #: whether something has been done where a Break out of the node goes on, or a Continue of
        #: it
        self.at_break: dict[Node, bool] = {}
        self.at_continue: dict[Node, bool] = {}

    def block(self, block: Block, *, done: bool) -> bool:
        """Walk a block; whether something has been done where its Yield goes on."""
        for node in block:
            if node.op is self.snapshot:
                done = False
            elif node.op.is_terminator:
                return self._exit(node, done=done)
            elif node.op.is_exit_target or len(node.blocks) == 2:
                done = self._structure(node, done=done)
            else:
                if done and node.op.can_leave(node):
                    self.found[node] = None
                done = done or not node.effects.is_repeatable
        return done

    def _exit(self, node: Node, *, done: bool) -> bool:
        if node.op is self.yield_:
            return done
        if node.target is not None:
            reached = self.at_continue if node.op is self.continue_ else self.at_break
            reached[node.target] = reached.get(node.target, False) or done
        return False

    def _structure(self, node: Node, *, done: bool) -> bool:
        self.at_break[node] = self.at_continue[node] = False
        if node.op is not self.loop:
            ends = [self.block(block, done=done) for block in node.blocks]
            return any(ends) or self.at_break[node]
        for _ in range(2):  # reaches the fixpoint: the fact only goes from false to true
            end = self.block(node.blocks[0], done=done)
            done = done or end or self.at_continue[node]
        if len(node.blocks) == 2:
            done = self.block(node.blocks[1], done=done)
        return done or self.at_break[node]
