"""Go through arrays row by row where reductions of rows and elementwise work take turns (softmax, layer norm).

Contract: elementwise ops, reductions along other axes than the first and views with new axes that belong together, all
over arrays with the same first axis, become a `prim::Loop` over that axis with the same ops on rows, if an elementwise
op of full size needs the result of a reduction: so a row stays in the cache, and what only they need is one row large.
Updates of arrays that nobody else sees are plain ops before that, and sizes are asked of what was there first
(`asked_sizes.py`). Results go to arrays that are made in front of the loop, row by row. Before them stands a check of
all shapes (`prim::same_sizes`); if it fails, the next compile leaves the ops as they are (`failed`). `fuse` makes loop
nests of the rows' ops; inner axes of more than two are looked at again, in the loop. Arrays in other than C order stay
as they are, and those whose rows are a few elements.

Where elementwise work needs a scan of a vector, or of rows (`np.cumsum`), the loop is over blocks: `block_loops.py`.

Shapes are tuples with one item an axis: the axis of the array that gives the sizes, or None for size 1.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence

from ljit.ir import Block, Graph, Node, Value
from ljit.ops.arrays.boxed import reduced_axes, scanned_axis
from ljit.ops.control import MAP
from ljit.ops.indexing.index import basic_parts
from ljit.passes.fusion.asked_sizes import ask_sources
from ljit.passes.fusion.block_loops import build_blocks
from ljit.passes.fusion.fuse_nodes import (
    element_op,
    has_nests,
    is_elementwise,
    is_exact,
    is_reduction,
    is_scan,
    is_writing,
    stretches,
)
from ljit.passes.fusion.fuse_updates import make_updates_plain
from ljit.passes.fusion.row_loops import build
from ljit.passes.loops.loop_fronts import Rows, Shape
from ljit.passes.manager import graph_pass, is_allowed
from ljit.passes.rewriting import all_blocks, operands_of
from ljit.types import NONE, ArrayType, SliceType, Type

__all__ = ["fuse_rows"]

NAME = "fuse_rows"
_FULL = SliceType(NONE, NONE, NONE)


@graph_pass(NAME)
def fuse_rows(graph: Graph, failed: Collection[int] = ()) -> bool:
    """Make loops over rows; whether there was anything to do."""
    if not has_nests(graph):
        return False
    changed = False
    todo = list(all_blocks(graph))
    targets: set[Value] = set()
    of_rows: set[Block] = set()
    while todo:
        block = todo.pop()
        if block.owner is not None and block.owner.op is MAP:
            continue
        while make_updates_plain(block, failed) | ask_sources(block):
            changed = True
        for nodes in list(stretches(block)):
            rows = _find(nodes, failed, has_blocks=block not in of_rows)
            if rows is None or not is_allowed(NAME, rows.nodes[0]):
                continue
            changed = True
            if any(map(is_scan, rows.nodes)):
                build_blocks(rows, targets)
            else:
                todo.append(build(rows, targets))
                of_rows.add(todo[-1])
    return changed


def _find(nodes: Sequence[Node], failed: Collection[int], *, has_blocks: bool) -> Rows | None:
    """Find what to do row by row, or block by block, in neighbouring nodes, the last of which may write."""
    tried: set[Value] = set()
    for node in nodes:
        source = _source(node, has_blocks=has_blocks)
        base = _base(source, nodes) if source is not None else None
        if base is None or base in tried or _has_short_rows(base.type):
            continue
        tried.add(base)
        rows = _Search(base, nodes).run()
        if rows is not None and rows.nodes[0].origin not in failed:
            return rows
    return None


def _source(node: Node, *, has_blocks: bool) -> Value | None:
    """What the node reduces or scans along another axis than the first one, or in blocks."""
    if is_scan(node):
        source, along = node.inputs[-1], scanned_axis(node)
        assert isinstance(source.type, ArrayType)
        return source if (has_blocks if source.type.ndim == 1 else along) else None
    return node.inputs[0] if is_reduction(node) and 0 not in reduced_axes(node) else None


def _has_short_rows(type_: Type) -> bool:
    """Whether a row is a few elements: nests over whole columns then have vectors, loops over rows none."""
    assert isinstance(type_, ArrayType)
    return type_.ndim == 2 and type_.shape[1] is not None


def _base(value: Value, nodes: Collection[Node]) -> Value | None:
    """Find an array that gives the sizes of `value`: it is made elsewhere, has all axes, in C order."""
    type_ = value.type
    assert isinstance(type_, ArrayType)
    node = value.node
    if node is not None and node in nodes and is_scan(node) and type_.ndim == 1:
        return _base(node.inputs[-1], nodes)
    if node is None or node not in nodes or not is_elementwise(node):
        is_plain = type_.ndim == 1 or type_.layout == "C"
        return value if is_plain and 1 not in type_.shape else None
    for operand in node.inputs:
        if isinstance(operand.type, ArrayType) and operand.type.ndim == type_.ndim:
            found = _base(operand, nodes)
            if found is not None:
                return found
    return None


class _Search:
    """The nodes of a stretch that can go row by row with `base`."""

    def __init__(self, base: Value, nodes: Sequence[Node]) -> None:
        assert isinstance(base.type, ArrayType)
        self.base = base
        self.nodes = nodes
        self.rank = base.type.ndim
        self.shapes: dict[Value, Shape] = {base: tuple(range(self.rank))}
        self.members: dict[Node, None] = {}
        self.scanned: set[Node] = set()  # scans, and what depends on them

    def run(self) -> Rows | None:
        outside: set[Node] = set()  # nodes between that need results
        for node in self.nodes:
            if any(v.node in outside for v in operands_of(node)) or not self._take(node):
                if any(v.node in outside or v.node in self.members for v in operands_of(node)):
                    outside.add(node)
            elif not isinstance(node.output.type, ArrayType):
                outside.add(node)  # known behind the loop
        while self._drop_seen_views():
            pass
        self._keep_connected()
        if not self._is_worth_it():
            return None
        members = list(self.members)
        inputs = dict.fromkeys(
            v for node in members for v in node.inputs if v.node not in self.members
        )
        shapes = {v: self.shapes[v] for v in inputs if v in self.shapes}
        results = {node.output: self.shapes[node.output] for node in members}
        return Rows(self.base, members, shapes, results)

    def _take(self, node: Node) -> bool:
        """Add the node if it can be done for one row; its shape then is known."""
        if len(node.outputs) != 1 or is_writing(node) or node.output is self.base:
            return False
        type_ = node.output.type
        if not isinstance(type_, ArrayType) or type_.layout != "C":
            return self._take_total(node)
        if self.rank == 1 and any(v.node is not None and v.node.op.counted for v in node.inputs):
            return False  # nests have no such arrays; blocks would be views of them
        shape = None
        if is_scan(node):
            shape = self._scanned(node)
        elif is_reduction(node):
            shape = self._reduced(node)
        elif is_elementwise(node) and is_exact(node):
            shape = self._broadcast(node)
        elif node.op.reads_part and node.inputs[0].node in self.members:
            shape = self._viewed(node)
        if shape is None or shape[:1] != (0,):
            return False
        self.shapes[node.output] = shape
        self.members[node] = None
        if is_scan(node) or any(v.node in self.scanned for v in node.inputs):
            self.scanned.add(node)
        return True

    def _take_total(self, node: Node) -> bool:
        """Add a reduction of all blocks of what depends on a scan."""
        if self.rank > 1 or not is_reduction(node) or node.inputs[0].node not in self.scanned:
            return False
        self.shapes[node.output] = ()
        self.members[node] = None
        return True

    def _scanned(self, node: Node) -> Shape | None:
        shape, along = self._shape_of(node.inputs[-1], node), scanned_axis(node)
        if shape is None or along is None or shape[along] is None:
            return None
        return shape if along or self.rank == 1 else None

    def _reduced(self, node: Node) -> Shape | None:
        shape, axes = self._shape_of(node.inputs[0], node), reduced_axes(node)
        if shape is None or 0 in axes or set(shape[1:]) <= {None}:
            return None
        if node.attrs.get("keepdims", False):
            return tuple(None if i in axes else axis for i, axis in enumerate(shape))
        return tuple(axis for i, axis in enumerate(shape) if i not in axes)

    def _viewed(self, node: Node) -> Shape | None:
        """New axes behind the first one."""
        source, index = node.inputs
        assert isinstance(source.type, ArrayType)
        parts = basic_parts(source.type, index.type)
        if parts is None or parts[0].type != _FULL or not index.is_constant:
            return None
        if not all(part.is_new or part.type == _FULL for part in parts):
            return None
        axes = iter(self.shapes[source])
        return tuple(None if part.is_new else next(axes) for part in parts)

    def _broadcast(self, node: Node) -> Shape | None:
        type_ = node.output.type
        assert isinstance(type_, ArrayType)
        found: list[int | None] = [None] * type_.ndim
        arrays = [v for v in node.inputs if isinstance(v.type, ArrayType) and v.type.ndim]
        for value in sorted(arrays, key=lambda v: v not in self.shapes):
            shape = self._shape_of(value, node, found)
            if shape is None:
                return None
            for i, axis in enumerate(shape, type_.ndim - len(shape)):
                if axis is not None and found[i] not in (None, axis):
                    return None
                found[i] = axis if axis is not None else found[i]
        return tuple(found)

    def _shape_of(
        self, value: Value, user: Node, others: Sequence[int | None] = ()
    ) -> Shape | None:
        """Give the shape of an operand; of one from outside, what it has to be for the user."""
        known = self.shapes.get(value)
        if known is not None or value.node in self.members:
            return known
        type_, result = value.type, user.output.type
        assert isinstance(type_, ArrayType)
        if is_reduction(user):
            axes: Sequence[int | None] = range(self.rank) if type_.ndim == self.rank else ()
        elif isinstance(result, ArrayType) and result.ndim == self.rank:
            axes = range(self.rank)
        else:
            axes = others
        if len(axes) < type_.ndim:
            return None
        own = axes[len(axes) - type_.ndim :]
        shape = tuple(None if n == 1 else axis for n, axis in zip(type_.shape, own, strict=True))
        if any(axis is None and n != 1 for n, axis in zip(type_.shape, shape, strict=True)):
            return None
        if type_.ndim > 1 and type_.layout != "C" and shape[0] == 0 and None not in shape:
            return None
        self.shapes[value] = shape
        return shape

    def _drop_seen_views(self) -> bool:
        """Drop a view that others see, with what is computed of it: they may write to it, or to what it shows."""
        dropped = set[Value]()
        for node in self.members:
            is_seen = node.op.reads_part and any(u not in self.members for u, _ in node.output.uses)
            if is_seen or not dropped.isdisjoint(node.inputs):
                dropped.add(node.output)
        self.members = {node: None for node in self.members if node.output not in dropped}
        return bool(dropped)

    def _keep_connected(self) -> None:
        """Drop what has nothing to do with the array that gives the sizes."""
        kept: dict[Node, None] = {}
        todo = [user for user, _ in self.base.uses if user in self.members]
        while todo:
            node = todo.pop()
            if node in kept:
                continue
            kept[node] = None
            todo += [v.node for v in node.inputs if v.node in self.members]
            todo += [user for user, _ in node.output.uses if user in self.members]
        self.members = {node: None for node in self.members if node in kept}

    def _is_worth_it(self) -> bool:
        """Whether something of full size needs the result of a reduction, or something that of a scan.

        What is only combined to columns is no array without a loop over rows: if all is cheap, it is computed anew.
        """
        late: set[Node | None] = set()
        full = (node for node in self.members if self._is_full(node) and is_elementwise(node))
        is_cheap = all(node.op.is_cheap for node in full)
        for node in self.members:
            if is_scan(node) and any(map(self._gains, (user for user, _ in node.output.uses))):
                return True
            if any(v.node in late for v in node.inputs):
                late.add(node)
                if self._is_full(node) and not (is_cheap and self._is_only_combined(node)):
                    return True
            elif is_reduction(node):
                late.add(node)
        return False

    def _is_full(self, node: Node) -> bool:
        """Whether the node makes an array with all axes."""
        shape = self.shapes[node.output]
        return None not in shape and len(shape) == self.rank

    def _is_only_combined(self, node: Node) -> bool:
        """Whether rows of what the node makes, and of what is computed of it, are combined with each other."""
        users = [user for user, _ in node.output.uses]
        return all(
            0 in reduced_axes(user)
            if is_reduction(user)
            else user in self.members and is_elementwise(user) and self._is_only_combined(user)
            for user in users
        )

    def _gains(self, user: Node) -> bool:
        """Whether a block's worth of a scan is used better while it is in the cache.

        What NumPy has a faster loop for stands alone behind the scan, unless there is other work around it.
        """
        if user not in self.members:
            return False
        row_loop = element_op(user).row_loop
        if row_loop is None or row_loop(*(v.type for v in user.inputs)) is None:
            return True
        return any(u in self.members and not is_scan(u) for u, _ in user.output.uses)
