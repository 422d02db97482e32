"""``x.sort(key=f)`` of a list: its keys are computed in a loop, as those of `sorted` are.

As in CPython, the list is empty meanwhile. If a key or a comparison raises, it gets its items back. If it has got
others by then, they are lost, and that is an error.
"""

from __future__ import annotations

from collections.abc import Sequence
from types import ModuleType

from ljit.frontend.emitting.attempts import attempt
from ljit.frontend.emitting.conditions import truth
from ljit.frontend.emitting.emission import Emission
from ljit.frontend.emitting.functions import function_value
from ljit.frontend.emitting.keyed import Key, sorted_by_keys, sorting_key, stored
from ljit.frontend.emitting.known_names import are_known, either, known_value
from ljit.frontend.trees import tree
from ljit.ir import Value
from ljit.ops.control import RERAISE, UNREACHABLE
from ljit.source import SourceRange

__all__ = ["emit_list_sort"]


def emit_list_sort(e: Emission, call: tree.Apply) -> Value | None:
    """Emit the call of a method `sort` with a key that a loop can compute; None if it is no such call."""
    method, where = call.function, call.range
    if not isinstance(method, tree.Select) or method.name != "sort" or call.arguments:
        return None
    key = sorting_key(e, call)
    if key is None or isinstance(known_value(e, method.value), ModuleType):
        return None
    target = stored(e, e.expression(method.value), where)
    if key.function is not None:
        key.slot = stored(e, e.expression(key.tree), where)
    class_ = _called(e, e.constant(type, where), e.load(target, where), where)
    known: list[tuple[Value, object]] = [(class_, list)]
    if key.function is not None:
        known.append((e.load(key.slot, where), key.function))
    return either(
        e,
        are_known(e, known, where),
        lambda: _sort(e, call, key, target),
        lambda: _call_plainly(e, call, key, target),
        where,
    )


def _sort(e: Emission, call: tree.Apply, key: Key, target: str) -> Value:
    where, found = call.range, e.fresh_slot()
    items = stored(e, _called(e, e.constant(list, where), e.load(target, where), where), where)
    _method(e, "clear", target, where)

    def give_back(_error: Value) -> None:
        _method(e, "clear", target, where)
        _method(e, "extend", target, where, items)
        e.terminate(RERAISE, (), where)

    def complain() -> Sequence[Value]:
        _method(e, "clear", target, where)
        _method(e, "extend", target, where, found)
        error = e.constant(ValueError, where), e.constant("list modified during sort", where)
        e.effect("prim::raise", _called(e, *error, where), where=where, has_cause=False)
        e.terminate(UNREACHABLE, (), where)
        return ()

    attempt(e, where, lambda: e.store(found, sorted_by_keys(e, call, key, items), where), give_back)
    e.branch(truth(e, e.load(target, where), where), complain, _nothing, where)
    _method(e, "extend", target, where, found)
    return e.constant(None, where)


def _nothing() -> Sequence[Value]:
    return ()


def _called(e: Emission, function: Value, operand: Value, where: SourceRange) -> Value:
    return e.emit("py::call", function, operand, where=where, kwnames=())


def _method(e: Emission, name: str, target: str, where: SourceRange, *slots: str) -> None:
    operands = [e.load(slot, where) for slot in slots]
    e.emit("py::call_method", e.load(target, where), *operands, where=where, name=name, kwnames=())


def _call_plainly(e: Emission, call: tree.Apply, key: Key, target: str) -> Value:
    method = call.function
    assert isinstance(method, tree.Select)
    function = e.emit("py::getattr", e.load(target, call.range), where=method.range, name="sort")
    values: dict[str, Value] = {}
    for keyword in call.keywords:
        assert isinstance(keyword, tree.Keyword)
        if isinstance(keyword.value, tree.Lambda):
            made = function_value(e, keyword.value.definition, is_kept=False)
        elif keyword.name == "key":
            made = e.load(key.slot, call.range)
        else:
            made = e.expression(keyword.value)
        values[keyword.name] = made
    operands = function, *values.values()
    return e.emit("py::call", *operands, where=call.range, kwnames=tuple(values))
