"""Stores to columns of a new array become one loop nest: ``out[:, 0] = x * y; out[:, 1] = x - y``.

`fuse` ends with this. Each of the stores would go through all lines of the array's memory, and of that of operands
with the same columns. Contract: the array is made in the same block, and nothing before the last store sees any of
it; the stores' indices are constants that differ in an integer, or in where slices with steps begin (``out[::2] = x;
out[1::2] = y``), so that no element is stored to twice. If such slices turn out to have different sizes, the next
compile leaves the stores as they are (`failed`). The earlier
store moves down to the later one, over nodes that write nothing; the Snapshot between goes, as the one before it still
holds. A nest that nothing but the stores needs becomes part of theirs: so what a store's nest gives to the others, as n
in ``n = np.hypot(x, y); out[:, 0] = x / n; out[:, 1] = y / n``, gets a nest of its own before. What is stored has the
shapes of the columns, or is broadcast to them, whatever the shapes of its parts: so the new nest checks none
(`covers`).
"""

from __future__ import annotations

from collections.abc import Collection, Sequence

from ljit.analysis.dominance import holder_in
from ljit.analysis.own_memory import is_apart, makes_memory
from ljit.ir import Block, Effect, Node, Value, get_op
from ljit.ops.control import MAP, SNAPSHOT, YIELD
from ljit.passes.fusion.fuse_groups import MAX_ARRAYS, MAX_BODY
from ljit.passes.fusion.fuse_nodes import element_type, is_store, nest_type
from ljit.passes.manager import is_allowed
from ljit.types import ArrayType

__all__ = ["merge_stores"]

NAME = "fuse"
_BARRIERS = Effect.WRITE | Effect.CALL | Effect.EXIT


def merge_stores(block: Block, failed: Collection[int]) -> bool:
    """Merge the stores of one block; whether there were any."""
    changed = False
    for nest in list(block):
        if _has_results_for_stores(nest) and is_allowed(NAME, nest):
            _split_results(nest)
            changed = True
    node = block.first
    while node is not None:
        later = _next_store(node) if _array_of(node) is not None else None
        is_new = later is not None and later.origin not in failed
        if later is not None and is_new and _can_merge(node, later) and is_allowed(NAME, later):
            node = _merge(node, later)
            changed = True
            continue
        if len(_views(node)) > 1:
            node = _take_in(node)
        node = node.next
    return changed


# -- what is stored where --------------------------------------------------------------------------


def _views(node: Node) -> Sequence[Value]:
    """The views that a nest without results writes to, and which are apart from what it reads."""
    return () if node.outputs else _written(node)


def _written(node: Node) -> Sequence[Value]:
    if node.op is not MAP or not node.attrs.get("apart"):
        return ()
    into = node.attrs["into"]
    assert isinstance(into, int)
    return node.inputs[:into]


def _array_of(node: Node) -> Value | None:
    """The array to whose columns the node stores."""
    if is_store(node):
        is_simple = len(node.inputs) == 3 and nest_type(node) is not None
        array, *others = node.inputs
        return array if is_simple and is_apart(array, others) else None
    return _array_of_views(_views(node))


def _array_of_views(views: Sequence[Value]) -> Value | None:
    for view in views:
        made = view.node
        if made is not None and made.op.reads_part:
            return made.inputs[0]
    return None


def _indices(node: Node) -> list[Value]:
    """The indices of the columns that it stores to."""
    if is_store(node):
        return [node.inputs[1]]
    return [view.node.inputs[1] for view in _views(node) if view.node is not None]


def _next_store(node: Node) -> Node | None:
    """The next node that writes, if nothing else than Snapshots and pure work stands between."""
    later = node.next
    while later is not None:
        if later.op is not SNAPSHOT and (later.effects & _BARRIERS or is_store(later)):
            return later if _array_of(later) is _array_of(node) else None
        later = later.next
    return None


def _can_merge(first: Node, second: Node) -> bool:
    array = _array_of(first)
    assert array is not None
    made = array.node
    if made is None or made.block is not first.block or not makes_memory(made):
        return False
    if not all(_differ(i, k) for i in _indices(first) for k in _indices(second)):
        return False
    if _count(first) + _count(second) > MAX_BODY or not _are_few([*first.inputs, *second.inputs]):
        return False
    return _is_unseen_before(array, first, second)


def _differ(first: Value, second: Value) -> bool:
    """Whether constant indices have the same form, and something at the same place tells them apart."""
    if not first.is_constant or not second.is_constant:
        return False
    one, other = (x if isinstance(x, tuple) else (x,) for x in (first.constant, second.constant))
    if len(one) != len(other):
        return False
    pairs = list(zip(one, other, strict=True))
    are_apart = [_are_apart(a, b) for a, b in pairs]
    return any(are_apart) and all(
        is_apart or repr(a) == repr(b) for (a, b), is_apart in zip(pairs, are_apart, strict=True)
    )


def _are_apart(a: object, b: object) -> bool:
    """Whether two integers are different places, or what two slices take lies in between each other's."""
    if isinstance(a, slice) and isinstance(b, slice):
        first, second, step = a.start or 0, b.start or 0, a.step
        if repr((a.stop, a.step)) != repr((None, b.step)) or not all(
            map(_is_int, (first, second, step))
        ):
            return False
        return first != second and min(first, second) >= 0 and max(first, second) < step
    return _is_int(a) and _is_int(b) and a != b and (a < 0) == (b < 0)  # type: ignore[operator]


def _is_int(item: object) -> bool:
    return type(item) is int


def _count(node: Node) -> int:
    return sum(1 for block in node.blocks for _ in block)


def _are_few(values: Sequence[Value]) -> bool:
    return len({v for v in values if isinstance(v.type, ArrayType)}) <= MAX_ARRAYS


def _is_unseen_before(array: Value, first: Node, second: Node) -> bool:
    """Whether all that is done with the array, up to the second store, is that columns are stored."""
    block, behind = first.block, set[Node]()
    node: Node | None = second
    while node is not None:
        behind.add(node)
        node = node.next
    return all(
        holder_in(user, block) in behind or user.op is SNAPSHOT or _only_stores(user, index)
        for user, index in array.uses
    )


def _only_stores(user: Node, index: int) -> bool:
    """Whether the user stores to elements of the array, or is a view that only nests write to."""
    if is_store(user):
        return index == 0
    if not user.op.reads_part or user.effects & Effect.ALLOC:
        return False
    return all(place < len(_views(node)) for node, place in user.output.uses)


def _has_results_for_stores(node: Node) -> bool:
    """Whether a nest writes to a column of an array, and gives arrays that only stores to its other columns need."""
    views = _written(node)
    array = _array_of_views(views)
    if len(views) != 1 or array is None or node.attrs.get("reduce"):
        return False
    if any(inner.op.can_leave(inner) for inner in node.blocks[0]):
        return False
    users = {user for out in node.outputs for user, _ in out.uses if user.op is not SNAPSHOT}
    return bool(users) and all(
        array is (_array_of(user) if is_store(user) else _array_of_views(_written(user)))
        for user in users
    )


# -- rewriting -------------------------------------------------------------------------------------


def _merge(first: Node, second: Node) -> Node:
    """Put one nest in the place of the second store; gives it."""
    parts = [_as_nest(first), _as_nest(second)]
    views = [view for part in parts for view in _views(part)]
    node = parts[0].next
    while node is not parts[1]:
        assert node is not None
        following = node.next
        if node.op is SNAPSHOT:
            node.erase()
        node = following
    return _nest(parts, views, parts[1])


def _as_nest(node: Node) -> Node:
    """A store of an array as a nest."""
    if not is_store(node):
        return node
    graph, value = node.graph, node.inputs[-1]
    view = graph.create(get_op("np::getitem"), node.inputs[:2], like=node)
    view.proven = node.proven
    view.insert_before(node)
    attrs = {"into": 1, "apart": True}
    nest = graph.create(MAP, [view.output, value], attrs, outputs=(), like=node)
    body = nest.add_block([(value.name, element_type(value.type))])
    body.create(YIELD, body.params)
    nest.insert_before(node)
    node.erase()
    return nest


def _nest(parts: Sequence[Node], views: Sequence[Value], place: Node) -> Node:
    """Make one nest of several that follow each other: results that only later ones of them need are not stored."""
    graph, inside = place.graph, set(parts)
    operands = [v for part in parts for v in part.inputs[len(_views(part)) :]]
    inputs = list(dict.fromkeys(v for v in operands if v.node not in inside))
    attrs = {"into": len(views), "apart": True}
    new = graph.create(MAP, [*views, *inputs], attrs, outputs=(), like=place)
    body = new.add_block((v.name, element_type(v.type)) for v in inputs)
    elements, stored = dict(zip(inputs, body.params, strict=True)), []
    for part in parts:
        results = _copy(part, body, elements)
        stored += results[: len(_views(part))]
        elements.update(zip(part.outputs, results, strict=False))
    body.create(YIELD, stored)
    new.insert_before(place)
    for part in reversed(parts):
        part.erase()
    return new


def _copy(part: Node, body: Block, elements: dict[Value, Value]) -> list[Value]:
    """Copy what a nest does to an element; gives its results."""
    (block,) = part.blocks
    own = part.inputs[len(_written(part)) :]
    known = {param: elements[v] for param, v in zip(block.params, own, strict=True)}
    for node in block:
        if node.op is YIELD:
            return [known[v] for v in node.inputs]
        made = part.graph.create(
            node.op, [known.get(v, v) for v in node.inputs], node.attrs, like=node
        )
        made.output.name = node.output.name
        known[node.output] = body.append(made).output
    return []


def _split_results(nest: Node) -> None:
    """Let a nest in front compute the arrays that a nest with one store gives."""
    graph, own = nest.graph, nest.inputs[1:]
    types = [out.type for out in nest.outputs]
    made = graph.create(MAP, own, {"into": 0}, outputs=types, like=nest)
    attrs = {"into": 1, "apart": True}
    stores = graph.create(MAP, [*nest.inputs, *made.outputs], attrs, outputs=(), like=nest)
    for new in (made, stores):
        body = new.add_block(
            (v.name, element_type(v.type)) for v in [*own, *new.inputs[1 + len(own) :]]
        )
        stored, *results = _copy(nest, body, dict(zip(own, body.params, strict=False)))
        body.create(YIELD, [stored] if new is stores else results)
        if new is stores:
            for result, given in zip(results, body.params[len(own) :], strict=True):
                result.replace_all_uses_with(given)
        _erase_unused(body)
        new.insert_before(nest)
    for out, value in zip(nest.outputs, made.outputs, strict=True):
        out.replace_all_uses_with(value)
    nest.erase()


def _erase_unused(body: Block) -> None:
    for node in reversed(list(body)):
        if node.op is not YIELD and not any(out.uses for out in node.outputs):
            node.erase()


def _take_in(nest: Node) -> Node:
    """Let the nest compute what others make for it alone; gives it as it is then."""
    todo = [v.node for v in nest.inputs]
    for made in dict.fromkeys(todo):
        if made is not None and _is_only_for(made, nest):
            nest = _nest([made, nest], _views(nest), nest)
    return nest


def _is_only_for(made: Node, nest: Node) -> bool:
    """Whether `made` is a nest whose results nothing but `nest` needs, and that could come in its place."""
    if made.op is not MAP or made.block is not nest.block or made.attrs.get("into", 0):
        return False
    if made.attrs.get("reduce"):
        return False
    views = _views(nest)
    if any(user is not nest or i < len(views) for out in made.outputs for user, i in out.uses):
        return False
    if _count(made) + _count(nest) > MAX_BODY or not _are_few([*made.inputs, *nest.inputs]):
        return False
    if any(inner.op.can_leave(inner) for inner in made.blocks[0]):
        return False
    read = [v for inner in made.walk() for v in inner.inputs]
    if not all(is_apart(view, read) for view in views):
        return False
    node = made.next
    while node is not nest:
        if node is None or (node.op is not SNAPSHOT and node.effects & _BARRIERS):
            return False
        node = node.next
    return True
