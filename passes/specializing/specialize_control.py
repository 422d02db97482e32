"""The specialiser's walk over control flow: branches, regions and exits.

`ControlFlow` handles the nodes with blocks and the terminators for the walk of `specialize.py`; loops and handlers have
classes of their own (`specialize_loops.py`, `specialize_handlers.py`).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from functools import partial
from typing import Protocol

from ljit.analysis.liveness import Liveness
from ljit.ir import Block, Effect, Node, OpDef, Value
from ljit.ops.control import (
    BREAK,
    CATCH,
    CONTINUE,
    IF,
    LOOP,
    REGION,
    RERAISE,
    RETURN,
    TRY,
    UNREACHABLE,
    YIELD,
)
from ljit.passes.observations import Observations
from ljit.passes.specializing.graph_writer import GraphWriter, goes_on, has_snapshot, is_left
from ljit.passes.specializing.narrowing import facts
from ljit.passes.specializing.specialize_handlers import Handlers
from ljit.passes.specializing.specialize_loops import Exits, Loops
from ljit.types import NEVER

__all__ = ["ControlFlow"]


class Walk(Protocol):
    """The walk that control flow is part of."""

    out: GraphWriter
    values: dict[Value, Value]
    liveness: Liveness
    outlined: Node | None  # the loop that the new graph is made of, if it is not the whole function

    @property
    def feedback(self) -> Observations:
        """What earlier runs have shown."""

    def visit(self, node: Node) -> bool:
        """Walk one node; False if control does not go on behind it."""

    def snapshot(self, at: str, live: Iterable[Value], effects: Effect = Effect.PURE) -> None:
        """Put a Snapshot of baseline values here, behind what had the `effects`."""

    def saved(self, value: Value) -> Value:
        """Give what Snapshots hold of a baseline value."""


class ControlFlow:
    """The part of a walk that handles nodes with blocks and terminators; `handlers` are by op."""

    def __init__(self, walk: Walk) -> None:
        self.walk = walk
        self.out = walk.out
        self.values = walk.values
        self.liveness = walk.liveness
        self.snapshot = walk.snapshot
        self.exits: dict[Node, Exits] = {}
        self.loops = Loops(walk, self)
        self.trys = Handlers(walk, self)
        self.handlers: dict[OpDef, Callable[[Node], bool]] = {
            IF: self.visit_if,
            LOOP: self.loops.visit_inner_loop,
            REGION: self.visit_region,
            TRY: self.trys.visit_try,
            CATCH: self.trys.visit_catch,
            RERAISE: self.trys.visit_reraise,
            YIELD: self.visit_yield,
            CONTINUE: self.visit_continue,
            BREAK: self.visit_break,
            RETURN: self.visit_return,
            UNREACHABLE: self.visit_unreachable,
        }

    def visit_if(self, node: Node) -> bool:
        condition = self.values[node.inputs[0]]
        if condition.is_constant:
            return self.splice(node, node.blocks[0 if condition.constant else 1])
        branch = self.out.append(IF, (condition,), like=node)
        dirty, was_dirty = False, self.out.dirty
        ends: list[list[Value] | None] = []
        saved_effects = self.out.effects
        self.out.effects = Effect.PURE
        for block, truth in zip(node.blocks, (True, False), strict=True):
            self.out.dirty = was_dirty
            emit = partial(self.branch_results, block, condition, truth=truth)
            ends.append(self.out.in_branch(branch, emit))
            dirty |= self.out.dirty and goes_on(branch.blocks[-1])
        self.out.dirty = dirty
        results = self.out.merge(branch, ends, node)
        has_snapshots = has_snapshot(branch)
        self.out.effects |= saved_effects
        if results is None:
            return False
        if None in ends:  # only one way leads here
            self.out.narrowed.update(facts(condition, truth=ends[0] is not None))
        for old, made in zip(node.outputs, results, strict=True):
            made.type = self.out.as_whole(made.type, old)
            self.values[old] = made
        if has_snapshots:
            self.snapshot(f"after:{node.id}", self.liveness.live_after(node))
        return True

    def operands(self, node: Node) -> list[Value]:
        return [self.out.narrow(self.values[v], node) for v in node.inputs]

    def branch_results(self, block: Block, condition: Value, *, truth: bool) -> list[Value] | None:
        self.out.narrowed.update(facts(condition, truth=truth))
        return self.block_results(block)

    def block_results(self, block: Block) -> list[Value] | None:
        """Walk a block up to its Yield and give the yielded values; None if it is left otherwise."""
        for node in block:
            if node.op is YIELD:
                return self.operands(node)
            if not self.walk.visit(node):
                return None
        raise AssertionError("block without terminator")

    def splice(self, node: Node, block: Block) -> bool:
        """Walk `block` in place of its owner."""
        results = self.block_results(block)
        if results is None:
            return False
        self.values.update(zip(node.outputs, results, strict=True))
        return True

    def visit_region(self, node: Node) -> bool:
        """An inlined body; without early exits it is spliced into the surrounding block."""
        body = node.blocks[0]
        leaves = [n for n in body.walk() if n.target is node]
        if not leaves:
            return self.splice(node, body)
        if leaves == [body.last]:
            for inner in body:
                if inner is not body.last and not self.walk.visit(inner):
                    return False
            results = [self.values[v] for v in leaves[0].inputs]
            self.values.update(zip(node.outputs, results, strict=True))
            return True
        return self.visit_early_exits(node)

    def visit_early_exits(self, node: Node) -> bool:
        region = self.out.append(REGION, like=node)
        exits = self.enter(node, region)
        end = self.out.in_branch(region, lambda: self.block_results(node.blocks[0]))
        if end is not None:
            exits.add_outputs(end)
        goes_on = self.finish_region(node, region)
        if goes_on and has_snapshot(region):
            self.snapshot(f"after:{node.id}", self.liveness.live_after(node))
        return goes_on

    def enter(self, node: Node, region: Node) -> Exits:
        """Begin to walk the blocks of a node that becomes a Region."""
        exits = self.exits[node] = Exits(region, [], [NEVER] * len(node.outputs))
        return exits

    def finish_region(self, node: Node, region: Node) -> bool:
        """Give a Region its outputs; False if nothing leaves it."""
        return self.finish_exits(node, region, self.exits[node])

    def finish_exits(self, node: Node, region: Node, exits: Exits) -> bool:
        """Give a Region the outputs of a node; False if nothing leaves it."""
        types_ = exits.out
        if NEVER in types_ or not is_left(region):
            self.out.append(UNREACHABLE, like=node)
            return False
        self.values.update(self.out.finish(region, types_, node))
        return True

    # -- terminators -------------------------------------------------------------------------------

    def visit_yield(self, node: Node) -> bool:
        raise AssertionError("a Yield is handled by the walk of its block")

    def visit_continue(self, node: Node) -> bool:
        if node.target not in self.exits:
            return self.leave_outlined(node)
        return self.loops.next_trip(self.exits[node.target], self.operands(node), node)

    def visit_break(self, node: Node) -> bool:
        if node.target not in self.exits:
            return self.leave_outlined(node)
        exits, values = self.exits[node.target], self.operands(node)
        exits.add_outputs(values)
        self.out.append(BREAK, values, like=node).target = exits.target
        return False

    def leave_outlined(self, node: Node) -> bool:
        """Leave the outlined loop for one around it."""
        return self.leave_at(node, "leaves the loop")

    def leave_at(self, node: Node, reason: str) -> bool:
        """Leave at a terminator, which the interpreter runs; of a handler, too: it does not look at the exception."""
        handled, self.out.handled = self.out.handled, ()
        self.snapshot(f"before:{node.id}", self.liveness.live_before(node))
        self.out.deoptimize(reason, node)
        self.out.handled = handled
        return False

    def visit_return(self, node: Node) -> bool:
        if self.walk.outlined is not None:
            return self.leave_at(node, "returns")
        self.out.append(RETURN, self.operands(node), like=node)
        return False

    def visit_unreachable(self, node: Node) -> bool:
        self.out.append(UNREACHABLE, like=node)
        return False
