"""Arrays of whose elements each trip makes several ints are looked at in front of the loop: all elements are near 0.

    for y in range(1, h - 1):
        for x in range(1, w - 1):                       # eight elements a trip, each of them in eight trips
            gx = int(a[y, x + 1]) - int(a[y, x - 1]) + ...

The loop has no checks then, and vectors without a loop of checks in front (`passes/distribute_checks`). If an element
is far away, or the array has many more rows than the loop has trips, the interpreter goes on, and the next compile
looks at elements where they are read.
"""

from __future__ import annotations

from collections.abc import Container, Iterable

from ljit.ir import Node, Value, get_op
from ljit.ops.containers.tuples import TUPLE_INDEX
from ljit.ops.control import LOOP, OUT_OF_RANGE
from ljit.ops.ranges.int_ranges import INSIDE, NONNEGATIVE
from ljit.passes.loops.bound_writer import BoundWriter
from ljit.passes.loops.repeated_elements import RepeatedElements
from ljit.passes.rewriting import insert_constant, leave_in_front
from ljit.types import FLOAT, INT

__all__ = ["look_at_arrays"]

_FEWEST = 3  # elements that each trip reads
_ROWS = 2  # 4 times as many as trips, as a power of 2


def look_at_arrays(near: Iterable[Node], failed: Container[int]) -> None:
    """Let tests of whole arrays take the place of the checks that `near` are, where that pays."""
    elements = RepeatedElements()
    groups: dict[tuple[Node, Value], list[Node]] = {}
    for node in near:
        place = _place(node, elements)
        if place is not None and place[0].origin not in failed:
            groups.setdefault(place, []).append(node)
    for (loop, array), nodes in groups.items():
        if len(nodes) >= _FEWEST:
            elements.leave_if_written(loop, array, loop)
            _leave_if_large(loop, array)
            _leave_if_far(loop, array, max(_most(node) for node in nodes))
            for node in nodes:
                node.proven = (INSIDE,)


def _place(near: Node, elements: RepeatedElements) -> tuple[Node, Value] | None:
    """The outermost loop that writes to other arrays only, and the array of which a number is an element."""
    element = near.inputs[0].node
    if element is None or not element.op.reads_part:
        return None
    array = element.inputs[0]
    loops = [node for node in near.owners() if node.op is LOOP]
    return next(((x, array) for x in reversed(loops) if elements.is_only_read(x, array)), None)


def _most(near: Node) -> int:
    most = near.attrs["most"]
    assert isinstance(most, int)
    return most


def _leave_if_large(loop: Node, array: Value) -> None:
    write = BoundWriter(loop)
    shape = loop.create_before(get_op("np::shape"), (array,), like=loop).output
    rows = loop.create_before(TUPLE_INDEX, (shape,), {"index": 0}, like=loop).output
    part = write.op("py::rshift", rows, insert_constant(_ROWS, loop, INT))
    assert part.node is not None
    part.node.proven = (NONNEGATIVE,)
    start, stop = loop.inputs[:2]
    is_large = write.op("py::gt", part, write.op("py::sub", stop, start))
    leave_in_front(loop, is_large, OUT_OF_RANGE)


def _leave_if_far(loop: Node, array: Value, most: int) -> None:
    limit = insert_constant(float(most), loop, FLOAT)
    operands = array, limit
    holds = loop.create_before(get_op("np::are_all_within"), operands, like=loop).output
    fails = loop.create_before(get_op("py::not"), (holds,), like=loop).output
    leave_in_front(loop, fails, OUT_OF_RANGE)
