"""Keep the items of small lists that nobody else sees in variables.

Contract: a `prim::ListConstruct` goes away if all uses of the list are

- items at constant places within bounds, read or written, and unpacking into as many variables;
- reads at other places, each of which gets a list of its own, and of a list that is never written to: ``for`` and
  ``in``, which get a tuple;
- behind all others, at the end of the function: whatever stands in a block that ends in Return. There a new list
  is made of the items, once: nobody saw the old one.

Lists that loops and branches carry become tuples first, where that is the same (passes/containers/carried_lists.py).

Functions with a Try keep their lists: handlers may see them.

Each item becomes a local variable, and `convert_to_ssa` does the rest; so the items are typed one by one, and a
Snapshot holds them like any other values. A list that is appended to, passed on, compared or stored stays.
"""

from __future__ import annotations

from collections.abc import Iterable

from ljit.ir import Graph, Node, Value, get_op
from ljit.ops.control import LOAD, STORE, TRY
from ljit.passes.containers.carried_lists import make_carried_tuples
from ljit.passes.containers.list_uses import ListUses, item_place
from ljit.passes.convert_to_ssa import convert_to_ssa
from ljit.passes.manager import graph_pass, is_allowed
from ljit.types import ANY

__all__ = ["scalarize_lists"]

NAME = "scalarize_lists"
MAX_ITEMS = 16
MAX_CHOICES = 8  # of a list that is read at places that are not constant
MAX_TABLE = 64  # of one that holds constants only


@graph_pass(NAME)
def scalarize_lists(graph: Graph) -> bool:
    """Take lists apart, then the lists that were items of those; whether there were any."""
    if any(node.op is TRY for node in graph.walk()):
        return False
    changed = make_carried_tuples(graph)
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


def _uses(made: Node) -> ListUses | None:
    """Sort the uses of a list; None if it must stay one."""
    uses = ListUses.of(made.output, len(made.inputs))
    if uses is None:
        return None
    is_made_for_choice = len(made.output.uses) == 1 and made.next in uses.choices
    if is_made_for_choice:
        return None
    is_fixed = all(value.is_constant for value in made.inputs) and not uses.writes
    has_gain = uses.reads or uses.writes or uses.unpacks or uses.choices or uses.tuples
    limit = MAX_TABLE if is_fixed else MAX_CHOICES if uses.choices else MAX_ITEMS
    if not has_gain or len(made.inputs) > limit or (uses.tuples and uses.writes):
        return None
    return uses


# -- rewriting -------------------------------------------------------------------------------------


def _take_apart(made: Node, uses: ListUses) -> None:
    variables = _Variables(made)
    for end, places in uses.ends.items():
        items = [variables.load(k, end) for k in range(len(made.inputs))]
        types = [made.output.type]
        again = end.create_before(made.op, items, outputs=types, like=made)
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
    place = item_place(node, len(made.inputs))
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
        before.create_before(STORE, [value], attrs, outputs=0, like=before)

    def made_of(self, maker: str, before: Node) -> Value:
        """Make a tuple or list of the items."""
        items = [self.load(k, before) for k in range(len(self.made.inputs))]
        node = before.graph.create(get_op(maker), items, outputs=1, like=self.made)
        return node.insert_before(before).output
