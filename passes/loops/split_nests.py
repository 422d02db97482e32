"""Loops with stores beside the loop in them, split so that this loop can change places (`passes/interchange`).

    for j in range(p):                        for j in range(p):
        t[i, j] = 0.0                             t[i, j] = 0.0
        for k in range(m):                    for k in range(m):
            t[i, j] += a[i, k] * b[k, j]          for j in range(p):
        t[i, j] /= n                                  t[i, j] += a[i, k] * b[k, j]
                                              for j in range(p):
                                                  t[i, j] /= n

What stands in front of the inner loop, the loop, and what stands behind it become loops of their own. Legal if no trip
of an earlier one of them stores or loads an element that the trips before it need otherwise: from what is in front to
what is behind, accesses to one element lie the same number of trips apart, or more (`analysis.dependence`).

Nothing in the three leaves, and nothing between them: the loops of the second and third one are watched by polls in
them (``uneven``), never by a test in front of them that would lead back to before the first.

Reference: Allen, Kennedy, Optimizing Compilers for Modern Architectures, 2001, section 5.4 (loop distribution).
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from itertools import combinations

from ljit.analysis.alias import AliasInfo
from ljit.analysis.dependence import Access, distances
from ljit.ir import Effect, Node, Value, copy_node
from ljit.ops.control import LOOP, SNAPSHOT, YIELD
from ljit.passes.loops.nests import Nest, end, is_plain, is_short
from ljit.types import INT

__all__ = ["SplitNest"]


class SplitNest(Nest):
    """A loop in another one that stores beside it.

    `front` and `behind` are what is done there, with all that it needs of the trip; `again` is what is done in front
    of the inner loop, and in a later one once more.
    """

    front: list[Node]
    behind: list[Node]
    again: set[Node]

    @staticmethod
    def of(outer: Node) -> SplitNest | None:
        """The nest that `outer` and the only loop in it are."""
        nodes = [n for n in outer.blocks[0] if n.op not in (SNAPSHOT, YIELD)]
        inner = next((n for n in nodes if n.op is LOOP), None)
        if inner is None or not (is_plain(outer) and is_plain(inner)) or is_short(inner):
            return None
        nodes = [n for n in nodes if n is not inner]
        stores = list(filter(_writes, nodes))
        if not stores:
            return None
        varying = {*outer.blocks[0].params}
        fixed: list[Node] = []
        moved: list[Node] = []
        for node in nodes:
            effects = node.op.effects_of(node)
            if node.blocks or effects or any(v in varying for v in node.inputs):
                varying.update(node.outputs)
                moved.append(node)
            else:
                fixed.append(node)
        if any(value in varying for value in inner.inputs):
            return None
        in_front = {n for n in moved if n.is_before(inner)}
        before = [n for n in moved if n in in_front]
        nest = SplitNest([outer, inner], fixed, _needed(before, [inner], ()))
        nest.front = _needed(before, (), [n for n in stores if n in in_front])
        nest.behind = _needed(moved, (), [n for n in stores if n not in in_front])
        again = [*nest.between, *(n for n in nest.behind if n in in_front)]
        nest.again = {n for top in again for n in top.walk()}
        if any(map(_writes, again)):
            return None
        return nest if nest.has_bounds(varying) and nest.is_quiet() else None

    def is_quiet(self) -> bool:
        beside = (n for top in (*self.front, *self.behind) for n in top.walk())
        return super().is_quiet() and all(map(self._is_quiet_node, beside))

    def best_order(self, aliases: AliasInfo) -> Sequence[int] | None:
        order = super().best_order(aliases)
        return order if order == (1, 0) else None

    def _find_hazards(self, accesses: Sequence[Access], aliases: AliasInfo) -> bool:
        parts = (self._accesses_of(self.front), accesses, self._accesses_of(self.behind))
        found = [a for part in parts for a in part]
        written = {a.array for a in found if a.is_write}
        if any(a.node in self.again and a.array in written for a in found):
            return False
        if not all(self._may_split(*pair) for pair in combinations(parts, 2)):
            return False
        return super()._find_hazards(found, aliases)

    def _may_split(self, first: Sequence[Access], second: Sequence[Access]) -> bool:
        """Whether all trips may do the first before one does the second."""
        return all(
            (steps := distances(self.subscripts, a, b)) is None
            or (steps[0] is not None and steps[0] >= 0)
            for a in first
            for b in second
            if a.array is b.array and (a.is_write or b.is_write)
        )

    # -- the new loops -------------------------------------------------------------------------------

    def reorder(self, order: Sequence[int]) -> None:
        """Write the three loops in place of the present one."""
        outer = self.loops[0]
        assert outer.next is not None
        self._move_in_front(order)
        if self.front:
            self._beside(self.front).insert_before(outer)
        if self.behind:
            loop = self._beside(self.behind)
            loop.attrs["uneven"] = True
            loop.insert_before(outer.next)
        self._write(order, None, [*self.between, *self.body])

    def _beside(self, nodes: Iterable[Node]) -> Node:
        """A loop of its own for what is done beside the inner one."""
        outer = self.loops[0]
        attrs = {"reordered": True}
        made = outer.graph.create(LOOP, outer.inputs, attrs, outputs=(), like=outer)
        (trip,) = outer.blocks[0].params
        copies: dict[Value, Value] = {trip: made.add_block([(trip.name, INT)]).params[0]}
        end(made, [copy_node(n, outer.graph, copies, {}) for n in nodes])
        return made

    def _loop(self, position: int, bounds: tuple[Value, Value] | None = None) -> Node:
        made = super()._loop(position, bounds)
        made.attrs["uneven"] = True
        return made


def _writes(node: Node) -> bool:
    return any(n.op.effects_of(n) & Effect.WRITE for n in node.walk())


def _needed(nodes: Sequence[Node], users: Iterable[Node], stores: Collection[Node]) -> list[Node]:
    """Those of the nodes that `users` and `stores`, which are some of them, need, and these."""
    wanted = {v for user in users for v in _operands(user)}
    found = []
    for node in reversed(nodes):
        if node in stores or any(out in wanted for out in node.outputs):
            found.append(node)
            wanted.update(_operands(node))
    return found[::-1]


def _operands(node: Node) -> list[Value]:
    return [v for n in node.walk() if n.op is not SNAPSHOT for v in n.inputs]
