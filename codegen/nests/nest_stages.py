"""Rows whose body has functions that NumPy's inner loops are better at: gone through in blocks, the body in stages.

    r = np.tanh(x * y) + x        for each block:  s = x * y            a loop
                                                   t = np.tanh(s)       NumPy's loop
                                                   r = t + x            a loop

`s` and `t` are on the stack, as long as a block. Short rows are one loop, as others are, and so are blocks with more
than a few operands that NumPy's loop does by themselves, without vectors. The body is taken apart in `map_stages.py`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from functools import partial, reduce

from ljit.codegen.llvm.builder import FALSE, NULL, BlockRef, Ref, float_constant, integer
from ljit.codegen.llvm.forms import ArrayParts, Native
from ljit.codegen.loops.counted_loops import State, hints_of, inner_loop, outer_loop
from ljit.codegen.nests.nest_blocks import Blocks
from ljit.codegen.nests.nest_elements import Kernel, Places, Source, Stage
from ljit.codegen.nests.nest_packing import buffers
from ljit.codegen.nests.nest_reductions import Accumulator
from ljit.codegen.nests.nest_space import ONE, ZERO, Operand
from ljit.codegen.nests.ufunc_loops import call_row_loop
from ljit.types import ArrayType, ScalarType

__all__ = ["LONG_BODY", "STAGES_SHIFT", "Stages"]

STAGES_SHIFT = 10  # 1 << 10 elements are a block
_FEW_OUTSIDE = 5  # one in 1 << 5 elements without vectors costs no more than the loops gain
_LONG = 64  # elements of a row that NumPy's loops gain from
_SHORT = 128  # elements of a row that is best put behind others, where much is done with each
LONG_BODY = 16  # instructions for an element that are much, as of a function
_WHOLE = 32  # elements that leave none over


class Stages(Blocks):
    """The loops over a row, in stages where that is better."""

    @property
    def _has_stages(self) -> bool:
        return self.kernel.staged is not None and not self.e.is_quick and len(self._rows) == 1

    @property
    def _are_too_short(self) -> Ref:
        """Whether rows are too short for what is done with each element, and can be put behind one another.

        NumPy's loops take long to call, and the elements that are left behind whole vectors are done one by one.
        """
        if self.e.is_quick or self.columns > 1 or not self._is_much_computed:
            return FALSE
        are_short = self._short_condition(FALSE)
        if are_short is FALSE:
            return FALSE
        return self.f.binary("and", are_short, self._leave_some(self.space.sizes[self.inner]))

    @property
    def _is_much_computed(self) -> bool:
        return self._has_stages or self.kernel.length >= LONG_BODY

    def _leave_some(self, trip: Ref) -> Ref:
        """Whether rows are short, of elements that NumPy's loops or whole vectors leave over."""
        f = self.f
        are_short = f.icmp("slt", trip, _SHORT)
        if self._has_stages:
            return are_short
        return f.binary("and", are_short, f.icmp("ne", f.binary("and", trip, _WHOLE - 1), 0))

    def _walk(
        self, trip: Ref, hoisted: Sequence[dict[int, Native]], strides: Places, *, is_unit: bool
    ) -> None:
        """The innermost loop, or one for each stage."""
        if is_unit and self._has_stages:
            self._walk_in_stages(trip, hoisted[0], strides)
        else:
            self._walk_at_once(trip, hoisted, strides, is_unit=is_unit)

    def _walk_at_once(
        self, trip: Ref, hoisted: Sequence[dict[int, Native]], strides: Places, *, is_unit: bool
    ) -> None:
        """The innermost loop with all of the body."""
        raise NotImplementedError

    def _walk_in_stages(self, trip: Ref, hoisted: dict[int, Native], strides: Places) -> None:
        """Blocks of a row, each stage after the other."""
        f, rows, size = self.f, self._rows, integer("i64", 1 << STAGES_SHIFT)

        def walk(count: Ref, places: Places, steps: Places) -> State:
            self._rows = [places]
            self._walk_at_once(count, [hoisted], steps, is_unit=True)
            self._rows = rows
            return []

        def block(k: Ref) -> None:
            first = f.mul(k, size)
            count = self._least(f.binary("sub", trip, first), size)
            row = self._moved(rows[0], first, strides)
            self._behind_stages(row, (first, count, trip), hoisted, strides, partial(walk, count))

        outer_loop(self.e, self._parts(trip, integer("i64", STAGES_SHIFT)), block)

    def _behind_stages(
        self,
        row: Places,
        part: tuple[Ref, Ref, Ref],
        hoisted: dict[int, Native],
        strides: Places,
        loop: Callable[[Places, Places], State],
    ) -> State:
        """A loop over a part of a row: with what is left of the body behind the stages, or with all of it.

        `part`: where it begins, how many elements it and the row have. `loop` gets the places and strides of arrays.
        """
        f, (first, count, trip) = self.f, part
        at_once, done = f.new_block("at_once"), f.new_block("walked")
        # is the row short; of a sum that LLVM does not write the loop twice for
        self._leave_if(f.icmp("slt", f.add(first, trip), _LONG), at_once)
        with self._stages_done(row, count, hoisted, strides, at_once) as (places, steps):
            found = loop(places, steps)
        left = f.br(done)
        f.start(at_once)
        others = loop(row, strides)
        other = f.br(done)
        f.start(done)
        joined = [f.phi(x.type) for x in found]
        for phi, x, y in zip(joined, found, others, strict=True):
            phi.add(x, left)
            phi.add(y, other)
        return [*joined]

    def _leave_if(self, condition: Ref, target: BlockRef) -> None:
        if condition is not FALSE:
            go_on = self.f.new_block("stage")
            self.f.condbr(condition, target, go_on)
            self.f.start(go_on)

    @contextmanager
    def _stages_done(
        self,
        row: Places,
        count: Ref,
        hoisted: dict[int, Native],
        strides: Places,
        at_once: BlockRef,
    ) -> Iterator[tuple[Places, Places]]:
        """Do the stages for some elements; what is left of the body is the kernel then, with their results as sources.

        Gives the places and strides of all arrays. Goes to `at_once` where that is better.
        """
        staged, sources = self.kernel.staged, [*self.sources]
        assert staged is not None
        row, strides = {**row}, {**strides}
        used = len(self.arrays)  # the others are of blocks that are put side by side
        free = iter(buffers(self.f, used + staged.size)[used:])

        def keep(type_: ScalarType) -> Operand:
            x = _block_of(type_)
            row[x], strides[x] = next(free), x.strides[-1]
            return x

        for stage in staged.stages:
            kept = [keep(type_) for type_ in stage.kept]
            with self._instead(sources, kept, [None] * len(kept), stage.kernel):
                self._leave_if(self._stage_loop(stage, row, count, hoisted, strides), at_once)
            sources += kept
            for call in stage.calls:
                result = keep(call.type)
                operands = [*map(sources.__getitem__, call.operands), result]
                places = [x if isinstance(x, Native) else row[x] for x in operands]
                steps = [ZERO if isinstance(x, Native) else strides[x] for x in operands]
                call_row_loop(self.e, call.loop, places, count, steps)
                sources.append(result)
        with self._instead(sources, self.targets, self.accumulators, staged.last):
            yield row, strides

    def _stage_loop(
        self, stage: Stage, row: Places, count: Ref, hoisted: dict[int, Native], strides: Places
    ) -> Ref:
        """Compute what a stage keeps; whether many operands of its calls are beyond what these are quick at."""
        f = self.f
        limits = [limit for call in stage.calls for limit in call.limits_of_operands]
        if not (stage.kept or limits):
            return FALSE

        def trip(k: Ref, carried: State) -> State:
            with self._at(row):
                elements = self._elements(hoisted, k, strides, ())
                values = [*elements, *self._results(elements)]
                self._store_results(values[len(elements) :], k, strides)
            outside = [self._is_outside(values[i], low, high) for i, low, high in limits]
            is_outside = reduce(partial(f.binary, "or"), outside, FALSE)
            return [f.add(x, f.convert("zext", is_outside, "i32")) for x in carried]

        start = [integer("i32", 0)] if limits else []  # as wide as floats are
        hints = hints_of(self.group, is_unit=True)
        found = inner_loop(self.e, count, start, trip, hints, stage.kernel.length)
        few = f.binary("lshr", count, _FEW_OUTSIDE)
        return f.icmp("ugt", f.convert("zext", found[0], "i64"), few) if limits else FALSE

    def _is_outside(self, x: Native, low: float, high: float) -> Ref:
        """Whether a float is not within these limits; one that is no number is not."""
        f, type_ = self.f, x.ref.type
        above = f.fcmp("oge", x.ref, float_constant(type_, low))
        below = f.fcmp("ole", x.ref, float_constant(type_, high))
        return f.bool_not(f.binary("and", above, below))

    @contextmanager
    def _instead(
        self,
        sources: Sequence[Source],
        targets: Sequence[Operand],
        accumulators: Sequence[Accumulator | None],
        kernel: Kernel,
    ) -> Iterator[None]:
        """Do a part of the body."""
        saved = self.sources, self.targets, self.accumulators, self.kernel
        self.sources, self.targets, self.accumulators, self.kernel = (
            sources,
            targets,
            accumulators,
            kernel,
        )
        yield
        self.sources, self.targets, self.accumulators, self.kernel = saved


def _block_of(type_: ScalarType) -> Operand:
    """A block of such numbers."""
    array, unit = ArrayType(type_.dtype, (None,)), integer("i64", type_.dtype.itemsize)
    parts = ArrayParts(NULL, NULL, NULL, (ONE,), None)
    return Operand(array, parts, [ONE], [unit], NULL, is_plain=True, steps=[unit])
