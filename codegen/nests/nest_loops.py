"""The loops of a nest over arrays, whose inner one LLVM vectorises.

The last axis is innermost. The loops are written for inner strides known now (one element, or none for what is
broadcast or reduced along the axis), guarded by a run-time check where the types do not promise them; a second
copy with strides read at run time takes over when the check fails. Neighbouring axes that are all reduced, or
all not, run as one if the operands are contiguous and of one shape.

A reduced result lies in memory while the loops run and is combined with each element there, but along the inner
axis with what a run of elements gives (`nest_reductions.py`). So an axis that is reduced outside of one that is
not goes through the memory in order, adding row to row.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import nullcontext
from functools import partial, reduce

from ljit.codegen.llvm.builder import FALSE, TRUE, Ref
from ljit.codegen.llvm.forms import Native
from ljit.codegen.loops.counted_loops import State, hints_of, inner_loop, maybe_loop, outer_loop
from ljit.codegen.loops.nest_functions import own_function
from ljit.codegen.nests.nest_conditions import ROWS, SHORT
from ljit.codegen.nests.nest_elements import FEW, Kernel, Places, Source
from ljit.codegen.nests.nest_overlap import Redirection, block_shift
from ljit.codegen.nests.nest_reduced_rows import FEW_SHIFT
from ljit.codegen.nests.nest_reductions import Accumulator
from ljit.codegen.nests.nest_short_rows import ShortRows
from ljit.codegen.nests.nest_space import ONE, ZERO, Operand, Space, all_of, any_of, either
from ljit.codegen.nests.nest_strides import Strides
from ljit.codegen.nests.ufunc_loops import RowLoop, call_row_loop, is_own

__all__ = ["Loops"]

_SHARED = 1 / 2  # of the sources: so many have rows in common that several are done side by side
_MOST_OF_ROWS = 128  # instructions of rows that are done side by side
_FEW_OF_CALL = 64  # elements of a row that is short where NumPy's loop is called for it


class Loops(ShortRows):
    """The loops while they are written.

    `accumulators` has how a target is reduced along the axes `reduced`, or None for a target that holds all elements.
    `are_joined`: along others, too, so that it is combined with what it holds, and no axes go on behind one another
    that could be stepped through as one. `ways`: which targets are temporary. `is_fresh`: all targets are new arrays.
    """

    def __init__(
        self,
        space: Space,
        sources: Sequence[Source],
        targets: Sequence[Operand],
        accumulators: Sequence[Accumulator | None],
        kernel: Kernel,
        *,
        reduced: Sequence[int] = (),
        are_joined: bool = False,
        ways: Sequence[Redirection] = (),
        is_fresh: bool = False,
    ) -> None:
        super().__init__(space.e, sources, targets, accumulators, kernel)
        self.space = space
        self.ndim = space.ndim
        self.reduced = reduced
        self.are_joined = are_joined
        self.ways = ways
        self.is_fresh = is_fresh
        results = [target for target, _ in self._reduced_targets]
        runs = [[axis] for axis in range(self.ndim)] if are_joined else None
        self.strides = Strides(space, self.arrays, results, reduced=reduced, runs=runs, ways=ways)
        self.runs = self.strides.runs
        self.is_flat = self.strides.is_flat
        self.columns = 1
        self._fast, self._far, self._may_be_short, self._block = TRUE, FALSE, FALSE, ONE
        self._are_dense = False
        self._are_moved = False
        self._planes, self._are_planes = ONE, FALSE
        self._same: Operand | None = None
        self._is_one = False
        self._lacks = {}

    def emit(self) -> None:
        """Write the copy for known inner strides, and that for any strides where it may be needed."""
        f = self.f
        if self.kernel.row_loop is not None:
            self._emit_row_loop()
            return
        self.columns = self.strides.columns(self.kernel.length)
        fast = self.strides.unit_condition(self.inner) if self.ndim else TRUE
        if fast is TRUE:
            self._may_be_short = self._are_too_short
            self._fast = f.bool_not(self._may_be_short)
            unit = partial(self._loops, is_unit=True)
            either(f, self._are_short_moves, self.move, unit)
            return
        way = partial(self._emit_copies, fast)
        for x, condition in self._broadcast:
            is_so = f.binary("and", condition, f.bool_not(fast))
            way = partial(either, f, is_so, partial(self._emit_broadcast, x), way)
        way()

    def _emit_broadcast(self, x: Operand) -> None:
        """Write the copy for one operand that is the same for all elements of a row."""
        self._same = x
        self._loops(is_unit=True)
        self._same = None

    def _emit_copies(self, fast: Ref) -> None:
        """Write what is chosen by whether the inner strides are those that are known."""
        f, can_be_packed = self.f, self._can_be_packed
        if can_be_packed and self._is_move:
            is_row = f.binary("and", fast, f.bool_not(self._are_short_moves))
            either(f, is_row, lambda: self._loops(is_unit=True), self.move)
            return
        far = self._far_condition() if can_be_packed else FALSE
        if can_be_packed and self._gains_from_blocks:
            are_short = f.binary("or", self._are_too_short, self._are_small_planes)
            fast = f.binary("and", fast, f.bool_not(are_short))
            self._fast, self._far, self._may_be_short = fast, far, self._short_condition(fast)
            self._loops(is_unit=True)
            return
        dense = self._dense_condition if can_be_packed and self.is_fresh else FALSE
        other = FALSE if dense is FALSE else f.bool_not(dense)

        def unit() -> None:
            if not far is other is FALSE:
                are_small = self._are_small_planes
                self._fast, self._far = f.binary("and", fast, f.bool_not(are_small)), far
                are_tiles = self._small_tiles_condition(fast)
                self._may_be_short = f.binary("or", are_tiles, are_small)
            self._loops(is_unit=True)

        def general() -> None:
            self.columns, self._fast = 1, TRUE
            self._far = self._may_be_short = FALSE
            self._are_dense = dense is not FALSE
            if all(x.is_plain for x in self.arrays):
                self.is_flat = FALSE  # then the other copy would have run
            self._loops(is_unit=False)

        either(f, any_of(f, [fast, far, other]), unit, general)

    def move(self) -> None:
        """Write the copy that leaves what is inside of the last two axes to a function for all strides."""
        self._are_moved = True
        self._loops(is_unit=False)
        self._are_moved = False

    def _emit_row_loop(self) -> None:
        """Rows by NumPy's loop: of elements with gaps, too, but small ones are best put side by side.

        Short rows are put behind one another: the loop costs more than they do. Functions of rows that are ljit's own
        only gain from elements side by side.
        Backwards a loop is slow, and may be another one, with results of its own: where all is one row, NumPy goes
        that way, too.
        """
        f = self.f
        fast = self.strides.unit_condition(self.inner) if self.ndim else TRUE
        if not (self.ndim and self._can_be_packed):
            self._loops(is_unit=False)
            return
        backwards = any_of(f, [f.icmp("slt", x.strides[self.inner], 0) for x in self._loose])
        is_one = TRUE if self.ndim == 1 else self.is_flat
        is_direct = f.select(backwards, is_one, FALSE if self._are_small else TRUE)
        if is_own(self.kernel.row_loop):
            is_direct = FALSE
        are_rows = self._short_condition(FALSE)
        are_short = f.binary("and", are_rows, self._are_rows_of(_FEW_OF_CALL))
        is_direct = f.binary("and", f.binary("or", fast, is_direct), f.bool_not(are_short))

        def packed() -> None:
            self._fast, self._may_be_short = FALSE, are_rows
            self._loops(is_unit=True)

        either(f, is_direct, lambda: self._loops(is_unit=False), packed)

    # -- the loops ---------------------------------------------------------------------------------

    def _loops(self, *, is_unit: bool) -> None:
        self.group = self.f.module.distinct_metadata("!{}")
        for x in self.arrays:
            x.cursors = [x.data]
        self.f.has_vectors = is_unit and self.ndim > 0 and not self.e.is_quick
        if self.ways:
            self._delayed_blocks(is_unit=is_unit)
        else:
            self._level(0, self._joined_trips(self.space.sizes), is_unit=is_unit)
        self.f.has_vectors = False

    def _joined_trips(self, sizes: Sequence[Ref]) -> list[Ref]:
        return self.strides.joined_trips(sizes, self.is_flat, self.inner)

    def _level(self, axis: int, trips: Sequence[Ref], *, is_unit: bool) -> None:
        """One loop of the nest and those inside."""
        results = self._fresh_results() if axis == self.first_fresh else nullcontext()
        with results:
            self._level_inside(axis, trips, is_unit=is_unit)

    def _level_inside(self, axis: int, trips: Sequence[Ref], *, is_unit: bool) -> None:
        if self._are_moved and axis >= self.inner - 1:
            self._move(axis, trips)
            return
        are_grouped = self._are_moved or self._may_be_short is not FALSE
        if are_grouped and axis == self.inner - 2 and axis not in self.reduced:
            inside = partial(self._level, axis + 1, trips, is_unit=is_unit)
            planes = partial(self._plane_loop, axis, trips, inside)
            turned = partial(self._move_turned_planes, axis, trips)
            either(
                self.f, self._are_planes_turned(axis) if self._are_moved else FALSE, turned, planes
            )
            return
        if axis >= self.inner:
            self._inner_loop(trips, is_unit=is_unit)
            return
        are_together = self._are_done_together(axis, trips) if is_unit else FALSE
        rows = partial(self._rows_of, axis, trips, is_unit=is_unit)
        if are_together is not FALSE and self._are_combined_as_computed:
            self._some_rows(axis, trips, are_together)
        else:
            either(self.f, are_together, partial(self._some_rows, axis, trips, TRUE), rows)

    def _rows_of(self, axis: int, trips: Sequence[Ref], *, is_unit: bool) -> None:
        """The loop along an axis, and those inside."""
        if self.kernel.length <= SHORT and axis == self.inner - 1 and self._has_reduced_rows:
            self._row_loops(axis, trips, trips[axis], ROWS, is_unit=is_unit)
            return
        if is_unit and axis == self.inner - 1 and self._may_share_rows:
            self._sharing_rows(axis, trips)
            return
        if self._has_groups and axis == self.inner - 1:
            groups = self._groups(trips)
            outer_loop(self.e, groups, partial(self._group, axis, trips), is_one_copy=True)
            return
        row = partial(self._row, axis, trips, is_unit=is_unit)
        outer_loop(self.e, trips[axis], row, is_one_copy=self._is_written_once(is_unit=is_unit))

    def _is_written_once(self, *, is_unit: bool) -> bool:
        """Whether rows may ask again what is the same for all of them: that takes little beside what they do."""
        is_long = self.kernel.length > SHORT
        return is_long or bool(self._shared) or not (is_unit or self._reduced_targets)

    def _row(self, axis: int, trips: Sequence[Ref], k: Ref, *, is_unit: bool) -> None:
        with self._from_row(axis, k):
            self._level(axis + 1, trips, is_unit=is_unit)

    def _delayed_blocks(self, *, is_unit: bool) -> None:
        """The nest for one block after the other where results have to wait: blocks are copied behind later ones."""
        f, size = self.f, self.space.sizes[0]
        is_ring = any_of(f, [way.is_ring for way in self.ways])
        shift = block_shift(f, self.space.sizes)
        self._block = f.select(is_ring, f.binary("shl", ONE, shift), size)
        blocks = f.select(is_ring, self._parts(size, shift), ONE)
        last = f.binary("sub", blocks, 1)
        delays = [f.select(x.is_ring, x.delay, f.select(x.overlaps, last, 0)) for x in self.ways]
        behind = reduce(self._greatest, delays)

        def body(k: Ref) -> None:
            compute, copy = f.new_block("block"), f.new_block("copies")
            f.condbr(f.icmp("slt", k, blocks), compute, copy)
            if f.start(compute):
                trips = self._joined_trips([self._size_of_block(k), *self.space.sizes[1:]])
                with self._from_block(k):
                    self._level(0, trips, is_unit=is_unit)
                f.br(copy)
            f.start(copy)
            for way, delay in zip(self.ways, delays, strict=True):
                self._copy_block(way, f.binary("sub", k, delay, "nsw"), blocks)

        outer_loop(self.e, f.binary("add", blocks, behind, "nsw"), body, is_one_copy=True)

    def _copy_block(self, way: Redirection, k: Ref, blocks: Ref) -> None:
        f = self.f
        copy, done = f.new_block("copy"), f.new_block("copied")
        is_block = f.icmp("ult", k, blocks)  # not negative, either
        f.condbr(f.binary("and", way.overlaps, is_block), copy, done)
        f.start(copy)
        space = Space(self.e, self.ndim)
        space.sizes = [self._size_of_block(k), *self.space.sizes[1:]]
        places = (way.temporary, f.binary("and", k, way.mask)), (way.target, k)
        source, target = (self._block_of(x, place, space.sizes) for x, place in places)
        loops = Loops(space, [source], [target], [None], Kernel(lambda x: x))
        with own_function(f):
            loops.emit() if self.e.is_quick else loops.move()
        f.br(done)
        f.start(done)

    def _sharing_rows(self, axis: int, trips: Sequence[Ref]) -> None:
        """Do several rows side by side, which have sources in common: these are loaded once."""
        f, shift = self.f, self._shared_rows_shift
        conditions = []
        for first, second in self.kernel.following.items():
            x, y = self.sources[first], self.sources[second]
            assert isinstance(x, Operand)
            assert isinstance(y, Operand)
            conditions.append(f.icmp("eq", self._row_address(x, axis, ONE), y.cursors[-1]))
            pairs = zip(x.strides, y.strides, strict=True)
            conditions += [f.icmp("eq", *pair) for pair in pairs if pair[0].text != pair[1].text]
        together = f.select(all_of(f, conditions), trips[axis], 0)
        self._shared = self.kernel.following
        self._row_loops(axis, trips, together, shift, is_unit=True)
        self._shared = {}

    @property
    def _may_share_rows(self) -> bool:
        """Whether rows read so much of what the next ones read that several are done side by side."""
        kernel, following = self.kernel, self.kernel.following
        if self.e.is_quick or self.columns > 1 or self._has_groups or self._has_stages:
            return False
        if kernel.may_leave or kernel.row_loop is not None or self._reduced_targets:
            return False
        arrays = [x for x in self.sources if isinstance(x, Operand)]
        moving = sum(self.strides.known(x, self.inner) != 0 for x in arrays)
        are_many = len(following) >= max(1, _SHARED * moving)
        return self._fast is TRUE and self._shared_rows_shift > 0 and are_many

    @property
    def _shared_rows_shift(self) -> int:
        """How many rows are done side by side, as a power of two: few of long kernels."""
        return min(ROWS, (_MOST_OF_ROWS // max(1, self.kernel.length)).bit_length() - 1)

    def _row_loops(
        self, axis: int, trips: Sequence[Ref], together: Ref, shift: int, *, is_unit: bool
    ) -> None:
        """Do `1 << shift` rows side by side, of so many: what they load and store in common is done once."""
        f, trip = self.f, trips[axis]
        whole = f.binary("and", together, -(1 << shift))
        is_one_copy = self._is_written_once(is_unit=is_unit)

        def rows(numbers: Sequence[Ref]) -> None:
            self._rows = [{x: self._row_address(x, axis, k) for x in self.arrays} for k in numbers]
            self._inner(trips[-1], is_unit=is_unit)
            self._rows = [{}]

        def several(k: Ref) -> None:
            first = f.mul(k, 1 << shift)
            rows([f.add(first, i) for i in range(1 << shift)])

        def one(k: Ref) -> None:
            rows([f.add(whole, k)])

        if whole.constant != 0:
            groups = f.binary("lshr", together, shift)
            outer_loop(self.e, groups, several, is_one_copy=is_one_copy)
        if trip.constant is None or trip.constant != whole.constant:
            outer_loop(self.e, f.binary("sub", trip, whole), one, is_one_copy=is_one_copy)

    def _inner_loop(self, trips: Sequence[Ref], *, is_unit: bool) -> None:
        """The innermost loop; the columns of its trips are done side by side."""
        if self.columns > 1:
            steps = {x: self.strides.known(x, self.ndim - 1) for x in self.arrays}
            self._rows = [
                {x: self._behind(x, i * step) for x, step in steps.items()}
                for i in range(self.columns)
            ]
        self._inner(trips[self.inner] if trips else ONE, is_unit=is_unit)
        self._rows = [{}]

    def _inner(self, trip: Ref, *, is_unit: bool) -> None:
        """The innermost loop; what is broadcast along its axis is loaded in front of it."""
        f = self.f
        strides = {x: self._stride_of(x, is_unit=is_unit) for x in self.arrays}
        if not self.ndim:
            elements = [self._load(x, None, ZERO) for x in self.sources]
            self._store_results(self._results(elements), None, strides)
            return
        begin, done = f.new_block("inner"), f.new_block("empty")
        f.condbr(f.icmp("sgt", trip, 0), begin, done)
        f.start(begin)
        hoisted = [self._hoisted(row, strides) for row in self._rows]
        if self.is_inner_reduced:
            self._reduce(trip, hoisted, strides, is_unit=is_unit)
        elif self._fast is not TRUE:
            self._walk_blocks(trip, hoisted, strides)
        else:
            self._walk(trip, hoisted, strides, is_unit=is_unit)
        f.br(done)
        f.start(done)

    def _call_row_loop(self, row_loop: RowLoop, trip: Ref, strides: Places) -> None:
        """Let a function of NumPy's, or ljit's in its place, go through the row."""
        operands = [*self.sources, *self.targets]
        steps = [ZERO if isinstance(x, Native) else strides[x] for x in operands]
        with self._at(self._rows[0]):
            places = [x if isinstance(x, Native) else x.cursors[-1] for x in operands]
        call_row_loop(self.e, row_loop, places, trip, steps)

    def _walk_at_once(
        self, trip: Ref, hoisted: Sequence[dict[int, Native]], strides: Places, *, is_unit: bool
    ) -> None:
        """A loop over elements: by their number, or from place to place where only a run knows the strides."""
        if self.kernel.row_loop is not None:
            self._call_row_loop(self.kernel.row_loop, trip, strides)
            return
        rows, hints = self._rows, hints_of(self.group, is_unit=is_unit)

        def elements(places: list[Places], k: Ref | None) -> None:
            self._rows = places
            found = self._side_by_side(places, [*hoisted] * (len(places) // len(rows)), k, strides)
            self._combine_rows(found, k, strides)
            self._rows = rows

        def numbered(k: Ref, carried: State) -> State:
            elements(rows, k)
            return carried

        if is_unit:
            self._copy_or(lambda: self._elements_loop(trip, [], numbered, hints), trip, strides)
            return
        moving = self._moving(strides)

        def from_place(count: int) -> Callable[[Ref, State], State]:
            def go_on(_k: Ref, carried: State) -> State:
                first, _ = self._rows_from(rows, moving, carried)
                elements(first if count == 1 else self._following(first[0], strides), None)
                return self._places_behind(first, count, moving, strides)

            return go_on

        state: State = []
        for row in rows:
            with self._at(row):
                state += [x.cursors[-1] for x in moving]
        if self.kernel.length <= SHORT and len(rows) == 1 and not self._reduced_targets:
            self.e.context.packs = True
            some = self.f.binary("lshr", trip, FEW_SHIFT)
            state = maybe_loop(self.e, some, state, from_place(FEW), FEW * self.kernel.length)
            trip = self.f.binary("and", trip, FEW - 1)
            maybe_loop(self.e, trip, state, from_place(1), self.kernel.length)
        else:
            inner_loop(self.e, trip, state, from_place(1), hints, self.kernel.length)
