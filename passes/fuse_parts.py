"""Fresh arrays of which a part is stored and the rest is one number: what is computed of them is computed part by part.

    z = np.zeros_like(u)                    r = np.empty_like(u)
    z[1:-1] = u[2:] - u[:-2]                r[1:-1] = u[1:-1] + (u[2:] - u[:-2])
    r = u + z                               r[:1] = u[:1] + 0.0; r[-1:] = u[-1:] + 0.0

`fuse` does this before it makes nests: `z` is not made at all, and what took three passes over memory is one. Legal if
nobody else sees `z`, and the ops that do are elementwise, over arrays of its shape, and lead to one array in C order
that is made between two writes. Shapes that only a run knows are checked; if they differ, the next compile leaves all
as it is (`failed`). The part is a slice along each axis whose bounds are constants. Margins may overlap: there the same
is stored twice. The writes go to an array that nobody else sees yet, so that checks between them may leave for what
was before.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence

from ljit.ir import Block, Effect, Node, Value, get_op
from ljit.ops.control import SNAPSHOT
from ljit.passes.fuse_nodes import (
    Leaves,
    is_elementwise,
    is_filled,
    is_store,
    leaves_of,
    may_leave,
)
from ljit.passes.manager import is_allowed
from ljit.passes.rewriting import drop_repeated_snapshot, insert_constant
from ljit.records import Record
from ljit.types import INT, ArrayType, ScalarType, TupleType, Type

__all__ = ["compute_parts"]

NAME = "fuse"
MAX_RANK = 2  # there are two margins an axis
MAX_OPS = 12  # they are written out for each part
_FULL = slice(None)
Index = tuple[slice, ...]


def compute_parts(block: Block, failed: Collection[int]) -> bool:
    """Rewrite the arrays of one block; whether there were any."""
    changed = False
    for node in list(block):
        parts = _Parts.of(node, failed) if node.op.fill is not None and is_filled(node) else None
        if parts is not None and is_allowed(NAME, node):
            parts.write()
            changed = True
    return changed


class _Parts(Record):
    """An array, the store to a part of it, and the ops that need it, in order; the last one gives the result.

    `base` has its sizes, as an array or a shape; those of `others` have to be the same.
    """

    made: Node
    store: Node
    index: Index
    users: Sequence[Node]
    base: Value
    others: Sequence[Value]

    @staticmethod
    def of(made: Node, failed: Collection[int]) -> _Parts | None:
        """Find what can be computed part by part."""
        stores = [user for user, _ in made.output.uses if is_store(user)]
        if len(stores) != 1 or stores[0].block is not made.block:
            return None
        (store,) = stores
        index = _index_of(store, made.output)
        users = _users(made, store) if index is not None else None
        if index is None or users is None or users[-1].origin in failed:
            return None
        known = dict[Value, Leaves]()
        whole, own = leaves_of(made.output, known), {made.output, *(node.output for node in users)}
        base, *more = whole
        outer = dict.fromkeys(
            v for node in users for v in node.inputs if _is_array(v) and v not in own
        )
        if more or not isinstance(base, Value) or not outer:
            return None
        others = [v for v in outer if leaves_of(v, known) != whole]
        parts = _Parts(made, store, index, users, base, others)
        return parts if parts._is_legal(list(outer)) else None

    @property
    def _number(self) -> object:
        type_ = self.made.output.type
        assert isinstance(type_, ArrayType)
        return type_.dtype.type(self.made.op.fill)  # type: ignore[arg-type]

    def _is_legal(self, outer: Sequence[Value]) -> bool:
        root = self.users[-1]
        if self.store.inputs[2].node in self.users or not isinstance(root.output.type, ArrayType):
            return False
        if root.output.type.layout != "C" or any(map(may_leave, self.users)):
            return False
        if not all(_has_rank(v, root.output.type.ndim) for v in outer) or not _is_sizes(self.base):
            return False
        return self._is_quiet(root) and self._outer_type() == root.output.type.dtype

    def _is_quiet(self, root: Node) -> bool:
        """Whether nothing but the store and Snapshots is in the way, up to the result."""
        before: Node | None = self.store.prev
        while before is not None and before.op is not SNAPSHOT:
            if not before.effects.is_repeatable:
                return False
            before = before.prev
        node = self.made.next
        while node is not None and node is not root:
            is_known = node is self.store or node.op is SNAPSHOT
            if not is_known and node.effects & (Effect.WRITE | Effect.CALL | Effect.EXIT):
                return False
            node = node.next
        return before is not None and node is root

    def _outer_type(self) -> object:
        """The dtype of the result outside of the part, where some ops may be of numbers; None if they could leave."""
        type_ = self.made.output.type
        assert isinstance(type_, ArrayType)
        types: dict[Value, Type] = {self.made.output: type_.element}
        for node in self.users:
            operands = [types.get(v, v.type) for v in node.inputs]
            (out,) = node.op.infer_types(operands, node.attrs)
            if not isinstance(out, ArrayType):
                effects = node.op.effects
                found = effects if isinstance(effects, Effect) else effects(*operands, **node.attrs)
                if found != Effect.PURE or not isinstance(out, ScalarType):
                    return None
            types[node.output] = out
        return out.dtype if isinstance(out, ArrayType) else None

    # -- rewriting ---------------------------------------------------------------------------------

    def write(self) -> None:
        """Put the parts in the place of the result, and drop what nobody needs any more."""
        root, store = self.users[-1], self.store
        checked = self._check()
        result = self._new_array(root)
        self._part(result, store.inputs[1], store.inputs[2], checked)
        number = insert_constant(self._number, root)
        for margin in _margins(self.index):
            self._part(result, insert_constant(margin, root), number, checked)
        root.output.replace_all_uses_with(result)
        result.name = root.output.name
        behind = store.next
        store.erase()
        drop_repeated_snapshot(behind)
        for node in reversed(self.users):
            node.erase()
        self.made.erase()

    def _add(self, op: str, inputs: Sequence[Value], **attrs: object) -> Node:
        root = self.users[-1]
        return root.graph.create(get_op(op), inputs, attrs, like=root).insert_before(root)

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

    def _part(
        self, result: Value, index: Value, stored: Value, checked: Mapping[Value, Value]
    ) -> None:
        """Compute a part of the result, of that part of the operands."""
        known = {self.made.output: stored}
        for node in self.users:
            for v in node.inputs:
                if v not in known:
                    whole = checked.get(v, v)
                    known[v] = (
                        self._add("np::getitem", [whole, index]).output if _is_array(v) else v
                    )
            new = node.graph.create(node.op, [known[v] for v in node.inputs], node.attrs, like=node)
            known[node.output] = new.insert_before(self.users[-1]).output
        self._add("np::setitem", [result, index, known[self.users[-1].output]])


def _is_array(value: Value) -> bool:
    return isinstance(value.type, ArrayType)


def _has_rank(value: Value, rank: int) -> bool:
    """Whether the value has so many axes, none of which is known to be of size 1."""
    type_ = value.type
    return isinstance(type_, ArrayType) and type_.ndim == rank and 1 not in type_.shape


def _is_sizes(value: Value) -> bool:
    items = value.type.items if isinstance(value.type, TupleType) else (value.type,)
    return _is_array(value) or all(t == INT for t in items)


def _rank(value: Value) -> int:
    assert isinstance(value.type, ArrayType)
    return value.type.ndim


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


def _users(made: Node, store: Node) -> list[Node] | None:
    """The elementwise ops that need the array, in order, if nothing else does and one alone gives the result."""
    needed, found = {made.output}, list[Node]()
    node = store.next
    behind = node if node is not None and node.op is SNAPSHOT else None
    while node is not None and len(found) <= MAX_OPS:
        if (
            node.op.elementwise
            and not node.op.schema.written
            and not needed.isdisjoint(node.inputs)
        ):
            if not is_elementwise(node):
                return None
            needed.add(node.output)
            found.append(node)
        node = node.next
    if not found or len(found) > MAX_OPS:
        return None
    allowed = {store, behind, *found}
    inner = [made.output, *(user.output for user in found[:-1])]
    is_alone = all(user in allowed for v in inner for user, _ in v.uses)
    return _with_producers(found, store) if is_alone else None


def _with_producers(users: Sequence[Node], store: Node) -> list[Node]:
    """Add the elementwise ops whose results nothing else needs."""
    members, node = set(users), users[-1].prev
    while node is not None and len(members) < MAX_OPS:
        if node.op is SNAPSHOT and node.is_before(store):
            break
        is_plain = node.op.elementwise and not node.op.schema.written and is_elementwise(node)
        if is_plain and all(user in members for user, _ in node.output.uses):
            members.add(node)
        node = node.prev
    assert store.block is not None
    return [node for node in store.block if node in members]
