"""Split a loop at the one trip that stores the element which all trips read: each part reads it once.

    for j in range(n):                              for begin, end in ((0, k), (k, k + 1), (k + 1, n)):
        a[i, j] -= a[i, k] * a[k, j]                    r = a[i, k]
                                                        for j in range(begin, end):
                                                            a[i, j] -= r * a[k, j]

Shortest paths (Floyd, Warshall) and eliminations (Gauss, Jordan) are such loops. Where the element may change in any
trip, each waits for the store of the one before, and there are no vectors.

Legal where all stores of the loop to the array, and to what may be its memory, are at an index that goes up by one with
the trips, along an axis along which the read is at one place: so they meet in one trip at most. No two elements of the
array lie at one address (it is C-contiguous), and no index wraps around. A trip reads before it stores. The loop has no
other loop in it, and no way out but the end of its trips. Which trip it is, is computed in front of the loop; where
there is none, one of the parts has all trips; if it is known that there is none (`for j in range(k + 1, n)`), nothing
is done. The element is read in front of a part if that has trips: no check is made where the program makes none.

Reference: Wolfe, High Performance Compilers for Parallel Computing, 1996, section 9.6 (index set splitting).
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import takewhile

from ljit.analysis.alias import AliasInfo, written_operands
from ljit.analysis.dependence import indices
from ljit.analysis.ranges import Ranges
from ljit.ir import Effect, Graph, Node, Value, copy_node, copy_nodes
from ljit.ops.containers.iteration import NEXT
from ljit.ops.containers.tuples import TUPLE_CONSTRUCT
from ljit.ops.control import IF, LOOP, SNAPSHOT, YIELD
from ljit.ops.indexing.index import FROM_START
from ljit.passes.loops.bound_writer import BoundWriter
from ljit.passes.loops.trip_blocks import has_few_trips
from ljit.passes.manager import graph_pass, is_allowed
from ljit.passes.rewriting import insert_constant
from ljit.records import Record
from ljit.types import INT, RANGE, ArrayType

__all__ = ["split_trips"]

NAME = "split_trips"
_MAX_NODES = 60  # of a body
_QUIET = Effect.READ | Effect.WRITE | Effect.RAISE


@graph_pass(NAME)
def split_trips(graph: Graph) -> bool:
    """Split the loops for which it is legal; whether there were any."""
    aliases, ranges = AliasInfo(graph), Ranges()
    loops = [node for node in graph.walk() if node.op is LOOP and not node.attrs]
    found = [split for loop in loops if (split := _split_of(loop, aliases, ranges)) is not None]
    found = [split for split in found if is_allowed(NAME, split.loop)]
    for split in found:
        split.run()
    return bool(found)


class _Split(Record):
    """A loop, what all its trips read, and where: in the trip of index `place` it is stored."""

    loop: Node
    reads: Sequence[Node]
    counted: Node  # the index of the stores, an item of a range
    offset: int  # that is added to it
    place: Value

    def run(self) -> None:
        """Put a loop over the three parts in the place of the one, with a loop over the trips of a part in it."""
        loop = self.loop
        start, *carried = (value for k, value in enumerate(loop.inputs) if k != 1)
        write = BoundWriter(loop)
        ends = self._ends(write, start)
        bounds = write.constant(0), write.constant(len(ends))
        attrs = {"most_trips": len(ends), "of_parts": True}
        types = [out.type for out in loop.outputs]
        parts = loop.create_before(
            LOOP, (*bounds, start, *carried), attrs, outputs=[INT, *types], like=loop
        )
        body = parts.add_block(
            [("", INT), ("", INT), *((out.name, out.type) for out in loop.outputs)]
        )
        part, begin, *values = body.params
        end = body.create(YIELD, (), like=loop)
        stop = self._end_of(BoundWriter(end), part, ends)
        for value in (stop, *self._write_part(end, begin, stop, values)):
            end.add_input(value)
        for out, value in zip(loop.outputs, parts.outputs[1:], strict=True):
            out.replace_all_uses_with(value)
        loop.erase()

    def _ends(self, write: BoundWriter, start: Value) -> tuple[Value, Value, Value]:
        """Where the parts end: in front of the trip that stores the element, behind it, and with the loop."""
        stop = write.largest(self.loop.inputs[:2])
        first = write.op("prim::next", self.counted.inputs[0], write.constant(0))
        meeting = write.op("py::sub", self.place, write.plus(first, self.offset))
        before = write.smallest((write.largest((meeting, start)), stop))
        behind = write.smallest((write.largest((write.plus(meeting, 1), start)), stop))
        return before, behind, stop

    def _end_of(self, write: BoundWriter, part: Value, ends: Sequence[Value]) -> Value:
        *others, found = ends
        for k, end in reversed([*enumerate(others)]):
            found = write.choose(write.op("py::eq", part, write.constant(k)), end, found)
        return found

    def _write_part(
        self, before: Node, start: Value, stop: Value, carried: Sequence[Value]
    ) -> Sequence[Value]:
        """Write a loop over the trips of a part, which read the element as it is in front; give what it carries."""
        loop, graph, old = self.loop, self.loop.graph, self.loop.blocks[0]
        header = next(iter(old))
        given = dict(zip(old.params, (start, *carried), strict=True))
        copy_node(header, graph, given, {}).insert_before(before)
        known = [self._read_once(before, read, start, stop) for read in self.reads]
        types = [out.type for out in loop.outputs]
        made = before.create_before(LOOP, (start, stop, *carried), outputs=types, like=loop)
        body = made.add_block([(param.name, param.type) for param in old.params])
        values = dict(zip(old.params, body.params, strict=True))
        copy_nodes(old, body, values, {loop: made})
        for read, value in zip(self.reads, known, strict=True):
            values[read.output].replace_all_uses_with(value)
        return made.outputs

    def _read_once(self, before: Node, read: Node, start: Value, stop: Value) -> Value:
        """What all trips from `start` on read, if there are any."""
        loop, array = self.loop, read.inputs[0].type
        assert isinstance(array, ArrayType)
        zero = insert_constant(array.dtype.type(0), before)
        condition = BoundWriter(before).op("py::lt", start, stop)
        choice = before.create_before(IF, (condition,), outputs=[read.output.type], like=read)
        values: dict[Value, Value] = {}
        inside = choice.add_block()
        for node in (*_made_inside(read, loop), read):
            inside.append(copy_node(node, loop.graph, values, {}))
        inside.create(YIELD, (values[read.output],), like=read)
        choice.add_block().create(YIELD, (zero,), like=read)
        return choice.output


def _split_of(loop: Node, aliases: AliasInfo, ranges: Ranges) -> _Split | None:
    body = loop.blocks[0]
    nodes = [node for node in body.walk() if node.op is not SNAPSHOT]
    if (
        len(loop.blocks) > 1
        or len(nodes) > _MAX_NODES
        or loop.inputs[1].is_endless
        or next(iter(body)).op is not SNAPSHOT
        or has_few_trips(loop)
        or not all(map(_is_quiet, nodes))
    ):
        return None
    stores = [node for node in nodes if not node.blocks and node.effects & Effect.WRITE]
    found: _Split | None = None
    for read in takewhile(_keeps, body):
        split = _meeting(loop, read, stores, aliases, ranges)
        if split is None:
            continue
        if found is None:
            found = split
        elif (found.counted, found.offset, found.place) == (
            split.counted,
            split.offset,
            split.place,
        ):
            found = found.with_changes(reads=[*found.reads, read])
    return found


def _keeps(node: Node) -> bool:
    """Whether a node stores nothing."""
    return not any(inner.effects & Effect.WRITE for inner in node.walk())


def _is_quiet(node: Node) -> bool:
    """Whether a node computes, reads or stores elements, or chooses."""
    if node.op is YIELD or node.op is IF:
        return True
    return not (node.blocks or node.op.is_terminator or node.effects & ~_QUIET)


def _meeting(
    loop: Node, read: Node, stores: Sequence[Node], aliases: AliasInfo, ranges: Ranges
) -> _Split | None:
    """How to split a loop for a read at one place, if one trip stores there; None if it is none such."""
    if not (stores and _is_element(read) and read.op.reads_part) or read.op.can_leave(read):
        return None
    array = read.inputs[0]
    if any(v.is_inside(loop) for v in (array, *indices(read))):
        return None
    found: list[tuple[Node, int, Value]] | None = None
    for store in stores:
        targets = written_operands(store)
        if array not in targets:
            if not targets or any(aliases.may_alias(v, array) for v in targets):
                return None
            continue
        meetings = list(_meetings(loop, read, store, ranges))
        found = [each for each in meetings if found is None or each in found]
    return _Split(loop, [read], *found[0]) if found else None


def _meetings(
    loop: Node, read: Node, store: Node, ranges: Ranges
) -> Iterator[tuple[Node, int, Value]]:
    """The axes along which a store goes up with the trips: its index, as a counted one and what is added."""
    if not (_is_element(store) and store.op.writes_part):
        return
    trip = loop.blocks[0].params[0]
    for index, place in zip(indices(store), indices(read), strict=True):
        for node in loop.blocks[0]:
            if node.op is not NEXT or node.inputs[1] is not trip or node.inputs[0].type != RANGE:
                continue
            step = ranges.value(node.output) - ranges.value(trip)
            rest = ranges.value(index) - ranges.value(node.output)
            is_simple = not rest.terms and not any(a.value.is_inside(loop) for a in step.atoms())
            first = step + ranges.value(loop.inputs[0]) + rest
            is_behind = (first - ranges.value(place)).bounds()[0] > 0
            if is_simple and not is_behind and not node.inputs[0].is_inside(loop):
                yield node, rest.constant, place


def _is_element(node: Node) -> bool:
    """Whether a node accesses an element of an array in C order, at indices that surely do not wrap around."""
    array = node.inputs[0].type if len(node.inputs) > 1 else None
    if not isinstance(array, ArrayType) or array.layout != "C" or not array.ndim:
        return False
    if len(indices(node)) != array.ndim:
        return False
    return all(f"{FROM_START}.{axis}" in node.proven for axis in range(array.ndim))


def _made_inside(read: Node, loop: Node) -> list[Node]:
    """The tuple of indices that a read needs, if it is made in the loop."""
    made = read.inputs[1].made_by(TUPLE_CONSTRUCT)
    return [made] if made is not None and made.output.is_inside(loop) else []
