"""Reduced results of a loop nest: what a run of elements along the inner axis is combined to, in registers.

LLVM keeps several vectors of partial results if a step may be done in any order (`Accumulation.flags`). Floats
are added up in blocks of `BLOCK` elements; the sums of blocks are added one after the other, and what rounding
takes away is added up as well. So the error is that of a block, some tens of roundings of the sum of the
magnitudes, however many blocks there are.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import numpy as np

from ljit.codegen.llvm.builder import Ref, float_constant, integer
from ljit.codegen.llvm.forms import Native
from ljit.codegen.loops.counted_loops import State
from ljit.codegen.nests.nest_space import ZERO
from ljit.codegen.scalars.casts import cast_value, number_parts
from ljit.ir import Accumulation, OpDef, get_op
from ljit.types import ScalarType, Type

if TYPE_CHECKING:
    from collections.abc import Iterator

    from ljit.codegen.emitter import Emitter
    from ljit.codegen.llvm.builder import Phi

__all__ = ["BLOCK", "Accumulator", "combine_blocks", "split", "take"]

BLOCK = 1024  # elements
_FIRST = 32  # elements that are looked at before more are put side by side
_QUICK_BLOCK = 64  # quick code has one partial result, optimised code those of several vectors
_NARROW = np.dtype(np.int32)  # holds the sum of a block of shorter integers


class Accumulator:
    """How elements are combined to one number of `type`.

    A *state* is the components of the number so far. Within a block sums of small integers are narrower: `block_type`.
    `begin(dtype)`: the number to begin with, if it is not the rule's.
    """

    def __init__(
        self,
        e: Emitter,
        op: OpDef,
        type_: ScalarType,
        element: Type,
        begin: Callable[[np.dtype], Any] | None = None,
    ) -> None:
        assert op.accumulation is not None, f"{op.name} combines no elements"
        self.e = e
        self.type = type_
        self.rule: Accumulation = op.accumulation
        self.begin = begin or self.rule.start
        self.op = get_op(op.element_op) if op.element_op is not None else op
        kind = type_.dtype.kind
        self.is_compensated = self.rule.is_compensated and kind in "fc"
        self.saturated = self.rule.saturated if kind == "b" else None
        self.block_type = type_
        if self.rule.is_compensated and kind in "iu" and type_.dtype.itemsize > _NARROW.itemsize:
            self.block_type = _block_type(type_, element)

    @property
    def has_blocks(self) -> bool:
        return self.is_compensated or self.block_type != self.type

    @property
    def start(self) -> Native:
        """The number to begin with."""
        return Native(self.type, number_parts(self.type, self.begin(self.type.dtype)))

    @property
    def start_state(self) -> State:
        """Of a block."""
        start = self.begin(self.block_type.dtype)
        return [*number_parts(self.block_type, start)]

    def combine(self, x: Native, y: Native) -> Native:
        """Do what the op does: `y` is one more element, or what others were combined to."""
        self.e.result_types = (self.type,)
        lower = self.rule.step or self.op.lower
        assert lower is not None
        with self._in_any_order():
            result: Native = lower(self.e, x, y)
        return result

    def step(self, state: State, element: Native) -> State:
        """Take one more element into the state of a block."""
        value = cast_value(self.e.f, element, self.block_type)
        return [*self.combine(Native(self.block_type, state), value).parts]

    def result(self, state: State) -> Native:
        """Give the number that the state of a block stands for."""
        return cast_value(self.e.f, Native(self.block_type, state), self.type)

    @contextmanager
    def _in_any_order(self) -> Iterator[None]:
        f = self.e.f
        saved = f.float_flags
        f.float_flags = " ".join(dict.fromkeys([*saved.split(), *self.rule.flags.split()]))
        yield
        f.float_flags = saved

    # -- blocks ------------------------------------------------------------------------------------

    @property
    def start_total(self) -> State:
        if not self.is_compensated:
            return [*self.start.parts]
        return [part for x in self.start.parts for part in (x, float_constant(x.type, 0.0))]

    def add_block(self, total: State, block: State) -> State:
        """Take the state of one more block into the total: of floats, pairs of a sum and what it lacks."""
        if not self.is_compensated:
            return [*self.combine(Native(self.type, total), self.result(block)).parts]
        f, result = self.e.f, []
        for x, lack, y in zip(total[::2], total[1::2], block, strict=True):
            both = f.binary("fadd", x, y)
            y_part = f.binary("fsub", both, x)
            x_rest = f.binary("fsub", x, f.binary("fsub", both, y_part))
            rest = f.binary("fadd", x_rest, f.binary("fsub", y, y_part))
            result += [both, f.binary("fadd", lack, rest)]
        return result

    def whole(self, total: State) -> State:
        """Give the components of the number that a total stands for.

        The lack of an infinite sum is no number, and a zero may have a sign.
        """
        if not self.is_compensated:
            return total
        f, result = self.e.f, []
        for x, lack in zip(total[::2], total[1::2], strict=True):
            whole, zero = f.binary("fadd", x, lack), float_constant(x.type, 0.0)
            is_better = f.binary("and", f.fcmp("ord", whole, whole), f.fcmp("one", lack, zero))
            result.append(f.select(is_better, whole, x))
        return result

    def is_saturated(self, state: State) -> Ref:
        """Whether nothing can change the state any more."""
        (value,) = state
        return value if self.saturated else self.e.f.bool_not(value)


def _block_type(type_: ScalarType, element: Type) -> ScalarType:
    """In which type sums of a block are made: they fit, and vectors hold more of them."""
    dtype = element.dtype if isinstance(element, ScalarType) else type_.dtype
    if dtype.kind == "b":
        return ScalarType(np.dtype(np.int16))
    is_small = dtype.kind in "iu" and dtype.itemsize < _NARROW.itemsize
    return ScalarType(np.dtype(f"{dtype.kind}{_NARROW.itemsize}")) if is_small else type_


def take(accumulators: Sequence[Accumulator], values: Sequence[Native], carried: State) -> State:
    """Take one or more elements for each accumulator, in turns, into the states of a block."""
    if not accumulators[0].e.f.is_reachable:
        return carried
    states = split(carried, accumulators)
    for index, value in enumerate(values):
        place = index % len(accumulators)
        states[place] = accumulators[place].step(states[place], value)
    return [part for state in states for part in state]


def split(parts: Sequence[Ref], accumulators: Sequence[Accumulator]) -> list[State]:
    """Give each accumulator its part of the states of a block."""
    rest = iter(parts)
    return [[next(rest) for _ in a.start_state] for a in accumulators]


def combine_blocks(
    accumulators: Sequence[Accumulator],
    trip: Ref,
    run: Callable[[Ref, Ref], list[State]],
    *,
    may_stop: bool,
    size: Ref | None = None,
) -> list[Native]:
    """Combine `trip` elements: `run(first, count)` does so for some of them, which are at least one.

    `may_stop`: elements that can change no result need not be computed. `size`: `run` takes no more elements at once.
    """
    may_stop = may_stop and all(a.saturated is not None for a in accumulators)
    has_blocks = size is not None or may_stop or any(a.has_blocks for a in accumulators)
    if accumulators[0].e.is_quick and any(a.is_compensated for a in accumulators):
        size = integer("i64", _QUICK_BLOCK)
    size = size or integer("i64", BLOCK)
    if not has_blocks or (trip.constant is not None and trip.constant <= (size.constant or 0)):
        states = run(ZERO, trip)
        return [a.result(state) for a, state in zip(accumulators, states, strict=True)]
    return _Blocks(accumulators, trip, run, may_stop=may_stop, size=size).emit()


class _Blocks:
    """The loop over blocks while it is written. One block alone needs no totals."""

    def __init__(
        self,
        accumulators: Sequence[Accumulator],
        trip: Ref,
        run: Callable[[Ref, Ref], list[State]],
        *,
        may_stop: bool,
        size: Ref,
    ) -> None:
        self.accumulators = accumulators
        self.trip = trip
        self.run = run
        self.may_stop = may_stop
        self.size = size
        self.f = accumulators[0].e.f

    def emit(self) -> list[Native]:
        f = self.f
        header, merge, finish, done = map(f.new_block, ("block", "merge", "finish", "combined"))
        before = f.br(header)
        f.start(header)
        first = f.phi("i64")
        first.add(0, before)
        totals = [[self._phi(x, before) for x in a.start_total] for a in self.accumulators]
        rest, size = f.binary("sub", self.trip, first), self._size_from(first)
        states = self.run(first, f.select(f.icmp("slt", rest, size), rest, size))
        following = f.add(first, size)
        is_last = self._is_last(following, states)
        alone = [a.result(state) for a, state in zip(self.accumulators, states, strict=True)]
        direct = f.condbr(f.binary("and", is_last, f.icmp("eq", first, 0)), done, merge)
        f.start(merge)
        merged = self._add(totals, states)
        left = f.condbr(is_last, finish, header)
        first.add(following, left)
        for total, new in zip(totals, merged, strict=True):
            for phi, part in zip(total, new, strict=True):
                phi.add(part, left)
        f.start(finish)
        wholes = [a.whole(total) for a, total in zip(self.accumulators, merged, strict=True)]
        left = f.br(done)
        f.start(done)
        results = []
        for one, whole in zip(alone, wholes, strict=True):
            joined = [self._phi(part, direct) for part in one.parts]
            for phi, part in zip(joined, whole, strict=True):
                phi.add(part, left)
            results.append(Native(one.type, joined))
        return results

    def _size_from(self, first: Ref) -> Ref:
        """How many elements a block takes: the first ones often decide, and elements with gaps are copied before."""
        if not self.may_stop or self.size.constant is not None:
            return self.size
        return self.f.select(self.f.icmp("eq", first, 0), integer("i64", _FIRST), self.size)

    def _phi(self, value: Ref, block: object) -> Phi:
        phi = self.f.phi(value.type)
        phi.add(value, block)  # type: ignore[arg-type]
        return phi

    def _add(self, totals: Sequence[Sequence[Ref]], states: Sequence[State]) -> list[State]:
        triples = zip(self.accumulators, totals, states, strict=True)
        return [a.add_block([*total], state) for a, total, state in triples]

    def _is_last(self, following: Ref, states: Sequence[State]) -> Ref:
        f = self.f
        is_last = f.icmp("sge", following, self.trip)
        if not self.may_stop:
            return is_last
        settled = [a.is_saturated(s) for a, s in zip(self.accumulators, states, strict=True)]
        for one in settled[1:]:
            settled[0] = f.binary("and", settled[0], one)
        return f.binary("or", is_last, settled[0])
