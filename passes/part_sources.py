"""Arrays that are other things in their parts: what `fuse_parts` need not make.

- ``z = np.zeros_like(u)`` with one store to a part of it, ``z[1:-1] = x``: `x` there, a number along the margins.
- ``np.roll(a, 1, axis=0)``: ``a[:-1]`` behind the first row, which is ``a[-1:]``. Others along that axis, by one, that
  are computed with have the same parts. Where the axis has one element, the sizes of the parts do not fit: that check
  leaves native code.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from ljit.ir import Node, Value, get_op
from ljit.ops.control import SNAPSHOT
from ljit.passes.fuse_nodes import is_filled, is_store
from ljit.records import Record
from ljit.types import ArrayType

__all__ = ["Index", "Piece", "Source", "View", "source_of", "with_rolls"]

MAX_RANK = 3  # of arrays with margins: there are two an axis
_FULL = slice(None)
Index = tuple[slice, ...]


class View(Record):
    """A part of an array."""

    array: Value
    index: Index


class Piece(Record):
    """One of the parts, and what the arrays are there; a number is one of NumPy's."""

    index: Index
    given: Mapping[Value, Value | View | object]


class Source(Record):
    """Arrays, the nodes that make them, in order, and their parts; they go together where `node` stands."""

    node: Node
    values: Sequence[Value]
    nodes: Sequence[Node]
    pieces: Sequence[Piece]

    @property
    def snapshot(self) -> Node | None:
        """The Snapshot behind a write that there will not be."""
        behind = self.nodes[-1].next
        return behind if is_store(self.nodes[-1]) and behind and behind.op is SNAPSHOT else None


def source_of(node: Node) -> Source | None:
    """Give the arrays that a node begins to make, if they have parts."""
    if node.op.fill is not None and is_filled(node):
        return _stored(node)
    axis = _axis_of_roll(node)
    return None if axis is None else _rolled([node], axis)


def with_rolls(source: Source, users: Sequence[Node]) -> Source:
    """Add what is rolled along the same axis and needed by nothing but these nodes."""
    axis = _axis_of_roll(source.node)
    if axis is None:
        return source
    rolls = dict.fromkeys(
        v.node
        for user in users
        for v in user.inputs
        if v.node is not None and v.node.block is source.node.block
        if _axis_of_roll(v.node) == axis and all(x in users for x, _ in v.uses)
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
