"""Compute chains of elementwise ops on arrays in one loop nest, without arrays in between.

Contract: an elementwise op on arrays and the elementwise ops in the same block whose results only
it (or what is fused with it) uses become one `prim::Map`. An in-place operator, or an assignment to
a slice, takes the chain that makes its value along and writes straight to its array, if nothing in
the body can leave in the middle. A producer is moved down to its user, so nothing between them may
write. It is not fused if it has fewer axes than the result, or a size of 1 where the result has
more: it would be computed many times. Overlap of the array that is written with one that is read is
the loop nest's own business.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache

import numpy as np

from ljit.ir import Effect, Graph, Node, OpDef, Value, get_op
from ljit.ops.control import MAP, YIELD
from ljit.ops.numpy_boxed import reduced_axes
from ljit.passes.manager import graph_pass, is_allowed
from ljit.passes.rewriting import all_blocks
from ljit.records import Record, made_by
from ljit.types import INT, ArrayType, ScalarType, Type, is_number

__all__ = ["fuse"]

NAME = "fuse"
MAX_BODY = 48  # ops: beyond, registers run out
_CLOBBERS = Effect.WRITE | Effect.CALL


@graph_pass(NAME)
def fuse(graph: Graph) -> bool:
    """Fuse the elementwise ops of each block; whether there was anything to fuse."""
    changed = False
    for block in list(all_blocks(graph)):
        if block.owner is not None and block.owner.op is MAP:
            continue
        node = block.last
        while node is not None:
            chain = _chain_of(node)
            before = node.prev
            if chain is not None and is_allowed(NAME, node):
                before = _build(chain).prev
                changed = True
            node = before
    return changed


class _Chain(Record, frozen=False):
    """Nodes that become one Map: the last is `root`; `members` are in reverse order."""

    root: Node
    shape: ArrayType
    members: list[Node] = made_by(factory=list)


@cache
def _stores() -> tuple[OpDef, ...]:
    return get_op("np::setitem"), get_op("np::assign")


def _chain_of(root: Node) -> _Chain | None:
    """Collect what can be computed together with `root`, or None if that is nothing."""
    shape = _result_shape(root)
    if shape is None:
        return None
    chain = _Chain(root, shape)
    taken = {root}
    apart = _nodes_of_target(root)
    writes = bool(root.effects & _CLOBBERS)
    node = root.prev
    while node is not None and len(chain.members) < MAX_BODY:
        is_part = node not in apart and _is_used_by(node, taken)
        if is_part and _can_join(node, shape, must_not_leave=writes):
            chain.members.append(node)
            taken.add(node)
        elif node.effects & _CLOBBERS:
            break
        node = node.prev
    is_worth_it = chain.members or root.op.reduction is not None
    return chain if is_worth_it and _is_root_ready(chain) else None


def _nodes_of_target(root: Node) -> set[Node | None]:
    """Give what makes the array that `root` writes to, and the index: these are needed as they are."""
    is_writing = root.op in _stores() or root.op.schema.written
    return {value.node for value in root.inputs[:-1]} if is_writing else set()


def _result_shape(node: Node) -> ArrayType | None:
    """Give the array type over which `node` would iterate as the root of a chain."""
    if node.op in _stores():
        return _stored_shape(node)
    if node.op.reduction is not None:
        return _reduced_shape(node)
    if not _is_elementwise(node):
        return None
    (out,) = node.outputs
    if node.op.schema.written and _may_leave(node, _element_types(node)):
        return None
    assert isinstance(out.type, ArrayType)
    return out.type


def _reduced_shape(node: Node) -> ArrayType | None:
    """Give the type of the array that a reduction goes through, if a Map can do it."""
    (source,), (out,) = node.inputs, node.outputs
    assert node.op.reduction is not None
    combine = get_op(node.op.reduction.combine)
    if not isinstance(source.type, ArrayType) or not isinstance(out.type, ArrayType | ScalarType):
        return None
    element = ScalarType(out.type.dtype)
    is_combined = combine.can_lower is not None and combine.can_lower(element, element)
    is_plain = element.dtype.kind == "b" or np.can_cast(
        source.type.dtype, element.dtype, "same_kind"
    )
    return source.type if reduced_axes(node) and is_combined and is_plain else None


def _stored_shape(node: Node) -> ArrayType | None:
    """Give the type of the array that a store of an array fills, if it is as simple as a Map."""
    if not _can_lower(node) or node.outputs:
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
    (view,) = get_op("np::getitem").infer_types([v.type for v in node.inputs[:2]], {})
    return view


def _is_elementwise(node: Node) -> bool:
    """Whether the node is one op on the elements of arrays, with an array as its result."""
    if not node.op.elementwise or len(node.outputs) != 1:
        return False
    out = node.outputs[0].type
    if not isinstance(out, ArrayType) or out.ndim == 0 or not _can_lower(node):
        return False
    if not all(_is_native(v.type) for v in node.inputs):
        return False
    body = _element_op(node)
    if body.infer is None or body.lower is None:
        return False
    types = _element_types(node)
    if body.can_lower is not None and not body.can_lower(*types, **node.attrs):
        return False
    (result,) = body.infer_types(types, node.attrs)
    return isinstance(result, ScalarType) and np.can_cast(result.dtype, out.dtype, "same_kind")


def _is_native(type_: Type) -> bool:
    return isinstance(type_, ArrayType | ScalarType) or is_number(type_)


def _can_lower(node: Node) -> bool:
    op = node.op
    if op.lower is None:
        return False
    return op.can_lower is None or op.can_lower(*(v.type for v in node.inputs), **node.attrs)


def _element_op(node: Node) -> OpDef:
    return get_op(node.op.element_op) if node.op.element_op is not None else node.op


def _element_type(type_: Type) -> Type:
    return type_.element if isinstance(type_, ArrayType) else type_


def _element_types(node: Node) -> list[Type]:
    return [_element_type(v.type) for v in node.inputs]


def _is_used_by(node: Node, users: set[Node]) -> bool:
    if len(node.outputs) != 1 or not node.outputs[0].uses:
        return False
    return all(user in users for user, _ in node.outputs[0].uses)


def _can_join(node: Node, shape: ArrayType, *, must_not_leave: bool) -> bool:
    """Whether `node` can be computed inside of a loop nest over `shape`."""
    if not _is_elementwise(node) or node.op.schema.written:
        return False
    types = _element_types(node)
    if must_not_leave and _may_leave(node, types):
        return False
    out = node.outputs[0].type
    assert isinstance(out, ArrayType)
    (result,) = _element_op(node).infer_types(types, node.attrs)
    if result != out.element or out.ndim != shape.ndim:
        return False
    sizes = zip(out.shape, shape.shape, strict=True)
    return not any(own == 1 and whole != 1 for own, whole in sizes)


def _may_leave(node: Node, types: Sequence[Type]) -> bool:
    """Whether computing one element can bail out."""
    op = _element_op(node)
    effects = op.effects if isinstance(op.effects, Effect) else op.effects(*types, **node.attrs)
    return bool(effects & Effect.RAISE) or INT in op.infer_types(types, node.attrs)


def _is_root_ready(chain: _Chain) -> bool:
    """Whether the value that a store stores is part of the chain (else there is nothing to gain)."""
    if chain.root.op not in _stores():
        return True
    return chain.root.inputs[-1].node in chain.members


def _build(chain: _Chain) -> Node:
    """Put the Map in the place of the chain."""
    root = chain.root
    nodes = [*reversed(chain.members)]
    is_store, is_reduction = root.op in _stores(), root.op.reduction is not None
    if not is_store and not is_reduction:
        nodes.append(root)
    target = _target(root)
    inputs = _outer_inputs(nodes) or root.inputs
    written = [target] if target is not None else []
    types = [] if written else [root.output.type]
    attrs = {"into": len(written), **_reduction_attrs(root)}
    new = root.graph.create(MAP, [*written, *inputs], attrs, outputs=types, like=root)
    _fill(new, nodes, inputs, root.inputs[-1] if is_store or is_reduction else root.output)
    new.insert_before(root)
    if not is_store:
        result = target if target is not None else new.output
        root.output.replace_all_uses_with(result)
    root.erase()
    for node in chain.members:
        node.erase()
    return new


def _reduction_attrs(root: Node) -> dict[str, object]:
    if root.op.reduction is None:
        return {}
    keepdims = bool(root.attrs.get("keepdims", False))
    combine = (root.op.reduction.combine,)
    return {"reduce": combine, "axes": reduced_axes(root), "keepdims": keepdims}


def _target(root: Node) -> Value | None:
    """Give the array that the Map writes to; None for a fresh one."""
    if root.op in _stores():
        if len(root.inputs) == 2:
            return root.inputs[0]
        view = root.graph.create(get_op("np::getitem"), root.inputs[:2], like=root)
        return view.insert_before(root).output
    return root.inputs[0] if root.op.schema.written else None


def _outer_inputs(nodes: Sequence[Node]) -> list[Value]:
    inside = set(nodes)
    found: dict[Value, None] = {}
    for node in nodes:
        for value in node.inputs:
            if value.node not in inside:
                found[value] = None
    return list(found)


def _fill(map_: Node, nodes: Sequence[Node], inputs: Sequence[Value], result: Value) -> None:
    """Write the body: the nodes' ops on elements."""
    body = map_.add_block((v.name, _element_type(v.type)) for v in inputs)
    elements = dict(zip(inputs, body.params, strict=True))
    graph = map_.graph
    for node in nodes:
        op = _element_op(node)
        operands = [elements[v] for v in node.inputs]
        new = body.append(graph.create(op, operands, node.attrs, like=node))
        new.output.name = node.output.name
        elements[node.output] = new.output
    body.append(graph.create(YIELD, [elements[result]], outputs=0))
