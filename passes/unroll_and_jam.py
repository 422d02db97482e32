"""Run several trips of a loop side by side through the loops in it, where those sum floats, or ints down columns.

    for j in range(p):            for j in range(0, p - 7, 8):
        s = 0.0                       s0 = ... = s7 = 0.0
        for k in range(m):            for k in range(m):
            s += a[i, k] * b[k, j]        s0 += a[i, k] * b[k, j]; ...; s7 += a[i, k] * b[k, j + 7]
        c[i, j] = s                   c[i, j] = s0; ...; c[i, j + 7] = s7      (and the rest as before)

A sum of floats in program order is a chain of dependent additions, which neither overlap nor vectorise. Those of
different trips are independent: they overlap, and become vectors where the trips are neighbours in memory. Each sum
is made in the order of the program, so that results are bit-identical; interchanging the loops would give the
same vectors, but a load and a store for each addition.

Legal if nothing but the variable of the outer loop differs from trip to trip until the inner loops are done
(`analysis/uniformity`), nothing is stored in them or in front of them, and what the trip stores behind them is not
read in them: by type and origin, or by a test of the addresses in front. What the outer loop carries (`norm += s * s`)
is used behind the inner loops only, where the trips take turns. All checks up to the first store go back to the start
of the group of trips; behind it the Snapshots are those of each trip. Checks that may wait
(`out[i, j] = int(s / 9.0)`) are made for all trips of a group in front of the first store, so that what is stored
has vectors, too (`loops/check_slices`). The innermost loop may store itself, if each trip stores to elements of its
own (`private_elements`) and nothing in it can leave: then rows that it goes through one column at a time are gone
through eight columns at a time, and sums in memory overlap.

Reference: Callahan, Cocke, Kennedy, Estimating Interlock and Improving Balance for Pipelined Architectures, 1988.
"""

from __future__ import annotations

from collections.abc import Container, Sequence
from itertools import pairwise

from ljit.analysis.alias import AliasInfo, is_immutable, written_operands
from ljit.analysis.uniformity import Varying
from ljit.ir import Block, Effect, Graph, Node, Value, copy_node, get_op
from ljit.ops.control import CHECKED_IN_FRONT, IF, LOOP, REGION, SNAPSHOT, YIELD
from ljit.passes.loops.check_slices import CheckSlice, conversion_of, may_wait
from ljit.passes.loops.masked_loops import is_maskable, write_masked
from ljit.passes.loops.private_elements import OwnElements
from ljit.passes.loops.trip_blocks import is_long
from ljit.passes.manager import graph_pass, is_allowed
from ljit.passes.rewriting import insert_constant
from ljit.types import COMPLEX, FLOAT, INT, ArrayType, ScalarType, Type

__all__ = ["unroll_and_jam"]

NAME = "unroll_and_jam"
_LANES = 8
_MAX_NODES = 64  # of the body: what is written out `_LANES` times


@graph_pass(NAME)
def unroll_and_jam(graph: Graph, failed: Container[int] = ()) -> bool:
    """Rewrite the loops for which it is legal and pays; whether there were any.

    `failed`: origins of nodes whose checks failed in trips side by side.
    """
    aliases = AliasInfo(graph)
    found = [nest for node in graph.walk() if (nest := _Nest.of(node, aliases)) is not None]
    changed = False
    for nest in found:
        if any(n.origin in failed for node in (*nest.before, nest.core) for n in node.walk()):
            continue
        nest.find_checks(failed)
        if is_allowed(NAME, nest.loop):
            Jam(graph, nest).run()
            changed = True
    return changed


class _Nest:
    """A loop whose body is `before`, `core` (the inner loops) and `behind` (the stores)."""

    def __init__(self, loop: Node, core: Node, aliases: AliasInfo) -> None:
        self.loop = loop
        self.core = core
        self.aliases = aliases
        body = loop.blocks[0]
        nodes = list(body)
        position = nodes.index(core)
        self.before, self.behind = nodes[:position], nodes[position + 1 : -1]
        self.varying = Varying(loop)
        self.divergent: set[Node] = set()  # inner loops that trips leave at different times
        self.hazards: list[tuple[Value, Value]] = []  # arrays that must not overlap
        self.checks: CheckSlice | None = None  # what is made of `behind` in front of its stores
        self.elements = OwnElements(loop, body.walk())
        self.core_stores = any(n.op.effects_of(n) & Effect.WRITE for n in core.walk())

    @staticmethod
    def of(node: Node, aliases: AliasInfo) -> _Nest | None:
        if node.op is not LOOP or len(node.blocks) != 1:
            return None
        start, body = node.inputs[0], node.blocks[0]
        if not (start.is_constant and start.constant == 0) or body.terminator.op is not YIELD:
            return None
        core = next((n for n in body if n.op in (LOOP, REGION)), None)
        if core is None or sum(1 for _ in body.walk()) > _MAX_NODES:
            return None
        nest = _Nest(node, core, aliases)
        return nest if nest.pays() and nest.is_legal() else None

    def pays(self) -> bool:
        """Whether an inner loop sums floats that differ from trip to trip, or goes through rows of arrays.

        A call of the C library takes longer than additions that wait for one another, and has no vectors. Sums of ints
        have vectors of their own, but not where they go down columns.
        """
        goes_down = self.elements.are_neighbours(self.core)
        if self.core_stores and goes_down:
            return True
        loops = [n for n in self.core.walk() if n.op is LOOP]
        return not any(n.op.is_called for n in self.core.walk()) and any(
            (_is_float(param.type) or (goes_down and _is_int(param.type))) and param in self.varying
            for loop in loops
            for param in loop.blocks[0].params[1:]
        )

    def is_legal(self) -> bool:
        return (
            self.can_go_back()
            and self.carries_past_core()
            and self.behind_is_straight()
            and self.core_is_legal()
            and (not self.core_stores or self.stores_are_legal())
            and self.effects_are_legal()
            and self.find_hazards()
        )

    def can_go_back(self) -> bool:
        """Whether there is a Snapshot for a group of trips, to which all checks up to the first store go back."""
        starts = bool(self.before) and self.before[0].op is SNAPSHOT
        return starts and not any(n.blocks for n in self.before)

    def carries_past_core(self) -> bool:
        """Whether what the loop carries is not needed until the inner loops are done: no trip waits for another one."""
        carried = self.loop.blocks[0].params[1:]
        if carried and self.core_stores:
            return False
        nodes = (n for node in (*self.before, self.core) for n in node.walk())
        return not any(v in carried for n in nodes if n.op is not SNAPSHOT for v in n.inputs)

    def behind_is_straight(self) -> bool:
        """Whether what stands behind the inner loops has no loops and no exits: it is written out for each trip."""
        inner = [n for node in self.behind for n in node.walk()]
        exits = [n for n in inner if n.op.is_terminator and n.op is not YIELD]
        return not exits and not any(n.op in (LOOP, REGION) for n in inner)

    def effects_are_legal(self) -> bool:
        """Whether there are reads, and stores in and behind the inner loops, and nothing else.

        A store in front of them would be made again where the trips of an inner loop are found to be too many.
        """
        reads = Effect.READ | Effect.RAISE
        writes = reads | Effect.WRITE
        in_core = writes if self.core_stores else reads
        return (
            _are_within(reads, self.before)
            and _are_within(in_core, [self.core])
            and _are_within(writes, self.behind)
        )

    def stores_are_legal(self) -> bool:
        """Whether stores in the inner loop can be those of many trips: nothing may leave behind them."""
        body = [n for n in self.core.walk() if n is not self.core]
        quiet = all(n.op in (SNAPSHOT, YIELD) or not n.op.can_leave(n) for n in body)
        is_flat = self.core.op is LOOP and not any(n.op in (LOOP, REGION) for n in body)
        return (
            quiet and is_flat and not self.divergent and all(n.op is SNAPSHOT for n in self.behind)
        )

    def core_is_legal(self) -> bool:
        """Whether control flow is the same for all trips, but for Ifs without exits."""
        for node in self.core.walk():
            if any(node.is_inside(loop) for loop in self.divergent):
                continue
            if node.op is LOOP and self.varying.is_divergent(node):
                if not is_maskable(node):
                    return False
                self.divergent.add(node)
                continue
            if node.op is LOOP and any(v in self.varying for v in node.inputs[:2]):
                return False
            if node.op is IF and node.inputs[0] in self.varying:
                inner = [n for block in node.blocks for n in block.walk()]
                if any(n.op is LOOP or (n.op.is_terminator and n.op is not YIELD) for n in inner):
                    return False
            elif node.op.is_terminator and node.target is None and node.op is not YIELD:
                return False
            if node.target is not None and node.target.is_inside(self.loop) is False:
                return False
        return True

    def find_hazards(self) -> bool:
        """Collect the arrays to test; False if what is written cannot be told from what is read."""
        read = [
            self.root(value)
            for n in [*self.before, self.core]
            for node in n.walk()
            if node.op is not SNAPSHOT and node.op.effects_of(node) & Effect.READ
            for value in node.inputs
            if not is_immutable(value.type)
        ]
        for node in (inner for n in (self.core, *self.behind) for inner in n.walk()):
            if not node.op.effects_of(node) & Effect.WRITE:
                continue
            written = written_operands(node)
            if not written or not self.behind or not self.has_snapshot_behind(node):
                return False  # the next trip would be entered without a Snapshot behind the store
            for target in map(self.root, written):
                if not self.elements.are_disjoint(target, self.root):
                    if node.is_inside(self.core) or target in read:
                        return False
                others = [source for source in read if source is not target]
                self.hazards += [(target, s) for s in others if self.aliases.may_alias(target, s)]
        self.hazards = list(dict.fromkeys(self.hazards))
        arrays = [value for pair in self.hazards for value in pair]
        return len(self.hazards) <= 4 and all(
            isinstance(v.type, ArrayType) and not v.is_inside(self.loop) for v in arrays
        )

    def find_checks(self, failed: Container[int]) -> None:
        """Find the checks behind the inner loops, if those of all trips can be made in front of all stores."""
        nodes = [n for node in self.behind for n in node.walk()]
        checks = [n for n in nodes if _may_leave(n)]
        may_go = (
            checks
            and len(self.loop.inputs) == 2
            and all(may_wait(n) or conversion_of(n) is not None for n in checks)
        )
        if not may_go or any(n.origin in failed for n in (self.loop, *checks)):
            return
        made = CheckSlice(self.behind, checks)
        written = [self.root(v) for n in nodes for v in written_operands(n)]
        read = [self.root(v) for n in made.nodes for v in n.inputs if not is_immutable(v.type)]
        is_known = not any(self.aliases.may_alias(a, b) for a in written for b in read)
        if is_known and made.is_safe and not any(is_long(n.op) for n in made.nodes):
            self.checks = made

    def has_snapshot_behind(self, store: Node) -> bool:
        """Whether there is a Snapshot between a store and the end of the trip."""
        while store not in self.behind and store is not self.core:
            assert store.block is not None and store.block.owner is not None
            store = store.block.owner
        nodes = self.behind if store is self.core else self.behind[self.behind.index(store) :]
        return any(n.op is SNAPSHOT for n in nodes)

    def root(self, value: Value) -> Value:
        """The value from outside of the loop in whose memory that of `value` lies, if there is one."""
        while value.is_inside(self.loop) and value.node is not None:
            sources = [v for v in value.node.inputs if not is_immutable(v.type)]
            if len(sources) != 1:
                break
            value = sources[0]
        return value


def _are_within(allowed: Effect, nodes: Sequence[Node]) -> bool:
    """Whether nodes, and those in them, have no other effects."""
    inner = [n for node in nodes for n in node.walk()]
    plain = [n for n in inner if not (n.op is SNAPSHOT or n.blocks or n.op.is_terminator)]
    return not any(n.op.effects_of(n) & ~allowed for n in plain)


def _may_leave(node: Node) -> bool:
    """Whether a node has checks of its own."""
    is_plain = not (node.op is SNAPSHOT or node.blocks or node.op.is_terminator)
    return is_plain and node.op.can_leave(node)


class Jam:
    """Writes the loop over groups of trips in front of the loop, which does the rest."""

    def __init__(self, graph: Graph, nest: _Nest) -> None:
        self.graph = graph
        self.nest = nest
        self.lanes: list[dict[Value, Value]] = [{} for _ in range(_LANES)]
        self.targets: dict[Node, Node] = {}

    def run(self) -> None:
        nest, loop = self.nest, self.nest.loop
        groups = self.number_of_groups()
        given = loop.blocks[0].terminator.inputs  # to the next trip
        jammed = loop.create_before(
            LOOP,
            (loop.inputs[0], groups, *loop.inputs[2:]),
            {"lanes": _LANES},
            outputs=(),
            like=loop,
        )
        params = loop.blocks[0].params
        body = jammed.add_block([("", INT), *((p.name, p.type) for p in params[1:])])
        end = body.create(YIELD, like=loop)
        self.lanes[0].update(zip(params[1:], body.params[1:], strict=True))
        first = self.int_op(end, "py::mul", body.params[0], _LANES)
        for lane, values in enumerate(self.lanes):
            values[loop.blocks[0].params[0]] = self.int_op(end, "py::add", first, lane)
        for node in nest.before:
            self.jam(node, body, end)
        self.jam(nest.core, body, end)
        self.check_first(end)
        for values, following in pairwise((*self.lanes, {})):
            if nest.core_stores and values is not self.lanes[-1]:
                continue
            for node in nest.behind:
                self.copy_behind(node, values).insert_before(end)
            carried = [values.get(value, value) for value in given]
            following.update(zip(params[1:], carried, strict=True))
        for position, value in enumerate(carried):
            end.add_input(value)
            out = loop.outputs[position]
            loop.set_input(2 + position, jammed.add_output(out.type, out.name))
        loop.set_input(0, self.int_op(loop, "py::mul", groups, _LANES))
        if nest.core_stores:
            # what is looked at in front of the trips left over must not lead back to the groups
            behind = {params[0]: loop.inputs[0]}
            copy_node(nest.before[0], self.graph, behind, {}).insert_before(loop)

    def check_first(self, end: Node) -> None:
        """Make the checks behind the inner loops, of all trips, together."""
        checks = self.nest.checks
        if checks is None:
            return
        limits = (insert_constant(0, end), insert_constant(1, end))
        made = end.create_before(LOOP, limits, {"checks": "made"}, outputs=(), like=self.nest.loop)
        into = made.add_block([("", INT)])
        for values in self.lanes:
            checks.copy(into, dict(values), self.nest.loop.origin)
        into.create(YIELD, like=made)

    def copy_behind(self, node: Node, values: dict[Value, Value]) -> Node:
        made = copy_node(node, self.graph, values, {})
        if self.nest.checks is not None:
            for inner in made.walk():
                if _may_leave(inner):
                    inner.proven = (*inner.proven, CHECKED_IN_FRONT)
        return made

    def number_of_groups(self) -> Value:
        """The whole groups of trips; 0 if a store could change what other trips read."""
        loop = self.nest.loop
        stop, zero = loop.inputs[1], insert_constant(0, loop)
        holds = self.op("py::gt", stop, zero)
        for pair in self.nest.hazards:
            overlap = self.op("np::may_share_memory", *pair)
            holds = self.op("py::and", holds, self.op("py::not", overlap))
        groups = self.int_op(loop, "py::rshift", stop, _LANES.bit_length() - 1)
        choice = loop.create_before(IF, (holds,), outputs=(INT,), like=loop)
        for value in (groups, zero):
            block = choice.add_block()
            block.create(YIELD, (value,), like=loop)
        return choice.output

    def op(self, name: str, *operands: Value) -> Value:
        """An op in front of the loop."""
        loop = self.nest.loop
        return loop.create_before(get_op(name), operands, like=loop).output

    def int_op(self, before: Node, name: str, x: Value, y: int) -> Value:
        node = self.graph.create(get_op(name), (x, insert_constant(y, before)), like=before)
        node.proven = ("fits",)
        return node.insert_before(before).output

    # -- one copy for all trips of a group, or one each --------------------------------------------

    def jam(self, node: Node, into: Block, before: Node | None) -> None:
        """Copy `node` behind what `into` has (in front of `before`)."""
        if node.op is SNAPSHOT:
            if before is not None and node is self.nest.before[0]:
                copy_node(node, self.graph, self.lanes[0], {}).insert_before(before)
            return
        varying = self.nest.varying
        if node in self.nest.divergent:
            self.place(write_masked(self, node), into, before)
            return
        if node.op in (LOOP, REGION) or (
            node.op is IF and node.inputs[0] not in varying and _has_exits(node)
        ):
            made = self.jam_structure(node)
            self.place(made, into, before)
            return
        if node.op.is_terminator:
            operands = self.expand(node.inputs, _slots(node))
            made = self.graph.create(node.op, operands, outputs=0, like=node)
            made.attrs = dict(node.attrs)
            made.target = self.targets[node.target] if node.target is not None else None
            self.place(made, into, before)
            return
        is_varying = any(v in varying for v in node.outputs or node.inputs)
        for lane in range(_LANES if is_varying else 1):
            made = copy_node(node, self.graph, self.lanes[lane], {})
            self.place(made, into, before)
        if not is_varying:
            self.share(node)

    def share(self, node: Node) -> None:
        """Make what the first trip has of a node that of all."""
        inner = [p for block in node.blocks for p in block.params]
        outs = [out for block in node.blocks for n in block.walk() for out in n.outputs]
        for value in (*node.outputs, *inner, *outs):
            for values in self.lanes[1:]:
                values[value] = self.lanes[0][value]

    def jam_structure(self, node: Node) -> Node:
        """Copy a Loop, Region or If whose control flow is that of all trips."""
        slots = [*node.inputs[:2], *node.outputs] if node.op is LOOP else node.inputs
        made = self.graph.create(node.op, self.expand(node.inputs, slots), outputs=(), like=node)
        made.attrs = dict(node.attrs)
        made.proven = node.proven
        self.targets[node] = made
        for block in node.blocks:
            inner = made.add_block()
            self.add_params(block, inner)
            for child in block:
                self.jam(child, inner, None)
        self.add_outputs(node, made)
        return made

    def add_params(self, block: Block, made: Block) -> None:
        for param in block.params:
            for lane in self.copies(param):
                self.lanes[lane][param] = made.add_param(param.name, param.type)
            self.spread(param)

    def add_outputs(self, node: Node, made: Node) -> None:
        for out in node.outputs:
            for lane in self.copies(out):
                self.lanes[lane][out] = made.add_output(out.type, out.name)
            self.spread(out)

    def copies(self, value: Value) -> range:
        return range(_LANES if value in self.nest.varying else 1)

    def spread(self, value: Value) -> None:
        if value not in self.nest.varying:
            for values in self.lanes[1:]:
                values[value] = self.lanes[0][value]

    def expand(self, values: Sequence[Value], slots: Sequence[Value]) -> list[Value]:
        """Operands of a copy: one for a slot that all trips share, else one a trip."""
        return [
            self.lanes[lane].get(value, value)
            for value, slot in zip(values, slots, strict=True)
            for lane in self.copies(slot)
        ]

    def place(self, node: Node, into: Block, before: Node | None) -> None:
        if before is not None:
            node.insert_before(before)
        else:
            into.append(node)


def _slots(terminator: Node) -> Sequence[Value]:
    """What the operands of a terminator become: outputs, or carried values of the next trip."""
    assert terminator.block is not None
    owner = terminator.target if terminator.target is not None else terminator.block.owner
    assert owner is not None
    return owner.outputs


def _has_exits(node: Node) -> bool:
    return any(n.target is not None or n.op in (LOOP, REGION) for n in node.walk())


def _is_int(type_: Type) -> bool:
    return type_ == INT or (isinstance(type_, ScalarType) and type_.dtype.kind in "iu")


def _is_float(type_: Type) -> bool:
    return type_ in (FLOAT, COMPLEX) or (isinstance(type_, ScalarType) and type_.dtype.kind in "fc")
