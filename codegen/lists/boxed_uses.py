"""Which values are needed as objects later: then the object that a number or a tuple was read from is kept.

A tuple that is made, and needed as an object twice, is made into one at once, if the block that makes it needs one in
any case.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from ljit.analysis.alias import is_immutable
from ljit.analysis.signatures import NativeLink
from ljit.codegen.layouts import layout
from ljit.codegen.llvm.forms import Native, split
from ljit.ir import Effect, Node, Value
from ljit.ops.containers.keys import looks_for_key
from ljit.ops.containers.tuples import TUPLE_CONSTRUCT, TUPLE_INDEX
from ljit.ops.control import CALL_NATIVE
from ljit.ops.objects import UNPACK
from ljit.types import FLOAT, INT, RANGE, ItemsType, ListType, Type

if TYPE_CHECKING:
    from ljit.codegen.emitter import Emitter
    from ljit.codegen.llvm.builder import Ref

__all__ = ["hold_objects", "is_boxed", "is_boxed_twice"]


def hold_objects(e: Emitter, out: Value, value: Native, pointer: Ref) -> None:
    """Keep the object that a value was read from, and those of its items, where they are needed later."""
    if value.type != out.type:
        return
    if not isinstance(value.type, ItemsType):
        if value.type in (INT, FLOAT, RANGE) and is_boxed(out):
            e.ownership.hold_object(value, pointer)
        return
    if _is_made_of_objects(value.type) and _users_of_object(out):
        e.ownership.hold_object(value, pointer)
    items = split(value)
    for index, item in _items_taken(out):
        if is_boxed(item):
            place = e.f.gep("i8", pointer, layout.TUPLE_ITEMS + 8 * index)
            hold_objects(e, item, items[index], e.f.load("ptr", place))


def _is_made_of_objects(t: Type) -> bool:
    """Whether a tuple of the type that is made again is equal for good to the one that was read."""
    if isinstance(t, ItemsType):
        return all(map(_is_made_of_objects, t.items))
    if isinstance(t, ListType):
        return not t.is_private
    return t.is_boxed or is_immutable(t)


def is_boxed_twice(value: Value) -> bool:
    """Whether two uses of a tuple need its object, one of them in the block that makes it, or a native call does."""
    if not isinstance(value.type, ItemsType) or not is_immutable(value.type):
        return False
    users = _users_of_object(value)
    if any(user.op is CALL_NATIVE for user in users):  # the callee asks which object it is
        return True
    return len(users) > 1 and any(user.block is value.block for user in users)


def _users_of_object(value: Value) -> list[Node]:
    """What needs the object of a tuple, and not of an item alone."""
    return [u for u, index in value.uses if not _items_of(u) and _takes_object(u, index)]


def _items_taken(value: Value) -> Iterator[tuple[int, Value]]:
    """The items of a tuple that have names of their own, with their places."""
    for user, _ in value.uses:
        yield from _items_of(user)


def _items_of(user: Node) -> list[tuple[int, Value]]:
    """The items that a node takes out of a tuple."""
    if user.op is UNPACK and user.attrs.get("star") is None:
        return list(enumerate(user.outputs))
    if user.op is not TUPLE_INDEX:
        return []
    index = user.attrs["index"]
    assert isinstance(index, int)
    type_ = user.inputs[0].type
    assert isinstance(type_, ItemsType)
    return [(index % len(type_.items), user.output)]


def is_boxed(value: Value) -> bool:
    """Whether the value, or an item of it, is put into a container of objects or given to unknown code."""
    return any(_takes_object(user, index) for user, index in value.uses)


def _takes_object(user: Node, index: int) -> bool:
    if user.op in (TUPLE_INDEX, UNPACK, TUPLE_CONSTRUCT):
        return any(map(is_boxed, user.outputs))
    use = user.op.list_use
    container = user.inputs[0].type if user.inputs else None
    if use is not None and isinstance(container, ListType):
        return use.puts == index and not container.is_private
    if user.op is CALL_NATIVE:
        return _parameters(user)[index].is_boxed
    if looks_for_key(user):
        return False
    return bool(user.effects & Effect.CALL) or _is_done_by_cpython(user)


def _parameters(call: Node) -> Sequence[Type]:
    """The types of the parameters of what is called natively: another function, or this one."""
    link = call.attrs["callee"]
    if isinstance(link, NativeLink):
        return link.signature.params
    block = call.block
    while block is not None and block.owner is not None:
        block = block.owner.block
    assert block is not None
    return [x.type for x in block.params]


def _is_done_by_cpython(user: Node) -> bool:
    op = user.op
    if op.evaluate is None or op.is_constant:
        return False
    return not op.has_lowering([v.type for v in user.inputs], user.attrs)
