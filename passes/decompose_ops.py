"""Split general ops into simpler ones where the operands show that those suffice.

Contract: `_RULES` maps an op to a function that builds the replacement in front of a node, or gives
None to leave it. ``f(*(a, b), **{'k': c})`` becomes ``f(a, b, k=c)``: `py::call_ex` with a tuple
and a dict made on the spot is `py::call`. ``[x] * 3`` is ``[x, x, x]``, up to 16 items. What the ops
were given stays until `eliminate_dead_code`, if nothing else uses it.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache

from ljit.ir import Graph, Node, OpDef, Value, get_op
from ljit.passes.manager import graph_pass, is_allowed
from ljit.passes.rewriting import replace_value

__all__ = ["decompose_ops"]

NAME = "decompose_ops"
_MAX_ITEMS = 16


@graph_pass(NAME)
def decompose_ops(graph: Graph) -> bool:
    """Apply the rules to each node once; whether any applied."""
    changed = False
    for node in list(graph.walk()):
        rule = _rules().get(node.op)
        values = rule(node) if rule is not None else None
        if values is None or not is_allowed(NAME, node):
            continue
        for out, value in zip(node.outputs, values, strict=True):
            replace_value(out, value)
        node.erase()
        changed = True
    return changed


@cache
def _rules() -> dict[OpDef, Callable[[Node], list[Value] | None]]:
    return {get_op("py::call_ex"): _plain_call, get_op("py::mul"): _repeated_list}


def _plain_call(node: Node) -> list[Value] | None:
    """Give the call that spells the arguments out, if they are known one by one."""
    function, args, kwargs = node.inputs
    positional = _tuple_items(args)
    keywords = _keyword_items(kwargs)
    if positional is None or keywords is None:
        return None
    inputs = [function, *positional, *keywords.values()]
    attrs = {"kwnames": tuple(keywords)}
    call = node.graph.create(get_op("py::call"), inputs, attrs, like=node)
    return call.insert_before(node).outputs


def _repeated_list(node: Node) -> list[Value] | None:
    """Give the list with its items written out, if it is short."""
    for value, times in (node.inputs, reversed(node.inputs)):
        made = value.node
        count = times.constant if times.is_constant else None
        if made is None or made.op is not get_op("prim::ListConstruct") or type(count) is not int:
            continue
        if len(made.inputs) * count > _MAX_ITEMS:
            return None
        again = node.graph.create(made.op, made.inputs * count, outputs=1, like=node)
        return again.insert_before(node).outputs
    return None


def _tuple_items(value: Value) -> list[Value] | None:
    node = value.node
    if node is not None and node.op is get_op("prim::TupleConstruct"):
        return node.inputs
    return None


def _keyword_items(value: Value) -> dict[str, Value] | None:
    node = value.node
    if value.is_constant and value.constant is None:
        return {}
    if node is None or node.op is not get_op("prim::DictConstruct") or len(value.uses) != 1:
        return None
    names = [v.constant if v.is_constant else None for v in node.inputs[::2]]
    if not all(isinstance(name, str) for name in names) or len(set(names)) < len(names):
        return None
    return {str(name): item for name, item in zip(names, node.inputs[1::2], strict=True)}
