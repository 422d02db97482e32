"""The axes of a loop nest: sizes that broadcast at run time, and arrays described in these axes."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from functools import partial, reduce
from typing import TYPE_CHECKING

import numpy as np

from ljit.codegen.arrays.arrays import load_element, strides_of
from ljit.codegen.llvm.builder import FALSE, NULL, TRUE, FunctionBuilder, Ref, integer
from ljit.codegen.llvm.forms import ArrayParts, Native, array_parts
from ljit.errors import CodegenError
from ljit.ops.control import BROADCAST, OTHER_SHAPES
from ljit.records import Record, made_by
from ljit.types import RANGE, ArrayType, RangeType

if TYPE_CHECKING:
    from ljit.codegen.emitter import Emitter

__all__ = ["ONE", "ZERO", "Operand", "Space", "all_of", "any_of", "either", "has_axes", "rank_of"]

_WITH_AXES = (ArrayType, RangeType)

ONE = integer("i64", 1)
ZERO = integer("i64", 0)


class Operand(Record, frozen=False):
    """An array in the nest: where it lies, its size and stride in each axis of the nest.

    A stride is 0 along an axis that the operand is broadcast along, or reduced along if it takes results. Where it and
    the nest have one element, the stride is its own: the axis may be stepped through as one with its neighbour.
    `is_plain`: it is C-contiguous, by its type. `steps` are the strides that it has if it is not broadcast.
    `is_range`: it is no array, and its elements are where they would lie: 0, 1, 2 ...
    """

    type: ArrayType
    parts: ArrayParts
    sizes: list[Ref]  # of the nest's axes; missing ones are 1
    strides: list[Ref]
    data: Ref
    is_plain: bool
    steps: list[Ref]
    is_range: bool = False
    cursors: list[Ref] = made_by(factory=list)

    @property
    def dtype(self) -> np.dtype:
        return self.type.dtype

    def with_axes(self, axes: Sequence[int]) -> Operand:
        """The operand in a nest that has these of the axes, in this order."""
        sizes, strides, steps = (
            [values[axis] for axis in axes] for values in (self.sizes, self.strides, self.steps)
        )
        is_plain = self.is_plain and [*axes] == sorted(axes)
        return self.with_changes(sizes=sizes, strides=strides, steps=steps, is_plain=is_plain)

    def repeated_along(self, axis: int) -> Operand:
        """The operand as one that stays in its place along an axis."""
        sizes, strides, steps = [*self.sizes], [*self.strides], [*self.steps]
        sizes[axis], strides[axis], steps[axis] = ONE, ZERO, ZERO
        return self.with_changes(sizes=sizes, strides=strides, steps=steps, is_plain=False)


def either(
    f: FunctionBuilder, condition: Ref, then: Callable[[], None], otherwise: Callable[[], None]
) -> None:
    """Write both ways from a condition, or the one that it is known to be."""
    if condition.constant is not None:
        (then if condition.constant else otherwise)()
        return
    yes, no, done = f.new_block("then"), f.new_block("otherwise"), f.new_block("either")
    f.condbr(condition, yes, no)
    for block, write in ((yes, then), (no, otherwise)):
        if f.start(block):
            write()
            f.br(done)
    f.start(done)


def any_of(f: FunctionBuilder, conditions: Iterable[Ref]) -> Ref:
    """Whether one of the conditions holds; each is asked once."""
    different = {x.text: x for x in conditions}.values()
    return reduce(partial(f.binary, "or"), different, FALSE)


def all_of(f: FunctionBuilder, conditions: Iterable[Ref]) -> Ref:
    """Whether all of the conditions hold; each is asked once."""
    different = {x.text: x for x in conditions}.values()
    return reduce(partial(f.binary, "and"), different, TRUE)


def rank_of(values: Sequence[Native]) -> int:
    """Give the highest rank of the arrays among the values; that of a range is 1."""
    types = [x.type for x in values if has_axes(x)]
    return max(t.ndim if isinstance(t, ArrayType) else 1 for t in types)


class Space:
    """The sizes of a nest's axes. `into` fixes them, else the inputs' shapes are broadcast."""

    def __init__(self, e: Emitter, ndim: int) -> None:
        self.e = e
        self.f = e.f
        self.ndim = ndim
        self.sizes: list[Ref] = [ONE] * ndim
        self.broadcasts = True

    def find_sizes(self, into: Sequence[Native], inputs: Sequence[Native]) -> None:
        """Broadcast the shapes; leave if they do not fit together."""
        self.broadcasts = self.e.context.options.broadcasts
        if into:
            self.sizes = self._nest_sizes(into[0])
        others = [
            self.f.icmp("ne", mine, size)
            for target in into[1:]
            for mine, size in zip(self._nest_sizes(target), self.sizes, strict=True)
        ]
        self.e.bailout.bail_if(any_of(self.f, others), OTHER_SHAPES)
        shapes = [self._nest_sizes(x) for x in inputs if has_axes(x)]
        bad = [
            self._merge(axis, shape[axis], bool(into))
            for axis in range(self.ndim)
            for shape in shapes
        ]
        reason = "shapes do not broadcast" if self.broadcasts else BROADCAST
        self.e.bailout.bail_if(any_of(self.f, bad), reason)

    def check_covers(self, covers: Sequence[Sequence[Native]]) -> None:
        """Leave unless each of these sets of arrays has the shape of the nest by itself."""
        f, bad = self.f, FALSE
        for arrays in covers:
            shapes = [self._nest_sizes(x) for x in arrays]
            for axis, whole in enumerate(self.sizes):
                own = ONE
                for size in {shape[axis].text: shape[axis] for shape in shapes}.values():
                    own = size if own is ONE else f.select(f.icmp("eq", own, 1), size, own)
                bad = f.binary("or", bad, f.icmp("ne", own, whole))
        self.e.bailout.bail_if(bad, OTHER_SHAPES)

    def leave_if_empty(self, axes: Sequence[int]) -> None:
        """Leave if there are no elements along one of the axes."""
        empty = FALSE
        for axis in axes:
            empty = self.f.binary("or", empty, self.f.icmp("eq", self.sizes[axis], 0))
        self.e.bailout.bail_if(empty, "no elements")

    def _nest_sizes(self, x: Native) -> list[Ref]:
        sizes = [x.parts[1]] if x.type == RANGE else array_parts(x).sizes
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
        if not self.broadcasts and known.constant != 1:
            if size.constant is not None:
                self.sizes[axis] = size
            return differs
        wrong = f.binary("and", differs, f.icmp("ne", size, 1))
        if is_fixed:
            return wrong
        if known.constant is None:
            wrong = f.binary("and", wrong, f.icmp("ne", known, 1))
            if size.constant is not None:  # a constant other than 1 decides
                self.sizes[axis] = size
            else:
                self.sizes[axis] = f.select(f.icmp("eq", known, 1), size, known)
        return wrong

    def operand(self, x: Native) -> Operand:
        """Describe an array in the axes of the nest; its last axis is the nest's."""
        if x.type == RANGE:
            return self._range(x)
        return self.operand_of_axes(x, range(self.ndim - _rank(x), self.ndim))

    def _range(self, x: Native) -> Operand:
        """Describe a range in the axes of the nest: bytes from address 0 on, that nobody reads."""
        start, stop, step = x.parts
        if start.constant != 0 or step.constant != 1:
            msg = "a range in a loop nest that is not range(n)"
            raise CodegenError(msg)
        type_ = ArrayType(np.dtype(np.int8), (None,))
        place = Native(type_, (NULL, NULL, NULL, stop))
        operand = self.operand(place)
        operand.is_range = True
        return operand

    def operand_of_axes(self, x: Native, axes: Sequence[int]) -> Operand:
        """Describe an array whose axes are those `axes` of the nest; along others it stays in its place."""
        f, type_, parts = self.f, x.type, array_parts(x)
        assert isinstance(type_, ArrayType)
        sizes, strides, steps = ([x] * self.ndim for x in (ONE, ZERO, ZERO))
        own = strides_of(f, type_, parts)
        for axis, size, stride in zip(axes, parts.sizes, own, strict=True):
            sizes[axis], steps[axis] = size, stride
            full = self.sizes[axis]
            if not self.broadcasts and size.constant != 1:
                size = sizes[axis] = full  # `find_sizes` has compared them
            is_one = TRUE if size.constant == 1 else f.icmp("ne", size, full)
            strides[axis] = stride if size.text == full.text else f.select(is_one, ZERO, stride)
        return Operand(type_, parts, sizes, strides, parts.data, parts.strides is None, steps)

    def with_axes(self, axes: Sequence[int]) -> Space:
        """These of the axes, in this order."""
        other = Space(self.e, len(axes))
        other.sizes, other.broadcasts = [self.sizes[axis] for axis in axes], self.broadcasts
        return other

    def turned(self, condition: Ref, axes: Sequence[int]) -> Space:
        """The same axes, in another order if the condition holds."""
        other = Space(self.e, self.ndim)
        other.sizes, other.broadcasts = (
            _turned(self.f, self.sizes, condition, axes),
            self.broadcasts,
        )
        return other

    def turned_operand(self, x: Operand, condition: Ref, axes: Sequence[int]) -> Operand:
        """An operand in the axes of `turned`."""
        sizes, strides = (
            _turned(self.f, values, condition, axes) for values in (x.sizes, x.strides)
        )
        steps, is_range = strides, x.is_range
        return Operand(x.type, x.parts, sizes, strides, x.data, False, steps, is_range)


def has_axes(x: Native) -> bool:
    """Whether an input of a nest has elements along its axes, or is the same for all."""
    return isinstance(x.type, _WITH_AXES)


def _rank(x: Native) -> int:
    """Give the rank of an array."""
    assert isinstance(x.type, ArrayType)
    return x.type.ndim


def _turned(
    f: FunctionBuilder, values: Sequence[Ref], condition: Ref, axes: Sequence[int]
) -> list[Ref]:
    return [f.select(condition, values[axis], x) for axis, x in zip(axes, values, strict=True)]


def load_first(e: Emitter, x: Native) -> Native:
    """Give the element of an array of rank 0, or a number as it is."""
    if not isinstance(x.type, ArrayType):
        return x
    return load_element(e.f, array_parts(x).data, x.type.dtype, x.type.element)
