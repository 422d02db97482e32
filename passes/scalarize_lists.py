"""Keep the items of small lists that nobody else sees in variables.

Contract: a `prim::ListConstruct` goes away if all uses of the list are

- items at constant places within bounds, read or written, and unpacking into as many variables;
- reads at other places, each of which gets a list of its own, and of a list that is never written to: ``for`` and
  ``in``, which get a tuple;
- behind all others, at the end of the function: whatever stands in a block that ends in Return. There a new list
  is made of the items, once: nobody saw the old one.

Each item becomes a local variable, and `convert_to_ssa` does the rest; so the items are typed one by one, and a
Snapshot holds them like any other values. A list that is appended to, passed on, compared or stored stays.
"""

from __future__ import annotations

from collections.abc import Iterable

from ljit.ir import Graph, Node, Value, get_op
from ljit.ops.control import LOAD, STORE
from ljit.passes.convert_to_ssa import convert_to_ssa
from ljit.passes.manager import graph_pass, is_allowed
from ljit.passes.rewriting import in_last_block
from ljit.records import Record, made_by
from ljit.types import ANY

__all__ = ["scalarize_lists"]

NAME = "scalarize_lists"
MAX_ITEMS = 16
MAX_CHOICES = 8  # of a list that is read at places that are not constant
MAX_TABLE = 64  # of one that holds constants only


@graph_pass(NAME)
def scalarize_lists(graph: Graph) -> bool:
    """Take lists apart, then the lists that were items of those; whether there were any."""
    changed = False
    while _round(graph):
        convert_to_ssa(graph)
        _retype(graph)
        changed = True
    return changed


def _retype(graph: Graph) -> None:
    """Infer types that follow from those of items; what is Any stays so."""
    for node in graph.walk():
        if node.op.infer is not None:
            for out, type_ in zip(node.outputs, node.op.result_types(node), strict=True):
                out.type = out.type if out.type == ANY else type_


def _round(graph: Graph) -> bool:
    changed = False
    for node in list(graph.walk()):
        uses = _uses(node) if node.op is get_op("prim::ListConstruct") else None
        if uses is not None and is_allowed(NAME, node):
            _take_apart(node, uses)
            changed = True
    return changed


class _Uses(Record, frozen=False):
    """How a list is used, by nodes."""

    reads: list[Node] = made_by(factory=list)  # at a constant place
    writes: list[Node] = made_by(factory=list)
    unpacks: list[Node] = made_by(factory=list)
    choices: list[Node] = made_by(factory=list)  # reads at another place
    tuples: list[tuple[Node, int]] = made_by(factory=list)  # where a tuple does as well
    ends: dict[Node, list[tuple[Node, int]]] = made_by(factory=dict)  # the first one sees a list


def _uses(made: Node) -> _Uses | None:
    """Sort the uses of a list; None if it must stay one."""
    uses = _Uses()
    for node, index in made.output.uses:
        end = _end(node, made)
        if end is not None:
            uses.ends.setdefault(end, []).append((node, index))
        elif not _sort(uses, made, node, index):
            return None
    if len(made.output.uses) == 1 and made.next in uses.choices:  # it has the list of its own
        return None
    is_fixed = all(value.is_constant for value in made.inputs) and not uses.writes
    has_gain = uses.reads or uses.writes or uses.unpacks or uses.choices or uses.tuples
    limit = MAX_TABLE if is_fixed else MAX_CHOICES if uses.choices else MAX_ITEMS
    if not has_gain or len(made.inputs) > limit or (uses.tuples and uses.writes):
        return None
    return uses


def _sort(uses: _Uses, made: Node, node: Node, index: int) -> bool:
    """Note a use that needs no list; False if it needs one."""
    size = len(made.inputs)
    if node.op is get_op("py::getitem") and index == 0 and node.inputs[1] is not made.output:
        (uses.reads if _place(node, size) is not None else uses.choices).append(node)
    elif node.op is get_op("py::setitem") and _is_written(node, made, index):
        uses.writes.append(node)
    elif node.op is get_op("prim::Unpack"):
        if node.attrs.get("star") is not None or node.attrs["count"] != size:
            return False
        uses.unpacks.append(node)
    elif node.op in (get_op("prim::iter"), *_membership()) and index == len(node.inputs) - 1:
        uses.tuples.append((node, index))
    else:
        return False
    return True


def _membership() -> tuple[object, ...]:
    return get_op("py::contains"), get_op("py::not_contains")


def _is_written(node: Node, made: Node, index: int) -> bool:
    is_only_target = index == 0 and made.output not in node.inputs[1:]
    return is_only_target and _place(node, len(made.inputs)) is not None


def _place(node: Node, size: int) -> int | None:
    """Give the constant index of an item, counted from the front."""
    place = node.inputs[1]
    index = place.constant if place.is_constant else None
    if type(index) is not int or not -size <= index < size:
        return None
    return index % size


# -- the end of the function -----------------------------------------------------------------------


def _end(node: Node, made: Node) -> Node | None:
    """Give the node of a last block from which on the list must be one, if the user `node` stands there."""
    top = in_last_block(node, made)
    if top is None:
        return None
    assert top.block is not None
    for first in top.block:
        if _needs_list(first, made):
            return first
        if first is top:
            return None
    return None


def _needs_list(top: Node, made: Node) -> bool:
    """Whether the list is used in a node of a last block in a way that needs a list."""
    for node, index in made.output.uses:
        if node is top and not _sort(_Uses(), made, node, index):
            return True
        if node is not top and node.is_inside(top) and not _sort(_Uses(), made, node, index):
            return in_last_block(node, made) is top
    return False


# -- rewriting -------------------------------------------------------------------------------------


def _take_apart(made: Node, uses: _Uses) -> None:
    variables = _Variables(made)
    for end, places in uses.ends.items():
        items = [variables.load(k, end) for k in range(len(made.inputs))]
        types = [made.output.type]
        again = made.graph.create(made.op, items, outputs=types, like=made).insert_before(end)
        again.output.name = made.output.name
        _give(places, again.output)
    for node in uses.reads:
        node.replace_with([variables.load(_index(node, made), node)])
    for node in uses.unpacks:
        node.replace_with([variables.load(k, node) for k in range(len(made.inputs))])
    for node in uses.choices:
        node.set_input(0, variables.made_of("prim::ListConstruct", node))
    for node, index in uses.tuples:
        node.set_input(index, variables.made_of("prim::TupleConstruct", node))
    for node in uses.writes:
        variables.store(_index(node, made), node.inputs[2], node)
        node.erase()
    for k, value in enumerate(made.inputs):
        variables.store(k, value, made)
    made.erase()


def _give(places: Iterable[tuple[Node, int]], value: Value) -> None:
    for node, index in places:
        node.set_input(index, value)


def _index(node: Node, made: Node) -> int:
    place = _place(node, len(made.inputs))
    assert place is not None
    return place


class _Variables:
    """The variables of a list's items."""

    def __init__(self, made: Node) -> None:
        self.made = made

    def _name(self, k: int) -> str:
        return f"@list{self.made.id}.{k}"

    def load(self, k: int, before: Node) -> Value:
        attrs = {"name": self._name(k)}
        node = before.graph.create(LOAD, (), attrs, outputs=1, like=before)
        return node.insert_before(before).output

    def store(self, k: int, value: Value, before: Node) -> None:
        attrs = {"name": self._name(k)}
        before.graph.create(STORE, [value], attrs, outputs=0, like=before).insert_before(before)

    def made_of(self, maker: str, before: Node) -> Value:
        """Make a tuple or list of the items."""
        items = [self.load(k, before) for k in range(len(self.made.inputs))]
        node = before.graph.create(get_op(maker), items, outputs=1, like=self.made)
        return node.insert_before(before).output
