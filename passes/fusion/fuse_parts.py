"""What is computed of arrays that are other things in their parts is computed part by part.

    z = np.zeros_like(u)                    r = np.empty_like(u)
    z[1:-1] = u[2:] - u[:-2]                r[1:-1] = u[1:-1] + (u[2:] - u[:-2])
    r = u + z                               r[:1] = u[:1] + 0.0; r[-1:] = u[-1:] + 0.0

`fuse` does this before it makes nests: `z` is not made at all, and what took three passes over memory is one. So it is
with ``np.roll(u, 1, axis=0)`` (`part_sources`). Legal if the ops that need these arrays are elementwise, over arrays of
their shape, and lead to one array in C order that is made between two writes. Shapes that only a run knows are checked;
if they differ, the next compile leaves all as it is (`failed`). Parts may overlap at the margins of small arrays: there
the same is stored twice. The writes go to an array that nobody else sees yet, so that checks between them may leave for
what was before.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence

from ljit.ir import Block, Effect, Node, Value, get_op
from ljit.ops.control import PREDICATE, SNAPSHOT
from ljit.passes.fusion.equal_shapes import Leaves, are_sizes, leaves_of
from ljit.passes.fusion.fuse_nodes import (
    element_inputs,
    element_op,
    is_elementwise,
    is_store,
    may_leave,
)
from ljit.passes.fusion.part_sources import (
    Distance,
    Index,
    Piece,
    Source,
    Updated,
    View,
    source_of,
    with_rolls,
)
from ljit.passes.manager import is_allowed
from ljit.passes.rewriting import drop_repeated_snapshot, insert_constant
from ljit.records import Record, made_by
from ljit.types import ArrayType, ScalarType, TupleType, Type

__all__ = ["compute_parts"]

NAME = "fuse"
MAX_OPS = 12  # they are written out for each part
_WRITES = Effect.WRITE | Effect.CALL | Effect.EXIT
Place = tuple[tuple[object, object], ...]  # an index: slices have no hash


def compute_parts(block: Block, failed: Collection[int], kept: Collection[Node]) -> bool:
    """Rewrite the arrays of one block, but for those that the nodes `kept` make; whether there were any."""
    changed = False
    for node in list(block):
        is_here = node.block is block and node not in kept
        parts = _Parts.of(node, failed, kept) if is_here else None
        if parts is not None and is_allowed(NAME, node):
            parts.write()
            changed = True
    return changed


class _Parts(Record):
    """Arrays with parts, and the ops that need them, in order; the last one gives the result.

    `base` has the sizes of all, as an array or a shape; those of `others` have to be the same.
    """

    source: Source
    users: Sequence[Node]
    base: Value
    others: Sequence[Value]
    views: dict[tuple[Value, Value], Value] = made_by(factory=dict)
    places: dict[Place, Value] = made_by(factory=dict)
    distances: dict[Distance, Value] = made_by(factory=dict)

    @staticmethod
    def of(node: Node, failed: Collection[int], kept: Collection[Node]) -> _Parts | None:
        """Find what can be computed part by part."""
        source = source_of(node)
        users = _users(source) if source is not None else None
        if source is None or users is None or users[-1].origin in failed:
            return None
        source = with_rolls(source, users, kept)
        known = dict[Value, Leaves]()
        whole = leaves_of(source.values[0], known)
        own = {*source.values, *(user.output for user in users)}
        outer = [v for user in users for v in user.inputs if _is_array(v) and v not in own]
        base = source.view
        if base is None:
            outer += [x.array for x in source.pieces[0].given.values() if isinstance(x, View)]
            leaf = next(iter(whole), None)
            if len(whole) != 1 or not isinstance(leaf, Value) or not outer:
                return None
            base = leaf
        others = [v for v in dict.fromkeys(outer) if leaves_of(v, known) != whole]
        parts = _Parts(source, users, base, others)
        return parts if parts._is_legal(outer) else None

    def _is_legal(self, outer: Sequence[Value]) -> bool:
        root, given = self.users[-1], self.source.pieces[0].given.values()
        if any(isinstance(x, Value) and x.node in self.users for x in given):
            return False
        if not isinstance(root.output.type, ArrayType) or root.output.type.layout != "C":
            return False
        if any(map(may_leave, self.users)) or not are_sizes(self.base):
            return False
        if not all(_has_rank(v, root.output.type.ndim) for v in outer):
            return False
        return self._is_quiet(root) and self._outer_type() == root.output.type.dtype

    def _is_quiet(self, root: Node) -> bool:
        """Whether nothing else writes up to the result, and a Snapshot behind a write can go."""
        store = self.source.store
        if self.source.snapshots and store is not None and not _has_snapshot(store):
            return False
        block, inside = root.block, False
        assert block is not None
        for node in block:
            inside |= node in self.source.nodes
            if node is root:
                return True
            is_known = node in self.source.nodes or node.op is SNAPSHOT or _stores_fresh(node)
            if inside and not is_known and node.effects & _WRITES:
                return False
        return False

    def _outer_type(self) -> object:
        """The dtype of the result where some ops may be of numbers; None if they could leave."""
        types: dict[Value, Type] = {}
        for v, x in self.source.pieces[-1].given.items():
            assert isinstance(v.type, ArrayType)
            types[v] = v.type if isinstance(x, Value | View | Updated) else v.type.element
        for node in self.users:
            operands = [types.get(v, v.type) for v in node.inputs]
            (out,) = node.op.infer_types(operands, node.attrs)
            if not isinstance(out, ArrayType):
                found = node.op.effects_on(operands, node.attrs)
                if found != Effect.PURE or not isinstance(out, ScalarType):
                    return None
            types[node.output] = out
        return out.dtype if isinstance(out, ArrayType) else None

    # -- rewriting ---------------------------------------------------------------------------------

    def write(self) -> None:
        """Put the parts in the place of the result, and drop what nobody needs any more."""
        root, store, behind = self.users[-1], self.source.store, self.source.snapshots
        checked = self._check()
        for distance in self.source.distances:
            self.distances[distance] = self._distance(distance)
        if store is not None and self.source.view is None:
            self.places[_key(self.source.pieces[0].index)] = store.inputs[1]
        result = self._new_array(root)
        for piece in self.source.pieces:
            self._part(result, piece, checked)
        root.output.replace_all_uses_with(result)
        result.name = root.output.name
        if store is not None:
            store.erase()
        for snapshot in behind:
            drop_repeated_snapshot(snapshot)
        for node in reversed(self.users):
            node.erase()
        for node in self.source.nodes:
            if node is not store and not any(out.uses for out in node.outputs):
                node.erase()

    def _add(self, op: str, inputs: Sequence[Value], **attrs: object) -> Node:
        root = self.users[-1]
        return root.create_before(get_op(op), inputs, attrs, like=root)

    def _new_array(self, root: Node) -> Value:
        shape = self.base
        if _is_array(shape):
            shape = self._add("np::shape", [shape]).output
        sizes = [shape]
        if isinstance(shape.type, TupleType):
            axes = range(len(shape.type.items))
            sizes = [self._add("prim::TupleIndex", [shape], index=i).output for i in axes]
        return self._add("prim::new_array", sizes, type=root.output.type).output

    def _check(self) -> dict[Value, Value]:
        """Check sizes; gives the arrays that are known to have them."""
        if not self.others:
            return {}
        axes = tuple(tuple(range(_rank(v))) for v in self.others)
        check = self._add("prim::same_sizes", [self.base, *self.others], axes=axes)
        return dict(zip(self.others, check.outputs, strict=True))

    def _part(self, result: Value, piece: Piece, checked: Mapping[Value, Value]) -> None:
        """Compute a part of the result, of that part of the operands."""
        known: dict[Value, Value] = {}
        for v, x in piece.given.items():
            if isinstance(x, Updated):
                known[v] = self._plain(x.node)
            elif isinstance(x, View):
                known[v] = self._view(checked.get(x.array, x.array), x.index)
            else:
                known[v] = x if isinstance(x, Value) else insert_constant(x, self.users[-1])
        for node in self.users:
            for v in node.inputs:
                if v not in known:
                    is_array = _is_array(v)
                    known[v] = self._view(checked.get(v, v), piece.index) if is_array else v
            new = node.graph.create(node.op, [known[v] for v in node.inputs], node.attrs, like=node)
            known[node.output] = new.insert_before(self.users[-1]).output
        self._add("np::setitem", [result, self._place(piece.index), known[self.users[-1].output]])

    def _plain(self, update: Node) -> Value:
        """Compute what an in-place operator would store."""
        inputs, like, root = element_inputs(update), update.inputs[0].type, self.users[-1]
        op = element_op(update)
        new = root.graph.create(op, inputs, update.attrs, outputs=[like], like=update)
        return new.insert_before(root).output

    def _view(self, array: Value, index: Index) -> Value:
        place = self._place(index)
        found = self.views.get((array, place))
        if found is None:
            found = self.views[array, place] = self._add("np::getitem", [array, place]).output
        return found

    def _place(self, index: Index) -> Value:
        key = _key(index)
        found = self.places.get(key)
        if found is None:
            is_known = all(x is None or type(x) is int for bounds in key for x in bounds)
            found = insert_constant(index, self.users[-1]) if is_known else self._slice(*index)
            self.places[key] = found
        return found

    def _slice(self, part: slice) -> Value:
        """The index of a vector with bounds that only a run knows."""
        bounds = map(self._bound, (part.start, part.stop, None))
        return self._add("prim::SliceConstruct", list(bounds)).output

    def _bound(self, bound: int | Value | Distance | None) -> Value:
        if isinstance(bound, Distance):
            return self.distances[bound]
        return bound if isinstance(bound, Value) else insert_constant(bound, self.users[-1])

    def _distance(self, distance: Distance) -> Value:
        """Test that it is not negative, and compute it."""
        bounds = [self._bound(distance.stop), self._bound(distance.start)]
        difference = ((1, 0), (-1, 1))
        root = self.users[-1]
        attrs = {"given": (), "test": difference}
        root.create_before(PREDICATE, bounds, attrs, outputs=0, like=root)
        computed = self._add("py::sub", bounds)
        computed.proven = ("fits",)
        return computed.output


def _key(index: Index) -> Place:
    return tuple((part.start, part.stop) for part in index)


def _has_snapshot(node: Node) -> bool:
    """Whether native code may leave for a Snapshot in front of the node, behind it, too, but for what the node does."""
    before = node.prev
    while before is not None and before.op is not SNAPSHOT:
        if not before.effects.is_repeatable:
            return False
        before = before.prev
    return before is not None


def _stores_fresh(node: Node) -> bool:
    """Whether the node stores a part of a result: only what stands behind all of these stores reads it."""
    made = node.inputs[0].node if is_store(node) else None
    return made is not None and made.op is get_op("prim::new_array")


def _is_array(value: Value) -> bool:
    return isinstance(value.type, ArrayType)


def _has_rank(value: Value, rank: int) -> bool:
    """Whether the value has so many axes, none of which is known to be of size 1."""
    type_ = value.type
    return isinstance(type_, ArrayType) and type_.ndim == rank and 1 not in type_.shape


def _rank(value: Value) -> int:
    assert isinstance(value.type, ArrayType)
    return value.type.ndim


def _users(source: Source) -> list[Node] | None:
    """The elementwise ops that need the arrays, in order, up to the last one that alone gives a result."""
    needed, found = set(source.values), list[Node]()
    node = source.nodes[-1].next
    while node is not None and len(found) < MAX_OPS:
        if (
            node.op.elementwise
            and not node.op.schema.written
            and not needed.isdisjoint(node.inputs)
        ):
            if not is_elementwise(node):
                break
            needed.add(node.output)
            found.append(node)
        node = node.next
    while found:
        allowed = {*source.nodes, *source.snapshots, *found}
        inner = [*source.values, *(user.output for user in found[:-1])]
        if all(user in allowed for v in inner for user, _ in v.uses):
            return _with_producers(found, source)
        found.pop()
    return None


def _with_producers(users: Sequence[Node], source: Source) -> list[Node]:
    """Add the elementwise ops whose results nothing else needs."""
    members, node, last = set(users), users[-1].prev, source.nodes[-1]
    while node is not None and len(members) < MAX_OPS:
        if node.effects & _WRITES and node not in source.nodes:
            break
        if node.op is SNAPSHOT and node not in source.snapshots:
            break
        is_plain = node.op.elementwise and not node.op.schema.written and is_elementwise(node)
        if is_plain and all(user in members for user, _ in node.output.uses):
            members.add(node)
        node = node.prev
    assert last.block is not None
    return [node for node in last.block if node in members]
