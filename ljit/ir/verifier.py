"""The invariants of a graph. `verify` checks them all and reports every breach.

1.  Ownership: a node, block or value knows its graph, its owner and its position there.
2.  Links: `first`, `last`, `prev` and `next` of a block's nodes agree.
3.  Use lists: a value's `uses` are exactly the operands that refer to it.
4.  Visibility: an operand is defined before the node that uses it, in the same block or in one
    around it.
5.  Terminators: each block ends in one, and there is none elsewhere; the graph's body ends in no
    Yield.
6.  Shape: an If has two blocks without parameters, a Loop one with (k, carried...) and maybe a
    second with (carried...), a Region one without parameters, a Map one, a Try one without and one with (exception,
    caught...); nothing else has blocks.
7.  Arity: Yield, Break and Continue carry what their target's outputs or carried values need, that of a Map one
    value for each array it writes to and each output; its `reduce` has an entry for each output, or none.
8.  Targets: a Continue names a Loop and a Break a Loop or Region around it (a Loop: from its
    block 0), a Catch a Try whose block 0 it is in; that starts with one if its handler takes more than the exception.
9.  Types: outputs have the types that `infer` gives (or `Any`, or those for lists that hold anything);
    conditions are bool, trip counts int; a value that flows into an output or a carried value has its
    type or a narrower one.
10. Snapshots: `names` has one entry an operand; if there are any Snapshots, one stands before
    everything that can bail out, and one between a write or call and what can bail out behind it.
11. No Load and Store, unless the graph is said not to be in SSA form yet.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import takewhile
from typing import Any

from ljit.errors import LjitError, VerifyError
from ljit.ir.graph import Block, Graph, Node, Value
from ljit.ir.opdef import OpDef
from ljit.ir.printer import Names, format_node
from ljit.ir.registry import get_op
from ljit.ir.repetition import nodes_that_repeat_effects
from ljit.types import ANY, BOOL, INT, NEVER, ArrayType, ItemsType, ListType, Type, join

__all__ = ["breaches", "verify"]


def verify(graph: Graph) -> None:
    """Raise VerifyError if `graph` breaks an invariant."""
    found = breaches(graph)
    if found:
        raise VerifyError("\n".join([f"{len(found)} breach(es) in {graph.name}:", *found]))


def breaches(graph: Graph, *, ssa: bool = True) -> list[str]:
    """List every breach as ``[rule] what: the node's text   # place``."""
    return _Verifier(graph, ssa=ssa).run()


class _Verifier:
    def __init__(self, graph: Graph, *, ssa: bool) -> None:
        self.graph = graph
        self.ssa = ssa
        self.found: list[str] = []
        self.names: Names | None = None
        self.if_, self.loop, self.region = map(get_op, ("prim::If", "prim::Loop", "prim::Region"))
        self.yield_, self.map_ = get_op("prim::Yield"), get_op("prim::Map")
        self.continue_, self.break_ = get_op("prim::Continue"), get_op("prim::Break")
        self.try_, self.catch = get_op("prim::Try"), get_op("prim::Catch")
        self.return_, self.snapshot = get_op("prim::Return"), get_op("prim::Snapshot")
        self.variable_ops = (get_op("prim::Load"), get_op("prim::Store"))

    def run(self) -> list[str]:
        if self._links_hold(self.graph.block, None):
            self._check_block(self.graph.block, set())
            self._check_uses()
            self._check_snapshots()
        return self.found

    def report(self, rule: int, what: str, node: Node | None = None) -> None:
        text = ""
        if node is not None:
            if self.names is None:
                self.names = Names.of_graph(self.graph)
            text = f": {format_node(node, self.names)}"
        self.found.append(f"[{rule}] {what}{text}")

    # -- 1, 2: until these hold the graph cannot be walked

    def _links_hold(self, block: Block, owner: Node | None) -> bool:
        before = len(self.found)
        if block.owner is not owner or block.graph is not self.graph:
            self.found.append("[1] a block has the wrong owner or graph")
        self._check_owner(block, block.params)
        previous: Node | None = None
        for node in block:
            if node.block is not block or node.graph is not self.graph:
                self.found.append(f"[1] {node.op.name} has the wrong block or graph")
            if node.prev is not previous:
                self.found.append(f"[2] {node.op.name} has the wrong prev")
            self._check_owner(node, node.outputs)
            for inner in node.blocks:
                self._links_hold(inner, node)
            previous = node
        if block.last is not previous:
            self.found.append("[2] a block has the wrong last")
        return len(self.found) == before

    def _check_owner(self, owner: Node | Block, values: Sequence[Value]) -> None:
        for i, value in enumerate(values):
            if value.owner is not owner or value.index != i:
                self.found.append(f"[1] {value!r} has the wrong owner or index")

    # -- 3

    def _check_uses(self) -> None:
        wanted: dict[Value, set[tuple[Node, int]]] = {}
        values = list(self.graph.params)
        for node in self.graph.walk():
            values += node.outputs
            for block in node.blocks:
                values += block.params
            for i, value in enumerate(node.inputs):
                wanted.setdefault(value, set()).add((node, i))
        for value in values:
            if set(value.uses) != wanted.get(value, set()):
                self.report(3, f"the use list of {value!r} is wrong", value.node)

    # -- 4, 5

    def _check_block(self, block: Block, visible: set[Value]) -> None:
        own = [*block.params]
        visible.update(own)
        if not block.is_terminated:
            self.report(5, "a block has no terminator", block.last or block.owner)
        for node in block:
            for value in node.inputs:
                if value not in visible:
                    self.report(4, f"an operand ({value!r}) is not visible here", node)
            if node.op.is_terminator and node is not block.last:
                self.report(5, "a terminator in the middle of a block", node)
            self._check_node(node)
            for inner in node.blocks:
                self._check_block(inner, visible)
            visible.update(node.outputs)
            own += node.outputs
        visible.difference_update(own)

    def _check_node(self, node: Node) -> None:
        if node.op in self.variable_ops and self.ssa:
            self.report(11, "a variable access in SSA form", node)
        if self._shape_holds(node):
            self._check_arity(node)
            self._check_types(node)

    # -- 6

    def _shape_holds(self, node: Node) -> bool:
        before = len(self.found)
        params = [len(block.params) for block in node.blocks]
        carried = len(node.inputs) - 2
        if node.op is self.if_:
            if params != [0, 0] or len(node.inputs) != 1:
                self.report(6, "an If has one operand, two blocks, no parameters", node)
        elif node.op is self.loop:
            if carried < 0 or params not in ([carried + 1], [carried + 1, carried]):
                self.report(6, "a Loop's blocks take (k, carried...) and (carried...)", node)
            elif self.ssa and len(node.outputs) != carried:
                self.report(7, "a Loop has as many outputs as carried values", node)
        elif node.op is self.region:
            if params != [0] or node.inputs:
                self.report(6, "a Region has one block and no operands", node)
        elif node.op is self.try_:
            self._check_try(node, params)
        elif len(params) != (node.op is self.map_):
            self.report(6, f"{node.op.name} has {len(params)} blocks", node)
        return len(self.found) == before

    def _check_try(self, node: Node, params: list[int]) -> None:
        if len(params) != 2 or params[0] or not params[1] or node.inputs:
            self.report(6, "a Try's blocks take () and (exception, caught...)", node)
            return
        first = [n.target for n in takewhile(lambda n: n.op is self.catch, node.blocks[0])]
        if self.ssa and node not in first and params[1] > 1:
            self.report(8, "the body of a Try starts with its Catch", node)

    # -- 7, 8

    def _check_arity(self, node: Node) -> None:
        block = node.block
        if node.op is self.return_ and len(node.inputs) != 1:
            self.report(7, "a Return has one operand", node)
        if node.op is self.yield_:
            assert block is not None
            if block.owner is None:
                self.report(5, "the graph's body ends in a Yield", node)
            elif block.owner.op is not self.map_:
                self._check_flow(node, self._destination(block.owner, block))
            else:
                self._check_results(node, block.owner)
        elif node.op in (self.continue_, self.break_, self.catch):
            self._check_exit(node)
        elif node.target is not None:
            self.report(8, f"{node.op.name} has a target", node)

    def _check_results(self, node: Node, owner: Node) -> None:
        attrs: Mapping[str, Any] = owner.attrs
        if len(node.inputs) != attrs.get("into", 0) + len(owner.outputs):
            self.report(7, f"{len(node.inputs)} elements for {len(owner.outputs)} outputs", owner)
        if len(attrs.get("reduce", ())) not in (0, len(owner.outputs)):
            self.report(7, "a Map says of each output whether it is reduced", owner)

    def _check_exit(self, node: Node) -> None:
        target = node.target
        allowed = {
            self.continue_: (self.loop,),
            self.break_: (self.loop, self.region),
            self.catch: (self.try_,),
        }[node.op]
        if target is None or target.op not in allowed:
            self.report(8, f"{node.op.name} has no target that it may have", node)
        elif not node.is_inside(target.blocks[0]):
            self.report(8, f"{node.op.name} does not lie in the body of its target", node)
        elif node.op is self.continue_:
            self._check_flow(node, target.blocks[0].params[1:])
        elif node.op is self.catch:
            self._check_flow(node, target.blocks[1].params[1:])
        else:
            self._check_flow(node, target.outputs)

    def _destination(self, owner: Node, block: Block) -> Sequence[Value]:
        """Give the values that a Yield of `block` defines."""
        if owner.op is self.loop and block is owner.blocks[0]:
            return block.params[1:]
        return owner.outputs

    def _check_flow(self, node: Node, into: Sequence[Value]) -> None:
        if len(node.inputs) != len(into):
            self.report(7, f"{len(into)} values wanted, {len(node.inputs)} given", node)
            return
        for value, wanted in zip(node.inputs, into, strict=True):
            self._check_assignable(value.type, wanted.type, node)

    # -- 9

    def _check_assignable(self, given: Type, wanted: Type, node: Node) -> None:
        if not _fits(given, wanted):
            self.report(9, f"a {given} flows into a {wanted}", node)

    def _check_types(self, node: Node) -> None:
        if node.op is self.if_ and node.inputs[0].type != BOOL:
            self.report(9, "the condition is not a bool", node)
        if node.op is self.loop:
            self._check_loop_types(node)
        if node.op.infer is None:
            return
        try:
            inferred = node.op.result_types(node)
        except (LjitError, TypeError, ValueError, AttributeError, KeyError, IndexError) as error:
            self.report(9, f"infer fails with {error!r}", node)
            return
        if len(inferred) != len(node.outputs):
            self.report(9, f"infer gives {len(inferred)} outputs", node)
            return
        for out, type_ in zip(node.outputs, inferred, strict=True):
            is_mutable = node.op.is_constant and isinstance(type_, ListType)
            has_parts = isinstance(out.type, ArrayType | ListType | ItemsType)
            is_wider = has_parts and join(out.type, type_) == out.type
            # What took the place of an update has the layout of the array that was updated.
            joined = join(out.type, type_) if node.op.elementwise else ANY
            is_nest = isinstance(joined, ArrayType)
            if out.type not in (type_, ANY) and not (is_mutable or is_wider or is_nest):
                if not _is_of_any_items(node):
                    self.report(9, f"the output is {out.type}, infer gives {type_}", node)

    def _check_loop_types(self, node: Node) -> None:
        carried = node.inputs[2:]
        if any(v.type != INT for v in (*node.inputs[:2], node.blocks[0].params[0])):
            self.report(9, "start, stop and trip index are ints", node)
        for value, param in zip(carried, node.blocks[0].params[1:], strict=True):
            self._check_assignable(value.type, param.type, node)
        after = node.blocks[1].params if len(node.blocks) == 2 else node.outputs
        stop = node.inputs[1]
        if len(node.blocks) == 1 and stop.is_endless:
            return  # the trips never run out
        for param, out in zip(node.blocks[0].params[1:], after, strict=self.ssa):
            self._check_assignable(param.type, out.type, node)

    # -- 10

    def _check_snapshots(self) -> None:
        snapshots = [n for n in self.graph.walk() if n.op is self.snapshot]
        for node in snapshots:
            names: Any = node.attrs.get("names", ())
            handled: Any = node.attrs.get("handles", 0)
            if len(names) != len(node.inputs) - handled:
                self.report(10, "a Snapshot has one name an operand", node)
        if not snapshots:
            return
        for node in self.graph.block:
            if node.op is self.snapshot:
                break
            if _can_bail(node.op):
                self.report(10, "no Snapshot stands before this", node)
        for node in nodes_that_repeat_effects(self.graph):
            self.report(10, "leaving here would repeat a write or call: no Snapshot between", node)


def _fits(given: Type, wanted: Type) -> bool:
    return wanted in (ANY, given) or given == NEVER or join(given, wanted) == wanted


def _is_of_any_items(node: Node) -> bool:
    """Whether the outputs are those for lists that hold anything."""
    loose = node.op.types_of_any_items([v.type for v in node.inputs], node.attrs)
    return loose is not None and loose[1] == tuple(out.type for out in node.outputs)


def _can_bail(op: OpDef) -> bool:
    return not op.is_constant and bool(op.evaluate is not None or op.infer is None)
