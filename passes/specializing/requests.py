"""Operations that are to be emitted, and how the arguments of a call become operands and attributes of an op."""

from __future__ import annotations

import types
from collections.abc import Callable, Mapping, Sequence, Set
from typing import Protocol

from ljit.ir import OpDef, Schema, Value
from ljit.passes.specializing.library import Objects
from ljit.records import Record

__all__ = ["Constants", "Request", "bind", "ways_of_giving"]


class Request(Record, eq=True, frozen=False):
    """One operation to be emitted."""

    op: OpDef
    inputs: tuple[Value, ...]
    attrs: Mapping[str, object]

    def __init__(self, op: OpDef, inputs: tuple[Value, ...], attrs: Mapping[str, object]) -> None:
        self.op = op
        self.inputs = inputs
        self.attrs = attrs


class Constants(Objects, Protocol):
    """What resolving needs from the specialiser."""

    def constant(self, value: object) -> Value:
        """Make (or reuse) a constant value."""

    def is_widened(self) -> bool:
        """Whether a check of the node has failed."""

    def module_attribute(self, module: types.ModuleType, name: str) -> Value | None:
        """Give the attribute as a constant, guarded against change; None if that is not possible."""

    def items_of(self, value: Value) -> Value | None:
        """Give the items of a list that was just made, and nobody has seen, as a tuple."""

    def places_of(self, index: Value) -> Value | None:
        """Give an index with arrays of ints for such lists of ints; None if it has none."""

    def array_of(self, value: Value, accepts: Callable[[Value], bool]) -> Value | None:
        """Give the items of such a list as an array, if all are accepted."""


def bind(
    op: OpDef, args: Sequence[Value], kwnames: Sequence[str], constants: Constants
) -> Request | None:
    """Bind call arguments to the op's schema by Python's rules; None if they do not fit.

    Keyword-only parameters of the schema are attributes and must be constants. What `OpDef.parameters` names and the
    schema does not have must not be given.
    """
    schema = op.schema
    positional = args[: len(args) - len(kwnames)]
    keywords = dict(zip(kwnames, args[len(positional) :], strict=True))
    if schema.variadic is not None:
        return _bind_variadic(op, positional, keywords)
    by_position, by_keyword = ways_of_giving(op)
    if len(positional) > len(by_position):
        return None
    given = dict(zip(by_position, positional, strict=False))
    if given.keys() & keywords.keys() or not keywords.keys() <= by_keyword:
        return None
    given.update(keywords)
    if not given.keys() <= {*schema.positional, *schema.keyword_only}:
        return None
    attrs = _attributes(schema, given)
    if attrs is None:
        return None
    inputs = _operands(op, given, constants)
    return Request(op, inputs, attrs) if inputs is not None else None


def ways_of_giving(op: OpDef) -> tuple[Sequence[str], Set[str]]:
    """Which parameters a call may give by position, in this order, and which by name."""
    order = op.parameters or (*op.schema.positional, *op.schema.keyword_only)
    only = order[: order.index("/")] if "/" in order else op.schema.positional_only
    by_position = order[: order.index("*")] if "*" in order else order
    names = [name for name in by_position if name != "/"]
    return names, set(order).difference(only, "/*")


def _bind_variadic(
    op: OpDef, positional: Sequence[Value], keywords: Mapping[str, Value]
) -> Request | None:
    if not keywords.keys() <= set(op.schema.keyword_only):
        return None
    if len(positional) < len(op.schema.positional):
        return None
    attrs = _attributes(op.schema, keywords)
    return Request(op, tuple(positional), attrs) if attrs is not None else None


def _attributes(schema: Schema, given: Mapping[str, Value]) -> dict[str, object] | None:
    attrs: dict[str, object] = {}
    for name in schema.keyword_only:
        if name in given:
            if not given[name].is_constant:
                return None
            attrs[name] = given[name].constant
        elif name not in schema.defaults:
            return None
    return attrs


def _operands(
    op: OpDef, given: Mapping[str, Value], constants: Constants
) -> tuple[Value, ...] | None:
    """The operands in schema order; missing ones in front of a given one become their defaults."""
    names = op.schema.positional
    last = max((i for i, name in enumerate(names) if name in given), default=-1)
    operands: list[Value] = []
    for i, name in enumerate(names):
        if name in given:
            operands.append(given[name])
        elif name not in op.schema.defaults:
            return None
        elif i < last:
            operands.append(constants.constant(op.schema.defaults[name]))
    return tuple(operands)
