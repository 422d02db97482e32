"""How far the arrays that a loop nest reads are shifted against the one that it stores to, all parts of one array.

u[1:-1, 1:-1] += c * (u[2:, 1:-1] + u[1:-1, :-2])     # by (1, 0), and by (0, -1)
"""

from __future__ import annotations

from collections.abc import Sequence

from ljit.analysis.own_memory import is_apart
from ljit.ir import Node, Value, get_op
from ljit.ops.control import MAP
from ljit.types import ArrayType, ListType, RangeType, is_number

__all__ = ["Shift", "shifts_of"]

#: the steps along each axis of the array; None: of what surely lies elsewhere, as numbers do
Shift = tuple[int, ...] | None

_Slices = Sequence[tuple[int, int]]  # along each axis: elements left out in front, and in all


def shifts_of(node: Node) -> list[Shift] | None:
    """The shift of each operand behind the target of a Map; None where it may read what it writes otherwise.

    The array is in C order. All parts leave out as many elements, so that they have the same sizes, whatever those are.
    """
    if (
        node.op is not MAP
        or node.attrs.get("into") != 1
        or node.outputs
        or not _reads_numbers(node)
    ):
        return None
    target, *operands = node.inputs
    base, stored = _part(target)
    if not isinstance(base.type, ArrayType) or base.type.layout != "C" or stored is None:
        return None
    return _shifts(base, stored, operands)


def _shifts(base: Value, stored: _Slices, operands: Sequence[Value]) -> list[Shift] | None:
    found: list[Shift] = []
    for x in operands:
        if is_number(x.type):
            found.append(None)
            continue
        if not isinstance(x.type, ArrayType):
            return None
        array, slices = _part(x)
        if is_apart(array, (base,)) or is_apart(base, (array,)):
            found.append(None)
            continue
        if array is not base or slices is None or [n for _, n in slices] != [n for _, n in stored]:
            return None
        pairs = zip(slices, stored, strict=True)
        found.append(tuple(first - other for (first, _), (other, _) in pairs))
    return found


def _reads_numbers(node: Node) -> bool:
    """Whether the body takes nothing but elements from arrays."""
    block = node.blocks[0]
    outer = [v for inner in block for v in inner.inputs if v.block is not block]
    return not any(isinstance(v.type, ArrayType | ListType | RangeType) for v in outer)


def _part(x: Value) -> tuple[Value, _Slices | None]:
    """The array that a view is a part of, and what it leaves out; None: not known."""
    node = x.made_by(get_op("np::getitem"))
    if node is None or not node.inputs[1].is_constant:
        return x, None
    base, index = node.inputs[0], node.inputs[1].constant
    parts = index if isinstance(index, tuple) else (index,)
    if not isinstance(base.type, ArrayType) or len(parts) > base.type.ndim:
        return x, None
    slices = [_left_out(part) for part in parts]
    if None in slices:
        return x, None
    whole = [(0, 0)] * (base.type.ndim - len(parts))
    return base, [*(part for part in slices if part is not None), *whole]


def _left_out(part: object) -> tuple[int, int] | None:
    """How many elements a slice leaves out in front, and in all, however many there are."""
    if not isinstance(part, slice) or part.step not in (None, 1):
        return None
    start = 0 if part.start is None else part.start
    stop = 0 if part.stop is None else part.stop
    if type(start) is not int or type(stop) is not int or start < 0 or stop > 0:
        return None
    if part.stop is not None and stop == 0:
        return None
    return start, start - stop
