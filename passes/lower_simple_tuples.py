"""Let users of a tuple's items use the items, where the tuple is made on the spot.

Contract: `prim::Unpack` without a star, `prim::TupleIndex` and `py::getitem` with a constant int of
a `prim::TupleConstruct` become its operands, where the count fits and the index is in range; what
would raise stays. So do the items of a constant that is unpacked. A tuple that is not used otherwise is left to
`eliminate_dead_code`. `prim::Unpack` with a star becomes the items of any tuple of known items, and a list of those
between. The plain tuple that a named one was made of takes the place of the plain tuple that is made of that.

So it is with the items of a stack of arrays that are all fresh, and that nothing else sees: what is written to one is
seen in it alone, as in the stack. Only if all that is asked of the stack are items: ``y, x = np.mgrid[:h, :w]``.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import cast

from ljit.characters import constant_type
from ljit.ir import Effect, Graph, Node, OpDef, Value, get_op
from ljit.ops.containers.tuples import AS_NAMED, AS_TUPLE, TUPLE_CONSTRUCT, TUPLE_INDEX
from ljit.ops.objects import UNPACK
from ljit.passes.manager import graph_pass, is_allowed
from ljit.passes.rewriting import insert_constant, replace_value
from ljit.types import TupleType

__all__ = ["lower_simple_tuples"]

NAME = "lower_simple_tuples"


@graph_pass(NAME)
def lower_simple_tuples(graph: Graph) -> bool:
    """Bypass tuples; whether anything changed."""
    changed = False
    for node in list(graph.walk()):
        if _is_round_trip(node) and is_allowed(NAME, node):
            replace_value(node.output, node.inputs[0].node.inputs[0])  # type: ignore[union-attr]  # such a value has one
            node.erase()
            changed = True
            continue
        items = _items_wanted(node)
        is_starred = items is None and _is_starred_unpack(node)
        if (items is None and not is_starred) or not is_allowed(NAME, node):
            continue
        items = items if items is not None else _with_list(node)
        stack = node.inputs[0].node
        for out, item in zip(node.outputs, items, strict=True):
            replace_value(out, item)
        node.erase()
        if stack is not None and stack.op.joins and not stack.output.uses:
            made = stack.inputs[0].node
            stack.erase()
            if made is not None and not made.output.uses:
                made.erase()  # nests would give the arrays for its sake
        changed = True
    return changed


def _is_round_trip(node: Node) -> bool:
    """Whether it is the plain tuple that a named one was made of."""
    return node.op is AS_TUPLE and node.inputs[0].made_by(AS_NAMED) is not None


def _items_wanted(node: Node) -> list[Value] | None:
    """Give the tuple's items that the outputs of `node` are, or None."""
    maker = node.inputs[0].node if node.inputs else None
    if maker is not None and maker.op.joins == "along a new axis" and _gives_items_only(maker):
        maker = maker.inputs[0].node
    if _unpacks_constant(node):
        items = cast("tuple[object, ...]", node.inputs[0].constant)
        return [insert_constant(x, node) for x in items]
    if maker is None or maker.op is not TUPLE_CONSTRUCT:
        return None
    return _wanted_of(maker.inputs, node)


def _unpacks_constant(node: Node) -> bool:
    """Whether it gives the items of a constant tuple, as the trips of a loop over pairs that was written out do."""
    if node.op is not UNPACK or node.attrs.get("star") is not None:
        return False
    (value,) = node.inputs
    if not value.is_constant or type(value.constant) is not tuple:
        return False
    known = [constant_type(x) for x in value.constant]
    return known == [out.type for out in node.outputs]


def _wanted_of(items: list[Value], node: Node) -> list[Value] | None:
    if node.op is UNPACK:
        fits = node.attrs.get("star") is None and node.attrs["count"] == len(items)
        return items if fits else None
    if node.op is TUPLE_INDEX:
        return _item(items, node.attrs["index"])
    if _is_getitem(node.op) and node.inputs[1].is_constant:
        return _item(items, node.inputs[1].constant)
    return None


def _is_starred_unpack(node: Node) -> bool:
    """Whether it unpacks a tuple that has enough items, some of them into a list."""
    if node.op is not UNPACK or node.attrs.get("star") is None:
        return False
    type_ = node.inputs[0].type
    return isinstance(type_, TupleType) and len(type_.items) >= len(node.outputs) - 1


def _with_list(node: Node) -> list[Value]:
    """Give what an unpacking with a star gives, made in front of it."""
    (value,), star = node.inputs, cast(int, node.attrs["star"])
    assert isinstance(value.type, TupleType)
    items = [
        _inserted(node, "prim::TupleIndex", (value,), {"index": k})
        for k in range(len(value.type.items))
    ]
    behind = len(items) - (len(node.outputs) - 1 - star)
    middle = _inserted(node, "prim::ListConstruct", items[star:behind], {})
    return [*items[:star], middle, *items[behind:]]


def _inserted(node: Node, op: str, operands: Sequence[Value], attrs: Mapping[str, object]) -> Value:
    return node.graph.create(get_op(op), operands, attrs, like=node).insert_before(node).output


def _is_getitem(op: OpDef) -> bool:
    """Whether it is Python's ``x[i]`` or NumPy's; asking for the latter would load the ops of libraries."""
    python = get_op("py::getitem")
    return op is python or op.name == python.numpy


def _gives_items_only(stack: Node) -> bool:
    """Whether items are all that is asked of a stack, of arrays that only it has."""
    made = stack.inputs[0].node
    if made is None or made.op is not TUPLE_CONSTRUCT or len(made.output.uses) > 1:
        return False
    if stack.attrs.get("axis", 0) != 0 or not all(map(_is_private, made.inputs)):
        return False
    return all(_is_item(made.inputs, user) for user, _ in stack.output.uses)


def _is_private(part: Value) -> bool:
    node = part.node
    return node is not None and bool(node.effects & Effect.ALLOC) and len(part.uses) == 1


def _is_item(parts: list[Value], user: Node) -> bool:
    wanted = _wanted_of(parts, user)
    return wanted is not None and all(
        out.type == item.type for out, item in zip(user.outputs, wanted, strict=True)
    )


def _item(items: list[Value], index: object) -> list[Value] | None:
    if type(index) is not int or not -len(items) <= index < len(items):
        return None
    return [items[index]]
