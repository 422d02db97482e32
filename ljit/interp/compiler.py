"""Graph to bytecode: one pass over the structured graph, labels patched at the end. Linear in the graph."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from itertools import takewhile
from typing import Any, ClassVar

from ljit.analysis.branch_histories import BranchHistories, may_become_choice
from ljit.analysis.low_bits import long_ones
from ljit.analysis.temporaries import is_temporary
from ljit.errors import InternalError
from ljit.interp.code import Code, Instruction, Kind, LoopInfo, TryInfo
from ljit.interp.flow import arrivals, live_registers
from ljit.interp.operations import bound, call_text, reductions
from ljit.interp.special import (
    MapBody,
    check_assumption,
    check_guard,
    deoptimize,
    is_type,
    snapshot,
    unreachable,
)
from ljit.ir import Block, Effect, Graph, Node, Value
from ljit.ops.containers.iteration import HAS_NEXT
from ljit.ops.control import (
    ASSUME,
    BREAK,
    CATCH,
    CHECK_SETTINGS,
    CONSTANT,
    CONTINUE,
    DEOPTIMIZE,
    GUARD,
    IF,
    LOOP,
    MAP,
    PROFILE,
    REGION,
    RERAISE,
    RETURN,
    SNAPSHOT,
    TRY,
    TYPE_IS,
    UNINITIALIZED,
    UNREACHABLE,
    YIELD,
)
from ljit.ops.names import UNBOUND_VALUE
from ljit.ops.objects import CALL_METHOD, GETATTR
from ljit.source import SourceRange, depth_of
from ljit.types import ArrayType, ScalarType, Type

__all__ = ["compile_graph"]


def compile_graph(graph: Graph) -> Code:
    """Turn a graph that verifies (and has no Load and Store any more) into bytecode."""
    return _Compiler(graph).compile()


class _Label:
    """A place to jump to, bound once its pc is known."""

    __slots__ = ("pc",)

    def __init__(self) -> None:
        self.pc = -1


class _Compiler:
    """The state of one compilation."""

    def __init__(self, graph: Graph) -> None:
        self.graph = graph
        self.instructions: list[Instruction] = []
        self.template: list[object] = []
        self.registers: dict[Value, int] = {}
        self.constants: set[int] = set()
        self.held: set[int] = set()
        #: by the registers of what is held: into how many functions that was inlined
        self.depths: dict[int, int] = {}
        self.temporaries: dict[int, tuple[int, ...]] = {}
        self.positions: dict[str, int] = {}
        self.calls: dict[int, int] = {}
        self.wide: dict[int, Node] = {}  # by pc: what is another op on ints beyond int64
        self.branches = BranchHistories()
        self.loops: dict[Node, LoopInfo] = {}
        self.loop: LoopInfo | None = None  # the innermost one around the present node
        self.headers: dict[Node, _Label] = {}  # of Loops: where the next trip starts
        self.ends: dict[Node, _Label] = {}  # of nodes with blocks: behind the merge
        self.tries: list[TryInfo] = []
        #: by Try: where its Catches stand and which registers they name; the last one is in force
        self.catches: dict[Node, list[tuple[int, tuple[int, ...]]]] = {}
        self.pinned = -1  # the last pc that a label or position names
        self.range: SourceRange | None = None
        self.snapshot_register: int | None = None

    def compile(self) -> Code:
        self.new_registers(self.graph.params)
        self.scratch = self.new_register()
        self.visit_block(self.graph.block)
        for instruction in self.instructions:
            if instruction.target is not None:
                instruction.target = instruction.target.pc
            if isinstance(instruction.f, _Label):
                instruction.f = instruction.f.pc
        return Code(
            name=self.graph.name,
            parameters=len(self.graph.params),
            instructions=tuple(self.instructions),
            template=tuple(self.template),
            positions=self.positions,
            register_of={value.key: register for value, register in self.registers.items()},
            loops=tuple(self.loops.values()),
            constants=frozenset(self.constants),
            held=frozenset(self.held),
            temporaries=self.temporaries,
            result=self.scratch,
            live=live_registers(self.instructions, self.constants, self.tries),
            arrivals=arrivals(self.instructions),
            tries=tuple(self.tries),
            find_results=partial(long_ones, self.wide),
            branches=self.branches,
            calls=self.calls,
        )

    # -- registers and emission --------------------------------------------------------------------

    def new_register(self, content: object = UNBOUND_VALUE) -> int:
        self.template.append(content)
        return len(self.template) - 1

    def new_registers(self, values: Sequence[Value]) -> tuple[int, ...]:
        """Give `values` registers side by side."""
        for value in values:
            self.registers[value] = self.new_register()
        return self.registers_of(values)

    def registers_of(self, values: Sequence[Value]) -> tuple[int, ...]:
        return tuple([self.registers[value] for value in values])

    def emit(
        self,
        kind: Kind,
        reads: tuple[int, ...] = (),
        writes: tuple[int, ...] = (),
        *,
        f: object = None,
        target: _Label | None = None,
        text: str = "",
    ) -> None:
        self.instructions.append(Instruction(kind, f, reads, writes, target, text, self.range))

    def bind(self, label: _Label) -> None:
        """Let `label` name this place; a jump to the very next instruction is dropped."""
        last = self.instructions[-1] if self.instructions else None
        if last is not None and self.pinned < len(self.instructions):
            if last.kind is Kind.JUMP and last.target is label:
                self.drop_last_instruction()
        label.pc = self.pinned = len(self.instructions)

    def drop_last_instruction(self) -> None:
        self.instructions.pop()
        here = len(self.instructions)
        for region, catches in self.catches.items():
            if catches[-1][0] > here:
                self.note_catch(region, catches.pop()[1])

    def pin(self, position: str) -> None:
        self.positions[position] = self.pinned = len(self.instructions)

    def rare(
        self, f: Callable[[list[object]], object], text: str, reads: tuple[int, ...] = (),
        into: int | None = None,
    ) -> None:  # fmt: skip
        """Emit ``r[into] = f(r)``."""
        writes = (self.scratch if into is None else into,)
        self.emit(Kind.RARE, reads, writes, f=f, text=text)

    def move(self, sources: Sequence[int], targets: Sequence[int]) -> None:
        """Emit a parallel move."""
        pairs = [p for p in zip(sources, targets, strict=True) if p[0] != p[1]]
        if pairs:
            reads, writes = zip(*pairs, strict=True)
            self.emit(Kind.MOVE, reads, writes)

    # -- nodes -------------------------------------------------------------------------------------

    def visit_block(self, block: Block) -> None:
        caught = {region: found[-1][1] for region, found in self.catches.items()}
        for node in block:
            self.range = node.range or self.range
            self.pin(f"before:{node.id}")
            self.handlers.get(node.op, _Compiler.visit_op)(self, node)
            if not node.op.is_terminator:
                self.pin(f"after:{node.id}")
        for region, sources in caught.items():
            self.note_catch(region, sources)

    def visit_op(self, node: Node) -> None:
        """An op that its declaration says all about."""
        if node.op.evaluate is None or node.blocks:
            raise InternalError(f"{node.op.name} cannot be interpreted")
        reads = self.registers_of(node.inputs)
        writes = self.new_registers(node.outputs) or (self.scratch,)
        kind, f = bound(node)
        if node.op.wide is not None:
            self.wide[len(self.instructions)] = node
        if node.op.effects is Effect.CALL:
            self.calls[len(self.instructions)] = depth_of(node.range)
        self.emit(kind, reads, writes, f=f, text=call_text(node))
        if node.op.is_profiled and node.effects & Effect.CALL:
            is_call = node.op is GETATTR or node.op.effects is Effect.CALL
            for out in node.outputs:
                register = self.registers[out]
                if is_temporary(out):
                    self.temporaries[register] = (register,)
                elif is_call and (out.name or out.uses):
                    self.held.add(register)
                    self.depths[register] = depth_of(node.range)

    def visit_method_call(self, node: Node) -> None:
        """In front of it the hooks are told of an object: it may have an attribute in the place of a method."""
        receiver = self.registers[node.inputs[0]]
        if receiver not in self.constants:
            f = (node.id, node.attrs["name"], self.new_register(None))
            self.emit(Kind.RECEIVER, (receiver,), f=f)
        self.visit_op(node)

    def visit_constant(self, node: Node) -> None:
        self.registers[node.output] = register = self.new_register(node.attrs["value"])
        self.constants.add(register)

    def visit_uninitialized(self, node: Node) -> None:
        self.registers[node.output] = register = self.new_register()
        self.constants.add(register)

    def visit_profile(self, node: Node) -> None:
        reads = self.registers_of(node.inputs)
        writes, settled = self.new_registers(node.outputs), self.new_register()
        self.emit(Kind.PROFILE, reads, writes, f=(node.id, settled))
        if reads[0] in self.temporaries:
            self.temporaries[writes[0]] = (*self.temporaries[reads[0]], writes[0])
        if reads[0] in self.depths:
            self.depths[writes[0]] = self.depths[reads[0]]

    # -- control flow ------------------------------------------------------------------------------

    def visit_if(self, node: Node) -> None:
        reads = self.registers_of(node.inputs)
        self.new_registers(node.outputs)
        self.ends[node] = end = _Label()
        first, second = node.blocks
        if first.first is first.last and first.terminator.op is YIELD and not node.outputs:
            self.emit(Kind.BRANCH_IF, reads, f=end, target=end)
            self.visit_block(second)
            self.bind(end)
            self.pin(f"before:{first.terminator.id}")
            return
        otherwise = _Label()
        if self.loop is not None and may_become_choice(node):
            note = self.branches.recorder_of(node.origin)
            self.emit(Kind.CALL, reads, (self.scratch,), f=note, text="note outcome")
        self.emit(Kind.BRANCH, reads, f=end, target=otherwise)
        before = len(self.depths)
        self.visit_block(first)
        self.bind(otherwise)
        self.visit_block(second)
        self.bind(end)
        self.end_callees(node, before)

    def visit_region(self, node: Node) -> None:
        self.new_registers(node.outputs)
        self.ends[node] = end = _Label()
        self.emit(Kind.REGION, f=end)
        before = len(self.depths)
        self.visit_block(node.blocks[0])
        self.bind(end)
        self.end_callees(node, before)

    def end_callees(self, node: Node, before: int) -> None:
        """Forget what variables of functions that were inlined within the node have: their frames are gone."""
        depth = depth_of(node.range)
        inner = [*self.depths.items()][before:]
        registers = tuple([register for register, inlined in inner if inlined > depth])
        if registers:
            nothing = self.new_register(None)
            self.constants.add(nothing)
            self.emit(Kind.MOVE, (nothing,) * len(registers), registers)

    def visit_try(self, node: Node) -> None:
        self.new_registers(node.outputs)
        self.ends[node] = end = _Label()
        body, handler = node.blocks
        error, *parameters = self.new_registers(handler.params)
        depth = depth_of(self.range)
        self.emit(Kind.TRY)
        start = len(self.instructions)
        catches = self.catches[node] = [(start, ())]  # its own are in front of all that may raise
        self.visit_block(body)
        del self.catches[node]
        self.bind(behind := _Label())
        self.pin(f"handler:{node.id}")
        self.visit_block(handler)
        # the place in front of the last jump is in the handler: the jump stays
        if self.pinned == len(self.instructions) - 1:
            self.pinned += 1
        self.bind(end)
        info = TryInfo(
            start, behind.pc, end.pc, error, tuple(parameters), tuple(catches), self.loop, depth
        )
        self.tries.append(info)
        self.instructions[start - 1].f = info

    def visit_catch(self, node: Node) -> None:
        assert node.target is not None
        self.note_catch(node.target, self.registers_of(node.inputs))

    def note_catch(self, region: Node, sources: tuple[int, ...]) -> None:
        """Say what the handler of a Try gets from here on."""
        catches, here = self.catches[region], len(self.instructions)
        if catches and catches[-1][0] == here:
            catches.pop()  # in force for no instruction
        if not catches or catches[-1][1] != sources:
            catches.append((here, sources))

    def visit_loop(self, node: Node) -> None:
        start, stop, *carried = self.registers_of(node.inputs)
        outputs = self.new_registers(node.outputs)
        body = node.blocks[0]
        trip, *parameters = self.new_registers(body.params)
        around = self.loop
        test = next(n for n in body if n.op is not CATCH)
        view = self.registers_of(test.inputs)[0] if test.op is HAS_NEXT else None
        size, limit = _own_size(body), self.new_register()
        info = LoopInfo(node.id, start, trip, stop, limit, size, view, around)
        self.loops[node] = info
        self.headers[node], self.ends[node] = header, end = _Label(), _Label()
        exhausted = _Label()
        where = self.range
        self.emit(Kind.ENTER, (start, stop), f=info)
        self.move([start, *carried], [trip, *parameters])
        self.bind(header)
        self.pin(f"header:{node.id}")
        for catch in takewhile(lambda n: n.op is CATCH, body):
            self.visit_catch(catch)
        self.emit(Kind.HEADER, (trip, stop), f=info, target=exhausted)
        self.loop = info
        self.visit_block(body)
        self.loop = around
        self.range = where
        self.bind(exhausted)
        if len(node.blocks) > 1:
            self.move(parameters, self.new_registers(node.blocks[1].params))
            self.visit_block(node.blocks[1])
        else:
            self.move(parameters, outputs)
        self.bind(end)

    def visit_yield(self, node: Node) -> None:
        assert node.block is not None
        owner = node.block.owner
        assert owner is not None, "a graph ends in Return"
        values = self.registers_of(node.inputs)
        if owner.op is MAP:
            self.emit(Kind.RESULTS, values)
        elif owner.op is LOOP and node.block is owner.blocks[0]:
            self.next_trip(owner, values)
        else:
            self.leave(owner, values)

    def visit_continue(self, node: Node) -> None:
        assert node.target is not None
        self.next_trip(node.target, self.registers_of(node.inputs))

    def visit_break(self, node: Node) -> None:
        assert node.target is not None
        self.leave(node.target, self.registers_of(node.inputs))

    def next_trip(self, loop: Node, values: tuple[int, ...]) -> None:
        trip, *parameters = self.registers_of(loop.blocks[0].params)
        self.move(values, parameters)
        self.emit(Kind.NEXT, (trip,), (trip,), f=self.loops[loop], target=self.headers[loop])

    def leave(self, owner: Node, values: tuple[int, ...]) -> None:
        self.move(values, self.registers_of(owner.outputs))
        self.emit(Kind.JUMP, target=self.ends[owner])

    def visit_return(self, node: Node) -> None:
        self.emit(Kind.RETURN, self.registers_of(node.inputs))

    # -- specialised graphs ------------------------------------------------------------------------

    def visit_snapshot(self, node: Node) -> None:
        if self.snapshot_register is None:
            self.snapshot_register = self.new_register()
        reads = self.registers_of(node.inputs)
        attrs: Mapping[str, Any] = node.attrs
        f = partial(snapshot, attrs["at"], attrs["names"], reads)
        self.rare(f, "prim::Snapshot", reads, self.snapshot_register)

    def visit_guard(self, node: Node) -> None:
        reads = self.registers_of(node.inputs)
        writes = self.new_registers(node.outputs)
        type_: Any = node.attrs["type"]
        f = partial(check_guard, type_, reads[0], self.snapshot_register)
        self.rare(f, call_text(node), reads, writes[0])

    def visit_type_is(self, node: Node) -> None:
        reads = self.registers_of(node.inputs)
        writes = self.new_registers(node.outputs)
        type_: Any = node.attrs["type"]
        f = partial(is_type, type_, reads[0])
        self.rare(f, call_text(node), reads, writes[0])

    def visit_deoptimize(self, node: Node) -> None:
        reason: Any = node.attrs["reason"]
        f = partial(deoptimize, reason, self.snapshot_register)
        self.rare(f, call_text(node))

    def visit_assume(self, node: Node) -> None:
        assumption: Any = node.attrs["assumption"]
        f = partial(check_assumption, assumption, self.snapshot_register)
        self.rare(f, call_text(node))

    def visit_map(self, node: Node) -> None:
        """The block becomes a subroutine that works on the same registers, behind a jump."""
        into = node.attrs.get("into", 0)
        assert isinstance(into, int)
        reads = self.registers_of(node.inputs)
        writes = self.new_registers(node.outputs)
        parameters = self.new_registers(node.blocks[0].params)
        behind, start = _Label(), _Label()
        self.emit(Kind.JUMP, target=behind)
        self.bind(start)
        self.visit_block(node.blocks[0])
        self.bind(behind)
        dtypes = tuple(_element_dtype(out.type) for out in node.outputs)
        covers: Any = node.attrs.get("covers", ())
        body = MapBody(
            start.pc,
            reads[:into],
            reads[into:],
            parameters,
            dtypes,
            reductions(node),
            covers,
            self.snapshot_register,
        )
        self.emit(Kind.MAP, reads, writes, f=body, target=start, text="prim::Map")

    handlers: ClassVar[dict[object, Callable[[_Compiler, Node], None]]] = {
        CONSTANT: visit_constant,
        UNINITIALIZED: visit_uninitialized,
        IF: visit_if,
        LOOP: visit_loop,
        REGION: visit_region,
        TRY: visit_try,
        CATCH: visit_catch,
        RERAISE: lambda self, node: self.emit(Kind.RERAISE),
        YIELD: visit_yield,
        CONTINUE: visit_continue,
        BREAK: visit_break,
        RETURN: visit_return,
        UNREACHABLE: lambda self, node: self.rare(unreachable, "unreachable"),
        PROFILE: visit_profile,
        CALL_METHOD: visit_method_call,
        SNAPSHOT: visit_snapshot,
        GUARD: visit_guard,
        DEOPTIMIZE: visit_deoptimize,
        ASSUME: visit_assume,
        CHECK_SETTINGS: lambda self, node: None,  # NumPy's operations look at them
        TYPE_IS: visit_type_is,
        MAP: visit_map,
    }


def _own_size(block: Block) -> int:
    """Count the nodes at any depth that belong to no loop inside of `block`."""
    return sum(1 if node.op is LOOP else 1 + sum(map(_own_size, node.blocks)) for node in block)


def _element_dtype(type_: Type) -> Any:
    assert isinstance(type_, ArrayType | ScalarType), "a Map makes arrays and NumPy scalars"
    return type_.dtype
