"""Arrays that are rolled in several ways are views of one copy whose ends go on with the other end.

    np.roll(a, 1, axis=0) + np.roll(a, -1, axis=1)      p = wrapped(a, before=(1, 0), after=(0, 1))
                                                        p[:-1, :-1] + p[1:, 1:]

One copy takes the place of several, also of those of which others are rolled (``np.roll(np.roll(a, 1, 0), 1, 1)``).
`fuse` finds them first, so that `fuse_parts` leaves them alone: what is only rolled by one along one axis within an
expression needs no copy at all. When nests are made, it puts views in the place of the operands that are rolled. Of a
copy that something else needs as an array nothing changes.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence

from ljit.ir import Block, Effect, Node, Value, get_op
from ljit.ops.control import MAP
from ljit.passes.manager import is_allowed
from ljit.passes.rewriting import insert_constant
from ljit.records import Record
from ljit.types import ArrayType

__all__ = ["rolls_of_more_axes", "wrap_rolled"]

NAME = "fuse"
MOST = 4  # elements by which an array is rolled: rows are longer by as much
_BARRIERS = Effect.WRITE | Effect.CALL | Effect.EXIT


class _Roll(Record):
    """What is rolled, which may become a result of a nest, how far along each axis, and the node that begins it."""

    source: Value
    shifts: tuple[int, ...]
    first: Node


def rolls_of_more_axes(block: Block) -> dict[Node, _Roll]:
    """Find the rolled arrays that others than parts are to be made of."""
    if not any(node.op is get_op("np::roll") for node in block):
        return {}
    found = dict[Node, _Roll]()
    groups = list[dict[Value, list[Node]]]()
    group = dict[Value, list[Node]]()
    for node in block:
        if node.effects & _BARRIERS:
            groups.append(group)
            group = {}
        roll = _rolled(node, found, group)
        if roll is not None:
            found[node] = roll
            group.setdefault(roll.source, []).append(node)
    numbers = _expressions(block, found)
    parts = dict[tuple[int, Value, int], list[Node]]()
    for place, sources in enumerate([*groups, group]):
        for source, nodes in sources.items():
            for node in nodes:
                parts.setdefault((place, source, numbers[node]), []).append(node)
    usable = [_only_needed_by(nodes, _is_work) for nodes in parts.values()]
    return {node: found[node] for nodes in usable if _is_worth(nodes, found) for node in nodes}


def _expressions(block: Block, rolls: dict[Node, _Roll]) -> dict[Node, int]:
    """A number for each roll: the same for those that meet in elementwise ops, or are rolled again."""
    known, merged = dict[Value, int](), list[int]()

    def root(i: int) -> int:
        return i if merged[i] == i else root(merged[i])

    for node in block:
        if not node.op.elementwise and node not in rolls:
            continue
        met = {root(known[v]) for v in node.inputs if v in known}
        if node in rolls and not met:
            met = {len(merged)}
            merged.append(len(merged))
        for i in met:
            merged[i] = min(met)
        known.update((out, min(met)) for out in node.outputs if met)
    return {node: root(known[node.output]) for node in rolls}


def _rolled(node: Node, found: dict[Node, _Roll], group: dict[Value, list[Node]]) -> _Roll | None:
    if node.op is not get_op("np::roll"):
        return None
    source, shift = node.inputs
    type_, axis = source.type, node.attrs.get("axis")
    if not isinstance(type_, ArrayType) or not shift.is_constant:
        return None
    if not node.op.has_lowering([type_, shift.type], node.attrs):
        return None  # of a number in an array, or along an axis that there is not
    number = shift.constant
    if type(number) is not int or (axis is None and type_.ndim > 1) or isinstance(axis, tuple):
        return None
    own = [0] * type_.ndim
    own[int(axis or 0)] = number  # type: ignore[call-overload]
    inner = found.get(source.node) if source.node is not None else None
    if inner is not None and source.node in group.get(inner.source, ()):
        shifts = tuple(x + y for x, y in zip(own, inner.shifts))
        roll = _Roll(inner.source, shifts, inner.first)
    else:
        roll = _Roll(source, tuple(own), node)
    return roll if max(map(abs, roll.shifts)) <= MOST else None


def _is_worth(nodes: Sequence[Node], found: dict[Node, _Roll]) -> bool:
    """Whether they are of several kinds, and not all by one along the same axis: parts do without a copy then."""
    shifts = {found[node].shifts for node in nodes}
    axes = {tuple(map(bool, s)) for s in shifts}
    is_by_one = all(sum(map(abs, s)) == 1 for s in shifts)
    return len(shifts) > 1 and not (is_by_one and len(axes) == 1)


def wrap_rolled(block: Block, rolls: dict[Node, _Roll]) -> bool:
    """Put views in the place of rolled arrays that only nests need; whether there were any."""
    changed = False
    sources = {roll.source: roll.first.inputs[0] for roll in rolls.values()}
    for source in dict.fromkeys(roll.source for roll in rolls.values()):
        nodes = [node for node in block if node in rolls and rolls[node].source is source]
        for group in _between_writes(block, nodes):
            needed = _only_needed_by(group, _only_reads)
            if len({rolls[node].shifts for node in needed}) > 1 and is_allowed(NAME, group[0]):
                _wrap(group[0], sources[source], needed, rolls)
                changed = True
    return changed


def _between_writes(block: Block, nodes: Sequence[Node]) -> list[list[Node]]:
    """The nodes, put together as far as nothing is written between them."""
    groups, left, is_new = list[list[Node]](), set(nodes), True
    for node in block:
        is_new |= bool(node.effects & _BARRIERS)
        if node in left:
            if is_new:
                groups.append([])
            groups[-1].append(node)
            is_new = False
    return groups


def _only_needed_by(nodes: Sequence[Node], takes: Callable[[Node, int], bool]) -> list[Node]:
    """Those that are operands which such users take, and of nothing else but others that are rolled again."""
    found = set[Node]()
    for node in reversed(nodes):
        if all(user in found or takes(user, i) for user, i in node.output.uses):
            found.add(node)
    return [node for node in nodes if node in found]


def _is_work(user: Node, position: int) -> bool:
    """Whether it may become part of a nest, and does not write to the operand."""
    is_target = user.op.schema.written and position == 0
    return not is_target and (user.op.elementwise or user.op.reduction is not None)


def _only_reads(user: Node, position: int) -> bool:
    """Whether it is a nest of which this is no target."""
    into = user.attrs.get("into", 0)
    assert isinstance(into, int)
    return user.op is MAP and position >= into


def _wrap(first: Node, source: Value, needed: Collection[Node], rolls: dict[Node, _Roll]) -> None:
    """Make the copy in front of the first node, and views of it."""
    shifts = [rolls[node].shifts for node in needed]
    before = tuple(max(0, *x) for x in zip(*shifts))
    after = tuple(max(0, *(-y for y in x)) for x in zip(*shifts))
    attrs = {"before": before, "after": after}
    whole = first.create_before(get_op("np::wrapped"), [source], attrs, like=first).output
    for node in needed:
        parts = zip(rolls[node].shifts, before, after)
        index = tuple(slice(b - s, -(s + c) or None) for s, b, c in parts)
        place = insert_constant(index, node)
        view = node.create_before(get_op("np::getitem"), [whole, place], {}, like=node).output
        view.name = node.output.name
        node.output.replace_all_uses_with(view)
    for node in reversed(list(needed)):
        node.erase()
