"""Sums of floats that loops carry: what they begin with, and what is added to them.

    s = 0.0
    for i in range(n):
        for k in range(m):
            s += a[i] * b[k]        # one sum under several names: all begin with 0.0, a[i] * b[k] is added

A sum of terms that are at most `t` stays within about ``2**55 * t``, however many there are: beyond that it is too
large for a term to change it. So it is a number, if all terms are.
"""

from __future__ import annotations

import math
from collections.abc import Iterator

import numpy as np

from ljit.ir import Node, Value
from ljit.ir.range_rules import FloatBounds
from ljit.ops.control import BREAK, CONTINUE, IF, LOOP, REGION, YIELD
from ljit.ops.ranges import float_bounds
from ljit.records import Record, made_by
from ljit.types import FLOAT, ScalarType, UnionType

__all__ = ["CarriedSum", "bounds_of_sum"]

_MAX_NAMES = 16
_FLOATS = {FLOAT, ScalarType(np.dtype(np.float64))}
_TOO_LARGE = 2.0**55


class CarriedSum(Record):
    """A sum by all its names, which loops carry and give: what it begins with, and its terms, each with a sign."""

    names: dict[Value, None] = made_by(factory=dict)
    first: list[Value] = made_by(factory=list)
    terms: list[tuple[int, Value]] = made_by(factory=list)

    @staticmethod
    def of(value: Value) -> CarriedSum | None:
        """The sum that a value is, if loops carry or give it, and nothing but additions changes it."""
        found = CarriedSum()
        if not is_carried(value):
            return None
        found.names[value] = None
        todo = [value]
        while todo:
            given = list(_given(todo.pop()))
            while given:
                todo += found._note(given.pop(), given)
            if len(found.names) > _MAX_NAMES:
                return None
        return found if all(map(_is_double, found.names)) else None

    def is_outside(self, value: Value) -> bool:
        """Whether a value is the same in all trips of the loops."""
        return not any(value.is_inside(_owner_of(name)) for name in self.names)

    def _note(self, value: Value, given: list[Value]) -> list[Value]:
        """Note what is given to a name; new names, and in `given` what is passed on."""
        node = value.node
        if not _is_double(value):
            self.first.append(value)
            return []
        if is_carried(value):
            is_new = value not in self.names
            self.names[value] = None
            return [value] if is_new else []
        rule = node.op.ranges.floats if node is not None and node.op.ranges is not None else None
        if node is not None and node.op is IF:
            ends = [block.terminator for block in node.blocks]
            given += [end.inputs[value.index] for end in ends if end.op is YIELD]
        elif node is not None and rule is float_bounds.of_first and node.inputs:
            given.append(node.inputs[0])
        elif node is not None and rule in _SIGNS and (at := _place(node, _SIGNS[rule])) is not None:
            given.append(node.inputs[at])
            self.terms.append((1 if at else _SIGNS[rule], node.inputs[1 - at]))
        else:
            self.first.append(value)
        return []


_SIGNS = {float_bounds.total: 1, float_bounds.difference: -1}


def _place(node: Node, sign: int) -> int | None:
    """Which operand of an addition a loop carries."""
    for at in (0, 1) if sign > 0 else (0,):
        value = node.inputs[at]
        if is_carried(value) or (value.node is not None and value.node.op is IF):
            return at
    return None


def is_carried(value: Value) -> bool:
    """Whether a loop carries or gives the value, but for its trips' number, or a region gives it."""
    node = value.node
    if node is not None:
        return node.op is REGION or (node.op is LOOP and len(node.blocks) == 1)
    loop = value.block.owner
    is_param = loop is not None and loop.op is LOOP and value.block is loop.blocks[0]
    return is_param and value.index > 0


def _owner_of(name: Value) -> Node:
    """The loop or region that carries or gives a value."""
    owner = name.node if name.node is not None else name.block.owner
    assert owner is not None
    return owner


def _given(value: Value) -> Iterator[Value]:
    """What comes to a name: all that a loop begins its trips, or ends, with; or that a region gives."""
    owner = _owner_of(value)
    body, is_param = owner.blocks[0], value.node is None
    index = value.index - 1 if is_param else value.index
    if is_param:
        yield owner.inputs[2 + index]
    elif owner.op is LOOP:
        yield body.params[1 + index]
    if body.terminator.op is YIELD and (is_param or owner.op is REGION):
        yield body.terminator.inputs[index]
    ends = CONTINUE if is_param else BREAK
    for inner in body.walk():
        if inner.op is ends and inner.target is owner:
            yield inner.inputs[index]


def _is_double(value: Value) -> bool:
    t = value.type
    return set(t.members if isinstance(t, UnionType) else (t,)) <= _FLOATS


def bounds_of_sum(first: list[FloatBounds], terms: list[tuple[int, FloatBounds]]) -> FloatBounds:
    """Bounds of a sum, by those of what it begins with and of its terms."""
    signed = [t if sign > 0 else (-t[1], -t[0], t[2]) for sign, t in terms]
    low, high = min(x[0] for x in first), max(x[1] for x in first)
    largest = max((max(-t[0], t[1]) for t in signed), default=0.0)
    most = max(-low, high, largest * _TOO_LARGE) + largest
    may_be_nan = any(x[2] for x in (*first, *signed)) or most == math.inf
    falls, rises = any(t[0] < 0.0 for t in signed), any(t[1] > 0.0 for t in signed)
    return -most if falls else low, most if rises else high, may_be_nan
