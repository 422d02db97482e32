"""``functools.reduce`` as a loop: ``reduce(lambda s, x: s * 0.5 + x, xs, 0.0)``.

The function is inlined there. Where `reduce`, or the function, is not what it was when the graph was made, it is
called; so it is with what may not be iterable, of which it complains in words of its own.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import reduce

from ljit.frontend.emitting.comprehensions import run
from ljit.frontend.emitting.conditions import truth
from ljit.frontend.emitting.emission import Emission, Exit, Scope
from ljit.frontend.emitting.functions import function_value
from ljit.frontend.emitting.keyed import over, stored
from ljit.frontend.emitting.known_names import are_known, either, known_value
from ljit.frontend.emitting.mapped import gains, takes
from ljit.frontend.trees import tree
from ljit.frontend.trees.tree import Tree
from ljit.ir import Value
from ljit.records import Record
from ljit.types import BOOL

__all__ = ["emit_reduced"]

_ITERABLE = (list, tuple, range, str, bytes, dict, set, frozenset)
#: names that no variable of a program has
_FUNCTION, _ITEMS, _ITEM = "function of reduce", "items of reduce", "item of reduce"
_RESULT, _HAS_RESULT = "result of reduce", "whether reduce has a result"


class _Reduced(Record):
    """A call of `reduce`, evaluated: the callee, and slots of what it was given."""

    call: tree.Apply
    callee: Value
    function: str | None  # None: a lambda
    items: str
    initial: str | None


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
    if not (takes(given.definition, 2) if isinstance(given, tree.Lambda) else gains(known)):
        return None
    callee = e.expression(call.function)
    function = None if is_lambda else stored(e, e.expression(given), where)
    items, *initial = [stored(e, e.expression(x), where) for x in call.arguments[1:]]
    reduced = _Reduced(call, callee, function, items, initial[0] if initial else None)
    pairs: list[tuple[Value, object]] = [(callee, reduce)]
    if function is not None:
        pairs.append((e.load(function, where), known))
    usual = e.emit(
        "py::isinstance", e.load(items, where), e.constant(_ITERABLE, where), where=where
    )
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


def _in_loop(e: Emission, reduced: _Reduced) -> Value:
    where = reduced.call.range
    result, has_result = e.fresh_slot(), e.fresh_slot()
    slots = {_ITEMS: reduced.items, _RESULT: result, _HAS_RESULT: has_result}
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
        run(e, over(step, tree.Var(where, _ITEMS), item), begin, use)
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
