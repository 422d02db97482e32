"""Arrays that are only joined are computed where they belong: ``np.stack((x * y, x - y), axis=-1)``.

    r = np.concatenate((a + b, c))          r = new_array(...); r[:n] = a + b; r[n:] = c

`fuse` begins with this; the nests of `a + b` then write to the parts of the whole, and parts that lie between each
other (`stack` along any axis) become one nest (`fuse_stores`). Legal for a whole in C order, for a tuple that nothing
else sees, and parts with known ranks. Shapes that only a run can tell are checked in front; if they do not fit, the
next compile leaves the join as it is (`failed`). Parts of rows and columns alone need no checks.
The writes go to an array that nobody else sees yet, so that checks between them may leave for what was before.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence

from ljit.ir import Block, Effect, Node, Value, get_op
from ljit.ops.control import MAP, SNAPSHOT, YIELD
from ljit.passes.fusion.equal_shapes import Leaves, are_sizes, leaves_of
from ljit.passes.fusion.fuse_nodes import element_type, is_elementwise, may_leave
from ljit.passes.fusion.fuse_updates import Check, spanning_axes
from ljit.passes.manager import is_allowed
from ljit.passes.rewriting import insert_constant
from ljit.records import Record
from ljit.types import ArrayType, TupleType

__all__ = ["store_parts"]

NAME = "fuse"
MAX_PARTS = 8  # each is a nest
_BARRIERS = Effect.WRITE | Effect.CALL | Effect.EXIT


def store_parts(block: Block, failed: Collection[int]) -> bool:
    """Rewrite the joins of one block; whether there were any."""
    changed = False
    for node in [node for node in block if node.op.joins]:
        join = _Join.of(node, failed)
        if join is not None and is_allowed(NAME, node):
            join.write()
            changed = True
    return changed


class _Join(Record):
    """What is joined along an axis: the parts, what each is computed by alone, and what is known of its sizes."""

    node: Node
    axis: int
    parts: Sequence[Value]
    makers: Sequence[Sequence[Node]]
    checks: Sequence[Check]  # none for parts that all are as large as `span` says
    span: Sequence[tuple[Value, int]]

    @staticmethod
    def of(node: Node, failed: Collection[int]) -> _Join | None:
        """Find what a node joins, if it is worth while to compute it in its place."""
        made, whole = node.inputs[0].node, node.output.type
        if made is None or made.op is not get_op("prim::TupleConstruct") or node.origin in failed:
            return None
        axis = node.attrs.get("axis", 0)
        if not isinstance(whole, ArrayType) or whole.layout != "C" or not isinstance(axis, int):
            return None
        parts, is_alone = list(made.inputs), len(made.output.uses) == 1
        rank = whole.ndim - (node.op.joins == "along a new axis")
        are_arrays = all(isinstance(v.type, ArrayType) and v.type.ndim == rank for v in parts)
        if not (are_arrays and is_alone and rank and len(set(parts)) == len(parts) <= MAX_PARTS):
            return None
        near = _nodes_before(node)
        makers = [_makers_of(v, made, near) for v in parts]
        span = spanning_axes(parts[0]) if node.op.joins == "along a new axis" else None
        if any(spanning_axes(v) != span for v in parts[1:]):
            span = None
        checks = [] if span else [Check.of(node, [v], failed, target=v) for v in parts]
        is_spread = rank < whole.ndim and axis % whole.ndim == rank  # parts lie between each other
        known = [check for check in checks if check is not None and are_sizes(check.base)]
        if not (any(makers) or is_spread) or len(known) < len(checks):
            return None
        return _Join(node, axis % whole.ndim, parts, makers, known, span or ())

    @property
    def is_stack(self) -> bool:
        return self.node.op.joins == "along a new axis"

    def write(self) -> None:
        """Put a new array with the parts stored in it in the place of the join."""
        for check in self.checks:
            is_shape = not isinstance(check.base.type, ArrayType)
            if (check.others or is_shape) and check.target.node is not None:
                check.insert()
        shapes = [self._shape_of(check.base) for check in self.checks]
        if self.span:
            shapes = [[self._size_of(v, axis) for v, axis in self.span]]
        else:
            self._check_shapes()
        made = self._new_array(shapes)
        if self.is_stack:
            self._store_stacked(made)
        else:
            self._store_one_by_one(made, [shape[self.axis] for shape in shapes])
        construct = self.node.inputs[0].node
        made.name = self.node.output.name
        self.node.replace_with([made])
        assert construct is not None
        construct.erase()

    def _store_stacked(self, made: Value) -> None:
        """Store all parts in one nest; `fuse_stores` lets it compute them, too."""
        views = []
        for i in range(len(self.parts)):
            index = self._full_index(insert_constant(i, self.node))
            views.append(self._add("np::getitem", [made, index]))
        attrs = {"into": len(views), "apart": True}
        operands = [*views, *self.parts]
        nest = self.node.graph.create(MAP, operands, attrs, outputs=(), like=self.node)
        body = nest.add_block((v.name, element_type(v.type)) for v in self.parts)
        body.create(YIELD, body.params)
        nest.insert_before(self.node)

    def _store_one_by_one(self, made: Value, sizes: Sequence[Value]) -> None:
        """Store the parts one behind the other, each with what computes it in front."""
        start: Value | None = None
        for part, makers, size in zip(self.parts, self.makers, sizes, strict=True):
            for maker in makers:
                maker.unlink()
                maker.insert_before(self.node)
            stop = size if start is None else self._add("py::add", [start, size])
            index = self._full_index(self._slice(start, stop))
            start = stop
            self._add_node("np::setitem", [made, index, part])

    def _check_shapes(self) -> None:
        """Leave where the sizes of parts differ along the other axes, or at all if they are stacked."""
        known: dict[Value, Leaves] = {}
        base, *others = [check.base for check in self.checks]
        rank = len(self._axes)
        along = None if self.is_stack else self.axis
        own = tuple(None if x == along else x for x in range(rank))
        if all(axis is None for axis in own):
            return
        same = leaves_of(base, known)
        different = [v for v in others if along is not None or leaves_of(v, known) != same]
        different = [v for v in different if v is not base]
        if different:
            axes = (own,) * len(different)
            self._add_node("prim::same_sizes", [base, *different], axes=axes)

    @property
    def _axes(self) -> range:
        type_ = self.parts[0].type
        assert isinstance(type_, ArrayType)
        return range(type_.ndim)

    def _shape_of(self, base: Value) -> list[Value]:
        return [self._size_of(base, axis) for axis in self._axes]

    def _size_of(self, base: Value, axis: int) -> Value:
        is_array = isinstance(base.type, ArrayType)
        shape = self._add("np::shape", [base]) if is_array else base
        if isinstance(shape.type, TupleType):
            return self._add("prim::TupleIndex", [shape], index=axis)
        return shape

    def _new_array(self, shapes: Sequence[Sequence[Value]]) -> Value:
        sizes = list(shapes[0])
        if self.is_stack:
            sizes.insert(self.axis, insert_constant(len(self.parts), self.node))
        else:
            for shape in shapes[1:]:
                sizes[self.axis] = self._add("py::add", [sizes[self.axis], shape[self.axis]])
        return self._add("prim::new_array", sizes, type=self.node.output.type)

    def _slice(self, start: Value | None, stop: Value) -> Value:
        none = insert_constant(None, self.node)
        return self._add("prim::SliceConstruct", [none if start is None else start, stop, none])

    def _full_index(self, item: Value) -> Value:
        """The index of a part: `item` along the axis."""
        if not self.axis and not item.is_constant:
            return item
        before = (slice(None),) * self.axis
        if item.is_constant:
            behind = (slice(None),) * (len(self._axes) - self.axis)
            return insert_constant((*before, item.constant, *behind), self.node)
        items = [*(insert_constant(x, self.node) for x in before), item]
        return self._add("prim::TupleConstruct", items)

    def _add(self, op: str, inputs: Sequence[Value], **attrs: object) -> Value:
        return self._add_node(op, inputs, **attrs).output

    def _add_node(self, op: str, inputs: Sequence[Value], **attrs: object) -> Node:
        new = self.node.graph.create(get_op(op), inputs, attrs, like=self.node)
        return new.insert_before(self.node)


def _nodes_before(node: Node) -> set[Node]:
    """The nodes in front of a node behind which nothing is written."""
    found: set[Node] = set()
    before = node.prev
    while before is not None and before.op is not SNAPSHOT and not before.effects & _BARRIERS:
        found.add(before)
        before = before.prev
    return found


def _makers_of(part: Value, construct: Node, near: set[Node]) -> list[Node]:
    """The elementwise nodes that a part alone needs, in order; none if no nest can compute it in its place."""
    last = part.node
    if last is None or last not in near or not _is_plain(last) or may_leave(last):
        return []
    found = {last}
    if any(user is not construct for user, _ in part.uses):
        return []
    node = last.prev
    while node is not None and node in near:
        feeds = _is_plain(node) and all(user in found for user, _ in node.output.uses)
        if feeds and not may_leave(node):
            found.add(node)
        node = node.prev
    assert last.block is not None
    return [node for node in last.block if node in found]


def _is_plain(node: Node) -> bool:
    return node.op.elementwise and not node.op.schema.written and is_elementwise(node)
