"""Rows of a loop nest whose elements are moved as they are: by a function for all strides, or as a whole."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import reduce

import numpy as np

from ljit.codegen.arrays.stretches import copy_stretch
from ljit.codegen.llvm.builder import FALSE, Ref, integer
from ljit.codegen.loops.counted_loops import outer_loop
from ljit.codegen.nests.nest_elements import Elements, Places
from ljit.codegen.nests.nest_moves import SHORT_ROW, move_rows
from ljit.codegen.nests.nest_space import ONE, ZERO, Operand, Space, all_of

__all__ = ["MOVED_PLANE", "MOVED_PLANES", "Box", "RowMoves"]

# 64 rows of 16384 elements are moved by one call, or 1024 rows of a few
_MOVED_ROWS, _MOVED_COLUMNS, _MOVED_SHORT_ROWS = 6, 14, 10
_LINE_SHIFT = 6  # 1 << 6 bytes are a line of the cache
# elements of a row each of which is best moved by itself where rows are multiples of so many bytes apart
_FEW_TURNED, _SAME_PLACE = 16, 1 << 11
MOVED_PLANE, MOVED_PLANES = 32, 8  # 256 planes of up to 32 elements are moved together


#: a place, the bytes from element to element, from row to row and from plane to plane
Box = tuple[Ref, Ref, Ref, Ref]


class RowMoves(Elements):
    """What loops do with elements of which nothing is computed."""

    space: Space
    ndim: int
    columns: int
    is_flat: Ref
    _are_moved: bool  # whether the copy that is written leaves rows to a function
    _may_be_short: Ref  # whether rows of a few elements are done together
    _planes: Ref  # how many planes, of the last two axes, are done together
    _are_planes: Ref  # whether they are so small that some are

    @property
    def inner(self) -> int:
        """The axis of the inner loop."""
        return self.ndim - 2 if self.columns > 1 else self.ndim - 1

    @property
    def _is_move(self) -> bool:
        """Whether the elements of one array become those of another one as they are."""
        arrays = self.arrays
        if self.kernel.length or self._reduced_targets or len(arrays) != 2:
            return False
        are_all = len(self.sources) == len(self.targets) == 1
        return are_all and arrays[0].dtype == arrays[1].dtype and not arrays[0].is_range

    @property
    def _are_short_moves(self) -> Ref:
        """Whether rows are moved that are so short that a loop for each, or a copy, takes more time than they do."""
        if self.ndim < 2 or self.e.is_quick or self.columns > 1 or not self._is_move:
            return FALSE
        return self.f.binary("and", self._are_short_rows, self.f.bool_not(self.is_flat))

    @property
    def _are_short_rows(self) -> Ref:
        return self.f.icmp("slt", self.space.sizes[self.inner], SHORT_ROW)

    def _step_along(self, x: Operand) -> Ref:
        """The stride of an array along the inner loop; of axes that run as one, the last may have one element."""
        step = x.strides[self.inner]
        if not x.is_plain:
            return step
        return self.f.select(self.is_flat, integer("i64", x.dtype.itemsize), step)

    def _move(self, axis: int, trips: Sequence[Ref]) -> None:
        """Move what is inside of the last axes, from `axis` on: one or two."""
        f, (source, target) = self.f, self.arrays
        has_rows = self.ndim > 1 and axis < self.inner
        rows, count = trips[axis] if has_rows else ONE, trips[-1]
        pitches = {x: x.strides[axis] if has_rows else ZERO for x in self.arrays}
        steps = {x: self._step_along(x) for x in self.arrays}
        shifts = [integer("i64", x) for x in (_MOVED_ROWS, _MOVED_SHORT_ROWS, _MOVED_COLUMNS)]
        tall, wide = f.select(self._are_short_rows, shifts[1], shifts[0]), shifts[2]
        high, width = f.binary("shl", ONE, tall), f.binary("shl", ONE, wide)

        def block(i: Ref, k: Ref) -> None:
            first, begin = f.mul(i, high), f.mul(k, width)
            boxes: list[Box] = []
            for x in (target, source):
                offset = f.add(f.mul(first, pitches[x]), f.mul(begin, steps[x]))
                place = f.gep("i8", x.cursors[-1], offset, "")
                boxes.append((place, steps[x], pitches[x], self._pitch_of_planes(x)))
            wide_left = self._least(f.binary("sub", count, begin), width)
            rows_left = self._least(f.binary("sub", rows, first), high)
            self._move_rows(target.dtype, boxes[0], boxes[1], wide_left, rows_left)

        outer_loop(
            self.e,
            self._parts(rows, tall),
            lambda i: outer_loop(self.e, self._parts(count, wide), lambda k: block(i, k)),
        )

    def _are_planes_turned(self, axis: int) -> Ref:
        """Whether planes of short rows lie nearer to each other than their rows, which are read side by side.

        So it is with `a.T.copy()` of a few planes: where it is written, an element of each row is in another line. Some
        more are read so if those lines take each other's place in the cache.
        """
        f, (source, target), size = self.f, self.arrays, self.arrays[0].dtype.itemsize
        plane, row = target.strides[axis], target.strides[axis + 1]
        are_near = f.icmp("ult", f.binary("sub", plane, 1), f.binary("sub", row, 1))
        is_read_so = f.icmp("eq", source.strides[axis + 1], size)
        are_few = f.icmp("sle", self.space.sizes[self.inner], _FEW_TURNED)
        is_same = f.icmp("eq", f.binary("and", row, _SAME_PLACE - 1), 0)
        are_short = f.binary("or", self._are_short_rows, f.binary("and", are_few, is_same))
        return all_of(f, [are_near, is_read_so, are_short])

    def _move_turned_planes(self, axis: int, trips: Sequence[Ref]) -> None:
        """Move what a line of the cache has of the rows of some planes, each element of rows by itself."""
        f, (source, target) = self.f, self.arrays
        wide = integer("i64", _LINE_SHIFT - (target.dtype.itemsize.bit_length() - 1))
        tall = integer("i64", _MOVED_ROWS)

        def block(i: Ref, j: Ref, k: Ref) -> None:
            first = f.binary("shl", i, wide), f.binary("shl", j, tall), k
            boxes = [self._turned_box(x, axis, first) for x in (target, source)]
            rows = self._least(
                f.binary("sub", trips[axis + 1], first[0]), f.binary("shl", ONE, wide)
            )
            planes = self._least(f.binary("sub", trips[axis], first[1]), f.binary("shl", ONE, tall))
            move_rows(f, target.dtype, [*boxes[0], *boxes[1], planes, rows])

        def planes(i: Ref) -> None:
            outer_loop(
                self.e,
                self._parts(trips[axis], tall),
                lambda j: outer_loop(self.e, trips[axis + 2], lambda k: block(i, j, k)),
            )

        outer_loop(self.e, self._parts(trips[axis + 1], wide), planes)

    def _turned_box(self, x: Operand, axis: int, first: tuple[Ref, Ref, Ref]) -> list[Ref]:
        """A place in a row of a plane, the bytes from plane to plane and from row to row."""
        f, (plane, row) = self.f, x.strides[axis : axis + 2]
        steps = zip(first, (row, plane, self._step_along(x)), strict=True)
        offset = reduce(f.add, [f.mul(number, step) for number, step in steps])
        return [f.gep("i8", x.cursors[-1], offset, ""), plane, row]

    def _pitch_of_planes(self, x: Operand) -> Ref:
        return ZERO if self._are_planes is FALSE else x.strides[self.inner - 2]

    def _move_rows(self, dtype: np.dtype, to: Box, source: Box, count: Ref, rows: Ref) -> None:
        """Move so many elements of rows, or of those of some planes: at once those of a plane, or one of each."""
        f = self.f
        if self._are_planes is FALSE:
            move_rows(f, dtype, [*to[:3], *source[:3], count, rows])
            return
        are_rows = f.icmp("sge", rows, self._planes)
        times, high = f.select(are_rows, self._planes, rows), f.select(are_rows, rows, self._planes)

        def move(k: Ref) -> None:
            parts = []
            for place, step, pitch, plane in (to, source):
                offset = f.mul(k, f.select(are_rows, plane, pitch))
                parts += [f.gep("i8", place, offset, ""), step, f.select(are_rows, pitch, plane)]
            move_rows(f, dtype, [*parts, count, high])

        outer_loop(self.e, times, move)

    def _copy_or(self, loop: Callable[[], object], trip: Ref, strides: Places) -> None:
        """Write the loop; where it only moves elements from row to row, long rows are copied as a whole.

        Elements that are added to what lies there are not moved, although nothing is computed of them before.
        """
        steps = {strides[x].constant for x in self.arrays}
        if not (
            self._is_move and len(self._rows) == 1 and steps == {self.arrays[0].dtype.itemsize}
        ):
            loop()
            return
        source, target = self.arrays
        with self._at(self._rows[0]):
            places = target.cursors[-1], source.cursors[-1]
        size = self.f.mul(trip, source.dtype.itemsize)
        copy_stretch(self.f, *places, size, loop)

    def _least(self, a: Ref, b: Ref) -> Ref:
        return self.f.select(self.f.icmp("slt", a, b), a, b)

    def _greatest(self, a: Ref, b: Ref) -> Ref:
        return self.f.select(self.f.icmp("sgt", a, b), a, b)

    def _parts(self, count: Ref, shift: Ref) -> Ref:
        """How many blocks of `1 << shift` there are."""
        f = self.f
        if count is ONE:
            return ONE
        more = f.add(count, f.binary("sub", f.binary("shl", ONE, shift), 1))
        return f.binary("lshr", more, shift)
