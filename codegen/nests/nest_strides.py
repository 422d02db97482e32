"""What is known of the strides of a loop nest: which loops may run as one, and what its copies take for granted.

One copy is for inner strides that are known while compiling: those of the types (``a[..., 0]`` of an array of three
columns), one element where these say nothing and a run has to be asked, 0 for what is broadcast.

A short last axis, of a size that is known, would be a loop of a few trips, without vectors. Its elements, the
*columns*, are done side by side in the trips of the axis before, unless both axes run as one anyway.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import groupby, pairwise

from ljit.codegen.llvm.builder import FALSE, TRUE, Ref
from ljit.codegen.llvm.forms import Native
from ljit.codegen.nests.nest_overlap import Redirection
from ljit.codegen.nests.nest_space import ONE, ZERO, Operand, Space, all_of

__all__ = ["Strides", "forwards"]

_MAX_COLUMNS = 4
_MANY = 64  # instructions of all columns


def forwards(space: Space, sources: Sequence[Operand | Native]) -> list[Operand | Native]:
    """Go forwards along the last axis, whose elements may be taken in any order, if all sources go backwards."""
    f, last = space.f, space.ndim - 1
    moving = [x for x in sources if isinstance(x, Operand) and x.strides[last].constant != 0]
    if not moving or any(f.numbers.are_nonnegative(x.strides[last]) for x in moving):
        return [*sources]
    backwards = all_of(f, [f.icmp("slt", x.strides[last], 0) for x in moving])
    before = f.binary("sub", space.sizes[last], 1)

    def turned(x: Operand) -> Operand:
        stride = x.strides[last]
        end = f.gep("i8", x.data, f.mul(before, stride), "")
        step = f.select(backwards, f.binary("sub", ZERO, stride), stride)
        data = f.select(backwards, end, x.data)
        strides, steps = [*x.strides[:last], step], [*x.steps[:last], step]
        return Operand(x.type, x.parts, x.sizes, strides, data, is_plain=False, steps=steps)

    return [turned(x) if x in moving else x for x in sources]  # type: ignore[arg-type]


class Strides:
    """The strides of `arrays`, of which `results` are reduced along the axes `reduced`.

    `runs`: neighbouring axes that may be stepped through as one; None: all that are reduced, or all not.
    """

    def __init__(
        self,
        space: Space,
        arrays: Sequence[Operand],
        results: Sequence[Operand],
        *,
        reduced: Sequence[int],
        runs: Sequence[Sequence[int]] | None = None,
        ways: Sequence[Redirection],
    ) -> None:
        self.space = space
        self.f = space.f
        self.arrays = arrays
        self.results = results
        self.ways = ways
        axes = range(space.ndim)
        self.runs = runs or [[*run] for _, run in groupby(axes, lambda axis: axis in reduced)]
        self.pairs = [pair for run in self.runs for pair in pairwise(run)]
        self.is_flat = self._flat_condition()

    def _flat_condition(self) -> Ref:
        """Whether neighbouring axes that are all reduced, or all not, can be stepped through as one."""
        f, found = self.f, []
        for x in self.arrays if self.pairs else ():
            if not x.is_plain:
                found += [self._is_in_line(x, *pair) for pair in self.pairs]
            elif x not in self.results:
                found.append(self._is_full(x))
        return all_of(f, found) if self.pairs else FALSE

    def _is_in_line(self, x: Operand, outer: int, inner: int) -> Ref:
        """Whether a step along the outer axis leads behind the last element along the inner one."""
        whole = self.f.mul(x.strides[inner], self.space.sizes[inner])
        return self.f.icmp("eq", x.strides[outer], whole)

    def joined_trips(self, sizes: Sequence[Ref], is_flat: Ref, last: int) -> list[Ref]:
        """The trips along axes of these sizes: of neighbours that are stepped through as one, the last has all.

        `last`: the axis of the inner loop.
        """
        f, trips = self.f, [*sizes]
        are_some = len(self.pairs) > 1
        for outer, inner in self.pairs:
            is_one = is_flat
            if are_some and inner <= last:
                is_one = f.binary("or", is_one, self.joined(outer, inner))
            if is_one is not FALSE:
                total = f.mul(trips[outer], trips[inner])
                trips[inner] = f.select(is_one, total, trips[inner])
                trips[outer] = f.select(is_one, ONE, trips[outer])
        return trips

    def joined(self, outer: int, inner: int) -> Ref:
        """Whether two neighbouring axes can be stepped through as one although others cannot."""
        return all_of(self.f, [self._is_in_line(x, outer, inner) for x in self.arrays])

    def _is_full(self, x: Operand) -> Ref:
        """Whether an array has the shape of the nest."""
        result = TRUE
        for mine, size in zip(x.sizes, self.space.sizes, strict=True):
            if mine.constant == 1 and size.constant != 1:
                return FALSE
            result = self.f.binary("and", result, self.f.icmp("eq", mine, size))
        return result

    def columns(self, length: int) -> int:
        """How many elements of the last axis are done side by side; 1: it is the inner loop.

        `length`: about how many instructions one takes.
        """
        sizes = self.space.sizes
        if len(sizes) < 2 or self.ways or sizes[-2].constant is not None:
            return 1
        count = sizes[-1].constant
        if count is None or not 1 < count <= _MAX_COLUMNS or count * length > _MANY:
            return 1
        if len(self.runs[-1]) > 1 and self.is_flat is not FALSE:
            return 1
        return int(count) if all(self._has_columns(x, int(count)) for x in self.arrays) else 1

    def _has_columns(self, x: Operand, count: int) -> bool:
        """Whether the strides of the last two axes are known."""
        last = x.sizes[-1].constant
        if last not in (1, count) or (last == count and x.steps[-1].constant is None):
            return False
        return x.sizes[-2].constant == 1 or x.steps[-2].constant is not None

    def unit_condition(self, axis: int) -> Ref:
        """Whether the strides of an axis are what `known` says; quick code gains nothing from it at run time."""
        f, found = self.f, []
        for x in self.arrays:
            if self.known(x, axis) == 0:
                continue
            same = f.icmp("eq", x.sizes[axis], self.space.sizes[axis])
            if not x.is_plain:  # one element is broadcast along axes that run as one
                step = self.known(x, axis)
                same = f.binary("and", same, f.icmp("eq", x.strides[axis], step))
            found.append(same)
        result, is_quick = all_of(f, found), self.space.e.is_quick
        return FALSE if is_quick and result is not TRUE else result

    def known(self, x: Operand, axis: int) -> int:
        """The stride in bytes that the copy for known strides assumes."""
        if x.sizes[axis].constant == 1 and self.space.sizes[axis].constant != 1:
            return 0
        step = x.steps[axis].constant
        return int(step) if step is not None else x.dtype.itemsize
