"""How far the arrays that a loop nest reads are shifted against the one that it stores to, all parts of one array.

u[1:-1, 1:-1] += c * (u[2:, 1:-1] + u[1:-1, :-2])     # by (1, 0), and by (0, -1)
u[1:n, 1:m] += c * u[0 : n - 1, 1:m]                  # by (-1, 0) if n and m are sizes that u has
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import permutations

from ljit.analysis.own_memory import is_apart
from ljit.analysis.ranges import Ranges
from ljit.ir import Node, Value, get_op
from ljit.ir.linear import Linear
from ljit.ops.control import MAP
from ljit.records import Record
from ljit.types import INT, ArrayType, ListType, RangeType, ScalarType, is_number

__all__ = ["Interleaved", "Shift", "Shifts", "following", "interleaved", "shifts_of", "step_of"]

#: the steps along each axis of the array; None: of what lies elsewhere, as numbers do
Shift = tuple[int, ...] | None


class Shifts(Record):
    """The shift of each operand behind the target of a Map.

    `are_sure`: there is nothing to ask at run time. Else arrays may lie otherwise than these say, have other sizes, or
    share memory although they are of different arrays.
    """

    of_operands: Sequence[Shift]
    are_sure: bool


class Interleaved(Record):
    """Targets of a Map that lie in between each other: the step of all along each axis, and each one's start."""

    steps: Sequence[int]
    starts: Sequence[Sequence[int]]


class _Part(Record):
    """A part of an array: starts, steps, and how many elements it leaves out (None: not known) along each axis."""

    base: Value
    starts: Sequence[Linear]
    steps: Sequence[int]
    left_out: Sequence[int | None]

    @property
    def is_dense(self) -> bool:
        return all(step == 1 for step in self.steps)


def interleaved(node: Node) -> Interleaved | None:
    """How the targets of a Map lie, if they are parts of one array with the same steps: ``a[::2]`` and ``a[1::2]``."""
    into = node.attrs.get("into", 0)
    if not isinstance(into, int) or into < 2:
        return None
    ranges = Ranges()
    parts = [_part(target, ranges) for target in node.inputs[:into]]
    first = parts[0]
    if first is None or first.is_dense:
        return None
    starts = []
    for part in parts:
        if part is None or part.base is not first.base or part.steps != first.steps:
            return None
        if any(start.terms for start in part.starts):
            return None
        starts.append([start.constant for start in part.starts])
    return Interleaved(first.steps, starts)


def step_of(x: Value) -> int:
    """How many elements of an array in C order are from one to the next of a part along its last axis; 0: not known.

    NumPy gives parts without elements other strides.
    """
    if not isinstance(x.type, ArrayType) or not x.type.ndim or x.type.layout == "C":
        return 0
    part = _part(x, Ranges())
    if part is None or part.base is x or getattr(part.base.type, "layout", None) != "C":
        return 0
    return part.steps[-1]


def shifts_of(node: Node) -> Shifts | None:
    """The shifts of a Map's operands; None where it may read what it writes otherwise.

    They are sure for an array in C order if all parts leave out as many elements: they have the same sizes then,
    whatever those are.
    """
    if (
        node.op is not MAP
        or node.attrs.get("into") != 1
        or node.outputs
        or not _reads_numbers(node)
    ):
        return None
    target, *operands = node.inputs
    ranges = Ranges()
    stored = _part(target, ranges)
    if stored is None or not stored.is_dense:
        return None
    assert isinstance(stored.base.type, ArrayType)
    are_sure = stored.base.type.layout == "C" and None not in stored.left_out
    found: list[Shift] = []
    for x in operands:
        if is_number(x.type) or isinstance(x.type, ScalarType):
            found.append(None)
            continue
        if not isinstance(x.type, ArrayType):
            return None
        part = _part(x, ranges)
        if part is not None and part.base is stored.base and part.is_dense:
            steps = [first - other for first, other in zip(part.starts, stored.starts, strict=True)]
            if any(step.terms for step in steps):
                return None
            are_sure &= part.left_out == stored.left_out
            found.append(tuple(step.constant for step in steps))
        else:
            base = x if part is None else part.base
            are_sure &= is_apart(base, (stored.base,)) or is_apart(stored.base, (base,))
            found.append(None)
    return Shifts(found, are_sure)


def following(node: Node) -> dict[int, int]:
    """Which operands of a Map are others a row further: parts of one array, a step along the last axis but one.

    Numbers of operands that are no targets. So it is where there are elements and no slice begins before the array
    does: a run may have to ask.
    """
    count = node.attrs.get("into", 0)
    assert isinstance(count, int)
    ranges, parts = Ranges(), dict[int, _Part]()
    for index, x in enumerate(node.inputs[count:]):
        part = _part(_unchecked(x), ranges) if isinstance(x.type, ArrayType) else None
        if part is not None and part.base is not x:
            parts[index] = part
    return {i: j for i, j in permutations(parts, 2) if _is_next(parts[i], parts[j])}


def _unchecked(x: Value) -> Value:
    """What a check of sizes gives on."""
    check = x.made_by(get_op("prim::same_sizes"))
    return x if check is None else check.inputs[check.outputs.index(x) + 1]


def _is_next(part: _Part, other: _Part) -> bool:
    """Whether a part is another one a row further."""
    if part.base is not other.base or part.steps != other.steps or len(part.steps) < 2:
        return False
    row = [0 for _ in part.steps]
    row[-2] = part.steps[-2]
    steps = [y - x for x, y in zip(part.starts, other.starts, strict=True)]
    return not any(step.terms for step in steps) and [step.constant for step in steps] == row


def _reads_numbers(node: Node) -> bool:
    """Whether the body takes nothing but elements from arrays."""
    block = node.blocks[0]
    outer = [v for inner in block for v in inner.inputs if v.block is not block]
    return not any(isinstance(v.type, ArrayType | ListType | RangeType) for v in outer)


def _part(x: Value, ranges: Ranges) -> _Part | None:
    """Which part of an array a view is, or all of it; None: it is made otherwise."""
    assert isinstance(x.type, ArrayType)
    node = x.made_by(get_op("np::getitem"))
    if node is None:
        return _Part(x, [Linear()] * x.type.ndim, [1] * x.type.ndim, [0] * x.type.ndim)
    base, index = node.inputs
    parts = _items(index)
    if not isinstance(base.type, ArrayType) or len(parts) > base.type.ndim:
        return None
    starts, steps, left_out = [], [], []
    for part in parts:
        bounds = _bounds(part)
        if bounds is None:
            return None
        start, stop, step = bounds
        first = _start(start, ranges)
        if first is None:
            return None
        starts.append(first)
        steps.append(step)
        left_out.append(_left_out(start, stop))
    for _ in range(base.type.ndim - len(parts)):
        starts.append(Linear())
        steps.append(1)
        left_out.append(0)
    return _Part(base, starts, steps, left_out)


def _items(index: Value) -> Sequence[object]:
    """The parts of an index: constants as they are, others as values."""
    if index.is_constant:
        return index.constant if isinstance(index.constant, tuple) else (index.constant,)
    made = index.made_by(get_op("prim::TupleConstruct"))
    parts = made.inputs if made is not None else (index,)
    return [x.constant if x.is_constant else x for x in parts]


def _bounds(part: object) -> tuple[object, object, int] | None:
    """Start and stop of a slice, constants as they are and others as values, and its step, a positive constant."""
    if isinstance(part, slice):
        start, stop, step = part.start, part.stop, part.step
    else:
        made = part.made_by(get_op("prim::SliceConstruct")) if isinstance(part, Value) else None
        if made is None:
            return None
        start, stop, step = (x.constant if x.is_constant else x for x in made.inputs)
    step = 1 if step is None else step
    return (start, stop, step) if type(step) is int and step > 0 else None


def _start(start: object, ranges: Ranges) -> Linear | None:
    """Where a slice begins if it does not begin behind the end: as a polynomial."""
    if isinstance(start, Value):
        return ranges.value(start) if start.type == INT else None
    if start is None:
        return Linear()
    return Linear(start) if type(start) is int and start >= 0 else None


def _left_out(start: object, stop: object) -> int | None:
    """How many elements a slice leaves out, however many there are."""
    first, last = (0 if x is None else x for x in (start, stop))
    if type(first) is not int or type(last) is not int or (stop is not None and last >= 0):
        return None
    return first - last
