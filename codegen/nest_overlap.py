"""Destinations of a loop nest that overlap its operands: as in NumPy, all is computed as if nothing were stored yet.

Results go to temporary rows first (a row is what lies along all axes but the outermost), and a row is copied to its
place once no row to come reads what it overwrites. For stencils in place, ``a[1:-1] = a[:-2] + a[2:]``, that is
the row behind: a ring of four rows is enough, and the array is read and written once. How far behind, the
addresses say at run time; where they are not so regular the temporary has all rows. A destination is safe if each
element is read just before it is written.
"""

from __future__ import annotations

from collections.abc import Sequence

from ljit.codegen.arrays import new_array
from ljit.codegen.builder import FALSE, TRUE, FunctionBuilder, Ref, integer
from ljit.codegen.forms import array_parts
from ljit.codegen.nest_space import ONE, ZERO, Operand, Space
from ljit.records import Record
from ljit.types import ArrayType

__all__ = ["Redirection", "redirect_overlapping"]

_RING = 4  # rows; a power of two


class Redirection(Record):
    """A target whose rows go to `temporary` first if the condition `overlaps` holds.

    Row k lies at ``k & mask`` there and can be copied behind row ``k + delay``. If nothing overlaps, `temporary` is
    the target itself.
    """

    target: Operand
    temporary: Operand
    overlaps: Ref
    delay: Ref
    mask: Ref


def redirect_overlapping(
    space: Space, into: Sequence[Operand], sources: Sequence[object], *, may_leave: bool
) -> list[Redirection | None]:
    """Say for each target where its values go; None: there at once.

    `may_leave`: the body can leave in the middle. All is done again then, from the last Snapshot on: what was computed
    of the target since, too. So it takes no value before all are there.
    """
    redirected: list[Redirection | None] = []
    for target in into:
        hazards = _Hazards(space, target)
        if may_leave:
            hazards.overlaps = hazards.is_irregular = TRUE
        for x in () if may_leave else (*sources, *into):
            if isinstance(x, Operand) and x is not target:
                hazards.add(x, is_strict=x in into)
        redirected.append(hazards.redirection())
    return redirected


class _Hazards:
    """What is known of the operands that a target overlaps."""

    def __init__(self, space: Space, target: Operand) -> None:
        self.space = space
        self.f = space.f
        self.target = target
        self.overlaps = FALSE
        self.is_irregular = FALSE  # all rows have to wait
        self.delay = ZERO

    def add(self, x: Operand, *, is_strict: bool) -> None:
        f, hazard = self.f, _hazard(self.space, self.target, x, is_strict=is_strict)
        self.overlaps = f.binary("or", self.overlaps, hazard)
        if is_strict or hazard is FALSE or self.space.ndim < 2:
            self.is_irregular = f.binary("or", self.is_irregular, hazard)
            return
        delay, is_regular = self._rows_behind(x)
        irregular = f.binary("and", hazard, f.bool_not(is_regular))
        self.is_irregular = f.binary("or", self.is_irregular, irregular)
        is_longer = f.binary("and", hazard, f.icmp("sgt", delay, self.delay))
        self.delay = f.select(is_longer, delay, self.delay)

    def _rows_behind(self, x: Operand) -> tuple[Ref, Ref]:
        """How many rows back in the target a row of `x` reaches, and whether that is so for each row."""
        f, (step, *inner) = self.f, self.target.strides
        is_regular, row = TRUE, integer("i64", self.target.dtype.itemsize)
        for mine, other in zip(self.target.strides, x.strides, strict=True):
            is_regular = f.binary("and", is_regular, f.icmp("eq", mine, other))
        for size, stride in zip(self.target.sizes[1:], inner, strict=True):
            row = f.binary("add", row, f.binary("mul", f.binary("sub", size, ONE), stride))
            if not f.is_nonnegative(stride):
                is_regular = f.binary("and", is_regular, f.icmp("sge", stride, ZERO))
        is_regular = f.binary("and", is_regular, f.icmp("sle", row, step))
        is_regular = f.binary("and", is_regular, f.icmp("sgt", step, ZERO))
        mine, other = (f.convert("ptrtoint", a.data, "i64") for a in (self.target, x))
        distance = f.binary("add", f.binary("sub", mine, other), f.binary("sub", row, ONE))
        divisor = f.select(f.icmp("sgt", step, ZERO), step, ONE)
        rows = f.binary("sdiv", distance, divisor)
        is_near = f.icmp("slt", rows, integer("i64", _RING))
        return rows, f.binary("and", is_regular, is_near)

    def redirection(self) -> Redirection | None:
        if self.overlaps is FALSE:
            return None
        f, space = self.f, self.space
        rows = space.sizes[0] if space.ndim > 1 else ONE
        is_ring = f.binary("and", self.overlaps, f.bool_not(self.is_irregular))
        delay = f.select(is_ring, self.delay, f.binary("sub", rows, ONE))
        return Redirection(
            self.target,
            self._temporary(f.select(is_ring, integer("i64", _RING), rows)),
            self.overlaps,
            f.select(self.overlaps, delay, ZERO),
            f.select(is_ring, integer("i64", _RING - 1), integer("i64", -1)),
        )

    def _temporary(self, rows: Ref) -> Operand:
        """So many rows of their own if there is an overlap, else those of the target."""
        f, target, sizes = self.f, self.target, self.space.sizes
        own = [integer("i64", target.dtype.itemsize)]
        for size in reversed(sizes[1:]):
            own.insert(0, f.mul(own[0], size))
        own = own[: len(sizes)]
        count = rows
        for size in sizes[1:] if len(sizes) > 1 else sizes:
            count = f.mul(count, size)
        make, go_on = f.new_block("temporary"), f.new_block("target")
        direct = f.condbr(self.overlaps, make, go_on, unlikely=True)
        f.start(make)
        made = new_array(self.space.e, ArrayType(target.dtype, (None,)), [count])
        left = f.br(go_on)
        f.start(go_on)
        data = f.phi("ptr")
        if self.overlaps is not TRUE:
            data.add(target.data, direct)
        data.add(array_parts(made).data, left)
        strides = [f.select(self.overlaps, a, b) for a, b in zip(own, target.strides, strict=True)]
        return Operand(target.type, target.parts, target.sizes, strides, data, is_plain=False)


def _hazard(space: Space, target: Operand, x: Operand, *, is_strict: bool) -> Ref:
    """Whether the memory of the two overlaps other than element by element."""
    f = space.f
    same_layout = _is_same_view(f, target, x)
    if same_layout is TRUE and not is_strict:
        return FALSE
    low, high = space.extent(target)
    x_low, x_high = space.extent(x)
    overlap = f.binary("and", f.icmp("ult", low, x_high), f.icmp("ult", x_low, high))
    return overlap if is_strict else f.binary("and", overlap, f.bool_not(same_layout))


def _is_same_view(f: FunctionBuilder, a: Operand, b: Operand) -> Ref:
    if a.dtype.itemsize != b.dtype.itemsize:
        return FALSE
    same = f.icmp("eq", a.data, b.data)
    for x, y in zip(a.strides, b.strides, strict=True):
        same = f.binary("and", same, f.icmp("eq", x, y))
    return same
