"""The specialiser's walk over loops.

The carried types of a loop are a fixpoint: its body is walked until they do not change any more. Where a variable
starts as one type and soon is of another for good (``s = 0``, then ``s += a[i]``; ``best = None``), an innermost loop
is written twice: the first copy runs until the types have settled, the second runs the rest without tags. A ``while``
that does not ask for the class of an int (``while parent[x] != x: x = parent[x]``) is written once.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import TYPE_CHECKING

from ljit.ir import Node, Value, get_op
from ljit.ops.containers.iteration import HAS_NEXT
from ljit.ops.control import BREAK, CONTINUE, LOOP, REGION, UNREACHABLE, YIELD
from ljit.ops.ranges.int_bounds import is_either_int
from ljit.passes.specializing.few_trips import MOST_TRIPS, is_better_written_out, write_out
from ljit.passes.specializing.graph_writer import erase, is_left
from ljit.passes.specializing.loops_by_class import ignores_classes, visit_by_class
from ljit.passes.specializing.narrowing import overlap, without
from ljit.passes.specializing.number_classes import has_few_trips, is_unseen, known_trips, plausible
from ljit.passes.specializing.settled_types import can_be_two, holds, settled_types
from ljit.records import Record, made_by
from ljit.types import NEVER, Type, UnionType, join

if TYPE_CHECKING:
    from ljit.passes.specializing.specialize_control import ControlFlow, Walk

__all__ = ["Exits", "Loops"]

#: of a loop and the types at the end of its first trip: whether they are enough to drop it again
_Stops = Callable[[Node, Sequence[Type]], object]


def _never(_loop: Node, _after_trip: Sequence[Type]) -> bool:
    return False


class _SecondLoop(Record, frozen=False):
    """Where the first of two loops leads: behind `region`, once its carried types are `settled`."""

    region: Node
    settled: Sequence[Type]
    types: list[Type] = made_by(factory=list)  # trip index and carried values that get there


class Exits(Record, frozen=False):
    """The types that reach the exits of a Loop or Region while its block is walked."""

    target: Node  # in the new graph
    next: list[Type]  # carried values of the next trip
    out: list[Type]  # outputs
    second: _SecondLoop | None = None  # the loop is the first of two
    trip: Exits | None = None  # of the trip that is being written, if the loop is written out

    def add_outputs(self, values: Sequence[Value]) -> None:
        """Count in what leaves the node with these outputs."""
        self.out = [join(a, v.type) for a, v in zip(self.out, values, strict=True)]


class Loops:
    """The part of a walk that handles loops and the ends of their trips."""

    def __init__(self, walk: Walk, control: ControlFlow) -> None:
        self.control = control
        self.out = walk.out
        self.values = walk.values
        self.liveness = walk.liveness
        self.snapshot = walk.snapshot
        #: of what is walked now, by loops around that are written out
        self.copies = 1
        #: of carried values, as of the last walk of a loop
        self.header_types: dict[Node, list[Type]] = {}

    def visit_inner_loop(self, node: Node) -> bool:
        start, _, *carried = self.control.operands(node)
        if not self.visit_loop(node, start, carried):
            return False
        self.snapshot(f"after:{node.id}", self.liveness.live_after(node))
        return True

    def visit_loop(self, node: Node, start: Value, carried: Sequence[Value]) -> bool:
        """Walk a loop: once for each class of the numbers that it carries, or for all at once."""
        goes_on = visit_by_class(self, node, start, carried)
        return self.visit_for_all(node, start, carried) if goes_on is None else goes_on

    def visit_for_all(self, node: Node, start: Value, carried: Sequence[Value]) -> bool:
        """Walk a loop: as one, or as two if the types of its carried values settle."""
        may_be_two = can_be_two(node)
        was_dirty, known = self.out.dirty, dict(self.header_types)

        def settled(_: Node, after_trip: Sequence[Type]) -> list[Type] | None:
            initial = self.out.as_met([v.type for v in carried], after_trip, node)
            found = settled_types(initial, after_trip) if may_be_two else None
            if found is None or all(map(holds, found, after_trip)):
                return found
            return None if has_few_trips(node, self.values) else found  # it may not settle in time

        initial = carried
        walked = self.walk_with_numbers(node, start, carried)
        if walked is None:
            walked = carried, *self.settle_all(node, start, carried, stops=settled)
        carried, loop, exits, after_trip = walked
        is_whole = start.is_constant and len(node.blocks) == 1
        trips = known_trips(node, self.values, MOST_TRIPS) if is_whole else None
        if trips and is_better_written_out(loop, carried, after_trip, trips, self.copies):
            erase(loop)
            self.out.dirty, self.header_types = was_dirty, known
            self.copies *= trips
            is_left = write_out(self.control, node, initial, trips)
            self.copies //= trips
            return is_left
        settled_to = settled(loop, after_trip)
        if settled_to is not None:
            met = [join(v.type, after) for v, after in zip(carried, after_trip, strict=True)]
            goes_on = self.visit_for_any_class(node, start, carried, met)
            if goes_on is None:
                goes_on = self.visit_in_two(node, start, carried, settled_to)
            erase(loop)
            if goes_on is not None:
                return goes_on
            loop, exits, _ = self.settle_all(node, start, carried)
        self.header_types[node] = [p.type for p in loop.blocks[0].params[1:]]
        return self.finish_loop(node, loop, exits)

    def visit_for_any_class(
        self, node: Node, start: Value, carried: Sequence[Value], met: Sequence[Type]
    ) -> bool | None:
        """Write a ``while`` once for ints of both classes. None, and nothing written: it asks which class they are of.

        `met`: the types that are known to come to it. False: nothing leaves it.
        """
        unions = [t for t in met if isinstance(t, UnionType)]
        is_for = any(inner.op is HAS_NEXT for inner in node.blocks[0])
        if is_for or not all(map(is_either_int, unions)):
            return None
        was_dirty, known = self.out.dirty, dict(self.header_types)
        loop, exits, _ = self.settle_all(node, start, carried)
        if ignores_classes(loop):
            self.header_types[node] = [p.type for p in loop.blocks[0].params[1:]]
            return self.finish_loop(node, loop, exits)
        erase(loop)
        self.out.dirty, self.header_types = was_dirty, known
        return None

    def walk_with_numbers(
        self, node: Node, start: Value, carried: Sequence[Value]
    ) -> tuple[Sequence[Value], Node, Exits, list[Type]] | None:
        """Walk it with NumPy's numbers where nobody can tell; None, and nothing written: one can.

        Gives what it carries, too.
        """
        numbers = plausible(node, carried, self.values)
        if not numbers:
            return None
        was_dirty, known = self.out.dirty, dict(self.header_types)
        given = list(carried)
        for index, type_ in numbers.items():
            given[index] = self.out.as_number(carried[index], type_, node)

        def is_seen(loop: Node, _: Sequence[Type]) -> bool:
            return not is_unseen(node, loop, carried, numbers, self.values)

        loop, exits, after_trip = self.settle_all(node, start, given, stops=is_seen)
        if not is_seen(loop, after_trip):
            return given, loop, exits, after_trip
        erase(loop)
        self.out.dirty = was_dirty
        self.header_types = known  # those of the loops inside were of such numbers
        return None

    def settle_all(
        self, node: Node, start: Value, carried: Sequence[Value], *, stops: _Stops = _never
    ) -> tuple[Node, Exits, list[Type]]:
        """Walk the body as `settle` does, beginning with what the values are at first."""
        initial = [v.type for v in carried]
        known = self.header_types.get(node, initial)  # of an earlier walk of an outer loop
        types_ = self.out.joined_each(initial, known, node)
        return self.settle(node, start, carried, types_, stops=stops)

    def settle(
        self,
        node: Node,
        start: Value,
        carried: Sequence[Value],
        types_: Sequence[Type],
        second: _SecondLoop | None = None,
        *,
        stops: _Stops = _never,
    ) -> tuple[Node, Exits, list[Type]]:
        """Walk the body until the types of the carried values do not change any more.

        Gives the loop, its exits, and the types at the end of a trip that starts with `types_`. Where `stops` says
        so they are not the last ones.
        """
        stop = self.values[node.inputs[1]]
        was_dirty = self.out.dirty
        after_trip = None
        while True:
            self.out.dirty = was_dirty
            entry = [self.out.as_type(v, t, node) for v, t in zip(carried, types_, strict=True)]
            loop = self.out.append(LOOP, (start, stop, *entry), like=node)
            exits = self.walk_loop(node, loop, types_, second)
            after_trip = after_trip or exits.next
            widened = self.out.joined_each(types_, exits.next, node)
            is_final = widened == types_ and self.out.dirty == was_dirty
            if is_final or stops(loop, after_trip):
                return loop, exits, after_trip
            was_dirty = self.out.dirty  # unknown code runs in the body: it ran before the next trip
            types_ = widened
            erase(loop)

    def walk_loop(
        self, node: Node, loop: Node, types_: Sequence[Type], second: _SecondLoop | None
    ) -> Exits:
        body = node.blocks[0]
        nothing: list[Type] = [NEVER] * len(types_)
        exits = self.control.exits[node] = Exits(loop, nothing, nothing, second)
        with self.out.inside(loop):
            for param, type_ in zip(body.params, (loop.inputs[0].type, *types_), strict=True):
                self.values[param] = self.out.block.add_param(param.name, type_)
            self.snapshot(f"header:{node.id}", self.liveness.live_at_header(node))
            results = self.control.block_results(body)
            if results is not None:
                assert body.last is not None
                self.next_trip(exits, results, body.last)
        return exits

    def visit_in_two(
        self, node: Node, start: Value, carried: Sequence[Value], settled: Sequence[Type]
    ) -> bool | None:
        """Write two loops: one until the types are the settled ones, and one with those.

        Most often the first is left in its first trip. It stands in a Region that it leaves for the
        second, and both in one that it leaves when the loop is done. None, and nothing written: the
        types do not stay settled.
        """
        was_dirty = self.out.dirty
        both = self.out.append(REGION, like=node)
        initial = [v.type for v in carried]
        done: list[Type] = [NEVER] * len(carried)
        with self.out.inside(both):
            second = _SecondLoop(self.out.append(REGION, like=node), settled)
            with self.out.inside(second.region):
                loop, exits, _ = self.settle(node, start, carried, initial, second)
                if self.finish_loop(node, loop, exits):
                    done = [v.type for v in loop.outputs]
                    self.out.append(BREAK, loop.outputs, like=node).target = both
            entry = [second.region.add_output(t) for t in second.types]
            if entry:
                self.values.update(zip(node.blocks[0].params, entry, strict=True))
                self.snapshot(f"header:{node.id}", self.liveness.live_at_header(node))
                loop, exits, _ = self.settle(node, entry[0], entry[1:], second.types[1:])
            final = [p.type for p in loop.blocks[0].params[1:]]
            if not entry or all(map(holds, final, initial)):
                erase(both)
                self.out.dirty = was_dirty
                return None
            if self.finish_loop(node, loop, exits):
                self.out.append(YIELD, loop.outputs)
                done = list(map(join, done, (v.type for v in loop.outputs)))
        if not is_left(both):
            self.out.append(UNREACHABLE, like=node)
            return False
        for old, type_ in zip(node.outputs, done, strict=True):
            self.values[old] = both.add_output(type_, old.name)
        return True

    def finish_loop(self, node: Node, loop: Node, exits: Exits) -> bool:
        out = exits.out
        stop = self.values[node.inputs[1]]
        is_endless = stop.is_endless
        if len(node.blocks) > 1:
            block = node.blocks[1]
            types_ = [p.type for p in loop.blocks[0].params[1:]]
            self.values[node.blocks[0].params[0]] = stop  # the header's test fails for it
            with self.out.inside(loop):
                for param, other, type_ in zip(
                    block.params, node.blocks[0].params[1:], types_, strict=True
                ):
                    given = self.out.block.add_param(param.name, type_)
                    self.values[param] = self.values[other] = given
                self.snapshot(f"header:{node.id}", self.liveness.live_at_header(node))
                results = self.control.block_results(block)
                if results is not None:
                    self.out.append(YIELD, results)
                    out = [join(a, v.type) for a, v in zip(out, results, strict=True)]
        elif not is_endless:
            out = [join(a, p.type) for a, p in zip(out, loop.blocks[0].params[1:], strict=True)]
        if is_endless and not is_left(loop):
            for param in loop.blocks[0].params[1:]:
                loop.add_output(param.type, param.name)
            self.out.append(UNREACHABLE, like=node)
            return False
        self.values.update(self.out.finish(loop, out, node))
        return True

    def next_trip(self, exits: Exits, values: Sequence[Value], end: Node) -> bool:
        """Write the end of a trip, as `end` (a Yield or Continue) in the baseline graph."""
        if exits.trip is not None:
            exits.trip.add_outputs(values)
            self.out.append(BREAK, values, like=end).target = exits.trip.target
            return False
        if exits.second is not None:
            assert end.block is not None
            staying = self.leave_for_second(exits, values, end)
            if staying is None:
                return False
            values = staying
        params = exits.target.blocks[0].params[1:]
        values = [self.out.as_type(v, p.type, end) for v, p in zip(values, params, strict=True)]
        exits.next = [join(a, v.type) for a, v in zip(exits.next, values, strict=True)]
        made = self.out.append(end.op, values, like=end)
        if end.op is CONTINUE:
            made.target = exits.target
        return False

    def leave_for_second(
        self, exits: Exits, values: Sequence[Value], end: Node
    ) -> Sequence[Value] | None:
        """Go over to the second loop if all types are settled.

        Gives the values of the next trip of this loop; None if there is none.
        """
        second = exits.second
        assert second is not None
        pairs = list(zip(values, second.settled, strict=True))
        open_ = [(v, t) for v, t in pairs if not holds(t, v.type)]
        if not all(overlap(v.type, t) for v, t in open_):
            return values
        emit = partial(self.enter_second, exits, pairs, end)
        if not open_:
            return emit()
        self.out.when_all(open_, emit, end)
        if len(open_) > 1:
            return values
        ((value, type_),) = open_
        self.out.narrowed[value] = without(value.type, type_)
        return [self.out.narrow(v, end) for v in values]

    def enter_second(self, exits: Exits, pairs: Sequence[tuple[Value, Type]], end: Node) -> None:
        second = exits.second
        assert second is not None
        k, one = exits.target.blocks[0].params[0], self.out.constant(1)
        entry = [self.out.append(get_op("py::add"), (k, one), like=end).output]
        for value, type_ in pairs:
            self.out.narrowed[value] = type_ if not holds(type_, value.type) else value.type
            entry.append(self.out.narrow(value, end))
        types_ = [v.type for v in entry]
        second.types = list(map(join, second.types, types_)) if second.types else types_
        self.out.append(BREAK, entry, like=end).target = second.region
