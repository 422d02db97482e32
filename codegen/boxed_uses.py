"""Which values are needed as objects later: then the object that a number was read from is kept."""

from __future__ import annotations

from ljit.ir import Effect, Node, Value
from ljit.ops.containers import TUPLE_INDEX
from ljit.ops.keys import looks_for_key
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
    return bool(user.effects & Effect.CALL) and not looks_for_key(user)
