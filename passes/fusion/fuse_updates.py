"""Updates of arrays that nobody else sees become plain ops: ``x = a * b; x += c`` is ``x = a * b + c``.

`fuse_rows` and `fuse` begin with this, so that updates do not part loop nests. The array was made in the same block;
all that saw it before the update only read its elements: then a new array in its place is no difference. The
update must not change the dtype of its result. Its operands must have no more elements than the array: their shapes are
the same, or a check in front (`prim::same_sizes`) finds out; if that fails, the next compile leaves the update as it is
(`failed`). The Snapshot behind has nothing left to keep, unless something else was written since the one before it.

Sizes are asked of arrays that are there anyway: the squares in a mean of squares need not be in memory.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence

from ljit.analysis.own_memory import makes_memory
from ljit.ir import Block, Effect, Node, Value, get_op
from ljit.ops.control import SNAPSHOT
from ljit.passes.fusion.equal_shapes import Leaves, joint_leaves, leaves_of
from ljit.passes.fusion.fuse_nodes import element_inputs, element_op, is_elementwise, is_filled
from ljit.passes.manager import is_allowed
from ljit.passes.rewriting import drop_repeated_snapshot, insert_constant
from ljit.records import Record
from ljit.types import ArrayType, TupleType, Type, is_number

__all__ = [
    "Check",
    "has_full_source",
    "is_unseen",
    "keeps_dtype",
    "make_updates_plain",
    "nodes_between",
    "only_reads",
    "put_in_place",
    "spanning_axes",
]

NAME = "fuse"


def make_updates_plain(block: Block, failed: Collection[int]) -> bool:
    """Rewrite the updates of one block; whether there were any."""
    changed = False
    for node in [node for node in block if node.op.elementwise and node.op.schema.written]:
        if not is_elementwise(node) or not is_unseen(node):
            continue
        if not keeps_dtype(node) or not _keeps_order(node):
            continue
        check = Check.of(node, element_inputs(node), failed)
        if check is None or (check.others and node.op.overwrites) or not is_allowed(NAME, node):
            continue
        if check.others:
            check.insert()
        behind = node.next
        _replace(node)
        drop_repeated_snapshot(behind)
        changed = True
    return changed


def _replace(node: Node) -> None:
    """Put the plain op in the place of the update; what comes behind sees its result."""
    target = node.inputs[0]
    made = target.node
    assert made is not None
    new = node.graph.create(
        element_op(node), _operands(node), node.attrs, outputs=[target.type], like=node
    )
    put_in_place(node, new.insert_before(node).output)
    node.replace_with([new.output])
    if is_filled(made):
        _drop_filled(made)


def put_in_place(node: Node, new: Value) -> None:
    """Let what comes behind the update of an unseen array see another array."""
    target = node.inputs[0]
    assert target.node is not None
    early = {node, *nodes_between(target.node, node)}
    for user, index in list(target.uses):
        if user not in early and user is not new.node:
            user.set_input(index, new)
    new.name = target.name


def _operands(node: Node) -> list[Value]:
    """The operands of the plain op; a number for an array that is full of it, if another one has its sizes."""
    target, inputs = node.inputs[0], list(element_inputs(node))
    made = target.node
    assert made is not None
    if not is_filled(made):
        return inputs
    known: dict[Value, Leaves] = {}
    whole = leaves_of(target, known)
    others = [v for v in inputs if v is not target and isinstance(v.type, ArrayType)]
    if any(leaves_of(v, known) == whole for v in others):
        assert isinstance(target.type, ArrayType)
        number = insert_constant(target.type.dtype.type(made.op.fill), node)
        return [number if v is target else v for v in inputs]
    return inputs


def _drop_filled(made: Node) -> None:
    """Erase an array of which nothing but the sizes is needed, which other arrays have."""
    shapes = [user for user, _ in made.output.uses]
    source = made.inputs[0]
    is_array = isinstance(source.type, ArrayType)
    for user in shapes:
        if user.op is not get_op("np::shape") or not (is_array or user.output.type == source.type):
            return
    for user in shapes:
        if is_array:
            user.set_input(0, source)
        else:
            user.replace_with([source])
    made.erase()


def keeps_dtype(node: Node) -> bool:
    """Whether the plain op gives arrays of the dtype of the target; in C order they lie like that."""
    target = node.inputs[0].type
    inputs = [v.type for v in element_inputs(node)]
    (type_,) = element_op(node).infer_types(inputs, node.attrs)
    if not isinstance(type_, ArrayType) or not isinstance(target, ArrayType):
        return False
    same = type_.dtype == target.dtype and type_.ndim == target.ndim
    return same and (target.layout == "C" or type_ == target) and node.output.type == target


def _keeps_order(node: Node) -> bool:
    """Whether a new array lies in memory like the target: an operand in another order would turn it about.

    A strided type does not tell the order of the axes; numbers and rows have none.
    """
    target = node.inputs[0]
    if isinstance(target.type, ArrayType) and target.type.layout == "C":
        return True
    others = [v.type for v in element_inputs(node) if v is not target]
    return all(not isinstance(t, ArrayType) or t.ndim < 2 for t in others)


def is_unseen(node: Node) -> bool:
    """Whether nobody can tell the array that the node updates from a new one."""
    target = node.inputs[0]
    made = target.node
    if made is None or made.block is not node.block or not makes_memory(made):
        return False
    early = nodes_between(made, node)
    return all(only_reads(user) for user, _ in target.uses if user in early)


def nodes_between(first: Node, last: Node) -> set[Node]:
    """The nodes between two of a block, at any depth."""
    found: set[Node] = set()
    node = first.next
    while node is not None and node is not last:
        found.update(node.walk())
        node = node.next
    return found


def only_reads(user: Node) -> bool:
    """Whether the user takes the elements or the sizes, and then has nothing of the array."""
    if user.op is SNAPSHOT:
        return True
    if user.effects == Effect.PURE and all(_is_numbers(out.type) for out in user.outputs):
        return True
    is_reduction = user.op.reduction is not None
    return is_reduction or (is_elementwise(user) and not user.op.schema.written) or _copies(user)


def _copies(user: Node) -> bool:
    """Whether what the node gives is new memory, as ``a[mask]`` is."""
    return makes_memory(user) and not user.blocks and not user.op.schema.written


def _is_numbers(type_: Type) -> bool:
    return is_number(type_) or (isinstance(type_, TupleType) and all(map(is_number, type_.items)))


class Check(Record):
    """Which arrays must have the sizes of `base`, an array or a shape, for an update to be a plain op."""

    node: Node
    base: Value
    others: Sequence[Value]
    target: Value

    @staticmethod
    def of(
        node: Node,
        inputs: Iterable[Value],
        failed: Collection[int],
        *,
        may_broadcast: bool = True,
        target: Value | None = None,
    ) -> Check | None:
        """Find what only a run can tell; None if there is no telling. `target`: the array, if it is not updated."""
        known: dict[Value, Leaves] = {}
        is_updated, target = target is None, target or node.inputs[0]
        whole = leaves_of(target, known)
        arrays = [v for v in inputs if isinstance(v.type, ArrayType)]
        if is_updated and may_broadcast and joint_leaves([target, *arrays], known) == whole:
            return Check(node, target, [], target)
        if target.node is None or target.node.block is not node.block:
            return Check(node, target, [], target)
        sources = _sources([target, *arrays], target.node)
        bases = sorted((v for v in whole if isinstance(v, Value)), key=lambda v: v.key)
        bases += [v for v in sources if leaves_of(v, known) <= whole]
        bases = [v for v in bases if _is_full(v, target)]
        if not bases or node.origin in failed:
            return None
        base = bases[0]
        same = leaves_of(base, known) if isinstance(base.type, ArrayType) else frozenset((base,))
        others = [v for v in sources if v is not base and leaves_of(v, known) != same]
        return Check(node, base, others, target)

    def insert(self) -> None:
        """Put the check behind what it looks at; what is computed behind it knows the sizes."""
        node, operands = self.node, [self.base, *self.others]
        made = [v.node for v in operands if v.node is not None]
        anchor = node.prev
        while anchor is not None and anchor.op is not SNAPSHOT and anchor not in made:
            anchor = anchor.prev
        axes = tuple(_axes_in(_rank(self.target), v) for v in self.others)
        check = node.graph.create(get_op("prim::same_sizes"), operands, {"axes": axes}, like=node)
        block = node.block
        assert block is not None and block.first is not None
        _ = check.insert_after(anchor) if anchor is not None else check.insert_before(block.first)
        for value, checked in zip(self.others, check.outputs, strict=True):
            checked.name = value.name
            for user, index in list(value.uses):
                if _gains(user, index, check):
                    user.set_input(index, checked)


def _gains(user: Node, index: int, check: Node) -> bool:
    """Whether an operand of `user` may be the checked array, whose sizes are known."""
    if user.block is not check.block or user is check or not check.is_before(user):
        return False
    is_written = index == 0 and bool(user.op.schema.written)
    return (user.op.keeps_shape or is_elementwise(user)) and not is_written


def _sources(values: Iterable[Value], made: Node | None) -> list[Value]:
    """The arrays that elementwise ops of the block of `made` compute values of."""
    assert made is not None
    found: dict[Value, None] = {}
    todo = list(values)
    while todo:
        value = todo.pop()
        node = value.node
        if not isinstance(value.type, ArrayType) or value.type.ndim == 0:
            continue
        is_computed = node is not None and node.block is made.block and is_elementwise(node)
        if is_computed and node is not None and not node.op.schema.written:
            todo += node.inputs
        elif node is not None and node.block is made.block and node.op.keeps_shape:
            todo.append(node.inputs[0])
        else:
            found[value] = None
    return sorted(found, key=lambda v: v.key)


def _is_full(value: Value, target: Value) -> bool:
    """Whether the value has all axes of the target, and none that is known to be of size 1."""
    own = value.type
    if isinstance(own, ArrayType):
        return own.ndim == _rank(target) and 1 not in own.shape
    return True


def has_full_source(value: Value, target: Value) -> bool:
    """Whether the value has the target's shape once a `Check` of both says that their sources are as large."""
    return any(
        isinstance(v.type, ArrayType) and _is_full(v, target)
        for v in _sources([value], target.node)
    )


def spanning_axes(value: Value) -> list[tuple[Value, int]] | None:
    """For each axis of what is computed element by element, the one source that steps along it, and that one's axis.

    None unless types tell that all others have one element there, as in ``x[:, None] + y``: then the sizes of
    the sources always fit each other.
    """
    if value.node is None or not is_elementwise(value.node):
        return None
    known: dict[Value, Leaves] = {}
    sources, found = _sources([value], value.node), []
    if joint_leaves(sources, known) != leaves_of(value, known):
        return None  # ranges, which are no arrays
    for behind in range(-_rank(value), 0):  # axes from the last one
        own = [(v, _rank(v) + behind) for v in sources if _steps_along(v, behind)]
        if len(own) != 1:
            return None
        found += own
    return found


def _steps_along(value: Value, behind: int) -> bool:
    assert isinstance(value.type, ArrayType)
    return -behind <= value.type.ndim and value.type.shape[behind] != 1


def _rank(value: Value) -> int:
    assert isinstance(value.type, ArrayType)
    return value.type.ndim


def _axes_in(rank: int, value: Value) -> tuple[int | None, ...]:
    """Say which of `rank` axes the axes of an array go along."""
    assert isinstance(value.type, ArrayType)
    first = rank - value.type.ndim
    return tuple(None if n == 1 else first + i for i, n in enumerate(value.type.shape))
