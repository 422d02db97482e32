"""What loops do along reduced axes: rows of elements combined in registers, and with what lies in memory."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from functools import partial, reduce

from ljit.codegen.llvm.builder import FALSE, TRUE, Ref, integer
from ljit.codegen.llvm.engine import has_avx512
from ljit.codegen.llvm.forms import Native
from ljit.codegen.loops.counted_loops import State, hints_of, inner_loop, maybe_loop, whole_vectors
from ljit.codegen.nests.nest_conditions import SHORT
from ljit.codegen.nests.nest_elements import FEW, Places
from ljit.codegen.nests.nest_packing import BLOCK_SHIFT
from ljit.codegen.nests.nest_reductions import BLOCK, Accumulator, combine_blocks, split, take
from ljit.codegen.nests.nest_space import ZERO, Operand
from ljit.codegen.nests.nest_stages import LONG_BODY, STAGES_SHIFT, Stages
from ljit.ir import Node
from ljit.records import Record

__all__ = ["FEW_SHIFT", "ReducedRows"]

FEW_SHIFT = 2
_MASKABLE = "?bBhHiIlLqQfd"  # dtypes; halves and complex numbers would be loaded one by one
_WIDE = 4  # bytes of an element


class _Row(Record):
    """What an inner loop along a reduced axis combines, and in which way."""

    trip: Ref
    places: Sequence[Places]  # where each of the rows begins that go side by side
    hoisted: Sequence[dict[int, Native]]
    strides: Places
    accumulators: Sequence[Accumulator]
    is_unit: bool
    has_chains: bool
    in_stages: bool


class ReducedRows(Stages):
    """Loops whose results may be reduced."""

    runs: Sequence[Sequence[int]]  # neighbouring axes that are all reduced, or all not
    are_joined: bool  # whether results hold what others are combined with
    is_flat: Ref  # whether all axes can be gone through as one
    _is_one: bool  # whether what is written goes through one row, of which nothing else is left
    _lacks: dict[Operand, list[Ref]]  # where it is kept what rounding has taken away of sums so far

    @property
    def is_last_reduced(self) -> bool:
        return bool(self._reduced_targets) and self.ndim - 1 in self.reduced

    @property
    def first_fresh(self) -> int | None:
        """The first reduced axis if those behind it are, too: results begin there; others were filled before."""
        if not self.is_last_reduced or self.are_joined or len(self.runs[-1]) < len(self.reduced):
            return None
        return self.runs[-1][0]

    @property
    def _is_combined_once(self) -> bool:
        """Whether a run of elements along the inner axis is all that there is of a result."""
        return self.columns == 1 and len(self.runs[-1]) == 1 and self.first_fresh == self.inner

    def _vector_loop(
        self,
        trip: Ref,
        start: State,
        body: Callable[[Ref, State], State],
        hints: Sequence[str],
        loop: Callable[..., State] = inner_loop,
    ) -> State:
        """An inner loop; the checks of its elements that may wait are made behind it."""
        bailout, blamed = self.e.bailout, list[tuple[Node | None, str]]()
        if not (self.kernel.may_leave and self.f.has_vectors):
            return loop(self.e, trip, start, body, hints, self.kernel.length)

        def checked(k: Ref, carried: State) -> State:
            bailout.waiting = []
            new, found = body(k, carried[:-1]), bailout.waiting
            bailout.waiting = None
            blamed.extend((node, reason) for _, node, reason in found)
            conditions = [condition for condition, *_ in found]
            return [*new, reduce(partial(self.f.binary, "or"), conditions, carried[-1])]

        *state, failed = loop(self.e, trip, [*start, FALSE], checked, hints, self.kernel.length)
        if blamed:
            node, reason = blamed[0]
            bailout.bail_for(node, failed, reason)
        return state

    def _combine_rows(
        self, rows: Sequence[Sequence[Native]], k: Ref | None, strides: Places
    ) -> None:
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
        self, trip: Ref, hoisted: Sequence[dict[int, Native]], strides: Places, *, is_unit: bool
    ) -> None:
        """The inner loop along a reduced axis; its results are combined with what there is.

        Columns have results of their own, unless their axis is reduced, too.
        """
        rows, pairs = self._rows, self._reduced_targets
        places = rows[:1] if self.is_last_reduced else rows
        accumulators = [accumulator for _ in places for _, accumulator in pairs]
        is_short = self.kernel.length <= SHORT and not self.e.is_quick
        row = _Row(
            trip,
            rows,
            hoisted,
            strides,
            accumulators,
            is_unit=is_unit,
            has_chains=is_short and not is_unit and self._are_rows_added,
            in_stages=is_unit and self._has_stages,
        )
        may_stop = not self.kernel.may_leave and len(pairs) == len(self.targets)
        part, size = partial(self._combine_part, row), self._most_at_once(row)
        found = iter(combine_blocks(accumulators, trip, part, may_stop=may_stop, size=size))
        for place in places:
            with self._at(place):
                for target, a in pairs:
                    whole = next(found)
                    if not self._is_combined_once:
                        whole = self._with_others(target, a, whole)
                    self._store(target, None, ZERO, whole)

    def _with_others(self, target: Operand, a: Accumulator, found: Native) -> Native:
        """What a result holds, combined with what a row gave; of a sum, what rounding takes away is kept as well."""
        if target not in self._lacks:
            return a.combine(self._load(target, None, ZERO), found)
        total = a.add_block(self._total(target), [*found.parts])
        for lack, place in zip(total[1::2], self._lacks[target], strict=True):
            self.f.store(lack, place)
        return Native(a.type, total[::2])

    def _total(self, target: Operand) -> State:
        """The state of the blocks that a sum has so far."""
        f, held, places = self.f, self._load(target, None, ZERO), self._lacks[target]
        lacks = [f.load(x.type, place) for x, place in zip(held.parts, places, strict=True)]
        return [x for pair in zip(held.parts, lacks, strict=True) for x in pair]

    @contextmanager
    def _fresh_results(self) -> Iterator[None]:
        """Begin results; the sums of rows are added up as those of blocks are."""
        f, are_many = self.f, not self._is_combined_once and self.is_flat is not TRUE
        for target, a in self._reduced_targets:
            self._store(target, None, ZERO, a.start)
            if a.is_compensated and are_many:
                lacks = a.start_total[1::2]
                self._lacks[target] = [f.alloca(lack.type) for lack in lacks]
                for lack, place in zip(lacks, self._lacks[target], strict=True):
                    f.store(lack, place)
        yield
        for target, a in self._reduced_targets:
            if target in self._lacks and f.is_reachable:
                self._store(target, None, ZERO, Native(a.type, a.whole(self._total(target))))
        self._lacks = {}

    def _combine_part(self, row: _Row, first: Ref, count: Ref) -> list[State]:
        """Combine some elements of the row."""
        with self._put_side_by_side(row.places, first, count, row.strides) as moved:
            if row.has_chains:
                state = self._in_chains(row, moved, count)
            elif row.in_stages:
                state = self._behind_stages(
                    moved[0],
                    (first, count, row.trip),
                    row.hoisted[0],
                    row.strides,
                    lambda place, steps: self._combine_each(row, count, [place], steps),
                )
            else:
                state = self._combine_each(row, count, moved, row.strides)
        return split(state, row.accumulators)

    def _combine_each(
        self, row: _Row, count: Ref, places: Sequence[Places], strides: Places
    ) -> State:
        def body(k: Ref, carried: State) -> State:
            found = self._side_by_side(places, row.hoisted, k, strides)
            return take(row.accumulators, [value for each in found for value in each], carried)

        start = [part for a in row.accumulators for part in a.start_state]
        hints = hints_of(self.group, is_unit=row.is_unit)
        loop = self._elements_loop if row.is_unit else self._vector_loop
        return loop(count, start, body, hints)

    def _elements_loop(
        self, count: Ref, start: State, body: Callable[[Ref, State], State], hints: Sequence[str]
    ) -> State:
        """An inner loop over elements side by side, of which the last ones may be a vector with a mask."""
        if count.constant is not None or not self._gains_from_masks:
            return self._vector_loop(count, start, body, hints)
        size = max((x.dtype.itemsize for x in self.arrays if not x.is_range), default=8)
        return self._vector_loop(count, start, body, hints, partial(whole_vectors, size=size))

    @property
    def _gains_from_masks(self) -> bool:
        """Whether the last elements of each row are best a vector with a mask: one by one they take longer.

        So it is with masks that are registers of their own (AVX-512). What is one row in all takes as long either way,
        but not one row in each trip of a loop.
        Short rows that nothing is combined of are put behind one another, but where an operand is one element for each.
        """
        kernel = self.kernel
        in_loop = self.e.ownership.loop_depth > 0
        is_row = self.ndim == 1 and in_loop and kernel.length >= LONG_BODY
        are_rows = self.ndim > 1 or is_row or (self.is_inner_reduced and in_loop)
        if not are_rows or self._is_one or self.e.is_quick or not has_avx512():
            return False
        arrays = [x for x in self.arrays if not x.is_range]
        if self._are_rows_of_bytes(arrays):
            return True
        if kernel.length <= SHORT or kernel.may_leave:
            return False
        if not (self._reduced_targets or is_row or self._has_one_for_a_row):
            return False
        if any(x.dtype.itemsize < _WIDE for x in arrays) and kernel.length < LONG_BODY:
            return False  # a vector of bytes is many elements, which take as long as they are
        return all(x.dtype.char in _MASKABLE for x in arrays)

    def _are_rows_of_bytes(self, arrays: Sequence[Operand]) -> bool:
        """Whether rows of bytes give fresh ones: as many as a vector has are left over, and each is little work.

        In place a row would wait for the vector with a mask that was stored last.
        """
        if self._reduced_targets or not self.is_fresh or self.is_flat is TRUE:
            return False
        return self.kernel.length < LONG_BODY and all(x.dtype.itemsize == 1 for x in arrays)

    @property
    def _has_one_for_a_row(self) -> bool:
        """Whether an operand of the nest has one element for all of a row."""
        return any(not self.strides.known(x, self.inner) for x in self.strides.arrays)

    def _most_at_once(self, row: _Row) -> Ref | None:
        """How many elements are combined before the result is added to that of others; None: that is all the same."""
        block = integer("i64", 1 << BLOCK_SHIFT)
        if self._fast is not TRUE:
            return self.f.select(self._fast, integer("i64", BLOCK), block)
        if row.has_chains and any(a.is_compensated for a in row.accumulators):
            return block  # these chains are fewer than those of vectors
        return integer("i64", 1 << STAGES_SHIFT) if row.in_stages else None

    def _in_chains(self, row: _Row, rows: Sequence[Places], count: Ref) -> State:
        """Combine elements with gaps in a few chains, none of which waits for what the others give."""
        f, strides, accumulators = self.f, row.strides, row.accumulators
        moving = self._moving(strides)
        start = [part for a in accumulators for part in a.start_state]
        width = len(start)

        def from_place(chains: int) -> Callable[[Ref, State], State]:
            def go_on(_k: Ref, carried: State) -> State:
                first, states = self._rows_from(rows, moving, carried)
                new: State = []
                for i in range(chains):
                    places = [self._moved(p, integer("i64", i), strides) for p in first]
                    found = self._side_by_side(places, row.hoisted, None, strides)
                    values = [value for each in found for value in each]
                    new += take(accumulators, values, states[i * width : (i + 1) * width])
                return [*self._places_behind(first, chains, moving, strides), *new]

            return go_on

        places = [place[x] for place in rows for x in moving]
        trips = f.binary("lshr", count, FEW_SHIFT)
        state = [*places, *start * FEW]
        state = maybe_loop(self.e, trips, state, from_place(FEW), FEW * self.kernel.length)
        places, found = state[: len(places)], state[len(places) :]
        for i in range(width, FEW * width, width):
            parts = split(found[i : i + width], accumulators)
            values = [Native(a.block_type, x) for a, x in zip(accumulators, parts, strict=True)]
            found[:width] = take(accumulators, values, found[:width])
        rest = f.binary("and", count, FEW - 1)
        state = maybe_loop(
            self.e, rest, [*places, *found[:width]], from_place(1), self.kernel.length
        )
        return state[len(places) :]
