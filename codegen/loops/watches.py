"""Which loops of a function are watched, and how: by what lies in them and around them."""

from __future__ import annotations

from collections.abc import Collection
from enum import Enum, auto
from itertools import takewhile
from math import prod

from ljit.codegen.llvm.forms import owned_positions
from ljit.ir import Effect, Node, Value
from ljit.ops.control import BREAK, CONTINUE, IF, LOOP, MAP, YIELD

__all__ = [
    "Watch",
    "height_of",
    "inner_loops",
    "is_jammed",
    "is_left_by_count",
    "is_unrolled",
    "place_of_check",
    "trips_inside",
    "watch_of",
    "work_of",
]

_FEW = 72  # trips, if their number is known, around which no poll is needed
_INNER_TRIPS = 32  # taken for an inner loop's


class Watch(Enum):
    """How a loop is kept from running on and on."""

    NONE = auto()  # it has few trips
    INSIDE = auto()  # a loop in it polls in each trip
    POLL = auto()  # in each trip
    CHUNKS = auto()  # polls between chunks of trips
    CHECK = auto()  # that it has not too many trips


def watch_of(node: Node) -> Watch:
    """Choose for a loop."""
    if _is_left_in_first_trip(node) or _known_trips(node) <= _FEW:
        return Watch.NONE
    height, depth = height_of(node), _depth_of(node)
    if depth and _ends_soon(node) and not _is_in_short_loop(node):
        return Watch.NONE
    if height == 1 and (depth == 0 or node.inputs[1].is_endless):
        # Of many loops that have few trips the chunks would cost more than polls do.
        pays = depth == 0 or is_left_by_count(node)
        return Watch.CHUNKS if pays and _is_plain(node) else Watch.POLL
    if node.attrs.get("uneven"):  # in the midst of the nest the code cannot leave
        return Watch.CHUNKS if height == 1 and _is_plain(node) else Watch.POLL
    is_checked = height == 1 or (
        height == 2 and depth >= 2 and not any(map(_ends_soon, inner_loops(node)))
    )
    if is_checked and not node.inputs[1].is_endless and not _calls(node):
        return Watch.CHECK
    return Watch.INSIDE if _polls_inside(node) else Watch.POLL


def _polls_inside(node: Node) -> bool:
    """Whether each trip of the loop comes to a `while` loop that polls in its first trip."""
    for inner in node.blocks[0]:
        if inner.op is LOOP and inner.inputs[1].is_endless:
            if watch_of(inner) in (Watch.POLL, Watch.INSIDE) or _polls_inside(inner):
                return True
        if any(n.op is CONTINUE and n.target is node for b in inner.blocks for n in b.walk()):
            return False
    return False


def _is_plain(node: Node) -> bool:
    """Whether the loop has no objects, and no loops but short ones.

    Several trips side by side have no state at their end: that is computed at the start of the next ones.
    """
    return not is_jammed(node) and height_of(node) == 1 and not _has_objects(node)


def is_jammed(node: Node) -> bool:
    """Whether a trip of the loop does several trips of the program's side by side."""
    return node.attrs.get("lanes", 1) != 1


def is_left_by_count(node: Node) -> bool:
    """Whether an endless loop ends when something that it counts has a value: LLVM may make vectors of such trips."""
    body = node.blocks[0]
    if body.terminator.op is not YIELD:
        return False
    counts: set[Value] = set()
    for param, new in zip(body.params[1:], body.terminator.inputs, strict=True):
        operands = () if new.node is None else new.node.inputs
        if param in operands and all(v is param or v.is_constant for v in operands):
            counts.add(param)
    conditions = [
        owner.inputs[0]
        for inner in body.walk()
        if inner.op is BREAK and inner.target is node
        for owner in inner.owners()
        if owner.op is IF and owner.is_inside(node)
    ]
    return all(_is_made_of(value, node, counts) for value in conditions)


def _is_made_of(value: Value, loop: Node, counts: Collection[Value]) -> bool:
    """Whether a value in a loop depends on nothing that the loop changes or reads but `counts`."""
    if value in counts or not value.is_inside(loop):
        return True
    node = value.node
    if node is None or node.blocks or node.op.effects_of(node) & (Effect.READ | Effect.CALL):
        return False
    return all(_is_made_of(operand, loop, counts) for operand in node.inputs)


def _ends_soon(node: Node) -> bool:
    """Whether a ``while`` in another loop is known not to run for long."""
    return node.inputs[1].is_endless and isinstance(node.attrs.get("ends_after"), int)


def _is_in_short_loop(node: Node) -> bool:
    """Whether nothing looks around the loop how often it runs: the one that it lies in has few trips."""
    around = (owner for owner in node.owners() if owner.op is LOOP)
    return _known_trips(next(o for o in around if not _is_left_in_first_trip(o))) <= _FEW


def _is_left_in_first_trip(node: Node) -> bool:
    """Whether the loop never comes to a second trip."""
    body = node.blocks[0]
    if body.terminator.op is YIELD:
        return False
    return not any(n.op is CONTINUE and n.target is node for n in body.walk())


def _known_trips(node: Node) -> int:
    """How many trips the loop has, or has at most; a large number if that is not known."""
    most = node.attrs.get("most_trips", node.attrs.get("ends_after"))
    if isinstance(most, int):
        return most
    start, stop = node.inputs[:2]
    if not (start.is_constant and stop.is_constant):
        return 2**63
    assert isinstance(start.constant, int) and isinstance(stop.constant, int)
    return stop.constant - start.constant


def is_unrolled(node: Node) -> bool:
    """Whether LLVM may write all trips of the loop one behind the other: it sees that they are few."""
    is_counted = not node.inputs[1].is_endless
    return _is_left_in_first_trip(node) or (is_counted and _known_trips(node) <= _FEW)


def inner_loops(node: Node) -> list[Node]:
    return [inner for inner in node.blocks[0].walk() if inner.op is LOOP]


def height_of(node: Node) -> int:
    """How many loops lie within each other, from this one on, without those of few trips."""
    depth = _depth_of(node)
    inner = [
        n for n in inner_loops(node) if _known_trips(n) > _FEW and not _is_left_in_first_trip(n)
    ]
    return 1 + max((_depth_of(n) for n in inner), default=depth) - depth


def _depth_of(node: Node) -> int:
    return sum(o.op is LOOP and not _is_left_in_first_trip(o) for o in node.owners())


def _calls(node: Node) -> bool:
    return any(n.op is MAP or n.op.effects_of(n) & Effect.CALL for n in node.blocks[0].walk())


def _has_objects(node: Node) -> bool:
    """Whether the loop is no candidate for vectors: it carries, makes or calls objects."""
    if any(owned_positions(param.type) for param in node.blocks[0].params):
        return True
    return _calls(node) or any(n.op.effects_of(n) & Effect.ALLOC for n in node.blocks[0].walk())


def place_of_check(node: Node) -> Node:
    """The outermost loop in front of which the number of trips is known, or can be computed."""
    place = node
    for outer in node.owners():
        if not all(_is_known_before(value, outer) for value in node.inputs[:2]):
            break
        if outer.op is LOOP:
            place = outer
    return place


def _is_known_before(value: Value, loop: Node) -> bool:
    """Whether a value is none of the loop, or is computed of such without leaving native code."""
    if not value.is_inside(loop):
        return True
    node = value.node
    if node is None or node.blocks or node.op.can_leave(node):
        return False
    is_pure = node.op.effects_of(node) == Effect.PURE
    return is_pure and all(_is_known_before(operand, loop) for operand in node.inputs)


def work_of(node: Node) -> int:
    """About how many nodes a trip of the loop runs."""
    return sum(_work_with_inner(inner) for block in node.blocks for inner in block)


def _work_with_inner(node: Node) -> int:
    if node.op is LOOP:
        return work_of(node) * min(_known_trips(node), _INNER_TRIPS)
    return 1 + work_of(node)


def trips_inside(node: Node) -> int:
    """How many trips of short loops a trip of the loop runs at most; 1 if there are none."""
    return max(1, sum(_trips_within(inner, node) for inner in inner_loops(node)))


def _trips_within(inner: Node, node: Node) -> int:
    around = takewhile(lambda owner: owner is not node, inner.owners())
    loops = [inner, *(owner for owner in around if owner.op is LOOP)]
    return prod(1 if _is_left_in_first_trip(loop) else _known_trips(loop) for loop in loops)
