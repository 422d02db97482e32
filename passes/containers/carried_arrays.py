"""Let loops and branches carry the elements of small arrays instead of the arrays.

Contract: a carried value (or output) of a Loop, If or Region that is a small array is replaced by its elements if every
array that flows into it is made on the spot (`prim::Build`), is itself so carried, or is one parameter of the
function whose memory nobody writes to; and if nothing but reads of elements, Snapshots, such carried values and the
end of the function use any of them. What flows into it must not be used any more, but for its elements: two variables
that are the same array must not become two arrays.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from ljit.analysis.alias import AliasInfo, written_operands
from ljit.ir import Block, Effect, Graph, Node, Value, get_op
from ljit.ops.control import BUILD, IF, LOOP, RETURN, SNAPSHOT
from ljit.passes.containers.carried import Slot, find_slots
from ljit.passes.eliminate_dead_code import eliminate_dead_code
from ljit.passes.rewriting import insert_constant
from ljit.records import Record, made_by
from ljit.sizes import is_small, small_shape
from ljit.types import BOOL, ArrayType

__all__ = ["expand_carried_arrays"]


def expand_carried_arrays(graph: Graph) -> None:
    """Take apart all that can be."""
    slots = find_slots(graph, lambda value: is_small(value.type))
    if not slots:
        return
    _drop_needless(slots)
    _keep_good(graph, slots)
    expansion = _Expansion(slots)
    for slot in slots:
        expansion.add_values(slot)
    for slot in slots:
        expansion.connect(slot)
    if slots:
        eliminate_dead_code(graph)  # the arrays that are carried only to be carried


def _drop_needless(slots: list[Slot]) -> None:
    """Use what a slot always is instead (``v += x`` in a branch gives `v` again)."""
    changed = True
    while changed:
        changed = False
        for slot in list(slots):
            sources = set(slot.sources) - set(slot.members)
            value = sources.pop() if len(sources) == 1 else None
            if value is None or value.is_inside(slot.node):
                continue
            for member in slot.members:
                member.replace_all_uses_with(value)
            slots.remove(slot)
            changed = True


# -- which ones ------------------------------------------------------------------------------------


def _keep_good(graph: Graph, slots: list[Slot]) -> None:
    """Drop the slots that cannot be taken apart, and those that depend on them."""
    order = {node: place for place, node in enumerate(graph.walk())}
    unwritten = _Unwritten(graph)
    while True:
        owners = {value: slot for slot in slots for value in slot.members}
        _find_originals(slots, owners)
        edges = {edge for slot in slots for edge in slot.edges}
        good = [s for s in slots if _is_good(s, owners, edges, order, unwritten)]
        if len(good) == len(slots):
            return
        slots[:] = good


def _find_originals(slots: list[Slot], owners: dict[Value, Slot]) -> None:
    """Note which parameter of the function each slot may be, itself or by way of others."""
    for slot in slots:
        slot.original = next((v for v in slot.sources if _is_parameter(v)), None)
    changed = True
    while changed:
        changed = False
        for slot in slots:
            if slot.original is None:
                sources = (owners[value] for value in slot.sources if value in owners)
                slot.original = next((s.original for s in sources if s.original is not None), None)
                changed |= slot.original is not None


def _is_parameter(value: Value) -> bool:
    return isinstance(value.owner, Block) and value.owner.owner is None


class _Unwritten:
    """Whether the memory of a parameter may be written to by anything in the graph."""

    def __init__(self, graph: Graph) -> None:
        self.aliases = AliasInfo(graph)
        self.writers = [
            (node, node.op.effects_of(node))
            for node in graph.walk()
            if node.op.effects_of(node) & (Effect.WRITE | Effect.CALL)
        ]
        self._known: dict[Value, bool] = {}

    def holds(self, param: Value) -> bool:
        if param not in self._known:
            self._known[param] = not any(self._may_write(w, e, param) for w, e in self.writers)
        return self._known[param]

    def _may_write(self, writer: Node, effects: Effect, param: Value) -> bool:
        written = written_operands(writer)
        if effects & Effect.CALL or not written:
            return True
        return any(self.aliases.may_alias(w, param) for w in written)


def _is_good(
    slot: Slot,
    owners: dict[Value, Slot],
    edges: set[tuple[Node, int]],
    order: dict[Node, int],
    unwritten: _Unwritten,
) -> bool:
    types = {_key(value) for value in (*slot.members, *slot.sources)}
    if len(types) > 1:
        return False
    if any(not _is_plain(u, i, edges) for v in slot.members for u, i in v.uses):
        return False
    for (user, index), value in zip(slot.edges, slot.sources, strict=True):
        if _is_parameter(value):
            if value is not slot.original or not unwritten.holds(value):
                return False
            continue
        source = owners.get(value)
        is_made = value.made_by(BUILD) is not None
        if source is None and not is_made:
            return False
        if source is not None and source.original not in (None, slot.original):
            return False
        if any(not _is_plain(u, i, edges) for u, i in value.uses):
            return False
        if _is_used_besides(value, user, index, slot, order):
            return False
    return True


def _key(value: Value) -> object:
    type_ = value.type  # of a variable that has been a number before, too
    return (type_.dtype, type_.shape) if isinstance(type_, ArrayType) else type_


def _is_plain(user: Node, index: int, edges: set[tuple[Node, int]]) -> bool:
    """Whether a use needs the elements only, or an array in exits or at the end."""
    if user.op is get_op("np::element") or user.op is SNAPSHOT or (user, index) in edges:
        return True
    if user.op is get_op("prim::check_arrays"):
        return True
    return user.op is RETURN


def _is_used_besides(
    value: Value, user: Node, index: int, slot: Slot, order: dict[Node, int]
) -> bool:
    """Whether the array may still be seen under another name where the slot has it."""
    structure = slot.node
    is_inside = value.is_inside(structure)
    is_back = structure.op is LOOP and user is not structure and not is_inside
    if is_back and value not in slot.members:
        return True
    limit = order[structure] if user is structure or not is_inside else order[user]
    for other, at in value.uses:
        if (other, at) == (user, index) or other.op is get_op("np::element"):
            continue
        if other is user or (order[other] > limit and not _are_apart(other, user)):
            return True
    return False


def _are_apart(node: Node, other: Node) -> bool:
    """Whether only one of two nodes runs: they lie in different blocks of one If."""
    around = {block.owner: block for block in node.blocks_around() if block.owner is not None}
    for block in other.blocks_around():
        owner = block.owner
        if owner in around:
            return owner is not None and owner.op is IF and around[owner] is not block
    return False


# -- rewriting -------------------------------------------------------------------------------------


class _New(Record, frozen=False):
    """What stands for one array: its elements, and whether it is the original."""

    elements: list[Value] = made_by(factory=list)
    is_original: Value | None = None


class _Expansion:
    def __init__(self, slots: list[Slot]) -> None:
        self.owners = {value: slot for slot in slots for value in slot.members}
        self.new: dict[Value, _New] = {}

    def add_values(self, slot: Slot) -> None:
        """Add parameters and outputs for the elements; the array is made of them again."""
        for value in slot.members:
            self.new[value] = _New([self._add(value) for _ in range(_count(value))])
            if slot.original is not None:
                self.new[value].is_original = self._add(value, is_flag=True)
        for value in slot.members:
            made = self._build(value, slot)
            for user, index in list(value.uses):
                if user is not made and not self._is_edge(user, index):
                    user.set_input(index, made.output)

    def _is_edge(self, user: Node, index: int) -> bool:
        return any((user, index) in slot.edges for slot in set(self.owners.values()))

    def _add(self, value: Value, *, is_flag: bool = False) -> Value:
        assert isinstance(value.type, ArrayType)
        type_ = BOOL if is_flag else value.type.element
        owner = value.owner
        if isinstance(owner, Block):
            return owner.add_param("", type_)
        return owner.add_output(type_)

    def _build(self, value: Value, slot: Slot) -> Node:
        new, graph = self.new[value], slot.node.graph
        inputs = list(new.elements)
        attrs: dict[str, object] = {"type": value.type}
        if new.is_original is not None:
            assert slot.original is not None
            inputs, attrs = [slot.original, new.is_original, *inputs], {**attrs, "kept": True}
        made = graph.create(BUILD, inputs, attrs, outputs=[value.type], like=slot.node)
        made.output.name = value.name
        if isinstance(value.owner, Block):
            assert value.owner.first is not None
            return made.insert_before(value.owner.first)
        return made.insert_after(slot.node)

    def connect(self, slot: Slot) -> None:
        """Let the elements flow where the arrays did."""
        for user, index in slot.edges:
            new = self._source(user.inputs[index], user)
            for value in new.elements:
                user.add_input(value)
            if slot.original is not None:
                flag = new.is_original
                user.add_input(flag if flag is not None else insert_constant(False, user))

    def _source(self, value: Value, before: Node) -> _New:
        found = self.new.get(value)
        if found is not None:
            return found
        if value.node is not None:
            return _New(list(value.node.inputs))
        elements = []
        for at in _places(value):
            node = before.graph.create(get_op("np::element"), [value], {"at": at}, like=before)
            elements.append(node.insert_before(before).output)
        return _New(elements, insert_constant(True, before))


def _count(value: Value) -> int:
    return len(list(_places(value)))


def _places(value: Value) -> Iterator[tuple[int, ...]]:
    return np.ndindex(small_shape(value.type))
