"""Which results need no reference of their own, because they are used up at once, or only on the way out.

An item of a list is borrowed from the list as long as nothing can run in between that takes it out: no write, no
call, nothing that lets another thread or the garbage collector run.
"""

from __future__ import annotations

from ljit.codegen.forms import owned_positions
from ljit.ir import Effect, Node
from ljit.ops.control import SNAPSHOT
from ljit.types import ListType

__all__ = ["is_for_exits", "is_used_up_at_once"]

_FREES = Effect.WRITE | Effect.CALL | Effect.ALLOC | Effect.EXIT
_NEAR = 8  # nodes to look at


def is_used_up_at_once(node: Node) -> bool:
    """Whether all users of the node's results follow in its block before anything that may free them."""
    open_ = {user for out in node.outputs for user, _ in out.uses}
    is_list = all(isinstance(out.type, ListType) for out in node.outputs)
    following = node.next
    for _ in range(_NEAR):
        if not open_ or following is None:
            break
        frees = following.effects & _FREES
        if following not in open_:
            if frees or following.blocks:
                return False
        else:
            open_.discard(following)
            is_last_write = frees == Effect.WRITE and not open_
            if (frees and not is_last_write) or _keeps(following, is_list=is_list):
                return False
        following = following.next
    return not open_


def is_for_exits(node: Node) -> bool:
    """Whether only Snapshots use the results, and the node may run where native code is left."""
    users = (user for out in node.outputs for user, _ in out.uses)
    return node.effects.is_removable and all(user.op is SNAPSHOT for user in users)


def _keeps(user: Node, *, is_list: bool) -> bool:
    """Whether the object may live on in the user or its results; what is read out of a list is not the list.

    A write to the object itself comes last in its lowering.
    """
    if user.blocks or user.op is SNAPSHOT:
        return True
    is_read = is_list and user.effects & Effect.READ
    return not is_read and any(owned_positions(out.type) for out in user.outputs)
