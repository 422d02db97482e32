"""Loops within each other, and the order of them that costs least (`passes/interchange`)."""

from __future__ import annotations

from collections.abc import Container, Iterable, Mapping, Sequence
from itertools import pairwise, permutations, product

from ljit.analysis.alias import AliasInfo, is_immutable, written_operands
from ljit.analysis.dependence import Access, Distances, Subscripts, distances, is_legal
from ljit.analysis.loop_bounds import LoopBounds, loop_bounds
from ljit.analysis.ranges import Ranges
from ljit.ir import Effect, Node, Value, get_op
from ljit.ops.control import IF, LOOP, OTHER_ORDER, SNAPSHOT, YIELD
from ljit.ops.ranges.int_ranges import FITS
from ljit.passes.loops.joined_trips import JoinedTrips, are_updates
from ljit.passes.loops.ordered_bounds import OrderedBounds
from ljit.passes.loops.strips import Strips, reread
from ljit.passes.rewriting import insert_constant, leave_in_front
from ljit.types import INT, ArrayType

__all__ = ["MAX_LOOPS", "Nest", "end", "is_plain", "is_short", "sort"]

MAX_LOOPS = 4
_LINE = 64  # bytes of a line of the cache
_MAX_HAZARDS = 4
_VERY_FEW, _MANY = 5, 64  # trips of a loop put inside, and of the one that was, that make it slower
_FEW = 16  # trips: with fewer, if that is known, a loop is not put inside


class Nest:
    """Loops within each other, from the outside to the inside.

    `fixed` is pure work between them that can stand in front of them, `between` all else that does; `body` is what the
    innermost one does.
    """

    def __init__(self, loops: list[Node], fixed: list[Node], between: list[Node]) -> None:
        self.loops, self.fixed, self.between = loops, fixed, between
        self.ranges = Ranges()
        self.bounds: Sequence[LoopBounds] = ()
        self.body = [n for n in loops[-1].blocks[0] if n.op not in (SNAPSHOT, YIELD)]
        self.hazards: list[tuple[Value, Value]] = []
        self.reread: Access | None = None  # what is read again and again, if strips can help
        self.apart: set[tuple[Node, Node]] = (
            set()
        )  # accesses to an array that are never to one element
        self.is_joined = False  # trips of the last loop but one are done together

    @staticmethod
    def of(outer: Node) -> Nest | None:
        """The nest that `outer` begins, down to a loop without loops in it."""
        loops: list[Node] = []
        fixed: list[Node] = []
        between: list[Node] = []
        varying: set[Value] = set()
        loop: Node | None = outer
        while loop is not None:
            if not is_plain(loop) or len(loops) == MAX_LOOPS:
                return None
            loops.append(loop)
            varying.update(loop.blocks[0].params)
            nodes = [n for n in loop.blocks[0] if n.op not in (SNAPSHOT, YIELD)]
            inner = [n for n in nodes if n.op is LOOP]
            loop = inner[0] if inner else None
            if loop is None:
                break
            if nodes[-1] is not loop:
                return None
            if not sort(nodes[:-1], varying, fixed, between):
                return None
        if len(loops) < 2:
            return None
        nest = Nest(loops, fixed, between)
        return nest if nest.has_bounds(varying) and nest.is_quiet() else None

    def has_bounds(self, varying: Container[Value]) -> bool:
        """Whether the bounds of the loops are sums that can be written in another order."""
        found = loop_bounds(self.loops, varying, self.ranges)
        self.bounds = found or ()
        return found is not None

    @property
    def is_even(self) -> bool:
        """Whether the loops have the same bounds in all trips."""
        return all(bounds.are_fixed for bounds in self.bounds)

    def is_quiet(self) -> bool:
        """Whether the nest does nothing but arithmetic and accesses to arrays from outside, and cannot leave."""
        after = self.loops[0].next
        if after is None or after.op is not SNAPSHOT:
            return False
        inner = [n for node in self.body for n in node.walk()]
        return all(map(self._is_quiet_node, [*self.fixed, *self.between, *inner]))

    def _is_quiet_node(self, node: Node) -> bool:
        if node.op is SNAPSHOT or node.op is YIELD or node.op is IF:
            return True
        if node.blocks or node.op.is_terminator or node.op.can_leave(node):
            return False
        effects = node.op.effects_of(node)
        holders = [v for v in node.inputs if not is_immutable(v.type)]
        is_known = effects & ~(Effect.READ | Effect.WRITE) == Effect.PURE
        if not is_known or not all(is_immutable(out.type) for out in node.outputs):
            return False
        if effects & Effect.WRITE and written_operands(node) != node.inputs[:1]:
            return False
        return not holders or (
            holders == list(node.inputs[:1])
            and isinstance(holders[0].type, ArrayType)
            and not holders[0].is_inside(self.loops[0])
        )

    # -- which order ---------------------------------------------------------------------------------

    def best_order(self, aliases: AliasInfo) -> Sequence[int] | None:
        """The legal order that costs least, as positions in the present one; None if it is the present one."""
        accesses = self._accesses()
        costs = [sum(_cost(a, position) for a in accesses) for position in range(len(self.loops))]
        if not self.is_even:  # no trips of such loops run side by side
            costs = [c + _cost_of_waiting(accesses, position) for position, c in enumerate(costs)]
        present = tuple(range(len(self.loops)))

        def key(order: Sequence[int]) -> list[int]:
            return [costs[position] for position in reversed(order)]

        better = [order for order in permutations(present) if key(order) < key(present)]
        better = [o for o in better if o[-1] == present[-1] or not is_short(self.loops[o[-1]])]
        may_pay = better or len(present) > 2 or self._updates(accesses, present)
        if not may_pay or not self._find_hazards(accesses, aliases):
            return None
        dependences = self._dependences(accesses)
        orders = [o for o in (*better, present) if self._is_legal(dependences, o)]
        best = min(orders, key=key, default=None)
        if best is None:
            return None
        if self.is_even and self._start_is_zero(best[-2]):
            self.reread = reread(accesses, best, dependences)
        swapped = (*best[:-2], best[-1], best[-2])
        self.is_joined = self._updates(accesses, best) and self._is_legal(dependences, swapped)
        if self.is_joined:
            self.apart = {
                (a.node, b.node)
                for a, b in product(accesses, repeat=2)
                if a.array is b.array and self.subscripts.are_apart(a, b, best[-2:])
            }
        stays = best == present and self.reread is None and not self.is_joined
        return None if stays else best

    def _updates(self, accesses: Sequence[Access], order: Sequence[int]) -> bool:
        """Whether trips of the last loop but one can be done together (`loops/joined_trips`), if that is legal."""
        nodes = [*self.between, *self.body]
        are_few = is_short(self.loops[order[-2]])
        return not are_few and are_updates(accesses, nodes, self.bounds, order[-2:])

    def _is_legal(self, dependences: Sequence[Distances], order: Sequence[int]) -> bool:
        return is_legal(dependences, order)

    def _accesses(self) -> list[Access]:
        self.subscripts = Subscripts(self.loops, self.bounds, self.ranges)
        return self._accesses_of([*self.between, *self.body])

    def _accesses_of(self, nodes: Iterable[Node]) -> list[Access]:
        found = []
        for node in (n for top in nodes for n in top.walk()):
            effects = node.op.effects_of(node)
            if effects & (Effect.READ | Effect.WRITE):
                is_write = bool(effects & Effect.WRITE)
                found.append(self.subscripts.access(node, is_write=is_write))
        return found

    def _find_hazards(self, accesses: Sequence[Access], aliases: AliasInfo) -> bool:
        """Collect the arrays to test for overlap; False if they are too many, or what is moved inside may change."""
        written = dict.fromkeys(a.array for a in accesses if a.is_write)
        if any(a.node in self.between and a.array in written for a in accesses):
            return False
        arrays = dict.fromkeys(a.array for a in accesses)
        pairs = [
            (target, other)
            for number, target in enumerate(written)
            for other in arrays
            if other is not target and other not in list(written)[:number]
        ]
        self.hazards = [pair for pair in pairs if aliases.may_alias(*pair)]
        return len(self.hazards) <= _MAX_HAZARDS

    def _dependences(self, accesses: Sequence[Access]) -> list[Distances]:
        found = dict.fromkeys(
            distances(self.subscripts, a, b)
            for number, a in enumerate(accesses)
            for b in accesses[number:]
            if a.array is b.array and (a.is_write or b.is_write)
        )
        return [distance for distance in found if distance is not None]

    # -- the new nest ----------------------------------------------------------------------------------

    def reorder(self, order: Sequence[int]) -> None:
        """Write the loops in the order, in place of the present ones."""
        strips = self._move_in_front(order)
        self._write(order, strips, [*self.between, *self.body])

    def _write(self, order: Sequence[int], strips: Strips | None, body: Sequence[Node]) -> None:
        outer = self.loops[0]
        uneven = None if self.is_even else OrderedBounds(outer, self.bounds, self._leave_if)
        made: list[Node] = []
        variables: dict[int, Value] = {}
        for depth, position in enumerate(order):
            if strips is not None and depth == len(order) - 3:
                made.append(strips.loop)
            bounds = None
            if strips is not None and depth == len(order) - 2:
                bounds = strips.bounds()
            if uneven is not None:
                bounds = uneven.of(position, variables, made[-1].blocks[0] if made else None)
            made.append(self._loop(position, bounds))
            (variables[position],) = made[-1].blocks[0].params
        body = self._with_trips(body, variables)
        for loop, inner in pairwise(made):
            end(loop, [inner])
        made[0].insert_before(outer)
        end(made[-1], body)
        outer.erase()
        if self.is_joined:
            JoinedTrips(made[-2], made[-1], self.apart).write()

    def _with_trips(self, body: Sequence[Node], variables: Mapping[int, Value]) -> Sequence[Node]:
        """Put the variables in the place of trips; one that is not the same is computed in front of what needs it."""
        nodes = list(body)
        for position, loop in enumerate(self.loops):
            trip, first = loop.blocks[0].params[0], self.bounds[position].first
            variable = variables[position]
            if first is not None:
                users = {user for user, _ in trip.uses}
                made = loop.graph.create(get_op("py::sub"), (variable, first), like=loop)
                made.proven = (FITS,)
                place = next((i for i, n in enumerate(nodes) if users & {n, *n.walk()}), len(nodes))
                nodes.insert(place, made)
                variable = made.output
            trip.replace_all_uses_with(variable)
        return nodes

    def _move_in_front(self, order: Sequence[int]) -> Strips | None:
        """Put in front of the nest what can stand there, the tests, and how it goes in strips."""
        for node in self.fixed:
            node.move_before(self.loops[0])
        for pair in self.hazards:
            self._leave_if_overlapping(pair)
        self._leave_if_short(order[-1])
        if self.reread is None:
            return None
        again, loop, inside = (self.loops[position] for position in order[-3:])
        return Strips(self.loops[0], again, loop, inside, self.reread.array)

    def _loop(self, position: int, bounds: tuple[Value, Value] | None = None) -> Node:
        """A loop with the trips of one, or some of them, whose variable takes the place of its."""
        source = self.loops[position]
        if bounds is None:
            bounds = (self._start(source), source.inputs[1])
        attrs = {"reordered": True} if self.is_even else {"reordered": True, "uneven": True}
        made = source.graph.create(LOOP, bounds, attrs, outputs=(), like=source)
        made.add_block([(source.blocks[0].params[0].name, INT)])
        return made

    def _leave_if_overlapping(self, pair: tuple[Value, Value]) -> None:
        """Leave for the interpreter in front of the nest if two arrays overlap."""
        self._leave_if(self._op("np::may_share_memory", *pair))

    def _leave_if_short(self, position: int) -> None:
        """Leave if the loop that is put inside has very few trips and the one that was there has many.

        Not where the number changes in a loop around: it has few trips now and then, as at the end of a triangle.
        """
        outer, inside, before = self.loops[0], self.loops[position], self.loops[-1]
        starts = [self._start(loop) for loop in (inside, before)]
        changes = any(o.op is LOOP and _changes_in(o, inside.inputs[1]) for o in outer.owners())
        if inside is before or changes or not self.is_even:
            return
        if not all(v.is_constant and v.constant == 0 for v in starts):
            return
        are_few = self._op("py::lt", inside.inputs[1], insert_constant(_VERY_FEW, outer))
        is_long = self._op("py::gt", before.inputs[1], insert_constant(_MANY, outer))
        self._leave_if(self._op("py::and", are_few, is_long))

    def _start(self, loop: Node) -> Value:
        return loop.inputs[0]

    def _start_is_zero(self, position: int) -> bool:
        start = self._start(self.loops[position])
        return start.is_constant and start.constant == 0

    def _op(self, name: str, *operands: Value) -> Value:
        """An op in front of the nest."""
        outer = self.loops[0]
        return outer.create_before(get_op(name), operands, like=outer).output

    def _leave_if(self, condition: Value) -> None:
        leave_in_front(self.loops[0], condition, OTHER_ORDER)


def sort(
    nodes: Sequence[Node], varying: set[Value], fixed: list[Node], between: list[Node]
) -> bool:
    """Tell apart what can stand in front of a loop and what cannot; False if some must stay where it is."""
    for node in nodes:
        effects = node.op.effects_of(node)
        if node.blocks or effects & Effect.WRITE:
            return False
        if effects or any(value in varying for value in node.inputs):
            varying.update(node.outputs)
            between.append(node)
        else:
            fixed.append(node)
    return True


def end(loop: Node, nodes: Sequence[Node]) -> None:
    """Make nodes the body of a loop, without their Snapshots."""
    for node in nodes:
        for inner in [n for n in node.walk() if n.op is SNAPSHOT]:
            inner.erase()
        node.unlink()
        loop.blocks[0].append(node)
    loop.blocks[0].create(YIELD, like=loop)


def is_plain(loop: Node) -> bool:
    """Whether a loop carries nothing and only ends when its trips are used up."""
    return len(loop.inputs) == 2 and len(loop.blocks) == 1 and loop.blocks[0].terminator.op is YIELD


def is_short(loop: Node) -> bool:
    start, stop = (v.constant if v.is_constant else None for v in loop.inputs[:2])
    return isinstance(start, int) and isinstance(stop, int) and stop - start < _FEW


def _changes_in(loop: Node, value: Value) -> bool:
    """Whether a value may be another one in each trip of a loop."""
    if not value.is_inside(loop):
        return False
    node = value.node
    if node is None or node.blocks or node.op.effects_of(node):
        return True
    return any(_changes_in(loop, operand) for operand in node.inputs)


def _cost(access: Access, position: int) -> int:
    """How many bytes the next trip of a loop is away, at most a line."""
    array = access.array.type
    assert isinstance(array, ArrayType)
    step: int = array.dtype.itemsize if array.layout == "C" else _LINE
    total = 0
    for size, subscript in zip(reversed(array.shape), reversed(access.subscripts), strict=True):
        if subscript.factors is None:
            return _LINE
        total += step * subscript.factors[position]
        step *= _LINE if size is None else size
    return min(abs(total), _LINE)


def _cost_of_waiting(accesses: Sequence[Access], position: int) -> int:
    """What it costs that a trip needs an element which the one before has stored, by way of memory.

    That is so where a store stays in place, and other elements of the array are loaded: LLVM cannot tell them apart.
    """
    stores = (a for a in accesses if a.is_write)
    staying = [
        s for s in stores if not any(x.factors is None or x.factors[position] for x in s.subscripts)
    ]
    return _LINE * sum(any(_is_other(a, store) for a in accesses) for store in staying)


def _is_other(access: Access, store: Access) -> bool:
    """Whether an access is to other elements of the array than a store."""
    if access.array is not store.array:
        return False
    pairs = zip(access.subscripts, store.subscripts, strict=True)
    return any((x.factors, x.rest) != (y.factors, y.rest) for x, y in pairs)
