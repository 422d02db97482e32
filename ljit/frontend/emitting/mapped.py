"""Calls of ``map`` and ``filter`` whose items are used one after the other: loops, as of generator expressions.

``sum(map(lambda x: x * x, xs))`` is ``sum((lambda x: x * x)(item) for item in xs)`` with the lambda inlined. Where
``map``, or the function that it is given, is not what it was when the graph was made, it is called.

Only functions of which the loop is faster than ``map`` are taken: lambdas, functions of Python code, and the builtins
that make numbers or characters of numbers and texts.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from inspect import CO_COROUTINE, CO_GENERATOR

from ljit.analysis.assumptions import python_function
from ljit.frontend.emitting.attempts import runs_no_code
from ljit.frontend.emitting.comprehensions import loop_over_items
from ljit.frontend.emitting.emission import Emission, Scope
from ljit.frontend.emitting.functions import function_value
from ljit.frontend.emitting.iteration import ItemLoop
from ljit.frontend.emitting.known_names import are_known, known_value
from ljit.frontend.trees import tree
from ljit.frontend.trees.tree import Tree
from ljit.ir import Value
from ljit.records import Record
from ljit.source import SourceRange

__all__ = [
    "MappedCall",
    "call_plainly",
    "evaluate_mapped",
    "function_in_variable",
    "gains",
    "loop_over_mapped",
    "mapped_items",
    "still_known",
    "takes",
]

#: names that no variable of a program has
_FUNCTION, _ITEM = "function of map", "item of map"


class MappedItems(Record):
    """A call of ``map`` or ``filter``, and the generator expression that gives the same."""

    call: tree.Apply
    known: object
    function: object  # that it is given; None for a lambda
    items: tree.Comprehension


class MappedCall(Record):
    """Such a call with its callee and its function evaluated; the function is None if it is a lambda."""

    mapped: MappedItems
    callee: Value
    function: Value | None


def mapped_items(e: Emission, iterable: Tree, where: SourceRange) -> MappedItems | None:
    """Give what the call maps or filters, if a loop can do it; `where` is the place of what uses the items."""
    match iterable:
        case tree.Apply(function=tree.Var() as callee, arguments=(function, *sources), keywords=()):
            known = known_value(e, callee)
        case _:
            return None
    is_map = known is map
    if not e.inlines_generators or not (is_map or (known is filter and len(sources) == 1)):
        return None
    if not sources or any(isinstance(argument, tree.Starred) for argument in iterable.arguments):
        return None
    given = None
    if isinstance(function, tree.Lambda):
        if not takes(function.definition, len(sources)):
            return None
    else:
        given = known_value(e, function)
        if not gains(given):
            return None
        function = tree.Var(function.range, _FUNCTION)
    variables = [tree.Var(where, f"{_ITEM} {i}") for i in range(len(sources))]
    value = tree.Apply(where, function, tuple(variables), ())
    target, source = _together(variables, sources, iterable.range)
    tests = () if is_map else (value,)
    generator = tree.Generator(iterable.range, target, source, tests)
    element = value if is_map else variables[0]
    items = tree.Comprehension(where, "generator", element, (generator,), where)
    return MappedItems(iterable, known, given, items)


def _together(
    variables: Sequence[tree.Var], sources: Sequence[Tree], where: SourceRange
) -> tuple[Tree, Tree]:
    """What a loop over all sources binds, and what it runs over."""
    if len(sources) == 1:
        return variables[0], sources[0]
    target = tree.TupleLiteral(where, tuple(variables))
    return target, tree.Apply(where, tree.Const(where, zip), tuple(sources), ())


def takes(definition: tree.Def, count: int) -> bool:
    """Whether the lambda has so many parameters, all of them plain."""
    params = definition.decl.params
    plain = [p for p in params if p.has_name and not p.keyword_only and p.default is None]
    return len(params) == len(plain) == count


def gains(function: object) -> bool:
    """Whether calls of it in a loop are native, mostly."""
    plain = python_function(function)
    if plain is None:
        return runs_no_code(function)
    return not plain.__code__.co_flags & (CO_GENERATOR | CO_COROUTINE)


def evaluate_mapped(e: Emission, mapped: MappedItems) -> MappedCall:
    """Emit the callee and the function that it is given."""
    callee = e.expression(mapped.call.function)
    function = mapped.call.arguments[0]
    if isinstance(function, tree.Lambda):
        return MappedCall(mapped, callee, None)
    return MappedCall(mapped, callee, e.expression(function))


@contextmanager
def function_in_variable(e: Emission, call: MappedCall) -> Iterator[None]:
    """Emit what calls the function of `map` by a variable: one that was read from a global one can be inlined."""
    if call.function is None:
        yield
        return
    slot, where = e.fresh_slot(), call.mapped.call.range
    with e.new_scope(Scope(e.scope, {_FUNCTION: slot}, has_frame=False), None):
        e.store(slot, call.function, where)
        yield


def still_known(e: Emission, call: MappedCall, *others: tuple[Value, object]) -> Value:
    """Ask whether the callee, the function and `others` are still what they were."""
    pairs = [*others, (call.callee, call.mapped.known)]
    if call.function is not None:
        pairs.append((call.function, call.mapped.function))
    return are_known(e, pairs, call.mapped.call.range)


def call_plainly(e: Emission, call: MappedCall, *, is_kept: bool) -> Value:
    """Emit the call itself; `is_kept` if variables may be bound again before all items were used."""
    mapped, function = call.mapped, call.function
    if function is None:
        made = mapped.call.arguments[0]
        assert isinstance(made, tree.Lambda)
        function = function_value(e, made.definition, is_kept=is_kept)
    sources = [e.expression(source) for source in mapped.call.arguments[1:]]
    where = mapped.call.range
    return e.emit("py::call", call.callee, function, *sources, where=where, kwnames=())


def loop_over_mapped(e: Emission, mapped: MappedItems, loop: ItemLoop) -> None:
    """Emit a ``for`` loop, with the function's body in it where it is the known one."""
    call = evaluate_mapped(e, mapped)

    def inline() -> Sequence[Value]:
        with function_in_variable(e, call):
            loop_over_items(e, mapped.items, loop)
        return ()

    def over_view() -> Sequence[Value]:
        before, e.inlines_generators = e.inlines_generators, False
        made = call_plainly(e, call, is_kept=True)
        loop.iterate(e.emit("prim::iter", made, where=loop.place))
        e.inlines_generators = before
        return ()

    e.branch(still_known(e, call), inline, over_view, loop.where)
