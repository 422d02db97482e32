"""Clone the baseline graph for concrete types: the step from generic Python to native code.

The walk visits the baseline graph in program order and writes a new graph, in which

- each value has the type that follows from the types of the parameters (`OpDef.infer`); where inference
  does not know, the observed type from the profile stands behind a `prim::guard`;
- calls, methods, attributes and operators are the ops that they stand for (`passes/resolve.py`);
- global and closure variables that do not change are constants, listed in `assumptions` for the entry to check;
- branches on known conditions are gone, loops have the carried types of a fixpoint;
- operands of Union type are split into branches on the tag;
- a `prim::Snapshot` stands at the entry, behind each effect that must not be repeated, at the start of each
  loop trip and behind each loop: a failing guard goes back to the last one.
Where no type was ever seen (code that did not run) and where an op always raises, the block ends in `prim::Deoptimize`.
Cost: linear in the graph times the height of the type lattice for loops.
"""

from __future__ import annotations

import types
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Protocol

from ljit.analysis.assumptions import (
    Assumption,
    assumptions_of_closure,
    assumptions_of_global,
    is_stable_constant,
)
from ljit.analysis.liveness import Liveness
from ljit.ir import UNKNOWN, Block, Effect, Graph, Node, OpDef, Value, get_op
from ljit.ops.control import (
    BREAK,
    CONSTANT,
    CONTINUE,
    GUARD,
    IF,
    LOOP,
    NOT_RUN,
    PROFILE,
    RAISES,
    REGION,
    RETURN,
    UNINITIALIZED,
    UNREACHABLE,
    YIELD,
)
from ljit.passes.folding import fold
from ljit.passes.graph_writer import GraphWriter, has_snapshot, is_left
from ljit.passes.insert_guards import Observations, guarded_type, is_precise
from ljit.passes.resolve import Request, resolve
from ljit.records import Record
from ljit.types import ANY, NEVER, Type, UnionType, join

__all__ = ["Feedback", "Specialization", "specialize", "specialize_loop"]

_ENDLESS = 2**63 - 1


class Feedback(Observations, Protocol):
    """What earlier runs have shown about baseline nodes, by node id."""

    def is_widened(self, node_id: int) -> bool:
        """Whether native code failed at this node before, so that its result must stay boxed."""

    def is_unstable(self, name: str) -> bool:
        """Whether the global or closure variable `name` was seen to change."""


@dataclass(slots=True)
class Specialization:
    """A specialised graph and what must hold at its entry."""

    graph: Graph
    assumptions: list[Assumption] = field(default_factory=list)


def specialize(
    baseline: Graph, param_types: Sequence[Type], feedback: Feedback, liveness: Liveness
) -> Specialization:
    """Specialise a whole function for parameters of the given types."""
    walk = _Specializer(baseline, feedback, liveness)
    for param, type_ in zip(baseline.params, param_types, strict=True):
        walk.values[param] = walk.out.graph.block.add_param(param.name, type_)
    first = baseline.block.first
    assert first is not None
    walk.snapshot(f"before:{first.id}", liveness.live_before(first))
    walk.visit_block(baseline.block)
    return Specialization(walk.out.graph, walk.out.assumptions)


def specialize_loop(
    baseline: Graph,
    loop: Node,
    live: Sequence[Value],
    live_types: Sequence[Type],
    feedback: Feedback,
    liveness: Liveness,
) -> Specialization:
    """Specialise one loop of the baseline graph, entered at its header.

    The parameters of the new graph are the baseline values `live` at the header (trip index and
    carried values among them, constants not). The graph leaves by `prim::Deoptimize` at the places
    behind the loop where the interpreter goes on.
    """
    walk = _Specializer(baseline, feedback, liveness, outlined=loop)
    for value, type_ in zip(live, live_types, strict=True):
        walk.values[value] = walk.out.graph.block.add_param(value.name, type_)
    for node in baseline.walk():
        if node.op is CONSTANT:
            walk.visit_constant(node)
        elif node.op is UNINITIALIZED:
            walk.visit(node)
    header = loop.blocks[0].params
    walk.snapshot(f"header:{loop.id}", live)
    entry = [walk.values[param] for param in header]
    if walk.visit_loop(loop, entry[0], entry[1:]):
        walk.leave(loop)
    return Specialization(walk.out.graph, walk.out.assumptions)


class _Constants(Record):
    """The specialiser as `resolve` sees it, at one node."""

    walk: _Specializer
    node: Node

    def constant(self, value: object) -> Value:
        return self.walk.out.constant(value)

    def module_attribute(self, module: types.ModuleType, name: str) -> Value | None:
        return self.walk.module_attribute(module, name, self.node)


@dataclass(slots=True)
class _Exits:
    """The types that reach the exits of a Loop or Region while its block is walked."""

    next: list[Type]  # carried values of the next trip
    out: list[Type]  # outputs


class _Specializer:
    """The state of one walk. `block` is where new nodes go; `values` maps baseline values to new ones."""

    def __init__(
        self, baseline: Graph, feedback: Feedback, liveness: Liveness, outlined: Node | None = None
    ) -> None:
        self.out = GraphWriter(baseline.name)
        self.feedback = feedback
        self.liveness = liveness
        self.values: dict[Value, Value] = {}
        self.targets: dict[Node, Node] = {}
        self.exits: dict[Node, _Exits] = {}
        self.header_types: dict[Node, list[Type]] = {}
        self.outlined = outlined
        self.handlers: dict[OpDef, Callable[[Node], bool]] = {
            CONSTANT: self.visit_constant,
            PROFILE: self.visit_profile,
            IF: self.visit_if,
            LOOP: self.visit_inner_loop,
            REGION: self.visit_region,
            YIELD: self.visit_yield,
            CONTINUE: self.visit_continue,
            BREAK: self.visit_break,
            RETURN: self.visit_return,
            UNREACHABLE: self.visit_unreachable,
            get_op("prim::iter_call"): self.visit_iter_call,
            get_op("prim::load_global"): self.visit_global,
            get_op("prim::load_closure"): self.visit_closure,
        }

    def snapshot(self, at: str, live: Iterable[Value]) -> None:
        """Put a Snapshot of baseline values here."""
        self.out.snapshot(at, [(v.key, self.values[v]) for v in live if not v.is_constant])

    def leave(self, loop: Node) -> None:
        """End an outlined loop that has run to its end."""
        self.snapshot(f"after:{loop.id}", self.liveness.live_after(loop))
        self.out.deoptimize("loop done", loop)

    # -- straight-line nodes -----------------------------------------------------------------------

    def visit_block(self, block: Block) -> bool:
        """Walk a block; False if control does not reach its end by a Yield."""
        for node in block:
            if not self.visit(node):
                return node.op is YIELD
        return True

    def visit(self, node: Node) -> bool:
        """Walk one node; False if control does not go on behind it."""
        handler = self.handlers.get(node.op)
        if handler is not None:
            return handler(node)
        self.out.effects = Effect.PURE
        request = Request(node.op, tuple(self.values[v] for v in node.inputs), node.attrs)
        results = self.apply(request, node)
        if results is not None:
            self.finish(node, results)
        return results is not None

    def visit_iter_call(self, node: Node) -> bool:
        """``iter(f(...))``: an iteration view if `f` makes one, else the call and then its iteration."""
        self.out.effects = Effect.PURE
        request = Request(node.op, tuple(self.values[v] for v in node.inputs), node.attrs)
        if resolve(request, _Constants(self, node)) is request and request.inputs[0].is_constant:
            called = self.apply(Request(get_op("py::call"), request.inputs, {}), node)
            if called is None:
                return False
            request = Request(get_op("prim::iter"), tuple(called), {})
        results = self.apply(request, node)
        if results is None:
            return False
        self.finish(node, results)
        return True

    def finish(self, node: Node, results: Sequence[Value]) -> None:
        """Note what a baseline node became; a Snapshot if it must not run twice."""
        for old, new in zip(node.outputs, results, strict=True):
            self.values[old] = new
            new.name = new.name or old.name
        if not self.out.effects.is_repeatable:
            self.snapshot(f"after:{node.id}", self.liveness.live_after(node))

    def apply(self, request: Request, node: Node) -> list[Value] | None:
        """Emit one operation for the operand types at hand; None if it never comes to an end."""
        for value in request.inputs:
            if isinstance(value.type, UnionType):
                emit = partial(self.apply_narrowed, request, value, node)
                return self.out.split_union(value, emit, node)
        request = resolve(request, _Constants(self, node))
        types_ = self.result_types(request, node)
        if NEVER in types_:
            self.out.deoptimize(RAISES, node)
            return None
        folded = self.fold(request, types_)
        if folded is not None:
            return [folded]
        made = self.out.append(request.op, request.inputs, request.attrs, like=node, outputs=types_)
        return list(made.outputs)

    def result_types(self, request: Request, node: Node) -> tuple[Type, ...]:
        if request.op.infer is None:
            return (ANY,) * len(node.outputs)
        known = request.op.infer_types([v.type for v in request.inputs], request.attrs)
        if not known or not self.feedback.is_widened(node.id):
            return known
        return request.op.infer_types([ANY] * len(request.inputs), request.attrs)

    def fold(self, request: Request, types_: tuple[Type, ...]) -> Value | None:
        """Give the result as a constant if it is known now."""
        if len(types_) != 1:
            return None
        known = [v.constant if v.is_constant else UNKNOWN for v in request.inputs]
        given = [v.type for v in request.inputs]
        result = fold(request.op, given, known, request.attrs, types_[0])
        return self.out.constant(result) if result is not UNKNOWN else None

    def apply_narrowed(
        self, request: Request, union: Value, node: Node, narrow: Value
    ) -> list[Value] | None:
        """Emit the operation for one member of a Union operand."""
        inputs = tuple(narrow if value is union else value for value in request.inputs)
        return self.apply(Request(request.op, inputs, request.attrs), node)

    # -- constants, variables, profiles --------------------------------------------------------------

    def visit_constant(self, node: Node) -> bool:
        self.values[node.output] = self.out.constant(node.attrs["value"])
        return True

    def visit_global(self, node: Node) -> bool:
        return self.visit_variable(node, assumptions_of_global)

    def visit_closure(self, node: Node) -> bool:
        return self.visit_variable(node, assumptions_of_closure)

    def visit_variable(
        self, node: Node, assumptions_of: Callable[[Node], list[Assumption]]
    ) -> bool:
        """A global or closure variable: a constant under an assumption unless it was seen to change."""
        name = node.attrs["name"]
        assert isinstance(name, str)
        if self.feedback.is_unstable(name):
            self.values[node.output] = self.out.append(node.op, (), node.attrs, like=node).output
            return True
        assumptions = assumptions_of(node)
        if not assumptions:  # the name is not bound now
            return self.out.deoptimize(RAISES, node)
        for assumption in assumptions:
            self.out.assume(assumption, node)
        self.values[node.output] = self.out.constant_object(assumptions[-1].value)
        return True

    def module_attribute(self, module: types.ModuleType, name: str, node: Node) -> Value | None:
        """The attribute as a constant under an assumption; None if it is not there or changes."""
        if name not in vars(module) or self.feedback.is_unstable(name):
            return None
        value = vars(module)[name]
        self.out.assume(Assumption(vars(module), name, value), node)
        return self.out.constant_object(value)

    def visit_profile(self, node: Node) -> bool:
        """Trust inference; where it does not know, guard what was observed."""
        value = self.values[node.inputs[0]]
        seen = self.feedback.observed(node.id)
        is_known = value.is_constant and is_stable_constant(value.constant)
        if seen is None and not is_known and not is_precise(value.type):
            return self.out.deoptimize(NOT_RUN, node)
        type_ = None if is_known else guarded_type(value, seen)
        if type_ is not None:
            value = self.out.append(GUARD, (value,), {"type": type_}, like=node).output
        self.values[node.output] = value
        return True

    # -- control flow ------------------------------------------------------------------------------

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
            if not self.visit(node):
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
                if inner is not body.last and not self.visit(inner):
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
        if self.outlined is not None:
            self.snapshot(f"before:{node.id}", self.liveness.live_before(node))
            return self.out.deoptimize("returns", node)
        self.out.append(RETURN, [self.values[v] for v in node.inputs], like=node)
        return False

    def visit_unreachable(self, node: Node) -> bool:
        self.out.append(UNREACHABLE, like=node)
        return False
