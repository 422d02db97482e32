"""Let users of a tuple's items use the items, where the tuple is made on the spot.

Contract: `prim::Unpack` without a star, `prim::TupleIndex` and `py::getitem` with a constant int of
a `prim::TupleConstruct` become its operands, where the count fits and the index is in range; what
would raise stays. A tuple that is not used otherwise is left to `eliminate_dead_code`.
"""

from __future__ import annotations

from ljit.ir import Graph, Node, Value, get_op
from ljit.passes.manager import graph_pass, is_allowed
from ljit.passes.rewriting import replace_value

__all__ = ["lower_simple_tuples"]

NAME = "lower_simple_tuples"


@graph_pass(NAME)
def lower_simple_tuples(graph: Graph) -> bool:
    """Bypass tuples; whether anything changed."""
    changed = False
    for node in list(graph.walk()):
        items = _items_wanted(node)
        if items is None or not is_allowed(NAME, node):
            continue
        for out, item in zip(node.outputs, items, strict=True):
            replace_value(out, item)
        node.erase()
        changed = True
    return changed


def _items_wanted(node: Node) -> list[Value] | None:
    """Give the tuple's items that the outputs of `node` are, or None."""
    maker = node.inputs[0].node if node.inputs else None
    if maker is None or maker.op is not get_op("prim::TupleConstruct"):
        return None
    items = maker.inputs
    if node.op is get_op("prim::Unpack"):
        fits = node.attrs.get("star") is None and node.attrs["count"] == len(items)
        return items if fits else None
    if node.op is get_op("prim::TupleIndex"):
        return _item(items, node.attrs["index"])
    if node.op is get_op("py::getitem") and node.inputs[1].is_constant:
        return _item(items, node.inputs[1].constant)
    return None


def _item(items: list[Value], index: object) -> list[Value] | None:
    if type(index) is not int or not -len(items) <= index < len(items):
        return None
    return [items[index]]
