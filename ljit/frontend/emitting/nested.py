"""Nested functions, inlined where they are called.

Their variables get slots of their own at each call, their defaults are evaluated where they are defined,
and names of the enclosing function are read when the body runs, as through a cell. Where loops go through generators
at once, `generator_loops` inlines their functions; where else one is called, it becomes a value for that call.
"""

from __future__ import annotations

from collections.abc import Sequence

from ljit.frontend.emitting.emission import Emission, NestedFunction, Scope, emits
from ljit.frontend.emitting.functions import function_value
from ljit.frontend.trees import tree
from ljit.frontend.trees.scopes import Names, names_of
from ljit.ir import Value
from ljit.ops.control import RETURN
from ljit.source import SourceRange

__all__ = ["define", "function_scope", "inline_call", "inline_lambda", "refuse_generator"]

#: statements that neither return nor fail to fall through
_STRAIGHT = (tree.Assign, tree.AugAssign, tree.ExprStmt, tree.Assert, tree.Pass, tree.Delete)


def function_scope(
    e: Emission,
    parent: Scope | None,
    names: Names,
    slots: dict[str, str],
    cells: frozenset[str] = frozenset(),
) -> Scope:
    """Make the scope of a function with these names; functions in cells are values."""
    values = cells if e.inlines_generators else cells | names.generators
    return Scope(
        parent,
        slots,
        deleted=frozenset(names.deleted),
        inlinable=names.inlinable - values,
        generators=names.inlined_generators - values,
        escapes=names.escapes,
        settled=names.settled,
        rebound=frozenset(names.rebound),
    )


@emits(tree.Def)
def _definition(e: Emission, definition: tree.Def) -> None:
    define(e, definition.name, definition)


def define(e: Emission, name: str, definition: tree.Def) -> None:
    """Emit the definition of a nested function under a name: its defaults, or a function that is a value."""
    if name not in e.scope.inlinable:
        decorators = [e.expression(decorator) for decorator in definition.decorators]
        value = function_value(e, definition)
        for decorator, place in reversed([*zip(decorators, definition.decorators, strict=True)]):
            value = e.emit("py::call", decorator, value, where=place.range, kwnames=())
        e.store_name(name, value, definition.range)
        if name in e.scope.generators and not has_defaults(definition):
            e.scope.functions[name] = NestedFunction(definition, e.scope, {})
        return
    e.scope.functions[name] = _evaluate_defaults(e, definition)
    e.bound |= {e.scope.slots[name]}


def _evaluate_defaults(e: Emission, definition: tree.Def) -> NestedFunction:
    slots: dict[str, str] = {}
    params = definition.decl.params
    positional = [p for p in params if not p.keyword_only and p.has_name]
    for param in (*positional, *(p for p in params if p.keyword_only)):
        if param.default is not None:
            slots[param.name] = e.fresh_slot()
            e.store(slots[param.name], e.expression(param.default), param.range)
    if not definition.has_lazy_annotations:
        for annotation in (*(p.annotation for p in params), definition.decl.returns):
            if annotation is not None:
                e.expression(annotation)
    return NestedFunction(definition, e.scope, slots)


def has_defaults(definition: tree.Def) -> bool:
    return any(param.default is not None for param in definition.decl.params)


def inline_lambda(e: Emission, function: tree.Lambda, call: tree.Apply) -> Value:
    """Emit the call of a lambda expression."""
    return _inline(e, _evaluate_defaults(e, function.definition), call)


def inline_call(e: Emission, call: tree.Apply) -> Value:
    """Emit the call of a nested function by its name."""
    assert isinstance(call.function, tree.Var)
    found = e.find(call.function.name)
    assert found is not None
    scope, slot = found
    function = scope.functions.get(call.function.name)
    if function is None or slot not in e.bound:
        message = f"the nested function {call.function.name!r} may not be defined yet here"
        raise e.refused(f"{message}; define it at module level", call.range, found)
    return _inline(e, function, call)


def _inline(e: Emission, function: NestedFunction, call: tree.Apply) -> Value:
    definition = function.definition
    if definition in e.inlining:
        message = f"the nested function {definition.name!r} is recursive"
        raise e.refused(f"{message}; define it at module level", call.range, _variable(e, call))
    values = _bind_arguments(e, definition.decl.params, function, call)
    names = names_of(definition)
    refuse_generator(e, names)
    slots = {name: e.fresh_slot(name) for name in names.bound}
    scope = function_scope(e, function.scope, names, slots)
    outer = e.inlining
    e.inlining = (*outer, definition)
    with e.new_scope(scope, call.range):
        for param in definition.decl.params:
            value = values.get(param.name)
            if value is None:
                value = e.load(function.defaults[param.name], param.range)
            e.store_name(param.name, value, param.range)
        result = _body(e, definition)
    e.inlining = outer
    return result


def refuse_generator(e: Emission, names: Names) -> None:
    """Refuse a function with these names if it is a generator."""
    if names.yields:
        message = "a generator (yield) is not translated; return a list or an array"
        raise e.unsupported(message, names.yields[0].range)


def _body(e: Emission, definition: tree.Def) -> Value:
    """Emit the body; one that only returns at its end needs no Region."""
    *before, last = definition.body
    if isinstance(last, tree.Return) and all(isinstance(s, _STRAIGHT) for s in before):
        e.statements(before)
        return e.expression(last.value)
    with e.inlined_region(definition.range) as region:
        e.statements(definition.body)
    return region.output


def _bind_arguments(
    e: Emission, params: Sequence[tree.Param], function: NestedFunction, call: tree.Apply
) -> dict[str, Value]:
    """Emit the arguments in order and give them by parameter; a call that does not fit is refused."""
    positional = [p.name for p in params if not p.keyword_only and p.has_name]
    rest = next((p for p in params if p.takes_rest), None)
    if any(isinstance(argument, tree.Starred) for argument in call.arguments):
        raise _does_not_fit(e, function, call)
    if len(call.arguments) > len(positional) and rest is None:
        raise _does_not_fit(e, function, call)
    given = [e.expression(argument) for argument in call.arguments]
    values = dict(zip(positional, given, strict=False))
    if rest is not None:
        items = given[len(positional) :]
        values[rest.name] = e.emit("prim::TupleConstruct", *items, where=call.range)
    _bind_keywords(e, function, call, values)
    if not {p.name for p in params} <= values.keys() | function.defaults.keys():
        raise _does_not_fit(e, function, call)
    return values


def _bind_keywords(
    e: Emission, function: NestedFunction, call: tree.Apply, values: dict[str, Value]
) -> None:
    """Add the keyword arguments to `values`, those that no parameter is named after in a dict."""
    params = function.definition.decl.params
    by_keyword = {p.name for p in params if p.has_name and not p.positional_only}
    rest = next((p for p in params if p.takes_keywords), None)
    others: list[Value] = []
    for keyword in call.keywords:
        if not isinstance(keyword, tree.Keyword) or keyword.name in by_keyword & values.keys():
            raise _does_not_fit(e, function, call)
        if keyword.name in by_keyword:
            values[keyword.name] = e.expression(keyword.value)
        elif rest is not None:
            others += [e.constant(keyword.name, keyword.range), e.expression(keyword.value)]
        else:
            raise _does_not_fit(e, function, call)
    if rest is not None:
        values[rest.name] = e.emit("prim::DictConstruct", *others, where=call.range)


def _does_not_fit(e: Emission, function: NestedFunction, call: tree.Apply) -> Exception:
    message = f"the arguments do not fit the nested function {function.definition.name!r}"
    message = f"{message} (or are starred); define it at module level"
    return e.refused(message, call.range, _variable(e, call))


def _variable(e: Emission, call: tree.Apply) -> tuple[Scope, str] | None:
    """The variable that the function which is called is in, None for a lambda."""
    return e.find(call.function.name) if isinstance(call.function, tree.Var) else None


@emits(tree.Return)
def _return(e: Emission, statement: tree.Return) -> None:
    give_back(e, e.expression(statement.value), statement.range)


def give_back(e: Emission, value: Value, where: SourceRange) -> None:
    """Emit ``return value``."""

    def go_on(result: str) -> None:
        give_back(e, e.load(result, where), where)

    if e.goes_through_cleanup(e.region, "return", go_on, where, value):
        return
    if e.region is not None:
        e.leave(e.region, where, value)
    else:
        e.terminate(RETURN, (value,), where)
