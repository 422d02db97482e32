"""Steps that several passes share: replacing values, dissolving nodes with blocks, finding exits."""

from __future__ import annotations

from collections.abc import Container, Iterator, Sequence

from ljit.characters import constant_type
from ljit.ir import Block, Effect, Graph, Node, Value
from ljit.ops.control import CONSTANT, DEOPTIMIZE, IF, SNAPSHOT, TRY, YIELD
from ljit.types import ANY, Type

__all__ = [
    "all_blocks",
    "collect_exits",
    "dissolve",
    "drop_repeated_snapshot",
    "erase_behind",
    "insert_constant",
    "is_tried",
    "leave_in_front",
    "move_users_behind",
    "nodes_making",
    "operands_of",
    "replace_value",
    "replace_with_constant",
]


def all_blocks(graph: Graph) -> Iterator[Block]:
    """Iterate over the blocks of a graph, each before the blocks in it."""
    yield graph.block
    for node in graph.walk():
        yield from node.blocks


def collect_exits(graph: Graph) -> dict[Node, list[Node]]:
    """List, for each Loop and Region, the Breaks and Continues that target it."""
    exits: dict[Node, list[Node]] = {}
    for node in graph.walk():
        if node.target is not None and node.op.is_terminator:
            exits.setdefault(node.target, []).append(node)
    return exits


def leave_in_front(place: Node, condition: Value, reason: str, like: Node | None = None) -> None:
    """Leave for the interpreter in front of a node if a condition holds; `like` is blamed, by default the node."""
    like = like or place
    choice = place.create_before(IF, (condition,), outputs=(), like=like)
    choice.add_block().create(DEOPTIMIZE, attrs={"reason": reason}, like=like)
    choice.add_block().create(YIELD, like=like)


def nodes_making(value: Value, loop: Node, most: int) -> list[Node] | None:
    """The nodes of a loop that compute a value of its trip, in order; None: they are more, or some may leave."""
    found: dict[Node, None] = {}
    todo = [value]
    while todo:
        value = todo.pop()
        if not value.is_inside(loop) or value is loop.blocks[0].params[0]:
            continue
        node = value.node
        is_pure = node is not None and not (node.blocks or node.op.can_leave(node))
        if node is None or not is_pure or node.effects & ~Effect.RAISE or len(found) > most:
            return None
        found.pop(node, None)
        found[node] = None
        todo += node.inputs
    return [*reversed(found)]


def replace_value(old: Value, new: Value) -> None:
    """Let the users of `old` use `new`; outputs that follow from a narrower type get narrower.

    Where an op can only raise for the narrower type, `new` has that of `old`: the op raises when it runs.
    """
    is_narrower = new.type != old.type
    old.replace_all_uses_with(new)
    if is_narrower and not retype_users(new):
        new.type = old.type


def retype_users(value: Value) -> bool:
    """Infer the outputs of the users of `value` again, and so on; `Any` stays `Any`.

    Nothing is changed, and False given, if an output became `Any`: what uses it may not take that.
    """
    before: dict[Value, Type] = {}
    waiting = [value]
    while waiting:
        for user, _ in list(waiting.pop().uses):
            changed = _retype(user)
            for out, old in changed.items():
                before.setdefault(out, old)
            if any(out.type == ANY for out in changed):
                for out, old in before.items():
                    out.type = old
                return False
            waiting += changed
    return True


def _retype(node: Node) -> dict[Value, Type]:
    """Infer the outputs of a node again; give those that are of another type now, with the old one."""
    if node.op.infer is None:
        return {}
    old: dict[Value, Type] = {}
    for out, type_ in zip(node.outputs, node.op.result_types(node), strict=True):
        if out.type not in (ANY, type_):
            old[out] = out.type
            out.type = type_
    return old


def insert_constant(value: object, before: Node, type_: Type | None = None) -> Value:
    """Make a constant in front of a node."""
    attrs = {"value": value}
    types = [constant_type(value) if type_ is None else type_]
    node = before.graph.create(CONSTANT, attrs=attrs, outputs=types, like=before)
    return node.insert_before(before).output


def operands_of(node: Node) -> Iterator[Value]:
    """Give what a node and those in its blocks need."""
    for inner in node.walk():
        yield from inner.inputs


def move_users_behind(nodes: Sequence[Node], shared: Container[Node] = ()) -> None:
    """Move what needs results of `nodes`, and stands between them, behind the last one.

    What needs those that are `shared` stays: others make them as well, and nodes may need it in turn.
    """
    first, last = nodes[0], nodes[-1]
    members, moved, anchor = set(nodes), {n for n in nodes if n not in shared}, last
    node: Node | None = first
    while node is not last:
        assert node is not None
        following = node.next
        if node not in members and any(v.node in moved for v in operands_of(node)):
            moved.add(node)
            node.unlink()
            anchor = node.insert_after(anchor)
        node = following


def is_tried(node: Node) -> bool:
    """Whether a handler may get what the node raises: CPython does it then, as it stands."""
    return node.block is not None and node.block.owner is not None and node.block.owner.op is TRY


def replace_with_constant(node: Node, value: object) -> None:
    """Replace a node that has one output by a constant."""
    replace_value(node.output, insert_constant(value, node))
    node.erase()


def drop_repeated_snapshot(node: Node | None) -> bool:
    """Drop a Snapshot if the one before it in its block does as well; whether it was dropped."""
    if node is None or node.op is not SNAPSHOT:
        return False
    before = node.prev
    while before is not None and before.op is not SNAPSHOT:
        if not before.effects.is_repeatable:
            return False
        before = before.prev
    if before is None:
        return False
    node.erase()
    return True


def erase_behind(node: Node) -> None:
    """Erase all nodes behind `node` in its block."""
    block = node.block
    assert block is not None
    while node.next is not None:
        assert block.last is not None
        block.last.erase()


def dissolve(node: Node, block: Block, arguments: Sequence[Value]) -> None:
    """Replace `node` by the content of one of its blocks, whose parameters become `arguments`.

    A block that does not end in Yield leaves for good: what stands behind the node is erased.
    """
    for param, value in zip(block.params, arguments, strict=True):
        replace_value(param, value)
    terminator = block.terminator
    for inner in block:
        if inner is not terminator:
            inner.move_before(node)
    if terminator.op is YIELD:
        for out, value in zip(node.outputs, list(terminator.inputs), strict=True):
            replace_value(out, value)
    else:
        erase_behind(node)
        terminator.move_before(node)
    node.erase()
