"""Split general ops into simpler ones where the operands show that those suffice.

Contract: an op with `OpDef.decompose` becomes the ops that this builds, as the variance of an array becomes two
passes over it. If one of these were unknown, as a sum of arrays whose sizes do not go together, they are taken back:
the whole op raises what NumPy does. `_rules` maps others to functions that build the replacement in front of a node, or
give None to leave it. ``f(*(a, b), **{'k': c})`` becomes ``f(a, b, k=c)``: `py::call_ex` with a tuple and a dict made
on the spot is `py::call`. An op whose errors a native handler gets stays whole. ``[x] * 3`` is ``[x, x, x]``, up to 16
items. A dict that is put into an empty one, for ``f(**d)``, is an update. What the ops were given stays until
`eliminate_dead_code`, if nothing else uses it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import cache

from ljit.ir import Block, Graph, Node, OpDef, Value, get_op
from ljit.ops.indexing.gathers import can_gather
from ljit.ops.python.types import class_of
from ljit.passes.manager import graph_pass, is_allowed
from ljit.passes.rewriting import insert_constant, is_tried, replace_value
from ljit.types import ANY, ArrayType, ScalarType, Type

__all__ = ["decompose_ops"]

NAME = "decompose_ops"
_MAX_ITEMS = 16


@graph_pass(NAME)
def decompose_ops(graph: Graph) -> bool:
    """Apply the rules to each node once, also to those that they make; whether any applied."""
    changed = False
    waiting = list(graph.walk())[::-1]
    while waiting:
        node = waiting.pop()
        before = node.prev
        rule = _rules().get(node.op) if node.op.decompose is None else _in_parts
        values = rule(node) if rule is not None else None
        if values is None or not is_allowed(NAME, node):
            continue
        made = node.prev
        while made is not before:
            assert made is not None
            waiting.append(made)
            made = made.prev
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

    @property
    def type(self) -> Type:
        return self.node.output.type

    def apply_native(self, op: str, *operands: Value) -> Value | None:
        found, out = get_op(op), self.type
        types = [operand.type for operand in operands]
        if not found.has_lowering(types):
            return None
        (result,) = found.infer_types(types, {})
        if isinstance(result, ArrayType) and isinstance(out, ArrayType):
            if (result.dtype, result.ndim) != (out.dtype, out.ndim):
                return None
        elif result != out or not isinstance(out, ScalarType):
            return None
        new = self.node.graph.create(found, operands, outputs=[out], like=self.node)
        return new.insert_before(self.node).output

    def is_computed(self, operand: Value) -> bool:
        return self.node.block is not None and _is_computed(operand, self.node.block)

    def source_of(self, op: str, value: Value) -> Value | None:
        made = value.node
        return made.inputs[0] if made is not None and made.op is get_op(op) else None

    def constant(self, value: object) -> Value:
        return insert_constant(value, self.node)


def _is_computed(value: Value, block: Block) -> bool:
    """Whether ops of a few instructions compute the elements of the array in the block, from those of other arrays.

    So are elements of a vector that are taken at places.
    """
    node = value.node
    if node is None or node.block is not block:
        return False
    if node.op.reads_part and _rank(value.type) == 1:
        vector, index = (v.type for v in node.inputs)
        return _rank(vector) == 1 and can_gather(vector, index)
    if not node.op.elementwise:
        return False
    if node.op.schema.written or not (node.op.is_cheap or node.op.instructions):
        return False
    made = [v for v in node.inputs if v.node is not None and v.node.op.elementwise]
    return all(_is_computed(v, block) for v in made if _rank(v.type) == _rank(value.type))


def _rank(type_: Type) -> int:
    return type_.ndim if isinstance(type_, ArrayType) else 0


def _in_parts(node: Node) -> list[Value] | None:
    assert node.op.decompose is not None
    if node.output.type == ANY:  # native code left here before
        return None
    if node.op.evaluate is not None and is_tried(node):
        return None
    before = node.prev
    value = node.op.decompose(_Parts(node), *node.inputs, **node.attrs)
    made = list(_made_between(before, node))
    if value is not None and not any(out.type == ANY for new in made for out in new.outputs):
        return [value]
    for new in reversed(made):
        new.erase()
    return None


def _made_between(before: Node | None, node: Node) -> Iterator[Node]:
    """The nodes in front of the node, from the one after `before` on."""
    assert node.block is not None
    new = before.next if before is not None else node.block.first
    while new is not None and new is not node:
        yield new
        new = new.next


@cache
def _rules() -> dict[OpDef, Callable[[Node], list[Value] | None]]:
    return {
        get_op("py::call_ex"): _plain_call,
        get_op("prim::dict_merge"): _plain_update,
        get_op("py::mul"): _repeated_list,
    }


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


def _plain_update(node: Node) -> list[Value] | None:
    """Put a dict of keywords into an empty one: no name comes twice."""
    made, values, _ = node.inputs
    new = made.made_by(get_op("prim::DictConstruct"))
    if (
        new is None
        or new.inputs
        or new.block is not node.block
        or class_of(values.type) is not dict
    ):
        return None
    before = node.prev
    while before is not new:
        if before is None or made in before.inputs or before.blocks:
            return None
        before = before.prev
    update = node.graph.create(get_op("prim::dict_update"), (made, values), like=node)
    update.insert_before(node)
    return []


def _repeated_list(node: Node) -> list[Value] | None:
    """Give the list with its items written out, if it is short and nothing else can have changed it."""
    for value, times in (node.inputs, reversed(node.inputs)):
        made = value.node
        count = times.constant if times.is_constant else None
        if made is None or made.op is not get_op("prim::ListConstruct") or type(count) is not int:
            continue
        if len(made.inputs) * count > _MAX_ITEMS or len(value.uses) > 1:
            return None
        again = node.graph.create(
            made.op, made.inputs * count, outputs=[node.output.type], like=node
        )
        return again.insert_before(node).outputs
    return None


def _tuple_items(value: Value) -> list[Value] | None:
    node = value.made_by(get_op("prim::TupleConstruct"))
    return None if node is None else node.inputs


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
