"""Calls of builtin functions that use up a generator expression: ``sum(x * x for x in xs)``.

Where the function is the builtin that the name stood for at first, the loop takes the place of the generator, with
what the builtin does to each element (`_FOLDS`). Where it is not, and for the other functions that
keep no generator (`_CONSUMERS`), a real one is made of the code that CPython compiled.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from functools import partial

import numpy as np

from ljit.frontend.emitting.attempts import guarded
from ljit.frontend.emitting.calls import emit_call
from ljit.frontend.emitting.comprehensions import collect, run
from ljit.frontend.emitting.conditions import truth
from ljit.frontend.emitting.emission import Emission, Exit, emits
from ljit.frontend.emitting.extrema import emit_extremum
from ljit.frontend.emitting.functions import generator_value
from ljit.frontend.emitting.generator_loops import called_generator, plain_call
from ljit.frontend.emitting.keyed import emit_keyed
from ljit.frontend.emitting.known_names import either, known_value
from ljit.frontend.emitting.list_sorts import emit_list_sort
from ljit.frontend.emitting.mapped import (
    MappedCall,
    MappedItems,
    call_plainly,
    evaluate_mapped,
    function_in_variable,
    mapped_items,
    still_known,
)
from ljit.frontend.emitting.reduced import emit_reduced
from ljit.frontend.trees import tree
from ljit.ir import Value
from ljit.ops.stdlib.compensated_sums import COMPENSATES, first_lost

__all__: list[str] = []

#: callables that use up what they are given before they return, or drop it, and do not keep it
_CONSUMERS: tuple[object, ...] = (
    *(sum, any, all, min, max, list, tuple, set, frozenset, dict, sorted, next),
    *(math.fsum, math.prod, np.fromiter),
)
_NUMBERS = (int, float, complex)

_Fold = Callable[[Emission, tree.UseOfGenerator, Value], Value]


@emits(tree.UseOfGenerator)
def _use(e: Emission, call: tree.UseOfGenerator) -> Value:
    return guarded(e, call, lambda: _emit_use(e, call))


def _emit_use(e: Emission, call: tree.UseOfGenerator) -> Value:
    if _is_join(call):
        return _join(e, call)
    keyed = emit_keyed(e, call.plain)
    if keyed is not None:
        return keyed
    known = known_value(e, call.function)
    if not any(known is consumer for consumer in _CONSUMERS) or not _are_plain(call):
        return e.expression(call.plain)
    function = e.expression(call.function)
    fold = _fold_of(known, call)
    if fold is None:
        return _call(e, call, function)
    is_known = e.emit("py::is", function, e.constant(known, call.range), where=call.range)
    return either(
        e, is_known, lambda: fold(e, call, function), lambda: _call(e, call, function), call.range
    )


@emits(tree.Apply)
def _apply(e: Emission, call: tree.Apply) -> Value:
    return guarded(e, call, lambda: _emit_apply(e, call))


def _emit_apply(e: Emission, call: tree.Apply) -> Value:
    """A call; one of a builtin on what a generator function, `map` or `filter` gives is a loop as well."""
    made = emit_keyed(e, call) or emit_list_sort(e, call) or emit_reduced(e, call)
    if made is not None:
        return made
    first = call.arguments[0] if call.arguments else None
    if not isinstance(first, tree.Apply):
        return emit_call(e, call)
    known = known_value(e, call.function)
    is_consumer = any(known is consumer for consumer in _CONSUMERS)
    mapped = mapped_items(e, first, call.range)
    if mapped is not None:
        use = _use_of(call, mapped.items)
        if _is_join(use) or (is_consumer and _are_plain(use)):
            return _use_mapped(e, use, known, mapped) or emit_call(e, call)
    generator = called_generator(e, first) if is_consumer else None
    if generator is None:
        return emit_call(e, call)
    where = call.range
    item = tree.Var(where, "item")
    loop = tree.Generator(where, item, first, ())
    use = _use_of(call, tree.Comprehension(where, "generator", item, (loop,), where))
    fold = _fold_of(known, use) if _are_plain(use) else None
    if fold is None:
        return emit_call(e, call)
    function = e.expression(call.function)
    return either(
        e,
        e.emit("py::is", function, e.constant(known, where), where=where),
        lambda: fold(e, use, function),
        lambda: _call_with(e, use, function, plain_call(e, generator)),
        where,
    )


def _use_of(call: tree.Apply, items: tree.Comprehension) -> tree.UseOfGenerator:
    """The same call with another first argument."""
    return tree.UseOfGenerator(call.range, call.function, items, call.arguments[1:], call.keywords)


def _use_mapped(
    e: Emission, use: tree.UseOfGenerator, known: object, mapped: MappedItems
) -> Value | None:
    """Emit what uses the items of `map` or `filter`; None if that is not known."""
    if _is_join(use):
        call = evaluate_mapped(e, mapped)
        return either(
            e,
            still_known(e, call),
            partial(_with_variable, e, call, partial(_join, e, use)),
            lambda: _join_items(e, use, call_plainly(e, call, is_kept=False)),
            use.range,
        )
    fold = _fold_of(known, use)
    if fold is None:
        return None
    function = e.expression(use.function)
    call = evaluate_mapped(e, mapped)
    return either(
        e,
        still_known(e, call, (function, known)),
        partial(_with_variable, e, call, partial(fold, e, use, function)),
        lambda: _call_with(e, use, function, call_plainly(e, call, is_kept=False)),
        use.range,
    )


def _with_variable(e: Emission, call: MappedCall, emit: Callable[[], Value]) -> Value:
    with function_in_variable(e, call):
        return emit()


def _call(e: Emission, call: tree.UseOfGenerator, function: Value) -> Value:
    """Emit the call with a real generator."""
    generator = generator_value(e, call.generator, is_kept=False)
    return _call_with(e, call, function, generator)


def _call_with(e: Emission, call: tree.UseOfGenerator, function: Value, first: Value) -> Value:
    operands = [first, *map(e.expression, call.arguments)]
    names = []
    for keyword in call.keywords:
        assert isinstance(keyword, tree.Keyword)
        operands.append(e.expression(keyword.value))
        names.append(keyword.name)
    return e.emit("py::call", function, *operands, where=call.range, kwnames=tuple(names))


def _nothing() -> Sequence[Value]:
    return ()


# -- what builtins do to the elements --------------------------------------------------------------


def _fold_of(known: object, call: tree.UseOfGenerator) -> _Fold | None:
    """Give how to do without the generator; None if that is not known."""
    if known is sum:
        return _sum if _has_plain_start(call) else None
    if known is sorted:
        return _collect_and_call if not call.arguments else None
    if known is next:
        return _next if len(call.arguments) <= 1 and not call.keywords else None
    if known is min or known is max:
        names = [k.name for k in call.keywords if isinstance(k, tree.Keyword)]
        return _extremum if not call.arguments and names in ([], ["default"]) else None
    return _FOLDS.get(known) if not call.arguments and not call.keywords else None


def _are_plain(call: tree.UseOfGenerator) -> bool:
    """Whether no argument is starred."""
    starred = (tree.Starred, tree.DoubleStarred)
    return not any(isinstance(x, starred) for x in (*call.arguments, *call.keywords))


def _has_plain_start(call: tree.UseOfGenerator) -> bool:
    starts = call.arguments
    is_number = all(isinstance(s, tree.Const) and type(s.value) in _NUMBERS for s in starts)
    return len(starts) <= 1 and is_number and not call.keywords


def _sum(e: Emission, call: tree.UseOfGenerator, _: Value) -> Value:
    total, lost, where = e.fresh_slot(), e.fresh_slot(), call.range
    start: object = 0
    for given in call.arguments:
        assert isinstance(given, tree.Const)  # `_has_plain_start`
        start = given.value

    def begin() -> None:
        e.store(total, e.constant(start, where), where)
        e.store(lost, e.constant(first_lost(start), where), where)

    def add(_: Exit, value: Value) -> None:
        e.store(total, e.emit("py::add", e.load(total, where), value, where=where), where)

    def add_and_compensate(_: Exit, value: Value) -> None:
        lost_so_far = e.load(lost, where)
        old = e.emit("prim::settled_sum", e.load(total, where), lost_so_far, value, where=where)
        new = e.emit("py::add", old, value, where=where)
        e.store(total, new, where)
        e.store(lost, e.emit("prim::lost_digits", lost_so_far, old, value, new, where=where), where)

    run(e, call.generator, begin, add_and_compensate if COMPENSATES else add, caller=where)
    result = e.load(total, where)
    if not COMPENSATES:
        return result
    return e.emit("prim::sum_with_lost", result, e.load(lost, where), where=where)


def _search(e: Emission, call: tree.UseOfGenerator, wanted: bool) -> Value:
    """Look for an element that is true, or false."""
    slot, where = e.fresh_slot(), call.range

    def test(loop: Exit, value: Value) -> None:
        def found() -> Sequence[Value]:
            e.store(slot, e.constant(wanted, where), where)
            e.goes_through_cleanup(loop, "found", lambda _: None, where)
            e.leave(loop, where)
            return ()

        then, otherwise = (found, _nothing) if wanted else (_nothing, found)
        e.branch(truth(e, value, where), then, otherwise, where)

    run(
        e,
        call.generator,
        lambda: e.store(slot, e.constant(not wanted, where), where),
        test,
        caller=where,
    )
    return e.load(slot, where)


def _next(e: Emission, call: tree.UseOfGenerator, function: Value) -> Value:
    """Take the first element; without one it is the default, or StopIteration, which `next` raises."""
    slot, has_value, where = e.fresh_slot(), e.fresh_slot(), call.range

    def begin() -> None:
        default = [e.expression(argument) for argument in call.arguments]
        e.store(slot, default[0] if default else e.constant(None, where), where)
        e.store(has_value, e.constant(bool(default), where), where)

    def take(loop: Exit, value: Value) -> None:
        e.store(slot, value, where)
        e.store(has_value, e.constant(True, where), where)
        e.goes_through_cleanup(loop, "found", lambda _: None, where)
        e.leave(loop, where)

    def raise_stop() -> Sequence[Value]:
        nothing = e.constant((), where)
        empty = e.emit("py::call", e.constant(iter, where), nothing, where=where, kwnames=())
        e.emit("py::call", function, empty, where=where, kwnames=())
        return ()

    run(e, call.generator, begin, take, caller=where)
    if not call.arguments:
        e.branch(truth(e, e.load(has_value, where), where), _nothing, raise_stop, where)
    return e.load(slot, where)


def _any(e: Emission, call: tree.UseOfGenerator, _: Value) -> Value:
    return _search(e, call, True)


def _all(e: Emission, call: tree.UseOfGenerator, _: Value) -> Value:
    return _search(e, call, False)


def _extremum(e: Emission, call: tree.UseOfGenerator, function: Value) -> Value:
    where = call.range
    default = next((k.value for k in call.keywords if isinstance(k, tree.Keyword)), None)
    slot = e.fresh_slot() if default is not None else ""

    def run_loop(begin: Callable[[], None], use: Callable[..., None]) -> None:
        def begin_with_default() -> None:
            if default is not None:
                e.store(slot, e.expression(default), where)
            begin()

        run(e, call.generator, begin_with_default, use, caller=where)

    return emit_extremum(e, known_value(e, call.function), function, run_loop, where, slot)


def _list(e: Emission, call: tree.UseOfGenerator, _: Value) -> Value:
    return collect(e, call.generator, "list", call.range)


def _set(e: Emission, call: tree.UseOfGenerator, _: Value) -> Value:
    return collect(e, call.generator, "set", call.range)


def _collect_and_call(e: Emission, call: tree.UseOfGenerator, function: Value) -> Value:
    """Call what begins by making a list of its argument."""
    return _call_with(e, call, function, _list(e, call, function))


def _is_join(call: tree.UseOfGenerator) -> bool:
    """Whether it is ``"text".join(...)``, which begins by making a list, too."""
    match call.function:
        case tree.Select(name="join", value=tree.Const(value=str())):
            return not call.arguments and not call.keywords
    return False


def _join(e: Emission, call: tree.UseOfGenerator) -> Value:
    return _join_items(e, call, collect(e, call.generator, "list", call.range))


def _join_items(e: Emission, call: tree.UseOfGenerator, items: Value) -> Value:
    assert isinstance(call.function, tree.Select)
    text, name = e.expression(call.function.value), call.function.name
    return e.emit("py::call_method", text, items, where=call.range, name=name, kwnames=())


_FOLDS: dict[object, _Fold] = {
    any: _any,
    all: _all,
    list: _list,
    set: _set,
    tuple: _collect_and_call,
}
