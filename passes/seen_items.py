"""What lists that begin empty (``[]``, comprehensions) hold later: what was seen of items that are read.

This is a guess, as all types of items are: reading checks them. Only numbers, tuples of numbers and lists of those
are guessed, which `passes/unbox_lists.py` looks for. Cost: linear in the uses of the list.
"""

from __future__ import annotations

from collections.abc import Iterator

from ljit.ir import Node, OpDef, Value, get_op
from ljit.ops.control import PROFILE
from ljit.ops.private_items import number_codes
from ljit.passes.carried import handed_on
from ljit.passes.insert_guards import Observations
from ljit.passes.resolve import method_op
from ljit.types import NEVER, ListType, Type, join

__all__ = ["seen_items"]


def seen_items(made: Value, observations: Observations) -> Type:
    """Give the type of the items of a list of the baseline graph, as far as they were read; Never: not known."""
    seen: Type = NEVER
    for item in _items_read(made):
        for user, _ in item.uses:
            if user.op is PROFILE:
                seen = join(seen, observations.observed(user.id) or NEVER)
    return seen if _is_of_numbers(seen) else NEVER


def _items_read(made: Value) -> Iterator[Value]:
    todo, names = [made], {made}
    while todo:
        for user, index in todo.pop().uses:
            use = _op_on_list(user).list_use if index == 0 else None
            if use is not None and use.gives_item and not any(map(_is_slice, user.inputs[1:])):
                yield user.output
            others = handed_on(user, index)
            if use is not None and use.gives_list:
                others = user.outputs
            todo += [value for value in others if value not in names]
            names.update(others)


def _is_slice(value: Value) -> bool:
    if value.is_constant:
        return isinstance(value.constant, slice)
    return value.node is not None and value.node.op is get_op("prim::SliceConstruct")


def _op_on_list(node: Node) -> OpDef:
    """The op of a node, or that of the list's method that it calls."""
    if node.op is not get_op("py::call_method"):
        return node.op
    name = node.attrs["name"]
    assert isinstance(name, str)
    return method_op(ListType(NEVER), name) or node.op


def _is_of_numbers(item: Type) -> bool:
    return _is_of_numbers(item.item) if isinstance(item, ListType) else bool(number_codes(item))
