"""Write the loop over rows that `fuse_rows` has planned."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from ljit.ir import Block, Node, OpDef, Value, get_op
from ljit.ops.control import LOOP, YIELD
from ljit.ops.numpy_boxed import reduced_axes
from ljit.ops.numpy_index import FROM_START, INSIDE, basic_parts
from ljit.passes.fuse_nodes import element_op, is_reduction
from ljit.passes.rewriting import insert_constant
from ljit.records import Record
from ljit.types import INT, ArrayType

__all__ = ["Rows", "Shape", "build"]

Shape = tuple[int | None, ...]
_PROVEN = (f"{FROM_START}.0", f"{INSIDE}.0")


class Rows(Record):
    """Nodes to do row by row, in program order; the shapes of the arrays that they need, and of their results."""

    base: Value
    nodes: list[Node]
    inputs: dict[Value, Shape]
    results: dict[Value, Shape]


def build(rows: Rows, targets: set[Value]) -> Block:
    """Put the loop in the place of the last node; gives its body.

    `targets` are arrays that loops over rows fill; those of this one are added.
    """
    return _Builder(rows, targets).run()


class _Builder:
    def __init__(self, rows: Rows, targets: set[Value]) -> None:
        self.rows = rows
        self.targets = targets
        self.graph = rows.nodes[0].graph
        self.first, self.last = rows.nodes[0], rows.nodes[-1]
        self.front = self.last  # what is made in front of the loop stands before it
        self.rows_of: dict[Value, Value] = {}

    def run(self) -> Block:
        self._move_users_behind()
        base, inputs = self.rows.base, self.rows.inputs
        others = {v: shape for v, shape in inputs.items() if v is not base}
        self._add(get_op("prim::same_sizes"), [base, *others], axes=tuple(others.values()))
        shape = self._add(get_op("np::shape"), [base]).output
        assert isinstance(base.type, ArrayType)
        sizes = [
            self._add(get_op("prim::TupleIndex"), [shape], index=i).output
            for i in range(base.type.ndim)
        ]
        made = {value: self._target(value, sizes) for value in self._wanted()}
        loop = self._add(LOOP, [insert_constant(0, self.front), sizes[0]])
        self.front = loop
        body = loop.add_block([("", INT)])
        self._fill(body, made)
        for value, array in made.items():
            value.replace_all_uses_with(array)
        for node in reversed(self.rows.nodes):
            node.erase()
        return body

    def _wanted(self) -> list[Value]:
        members = set(self.rows.nodes)
        return [v for v in self.rows.results if any(user not in members for user, _ in v.uses)]

    def _add(self, op: OpDef, inputs: Sequence[Value], **attrs: object) -> Node:
        """Make a node in front of the loop."""
        return self.graph.create(op, inputs, attrs, like=self.first).insert_before(self.front)

    def _move_users_behind(self) -> None:
        """Move what needs results, and stands between the nodes, behind them."""
        members, moved, anchor = set(self.rows.nodes), set(self.rows.nodes), self.last
        node: Node | None = self.first
        while node is not self.last:
            assert node is not None
            following = node.next
            if node not in members and any(v.node in moved for n in node.walk() for v in n.inputs):
                moved.add(node)
                node.unlink()
                anchor = node.insert_after(anchor)
            node = following

    # -- results -----------------------------------------------------------------------------------

    def _target(self, value: Value, sizes: Sequence[Value]) -> Value:
        """Make the array that takes a result, or find where it is stored at once."""
        place = self._place(value)
        if place is not None:
            self.targets.add(place)
            return place
        assert isinstance(value.type, ArrayType)
        own = [
            insert_constant(1, self.front) if axis is None else sizes[axis]
            for axis in self.rows.results[value]
        ]
        array = self._add(get_op("prim::new_array"), own, type=value.type).output
        array.name = value.name
        self.targets.add(array)
        return array

    def _place(self, value: Value) -> Value | None:
        """The row of an outer loop's result, if the value is only stored there."""
        members = set(self.rows.nodes)
        users = [(user, index) for user, index in value.uses if user not in members]
        if len(users) != 1 or users[0][1] != 2:
            return None
        store = users[0][0]
        if not store.op.writes_part or store.inputs[0] not in self.targets:
            return None
        view = self._add(get_op("np::getitem"), store.inputs[:2])
        view.proven = store.proven
        store.erase()
        return view.output

    # -- the body ----------------------------------------------------------------------------------

    def _fill(self, body: Block, made: dict[Value, Value]) -> None:
        k, results = body.params[0], self.rows.results
        for node in self.rows.nodes:
            self.rows_of[node.output] = self._row_of_result(body, node)
        for value in sorted(made, key=lambda v: -len(row_shape(results[v]))):
            operands = [made[value], k, self.rows_of[value]]
            self._append(body, get_op("np::setitem"), operands, {}, value.node).proven = _PROVEN
        body.append(self.graph.create(YIELD, (), outputs=0))

    def _append(
        self,
        body: Block,
        op: OpDef,
        inputs: Sequence[Value],
        attrs: Mapping[str, object],
        like: Node | None,
    ) -> Node:
        return body.append(self.graph.create(op, inputs, attrs, like=like))

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
        items = [insert_constant(0, self.front) for _ in range(zeros)]
        if has_first:
            items.insert(0, body.params[0] if is_leading else insert_constant(0, self.front))
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
        return body.append(node) if body is not None else node.insert_before(self.front)

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
        return insert_constant(items, self.front)


def row_shape(shape: Shape) -> Shape:
    """Give the shape of a row; that of a number if all sizes are 1."""
    return () if set(shape[1:]) <= {None} else shape[1:]
