"""The specialiser's walk over ``try``: bodies in their place, and handlers where it was seen that they run.

What raises in a body leaves for the interpreter, which has the handler. Where the interpreter saw a node of the body
raise, and the handler is short, that node is tried in a `prim::Try` of its own, which a Break leaves for the handler:

    Region                      # the outputs of the program's Try
      %error, ... = Region      # what its handler gets
        ...
        %x = Try {%y = the node; -> (%y)} {(%e): Break(%e, what the last Catch names)}
        ...
        Break[the outer one](...)
      Snapshot[at=handler:ID, raises=True](..., %error)
      ...                       # the handler

The Snapshot gives the exception back to the interpreter, which runs the handler from its start. There can be no other
one in a handler, as an exception that is being handled is no register. So nothing in it may leave native code behind
what must not be done twice. Unknown code may run in it, and finds the exception in `sys.exc_info`; what that raises
leaves the function, so there may be no handler around this one, and no array whose shape would have to be checked
behind it. A handler in which that does not hold is given up: the exception goes back at once.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING

from ljit.ir import Effect, Node, Value, get_op
from ljit.ops.control import (
    BREAK,
    CALL_NATIVE,
    CATCH,
    DEOPTIMIZE,
    LOOP,
    NOT_CAUGHT,
    PROFILE,
    RAISED,
    REGION,
    SNAPSHOT,
    TRY,
    UNREACHABLE,
    YIELD,
)
from ljit.passes.rewriting import erase_behind
from ljit.records import Record, made_by
from ljit.source import depth_of
from ljit.types import ANY, Type, holds_array, join

if TYPE_CHECKING:
    from ljit.passes.specialize_control import ControlFlow, Walk

__all__ = ["Handlers", "is_in_try"]

_MAX_HANDLER = 60  # nodes


class _Landing(Record, frozen=False):
    """What the body of a Try leads to where it raises: behind `region`, with values of the `types`."""

    node: Node
    region: Node
    types: list[Type] = made_by(factory=list)


class Handlers:
    """The part of a walk that handles Trys."""

    def __init__(self, walk: Walk, control: ControlFlow) -> None:
        self.walk = walk
        self.control = control
        self.out = walk.out
        self.given_up: set[Node] = set()
        self._handled: Value | None = None  # the exception of the handler that is being walked
        #: of the Trys around the place; None: the interpreter has the handler
        self._landings: list[_Landing | None] = []

    def visit_try(self, node: Node) -> bool:
        """Walk a Try; its handler only if it is native."""
        if self._is_native(node):
            goes_on = self._visit_with_handler(node)
        else:
            with self._body(None):
                goes_on = self.control.splice(node, node.blocks[0])
        if goes_on:
            self.walk.snapshot(f"after:{node.id}", self.walk.liveness.live_after(node))
        return goes_on

    def visit_catch(self, node: Node) -> bool:
        """What the handler gets is part of the state from here on."""
        self.walk.snapshot(f"after:{node.id}", self.walk.liveness.live_after(node))
        return True

    def visit_reraise(self, node: Node) -> bool:
        """What no clause takes goes to the handler around this one, or back to the interpreter."""
        landing = self._landings[-1] if self._landings and self.out.handling else None
        if landing is None or self._handled is None:
            return self.out.deoptimize(NOT_CAUGHT, node)
        if depth_of(node.range) == depth_of(landing.node.range):
            self._go_to(landing, node, self._handled)
        else:
            self._raise_in_caller(landing, node, self._handled)
        return False

    def _raise_in_caller(self, landing: _Landing, node: Node, error: Value) -> None:
        """Raise what leaves a function that was inlined where that was called: its traceback has that place, too."""

        def emit() -> Node:
            raised = self.out.append(get_op("prim::raise"), (error,), {"has_cause": False})
            raised.origin = node.id
            raised.range = node.range.caller if node.range is not None else None
            return raised

        self._try(landing, node, emit)
        self.out.append(UNREACHABLE, like=node)

    @contextmanager
    def _body(self, landing: _Landing | None) -> Iterator[None]:
        outer, self.out.catches = self.out.catches, True
        self._landings.append(landing)
        yield
        self._landings.pop()
        self.out.catches = outer

    def _is_native(self, node: Node) -> bool:
        body, handler = node.blocks
        inside = list(handler.walk())
        is_short = len(inside) <= _MAX_HANDLER and all(n.op not in (LOOP, TRY) for n in inside)
        if not is_short or node in self.given_up or self.out.handling:
            return False
        return any(self.has_raised(n) for n in body.walk())

    def _visit_with_handler(self, node: Node) -> bool:
        out = self.out
        both = out.append(REGION, like=node)
        exits = self.control.enter(node, both)
        with out.inside(both):
            landing = _Landing(node, out.append(REGION, like=node))
            with out.inside(landing.region), self._body(landing):
                results = self.control.block_results(node.blocks[0])
                if results is not None:
                    exits.add_outputs(results)
                    out.append(BREAK, results, like=node).target = both
            if landing.types:
                self._visit_handler(node, landing)
            else:
                out.append(UNREACHABLE, like=node)
        return self.control.finish_region(node, both)

    def _visit_handler(self, node: Node, landing: _Landing) -> None:
        """Walk the handler; the exception goes back if that does not work out."""
        out, handler = self.out, node.blocks[1]
        given = [landing.region.add_output(type_) for type_ in landing.types]
        self.walk.values.update(zip(handler.params, given, strict=True))
        assert handler.first is not None
        live = self.walk.liveness.live_before(handler.first)
        live = [v for v in live if v is not handler.params[0] and not v.is_constant]
        pairs = [(v.key, self.walk.saved(v)) for v in live]
        out.snapshot_of_handler(f"handler:{node.id}", pairs, given[0])
        snapshot, undo = out.block.last, self.control.saved()
        assert snapshot is not None
        out.handling, out.dirty, self._handled = True, True, given[0]
        results = self.control.block_results(handler)
        out.handling = False
        if results is not None:
            self.control.exits[node].add_outputs(results)
            out.append(YIELD, results, like=node)
        may_call = not out.catches and not any(holds_array(v.type) for v in snapshot.inputs)
        if _is_unsafe(_behind(snapshot), may_call=may_call):
            self.given_up.add(node)
            undo()
            erase_behind(snapshot)
            out.deoptimize(RAISED, node)

    def has_raised(self, node: Node) -> bool:
        """Whether a node was seen to raise where a handler got it."""
        return node.op is not PROFILE and self.walk.feedback.observed(node.id) is not None

    def tried(self, node: Node, emit: Callable[[], Node]) -> Node:
        """Emit an operation of the baseline `node`: in a Try of its own if it raises for a native handler."""
        landing = self._landings[-1] if self._landings and not self.out.handling else None
        if landing is None or not self.has_raised(node):
            return emit()
        return self._try(landing, node, emit)

    def _try(self, landing: _Landing, node: Node, emit: Callable[[], Node]) -> Node:
        """Emit an operation in a Try of its own, whose handler is that of the landing."""
        out = self.out
        trial = out.append(TRY, like=landing.node)
        with out.inside(trial):
            made = emit()
            out.append(YIELD, made.outputs)
        for result in made.outputs:
            trial.add_output(result.type, result.name)
        with out.inside(trial):
            self._go_to(landing, node, out.block.add_param("", ANY))
        return trial

    def _go_to(self, landing: _Landing, node: Node, error: Value) -> None:
        """Leave for a handler with what a node has raised."""
        given = [error, *(self.walk.values[v] for v in _caught_at(node, landing.node))]
        types_ = [v.type for v in given]
        landing.types = list(map(join, landing.types, types_)) if landing.types else types_
        self.out.append(BREAK, given, like=node).target = landing.region


def is_in_try(node: Node) -> bool:
    """Whether the node is in the body of a Try (not in a handler of one only)."""
    owners = [(block, block.owner) for block in node.blocks_around() if block.owner is not None]
    return any(owner.op is TRY and block is owner.blocks[0] for block, owner in owners)


def _behind(node: Node) -> Iterator[Node]:
    while node.next is not None:
        node = node.next
        yield node


def _is_unsafe(nodes: Iterable[Node], *, may_call: bool) -> bool:
    """Whether a handler may leave where something has been done for good, or calls what it must not."""
    check = _SafetyCheck(may_call)
    check.visit(nodes, is_done=False)
    return check.has_failed


class _SafetyCheck:
    """One walk over a handler, which has no loops."""

    def __init__(self, may_call: bool) -> None:
        self.may_call = may_call
        self.has_failed = False

    def visit(self, nodes: Iterable[Node], *, is_done: bool) -> bool:
        """Walk the nodes of a block; gives whether something has been done for good behind them."""
        for node in nodes:
            if node.op is SNAPSHOT:
                is_done = False
            elif node.blocks:
                ends = [self.visit(block, is_done=is_done) for block in node.blocks]
                is_done |= any(ends)
            else:
                effects = node.op.effects_of(node)
                is_call = bool(effects & Effect.CALL) and not self.may_call
                is_call |= node.op is CALL_NATIVE  # which is not shown the exception (`handling`)
                leaves = node.op is DEOPTIMIZE or node.op.can_leave(node)
                self.has_failed |= is_call or (is_done and leaves)
                is_done |= not effects.is_repeatable
        return is_done


def _caught_at(node: Node, region: Node) -> Sequence[Value]:
    """What the handler of a Try gets if a node of its body raises: the operands of the last Catch in front of it."""
    place: Node | None = node
    while place is not None and place is not region:
        before = place.prev
        while before is not None:
            if before.op is CATCH and before.target is region:
                return before.inputs
            before = before.prev
        place = place.block.owner if place.block is not None else None
    return ()
