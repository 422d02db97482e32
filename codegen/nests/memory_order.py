"""The memory order of fresh arrays: NumPy's "keep" order, which follows that of the operands."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Protocol

from ljit.codegen.llvm.builder import FALSE, TRUE, Ref, integer
from ljit.codegen.nests.nest_space import all_of, any_of
from ljit.ir import Block, Value
from ljit.records import Record

if TYPE_CHECKING:
    from ljit.codegen.emitter import Emitter

__all__ = [
    "Axes",
    "MemoryOrder",
    "are_known_in_order",
    "exchange_condition",
    "is_last_known",
    "memory_order",
    "operands_of_results",
    "repeated_condition",
    "reversed_condition",
    "single_condition",
]

_ZERO = integer("i64", 0)


class Axes(Protocol):
    """An operand in the axes of a loop nest; the stride of a repeated axis is 0."""

    sizes: list[Ref]
    strides: list[Ref]


class MemoryOrder(Record):
    """Whether fresh arrays lie in Fortran order, or in neither that nor C order.

    `steps`: how far each operand steps along each axis, 0 if it has one element there; they say which order that is.
    `is_last_known`: the last axis surely stays the last one.
    """

    is_fortran: Ref = FALSE
    is_mixed: Ref = FALSE
    steps: Sequence[Sequence[Ref]] = ()
    is_last_known: bool = False

    def with_axes_kept(self, axes: Sequence[int], ndim: int) -> MemoryOrder:
        """The order of arrays whose axes are some of `ndim`, if the others are kept with one element."""
        steps = [[*own] for own in self.steps]
        kept = [[own[axes.index(x)] if x in axes else _ZERO for x in range(ndim)] for own in steps]
        return self.with_changes(steps=kept)


def operands_of_results(block: Block) -> list[frozenset[int]]:
    """The positions of the operands that each result of a Map is computed of; [] for one result, which has them all.

    An operand that no element is taken of counts for all results, and so do all for a result that none makes.
    """
    results = block.terminator.inputs
    if len(results) < 2:
        return []
    of: dict[Value, frozenset[int]] = {x: frozenset((i,)) for i, x in enumerate(block.params)}
    nothing = frozenset[int]()
    for node in block:
        inner = node.walk() if node.blocks else (node,)
        of.update(
            dict.fromkeys(
                node.outputs, nothing.union(*(of.get(v, nothing) for x in inner for v in x.inputs))
            )
        )
    made = [of.get(x, nothing) for x in results]
    everything = frozenset(range(len(block.params)))
    unseen = everything.difference(*made)
    return [x | unseen if x else everything for x in made]


def memory_order(e: Emitter, ndim: int, operands: Sequence[Axes]) -> MemoryOrder:
    """In which order the axes of fresh arrays lie.

    An axis moves behind a later one if its steps are the shorter ones in all operands that step along
    both (as the comparison in NumPy's iterator has it; where it cannot tell, C order stays).
    """
    stays = is_last_known(e, operands)
    if ndim < 2 or (ndim == 2 and stays):
        return MemoryOrder()
    # a last axis that stays behind all others is asked no more
    all_move, some_move = _moves(e, ndim - 1 if stays else ndim, operands)
    if stays:
        all_move = FALSE
    if ndim == 2:
        return MemoryOrder(all_move)
    is_mixed = e.f.binary("and", some_move, e.f.bool_not(all_move))
    steps = [] if is_mixed is FALSE else [[_step(e, x, i) for i in range(ndim)] for x in operands]
    return MemoryOrder(all_move, is_mixed, steps, stays)


def reversed_condition(
    e: Emitter, sizes: Sequence[Ref], operands: Sequence[Axes], *, is_first_inner: bool = True
) -> Ref:
    """Whether going through the axes in the opposite order is better: the inner loop has the shorter steps then.

    Axes of one element are passed over; the first one is not if it had better not be inside of others.
    """
    ndim = len(sizes)
    if ndim < 2 or any(x.strides[0].constant != 0 and _is_known(e, x) for x in operands):
        return FALSE
    outer, inner = range(ndim - 1) if is_first_inner else (0,), range(ndim - 1, 0, -1)
    return _are_shorter(
        e,
        [
            (_step_of_first(e, x, sizes, outer), _step_of_first(e, x, sizes, inner))
            for x in operands
        ],
    )


def repeated_condition(
    e: Emitter, sizes: Sequence[Ref], operands: Sequence[Axes], outer: int, inner: int
) -> Ref:
    """Whether all operands stay in their places along an axis, and some step along a longer one outside of it."""
    f = e.f
    if any(x.strides[inner].constant for x in operands):
        return FALSE
    is_shorter = f.icmp("slt", sizes[inner], sizes[outer])
    steps = any_of(f, [f.icmp("ne", x.strides[outer], 0) for x in operands])
    return all_of(f, [is_shorter, steps, *(f.icmp("eq", x.strides[inner], 0) for x in operands)])


def single_condition(
    e: Emitter, sizes: Sequence[Ref], operands: Sequence[Axes], axes: Sequence[int]
) -> Ref:
    """Whether axes, the last one among them, turn out to have one element each; not if steps along that are known."""
    last = len(sizes) - 1
    if any(x.strides[last].constant for x in operands):
        return FALSE
    return all_of(e.f, [e.f.icmp("eq", sizes[axis], 1) for axis in axes])


def exchange_condition(e: Emitter, operands: Sequence[Axes], outer: int, inner: int) -> Ref:
    """Whether an axis has shorter steps than one inside of it, in all operands that step along both."""
    pairs = [(x.strides[outer], x.strides[inner]) for x in operands]
    if any(far.constant != 0 and near.constant and _is_longer(e, far, near) for far, near in pairs):
        return FALSE
    if are_known_in_order(e, operands, outer, inner):
        return FALSE
    return _moves_behind(e, operands, outer, inner)


def is_last_known(e: Emitter, operands: Sequence[Axes]) -> bool:
    """Whether the last axis is surely that of the shortest steps in all operands, or the only one."""
    return all(_has_no_say(x) or _is_known(e, x) for x in operands)


def _is_known(e: Emitter, x: Axes) -> bool:
    """Whether the last axis is surely that of the shortest steps, but in arrays without elements or of single rows."""
    *outer, last = x.strides
    return bool(last.constant) and all(_is_longer(e, s, last) for s in outer if s.constant != 0)


def _is_longer(e: Emitter, stride: Ref, last: Ref) -> bool:
    """Whether a stride is surely not the shorter one, but along axes of one element or of which all is the same."""
    if stride.constant is None and e.f.numbers.are_nonnegative(stride):
        return True
    return last.constant is not None and e.f.numbers.is_multiple(stride, int(last.constant))


def _has_no_say(x: Axes) -> bool:
    """Whether there are not two axes that the operand steps along."""
    return sum(stride.constant != 0 for stride in x.strides) < 2


def _moves(e: Emitter, ndim: int, operands: Sequence[Axes]) -> tuple[Ref, Ref]:
    """Whether all axes move behind the later ones, and whether some do; those of one element may stay anywhere."""
    f, all_move, some_move = e.f, TRUE, FALSE
    for outer in range(ndim):
        for inner in range(outer + 1, ndim):
            moves = _moves_behind(e, operands, outer, inner)
            some_move = f.binary("or", some_move, moves)
            if ndim > 2:
                singles = [_is_single(e, operands, axis) for axis in (outer, inner)]
                moves = any_of(f, [moves, *singles])
            all_move = f.binary("and", all_move, moves)
    return f.binary("and", all_move, some_move), some_move


def _is_single(e: Emitter, operands: Sequence[Axes], axis: int) -> Ref:
    return all_of(e.f, [e.f.icmp("eq", x.sizes[axis], 1) for x in operands])


def are_known_in_order(e: Emitter, operands: Sequence[Axes], outer: int, inner: int) -> bool:
    """Whether an axis surely has the longer steps than one inside of it, in one operand."""
    return any(_is_product(e, x.strides[outer], x.strides[inner]) for x in operands)


def _is_product(e: Emitter, far: Ref, near: Ref) -> bool:
    """Whether steps are those of an array in C order, but where that has no elements."""
    numbers = e.f.numbers
    return (
        near.constant != 0
        and numbers.are_nonnegative(far, near)
        and numbers.is_product_of(far, near)
    )


def _has_sizes(x: Axes, operands: Sequence[Axes], axes: Sequence[int]) -> bool:
    """Whether an operand surely has as many elements along some axes as any other one has."""
    pairs = [(x.sizes[axis], other.sizes[axis]) for axis in axes for other in operands]
    return all(size.constant == 1 or size.text == own.text for own, size in pairs)


def _moves_behind(e: Emitter, operands: Sequence[Axes], outer: int, inner: int) -> Ref:
    decided = [
        x for x in operands if 0 not in (x.strides[outer].constant, x.strides[inner].constant)
    ]
    known = [x for x in decided if _is_product(e, x.strides[outer], x.strides[inner])]
    if len(known) == len(decided) or any(_has_sizes(x, operands, (outer, inner)) for x in known):
        return FALSE
    return _are_shorter(e, [(_step(e, x, outer), _step(e, x, inner)) for x in operands])


def _are_shorter(e: Emitter, steps: Sequence[tuple[Ref, Ref]]) -> Ref:
    """Whether the first steps of all operands that have both are the shorter ones, and some have both."""
    f, compared, stays = e.f, FALSE, FALSE
    for far, near in {(far.text, near.text): (far, near) for far, near in steps}.values():
        none = f.binary("or", f.icmp("eq", far, 0), f.icmp("eq", near, 0))
        both = f.bool_not(none)
        compared = f.binary("or", compared, both)
        stays = f.binary("or", stays, f.binary("and", both, f.icmp("sle", near, far)))
    return f.binary("and", compared, f.bool_not(stays))


def _step(e: Emitter, x: Axes, axis: int) -> Ref:
    """The length of the stride along an axis; 0 if the axis has one element."""
    f, stride = e.f, x.strides[axis]
    if f.numbers.are_nonnegative(stride):
        return f.select(f.icmp("eq", x.sizes[axis], 1), _ZERO, stride)
    negated = f.binary("sub", _ZERO, stride)
    length = f.select(f.icmp("slt", stride, 0), negated, stride)
    return f.select(f.icmp("eq", x.sizes[axis], 1), _ZERO, length)


def _step_of_first(e: Emitter, x: Axes, sizes: Sequence[Ref], axes: Sequence[int]) -> Ref:
    """The length of the stride along the first one of some axes that has more than one element in the nest."""
    f, (*others, last) = e.f, axes
    step = _step(e, x, last)
    for axis in reversed(others):
        step = f.select(f.icmp("eq", sizes[axis], 1), step, _step(e, x, axis))
    return step
