"""Loop nests over arrays: broadcasting, the inner loop that LLVM vectorises, and stores in place.

The last axis is innermost. The nest is written for inner strides known now (one element, or none for
what is broadcast along the axis), guarded by a run-time check where the types do not promise them; a
second copy with strides read at run time takes over when the check fails. Contiguous operands of one shape
run as a single loop over all elements. Shapes that do not broadcast leave for the interpreter.

A destination that overlaps an operand (unless each element is read just before it is written) gets
its values by way of a temporary array, as in NumPy.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

import numpy as np

from ljit.codegen.arrays import extent, load_element, new_array, store_element, strides_of
from ljit.codegen.builder import FALSE, TRUE, Ref, integer
from ljit.codegen.casts import cast_value
from ljit.codegen.forms import ArrayParts, Native, array_parts
from ljit.codegen.memory_order import fortran_condition
from ljit.codegen.nest_functions import own_function
from ljit.errors import CodegenError
from ljit.records import Record, made_by
from ljit.types import ArrayType, ScalarType, Type

if TYPE_CHECKING:
    from ljit.codegen.emitter import Emitter

__all__ = ["emit_map"]

Body = Callable[[Sequence[Native]], Sequence[Native]]
ONE = integer("i64", 1)
ZERO = integer("i64", 0)


class Operand(Record, frozen=False):
    """An array in the nest: where it lies, its size and stride in each axis of the nest.

    A stride is 0 along an axis that the operand is broadcast along. `wraps` marks an axis where that is decided
    at run time (size 1 where the nest has more).
    """

    type: ArrayType
    parts: ArrayParts
    sizes: list[Ref]  # of the nest's axes; missing leading ones are 1
    strides: list[Ref]
    data: Ref
    cursors: list[Ref] = made_by(factory=list)

    @property
    def dtype(self) -> np.dtype:
        return self.type.dtype


def emit_map(
    e: Emitter,
    into: Sequence[Native],
    inputs: Sequence[Native],
    out_types: Sequence[Type],
    body: Body,
    *,
    may_leave: bool,
) -> list[Native]:
    """Emit the nest; the body's first results go to `into`, the others to fresh arrays (given back).

    `may_leave`: the body has checks that leave for the interpreter, which then redoes all elements; so none
    may be stored that is read again.
    """
    ndim = _rank((*into, *inputs))
    if not into and all(isinstance(t, ScalarType) for t in out_types):
        return _scalar_results(e, inputs, out_types, body)
    if into and ndim != _rank(into):
        e.bail("an operand has more dimensions than the destination")
        return []
    nest = _Nest(e, ndim, list(inputs), body)
    nest.find_sizes(list(into))
    if may_leave:
        nest.leave_if_empty()
    if not e.f.is_reachable:
        return []
    is_fortran = FALSE
    if any(map(_is_strided, out_types)):
        is_fortran = fortran_condition(e, ndim, [x for x in nest.sources if isinstance(x, Operand)])
    made = [_new_output(e, type_, nest.sizes, is_fortran) for type_ in out_types]
    nest.emit([*into, *made], len(into), may_leave=may_leave)
    if into and not may_leave and nest.has_checks:
        msg = "the body of a loop nest that writes in place has checks that its ops do not declare"
        raise CodegenError(msg)
    return made


def _rank(values: Sequence[Native]) -> int:
    return max(x.type.ndim for x in values if isinstance(x.type, ArrayType))


def _scalar_results(
    e: Emitter, inputs: Sequence[Native], out_types: Sequence[Type], body: Body
) -> list[Native]:
    """All arrays have rank 0 and NumPy gives scalars."""
    elements = []
    for x in inputs:
        if isinstance(x.type, ArrayType):
            element = load_element(e.f, array_parts(x).data, x.type.dtype, x.type.element)
            elements.append(element)
        else:
            elements.append(x)
    results = body(elements)
    return [cast_value(e.f, x, t) for x, t in zip(results, out_types, strict=True)]


def _is_strided(type_: Type) -> bool:
    return isinstance(type_, ArrayType) and type_.layout != "C"


def _new_output(e: Emitter, type_: Type, sizes: Sequence[Ref], is_fortran: Ref) -> Native:
    assert isinstance(type_, ArrayType)
    return new_array(e, type_, sizes, is_fortran=is_fortran if _is_strided(type_) else FALSE)


class _Nest:
    """One loop nest while it is written."""

    def __init__(self, e: Emitter, ndim: int, inputs: Sequence[Native], body: Body) -> None:
        self.e = e
        self.f = e.f
        self.ndim = ndim
        self.inputs = inputs
        self.body = body
        self.sizes: list[Ref] = [ONE] * ndim
        self.into: list[Operand] = []
        self.sources: list[Operand | Native] = []
        self.targets: list[Operand] = []
        self.is_flat = FALSE
        self.group = ""
        self.has_checks = False  # the body, as written, can leave

    # -- shapes ------------------------------------------------------------------------------------

    def find_sizes(self, into: Sequence[Native]) -> None:
        """Broadcast the shapes; leave if they do not fit together."""
        if into:
            self.sizes = self._nest_sizes(into[0])
            self.into = [self._operand(x) for x in into]
        shapes = [self._nest_sizes(x) for x in self.inputs if isinstance(x.type, ArrayType)]
        bad = FALSE
        for axis in range(self.ndim):
            for shape in shapes:
                bad = self.f.binary("or", bad, self._merge(axis, shape[axis], bool(into)))
        for target in self.into[1:]:
            for mine, size in zip(target.sizes, self.sizes, strict=True):
                bad = self.f.binary("or", bad, self.f.icmp("ne", mine, size))
        self.e.bailout.bail_if(bad, "shapes do not broadcast")
        self.sources = [
            self._operand(x) if isinstance(x.type, ArrayType) else x for x in self.inputs
        ]

    def leave_if_empty(self) -> None:
        """Leave if there are no elements: the body's checks would not run, NumPy's of scalars do."""
        empty = FALSE
        for size in self.sizes:
            empty = self.f.binary("or", empty, self.f.icmp("eq", size, ZERO))
        self.e.bailout.bail_if(empty, "no elements")

    def _nest_sizes(self, x: Native) -> list[Ref]:
        sizes = array_parts(x).sizes
        return [ONE] * (self.ndim - len(sizes)) + list(sizes)

    def _merge(self, axis: int, size: Ref, is_fixed: bool) -> Ref:
        """Take one size into the nest's; gives the condition that it does not fit."""
        f, known = self.f, self.sizes[axis]
        if size.constant == 1 or size.text == known.text:
            return FALSE
        if known.constant == 1 and not is_fixed:
            self.sizes[axis] = size
            return FALSE
        differs = f.icmp("ne", size, known)
        wrong = f.binary("and", differs, f.icmp("ne", size, ONE))
        if is_fixed:
            return wrong
        if known.constant is None:
            wrong = f.binary("and", wrong, f.icmp("ne", known, ONE))
            if size.constant is not None:  # a constant other than 1 decides
                self.sizes[axis] = size
            else:
                self.sizes[axis] = f.select(f.icmp("eq", known, ONE), size, known)
        return wrong

    def _operand(self, x: Native) -> Operand:
        """Describe an array in the axes of the nest."""
        f, type_, parts = self.f, x.type, array_parts(x)
        assert isinstance(type_, ArrayType)
        missing = self.ndim - type_.ndim
        sizes = [ONE] * missing + list(parts.sizes)
        own = strides_of(f, type_, parts)
        strides = [ZERO] * missing
        for size, full, stride in zip(parts.sizes, self.sizes[missing:], own, strict=True):
            if size.text == full.text:
                strides.append(stride)
            else:
                strides.append(f.select(f.icmp("eq", size, ONE), ZERO, stride))
        return Operand(type_, parts, sizes, strides, parts.data)

    # -- emission ----------------------------------------------------------------------------------

    def emit(self, targets: Sequence[Native], into_count: int, *, may_leave: bool) -> None:
        """Write the loops that fill the targets."""
        operands = [self._operand(x) for x in targets[into_count:]]
        self.targets = self.into + operands
        redirected = self._redirect_overlapping(may_leave) if self.into else []
        with own_function(self.f):
            self._copies()
        for target, temporary, overlaps in redirected:
            self._copy_back(target, temporary, overlaps)

    def _copies(self) -> None:
        """The loops for known inner strides, and those for any strides where they may be needed."""
        if self.ndim > 1:
            self.is_flat = self._flat_condition()
        fast = self._unit_condition()
        general, done = self.f.new_block("strided"), self.f.new_block("mapped")
        if fast is TRUE:
            self._loops(is_unit=True)
        else:
            unit = self.f.new_block("unit")
            self.f.condbr(fast, unit, general)
            if self.f.start(unit):
                self._loops(is_unit=True)
                self.f.br(done)
            if self.f.start(general):
                self.is_flat = FALSE
                self._loops(is_unit=False)
                self.f.br(done)
            self.f.start(done)

    @property
    def arrays(self) -> list[Operand]:
        return [x for x in (*self.sources, *self.targets) if isinstance(x, Operand)]

    def _flat_condition(self) -> Ref:
        """Whether one loop over all elements does: contiguous and of the nest's shape."""
        result = TRUE
        for x in self.arrays:
            if x.parts.strides is not None or x.type.ndim != self.ndim:
                return FALSE
            for mine, size in zip(x.sizes, self.sizes, strict=True):
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
            same = self.f.icmp("eq", x.sizes[-1], self.sizes[-1])
            if x.parts.strides is not None:
                item = integer("i64", x.dtype.itemsize)
                same = self.f.binary("and", same, self.f.icmp("eq", x.strides[-1], item))
            result = self.f.binary("and", result, same)
        return result

    def _inner_stride(self, x: Operand) -> int:
        """Inner stride in bytes that the unit-stride copy of the nest assumes."""
        is_broadcast = x.sizes[-1].constant == 1 and self.sizes[-1].constant != 1
        return 0 if is_broadcast else x.dtype.itemsize

    def _loops(self, *, is_unit: bool) -> None:
        f = self.f
        self.group = f.module.distinct_metadata("!{}")
        for x in self.arrays:
            x.cursors = [x.data]
        trips = list(self.sizes) or [ONE]
        if is_unit and self.is_flat is not FALSE:
            total = trips[0]
            for size in trips[1:]:
                total = f.mul(total, size)
            trips = [f.select(self.is_flat, ONE, size) for size in trips[:-1]]
            trips.append(f.select(self.is_flat, total, self.sizes[-1]))
            while trips[0] is ONE and len(trips) > 1:
                trips = trips[1:]
        self.e.in_slow_copy = not is_unit
        self._level(trips, is_unit=is_unit)
        self.e.in_slow_copy = False

    def _level(self, trips: Sequence[Ref], *, is_unit: bool) -> None:
        """One loop of the nest and those inside."""
        axis = self.ndim - len(trips)
        if len(trips) == 1:
            self._inner(trips[0], is_unit=is_unit)
            return

        def body(k: Ref) -> None:
            for x in self.arrays:
                offset = self.f.mul(k, x.strides[axis])
                x.cursors.append(self.f.gep("i8", x.cursors[-1], offset, ""))
            self._level(trips[1:], is_unit=is_unit)
            for x in self.arrays:
                x.cursors.pop()

        self._loop(trips[0], body)

    def _inner(self, trip: Ref, *, is_unit: bool) -> None:
        """The innermost loop; what is broadcast along its axis is loaded in front of it."""
        strides = {x: self._stride_of(x, is_unit=is_unit) for x in self.arrays}
        if not self.ndim:
            self._element([self._load(x, None, ZERO) for x in self.sources], None, strides)
            return
        begin, done = self.f.new_block("inner"), self.f.new_block("empty")
        self.f.condbr(self.f.icmp("sgt", trip, ZERO), begin, done)
        self.f.start(begin)
        hoisted = {
            index: self._load(x, None, ZERO)
            for index, x in enumerate(self.sources)
            if not isinstance(x, Operand) or strides[x].constant == 0
        }

        def body(k: Ref) -> None:
            elements = [
                hoisted[index] if index in hoisted else self._load(x, k, strides[x])  # type: ignore[index]
                for index, x in enumerate(self.sources)
            ]
            self._element(elements, k, strides)

        self._loop(trip, body, inner_is_unit=is_unit)
        self.f.br(done)
        self.f.start(done)

    def _stride_of(self, x: Operand, *, is_unit: bool) -> Ref:
        if not self.ndim:
            return ZERO
        return integer("i64", self._inner_stride(x)) if is_unit else x.strides[-1]

    def _element(
        self, elements: Sequence[Native], k: Ref | None, strides: dict[Operand, Ref]
    ) -> None:
        """One element: the body, and the stores of its results."""
        checks = self.e.bailout.checks
        results = self.body(elements)
        self.has_checks |= self.e.bailout.checks != checks
        if not self.f.is_reachable:
            return
        for target, value in zip(self.targets, results, strict=True):
            cast = cast_value(self.f, value, target.type.element)
            address = self._address(target, k, strides[target])
            store_element(self.f, address, target.dtype, cast, self._suffix)

    def _load(self, x: Operand | Native, k: Ref | None, stride: Ref) -> Native:
        if isinstance(x, Native):
            return x
        address = self._address(x, k, stride)
        return load_element(self.f, address, x.dtype, x.type.element, self._suffix)

    @property
    def _suffix(self) -> str:
        return f", !llvm.access.group {self.group}"

    def _address(self, x: Operand, k: Ref | None, stride: Ref) -> Ref:
        if k is None or stride.constant == 0:
            return x.cursors[-1]
        if stride.constant is not None and stride.constant > 0:
            return self.f.gep(f"[{stride.constant} x i8]", x.cursors[-1], k)
        return self.f.gep("i8", x.cursors[-1], self.f.mul(k, stride), "")

    def _loop(
        self, trip: Ref, body: Callable[[Ref], None], *, inner_is_unit: bool | None = None
    ) -> None:
        """A counted loop; the inner one runs at least once and has no dependences between trips."""
        f = self.f
        if trip.constant == 1:
            body(ZERO)
            return
        header, inside, after = f.new_block("loop"), f.new_block("trip"), f.new_block("done")
        before = f.br(header)
        f.start(header)
        k = f.phi("i64")
        k.add(ZERO, before)
        if inner_is_unit is not None:
            f.br(inside)
        else:
            f.condbr(f.icmp("slt", k, trip), inside, after)
        f.start(inside)
        with self.e.ownership.in_loop():
            body(k)
        following = f.binary("add", k, ONE, "nuw nsw")
        if inner_is_unit is None:
            k.add(following, f.br(header))
        else:
            more = f.icmp("slt", following, trip)
            metadata = self._loop_metadata(is_unit=inner_is_unit)
            k.add(following, f.condbr(more, header, after, suffix=metadata))
        f.start(after)

    def _loop_metadata(self, *, is_unit: bool) -> str:
        """Vectorise the copy with unit strides; spend no compile time on the other one."""
        module = self.f.module
        if is_unit:
            hints = module.metadata(f'!{{!"llvm.loop.parallel_accesses", {self.group}}}')
        else:
            hints = module.metadata('!{!"llvm.loop.vectorize.enable", i1 false}')
            hints += ", " + module.metadata('!{!"llvm.loop.unroll.disable"}')
        return f", !llvm.loop {module.distinct_metadata(f'!{{{{self}}, {hints}}}')}"

    # -- overlapping destinations ------------------------------------------------------------------

    def _redirect_overlapping(self, may_leave: bool) -> list[tuple[Operand, Operand, Ref]]:
        """Send what cannot be stored at once to temporary arrays: (target, temporary, condition)."""
        redirected = []
        for index, target in enumerate(self.into):
            overlaps = FALSE
            for x in (*self.sources, *self.into):
                if isinstance(x, Operand) and x is not target:
                    strict = may_leave or x in self.into
                    hazard = self._hazard(target, x, strict=strict)
                    overlaps = self.f.binary("or", overlaps, hazard)
            if overlaps is not FALSE:
                temporary = self._temporary(target, overlaps)
                redirected.append((target, temporary, overlaps))
                self.targets[index] = temporary
        return redirected

    def _hazard(self, target: Operand, x: Operand, *, strict: bool) -> Ref:
        """Whether the memory of the two overlaps other than element by element."""
        f = self.f
        same_layout = self._is_same_view(target, x)
        if same_layout is TRUE and not strict:
            return FALSE
        low, high = self._extent(target)
        x_low, x_high = self._extent(x)
        overlap = f.binary("and", f.icmp("ult", low, x_high), f.icmp("ult", x_low, high))
        return overlap if strict else f.binary("and", overlap, f.bool_not(same_layout))

    def _is_same_view(self, a: Operand, b: Operand) -> Ref:
        if a.dtype.itemsize != b.dtype.itemsize:
            return FALSE
        f = self.f
        same = f.icmp("eq", a.data, b.data)
        for x, y in zip(a.strides, b.strides, strict=True):
            same = f.binary("and", same, f.icmp("eq", x, y))
        return same

    def _extent(self, x: Operand) -> tuple[Ref, Ref]:
        axes = list(zip(x.sizes, x.strides, strict=True))
        return extent(self.f, x.data, x.dtype.itemsize, axes)

    def _temporary(self, target: Operand, overlaps: Ref) -> Operand:
        """A C-contiguous array of the target's shape if `overlaps`, else the target itself."""
        f = self.f
        type_ = ArrayType(target.dtype, (None,) * self.ndim)
        make, go_on = f.new_block("temporary"), f.new_block("target")
        direct = f.condbr(overlaps, make, go_on, unlikely=True)
        f.start(make)
        made = self._operand(new_array(self.e, type_, self.sizes))
        left = f.br(go_on)
        f.start(go_on)
        data = f.phi("ptr")
        data.add(target.data, direct)
        data.add(made.data, left)
        strides = []
        for mine, other in zip(target.strides, made.strides, strict=True):
            if mine.text == other.text:
                strides.append(mine)
                continue
            phi = f.phi("i64")
            phi.add(mine, direct)
            phi.add(other, left)
            strides.append(phi)
        return Operand(target.type, target.parts, target.sizes, strides, data)

    def _copy_back(self, target: Operand, temporary: Operand, overlaps: Ref) -> None:
        f = self.f
        copy, done = f.new_block("copy"), f.new_block("copied")
        f.condbr(overlaps, copy, done, unlikely=True)
        f.start(copy)
        inner = _Nest(self.e, self.ndim, (), lambda elements: elements)
        inner.sizes, inner.sources, inner.targets = self.sizes, [temporary], [target]
        with own_function(f):
            inner._copies()
        f.br(done)
        f.start(done)
