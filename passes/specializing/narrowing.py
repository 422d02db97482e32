"""What a condition says about the types of Unions: `x is None` is false, so `x` is a float."""

from __future__ import annotations

from collections.abc import Iterator

from ljit.ir import Block, Node, Value, get_op
from ljit.ops.control import IF, TYPE_IS, YIELD
from ljit.types import NEVER, ItemsType, Type, UnionType, join

__all__ = ["facts", "is_told", "overlap", "without"]


def without(type_: Type, other: Type) -> Type:
    """Give the type of the values of `type_` that are not of type `other`, or a wider one.

    >>> from ljit.types import FLOAT, INT
    >>> str(without(join(INT, FLOAT), INT)), str(without(INT, INT)), str(without(INT, FLOAT))
    ('float', 'Never', 'int')
    """
    if join(type_, other) == other:
        return NEVER
    if isinstance(type_, UnionType):
        rest: Type = NEVER
        for member in type_.members:
            if join(member, other) != other:
                rest = join(rest, member)
        return rest
    if isinstance(type_, ItemsType) and type_.is_like(other):
        return _tuple_without(type_, other)  # type: ignore[arg-type]
    return type_


def overlap(a: Type, b: Type) -> bool:
    """Whether a value can have both types, as far as Unions and tuples tell.

    >>> from ljit.types import FLOAT, INT
    >>> overlap(join(INT, FLOAT), INT), overlap(INT, FLOAT)
    (True, False)
    """
    if isinstance(a, ItemsType) and a.is_like(b):
        return all(map(overlap, a.items, b.items))  # type: ignore[attr-defined]
    members = [t.members if isinstance(t, UnionType) else (t,) for t in (a, b)]
    return not set(members[0]).isdisjoint(members[1])


def _tuple_without(type_: ItemsType, other: ItemsType) -> Type:
    """Only where one item alone decides whether a tuple is of the other type."""
    pairs = list(zip(type_.items, other.items, strict=True))
    open_ = [i for i, (item, excluded) in enumerate(pairs) if join(item, excluded) != excluded]
    if len(open_) != 1:
        return type_
    items = list(type_.items)
    items[open_[0]] = without(*pairs[open_[0]])
    return type_.with_items(items)


def facts(condition: Value, *, truth: bool) -> Iterator[tuple[Value, Type]]:
    """Give values and the types that they have where the condition is known to be `truth`."""
    node = condition.node
    if node is None:
        return
    if node.op is TYPE_IS:
        (value,) = node.inputs
        member = node.attrs["type"]
        assert isinstance(member, Type)
        yield value, member if truth else without(value.type, member)
    elif node.op is get_op("py::not"):
        yield from facts(node.inputs[0], truth=not truth)
    elif node.op is IF:
        yield from _facts_of_choice(node, node.outputs.index(condition), truth=truth)


def is_told(guard: Node) -> bool:
    """Whether the condition of the If around says that a guard holds."""
    choice = guard.block.owner if guard.block is not None else None
    if choice is None or choice.op is not IF:
        return False
    told = facts(choice.inputs[0], truth=guard.block is choice.blocks[0])
    return (guard.inputs[0], guard.output.type) in told


def _facts_of_choice(choice: Node, index: int, *, truth: bool) -> Iterator[tuple[Value, Type]]:
    """``a and b`` is true: both are. The branch that gives the constant False was not taken."""
    possible = [b for b in choice.blocks if _may_give(b, index, truth=truth)]
    if len(possible) != 1:
        return
    yield from facts(choice.inputs[0], truth=possible[0] is choice.blocks[0])
    yield from facts(possible[0].terminator.inputs[index], truth=truth)


def _may_give(block: Block, index: int, *, truth: bool) -> bool:
    end = block.terminator
    if end.op is not YIELD:
        return False
    value = end.inputs[index]
    return not value.is_constant or value.constant is truth
