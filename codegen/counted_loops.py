"""Counted loops of loop nests, as LLVM takes them best."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

from ljit.codegen.builder import Ref, integer
from ljit.codegen.work import count_elements

if TYPE_CHECKING:
    from ljit.codegen.builder import FunctionBuilder
    from ljit.codegen.emitter import Emitter

__all__ = ["State", "hints_of", "inner_loop", "maybe_loop", "outer_loop"]

State = list[Ref]
_NOT_UNROLLED = '!{!"llvm.loop.unroll.disable"}'
_PLAIN = ('!{!"llvm.loop.vectorize.enable", i1 false}', _NOT_UNROLLED)
ONE, ZERO = integer("i64", 1), integer("i64", 0)


def hints_of(group: str, *, is_unit: bool) -> Sequence[str]:
    """Hints for an inner loop with the accesses of `group`: vectors for unit strides, else little work."""
    return (f'!{{!"llvm.loop.parallel_accesses", {group}}}',) if is_unit else _PLAIN


def outer_loop(e: Emitter, trip: Ref, body: Callable[[Ref], None]) -> None:
    """A loop around others.

    LLVM sees that there are few rows behind the groups of a nest, and would write the loops within for each of them.
    """
    f = e.f
    if trip.constant == 1:
        body(ZERO)
        return
    header, inside, after = f.new_block("loop"), f.new_block("trip"), f.new_block("done")
    before = f.br(header)
    f.start(header)
    k = f.phi("i64")
    k.add(ZERO, before)
    f.condbr(f.icmp("slt", k, trip), inside, after)
    f.start(inside)
    with e.ownership.in_loop():
        body(k)
    following = f.binary("add", k, ONE, "nuw nsw")
    hints = () if trip.constant is not None else (_NOT_UNROLLED,)
    k.add(following, f.br(header, _properties(f, hints)))
    f.start(after)


def _properties(f: FunctionBuilder, hints: Sequence[str]) -> str:
    """The metadata of a branch back to a loop's header."""
    if not hints:
        return ""
    listed = ", ".join(map(f.module.metadata, hints))
    return f", !llvm.loop {f.module.distinct_metadata(f'!{{{{self}}, {listed}}}')}"


def inner_loop(
    e: Emitter,
    trip: Ref,
    start: State,
    body: Callable[[Ref, State], State],
    hints: Sequence[str],
    length: int,
) -> State:
    """A loop that runs at least once and whose trips depend on each other by the carried values only.

    `length`: about how many instructions a trip is.
    """
    f = e.f
    if trip.constant == 1:
        return body(ZERO, start)
    count_elements(e.context, f, trip, length)
    inside, after = f.new_block("trip"), f.new_block("done")
    before = f.br(inside)
    f.start(inside)
    with e.ownership.in_loop(), f.trips():
        k, carried = f.phi("i64"), [f.phi(part.type) for part in start]
        new = body(k, [*carried])
    k.add(ZERO, before)
    for phi, part in zip(carried, start, strict=True):
        phi.add(part, before)
    following = f.binary("add", k, ONE, "nuw nsw")
    more = f.icmp("slt", following, trip)
    left = f.condbr(more, inside, after, suffix=_properties(f, hints))
    k.add(following, left)
    for phi, part in zip(carried, new, strict=True):
        phi.add(part, left)
    f.start(after)
    return new


def maybe_loop(
    e: Emitter, trip: Ref, start: State, body: Callable[[Ref, State], State], length: int
) -> State:
    """A loop like `inner_loop` that may have no trips; LLVM leaves it as it is."""
    if trip.constant is not None:
        return inner_loop(e, trip, start, body, _PLAIN, length) if trip.constant > 0 else start
    f = e.f
    begin, done = f.new_block("begin"), f.new_block("done")
    skipped = f.condbr(f.icmp("sgt", trip, ZERO), begin, done)
    f.start(begin)
    new = inner_loop(e, trip, start, body, _PLAIN, length)
    left = f.br(done)
    f.start(done)
    results = []
    for old, part in zip(start, new, strict=True):
        phi = f.phi(part.type)
        phi.add(old, skipped)
        phi.add(part, left)
        results.append(phi)
    return [*results]
