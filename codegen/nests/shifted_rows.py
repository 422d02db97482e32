"""Nests that store into an array of which they read shifted parts: each row is written over as it is read.

    u[1:-1, 1:-1] += c * (u[2:, 1:-1] + u[:-2, 1:-1] + u[1:-1, 2:] + u[1:-1, :-2] - 4 * u[1:-1, 1:-1])

NumPy computes all before it stores any. What such a nest needs of elements that it has written over is little: of the
row before, which is kept in a line, and of the element before, which is carried from trip to trip. LLVM makes vectors
of that, as the element before is another lane (a first-order recurrence). Elements that are to come lie where they
were. Results that wait until nobody reads what they overwrite (`nest_overlap.py`) take a load more, and a copy.

Of cubes, the plane before is kept: a line for each row, in which the plane's own elements follow as they are read.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from ljit.analysis.shifts import Shift, Shifts
from ljit.codegen.arrays.arrays import load_element, new_array, store_element
from ljit.codegen.llvm.builder import TRUE, FunctionBuilder, Ref, integer
from ljit.codegen.llvm.forms import Native, array_parts
from ljit.codegen.loops.counted_loops import State, hints_of, inner_loop, outer_loop
from ljit.codegen.nests.nest_elements import Kernel, Source
from ljit.codegen.nests.nest_overlap import hazard_of
from ljit.codegen.nests.nest_space import ONE, ZERO, Operand, Space, all_of
from ljit.codegen.scalars.casts import cast_value
from ljit.records import Record
from ljit.types import ArrayType

__all__ = ["ShiftedRows", "can_go_in_place", "is_in_place"]

_Shift = tuple[int, int, int]  # planes, rows, and elements of a row
_HERE, _BEFORE, _ABOVE, _BEFORE_ABOVE, _PLANE_BEFORE = (
    (0, 0, 0),
    (0, 0, -1),
    (0, -1, 0),
    (0, -1, -1),
    (-1, 0, 0),
)
_SMALL, _SHORT_ROW = 4, 128  # bytes
_FAR = 1024
#: what a vector leaves over is done one by one
_ONE_VECTOR = '!{!"llvm.loop.interleave.count", i32 1}'


def can_go_in_place(
    target: Operand, sources: Sequence[Source], shifts: Sequence[Shift], kernel: Kernel
) -> bool:
    """Whether rows can be written over as they are read.

    That is so for up to three axes, all numbers but bools, which are slower so, and other arrays without gaps in their
    rows.
    """
    if not 1 <= target.type.ndim <= 3 or target.dtype.kind == "b":
        return False
    if kernel.may_leave or kernel.staged is not None or kernel.row_loop is not None:
        return False
    pairs = zip(sources, shifts, strict=True)
    others = [x for x, shift in pairs if isinstance(x, Operand) and shift is None]
    if any(x.strides[-1].constant not in (0, x.dtype.itemsize) for x in others):
        return False
    read = [_in_space(shift) for shift in shifts if shift is not None]
    if any(shift[0] < 0 and shift != _PLANE_BEFORE for shift in read):
        return False
    steps = [step for shift in read for step in shift]
    return any(steps) and min(steps) >= -1 and max(steps) <= _FAR


def is_in_place(space: Space, target: Operand, sources: Sequence[Source], shifts: Shifts) -> Ref:
    """Whether rows are to be written over as they are read: a condition for run time, if it is not known.

    What short rows of small elements leave over behind a vector is too much to be done one by one.
    """
    item = target.dtype.itemsize
    last = [shift[-1] for shift in shifts.of_operands if shift is not None]
    is_one_by_one = item < _SMALL and min(last) < 0
    least = _SHORT_ROW // item if is_one_by_one else 0
    is_long = space.f.icmp("sge", space.sizes[-1], least) if least else TRUE
    if shifts.are_sure:
        return is_long
    return all_of(space.f, [is_long, _are_shifted(space, target, sources, shifts.of_operands)])


def _are_shifted(
    space: Space, target: Operand, sources: Sequence[Source], shifts: Sequence[Shift]
) -> Ref:
    """Whether arrays lie as far behind the target as is expected of them, and others elsewhere.

    Elements are side by side in rows, and rows apart: no two of those that are read or written share memory.
    """
    f = space.f
    found = [f.icmp("eq", target.strides[-1], target.dtype.itemsize)]
    for axis in range(1, space.ndim):
        steps = [0, *(shift[axis] for shift in shifts if shift is not None)]
        count = f.binary("add", space.sizes[axis], max(steps) - min(steps))
        length = f.mul(count, target.strides[axis])
        found.append(f.icmp("sge", target.strides[axis - 1], length))
    for x, shift in zip(sources, shifts, strict=True):
        if not isinstance(x, Operand):
            continue
        if shift is None:
            hazard = hazard_of(space, target, x, is_strict=True)
            found.append(f.icmp("eq", hazard, 0))
        else:
            pairs = zip(x.strides, target.strides, strict=True)
            found += [f.icmp("eq", mine, other) for mine, other in pairs]
            found.append(f.icmp("eq", x.data, _shifted(f, target, shift)))
    return all_of(f, found)


def _shifted(f: FunctionBuilder, x: Operand, shift: Sequence[int]) -> Ref:
    """The address of what lies so many steps behind an array's first element."""
    place = x.data
    for count, stride in zip(shift, x.strides, strict=True):
        place = f.gep("i8", place, f.mul(integer("i64", count), stride), "")
    return place


def _in_space(shift: tuple[int, ...]) -> _Shift:
    planes, rows, steps = (0, 0, *shift)[-3:]
    return planes, rows, steps


class _Row(Record):
    """Where a row lies, the lines of the row before and its own, and the rows of other arrays."""

    place: Ref
    above: Ref
    own: Ref
    others: Mapping[Operand, Ref]


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
        self.operands = [x if shift is None else _in_space(shift) for x, shift in pairs]
        self.planes, self.rows, self.count = (ONE, ONE, *space.sizes)[-3:]
        read = [x for x in self.operands if isinstance(x, tuple)]
        of_line = [steps for planes, rows, steps in read if not planes and rows < 0]
        self.has_planes, self.reads_above = _PLANE_BEFORE in read, bool(of_line)
        self.has_lines, self.behind = self.has_planes or self.reads_above, max([0, *of_line])
        #: the shifts that lie before others, of which the elements are carried
        self.carried = [x for x in (_BEFORE, _BEFORE_ABOVE) if x in read]
        self.lines: Ref = ZERO
        self.width = self.f.binary("add", self.count, self.behind)
        self.group = self.f.module.distinct_metadata("!{}")

    def make_lines(self) -> None:
        """Make the memory that keeps rows, and what is read behind their ends."""
        if self.has_lines:
            lines = self.f.binary("add", self.rows, 1) if self.has_planes else ONE
            size = self.f.mul(lines, self.width)
            made = new_array(self.e, ArrayType(self.target.dtype, (None,)), [size])
            self.lines = array_parts(made).data

    def emit(self) -> None:
        """Write the loops."""
        f = self.f
        begin, done = f.new_block("rows"), f.new_block("stored")
        sizes = (self.planes, self.rows, self.count)
        f.condbr(all_of(f, [f.icmp("sgt", size, 0) for size in sizes]), begin, done)
        if f.start(begin):
            self._write_loops()
            f.br(done)
        f.start(done)

    def _write_loops(self) -> None:
        f = self.f
        f.has_vectors = True
        if self.has_planes:
            outer_loop(self.e, self.rows, self._keep_plane, is_one_copy=True)
        outer_loop(self.e, self.planes, self._plane, is_one_copy=True)
        f.has_vectors = False

    def _keep_plane(self, k: Ref) -> None:
        """Keep a row of the plane before the first one."""
        row = self._along(self.target, self.target.data, 1, k)
        self._copy(self._place(row, _PLANE_BEFORE, ZERO), self._own_line(k), self.count)

    def _plane(self, k: Ref) -> None:
        plane = self._along(self.target, self.target.data, 0, k)
        others = {x: self._along(x, x.data, 0, k) for x in self.operands if isinstance(x, Operand)}
        if self.reads_above:
            self._copy(self._place(plane, _ABOVE, ZERO), self.lines, self.count)

        def row(k: Ref) -> None:
            places = {x: self._along(x, place, 1, k) for x, place in others.items()}
            place, above = self._along(self.target, plane, 1, k), self._line(k)
            self._row(_Row(place, above, self._own_line(k), places))

        outer_loop(self.e, self.rows, row, is_one_copy=True)

    def _row(self, row: _Row) -> None:
        if self.behind:
            places = (
                self._place(row.place, _ABOVE, self.count),
                self._element(row.above, self.count),
            )
            self._copy(*places, integer("i64", self.behind))
        first = [self._load(self._place(row.place, shift, ZERO)) for shift in self.carried]
        start = [part for x in first for part in x.parts]
        hints = hints_of(self.group, is_unit=True)
        hints = (*hints, _ONE_VECTOR) if start else hints

        def trip(j: Ref, carried: State) -> State:
            return self._trip(row, j, carried)

        inner_loop(self.e, self.count, start, trip, hints, self.kernel.length)

    def _trip(self, row: _Row, j: Ref, carried: State) -> State:
        """One element: all loads come before the stores."""
        type_ = self.target.type.element
        size = len(carried) // max(1, len(self.carried))  # complex numbers have two parts
        known = {
            shift: Native(type_, tuple(carried[i * size : (i + 1) * size]))
            for i, shift in enumerate(self.carried)
        }
        following = [(planes, rows, 0) for planes, rows, _ in self.carried]
        read = [x for x in self.operands if isinstance(x, tuple)]
        for shift in (*read, *following, *([_HERE] if self.has_lines else ())):
            if shift not in known:
                known[shift] = self._load(self._place_of(row, shift, j))
        elements = [self._operand(x, known, row, j) for x in self.operands]
        (result,) = self.kernel.compute(elements)
        if self.has_lines:
            self._store(known[_HERE], self._element(row.own, j))
        self._store(cast_value(self.f, result, type_), self._element(row.place, j))
        return [part for shift in following for part in known[shift].parts]

    def _operand(
        self, x: Source | _Shift, known: Mapping[_Shift, Native], row: _Row, j: Ref
    ) -> Native:
        if not isinstance(x, Operand):
            return known[x] if isinstance(x, tuple) else x
        place, size = row.others[x], x.dtype.itemsize
        if x.strides[-1].constant:
            place = self.f.gep(f"[{size} x i8]", place, j, "")
        return load_element(self.f, place, x.dtype, x.type.element, self._suffix)

    def _copy(self, source: Ref, target: Ref, count: Ref) -> None:
        """Keep elements of a row."""

        def keep(j: Ref, carried: State) -> State:
            self._store(self._load(self._element(source, j)), self._element(target, j))
            return carried

        inner_loop(self.e, count, [], keep, hints_of(self.group, is_unit=True), 0)

    # -- places ------------------------------------------------------------------------------------

    def _along(self, x: Operand, place: Ref, axis: int, k: Ref) -> Ref:
        """What lies `k` planes (axis 0) or rows (1) behind a place."""
        stride = (ZERO, ZERO, *x.strides)[-3:][axis]
        return self.f.gep("i8", place, self.f.mul(k, stride), "")

    def _line(self, k: Ref) -> Ref:
        """The line in which the row before row `k` is kept; the row's own takes its place, unless planes are kept."""
        return (
            self._element(self.lines, self.f.mul(k, self.width)) if self.has_planes else self.lines
        )

    def _own_line(self, k: Ref) -> Ref:
        return self._line(self.f.binary("add", k, 1))

    def _place_of(self, row: _Row, shift: _Shift, j: Ref) -> Ref:
        """Where an element lies that was not written over, or is kept."""
        planes, rows, steps = shift
        if planes < 0:
            return self._element(row.own, j)
        if not planes and rows < 0:
            return self._place(row.above, (0, 0, steps), j)
        return self._place(row.place, shift, j)

    def _place(self, row: Ref, shift: _Shift, j: Ref) -> Ref:
        """The address of what lies so far from element `j` of a row."""
        f, strides = self.f, (ZERO, ZERO, *self.target.strides)[-3:]
        offset = ZERO
        for steps, stride in zip(shift, strides, strict=True):
            offset = f.binary("add", offset, f.mul(integer("i64", steps), stride))
        return self._element(f.gep("i8", row, offset, ""), j)

    def _element(self, row: Ref, j: Ref) -> Ref:
        return self.f.gep(f"[{self.target.dtype.itemsize} x i8]", row, j, "")

    def _load(self, place: Ref) -> Native:
        type_ = self.target.type
        return load_element(self.f, place, type_.dtype, type_.element, self._suffix)

    def _store(self, value: Native, place: Ref) -> None:
        store_element(self.f, place, self.target.dtype, value, self._suffix)

    @property
    def _suffix(self) -> str:
        return f", !llvm.access.group {self.group}"
