"""Cross products of rows, vectors joined as columns, and what is computed with them, are done column by column.

    t = 2 * np.cross(axis, p)             t0 = 2 * (axis[1] * p[:, 2] - axis[2] * p[:, 1]); ...
    r = p + np.cross(axis, t)             r = np.stack((p[:, 0] + (axis[1] * t2 - axis[2] * t1), ...), axis=1)
    np.stack((x, y, z), axis=1) + shift   np.stack((x + shift[0], y + shift[1], z + shift[2]), axis=1)

`fuse` begins with this; `fuse_joins` and `fuse_stores` then make one nest of the columns. A cross product is no loop
over elements, but its columns are. Taken along are elementwise ops over arrays of the same rank and three columns, of
its results or of nothing but its operands. A single one is left alone: its own loop is as good.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from functools import partial

from ljit.ir import Block, Effect, Node, OpDef, Value, get_op
from ljit.ops.control import SNAPSHOT
from ljit.passes.fusion.fuse_nodes import is_elementwise, is_exact, may_leave
from ljit.passes.manager import is_allowed
from ljit.passes.rewriting import insert_constant
from ljit.types import ArrayType, TupleType

__all__ = ["split_columns"]

NAME = "fuse"
COLUMNS = 3
CROSS_OPS = 9  # of a cross product: two products and a difference for each column
MAX_OPS = 42  # of all columns: beyond, registers run out
_BARRIERS = Effect.WRITE | Effect.CALL | Effect.EXIT


def split_columns(block: Block) -> bool:
    """Rewrite what makes columns in one block; whether there was anything."""
    if not any(map(_makes_columns, block)):
        return False
    changed = False
    for nodes in list(_stretches(block)):
        members = _members(nodes)
        count = sum(CROSS_OPS if _makes_columns(node) else COLUMNS for node in members)
        if len(members) > 1 and count <= MAX_OPS and is_allowed(NAME, members[-1]):
            _split(members)
            changed = True
    return changed


def _stretches(block: Block) -> Iterator[list[Node]]:
    """Give runs of nodes without writes."""
    nodes: list[Node] = []
    for node in block:
        if node.op is SNAPSHOT or node.effects & _BARRIERS:
            yield nodes
            nodes = []
        else:
            nodes.append(node)
    yield nodes


def _members(nodes: Sequence[Node]) -> list[Node]:
    """Ops of rows that are done by columns, elementwise nodes that need them, and what nothing but them needs."""
    found = {node for node in nodes if _makes_columns(node) and _is_of_rows(node)}
    for node in nodes:
        if any(v.node in found for v in node.inputs) and _is_plain(node):
            found.add(node)
    for node in reversed(nodes):
        users = {user for out in node.outputs for user, _ in out.uses}
        if users and users <= found and _is_plain(node):
            found.add(node)
    return [node for node in nodes if node in found]


def _makes_columns(node: Node) -> bool:
    return node.op.columns is not None or _is_joined(node)


def _is_joined(node: Node) -> bool:
    """Whether the node puts vectors of its dtype side by side."""
    if node.op.joins != "along a new axis" or node.attrs.get("axis") not in (1, -1):
        return False
    both, type_ = node.inputs[0].made_by(get_op("prim::TupleConstruct")), node.output.type
    if both is None or not isinstance(type_, ArrayType):
        return False
    types = [v.type for v in both.inputs]
    return all(isinstance(t, ArrayType) and t.ndim == 1 and t.dtype == type_.dtype for t in types)


def _is_plain(node: Node) -> bool:
    if not node.op.elementwise or node.op.schema.written or not is_elementwise(node):
        return False
    return is_exact(node) and not may_leave(node) and _is_of_rows(node)


def _is_of_rows(node: Node) -> bool:
    """Whether the node makes rows of three columns in C order, of operands that have columns, too, or just one."""
    type_ = node.output.type
    if not isinstance(type_, ArrayType) or type_.layout != "C" or type_.ndim != 2:
        return False
    return type_.shape[1] == COLUMNS and all(map(_has_columns, node.inputs))


def _has_columns(value: Value) -> bool:
    type_ = value.type
    if not isinstance(type_, ArrayType):
        return True
    return type_.shape[-1:] == (COLUMNS,) or (type_.ndim == 2 and type_.shape[1] == 1)


def _split(members: Sequence[Node]) -> None:
    """Write the columns of each node in front of it, and join those that others need."""
    inside, columns = set(members), dict[Value, list[Value]]()
    for node in members:
        operands = [_columns(v, node, columns) for v in node.inputs]
        if node.op.columns is not None:
            made = node.op.columns(partial(_apply, node), *operands)
        elif _is_joined(node):
            made = operands[0]
        else:
            made = [
                _add(node, node.op, column, **node.attrs) for column in zip(*operands, strict=True)
            ]
        columns[node.output] = made
        if any(user not in inside for user, _ in node.output.uses):
            _join(node, made, inside)
    for node in reversed(members):
        tuples = [v.node for v in node.inputs if isinstance(v.type, TupleType)]
        node.erase()
        for both in tuples:
            if both is not None and not both.output.uses:  # its items would be results of nests
                both.erase()


def _columns(value: Value, node: Node, known: dict[Value, list[Value]]) -> list[Value]:
    """The columns of an operand of the node: of a tuple, its items."""
    type_ = value.type
    if isinstance(type_, TupleType):
        assert value.node is not None
        return list(value.node.inputs)
    if not isinstance(type_, ArrayType):
        return [value] * COLUMNS
    if value not in known:
        count = type_.shape[-1]
        assert count is not None
        lead = (slice(None),) * (type_.ndim - 1)
        places = [insert_constant((*lead, i) if lead else i, node) for i in range(count)]
        found = [_add(node, get_op("np::getitem"), (value, place)) for place in places]
        known[value] = found * (COLUMNS // count)
    return known[value]


def _apply(node: Node, op: str, *columns: Value) -> Value:
    return _add(node, get_op(op), columns)


def _join(node: Node, columns: Sequence[Value], inside: set[Node]) -> None:
    """Let others see the columns as an array."""
    both = _add(node, get_op("prim::TupleConstruct"), columns)
    stack = node.graph.create(
        get_op("np::stack"), [both], {"axis": 1}, outputs=[node.output.type], like=node
    )
    joined = stack.insert_before(node).output
    joined.name = node.output.name
    for user, index in list(node.output.uses):
        if user not in inside:
            user.set_input(index, joined)


def _add(node: Node, op: OpDef, inputs: Iterable[Value], **attrs: object) -> Value:
    new = node.graph.create(op, list(inputs), attrs, like=node)
    return new.insert_before(node).output
