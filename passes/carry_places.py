"""Carry from trip to trip the places in what a loop goes through all combinations of.

    for i, j in np.ndindex(h, w):                   i, j = 0, 0
        s += a[i, j]                                for _ in range(h * w):
                                                        s += a[i, j]
                                                        i, j = (i, j + 1) if j + 1 < w else (i + 1, 0)

The combination of trip k is found by divisions, which take ten times as long as a sum. Which places follow one another
is known without.

Contract: a counted loop that only ends with its trips, over a view from outside of it that an op makes which says what
it combines (`OpDef.combined`). The places of the first trip are found in front of the loop, if it has trips: Snapshots
go on to name the trip.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial

from ljit.ir import Graph, Node, Value, get_op
from ljit.ops.containers.iteration import NEXT
from ljit.ops.control import IF, LOOP, YIELD
from ljit.passes.loops.bound_writer import BoundWriter
from ljit.passes.loops.trip_blocks import only_counts
from ljit.passes.manager import graph_pass, is_allowed
from ljit.types import INT, ViewType

__all__ = ["carry_places"]

NAME = "carry_places"


@graph_pass(NAME)
def carry_places(graph: Graph) -> bool:
    """Rewrite the loops for which it is legal; whether there were any."""
    changed = False
    for loop in [node for node in graph.walk() if node.op is LOOP and only_counts(node)]:
        for node in [node for node in loop.blocks[0] if _is_combination(node, loop)]:
            if is_allowed(NAME, node):
                _carry(loop, node)
                changed = True
    return changed


def _is_combination(node: Node, loop: Node) -> bool:
    """Whether a node gives the combination of the loop's trip, of two parts or more."""
    if node.op is not NEXT or node.inputs[1] is not loop.blocks[0].params[0]:
        return False
    view = node.inputs[0]
    made = view.node
    is_known = made is not None and made.op.combined is not None and not view.is_inside(loop)
    t = view.type
    if not is_known or not isinstance(t, ViewType):
        return False
    return len(t.parts) > 1 or getattr(t.parts[0], "ndim", 1) > 1


def _carry(loop: Node, node: Node) -> None:
    view = node.inputs[0].node
    assert view is not None and view.op.combined is not None
    sizes, item = view.op.combined(partial(_apply, loop), *view.inputs)
    for first in _first_places(loop, sizes):
        loop.add_input(first)
    places = [loop.blocks[0].add_param("", INT) for _ in sizes]
    node.replace_with([item(partial(_apply, node), places)])
    end = loop.blocks[0].terminator
    for following in _next_places(BoundWriter(end), places, sizes):
        end.add_input(following)
    for _ in sizes:
        loop.add_output(INT)


def _apply(before: Node, op: str, *operands: Value, **attrs: object) -> Value:
    return before.create_before(get_op(op), operands, attrs, like=before).output


def _first_places(loop: Node, sizes: Sequence[Value]) -> list[Value]:
    """The places of the first trip; 0 where there is none, as then a part may have no items."""
    start, stop = loop.inputs[:2]
    write = BoundWriter(loop)
    zeros = [write.constant(0) for _ in sizes]
    if start.is_constant and start.constant == 0:
        return zeros
    condition = write.op("py::lt", start, stop)
    choice = loop.create_before(IF, (condition,), outputs=[INT] * len(sizes), like=loop)
    write.within = choice.add_block()
    rest, places = start, list[Value]()
    for size in reversed(sizes[1:]):
        places.append(write.op("py::mod", rest, size))
        rest = write.op("py::floordiv", rest, size)
    write.within.create(YIELD, (rest, *reversed(places)), like=loop)
    choice.add_block().create(YIELD, zeros, like=loop)
    return [*choice.outputs]


def _next_places(
    write: BoundWriter, places: Sequence[Value], sizes: Sequence[Value]
) -> list[Value]:
    """The places of the next trip: the last one goes on, or begins again and lets the one before it go on."""
    zero, step = write.constant(0), write.constant(1)
    found: list[Value] = []
    for place, size in zip(reversed(places[1:]), reversed(sizes[1:]), strict=True):
        following = write.op("py::add", place, step)
        begins_again = write.op("py::eq", following, size)
        found.append(write.choose(begins_again, zero, following))
        step = write.choose(begins_again, write.constant(1), zero)
    return [write.op("py::add", places[0], step), *reversed(found)]
