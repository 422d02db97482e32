"""Arrays of which each trip of a loop has elements of its own (`passes/unroll_and_jam`).

    for j in range(p):
        for i in range(n):
            b[i, j] = 2.0 * a[i, j]

All accesses to `b` have the loop's variable, unchanged, as their index of one axis. So no trip reads or writes what
another one writes, and trips may run in any order, or side by side, as long as the order within each stays. That also
needs an array without elements at the same address (a C-contiguous one), and indices that do not wrap around.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable

from ljit.analysis.dependence import indices
from ljit.ir import Effect, Node, Value
from ljit.ops.containers.iteration import NEXT
from ljit.ops.indexing.index import FROM_START
from ljit.types import RANGE, ArrayType

__all__ = ["OwnElements"]


class OwnElements:
    """The elements that the body of a loop, given as `nodes`, accesses by the loop's variable."""

    def __init__(self, loop: Node, nodes: Iterable[Node]) -> None:
        trip = loop.blocks[0].params[0]
        self._nodes = list(nodes)
        self._own = {trip}
        for node in self._nodes:
            if node.op is NEXT and node.inputs[1] is trip and _is_range(node):
                view = node.inputs[0].node
                if view is None or not view.is_inside(loop):
                    self._own.add(node.output)

    def are_disjoint(self, array: Value, root: Callable[[Value], Value]) -> bool:
        """Whether no two trips access the same element of an array that is written to.

        `root` gives the array in whose memory another one lies.
        """
        if not isinstance(array.type, ArrayType) or array.type.layout != "C":
            return False
        common = set(range(array.type.ndim))
        for node in self._nodes:
            effects = node.op.effects_of(node)
            if effects & (Effect.READ | Effect.WRITE) and array in map(root, node.inputs):
                common &= self.axes(node) if node.inputs[0] is array else set()
        return bool(common)

    def are_neighbours(self, inner: Node) -> bool:
        """Whether the trips access elements side by side in rows that an inner loop goes through."""
        trips = set(inner.blocks[0].params[:1])
        trips |= {n.output for n in inner.blocks[0] if n.op is NEXT and _is_range(n)}
        for node in self._nodes:
            axes = self.axes(node)
            if axes and node.is_inside(inner):
                found = indices(node)
                if len(found) - 1 in axes and any(index in trips for index in found[:-1]):
                    return True
        return False

    def axes(self, node: Node) -> set[int]:
        """The axes of an element access that the loop's variable is the index of."""
        array = node.inputs[0].type if len(node.inputs) > 1 else None
        if not isinstance(array, ArrayType):
            return set()
        found = indices(node)
        if len(found) != array.ndim:
            return set()
        counted = {axis for axis in range(array.ndim) if f"{FROM_START}.{axis}" in node.proven}
        return {axis for axis in counted if found[axis] in self._own}


def _is_range(node: Node) -> bool:
    return bool(node.inputs) and node.inputs[0].type == RANGE
