"""The walk over a graph: structured control flow, guards, snapshots.

Structural ops are known by identity; every other op is emitted by `operations.py`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from contextlib import AbstractContextManager, nullcontext
from functools import partial, reduce
from operator import or_
from typing import ClassVar

from ljit.analysis.shifts import following, interleaved, shifts_of, step_of
from ljit.analysis.signatures import NativeLink
from ljit.codegen.arrays.small_arrays import is_late, late_array, small_array
from ljit.codegen.constants import check_assumption, constant
from ljit.codegen.emitter import Emitter
from ljit.codegen.exits.bailout import Landing, Retry, known_object
from ljit.codegen.exits.convert import convert, has_member, hold_made, narrow
from ljit.codegen.exits.unchanged import settings_check
from ljit.codegen.functions.context import Note
from ljit.codegen.functions.support import support
from ljit.codegen.graph_loops import GraphLoop
from ljit.codegen.joins import Join
from ljit.codegen.lists.boxed_uses import hold_objects, is_boxed_twice
from ljit.codegen.llvm.builder import FALSE, TRUE, BlockRef, FunctionBuilder, Ref, address, integer
from ljit.codegen.llvm.forms import Native
from ljit.codegen.llvm.refs import UNPREDICTABLE
from ljit.codegen.operations import boxed_call, operation
from ljit.codegen.predicates import emit_predicate
from ljit.codegen.references.boxing import box
from ljit.codegen.references.lifetimes import Deaths
from ljit.codegen.scalars.speculation import (
    is_choice,
    is_select,
    is_worth_noting,
    may_be_in_front_of_checks,
)
from ljit.errors import CodegenError
from ljit.ir import Block, Effect, Graph, Node, Value
from ljit.ops.control import (
    ASSUME,
    BREAK,
    BUILD,
    CALL_NATIVE,
    CHECK_SETTINGS,
    CONSTANT,
    CONTINUE,
    DEOPTIMIZE,
    GUARD,
    HOLDS,
    IF,
    LOOP,
    MAP,
    OUT_OF_RANGE,
    PREDICATE,
    PROFILE,
    REGION,
    RETURN,
    SNAPSHOT,
    TRY,
    TYPE_IS,
    UNINITIALIZED,
    UNREACHABLE,
    YIELD,
)
from ljit.ops.python.private_items import holds_private
from ljit.source import depth_of
from ljit.types import ANY, BOOL, ArrayType, Type, join

__all__ = ["GraphEmitter"]

Jump = Callable[[Sequence[Native]], None]

_FEW = 4  # elements from one to the next, which vectors of loads and stores may step over


def _with_step(x: Native, step: int) -> Native:
    """An operand of a nest, whose last stride is known where it has elements: loops have vectors then."""
    if not 0 < step <= _FEW:
        return x
    assert isinstance(x.type, ArrayType)
    return Native(x.type, (*x.parts[:-1], integer("i64", step * x.type.dtype.itemsize)))


def _no_yield(_values: Sequence[Native]) -> None:
    msg = "the body of a graph ends in a Yield"
    raise CodegenError(msg)


class GraphEmitter:
    """Emits one graph into the function of an Emitter."""

    def __init__(self, e: Emitter) -> None:
        self.e = e
        self.env: dict[Value, Native] = {}
        self.breaks: dict[Node, Jump] = {}
        self.continues: dict[Node, Jump] = {}
        self._yield: Jump = _no_yield
        self._early: set[Node] = set()  # emitted in front of the loop that they are in
        self._deaths = Deaths(e.ownership, e.bailout, self.env)
        self._noted: tuple[BlockRef, Note] | None = None  # the last line that a comment names
        self._to_poll: Graph | None = None  # its body calls others, and has not polled yet

    def emit(self, graph: Graph, params: Sequence[Native]) -> None:
        """Emit the body for the given parameters; every path leaves the function."""
        self.env.update(zip(graph.params, params, strict=True))
        if self.e.body is not None:
            calls = any(node.op is CALL_NATIVE for node in graph.walk())
            self._to_poll = graph if calls else None
        self.run(graph.block, _no_yield)

    def run(self, nodes: Iterable[Node], on_yield: Jump) -> None:
        """Emit the nodes of a block, or some of them; `on_yield` is called for its Yield."""
        saved, self._yield = self._yield, on_yield
        with self.e.ownership.in_block():
            self._run(nodes)
        self._yield = saved

    def _run(self, nodes: Iterable[Node]) -> None:
        for node in nodes:
            if not self.e.f.is_reachable:
                break
            if node in self._early:
                continue
            self.e.bailout.node = node
            self._note_line(node)
            if self.e.bailout.late and not may_be_in_front_of_checks(node):
                self.e.bailout.test_late()
            mark, self.e.spent = len(self.e.ownership.acquired), self._deaths.spent_by(node)
            self.e.ends_temporaries = self._deaths.is_last_of_temporaries(node)
            self.emit_node(node)
            self._deaths.behind(node, [self.env.get(out) for out in node.outputs], mark)

    def _note_line(self, node: Node) -> None:
        """Say which line of the source the next ones are for, once in a block."""
        block, place = self.e.f.block, node.range
        if block is None or place is None:
            return
        line = place.source, place.line
        if self._noted != (block, line):
            self._noted = block, line
            self.e.context.note(block, line)

    def emit_node(self, node: Node) -> None:
        """Emit one node in the place where the function is written."""
        emit = self._handlers.get(node.op, GraphEmitter._operation)
        if node.is_fast and not node.blocks:
            with self.e.fast_floats():
                emit(self, node)
        else:
            emit(self, node)

    def operands(self, node: Node) -> list[Native]:
        return [self.env[value] for value in node.inputs]

    def define(self, node: Node, results: Sequence[Native]) -> None:
        if not self.e.f.is_reachable:  # it always leaves: sizes that are known do not fit together
            return
        for out, value in zip(node.outputs, results, strict=True):
            self.env[out] = self._fit(value, out.type)

    def _fit(self, value: Native, type_: Type) -> Native:
        """Widen or check a result that is not yet of the type stated in the graph."""
        if value.type == type_:
            return value
        if join(value.type, type_) == type_:
            return convert(self.e, value, type_)
        if value.type == ANY:
            from ljit.codegen.objects.objects import call_result

            return call_result(self.e, value, type_)
        return narrow(self.e, value, type_, f"not {type_}")

    # -- values ------------------------------------------------------------------------------------

    def _constant(self, node: Node) -> None:
        out = node.output
        self.env[out] = constant(self.e, node.attrs["value"], out.type)

    def _uninitialized(self, node: Node) -> None:
        self.env[node.output] = Native(node.output.type, ())

    def _profile(self, node: Node) -> None:
        self.define(node, self.operands(node))

    # -- checks ------------------------------------------------------------------------------------

    def _snapshot(self, node: Node) -> None:
        names = node.attrs["names"]
        assert isinstance(names, tuple)
        catches, handles = bool(node.attrs.get("catches")), node.attrs.get("handles", 0)
        assert isinstance(handles, int)
        at, values = str(node.attrs["at"]), self.operands(node)
        self.e.bailout.snapshot(at, names, values, catches=catches, handles=handles)
        self.e.polling.leave_late()
        if self._to_poll is not None:
            graph, self._to_poll = self._to_poll, None
            self.e.polling.poll_in_frames(graph)

    def _guard(self, node: Node) -> None:
        (value,) = self.operands(node)
        type_ = node.output.type
        reason = OUT_OF_RANGE if node.attrs.get("in_front") else f"not {type_}"
        made = self.env[node.output] = narrow(self.e, value, type_, reason)
        if value.type.is_boxed:
            hold_objects(self.e, node.output, made, value.ref)

    def _type_is(self, node: Node) -> None:
        (value,) = self.operands(node)
        member = node.attrs["type"]
        assert isinstance(member, Type)
        self.env[node.output] = Native(BOOL, (has_member(self.e, value, member),))

    # -- control flow ------------------------------------------------------------------------------

    def _if(self, node: Node) -> None:
        f, bailout, condition = self.e.f, self.e.bailout, self._condition(node)
        suffix = UNPREDICTABLE if node.attrs.get("is_erratic") else ""
        self._note_outcome(node, condition.ref)
        if is_select(node) or is_choice(node):
            yes, no = (self._side(node, block, condition.ref) for block in node.blocks)
            choose = partial(self.e.select, condition, suffix=suffix)
            self.define(node, list(map(choose, yes, no)))
            return
        types_ = [out.type for out in node.outputs]
        after = Join(self.e, types_, "join", values=node.outputs)
        sides = f.new_block("then"), f.new_block("else")
        usual = node.attrs.get("usual")
        f.condbr(
            f.known.look_up(condition.ref, f.block),
            *sides,
            unlikely=usual is False,
            likely=usual is True,
            suffix=suffix,
        )
        before = bailout.current
        kept = True

        def on_yield(values: Sequence[Native]) -> None:
            nonlocal kept
            kept &= bailout.current is before
            after.jump(values)

        for side, block, truth in zip(sides, node.blocks, (True, False), strict=True):
            bailout.current = before
            if f.start(side):
                f.known.note(condition.ref, side, truth=truth)
                self.run(block, on_yield)
        bailout.current = before if kept or node.effects.is_repeatable else None
        self.define(node, after.start())

    def _condition(self, choice: Node) -> Native:
        if choice.proven:
            return Native(BOOL, (TRUE if HOLDS in choice.proven else FALSE,))
        return self.env[choice.inputs[0]]

    def _note_outcome(self, node: Node, condition: Ref) -> None:
        """Have quick code note how a branch goes that might be a choice."""
        histories, f = self.e.context.options.branches, self.e.f
        if histories is not None and condition.constant is None and is_worth_noting(node):
            word = address(histories.address_of(node.origin))
            earlier = f.binary("shl", f.load("i64", word), 1)
            f.store(f.binary("or", earlier, f.convert("zext", condition, "i64")), word)

    def _side(self, node: Node, block: Block, condition: Ref) -> list[Native]:
        """What one side of an If gives that is computed whatever the condition says."""
        with self.e.bailout.only_if(condition, is_true=block is node.blocks[0]):
            for inner in block:
                if inner is not block.last:
                    self.e.bailout.node = inner
                    self._note_line(inner)
                    self.emit_node(inner)
        return self.operands(block.terminator)

    def _region(self, node: Node) -> None:
        bailout = self.e.bailout
        after = Join(self.e, [o.type for o in node.outputs], "region", values=node.outputs)
        before = bailout.current
        self.breaks[node] = after.jump
        self.run(node.blocks[0], after.jump)
        bailout.current = before if node.effects.is_repeatable else None
        self.define(node, after.start())

    def _try(self, node: Node) -> None:
        """What raises in block 0 goes to block 1; one node whose check fails is done once more, by CPython."""
        f, bailout, ownership = self.e.f, self.e.bailout, self.e.ownership
        body, handler = node.blocks
        after = Join(self.e, [o.type for o in node.outputs], "tried", values=node.outputs)
        before, outer = bailout.current, (bailout.landing, bailout.retry)
        landing = f.new_block("raised")
        bailout.landing = Landing(landing, depth_of(node.range))
        bailout.retry = retry = _retry(f, body)
        with ownership.noting_temporaries() as temporaries:
            self.run(body, after.jump)
            bailout.retry, bailout.current = None, before
            if retry is not None and f.start(retry.block, cold=True):
                assert body.first is not None
                bailout.node = body.first
                bailout.regain_gil()
                ownership.empty(temporaries)
                with self._handling():
                    redone = boxed_call(self.e, body.first, self.operands(body.first))
                    self.define(body.first, redone)
                if f.is_reachable:
                    after.jump(self.operands(body.terminator))
        bailout.landing, bailout.retry = outer
        if f.start(landing, cold=True):
            raised = f.call("ptr", support("take_error"), ())
            ownership.empty(temporaries)
            ownership.acquire(raised)
            self.env[handler.params[0]] = Native(ANY, (raised,))
            self.run(handler, after.jump)
        bailout.current = before if node.effects.is_repeatable else None
        self.define(node, after.start())

    def in_front(self, value: Value) -> Ref:
        """A number that a loop to come computes of what is known in front of it."""
        self._emit_early(value)
        return self.env[value].ref

    def _emit_early(self, value: Value) -> None:
        node = value.node
        if value in self.env or node is None:
            return
        for operand in node.inputs:
            self._emit_early(operand)
        self._early.add(node)
        self.emit_node(node)

    def _exit(self, node: Node, jumps: dict[Node, Jump]) -> None:
        assert node.target is not None
        with self.e.polling.leaving(node):
            jumps[node.target](self.operands(node))

    def _return(self, node: Node) -> None:
        (value,) = self.operands(node)
        body = self.e.body
        with self.e.polling.leaving(node):
            if body is not None and not body.signature.result.is_boxed:
                result = self._fit(value, body.signature.result)
                self.e.ownership.leave_natively(result.parts)
                return
            pointer = box(self.e.f, known_object(self.e.f, value), self.e.context.keep)
            self.e.ownership.leave_with(pointer)

    def _unreachable(self, _node: Node) -> None:
        f = self.e.f
        f.br(self.e.bailout.fault_block("native code went on behind what always raises"))

    def _call_native(self, node: Node) -> None:
        from ljit.codegen.calls import AfterCall, call_itself, call_link

        following = node.next
        if following is None or following.op is not SNAPSHOT:
            msg = f"no Snapshot behind {node.op.name}"
            raise CodegenError(msg)
        names = following.attrs["names"]
        assert isinstance(names, tuple)

        def set_state(result: Native) -> None:
            values = [result if v is node.output else self.env[v] for v in following.inputs]
            catches = bool(following.attrs.get("catches"))
            self.e.bailout.snapshot(str(following.attrs["at"]), names, values, catches=catches)

        link, is_clean = node.attrs["callee"], bool(node.attrs["is_clean"])
        assert link is None or isinstance(link, NativeLink)
        operands = self.operands(node)
        if link is None:
            result = call_itself(self.e, operands, set_state, is_clean=is_clean)
        else:
            instead = node.attrs.get("instead")
            check, is_negated = node.attrs.get("check"), bool(node.attrs.get("is_negated"))
            assert instead is None or callable(instead)
            assert check is None or callable(check)
            after = AfterCall(instead, check, is_negated)
            result = call_link(self.e, link, operands, set_state, after)
        self.define(node, (result,))

    # -- operations --------------------------------------------------------------------------------

    def _operation(self, node: Node) -> None:
        is_call = node.effects & Effect.CALL
        with self._handling() if is_call else nullcontext():
            self.define(node, operation(self.e, node, self.operands(node)))
        for out in node.outputs:
            if out in self.env and is_boxed_twice(out):
                hold_made(self.e, self.env[out])

    def _handling(self) -> AbstractContextManager[None]:
        """Show what is called the exception whose handler it is called in, if any."""
        handled = self.e.bailout.handled
        if handled is None:
            return nullcontext()
        from ljit.codegen.handled import handling

        return handling(self.e, handled)

    def _build(self, node: Node) -> None:
        """An array of a few elements; made in the exits if only they need it."""
        operands = self.operands(node)
        make = late_array if is_late(node) else small_array
        self.define(
            node, (make(self.e, node.output.type, operands, kept=bool(node.attrs.get("kept"))),)
        )

    def _map(self, node: Node) -> None:
        from ljit.codegen.nests.map_stages import in_stages
        from ljit.codegen.nests.mapnest import emit_map, length_of
        from ljit.codegen.nests.memory_order import operands_of_results
        from ljit.codegen.nests.nest_elements import Kernel

        operands, count, block = self.operands(node), node.attrs.get("into", 0), node.blocks[0]
        operands = [_with_step(*x) for x in zip(operands, map(step_of, node.inputs), strict=True)]
        assert isinstance(count, int)
        nodes, results = [*block][:-1], block.terminator.inputs

        def emit(
            known: Sequence[Value],
            elements: Sequence[Native],
            nodes: Sequence[Node],
            results: Sequence[Value],
        ) -> list[Native]:
            for value, element in zip(known, elements, strict=True):
                self.env[value] = self._fit(element, value.type)
            self.run(nodes, _no_yield)
            return [self.env[value] for value in results] if self.e.f.is_reachable else []

        into, inputs = operands[:count], operands[count:]
        for value in {v for inner in block for v in inner.inputs if v.block is not block}:
            self.e.spent -= {part.text for part in self.env[value].parts}  # read at any place
        may_leave = any(inner.op.can_leave(inner) for inner in block)
        kernel = Kernel(
            lambda elements: emit(block.params, elements, nodes, results),
            may_leave,
            length_of((inner.op, [v.type for v in inner.inputs]) for inner in block),
            staged=in_stages(block, emit),
            odd=reduce(or_, (x.op.odd_layouts(*(v.type for v in x.inputs)) for x in block)),
            operands=operands_of_results(block),
            following={} if self.e.is_quick else following(node),
        )
        elements = [v.type for v in results]
        types_ = [out.type for out in node.outputs]
        made = emit_map(
            self.e,
            into,
            inputs,
            types_,
            kernel,
            attrs=node.attrs,
            elements=elements,
            shifts=None if self.e.is_quick else shifts_of(node),
            targets=None if self.e.is_quick else interleaved(node),
        )
        self.define(node, made)

    _handlers: ClassVar[dict[object, Callable[[GraphEmitter, Node], None]]] = {
        CONSTANT: _constant,
        UNINITIALIZED: _uninitialized,
        IF: _if,
        LOOP: lambda self, node: GraphLoop(self, node).write(),
        REGION: _region,
        TRY: _try,
        YIELD: lambda self, node: self._yield(self.operands(node)),
        CONTINUE: lambda self, node: self._exit(node, self.continues),
        BREAK: lambda self, node: self._exit(node, self.breaks),
        RETURN: _return,
        UNREACHABLE: _unreachable,
        DEOPTIMIZE: lambda self, node: self.e.bail(str(node.attrs["reason"])),
        PROFILE: _profile,
        GUARD: _guard,
        ASSUME: lambda self, node: check_assumption(self.e, node),
        CHECK_SETTINGS: lambda self, node: settings_check(self.e),
        TYPE_IS: _type_is,
        SNAPSHOT: _snapshot,
        CALL_NATIVE: _call_native,
        MAP: _map,
        BUILD: _build,
        PREDICATE: lambda self, node: emit_predicate(self.e, node, self.operands(node)),
    }


def _retry(f: FunctionBuilder, body: Block) -> Retry | None:
    """Where CPython does what is tried, if that is one node that it can do."""
    node = body.first
    if node is None or node.next is not body.last or node.op.evaluate is None:
        return None
    if any(holds_private(v.type) for v in node.inputs):
        return None
    return Retry(f.new_block("retry"), of_types=node.effects.is_repeatable)
