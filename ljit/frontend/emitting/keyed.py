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

__all__ = ["Key", "emit_keyed", "over", "sorted_by_keys", "sorting_key", "stored"]

#: names that no variable of a program has
_ITEM, _ITEMS, _KEY = "item with a key", "items with keys", "key function"


class _Keyed(Record):
    """A call of `min`, `max` or `sorted` with a key."""

    call: tree.Apply
    known: object  # the builtin
    key: Tree
    function: object  # that is the key; None for a lambda


class Key(Record, frozen=False):
    """The key of a sort, a lambda or a function of Python's, and the slot that has the latter."""

    tree: Tree
    function: object
    slot: str = ""


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
    if known is sorted:
        found = sorting_key(e, call)
        return _Keyed(call, known, found.tree, found.function) if found is not None else None
    if not others <= {"default"}:
        return None
    key = _key(e, given["key"])
    return _Keyed(call, known, key.tree, key.function) if key is not None else None


def sorting_key(e: Emission, call: tree.Apply) -> Key | None:
    """The key of a call that sorts, if its keywords are a key that a loop can compute and whether to reverse."""
    given = {k.name: k.value for k in call.keywords if isinstance(k, tree.Keyword)}
    is_usual = len(given) == len(call.keywords) and given.keys() <= {"key", "reverse"}
    if not is_usual or "key" not in given or not e.inlines_generators:
        return None
    return _key(e, given["key"]) if _is_bool(given.get("reverse")) else None


def _key(e: Emission, key: Tree) -> Key | None:
    if isinstance(key, tree.Lambda):
        return Key(key, None) if takes(key.definition, 1) else None
    function = known_value(e, key)
    return Key(key, function) if gains(function) else None


def _is_inlined(e: Emission, keyed: _Keyed) -> bool:
    """Whether nobody can tell that what stands behind the items is evaluated before them."""
    by_name = {k.name: k.value for k in keyed.call.keywords if isinstance(k, tree.Keyword)}
    is_settled = "default" not in by_name or isinstance(by_name["default"], tree.Const)
    return is_settled and is_generator(e, keyed.call.arguments[0])


def _name(keyword: Tree) -> str:
    assert isinstance(keyword, tree.Keyword)
    return keyword.name


def _is_bool(value: Tree | None) -> bool:
    """Whether a flag is a constant, or not given."""
    return value is None or (isinstance(value, tree.Const) and isinstance(value.value, bool))


def stored(e: Emission, value: Value, where: SourceRange) -> str:
    """Put a value into a slot of its own; gives that."""
    slot = e.fresh_slot()
    e.store(slot, value, where)
    return slot


def _in_loop(e: Emission, keyed: _Keyed, function: Value, operands: _Operands) -> Value:
    where = keyed.call.range
    items, slots, key = operands.items, dict[str, str](), keyed.key
    if keyed.known is sorted:
        assert isinstance(items, str)
        copy = e.emit(
            "py::call", e.constant(list, where), e.load(items, where), where=where, kwnames=()
        )
        e.store(items, copy, where)
        by = Key(key, keyed.function, operands.by_name.get("key", ""))
        return sorted_by_keys(e, keyed.call, by, items)
    if isinstance(items, str):
        slots[_ITEMS] = items
    source = tree.Var(where, _ITEMS) if isinstance(items, str) else items
    if keyed.function is not None:
        slots[_KEY], key = operands.by_name["key"], tree.Var(keyed.key.range, _KEY)
    with e.new_scope(Scope(e.scope, slots, has_frame=False), None):
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


def sorted_by_keys(e: Emission, call: tree.Apply, key: Key, items: str) -> Value:
    """A new list of the items in a slot, a list that nobody else has, in the order of their keys."""
    where, slots, function = call.range, {_ITEMS: items}, key.tree
    if key.function is not None:
        slots[_KEY], function = key.slot, tree.Var(key.tree.range, _KEY)
    with e.new_scope(Scope(e.scope, slots, has_frame=False), None):
        of_item = tree.Apply(where, function, (tree.Var(where, _ITEM),), ())
        keys = collect(e, over(of_item, tree.Var(where, _ITEMS)), "list")
    is_falling = any(_is_true(keyword) for keyword in call.keywords)
    operands = e.load(items, where), keys
    return e.emit("prim::sorted_by_keys", *operands, where=where, reverse=is_falling)


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
