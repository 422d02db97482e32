"""Which values may share memory that a write can change.

Simple on purpose: by type and by origin. A value of a scalar or otherwise immutable type shares
nothing; an array that was made by an ALLOC op in this graph and is not handed on (as an operand of
a node that makes another value that can hold memory) shares nothing with values from elsewhere. That it is
returned changes nothing: nothing runs behind a Return.
"""

from __future__ import annotations

import numpy as np

from ljit.ir import Effect, Graph, Node, Value
from ljit.ops.control import RETURN
from ljit.record_types import RecordType, UnalignedType
from ljit.types import (
    BYTES,
    CHARACTER,
    NATIVE_KINDS,
    NONE,
    STR,
    UINT,
    UNBOUND,
    ArrayType,
    ItemsType,
    NamedTupleType,
    ObjectType,
    RangeType,
    ScalarType,
    SliceType,
    TupleType,
    Type,
    UnionType,
    ViewType,
    is_number,
)

__all__ = ["AliasInfo", "holds_array", "is_immutable", "is_own_in", "written_operands"]


_CONSTANTS = frozenset((*map(type, NATIVE_KINDS), np.finfo, np.iinfo))
_OF_NUMBERS = (ScalarType, RangeType, SliceType)


def is_immutable(type_: Type) -> bool:
    """Whether values of the type hold no memory that can be written to, at any depth.

    >>> from ljit.types import ANY, INT
    >>> is_immutable(INT), is_immutable(TupleType((INT, STR))), is_immutable(TupleType((ANY,)))
    (True, True, False)
    """
    if isinstance(type_, ItemsType):
        return all(map(is_immutable, type_.items))
    if isinstance(type_, UnionType):
        return all(map(is_immutable, type_.members))
    if isinstance(type_, _OF_NUMBERS):
        return True
    if isinstance(type_, ObjectType):
        return type_ == BYTES or type_.cls in _CONSTANTS
    return is_number(type_) or type_ in (UINT, NONE, STR, CHARACTER, UNBOUND)


def holds_array(t: Type) -> bool:
    """Whether a value of type `t` has unboxed arrays in it, which may be resized."""
    match t:
        case RecordType() | UnalignedType():
            return False
        case ArrayType():
            return True
        case TupleType(items) | NamedTupleType(_, items) | ViewType(_, items):
            return any(map(holds_array, items))
    return False


def written_operands(node: Node) -> list[Value]:
    """List the operands that the op's schema marks as written (``a!``)."""
    schema = node.op.schema
    positions = [i for i, name in enumerate(schema.positional) if name in schema.written]
    found = [node.inputs[i] for i in positions if i < len(node.inputs)]
    if schema.variadic is not None and schema.variadic in schema.written:
        found += node.inputs[len(schema.positional) :]
    return found


class AliasInfo:
    """Answers for one graph, computed when first asked for; the graph must not change meanwhile."""

    def __init__(self, graph: Graph) -> None:
        self.graph = graph
        self._private: dict[Value, bool] = {}

    def may_alias(self, a: Value, b: Value) -> bool:
        """Whether a write through `a` may be seen through `b`."""
        if a is b:
            return not is_immutable(a.type)
        if is_immutable(a.type) or is_immutable(b.type):
            return False
        return not (self.is_private(a) or self.is_private(b))

    def is_private(self, value: Value) -> bool:
        """Whether no other value can share the memory: fresh, and only read or written in place."""
        found = self._private.get(value)
        if found is None:
            found = self._private[value] = _is_fresh(value) and not any(
                _hands_on(user) for user, _ in value.uses
            )
        return found


def is_own_in(value: Value, loop: Node) -> bool:
    """Whether no other value shares the memory as long as a loop runs, in no other one: it is handed on behind it."""
    return _is_fresh(value) and all(
        _is_behind(user, loop) for user, _ in value.uses if _hands_on(user)
    )


def _is_behind(node: Node, other: Node) -> bool:
    """Whether a node comes behind another one, whatever way is taken."""
    steps = {n.block: n for n in (other, *other.owners())}
    step = next(n for n in (node, *node.owners()) if n.block in steps)
    return steps[step.block].is_before(step)


def _is_fresh(value: Value) -> bool:
    node = value.node
    return node is not None and bool(node.op.effects_of(node) & Effect.ALLOC)


def _hands_on(user: Node) -> bool:
    """Whether `user` may give its operand's memory another name or a holder that the graph can come to."""
    if user.op is RETURN:
        return False
    if user.op.is_terminator or user.blocks or user.effects & Effect.CALL:
        return True
    if len(written_operands(user)) < bool(user.effects & Effect.WRITE):
        return True
    if any(not is_immutable(v.type) for v in user.inputs) and user.effects & Effect.WRITE:
        return sum(not is_immutable(v.type) for v in user.inputs) > 1  # may be stored in the other
    return any(not is_immutable(out.type) for out in user.outputs)
