"""Which arrays have the same shape, whatever it is: known by the *leaves* of a shape, without a run.

A shape is the broadcast shape of its leaves: arrays that nothing is known of, views of such, and axes of what was
reduced. Arrays with equal sets of leaves have equal shapes.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple

from ljit.ir import Effect, Node, Value, get_op
from ljit.ops.arrays.boxed import reduced_axes, shape_rank
from ljit.ops.control import MAP
from ljit.passes.fusion.fuse_nodes import element_inputs, is_elementwise, is_filled, is_gather
from ljit.types import INT, RANGE, ArrayType, TupleType

__all__ = ["Leaves", "are_sizes", "form_of", "joint_leaves", "leaves_of"]


class Part(NamedTuple):
    """An array whose sizes are those of the array with these leaves along the axes `kept`, and else 1."""

    leaves: frozenset[object]
    kept: tuple[int | None, ...]


Leaves = frozenset[object]


def leaves_of(value: Value, known: dict[Value, Leaves]) -> Leaves:
    """Give what the shape of `value` is the broadcast shape of: equal sets are equal shapes."""
    found = known.get(value)
    if found is None:
        rule = _leaves_of_range if value.type == RANGE else _leaves
        found = known[value] = rule(value, known)
    return found


def joint_leaves(values: Iterable[Value], known: dict[Value, Leaves]) -> Leaves:
    """Give the leaves of the broadcast shape of arrays."""
    found = frozenset[object]().union(*(leaves_of(x, known) for x in values))
    parts = [x for x in found if isinstance(x, Part)]
    return found.difference(x for x in parts if x.leaves <= found - {x}) if parts else found


def _leaves(value: Value, known: dict[Value, Leaves]) -> Leaves:
    node = value.node
    if not isinstance(value.type, ArrayType) or value.type.ndim == 0:
        return frozenset()
    if node is None:
        return frozenset((value,))
    if node.op is MAP:
        return _leaves_of_map(value, node, known)
    if node.op.reduction is not None and reduced_axes(node):
        return _part(value, leaves_of(node.inputs[0], known), reduced_axes(node), node.attrs)
    if is_gather(node) or is_elementwise(node) or node.op is get_op("np::broadcast_view"):
        inputs = node.inputs[:1] if node.op.schema.written else element_inputs(node)
        return joint_leaves(inputs, known)
    if node.op is get_op("prim::new_array"):
        return _leaves_of_sizes(value, node.inputs, known)
    if node.op.keeps_shape or is_filled(node):
        return _leaves_of_shape(element_inputs(node)[0], known)
    if node.op is get_op("prim::same_sizes"):
        return _leaves_of_checked(value, node, known)
    if node.op.reads_part and not node.effects & Effect.ALLOC:
        # such an index of arrays of the same shape gives the same shape
        return frozenset(((leaves_of(node.inputs[0], known), form_of(node.inputs[1])),))
    return frozenset((value,))


def form_of(index: Value) -> object:
    """Give what the shape of a view depends on: indices with other integers are of the same form."""
    if not index.is_constant:
        return index
    items = index.constant if isinstance(index.constant, tuple) else (index.constant,)
    return tuple(int if type(item) is int else repr(item) for item in items)


def _leaves_of_map(value: Value, node: Node, known: dict[Value, Leaves]) -> Leaves:
    into, reduce = node.attrs.get("into", 0), node.attrs.get("reduce", ())
    assert isinstance(into, int)
    assert isinstance(reduce, tuple)
    whole = joint_leaves(node.inputs[:into] or node.inputs, known)
    if not reduce or reduce[value.index] is None:
        return whole
    axes = node.attrs["axes"]
    assert isinstance(axes, tuple)
    return _part(value, whole, axes, node.attrs)


def _part(
    value: Value, whole: Leaves, reduced: Sequence[int], attrs: Mapping[str, object]
) -> Leaves:
    """What a reduction leaves of an array; its last axes are those of the array, or nothing is known."""
    assert isinstance(value.type, ArrayType)
    rank = value.type.ndim
    if attrs.get("keepdims"):
        return frozenset((Part(whole, tuple(None if x in reduced else x for x in range(rank))),))
    first = len(reduced)
    if sorted(reduced) != list(range(first)):
        return frozenset((value,))
    return frozenset((Part(whole, tuple(range(first, first + rank))),))


def _leaves_of_shape(shape: Value, known: dict[Value, Leaves]) -> Leaves:
    """What an array or a shape gives the sizes of."""
    made = shape.made_by(get_op("np::shape"))
    if made is not None:
        return leaves_of(made.inputs[0], known) or frozenset((shape,))
    return leaves_of(shape, known) if isinstance(shape.type, ArrayType) else frozenset((shape,))


def _leaves_of_sizes(value: Value, sizes: Sequence[Value], known: dict[Value, Leaves]) -> Leaves:
    """The sizes may be all those of another array."""
    sources = set()
    for i, size in enumerate(sizes):
        item = size.node
        shape = item.inputs[0].node if item is not None and item.inputs else None
        if item is None or item.attrs.get("index") != i or shape is None:
            return frozenset((value,))
        if item.op is not get_op("prim::TupleIndex") or shape.op is not get_op("np::shape"):
            return frozenset((value,))
        sources.add(shape.inputs[0])
    (source, *others) = sources
    is_whole = isinstance(source.type, ArrayType) and source.type.ndim == len(sizes)
    return leaves_of(source, known) if is_whole and not others else frozenset((value,))


def _leaves_of_range(value: Value, known: dict[Value, Leaves]) -> Leaves:
    """A range over an axis of an array is as long as that."""
    size = value.node.inputs[0].node if value.node is not None else None
    shape = size.inputs[0].node if size is not None and size.inputs else None
    if size is None or shape is None or shape.op is not get_op("np::shape"):
        return frozenset((value,))
    axis = size.attrs["index"]
    assert isinstance(axis, int)
    return frozenset((Part(leaves_of(shape.inputs[0], known), (axis,)),))


def _leaves_of_checked(value: Value, node: Node, known: dict[Value, Leaves]) -> Leaves:
    """The sizes along all axes, or along some, are those of what the array was compared with."""
    base, axes = node.inputs[0], node.attrs["axes"]
    assert isinstance(axes, tuple)
    own = axes[value.index]
    rank = base.type.ndim if isinstance(base.type, ArrayType) else shape_rank(base.type)
    whole = leaves_of(base, known) if isinstance(base.type, ArrayType) else frozenset((base,))
    return whole if own == tuple(range(rank or 0)) else frozenset((Part(whole, own),))


def are_sizes(base: Value) -> bool:
    """Whether an array, or a shape, gives its sizes as ints."""
    t = base.type
    return isinstance(t, ArrayType) or all(
        size == INT for size in (t.items if isinstance(t, TupleType) else (t,))
    )
