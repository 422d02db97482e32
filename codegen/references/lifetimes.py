"""Which results need no reference of their own, being used up at once or only on the way out; when the others die.

An item of a list is borrowed from the list as long as nothing can run in between that takes it out: no write, no
call, nothing that lets another thread or the garbage collector run.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from ljit.analysis.alias import is_immutable
from ljit.analysis.dominance import holder_in
from ljit.analysis.temporaries import is_look, is_temporary, users_of_object
from ljit.codegen.llvm.builder import Ref
from ljit.codegen.llvm.forms import Native, array_parts, owned_positions
from ljit.ir import Effect, Node, Value
from ljit.ops.control import IF, LOOP, MAP, REGION, SNAPSHOT, TRY, YIELD
from ljit.ops.objects import CHECK_ARRAYS
from ljit.source import SourceRange
from ljit.types import ANY, ArrayType, ListType, ObjectType, Type

if TYPE_CHECKING:
    from ljit.codegen.exits.bailout import Bailout
    from ljit.codegen.references.ownership import Ownership

__all__ = ["Deaths", "is_for_exits", "is_used_up_at_once", "may_be_changed"]

_FREES = Effect.WRITE | Effect.CALL | Effect.ALLOC | Effect.EXIT
_NEAR = 8  # nodes to look at


def is_used_up_at_once(node: Node) -> bool:
    """Whether all users of the node's results follow in its block before anything that may free them.

    A Snapshot uses them until the next one: native code may leave for it, but not behind the last node in between.
    """
    open_ = {user for out in node.outputs for user, _ in out.uses}
    end = _end_of_snapshot(open_)
    open_ = {user for user in open_ if user.op is not SNAPSHOT} if end is not None else open_
    is_list = all(isinstance(out.type, ListType) for out in node.outputs)
    following = node.next
    for _ in range(_NEAR):
        if following is end or (not open_ and end is None) or following is None:
            break
        frees = following.effects & _FREES
        if following in open_:
            open_.discard(following)
            is_last_write = frees == Effect.WRITE and not open_
            if (frees and not is_last_write) or _keeps(following, is_list=is_list):
                return False
        elif following.blocks or (frees and following.next is not end):
            return False
        following = following.next
    return not open_ and (end is None or following is end)


def _end_of_snapshot(users: set[Node]) -> Node | None:
    """The Snapshot that follows the only one among the users in its block, if no handler needs what that names."""
    snapshots = [user for user in users if user.op is SNAPSHOT]
    if (
        len(snapshots) != 1
        or snapshots[0].attrs.get("catches")
        or snapshots[0].attrs.get("handles")
    ):
        return None
    following = snapshots[0].next
    while following is not None and following.op is not SNAPSHOT:
        following = following.next
    return following


def is_for_exits(node: Node) -> bool:
    """Whether only Snapshots use the results, and the node may run where native code is left."""
    users = (user for out in node.outputs for user, _ in out.uses)
    return node.effects.is_removable and all(user.op is SNAPSHOT for user in users)


def may_be_changed(value: Value) -> bool:
    """Whether unknown code runs while the array lives, which is then asked whether it still is what it was."""
    return any(user.op is CHECK_ARRAYS for user, _ in value.uses)


def _keeps(user: Node, *, is_list: bool) -> bool:
    """Whether the object may live on in the user or its results; what is read out of a list is not the list.

    A write to the object itself comes last in its lowering.
    """
    if user.blocks or user.op is SNAPSHOT:
        return True
    is_read = is_list and user.effects & Effect.READ
    return not is_read and any(owned_positions(out.type) for out in user.outputs)


class Deaths:
    """Gives the references to arrays back behind their last use, not on the way out: memory is used again.

    In loops the slots keep those that nests make for the next trip (`renewal.py`). A value that the current Snapshot
    names stays until another Snapshot takes over. Objects that only the expression around a call has go as well, where
    a call used them last: behind it nothing is known of what finalizers may change.
    """

    def __init__(self, ownership: Ownership, bailout: Bailout, env: Mapping[Value, Native]) -> None:
        self._ownership = ownership
        self._bailout = bailout
        self._env = env
        self._users: dict[Ref, set[Node]] = {}  # of each array's object: what is still to come
        self._ends: dict[Node, list[Ref]] = {}  # by one of their users
        self._dead: list[Ref] = []
        self._temporaries: dict[Node, list[Ref]] = {}  # by the call that uses them last
        self._forgotten: list[Ref] = []  # by the expression whose Snapshot comes next

    def spent_by(self, node: Node) -> set[str]:
        """The objects of the arrays (their texts) that nothing needs once `node` has read their elements."""
        ends = [pointer for pointer in self._ends.get(node, ()) if self._users[pointer] == {node}]
        spent = {pointer.text for pointer in ends} - self._needed() if ends else set()
        if self._ownership.loop_depth:
            spent |= {array_parts(self._env[value]).object.text for value in _carried_to(node)}
        return spent

    def is_last_of_temporaries(self, node: Node) -> bool:
        """Whether objects that nothing else has, or what is borrowed from them, go behind the node."""
        return node in self._temporaries

    def behind(self, node: Node, results: Sequence[Native | None], mark: int) -> None:
        """Note what `node` has made (the references acquired since `mark`) and release what it used last."""
        if node.op not in _STRUCTURES:
            made = self._ownership.acquired[mark:]
            for out, value in zip(node.outputs, results, strict=True):
                if value is None:
                    continue
                if isinstance(out.type, ArrayType):
                    self._note(out, array_parts(value).object, made)
                elif _is_object(out.type) and node.effects & Effect.CALL:
                    self._note_temporary(out, value, made)
        if node in self._temporaries or self._forgotten:
            self._forget(node)
        for pointer in self._ends.pop(node, ()):
            self._users[pointer].discard(node)
            if not self._users[pointer]:
                self._dead.append(pointer)
        if self._dead:
            self._release()

    def _note(self, out: Value, pointer: Ref, made: Sequence[str]) -> None:
        users = _users_in_block(out) if pointer.text in made else None
        if users:
            self._users[pointer] = users
            for user in users:
                self._ends.setdefault(user, []).append(pointer)

    def _note_temporary(self, out: Value, value: Native, made: Sequence[str]) -> None:
        if len(value.parts) != 1 or value.parts[0].text not in made:
            return
        last = _last_call(out) if is_temporary(out) else _end_of_callee(out)
        if last is not None:
            self._temporaries.setdefault(last, []).append(value.parts[0])

    def _forget(self, node: Node) -> None:
        """Give back what the expression of a call no longer needs: behind the call, or behind its Snapshot."""
        dead = self._temporaries.pop(node, [])
        dead += self._forgotten if node.op is SNAPSHOT else []
        needed = self._needed() if dead else set()
        self._forgotten = [pointer for pointer in dead if pointer.text in needed]
        if not self._ownership.f.is_reachable:
            return
        for pointer in dead:
            if pointer.text not in needed:
                self._ownership.release_early(pointer)

    def _needed(self) -> set[str]:
        """What the current Snapshot names."""
        state = self._bailout.current
        return {part.text for value in state.values for part in value.parts} if state else set()

    def _release(self) -> None:
        if not self._ownership.f.is_reachable:
            self._dead.clear()
            return
        needed = self._needed()
        for pointer in self._dead:
            if pointer.text not in needed:
                self._ownership.release_early(pointer)
        self._dead = [pointer for pointer in self._dead if pointer.text in needed]


_STRUCTURES = (IF, LOOP, REGION, TRY)


def _carried_to(node: Node) -> list[Value]:
    """The arrays that a loop carries to a nest, where they are needed last, even if native code is left."""
    block = node.block
    assert block is not None
    is_trip = block.owner is not None and block.owner.op is LOOP and block is block.owner.blocks[0]
    if node.op is not MAP or not is_trip or any(n.op.can_leave(n) for n in node.blocks[0]):
        return []
    params = [v for v in block.params[1:] if isinstance(v.type, ArrayType) and v in node.inputs]
    found = [v for v in params if all(user is node or user.op is SNAPSHOT for user, _ in v.uses)]
    return [v for v in found if not _may_be_needed_behind(node, v)]


def _may_be_needed_behind(node: Node, value: Value) -> bool:
    """Whether what follows in the block may leave with the value, or leaves the block with it."""
    following = node.next
    while following is not None and following.op is not YIELD:
        if following.op is SNAPSHOT:
            return value in following.inputs
        if following.effects & ~Effect.READ or following.op.can_leave(following):
            return True
        following = following.next
    return following is None


def _is_object(t: Type) -> bool:
    return t == ANY or isinstance(t, ObjectType)


def _last_call(made: Value) -> Node | None:
    """The last use of a temporary: a call, or a branch with one for each class that it may be of."""
    left = {holder_in(user, made.block) for user in users_of_object(made)}
    if any(holder is None or holder.op in (LOOP, REGION, TRY) for holder in left):
        return None
    node = made.node
    while left and node is not None:
        node = node.next
        left -= {node}
    return node if node is not None and node.op is not SNAPSHOT else None


def _is_call(user: Node) -> bool:
    return is_look(user) or bool(user.effects & Effect.CALL and not user.blocks)


def _end_of_callee(made: Value) -> Node | None:
    """The last call of the inlined function whose variable has an object, if nothing in it is written or used later.

    All users are calls, which borrow nothing from it.
    """
    assert made.node is not None
    callee = made.node.range.caller if made.node.range is not None else None
    users = users_of_object(made)
    if callee is None or any(not _is_call(user) for user in users):
        return None
    left = {holder_in(user, made.block) for user in users}
    last: Node | None = None
    node: Node | None = made.node
    while node is not None and not node.op.is_terminator:
        left.discard(node)
        if node.effects & (Effect.CALL | Effect.WRITE) and _is_within(node.range, callee):
            last = node if node.effects & Effect.CALL and not left else None
        node = node.next
    return last if not left else None


def _is_within(where: SourceRange | None, callee: SourceRange) -> bool:
    """Whether a place is in a function that was inlined at the place of a call, or in what it calls."""
    while where is not None and where.caller != callee:
        where = where.caller
    return where is not None


def _users_in_block(value: Value) -> set[Node] | None:
    """The nodes of its block in which the value, or what may share its memory, is used; None: it leaves the block."""
    found: set[Node] = set()
    block, open_ = value.block, [value]
    while open_:
        for user, _ in open_.pop().uses:
            if user.op.is_terminator:
                return None
            if not user.effects & Effect.ALLOC:
                open_ += [out for out in user.outputs if not is_immutable(out.type)]
            holder = holder_in(user, block)
            assert holder is not None
            found.add(holder)
    return found
