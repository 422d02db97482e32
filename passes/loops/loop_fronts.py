"""What stands in front of a loop over pieces of arrays: checks of their sizes, and the arrays that take the results."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from ljit.ir import Node, OpDef, Value, get_op
from ljit.passes.rewriting import insert_constant, move_users_behind
from ljit.records import Record
from ljit.types import ArrayType

__all__ = ["LoopFront", "Rows", "Shape"]

Shape = tuple[int | None, ...]


class Rows(Record):
    """Nodes to do row by row, in program order; the shapes of the arrays that they need, and of their results."""

    base: Value
    nodes: list[Node]
    inputs: dict[Value, Shape]
    results: dict[Value, Shape]

    @property
    def rank(self) -> int:
        assert isinstance(self.base.type, ArrayType)
        return self.base.type.ndim


class LoopFront:
    """The place in front of the loop; the loop itself comes to stand at the last node.

    `targets` are arrays that such loops fill; those of this one are added.
    """

    def __init__(self, rows: Rows, targets: set[Value]) -> None:
        self.rows = rows
        self.targets = targets
        self.graph = rows.nodes[0].graph
        self.first, self.last = rows.nodes[0], rows.nodes[-1]
        self.place = self.last  # what is made in front of the loop stands before it

    def add(self, op: OpDef, inputs: Sequence[Value], **attrs: object) -> Node:
        """Make a node in front of the loop."""
        return self.place.create_before(op, inputs, attrs, like=self.first)

    def constant(self, value: object) -> Value:
        return insert_constant(value, self.place)

    def open(self) -> list[Value]:
        """Make room, and check all shapes; gives the sizes of the array that the others are compared with."""
        move_users_behind(self.rows.nodes)
        base, inputs = self.rows.base, self.rows.inputs
        others = {v: shape for v, shape in inputs.items() if v is not base}
        self.add(get_op("prim::same_sizes"), [base, *others], axes=tuple(others.values()))
        shape = self.add(get_op("np::shape"), [base]).output
        item = get_op("prim::TupleIndex")
        return [self.add(item, [shape], index=i).output for i in range(self.rows.rank)]

    def wanted(self) -> list[Value]:
        """List the results that others need."""
        members = set(self.rows.nodes)
        return [v for v in self.rows.results if any(user not in members for user, _ in v.uses)]

    def replace(self, made: Mapping[Value, Value]) -> None:
        """Let others use what the loop made, which stands there by now."""
        for value, array in made.items():
            value.replace_all_uses_with(array)
        for node in reversed(self.rows.nodes):
            node.erase()

    def target(self, value: Value, sizes: Sequence[Value]) -> Value:
        """Make the array that takes a result, or find where it is stored at once."""
        place = self._place(value)
        if place is not None:
            self.targets.add(place)
            return place
        assert isinstance(value.type, ArrayType)
        own = [
            self.constant(1) if axis is None else sizes[axis] for axis in self.rows.results[value]
        ]
        array = self.add(get_op("prim::new_array"), own, type=value.type).output
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
        view = self.add(get_op("np::getitem"), store.inputs[:2])
        view.proven = store.proven
        store.erase()
        return view.output
