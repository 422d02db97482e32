"""Calls of ``map``, ``filter``, ``accumulate`` and the like whose items are used one after the other: loops.

``sum(map(lambda x: x * x, xs))`` is ``sum((lambda x: x * x)(item) for item in xs)`` with the lambda inlined, and
``max(accumulate(xs))`` is ``max((total := total + item if has_total else item) for item in xs)``;
``combinations(xs, 2)`` is ``(pool[i], pool[j]) for i in range(len(pool)) for j in range(i + 1, len(pool))`` with the
items as they are then. Where ``map``, or the function that it is given, is not what it was when the graph was made, it
is called.

Only functions of which the loop is faster than ``map`` are taken: lambdas, functions of Python code, and the builtins
that make numbers or characters of numbers and texts.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from inspect import CO_COROUTINE, CO_GENERATOR
from itertools import (
    accumulate,
    chain,
    combinations,
    combinations_with_replacement,
    pairwise,
    permutations,
    product,
)
from typing import cast

from ljit.analysis.assumptions import python_function
from ljit.frontend.emitting.attempts import runs_no_code
from ljit.frontend.emitting.comprehensions import LoopOver, loop_over_items, loops_over
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
_TOTAL, _HAS_TOTAL = "total", "whether there is a total"
_BEFORE, _HAS_BEFORE = "item before", "whether there is an item before"
_POOL, _SOURCE = "items to be combined", "what gives the items"

_MOST_COMBINED = 4  # items: as many loops


class MappedItems(Record):
    """A call of ``map``, ``filter``, ``accumulate`` and the like, and the generator expression that gives the same.

    `place`: which argument the function is, None without one. `variables`: names of variables of the expression's own,
    and what they are at first. `pools`: what gives the items that are combined.
    """

    call: tree.Apply
    known: object
    function: object  # that it is given; None for a lambda
    items: tree.Comprehension
    place: int | None = 0
    variables: tuple[tuple[str, object], ...] = ()
    pools: tuple[Tree, ...] = ()


class MappedCall(Record):
    """Such a call with its callee and its function evaluated; the function is None if it is a lambda, or not there."""

    mapped: MappedItems
    callee: Value
    function: Value | None

    def of(self, mapped: MappedItems) -> MappedCall:
        """The same of another call."""
        return MappedCall(mapped, self.callee, self.function)


def mapped_items(e: Emission, iterable: Tree, where: SourceRange) -> MappedItems | None:
    """Give what the call maps or filters, if a loop can do it; `where` is the place of what uses the items."""
    if not isinstance(iterable, tree.Apply) or iterable.keywords or not e.inlines_generators:
        return None
    if any(isinstance(argument, tree.Starred) for argument in iterable.arguments):
        return None
    known, count = known_value(e, iterable.function), len(iterable.arguments)
    if known is accumulate and count in (1, 2):
        return _accumulated(e, iterable, where)
    if known is pairwise and count == 1:
        return _paired(iterable, where)
    if known is chain and count:
        return _chained(iterable, where)
    if known is product and count:
        return _product(e, iterable, where)
    if count == 2 and any(known is function for function in _COMBINED):
        return _combined(iterable, known, where)
    if count < 2 or not (known is map or (known is filter and count == 2)):
        return None
    is_map, sources = known is map, iterable.arguments[1:]
    found = _function(e, iterable.arguments[0], len(sources))
    if found is None:
        return None
    function, given = found
    variables = [tree.Var(where, f"{_ITEM} {i}") for i in range(len(sources))]
    value = tree.Apply(where, function, tuple(variables), ())
    target, source = _together(variables, sources, iterable.range)
    tests = () if is_map else (value,)
    generator = tree.Generator(iterable.range, target, source, tests)
    element = value if is_map else variables[0]
    items = tree.Comprehension(where, "generator", element, (generator,), where)
    return MappedItems(iterable, known, given, items)


def _accumulated(e: Emission, call: tree.Apply, where: SourceRange) -> MappedItems | None:
    """Give the running totals: the first is the first item."""
    source, *functions = call.arguments
    item, total = tree.Var(where, f"{_ITEM} 0"), tree.Var(where, _TOTAL)
    given, step = None, cast(Tree, tree.BinOp(where, "add", total, item))
    if functions:
        found = _function(e, functions[0], 2)
        if found is None:
            return None
        function, given = found
        step = tree.Apply(where, function, (total, item), ())
    begins = tree.NamedExpr(where, _HAS_TOTAL, tree.Const(where, True))
    first = tree.TernaryIf(where, begins, item, item)
    value = tree.TernaryIf(where, tree.Var(where, _HAS_TOTAL), step, first)
    generator = tree.Generator(call.range, item, source, ())
    element = tree.NamedExpr(where, _TOTAL, value)
    items = tree.Comprehension(where, "generator", element, (generator,), where)
    place = 1 if functions else None
    return MappedItems(call, accumulate, given, items, place, ((_TOTAL, 0), (_HAS_TOTAL, False)))


def _paired(call: tree.Apply, where: SourceRange) -> MappedItems:
    """Give each item with the one before it: the first item is only kept."""
    item, before = tree.Var(where, f"{_ITEM} 0"), tree.Var(where, _BEFORE)
    keep = tree.NamedExpr(where, _BEFORE, item)
    begins = tree.NamedExpr(where, _HAS_BEFORE, tree.Const(where, True))
    kept = tree.UnaryOp(where, "not", tree.TupleLiteral(where, (begins, keep)))  # a tuple is true
    is_pair = tree.TernaryIf(where, tree.Var(where, _HAS_BEFORE), tree.Const(where, True), kept)
    generator = tree.Generator(call.range, item, call.arguments[0], (is_pair,))
    element = tree.TupleLiteral(where, (before, keep))
    items = tree.Comprehension(where, "generator", element, (generator,), where)
    variables = ((_BEFORE, 0), (_HAS_BEFORE, False))
    return MappedItems(call, pairwise, None, items, None, variables)


def _chained(call: tree.Apply, where: SourceRange) -> MappedItems:
    """Give the items of one iterable after the other; all are there before the first item is asked for."""
    iterable, item = tree.Var(where, f"{_ITEM} 0"), tree.Var(where, f"{_ITEM} 1")
    each = tree.Generator(call.range, iterable, tree.TupleLiteral(where, call.arguments), ())
    inner = tree.Generator(call.range, item, iterable, ())
    items = tree.Comprehension(where, "generator", item, (each, inner), where)
    return MappedItems(call, chain, None, items, None)


def _combined(call: tree.Apply, known: object, where: SourceRange) -> MappedItems | None:
    """Give so many items at a time, by loops over their places, as many as that."""
    source, count = call.arguments
    if not isinstance(count, tree.Const) or type(count.value) is not int:
        return None
    if not 1 <= count.value <= _MOST_COMBINED:
        return None
    pool = tree.Var(where, _pool(0))
    places = tuple(tree.Var(where, f"{_ITEM} {i}") for i in range(count.value))
    end = tree.Apply(where, tree.Const(where, len), (pool,), ())
    first, tests = _COMBINED[known]  # type: ignore[index]  # it is one of these
    generators = []
    for k, place in enumerate(places):
        start = (first(where, places[k - 1]),) if k and first is not None else ()
        view = tree.Apply(where, tree.Const(where, range), (*start, end), ())
        others = tuple(tree.Compare(where, ("ne",), (place, p)) for p in places[:k] if tests)
        generators.append(tree.Generator(call.range, place, view, others))
    element = tree.TupleLiteral(where, tuple(tree.Subscript(where, pool, p) for p in places))
    items = tree.Comprehension(where, "generator", element, tuple(generators), where)
    return MappedItems(call, known, None, items, None, pools=(source,))


def _product(e: Emission, call: tree.Apply, where: SourceRange) -> MappedItems | None:
    """Give one item of each, by loops in one another; ranges and constants alone have a view (`product_view`)."""
    sources = call.arguments
    if all(_has_view(e, source) for source in sources) or len(sources) > _MOST_COMBINED:
        return None
    pools = [tree.Var(where, _pool(k)) for k in range(len(sources))]
    variables = [tree.Var(where, f"{_ITEM} {k}") for k in range(len(sources))]
    pairs = zip(variables, pools, strict=True)
    generators = tuple(tree.Generator(call.range, item, pool, ()) for item, pool in pairs)
    element = tree.TupleLiteral(where, tuple(variables))
    items = tree.Comprehension(where, "generator", element, generators, where)
    return MappedItems(call, product, None, items, None, pools=tuple(sources))


def _has_view(e: Emission, source: Tree) -> bool:
    is_range = isinstance(source, tree.Apply) and known_value(e, source.function) is range
    return is_range or isinstance(source, tree.Const | tree.TupleLiteral)


def _pool(k: int) -> str:
    """The name of a variable with items to be combined."""
    return f"{_POOL} {k}"


def _behind(where: SourceRange, place: Tree) -> Tree:
    return tree.BinOp(where, "add", place, tree.Const(where, 1))


#: where a place begins by the one before it (None: at the first item), and whether places must differ
_COMBINED: dict[object, tuple[Callable[[SourceRange, Tree], Tree] | None, bool]] = {
    combinations: (_behind, False),
    combinations_with_replacement: (lambda _, place: place, False),
    permutations: (None, True),
}


def _function(e: Emission, function: Tree, count: int) -> tuple[Tree, object] | None:
    """What is called, with so many arguments, and what it stands for (None: a lambda); None if a loop gains nothing."""
    if isinstance(function, tree.Lambda):
        return (function, None) if takes(function.definition, count) else None
    given = known_value(e, function)
    is_extremum = count > 1 and (given is min or given is max)
    return (tree.Var(function.range, _FUNCTION), given) if is_extremum or gains(given) else None


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
    function = None if mapped.place is None else mapped.call.arguments[mapped.place]
    if function is not None and not isinstance(function, tree.Lambda):
        return MappedCall(mapped, callee, e.expression(function))
    return MappedCall(mapped, callee, None)


@contextmanager
def function_in_variable(e: Emission, call: MappedCall) -> Iterator[None]:
    """Emit what has the variables, and the function: one that was read from a global variable can be inlined."""
    where, values = call.mapped.call.range, dict[str, Value]()
    if call.function is not None:
        values[_FUNCTION] = call.function
    values |= {name: e.constant(value, where) for name, value in call.mapped.variables}
    sources = [(_pool(k), e.expression(source)) for k, source in enumerate(call.mapped.pools)]
    values |= {name: e.emit("prim::pool", x, where=where) for name, x in sources}
    if not values:
        yield
        return
    slots = {name: e.fresh_slot() for name in values}
    with e.new_scope(Scope(e.scope, slots, has_frame=False), None):
        for name, value in values.items():
            e.store(slots[name], value, where)
        yield


def still_known(e: Emission, call: MappedCall, *others: tuple[Value, object]) -> Value:
    """Ask whether the callee, the function and `others` are still what they were."""
    pairs = [*others, (call.callee, call.mapped.known)]
    if call.function is not None:
        pairs.append((call.function, call.mapped.function))
    return are_known(e, pairs, call.mapped.call.range)


def call_plainly(e: Emission, call: MappedCall, *, is_kept: bool) -> Value:
    """Emit the call itself; `is_kept` if variables may be bound again before all items were used."""
    mapped, operands = call.mapped, list[Value]()
    for place, argument in enumerate(mapped.call.arguments):
        if place != mapped.place:
            operands.append(e.expression(argument))
        elif call.function is not None:
            operands.append(call.function)
        else:
            assert isinstance(argument, tree.Lambda)
            operands.append(function_value(e, argument.definition, is_kept=is_kept))
    return e.emit("py::call", call.callee, *operands, where=mapped.call.range, kwnames=())


def loop_over_mapped(e: Emission, mapped: MappedItems, loop: ItemLoop) -> None:
    """Emit a ``for`` loop, with the function's body in it where it is the known one."""
    _loop_over(e, evaluate_mapped(e, mapped), loop)


@loops_over
def _of_comprehension(e: Emission, iterable: Tree, place: SourceRange) -> LoopOver | None:
    """The loop of a comprehension, if `iterable` gives its items without a function.

    What gives them is evaluated at once: the comprehension may have a variable of the same name.
    """
    mapped = mapped_items(e, iterable, place)
    if mapped is None or mapped.place is not None:
        return None
    call, given = evaluate_mapped(e, mapped), mapped.call.arguments
    count = len(mapped.pools) or (len(given) if mapped.known is chain else 1)
    slots = {f"{_SOURCE} {k}": e.fresh_slot() for k in range(count)}
    for source, slot in zip(given, slots.values(), strict=False):
        e.store(slot, e.expression(source), source.range)
    named = (tree.Var(x.range, name) for x, name in zip(given, slots, strict=False))
    same = tree.Apply(mapped.call.range, mapped.call.function, (*named, *given[count:]), ())

    def emit(loop: ItemLoop) -> None:
        with e.new_scope(Scope(e.scope, slots, has_frame=False), None):
            _loop_over(e, call.of(_with_sources(mapped, same)), loop)

    return LoopOver(iterable, emit)


def _with_sources(mapped: MappedItems, call: tree.Apply) -> MappedItems:
    """The same items, of a call whose arguments are in variables."""
    if mapped.pools:
        pools = call.arguments[: len(mapped.pools)]
        return MappedItems(call, mapped.known, None, mapped.items, None, pools=pools)
    items, (first, *others) = mapped.items, mapped.items.generators
    source = call.arguments[0]
    if mapped.known is chain:
        source = tree.TupleLiteral(call.range, call.arguments)
    begins = tree.Generator(first.range, first.target, source, first.conditions)
    generators = (begins, *others)
    same = tree.Comprehension(items.range, "generator", items.element, generators, items.inner)
    return MappedItems(call, mapped.known, None, same, None, mapped.variables)


def _loop_over(e: Emission, call: MappedCall, loop: ItemLoop) -> None:

    def inline() -> Sequence[Value]:
        with function_in_variable(e, call):
            loop_over_items(e, call.mapped.items, loop)
        return ()

    def over_view() -> Sequence[Value]:
        before, e.inlines_generators = e.inlines_generators, False
        made = call_plainly(e, call, is_kept=True)
        loop.iterate(e.emit("prim::iter", made, where=loop.place))
        e.inlines_generators = before
        return ()

    e.branch(still_known(e, call), inline, over_view, loop.where)
