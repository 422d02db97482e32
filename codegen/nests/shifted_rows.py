"""Nests that store into an array of which they read shifted parts: each row is written over as it is read.

    u[1:-1, 1:-1] += c * (u[2:, 1:-1] + u[:-2, 1:-1] + u[1:-1, 2:] + u[1:-1, :-2] - 4 * u[1:-1, 1:-1])

NumPy computes all before it stores any. What such a nest needs of elements that it has written over is little: of the
row before, which is kept in a line, and of the element before, which is carried from trip to trip. LLVM makes vectors
of that, as the element before is another lane (a first-order recurrence). Elements that are to come lie where they
were. Results that wait until nobody reads what they overwrite (`nest_overlap.py`) take a load more, and a copy.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from ljit.analysis.shifts import Shift
from ljit.codegen.arrays.arrays import load_element, new_array, store_element
from ljit.codegen.llvm.builder import Ref, integer
from ljit.codegen.llvm.forms import Native, array_parts
from ljit.codegen.loops.counted_loops import State, hints_of, inner_loop, outer_loop
from ljit.codegen.nests.nest_elements import Kernel, Source
from ljit.codegen.nests.nest_space import ONE, ZERO, Operand, Space
from ljit.codegen.scalars.casts import cast_value
from ljit.types import ArrayType

__all__ = ["ShiftedRows", "can_go_in_place"]

_Shift = tuple[int, int]  # rows, and elements of a row
#: what a vector leaves over is done one by one
_ONE_VECTOR = '!{!"llvm.loop.interleave.count", i32 1}'


def can_go_in_place(
    target: Operand, sources: Sequence[Source], shifts: Sequence[Shift], kernel: Kernel
) -> bool:
    """Whether rows can be written over as they are read.

    That is so for one or two axes, numbers that registers hold, and other arrays without gaps in their rows.
    """
    type_ = target.type
    if not 1 <= type_.ndim <= 2 or type_.dtype.kind not in "fiu" or type_.dtype.itemsize < 4:
        return False
    if kernel.may_leave or kernel.staged is not None or kernel.row_loop is not None:
        return False
    pairs = zip(sources, shifts, strict=True)
    others = [x for x, shift in pairs if isinstance(x, Operand) and shift is None]
    if any(x.strides[-1].constant not in (0, x.dtype.itemsize) for x in others):
        return False
    steps = [step for shift in shifts if shift is not None for step in shift]
    return any(steps) and min(steps) >= -1


def _in_plane(shift: tuple[int, ...]) -> _Shift:
    return (shift[-2] if len(shift) > 1 else 0, shift[-1])


class ShiftedRows:
    """The loops while they are written; `shifts` are those of the sources behind the target."""

    def __init__(
        self,
        space: Space,
        target: Operand,
        sources: Sequence[Source],
        shifts: Sequence[Shift],
        kernel: Kernel,
    ) -> None:
        self.e, self.f = space.e, space.f
        self.target, self.kernel = target, kernel
        pairs = zip(sources, shifts, strict=True)
        self.operands = [x if shift is None else _in_plane(shift) for x, shift in pairs]
        self.rows, self.count = (ONE, *space.sizes)[-2:]
        self.row_step = (ZERO, *target.strides)[-2]
        read = [x for x in self.operands if isinstance(x, tuple)]
        of_line = [step for row, step in read if row < 0]
        self.has_line, self.behind = bool(of_line), max([0, *of_line])
        #: the shifts that lie before others, of which the elements are carried
        self.carried = [x for x in ((0, -1), (-1, -1)) if x in read]
        self.line: Ref = ZERO
        self.group = self.f.module.distinct_metadata("!{}")

    def make_line(self) -> None:
        """Make the memory that keeps a row, and what is read behind its end."""
        if self.has_line:
            size = self.f.binary("add", self.count, self.behind)
            made = new_array(self.e, ArrayType(self.target.dtype, (None,)), [size])
            self.line = array_parts(made).data

    def emit(self) -> None:
        """Write the loops."""
        f = self.f
        begin, done = f.new_block("rows"), f.new_block("stored")
        are_some = f.binary("and", f.icmp("sgt", self.rows, 0), f.icmp("sgt", self.count, 0))
        f.condbr(are_some, begin, done)
        f.start(begin)
        f.has_vectors = True
        if self.has_line:
            self._keep(self.target.data, ZERO, self.count)
        outer_loop(self.e, self.rows, self._row, is_one_copy=True)
        f.has_vectors = False
        f.br(done)
        f.start(done)

    def _row(self, k: Ref) -> None:
        row = self.f.gep("i8", self.target.data, self.f.mul(k, self.row_step), "")
        if self.behind:
            self._keep(row, self.count, integer("i64", self.behind))
        start = [self._load(self._place(row, shift, ZERO)).ref for shift in self.carried]
        hints = hints_of(self.group, is_unit=True)
        hints = (*hints, _ONE_VECTOR) if start else hints

        others = {
            x: self.f.gep("i8", x.data, self.f.mul(k, (ZERO, *x.strides)[-2]), "")
            for x in self.operands
            if isinstance(x, Operand)
        }

        def trip(j: Ref, carried: State) -> State:
            return self._trip(row, others, j, carried)

        inner_loop(self.e, self.count, start, trip, hints, self.kernel.length)

    def _trip(self, row: Ref, others: Mapping[Operand, Ref], j: Ref, carried: State) -> State:
        """One element: all loads come before the stores."""
        type_, here = self.target.type.element, (0, 0)
        known = {x: Native(type_, (ref,)) for x, ref in zip(self.carried, carried, strict=True)}
        following = [(above, 0) for above, _ in self.carried]
        read = [x for x in self.operands if isinstance(x, tuple)]
        for shift in (*read, *following, *([here] if self.has_line else ())):
            if shift not in known:
                is_kept, step = shift[0] < 0, (0, shift[1])
                known[shift] = self._load(
                    self._place(self.line, step, j) if is_kept else self._place(row, shift, j)
                )
        (result,) = self.kernel.compute([self._operand(x, known, others, j) for x in self.operands])
        if self.has_line:
            self._store(known[here], self._place(self.line, here, j))
        self._store(cast_value(self.f, result, type_), self._place(row, here, j))
        return [known[shift].ref for shift in following]

    def _operand(
        self,
        x: Source | _Shift,
        known: Mapping[_Shift, Native],
        others: Mapping[Operand, Ref],
        j: Ref,
    ) -> Native:
        if isinstance(x, Operand):
            place = (
                self.f.gep(f"[{x.dtype.itemsize} x i8]", others[x], j, "")
                if x.strides[-1].constant
                else others[x]
            )
            return load_element(self.f, place, x.dtype, x.type.element, self._suffix)
        return known[x] if isinstance(x, tuple) else x

    def _keep(self, row: Ref, first: Ref, count: Ref) -> None:
        """Put elements of the row before into the line."""

        def keep(j: Ref, carried: State) -> State:
            at = self.f.binary("add", first, j)
            self._store(
                self._load(self._place(row, (-1, 0), at)), self._place(self.line, (0, 0), at)
            )
            return carried

        inner_loop(self.e, count, [], keep, hints_of(self.group, is_unit=True), 0)

    def _place(self, row: Ref, shift: _Shift, j: Ref) -> Ref:
        """The address of element `j` of a row, or of one so far from it."""
        f, (rows, steps) = self.f, shift
        size = self.target.dtype.itemsize
        offset = f.binary("add", f.mul(integer("i64", rows), self.row_step), steps * size)
        return f.gep(f"[{size} x i8]", f.gep("i8", row, offset, ""), j, "")

    def _load(self, place: Ref) -> Native:
        type_ = self.target.type
        return load_element(self.f, place, type_.dtype, type_.element, self._suffix)

    def _store(self, value: Native, place: Ref) -> None:
        store_element(self.f, place, self.target.dtype, value, self._suffix)

    @property
    def _suffix(self) -> str:
        return f", !llvm.access.group {self.group}"
