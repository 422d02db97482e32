"""Arrays of whose elements each trip makes several ints are looked at in front of the loop: all elements are near 0.

    for y in range(1, h - 1):
        for x in range(1, w - 1):                       # eight elements a trip, each of them in eight trips
            gx = int(a[y, x + 1]) - int(a[y, x - 1]) + ...

The loop has no checks then, and vectors without a loop of checks in front (`passes/distribute_checks`). If an element
is far away, or the array has many more elements than the loops have trips, the interpreter goes on, and the next
compile looks at elements where they are read. So the loops must be such whose numbers of trips are known in front, and
which have no way out but the end of these.
"""

from __future__ import annotations

from collections.abc import Container, Iterable

from ljit.ir import Node, Value, copy_node, get_op
from ljit.ops.control import BREAK, IF, LOOP, OUT_OF_RANGE, RERAISE, RETURN, UNREACHABLE
from ljit.ops.python.near_numbers import NEAR
from ljit.ops.ranges.int_ranges import INSIDE, NONNEGATIVE
from ljit.passes.loops.bound_writer import BoundWriter
from ljit.passes.loops.near_numbers import NearNumber
from ljit.passes.loops.repeated_elements import RepeatedElements
from ljit.passes.rewriting import insert_constant, leave_in_front, nodes_making
from ljit.types import FLOAT

__all__ = ["look_at_arrays"]

_FEWEST = 3  # elements that each trip reads
_SPARE = 2  # 4 times as many elements as trips, as a power of 2
_MAX_NODES = 10  # that make a bound of a loop
_LEAVES = (BREAK, RETURN, RERAISE, UNREACHABLE)

_Loops = tuple[Node, ...]  # in one another


def look_at_arrays(numbers: Iterable[NearNumber], failed: Container[int]) -> None:
    """Let tests of whole arrays take the place of the checks of numbers, where that pays."""
    elements = RepeatedElements()
    groups: dict[tuple[_Loops, Value], list[Node]] = {}
    near = (number.conversion.inputs[0].made_by(NEAR) for number in numbers)
    for node in filter(None, near):
        place = _place(node, elements)
        if place is not None and place[0][0].origin not in failed:
            groups.setdefault(place, []).append(node)
    for (loops, array), nodes in groups.items():
        if len(nodes) >= _FEWEST and _are_counted(loops):
            elements.leave_if_written(loops[0], array, loops[0])
            _leave_if_large(loops, array)
            _leave_if_far(loops[0], array, max(_most(node) for node in nodes))
            for node in nodes:
                node.proven = (INSIDE,)


def _place(near: Node, elements: RepeatedElements) -> tuple[_Loops, Value] | None:
    """The loops in one another that write to other arrays only, and the array of which a number is an element."""
    element = near.inputs[0].node
    if element is None or not element.op.reads_part:
        return None
    array = element.inputs[0]
    loops = [node for node in near.owners() if node.op is LOOP]
    while loops and not elements.is_only_read(loops[-1], array):
        loops.pop()
    return (tuple(reversed(loops)), array) if loops else None


def _are_counted(loops: _Loops) -> bool:
    """Whether it is known in front of loops how many trips they have: each is run, and none is left before."""
    around = (owner for owner in loops[-1].owners() if loops[0] in owner.owners())
    if any(owner.op is IF for owner in around):
        return False
    bounds = [v for loop in loops for v in loop.inputs[:2]]
    if any(v.is_endless for v in bounds):
        return False
    exits = [node for node in loops[0].blocks[0].walk() if node.op in _LEAVES]
    if any(node.target is None or loops[-1] not in node.target.owners() for node in exits):
        return False
    return all(_is_known_in_front(v, loops[0]) for v in bounds)


def _is_known_in_front(value: Value, loop: Node) -> bool:
    made, trip = nodes_making(value, loop, _MAX_NODES), loop.blocks[0].params[0]
    return made is not None and value is not trip and not any(trip in n.inputs for n in made)


def _in_front(value: Value, loop: Node) -> Value:
    """Make a value in front of a loop as well."""
    values: dict[Value, Value] = {}
    for node in nodes_making(value, loop, _MAX_NODES) or ():
        copy_node(node, loop.graph, values, {}).insert_before(loop)
    return values.get(value, value)


def _most(near: Node) -> int:
    most = near.attrs["most"]
    assert isinstance(most, int)
    return most


def _leave_if_large(loops: _Loops, array: Value) -> None:
    outermost = loops[0]
    write = BoundWriter(outermost)
    size = outermost.create_before(get_op("np::size"), (array,), like=outermost).output
    part = write.op("py::rshift", size, write.constant(_SPARE))
    assert part.node is not None
    part.node.proven = (NONNEGATIVE,)
    for loop in loops:
        start, stop = (_in_front(v, outermost) for v in loop.inputs[:2])
        trips = write.largest((write.op("py::sub", stop, start), write.constant(1)))
        part = write.op("py::floordiv", part, trips)
    leave_in_front(outermost, write.op("py::gt", part, write.constant(0)), OUT_OF_RANGE)


def _leave_if_far(loop: Node, array: Value, most: int) -> None:
    limit = insert_constant(float(most), loop, FLOAT)
    operands = array, limit
    holds = loop.create_before(get_op("np::are_all_within"), operands, like=loop).output
    fails = loop.create_before(get_op("py::not"), (holds,), like=loop).output
    leave_in_front(loop, fails, OUT_OF_RANGE)
