"""Write the loop over rows that `fuse_rows` has planned."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from ljit.ir import Block, Node, OpDef, Value, get_op
from ljit.ops.arrays.boxed import reduced_axes
from ljit.ops.control import LOOP, YIELD
from ljit.ops.indexing.index import FROM_START, INSIDE, basic_parts
from ljit.passes.fusion.fuse_nodes import element_op, is_reduction
from ljit.passes.loops.loop_fronts import LoopFront, Rows, Shape
from ljit.types import INT, ArrayType

__all__ = ["build"]

_PROVEN = (f"{FROM_START}.0", f"{INSIDE}.0")


def build(rows: Rows, targets: set[Value]) -> Block:
    """Put the loop in the place of the last node; gives its body.

    `targets` are arrays that loops over rows fill; those of this one are added.
    """
    return _Builder(rows, targets).run()


class _Builder:
    def __init__(self, rows: Rows, targets: set[Value]) -> None:
        self.rows = rows
        self.front = LoopFront(rows, targets)
        self.graph = self.front.graph
        self.rows_of: dict[Value, Value] = {}

    def run(self) -> Block:
        front = self.front
        sizes = front.open()
        made = {value: front.target(value, sizes) for value in front.wanted()}
        loop = front.add(LOOP, [front.constant(0), sizes[0]])
        front.place = loop
        body = loop.add_block([("", INT)])
        self._fill(body, made)
        front.replace(made)
        return body

    # -- the body ----------------------------------------------------------------------------------

    def _fill(self, body: Block, made: dict[Value, Value]) -> None:
        k, results = body.params[0], self.rows.results
        for node in self.rows.nodes:
            self.rows_of[node.output] = self._row_of_result(body, node)
        for value in sorted(made, key=lambda v: -len(row_shape(results[v]))):
            operands = [made[value], k, self.rows_of[value]]
            self._append(body, get_op("np::setitem"), operands, {}, value.node).proven = _PROVEN
        body.create(YIELD, ())

    def _append(
        self,
        body: Block,
        op: OpDef,
        inputs: Sequence[Value],
        attrs: Mapping[str, object],
        like: Node | None,
    ) -> Node:
        return body.create(op, inputs, attrs, like=like)

    def _row(self, body: Block, value: Value, user: Node) -> Value:
        """Give the row of an operand: a number, if the row has no axes other than of size 1."""
        shape = self.rows.inputs.get(value)
        if value in self.rows_of or shape is None:
            return self.rows_of.get(value, value)
        is_leading = shape[0] == 0
        has_first = is_leading or len(shape) == len(self.rows.results[user.output])
        own = shape[1:] if has_first else shape
        is_number = set(own) <= {None}
        zeros = len(own) if is_number else 0
        if not has_first and not is_number:
            return value  # has no axis that the loop goes along
        anchor = body if is_leading else None
        items = [self.front.constant(0) for _ in range(zeros)]
        if has_first:
            items.insert(0, body.params[0] if is_leading else self.front.constant(0))
        index = items[0]
        if len(items) > 1:
            index = self._make(anchor, get_op("prim::TupleConstruct"), items, user).output
        row = self._make(anchor, get_op("np::getitem"), [value, index], user)
        row.proven = tuple(f"{x}.{i}" for i in range(len(items)) for x in (FROM_START, INSIDE))
        self.rows_of[value] = row.output
        return row.output

    def _make(self, body: Block | None, op: OpDef, inputs: Sequence[Value], like: Node) -> Node:
        """Make a node in the loop, or in front of it."""
        node = self.graph.create(op, inputs, like=like)
        return body.append(node) if body is not None else node.insert_before(self.front.place)

    def _row_of_result(self, body: Block, node: Node) -> Value:
        shape = row_shape(self.rows.results[node.output])
        operands = [self._row(body, v, node) for v in node.inputs]
        op, attrs = node.op, dict(node.attrs)
        if is_reduction(node):
            axes = tuple(axis - 1 for axis in reduced_axes(node))
            attrs.update({"axis": axes, "keepdims": attrs.get("keepdims", False)})
            if not shape:
                attrs.update({"axis": None, "keepdims": False})
        elif op.reads_part:
            if not shape:
                return operands[0]
            operands[1] = self._index_of_row(node)
        elif not shape:
            op = element_op(node)
        made = self._append(body, op, operands, attrs, node)
        made.output.name = node.output.name
        return made.output

    def _index_of_row(self, node: Node) -> Value:
        a, index = (v.type for v in node.inputs)
        assert isinstance(a, ArrayType)
        parts = basic_parts(a, index)
        assert parts is not None
        items = tuple(None if part.is_new else slice(None) for part in parts[1:])
        return self.front.constant(items)


def row_shape(shape: Shape) -> Shape:
    """Give the shape of a row; that of a number if all sizes are 1."""
    return () if set(shape[1:]) <= {None} else shape[1:]
