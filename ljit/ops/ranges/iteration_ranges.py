"""What the range analysis is told of loops over views: which trips there are, and the ints that a range gives."""

from __future__ import annotations

from collections.abc import Iterator

from ljit.ir import Node, Value
from ljit.ir.linear import Linear
from ljit.ir.range_rules import RangeRules, Symbolic
from ljit.ops.ranges.int_bounds import packed_item
from ljit.ops.ranges.int_ranges import FITS, INSIDE
from ljit.packed_types import may_change
from ljit.types import (
    BYTES,
    INT,
    INT_MAX,
    INT_MIN,
    RANGE,
    STR,
    ArrayType,
    ListType,
    TupleType,
    Type,
    ViewType,
)

__all__ = ["NEXT_RANGES", "VIEW_SIZE_RANGES"]

#: of what may change its size in the loop: more than there is memory for
_MOST_ITEMS = 2**60
#: views whose trip k is that of their parts, or that of the first
_SIDE_BY_SIDE = ("zip", "enumerate", "reversed", "cursor")


def _parts(view: Value) -> list[Value]:
    """The operands of the op that made a view; none if it came from elsewhere."""
    node = view.node
    return list(node.inputs) if node is not None and isinstance(view.type, ViewType) else []


def _below(s: Symbolic, view: Value, k: Linear) -> Iterator[Linear]:
    """What is at least 0 where trip k takes place."""
    t = view.type
    if _has_items_in_memory(t):
        yield s.size(view, 0) - 1 - k
    elif isinstance(t, TupleType):
        yield s.constant(len(t.items) - 1) - k
    elif isinstance(t, ListType) or t == STR or may_change(t):
        yield _MOST_ITEMS - 1 - k
    elif t == RANGE:
        start, stop, step = (s.item(view, i) for i in range(3))
        sign = s.sign(step)
        if sign and not step.terms:
            yield (stop - start - step * k) * sign - 1
    elif isinstance(t, ViewType) and t.kind in _SIDE_BY_SIDE:
        parts = _parts(view)
        for part in parts if t.kind == "zip" else parts[:1]:
            if t.kind != "reversed" or not isinstance(part.type, ViewType):
                yield from _below(s, part, k)


def _next_value(s: Symbolic, node: Node, _index: int) -> Linear | None:
    view, k = node.inputs
    if view.type != RANGE:
        return None
    start, _, step = (s.item(view, i) for i in range(3))
    return None if step.terms else start + step * s.value(k)


def _next_item(s: Symbolic, node: Node, index: int) -> Linear | None:
    view, k = node.inputs
    if not isinstance(view.type, ViewType) or view.type.kind != "enumerate" or index != 0:
        return None
    parts = _parts(view)
    if not parts or isinstance(parts[0].type, ViewType):
        return None
    first = s.value(parts[1]) if len(parts) > 1 else s.constant(0)
    return first + s.value(k)


def _next_facts(s: Symbolic, node: Node) -> Iterator[Linear]:
    view, k = node.inputs
    if view.type == RANGE:
        start, stop, step = (s.item(view, i) for i in range(3))
        sign, x = s.sign(step), s.value(node.output)
        if sign:
            yield (x - start) * sign
            yield (stop - x) * sign - 1
    else:
        yield from _below(s, view, s.value(k))
        yield from _between_items(s, view, node.output)
        if isinstance(view.type, ViewType) and view.type.kind == "product":
            yield from _within_parts(s, view, node.output)


def _within_parts(s: Symbolic, view: Value, item: Value) -> Iterator[Linear]:
    """Where the ints of a combination lie: in the ranges, or below the sizes, that the view was made of."""
    for index, (start, stop, step) in enumerate(_ranges_of(s, view)):
        x, sign = s.item(item, index), s.sign(step)
        if sign:
            yield (x - start) * sign
            yield (stop - x) * sign - 1


def _ranges_of(s: Symbolic, view: Value) -> Iterator[tuple[Linear, Linear, Linear]]:
    """Start, stop and step of each part of a product; those of parts that are no ranges have no sign."""
    zero, one = s.constant(0), s.constant(1)
    operands = _parts(view)
    if len(operands) == 1 and isinstance(operands[0].type, TupleType) and _is_of_ranges(view.type):
        for index in range(len(operands[0].type.items)):  # of a shape
            yield zero, s.item(operands[0], index), one
        return
    for operand in operands:
        if operand.type == RANGE:
            yield s.item(operand, 0), s.item(operand, 1), s.item(operand, 2)
        elif operand.type == INT:
            yield zero, s.value(operand), one
        else:
            yield zero, zero, zero


def _is_of_ranges(t: Type) -> bool:
    return isinstance(t, ViewType) and set(t.parts) == {RANGE}


def _between_items(s: Symbolic, view: Value, item: Value) -> Iterator[Linear]:
    """Where the ints of a constant tuple lie: ``for dx in (-1, 0, 1)``, ``for dx, dy in ((1, 0), (0, 1))``."""
    items = view.constant if view.is_constant else ()
    if not isinstance(items, tuple) or not items:
        return
    columns = [(s.value(item), items)] if item.type == INT else []
    if isinstance(item.type, TupleType):
        columns = [(s.item(item, i), column) for i, column in enumerate(zip(*items, strict=True))]
    for number, column in columns:
        if all(type(i) is int for i in column):
            yield number - min(column)
            yield max(column) - number


def _has_items_in_memory(t: Type) -> bool:
    """Whether values of type `t` are arrays that have items, or bytes: of a size that stays."""
    return t == BYTES or (isinstance(t, ArrayType) and t.ndim > 0)


def _arrays(view: Value) -> list[Value]:
    """The arrays whose items a view gives: of zip and enumerate of arrays and ranges; none of others."""
    if _has_items_in_memory(view.type):
        return [view]
    if not isinstance(view.type, ViewType) or view.type.kind not in ("zip", "enumerate"):
        return []
    parts = _parts(view) if view.type.kind == "zip" else _parts(view)[:1]
    if any(isinstance(part.type, ViewType) for part in parts):
        return []
    return [part for part in parts if _has_items_in_memory(part.type)]


def _next_checks(s: Symbolic, node: Node) -> Iterator[tuple[str, Linear]]:
    view, k = node.inputs
    x = s.value(k)
    for array in _arrays(view):
        yield INSIDE, x
        yield INSIDE, s.size(array, 0) - 1 - x
    number = _next_item(s, node, 0)
    if number is not None:
        yield FITS, number - INT_MIN
        yield FITS, INT_MAX - number


def _size_of_row(s: Symbolic, node: Node, axis: int) -> Linear | None:
    array = node.inputs[0]
    return s.size(array, axis + 1) if isinstance(array.type, ArrayType) else None


NEXT_RANGES = RangeRules(
    size=_size_of_row,
    value=_next_value,
    bounds=packed_item,
    item=_next_item,
    facts=_next_facts,
    checks=_next_checks,
    is_complete=lambda node: node.inputs[0].type == RANGE,
)


def _size_checks(s: Symbolic, node: Node) -> Iterator[tuple[str, Linear]]:
    """The distance of the ends of a range bounds its length."""
    if node.inputs[0].type == RANGE:
        start, stop, step = (s.item(node.inputs[0], i) for i in range(3))
        sign = s.sign(step)
        if sign:
            yield FITS, INT_MAX - (stop - start) * sign


def _below_size(s: Symbolic, node: Node, k: Linear) -> Iterator[Linear]:
    """The number of trips says more than the end of a range with gaps, but hangs together with less."""
    view = node.inputs[0]
    if view.type == RANGE and abs(s.item(view, 2).constant) > 1:
        yield s.value(node.output) - 1 - k
    yield from _below(s, view, k)


VIEW_SIZE_RANGES = RangeRules(
    checks=_size_checks,
    below=_below_size,
    facts=lambda s, node: [s.value(node.output)],
    is_complete=lambda node: FITS in node.proven,
)
