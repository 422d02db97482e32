"""Nested functions and generator expressions that are values: functions and generators made of CPython's code.

They hold the values that the variables around have where they are made. That is right for variables that are bound
once, and for generators that are used up at once. Other variables of the function itself are in cells, too: it
writes them there as well, and reads its own values, but for those that nested functions bind again (``nonlocal``).
"""

from __future__ import annotations

from collections.abc import Mapping
from types import CellType, FunctionType

from ljit.frontend.emitting.emission import Emission, Scope, emits
from ljit.frontend.emitting.iteration import place_of_iterator
from ljit.frontend.function_code import find_annotations, find_code, find_code_of_constant
from ljit.frontend.trees import tree
from ljit.frontend.trees.scopes import names_of
from ljit.frontend.trees.tree import Tree
from ljit.frontend.trees.tree_base import parts_of
from ljit.ir import Value
from ljit.source import SourceRange

__all__ = ["function_value", "generator_value", "inlined_function"]


@emits(tree.Lambda)
def _lambda(e: Emission, expression: tree.Lambda) -> Value:
    return function_value(e, expression.definition)


def function_value(
    e: Emission,
    definition: tree.Def,
    *,
    is_kept: bool = True,
    is_seen: bool = True,
    evaluated: Mapping[str, str] | None = None,
) -> Value:
    """Emit the making of a nested function: its defaults and annotations, then the function.

    `is_kept` if it may be called later, `is_seen` if it is more than called, `evaluated` are slots of defaults.
    """
    decl = definition.decl
    with_default = [p for p in decl.params if p.default is not None]
    positional = [p for p in with_default if not p.keyword_only]
    by_keyword = [p for p in with_default if p.keyword_only]
    values = [_default(e, p, evaluated or {}) for p in (*positional, *by_keyword)]
    defaults = _tuple(e, values[: len(positional)], definition.range)
    annotations = _annotations(e, definition) if is_seen else []
    made = _function(e, definition.name, definition, defaults, is_kept=is_kept)
    if annotations:
        by_name = e.emit("prim::DictConstruct", *annotations, where=definition.range)
        e.effect("py::setattr", made, by_name, where=definition.range, name="__annotations__")
    if by_keyword:
        names = [e.constant(p.name, p.range) for p in by_keyword]
        pairs = [x for pair in zip(names, values[len(positional) :], strict=True) for x in pair]
        by_name = e.emit("prim::DictConstruct", *pairs, where=definition.range)
        e.effect("py::setattr", made, by_name, where=definition.range, name="__kwdefaults__")
    return made


def _default(e: Emission, param: tree.Param, evaluated: Mapping[str, str]) -> Value:
    if param.name in evaluated:
        return e.load(evaluated[param.name], param.range)
    assert param.default is not None
    return e.expression(param.default)


def _annotations(e: Emission, definition: tree.Def) -> list[Value]:
    """Emit the names and values of the annotations, in CPython's order; as texts if nothing evaluates them."""
    params, returns, where = definition.decl.params, definition.decl.returns, definition.range
    in_order = sorted(
        params, key=lambda p: 3 if p.takes_keywords else p.takes_rest + 2 * p.keyword_only
    )
    trees = {p.name: p.annotation for p in in_order if p.annotation is not None}
    if returns is not None:
        trees["return"] = returns
    names = [e.constant(name, where) for name in trees]
    if definition.has_lazy_annotations:
        texts = find_annotations(e.function.__code__, tuple(trees)) if trees else ()
        if texts is None:
            raise _refused(e, definition.name, "annotations are not translated", where)
        values = [e.constant(text, where) for text in texts]
    else:
        values = [e.expression(annotation) for annotation in trees.values()]
    return [value for pair in zip(names, values, strict=True) for value in pair]


def generator_value(e: Emission, generator: tree.Comprehension, *, is_kept: bool = True) -> Value:
    """Emit the making of a generator; `is_kept` if it may be used later than at once."""
    where = generator.range
    source = generator.generators[0].iterable
    place = place_of_iterator(source, where)
    iterator = _call(e, iter, e.expression(source), where=place)
    function = _function(e, "<genexpr>", generator, is_kept=is_kept)
    return e.emit("py::call", function, iterator, where=where, kwnames=())


def _function(
    e: Emission, name: str, expression: Tree, defaults: Value | None = None, *, is_kept: bool = True
) -> Value:
    where = expression.range
    code = find_code(e.function.__code__, name, where, _body_of(expression))
    if code is None and (constant := _constant_of(expression)) is not None:
        code = find_code_of_constant(e.function.__code__, constant.value, where)
    if code is None:
        raise _refused(e, name, "this expression is not translated", where)
    assigned = {part.name for part in parts_of(expression) if isinstance(part, tree.NamedExpr)}
    own = dict(zip(e.function.__code__.co_freevars, e.function.__closure__ or (), strict=True))
    cells: list[Value] = []
    for variable in code.co_freevars:
        found = e.find(variable)
        if found is None and variable in own:
            cells.append(e.constant(own[variable], where))
            continue
        if found is not None and found[1] in e.cells:
            cells.append(e.load(e.cells[found[1]], where))
            continue
        if variable in assigned:
            raise _refused(e, name, f"{variable!r} is bound by :=", where, found)
        nested = inlined_function(e, variable, is_kept=is_kept)
        if nested is not None:
            cells.append(_call(e, CellType, nested, where=where))
            continue
        if found is None or found[1] not in e.bound or variable in found[0].inlinable:
            problem = f"{variable!r} is a nested function, or may be unbound where it is used"
            raise _refused(e, name, problem, where, found)
        if is_kept and variable not in found[0].settled:
            problem = f"{variable!r} may be bound again after its use"
            raise _refused(e, name, problem, where, found)
        value = e.load(found[1], where, free=not e.is_own(found[0]))
        cells.append(_call(e, CellType, value, where=where))
    parts = [e.constant(part, where) for part in (code, e.function.__globals__, None)]
    none = e.constant(None, where)
    return _call(
        e, FunctionType, *parts, defaults or none, _tuple(e, cells, where) or none, where=where
    )


def inlined_function(e: Emission, variable: str, *, is_kept: bool = True) -> Value | None:
    """Make a nested function, which is inlined elsewhere, for code that CPython runs; None if it cannot be.

    There is no telling it from the one that was defined: it is called only, and binds no variables around.
    """
    found = e.find(variable)
    function = found[0].functions.get(variable) if found is not None else None
    if found is None or function is None or found[1] not in e.bound:
        return None
    definition = function.definition
    if variable not in found[0].inlinable or definition in e.inlining:
        return None
    names = names_of(definition)
    if names.outside or names.rebound:
        return None
    before = e.scope, e.inlining
    e.scope, e.inlining = function.scope, (*e.inlining, definition)
    made = function_value(
        e, definition, is_kept=is_kept, is_seen=False, evaluated=function.defaults
    )
    e.scope, e.inlining = before
    return made


def _body_of(expression: Tree) -> SourceRange:
    """Where the instructions of a nested function or generator stand, as far as it is told from its defaults' ones."""
    match expression:
        case tree.Def(name="<lambda>", body=(tree.Return(range=body),)):
            return body
    return expression.range


def _constant_of(expression: Tree) -> tree.Const | None:
    """What a ``lambda: 5`` gives; None if it gives anything else."""
    match expression:
        case tree.Def(name="<lambda>", body=(tree.Return(value=tree.Const() as constant),)):
            return constant
    return None


def _call(e: Emission, function: object, *operands: Value, where: SourceRange) -> Value:
    callee = e.constant(function, where)
    return e.emit("py::call", callee, *operands, where=where, kwnames=())


def _tuple(e: Emission, items: list[Value], where: SourceRange) -> Value | None:
    return e.emit("prim::TupleConstruct", *items, where=where) if items else None


def _refused(
    e: Emission,
    name: str,
    problem: str,
    where: SourceRange,
    variable: tuple[Scope, str] | None = None,
) -> Exception:
    if name == "<genexpr>":
        message = f"{problem}, in a generator expression; write a list comprehension"
    elif name == "<lambda>":
        message = (
            f"{problem}, in a lambda that is not called directly; define a function at module level"
        )
    else:
        message = f"{problem}, in the nested function {name!r}; define it at module level"
    return e.refused(message, where, variable)
