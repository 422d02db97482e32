"""Which values are needed as objects later: then the object that a number was read from is kept."""

from __future__ import annotations

from ljit.ir import Effect, Node, Value
from ljit.ops.containers.containers import TUPLE_INDEX
from ljit.ops.containers.keys import looks_for_key
from ljit.ops.control import CALL_NATIVE
from ljit.ops.objects import UNPACK
from ljit.types import ListType

__all__ = ["is_boxed"]


def is_boxed(value: Value) -> bool:
    """Whether the value, or an item of it, is put into a container of objects or given to unknown code."""
    return any(_takes_object(user, index) for user, index in value.uses)


def _takes_object(user: Node, index: int) -> bool:
    if user.op is TUPLE_INDEX or user.op is UNPACK:
        return any(map(is_boxed, user.outputs))
    use = user.op.list_use
    container = user.inputs[0].type if user.inputs else None
    if use is not None and isinstance(container, ListType):
        return use.puts == index and not container.is_private
    if user.op is CALL_NATIVE or looks_for_key(user):
        return False
    return bool(user.effects & Effect.CALL) or _is_done_by_cpython(user)


def _is_done_by_cpython(user: Node) -> bool:
    op = user.op
    if op.evaluate is None or op.is_constant:
        return False
    return not op.has_lowering([v.type for v in user.inputs], user.attrs)
