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

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from functools import partial, reduce

from ljit.codegen.arrays import load_element, store_element
from ljit.codegen.builder import FALSE, TRUE, Ref, integer
from ljit.codegen.casts import cast_value
from ljit.codegen.counted_loops import State, hints_of, inner_loop, maybe_loop, outer_loop
from ljit.codegen.forms import Native
from ljit.codegen.nest_functions import own_function
from ljit.codegen.nest_overlap import Redirection, block_of, blocks_of
from ljit.codegen.nest_reductions import Accumulator, combine_blocks, in_pairs, split, take
from ljit.codegen.nest_space import ONE, ZERO, Operand, Space
from ljit.codegen.nest_strides import Strides

__all__ = ["Body", "Loops"]

Body = Callable[[Sequence[Native]], Sequence[Native]]
Source = Operand | Native
Places = dict[Operand, Ref]  # where arrays lie, or their strides
_ROWS = 2  # 1 << 2 rows are combined side by side
_SHORT = 6  # instructions of a body that may be written for each of them
_SIDE = integer("i64", 3)
_TOGETHER = 1 << 3  # elements are combined at once where only a run knows their strides


class Loops:
    """The loops while they are written.

    `body` gives one result for each target from an element of each source. `accumulators` has how a target is reduced
    along the axes `reduced`, or None for a target that holds all elements. `ways`: which targets are temporary.
    """

    def __init__(
        self,
        space: Space,
        sources: Sequence[Source],
        targets: Sequence[Operand],
        accumulators: Sequence[Accumulator | None],
        body: Body,
        *,
        reduced: Sequence[int] = (),
        ways: Sequence[Redirection] = (),
        may_leave: bool = False,
        length: int = 0,
    ) -> None:
        self.space = space
        self.e = space.e
        self.f = space.f
        self.ndim = space.ndim
        self.sources = sources
        self.targets = targets
        self.accumulators = accumulators
        self.body = body
        self.reduced = reduced
        self.ways = ways
        self.may_leave = may_leave
        self.length = length  # about how many instructions the body is
        self.has_checks = False  # the body, as written, can leave
        results = [target for target, _ in self._reduced_targets]
        self.strides = Strides(space, self.arrays, results, reduced=reduced, ways=ways)
        self.runs = self.strides.runs
        self.is_flat = self.strides.is_flat
        self.columns = 1
        self.group = ""
        self._block = ONE  # elements of a temporary row where there is one axis
        self._rows: list[Places] = [{}]  # where those lie that are done side by side

    @property
    def arrays(self) -> list[Operand]:
        return [x for x in (*self.sources, *self.targets) if isinstance(x, Operand)]

    @property
    def _reduced_targets(self) -> list[tuple[Operand, Accumulator]]:
        pairs = zip(self.targets, self.accumulators, strict=True)
        return [(target, a) for target, a in pairs if a is not None]

    @property
    def inner(self) -> int:
        """The axis of the inner loop."""
        return self.ndim - 2 if self.columns > 1 else self.ndim - 1

    @property
    def is_inner_reduced(self) -> bool:
        return bool(self._reduced_targets) and self.inner in self.reduced

    @property
    def is_last_reduced(self) -> bool:
        return bool(self._reduced_targets) and self.ndim - 1 in self.reduced

    @property
    def first_fresh(self) -> int | None:
        """The first reduced axis if those behind it are, too: results begin there; others were filled before."""
        if not self.is_last_reduced or len(self.runs[-1]) < len(self.reduced):
            return None
        return self.runs[-1][0]

    @property
    def _is_combined_once(self) -> bool:
        """Whether a run of elements along the inner axis is all that there is of a result."""
        return self.columns == 1 and len(self.runs[-1]) == 1 and self.first_fresh == self.inner

    def emit(self) -> None:
        """Write the copy for known inner strides, and that for any strides where it may be needed."""
        f = self.f
        self.columns = self.strides.columns(self.length)
        fast = self.strides.unit_condition(self.inner) if self.ndim else TRUE
        if fast is TRUE:
            self._loops(is_unit=True)
            return
        unit, general, done = f.new_block("unit"), f.new_block("strided"), f.new_block("mapped")
        f.condbr(fast, unit, general)
        if f.start(unit):
            self._loops(is_unit=True)
            f.br(done)
        if f.start(general):
            self.columns = 1
            if all(x.is_plain for x in self.arrays):
                self.is_flat = FALSE  # then the other copy would have run
            self._loops(is_unit=False)
            f.br(done)
        f.start(done)

    # -- the loops ---------------------------------------------------------------------------------

    def _loops(self, *, is_unit: bool) -> None:
        self.group = self.f.module.distinct_metadata("!{}")
        for x in self.arrays:
            x.cursors = [x.data]
        trips = list(self.space.sizes)
        if self.is_flat is not FALSE:
            for run in self.runs:
                self._join_axes(trips, run)
        if self.ways:
            self._delayed_rows(trips, is_unit=is_unit)
        else:
            self._level(0, trips, is_unit=is_unit)

    def _join_axes(self, trips: list[Ref], run: Sequence[int]) -> None:
        """Let the last of neighbouring axes have the trips of all, if the nest is flat."""
        total = ONE
        for axis in run:
            total = self.f.mul(total, trips[axis])
            trips[axis] = self.f.select(self.is_flat, ONE, trips[axis])
        trips[run[-1]] = self.f.select(self.is_flat, total, self.space.sizes[run[-1]])

    def _level(self, axis: int, trips: Sequence[Ref], *, is_unit: bool) -> None:
        """One loop of the nest and those inside."""
        if axis == self.first_fresh:
            for target, accumulator in self._reduced_targets:
                self._store(target, None, ZERO, accumulator.start)
        if axis >= self.inner:
            self._inner_loop(trips, is_unit=is_unit)
            return
        if self.length <= _SHORT and axis == self.inner - 1 and self._has_reduced_rows:
            self._row_loops(axis, trips, is_unit=is_unit)
            return

        outer_loop(self.e, trips[axis], lambda k: self._row(axis, trips, k, is_unit=is_unit))

    def _row(self, axis: int, trips: Sequence[Ref], k: Ref, *, is_unit: bool) -> None:
        masks = {way.temporary: way.mask for way in self.ways} if axis == 0 else {}
        for x in self.arrays:
            place = self.f.binary("and", k, masks[x]) if x in masks else k
            x.cursors.append(self._row_address(x, axis, place))
        if self.ndim < 2:
            trips = [self._size_of_block(k)]
        self._level(axis + 1, trips, is_unit=is_unit)
        for x in self.arrays:
            x.cursors.pop()

    def _delayed_rows(self, trips: Sequence[Ref], *, is_unit: bool) -> None:
        """The outermost loop where results go to temporary rows: rows are copied behind later ones."""
        f = self.f
        rows, behind = trips[0], ZERO
        if self.ndim < 2:
            is_ring = reduce(partial(f.binary, "or"), [way.is_ring for way in self.ways])
            rows = blocks_of(f, trips[0], is_ring)
            self._block = block_of(f, trips[0], is_ring)
        for way in self.ways:
            behind = f.select(f.icmp("sgt", way.delay, behind), way.delay, behind)

        def body(k: Ref) -> None:
            compute, copy = f.new_block("row"), f.new_block("copies")
            f.condbr(f.icmp("slt", k, rows), compute, copy)
            if f.start(compute):
                self._row(0, trips, k, is_unit=is_unit)
                f.br(copy)
            f.start(copy)
            for way in self.ways:
                self._copy_row(way, f.binary("sub", k, way.delay, "nsw"), rows)

        outer_loop(self.e, f.binary("add", rows, behind, "nsw"), body)

    def _copy_row(self, way: Redirection, k: Ref, rows: Ref) -> None:
        f = self.f
        copy, done = f.new_block("copy"), f.new_block("copied")
        is_row = f.icmp("ult", k, rows)  # not negative, either
        f.condbr(f.binary("and", way.overlaps, is_row), copy, done)
        f.start(copy)
        space = Space(self.e, max(self.ndim - 1, 1))
        space.sizes = self.space.sizes[1:] or [self._size_of_block(k)]
        places = (way.temporary, f.binary("and", k, way.mask)), (way.target, k)
        source, target = (self._row_of(x, place, space.sizes) for x, place in places)
        with own_function(f):
            Loops(space, [source], [target], [None], lambda x: x).emit()
        f.br(done)
        f.start(done)

    def _row_of(self, x: Operand, k: Ref, sizes: list[Ref]) -> Operand:
        """Row `k` in the axes behind the outermost, or along the only one."""
        data = self.f.gep("i8", x.data, self.f.mul(k, self._step(x, 0)), "")
        strides = x.strides[1:] or x.strides
        return Operand(x.type, x.parts, sizes, strides, data, is_plain=False, steps=strides)

    def _size_of_block(self, k: Ref) -> Ref:
        """How many elements row `k` of a single axis has: the last one may have fewer."""
        f, block = self.f, self._block
        rest = f.binary("sub", self.space.sizes[0], f.mul(k, block))
        return f.select(f.icmp("slt", rest, block), rest, block)

    def _step(self, x: Operand, axis: int) -> Ref:
        """The stride from row to row."""
        return x.strides[axis] if self.ndim > 1 else self.f.mul(self._block, x.strides[axis])

    def _row_address(self, x: Operand, axis: int, k: Ref) -> Ref:
        return self.f.gep("i8", x.cursors[-1], self.f.mul(k, self._step(x, axis)), "")

    @property
    def _has_reduced_rows(self) -> bool:
        """Whether all there is to the last axis but one is that rows are combined."""
        return self.columns == 1 and self.inner - 1 in self.reduced and not self.is_inner_reduced

    def _row_loops(self, axis: int, trips: Sequence[Ref], *, is_unit: bool) -> None:
        """Combine several rows before what there is in memory is loaded and stored once."""
        f, trip = self.f, trips[axis]
        size, shift = integer("i64", 1 << _ROWS), integer("i64", _ROWS)
        whole = f.binary("and", trip, integer("i64", -(1 << _ROWS)))

        def rows(numbers: Sequence[Ref]) -> None:
            self._rows = [{x: self._row_address(x, axis, k) for x in self.arrays} for k in numbers]
            self._inner(trips[-1], is_unit=is_unit)
            self._rows = [{}]

        def several(k: Ref) -> None:
            first = f.mul(k, size)
            rows([f.add(first, integer("i64", i)) for i in range(1 << _ROWS)])

        def one(k: Ref) -> None:
            rows([f.add(whole, k)])

        if whole.constant != 0:
            count = f.binary("lshr", trip, shift)
            outer_loop(self.e, count, several)
        if trip.constant is None or trip.constant != whole.constant:
            outer_loop(self.e, f.binary("sub", trip, whole), one)

    @contextmanager
    def _at(self, row: Places) -> Iterator[None]:
        """Work on one of the rows that are done side by side."""
        for x, place in row.items():
            x.cursors.append(place)
        yield
        for x in row:
            x.cursors.pop()

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

    def _behind(self, x: Operand, offset: int) -> Ref:
        return self.f.gep("i8", x.cursors[-1], integer("i64", offset))

    def _inner(self, trip: Ref, *, is_unit: bool) -> None:
        """The innermost loop; what is broadcast along its axis is loaded in front of it."""
        f = self.f
        strides = {x: self._stride_of(x, is_unit=is_unit) for x in self.arrays}
        if not self.ndim:
            elements = [self._load(x, None, ZERO) for x in self.sources]
            self._store_results(self._results(elements), None, strides)
            return
        begin, done = f.new_block("inner"), f.new_block("empty")
        f.condbr(f.icmp("sgt", trip, ZERO), begin, done)
        f.start(begin)
        hoisted = [self._hoisted(row, strides) for row in self._rows]
        if self.is_inner_reduced:
            self._reduce(trip, hoisted, strides, is_unit=is_unit)
        else:

            def body(k: Ref, _carried: State) -> State:
                found = self._side_by_side(self._rows, hoisted, k, strides)
                self._combine_rows(found, k, strides)
                return []

            hints = hints_of(self.group, is_unit=is_unit)
            inner_loop(self.e, trip, [], body, hints, self.length)
        f.br(done)
        f.start(done)

    def _side_by_side(
        self,
        rows: Sequence[Places],
        hoisted: Sequence[dict[int, Native]],
        k: Ref | None,
        strides: Places,
    ) -> list[list[Native]]:
        """Do an element of each row: all loads come before the stores. Gives the elements of reduced results."""
        loaded: list[list[Native]] = []
        for row, known in zip(rows, hoisted, strict=True):
            with self._at(row):
                loaded.append(self._elements(known, k, strides, loaded))
        found = []
        for row, elements in zip(rows, loaded, strict=True):
            with self._at(row):
                found.append(self._store_results(self._results(elements), k, strides))
        return found

    def _hoisted(self, row: Places, strides: Places) -> dict[int, Native]:
        """Load what is the same for all elements of a row."""
        with self._at(row):
            return {
                index: self._load(x, None, ZERO)
                for index, x in enumerate(self.sources)
                if not isinstance(x, Operand) or strides[x].constant == 0
            }

    def _combine_rows(self, rows: Sequence[Sequence[Native]], k: Ref, strides: Places) -> None:
        """Combine the reduced results of rows with what there is, if there is anything yet."""
        if not self.f.is_reachable:
            return
        is_alone = self.columns > 1 and not self.is_last_reduced  # columns are not combined
        for i in range(len(rows) if is_alone else 1):
            found = zip(*(rows[i : i + 1] if is_alone else rows), strict=True)
            for (target, a), (first, *more) in zip(self._reduced_targets, found, strict=True):
                value = reduce(a.combine, more, first)
                with self._at(self._rows[i]):
                    if self.inner == self.ndim - 1 or self.first_fresh != self.ndim - 1:
                        value = a.combine(self._load(target, k, strides[target]), value)
                    self._store(target, k, strides[target], value)

    def _reduce(
        self,
        trip: Ref,
        hoisted: Sequence[dict[int, Native]],
        strides: Places,
        *,
        is_unit: bool,
    ) -> None:
        """The inner loop along a reduced axis; its results are combined with what there is.

        Columns have results of their own, unless their axis is reduced, too.
        """
        f, rows, pairs = self.f, self._rows, self._reduced_targets
        places = rows[:1] if self.is_last_reduced else rows
        accumulators = [accumulator for _ in places for _, accumulator in pairs]
        hints = hints_of(self.group, is_unit=is_unit)

        def run(first: Ref, count: Ref) -> list[State]:
            moved = [self._moved(row, first, strides) for row in rows]
            state = [part for a in accumulators for part in a.start_state]

            def body(k: Ref, carried: State) -> State:
                found = self._side_by_side(moved, hoisted, k, strides)
                return take(accumulators, [value for row in found for value in row], carried)

            def several(k: Ref, carried: State) -> State:
                near = self._neighbours(moved[0], k, strides)
                found = self._side_by_side(near, [*hoisted] * len(near), None, strides)
                pairs = zip(accumulators, zip(*found, strict=True), strict=f.is_reachable)
                return take(accumulators, [in_pairs(a.combine, x) for a, x in pairs], carried)

            if is_unit or self.length > _SHORT or len(rows) > 1:
                state = inner_loop(self.e, count, state, body, hints, self.length)
            else:
                eighth, length = f.binary("lshr", count, _SIDE), self.length
                state = maybe_loop(self.e, eighth, state, several, _TOGETHER * length)
                done = f.binary("and", count, integer("i64", -_TOGETHER))
                moved = [self._moved(moved[0], done, strides)]
                state = maybe_loop(self.e, f.binary("sub", count, done), state, body, length)
            return split(state, accumulators)

        may_stop = not self.may_leave and len(pairs) == len(self.targets)
        found = iter(combine_blocks(accumulators, trip, run, may_stop=may_stop))
        for place in places:
            with self._at(place):
                for target, a in pairs:
                    whole = next(found)
                    if not self._is_combined_once:
                        whole = a.combine(self._load(target, None, ZERO), whole)
                    self._store(target, None, ZERO, whole)

    def _neighbours(self, row: Places, k: Ref, strides: Places) -> list[Places]:
        """The places of the arrays in some trips, one after the other, that are the k-th of their kind."""
        places = [self._moved(row, self.f.mul(k, integer("i64", _TOGETHER)), strides)]
        for _ in range(_TOGETHER - 1):
            with self._at(places[-1]):
                places.append({x: self._address(x, ONE, strides[x]) for x in row})
        return places

    def _moved(self, row: Places, first: Ref, strides: Places) -> Places:
        """The places of a row's arrays from the trip `first` on."""
        with self._at(row):
            return {x: self._address(x, first, strides[x]) for x in self.arrays}

    def _stride_of(self, x: Operand, *, is_unit: bool) -> Ref:
        if not self.ndim:
            return ZERO
        if is_unit:
            return integer("i64", self.strides.known(x, self.inner))
        return x.strides[-1]

    # -- elements ----------------------------------------------------------------------------------

    def _elements(
        self,
        hoisted: dict[int, Native],
        k: Ref | None,
        strides: Places,
        others: Sequence[Sequence[Native]],
    ) -> list[Native]:
        """Load the elements of a trip, but what was loaded for other columns."""
        found: list[Native] = []
        for index, x in enumerate(self.sources):
            if index in hoisted:
                found.append(hoisted[index])
            elif others and self._is_shared(x):
                found.append(others[0][index])
            else:
                found.append(self._load(x, k, strides[x]))  # type: ignore[index]
        return found

    def _is_shared(self, x: Source) -> bool:
        """Whether all that is done side by side, rows or columns, has the same element."""
        if not isinstance(x, Operand) or len(self._rows) < 2:
            return False
        first, second, *_ = self._rows
        return first[x].text == second[x].text

    def _results(self, elements: Sequence[Native]) -> Sequence[Native]:
        """The body for one element."""
        checks = self.e.bailout.checks
        results = self.body(elements)
        self.has_checks |= self.e.bailout.checks != checks
        return results

    def _store_results(
        self, results: Sequence[Native], k: Ref | None, strides: Places
    ) -> list[Native]:
        """Store the elements of results; gives those that are reduced."""
        reduced: list[Native] = []
        if not self.f.is_reachable:
            return reduced
        for target, a, value in zip(self.targets, self.accumulators, results, strict=True):
            cast = cast_value(self.f, value, target.type.element)
            if a is not None:
                reduced.append(cast)
            else:
                self._store(target, k, strides[target], cast)
        return reduced

    def _load(self, x: Source, k: Ref | None, stride: Ref) -> Native:
        if isinstance(x, Native):
            return x
        address = self._address(x, k, stride)
        return load_element(self.f, address, x.dtype, x.type.element, self._suffix)

    def _store(self, x: Operand, k: Ref | None, stride: Ref, value: Native) -> None:
        store_element(self.f, self._address(x, k, stride), x.dtype, value, self._suffix)

    @property
    def _suffix(self) -> str:
        return f", !llvm.access.group {self.group}"

    def _address(self, x: Operand, k: Ref | None, stride: Ref) -> Ref:
        if k is None or stride.constant == 0:
            return x.cursors[-1]
        if stride.constant is not None and stride.constant > 0:
            return self.f.gep(f"[{stride.constant} x i8]", x.cursors[-1], k)
        return self.f.gep("i8", x.cursors[-1], self.f.mul(k, stride), "")
