"""Updates of arrays that nobody else sees become plain ops: ``x = a * b; x += c`` is ``x = a * b + c``.

`fuse` begins with this, so that updates do not part loop nests. The array was made in the same block, and everything
that saw it before the update only read its elements: then a new array in its place is no difference. The update must
not change the dtype of its result. Its operands must have no more elements than the array: their shapes are the same,
or a check in front (`prim::same_sizes`) finds out; if that fails, the next compile leaves the update as it is
(`failed`). The Snapshot behind has nothing left to keep, unless something else was written since the one before it.
"""

from __future__ import annotations

from collections.abc import Callable, Collection

from ljit.ir import Block, Effect, Node, OpDef, Value, get_op
from ljit.ops.control import SNAPSHOT
from ljit.passes.fuse_nodes import (
    Leaves,
    element_inputs,
    element_op,
    is_elementwise,
    joint_leaves,
    leaves_of,
    makes_memory,
)
from ljit.passes.manager import is_allowed
from ljit.types import ArrayType, TupleType, Type, is_number

__all__ = ["make_updates_plain"]

NAME = "fuse"


def make_updates_plain(block: Block, failed: Collection[int]) -> bool:
    """Rewrite the updates of one block; whether there were any."""
    changed = False
    for node in [node for node in block if node.op.elementwise and node.op.schema.written]:
        if not is_elementwise(node):
            continue
        inputs, op = element_inputs(node), element_op(node)
        if not _is_unseen(node) or _result_type(op, node) != node.output.type:
            continue
        checked = _checked(node, failed)
        if checked is None or (checked and node.op.overwrites) or not is_allowed(NAME, node):
            continue
        if checked:
            check, axes = get_op("prim::same_sizes"), tuple(map(_axes_in(checked[0]), checked[1:]))
            block.graph.create(check, checked, {"axes": axes}, like=node).insert_before(node)
        _drop_snapshot_behind(node)
        _replace(node, block.graph.create(op, inputs, node.attrs, like=node))
        changed = True
    return changed


def _replace(node: Node, new: Node) -> None:
    """Put the plain op in the place of the update; what comes behind sees its result."""
    target = node.inputs[0]
    assert target.node is not None
    early = {node, *_nodes_between(target.node, node)}
    new.insert_before(node)
    for user, index in list(target.uses):
        if user not in early and user is not new:
            user.set_input(index, new.output)
    new.output.name = target.name
    node.replace_with([new.output])


def _result_type(op: OpDef, node: Node) -> Type:
    (type_,) = op.infer_types([v.type for v in element_inputs(node)], node.attrs)
    return type_


def _drop_snapshot_behind(node: Node) -> None:
    """Drop the Snapshot behind an update that will be none, if the one before it does as well."""
    behind, before = node.next, node.prev
    if behind is None or behind.op is not SNAPSHOT:
        return
    while before is not None and before.op is not SNAPSHOT:
        if not before.effects.is_repeatable:
            return
        before = before.prev
    if before is not None:
        behind.erase()


def _is_unseen(node: Node) -> bool:
    """Whether nobody can tell the array that the node updates from a new one."""
    target = node.inputs[0]
    made = target.node
    if made is None or made.block is not node.block or not makes_memory(made):
        return False
    early = _nodes_between(made, node)
    return all(_only_reads(user) for user, _ in target.uses if user in early)


def _nodes_between(first: Node, last: Node) -> set[Node]:
    """The nodes between two of a block, at any depth."""
    found: set[Node] = set()
    node = first.next
    while node is not None and node is not last:
        found.update(node.walk())
        node = node.next
    return found


def _only_reads(user: Node) -> bool:
    """Whether the user takes the elements or the sizes, and then has nothing of the array."""
    if user.op is SNAPSHOT:
        return True
    if user.effects == Effect.PURE and all(_is_numbers(out.type) for out in user.outputs):
        return True
    is_reduction = user.op.reduction is not None
    return is_reduction or (is_elementwise(user) and not user.op.schema.written)


def _is_numbers(type_: Type) -> bool:
    return is_number(type_) or (isinstance(type_, TupleType) and all(map(is_number, type_.items)))


def _checked(node: Node, failed: Collection[int]) -> list[Value] | None:
    """Give the arrays whose sizes have to be equal, which only a run can tell; None if there is no telling."""
    known: dict[Value, Leaves] = {}
    target = node.inputs[0]
    whole = leaves_of(target, known)
    arrays = [v for v in element_inputs(node) if isinstance(v.type, ArrayType)]
    if joint_leaves([target, *arrays], known) == whole:
        return []
    leaves = {leaf for v in (target, *arrays) for leaf in leaves_of(v, known)}
    sources = sorted((x for x in leaves if isinstance(x, Value)), key=lambda v: v.key)
    bases = [v for v in sources if v in whole and _is_full(v, target)]
    if len(sources) < len(leaves) or not bases or node.origin in failed:
        return None
    return [bases[0], *(v for v in sources if v is not bases[0])]


def _is_full(value: Value, target: Value) -> bool:
    """Whether the value has all axes of the target, and none that is known to be of size 1."""
    own, whole = value.type, target.type
    assert isinstance(own, ArrayType)
    assert isinstance(whole, ArrayType)
    return own.ndim == whole.ndim and 1 not in own.shape


def _axes_in(base: Value) -> Callable[[Value], tuple[int | None, ...]]:
    """Say which axes of `base` the axes of another array go along."""
    whole = base.type
    assert isinstance(whole, ArrayType)

    def axes(value: Value) -> tuple[int | None, ...]:
        assert isinstance(value.type, ArrayType)
        first = whole.ndim - value.type.ndim
        return tuple(None if n == 1 else first + i for i, n in enumerate(value.type.shape))

    return axes
