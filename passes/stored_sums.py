"""Sums of one loop in another, made where they are stored, so that the loops can change places (`passes/interchange`).

    for j in range(p):                        for j in range(p):
        s = 0.0                                   c[i, j] = 0.0
        for k in range(m):                    for k in range(m):
            s += a[i, k] * b[k, j]                for j in range(p):
        c[i, j] = s                                   c[i, j] += a[i, k] * b[k, j]

Each element gets its terms in the program's order. The array has the dtype of the sum and is not read by the loops, and
nothing between its first and its last store can leave.

Where the type of the sum settles (``s = 0.0`` becomes an ``np.float64``), the specialiser has written the inner loop
twice: a first trip, and the others. `match` makes sure that both do the same; the sum then begins with the number
as one of the settled type, which is what NumPy makes of a Python number that meets one of its own.
"""

from __future__ import annotations

from collections.abc import Sequence

from ljit.ir import Block, Node, Value, get_op
from ljit.ops.control import BREAK, LOOP, REGION, SNAPSHOT, YIELD
from ljit.records import Record
from ljit.types import ArrayType, ScalarType

__all__ = ["StoredSum", "match"]


class StoredSum(Record):
    """What a loop does that sums in one loop and stores the sum."""

    before: list[Node]  # in front of the inner loop
    loop: Node  # the inner loop, of the settled type
    start: Value  # of its trips, the first one included
    first: Value | object  # what the sum begins with: a value of its type, or a number
    index: list[Node]  # computes where it is stored
    store: Node


def match(outer: Node) -> StoredSum | None:
    """Find the parts of a loop of that kind."""
    nodes = _nodes(outer.blocks[0])
    core = next((n for n in nodes if n.op in (LOOP, REGION)), None)
    if core is None or len(core.outputs) != 1 or nodes[-1].op is not YIELD:
        return None
    position = nodes.index(core)
    store = _store(nodes[position + 1 : -1], core.output)
    found = _settled(core) if core.op is REGION else _plain(core)
    if store is None or found is None:
        return None
    loop, start, first = found
    array, sum_ = store[1].inputs[0].type, loop.output.type
    if not (isinstance(array, ArrayType) and sum_ == ScalarType(array.dtype)):
        return None
    return StoredSum(nodes[:position], loop, start, first, *store)


def _nodes(block: Block) -> list[Node]:
    return [n for n in block if n.op is not SNAPSHOT]


def _store(nodes: Sequence[Node], value: Value) -> tuple[list[Node], Node] | None:
    """What computes where `value` is stored, and the store; None if there is more to it than that."""
    users = {user for user, _ in value.uses if user.op is not SNAPSHOT}
    if not nodes:
        return None
    *index, last = nodes
    number = next((n for n in index if n.op is get_op("np::number") and n.inputs[0] is value), None)
    if number is not None:  # of either type that the sum can have
        if list(number.output.uses) != [(last, len(last.inputs) - 1)]:
            return None
        index.remove(number)
        users -= {number}
    elif list(last.inputs[-1:]) != [value]:
        return None
    is_store = len(last.inputs) == 3 and not last.outputs
    return (index, last) if is_store and not users - {last} else None


def _plain(loop: Node) -> tuple[Node, Value, Value | object] | None:
    return (loop, loop.inputs[0], loop.inputs[2]) if _is_counted(loop, carried=1) else None


def _is_counted(loop: Node, carried: int) -> bool:
    is_plain = loop.op is LOOP and len(loop.inputs) == 2 + carried and len(loop.blocks) == 1
    return is_plain and loop.blocks[0].terminator.op is YIELD


def _settled(region: Node) -> tuple[Node, Value, Value | object] | None:
    """The second of two loops of which the first one is left in its first trip; where that begins, and with what."""
    match [(n.op, n) for n in _nodes(region.blocks[0])]:
        case [(op, head), (second_op, loop), (end_op, end)] if (op, second_op, end_op) == (
            REGION,
            LOOP,
            YIELD,
        ):
            pass
        case _:
            return None
    inside = _nodes(head.blocks[0])
    if not _is_counted(loop, carried=1) or end.inputs[0] is not loop.output or len(inside) != 2:
        return None
    trip, empty = inside
    is_trip = trip.op is LOOP and len(trip.inputs) == 2 and len(trip.blocks) == 1
    if not is_trip or empty.op is not BREAK or empty.target is not region:
        return None
    if list(loop.inputs) != [head.outputs[0], trip.inputs[1], head.outputs[1]]:
        return None
    (first,) = empty.inputs
    left = trip.blocks[0].terminator
    if not first.is_constant or left.op is not BREAK or left.target is not head:
        return None
    if not _do_the_same(trip, first, loop, left):
        return None
    return loop, trip.inputs[0], first.constant


def _do_the_same(trip: Node, first: Value, loop: Node, left: Node) -> bool:
    """Whether one trip with the first value does what a trip of the loop does with the carried one."""
    (k, carried), (k1,) = loop.blocks[0].params, trip.blocks[0].params
    body, once = _nodes(loop.blocks[0]), _nodes(trip.blocks[0])
    following = once[-2] if len(once) == len(body) + 1 else None
    if following is None or left.inputs[0] is not following.output:
        return False
    if [v.constant if v.is_constant else v for v in following.inputs] != [k1, 1]:
        return False
    same: dict[Value, Value] = {k: k1, carried: first}
    for node, other in zip(body[:-1], once[:-2], strict=True):
        if node.op is not other.op or node.attrs != other.attrs or node.blocks or other.blocks:
            return False
        if [same.get(v, v) for v in node.inputs] != list(other.inputs):
            return False
        if carried in node.inputs and not _takes_numbers_as_its_own(node, carried):
            return False
        same.update(zip(node.outputs, other.outputs, strict=True))
    (result,) = body[-1].inputs
    return same.get(result) is left.inputs[1]


def _takes_numbers_as_its_own(node: Node, carried: Value) -> bool:
    """Whether a Python number in the place of `carried` is a number of its type to the node."""
    others = [v.type for v in node.inputs if v is not carried]
    types = [*others, *(out.type for out in node.outputs)]
    is_own = bool(others) and all(t == carried.type for t in types)
    return is_own and node.op.accumulation is not None
