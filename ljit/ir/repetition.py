"""Find work that a bailout would do twice.

A bailout goes back to the last Snapshot and the interpreter does again what was done since. So
between a node that must not be repeated (a write, a call) and the next node that can leave, there
must be a Snapshot, on every path. One forward walk with one fact: whether something has been done
since. Arrays made since are made anew: writes to them do not count.
"""

from __future__ import annotations

from ljit.ir.effects import Effect
from ljit.ir.graph import Block, Graph, Node, Value
from ljit.ir.registry import get_op
from ljit.types import ArrayType

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
        self.made: set[Value] = set()  # arrays made since the last Snapshot, and views of them

    def block(self, block: Block, *, done: bool) -> bool:
        """Walk a block; whether something has been done where its Yield goes on."""
        for node in block:
            self._note_what_is_made(node)
            if node.op is self.snapshot:
                done = False
            elif node.op.is_terminator:
                return self._exit(node, done=done)
            elif node.op.is_exit_target or len(node.blocks) == 2:
                done = self._structure(node, done=done)
            else:
                if done and node.op.can_leave(node):
                    self.found[node] = None
                done = done or not (node.effects.is_repeatable or self._writes_to_made(node))
        return done

    def _note_what_is_made(self, node: Node) -> None:
        if node.op is self.snapshot:
            self.made.clear()
        elif not node.blocks and any(isinstance(out.type, ArrayType) for out in node.outputs):
            arrays = [v for v in node.inputs if isinstance(v.type, ArrayType)]
            is_view = bool(arrays) and all(v in self.made for v in arrays)
            if node.op.effects_of(node) & Effect.ALLOC or is_view:
                self.made.update(node.outputs)

    def _writes_to_made(self, node: Node) -> bool:
        """Whether all that the node writes to is lost when the interpreter begins again."""
        if node.effects & Effect.CALL:
            return False
        into, written = node.attrs.get("into", 0), node.op.schema.written
        assert isinstance(into, int)
        names = node.op.schema.positional
        targets = [v for v, name in zip(node.inputs, names, strict=False) if name in written]
        targets += node.inputs[:into]
        return bool(targets) and all(v in self.made for v in targets)

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
            before, made = done, set(self.made)
            end = self.block(node.blocks[0], done=done)
            done = done or end or self.at_continue[node]
            if done is before and made <= self.made:
                break  # a second walk would find the same
        if len(node.blocks) == 2:
            done = self.block(node.blocks[1], done=done)
        return done or self.at_break[node]
