"""The specialiser's walk over named tuples: how they are made, and what is asked of them.

A named tuple is its items. ``Point(x, y)`` makes the items, without a call; fields are items at fixed places; what
`tuple` does with it, as unpacking and comparisons, is done with the plain tuple of its items. Each use checks that the
class still has what it was taken to have: classes change, if hardly ever.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from ljit.cpython.classes import found_in
from ljit.cpython.named_tuples import (
    count_of_fields,
    field_of,
    maker_of,
    makes_of_items,
    replaces_fields,
)
from ljit.ir import Block, Effect, Node, Value
from ljit.ops.containers.tuples import AS_NAMED, AS_TUPLE, TUPLE_CONSTRUCT, TUPLE_INDEX
from ljit.ops.members import CHECK_MEMBERS
from ljit.ops.python.types import NO_ATTRIBUTE
from ljit.passes.specializing.arguments import Own, arguments_of
from ljit.passes.specializing.call_writer import Walk
from ljit.passes.specializing.requests import Request
from ljit.types import NamedTupleType, ObjectType, TupleType

__all__ = ["NamedTuples", "is_named"]

_LOOKUP = "__getattribute__"
_MOST_STEPS = 40  # back to an earlier check


def is_named(value: Value) -> bool:
    """Whether it is a named tuple whose items are known one by one."""
    return isinstance(value.type, NamedTupleType)


class NamedTuples:
    """The part of a walk that handles named tuples; what gives None, or False, has left the node to others."""

    def __init__(self, walk: Walk) -> None:
        self.walk = walk

    def make(self, node: Node, cls: type, args: Sequence[Value]) -> bool:
        """``cls(...)``, if `cls` is a class of named tuples."""
        walk = self.walk
        if count_of_fields(cls) is None or walk.feedback.is_widened(node.id):
            return False
        maker, kwnames = maker_of(cls), node.attrs.get("kwnames", ())
        assert isinstance(kwnames, tuple)
        own = Own(0, ObjectType(cls))
        given = arguments_of(maker, [own, *args], kwnames, walk.out.constant_object)
        if given is None or not self._has(cls, ["__init__"], object):
            return False
        if any(walk.feedback.is_unstable(a.key) for a in given.assumptions):
            return False
        walk.out.effects = Effect.PURE
        for assumption in given.assumptions:
            walk.out.assume(assumption, node)
        self._check(node, cls, "__new__", "__init__")
        return self._finish(node, cls, [v for v in given.values if isinstance(v, Value)])

    def attribute(self, node: Node, receiver: Value) -> Value | None:
        """``x.name`` of a field."""
        type_, name = receiver.type, str(node.attrs["name"])
        if not isinstance(type_, NamedTupleType) or self.walk.feedback.is_widened(node.id):
            return None
        index = field_of(type_.cls, name)
        if index is None or index >= len(type_.items) or not self._has(type_.cls, [_LOOKUP], tuple):
            return None
        self.walk.out.effects = Effect.PURE
        self._check(node, type_.cls, name, _LOOKUP)
        return self._item(node, self.items(node, receiver), index)

    def method(self, node: Node, receiver: Value) -> object:
        """The function of ``x.name(...)`` that the class has, with a check that it still does."""
        type_, name = receiver.type, str(node.attrs["name"])
        if not isinstance(type_, NamedTupleType) or self.walk.feedback.is_widened(node.id):
            return None
        function = found_in(type_.cls, name)
        return function if self._has(type_.cls, [_LOOKUP], tuple) else None

    def check_method(self, node: Node, receiver: Value) -> None:
        """Check that the method still is what it was taken for."""
        assert isinstance(receiver.type, NamedTupleType)
        self._check(node, receiver.type.cls, str(node.attrs["name"]), _LOOKUP)

    def replace(self, node: Node, receiver: Value, args: Sequence[Value]) -> bool:
        """``x._replace(name=...)`` of fields."""
        type_, kwnames = receiver.type, node.attrs.get("kwnames", ())
        if not isinstance(type_, NamedTupleType) or not replaces_fields(
            self.method(node, receiver)
        ):
            return False
        assert isinstance(kwnames, tuple)
        fields: Any = found_in(type_.cls, "_fields")
        is_usual = self._has(type_.cls, ["__iter__"], tuple) and type(fields) is tuple
        if not is_usual or not makes_of_items(found_in(type_.cls, "_make")):
            return False
        has_all = len(fields) == len(type_.items) and set(kwnames).issubset(fields)
        if not has_all or len(args) != len(kwnames):
            return False
        self.walk.out.effects = Effect.PURE
        self.check_method(node, receiver)
        self._check(node, type_.cls, "_make", "__iter__")
        items, others = self.items(node, receiver), dict(zip(kwnames, args, strict=True))
        return self._finish(
            node,
            type_.cls,
            [others.get(f) or self._item(node, items, k) for k, f in enumerate(fields)],
        )

    def operation(self, node: Node, operands: Sequence[Value]) -> list[Value] | None:
        """An operation on named tuples as the one on plain ones, if it is that of `tuple` and has native code."""
        special = node.op.special
        assert special is not None
        types_ = [
            TupleType(t.items) if isinstance(t := v.type, NamedTupleType) else t for v in operands
        ]
        if not any(map(is_named, operands)) or not node.op.has_lowering(types_, node.attrs):
            return None
        names = [n for n in (special.name, special.reflected, special.in_place) if n is not None]
        self.walk.out.effects = Effect.PURE
        plain = [self._plain(node, names, v) for v in operands]
        if any(map(is_named, plain)):
            return None
        return self.walk.apply(Request(node.op, tuple(plain), node.attrs), node)

    def iterated(self, node: Node, value: Value) -> Value:
        """What ``iter(value)`` goes through: the plain tuple of a named one."""
        return self._plain(node, ["__iter__"], value)

    def items(self, node: Node, value: Value) -> Value:
        """The plain tuple with the items of a named one."""
        made = value.made_by(AS_NAMED)
        if made is not None:
            return made.inputs[0]
        results = self.walk.apply(Request(AS_TUPLE, (value,), {}), node)
        assert results is not None
        return results[0]

    def _plain(self, node: Node, names: Sequence[str], value: Value) -> Value:
        type_ = value.type
        if not isinstance(type_, NamedTupleType) or names[0] not in vars(tuple):
            return value
        if self.walk.feedback.is_widened(node.id) or not self._has(type_.cls, names, tuple):
            return value
        self._check(node, type_.cls, *names)
        return self.items(node, value)

    def _item(self, node: Node, items: Value, index: int) -> Value:
        made = items.made_by(TUPLE_CONSTRUCT)
        if made is not None:
            return made.inputs[index]
        results = self.walk.apply(Request(TUPLE_INDEX, (items,), {"index": index}), node)
        assert results is not None
        return results[0]

    def _finish(self, node: Node, cls: type, items: Sequence[Value]) -> bool:
        made = self.walk.apply(Request(TUPLE_CONSTRUCT, tuple(items), {}), node)
        named = made and self.walk.apply(Request(AS_NAMED, tuple(made), {"cls": cls}), node)
        self.walk.finish(node, named or ())
        return True

    def _has(self, cls: type, names: Iterable[str], owner: type) -> bool:
        """Whether a class has what `owner` has under the names."""
        return all(found_in(cls, name) is vars(owner).get(name) for name in names)

    def _check(self, node: Node, cls: type, *names: str) -> None:
        """Leave native code unless the class has what it has now under the names."""
        out = self.walk.out
        found = [(name, found_in(cls, name)) for name in dict.fromkeys(names)]
        members = tuple((name, NO_ATTRIBUTE if x is None else x) for name, x in found)
        if not _is_checked(out.block, cls, members):
            out.append(CHECK_MEMBERS, (), {"cls": cls, "members": members}, like=node)


def _is_checked(block: Block, cls: type, members: Sequence[tuple[str, object]]) -> bool:
    """Whether a block ends with a check of the class, and what changes no classes."""
    node = block.last
    for _ in range(_MOST_STEPS):
        if node is None or node.blocks or node.effects & Effect.CALL:
            return False
        if node.op is CHECK_MEMBERS and node.attrs["cls"] is cls:
            checked: Any = node.attrs["members"]
            if set(map(_key, members)).issubset(map(_key, checked)):
                return True
        node = node.prev
    return False


def _key(member: tuple[str, object]) -> tuple[str, int]:
    return member[0], id(member[1])
