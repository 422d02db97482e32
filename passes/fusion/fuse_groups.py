"""Which elementwise nodes become one loop nest: the groups of a stretch of a block without writes in it.

Users come before producers: a node joins the group of its users if all of them are in it; if others see its
result, too, it becomes one more result of the nest. What is cheap, and would have to be stored only for another
group, both groups compute. Groups over the same shape that read the same arrays become one in the end. No group may
depend on itself by way of nodes outside.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from ljit.analysis.dominance import holder_in
from ljit.analysis.own_memory import is_apart
from ljit.ir import Node, Value, get_op
from ljit.ops.arrays.boxed import reduced_axes
from ljit.passes.fusion.equal_shapes import Leaves, form_of, leaves_of
from ljit.passes.fusion.fuse_nodes import (
    element_inputs,
    element_op,
    is_exact,
    is_gather,
    is_reduction,
    is_store,
    is_turned_gather,
    is_writing,
    may_leave,
    nest_type,
    takes_elements,
)
from ljit.records import Record, made_by
from ljit.types import ArrayType, ScalarType

__all__ = ["Group", "plan_groups"]

MAX_BODY = 48  # ops: beyond, registers run out
MAX_ARRAYS = 16  # that a nest reads and writes side by side: beyond, address registers run out
MAX_SHARED = 4  # cheap nodes of a group that other groups compute, too
WORTH_KEEPING = 0.9  # of the bytes that others would read again: what is kept takes memory, too


class Group(Record, frozen=False):
    """Nodes that become one loop nest over `shape`; `root` is the last of them.

    `covering` are nodes whose shape has to be that of the nest, which only a run can tell.
    """

    root: Node
    shape: ArrayType
    leaves: Leaves
    members: set[Node]
    covering: set[Node] = made_by(factory=set)
    shared: set[Node] = made_by(factory=set)  # members that other groups compute, too

    @property
    def is_writing(self) -> bool:
        return is_writing(self.root)

    @property
    def reduced(self) -> tuple[tuple[int, ...], bool] | None:
        """The axes that its reductions go along, and whether they keep them."""
        for node in self.members:
            if is_reduction(node):
                return reduced_axes(node), bool(node.attrs.get("keepdims", False))
        return None


def plan_groups(nodes: Sequence[Node], failed: Iterable[int]) -> list[Group]:
    """Give the groups of neighbouring nodes that nothing but the last one writes, in program order.

    `failed`: the origins of roots for which shapes turned out to differ.
    """
    planner = _Planner(nodes, frozenset(failed))
    for node in reversed(nodes):
        planner.visit(node)
    planner.unite_siblings()
    found = sorted(planner.groups, key=lambda group: planner.position[group.root])
    return [group for group in found if _is_worth_it(group)]


def _is_worth_it(group: Group) -> bool:
    root = group.root
    if not is_store(root):
        is_one = len(group.members) == 1 and not (is_reduction(root) or is_gather(root))
        return not is_one or root.op.result_types(root) != (root.output.type,)  # a Map states it
    return root.inputs[-1].node in group.members


def has_outside_uses(value: Value, group: Group) -> bool:
    """Whether anything but the group's nodes, as operands of elements, sees the value."""
    return any(not _is_element_use(user, index, group) for user, index in value.uses)


def _is_element_use(user: Node, index: int, group: Group) -> bool:
    if user not in group.members:
        return False
    return takes_elements(user, index) or not (is_writing(user) or is_gather(user))


class _Planner:
    """The state of planning one stretch."""

    def __init__(self, nodes: Sequence[Node], failed: frozenset[int]) -> None:
        self.position = {node: i for i, node in enumerate(nodes)}
        self.block = nodes[0].block if nodes else None
        self.needed: dict[Node, list[Node]] = {}  # by `_before`
        self.takers: dict[Node, set[Node]] = {}  # by `_is_gathered`
        self.failed = failed
        self.groups: list[Group] = []
        self.group_of: dict[Node, Group] = {}  # shared nodes are in none
        self.leaves: dict[Value, Leaves] = {}

    def visit(self, node: Node) -> None:
        """Put a node whose users have been visited into a group, if it belongs into one."""
        shape = nest_type(node)
        if shape is None:
            return
        if not is_writing(node) and not is_reduction(node) and self._join(node):
            return
        group = Group(node, shape, self._leaves_of_nest(node), {node})
        self.groups.append(group)
        self.group_of[node] = group

    def _leaves_of_nest(self, node: Node) -> Leaves:
        if is_reduction(node):
            return leaves_of(node.inputs[0], self.leaves)
        if not is_writing(node):
            return leaves_of(node.output, self.leaves)
        target = leaves_of(node.inputs[0], self.leaves)
        return frozenset(((target, form_of(node.inputs[1])),)) if len(node.inputs) == 3 else target

    def _join(self, node: Node) -> bool:
        users = self._groups_of_users(node)
        if not users or not is_exact(node):
            return False
        if len(users) > 1 and not self._unite_all(users) and self._share(node, users):
            return True
        candidates = sorted(self._groups_of_users(node), key=_may_end_early)
        is_inside = len(candidates) == 1 and not has_outside_uses(node.output, candidates[0])
        return any(self._add(node, group, is_inside=is_inside) for group in candidates)

    def _groups_of_users(self, node: Node) -> list[Group]:
        found: dict[Group, None] = {}
        for user, _ in node.output.uses:
            for group in self.groups:
                if user in group.members:
                    found[group] = None
        return sorted(found, key=lambda group: self.position[group.root])

    def _unite_all(self, groups: Sequence[Group]) -> bool:
        first, *others = groups
        return all(self._unite(first, other) for other in others)

    # -- one node ----------------------------------------------------------------------------------

    def _add(self, node: Node, group: Group, *, is_inside: bool) -> bool:
        """Add a node whose other users, if any, take its result as an array; `is_inside`: there are none."""
        if len(group.members) >= MAX_BODY or (group.is_writing and may_leave(node)):
            return False
        if is_gather(node) and not _can_take_places(group, node):
            return False
        if self._is_gathered(node, group):
            return False
        is_output = not is_inside and has_outside_uses(node.output, group)
        if is_output and (group.is_writing and self._is_used_before(node, group)):
            return False
        covering = self._must_cover(node, group, is_output=is_output)
        if covering is None:
            return False
        group.members.add(node)
        # What the node needs comes before it, and is in no group yet.
        if not is_inside and self._depends_on_itself(group):
            group.members.remove(node)
            return False
        self.group_of[node] = group
        if covering:
            group.covering.add(node)
        return True

    def _is_used_before(self, node: Node, group: Group) -> bool:
        """Whether a node in front of the root, which writes, sees the result."""
        users = [
            user for user, index in node.output.uses if not _is_element_use(user, index, group)
        ]
        return any(self._at(user) is not None for user in users)

    def _at(self, user: Node) -> Node | None:
        """The node of this stretch that is the user, or that has it in one of its blocks."""
        holder = holder_in(user, self.block)
        return holder if holder in self.position else None

    def _must_cover(self, node: Node, group: Group, *, is_output: bool) -> bool | None:
        """Whether the nest has to check the shape of `node`; None if it cannot be part of it."""
        type_, shape = node.output.type, group.shape
        assert isinstance(type_, ArrayType)
        leaves = leaves_of(node.output, self.leaves)
        if leaves == group.leaves and type_.ndim == shape.ndim:
            return False
        if is_output and type_.layout != "C":
            return None  # the order in memory follows from all operands of the nest
        if _is_narrow(type_, shape):
            # In the nest it would be computed over and over, or at best one by one in front of the inner loops.
            return False if element_op(node).is_cheap and not is_output else None
        if not is_output and element_op(node).is_cheap:
            return False
        return None if group.root.origin in self.failed else True

    def _share(self, node: Node, users: Sequence[Group]) -> bool:
        """Let each of the groups compute a cheap node that nothing else needs."""
        if not element_op(node).is_cheap or not all(
            any(_is_element_use(user, index, group) for group in users)
            for user, index in node.output.uses
        ):
            return False
        if not all(self._can_share(node, group) for group in users):
            return False
        if self._is_better_kept(node, users):
            return False
        for group in users:
            group.members.add(node)
            group.shared.add(node)
        if any(map(self._depends_on_itself, users)):
            for group in users:
                group.members.remove(node)
                group.shared.remove(node)
            return False
        return True

    def _can_share(self, node: Node, group: Group) -> bool:
        if len(group.shared) >= MAX_SHARED or len(group.members) >= MAX_BODY:
            return False
        if group.is_writing and may_leave(node):
            return False
        if self._must_cover(node, group, is_output=False) is not False:
            return False
        return len(self._reads_more(node, group)) <= 1  # instead of the node's own result

    def _reads_more(self, node: Node, group: Group) -> list[Value]:
        """The large arrays that the nest would have to read to compute the node as well."""
        read = self._reads(group, node.output)
        return [v for v in _arrays(node.inputs) if v not in read and not _is_narrow_in(v, group)]

    def _is_better_kept(self, node: Node, users: Sequence[Group]) -> bool:
        """Whether to store the result of a node and to load it again moves fewer bytes than to compute it for each."""
        again = [sum(map(_item_bytes, self._reads_more(node, group))) for group in users]
        own = _item_bytes(node.output)  # memory is read, too, where it is stored to
        kept = min(again) + own * (len(users) + 1)
        return kept < WORTH_KEEPING * sum(again)

    def _reads(self, group: Group, without: Value | None = None) -> set[Value]:
        """The arrays that the nest reads."""
        values = (v for node in group.members for v in _arrays(element_inputs(node)))
        return {v for v in values if v.node not in group.members and v is not without}

    # -- groups ------------------------------------------------------------------------------------

    def unite_siblings(self) -> None:
        """Make one group of groups over the same shape that read the same arrays."""
        reads = {group: self._reads(group) for group in self.groups}
        for group in list(reads):
            for other in list(reads) if group in reads else ():
                if other is group or reads[group].isdisjoint(reads[other]):
                    continue
                if self._unite(group, other):
                    del reads[other]
                    reads[group] = self._reads(group)

    def _unite(self, group: Group, other: Group) -> bool:
        if group.leaves != other.leaves or group.shape.shape != other.shape.shape:
            return False
        if group.is_writing or other.is_writing:
            return False
        first, second = group.reduced, other.reduced
        if first is not None and second is not None and first != second:
            return False
        arrays = len(self._reads(group) | self._reads(other)) + 2
        if len(group.members) + len(other.members) > MAX_BODY or arrays > MAX_ARRAYS:
            return False
        before, theirs = group.members, other.members - other.shared
        group.members = before | other.members
        self.group_of.update(dict.fromkeys(theirs, group))
        if self._depends_on_itself(group):
            group.members = before
            self.group_of.update(dict.fromkeys(theirs, other))
            return False
        self.groups.remove(other)
        group.covering = group.covering | other.covering
        group.shared = group.shared | other.shared
        group.root = max(group.root, other.root, key=lambda node: self.position[node])
        return True

    def _depends_on_itself(self, group: Group) -> bool:
        """Whether a node outside that needs a result of the group has to run before it."""
        needed = {n for node in group.members for n in self._before(node)}
        if any(is_reduction(n) or self._is_gathered(n, group) for n in needed & group.members):
            return True
        first = min(map(self.position.__getitem__, group.members))
        todo = list(needed - group.members)
        seen: set[Node] = set()
        while todo:
            node = todo.pop()
            if node in seen:
                continue
            if node in group.members and node not in group.shared:
                return True
            seen.add(node)
            around = self.group_of.get(node)
            if around is not None:
                todo += [other for other in around.members if other not in seen]
            if around is not None or self.position[node] > first:
                todo += self._before(node)
        return False

    def _is_gathered(self, node: Node, group: Group) -> bool:
        """Whether a node of the group takes elements of the array at places of its own: all of it has to be there."""
        takers = self.takers.get(node)
        if takers is None:
            takers = self.takers[node] = {
                user
                for user, index in node.output.uses
                if is_gather(user) and not takes_elements(user, index)
            }
        return not takers.isdisjoint(group.members)

    def _before(self, node: Node) -> list[Node]:
        """The nodes of the stretch whose results the node needs."""
        found = self.needed.get(node)
        if found is None:
            inner = node.walk() if node.blocks else (node,)
            made = (v.node for user in inner for v in user.inputs)
            found = self.needed[node] = [n for n in made if n is not None and n in self.position]
        return found


def _may_end_early(group: Group) -> bool:
    """Whether rows of the nest may end where their result is known: not if something else is kept of them."""
    reductions = [node for node in group.members if is_reduction(node)]
    return bool(reductions) and all(map(_ends_early, reductions))


def _ends_early(node: Node) -> bool:
    (source,), out = node.inputs, node.output.type
    assert node.op.reduction is not None and isinstance(source.type, ArrayType)
    rule = get_op(node.op.reduction.combine).accumulation
    is_bool = isinstance(out, ArrayType | ScalarType) and out.dtype.kind == "b"
    is_settled = is_bool and rule is not None and rule.saturated is not None
    return is_settled and source.type.ndim - 1 in reduced_axes(node)


def _can_take_places(group: Group, node: Node) -> bool:
    """Whether a nest can take elements at places one by one: the order of its result does not follow from theirs."""
    if group.is_writing:
        return is_apart(group.root.inputs[0], node.inputs)
    return group.shape.ndim == 1 or group.shape.layout == "C" or is_turned_gather(node)


def _arrays(values: Iterable[Value]) -> list[Value]:
    return [v for v in values if isinstance(v.type, ArrayType)]


def _item_bytes(value: Value) -> int:
    assert isinstance(value.type, ArrayType)
    return value.type.dtype.itemsize


def _is_narrow_in(value: Value, group: Group) -> bool:
    return isinstance(value.type, ArrayType) and _is_narrow(value.type, group.shape)


def _is_narrow(type_: ArrayType, shape: ArrayType) -> bool:
    """Whether an array of the first type has fewer elements than the nest."""
    if type_.ndim < shape.ndim:
        return True
    sizes = zip(type_.shape, shape.shape, strict=True)
    return any(own == 1 and whole != 1 for own, whole in sizes)
