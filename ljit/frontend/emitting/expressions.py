"""Names, literals, operators and access, in the order in which CPython evaluates them."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import groupby

from ljit.frontend.emitting.calls import (
    emit_attribute,
    load_outside,
    refuse_counting,
    refuse_frame_access,
)
from ljit.frontend.emitting.emission import Emission, emits
from ljit.frontend.emitting.folded import constant_items, folded_set
from ljit.frontend.emitting.functions import inlined_function
from ljit.frontend.trees import tree
from ljit.frontend.trees.tree import Tree
from ljit.ir import Value
from ljit.source import SourceRange

__all__: list[str] = []

_FOLDED_SET_SIZE = 3  # CPython puts the items of larger constant set displays into one constant


@emits(tree.Var)
def _variable(e: Emission, var: tree.Var) -> Value:
    found = e.find(var.name)
    if found is None:
        refuse_frame_access(e, var.name, var.range, has_arguments=True)
        return load_outside(e, var)
    scope, slot = found
    if var.name in scope.inlinable:
        return _generator_function(e, var)
    if slot not in e.bound:
        scope.unsure[slot] = None
    return e.load(slot, var.range, free=not e.is_own(scope))


def _generator_function(e: Emission, var: tree.Var) -> Value:
    """Emit the making of a nested generator function that is mostly inlined."""
    made = inlined_function(e, var.name)
    if made is not None:
        return made
    message = f"the generator function {var.name!r} may not be defined yet here"
    raise e.refused(f"{message}; define it at module level", var.range, e.find(var.name))


@emits(tree.Const)
def _constant(e: Emission, const: tree.Const) -> Value:
    return e.constant(const.value, const.range)


@emits(tree.NamedExpr)
def _named(e: Emission, named: tree.NamedExpr) -> Value:
    value = e.expression(named.value)
    e.store_name(named.name, value, named.range)
    return value


# -- text ------------------------------------------------------------------------------------------


@emits(tree.FormattedText)
def _formatted_text(e: Emission, text: tree.FormattedText) -> Value:
    if not text.parts:
        return e.constant("", text.range)
    parts = [e.expression(part) for part in text.parts]
    if len(parts) == 1:
        return parts[0]
    return e.emit("prim::join_str", *parts, where=text.range)


@emits(tree.FormattedValue)
def _formatted_value(e: Emission, field: tree.FormattedValue) -> Value:
    value = e.expression(field.value)
    spec = e.constant("", field.range) if field.spec is None else e.expression(field.spec)
    return e.emit("prim::format_value", value, spec, where=field.range, conversion=field.conversion)


# -- displays --------------------------------------------------------------------------------------


def _has_star(items: Sequence[Tree]) -> bool:
    return any(isinstance(item, tree.Starred) for item in items)


def starred_list(e: Emission, items: Sequence[Tree], where: SourceRange) -> Value:
    """Emit a list of items of which some are starred."""
    first = next(i for i, item in enumerate(items) if isinstance(item, tree.Starred))
    before = [e.expression(item) for item in items[:first]]
    made = e.emit("prim::ListConstruct", *before, where=where)
    for item in items[first:]:
        if isinstance(item, tree.Starred):
            e.effect("prim::list_extend", made, e.expression(item.value), where=where)
        else:
            e.effect("prim::list_append", made, e.expression(item), where=where)
    return made


@emits(tree.TupleLiteral)
def _tuple(e: Emission, literal: tree.TupleLiteral) -> Value:
    folded = constant_items(literal.items)
    if folded is not None:
        return e.constant(folded, literal.range)
    if _has_star(literal.items):
        return _starred_tuple(e, literal)
    values = [e.expression(item) for item in literal.items]
    return e.emit("prim::TupleConstruct", *values, where=literal.range)


def _starred_tuple(e: Emission, literal: tree.TupleLiteral) -> Value:
    """Emit a tuple of items of which some are starred: each of these, and the items up to the next, extend it."""
    where = literal.range
    made: Value | None = None
    for is_starred, items in groupby(literal.items, lambda item: isinstance(item, tree.Starred)):
        if is_starred:
            made = e.emit("prim::TupleConstruct", where=where) if made is None else made
            for item in items:
                assert isinstance(item, tree.Starred)
                made = e.emit("prim::tuple_extend", made, e.expression(item.value), where=where)
        else:
            run = e.emit("prim::TupleConstruct", *map(e.expression, items), where=where)
            made = run if made is None else e.emit("prim::tuple_extend", made, run, where=where)
    assert made is not None
    return made


@emits(tree.ListLiteral)
def _list(e: Emission, literal: tree.ListLiteral) -> Value:
    if _has_star(literal.items):
        return starred_list(e, literal.items, literal.range)
    values = [e.expression(item) for item in literal.items]
    return e.emit("prim::ListConstruct", *values, where=literal.range)


@emits(tree.SetLiteral)
def _set(e: Emission, literal: tree.SetLiteral) -> Value:
    where = literal.range
    folded = folded_set(e, literal) if len(literal.items) >= _FOLDED_SET_SIZE else None
    if folded is not None:
        made = e.emit("prim::SetConstruct", where=where)
        items = e.constant(folded, where)
        e.emit("py::call_method", made, items, where=where, name="update", kwnames=())
        return made
    first = next(
        (i for i, item in enumerate(literal.items) if isinstance(item, tree.Starred)),
        len(literal.items),
    )
    before = [e.expression(item) for item in literal.items[:first]]
    made = e.emit("prim::SetConstruct", *before, where=where)
    for item in literal.items[first:]:
        if isinstance(item, tree.Starred):
            items = e.expression(item.value)
            e.emit("py::call_method", made, items, where=where, name="update", kwnames=())
        else:
            e.effect("prim::set_add", made, e.expression(item), where=where)
    return made


# -- operators and access --------------------------------------------------------------------------


@emits(tree.BinOp)
def _binary(e: Emission, operation: tree.BinOp) -> Value:
    left = e.expression(operation.left)
    right = e.expression(operation.right)
    return e.emit(f"py::{operation.operator}", left, right, where=operation.range)


@emits(tree.UnaryOp)
def _unary(e: Emission, operation: tree.UnaryOp) -> Value:
    operand = e.expression(operation.operand)
    return e.emit(f"py::{operation.operator}", operand, where=operation.range)


@emits(tree.Select)
def _select(e: Emission, select: tree.Select) -> Value:
    refuse_counting(e, select)
    return emit_attribute(e, select)


@emits(tree.Subscript)
def _subscript(e: Emission, subscript: tree.Subscript) -> Value:
    value = e.expression(subscript.value)
    index = e.expression(subscript.index)
    return e.emit("py::getitem", value, index, where=subscript.range)


@emits(tree.SliceExpr)
def _slice(e: Emission, piece: tree.SliceExpr) -> Value:
    parts = [
        e.constant(None, piece.range) if part is None else e.expression(part)
        for part in (piece.start, piece.stop, piece.step)
    ]
    return e.emit("prim::SliceConstruct", *parts, where=piece.range)
