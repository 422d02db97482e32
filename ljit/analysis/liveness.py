"""Which values of a graph are needed from a place on: what a Snapshot has to save.

Constants and `prim::Uninitialized` are left out: whoever goes on at a place knows them without
being told. Lists are in textual order of the definitions.

Within the body of a Try, what its handler needs is live everywhere: what it uses from outside, and the
operands of the last Catch.

One walk collects, for each node with blocks, the outer values used inside and the exits that leave
it. Live sets are made a block at a time, when first asked for, and kept; so all queries together
cost about the number of nodes times the number of live values. The graph must not change meanwhile.
"""

from __future__ import annotations

from collections.abc import Sequence

from ljit.ir import Block, Graph, Node, Value
from ljit.ops.control import CATCH, CONTINUE, LOOP, TRY, UNINITIALIZED, YIELD

__all__ = ["Liveness"]


class Liveness:
    """Liveness of one graph."""

    def __init__(self, graph: Graph) -> None:
        self._position: dict[Value, int] = {}
        self._used_inside: dict[Node, set[Value]] = {}
        self._leaving: dict[Node, set[Node]] = {}  # exits in a node that go to a target around it
        self._after: dict[Node, frozenset[Value]] = {}
        self._before: dict[Node, frozenset[Value]] = {}
        self._at_header: dict[Node, tuple[Value, ...]] = {}
        self._tries: dict[Block, tuple[Node, ...]] = {}  # by the blocks in their bodies
        self._caught: dict[Node, frozenset[Value]] = {}  # in such a block: what handlers get
        self._catches: dict[Node, Sequence[Value]] = {}  # by Try: operands of the last Catch
        self._at_handler: dict[Node, frozenset[Value]] = {}
        self._collect(graph.block)

    def live_after(self, node: Node) -> list[Value]:
        """List the values needed when `node` has run, its outputs among them."""
        return self._ordered(self._after_set(node))

    def live_before(self, node: Node) -> list[Value]:
        """List the values needed when `node` is about to run, its operands among them."""
        self._after_set(node)
        return self._ordered(self._before[node])

    def live_at_header(self, loop: Node) -> Sequence[Value]:
        """List what is needed at the start of a trip: all parameters, and what later trips need.

        The interpreter asks each time that it comes to a hot loop: lists are kept.
        """
        found = self._at_header.get(loop)
        if found is None:
            values = self._loop_set(loop) | set(loop.blocks[0].params)
            found = self._at_header[loop] = tuple(self._ordered(values))
        return found

    def _ordered(self, values: frozenset[Value] | set[Value]) -> list[Value]:
        return sorted((v for v in values if not _is_known(v)), key=self._position.__getitem__)

    def _collect(self, block: Block) -> None:
        for value in block.params:
            self._position[value] = len(self._position)
        tries = self._tries.get(block, ())
        for node in block:
            if node.op is CATCH and node.target is not None:
                self._catches[node.target] = list(node.inputs)
            if tries:
                self._caught[node] = frozenset(v for t in tries for v in self._catches[t])
            if node.blocks:
                self._note_tries(node, tries)
                self._collect_inside(node)
            for value in node.outputs:
                self._position[value] = len(self._position)

    def _note_tries(self, node: Node, tries: tuple[Node, ...]) -> None:
        if node.op is TRY:
            self._catches[node] = ()
            self._tries[node.blocks[0]] = (*tries, node)
            self._tries[node.blocks[1]] = tries
        elif tries:
            self._tries.update(dict.fromkeys(node.blocks, tries))

    def _collect_inside(self, node: Node) -> None:
        used: set[Value] = set()
        leaving: set[Node] = set()
        for block in node.blocks:
            outer = dict(self._catches) if self._tries else {}
            self._collect(block)
            self._catches.update(outer)
            for inner in block:
                used.update(inner.inputs, self._used_inside.get(inner, ()))
                leaving |= self._leaving.get(inner, set())
                if inner.target is not None and inner.op is not CATCH:
                    leaving.add(inner)
        # Invariant: what is visible inside but not defined inside is an outer value.
        self._used_inside[node] = {v for v in used if not v.is_inside(node)}
        self._leaving[node] = {e for e in leaving if e.target is not node}

    def _after_set(self, node: Node) -> frozenset[Value]:
        found = self._after.get(node)
        if found is None:
            assert node.block is not None
            self._fill(node.block)
            found = self._after[node]
        return found

    def _fill(self, block: Block) -> frozenset[Value]:
        """Find the live sets at the nodes of a block; gives that of its start."""
        live: frozenset[Value] = frozenset()
        tries = self._tries.get(block, ())
        for node in reversed(block):
            self._after[node] = live
            before = live.difference(node.outputs)
            if node.op.is_terminator:
                before = before.union(self._at_target(node))
            for exit_ in self._leaving.get(node, ()):
                before = before.union(self._at_target(exit_))
            live = before.union(node.inputs, self._used_inside.get(node, ()))
            if tries:
                live = live.union(self._needed_by_handlers(node, tries))
            self._before[node] = live
        return live

    def _needed_by_handlers(self, node: Node, tries: Sequence[Node]) -> frozenset[Value]:
        """Give what handlers need if `node`, in the bodies of `tries`, raises."""
        needed = self._caught[node]
        for region in tries:
            found = self._at_handler.get(region)
            if found is None:
                handler = region.blocks[1]
                found = self._fill(handler).difference(handler.params)
                self._at_handler[region] = found
            needed |= found
        return needed

    def _at_target(self, exit_: Node) -> frozenset[Value]:
        """Give what is needed where a terminator goes, beside its operands."""
        target = exit_.target
        if exit_.op is YIELD:
            assert exit_.block is not None
            target = exit_.block.owner
            assert target is not None
            if target.op is LOOP and exit_.block is target.blocks[0]:
                return self._next_trip(target)
        if target is None:
            return frozenset()
        if exit_.op is CONTINUE:
            return self._next_trip(target)
        return self._after_set(target).difference(target.outputs)

    def _next_trip(self, loop: Node) -> frozenset[Value]:
        """Give what the way to the next trip needs: the trip index too, which is counted up."""
        return self._loop_set(loop) | {loop.blocks[0].params[0]}

    def _loop_set(self, loop: Node) -> frozenset[Value]:
        """Give what every trip of `loop` needs from outside, and what is needed behind the loop."""
        live = self._after_set(loop).difference(loop.outputs)
        for exit_ in self._leaving[loop]:
            live = live.union(self._at_target(exit_))
        first = loop.blocks[0].first
        if first in self._caught:
            needed = self._needed_by_handlers(first, self._tries[loop.blocks[0]])
            live = live.union(v for v in needed if not v.is_inside(loop))
        return live.union(self._used_inside[loop], (loop.inputs[1],))


def _is_known(value: Value) -> bool:
    return value.is_constant or value.made_by(UNINITIALIZED) is not None
