"""What extrema of rows are combined with at first: one of the rows, or a number that changes none.

Rows are combined four at a time. If some are left over, the first one is moved to the result, which need not be filled
then, and is no row any more.
"""

from __future__ import annotations

from collections.abc import Callable

from ljit.codegen.loops.nest_functions import own_function
from ljit.codegen.nests.nest_conditions import ROWS
from ljit.codegen.nests.nest_elements import Kernel
from ljit.codegen.nests.nest_loops import Loops
from ljit.codegen.nests.nest_space import ONE, ZERO, Operand, Space, either

__all__ = ["begun_with_row"]


def begun_with_row(
    space: Space, source: Operand, target: Operand, axis: int, fill: Callable[[], None]
) -> tuple[Space, Operand]:
    """Move the first row along an axis to the target, or fill that; gives what is left to be combined."""
    f, size = space.f, space.sizes[axis]
    source, target = (x.with_changes(is_plain=False) for x in (source, target))
    is_left = f.icmp("ne", f.binary("and", size, (1 << ROWS) - 1), 0)
    others = [x for x in range(space.ndim) if x != axis]

    def move() -> None:
        row, place = (x.with_axes(others) for x in (source, target))
        loops = Loops(space.with_axes(others), [row], [place], [None], Kernel(lambda x: x))
        with own_function(f):
            loops.move()

    either(f, is_left, move, fill)
    rest = space.with_axes(range(space.ndim))
    rest.sizes[axis] = f.binary("sub", size, f.select(is_left, ONE, ZERO))
    step = f.select(is_left, source.strides[axis], ZERO)
    sizes = [*source.sizes]
    sizes[axis] = rest.sizes[axis]
    return rest, source.with_changes(data=f.gep("i8", source.data, step, ""), sizes=sizes)
