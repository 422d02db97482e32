"""Work on the elements where a mask holds is done on all elements, where a loop nest goes through these anyway.

    z = a * b; z[z < 0] = 0         z = np.where(a * b < 0, 0, a * b)
    a[a > c].sum()                  np.where(a > c, a, 0).sum()

`fuse` makes one nest of that, in place of a mask, a copy of the elements and another pass. A store counts if the array
was made by an elementwise op and nobody else sees it yet. A copy counts if it only goes into reductions, and if its
mask was computed from its elements, so that these are read anyway. What was computed of the selected elements has to be
cheap. Masks and arrays have the same shape, so that nothing raises: for sure, or a check in front of a store finds out.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable

import numpy as np

from ljit.ir import Block, Effect, Node, Value, get_op
from ljit.ops.arrays.boxed import reduced_axes
from ljit.ops.arrays.convert import can_store
from ljit.passes.fusion.equal_shapes import Leaves, leaves_of
from ljit.passes.fusion.fuse_nodes import (
    element_op,
    is_elementwise,
    is_exact,
    is_reduction,
    may_leave,
    needs_elements,
)
from ljit.passes.fusion.fuse_updates import (
    Check,
    has_full_source,
    is_unseen,
    nodes_between,
    put_in_place,
)
from ljit.passes.manager import is_allowed
from ljit.passes.rewriting import drop_repeated_snapshot, insert_constant
from ljit.types import ArrayType, ScalarType

__all__ = ["spread_masks"]

NAME = "fuse"
_MOST = 8  # ops on selected elements that are done on all
_MOST_OPERANDS = 100  # of a value: beyond, nobody looks


def spread_masks(block: Block, failed: Collection[int]) -> bool:
    """Rewrite the masked stores and the reductions of masked copies of one block; whether there were any."""
    changed = False
    for node in list(block):
        if node.block is not block:  # erased meanwhile
            continue
        if node.op.writes_part:
            changed |= _spread_store(node, failed)
        elif node.op.reads_part:
            changed |= _spread_copy(node)
    return changed


def _is_masked(node: Node) -> bool:
    """Whether the index is a mask with the axes of the array."""
    a, mask = (v.type for v in node.inputs[:2])
    if not isinstance(a, ArrayType) or not isinstance(mask, ArrayType):
        return False
    return mask.dtype.kind == "b" and a.ndim == mask.ndim > 0


def _same_shapes(values: Iterable[Value]) -> bool:
    """Whether arrays have the same shape for sure."""
    known: dict[Value, Leaves] = {}
    return len({leaves_of(v, known) for v in values}) == 1


class _Spread:
    """What was computed of elements where a mask holds, computed of all elements, in front of a node."""

    def __init__(self, node: Node, mask: Value, shape: ArrayType) -> None:
        self.node = node
        self.mask = mask
        self.shape = shape
        self.found: dict[Value, Value] = {}

    def sources(self, value: Value) -> list[Value] | None:
        """The arrays whose selected elements the value was computed of, if that is cheap to do for all elements."""
        found: dict[Value, None] = {}
        seen: set[Node] = set()
        todo = [value]
        while todo:
            made = todo.pop().node
            if made is None or made.block is not self.node.block or len(seen) > _MOST:
                return None
            if made in seen:
                continue
            seen.add(made)
            if self.is_copy(made):
                found[made.inputs[0]] = None
                continue
            is_plain = is_elementwise(made) and is_exact(made) and not may_leave(made)
            if not is_plain or made.op.schema.written or not element_op(made).is_cheap:
                return None
            todo += [v for v in made.inputs if isinstance(v.type, ArrayType)]
        return list(found)

    def is_copy(self, node: Node) -> bool:
        if not node.op.reads_part or node.inputs[1] is not self.mask:
            return False
        return _is_masked(node) and not any(
            n.effects & (Effect.WRITE | Effect.CALL) for n in nodes_between(node, self.node)
        )

    def of(self, value: Value) -> Value:
        """Give the value of all elements."""
        made = value.node
        if not isinstance(value.type, ArrayType) or made is None:
            return value
        if value not in self.found:
            if self.is_copy(made):
                self.found[value] = made.inputs[0]
            else:
                inputs = [self.of(v) for v in made.inputs]
                type_ = ArrayType(value.type.dtype, self.shape.shape, self.shape.layout)
                new = made.graph.create(made.op, inputs, made.attrs, outputs=[type_], like=made)
                self.found[value] = new.insert_before(self.node).output
        return self.found[value]

    def where(self, value: Value, other: Value, type_: ArrayType) -> Value:
        """The value where the mask holds, else another one."""
        new = self.node.graph.create(
            get_op("np::where"), [self.mask, value, other], outputs=[type_], like=self.node
        )
        return new.insert_before(self.node).output


# -- stores ----------------------------------------------------------------------------------------


def _spread_store(node: Node, failed: Collection[int]) -> bool:
    target, mask, value = node.inputs
    if not _is_masked(node) or not _is_made_unseen(node):
        return False
    assert isinstance(target.type, ArrayType)
    spread, dtype = _Spread(node, mask, target.type), target.type.dtype
    arrays: list[Value] | None = []
    if isinstance(value.type, ArrayType):
        arrays = spread.sources(value) if value.type.dtype == dtype else None
    elif not can_store(value.type, dtype):
        arrays = None
    if arrays is None or not _can_choose(mask, target.type.element, target.type):
        return False
    check = None
    if not _same_shapes([target, mask, *arrays]):
        check = Check.of(node, [mask, *arrays], failed, may_broadcast=False)
        if check is None or not all(has_full_source(v, target) for v in [mask, *arrays]):
            return False
    if not is_allowed(NAME, node):
        return False
    if check is not None and check.others:
        check.insert()
        mask = spread.mask = node.inputs[1]
    _replace_store(node, spread)
    return True


def _is_made_unseen(node: Node) -> bool:
    """Whether the array that the node stores into was made by an elementwise op, and nobody else sees it."""
    target = node.inputs[0]
    made = target.node
    if made is None or not is_elementwise(made) or made.op.schema.written:
        return False
    assert isinstance(target.type, ArrayType)
    return target.type.writeable and is_unseen(node)


def _replace_store(node: Node, spread: _Spread) -> None:
    target, _, value = node.inputs
    assert isinstance(target.type, ArrayType)
    if isinstance(value.type, ArrayType):
        chosen = spread.of(value)
    else:
        attrs = {"dtype": target.type.dtype, "wraps": False}
        number = node.graph.create(get_op("np::as_element"), [value], attrs, like=node)
        chosen = number.insert_before(node).output
    new = spread.where(chosen, target, target.type)
    behind = node.next
    put_in_place(node, new)
    node.erase()
    _erase_unused(value.node)
    drop_repeated_snapshot(behind)


def _can_choose(mask: Value, *types: object) -> bool:
    can_lower = get_op("np::where").can_lower
    return can_lower is not None and can_lower(mask.type, *types)


# -- copies ----------------------------------------------------------------------------------------


def _spread_copy(node: Node) -> bool:
    """Let reductions of what was computed of a copy be reductions of all elements."""
    source, mask = node.inputs
    if not _is_masked(node) or source not in _operands(mask):
        return False
    if not _same_shapes([source, mask]):
        return False
    users = _last_users(node)
    assert isinstance(source.type, ArrayType)
    if not users:
        return False
    for user in users:
        arrays = _Spread(user, mask, source.type).sources(user.inputs[0])
        if arrays is None or not _same_shapes([mask, *arrays]) or not _can_reduce(user, mask):
            return False
    if not is_allowed(NAME, node):
        return False
    for user in users:
        _reduce_all(user, mask, source.type)
    return True


def _operands(value: Value) -> set[Value]:
    """The values that a value was computed of by elementwise ops of its block, in a few steps."""
    found: set[Value] = set()
    todo = [value]
    while todo and len(found) < _MOST_OPERANDS:
        made = todo.pop().node
        if made is not None and is_elementwise(made) and not made.op.schema.written:
            todo += made.inputs
            found.update(made.inputs)
    return found


def _last_users(node: Node) -> list[Node]:
    """The reductions and counts that all which is computed of a copy goes into; none if there is more to it."""
    found: dict[Node, None] = {}
    todo, seen = [node], {node}
    while todo:
        for user, _ in todo.pop().output.uses:
            if user.block is not node.block:
                return []
            if _is_count(user) or is_reduction(user):
                found[user] = None
            elif not is_elementwise(user) or user.op.schema.written or len(seen) > _MOST:
                return []
            elif user not in seen:
                seen.add(user)
                todo.append(user)
    return list(found)


def _is_count(node: Node) -> bool:
    return node.op is get_op("np::reduced_size") and not node.attrs.get("ddof")


def _can_reduce(node: Node, mask: Value) -> bool:
    """Whether elements that change nothing can stand for those that are left out."""
    if _is_count(node):
        return True
    type_ = node.inputs[0].type
    is_scalar = isinstance(node.output.type, ScalarType)
    if needs_elements(node) or not is_scalar or len(reduced_axes(node)) != 1:
        return False
    assert isinstance(type_, ArrayType)
    return _can_choose(mask, ArrayType(type_.dtype, mask.type.shape), type_.element)  # type: ignore[attr-defined]


def _reduce_all(node: Node, mask: Value, shape: ArrayType) -> None:
    source = node.inputs[0]
    graph = node.graph
    attrs = {name: x for name, x in node.attrs.items() if name not in ("axis", "ddof")}
    if _is_count(node):
        int64 = [ScalarType(np.dtype(np.int64))]
        new = graph.create(get_op("np::sum"), [mask], {}, outputs=int64, like=node)
        number = new.insert_before(node).output
        count = graph.create(
            get_op("np::item"), [number], {}, outputs=[node.output.type], like=node
        )
        node.replace_with([count.insert_before(node).output])
    else:
        assert isinstance(source.type, ArrayType)
        assert node.op.reduction is not None
        rule = get_op(node.op.reduction.combine).accumulation
        assert rule is not None
        spread = _Spread(node, mask, shape)
        type_ = ArrayType(source.type.dtype, shape.shape, shape.layout)
        rest = insert_constant(source.type.dtype.type(rule.start(source.type.dtype)), node)
        chosen = spread.where(spread.of(source), rest, type_)
        new = graph.create(node.op, [chosen], attrs, outputs=[node.output.type], like=node)
        node.replace_with([new.insert_before(node).output])
    _erase_unused(source.node)


def _erase_unused(node: Node | None) -> None:
    """Erase what nobody needs any more: it would have raised nothing."""
    todo = [node]
    while todo:
        made = todo.pop()
        if made is None or made.block is None or any(out.uses for out in made.outputs):
            continue
        if made.op.reads_part or is_elementwise(made):
            todo += [v.node for v in made.inputs if isinstance(v.type, ArrayType)]
            made.erase()
