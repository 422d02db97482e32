"""Innermost loops of numbers that may be Python's or NumPy's, because a loop around makes them NumPy's.

    best = 0
    for i in range(n):
        for j in range(m):
            if a[i, j] > best:
                best = a[i, j]        # an int until an element is greater than 0, an np.int32 from there on

If all such numbers are NumPy's where the loop begins, they are so in all its trips: there is a loop without tags for
them, as if there was no other class. Beside it stands the loop for what else they may be. It is the only one if the
numbers do not stay NumPy's, or if a ``while`` asks for the class of none (`k = f[k - 1]` until `k` is 0). Cost: a few
more walks of the loop, which is short.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Protocol

from ljit.ir import Block, Node, Value, get_op
from ljit.ops.control import IF, LOOP, SNAPSHOT, TYPE_IS
from ljit.ops.ranges.int_bounds import is_either_int
from ljit.ops.ranges.int_ranges import ADD, SUB
from ljit.passes.specializing.graph_writer import GraphWriter, erase
from ljit.passes.specializing.narrowing import without
from ljit.passes.specializing.number_classes import has_few_trips
from ljit.passes.specializing.settled_types import can_be_two
from ljit.types import BOOL, FLOAT, INT, ScalarType, Type, UnionType

__all__ = ["ignores_classes", "visit_by_class"]

_Members = Mapping[Value, Type]  # of Unions


class Control(Protocol):
    """The walk over control flow that the loop is part of."""

    out: GraphWriter
    values: dict[Value, Value]
    header_types: dict[Node, list[Type]]

    def visit_for_any_class(
        self, node: Node, start: Value, carried: Sequence[Value], met: Sequence[Type]
    ) -> bool | None:
        """Write a loop once for ints of both classes, if it does not ask for them; False if nothing leaves it."""

    def visit_for_all(self, node: Node, start: Value, carried: Sequence[Value]) -> bool:
        """Write a loop for values of whichever class; False if nothing leaves it."""


def visit_by_class(
    control: Control, node: Node, start: Value, carried: Sequence[Value]
) -> bool | None:
    """Write a loop for NumPy's numbers, and one for others. None, and nothing written: they do not stay NumPy's.

    False: nothing leaves the loops.
    """
    numpys = {v: t for v in carried if (t := _numpys_class(v.type)) is not None}
    if not numpys or not can_be_two(node) or has_few_trips(node, control.values):
        return None
    goes_on = control.visit_for_any_class(node, start, carried, [v.type for v in carried])
    if goes_on is not None:
        return goes_on
    out, was_dirty = control.out, control.out.dirty
    known = control.header_types.pop(node, None)  # of an earlier walk of a loop around
    branch = out.append(IF, (out.are_members(numpys.items(), node),), like=node)

    def visit(members: _Members) -> list[Value] | None:
        given = [out.as_member(v, members[v], node) if v in members else v for v in carried]
        goes_on = control.visit_for_all(node, start, given)
        return [control.values[v] for v in node.outputs] if goes_on else None

    ends = [out.in_branch(branch, lambda: visit(numpys))]
    if known is not None:
        control.header_types[node] = known
    is_dirty, out.dirty = out.dirty, was_dirty
    if not _stay(branch.blocks[0], [numpys.get(v) for v in carried]):
        erase(branch)
        return None
    others = {v: without(v.type, t) for v, t in numpys.items()} if len(numpys) == 1 else {}
    ends.append(out.in_branch(branch, lambda: visit(others)))
    out.dirty |= is_dirty
    results = out.merge(branch, ends, node)
    if results is not None:
        control.values.update(zip(node.outputs, results, strict=True))
    return results is not None


def _stay(written: Block, types_: Sequence[Type | None]) -> bool:
    """Whether what the loops carry has these types in all trips, where one is given."""
    loops = (n for n in written.walk() if n.op is LOOP)
    return all(
        type_ in (None, param.type)
        for loop in loops
        for param, type_ in zip(loop.blocks[0].params[1:], types_, strict=True)
    )


def ignores_classes(loop: Node) -> bool:
    """Whether ints that may be Python's or NumPy's are what they are in a loop, whichever class they are of.

    They are compared, are indices, and constants are added to them: no check is made that NumPy's ints alone do not
    need.
    """
    body = loop.blocks[0]
    made = (out for node in body.walk() for out in node.outputs)
    unions = [v for v in (*body.params, *made) if isinstance(v.type, UnionType)]
    return all(
        is_either_int(v.type) and all(_ignores_class(user) for user, _ in v.uses) for v in unions
    )


def _ignores_class(user: Node) -> bool:
    users = [node for out in user.outputs for node, _ in out.uses]
    if user.op is get_op("np::number"):
        return all(map(_takes_either, users))
    if user.op is TYPE_IS:
        return all(map(_makes_tag, users))
    return user.op is SNAPSHOT or user.op.is_terminator


def _takes_either(user: Node) -> bool:
    op = user.op
    if op.ranges in (ADD, SUB):
        return any(v.is_constant for v in user.inputs)
    return op.reads_part or op.writes_part or not op.can_leave(user)


def _makes_tag(user: Node) -> bool:
    if user.op is get_op("py::and"):
        return all(_makes_tag(node) for node, _ in user.output.uses)
    return user.op is get_op("np::classed")


def _numpys_class(type_: Type) -> ScalarType | None:
    """NumPy's class of a number that may be Python's."""
    members = type_.members if isinstance(type_, UnionType) else ()
    numpys = [t for t in members if isinstance(t, ScalarType)]
    is_number = len(members) == 2 and not {BOOL, INT, FLOAT}.isdisjoint(members)
    return numpys[0] if is_number and len(numpys) == 1 else None
