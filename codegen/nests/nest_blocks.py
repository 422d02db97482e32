"""Rows of a loop nest whose elements have gaps: gone through in blocks, which are put side by side first.

`nest_packing.py` has the copies of a row, `nest_tiles.py` those of eight rows of an array that lies the other way
around, `nest_moves.py` those of rows of any kind: what is only moved needs nothing else, and short rows become one.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager

from ljit.codegen.llvm.builder import FALSE, TRUE, Phi, Ref, integer
from ljit.codegen.llvm.forms import Native
from ljit.codegen.loops.counted_loops import outer_loop
from ljit.codegen.loops.nest_functions import own_function
from ljit.codegen.nests.nest_conditions import LARGE, SHORT, Conditions
from ljit.codegen.nests.nest_elements import Places
from ljit.codegen.nests.nest_packing import BLOCK_SHIFT, buffers, gather, scatter
from ljit.codegen.nests.nest_row_moves import MOVED_PLANE, MOVED_PLANES, Box
from ljit.codegen.nests.nest_space import ONE, ZERO, Operand, all_of, any_of, either
from ljit.codegen.nests.nest_tiles import (
    HEIGHT_SHIFT,
    WIDTH_SHIFT,
    gather_rows,
    pitch_of,
    scatter_rows,
)

__all__ = ["Blocks"]

_FEW = 256  # elements of a short row
_ZEROS = "llvm.ctlz.i64"


class Blocks(Conditions):
    """What loops do with elements that only a run knows the places of."""

    _are_dense: bool  # whether the copy that is written has results without gaps
    _same: Operand | None  # what is one element for a whole row in the copy that is written
    _block: Ref  # steps along the outermost axis that are a block where results have to wait
    _fast: Ref  # whether all inner strides are those that the loops take for granted

    @property
    def _block_shift(self) -> int:
        """Of how many elements a block is: small ones are more."""
        return BLOCK_SHIFT + 2 * all(x.dtype.itemsize < LARGE for x in self._loose)

    def _walk_blocks(
        self, trip: Ref, hoisted: Sequence[dict[int, Native]], strides: Places
    ) -> None:
        """Blocks of a row whose elements are put side by side, or all of it if they lie so."""
        f, rows, shift = self.f, self._rows, self._block_shift
        more = f.binary("lshr", f.binary("add", trip, (1 << shift) - 1), shift)
        size = f.select(self._fast, trip, integer("i64", 1 << shift))

        def block(k: Ref) -> None:
            first = f.mul(k, size)
            count = self._least(f.binary("sub", trip, first), size)
            with self._put_side_by_side(rows, first, count, strides) as self._rows:
                self._walk(count, hoisted, strides, is_unit=True)
            self._rows = rows

        outer_loop(self.e, f.select(self._fast, ONE, more), block)

    @contextmanager
    def _put_side_by_side(
        self, rows: Sequence[Places], first: Ref, count: Ref, strides: Places
    ) -> Iterator[list[Places]]:
        """Give the places of so many elements of each row, which lie as the loops take for granted.

        What rows are combined with is the same for all of them.
        """
        f, loose = self.f, [] if self._fast is TRUE else self._loose
        steps = {x: self._step_along(x) if x in loose else strides[x] for x in self.arrays}
        combined = [target for target, _ in self._reduced_targets]
        found = [self._moved(row, first, steps) for row in rows]
        packed = [(i, x) for i in range(len(rows)) for x in loose if i == 0 or x not in combined]
        nears = dict(zip(packed, buffers(f, len(packed)), strict=True))
        there = {(i, x): found[i][x] for i, x in packed}

        def gathered(i: int, x: Operand) -> Ref:
            place, near = there[i, x], nears[i, x]
            if x in self.sources or x in combined:
                return gather(f, x.dtype, near, (place, steps[x], count))
            return f.select(f.icmp("eq", steps[x], strides[x]), place, near)

        def scattered() -> None:
            for i, x in packed:
                if x in self.targets:
                    scatter(f, x.dtype, nears[i, x], (there[i, x], steps[x], count))

        are_there = self._are_blocks_near({x: steps[x] for x in loose}, count)
        places = self._chosen(
            are_there, [*there.values()], lambda: [gathered(*at) for at in packed]
        )
        for (i, x), place in zip(packed, places, strict=True):
            found[i][x] = place
        yield found
        if f.is_reachable and any(x in self.targets for _, x in packed):
            either(f, are_there, lambda: None, scattered)

    def _are_blocks_near(self, steps: Mapping[Operand, Ref], count: Ref) -> Ref:
        """Whether so many elements of each of the arrays lie side by side.

        The same for all blocks of a row, but LLVM must not see that: it would write the loop over them twice.
        """
        f = self.f
        units = {x: self._unit(x) for x in steps}
        lengths = [
            (f.binary("mul", step, count), f.binary("mul", units[x], count))
            for x, step in steps.items()
        ]
        return all_of(f, [f.icmp("eq", *both) for both in lengths])

    def _chosen(
        self, condition: Ref, values: Sequence[Ref], others: Callable[[], Sequence[Ref]]
    ) -> list[Ref]:
        """The values if the condition holds; else others, which are found then."""
        f, pairs = self.f, list[Phi]()
        if condition.constant is not None:
            return [*values] if condition.constant else [*others()]
        pack, done = f.new_block("pack"), f.new_block("packed")
        before = f.condbr(condition, done, pack)
        f.start(pack)
        found = others()
        after = f.br(done)
        f.start(done)
        for value, other in zip(values, found, strict=True):
            pairs.append(f.phi(value.type))
            pairs[-1].add(value, before)
            pairs[-1].add(other, after)
        return [*pairs]

    def _row_address(self, x: Operand, axis: int, k: Ref) -> Ref:
        return self.f.gep("i8", x.cursors[-1], self.f.mul(k, x.strides[axis]), "")

    def _block_address(self, x: Operand, k: Ref) -> Ref:
        """Where block `k` begins of those that wait."""
        return self.f.gep("i8", x.data, self.f.mul(k, self.f.mul(self._block, x.strides[0])), "")

    def _block_of(self, x: Operand, k: Ref, sizes: list[Ref]) -> Operand:
        data, strides = self._block_address(x, k), x.strides
        return Operand(x.type, x.parts, sizes, strides, data, is_plain=False, steps=strides)

    def _size_of_block(self, k: Ref) -> Ref:
        """How many steps along the outermost axis block `k` has: the last one may have fewer."""
        f, block = self.f, self._block
        rest = f.binary("sub", self.space.sizes[0], f.mul(k, block))
        return self._least(rest, block)

    # -- planes and rows that are done together -----------------------------------------------------------------

    def _plane_loop(self, axis: int, trips: Sequence[Ref], body: Callable[[], object]) -> None:
        """Go through the planes along an axis, small ones some at a time."""
        f, elements = self.f, self.f.mul(trips[axis + 1], trips[axis + 2])
        if self._are_moved:
            most, is_so, shift = MOVED_PLANE, TRUE, integer("i64", MOVED_PLANES)
        else:
            most, is_so, shift = _FEW, self._are_short(trips[-1]), self._packed_shift(elements)
        is_small = f.icmp("ult", f.binary("sub", elements, 1), most)
        self._are_planes = f.binary("and", is_so, is_small)
        shift = f.select(self._are_planes, shift, 0)
        height = f.binary("shl", ONE, shift)

        def planes(k: Ref) -> None:
            first = f.mul(k, height)
            self._planes = self._least(f.binary("sub", trips[axis], first), height)
            with self._from_row(axis, first):
                body()

        outer_loop(self.e, self._parts(trips[axis], shift), planes)
        self._planes, self._are_planes = ONE, FALSE

    @contextmanager
    def _from_row(self, axis: int, k: Ref) -> Iterator[None]:
        """Work on what begins at a place along an axis."""
        with self._at({x: self._row_address(x, axis, k) for x in self.arrays}):
            yield

    @contextmanager
    def _from_block(self, k: Ref) -> Iterator[None]:
        """Work on a block of those that wait."""
        masks = {way.temporary: way.mask for way in self.ways}
        places = {x: self.f.binary("and", k, masks[x]) if x in masks else k for x in self.arrays}
        with self._at({x: self._block_address(x, place) for x, place in places.items()}):
            yield

    @property
    def _has_groups(self) -> bool:
        return self._far is not FALSE or self._may_be_short is not FALSE

    def _height_shift(self, trip: Ref) -> Ref:
        """Of how many rows a group is that lie the other way around or are short; 0: rows are by themselves."""
        f = self.f
        shift = f.select(self._far, integer("i64", HEIGHT_SHIFT), 0)
        if self._may_be_short is FALSE:
            return shift
        return f.select(self._are_short(trip), self._packed_shift(trip), shift)

    def _packed_shift(self, count: Ref) -> Ref:
        """How often so many elements fit into a buffer, as a power of two."""
        f = self.f
        bits = f.binary("sub", integer("i64", 64), self._leading_zeros(f.binary("sub", count, 1)))
        return f.binary("sub", integer("i64", HEIGHT_SHIFT + WIDTH_SHIFT), bits)

    def _leading_zeros(self, x: Ref) -> Ref:
        self.f.module.declare(_ZEROS, "i64", ("i64", "i1"))
        return self.f.call("i64", _ZEROS, [x, FALSE])

    def _are_short(self, trip: Ref) -> Ref:
        """Whether rows have so few elements that some are put behind one another."""
        if self._may_be_short is FALSE:
            return FALSE
        f = self.f
        few = f.select(self._far, integer("i64", 1 << WIDTH_SHIFT), _FEW)
        is_short = f.icmp("ult", f.binary("sub", trip, 1), few)
        return f.binary("and", self._may_be_short, is_short)

    def _groups(self, trips: Sequence[Ref]) -> Ref:
        """How many groups of rows there are."""
        f, trip = self.f, trips[self.inner - 1]
        shift = self._height_shift(trips[self.inner])
        more = f.add(trip, f.binary("sub", f.binary("shl", ONE, shift), 1))
        count = f.select(self._are_together, f.select(f.icmp("sgt", trip, 0), ONE, 0), trip)
        return f.select(f.icmp("eq", shift, 0), count, f.binary("lshr", more, shift))

    @property
    def _are_together(self) -> Ref:
        """Whether all rows can be one group: all elements lie side by side.

        A row of one element lies so wherever the next one is, but then each row has a place in the buffer.
        """
        f = self.f
        others = [f.icmp("ne", self._step_along(x), self._unit(x)) for x in self._loose]
        return f.binary("and", self._fast, f.bool_not(any_of(f, others)))

    def _group(self, axis: int, trips: Sequence[Ref], k: Ref) -> None:
        """The rows of group `k`, in blocks."""
        f, trip = self.f, trips[self.inner]
        high = self._height_shift(trip)
        height = f.select(self._are_together, trips[axis], 1)
        height = f.select(f.icmp("eq", high, 0), height, f.binary("shl", ONE, high))
        first = f.mul(k, height)
        rows = self._least(f.binary("sub", trips[axis], first), height)
        shift = integer("i64", self._block_shift)
        shift = f.select(self._far, integer("i64", WIDTH_SHIFT), shift)
        size = f.binary("shl", ONE, shift)
        more = f.binary("lshr", f.binary("add", trip, f.binary("sub", size, 1)), shift)
        size = f.select(self._fast, trip, size)
        some = f.select(f.icmp("sgt", trip, 0), ONE, 0)

        def block(k: Ref) -> None:
            begin = f.mul(k, size)
            count = self._least(f.binary("sub", trip, begin), size)
            self._rows_of_block(axis, rows, begin, count, self._are_short(trip))

        with self._from_row(axis, first):
            outer_loop(self.e, f.select(self._fast, some, more), block)

    def _rows_of_block(self, axis: int, rows: Ref, begin: Ref, count: Ref, is_short: Ref) -> None:
        """Some elements of each row of a group; short rows are put behind one another, and are one."""
        f, loose = self.f, self._loose
        strides = {x: self._stride_of(x, is_unit=True) for x in self.arrays}
        steps = {x: self._step_along(x) if x in loose else strides[x] for x in self.arrays}
        places = self._moved({}, begin, steps)
        pitches = {x: x.strides[axis] for x in self.arrays}
        packed = loose if is_short is FALSE else self.arrays
        stores, combined = [], [x for x, _ in self._reduced_targets]
        for x, near in zip(packed, buffers(f, len(packed)), strict=True):
            there = (places[x], steps[x], pitches[x], self._pitch_of_planes(x))
            load, store, places[x], pitches[x] = self._near_rows(
                x, near, there, (count, rows, is_short)
            )
            if x in self.sources or x in combined:
                load()
            if x in self.targets:
                stores.append(store)
        self._walk_rows(rows, count, places, pitches, strides, is_short)
        for store in stores if f.is_reachable else ():
            store()

    def _near_rows(
        self, x: Operand, near: Ref, there: Box, parts: tuple[Ref, Ref, Ref]
    ) -> tuple[Callable[[], object], Callable[[], object], Ref, Ref]:
        """What puts rows side by side and back, and where they are then, and how far apart.

        `there`: where they lie. `parts`: how many elements they have, how many rows, whether they are short.
        """
        f, (place, step, pitch, plane), (count, rows, is_short) = self.f, there, parts
        unit = integer("i64", x.dtype.itemsize)
        is_there, whole = f.icmp("eq", step, unit), f.mul(count, unit)
        here = near, unit, whole, f.mul(rows, whole)
        is_line = all_of(f, [is_there, f.icmp("eq", pitch, whole)])
        is_full = f.select(self._are_planes, f.icmp("eq", plane, here[3]), TRUE)
        is_line = f.binary("and", is_line, is_full)
        moved = f.select(f.binary("and", is_short, f.bool_not(is_line)), rows, 0)
        others = (place, step, count, pitch, f.select(is_short, ZERO, rows))
        is_loose = x in self._loose

        is_there = f.select(is_short, is_line, is_there)

        def load() -> None:
            if is_loose:
                gather_rows(f, x.dtype, near, others)
            if is_short is not FALSE:
                self._move_rows(x.dtype, here, there, count, moved)

        def store() -> None:
            if is_loose:
                scatter_rows(f, x.dtype, near, others)
            if is_short is not FALSE:
                self._move_rows(x.dtype, there, here, count, moved)

        def unless_there(move: Callable[[], None]) -> Callable[[], None]:
            return lambda: either(f, is_there, lambda: None, move)

        apart = f.select(is_short, whole, pitch_of(f, x.dtype, step, pitch))
        return unless_there(load), unless_there(store), f.select(is_there, place, near), apart

    def _walk_rows(
        self, rows: Ref, count: Ref, places: Places, pitches: Places, strides: Places, is_one: Ref
    ) -> None:
        """Some elements of each of some rows, or all as one row."""
        f = self.f

        def row(k: Ref) -> None:
            self._rows = [
                {x: f.gep("i8", place, f.mul(k, pitches[x]), "") for x, place in places.items()}
            ]
            hoisted = [self._hoisted(row, strides) for row in self._rows]
            elements = f.select(is_one, f.mul(f.mul(self._planes, rows), count), count)
            self._walk(elements, hoisted, strides, is_unit=True)
            self._rows = [{}]

        with own_function(f):  # what is around it runs a few times, and need not be fast
            is_one_copy = self.kernel.length > SHORT
            outer_loop(self.e, f.select(is_one, ONE, rows), row, is_one_copy=is_one_copy)

    def _walk(
        self, trip: Ref, hoisted: Sequence[dict[int, Native]], strides: Places, *, is_unit: bool
    ) -> None:
        """The innermost loop."""
        raise NotImplementedError

    def _stride_of(self, x: Operand, *, is_unit: bool) -> Ref:
        """The stride that a copy of the loops has for an array."""
        if not self.ndim:
            return ZERO
        if is_unit:
            return ZERO if x is self._same else self._unit(x)
        step = x.strides[-1]
        if step.constant is None and self._are_dense and x in self.targets:
            return integer("i64", x.dtype.itemsize)
        return step if step.constant is not None else self._step_along(x)
