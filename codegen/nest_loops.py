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
from itertools import groupby, pairwise

from ljit.codegen.arrays import load_element, store_element
from ljit.codegen.builder import FALSE, TRUE, Ref, integer
from ljit.codegen.casts import cast_value
from ljit.codegen.counted_loops import State, inner_loop, outer_loop
from ljit.codegen.forms import Native
from ljit.codegen.nest_functions import own_function
from ljit.codegen.nest_overlap import Redirection, block_of, blocks_of
from ljit.codegen.nest_reductions import Accumulator, combine_blocks
from ljit.codegen.nest_space import ONE, ZERO, Operand, Space

__all__ = ["Body", "Loops"]

Body = Callable[[Sequence[Native]], Sequence[Native]]
Source = Operand | Native
_ROWS = 2  # 1 << 2 rows are combined side by side
_INTERLEAVED = 8  # elements are combined side by side where only a run knows their strides


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
        is_short: bool = False,
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
        self.is_short = is_short  # the body: it may be written several times
        self.has_checks = False  # the body, as written, can leave
        axes = range(self.ndim)
        self.runs = [[*run] for _, run in groupby(axes, lambda axis: axis in reduced)]
        self.is_flat = FALSE
        self.group = ""
        self._block = (
            ONE  # elements of a row, where there is one axis and rows go through temporary ones
        )
        self._rows: list[dict[Operand, Ref]] = [{}]  # where those lie that are done side by side

    @property
    def arrays(self) -> list[Operand]:
        return [x for x in (*self.sources, *self.targets) if isinstance(x, Operand)]

    @property
    def _reduced_targets(self) -> list[tuple[Operand, Accumulator]]:
        pairs = zip(self.targets, self.accumulators, strict=True)
        return [(target, a) for target, a in pairs if a is not None]

    @property
    def is_inner_reduced(self) -> bool:
        return bool(self._reduced_targets) and self.ndim - 1 in self.reduced

    @property
    def first_fresh(self) -> int | None:
        """The first reduced axis if those behind it are, too: results begin there; others were filled before."""
        if not self.is_inner_reduced or len(self.runs[-1]) < len(self.reduced):
            return None
        return self.runs[-1][0]

    def emit(self) -> None:
        """Write the copy for known inner strides, and that for any strides where it may be needed."""
        f = self.f
        self.is_flat = self._flat_condition()
        fast = self._unit_condition()
        if fast is TRUE:
            self._loops(is_unit=True)
            return
        unit, general, done = f.new_block("unit"), f.new_block("strided"), f.new_block("mapped")
        f.condbr(fast, unit, general)
        if f.start(unit):
            self._loops(is_unit=True)
            f.br(done)
        if f.start(general):
            if all(x.is_plain for x in self.arrays):
                self.is_flat = FALSE  # then the other copy would have run
            self._loops(is_unit=False)
            f.br(done)
        f.start(done)

    # -- which copy --------------------------------------------------------------------------------

    def _flat_condition(self) -> Ref:
        """Whether neighbouring axes that are all reduced, or all not, can be stepped through as one."""
        result, f = TRUE, self.f
        pairs = [pair for run in self.runs for pair in pairwise(run)]
        results = [target for target, _ in self._reduced_targets]
        for x in self.arrays if pairs else ():
            if not x.is_plain:
                for outer, inner in pairs:
                    whole = f.mul(x.strides[inner], self.space.sizes[inner])
                    result = f.binary("and", result, f.icmp("eq", x.strides[outer], whole))
            elif x not in results:
                result = f.binary("and", result, self._is_full(x))
        for way in self.ways:
            result = f.binary("and", result, f.bool_not(way.overlaps))
        return result if pairs else FALSE

    def _is_full(self, x: Operand) -> Ref:
        """Whether an array has the shape of the nest."""
        result = TRUE
        for mine, size in zip(x.sizes, self.space.sizes, strict=True):
            if mine.constant == 1 and size.constant != 1:
                return FALSE
            result = self.f.binary("and", result, self.f.icmp("eq", mine, size))
        return result

    def _unit_condition(self) -> Ref:
        """Whether the inner strides are what `_inner_stride` says for the unit-stride copy."""
        result = TRUE
        if not self.ndim:
            return TRUE
        for x in self.arrays:
            if self._inner_stride(x) == 0:
                continue
            same = self.f.icmp("eq", x.sizes[-1], self.space.sizes[-1])
            if not x.is_plain:
                item = integer("i64", x.dtype.itemsize)
                same = self.f.binary("and", same, self.f.icmp("eq", x.strides[-1], item))
            result = self.f.binary("and", result, same)
        return result

    def _inner_stride(self, x: Operand) -> int:
        """Inner stride in bytes that the unit-stride copy of the nest assumes."""
        is_broadcast = x.sizes[-1].constant == 1 and self.space.sizes[-1].constant != 1
        return 0 if is_broadcast else x.dtype.itemsize

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
        if axis >= self.ndim - 1:
            self._inner(trips[-1] if trips else ONE, is_unit=is_unit)
            return
        if is_unit and self.is_short and axis == self.ndim - 2 and self._has_reduced_rows:
            self._row_loops(axis, trips)
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
        return Operand(x.type, x.parts, sizes, x.strides[1:] or x.strides, data, is_plain=False)

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
        return self.ndim - 2 in self.reduced and not self.is_inner_reduced

    def _row_loops(self, axis: int, trips: Sequence[Ref]) -> None:
        """Combine several rows before what there is in memory is loaded and stored once."""
        f, trip = self.f, trips[axis]
        size, shift = integer("i64", 1 << _ROWS), integer("i64", _ROWS)
        whole = f.binary("and", trip, integer("i64", -(1 << _ROWS)))

        def several(k: Ref) -> None:
            first = f.mul(k, size)
            self._do_rows(axis, trips, [f.add(first, integer("i64", i)) for i in range(1 << _ROWS)])

        def one(k: Ref) -> None:
            self._do_rows(axis, trips, [f.add(whole, k)])

        if whole.constant != 0:
            count = f.binary("lshr", trip, shift)
            outer_loop(self.e, count, several)
        if trip.constant is None or trip.constant != whole.constant:
            outer_loop(self.e, f.binary("sub", trip, whole), one)

    def _do_rows(self, axis: int, trips: Sequence[Ref], rows: Sequence[Ref]) -> None:
        self._rows = [{x: self._row_address(x, axis, k) for x in self.arrays} for k in rows]
        self._inner(trips[-1], is_unit=True)
        self._rows = [{}]

    @contextmanager
    def _at(self, row: dict[Operand, Ref]) -> Iterator[None]:
        """Work on one of the rows that are done side by side."""
        for x, place in row.items():
            x.cursors.append(place)
        yield
        for x in row:
            x.cursors.pop()

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
            self._reduce(trip, hoisted[0], strides, is_unit=is_unit)
        else:

            def body(k: Ref, _carried: State) -> State:
                found: list[Sequence[Native]] = []
                for row, known in zip(self._rows, hoisted, strict=True):
                    with self._at(row):
                        results = self._results(self._elements(known, k, strides))
                        found.append(self._store_results(results, k, strides))
                self._combine_rows(found, k, strides)
                return []

            inner_loop(self.e, trip, [], body, self._hints(is_unit=is_unit))
        f.br(done)
        f.start(done)

    def _hoisted(self, row: dict[Operand, Ref], strides: dict[Operand, Ref]) -> dict[int, Native]:
        """Load what is the same for all elements of a row."""
        with self._at(row):
            return {
                index: self._load(x, None, ZERO)
                for index, x in enumerate(self.sources)
                if not isinstance(x, Operand) or strides[x].constant == 0
            }

    def _combine_rows(
        self, rows: Sequence[Sequence[Native]], k: Ref, strides: dict[Operand, Ref]
    ) -> None:
        """Combine the reduced results of rows with what there is."""
        if not self.f.is_reachable:
            return
        for (target, a), (value, *more) in zip(
            self._reduced_targets, zip(*rows, strict=True), strict=True
        ):
            for other in more:
                value = a.combine(value, other)
            with self._at(self._rows[0]):
                whole = a.combine(self._load(target, k, strides[target]), value)
                self._store(target, k, strides[target], whole)

    def _reduce(
        self, trip: Ref, hoisted: dict[int, Native], strides: dict[Operand, Ref], *, is_unit: bool
    ) -> None:
        """The inner loop along a reduced axis; its result is combined with what there is."""
        pairs = self._reduced_targets
        accumulators = [accumulator for _, accumulator in pairs]
        hints = self._hints(is_unit=is_unit, is_reduced=True)

        def run(first: Ref, count: Ref) -> list[State]:
            for x in self.arrays:
                x.cursors.append(self._address(x, first, strides[x]))
            starts = [a.start_state for a in accumulators]

            def body(k: Ref, carried: State) -> State:
                results = self._results(self._elements(hoisted, k, strides))
                reduced = self._store_results(results, k, strides)
                if not self.f.is_reachable:
                    return carried
                states, new = _split(carried, starts), []
                for a, state, result in zip(accumulators, states, reduced, strict=True):
                    new += a.step(state, result)
                return new

            flat = [part for start in starts for part in start]
            after = inner_loop(self.e, count, flat, body, hints)
            for x in self.arrays:
                x.cursors.pop()
            return _split(after, starts)

        may_stop = not self.may_leave and len(pairs) == len(self.targets)
        for (target, a), found in zip(
            pairs, combine_blocks(accumulators, trip, run, may_stop=may_stop), strict=True
        ):
            whole = a.combine(self._load(target, None, ZERO), found)
            self._store(target, None, ZERO, whole)

    def _stride_of(self, x: Operand, *, is_unit: bool) -> Ref:
        if not self.ndim:
            return ZERO
        if is_unit:
            return integer("i64", self._inner_stride(x))
        stride = x.strides[-1]
        if self.is_inner_reduced and x.dtype.itemsize > 1:
            # what it is anyway; of a plain number LLVM hopes that it is 1, and combines elements side by side then only
            stride = self.f.binary("and", stride, integer("i64", -2))
        return stride

    # -- elements ----------------------------------------------------------------------------------

    def _elements(
        self, hoisted: dict[int, Native], k: Ref | None, strides: dict[Operand, Ref]
    ) -> list[Native]:
        return [
            hoisted[index] if index in hoisted else self._load(x, k, strides[x])  # type: ignore[index]
            for index, x in enumerate(self.sources)
        ]

    def _results(self, elements: Sequence[Native]) -> Sequence[Native]:
        """The body for one element."""
        checks = self.e.bailout.checks
        results = self.body(elements)
        self.has_checks |= self.e.bailout.checks != checks
        return results

    def _store_results(
        self, results: Sequence[Native], k: Ref | None, strides: dict[Operand, Ref]
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

    # -- hints ---------------------------------------------------------------------------------------

    def _hints(self, *, is_unit: bool, is_reduced: bool = False) -> list[str]:
        """Vectorise the copy with unit strides; spend little compile time on the other one."""
        parallel = f'!{{!"llvm.loop.parallel_accesses", {self.group}}}'
        if is_unit:
            return [parallel]
        if is_reduced:
            width = '!{!"llvm.loop.vectorize.width", i32 1}'
            return [
                parallel,
                width,
                f'!{{!"llvm.loop.interleave.count", i32 {_INTERLEAVED}}}',
            ]
        return ['!{!"llvm.loop.vectorize.enable", i1 false}', '!{!"llvm.loop.unroll.disable"}']


def _split(parts: Sequence[Ref], like: Sequence[State]) -> list[State]:
    """Cut a list into pieces of the lengths of others."""
    rest = iter(parts)
    return [[next(rest) for _ in one] for one in like]
