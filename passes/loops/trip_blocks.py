"""Loops cut into blocks of their trips: `passes/distribute_checks`, `passes/split_sums`, `passes/skip_trips`.

    for i in range(n):        for block in range(0, n, 4096):
        ...                       for i in range(block, min(block + 4096, n)):
                                      ...

The loop over blocks begins with the state of a trip's start, in which what is checked for a whole block can leave.
"""

from __future__ import annotations

from ljit.ir import Block, Node, OpDef, Value, copy_node
from ljit.ops.control import BREAK, CONTINUE, LOOP, YIELD
from ljit.passes.loops.bound_writer import BoundWriter
from ljit.records import Record
from ljit.types import INT

__all__ = [
    "BLOCK",
    "TripBlocks",
    "WholeBlocks",
    "has_few_trips",
    "is_long",
    "only_counts",
    "put_into_blocks",
    "put_whole_blocks_in_front",
]

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


class WholeBlocks(Record):
    """A loop over whole blocks, in which nothing is but a Snapshot, and what is left for a last one behind it."""

    loop: Node
    body: Block
    first: Value  # trip of a block
    end: Value  # of the block's trips
    last: Value  # trip at which the last block begins
    rest: Value  # how many trips that has


def put_whole_blocks_in_front(loop: Node, size: int) -> WholeBlocks:
    """Put a loop over whole blocks of `size` trips in front of a counted one that carries nothing.

    The caller writes what is done in a block and in the last one, and the end of the new body, which gives the end of
    the block.
    """
    graph, header, (start, stop) = loop.graph, next(iter(loop.blocks[0])), loop.inputs
    write = BoundWriter(loop)
    trips = write.op("py::sub", write.largest((start, stop)), start)
    step = write.constant(size)
    count, rest = write.op("py::floordiv", trips, step), write.op("py::mod", trips, step)
    operands = (write.constant(0), count, start)
    blocks = graph.create(LOOP, operands, outputs=(INT,), like=loop)
    write.within = body = blocks.add_block([("", INT), ("", INT)])
    first, last = body.params[1], blocks.output
    body.append(copy_node(header, graph, {loop.blocks[0].params[0]: first}, {}))
    end = write.op("py::add", first, step)
    blocks.insert_before(loop)
    copy_node(header, graph, {loop.blocks[0].params[0]: last}, {}).insert_before(loop)
    return WholeBlocks(blocks, body, first, end, last, rest)


def has_few_trips(loop: Node, few: int = _FEW) -> bool:
    """Whether a loop has few trips, or nobody knows how many in front of it."""
    start, stop = loop.inputs[:2]
    if not (start.is_constant and stop.is_constant):
        return False
    assert isinstance(start.constant, int) and isinstance(stop.constant, int)
    return stop.is_endless or stop.constant - start.constant < few


def only_counts(loop: Node) -> bool:
    """Whether a loop ends with its trips, each of them at the end of its body, and other passes left it as it was."""
    if len(loop.blocks) > 1 or loop.attrs or loop.inputs[1].is_endless or has_few_trips(loop):
        return False
    body = loop.blocks[0]
    leaves = any(n.op in (BREAK, CONTINUE) and n.target is loop for n in body.walk())
    return body.terminator.op is YIELD and not leaves


def is_long(op: OpDef) -> bool:
    """Whether an op on numbers is too many instructions to be done twice, or for vectors."""
    return op.is_called or (op.elementwise and not (op.is_cheap or op.instructions))
