"""Keep the numbers of lists that nobody else sees unboxed, in memory of their own.

Contract: a list becomes a private one (`ListType.is_private`) if this function makes it (`[a, b]`, `[x] * n`), and all
that becomes of it, under whatever name, is

- what ops do whose declaration has a `list_use`, where they have native code: items read and written, append, pop, len,
  truth, iteration;
- to be carried by loops and branches, among lists that are private as well;
- to be held by Snapshots: the exits make a list of Python's, one for all names of it;
- to be an item of such a list;
- whatever stands in a block that ends in Return: there a list of Python's is made (`prim::python_list`), once, and
  nothing else sees the private one from there on.

All its items are of one type: numbers, tuples of numbers, or private lists. No item needs a check or a reference count.

Algorithm: values that may be one list are united in groups, those of items in groups of their own; a group falls with
its items' group or its holders'. Cost: linear in the graph, nothing if it makes no lists.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator

from ljit.ir import Graph, Node, Value, get_op
from ljit.ops.control import SNAPSHOT
from ljit.ops.private_lists import PRIVATE_LIST, PRIVATE_REPEATED, PYTHON_LIST, number_codes
from ljit.passes.carried import find_slots
from ljit.passes.last_blocks import end_around, find_ends
from ljit.passes.manager import graph_pass, is_allowed
from ljit.records import Record, made_by
from ljit.types import INT, ListType, Type

__all__ = ["unbox_lists"]

NAME = "unbox_lists"


@graph_pass(NAME)
def unbox_lists(graph: Graph) -> bool:
    """Unbox what can be; whether there was anything."""
    if not any(_is_maker(node) for node in graph.walk()):
        return False
    lists = _Lists(graph)
    families = [
        family
        for family in lists.families()
        if _can_be_private(family, lists) and is_allowed(NAME, family[0].values[0].node)
    ]
    for family in families:
        _unbox(family, lists)
    return bool(families)


def _is_maker(node: Node) -> bool:
    return (node.op is get_op("prim::ListConstruct") and not _is_repeated(node)) or _is_repeat(node)


def _is_repeat(node: Node) -> bool:
    """Whether it is ``[x] * n`` of a number."""
    if node.op is not get_op("py::mul") or node.inputs[1].type != INT:
        return False
    made = node.inputs[0].node
    return made is not None and made.op is get_op("prim::ListConstruct") and _is_repeated(made)


def _is_repeated(made: Node) -> bool:
    """Whether the list is only made to be repeated."""
    if len(made.inputs) != 1 or not number_codes(made.inputs[0].type):
        return False
    users = [user for user, _ in made.output.uses]
    return len(users) == 1 and users[0].op is get_op("py::mul") and users[0].inputs[1].type == INT


class _Group(Record, frozen=False):
    """Values that may be one list, and what is put into it."""

    values: list[Value] = made_by(factory=list)
    puts: list[Value] = made_by(factory=list)
    gets: list[Value] = made_by(factory=list)
    is_good: bool = True
    items: _Group | None = None  # the group of the items, if they are lists
    united: _Group | None = None  # the group that this one is part of now

    @property
    def whole(self) -> _Group:
        return self if self.united is None else self.united.whole


class _Lists:
    """The lists of a graph, in groups."""

    def __init__(self, graph: Graph) -> None:
        self.groups: dict[Value, _Group] = {}
        self.flows: set[tuple[Node, int]] = set()
        for slot in find_slots(graph, _is_list):
            self.flows.update(slot.edges)
            for value in (*slot.members, *slot.sources):
                self._unite(self.group(slot.members[0]), self.group(value))
        for node in graph.walk():
            if _is_maker(node) and _is_list(node.output):
                for value in _items_made(node):
                    self._put(node.output, value)
            elif node.op.list_use is not None and _is_list(node.inputs[0]):
                self._use(node)

    def group(self, value: Value) -> _Group:
        """The group of a value."""
        found = self.groups.get(value)
        if found is None:
            found = self.groups[value] = _Group(values=[value], is_good=_is_list(value))
        return found.whole

    def _use(self, node: Node) -> None:
        x, use = node.inputs[0], node.op.list_use
        assert use is not None
        if use.gives_list:
            self._unite(self.group(x), self.group(node.output))
        if use.puts is not None:
            self._put(x, node.inputs[use.puts])
        if use.gives_item:
            group = self.group(x)
            group.gets.append(node.output)
            if _is_list(node.output):
                self._hold(group, node.output)

    def _put(self, x: Value, value: Value) -> None:
        group = self.group(x)
        group.puts.append(value)
        if _is_list(value):
            self._hold(group, value)

    def _hold(self, group: _Group, item: Value) -> None:
        items = self.group(item)
        if group.items is None:
            group.items = items
        else:
            self._unite(group.items.whole, items)

    def _unite(self, one: _Group, other: _Group) -> None:
        if one is other:
            return
        other.united = one
        one.values += other.values
        one.puts += other.puts
        one.gets += other.gets
        one.is_good = one.is_good and other.is_good
        if other.items is not None:
            if one.items is None:
                one.items = other.items
            else:
                self._unite(one.items.whole, other.items.whole)

    def families(self) -> list[list[_Group]]:
        """Give the groups, those of items with those that hold them, the outermost first."""
        wholes = list({id(g.whole): g.whole for g in self.groups.values()}.values())
        held = [group.items.whole for group in wholes if group.items is not None]
        return [_chain(group) for group in wholes if not any(group is inner for inner in held)]


def _chain(group: _Group) -> list[_Group]:
    chain = [group]
    while chain[-1].items is not None:
        chain.append(chain[-1].items.whole)
    return chain


def _is_list(value: Value) -> bool:
    return isinstance(value.type, ListType)


def _items_made(node: Node) -> list[Value]:
    """The items of a list where it is made."""
    if _is_repeat(node):
        made = node.inputs[0].node
        assert made is not None
        return made.inputs
    return node.inputs


# -- what can be private ---------------------------------------------------------------------------


def _can_be_private(family: list[_Group], lists: _Lists) -> bool:
    innermost = family[-1]
    if not all(group.is_good and group.puts for group in family) or not innermost.gets:
        return False
    if any(not _is_list(value) for group in family[:-1] for value in (*group.puts, *group.gets)):
        return False
    types = {value.type for value in innermost.puts}
    if len(types) > 1 or not number_codes(min(types, key=str)):
        return False
    if any(value.uses and value.type not in types for value in innermost.gets):
        return False
    if any(_has_other_holder(group, outer, lists) for outer, group in _pairs(family)):
        return False
    values = _types_of(family)
    return all(map(_is_made_here, values)) and _is_unseen(values, innermost.gets, lists)


def _types_of(family: list[_Group]) -> dict[Value, Type]:
    """The lists of all groups, as lists of Python's."""
    found: dict[Value, Type] = {}
    item = family[-1].puts[0].type
    for group in reversed(family):
        item = ListType(item)
        found.update(dict.fromkeys(group.values, item))
    return found


def _pairs(family: list[_Group]) -> Iterator[tuple[_Group, _Group]]:
    return itertools.pairwise(family)


def _has_other_holder(group: _Group, outer: _Group, lists: _Lists) -> bool:
    """Whether lists of the group are items of another group, too."""
    holders = (g.whole for g in lists.groups.values())
    return any(
        holder is not outer and holder.items is not None and holder.items.whole is group
        for holder in holders
    )


def _is_made_here(value: Value) -> bool:
    """Whether the value is made by a maker, or given by what flows into it: no parameter of the function."""
    node = value.node
    if node is None:
        return value.block.owner is not None
    is_structure = bool(node.blocks)
    return is_structure or _is_maker(node) or _gives(node)


def _gives(node: Node) -> bool:
    use = node.op.list_use
    return use is not None and (use.gives_item or use.gives_list) and _is_list(node.inputs[0])


def _is_unseen(values: dict[Value, Type], items: list[Value], lists: _Lists) -> bool:
    """Whether nobody else sees the lists; one may be shown at the end, if nothing is done with the others there.

    Before that some of their items must be read.
    """
    shown = [value for value in values if not all(_is_fine(*use, lists) for use in value.uses)]
    if not shown:
        return True
    first = shown[0]
    ends = _ends(first, lists)
    others = [user for value in values if value is not first for user, _ in value.uses]
    return (
        len(shown) == 1
        and first.type == values[first]
        and all(_is_in_order(node, index, ends, lists) for node, index in first.uses)
        and not any(end_around(user, ends) for user in others)
        and any(item.node is not None and not end_around(item.node, ends) for item in items)
    )


def _is_in_order(node: Node, index: int, ends: list[Node], lists: _Lists) -> bool:
    """Whether a use of a list that `ends` show has a private one before that, and nothing is carried on behind it."""
    if end_around(node, ends) is None:
        return _is_fine(node, index, lists)
    return (node, index) not in lists.flows


def _ends(value: Value, lists: _Lists) -> list[Node]:
    return find_ends(value, lambda node, index: not _is_fine(node, index, lists))


def _is_fine(node: Node, index: int, lists: _Lists) -> bool:
    """Whether a use of a list can have a private one."""
    if node.op is SNAPSHOT or (node, index) in lists.flows or _is_maker(node):
        return True
    use = node.op.list_use
    if use is None or index not in (0, use.puts) or not _is_list(node.inputs[0]):
        return False
    return node.op.has_lowering([value.type for value in node.inputs], node.attrs)


# -- rewriting -------------------------------------------------------------------------------------


def _unbox(family: list[_Group], lists: _Lists) -> None:
    item: Type = family[-1].puts[0].type
    shown = [(value, _ends(value, lists)) for group in family for value in group.values]
    for value in family[-1].gets:
        value.type = item  # of one that is not used, nothing may be known
    for group in reversed(family):
        for value in group.values:
            value.type = ListType(item, True)
        item = ListType(item, True)
    for value, ends in shown:
        for end in ends:
            _show(value, end)
    for group in family:
        for value in group.values:
            if value.node is not None and _is_maker(value.node):
                _make_private(value.node)


def _show(value: Value, end: Node) -> None:
    """Let all from a node on see a list of Python's."""
    users = [(node, index) for node, index in value.uses if end_around(node, [end])]
    made = end.graph.create(PYTHON_LIST, [value], outputs=1, like=end)
    (made.output.type,) = PYTHON_LIST.infer_types([value.type], {})
    made.insert_before(end)
    made.output.name = value.name
    for node, index in users:
        node.set_input(index, made.output)


def _make_private(node: Node) -> None:
    type_ = node.output.type
    assert isinstance(type_, ListType)
    op, inputs = PRIVATE_LIST, list(node.inputs)
    repeated = node.inputs[0].node if _is_repeat(node) else None
    if repeated is not None:
        op, inputs = PRIVATE_REPEATED, [repeated.inputs[0], node.inputs[1]]
    made = node.graph.create(op, inputs, {"item": type_.item}, outputs=[type_], like=node)
    made.insert_before(node)
    made.output.name = node.output.name
    node.replace_with([made.output])
    if repeated is not None:
        repeated.erase()
