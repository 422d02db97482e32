"""The specialiser's walk over ``try``: bodies in their place, and handlers where it was seen that they run.

What raises in a body leaves for the interpreter, which has the handler. Where the interpreter saw a node of the body
raise, and the handler is short, that node is tried in a `prim::Try` of its own, which a Break leaves for the handler:

    Region                      # the outputs of the program's Try
      %error, ... = Region      # what its handler gets
        ...
        %x = Try {%y = the node; -> (%y)} {(%e): Break(%e, what the last Catch names)}
        ...
        Break[the outer one](...)
      Snapshot[at=handler:ID, handles=1](..., %error)
      ...                       # the handler

The Snapshots in a handler have the exception: the interpreter handles it where it goes on. What is called there
finds it in `sys.exc_info`; what is raised there has it as its context, and goes to the handler around this one, in
native code or in the interpreter.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING

from ljit.ir import Effect, Node, Value, get_op
from ljit.ops.control import BREAK, CATCH, NOT_CAUGHT, PROFILE, REGION, TRY, UNREACHABLE, YIELD
from ljit.records import Record, made_by
from ljit.source import depth_of
from ljit.types import ANY, Type, join

if TYPE_CHECKING:
    from ljit.passes.specializing.specialize_control import ControlFlow, Walk

__all__ = ["Handlers", "is_in_try"]

_MAX_HANDLER = 200  # nodes


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
        landing, handled = self._landing, self.out.handled
        if landing is None or not handled:
            return self.out.deoptimize(NOT_CAUGHT, node)
        if depth_of(node.range) == depth_of(landing.node.range):
            self._go_to(landing, node, handled[-1])
        else:
            self._raise_in_caller(landing, node, handled[-1])
        return False

    @property
    def _landing(self) -> _Landing | None:
        return self._landings[-1] if self._landings else None

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
        if sum(1 for _ in handler.walk()) > _MAX_HANDLER:
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
        """Walk the handler: what is raised in the body may have changed anything before."""
        out, handler = self.out, node.blocks[1]
        given = [landing.region.add_output(type_) for type_ in landing.types]
        self.walk.values.update(zip(handler.params, given, strict=True))
        handled, out.handled = out.handled, (*out.handled, given[0])
        out.dirty = True
        assert handler.first is not None
        live = self.walk.liveness.live_before(handler.first)
        self.walk.snapshot(f"handler:{node.id}", live, Effect.CALL)
        results = self.control.block_results(handler)
        out.handled = handled
        if results is not None:
            self.control.exits[node].add_outputs(results)
            out.append(YIELD, results, like=node)

    def has_raised(self, node: Node) -> bool:
        """Whether a node was seen to raise where a handler got it."""
        return node.op is not PROFILE and self.walk.feedback.observed(node.id) is not None

    def tried(self, node: Node, emit: Callable[[], Node]) -> Node:
        """Emit an operation of the baseline `node`: in a Try of its own if it raises for a native handler."""
        landing = self._landing
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
