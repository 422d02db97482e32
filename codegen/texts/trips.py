"""Which strs are done with at a place in a trip of a loop."""

from __future__ import annotations

from ljit.codegen.llvm.forms import owned_positions
from ljit.ir import Block, Node, Value
from ljit.ops.control import IF, LOOP, SNAPSHOT

__all__ = ["is_done_with", "is_handed_on", "is_left_over"]


def is_done_with(value: Value, node: Node) -> bool:
    """Whether a str is not looked at behind `node` in the trip, nor anything that may hold its pointer.

    It must have been made in the same trip, or at its start.
    """
    body = _trip_around(node)
    if body is None or not _is_made_in(value, body):
        return False
    uses = list(value.uses)
    if sum(user is node for user, _ in uses) > 1:
        return False
    others = [user for user, _ in uses if user is not node and not _are_apart(node, user)]
    return not any(_may_hold(user) or _may_follow(node, user) for user in others)


def is_left_over(value: Value, node: Node) -> bool:
    """Whether the slot of a str holds, while `node` runs, what nobody looks at any more."""
    body = _trip_around(node)
    if body is None or not _is_made_in(value, body):
        return False
    maker = value.node
    if maker is not None and (node.is_inside(maker) or _may_follow(node, maker)):
        return True  # it is of the trip before
    return is_done_with(value, node)


def is_handed_on(value: Value) -> bool:
    """Whether a value only goes where its block ends."""
    return all(user.op.is_terminator or user.op is SNAPSHOT for user, _ in value.uses)


def _trip_around(node: Node) -> Block | None:
    """Give the body of the innermost loop around a node."""
    around = (b for b in node.blocks_around() if b.owner is not None and b.owner.op is LOOP)
    return next(around, None)


def _is_made_in(value: Value, body: Block) -> bool:
    maker = value.node
    return value.block is body or (maker is not None and maker.is_inside(body))


def _may_hold(user: Node) -> bool:
    """Whether results of a user may be the object without having a reference."""
    if user.op.is_terminator or user.op in (SNAPSHOT, LOOP):
        return False
    return any(owned_positions(out.type) for out in user.outputs)


def _are_apart(node: Node, user: Node) -> bool:
    """Whether two nodes are on different sides of an If: one trip runs one of them."""
    first, second = _within_one_block(node, user)
    return first is second and first.op is IF


def _may_follow(node: Node, user: Node) -> bool:
    """Whether `user` may run behind `node`, in the same trip."""
    first, second = _within_one_block(node, user)
    if first is second:  # other blocks of one node
        return first.op is not IF
    return first.is_before(second)


def _within_one_block(node: Node, user: Node) -> tuple[Node, Node]:
    """The nodes of the innermost block around both, in or at which they are."""
    around: dict[Block, Node] = {}
    inner: Node | None = node
    while inner is not None and inner.block is not None:
        around[inner.block] = inner
        inner = inner.block.owner
    outer: Node | None = user
    while outer is not None and outer.block not in around:
        assert outer.block is not None
        outer = outer.block.owner
    assert outer is not None and outer.block is not None
    return around[outer.block], outer
