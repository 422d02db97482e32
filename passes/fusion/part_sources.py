"""Arrays that are other things in their parts: what `fuse_parts` need not make.

- ``z = np.zeros_like(u)`` with one store to a part of it, ``z[1:-1] = x``: `x` there, a number along the margins.
- ``np.roll(a, 1, axis=0)``: ``a[:-1]`` behind the first row, which is ``a[-1:]``. Others along that axis, by one, that
  are computed with have the same parts. Where the axis has one element, the sizes of the parts do not fit: that check
  leaves native code.
- ``v[t:]`` behind ``v[s:] = x`` or ``v[s:] += x``, where nobody else sees the vector: what is stored, behind the first
  ``s - t`` elements, which are ``v[t:s]`` as it was. A test finds that `t` and ``s - t`` are not negative, if only a
  run can tell.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence

from ljit.analysis.own_memory import makes_memory
from ljit.ir import Effect, Node, Value, get_op
from ljit.ops.control import SNAPSHOT
from ljit.passes.fusion.fuse_nodes import is_elementwise, is_filled, is_store, is_writing
from ljit.passes.fusion.fuse_updates import keeps_dtype, only_reads
from ljit.records import Record
from ljit.types import INT, ArrayType, Type

__all__ = ["Distance", "Index", "Piece", "Source", "Updated", "View", "source_of", "with_rolls"]

MAX_RANK = 3  # of arrays with margins: there are two an axis
_FULL = slice(None)
Index = tuple[slice, ...]  # of ints, Values and Distances


class Distance(Record):
    """An int that only a run knows: how far `stop` is behind `start`, which it must not be in front of."""

    start: int | Value
    stop: int | Value


class View(Record):
    """A part of an array."""

    array: Value
    index: Index


class Updated(Record):
    """What an in-place operator would store."""

    node: Node


class Piece(Record):
    """One of the parts, and what the arrays are there; a number is one of NumPy's."""

    index: Index
    given: Mapping[Value, Value | View | Updated | object]


class Source(Record):
    """Arrays, the nodes that make them, in order, and their parts; they go together where `node` stands.

    `distances` are to be tested. A `view` is an array that has parts, of one that others have made.
    """

    node: Node
    values: Sequence[Value]
    nodes: Sequence[Node]
    pieces: Sequence[Piece]
    distances: Sequence[Distance] = ()
    view: Value | None = None

    @property
    def store(self) -> Node | None:
        """The write that there will not be."""
        return next(filter(is_writing, self.nodes), None)

    @property
    def snapshots(self) -> list[Node]:
        """The Snapshots behind the write."""
        return _snapshots_behind(self.store) if self.store is not None else []


def source_of(node: Node) -> Source | None:
    """Give the arrays that a node begins to make, if they have parts."""
    if node.op.fill is not None and is_filled(node):
        return _stored(node)
    if node.op.reads_part:
        return _updated(node)
    axis = _axis_of_roll(node)
    return None if axis is None else _rolled([node], axis)


def with_rolls(source: Source, users: Sequence[Node], kept: Collection[Node]) -> Source:
    """Add what is rolled along the same axis, but for some that are `kept`, and needed by nothing but these nodes."""
    axis = _axis_of_roll(source.node)
    if axis is None:
        return source
    rolls = dict.fromkeys(
        v.node
        for user in users
        for v in user.inputs
        if v.node is not None and v.node.block is source.node.block
        if v.node not in kept and _axis_of_roll(v.node) == axis
        if all(x in users for x, _ in v.uses)
    )
    return _rolled(list(rolls), axis)


# -- a part that is stored -------------------------------------------------------------------------


def _stored(made: Node) -> Source | None:
    stores = [user for user, _ in made.output.uses if is_store(user)]
    if len(stores) != 1 or stores[0].block is not made.block:
        return None
    (store,) = stores
    index = _index_of(store, made.output)
    if index is None:
        return None
    type_ = made.output.type
    assert isinstance(type_, ArrayType)
    number = type_.dtype.type(made.op.fill)  # type: ignore[arg-type]
    pieces = [Piece(index, {made.output: store.inputs[2]})]
    pieces += [Piece(margin, {made.output: number}) for margin in _margins(index)]
    return Source(made, [made.output], [made, store], pieces)


def _index_of(store: Node, made: Value) -> Index | None:
    """The slices that an array of the same dtype is stored to, one an axis, if these are constants."""
    type_, index = made.type, store.inputs[1]
    assert isinstance(type_, ArrayType)
    if len(store.inputs) != 3 or store.inputs[0] is not made or not index.is_constant:
        return None
    stored = store.inputs[2].type
    if not isinstance(stored, ArrayType) or stored.dtype != type_.dtype or type_.dtype.kind != "f":
        return None
    found = index.constant if isinstance(index.constant, tuple) else (index.constant,)
    if type_.ndim > MAX_RANK or len(found) > type_.ndim or not all(map(_is_plain, found)):
        return None
    return (*found, *[_FULL] * (type_.ndim - len(found)))


def _is_plain(item: object) -> bool:
    if not isinstance(item, slice) or item.step not in (None, 1):
        return False
    return all(bound is None or type(bound) is int for bound in (item.start, item.stop))


def _margins(index: Index) -> list[Index]:
    """What is left of all, as slices that do not meet, unless the array is too small."""
    found = []
    for axis, part in enumerate(index):
        behind = (_FULL,) * (len(index) - axis - 1)
        if part.start:
            found.append((*index[:axis], slice(None, part.start), *behind))
        if part.stop is not None:
            found.append((*index[:axis], slice(part.stop, None), *behind))
    return found


# -- a view behind a store -------------------------------------------------------------------------


def _updated(view: Node) -> Source | None:
    array = view.inputs[0]
    made, type_, write = array.node, array.type, _only_write(array)
    if write is None or not isinstance(type_, ArrayType) or type_.ndim != 1:
        return None
    store, start, first = write[0], _start(view.inputs[1]), _start(write[1])
    if made is None or not makes_memory(made) or start is None or first is None:
        return None
    if not (made.block is store.block is view.block and store.is_before(view)):
        return None
    if is_store(store) and not _is_like(store.inputs[-1].type, type_):
        return None
    is_dead = _is_read_before(array, store, (store, view, *_snapshots_behind(store)))
    return _two_parts(view, store, start, first) if is_dead else None


def _two_parts(view: Node, store: Node, start: int | Value, first: int | Value) -> Source | None:
    """The view from `start` on, of which what lies behind `first` is stored."""
    distances = [Distance(0, start), Distance(start, first)]
    before: int | Distance = distances[1]
    if isinstance(start, int) and isinstance(first, int):
        before, distances = first - start, []
        if before < 0:
            return None
    old = View(view.inputs[0], (slice(start, first),))
    new = store.inputs[-1] if is_store(store) else Updated(store)
    pieces = [
        Piece((slice(before, None),), {view.output: new}),
        Piece((slice(None, before),), {view.output: old}),
    ]
    return Source(view, [view.output], [store, view], pieces, distances, view.output)


def _only_write(array: Value) -> tuple[Node, Value] | None:
    """What writes to a part of the array, if that is one node, and the part's index."""
    found: list[tuple[Node, Value]] = []
    for user, position in array.uses:
        if is_store(user) and position == 0 and len(user.inputs) == 3:
            found.append((user, user.inputs[1]))
        elif user.op.reads_part:
            updates = (u for out in user.outputs for u, i in out.uses if i == 0 and _updates(u))
            found += [(update, user.inputs[1]) for update in updates]
    return found[0] if len(found) == 1 else None


def _is_like(stored: Type, type_: ArrayType) -> bool:
    if not isinstance(stored, ArrayType):
        return False
    return stored.ndim == type_.ndim and stored.dtype == type_.dtype


def _updates(node: Node) -> bool:
    """Whether the node is an in-place operator that is as good as the plain one and a store."""
    is_update = is_elementwise(node) and node.op.schema.written and not node.op.overwrites
    return bool(is_update) and keeps_dtype(node) and not node.output.uses


def _start(index: Value) -> int | Value | None:
    """Where a slice begins that goes to the end: an int that is not negative, or one that only a run knows."""
    if index.is_constant:
        found = index.constant
        if not isinstance(found, slice) or not _is_plain(found) or found.stop is not None:
            return None
        return found.start or 0 if (found.start or 0) >= 0 else None
    node = index.made_by(get_op("prim::SliceConstruct"))
    if node is None:
        return None
    start, *others = node.inputs
    is_start = start.type == INT and all(v.is_constant and v.constant is None for v in others)
    return start if is_start else None


def _snapshots_behind(node: Node) -> list[Node]:
    """The Snapshots that follow the node at once."""
    found: list[Node] = []
    behind = node.next
    while behind is not None and behind.op is SNAPSHOT:
        found.append(behind)
        behind = behind.next
    return found


def _is_read_before(array: Value, store: Node, gone: Sequence[Node]) -> bool:
    """Whether only reads in front of the store see an array, or views of it, but for nodes that will be gone."""
    for user, _ in array.uses:
        if user in gone:
            continue
        if user.block is not store.block or not user.is_before(store):
            return False
        is_view = user.op.reads_part and not user.effects & Effect.ALLOC
        if not (_is_read_before(user.output, store, gone) if is_view else only_reads(user)):
            return False
    return True


# -- rolled by one ---------------------------------------------------------------------------------


def _axis_of_roll(node: Node) -> int | None:
    """The axis along which the node rolls an array by one."""
    if node.op is not get_op("np::roll") or not node.inputs[1].is_constant:
        return None
    type_, axis = node.output.type, node.attrs.get("axis")
    if not isinstance(type_, ArrayType) or node.inputs[1].constant not in (1, -1):
        return None
    if axis is None:
        return 0 if type_.ndim == 1 else None
    assert isinstance(axis, int)
    return axis % type_.ndim


def _rolled(rolls: Sequence[Node], axis: int) -> Source:
    """Which parts there are depends on the directions that arrays are rolled in."""
    shifts = [roll.inputs[1].constant for roll in rolls]
    head, tail = 1 in shifts, -1 in shifts
    parts = [(slice(1 if head else None, -1 if tail else None), *_INNER[head, tail])]
    if head:
        parts.append((slice(None, 1), slice(-1, None), slice(1, 2)))
    if tail:
        parts.append((slice(-1, None), slice(-2, -1), slice(None, 1)))
    before = (_FULL,) * axis
    pieces = []
    for part, forward, backward in parts:
        given = {
            roll.output: View(roll.inputs[0], (*before, forward if shift == 1 else backward))
            for roll, shift in zip(rolls, shifts, strict=True)
        }
        pieces.append(Piece((*before, part), given))
    return Source(rolls[0], [roll.output for roll in rolls], rolls, pieces)


#: what lies between the ends of arrays that are rolled forward, and backward, if there are any of them
_INNER = {
    (True, True): (slice(None, -2), slice(2, None)),
    (True, False): (slice(None, -1), _FULL),
    (False, True): (_FULL, slice(1, None)),
}
