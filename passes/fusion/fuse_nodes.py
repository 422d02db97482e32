"""Which nodes a loop nest over arrays can compute: what `fuse` asks of one node."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import cache, lru_cache
from typing import NamedTuple

import numpy as np

from ljit.ir import Block, Effect, Graph, Node, OpDef, Value, get_op
from ljit.ops.arrays.boxed import reduced_axes
from ljit.ops.control import MAP, SNAPSHOT
from ljit.ops.indexing.index import basic_parts, is_element, view_type
from ljit.types import INT, RANGE, ArrayType, ScalarType, Type, is_number
from ljit.unique import forgets_classes

__all__ = [
    "checks_places",
    "element_inputs",
    "element_op",
    "element_type",
    "has_nests",
    "is_elementwise",
    "is_exact",
    "is_filled",
    "is_gather",
    "is_reduction",
    "is_scan",
    "is_store",
    "is_turned_gather",
    "is_writing",
    "may_leave",
    "nest_type",
    "stretches",
    "takes_elements",
]

_BARRIERS = Effect.WRITE | Effect.CALL | Effect.EXIT


def stretches(block: Block) -> Iterator[list[Node]]:
    """Give runs of nodes of which at most the last one writes; only those with work for a nest."""
    if not any(map(_is_work, block)):
        return
    nodes: list[Node] = []
    count = 0
    for node in block:
        nodes.append(node)
        count += _is_work(node)
        if node.op is SNAPSHOT or node.effects & _BARRIERS:
            if count:
                yield nodes
            nodes, count = [], 0


def has_nests(graph: Graph) -> bool:
    """Whether anything is done with arrays but to make them and to read and write single elements."""
    return any(map(_uses_arrays, graph.walk()))


def _uses_arrays(node: Node) -> bool:
    op = node.op
    if op.elementwise or op.reduction is not None or op.columns is not None:
        return any(isinstance(v.type, ArrayType) for v in (*node.inputs, *node.outputs))
    if is_store(node):
        return not (op.writes_part and _is_of_element(node))
    if op.reads_part or op.joins:
        return isinstance(node.output.type, ArrayType)
    return op is MAP or op.scan is not None


def _is_of_element(node: Node) -> bool:
    """Whether the index names one element of the array."""
    a, index = (v.type for v in node.inputs[:2])
    parts = basic_parts(a, index) if isinstance(a, ArrayType) else None
    return parts is not None and isinstance(a, ArrayType) and is_element(index, parts)


def _is_work(node: Node) -> bool:
    op = node.op
    return op.elementwise or op.reduction is not None or op.scan is not None or is_gather(node)


@cache
def _stores() -> tuple[OpDef, ...]:
    return get_op("np::setitem"), get_op("np::assign")


@cache
def _gathers() -> tuple[OpDef, OpDef]:
    return get_op("np::elements_at"), get_op("np::elements_inside")


def is_store(node: Node) -> bool:
    """Whether the node assigns to the elements of an array, or to some of them."""
    return node.op in _stores()


def is_writing(node: Node) -> bool:
    """Whether the node is a store or an in-place operator."""
    return is_store(node) or (node.op.elementwise and bool(node.op.schema.written))


def takes_elements(node: Node, position: int) -> bool:
    """Whether the nest of a node that writes or gathers takes the elements of this operand, and nothing else of it."""
    if is_store(node):
        return position == len(node.inputs) - 1
    return position > 0


def element_inputs(node: Node) -> Sequence[Value]:
    """The operands of an elementwise node whose elements it computes with."""
    return node.inputs[1:] if is_gather(node) else node.op.element_operands(node.inputs)


def is_gather(node: Node) -> bool:
    """Whether the node takes elements of an array at places that were checked, or that it checks."""
    return node.op in _gathers()


def checks_places(node: Node) -> bool:
    """Whether the node takes elements of an array at places that it checks."""
    return node.op is _gathers()[1]


def is_turned_gather(node: Node) -> bool:
    """Whether it takes elements of columns: NumPy gives an array in Fortran order."""
    type_ = node.output.type
    return is_gather(node) and isinstance(type_, ArrayType) and type_.layout != "C"


def nest_type(node: Node) -> ArrayType | None:
    """Give the type of the array that `node` makes or fills element by element, or None."""
    if is_store(node):
        return _stored_type(node)
    if node.op.reduction is not None:
        return _reduced_type(node)
    if is_gather(node):
        return node.output.type if isinstance(node.output.type, ArrayType) else None
    if not is_elementwise(node):
        return None
    if node.op.schema.written and may_leave(node):
        return None
    type_ = node.output.type
    assert isinstance(type_, ArrayType)
    return type_


def is_reduction(node: Node) -> bool:
    """Whether the node combines the elements of an array, in a way that a nest can."""
    return node.op.reduction is not None and _reduced_type(node) is not None


def needs_elements(node: Node) -> bool:
    """Whether the node is a reduction that has no result, but an exception, where there are no elements."""
    if node.op.reduction is None:
        return False
    rule = get_op(node.op.reduction.combine).accumulation
    return rule is None or not rule.has_identity


def is_scan(node: Node) -> bool:
    """Whether native code combines each element of an array with those before it."""
    types = [v.type for v in node.inputs]
    return node.op.scan is not None and node.op.has_lowering(types, node.attrs)


def _reduced_type(node: Node) -> ArrayType | None:
    """Give the type of the array that a reduction goes through, if a Map can do it."""
    (source,), (out,) = node.inputs, node.outputs
    assert node.op.reduction is not None
    combine = get_op(node.op.reduction.combine)
    if not isinstance(source.type, ArrayType) or not isinstance(out.type, ArrayType | ScalarType):
        return None
    element, rule = ScalarType(out.type.dtype), combine.accumulation
    is_combined = combine.has_lowering((element, element))
    if rule is None or (rule.is_wider_for_halves and element.dtype == np.float16):
        return None
    is_plain = element.dtype.kind == "b" or np.can_cast(
        source.type.dtype, element.dtype, "same_kind"
    )
    return source.type if reduced_axes(node) and is_combined and is_plain else None


def _stored_type(node: Node) -> ArrayType | None:
    """Give the type of the array that a store of an array fills, if it is as simple as a Map."""
    types = [v.type for v in node.inputs]
    if not node.op.has_lowering(types, node.attrs) or node.outputs:
        return None
    value = node.inputs[-1].type
    target = _target_type(node)
    if not isinstance(value, ArrayType) or not isinstance(target, ArrayType):
        return None
    fits = value.ndim == target.ndim and np.can_cast(value.dtype, target.dtype, "safe")
    return target if fits and target.writeable else None


def _target_type(node: Node) -> Type:
    if len(node.inputs) == 2:
        return node.inputs[0].type
    return view_type(node.inputs[0].type, node.inputs[1].type)


def is_elementwise(node: Node) -> bool:
    """Whether the node is one op on the elements of arrays, with an array as its result."""
    return node.op.elementwise and len(node.outputs) == 1 and _facts(node).is_elementwise


def is_exact(node: Node) -> bool:
    """Whether the element op gives just the dtype of the node's array."""
    return is_gather(node) or _facts(node).is_exact


def may_leave(node: Node) -> bool:
    """Whether computing one element can bail out."""
    return checks_places(node) or (not is_gather(node) and _facts(node).may_leave)


class _Facts(NamedTuple):
    """What follows from the op and the types of a node: asked again and again, of few of them."""

    is_elementwise: bool
    is_exact: bool = False
    may_leave: bool = True


def _facts(node: Node) -> _Facts:
    types = tuple([v.type for v in node.inputs])
    attrs = tuple(node.attrs.items())
    try:
        return _facts_of(node.op, types, node.output.type, attrs)
    except TypeError:  # an attribute without hash
        return _facts_of.__wrapped__(node.op, types, node.output.type, attrs)


@forgets_classes
@lru_cache(maxsize=4096)
def _facts_of(
    op: OpDef, types: tuple[Type, ...], out: Type, items: tuple[tuple[str, object], ...]
) -> _Facts:
    attrs = dict(items)
    if not isinstance(out, ArrayType) or out.ndim == 0 or not op.has_lowering(types, attrs):
        return _Facts(is_elementwise=False)
    body = get_op(op.element_op) if op.element_op is not None else op
    elements = [element_type(t) for t in op.element_operands(types)]
    if (
        not all(map(_is_native, types))
        or body.infer is None
        or not body.has_lowering(elements, attrs)
    ):
        return _Facts(is_elementwise=False)
    results = body.infer_types(elements, attrs)
    effects = body.effects
    if not isinstance(effects, Effect):
        effects = effects(*elements, **attrs)
    (result,) = results
    return _Facts(
        isinstance(result, ScalarType) and np.can_cast(result.dtype, out.dtype, "same_kind"),
        result == out.element,
        bool(effects & Effect.RAISE) or INT in results,
    )


def _is_native(type_: Type) -> bool:
    return isinstance(type_, ArrayType | ScalarType) or type_ == RANGE or is_number(type_)


def element_op(node: Node) -> OpDef:
    """Give the op that stands for an elementwise node in the body of a nest."""
    return get_op(node.op.element_op) if node.op.element_op is not None else node.op


def element_type(type_: Type) -> Type:
    if type_ == RANGE:
        return INT
    return type_.element if isinstance(type_, ArrayType) else type_


def is_filled(node: Node) -> bool:
    """Whether the node makes an array in C order, all of whose elements are `OpDef.fill`."""
    if node.op.fill is None:
        return False
    type_ = node.output.type
    is_array = isinstance(type_, ArrayType) and type_.ndim > 0
    return is_array and node.op.has_lowering([v.type for v in node.inputs], node.attrs)
