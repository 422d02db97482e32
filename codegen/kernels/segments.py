"""Elements of a vector that are combined to one number: a segment of it, in registers."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ljit.codegen.llvm.forms import Native
from ljit.codegen.loops.counted_loops import State, inner_loop
from ljit.codegen.nests.nest_reductions import Accumulator, combine_blocks, split, take
from ljit.ir import Scan, get_op
from ljit.types import INT, ArrayType, ScalarType

if TYPE_CHECKING:
    from ljit.codegen.emitter import Emitter
    from ljit.codegen.llvm.builder import Ref

__all__ = ["array_combine"]

_LENGTH = 4  # instructions for an element


def array_combine(
    e: Emitter, a: Native, first: Native, count: Native, scan: Scan, type_: ScalarType
) -> Native:
    assert isinstance(a.type, ArrayType)
    accumulator = Accumulator(e, get_op(scan.combine), type_, a.type.element, scan.start)

    def run(from_: Ref, size: Ref) -> list[State]:
        start = e.add(first, Native(INT, (from_,)))

        def body(k: Ref, state: State) -> State:
            element = e.array_load(a, [e.add(start, Native(INT, (k,)))])
            return take([accumulator], [element], state)

        state = inner_loop(e, size, accumulator.start_state, body, (), _LENGTH)
        return split(state, [accumulator])

    (found,) = combine_blocks([accumulator], count.ref, run, may_stop=False)
    return found
