"""Keep the numbers of lists that nobody else sees unboxed, in memory of their own.

Contract: a list becomes a private one (`ListType.is_private`) if this function makes it (`[a, b]`, `[x] * n`,
`list(range(n))`), and all that becomes of it, under whatever name, is

- what ops do whose declaration has a `list_use`, where they have native code: items read and written, append, pop, len,
  truth, iteration;
- to be carried by loops and branches, among lists that are private as well;
- to be held by Snapshots: the exits make a list of Python's, one for all names of it;
- to be an item of such a list;
- whatever stands in a block that ends in Return: there a list of Python's is made (`prim::python_list`), once, and
  nothing else sees the private one from there on.

All its items are of one type: numbers, numbers of several classes (a Union), tuples of these, or private lists. No item
needs a check or a reference count. Of other lists that are only filled, and then read as a whole, the type tells what
they hold.

Algorithm: values that may be one list are united in groups, those of items in groups of their own
(`containers/list_groups.py`); a group falls with its items' group or its holders'. Cost: linear in the graph, nothing
if it makes no lists.
"""

from __future__ import annotations

import itertools
from collections.abc import Sequence

from ljit.ir import Graph, Node, OpDef, Value, get_op
from ljit.ops.control import GUARD, SNAPSHOT
from ljit.ops.objects import WHOLE
from ljit.ops.python.private_items import number_codes
from ljit.passes.containers.last_blocks import end_around, find_ends
from ljit.passes.containers.list_groups import (
    Group,
    Lists,
    has_list,
    is_copy,
    is_maker,
    is_range,
    is_repeat,
    items_made,
    maker_of_items,
    number_in,
    private_as,
)
from ljit.passes.manager import graph_pass, is_allowed
from ljit.passes.observations import is_precise
from ljit.records import Record
from ljit.types import ANY, INT, NEVER, UINT, ListType, Type, ViewType

__all__ = ["unbox_lists"]

NAME = "unbox_lists"


class _End(Record):
    """What becomes of private lists at the end."""

    shown: Value | None  # the one that a list of Python's is made of
    nodes: list[Node]  # in front of which that is
    before: list[Value]  # the values that are private lists until then


@graph_pass(NAME)
def unbox_lists(graph: Graph) -> bool:
    """Unbox what can be; whether there was anything."""
    if not any(is_maker(node) for node in graph.walk()):
        return False
    lists = Lists(graph)
    changed = False
    for family in lists.families():
        end = _end_of(family, lists)
        if end is not None and is_allowed(NAME, end.before[0].node):
            _unbox(family, end)
            changed = True
        elif _is_told(family[0], lists):
            for value in family[0].values:
                value.type = _told_type(family[0])
            changed = True
    return changed


def _is_told(group: Group, lists: Lists) -> bool:
    """Whether lists hold what is put into them alone, as keys that others are sorted by, and that is yet to be told."""
    if not (group.is_good and group.types and group.reads) or group.gets or group.items is not None:
        return False
    is_known = is_precise(group.item) and any(v.type != _told_type(group) for v in group.values)
    uses = [use for value in group.values for use in value.uses]
    is_seen = any(not _is_told_of(*use, lists) for use in uses)
    return is_known and not is_seen and all(map(_is_made_here, group.values))


def _told_type(group: Group) -> Type:
    """The type of a list of such items where it is made: characters are strs in it."""
    (told,) = get_op("prim::ListConstruct").infer_types([group.item], {})
    return told


def _is_told_of(node: Node, index: int, lists: Lists) -> bool:
    """Whether a use of a list only puts an item into it, reads all of them, or hands the list on."""
    use = node.op.list_use
    is_use = use is not None and use.operand == index and (use.puts is not None or index > 0)
    return is_use or node.op is SNAPSHOT or (node, index) in lists.flows


# -- what can be private ---------------------------------------------------------------------------


def _end_of(family: list[Group], lists: Lists) -> _End | None:
    """Give what becomes of a group and those of its items; None if they cannot be private."""
    if not _has_numbers(family):
        return None
    if any(_has_other_holder(group, outer, lists) for outer, group in itertools.pairwise(family)):
        return None
    values = [value for group in family for value in group.values]
    return _find_end(values, family[-1].reads, lists) if all(map(_is_made_here, values)) else None


def _has_numbers(family: list[Group]) -> bool:
    """Whether all that the lists hold is numbers, read as what all are; some are read, and none as an object."""
    innermost = family[-1]
    if not all(group.is_good and group.types for group in family) or not innermost.reads:
        return False
    if any(group.is_copied for group in family[:-1]):
        return False
    outer = [t for group in family[:-1] for t in (*group.types, *(v.type for v in group.gets))]
    item = innermost.item
    if not all(isinstance(t, ListType) for t in outer):
        return False
    if any(user.op is WHOLE for value in innermost.gets for user, _ in value.uses):
        return False
    return bool(number_codes(item)) and all(v.type == item for v in innermost.gets)


def _has_other_holder(group: Group, outer: Group, lists: Lists) -> bool:
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
    return is_structure or is_maker(node) or _gives(node)


def _gives(node: Node) -> bool:
    use = node.op.list_use
    return (
        use is not None and bool(use.gives_item or use.gives_list or use.copies) and has_list(node)
    )


def _find_end(values: list[Value], reads: list[Value], lists: Lists) -> _End | None:
    """Find out who is shown at the end, if any; None if somebody sees one of the lists before, or two are shown."""
    shown = [value for value in values if not all(_is_fine(*use, lists) for use in value.uses)]
    if not shown:
        return _End(None, [], values)
    shown = _with_sources(shown)
    for first in shown:
        if not isinstance(first.type, ListType):
            continue
        nodes = find_ends(
            first, lambda node, index: not _is_fine(node, index, lists) or _leads_to(node, shown)
        )
        before = [value for value in values if not _is_behind(value, nodes)]
        if (
            first in before
            and all(_is_private(value, first, nodes, lists) for value in before)
            and all(_stays_behind(value, nodes, lists) for value in values if value not in before)
            and any(not _is_behind(value, nodes) for value in reads)
        ):
            return _End(first, nodes, before)
    return None


def _with_sources(shown: list[Value]) -> list[Value]:
    """Add the lists that these are rows of, or iterations over: instead, those may be shown."""
    found = list(shown)
    for value in found:
        if value.node is not None and _gives(value.node) and value.node.inputs[0] not in found:
            found.append(value.node.inputs[0])
    return found


def _leads_to(node: Node, shown: list[Value]) -> bool:
    return _gives(node) and node.output in shown


def _is_behind(value: Value, ends: list[Node]) -> bool:
    node = value.node or value.block.owner
    return node is not None and end_around(node, ends) is not None


def _is_private(value: Value, first: Value, ends: list[Node], lists: Lists) -> bool:
    """Whether all uses before the ends can have a private list; behind them `first` alone is used, not carried on."""
    for node, index in value.uses:
        if end_around(node, ends) is None:
            if not _is_fine(node, index, lists) or _is_viewed_behind(node, ends):
                return False
        elif value is not first or (node, index) in lists.flows:
            return False
    return True


def _is_viewed_behind(node: Node, ends: list[Node]) -> bool:
    """Whether it gives an iteration that goes on behind the ends."""
    use = node.op.list_use
    if use is None or not use.gives_view:
        return False
    users = [user for user, _ in node.output.uses]
    return any(end_around(user, ends) or _is_viewed_behind(user, ends) for user in users)


def _stays_behind(value: Value, ends: list[Node], lists: Lists) -> bool:
    """Whether a list that there is only behind the ends does not flow to where private ones are."""
    targets = [lists.flows[use] for use in value.uses if use in lists.flows]
    return all(end_around(target, ends) is not None for target in targets)


def _is_fine(node: Node, index: int, lists: Lists) -> bool:
    """Whether a use of a list can have a private one."""
    if node.op is SNAPSHOT or (node, index) in lists.flows or is_maker(node):
        return True
    use = node.op.list_use
    if use is not None and use.gives_view:
        return _can_be_viewed(node)
    if use is None or index not in (use.operand, use.other, use.puts):
        return False
    if not has_list(node):
        return False
    types = [lists.private_type(value) for value in node.inputs]
    if any(out.type == ANY for out in node.outputs):  # CPython does it
        return _type_seen(node, types) is not None
    if is_copy(node):
        op, attrs = _private_copy(node)
        return op.has_lowering(types, attrs)
    return node.op.has_lowering(types, node.attrs) and _gives_the_same(node, types)


def _gives_the_same(node: Node, types: Sequence[Type]) -> bool:
    """Whether what an op makes of private lists is what it made: not a sum of floats that was seen of no items."""
    made = node.op.infer_types(types, node.attrs)
    pairs = zip(node.outputs, made, strict=True)
    return all(out.type == t for out, t in pairs if not isinstance(out.type, ListType | ViewType))


def _type_seen(node: Node, types: Sequence[Type]) -> Type | None:
    """Give what an op makes of private lists, if that is what the output is guarded to be."""
    if len(node.outputs) != 1 or not node.op.has_lowering(types, node.attrs):
        return None
    (made,) = node.op.infer_types(types, node.attrs)
    users = [user for user, _ in node.output.uses if user.op is not SNAPSHOT]
    is_seen = all(user.op is GUARD and user.attrs["type"] == made for user in users)
    return made if made != ANY and users and is_seen else None


def _can_be_viewed(node: Node) -> bool:
    """Whether an iteration over several lists, or what it is used for, can have private ones."""
    use = node.op.list_use
    if use is not None and use.gives_view and isinstance(node.output.type, ViewType):
        return all(_can_be_viewed(user) for user, _ in node.output.uses)
    return node.op in (SNAPSHOT, get_op("prim::has_next"))


# -- rewriting -------------------------------------------------------------------------------------


def _unbox(family: list[Group], end: _End) -> None:
    shown_as = end.shown.type if end.shown is not None else NEVER
    item = family[-1].item
    _put_numbers(family[-1], end)
    for group in reversed(family):
        for value in group.values:
            if value in end.before:
                value.type = private_as(value.type, item)
                _infer_views(value, end)
                _infer_seen(value, end)
        item = ListType(item, True)
    for node in end.nodes:
        assert end.shown is not None
        _show(end.shown, shown_as, node)
    for value in end.before:
        if value.node is not None and (is_maker(value.node) or is_copy(value.node)):
            _make_private(value.node)


def _put_numbers(group: Group, end: _End) -> None:
    """Let uints become items as they are, not as objects, and ints be uints in lists of these.

    At a negative one native code is left. The next compile takes no list that is made there for one of uints.
    """
    values = [value for value in group.values if value in end.before]
    makers = [node for v in values if (node := v.node) is not None and is_maker(node)]
    puts = [(maker_of_items(node), i) for node in makers for i in range(len(items_made(node)))]
    for value in values:
        for node, index in value.uses:
            use = node.op.list_use
            if use is not None and use.puts is not None and use.operand == index:
                puts.append((node, use.puts))
    for node, index in puts:
        item = number_in(node.inputs[index])
        node.set_input(index, item)
        if group.item == UINT and item.type == INT:
            made = node.create_before(get_op("wide::from_int"), (item,), like=makers[0])
            node.set_input(index, made.output)


def _infer_views(value: Value, end: _End) -> None:
    for user, _ in value.uses:
        use = user.op.list_use
        if use is not None and use.gives_view and end_around(user, end.nodes) is None:
            (user.output.type,) = user.op.result_types(user)
            _infer_views(user.output, end)


def _infer_seen(value: Value, end: _End) -> None:
    """What is made of a private list needs no guard."""
    users = [user for user, _ in value.uses if user.op.list_use is not None]
    for user in users:
        if end_around(user, end.nodes) is None and any(out.type == ANY for out in user.outputs):
            (user.output.type,) = user.op.result_types(user)
            for guard in [node for node, _ in user.output.uses if node.op is GUARD]:
                guard.replace_with([user.output])


def _show(value: Value, type_: Type, end: Node) -> None:
    """Let all from a node on see a list of Python's."""
    users = [(node, index) for node, index in value.uses if end_around(node, [end])]
    made = end.create_before(
        get_op("prim::python_list"), [value], {"type": type_}, outputs=[type_], like=end
    )
    made.output.name = value.name
    for node, index in users:
        node.set_input(index, made.output)


def _private_copy(node: Node) -> tuple[OpDef, dict[str, object]]:
    """Give the op that makes a private copy, and its attributes; a slice is a copy, too."""
    use = node.op.list_use
    op = get_op((use is not None and use.copies) or "prim::private_section")
    return op, {k: v for k, v in node.attrs.items() if k in op.schema.keyword_only}


def _make_private(node: Node) -> None:
    type_ = node.output.type
    assert isinstance(type_, ListType)
    op, inputs = get_op("prim::private_list"), list(node.inputs)
    attrs: dict[str, object] = {"item": type_.item}
    repeated = node.inputs[0].node if is_repeat(node) else None
    if repeated is not None:
        op, inputs = get_op("prim::private_repeated"), [repeated.inputs[0], node.inputs[1]]
    elif is_copy(node):
        op, attrs = _private_copy(node)
    elif is_range(node):
        op = get_op("prim::private_range")
    made = node.create_before(op, inputs, attrs, outputs=[type_], like=node)
    made.output.name = node.output.name
    node.replace_with([made.output])
    if repeated is not None:
        repeated.erase()
