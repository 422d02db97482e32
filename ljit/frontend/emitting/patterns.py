"""``match``: cases are tried in turn, each in a Region that a test which fails leaves for the next one.

    prim::Region                # left behind the body of a case
        prim::Region            # the first case: left for the next
            ...                 # tests of its pattern
            ...                 # the names are bound, the guard is asked, the body runs
        ...

As in CPython a pattern binds its names when all of it has matched, in front of the guard.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from ljit.frontend.emitting.conditions import condition, truth
from ljit.frontend.emitting.emission import Emission, Exit, emits
from ljit.frontend.trees import tree_patterns as tree
from ljit.frontend.trees.tree import Tree
from ljit.ir import Value, get_op
from ljit.source import SourceRange
from ljit.types import ANY

__all__: list[str] = []

_Captures = dict[str, Value]


@emits(tree.Match)
def _match(e: Emission, statement: tree.Match) -> None:
    subject = e.expression(statement.subject)
    with e.left_by_break(statement.range) as done:
        for case in statement.cases:
            with e.left_by_break(case.range) as next_case:
                _case(e, case, subject, next_case)
                if not e.block.is_terminated:
                    e.leave(done, case.range)


def _case(e: Emission, case: tree.Case, subject: Value, failed: Exit) -> None:
    captures: _Captures = {}
    _test(e, case.pattern, subject, failed, captures)
    for name, value in captures.items():
        e.store_name(name, value, case.pattern.range)
    if case.guard is not None:
        _require(e, condition(e, case.guard, case.guard.range), failed, case.guard.range)
    e.statements(case.body)


def _require(e: Emission, holds: Value, failed: Exit, where: SourceRange) -> None:
    """Leave unless the condition holds."""

    def leave() -> Sequence[Value]:
        e.leave(failed, where)
        return ()

    e.branch(holds, tuple, leave, where)


# -- patterns --------------------------------------------------------------------------------------


def _test(e: Emission, pattern: Tree, subject: Value, failed: Exit, captures: _Captures) -> None:
    """Emit the tests of a pattern, which leave through `failed`; note what its names are to be."""
    _TESTS[type(pattern)](e, pattern, subject, failed, captures)


def _test_all(
    e: Emission, patterns: Sequence[Tree], parts: Sequence[Value], failed: Exit, captures: _Captures
) -> None:
    for pattern, part in zip(patterns, parts, strict=True):
        _test(e, pattern, part, failed, captures)


def _value(
    e: Emission, pattern: tree.ValuePattern, subject: Value, failed: Exit, _: _Captures
) -> None:
    where, value = pattern.range, e.expression(pattern.value)
    op = "py::is" if pattern.is_singleton else "py::eq"
    result = e.emit(op, subject, value, where=where)
    _require(e, truth(e, result, where), failed, where)


def _any(
    e: Emission, pattern: tree.AnyPattern, subject: Value, failed: Exit, captures: _Captures
) -> None:
    if pattern.pattern is not None:
        _test(e, pattern.pattern, subject, failed, captures)
    if pattern.name is not None:
        captures[pattern.name] = subject


def _either(
    e: Emission, pattern: tree.OrPattern, subject: Value, failed: Exit, captures: _Captures
) -> None:
    """Emit the alternatives, all of which bind the same names."""
    where = pattern.range
    names = sorted({name for part in _parts(pattern) for name in part.binds})
    slots = {name: e.fresh_slot(name) for name in names}
    with e.left_by_break(where) as matched:
        for alternative in pattern.patterns:
            with e.left_by_break(alternative.range) as next_one:
                found: _Captures = {}
                _test(e, alternative, subject, next_one, found)
                for name, slot in slots.items():
                    e.store(slot, found[name], alternative.range)
                e.leave(matched, alternative.range)
        if not e.block.is_terminated:
            e.leave(failed, where)
    for name, slot in slots.items():
        captures[name] = e.load(slot, where)


def _parts(pattern: Tree) -> list[Tree]:
    return [pattern, *(part for child in pattern.children for part in _parts(child))]


# -- sequences -------------------------------------------------------------------------------------


def _sequence(
    e: Emission, pattern: tree.SequencePattern, subject: Value, failed: Exit, captures: _Captures
) -> None:
    where, patterns = pattern.range, pattern.patterns
    _require(e, e.emit("prim::is_sequence", subject, where=where), failed, where)
    star = next((i for i, p in enumerate(patterns) if isinstance(p, tree.StarPattern)), None)
    count = len(patterns) - (star is not None)
    if star is None or count:
        comparison = "py::eq" if star is None else "py::ge"
        limit = e.constant(count, where)
        fits = e.emit(comparison, _length(e, subject, where), limit, where=where)
        _require(e, truth(e, fits, where), failed, where)
    if all(_is_wildcard(p) for p in patterns):
        return
    if star is not None and _is_wildcard(patterns[star]):
        _test_by_index(e, pattern, subject, failed, captures)
        return
    attrs = {"count": len(patterns), "star": star}
    parts = e.node(get_op("prim::Unpack"), (subject,), where, attrs).outputs
    _test_all(e, patterns, parts, failed, captures)


def _test_by_index(
    e: Emission, pattern: tree.SequencePattern, subject: Value, failed: Exit, captures: _Captures
) -> None:
    """Take the items one by one: what ``*_`` stands for is not looked at."""
    where, patterns, is_behind = pattern.range, pattern.patterns, False
    for i, part in enumerate(patterns):
        is_behind |= isinstance(part, tree.StarPattern)
        if _is_wildcard(part):
            continue
        index = e.constant(i, where)
        if is_behind:
            from_end = e.constant(len(patterns) - i, where)
            index = e.emit("py::sub", _length(e, subject, where), from_end, where=where)
        item = e.emit("py::getitem", subject, index, where=where)
        _test(e, part, item, failed, captures)


def _star(
    e: Emission, pattern: tree.StarPattern, subject: Value, failed: Exit, captures: _Captures
) -> None:
    if pattern.name is not None:
        captures[pattern.name] = subject


def _is_wildcard(pattern: Tree) -> bool:
    if isinstance(pattern, tree.AnyPattern):
        return pattern.pattern is None and pattern.name is None
    return isinstance(pattern, tree.StarPattern) and pattern.name is None


def _length(e: Emission, subject: Value, where: SourceRange) -> Value:
    return e.emit("py::call", e.constant(len, where), subject, where=where, kwnames=())


# -- mappings and classes --------------------------------------------------------------------------


def _mapping(
    e: Emission, pattern: tree.MappingPattern, subject: Value, failed: Exit, captures: _Captures
) -> None:
    where = pattern.range
    _require(e, e.emit("prim::is_mapping", subject, where=where), failed, where)
    keys: list[Value] = []
    if pattern.keys:
        least = e.constant(len(pattern.keys), where)
        fits = e.emit("py::ge", _length(e, subject, where), least, where=where)
        _require(e, truth(e, fits, where), failed, where)
        keys = [e.expression(key) for key in pattern.keys]
        found = e.emit("prim::match_keys", subject, *keys, where=where)
        parts = _taken(e, found, len(keys), failed, where)
        _test_all(e, pattern.patterns, parts, failed, captures)
    if pattern.rest is not None:
        captures[pattern.rest] = e.emit("prim::without_keys", subject, *keys, where=where)


def _class(
    e: Emission, pattern: tree.ClassPattern, subject: Value, failed: Exit, captures: _Captures
) -> None:
    where, cls = pattern.range, e.expression(pattern.cls)

    def take(count: int, names: tuple[str, ...]) -> Sequence[Value]:
        attrs = {"count": count, "names": names}
        found = e.emit("prim::match_class", subject, cls, where=where, **attrs)
        return _taken(e, found, count + len(names), failed, where)

    def take_whole() -> Sequence[Value]:
        take(0, ())
        return (subject,)

    def take_parts() -> Sequence[Value]:
        return take(len(pattern.patterns) - len(pattern.names), pattern.names)

    if len(pattern.patterns) == 1 and not pattern.names:  # ``int(x)``
        is_whole = e.emit("prim::matches_as_whole", cls, where=where)
        parts = e.branch(is_whole, take_whole, take_parts, where, outputs=(ANY,))
    else:
        parts = take_parts()
    _test_all(e, pattern.patterns, parts, failed, captures)


def _taken(
    e: Emission, found: Value, count: int, failed: Exit, where: SourceRange
) -> Sequence[Value]:
    """Leave if nothing was found, else give the parts."""
    none = e.constant(None, where)
    _require(e, e.emit("py::is_not", found, none, where=where), failed, where)
    if not count:
        return ()
    return e.node(get_op("prim::Unpack"), (found,), where, {"count": count, "star": None}).outputs


_TESTS: dict[type[Tree], Callable[[Emission, Any, Value, Exit, _Captures], None]] = {
    tree.ValuePattern: _value,
    tree.AnyPattern: _any,
    tree.OrPattern: _either,
    tree.SequencePattern: _sequence,
    tree.StarPattern: _star,
    tree.MappingPattern: _mapping,
    tree.ClassPattern: _class,
}
