"""Loops cut into blocks of their trips: `passes/distribute_checks`, `passes/split_sums`, `passes/skip_trips`.

    for i in range(n):        for block in range(0, n, 4096):
        ...                       for i in range(block, min(block + 4096, n)):
                                      ...

The loop over blocks begins with the state of a trip's start, in which what is checked for a whole block can leave.
"""

from __future__ import annotations

from ljit.ir import Block, Node, OpDef, Value, copy_node
from ljit.ops.control import LOOP
from ljit.passes.loops.bound_writer import BoundWriter
from ljit.records import Record
from ljit.types import INT

__all__ = ["BLOCK", "TripBlocks", "has_few_trips", "is_long", "put_into_blocks"]

BLOCK = 4096  # trips: what they read stays in the cache of a core
_FEW = 16  # trips: with fewer, if that is known, there is nothing to gain


class TripBlocks(Record):
    """The loop over blocks, with the cut loop in it; what follows the cut loop is still to be written."""

    loop: Node
    body: Block
    first: Value  # trip of a block
    end: Value  # of the block's trips
    carried: list[Value]  # what the cut loop carries, as a block begins with it


def put_into_blocks(loop: Node, size: int = BLOCK) -> TripBlocks:
    """Put a counted loop, whose body begins with a Snapshot, into one over blocks of `size` trips.

    The number of trips is an int64. The caller writes the end of the new body, which gives the end of the block and
    what the loop carries.
    """
    graph, header, params = loop.graph, next(iter(loop.blocks[0])), loop.blocks[0].params
    write = BoundWriter(loop)
    (start, stop, *begin), zero = loop.inputs, write.constant(0)
    stop = write.largest((start, stop))  # a range without numbers may go down as far as ints do
    trips = write.op("py::sub", stop, start)
    whole = write.op("py::floordiv", trips, write.constant(size))
    count = write.plus(whole, 1)  # the last one may be empty; so no number of trips is too large
    types = [value.type for value in loop.outputs]
    blocks = graph.create(LOOP, (zero, count, start, *begin), outputs=(INT, *types), like=loop)
    carried = [(param.name, param.type) for param in params[1:]]
    write.within = body = blocks.add_block([("", INT), ("", INT), *carried])
    first = body.params[1]
    body.append(copy_node(header, graph, dict(zip(params, body.params[1:], strict=True)), {}))
    left = write.op("py::sub", stop, first)
    end = write.op("py::add", first, write.smallest((left, write.constant(size))))
    for old, new in zip(loop.outputs, blocks.outputs[1:], strict=True):
        new.name = old.name
        old.replace_all_uses_with(new)
    blocks.insert_before(loop)
    loop.unlink()
    body.append(loop)
    loop.set_inputs((first, end, *body.params[2:]))
    return TripBlocks(blocks, body, first, end, body.params[2:])


def has_few_trips(loop: Node) -> bool:
    """Whether a loop has few trips, or nobody knows how many in front of it."""
    start, stop = loop.inputs[:2]
    if not (start.is_constant and stop.is_constant):
        return False
    assert isinstance(start.constant, int) and isinstance(stop.constant, int)
    return stop.is_endless or stop.constant - start.constant < _FEW


def is_long(op: OpDef) -> bool:
    """Whether an op on numbers is too many instructions to be done twice, or for vectors."""
    return op.is_called or (op.elementwise and not (op.is_cheap or op.instructions))
