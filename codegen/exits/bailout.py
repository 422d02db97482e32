"""Ways out of native code into the interpreter, and the tracebacks of Python errors.

A check that fails branches to the exit of the current Snapshot: one cold block that hands the values
of the Snapshot to the exit's own function (`codegen/exits/exits.py`). That calls the helper
``helper(exit_index, site_index, values)``; its result is the function's.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from functools import partial, reduce

from ljit.codegen.exits.exits import call_exit
from ljit.codegen.functions.context import Context, ExitInfo, SiteInfo
from ljit.codegen.functions.recursion import lower_depth, raise_depth
from ljit.codegen.functions.support import support
from ljit.codegen.llvm.builder import FALSE, TRUE, BlockRef, FunctionBuilder, Ref, integer
from ljit.codegen.llvm.forms import LateSlot, Native
from ljit.codegen.references.ownership import Ownership
from ljit.cpython.frames import frame_at
from ljit.errors import CodegenError
from ljit.ir import Node
from ljit.ops.control import CHECKED_IN_FRONT, NOT_ALL, OUT_OF_RANGE, RAISED
from ljit.ops.python.private_items import holds_private
from ljit.records import Record
from ljit.source import SourceRange, depth_of
from ljit.types import ANY

__all__ = ["Bailout", "Exit", "Landing", "Retry", "known_object"]


_COMPLETE = 0  # in the place of the id of a place


class Exit(Record, frozen=False):
    """The state that a Snapshot describes, and the block that leaves with it once one is needed."""

    info: ExitInfo
    values: Sequence[Native]
    catches: bool = False  # the interpreter has a handler for what raises behind it
    block: BlockRef | None = None
    index: int = -1
    edges: list[tuple[int, BlockRef]] | None = None
    #: a check that leaves by way of it stands where the GIL may have been given up
    may_be_free: bool = False

    @property
    def is_for_errors(self) -> bool:
        """Whether the interpreter goes on when an error is set."""
        return self.catches or self.info.handles > 0


class Landing(Record):
    """Where a handler takes the error that is set; it was inlined into `depth` functions.

    `is_shown`: what is raised finds the exception that is being handled, so that it has that as its context.
    """

    block: BlockRef
    depth: int = 0
    is_shown: bool = False


class Retry(Record):
    """Where what has failed a check is done by CPython.

    Not `of_types`: it gives what a check of its type does not let through, and must not be done twice.
    """

    block: BlockRef
    of_types: bool = True


class _LateCheck(Record):
    """A check that has failed if the condition holds, of which the code that follows is to ask."""

    condition: Ref
    node: Node | None
    reason: str


class _ErrorExit(Record):
    """The block that leaves with the error that is set; `state`: where a handler for it begins to look.

    `is_complete`: the error has its context and its place.
    """

    block: BlockRef
    place: SourceRange | None
    node: Node | None
    state: Exit | None
    is_complete: bool = False


class Bailout:
    """The exits of one function. `current` is the Snapshot that checks go back to."""

    def __init__(self, context: Context, f: FunctionBuilder, ownership: Ownership) -> None:
        self.context = context
        self.f = f
        self.ownership = ownership
        self.current: Exit | None = None
        self.node: Node | None = None
        self.is_counted = False  # CPython has counted the frame, or is told of it where it is left
        self.room: Ref | None = None  # of a body of which it is told then
        self.thread_state: Ref | None = None  # of a function that may give up the GIL
        self.is_free = False  # the code that is being written may have given it up
        self.late: list[_LateCheck] | None = None  # checks that are tested together
        self.gathered: Ref | None = None  # where a loop notes whether one of its checks has failed
        self.waiting: list[tuple[Ref, Node | None, str]] | None = None  # those of a nest's loop
        self.checks = 0  # how many checks were asked for so far
        self.landing: Landing | None = None  # where a handler takes the error that is set
        self.retry: Retry | None = None
        self._exits: list[Exit] = []
        self._left = f.new_block("left")  # where all exits meet
        self._results: list[tuple[Ref, BlockRef | None]] = []  # of each
        self._errors: dict[tuple[int, int], _ErrorExit] = {}

    def snapshot(
        self,
        at: str,
        names: tuple[str, ...],
        values: Sequence[Native],
        *,
        catches: bool = False,
        handles: int = 0,
    ) -> None:
        """Make this the state that later checks go back to."""
        private = tuple(
            (place, value.type) for place, value in enumerate(values) if holds_private(value.type)
        )
        info = ExitInfo(at, names, handles=handles, private=private)
        self.current = Exit(info, values, catches)

    @property
    def is_late(self) -> bool:
        """Whether the checks of the current node are tested together with others."""
        return self.late is not None and self.node is not None and self.node.op.is_speculatable

    def bail_if(self, condition: Ref, reason: str, *, may_wait: bool = False) -> None:
        """Leave at the current Snapshot if the condition holds.

        `may_wait`: what follows may be computed all the same, as long as nobody sees it.
        """
        f = self.f
        condition = f.known.look_up(condition, f.block)
        if condition.constant == 0 and not self.context.options.chaos:
            return
        if self.node is not None and CHECKED_IN_FRONT in self.node.proven:
            return
        self.checks += condition.constant != 0
        if self.gathered is not None:
            failed = f.binary("or", f.load("i1", self.gathered), condition)
            f.store(failed, self.gathered)
            return
        if self.is_late:
            self.bail_late(condition, reason)
            return
        if may_wait and self.waiting is not None:
            self.waiting.append((condition, self.node, reason))
            return
        if not f.is_reachable:
            return
        if self.retry is not None:
            self._branch_if(condition, condition, self.retry.block)
            return
        exit_block, site = self._site(reason)
        self.context.note(f.block, f"leaves if {reason}")
        checked = condition
        if self.context.options.chaos:
            condition = f.binary("or", condition, self._is_forced(site))
        left = self._branch_if(condition, checked, exit_block)
        assert self.current is not None and self.current.edges is not None
        if left is not None:
            self.current.edges.append((site, left))

    def _branch_if(self, condition: Ref, checked: Ref, target: BlockRef) -> BlockRef | None:
        """Go to `target` if the condition holds, and else on, where `checked` is known to be false."""
        following = self.f.new_block("ok")
        left = self.f.condbr(condition, target, following, unlikely=True)
        if self.f.start(following):
            self.f.known.note(checked, following, truth=False)
        return left

    def bail_late(self, condition: Ref, reason: str) -> None:
        """Leave if the condition holds, at `test_late` at the latest; `late` must be a list."""
        assert self.late is not None
        self.late.append(_LateCheck(condition, self.node, reason))

    def leave_if_gathered(self, failed: Ref, loop: Node) -> None:
        """Leave behind a loop of checks if one of them has failed in any trip."""
        nodes = (node for node in loop.blocks[0].walk() if not node.blocks)
        blamed = next(node for node in nodes if node.op.can_leave(node))
        self.bail_for(blamed, self.f.load("i1", failed), OUT_OF_RANGE)

    def test_late(self) -> None:
        """Leave if one of the late checks has failed."""
        if not self.late:
            return
        conditions, node = [check.condition for check in self.late], self.late[0].node
        self.late = None
        self.bail_for(node, reduce(partial(self.f.binary, "or"), conditions), NOT_ALL)
        self.late = []

    @contextmanager
    def only_if(self, condition: Ref, *, is_true: bool) -> Iterator[None]:
        """Let late checks count only if the condition is so: what they check is computed in any case.

        Once one has failed, code on a side way asks for the condition. What is computed in vain may be poison.
        """
        outer, self.late = self.late, []
        yield
        checks, self.late = self.late, outer
        if not checks:
            return
        f, some = self.f, FALSE
        is_aside = self.late is None and not self.context.options.chaos
        if is_aside:
            for check in checks:
                some = f.select(some, TRUE, check.condition)
            which, following = f.new_block("which"), f.new_block("ok")
            f.condbr(f.emit("i1", f"freeze {some.typed}"), which, following, unlikely=True)
            f.start(which, cold=True)
        for check in checks:
            sides = (check.condition, FALSE) if is_true else (FALSE, check.condition)
            self.bail_for(check.node, f.select(condition, *sides), check.reason)
        if is_aside:
            f.br(following)
            f.start(following)

    def bail_for(self, node: Node | None, condition: Ref, reason: str) -> None:
        """Leave if the condition, for which a node before this one is to blame, holds."""
        saved, self.node = self.node, node
        self.bail_if(condition, reason)
        self.node = saved

    @contextmanager
    def checking_type(self) -> Iterator[None]:
        """Checks of the type of what is given: not left to CPython where that finds out too late."""
        before = self.retry
        if before is not None and not before.of_types:
            self.retry = None
        yield
        self.retry = before

    def fail_block(self, reason: str) -> BlockRef:
        """A fresh block that leaves at the current Snapshot, for code that branches by itself.

        The block is written at once, behind all others; the current block stays current.
        """
        f = self.f
        self.checks += 1
        if self.retry is not None:
            return self.retry.block
        block = f.new_block("fail")
        if not f.is_reachable:
            return block
        saved, f.block = f.block, None
        exit_block, site = self._site(reason)
        f.start(block, reachable=True, cold=True)
        self.context.note(block, f"leaves: {reason}")
        left = f.br(exit_block)
        assert left is not None and self.current is not None and self.current.edges is not None
        self.current.edges.append((site, left))
        f.block = saved
        if self.context.options.chaos:
            following = f.new_block("ok")
            f.condbr(self._is_forced(site), block, following)
            f.start(following)
        return block

    def fault_block(self, message: str) -> BlockRef:
        """A fresh block that raises SystemError: ljit's own fault, where leaving is not possible."""
        f = self.f
        block = f.new_block("fault")
        if not f.is_reachable:
            return block
        saved, f.block = f.block, None
        f.start(block, reachable=True, cold=True)
        place = f.module.string(message)
        f.call_external("void", "_PyErr_BadInternalCall", (place, integer("i32", 0)))
        f.br(self.error_block())
        f.block = saved
        return block

    def _is_forced(self, site: int) -> Ref:
        """Whether a test forces the check of this site to fail."""
        chosen = self.f.load("i32", Ref("ptr", "@chaos_site"))
        return self.f.icmp("eq", chosen, site)

    def _site(self, reason: str) -> tuple[BlockRef, int]:
        state = self.current
        if state is None:
            where = self.node.op.name if self.node is not None else "the entry"
            msg = f"{where} can fail ({reason}), but no Snapshot precedes it"
            raise CodegenError(msg)
        if state.block is None:
            state.block = self.f.new_block("exit")
            state.index = len(self.context.exits)
            state.edges = []
            self.context.exits.append(state.info)
            self._exits.append(state)
        state.may_be_free |= self.is_free
        node = self.node
        origin, place = (node.origin, node.range) if node is not None else (-1, None)
        self.context.sites.append(SiteInfo(origin, reason, place))
        return state.block, len(self.context.sites) - 1

    # -- Python errors -----------------------------------------------------------------------------

    def error_if_null(self, pointer: Ref) -> None:
        """Leave with the Python error that is set if a call has given null."""
        self.error_if(self.f.icmp("eq", pointer, Ref("ptr", "null", 0)))

    def error_if(self, condition: Ref) -> None:
        """Leave with the Python error that is set if the condition holds."""
        if not self.f.is_reachable:
            return
        self.checks += 1
        following = self.f.new_block("ok")
        self.f.condbr(condition, self.error_block(), following, unlikely=True)
        self.f.start(following)

    @property
    def handled(self) -> Ref | None:
        """The exception, if the place is in a handler."""
        state = self.current
        return state.values[-1].ref if state is not None and state.info.handles else None

    def error_block(self) -> BlockRef:
        """The block that leaves with the error that is set, for the range of the current node."""
        place = self.node.range if self.node is not None else None
        if self.landing is not None:
            return self._block_before(self.landing, place)
        return self._error_exit(id(place), place)

    def error_block_of_handler(self) -> BlockRef:
        """The block that leaves with what a handler has raised, which has its context and its place."""
        return self._error_exit(_COMPLETE, None)

    def _error_exit(self, key: int, place: SourceRange | None) -> BlockRef:
        state = self.current if self.current is not None and self.current.is_for_errors else None
        found = self._errors.get((key, id(state)))
        if found is None:
            block = self.f.new_block("error")
            found = _ErrorExit(block, place, self.node, state, key == _COMPLETE)
            self._errors[key, id(state)] = found
        return found.block

    def _block_before(self, landing: Landing, place: SourceRange | None) -> BlockRef:
        """A block that adds a place to the traceback of the error that is set, for a handler."""
        block = self.f.new_block("error")
        saved, self.f.block = self.f.block, None
        self.f.start(block, reachable=True, cold=True)
        if self.handled is not None and not landing.is_shown:
            self.f.call("void", support("add_context"), (self.handled,))
        self._add_traceback(place, landing.depth)
        self.f.br(landing.block)
        self.f.block = saved
        return block

    # -- the cold blocks ---------------------------------------------------------------------------

    def finish(self) -> None:
        """Write all exits and error blocks."""
        for error in self._errors.values():
            if not self.f.start(error.block, cold=True):
                continue
            state = error.state
            if state is not None and state.info.handles and not error.is_complete:
                self.f.call("void", support("add_context"), (state.values[-1].ref,))
            self._add_traceback(error.place)
            if state is None or not state.catches:
                self.ownership.leave_with(Ref("ptr", "null", 0))
            else:
                raised = self.f.call("ptr", support("take_error"), ())
                values = [*state.values, Native(ANY, (raised,), late=partial(_same, raised))]
                info = state.info.with_changes(raises=True)
                self._leave_for_handler(error, info, values)
        self._finish_exits()

    def _leave_for_handler(
        self, error: _ErrorExit, info: ExitInfo, values: Sequence[Native]
    ) -> None:
        """Hand the last one of the values, an exception, to the interpreter, with the others."""
        index = len(self.context.exits)
        self.context.exits.append(info)
        origin = error.node.origin if error.node is not None else -1
        self.context.sites.append(SiteInfo(origin, RAISED, error.place))
        site = integer("i32", len(self.context.sites) - 1)
        self._leave(index, site, values)

    def _add_traceback(self, place: SourceRange | None, depth: int = 0) -> None:
        """Add the place and its callers, but for the `depth` outermost ones."""
        while place is not None and depth_of(place) >= depth:
            self.f.call_external("void", "PyTraceBack_Here", (self.context.keep(frame_at(place)),))
            place = place.caller

    def _finish_exits(self) -> None:
        for state in self._exits:
            assert state.block is not None
            if not self.f.start(state.block, cold=True):
                continue
            site = self.f.phi("i32")
            for number, block in state.edges or ():
                site.add(number, block)
            if state.may_be_free:
                self.regain_gil()
            self._leave(state.index, site, state.values)
        if self.f.start(self._left, cold=True):
            given = self.f.phi("ptr")
            for result, left in self._results:
                given.add(result, left)
            self.ownership.leave_with(given)

    def regain_gil(self) -> None:
        """Have the GIL again, which the code that failed a check may have given up."""
        if self.thread_state is not None:
            self.f.call("void", support("regain_gil"), (self.thread_state,))

    def _leave(self, index: int, site: Ref, values: Sequence[Native]) -> None:
        """End the block: give what the interpreter makes of the values, in the block where all exits meet."""
        objects: dict[LateSlot, Ref] = {}
        known = [known_object(self.f, value, objects) for value in values]
        frames = lower_depth(self.f, self.room) if self.room is not None else None
        result = call_exit(self.f, self.context, index, site, known, is_counted=self.is_counted)
        if frames is not None:
            raise_depth(self.f, frames)
        self._results.append((result, self.f.br(self._left)))


def _same(pointer: Ref) -> Ref:
    return pointer


def known_object(
    f: FunctionBuilder, value: Native, objects: dict[LateSlot, Ref] | None = None
) -> Native:
    """Views whose objects were made before, as those objects: boxing twice gives the same object.

    `objects`: in an exit, what was read there before. Exits come last: a slot that is not made yet holds nothing.
    """
    if not value.memos:
        return value
    parts = list(value.parts)
    is_exit = objects is not None
    objects = {} if objects is None else objects
    for position, slot in value.memos.items():
        if is_exit and not slot.is_made:
            continue
        if slot not in objects:
            objects[slot] = f.load("ptr", slot.ref)
        parts[position] = objects[slot]
    return Native(value.type, parts)
