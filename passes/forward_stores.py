"""Carry from trip to trip what one trip stores and the next one loads.

    for x in range(1, w - 1):                   carried = a[y, 1]
        old = a[y, x]                           for x in range(1, w - 1):
        ...                                         old = carried
        a[y, x + 1] += error * 7 / 16               ...
        a[y + 1, x] += error * 5 / 16               carried = a[y, x + 1] + error * 7 / 16
                                                    a[y, x + 1] = carried

A load waits for the store of the trip before, which takes longer than the arithmetic around it. LLVM sees that where a
loop stores to one place only, along the last axis: of two rows, as above, it does not know that they are apart, and
down a column not how far the next element is.

Legal for an element that is stored in each trip and loaded in each trip that follows, by indices that are polynomials
(`analysis/dependence.py`), if nothing may be written to it in between: other stores to the array meet it never, earlier
or later, and other arrays that the loop writes to share no memory with it. What the first trip loads is loaded in front
of the loop, if that has trips: so nothing in front of the load may leave native code. All stores stay.

Reference: Callahan, Carr, Kennedy, Improving Register Allocation for Subscripted Variables, 1990.
"""

from __future__ import annotations

from collections.abc import Sequence

from ljit.analysis.alias import AliasInfo, written_operands
from ljit.analysis.dependence import Subscripts, distances, is_apart_exactly
from ljit.analysis.loop_bounds import loop_bounds
from ljit.analysis.ranges import Ranges
from ljit.ir import Effect, Graph, Node, Value, copy_node, get_op
from ljit.ops.control import IF, LOOP, REGION, SNAPSHOT, YIELD
from ljit.passes.manager import graph_pass, is_allowed
from ljit.passes.rewriting import insert_constant, replace_value
from ljit.types import FLOAT, INT, ArrayType, ScalarType, Type

__all__ = ["forward_stores"]

NAME = "forward_stores"
_MAX_CARRIED = 4  # registers
_PYTHONS = {"f8": FLOAT, "i8": INT}  # numbers that are stored as they are


@graph_pass(NAME)
def forward_stores(graph: Graph) -> bool:
    """Rewrite the loops that gain from it; whether there were any."""
    aliases, ranges = AliasInfo(graph), Ranges()
    found = [
        (loop, pairs)
        for loop in [node for node in graph.walk() if node.op is LOOP]
        if (pairs := _Loop(loop, aliases, ranges).pairs() if _is_plain(loop) else [])
    ]
    changed = False
    for loop, pairs in found:
        if is_allowed(NAME, loop):
            for load, store in pairs:
                _carry(loop, load, store)
            changed = True
    return changed


def _is_plain(loop: Node) -> bool:
    """Whether it is an innermost loop that ends when its trips are used up."""
    if len(loop.blocks) != 1 or loop.inputs[1].is_endless:
        return False
    body = loop.blocks[0]
    return body.terminator.op is YIELD and not any(
        node.op in (LOOP, REGION) or node.target is loop for node in body.walk()
    )


class _Loop:
    """The loads and stores of a loop."""

    def __init__(self, loop: Node, aliases: AliasInfo, ranges: Ranges) -> None:
        self.loop = loop
        self.aliases = aliases
        self.ranges = ranges
        self.body = list(loop.blocks[0])
        self.places = {n: place for place, top in enumerate(self.body) for n in top.walk()}
        self.writes = [n for n in self.places if not n.blocks and n.effects & Effect.WRITE]

    def pairs(self) -> list[tuple[Node, Node]]:
        """Each load whose element the trip before has stored, with that store."""
        stores = [node for node in self.writes if node.block is self.loop.blocks[0]]
        if not stores or any(n.effects & Effect.CALL for n in self.places):
            return []
        bounds = loop_bounds([self.loop], (), self.ranges)
        if bounds is None:
            return []
        self.subscripts = Subscripts([self.loop], bounds, self.ranges)
        found = []
        for load in self._first_loads():
            store = self._source(load, stores)
            if (
                store is not None
                and _is_stored_as_it_is(store, load.output.type)
                and (len(stores) > 1 or self._moves_across_rows(load))
            ):
                found.append((load, store))
        return found[:_MAX_CARRIED]

    def _moves_across_rows(self, load: Node) -> bool:
        """Whether the loop moves another index than the last one."""
        *others, _ = self.subscripts.access(load, is_write=False).subscripts
        return any(index.factors != (0,) for index in others)

    def _first_loads(self) -> list[Node]:
        """The loads in front of which nothing leaves native code."""
        found = []
        for node in self.body:
            if node.op is not SNAPSHOT and any(n.op.can_leave(n) for n in node.walk()):
                break
            if _is_load(node, self.loop) and _needed(self.loop, node) is not None:
                found.append(node)
        return found

    def _source(self, load: Node, stores: Sequence[Node]) -> Node | None:
        """The store that gives in each trip what is loaded in the next one; None if there may be another."""
        array = load.inputs[0]
        access = self.subscripts.access(load, is_write=False)
        source: Node | None = None
        for node in self.writes:
            if written_operands(node) != node.inputs[:1] or not node.op.writes_part:
                return None
            if node.inputs[0] is not array:
                if self.aliases.may_alias(node.inputs[0], array):
                    return None
                continue
            stored = self.subscripts.access(node, is_write=True)
            trips = distances(self.subscripts, stored, access)
            if trips is None:
                continue
            if trips == (None,) or (trips == (0,) and self.places[node] < self.places[load]):
                return None
            if trips == (1,):
                if not is_apart_exactly(stored, access):
                    return None
                source = node  # later ones count
        return source if source in stores else None


def _is_load(node: Node, loop: Node) -> bool:
    """Whether it loads an element of an array from outside."""
    if not node.op.reads_part or node.effects & ~Effect.READ:
        return False
    array = node.inputs[0]
    is_element = isinstance(array.type, ArrayType) and isinstance(node.output.type, ScalarType)
    return is_element and not array.is_inside(loop)


def _is_stored_as_it_is(store: Node, element: Type) -> bool:
    assert isinstance(element, ScalarType)
    return store.inputs[2].type in (element, _PYTHONS.get(element.dtype.str[1:]))


def _needed(loop: Node, load: Node) -> list[Node] | None:
    """The nodes of the body of which an index is computed, in order; None if they are more than arithmetic."""
    found: dict[Node, None] = {}
    todo = [*load.inputs]
    while todo:
        node = todo.pop().node
        if node is None or node in found or not node.is_inside(loop):
            continue
        is_pure = not (node.blocks or node.effects & ~Effect.RAISE or node.op.can_leave(node))
        if node.block is not loop.blocks[0] or not is_pure:
            return None
        found[node] = None
        todo += node.inputs
    return [node for node in loop.blocks[0] if node in found]


def _carry(loop: Node, load: Node, store: Node) -> None:
    """Let the loop carry the element: at first that of the first trip."""
    graph, type_, body = loop.graph, load.output.type, loop.blocks[0]
    assert isinstance(type_, ScalarType)
    has_trips = loop.create_before(get_op("py::lt"), loop.inputs[:2], like=load).output
    choice = loop.create_before(IF, (has_trips,), outputs=(type_,), like=load)
    first, other = choice.add_block(), choice.add_block()
    values: dict[Value, Value] = dict(
        zip(body.params, (loop.inputs[0], *loop.inputs[2:]), strict=True)
    )
    for node in (*(_needed(loop, load) or ()), load):
        first.append(copy_node(node, graph, values, {}))
    first.create(YIELD, (values[load.output],), like=load)
    other.create(YIELD, (insert_constant(type_.dtype.type(0), choice, type_),), like=load)
    stored = store.inputs[2]
    if stored.type != type_:
        attrs = {"type": type_}
        made = graph.create(get_op("np::number"), [stored], attrs, like=store)
        stored = made.insert_before(store).output
    loop.add_input(choice.output)
    param = body.add_param("", type_)
    body.terminator.add_input(stored)
    loop.add_output(type_)
    replace_value(load.output, param)
    load.erase()
