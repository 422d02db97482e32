"""The specialiser's walk over control flow: branches, regions, loops and their exits.

`ControlFlow` handles the nodes with blocks and the terminators for the walk of `passes/specialize.py`. The carried
types of a loop are a fixpoint: its body is walked until they do not change any more.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Protocol

from ljit.analysis.liveness import Liveness
from ljit.ir import Block, Effect, Node, OpDef, Value
from ljit.ops.control import (
    BREAK,
    CONTINUE,
    IF,
    LOOP,
    REGION,
    RETURN,
    UNREACHABLE,
    YIELD,
)
from ljit.passes.graph_writer import GraphWriter, has_snapshot, is_left
from ljit.types import NEVER, Type, join

__all__ = ["ControlFlow"]

_ENDLESS = 2**63 - 1


class Walk(Protocol):
    """The walk that control flow is part of."""

    out: GraphWriter
    values: dict[Value, Value]
    liveness: Liveness
    outlined: Node | None  # the loop that the new graph is made of, if it is not the whole function

    def visit(self, node: Node) -> bool:
        """Walk one node; False if control does not go on behind it."""

    def snapshot(self, at: str, live: Iterable[Value]) -> None:
        """Put a Snapshot of baseline values here."""


@dataclass(slots=True)
class _Exits:
    """The types that reach the exits of a Loop or Region while its block is walked."""

    next: list[Type]  # carried values of the next trip
    out: list[Type]  # outputs


class ControlFlow:
    """The part of a walk that handles nodes with blocks and terminators; `handlers` are by op."""

    def __init__(self, walk: Walk) -> None:
        self.walk = walk
        self.out = walk.out
        self.values = walk.values
        self.liveness = walk.liveness
        self.snapshot = walk.snapshot
        self.targets: dict[Node, Node] = {}
        self.exits: dict[Node, _Exits] = {}
        self.header_types: dict[Node, list[Type]] = {}
        self.handlers: dict[OpDef, Callable[[Node], bool]] = {
            IF: self.visit_if,
            LOOP: self.visit_inner_loop,
            REGION: self.visit_region,
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
        self.targets[node] = branch
        dirty, was_dirty = False, self.out.dirty
        ends: list[list[Value] | None] = []
        saved_effects = self.out.effects
        self.out.effects = Effect.PURE
        for block in node.blocks:
            self.out.dirty = was_dirty
            ends.append(self.out.in_branch(branch, partial(self.block_results, block)))
            dirty |= self.out.dirty
        self.out.dirty = dirty
        results = self.out.merge(branch, ends, node)
        has_snapshots = has_snapshot(branch)
        self.out.effects |= saved_effects
        if results is None:
            return False
        self.values.update(zip(node.outputs, results, strict=True))
        if has_snapshots:
            self.snapshot(f"after:{node.id}", self.liveness.live_after(node))
        return True

    def block_results(self, block: Block) -> list[Value] | None:
        """Walk a block up to its Yield and give the yielded values; None if it is left otherwise."""
        for node in block:
            if node.op is YIELD:
                return [self.values[v] for v in node.inputs]
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
        self.targets[node] = region
        exits = self.exits[node] = _Exits([], [NEVER] * len(node.outputs))
        end = self.out.in_branch(region, lambda: self.block_results(node.blocks[0]))
        if end is not None:
            exits.out = [join(a, v.type) for a, v in zip(exits.out, end, strict=True)]
        if (exits.out and NEVER in exits.out) or not is_left(region):
            self.out.append(UNREACHABLE, like=node)
            return False
        for old, type_ in zip(node.outputs, exits.out, strict=True):
            self.values[old] = region.add_output(type_, old.name)
        if has_snapshot(region):
            self.snapshot(f"after:{node.id}", self.liveness.live_after(node))
        return True

    def visit_inner_loop(self, node: Node) -> bool:
        start, _, *carried = (self.values[v] for v in node.inputs)
        if not self.visit_loop(node, start, carried):
            return False
        self.snapshot(f"after:{node.id}", self.liveness.live_after(node))
        return True

    def visit_loop(self, node: Node, start: Value, carried: Sequence[Value]) -> bool:
        """Walk a loop until the types of its carried values do not change any more."""
        stop = self.values[node.inputs[1]]
        types_ = [v.type for v in carried]
        known = self.header_types.get(node)
        if known is not None:
            types_ = list(map(join, types_, known))
        was_dirty = self.out.dirty
        while True:
            self.out.dirty = was_dirty
            loop = self.out.append(LOOP, (start, stop, *carried), like=node)
            exits = self.walk_loop(node, loop, types_)
            widened = list(map(join, types_, exits.next))
            if widened == types_ and self.out.dirty == was_dirty:
                break
            was_dirty = self.out.dirty  # unknown code runs in the body: it ran before the next trip
            self.header_types[node] = types_ = widened
            loop.blocks[0].clear()
            loop.erase()
        return self.finish_loop(node, loop, exits, stop)

    def walk_loop(self, node: Node, loop: Node, types_: Sequence[Type]) -> _Exits:
        body = node.blocks[0]
        self.targets[node] = loop
        exits = self.exits[node] = _Exits([NEVER] * len(types_), [NEVER] * len(node.outputs))
        outer, self.out.block = self.out.block, loop.add_block()
        for param, type_ in zip(body.params, (loop.inputs[0].type, *types_), strict=True):
            self.values[param] = self.out.block.add_param(param.name, type_)
        self.snapshot(f"header:{node.id}", self.liveness.live_at_header(node))
        results = self.block_results(body)
        if results is not None:
            self.out.append(YIELD, results)
            exits.next = [join(a, v.type) for a, v in zip(exits.next, results, strict=True)]
        self.out.block = outer
        return exits

    def finish_loop(self, node: Node, loop: Node, exits: _Exits, stop: Value) -> bool:
        out = exits.out
        is_endless = stop.is_constant and stop.constant == _ENDLESS
        if len(node.blocks) > 1:
            block = node.blocks[1]
            types_ = [p.type for p in loop.blocks[0].params[1:]]
            outer, self.out.block = self.out.block, loop.add_block()
            self.values[node.blocks[0].params[0]] = stop  # the header's test fails for it
            for param, other, type_ in zip(
                block.params, node.blocks[0].params[1:], types_, strict=True
            ):
                self.values[param] = self.values[other] = self.out.block.add_param(
                    param.name, type_
                )
            self.snapshot(f"header:{node.id}", self.liveness.live_at_header(node))
            results = self.block_results(block)
            if results is not None:
                self.out.append(YIELD, results)
                out = [join(a, v.type) for a, v in zip(out, results, strict=True)]
            self.out.block = outer
        elif not is_endless:
            out = [join(a, p.type) for a, p in zip(out, loop.blocks[0].params[1:], strict=True)]
        if is_endless and not is_left(loop):
            for param in loop.blocks[0].params[1:]:
                loop.add_output(param.type, param.name)
            self.out.append(UNREACHABLE, like=node)
            return False
        for old, type_ in zip(node.outputs, out, strict=True):
            self.values[old] = loop.add_output(type_, old.name)
        return True

    # -- exits -------------------------------------------------------------------------------------

    def visit_yield(self, node: Node) -> bool:
        raise AssertionError("a Yield is handled by the walk of its block")

    def visit_continue(self, node: Node) -> bool:
        return self.exit(node, "next")

    def visit_break(self, node: Node) -> bool:
        return self.exit(node, "out")

    def exit(self, node: Node, kind: str) -> bool:
        assert node.target is not None
        if node.target not in self.targets:  # leaves the outlined loop for an outer one
            self.snapshot(f"before:{node.id}", self.liveness.live_before(node))
            return self.out.deoptimize("leaves the loop", node)
        values = [self.values[v] for v in node.inputs]
        exits = self.exits[node.target]
        known = getattr(exits, kind)
        setattr(exits, kind, [join(a, v.type) for a, v in zip(known, values, strict=True)])
        made = self.out.append(node.op, values, like=node)
        made.target = self.targets[node.target]
        return False

    def visit_return(self, node: Node) -> bool:
        if self.walk.outlined is not None:
            self.snapshot(f"before:{node.id}", self.liveness.live_before(node))
            return self.out.deoptimize("returns", node)
        self.out.append(RETURN, [self.values[v] for v in node.inputs], like=node)
        return False

    def visit_unreachable(self, node: Node) -> bool:
        self.out.append(UNREACHABLE, like=node)
        return False
