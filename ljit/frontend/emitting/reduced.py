"""``functools.reduce`` as a loop: ``reduce(lambda s, x: s * 0.5 + x, xs, 0.0)``.

The function is inlined there, and so is what gives the items: a generator expression or function, or `map`. Where
`reduce`, or a function, is not what it was when the graph was made, it is called; so it is with what may not be
iterable, of which it complains in words of its own.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable, Sequence
from functools import reduce
from types import GeneratorType

import numpy as np

from ljit.frontend.emitting.comprehensions import is_generator, run
from ljit.frontend.emitting.conditions import truth
from ljit.frontend.emitting.emission import Emission, Exit, Scope
from ljit.frontend.emitting.functions import function_value, generator_value
from ljit.frontend.emitting.generator_loops import called_generator, plain_call
from ljit.frontend.emitting.keyed import over, stored
from ljit.frontend.emitting.known_names import are_known, either, known_value
from ljit.frontend.emitting.mapped import (
    call_plainly,
    evaluate_mapped,
    function_in_variable,
    gains,
    mapped_items,
    still_known,
    takes,
)
from ljit.frontend.trees import tree
from ljit.frontend.trees.tree import Tree
from ljit.ir import Value
from ljit.records import Record
from ljit.source import SourceRange
from ljit.types import BOOL

__all__ = ["emit_reduced"]

_EMPTY: Sequence[Iterable[object]] = ([], (), range(0), "", b"", {}, set())
_ITERABLE = (
    *(list, tuple, range, str, bytes, dict, set, frozenset, deque, map, filter, zip, enumerate),
    *(reversed, GeneratorType, *map(type, ({}.keys(), {}.values(), {}.items()))),
    *(type(iter(x)) for x in _EMPTY),
)
#: names that no variable of a program has
_FUNCTION, _ITEMS, _ITEM = "function of reduce", "items of reduce", "item of reduce"
_RESULT, _HAS_RESULT = "result of reduce", "whether reduce has a result"


class _Reduced(Record):
    """A call of `reduce`, evaluated: the callee, and slots of what it was given."""

    call: tree.Apply
    callee: Value
    function: str | None  # None: a lambda
    items: str | Tree  # a tree: what gives the items is inlined
    initial: str | None

    def of(self, items: Tree) -> _Reduced:
        """The same with a loop that gives the items."""
        return _Reduced(self.call, self.callee, self.function, items, self.initial)


def emit_reduced(e: Emission, call: tree.Apply) -> Value | None:
    """Emit the call of `reduce` with a function that a loop can inline; None if it is no such call."""
    if not e.inlines_generators or known_value(e, call.function) is not reduce:
        return None
    is_starred = any(isinstance(argument, tree.Starred) for argument in call.arguments)
    if call.keywords or is_starred or len(call.arguments) not in (2, 3):
        return None
    where, given = call.range, call.arguments[0]
    is_lambda = isinstance(given, tree.Lambda)
    known = None if is_lambda else known_value(e, given)
    if not (takes(given.definition, 2) if isinstance(given, tree.Lambda) else _gains(known)):
        return None
    callee = e.expression(call.function)
    function = None if is_lambda else stored(e, e.expression(given), where)
    pairs: list[tuple[Value, object]] = [(callee, reduce)]
    if function is not None:
        pairs.append((e.load(function, where), known))
    is_inlined = _is_inlined(e, call)
    evaluated = call.arguments[2 if is_inlined else 1 :]
    slots = [stored(e, e.expression(x), where) for x in evaluated]
    if is_inlined:
        initial = slots[0] if slots else None
        return _of_inlined(e, call, _Reduced(call, callee, function, "", initial), pairs)
    items, *others = slots
    reduced = _Reduced(call, callee, function, items, others[0] if others else None)
    usual = _can_be_gone_through(e, e.load(items, where), where)
    (is_loop,) = e.branch(
        usual, lambda: (are_known(e, pairs, where),), lambda: (usual,), where, outputs=(BOOL,)
    )
    return either(
        e,
        is_loop,
        lambda: _in_loop(e, reduced),
        lambda: _called(e, reduced, e.load(items, where)),
        where,
    )


def _gains(function: object) -> bool:
    return function is min or function is max or gains(function)


def _can_be_gone_through(e: Emission, items: Value, where: SourceRange) -> Value:
    """Ask whether it is of a class whose objects can be; of arrays, those that have an axis."""

    def ask(*classes: type) -> Value:
        return e.emit("py::isinstance", items, e.constant(classes, where), where=where)

    def has_axes() -> Sequence[Value]:
        is_array = ask(np.ndarray)

        def compare() -> Sequence[Value]:
            axes = e.emit("py::getattr", items, where=where, name="ndim")
            return (e.emit("py::is_not", axes, e.constant(0, where), where=where),)

        return e.branch(is_array, compare, lambda: (is_array,), where, outputs=(BOOL,))

    usual = ask(*_ITERABLE)
    (result,) = e.branch(usual, lambda: (usual,), has_axes, where, outputs=(BOOL,))
    return result


def _is_inlined(e: Emission, call: tree.Apply) -> bool:
    """Whether what gives the items is a loop of the function's own. What comes behind it is not evaluated yet then."""
    source, *initial = call.arguments[1:]
    if not all(isinstance(x, tree.Const) for x in initial):
        return False
    is_known = is_generator(e, source) or called_generator(e, source) is not None
    return is_known or mapped_items(e, source, call.range) is not None


def _of_inlined(
    e: Emission, call: tree.Apply, reduced: _Reduced, pairs: Sequence[tuple[Value, object]]
) -> Value:
    """Emit the call with the loop of what gives the items; `pairs`: values, and what they must be for it."""
    source, where = call.arguments[1], call.range
    mapped = mapped_items(e, source, where)
    if mapped is not None:
        given = evaluate_mapped(e, mapped)
        in_loop = reduced.of(mapped.items)

        def with_function() -> Value:
            with function_in_variable(e, given):
                return _in_loop(e, in_loop)

        return either(
            e,
            still_known(e, given, *pairs),
            with_function,
            lambda: _called(e, reduced, call_plainly(e, given, is_kept=False)),
            where,
        )

    def items() -> Value:
        if isinstance(source, tree.Comprehension):
            return generator_value(e, source, is_kept=False)
        generator = called_generator(e, source)
        assert generator is not None
        return plain_call(e, generator)

    return either(
        e,
        are_known(e, pairs, where),
        lambda: _in_loop(e, reduced.of(source)),
        lambda: _called(e, reduced, items()),
        where,
    )


def _in_loop(e: Emission, reduced: _Reduced) -> Value:
    where = reduced.call.range
    result, has_result = e.fresh_slot(), e.fresh_slot()
    slots = {_RESULT: result, _HAS_RESULT: has_result}
    items: Tree = tree.Var(where, _ITEMS)
    if isinstance(reduced.items, str):
        slots[_ITEMS] = reduced.items
    else:
        items = reduced.items
    function: Tree = reduced.call.arguments[0]
    if reduced.function is not None:
        slots[_FUNCTION], function = reduced.function, tree.Var(function.range, _FUNCTION)
    so_far, item = tree.Var(where, _RESULT), tree.Var(where, _ITEM)
    step: Tree = tree.Apply(where, function, (so_far, item), ())
    if reduced.initial is None:
        step = tree.TernaryIf(where, tree.Var(where, _HAS_RESULT), step, item)

    def begin() -> None:
        initial = reduced.initial
        first = e.constant(0, where) if initial is None else e.load(initial, where)
        e.store(result, first, where)
        e.store(has_result, e.constant(initial is not None, where), where)

    def use(_: Exit, value: Value) -> None:
        e.store(result, value, where)
        e.store(has_result, e.constant(True, where), where)

    with e.new_scope(Scope(e.scope, slots, has_frame=False), None):
        run(e, over(step, items, item), begin, use)
    if reduced.initial is None:
        _complain_of_nothing(e, reduced, result, has_result)
    return e.load(result, where)


def _complain_of_nothing(e: Emission, reduced: _Reduced, result: str, has_result: str) -> None:
    """Without items there is an error, which `reduce` raises."""
    where = reduced.call.range

    def raise_error() -> Sequence[Value]:
        e.store(result, _called(e, reduced, e.constant((), where)), where)
        return ()

    nothing: Callable[[], Sequence[Value]] = tuple
    e.branch(truth(e, e.load(has_result, where), where), nothing, raise_error, where)


def _called(e: Emission, reduced: _Reduced, items: Value) -> Value:
    where, given = reduced.call.range, reduced.call.arguments[0]
    if isinstance(given, tree.Lambda):
        function = function_value(e, given.definition, is_kept=False)
    else:
        assert reduced.function is not None
        function = e.load(reduced.function, where)
    others = [] if reduced.initial is None else [e.load(reduced.initial, where)]
    return e.emit("py::call", reduced.callee, function, items, *others, where=where, kwnames=())
