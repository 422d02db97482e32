"""Nested functions and generator expressions that are values: functions and generators made of CPython's code.

They hold the values that the variables around have where they are made. That is right for variables that are bound
once, and for generators that are used up at once.
"""

from __future__ import annotations

from types import CellType

from ljit.frontend import tree
from ljit.frontend.emission import Emission, emits
from ljit.frontend.emit_iteration import place_of_iterator
from ljit.frontend.function_code import FunctionMaker, find_code
from ljit.frontend.tree import Tree
from ljit.ir import Value
from ljit.source import SourceRange

__all__ = ["function_value", "generator_value", "parts_of"]


@emits(tree.Lambda)
def _lambda(e: Emission, expression: tree.Lambda) -> Value:
    return function_value(e, expression.definition)


def function_value(e: Emission, definition: tree.Def) -> Value:
    """Emit the making of a nested function: its defaults, then the function."""
    decl = definition.decl
    if decl.returns is not None or any(p.annotation is not None for p in decl.params):
        raise _refused(e, definition.name, "annotations are not translated", definition.range)
    with_default = [p for p in decl.params if p.default is not None]
    positional = [p for p in with_default if not p.keyword_only]
    by_keyword = [p for p in with_default if p.keyword_only]
    values = [e.expression(p.default) for p in (*positional, *by_keyword) if p.default is not None]
    names = tuple([p.name for p in by_keyword])
    return _function(e, definition.name, definition, values, len(positional), names)


def generator_value(e: Emission, generator: tree.Comprehension, *, is_kept: bool = True) -> Value:
    """Emit the making of a generator; `is_kept` if it may be used later than at once."""
    where = generator.range
    source = generator.generators[0].iterable
    place = place_of_iterator(source, where)
    iterate = e.constant(iter, place)
    iterator = e.emit("py::call", iterate, e.expression(source), where=place, kwnames=())
    function = _function(e, "<genexpr>", generator, [], is_kept=is_kept)
    return e.emit("py::call", function, iterator, where=where, kwnames=())


def _function(
    e: Emission,
    name: str,
    expression: Tree,
    values: list[Value],
    defaults: int = 0,
    keyword_defaults: tuple[str, ...] = (),
    *,
    is_kept: bool = True,
) -> Value:
    where = expression.range
    code = find_code(e.function.__code__, name, where)
    if code is None or any(isinstance(part, tree.NamedExpr) for part in parts_of(expression)):
        raise _refused(e, name, "this expression is not translated", where)
    cells: list[CellType | None] = []
    variables: list[Value] = []
    own = dict(zip(e.function.__code__.co_freevars, e.function.__closure__ or (), strict=True))
    for variable in code.co_freevars:
        found = e.find(variable)
        if found is None and variable in own:
            cells.append(own[variable])
            continue
        if found is None or found[1] not in e.bound or variable in found[0].inlinable:
            problem = f"{variable!r} is a nested function, or may be unbound where it is used"
            raise _refused(e, name, problem, where)
        if is_kept and variable not in found[0].settled:
            raise _refused(e, name, f"{variable!r} may be bound again after its use", where)
        cells.append(None)
        variables.append(e.load(found[1], where, free=not e.is_own(found[0])))
    maker = FunctionMaker(code, e.function.__globals__, tuple(cells), defaults, keyword_defaults)
    return e.emit(
        "py::call", e.constant(maker, where), *variables, *values, where=where, kwnames=()
    )


def _refused(e: Emission, name: str, problem: str, where: SourceRange) -> Exception:
    if name == "<genexpr>":
        message = f"{problem}, in a generator expression; write a list comprehension"
    elif name == "<lambda>":
        message = (
            f"{problem}, in a lambda that is not called directly; define a function at module level"
        )
    else:
        message = f"{problem}, in the nested function {name!r}; define it at module level"
    return e.unsupported(message, where)


def parts_of(expression: Tree) -> list[Tree]:
    """Give a tree and all that is in it."""
    found = [expression]
    for part in found:
        found += [child for child in part.children if isinstance(child, Tree)]
    return found
