"""What can stand on the left: assignment, augmented assignment, del."""

from __future__ import annotations

from ljit.frontend.emitting.emission import Emission, emits
from ljit.frontend.emitting.known_names import imported_value, likely_value
from ljit.frontend.emitting.nested import define
from ljit.frontend.trees import tree
from ljit.frontend.trees.tree import Tree
from ljit.ir import Value, get_op
from ljit.ops.control import UNINITIALIZED

__all__ = ["assign"]

_FORM = ("shape", "strides", "dtype")  # what says what an array is


def assign(e: Emission, target: Tree, value: Value) -> None:
    """Emit ``target = value``."""
    where = target.range
    match target:
        case tree.Var():
            e.store_name(target.name, value, where)
        case tree.Select():
            receiver = e.expression(target.value)
            _set_attribute(e, target, receiver, value)
        case tree.Subscript():
            container = e.expression(target.value)
            index = e.expression(target.index)
            e.effect("py::setitem", container, index, value, where=where)
        case tree.TupleLiteral() | tree.ListLiteral():
            _unpack(e, target, value)
        case _:
            raise AssertionError(target.kind)


def _set_attribute(e: Emission, target: tree.Select, receiver: Value, value: Value) -> None:
    """Emit ``x.name = value``; a variable is the array anew once its shape was set: what was known of it is over."""
    where = target.range
    match target.value:
        case tree.Var(name=name) if name in e.scope.slots and target.name in _FORM:
            seen = e.emit("prim::set_form", receiver, value, where=where, name=target.name)
            e.store_name(name, seen, where)
        case _:
            e.effect("py::setattr", receiver, value, where=where, name=target.name)


def _unpack(e: Emission, target: tree.TupleLiteral | tree.ListLiteral, value: Value) -> None:
    items = target.items
    star = next((i for i, item in enumerate(items) if isinstance(item, tree.Starred)), None)
    attrs = {"count": len(items), "star": star}
    node = e.node(get_op("prim::Unpack"), (value,), target.range, attrs)
    for item, part in zip(items, node.outputs, strict=True):
        assign(e, item.value if isinstance(item, tree.Starred) else item, part)


@emits(tree.Assign)
def _assign(e: Emission, statement: tree.Assign) -> None:
    targets, value = statement.targets, statement.value
    if value is None:
        _declare(e, targets[0])
        return
    if isinstance(value, tree.Lambda) and isinstance(targets[0], tree.Var) and len(targets) == 1:
        define(e, targets[0].name, value.definition)
        return
    if len(targets) == 1 and _is_swap(targets[0], value):
        assert isinstance(targets[0], tree.TupleLiteral | tree.ListLiteral)
        assert isinstance(value, tree.TupleLiteral)
        parts = [(e.expression(item), likely_value(e, item)) for item in value.items]
        for target, (part, likely) in zip(targets[0].items, parts, strict=True):
            assign(e, target, part)
            _remember(e, target, likely)
        return
    result, likely = e.expression(value), likely_value(e, value)
    for target in targets:
        assign(e, target, result)
        _remember(e, target, likely)


def _remember(e: Emission, target: Tree, value: object) -> None:
    """Note what a variable of the function is bound to, if that is known."""
    found = e.find(target.name) if isinstance(target, tree.Var) and value is not None else None
    if found is not None:
        e.likely[found[1]] = value


def _declare(e: Emission, target: Tree) -> None:
    """Emit ``target: annotation``, which evaluates the parts of the target."""
    if isinstance(target, tree.Select | tree.Subscript):
        for part in target.children:
            e.expression(part)


def _is_swap(target: Tree, value: Tree) -> bool:
    """Whether both are tuples of the same length: no tuple needs to be made."""
    return (
        isinstance(target, tree.TupleLiteral | tree.ListLiteral)
        and isinstance(value, tree.TupleLiteral)
        and len(target.items) == len(value.items)
        and not any(isinstance(x, tree.Starred) for x in (*target.items, *value.items))
    )


@emits(tree.Import)
def _import(e: Emission, statement: tree.Import) -> None:
    where = statement.range
    attrs = {"name": statement.module, "names": statement.names, "level": statement.level}
    module = e.emit("prim::import_module", where=where, scope=e.function, **attrs)
    for target, path in zip(statement.targets, statement.paths, strict=True):
        value = module
        for name in path:
            value = e.emit("prim::import_from", value, where=where, name=name)
        assign(e, target, value)
        _remember(e, target, imported_value(e.function, statement, path))


@emits(tree.Outside)
def _outside(e: Emission, statement: tree.Outside) -> None:
    """Emit nothing: names that a function declares are not among its own."""
    if statement.is_global:
        for name in statement.names:
            if e.find(name) is not None or e.is_free(name):
                message = f"global {name} is not translated where a function around has a {name}"
                raise e.unsupported(f"{message}; give one of them another name", statement.range)


@emits(tree.AugAssign)
def _augmented_assign(e: Emission, statement: tree.AugAssign) -> None:
    target, where = statement.target, statement.range
    op = f"py::{statement.operator}"
    match target:
        case tree.Select():
            receiver = e.expression(target.value)
            old = e.emit("py::getattr", receiver, where=target.range, name=target.name)
            new = e.emit(op, old, e.expression(statement.value), where=where)
            _set_attribute(e, target, receiver, new)
        case tree.Subscript():
            container = e.expression(target.value)
            index = e.expression(target.index)
            old = e.emit("py::getitem", container, index, where=target.range)
            new = e.emit(op, old, e.expression(statement.value), where=where)
            e.effect("py::setitem", container, index, new, where=target.range)
        case _:
            old = e.expression(target)
            assign(e, target, e.emit(op, old, e.expression(statement.value), where=where))


@emits(tree.Delete)
def _delete(e: Emission, statement: tree.Delete) -> None:
    for target in statement.targets:
        _delete_target(e, target)


def _delete_target(e: Emission, target: Tree) -> None:
    where = target.range
    match target:
        case tree.Var():
            if e.find(target.name) is None:
                message = "del of a global or nonlocal variable is not translated"
                raise e.unsupported(f"{message}; let it be None instead", where)
            e.expression(target)  # raises if there is nothing to delete
            e.store_name(target.name, e.node(UNINITIALIZED, (), where).output, where)
        case tree.Select():
            receiver = e.expression(target.value)
            e.effect("py::delattr", receiver, where=where, name=target.name)
        case tree.Subscript():
            container = e.expression(target.value)
            index = e.expression(target.index)
            e.effect("py::delitem", container, index, where=where)
        case _:
            for item in target.children:
                _delete_target(e, item)
