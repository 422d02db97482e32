"""Lists of a graph in groups: values that may be one list, and what is put into them.

A group knows the group of its items, if they are lists. What an op does with a list is declared (`OpDef.list_use`).
Cost: linear in the graph.
"""

from __future__ import annotations

from functools import reduce

from ljit.ir import Effect, Graph, Node, Value, get_op
from ljit.ir.list_uses import ListUse
from ljit.ops.python.private_items import number_codes
from ljit.passes.containers.carried import find_slots
from ljit.records import Record, made_by
from ljit.types import INT, NEVER, RANGE, ListType, Type, ViewType, join_items

__all__ = [
    "Group",
    "Lists",
    "has_list",
    "is_copy",
    "is_list",
    "is_maker",
    "is_range",
    "is_repeat",
    "items_made",
    "maker_of_items",
    "number_in",
    "private_as",
]


def is_maker(node: Node) -> bool:
    """Whether the node makes a list that may be a private one."""
    if len(node.outputs) != 1 or not is_list(node.output):
        return False
    is_new = node.op is get_op("prim::ListConstruct") and not _is_repeated(node)
    return is_new or is_repeat(node) or is_range(node)


def is_range(node: Node) -> bool:
    """Whether it is ``list(range(n))``."""
    return node.op is get_op("py::list") and [v.type for v in node.inputs] == [RANGE]


def is_repeat(node: Node) -> bool:
    """Whether it is ``[x] * n`` of a number."""
    if node.op is not get_op("py::mul") or node.inputs[1].type != INT:
        return False
    made = node.inputs[0].made_by(get_op("prim::ListConstruct"))
    return made is not None and _is_repeated(made)


def _is_repeated(made: Node) -> bool:
    """Whether the list is only made to be repeated."""
    if len(made.inputs) != 1 or not number_codes(made.inputs[0].type):
        return False
    users = [user for user, _ in made.output.uses]
    return len(users) == 1 and users[0].op is get_op("py::mul") and users[0].inputs[1].type == INT


def is_copy(node: Node) -> bool:
    """Whether it makes a new list of items of a list: ``x[i:j]``, ``list(x)``."""
    use = node.op.list_use
    if use is None or not has_list(node):
        return False
    is_slice = use.gives_item and bool(node.effects & Effect.ALLOC)
    return (bool(use.copies) or is_slice) and is_list(node.output)


class Group(Record, frozen=False):
    """Values that may be one list, and what is put into it."""

    values: list[Value] = made_by(factory=list)
    types: set[Type] = made_by(factory=set)
    gets: list[Value] = made_by(factory=list)
    #: what is computed of items, they themselves among it
    reads: list[Value] = made_by(factory=list)
    is_good: bool = True
    is_copied: bool = False
    items: Group | None = None  # the group of the items, if they are lists
    united: Group | None = None  # the group that this one is part of now

    @property
    def whole(self) -> Group:
        return self if self.united is None else self.united.whole

    @property
    def item(self) -> Type:
        """The least type that holds all that is put in, and all that was seen of it."""
        none: Type = NEVER
        return reduce(join_items, (*self.types, *(value.type for value in self.gets)), none)


class Lists:
    """The lists of a graph, in groups."""

    def __init__(self, graph: Graph) -> None:
        self.groups: dict[Value, Group] = {}
        self.flows: dict[tuple[Node, int], Node] = {}  # operands that flow on, and what gives them
        for slot in find_slots(graph, is_list):
            self.flows.update(dict.fromkeys(slot.edges, slot.node))
            for value in (*slot.members, *slot.sources):
                self._unite(self.group(slot.members[0]), self.group(value))
        for node in graph.walk():
            if is_maker(node):
                self._make(node)
            elif node.op.list_use is not None and not node.op.list_use.gives_view:
                self._use(node, node.op.list_use)

    def group(self, value: Value) -> Group:
        """The group of a value."""
        found = self.groups.get(value)
        if found is None:
            found = self.groups[value] = Group(values=[value], is_good=is_list(value))
        return found.whole

    def _make(self, node: Node) -> None:
        if is_range(node):
            self.group(node.output).types.add(INT)
            return
        for value in items_made(node):
            self._put(node.output, value)

    def private_type(self, value: Value) -> Type:
        """Give the type of a value as a private list; that of any other value is its own."""
        group = self.groups[value].whole if value in self.groups else None
        if group is None or group.items is not None or not group.types:
            return number_in(value).type
        return private_as(value.type, group.item)

    def _use(self, node: Node, use: ListUse) -> None:
        if not has_list(node):
            return
        x = node.inputs[use.operand]
        if use.gives_item or use.combines or use.operand:
            self.group(x).reads.append(node.output)
        if use.gives_list:
            self._unite(self.group(x), self.group(node.output))
        if use.puts is not None:
            self._put(x, node.inputs[use.puts])
        if use.other is not None and is_list(node.inputs[use.other]):
            self._unite(self.group(x), self.group(node.inputs[use.other]))
            self.group(x).is_copied = True
        if is_copy(node):
            self._unite(self.group(x), self.group(node.output))
            self.group(x).is_copied = True
        elif use.gives_item:
            group = self.group(x)
            group.gets.append(node.output)
            if is_list(node.output):
                self._hold(group, node.output)

    def _put(self, x: Value, value: Value) -> None:
        group = self.group(x)
        group.types.add(number_in(value).type)
        if is_list(value):
            self._hold(group, value)

    def _hold(self, group: Group, item: Value) -> None:
        items = self.group(item)
        if group.items is None:
            group.items = items
        else:
            self._unite(group.items.whole, items)

    def _unite(self, one: Group, other: Group) -> None:
        if one is other:
            return
        other.united = one
        one.values += other.values
        one.types |= other.types
        one.gets += other.gets
        one.reads += other.reads
        one.is_good = one.is_good and other.is_good
        one.is_copied = one.is_copied or other.is_copied
        if other.items is not None:
            if one.items is None:
                one.items = other.items
            else:
                self._unite(one.items.whole, other.items.whole)

    def families(self) -> list[list[Group]]:
        """Give the groups, those of items with those that hold them, the outermost first."""
        wholes = list({id(g.whole): g.whole for g in self.groups.values()}.values())
        held = [group.items.whole for group in wholes if group.items is not None]
        return [_chain(group) for group in wholes if not any(group is inner for inner in held)]


def _chain(group: Group) -> list[Group]:
    chain = [group]
    while chain[-1].items is not None:
        inner = chain[-1].items.whole
        if any(inner is outer for outer in chain):  # a list may be in itself
            inner.is_good = False
            break
        chain.append(inner)
    return chain


def number_in(value: Value) -> Value:
    """Give the uint that an object was made of; any other value is itself."""
    made = value.node
    return made.inputs[0] if made is not None and made.op is get_op("wide::object") else value


def is_list(value: Value) -> bool:
    """Whether it is a list, or one that is gone through from its end."""
    return isinstance(value.type, ListType) or _is_reversed(value.type)


def has_list(node: Node) -> bool:
    """Whether the operand of which a `list_use` tells is a list; ``list()`` has none."""
    use = node.op.list_use
    return use is not None and use.operand < len(node.inputs) and is_list(node.inputs[use.operand])


def private_as(t: Type, item: Type) -> Type:
    """Give the type of a private list in the place of a list, or of one that is gone through from its end."""
    if isinstance(t, ViewType):
        return ViewType(t.kind, (private_as(t.parts[0], item), *t.parts[1:]))
    return ListType(item, True)


def _is_reversed(t: Type) -> bool:
    return isinstance(t, ViewType) and t.kind == "reversed" and isinstance(t.parts[0], ListType)


def items_made(node: Node) -> list[Value]:
    """The items of a list where it is made."""
    return maker_of_items(node).inputs


def maker_of_items(node: Node) -> Node:
    """Give the node with the items of a list that is made: of ``[x] * n`` that is ``[x]``."""
    made = node.inputs[0].node if is_repeat(node) else node
    assert made is not None
    return made
