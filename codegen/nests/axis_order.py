"""In which order a loop nest goes through its axes: as they come, or as its arrays lie in memory.

What is known while compiling is settled then: axes of one element are left out, or go first, and of plain arrays those
that are reduced, or not, beside one another are one. The rest is a matter of
selecting sizes and strides at run time. Where some axes are reduced and others not, the loops are written for each
kind of axis that may come to be the last one.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from itertools import groupby, pairwise
from typing import TYPE_CHECKING

from ljit.codegen.llvm.builder import FALSE, TRUE, Ref
from ljit.codegen.llvm.forms import Native
from ljit.codegen.nests.memory_order import (
    are_known_in_order,
    exchange_condition,
    is_last_known,
    repeated_condition,
    reversed_condition,
    single_condition,
)
from ljit.codegen.nests.nest_space import ONE, Operand, Space, all_of, any_of
from ljit.cpython.locks import computed_once
from ljit.ir import OpDef
from ljit.ops.control import SINGLE_ROWS
from ljit.records import Record

if TYPE_CHECKING:
    from ljit.codegen.emitter import Emitter
    from ljit.codegen.nests.nest_reductions import Accumulator

__all__ = ["AxisOrder", "Reductions"]

CUBE, SPACE = 3, 4  # axes that are sorted; axes that are if all of them are reduced
_MOST = 6  # axes that are sorted if some of them are
_MANY = 64  # rows of one element that take a while
_SOME = 8  # elements side by side of which tiles are worth making, or vectors


class Reductions(Record):
    """Which of the fresh results are reduced: the combining op of each (None: it is not), and the axes."""

    combine: tuple[OpDef | None, ...]
    axes: tuple[int, ...]

    @property
    def need_elements(self) -> bool:
        """Whether there is no result of no elements."""
        rules = [op.accumulation for op in self.combine if op is not None]
        return not all(rule is not None and rule.has_identity for rule in rules)


class AxisOrder:
    """The axes of a nest and what lies along them.

    `into` are the arrays that are written in place, `fresh` the others, of which those with one of the `accumulators`
    are reduced. `turned`: pairs of sources of which arrays in Fortran order would be made.
    """

    def __init__(self, e: Emitter, ndim: int, reductions: Reductions) -> None:
        self.e = e
        self.space = Space(e, ndim)
        self.reductions = reductions
        self.into: list[Operand] = []
        self.sources: list[Operand | Native] = []
        self.turned: Sequence[tuple[int, int]] = ()
        self.fresh: list[Operand] = []
        self.accumulators: list[Accumulator | None] = []

    @computed_once
    def may_be_turned(self) -> bool:
        """Whether an array may lie in memory in another order than that of its axes: results are made for that."""
        arrays = [x for x in (*self.sources, *self.into) if isinstance(x, Operand)]
        if self._unknown_rows and self.e.context.options.single_rows:
            return True
        return bool(self.turned) or any(not x.is_plain and x.type.ndim > 1 for x in arrays)

    @property
    def _unknown_rows(self) -> Sequence[int]:
        """Axes of rows whose sizes only a run knows: the last ones, if just these are reduced, or all but one are."""
        axes, ndim = sorted(self.reductions.axes), self.space.ndim
        if not 0 < len(axes) < ndim:
            return ()
        are_last = axes == [*range(ndim - len(axes), ndim)]
        rows = axes if are_last else [ndim - 1] if axes == [*range(ndim - 1)] else []
        return rows if all(self.space.sizes[axis].constant is None for axis in rows) else ()

    def leave_if_rows_are_single(self) -> None:
        """Leave where many rows have one element each, if there are no loops down the column."""
        e, f, rows = self.e, self.e.f, self._unknown_rows
        if not rows or self.may_be_turned or e.is_quick:
            return
        are_single = [f.icmp("eq", self.space.sizes[axis], 1) for axis in rows]
        are_many = f.icmp("sge", self.space.sizes[min(rows) - 1], _MANY)
        e.bailout.bail_if(all_of(f, [*are_single, are_many]), SINGLE_ROWS)

    def leave_out_single_axes(self) -> None:
        """Forget axes that are known to have one element, but a reduced one if no other is."""
        ndim, reduced = self.space.ndim, self.reductions.axes
        kept = [axis for axis in range(ndim) if self.space.sizes[axis].constant != 1]
        if reduced and not set(kept).intersection(reduced):
            kept = sorted([*kept, reduced[-1]])
        if not kept or len(kept) == ndim:
            return
        self._keep_axes(kept)

    def _keep_axes(self, kept: Sequence[int]) -> None:
        self.space = self.space.with_axes(kept)
        self.sources = [x.with_axes(kept) if isinstance(x, Operand) else x for x in self.sources]
        self.into, self.fresh = ([x.with_axes(kept) for x in xs] for xs in (self.into, self.fresh))
        axes = tuple(kept.index(axis) for axis in self.reductions.axes if axis in kept)
        self.reductions = self.reductions.with_changes(axes=axes)

    def join_known_axes(self) -> None:
        """Make one of neighbours that are reduced, or not, and are known to go on behind one another in all arrays."""
        outer = 0
        while self.reductions.axes and outer < self.space.ndim - 1:
            if self._are_known_to_go_on(outer):
                self._join(outer)
            else:
                outer += 1

    def _are_known_to_go_on(self, outer: int) -> bool:
        """Whether each step along an axis surely leads behind the last element along the next one."""
        f, inner, reduced = self.e.f, outer + 1, self.reductions.axes
        if (outer in reduced) != (inner in reduced):
            return False
        size = self.space.sizes[inner]
        arrays = [x for x in (*self.sources, *self.into, *self.fresh) if isinstance(x, Operand)]
        return all(
            f.icmp("eq", x.strides[outer], f.mul(x.strides[inner], size)) is TRUE for x in arrays
        )

    def _join(self, outer: int) -> None:
        """Let the next axis have the elements along both."""
        f, inner = self.e.f, outer + 1
        kept = [axis for axis in range(self.space.ndim) if axis != outer]
        arrays = [x for x in (*self.sources, *self.into, *self.fresh) if isinstance(x, Operand)]
        for sizes in (self.space.sizes, *(x.sizes for x in arrays)):
            sizes[inner] = f.mul(sizes[outer], sizes[inner])
        self._keep_axes(kept)

    def with_single_axes_first(self) -> tuple[list[Operand], Sequence[int], bool]:
        """Move axes of single elements to the front: the last one has more trips then, ``a[:, 2:3]`` is gone down.

        So is a column, of which all elements are combined: ``a.sum(axis=0)`` of an array ``(n, 1)``. Not where nests
        write in place: the borders that stencils are cut into share their function with the inner part.
        Gives the targets, the reduced axes, and whether there are such axes behind others.
        """
        targets, reduced = [*self.into, *self.fresh], self.reductions.axes
        is_more = [not self.e.f.numbers.are_at_most_one(size) for size in self.space.sizes]
        order = sorted(range(self.space.ndim), key=is_more.__getitem__)
        is_in_place = bool(self.into)
        are_columns = bool(reduced) and self.space.ndim - 1 not in reduced
        gains = (self.may_be_turned or are_columns) and order != [*range(self.space.ndim)]
        if is_in_place or not gains:
            return targets, reduced, False
        self.space = self.space.with_axes(order)
        self.sources = [x.with_axes(order) if isinstance(x, Operand) else x for x in self.sources]
        return [x.with_axes(order) for x in targets], [order.index(x) for x in reduced], True

    def with_single_axes_outside(self, targets: list[Operand]) -> tuple[list[Operand], Ref]:
        """Exchange axes if the last one turns out to have one element: it is gone through outside of others then.

        It goes in front of its neighbours that are reduced, or not, as it is. If there are none, or all of just the
        last axes are reduced and have one element, the opposite order of axes has them outside; the first ones are
        turned around before, and so are inside as they are now. Gives the targets, and whether that order is best.
        """
        ndim, reduced, f = self.space.ndim, self.reductions.axes, self.e.f
        if ndim < 2 or not self.may_be_turned or self.into:
            return targets, FALSE
        runs = [[*run] for _, run in groupby(range(ndim), lambda axis: axis in reduced)]
        *others, run = runs
        are_rows = len(others) == 1 and run[0] in reduced
        is_opposite = are_rows or len(run) == 1
        arrays = [x for x in self.sources if isinstance(x, Operand)]
        if self._unknown_rows and self.e.context.options.single_rows:
            arrays = []  # it is worth another copy of the loops
        condition = single_condition(
            self.e, self.space.sizes, arrays, run if are_rows else run[-1:]
        )
        if condition is FALSE:
            return targets, FALSE
        if is_opposite:
            axes = [*reversed(runs[0]), *range(len(runs[0]), ndim)]
            if len(runs[0]) > 1:
                self.space, self.sources, targets = self.in_order(condition, targets, axes)
            return targets, condition
        axes = [*range(run[0]), run[-1], *run[:-1]]
        self.space, self.sources, targets = self.in_order(condition, targets, axes)
        size = self.space.sizes[run[1]]
        for x in (*self.sources, *targets):
            if isinstance(x, Operand):  # as if its neighbour went on there: they may be one run
                step = f.mul(x.strides[run[1]], size)
                x.strides[run[0]] = f.select(condition, step, x.strides[run[0]])
        return targets, FALSE

    def are_sorted(self, reduced: Sequence[int]) -> bool:
        """Whether the axes go in the order of memory, whichever that is."""
        ndim, count = self.space.ndim, len(reduced)
        if 0 < count < ndim:
            return CUBE <= ndim <= _MOST and not self.into
        return CUBE <= ndim <= (SPACE if self.fresh or count else CUBE)

    def are_in_order(self, targets: Sequence[Operand]) -> bool:
        """Whether axes are known to come in the order of memory, those of one element outside."""
        places = range(self.space.ndim - 1) if self.may_be_turned else ()
        return all(self._exchange_condition(outer, targets) is FALSE for outer in places)

    def with_axes_sorted(self, targets: Sequence[Operand]) -> list[Operand]:
        """Go through the axes in the order of memory, those that turn out to have one element outside.

        Fresh arrays lie in one or the opposite order of axes.
        """
        targets = [*targets]
        for last in range(self._last_unknown(targets), 0, -1) if self.may_be_turned else ():
            for outer in range(last):
                targets = self._exchanged(self._exchange_condition(outer, targets), outer, targets)
        return targets

    def _last_unknown(self, targets: Sequence[Operand]) -> int:
        """The last axis that others may belong inside of: not the very last one if steps along that are known."""
        last = self.space.ndim - 1
        arrays = [x for x in (*self.sources, *targets[: len(self.into)]) if isinstance(x, Operand)]
        return last - is_last_known(self.e, arrays)

    def _exchange_condition(self, outer: int, targets: Sequence[Operand]) -> Ref:
        """Whether an axis is best inside of the next one."""
        f, inner, sizes = self.e.f, outer + 1, self.space.sizes
        found = (*self.sources, *targets[: len(self.into)])
        arrays = [x for x in found if isinstance(x, Operand)]
        if not self.reductions.combine and are_known_in_order(self.e, arrays, outer, inner):
            return FALSE
        repeats = repeated_condition(self.e, sizes, arrays, outer, inner)
        turns = exchange_condition(self.e, arrays, outer, inner)
        is_single = FALSE
        if not self.into and not any(x.strides[inner].constant for x in arrays):
            are_more = f.icmp("ne", sizes[outer], 1)
            is_single = f.binary("and", f.icmp("eq", sizes[inner], 1), are_more)
        return any_of(f, [turns, repeats, is_single])

    def _exchanged(self, condition: Ref, outer: int, targets: Sequence[Operand]) -> list[Operand]:
        """Exchange an axis with the next one if the condition holds."""
        axes = [*range(self.space.ndim)]
        axes[outer], axes[outer + 1] = outer + 1, outer
        self.space, self.sources, targets = self.in_order(condition, targets, axes)
        return [*targets]

    def with_axes_joined(self, targets: Sequence[Operand]) -> list[Operand]:
        """Put neighbours that go on behind one another together: one has their elements, the other goes first with one.

        Of the last two axes the one of few elements is outside of the other, if one of them is reduced.
        """
        f, ndim, targets = self.e.f, self.space.ndim, [*targets]
        for outer, inner in pairwise(range(ndim)):
            sizes = self.space.sizes
            arrays = [x for x in (*self.sources, *targets) if isinstance(x, Operand)]
            whole = [(x.strides[outer], f.mul(x.strides[inner], sizes[inner])) for x in arrays]
            go_on = all_of(f, [f.icmp("eq", step, size) for step, size in whole])
            for values in (sizes, *(x.sizes for x in arrays)):
                both = f.mul(values[outer], values[inner])
                values[inner] = f.select(go_on, both, values[inner])
                values[outer] = f.select(go_on, ONE, values[outer])
            axes = [outer, *range(outer), *range(inner, ndim)]
            self.space, self.sources, targets = self.in_order(go_on, targets, axes)
        *_, outer_size, size = self.space.sizes
        is_some = any_of(f, [self.is_reduced(axis, targets) for axis in (ndim - 2, ndim - 1)])
        are_few = [f.icmp("slt", size, _SOME), f.icmp("sgt", outer_size, _SOME)]
        return self._exchanged(all_of(f, [is_some, *are_few]), ndim - 2, targets)

    def is_reduced(self, axis: int, targets: Sequence[Operand]) -> Ref:
        """Whether an axis of more than one element turns out to be reduced."""
        f, results = self.e.f, zip(targets, self.accumulators, strict=True)
        step = next(x.strides[axis] for x, accumulator in results if accumulator is not None)
        return f.binary("and", f.icmp("eq", step, 0), f.icmp("ne", self.space.sizes[axis], 1))

    def with_reduced_axis(self, axis: int, targets: Sequence[Operand]) -> list[Operand]:
        """Put a reduced axis at this place, where one is if it is the last; one of one element if there is no other."""
        f, targets = self.e.f, [*targets]
        for outer, inner in pairwise(range(axis + 1)) if axis < self.space.ndim - 1 else ():
            (far, near) = (self.is_reduced(x, targets) for x in (outer, inner))
            is_single = f.icmp("eq", self.space.sizes[outer], 1)
            is_kept = f.binary("and", f.bool_not(near), f.icmp("ne", self.space.sizes[inner], 1))
            moves = f.binary(
                "or", f.binary("and", far, f.bool_not(near)), f.binary("and", is_single, is_kept)
            )
            targets = self._exchanged(moves, outer, targets)
        pairs = zip(targets, self.accumulators, strict=True)
        return [x if a is None else x.repeated_along(axis) for x, a in pairs]

    @contextmanager
    def kept(self) -> Iterator[None]:
        """Have the axes and sources as they are now again afterwards."""
        before = self.space, self.sources
        yield
        self.space, self.sources = before

    def turned_around(self, is_turned: Ref, targets: Sequence[Operand]) -> list[Operand]:
        """Go through the axes in the opposite order if the condition holds."""
        axes = [*reversed(range(self.space.ndim))]
        self.space, self.sources, targets = self.in_order(is_turned, targets, axes)
        return self.with_far_axis_near(targets)

    def with_far_axis_near(self, targets: Sequence[Operand]) -> list[Operand]:
        """Put the axis along which an array has its elements side by side next to the last one: they are tiles then."""
        f, last = self.e.f, self.space.ndim - 1
        for axis in range(last - 1) if self.may_be_turned and not self.reductions.combine else ():
            arrays = [x for x in (*self.sources, *targets) if isinstance(x, Operand)]
            loose = [
                x
                for x in arrays
                if x.strides[axis].constant is None and x.strides[last].constant is None
            ]
            are_far = [f.icmp("eq", x.strides[axis], x.dtype.itemsize) for x in loose]
            condition = any_of(f, are_far)
            if condition is not FALSE:
                condition = f.binary("and", condition, f.icmp("sge", self.space.sizes[axis], _SOME))
                axes = [*range(last + 1)]
                axes[axis], axes[last - 1] = last - 1, axis
                self.space, self.sources, targets = self.in_order(condition, targets, axes)
        return [*targets]

    def order(self, into: Sequence[Operand]) -> Ref:
        """Whether the nest goes through the axes in the opposite order."""
        if not self.may_be_turned:
            return FALSE
        arrays = [x for x in (*self.sources, *into) if isinstance(x, Operand)]
        last, count = self.space.ndim - 1, len(self.reductions.axes)
        is_alike = count in (0, last + 1)  # else rows of one element might be combined
        turns = reversed_condition(self.e, self.space.sizes, arrays, is_first_inner=is_alike)
        if count <= last or not all(self.accumulators):
            return turns
        repeats = repeated_condition(self.e, self.space.sizes, arrays, 0, last)
        return self.e.f.binary("or", turns, repeats)

    def in_order(
        self, condition: Ref, targets: Sequence[Operand], axes: Sequence[int]
    ) -> tuple[Space, list[Operand | Native], list[Operand]]:
        """The axes and operands of the loops; in another order of axes if the condition holds."""
        if condition is FALSE:
            return self.space, self.sources, [*targets]

        def turn(x: Operand) -> Operand:
            return self.space.turned_operand(x, condition, axes)

        sources = [turn(x) if isinstance(x, Operand) else x for x in self.sources]
        return self.space.turned(condition, axes), sources, [turn(x) for x in targets]
