"""Values that a function asks which object they are, by ``id(x)`` or ``x is y``: they stay the objects they are.

Of numbers ``x is y`` says nothing that a program could rely on, but ``id(x)`` may be a key: there must be an object
with it as long as there is one in CPython.
"""

from __future__ import annotations

import functools

from ljit.ir import Graph, Node, OpDef, Value, get_op
from ljit.ops.control import PROFILE
from ljit.ops.names import LOAD_GLOBAL
from ljit.ops.objects import CALL, UNPACK
from ljit.ops.python.types import class_of
from ljit.passes.containers.carried import handed_on
from ljit.types import ANY, BOOL, NONE, RANGE, ArrayType, ItemsType, ObjectType, Type

__all__ = ["as_whole_object", "asks_for_identities", "is_identity_asked", "with_whole_objects"]


def asks_for_identities(graph: Graph) -> bool:
    """Whether a baseline graph asks for the identity of anything. Hardly any does; values are looked at one by one."""
    asking = (CALL, *_comparisons())
    return any(
        _calls_id(node, 1) or _compares(node, 0) or _compares(node, 1)
        for node in graph.walk()
        if node.op in asking
    )


def is_identity_asked(value: Value, t: Type) -> bool:
    """Whether a baseline value that is known as `t`, or what it becomes, is asked for its identity."""
    if t.is_boxed or isinstance(t, ArrayType) or t in (NONE, BOOL):
        return False
    is_number = not isinstance(t, ItemsType) and t != RANGE
    names, seen = [value], {value}
    for name in names:  # grows
        for user, position in name.uses:
            if _calls_id(user, position) or (not is_number and _compares(user, position)):
                return True
            is_held = not is_number and user.op in (_makers() if position else _takers())
            given = user.outputs if is_held else handed_on(user, position)
            names += [other for other in given if other not in seen]
            seen.update(given)
    return False


def with_whole_objects(graph: Graph, types: tuple[Type, ...]) -> tuple[Type, ...]:
    """The types of the parameters of a baseline graph: objects where it asks which ones they are."""
    return tuple(
        as_whole_object(t) if is_identity_asked(x, t) else t
        for x, t in zip(graph.params, types, strict=True)
    )


def as_whole_object(t: Type) -> Type:
    """The type of the objects that values of type `t` are."""
    cls = class_of(t) if isinstance(t, ItemsType) or t == RANGE else None
    return ANY if cls is None else ObjectType(cls)


@functools.cache
def _comparisons() -> tuple[OpDef, ...]:
    return get_op("py::is"), get_op("py::is_not")


@functools.cache
def _makers() -> tuple[OpDef, ...]:
    """What puts all operands into a container."""
    return get_op("prim::TupleConstruct"), get_op("prim::ListConstruct")


@functools.cache
def _takers() -> tuple[OpDef, ...]:
    """What takes something out of its first operand, or puts it into a container."""
    return (*_makers(), *map(get_op, ("prim::iter", "prim::next", "py::getitem")), UNPACK)


def _calls_id(user: Node, position: int) -> bool:
    if user.op is not CALL or position != 1 or len(user.inputs) != 2:
        return False
    called = user.inputs[0].node
    if called is not None and called.op is PROFILE:
        called = called.inputs[0].node
    return called is not None and called.op is LOAD_GLOBAL and called.attrs["name"] == "id"


def _compares(user: Node, position: int) -> bool:
    """Whether the value is compared with another one, of which not everything is known."""
    if user.op not in _comparisons():
        return False
    return not user.inputs[1 - position].is_constant
