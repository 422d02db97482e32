"""``min``, ``max`` and ``sorted`` of items by a key: ``min(range(n), key=lambda j: abs(x - xs[j]))``.

A key is computed in a loop, with the body of its function there; those of ``sorted(xs, key=f)`` stand in a list. The
loops of a generator expression that gives the items of `min` and `max` are inlined, too. Where the builtin, or the
function of the key, is not what it was when the graph was made, the builtin is called.
"""

from __future__ import annotations

from collections.abc import Callable

from ljit.frontend.emitting.comprehensions import collect, is_generator, run
from ljit.frontend.emitting.emission import Emission, Exit, Scope
from ljit.frontend.emitting.extrema import emit_extremum
from ljit.frontend.emitting.functions import function_value, generator_value
from ljit.frontend.emitting.known_names import are_known, either, known_value
from ljit.frontend.emitting.mapped import gains, takes
from ljit.frontend.trees import tree
from ljit.frontend.trees.tree import Tree
from ljit.ir import Value, get_op
from ljit.records import Record
from ljit.source import SourceRange

__all__ = ["emit_keyed", "over", "stored"]

#: names that no variable of a program has
_ITEM, _ITEMS, _KEY = "item with a key", "items with keys", "key function"


class _Keyed(Record):
    """A call of `min`, `max` or `sorted` with a key."""

    call: tree.Apply
    known: object  # the builtin
    key: Tree
    function: object  # that is the key; None for a lambda


class _Operands(Record):
    """What such a call was given, in slots: the items (a generator expression: it is inlined), and by keywords."""

    items: str | tree.Comprehension
    by_name: dict[str, str]


def emit_keyed(e: Emission, call: tree.Apply) -> Value | None:
    """Emit the call of a builtin with a key that a loop can compute; None if it is no such call."""
    keyed = _keyed(e, call)
    if keyed is None:
        return None
    where = call.range
    function = e.expression(call.function)
    given = call.arguments[0]
    if not isinstance(given, tree.Comprehension) or not _is_inlined(e, keyed):
        operands = _Operands(stored(e, e.expression(given), where), {})
    else:
        operands = _Operands(given, {})
    for keyword in call.keywords:
        assert isinstance(keyword, tree.Keyword)
        if not isinstance(keyword.value, tree.Lambda):
            value = e.expression(keyword.value)
            operands.by_name[keyword.name] = stored(e, value, where)
    known = [(function, keyed.known)]
    if keyed.function is not None:
        known.append((e.load(operands.by_name["key"], where), keyed.function))
    return either(
        e,
        are_known(e, known, where),
        lambda: _in_loop(e, keyed, function, operands),
        lambda: _called(e, keyed, function, operands),
        where,
    )


def _keyed(e: Emission, call: tree.Apply) -> _Keyed | None:
    known = known_value(e, call.function)
    if not any(known is builtin for builtin in (min, max, sorted)) or not e.inlines_generators:
        return None
    given = {k.name: k.value for k in call.keywords if isinstance(k, tree.Keyword)}
    is_usual = len(call.arguments) == 1 and len(given) == len(call.keywords) and "key" in given
    if not is_usual or isinstance(call.arguments[0], tree.Starred):
        return None
    others = given.keys() - {"key"}
    if known is sorted and is_generator(e, call.arguments[0]):
        return None  # a list of its items has native code, and CPython sorts that
    if known is sorted and others and (others != {"reverse"} or not _is_bool(given["reverse"])):
        return None
    if known is not sorted and not others <= {"default"}:
        return None
    key = given["key"]
    if isinstance(key, tree.Lambda):
        return _Keyed(call, known, key, None) if takes(key.definition, 1) else None
    function = known_value(e, key)
    return _Keyed(call, known, key, function) if gains(function) else None


def _is_inlined(e: Emission, keyed: _Keyed) -> bool:
    """Whether nobody can tell that what stands behind the items is evaluated before them."""
    by_name = {k.name: k.value for k in keyed.call.keywords if isinstance(k, tree.Keyword)}
    is_settled = "default" not in by_name or isinstance(by_name["default"], tree.Const)
    return is_settled and is_generator(e, keyed.call.arguments[0])


def _name(keyword: Tree) -> str:
    assert isinstance(keyword, tree.Keyword)
    return keyword.name


def _is_bool(value: Tree) -> bool:
    return isinstance(value, tree.Const) and isinstance(value.value, bool)


def stored(e: Emission, value: Value, where: SourceRange) -> str:
    """Put a value into a slot of its own; gives that."""
    slot = e.fresh_slot()
    e.store(slot, value, where)
    return slot


def _in_loop(e: Emission, keyed: _Keyed, function: Value, operands: _Operands) -> Value:
    where = keyed.call.range
    items, slots, key = operands.items, dict[str, str](), keyed.key
    if isinstance(items, str):
        slots[_ITEMS] = items
    source = tree.Var(where, _ITEMS) if isinstance(items, str) else items
    if keyed.function is not None:
        slots[_KEY], key = operands.by_name["key"], tree.Var(keyed.key.range, _KEY)
    with e.new_scope(Scope(e.scope, slots, has_frame=False), None):
        if keyed.known is sorted:
            return _sorted(e, keyed, key, slots[_ITEMS])
        item = tree.Var(where, _ITEM)
        pair = tree.TupleLiteral(where, (item, tree.Apply(where, key, (item,), ())))

        def run_loop(begin: Callable[[], None], use: Callable[..., None]) -> None:
            def use_pair(exit_: Exit, made: Value) -> None:
                attrs = {"count": 2, "star": None}
                parts = e.node(get_op("prim::Unpack"), (made,), where, attrs, outputs=2).outputs
                use(exit_, *parts)

            run(e, over(pair, source), begin, use_pair)

        default = operands.by_name.get("default", "")
        return emit_extremum(e, keyed.known, function, run_loop, where, default)


def _sorted(e: Emission, keyed: _Keyed, key: Tree, slot: str) -> Value:
    where = keyed.call.range
    item, items = tree.Var(where, _ITEM), tree.Var(where, _ITEMS)
    copy = tree.Apply(where, tree.Const(where, list), (items,), ())
    e.store(slot, e.expression(copy), where)
    keys = collect(e, over(tree.Apply(where, key, (item,), ()), items), "list")
    is_falling = any(_is_true(keyword) for keyword in keyed.call.keywords)
    copied = e.load(slot, where)
    return e.emit("prim::sorted_by_keys", copied, keys, where=where, reverse=is_falling)


def _is_true(keyword: Tree) -> bool:
    """Whether it is ``reverse=True``."""
    assert isinstance(keyword, tree.Keyword)
    return isinstance(keyword.value, tree.Const) and keyword.value.value is True


def over(element: Tree, items: Tree, target: Tree | None = None) -> tree.Comprehension:
    """The loop in the place of a builtin's: of the `element` for each of the items, which `target` is."""
    where = element.range
    loop = tree.Generator(where, target or tree.Var(where, _ITEM), items, ())
    return tree.Comprehension(where, "generator", element, (loop,), where)


def _called(e: Emission, keyed: _Keyed, function: Value, operands: _Operands) -> Value:
    where = keyed.call.range
    names, values = [], []
    for keyword in keyed.call.keywords:
        assert isinstance(keyword, tree.Keyword)
        names.append(_name(keyword))
        if isinstance(keyword.value, tree.Lambda):
            values.append(function_value(e, keyword.value.definition, is_kept=False))
        else:
            values.append(e.load(operands.by_name[keyword.name], where))
    given = operands.items
    if isinstance(given, str):
        items = e.load(given, where)
    else:
        items = generator_value(e, given, is_kept=False)
    return e.emit("py::call", function, items, *values, where=where, kwnames=tuple(names))
