"""Make tuples of small lists that loops and branches carry, where nobody can tell the difference.

Contract: all lists that flow into the carried values which flow into each other are made on the spot
(`prim::ListConstruct`), of the same number of items, and of all these values nothing is used but items at constant
places within bounds, which are read, unpacking, iteration and membership. One value among them may be needed as a
list at the end of the function; there one is made. What may be written to stays: two variables may be one list.
"""

from __future__ import annotations

from ljit.ir import Graph, Node, Value, get_op
from ljit.ops.control import BREAK, CONTINUE, YIELD
from ljit.passes.containers.carried import Slot, find_slots
from ljit.passes.containers.last_blocks import end_around
from ljit.passes.containers.list_uses import ListUses
from ljit.records import Record, made_by
from ljit.types import ANY

__all__ = ["make_carried_tuples"]

MAX_ITEMS = 16


class _Class(Record, frozen=False):
    """Values that flow into each other, and the lists among them."""

    makers: dict[Node, None] = made_by(factory=dict)
    slots: list[Slot] = made_by(factory=list)
    is_good: bool = True

    @property
    def values(self) -> list[Value]:
        return [maker.output for maker in self.makers] + [v for s in self.slots for v in s.members]


def make_carried_tuples(graph: Graph) -> bool:
    """Turn the lists that may be tuples into tuples; whether there were any."""
    changed = False
    if not any(_flows(node) for node in graph.walk()):
        return changed
    for one in _classes(find_slots(graph, lambda value: value.type == ANY)):
        uses = _uses(one) if one.is_good and one.makers else None
        if uses is not None:
            _make_tuples(one, uses)
            changed = True
    return changed


def _flows(node: Node) -> bool:
    """Whether it makes a list that is carried."""
    if node.op is not get_op("prim::ListConstruct"):
        return False
    return any(user.op in (YIELD, CONTINUE, BREAK) or user.blocks for user, _ in node.output.uses)


def _classes(slots: list[Slot]) -> list[_Class]:
    owners = {value: slot for slot in slots for value in slot.members}
    class_of = {id(slot): _Class(slots=[slot]) for slot in slots}
    for slot in slots:
        for value in slot.sources:
            one, source = class_of[id(slot)], owners.get(value)
            if source is not None:
                _unite(one, class_of[id(source)], class_of)
            elif (maker := value.made_by(get_op("prim::ListConstruct"))) is not None:
                one.makers[maker] = None
            else:
                one.is_good = False
    return list({id(one): one for one in class_of.values()}.values())


def _unite(one: _Class, other: _Class, class_of: dict[int, _Class]) -> None:
    if one is other:
        return
    one.makers |= other.makers
    one.slots += other.slots
    one.is_good = one.is_good and other.is_good
    for slot in other.slots:
        class_of[id(slot)] = one


def _uses(one: _Class) -> list[tuple[Value, ListUses]] | None:
    """Give the uses of each value; None if one of them must be a list."""
    sizes = {len(maker.inputs) for maker in one.makers}
    flows = {edge for slot in one.slots for edge in slot.edges}
    if len(sizes) > 1 or max(sizes) > MAX_ITEMS:
        return None
    found = []
    for value in one.values:
        uses = ListUses.of(value, max(sizes), flows)
        if uses is None or uses.writes or uses.choices:
            return None
        found.append((value, uses))
    return None if _is_seen_behind_end(found) else found


def _is_seen_behind_end(found: list[tuple[Value, ListUses]]) -> bool:
    """Whether what is shown as a list may be used under another name from there on."""
    shown = [(value, uses) for value, uses in found if uses.ends]
    others = (
        [user for value, _ in found if value is not shown[0][0] for user, _ in value.uses]
        if shown
        else []
    )
    return len(shown) > 1 or any(end_around(user, shown[0][1].ends) for user in others)


def _make_tuples(one: _Class, found: list[tuple[Value, ListUses]]) -> None:
    for value, uses in found:
        for end, places in uses.ends.items():
            again = _list_of(value, len(next(iter(one.makers)).inputs), end)
            for node, index in places:
                node.set_input(index, again)
    for maker in one.makers:
        made = maker.graph.create(
            get_op("prim::TupleConstruct"), maker.inputs, outputs=1, like=maker
        )
        maker.replace_with([made.insert_before(maker).output])


def _list_of(items: Value, size: int, before: Node) -> Value:
    parts = before.create_before(
        get_op("prim::Unpack"), [items], {"count": size, "star": None}, outputs=size, like=before
    )
    made = before.create_before(
        get_op("prim::ListConstruct"), parts.outputs, outputs=1, like=before
    )
    made.output.name = items.name
    return made.output
