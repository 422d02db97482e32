"""Views of elementwise results: index the operands instead, and drop stores of views to themselves.

`fuse` does both first, so that a view does not part the chain that makes its array from the one that reads it.
"""

from __future__ import annotations

from collections.abc import Sequence

from ljit.ir import Block, Effect, Node, Value, get_op
from ljit.ops.indexing.index import Part, basic_parts
from ljit.passes.fusion.equal_shapes import leaves_of
from ljit.passes.fusion.fuse_nodes import is_elementwise, is_store
from ljit.passes.manager import is_allowed
from ljit.passes.rewriting import insert_constant
from ljit.types import NONE, ArrayType, SliceType, TupleType

__all__ = ["move_views_up"]

NAME = "fuse"
Views = dict[tuple[Value, object], Node]
_FULL = SliceType(NONE, NONE, NONE)


def move_views_up(block: Block) -> bool:
    """Rewrite the views of one block; whether there was anything to do."""
    changed = False
    made: Views = {}
    node = block.last
    while node is not None:
        before = node.prev
        if _stores_itself(node) and is_allowed(NAME, node):
            node.erase()
            changed = True
        elif _can_move_up(node) and is_allowed(NAME, node):
            before = _move_up(node, made).prev  # the views that it makes come next
            changed = True
        node = before
    return changed


def _is_view(node: Node | None) -> bool:
    if node is None or not node.op.reads_part:
        return False
    return isinstance(node.output.type, ArrayType) and not node.effects & Effect.ALLOC


def _stores_itself(node: Node) -> bool:
    """Whether the node stores a view to the place that it is a view of: ``a[i] += x`` does in the end."""
    if not is_store(node) or len(node.inputs) != 3:
        return False
    a, index, value = node.inputs
    if not isinstance(a.type, ArrayType) or not a.type.writeable:
        return False
    made = value.node
    while made is not None and made.op.elementwise and made.op.schema.written:
        if not isinstance(made.inputs[0].type, ArrayType):
            return False
        made = made.inputs[0].node
    return _is_view(made) and made is not None and made.inputs == [a, index]


def _can_move_up(node: Node) -> bool:
    """Whether the view can be taken of the operands: nobody else needs the array, all shapes follow."""
    if not _is_view(node) or not all(_is_computed_with(user) for user, _ in node.output.uses):
        return False
    source = node.inputs[0]
    made = source.node
    if made is None or made.block is not node.block or len(source.uses) != 1:
        return False
    if made.op.schema.written or not is_elementwise(made) or _writes_between(made, node):
        return False
    parts = _parts(node)
    if all(part.is_new or part.type == _FULL for part in parts):
        return True
    assert isinstance(source.type, ArrayType)
    rank, whole = source.type.ndim, leaves_of(source, {})
    return all(
        v.type.ndim == rank and leaves_of(v, {}) == whole
        for v in made.inputs
        if isinstance(v.type, ArrayType)
    )


def _is_computed_with(user: Node) -> bool:
    """Whether the user only takes the elements, so that it need not be a view."""
    return not user.op.schema.written and is_elementwise(user)


def _writes_between(first: Node, last: Node) -> bool:
    node = first.next
    while node is not None and node is not last:
        if node.effects & (Effect.WRITE | Effect.CALL):
            return True
        node = node.next
    return False


def _parts(node: Node) -> tuple[Part, ...]:
    a, index = (v.type for v in node.inputs)
    assert isinstance(a, ArrayType)
    parts = basic_parts(a, index)
    assert parts is not None
    return parts


def _move_up(node: Node, views: Views) -> Node:
    """Replace ``f(x, y)[index]`` by ``f(x[index], y[index])``; gives the new node."""
    made = node.inputs[0].node
    assert made is not None
    parts = _parts(node)
    operands = [_view_of(v, node, parts, views) for v in made.inputs]
    new = node.create_before(made.op, operands, made.attrs, like=made)
    new.output.name = node.output.name
    node.replace_with([new.output])
    made.erase()
    return new


def _view_of(value: Value, node: Node, parts: Sequence[Part], views: Views) -> Value:
    """Give the part of an operand that a view of the result needs."""
    if not isinstance(value.type, ArrayType) or value.type.ndim == 0:
        return value
    source = node.inputs[0].type
    assert isinstance(source, ArrayType)
    missing = source.ndim - value.type.ndim
    index = node.inputs[1]
    new_axes = _last_axes(parts, missing) if missing else ()
    key = value, new_axes or index
    found = views.get(key)
    if found is not None:  # made for a node further down
        found.move_before(node)
        return found.output
    if new_axes:
        first = node.graph.block.first
        assert first is not None
        items = tuple(None if is_new else slice(None) for is_new in new_axes)
        type_ = TupleType(tuple(NONE if is_new else _FULL for is_new in new_axes))
        index = insert_constant(items, first, type_)
    view = node.create_before(get_op("np::getitem"), [value, index], like=node)
    views[key] = view
    return view.output


def _last_axes(parts: Sequence[Part], missing: int) -> tuple[bool, ...]:
    """Which items of the index are new axes, for an operand without the first axes; the others are whole axes."""
    own = list(parts)
    while missing:
        missing -= not own.pop(0).is_new
    while own and own[0].is_new:
        own.pop(0)
    return tuple(part.is_new for part in own)
