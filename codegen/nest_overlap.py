"""Destinations of a loop nest that overlap its operands: they get their values by way of temporary arrays, as in NumPy.

A destination is safe if each element is read just before it is written.
"""

from __future__ import annotations

from collections.abc import Sequence

from ljit.codegen.arrays import new_array
from ljit.codegen.builder import FALSE, TRUE, Ref
from ljit.codegen.nest_space import Operand, Space
from ljit.records import Record
from ljit.types import ArrayType

__all__ = ["Redirection", "redirect_overlapping"]


class Redirection(Record):
    """A target whose values go to `temporary` first if the condition `overlaps` holds."""

    target: Operand
    temporary: Operand
    overlaps: Ref


def redirect_overlapping(
    space: Space, into: Sequence[Operand], sources: Sequence[object], *, may_leave: bool
) -> list[Redirection | None]:
    """Say for each target where its values go; None: there at once.

    `may_leave`: the body can leave in the middle, and all elements are done again then.
    """
    redirected: list[Redirection | None] = []
    for target in into:
        overlaps = FALSE
        for x in (*sources, *into):
            if isinstance(x, Operand) and x is not target:
                strict = may_leave or x in into
                overlaps = space.f.binary("or", overlaps, _hazard(space, target, x, strict=strict))
        if overlaps is FALSE:
            redirected.append(None)
        else:
            temporary = _temporary(space, target, overlaps)
            redirected.append(Redirection(target, temporary, overlaps))
    return redirected


def _hazard(space: Space, target: Operand, x: Operand, *, strict: bool) -> Ref:
    """Whether the memory of the two overlaps other than element by element."""
    f = space.f
    same_layout = _is_same_view(space, target, x)
    if same_layout is TRUE and not strict:
        return FALSE
    low, high = space.extent(target)
    x_low, x_high = space.extent(x)
    overlap = f.binary("and", f.icmp("ult", low, x_high), f.icmp("ult", x_low, high))
    return overlap if strict else f.binary("and", overlap, f.bool_not(same_layout))


def _is_same_view(space: Space, a: Operand, b: Operand) -> Ref:
    if a.dtype.itemsize != b.dtype.itemsize:
        return FALSE
    f = space.f
    same = f.icmp("eq", a.data, b.data)
    for x, y in zip(a.strides, b.strides, strict=True):
        same = f.binary("and", same, f.icmp("eq", x, y))
    return same


def _temporary(space: Space, target: Operand, overlaps: Ref) -> Operand:
    """A C-contiguous array of the target's shape if `overlaps`, else the target itself."""
    f = space.f
    type_ = ArrayType(target.dtype, (None,) * space.ndim)
    make, go_on = f.new_block("temporary"), f.new_block("target")
    direct = f.condbr(overlaps, make, go_on, unlikely=True)
    f.start(make)
    made = space.operand(new_array(space.e, type_, space.sizes))
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
    return Operand(target.type, target.parts, target.sizes, strides, data, target.is_plain)
