"""Split general ops into simpler ones where the operands show that those suffice.

Contract: an op with `OpDef.decompose` becomes the ops that this builds, as the variance of an array becomes two
passes over it. `_rules` maps others to functions that build the replacement in front of a node, or give None to
leave it. ``f(*(a, b), **{'k': c})`` becomes ``f(a, b, k=c)``: `py::call_ex` with a tuple and a dict made on the
spot is `py::call`. ``[x] * 3`` is ``[x, x, x]``, up to 16 items. ``a ** 2`` of an array is ``np.square(a)``, as in
NumPy, and other powers of arrays are ops that know whether the exponent is an array. What the ops were given stays
until `eliminate_dead_code`, if nothing else uses it.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache

from ljit.ir import REGISTRY, Graph, Node, OpDef, Value, get_op
from ljit.passes.manager import graph_pass, is_allowed
from ljit.passes.rewriting import insert_constant, replace_value
from ljit.types import ANY, ArrayType

__all__ = ["decompose_ops"]

NAME = "decompose_ops"
_MAX_ITEMS = 16


@graph_pass(NAME)
def decompose_ops(graph: Graph) -> bool:
    """Apply the rules to each node once; whether any applied."""
    changed = False
    for node in list(graph.walk()):
        rule = _rule_of(node.op) if node.op.decompose is None else _in_parts
        values = rule(node) if rule is not None else None
        if values is None or not is_allowed(NAME, node):
            continue
        for out, value in zip(node.outputs, values, strict=True):
            replace_value(out, value)
        node.erase()
        changed = True
    return changed


class _Parts:
    """What a node is decomposed to, in front of it."""

    def __init__(self, node: Node) -> None:
        self.node = node

    def apply(self, op: str, *operands: Value, **attrs: object) -> Value:
        new = self.node.graph.create(get_op(op), operands, attrs, like=self.node)
        return new.insert_before(self.node).output

    def constant(self, value: object) -> Value:
        return insert_constant(value, self.node)


def _in_parts(node: Node) -> list[Value] | None:
    assert node.op.decompose is not None
    if node.output.type == ANY:  # native code left here before
        return None
    value = node.op.decompose(_Parts(node), *node.inputs, **node.attrs)
    return None if value is None else [value]


_Rule = Callable[[Node], list[Value] | None]


def _rule_of(op: OpDef) -> _Rule | None:
    rule = _rules().get(op)
    return _rules_of_library().get(op) if rule is None and REGISTRY.is_complete else rule


@cache
def _rules() -> dict[OpDef, _Rule]:
    return {get_op("py::call_ex"): _plain_call, get_op("py::mul"): _repeated_list}


@cache
def _rules_of_library() -> dict[OpDef, _Rule]:
    return {
        get_op("np::power"): _power_of_array,
        get_op("np::power_operator"): _power_of_array,
        get_op("np::ipow"): _power_in_place,
    }


_POWERS = {-1: "np::reciprocal", 0.5: "np::sqrt", 2: "np::square"}


def _power_of_array(node: Node) -> list[Value] | None:
    """Give the power of an array of floats as the op that NumPy takes for such an exponent."""
    base, exponent = node.inputs
    out = node.output.type
    if not isinstance(out, ArrayType) or out.ndim == 0 or out.dtype.kind != "f":
        return None
    if isinstance(exponent.type, ArrayType):
        return _replacement(node, "np::power_of_array", [base, exponent])
    value = exponent.constant if exponent.is_constant else None
    name = _POWERS.get(value) if isinstance(value, int | float) else None
    simple = _replacement(node, name, [base]) if name is not None else None
    return simple or _replacement(node, "np::power_by_scalar", [base, exponent])


def _power_in_place(node: Node) -> list[Value] | None:
    """The same for ``a **= b``; ``a *= a`` for the square."""
    target, exponent = node.inputs
    if not (isinstance(target.type, ArrayType) and target.type.dtype.kind == "f"):
        return None
    if isinstance(exponent.type, ArrayType):
        return _replacement(node, "np::ipow_of_array", [target, exponent])
    value = exponent.constant if exponent.is_constant else None
    if isinstance(value, int | float) and value == 2:
        return _replacement(node, "np::imul", [target, target])
    return _replacement(node, "np::ipow_by_scalar", [target, exponent])


def _replacement(node: Node, name: str, operands: list[Value]) -> list[Value] | None:
    """A node with a result of the same dtype and rank, if the op has that and is native."""
    op, out = get_op(name), node.output.type
    types = [operand.type for operand in operands]
    if op.can_lower is None or not op.can_lower(*types):
        return None
    (result,) = op.infer_types(types, {})
    if not isinstance(result, ArrayType) or not isinstance(out, ArrayType):
        return None
    if (result.dtype, result.ndim) != (out.dtype, out.ndim):
        return None
    new = node.graph.create(op, operands, outputs=[out], like=node)
    return new.insert_before(node).outputs


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
