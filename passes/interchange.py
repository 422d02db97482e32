"""Put the loops of a nest into the order in which memory is gone through element by element.

    for j in range(p):                        for i in range(n):
        for k in range(m):                        for k in range(m):
            for i in range(n):                        for j in range(p):
                c[i, j] += a[i, k] * b[k, j]              c[i, j] += a[i, k] * b[k, j]

A nest is loops that carry no values, with only pure work and loads of what the nest does not store to between them.
Their bounds are known in front of it, or are sums of the variable of a loop around them and a constant (triangles: then
the new loops have bounds of their own, `loops/ordered_bounds.py`). The order chosen has the least cost inside: for each
access to an array the bytes that the next trip is away, at most a line of the cache; then the loop around it likewise.

Legal if no two trips that access the same element, one of them writing, change places (`analysis.dependence`); so
each element gets its values in the program's order, and sums of floats are bit-identical. Nothing in the nest may leave
native code: checks are proven, or were tested in front. Different arrays must not overlap: if they do, the code leaves
in front of the nest, and the next compile keeps the order (`failed`); so it does if the loop put inside has hardly any
trips. What each trip of an outer loop reads again is read in strips that stay in the cache (`loops/strips.py`). The
trips of such loops have no state of the program (``reordered``), so a poll in them cannot leave: it does so behind the
nest (`codegen/loops/polling.py`).

Reference: McKinley, Carr, Tseng, Improving Data Locality with Loop Transformations, 1996.
"""

from __future__ import annotations

from collections.abc import Container, Sequence
from itertools import pairwise

from ljit.analysis.alias import AliasInfo
from ljit.analysis.dependence import Access, Distances
from ljit.ir import Graph, Node, Value, copy_node, get_op
from ljit.ops.control import LOOP, SNAPSHOT, YIELD
from ljit.passes.loops.nests import MAX_LOOPS, Nest, end, is_plain, sort
from ljit.passes.loops.split_nests import SplitNest
from ljit.passes.loops.stored_sums import StoredSum, match
from ljit.passes.manager import graph_pass, is_allowed
from ljit.types import INT, ArrayType

__all__ = ["interchange"]

NAME = "interchange"


@graph_pass(NAME)
def interchange(graph: Graph, failed: Container[int] = ()) -> bool:
    """Reorder the nests that gain from it; whether there were any.

    `failed`: origins of loops for which a test in front failed.
    """
    loops = [n for n in graph.walk() if n.op is LOOP]
    found = [nest for n in loops if (nest := _nest(n)) is not None]
    aliases = AliasInfo(graph)
    done: set[Node] = set()
    for nest in found:
        outer = nest.loops[0]
        if outer in done or outer.origin in failed:
            continue
        order = nest.best_order(aliases)
        if order is not None and is_allowed(NAME, outer):
            done.update(nest.loops)
            nest.reorder(order)
    return bool(done)


def _nest(loop: Node) -> Nest | None:
    """The nest that a loop begins, if it is one of those whose order can be chosen."""
    return Nest.of(loop) or _SumNest.of(loop) or SplitNest.of(loop)


class _SumNest(Nest):
    """A loop that stores sums made in a loop in it (`stored_sums`), and the loops around it."""

    sums: StoredSum

    @staticmethod
    def of(outer: Node) -> Nest | None:
        loops: list[Node] = []
        varying: set[Value] = set()
        fixed: list[Node] = []
        between: list[Node] = []
        loop, sums = outer, None
        while sums is None:
            is_fixed = not any(value in varying for value in loop.inputs)
            if not is_plain(loop) or not is_fixed or len(loops) == MAX_LOOPS - 1:
                return None
            loops.append(loop)
            varying.update(loop.blocks[0].params)
            sums = match(loop)
            nodes = [n for n in loop.blocks[0] if n.op not in (SNAPSHOT, YIELD)]
            if sums is None and not (nodes and nodes[-1].op is LOOP):
                return None
            before = nodes[:-1] if sums is None else sums.before
            if not sort(before, varying, fixed, between):
                return None
            loop = nodes[-1]
        if any(value in varying for value in sums.loop.inputs[:2]):
            return None
        nest = _SumNest([*loops, sums.loop], fixed, between)
        nest.sums = sums
        nest.between += sums.index
        if not (nest.has_bounds(()) and nest.is_quiet()):
            return None
        return nest if nest._is_quiet_node(sums.store) else None

    def _accesses(self) -> list[Access]:
        found = super()._accesses()
        if any(a.array is self.sums.store.inputs[0] for a in found):
            return []
        store = self.subscripts.access(self.sums.store, is_write=True)
        return [*found, store, store]  # it is loaded, too

    def _is_legal(self, dependences: Sequence[Distances], order: Sequence[int]) -> bool:
        """Whether each sum has an element of its own, too: all of them begin before the first one ends."""
        is_own = all(step == 0 for distance in dependences for step in distance[:-1])
        return is_own and super()._is_legal(dependences, order)

    def reorder(self, order: Sequence[int]) -> None:
        """Begin the sums in loops of their own; then add to them in memory."""
        sums, outer, graph = self.sums, self.loops[0], self.loops[0].graph
        array, index, _ = sums.store.inputs
        assert isinstance(array.type, ArrayType)
        strips = self._move_in_front(order)
        first = sums.loop.inputs[2]
        copies: dict[Value, Value] = {}
        begins = []
        for loop in self.loops[:-1]:
            attrs = {"reordered": True}
            begins.append(graph.create(LOOP, loop.inputs, attrs, outputs=(), like=loop))
            copies[loop.blocks[0].params[0]] = begins[-1].add_block([("", INT)]).params[0]
        nodes = [copy_node(n, graph, copies, {}) for n in self.between]
        for around, inner in pairwise(begins):
            end(around, [inner])
        end(begins[-1], [*nodes, self._store(copies.get(index, index), copies.get(first, first))])
        begins[0].insert_before(outer)
        load = graph.create(get_op("np::getitem"), (array, index), like=sums.store)
        load.proven = sums.store.proven
        sums.loop.blocks[0].params[1].replace_all_uses_with(load.output)
        (result,) = sums.loop.blocks[0].terminator.inputs
        store = self._store(sums.store.inputs[1], result)
        self._write(order, strips, [*self.between, load, *self.body, store])

    def _start(self, loop: Node) -> Value:
        return self.sums.loop.inputs[0] if loop is self.sums.loop else loop.inputs[0]

    def _store(self, index: Value, value: Value) -> Node:
        store = self.sums.store
        operands = (store.inputs[0], index, value)
        made = store.graph.create(store.op, operands, dict(store.attrs), outputs=0, like=store)
        made.proven = store.proven
        return made
