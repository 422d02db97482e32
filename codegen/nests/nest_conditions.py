"""What a loop nest asks of its arrays to choose its loops, as it is written and, of strides and sizes, as it runs."""

from __future__ import annotations

from collections.abc import Sequence

from ljit.codegen.llvm.builder import FALSE, Ref, integer
from ljit.codegen.nests.nest_overlap import Redirection
from ljit.codegen.nests.nest_packing import MOST
from ljit.codegen.nests.nest_row_moves import RowMoves
from ljit.codegen.nests.nest_space import Operand, all_of
from ljit.codegen.nests.nest_strides import Strides

__all__ = ["LARGE", "ROWS", "SHORT", "SPACE", "Conditions"]

ROWS = 2  # 1 << 2 rows are combined side by side
SHORT = 6  # instructions of a kernel that may be written for each of some elements
LARGE = 8  # bytes of an element
SPACE = 3  # axes of which planes are put together
_MANY = 16  # planes of which a few are put together
_LITTLE = 128  # elements of a plane that take less time than its rows do
_VERY_FEW = 8  # elements of a row that take less time than the row itself


class Conditions(RowMoves):
    """Where elements lie, and how many they are: which loops go through them fastest."""

    strides: Strides
    ways: Sequence[Redirection]
    reduced: Sequence[int]
    is_fresh: bool  # whether all targets are new arrays
    _far: Ref  # whether an array lies the other way around: then some rows are done together

    @property
    def is_inner_reduced(self) -> bool:
        return bool(self._reduced_targets) and self.inner in self.reduced

    @property
    def _has_reduced_rows(self) -> bool:
        """Whether all there is to the last axis but one is that rows are combined."""
        return self.columns == 1 and self.inner - 1 in self.reduced and not self.is_inner_reduced

    @property
    def _are_rows_added(self) -> bool:
        """Whether the elements of a row are added up: one instruction each, where extrema take several."""
        pairs = self._reduced_targets
        return self.is_inner_reduced and all(a.rule.is_compensated for _, a in pairs)

    @property
    def _can_be_packed(self) -> bool:
        """Whether the loops can go through blocks of elements that are put side by side."""
        rows = 1 << ROWS if self._has_reduced_rows and self.kernel.length <= SHORT else 1
        if self.e.is_quick or self.columns > 1 or rows * len(self._loose) > MOST:
            return False
        return all(self.strides.known(x, self.inner) == x.dtype.itemsize for x in self._loose)

    @property
    def _gains_from_blocks(self) -> bool:
        """Whether blocks do instead of a second copy of the loops, for any strides.

        Of large elements a vector is but a few. Where little is done with each, that gains less than is lost: the
        memory stands still while a block is computed. What is stored in place would be copied there and back.
        """
        is_short = self.kernel.length <= SHORT and not self.kernel.may_leave
        if not self.kernel.length and not any(isinstance(x, Operand) for x in self.sources):
            return False  # a number is stored, which no vector makes faster
        is_short &= not self._reduced_targets or self._are_rows_added
        sizes = [x.dtype.itemsize for x in self._loose] or [0]
        combined = [x for x, _ in self._reduced_targets]
        are_large = all(x.dtype.itemsize >= max(sizes) or x in combined for x in self.targets)
        goes_back = self.ways and any(x in self._loose for x in self.targets)
        return not (goes_back or (is_short and are_large and min(sizes) >= LARGE))

    def _far_condition(self) -> Ref:
        """Whether an array has the elements of following rows side by side."""
        f, found = self.f, FALSE
        if self.ndim < 2 or self._reduced_targets:
            return FALSE
        for x in self._loose:
            if x.dtype.itemsize <= LARGE:
                outer, inner = x.strides[self.inner - 1], x.strides[self.inner]
                size = x.dtype.itemsize
                is_far = f.binary("and", f.icmp("eq", outer, size), f.icmp("sgt", inner, size))
                found = f.binary("or", found, is_far)
        for way in self.ways:
            found = f.binary("and", found, f.bool_not(way.overlaps))
        return found

    def _short_condition(self, fast: Ref) -> Ref:
        """Whether rows may be put behind one another: each array has elements of its own along them."""
        arrays, f = self.arrays, self.f
        if (
            self.ndim < 2
            or len(arrays) > MOST
            or not {self.inner - 1, self.inner}.isdisjoint(self.reduced)
        ):
            return FALSE
        if any(x.is_range or self.strides.known(x, self.inner) != x.dtype.itemsize for x in arrays):
            return FALSE
        return f.bool_not(f.binary("or", fast, self.is_flat))

    def _small_tiles_condition(self, fast: Ref) -> Ref:
        """Whether tiles would have so few elements that rows and planes are put behind one another instead."""
        if self._far is FALSE:
            return FALSE
        return all_of(
            self.f, [self._far, self._short_condition(fast), self._are_rows_of(_VERY_FEW)]
        )

    @property
    def _are_small_planes(self) -> Ref:
        """Whether there are many planes that are so small that rows are best put behind one another.

        Those that are one row already are not.
        """
        are_short = self._short_condition(FALSE) if self.ndim >= SPACE else FALSE
        if are_short is FALSE or not self.is_fresh or self._reduced_targets:
            return FALSE
        f, (planes, rows, elements) = self.f, self.space.sizes[-SPACE:]
        are_many = f.icmp("sge", planes, _MANY)
        is_small = f.icmp("sle", f.mul(rows, elements), _LITTLE)
        are_rows = f.bool_not(self.strides.joined(self.inner - 1, self.inner))
        return all_of(f, [are_short, are_many, is_small, are_rows])

    def _are_rows_of(self, count: int) -> Ref:
        """Whether rows have at most so many elements."""
        return self.f.icmp("sle", self.space.sizes[self.inner], count)

    @property
    def _broadcast(self) -> list[tuple[Operand, Ref]]:
        """The sources that may be one element for a whole row, and whether that one is and no array has gaps.

        Views that nobody may write to are mostly of this kind: `np.broadcast_to` gives them.
        """
        f, axis, size = self.f, self.inner, self.space.sizes[self.inner]
        if self.e.is_quick or self.columns > 1 or self.kernel.length > SHORT:
            return []
        repeats = {x: x.sizes[axis].text != size.text or not x.type.writeable for x in self._loose}
        found = [x for x in self._loose if x in self.sources and repeats[x]]
        units = [(x, f.icmp("eq", x.strides[axis], self._unit(x))) for x in self._loose]
        others = [all_of(f, [unit for y, unit in units if y is not x]) for x in found]
        return [
            (x, f.binary("and", f.icmp("eq", x.strides[axis], 0), condition))
            for x, condition in zip(found, others, strict=True)
        ]

    def _unit(self, x: Operand) -> Ref:
        return integer("i64", self.strides.known(x, self.inner))

    @property
    def _dense_condition(self) -> Ref:
        """Whether the results that a run knows the strides of have no gaps: a vector takes a few elements there."""
        f = self.f
        if self._reduced_targets:
            return FALSE
        units = [(x, integer("i64", x.dtype.itemsize)) for x in self._loose if x in self.targets]
        return all_of(f, [f.icmp("eq", x.strides[self.inner], unit) for x, unit in units])

    @property
    def _are_small(self) -> bool:
        return all(x.dtype.itemsize <= LARGE for x in self._loose)

    @property
    def _loose(self) -> list[Operand]:
        """The arrays whose inner stride only a run knows."""
        return [x for x in self.arrays if x.strides[self.inner].constant is None]
