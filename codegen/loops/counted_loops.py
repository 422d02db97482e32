"""Counted loops of loop nests, as LLVM takes them best."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

from ljit.codegen.functions.work import count_elements
from ljit.codegen.llvm.builder import BlockRef, Phi, Ref, integer
from ljit.codegen.llvm.lanes import Lanes, Trip, lanes_of
from ljit.records import Record

if TYPE_CHECKING:
    from ljit.codegen.emitter import Emitter
    from ljit.codegen.llvm.builder import FunctionBuilder

__all__ = [
    "PLAIN",
    "State",
    "add_edge",
    "hints_of",
    "inner_loop",
    "loop_properties",
    "maybe_loop",
    "outer_loop",
    "whole_vectors",
]

State = list[Ref]
_NOT_UNROLLED = '!{!"llvm.loop.unroll.disable"}'
_VECTORS_FIRST = (  # of a known number of trips LLVM would else write all, each a number at a time
    _NOT_UNROLLED,
    '!{!"llvm.loop.vectorize.followup_vectorized", !{!"llvm.loop.isvectorized", i32 1}}',
    '!{!"llvm.loop.vectorize.followup_epilogue", !{!"llvm.loop.isvectorized", i32 1}}',
)
_VECTOR = 4  # trips that may become a vector
_WHOLE, _MOST_WHOLE = 256, 64  # bytes and trips that vectors take at once, or a half, a fourth ...
_MASKED = (  # one vector a trip: most rows are short
    '!{!"llvm.loop.vectorize.predicate.enable", i1 true}',
    '!{!"llvm.loop.interleave.count", i32 1}',
    _NOT_UNROLLED,  # eight trips at most: LLVM would write all of them
)
PLAIN = ('!{!"llvm.loop.vectorize.enable", i1 false}', _NOT_UNROLLED)
_NOTHING = "llvm.sideeffect"  # no instruction, but LLVM keeps it
ZERO = integer("i64", 0)


def hints_of(group: str, *, is_unit: bool) -> Sequence[str]:
    """Hints for an inner loop with the accesses of `group`: vectors for unit strides, else little work."""
    return (f'!{{!"llvm.loop.parallel_accesses", {group}}}',) if is_unit else PLAIN


def whole_vectors(
    e: Emitter,
    count: Ref,
    start: State,
    body: Callable[[Ref, State], State],
    hints: Sequence[str],
    length: int,
    *,
    size: int,
) -> State:
    """A loop like `inner_loop` whose last trips, fewer than vectors of LLVM's take, are a vector with a mask.

    Left to LLVM they are done one by one, each of which takes as long as a vector where a trip is long. `size`: of the
    largest elements, in bytes.
    """
    f = e.f
    whole = f.binary("and", count, -min(_WHOLE // size, _MOST_WHOLE))

    def behind(k: Ref, carried: State) -> State:
        return body(f.add(whole, k), carried)

    state = maybe_loop(e, whole, start, body, length, hints)
    rest = f.binary("sub", count, whole)
    return maybe_loop(e, rest, state, behind, length, (*hints, *_MASKED))


def outer_loop(
    e: Emitter, trip: Ref, body: Callable[[Ref], None], *, is_one_copy: bool = False
) -> None:
    """A loop around others.

    LLVM sees that there are few rows behind the groups of a nest, and would write the loops within for each of them.
    `is_one_copy`: it is not to write all of it once more for each thing that is the same in all trips, either, as
    whether an inner loop has any, nor for each of a known number of trips.
    """
    f = e.f
    if trip.constant == 1:
        body(ZERO)
        return
    header, inside, after = f.new_block("loop"), f.new_block("trip"), f.new_block("done")
    before = f.br(header)
    f.start(header)
    k = f.phi("i64")
    k.add(0, before)
    f.condbr(f.icmp("slt", k, trip), inside, after)
    f.start(inside)
    with e.ownership.in_loop():
        body(k)
    if is_one_copy and trip.constant is None and not e.is_quick:
        f.module.declare(_NOTHING, "void", ())
        f.call("void", _NOTHING, (), "noduplicate")
    following = f.binary("add", k, 1, "nuw nsw")
    hints = () if trip.constant is not None and not is_one_copy else (_NOT_UNROLLED,)
    k.add(following, f.br(header, loop_properties(f, hints)))
    f.start(after)


def loop_properties(f: FunctionBuilder, hints: Sequence[str]) -> str:
    """The metadata of a branch back to a loop's header."""
    if not hints:
        return ""
    listed = ", ".join(map(f.module.metadata, hints))
    return f", !llvm.loop {f.module.distinct_metadata(f'!{{{{self}}, {listed}}}')}"


class _Inner(Record):
    """An inner loop whose trip is written; it has to be entered yet. `left`: where a trip may be the last one."""

    inside: BlockRef
    after: BlockRef
    left: BlockRef | None
    trip: Trip

    def enter(self, block: BlockRef | None, number: Ref, state: Sequence[Ref]) -> None:
        """Say with which trip and state the loop begins behind a block."""
        add_edge((self.trip.number, *self.trip.carried), (number, *state), block)


def add_edge(phis: Sequence[Phi], values: Sequence[Ref], block: BlockRef | None) -> None:
    for phi, value in zip(phis, values, strict=True):
        phi.add(value, block)


def inner_loop(
    e: Emitter,
    count: Ref,
    start: State,
    body: Callable[[Ref, State], State],
    hints: Sequence[str],
    length: int,
) -> State:
    """A loop of `count` trips, at least one, that depend on each other by the carried values only.

    `length`: about how many instructions a trip is.
    """
    f = e.f
    if count.constant == 1:
        return body(ZERO, start)
    if hints and count.constant is not None and count.constant >= _VECTOR:
        hints = (*hints, *_VECTORS_FIRST)
    inside, after = f.new_block("trip"), f.new_block("done")
    before = f.br(inside)
    f.start(inside)
    with e.ownership.in_loop(), f.trips():
        k, carried = f.phi("i64"), [f.phi(part.type) for part in start]
        new = body(k, [*carried])
    lines = [*inside.lines] if f.block is inside else None
    following = f.binary("add", k, 1, "nuw nsw")
    more = f.icmp("slt", following, count)
    left = f.condbr(more, inside, after, suffix=loop_properties(f, hints))
    loop = _Inner(inside, after, left, Trip(k, carried, new, lines or ()))
    loop.enter(left, following, new)
    if e.is_quick and before is not None:
        f.reopen(before, inside)
        has_lanes = e.context.options.has_lanes and hints is not PLAIN and count.constant is None
        lanes = lanes_of(f, loop.trip) if has_lanes and lines is not None else None
        count_elements(e.context, f, count, length, lanes.count if lanes is not None else 1)
        if lanes is not None:
            return _begin_with_lanes(f, loop, lanes, count, start)
        before = f.br(inside)
    loop.enter(before, ZERO, start)
    f.start(after)
    return new


def _begin_with_lanes(
    f: FunctionBuilder, loop: _Inner, lanes: Lanes, count: Ref, start: State
) -> State:
    """Put a loop of vectors in front, which leaves less than one of them to the loop."""
    whole = f.binary("and", count, -lanes.count)
    before = f.condbr(f.icmp("sgt", whole, 0), lanes.front, loop.inside)
    loop.enter(before, ZERO, start)
    combined = lanes.emit(whole, start)
    behind = f.condbr(f.icmp("slt", whole, count), loop.inside, loop.after)
    loop.enter(behind, whole, combined)
    f.start(loop.after)
    results = [f.phi(part.type) for part in combined]
    add_edge(results, loop.trip.passed, loop.left)
    add_edge(results, combined, behind)
    return [*results]


def maybe_loop(
    e: Emitter,
    trip: Ref,
    start: State,
    body: Callable[[Ref, State], State],
    length: int,
    hints: Sequence[str] = PLAIN,
) -> State:
    """A loop like `inner_loop` that may have no trips; LLVM leaves it as it is, but for other `hints`."""
    if trip.constant is not None:
        return inner_loop(e, trip, start, body, hints, length) if trip.constant > 0 else start
    f = e.f
    begin, done = f.new_block("begin"), f.new_block("done")
    skipped = f.condbr(f.icmp("sgt", trip, 0), begin, done)
    f.start(begin)
    new = inner_loop(e, trip, start, body, hints, length)
    left = f.br(done)
    f.start(done)
    results = []
    for old, part in zip(start, new, strict=True):
        phi = f.phi(part.type)
        phi.add(old, skipped)
        phi.add(part, left)
        results.append(phi)
    return [*results]
