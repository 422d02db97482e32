"""What LLVM is told of the loops of a graph, where it would write code for vectors or several trips in vain.

    for j in range(i * i, n, i):
        is_prime[j] = False     # each trip elsewhere: vectors of places have to be taken apart again

A store to elements with gaps between them that only the run tells, or that are rows, keeps a loop from having vectors,
and from being unrolled: LLVM would compute the places of up to 64 elements at once, and store them one by one. Single
trips are faster (a sieve takes 0.88 of the time), and take two thirds of the time to compile.

    for x in range(w):
        if m[y, x] == 2:
            n[(y + k) % h, x] = 2       # one address for a vector of elements

LLVM 22 makes wrong vectors of that. The remainder is the same in all trips, but may only be computed where the
condition holds. It is, if that is so for the first element of a vector; if it is so for others only, the address is one
that nobody has computed. So loops with divisions that some trips leave out have no vectors.

Nor have loops that store and look up elements (``out[i] = table[data[i]]``), which would be put into a vector one by
one, and trips side by side (`unroll_and_jam`), of which LLVM makes vectors as it is.

Loops that make the checks of a block of trips (`passes/distribute_checks`), and those behind them, are one vector each,
of which LLVM makes as many as it takes: what both compute is then computed once (`engine.py`).

Trips that are done together by the loop inside (`passes/loops/joined_trips.py`) fill the processor with one vector of
elements at a time, and those that are left over are few: more vectors would only be more code.

A loop around others is not unrolled: each of eight trips had a copy of the loops in it. The code is as fast without.
"""

from __future__ import annotations

from collections.abc import Sequence

from ljit.analysis.dependence import indices
from ljit.analysis.float_chains import is_float_chain, is_overlapped
from ljit.analysis.uniformity import Varying
from ljit.codegen.llvm.builder import BlockRef, FunctionBuilder
from ljit.codegen.llvm.engine import has_avx512
from ljit.codegen.loops.counted_loops import loop_properties
from ljit.codegen.loops.watches import (
    Watch,
    inner_loops,
    is_jammed,
    is_left_by_count,
    is_unrolled,
    watch_of,
)
from ljit.ir import Effect, Node, Value
from ljit.ops.containers.iteration import NEXT
from ljit.ops.ranges.int_ranges import MADE_RANGE
from ljit.records import Record
from ljit.types import RANGE, ArrayType

__all__ = ["Hint", "hint_of", "stores_with_gaps", "trips_of_block"]

_NOT_UNROLLED = '!{!"llvm.loop.unroll.runtime.disable"}'
_NEVER_UNROLLED = '!{!"llvm.loop.unroll.disable"}'
_AS_VECTOR = (  # of its known number of trips: LLVM would else write all of them, each a number at a time
    _NEVER_UNROLLED,
    '!{!"llvm.loop.vectorize.followup_vectorized", !{!"llvm.loop.isvectorized", i32 1}}',
    '!{!"llvm.loop.interleave.count", i32 1}',
)
_MASKED = '!{!"llvm.loop.vectorize.predicate.enable", i1 true}'
_SINGLE = '!{!"llvm.loop.vectorize.enable", i1 false}'
_ONE_VECTOR = ('!{!"llvm.loop.interleave.count", i32 1}', _NEVER_UNROLLED)  # less to compile


class Hint(Record):
    """What LLVM is told of a loop, as metadata of the branch back to its header; `is_scalar`: it has no vectors."""

    suffix: str
    is_scalar: bool


def hint_of(f: FunctionBuilder, loop: Node, divisions: Sequence[BlockRef]) -> Hint:
    """What is known of a loop that was written; `divisions`: where there are some in the loop."""
    varying = Varying(loop) if _stores(loop) else None
    has_gaps = varying is not None and stores_with_gaps(loop, varying)
    is_around, is_table = _is_around_others(loop), varying is not None and _looks_up(loop, varying)
    is_chain = not (is_around or f.float_flags) and is_float_chain(loop)
    hints = [] if not has_gaps and all(map(f.is_dominated_by, divisions)) else [_SINGLE]
    is_scalar = bool(hints) or is_chain or is_table
    if has_gaps or is_around or (is_chain and not is_overlapped(loop)):
        hints.append(_NOT_UNROLLED)
    if loop.attrs.get("checks") == "asked" or loop.attrs.get(
        "of_parts"
    ):  # before there are vectors
        hints.append(_NEVER_UNROLLED)
    if _SINGLE not in hints and not is_chain and (trips := trips_of_block(loop)):
        hints += _as_vector(loop, trips)
    if _SINGLE not in hints and loop.attrs.get("one_vector"):
        hints += _ONE_VECTOR
    if _SINGLE not in hints and (is_jammed(loop) or is_table):
        hints.append(_SINGLE)
    return Hint(loop_properties(f, hints), _is_scalar(loop, is_scalar))


def trips_of_block(loop: Node) -> int:
    """How many trips a block has at most of which a loop makes the checks, or does the rest; 0 if there is none."""
    most = loop.attrs.get("most_trips")
    if loop.attrs.get("checks") not in ("made", "in front") or not isinstance(most, int):
        return 0
    return most if loop.inputs[1].is_constant else most + 1


def _as_vector(loop: Node, trips: int) -> Sequence[str]:
    """What lets a loop be one vector, with a mask if it may have fewer trips; nothing where there are no masks."""
    width = f'!{{!"llvm.loop.vectorize.width", i32 {trips}}}'
    if loop.inputs[1].is_constant:
        return (width, *_AS_VECTOR)
    return (width, *_AS_VECTOR, _MASKED) if has_avx512() else ()


def _is_around_others(loop: Node) -> bool:
    """Whether loops lie in it that stay loops: LLVM would copy them with each trip that it writes once more."""
    return not all(map(_is_written_out, inner_loops(loop)))


def _is_written_out(loop: Node) -> bool:
    """Whether LLVM writes all trips of a loop, each a number at a time."""
    return is_unrolled(loop) and not trips_of_block(loop)


def _is_scalar(loop: Node, is_known: bool) -> bool:
    """Whether no trips of a loop become vectors: LLVM unrolls short loops in it, and makes some of innermost ones only.

    A look at a flag in each trip has to happen; when a ``while`` ends that reads what it waits for, nobody knows ahead.
    """
    inside = inner_loops(loop)
    if inside:
        return not all(_is_written_out(inner) or _counts_bits(inner) for inner in inside)
    waits = loop.inputs[1].is_endless and not (is_left_by_count(loop) or _counts_bits(loop))
    return is_known or waits or watch_of(loop) is Watch.POLL


def _counts_bits(loop: Node) -> bool:
    """Whether LLVM may see that a ``while`` counts bits, which takes no loop: few trips, that read nothing."""
    is_short = "most_trips" in loop.attrs
    return is_short and not any(n.op.effects_of(n) & Effect.READ for n in loop.blocks[0].walk())


def _looks_up(loop: Node, varying: Varying) -> bool:
    """Whether a loop loads elements from places that it has read: each one alone, into a vector."""
    nodes = loop.blocks[0].walk()
    loads = (n for n in nodes if n.op.reads_part and isinstance(n.inputs[0].type, ArrayType))
    return any(_is_read(v, varying) for n in loads for v in n.inputs[1:])


def _is_read(value: Value, varying: Varying) -> bool:
    """Whether a number is made of what a trip reads."""
    seen, todo = set[Value](), [value]
    while todo:
        value = todo.pop()
        if value in seen or value not in varying or value.node is None:
            continue
        if value.node.op.effects_of(value.node) & Effect.READ:
            return True
        seen.add(value)
        todo += value.node.inputs
    return False


def stores_with_gaps(loop: Node, varying: Varying) -> bool:
    """Whether an innermost loop stores to elements that do not lie side by side, nor a known number apart."""
    if inner_loops(loop):
        return False
    return any(_has_gaps(indices(store), varying) for store in _stores(loop))


def _stores(loop: Node) -> list[Node]:
    return [node for node in loop.blocks[0].walk() if node.op.writes_part]


def _has_gaps(index: Sequence[Value], varying: Varying) -> bool:
    """Whether the elements at an index are in other rows in each trip, or as far apart as a range's step says."""
    if not any(part in varying for part in index):
        return False
    return index[-1] not in varying or _has_unknown_step(index[-1])


def _has_unknown_step(value: Value) -> bool:
    """Whether a value is the item of a range whose step is not known while compiling."""
    node = value.made_by(NEXT)
    if node is None or node.inputs[0].type != RANGE:
        return False
    view = node.inputs[0].node
    made = view.inputs[0].node if view is not None and view.inputs else None
    is_range = made is not None and made.op.ranges is MADE_RANGE
    return made is not None and is_range and not all(step.is_constant for step in made.inputs[2:])
