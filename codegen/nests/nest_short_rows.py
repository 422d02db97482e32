"""Short rows of which much is computed and then combined: some are done together.

Elements with gaps, or in rows that lie the other way around, are put side by side, as many rows at a time as a buffer
takes. What is combined of all rows is combined at once. Rows of which the last elements are a vector with a mask are
combined one by one; what is computed of others is computed as one row first:

    np.abs(z).sum(axis=1)      for some rows:  k = np.abs(z)          a loop over all of their elements
                                               r = k.sum(axis=1)      a loop over those of each row

`k` is on the stack.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial

from ljit.codegen.llvm.builder import FALSE, NULL, TRUE, Ref, integer
from ljit.codegen.llvm.forms import ArrayParts, Native
from ljit.codegen.loops.counted_loops import outer_loop
from ljit.codegen.loops.nest_functions import own_function
from ljit.codegen.nests.nest_elements import Kernel, Source
from ljit.codegen.nests.nest_packing import MOST, buffers
from ljit.codegen.nests.nest_reduced_rows import ReducedRows
from ljit.codegen.nests.nest_space import ONE, ZERO, Operand, all_of, either
from ljit.types import ArrayType

__all__ = ["ShortRows"]

_FEW_OF_LOOSE = 256  # elements of a row that is put side by side with others
_FEW_ROWS = 4  # rows that take no longer by themselves


class ShortRows(ReducedRows):
    """Loops over rows that are done together, and combined."""

    # -- whether they are ----------------------------------------------------------------------------

    def _are_done_together(self, axis: int, trips: Sequence[Ref]) -> Ref:
        """Whether a run has rows along an axis of a few elements: with gaps, or more than vectors take."""
        if axis != self.inner - 1 or not self._may_be_done_together:
            return FALSE
        f, trip = self.f, trips[self.inner]
        are_few = FALSE if self._gains_from_masks else self._leave_some(trip)
        if self._fast is not TRUE:
            are_few = f.select(self._fast, are_few, f.icmp("sle", trip, _FEW_OF_LOOSE))
        loose = [] if self.is_inner_reduced else [x for x in self.targets if x in self._loose]
        are_near = [f.icmp("eq", x.strides[self.inner], x.dtype.itemsize) for x in loose]
        are_some = [f.icmp("sgt", trip, 0), f.icmp("sge", trips[axis], _FEW_ROWS)]
        return all_of(f, [are_few, *are_some, *are_near])

    @property
    def _may_be_done_together(self) -> bool:
        """Whether all there is to some rows is that much is computed of them, and combined."""
        if self.e.is_quick or self.columns > 1 or self.ndim < 2 or self.ways:
            return False
        if not all(self.accumulators) or {self.inner - 1, self.inner}.isdisjoint(self.reduced):
            return False
        arrays = [x for x in self.sources if isinstance(x, Operand)]
        if not 0 < len(arrays) <= MOST or any(x.is_range for x in arrays):
            return False
        return self._is_much_computed and self._does_one_copy(arrays)

    def _does_one_copy(self, arrays: Sequence[Operand]) -> bool:
        """Whether one copy of the loops does for rows where they lie, and for those that are put side by side."""
        if not self._are_combined_as_computed:
            return True  # that has a copy of its own
        steps = [(x.strides[self.inner].constant, x.dtype.itemsize) for x in arrays]
        one_for_a_row = () if self._are_all_combined else (0,)
        return all(step in (None, size, *one_for_a_row) for step, size in steps)

    @property
    def _are_all_combined(self) -> bool:
        return {self.inner - 1, self.inner}.issubset(self.reduced)

    @property
    def _are_combined_as_computed(self) -> bool:
        """Whether nothing is kept of what is computed of rows."""
        return self._are_all_combined or (self.is_inner_reduced and self._gains_from_masks)

    # -- the loops -----------------------------------------------------------------------------------

    def _some_rows(self, axis: int, trips: Sequence[Ref], are_together: Ref) -> None:
        """Go through rows along an axis, some together if that is known to be best or turns out to be so."""
        f, (rows, count), saved = self.f, trips[axis:], self._fast
        shift = f.select(are_together, self._packed_shift(count), 0)
        high = f.binary("shl", ONE, shift)
        groups = self._parts(rows, shift)
        if not self._are_all_combined:  # rows by themselves are one group
            high, groups = f.select(are_together, high, rows), f.select(are_together, groups, ONE)
        self._fast = f.binary("or", saved, are_together)

        def group(k: Ref) -> None:
            first = f.mul(k, high)
            some = self._least(f.binary("sub", rows, first), high)
            with self._from_row(axis, first):
                near = self._put_together(axis, (some, count), are_together)
                with self._instead(near, self.targets, self.accumulators, self.kernel):
                    self._group_of_rows(axis, [*trips[:axis], some, count])

        outer_loop(self.e, groups, group, is_one_copy=True)
        self._fast = saved

    def _put_together(self, axis: int, shape: tuple[Ref, Ref], are_together: Ref) -> list[Source]:
        """The operands, of which rows lie side by side if they are done together."""
        near = buffers(self.f, len(self.sources))
        pairs = zip(self.sources, near, strict=True)
        return [
            x if isinstance(x, Native) else self._packed(x, place, axis, shape, are_together)
            for x, place in pairs
        ]

    def _packed(
        self, x: Operand, near: Ref, axis: int, shape: tuple[Ref, Ref], are_together: Ref
    ) -> Operand:
        """An operand whose rows are where they were, or side by side; what is the same for all stays so."""
        f, (rows, count), unit = self.f, shape, integer("i64", x.dtype.itemsize)
        place, step, pitch = x.cursors[-1], self._step_along(x), x.strides[axis]
        whole = f.mul(count, unit)
        if step.constant == 0 and (pitch.constant == 0 or self._are_combined_as_computed):
            return x
        are_there = all_of(f, [f.icmp("eq", step, unit), f.icmp("eq", pitch, whole)])
        is_moved = f.binary("and", are_together, f.bool_not(are_there))
        boxes = (near, unit, whole, ZERO), (place, step, pitch, ZERO)
        move = partial(self._move_rows, x.dtype, *boxes, count, rows)
        either(f, is_moved, move, lambda: None)
        step, pitch = f.select(are_together, unit, step), f.select(are_together, whole, pitch)
        return self._rows_at(x.type, f.select(is_moved, near, place), pitch, step)

    def _rows_at(self, type_: ArrayType, place: Ref, pitch: Ref, step: Ref) -> Operand:
        """Rows of elements, in the axes of the nest."""
        strides = [*(ZERO for _ in range(self.ndim - 2)), pitch, step]
        sizes, parts = [*self.space.sizes], ArrayParts(NULL, NULL, NULL, (), None)
        x = Operand(type_, parts, sizes, strides, place, is_plain=False, steps=strides)
        x.cursors = [place]
        return x

    def _group_of_rows(self, axis: int, trips: Sequence[Ref]) -> None:
        """Compute some rows, and combine them."""
        elements, targets, kernel = self.f.mul(trips[-2], trips[-1]), self.targets, self.kernel
        with own_function(self.f):
            if self._are_all_combined:
                self._as_one(elements)
            elif self._are_combined_as_computed:
                self._rows_of(axis, trips, is_unit=True)
            else:
                kept = self._kept(trips[-1])
                with self._instead(self.sources, kept, [None] * len(kept), kernel):
                    self._as_one(elements)
                identity = Kernel(lambda x: x, length=1)
                with self._instead(kept, targets, self.accumulators, identity):
                    self._rows_of(axis, trips, is_unit=True)

    def _as_one(self, elements: Ref) -> None:
        """Do elements of some rows as those of one."""
        self._is_one = True
        self._inner(elements, is_unit=True)
        self._is_one = False

    def _kept(self, count: Ref) -> list[Operand]:
        """What is computed of the elements of rows, before it is combined."""
        found, first = list[Operand](), len(self.sources)
        places = buffers(self.f, first + len(self.targets))[first:]
        for accumulator, place in zip(self.accumulators, places, strict=True):
            assert accumulator is not None
            dtype = accumulator.block_type.dtype
            type_, unit = ArrayType(dtype, (None,) * self.ndim), integer("i64", dtype.itemsize)
            found.append(self._rows_at(type_, place, self.f.mul(count, unit), unit))
        return found

    def _inner(self, trip: Ref, *, is_unit: bool) -> None:
        """The innermost loop."""
        raise NotImplementedError

    def _rows_of(self, axis: int, trips: Sequence[Ref], *, is_unit: bool) -> None:
        """The loop along an axis, and those inside."""
        raise NotImplementedError
