"""Loop nests over arrays: broadcasting, fresh and reduced results, stores in place.

`nest_space.py` has the shapes, `nest_overlap.py` destinations that overlap operands, `nest_loops.py` the loops and
`nest_reductions.py` what reduced results are made of. Shapes that do not broadcast leave for the interpreter.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from functools import partial
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

from ljit.analysis.shifts import Interleaved, Shifts
from ljit.codegen.arrays.arrays import load_element, new_array
from ljit.codegen.llvm.builder import FALSE, NULL, TRUE, Ref, integer
from ljit.codegen.llvm.forms import ArrayParts, Native, array_parts, memory_type
from ljit.codegen.loops.nest_functions import own_function
from ljit.codegen.nests.axis_order import AxisOrder, Reductions
from ljit.codegen.nests.fills import fill_array, is_all_zero
from ljit.codegen.nests.first_rows import begun_with_row
from ljit.codegen.nests.kept_orders import kept_order
from ljit.codegen.nests.memory_order import Axes, MemoryOrder, memory_order
from ljit.codegen.nests.nest_elements import Kernel
from ljit.codegen.nests.nest_loops import Loops
from ljit.codegen.nests.nest_overlap import redirect_overlapping
from ljit.codegen.nests.nest_reductions import Accumulator
from ljit.codegen.nests.nest_space import (
    ONE,
    ZERO,
    Operand,
    all_of,
    any_of,
    either,
    has_axes,
    load_first,
    rank_of,
)
from ljit.codegen.nests.nest_strides import forwards
from ljit.codegen.nests.shifted_rows import ShiftedRows, can_go_in_place, is_in_place
from ljit.codegen.scalars.casts import cast_value
from ljit.errors import CodegenError
from ljit.ir import OddLayout, OpDef, get_op
from ljit.types import ArrayType, ScalarType, Type

if TYPE_CHECKING:
    from ljit.codegen.emitter import Emitter

__all__ = ["emit_map", "length_of"]


_MANY = 16


def _reductions_of(attrs: Mapping[str, Any]) -> Reductions:
    combine = tuple(None if name is None else get_op(name) for name in attrs.get("reduce", ()))
    return Reductions(combine, attrs.get("axes", ()) if any(combine) else ())


def length_of(ops: Iterable[tuple[OpDef, Sequence[Type]]]) -> int:
    """About how many instructions ops on elements of these types are."""
    return sum(_length(op, types_) for op, types_ in ops if not op.is_terminator)


def _length(op: OpDef, types_: Sequence[Type]) -> int:
    are_complex = any(isinstance(t, ScalarType) and t.dtype.kind == "c" for t in types_)
    if are_complex:
        return op.complex_instructions or (1 if op.is_cheap else _MANY)
    return 1 if op.is_cheap else op.instructions or _MANY


def emit_map(
    e: Emitter,
    into: Sequence[Native],
    inputs: Sequence[Native],
    out_types: Sequence[Type],
    kernel: Kernel,
    *,
    attrs: Mapping[str, Any] = MappingProxyType({}),
    elements: Sequence[Type] = (),
    shifts: Shifts | None = None,
    targets: Interleaved | None = None,
    may_be_empty: bool = False,
) -> list[Native]:
    """Emit the nest; the kernel's first results go to `into`, the others are fresh (given back).

    `attrs` are those of the Map, `elements` the types of the kernel's results if some are reduced. `shifts`: how far
    the inputs lie behind `into`, as parts of one array. `targets`: how those of `into` lie in between each other.
    `may_be_empty`: no checks are missed where there are no elements.
    """
    ndim = rank_of((*into, *inputs))
    if not into and not ndim and all(isinstance(t, ScalarType) for t in out_types):
        results = kernel.compute([load_first(e, x) for x in inputs])
        return [cast_value(e.f, x, t) for x, t in zip(results, out_types, strict=True)]
    if into and ndim != rank_of(into):
        e.bail("an operand has more dimensions than the destination")
        return []
    nest = _Nest(e, ndim, inputs, _reductions_of(attrs))
    nest.turned = attrs.get("turned", ())
    nest.is_move = not (kernel.length or kernel.may_leave)
    nest.find_sizes(into, attrs.get("covers", ()), may_leave=kernel.may_leave and not may_be_empty)
    if targets is not None:
        nest.interleave(targets)
    nest.leave_if_odd(kernel.odd)
    nest.leave_if_rows_are_single()
    if not e.f.is_reachable:
        return []
    is_apart = bool(attrs.get("apart", False))
    if shifts and nest.can_go_in_place(shifts, kernel):
        nest.emit_shifted(shifts, kernel, is_apart=is_apart)
        return []
    operands = kernel.operands[len(into) :] or [range(len(inputs))] * len(out_types)
    made = nest.make_results(out_types, elements[len(into) :] or out_types, operands)
    nest.emit(kernel, is_apart=is_apart)
    return [result() for result in made]


class _Nest(AxisOrder):
    """One loop nest while it is written."""

    def __init__(
        self, e: Emitter, ndim: int, inputs: Sequence[Native], reductions: Reductions
    ) -> None:
        super().__init__(e, ndim, reductions)
        self.inputs = inputs
        self.is_move = False
        self.fills: list[Callable[[], None]] = []  # of results that may begin with a row instead

    def find_sizes(
        self, into: Sequence[Native], covers: Sequence[Sequence[int]], *, may_leave: bool
    ) -> None:
        """Broadcast the shapes; leave where they do not fit, or where there must be elements and are none."""
        space = self.space
        space.find_sizes(into, self.inputs)
        if covers:
            space.check_covers([[self.inputs[i] for i in positions] for positions in covers])
        self.into = [space.operand(x) for x in into]
        if may_leave:  # the kernel's checks would not run, NumPy's of scalars do
            space.leave_if_empty(range(space.ndim))
        elif self.reductions.need_elements:
            space.leave_if_empty(self.reductions.axes)
        self.sources = [space.operand(x) if has_axes(x) else x for x in self.inputs]

    def interleave(self, targets: Interleaved) -> None:
        """Give targets the strides of the first one, and places that are so far from its own.

        They have the same sizes; if there are elements, each begins where it was to. LLVM makes vectors of them then.
        """
        f, first = self.e.f, self.into[0]
        for index, starts in enumerate(targets.starts):
            data = first.data
            for axis, start in enumerate(starts):
                count, stride = start - targets.starts[0][axis], first.strides[axis]
                if stride.constant is not None:
                    offset = integer("i64", stride.constant // targets.steps[axis] * count)
                else:
                    offset = f.mul(f.binary("sdiv", stride, targets.steps[axis]), count)
                data = f.gep("i8", data, offset, "")
            self.into[index] = first.with_changes(data=data)

    def leave_if_odd(self, odd: OddLayout) -> None:
        """Leave where NumPy would round otherwise."""
        f, bad = self.e.f, FALSE
        if OddLayout.ONE_ELEMENT in odd:
            bad = all_of(f, [f.icmp("eq", size, 1) for size in self.space.sizes])
        if OddLayout.BACKWARDS in odd:
            arrays = [x for x in (*self.sources, *self.into) if isinstance(x, Operand)]
            strides = [y for x in arrays if not x.is_plain for y in x.strides]
            bad = any_of(f, [bad, *(f.icmp("slt", stride, 0) for stride in strides)])
        self.e.bailout.bail_if(bad, "an array that NumPy's loop rounds otherwise for")

    # -- results -----------------------------------------------------------------------------------

    def make_results(
        self,
        out_types: Sequence[Type],
        elements: Sequence[Type],
        operands: Sequence[Collection[int]],
    ) -> list[Callable[[], Native]]:
        """Make what takes the fresh results; each function gives one once the loops have run."""
        combine = self.reductions.combine or (None,) * len(out_types)
        orders: dict[object, MemoryOrder] = {}
        makers = []
        for type_, op, element, of in zip(out_types, combine, elements, operands, strict=True):
            axes = self._axes_of_result(is_reduced=op is not None)
            if op is None:
                self.accumulators.append(None)
            else:
                assert isinstance(type_, ArrayType | ScalarType)
                scalar = ScalarType(type_.dtype)
                self.accumulators.append(Accumulator(self.e, op, scalar, element))
            if isinstance(type_, ScalarType):
                makers.append(self._make_scalar(type_))
                continue
            assert isinstance(type_, ArrayType)
            order = MemoryOrder()
            if type_.layout != "C":
                key = op is not None, frozenset(of)
                if key not in orders:
                    orders[key] = self._order_of_result(axes, of)
                order = orders[key]
            makers.append(self._make_array(type_, axes, order))
        return makers

    def _axes_of_result(self, *, is_reduced: bool) -> list[int]:
        """The axes of the nest that a result has elements along."""
        return [x for x in range(self.space.ndim) if not (is_reduced and x in self.reductions.axes)]

    def _order_of_result(self, axes: Sequence[int], of: Collection[int]) -> MemoryOrder:
        """In which order a result lies that is computed of these sources."""
        sources = [x for i, x in enumerate(self.sources) if i in of and isinstance(x, Operand)]
        operands = [_Axes(x.sizes, x.strides, axes) for x in (*sources, *self._turned_arrays())]
        return memory_order(self.e, len(axes), operands)

    def _turned_arrays(self) -> list[Axes]:
        """What would be arrays in Fortran order if they were made."""
        found: list[Axes] = []
        axes = range(self.space.ndim)
        for positions in self.turned:
            column, row = (self.sources[i] for i in positions)
            assert isinstance(column, Operand)
            assert isinstance(row, Operand)
            sizes = [*(ONE for _ in axes[2:]), column.sizes[-2], row.sizes[-1]]
            strides = [*(ZERO for _ in axes[2:]), ONE, column.sizes[-2]]
            found.append(_Axes(sizes, strides, axes))
        return found

    def _make_scalar(self, type_: ScalarType) -> Callable[[], Native]:
        """A place on the stack, which LLVM makes a register."""
        e, space = self.e, self.space
        place = e.f.alloca(memory_type(type_.dtype), 2 if type_.dtype.kind == "c" else 1)
        parts = ArrayParts(NULL, NULL, place, (), None)
        sizes, strides = [ONE] * space.ndim, [ZERO] * space.ndim
        type_of_place = ArrayType(type_.dtype, ())
        operand = Operand(type_of_place, parts, sizes, strides, place, is_plain=True, steps=strides)
        self.fresh.append(operand)
        return lambda: load_element(e.f, place, type_.dtype, type_)

    def _make_array(
        self, type_: ArrayType, axes: Sequence[int], order: MemoryOrder
    ) -> Callable[[], Native]:
        space, accumulator = self.space, self.accumulators[-1]
        sizes = [space.sizes[axis] for axis in axes]
        if len(axes) < type_.ndim:  # the reduced axes are kept with one element
            sizes = [space.sizes[x] if x in axes else ONE for x in range(space.ndim)]
            order, axes = order.with_axes_kept(axes, space.ndim), range(space.ndim)
        start = accumulator.start if accumulator is not None and not self._begins_fresh else None
        may_begin = start is not None and self._may_begin_with_row(type_)
        is_zero = start is not None and not may_begin and is_all_zero(start)
        spent = self._spent_operand(type_)
        made = new_array(
            self.e, type_, sizes, is_zero=is_zero, is_fortran=order.is_fortran, spent=spent
        )
        made = kept_order(self.e, made, order)
        if start is not None and not is_zero:
            fill = partial(fill_array, self.e, made, sizes, start)
            self.fills.append(fill) if may_begin else fill()
        operand = space.operand_of_axes(made, axes)
        if accumulator is not None:
            for axis in self.reductions.axes:
                operand.sizes[axis], operand.strides[axis] = ONE, ZERO
        self.fresh.append(operand)
        return lambda: made

    def _spent_operand(self, type_: ArrayType) -> Native | None:
        """An operand that nothing else needs, whose elements may be written over as they are read."""
        if self.into or self.reductions.combine:
            return None
        kind = type_.ndim, type_.dtype
        for x in self.inputs:
            if isinstance(x.type, ArrayType) and (x.type.ndim, x.type.dtype) == kind:
                pointer = array_parts(x).object.text
                sharing = [y for y in self.inputs if pointer in [part.text for part in y.parts]]
                if pointer in self.e.spent and all(y is x for y in sharing):
                    self.e.spent.remove(pointer)
                    return x
        return None

    def _may_begin_with_row(self, type_: ArrayType) -> bool:
        """Whether an extremum of all rows may begin with one of them."""
        is_one = len(self.sources) == len(self.reductions.combine) == 1 and not self.into
        if self.e.is_quick or not (self.is_move and is_one and self.reductions.need_elements):
            return False
        (source,) = self.sources
        return isinstance(source, Operand) and source.dtype == type_.dtype and not source.is_range

    def _begin(self, results: Sequence[Operand], axes: Sequence[int], *, are_joined: bool) -> None:
        """Let a result that is not filled hold what others are combined with, unless it begins in the loops."""
        for fill in self.fills:
            axis, source = axes[0], self.sources[0]
            assert isinstance(source, Operand)
            if len(self.reductions.axes) > 1:
                fill()
            elif axis < self.space.ndim - 1:
                self.space, rest = begun_with_row(self.space, source, results[0], axis, fill)
                self.sources = [rest]
            elif are_joined:
                fill()

    @property
    def _begins_fresh(self) -> bool:
        """Whether the reduced axes are the last ones, in whichever order the nest goes through the axes."""
        ndim, axes = self.space.ndim, self.reductions.axes
        if len(axes) < ndim and self.may_be_turned:
            return False
        return sorted(axes) == [*range(ndim - len(axes), ndim)]

    # -- loops -------------------------------------------------------------------------------------

    def can_go_in_place(self, shifts: Shifts, kernel: Kernel) -> bool:
        """Whether rows of a nest over parts of one array can be written over as they are read."""
        return can_go_in_place(self.into[0], self.sources, shifts.of_operands, kernel)

    def emit_shifted(self, shifts: Shifts, kernel: Kernel, *, is_apart: bool) -> None:
        """Write the loops of a nest over parts of one array; others, too, if they may lie otherwise."""
        target, sources = self.into[0], self.sources

        def write() -> None:
            rows = ShiftedRows(self.space, target, sources, shifts.of_operands, kernel)
            rows.make_lines()
            with own_function(self.e.f):
                rows.emit()

        is_fit = is_in_place(self.space, target, sources, shifts)
        either(self.e.f, is_fit, write, partial(self.emit, kernel, is_apart=is_apart))

    def emit(self, kernel: Kernel, *, is_apart: bool) -> None:
        """Write the loops."""
        self.leave_out_single_axes()
        self.join_known_axes()
        targets, reduced, is_known = self.with_single_axes_first()
        has_checks, f = False, self.e.f

        def write(results: Sequence[Operand], axes: Sequence[int], *, are_joined: bool) -> None:
            nonlocal has_checks
            self._begin(results, axes, are_joined=are_joined)
            if self.fills and self.space.sizes[axes[0]].constant == 0:
                return
            loops = self._loops(kernel, results, axes, is_apart=is_apart, are_joined=are_joined)
            with own_function(f):
                loops.emit()
            has_checks |= loops.has_checks

        def ordered(is_turned: Ref, axes: Sequence[int]) -> None:
            with self.kept():
                write(self.turned_around(is_turned, targets), axes, are_joined=False)

        def joined(targets: Sequence[Operand], axis: int) -> None:
            with self.kept():
                write(self.with_reduced_axis(axis, targets), [axis], are_joined=True)

        last, order = self.space.ndim - 1, FALSE
        are_some, are_sorted = 0 < len(reduced) <= last, not is_known and self.are_sorted(reduced)
        if are_sorted and are_some and not self.are_in_order(targets):
            self._sort(targets, joined)
        else:
            if are_sorted and not are_some:
                targets, is_known = self.with_axes_sorted(targets), True
            if not is_known:
                targets, are_single = self.with_single_axes_outside(targets)
                order = f.binary("or", self.order(self.into), are_single)
            if are_some:
                turned = [last - axis for axis in reduced]
                either(f, order, lambda: ordered(TRUE, turned), lambda: ordered(FALSE, reduced))
            else:
                ordered(order, reduced)
        if self.into and not kernel.may_leave and has_checks:
            msg = "the kernel of a loop nest that writes in place has checks that its ops do not declare"
            raise CodegenError(msg)

    def _sort(
        self, targets: Sequence[Operand], write: Callable[[Sequence[Operand], int], None]
    ) -> None:
        """Write the loops in the order of memory, for both places that a reduced axis may have: the last ones.

        An axis of one element is as good as a reduced one: it is all that there is if no other is reduced.
        """
        f, last = self.e.f, self.space.ndim - 1
        with self.kept():
            found = self.with_axes_joined(self.with_axes_sorted(targets))
            is_single = f.icmp("eq", self.space.sizes[last], 1)
            is_last = f.binary("or", self.is_reduced(last, found), is_single)
            either(f, is_last, lambda: write(found, last), lambda: write(found, last - 1))

    def _loops(
        self,
        kernel: Kernel,
        results: Sequence[Operand],
        axes: Sequence[int],
        *,
        is_apart: bool,
        are_joined: bool,
    ) -> Loops:
        """The loops, of which `axes` are reduced.

        `are_joined`: others outside of them may turn out to be, too, or in their place.
        """
        space, sources, count = self.space, self.sources, len(self.into)
        accumulators = [*(None for _ in self.into), *self.accumulators]
        if space.ndim - 1 in axes and all(accumulators):
            sources = forwards(space, sources)
        elif space.ndim and 0 < count == len(results):
            turned = forwards(space, [*sources, *results])
            sources = turned[:-count]
            results = [x for x in turned[-count:] if isinstance(x, Operand)]
        near = () if is_apart else (*sources, *results[:count])
        ways = redirect_overlapping(space, results[:count], near, may_leave=kernel.may_leave)
        pairs = zip(results[:count], ways, strict=True)
        into = [x if way is None else way.temporary for x, way in pairs]
        return Loops(
            space,
            sources,
            [*into, *results[count:]],
            accumulators,
            kernel,
            reduced=axes,
            are_joined=are_joined,
            ways=[way for way in ways if way is not None],
            is_fresh=not into,
        )


class _Axes:
    """An operand in some of the axes of a nest."""

    def __init__(self, sizes: Sequence[Ref], strides: Sequence[Ref], axes: Sequence[int]) -> None:
        self.sizes = [sizes[axis] for axis in axes]
        self.strides = [strides[axis] for axis in axes]
