"""Trips of a loop that update the same elements, done together by the loop inside (`passes/interchange`).

    for k in range(m):                        for k in range(0, m - 3, 4):
        for j in range(p):                        for j in range(p):
            c[i, j] += a[i, k] * b[k, j]              x = c[i, j] + a[i, k] * b[k, j]
                                                      x = x + a[i, k + 1] * b[k + 1, j]
                                                      x = x + a[i, k + 2] * b[k + 2, j]
                                                      c[i, j] = x + a[i, k + 3] * b[k + 3, j]
                                              (and up to three trips as before)

An element is loaded and stored once for four terms. It gets them in the program's order, so that results are
bit-identical. Legal if the two loops could change places (`analysis.dependence`); nothing in them can leave native
code, and they have no state of the program. Loads that are the same in all trips of the inner loop stand in front of
it: of rows of one array LLVM would not know that no store changes them. So nothing is done together if that loop has no
trips.

Cost: the body once more, four times as long.
"""

from __future__ import annotations

from collections.abc import Container, Mapping, Sequence

from ljit.analysis.dependence import Access, indices
from ljit.analysis.loop_bounds import LoopBounds
from ljit.analysis.uniformity import Varying
from ljit.ir import Effect, Node, Value, copy_node
from ljit.ops.control import LOOP, YIELD
from ljit.passes.loops.bound_writer import BoundWriter
from ljit.types import INT, ArrayType, ScalarType

__all__ = ["JoinedTrips", "are_updates"]

_TRIPS = 4
_MAX_NODES = 32  # of a body, which is written out `_TRIPS` times

_Place = tuple[Value, ...]  # an array and the indices of an element


def are_updates(
    accesses: Sequence[Access],
    nodes: Sequence[Node],
    bounds: Sequence[LoopBounds],
    loops: Sequence[int],
) -> bool:
    """Whether trips of a loop store to elements of other trips of it, in rows that the next one goes through.

    `loops`: the positions of the two.
    """
    ends = (end for position in loops for end in (bounds[position].low, bounds[position].high))
    if len(nodes) > _MAX_NODES or any(node.blocks for node in nodes):
        return False
    if any(end.value is None and end.loop in loops for end in ends):
        return False
    return any(a.is_write and _is_update(a, *loops) for a in accesses)


def _is_update(access: Access, loop: int, inside: int) -> bool:
    factors = [s.factors for s in access.subscripts if s.factors is not None]
    if len(factors) != len(access.subscripts) or any(f[loop] for f in factors):
        return False
    return factors[-1][inside] == 1 and not any(f[inside] for f in factors[:-1])


class JoinedTrips:
    """The trips of `loop` in groups; `inner`, the loop in it, has the same bounds in all of them.

    `apart`: pairs of accesses to an array that are never to one element.
    """

    def __init__(self, loop: Node, inner: Node, apart: Container[tuple[Node, Node]]) -> None:
        self.loop, self.inner, self.graph = loop, inner, loop.graph
        self.apart = apart
        self.varying = Varying(loop)
        self.body = [n for n in inner.blocks[0] if n.op is not YIELD]
        self.accesses = [n for n in self.body if n.op.effects_of(n) & (Effect.READ | Effect.WRITE)]
        self.held = self._held()
        self.fixed = self._fixed()

    def _held(self) -> Mapping[Node, _Place]:
        """The accesses to elements that stay in a register from trip to trip."""
        by_place: dict[_Place, list[Node]] = {}
        for node in self.accesses:
            if index := indices(node):
                by_place.setdefault((node.inputs[0], *index), []).append(node)
        return {
            node: place
            for place, found in by_place.items()
            if self._is_held(place, found)
            for node in found
        }

    def _is_held(self, place: _Place, found: Sequence[Node]) -> bool:
        """Whether an element is the same in all trips, and nobody else in them may load or store it."""
        array, *index = place
        assert isinstance(array.type, ArrayType)
        own = ScalarType(array.type.dtype)
        others = [n for n in self.accesses if n.inputs[0] is array and n not in found]
        return (
            any(map(_is_store, found))
            and all((n.inputs[2] if _is_store(n) else n.output).type == own for n in found)
            and not any(value in self.varying for value in index)
            and all((n, other) in self.apart for n in found for other in others)
        )

    def _fixed(self) -> set[Node]:
        """What is the same in all trips of the inner loop."""
        varying = {*self.inner.blocks[0].params}
        fixed = set()
        for node in self.body:
            if any(v in varying for v in node.inputs) or not self._can_stand_in_front(node):
                varying.update(node.outputs)
            else:
                fixed.add(node)
        return fixed

    def _can_stand_in_front(self, node: Node) -> bool:
        """Whether no store of the inner loop changes what a node gives."""
        if node not in self.accesses:
            return True
        stores = [n for n in self.accesses if n.op.effects_of(n) & Effect.WRITE]
        own = [store for store in stores if store.inputs[0] is node.inputs[0]]
        return node not in stores and all((store, node) in self.apart for store in own)

    # -- the new loop --------------------------------------------------------------------------------

    def write(self) -> None:
        """Put a loop over the groups in front; the loop itself does the trips that are left over."""
        loop, inner = self.loop, self.inner
        for node in [n for n in loop.blocks[0] if n is not inner and n.op is not YIELD]:
            node.move_before(loop)  # bounds of the inner loop
        write = BoundWriter(self._place())
        zero, trips = write.constant(0), write.constant(_TRIPS)
        start, stop = loop.inputs
        count = write.choose(
            write.op("py::lt", *inner.inputs), write.op("py::sub", stop, start), zero
        )
        count = write.choose(write.op("py::gt", count, zero), count, zero)
        groups = write.op("py::floordiv", count, trips)
        done = write.op("py::mul", groups, trips)
        loop.set_input(0, write.op("py::add", start, done))
        joined = self.graph.create(LOOP, (zero, groups), dict(loop.attrs), outputs=(), like=loop)
        write.within = block = joined.add_block([("", INT)])
        first = write.op("py::add", start, write.op("py::mul", block.params[0], trips))
        self._write_group(write, first)
        block.create(YIELD, like=loop)
        joined.insert_before(loop)
        loop.attrs["most_trips"] = _TRIPS - 1
        around = next((owner for owner in loop.owners() if owner.op is LOOP), None)
        if around is None or any(v.is_inside(around) for v in inner.inputs):
            # codegen would look here whether it is too long to be run without polls, behind the stores of the groups
            inner.attrs["uneven"] = True

    def _place(self) -> Node:
        """The outermost loop in front of which the bounds are known: nobody can leave in front of the others."""
        bounds = (*self.loop.inputs, *self.inner.inputs)
        place = self.loop
        for outer in self.loop.owners():
            if outer.op is not LOOP or not outer.attrs.get("reordered"):
                break
            if any(value.is_inside(outer) for value in bounds):
                break
            place = outer
        return place

    def _write_group(self, write: BoundWriter, first: Value) -> None:
        """Write the inner loop for the trips from `first` on."""
        block = write.within
        assert block is not None
        inner, graph = self.inner, self.graph
        inner.attrs["one_vector"] = True
        made = graph.create(LOOP, inner.inputs, dict(inner.attrs), outputs=(), like=inner)
        (variable,) = inner.blocks[0].params
        into = made.add_block([(variable.name, INT)])
        elements: dict[_Place, Value] = {}
        stores: dict[_Place, tuple[Node, dict[Value, Value]]] = {}
        for number in range(_TRIPS):
            values = {
                self.loop.blocks[0].params[0]: write.plus(first, number),
                variable: into.params[0],
            }
            for node in self.body:
                place = self.held.get(node)
                if place is not None and _is_store(node):
                    elements[place] = values.get(node.inputs[2], node.inputs[2])
                    stores[place] = node, values
                elif place in elements:
                    values[node.output] = elements[place]
                else:
                    copy = copy_node(node, graph, values, {})
                    (block if node in self.fixed else into).append(copy)
                    if place is not None:
                        elements[place] = copy.output
        for store, values in stores.values():
            into.append(copy_node(store, graph, values, {}))
        into.create(YIELD, like=inner)
        block.append(made)


def _is_store(node: Node) -> bool:
    return len(node.inputs) == 3 and not node.outputs
