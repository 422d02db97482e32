"""Graph to bytecode: one pass over the structured graph, labels patched at the end.

Values that edges move into (parameters of Loop blocks, outputs of nodes with blocks) get registers
side by side, so that a parallel move is one gather and one slice assignment: all sources are read
before any target is written, which makes swaps right. Cost: linear in the graph.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from operator import itemgetter
from typing import Any

from ljit.errors import InternalError
from ljit.interp import code as kinds
from ljit.interp.code import Code, Instruction, LoopInfo, Note, short
from ljit.interp.special import (
    MapBody,
    check_assumption,
    check_guard,
    deoptimize,
    is_type,
    snapshot,
    unreachable,
)
from ljit.ir import Block, Graph, Node, Value
from ljit.ops.control import (
    ASSUME,
    BREAK,
    CONSTANT,
    CONTINUE,
    DEOPTIMIZE,
    GUARD,
    IF,
    LOOP,
    MAP,
    PROFILE,
    REGION,
    RETURN,
    SNAPSHOT,
    TYPE_IS,
    UNINITIALIZED,
    UNREACHABLE,
    YIELD,
)
from ljit.ops.objects import UNBOUND_VALUE
from ljit.source import SourceRange
from ljit.types import ArrayType, Type

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
        self.notes: list[tuple[Note, _Label | None]] = []
        self.ranges: list[SourceRange | None] = []
        self.template: list[object] = []
        self.registers: dict[Value, int] = {}
        self.constants: list[int] = []
        self.positions: dict[str, int] = {}
        self.labels: list[_Label] = []
        self.loops: dict[Node, LoopInfo] = {}
        self.loop: LoopInfo | None = None  # the innermost one around the present node
        self.headers: dict[Node, _Label] = {}  # of Loops: where the next trip starts
        self.bodies: dict[Node, _Label] = {}  # of Loops: behind the header
        self.ends: dict[Node, _Label] = {}  # of nodes with blocks: behind the merge
        self.pinned = -1  # the last pc that a label or position names
        self.range: SourceRange | None = None
        self.snapshot_register: int | None = None
        self.handlers: dict[object, Callable[[Node], None]] = {
            CONSTANT: self.visit_constant,
            UNINITIALIZED: self.visit_uninitialized,
            IF: self.visit_if,
            LOOP: self.visit_loop,
            REGION: self.visit_region,
            YIELD: self.visit_yield,
            CONTINUE: self.visit_continue,
            BREAK: self.visit_break,
            RETURN: self.visit_return,
            UNREACHABLE: lambda node: self.rare(unreachable, "unreachable"),
            PROFILE: self.visit_profile,
            SNAPSHOT: self.visit_snapshot,
            GUARD: self.visit_guard,
            DEOPTIMIZE: self.visit_deoptimize,
            ASSUME: self.visit_assume,
            TYPE_IS: self.visit_type_is,
            MAP: self.visit_map,
        }

    def compile(self) -> Code:
        self.new_registers(self.graph.params)
        self.scratch = self.new_register()
        self.visit_block(self.graph.block)
        instructions = tuple(map(self.patched, self.instructions))
        return Code(
            name=self.graph.name,
            parameters=len(self.graph.params),
            instructions=instructions,
            segments=self.cut(instructions),
            template=tuple(self.template),
            positions=self.positions,
            register_of={value.key: register for value, register in self.registers.items()},
            ranges=tuple(self.ranges),
            loops=tuple(self.loops.values()),
            notes=tuple(
                Note(n.text, n.reads, n.writes, label.pc) if label is not None else n
                for n, label in self.notes
            ),
            constants=tuple(self.constants),
        )

    @staticmethod
    def patched(instruction: Instruction) -> Instruction:
        kind, f, a, b, c, d, pc = instruction
        a, c = (x.pc if isinstance(x, _Label) else x for x in (a, c))
        return (kind, f, a, b, c, d, pc)

    def cut(
        self, instructions: tuple[Instruction, ...]
    ) -> tuple[tuple[Instruction, ...] | None, ...]:
        """Cut the code into the stretches that start at labels."""
        starts = sorted({0, *(label.pc for label in self.labels if label.pc >= 0)})
        segments: list[tuple[Instruction, ...] | None] = [None] * len(instructions)
        for start, end in zip(starts, [*starts[1:], len(instructions)], strict=True):
            segments[start] = instructions[start:end]
        return tuple(segments)

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
        return tuple(self.registers[value] for value in values)

    def emit(
        self,
        kind: int,
        f: object = None,
        a: Any = None,
        b: Any = None,
        c: Any = None,
        d: Any = None,
        *,
        text: str = "",
        reads: tuple[int, ...] = (),
        writes: tuple[int, ...] = (),
    ) -> None:
        self.instructions.append((kind, f, a, b, c, d, len(self.instructions)))
        note = Note(text or kinds.KIND_NAMES[kind], reads, writes)
        self.notes.append((note, a if isinstance(a, _Label) else None))
        self.ranges.append(self.range)

    def new_label(self) -> _Label:
        label = _Label()
        self.labels.append(label)
        return label

    def bind(self, label: _Label) -> None:
        """Let `label` name this place; a jump to the very next instruction is dropped."""
        last = self.instructions[-1] if self.instructions else None
        here = len(self.instructions)
        if last is not None and self.pinned < here:
            if last[0] == kinds.JUMP and last[2] is label:
                self.instructions.pop()
                self.notes.pop()
                self.ranges.pop()
        label.pc = self.pinned = len(self.instructions)

    def pin(self, position: str) -> None:
        self.positions[position] = self.pinned = len(self.instructions)

    def rare(
        self, f: Callable[[list[object]], object], text: str, reads: tuple[int, ...] = (),
        into: int | slice | None = None, writes: tuple[int, ...] = (),
    ) -> None:  # fmt: skip
        """Emit ``r[into] = f(r)``."""
        d = self.scratch if into is None else into
        self.emit(kinds.RARE, f, d=d, text=text, reads=reads, writes=writes)

    def move(self, sources: Sequence[int], targets: Sequence[int]) -> None:
        """Emit a parallel move into registers that lie side by side."""
        pairs = [p for p in zip(sources, targets, strict=True) if p[0] != p[1]]
        reads, writes = tuple(p[0] for p in pairs), tuple(p[1] for p in pairs)
        if len(pairs) == 1:
            self.emit(kinds.MOVE, a=reads[0], d=writes[0], reads=reads, writes=writes)
        elif len(pairs) == 2:
            self.emit(kinds.MOVE2, None, *reads, *writes, reads=reads, writes=writes)
        elif pairs:
            first = writes[0]
            span = slice(first, writes[-1] + 1)
            all_reads = sources[targets.index(first) : targets.index(writes[-1]) + 1]
            self.emit(kinds.SPAN, itemgetter(*all_reads), d=span, reads=reads, writes=writes)

    # -- nodes -------------------------------------------------------------------------------------

    def visit_block(self, block: Block) -> None:
        for node in block:
            self.range = node.range or self.range
            self.pin(f"before:{node.id}")
            self.handlers.get(node.op, self.visit_op)(node)
            if not node.op.is_terminator:
                self.pin(f"after:{node.id}")

    def visit_op(self, node: Node) -> None:
        """An op that its declaration says all about."""
        if node.op.evaluate is None or node.blocks:
            raise InternalError(f"{node.op.name} cannot be interpreted")
        reads = self.registers_of(node.inputs)
        writes = self.new_registers(node.outputs)
        emit = partial(self.emit, text=call_text(node), reads=reads, writes=writes)
        f = bound(node)
        if len(writes) > 1:
            span = slice(writes[0], writes[-1] + 1)
            emit(kinds.MULTI, f, gather(reads), len(writes), d=span)
            return
        into = writes[0] if writes else self.scratch
        match reads:
            case ():
                emit(kinds.CALL0, f, d=into)
            case (a,):
                emit(kinds.CALL1, f, a, d=into)
            case (a, b):
                emit(kinds.CALL2, f, a, b, d=into)
            case (a, b, c):
                emit(kinds.CALL3, f, a, b, c, into)
            case _:
                emit(kinds.CALL, f, gather(reads), d=into)

    def visit_constant(self, node: Node) -> None:
        register = self.new_register(node.attrs["value"])
        self.registers[node.output] = register
        self.constants.append(register)

    def visit_uninitialized(self, node: Node) -> None:
        self.registers[node.output] = self.new_register()

    def visit_profile(self, node: Node) -> None:
        reads = self.registers_of(node.inputs)
        (into,) = writes = self.new_registers(node.outputs)
        settled = self.new_register()
        self.emit(kinds.PROFILE, node.id, reads[0], None, settled, into, reads=reads, writes=writes)

    # -- control flow ------------------------------------------------------------------------------

    def visit_if(self, node: Node) -> None:
        reads = self.registers_of(node.inputs)
        self.new_registers(node.outputs)
        self.ends[node] = end = self.new_label()
        first, second = node.blocks
        if first.first is first.last and first.terminator.op is YIELD and not node.outputs:
            self.emit(kinds.BRANCH_IF, None, end, reads[0], text="branch if", reads=reads)
            self.visit_block(second)
            self.bind(end)
            self.pin(f"before:{first.terminator.id}")
            return
        otherwise = self.new_label()
        self.emit(kinds.BRANCH, None, otherwise, reads[0], text="branch unless", reads=reads)
        self.visit_block(first)
        self.bind(otherwise)
        self.visit_block(second)
        self.bind(end)

    def visit_region(self, node: Node) -> None:
        self.new_registers(node.outputs)
        self.ends[node] = end = self.new_label()
        self.visit_block(node.blocks[0])
        self.bind(end)

    def visit_loop(self, node: Node) -> None:
        start, stop, *carried = self.registers_of(node.inputs)
        outputs = self.new_registers(node.outputs)
        body = node.blocks[0]
        trip, *parameters = self.new_registers(body.params)
        around = self.loop
        size = _own_size(body)
        info = LoopInfo(node.id, start, trip, stop, self.new_register(), outputs, size, around)
        self.loops[node] = info
        self.headers[node], self.bodies[node] = self.new_label(), self.new_label()
        self.ends[node] = end = self.new_label()
        exhausted = self.new_label()
        where = self.range
        self.emit(
            kinds.ENTER, info, start, stop, d=info.limit, reads=(start, stop), writes=(info.limit,)
        )
        self.move([start, *carried], [trip, *parameters])
        self.bind(self.headers[node])
        self.pin(f"header:{node.id}")
        self.emit(
            kinds.HEADER, info, exhausted, trip, stop, info.limit,
            text="loop while less", reads=(trip, stop),
        )  # fmt: skip
        self.bind(self.bodies[node])
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
            self.emit(kinds.RESULTS, gather(values), text="results", reads=values)
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
        header, body, limit = self.headers[loop], self.bodies[loop], self.loops[loop].limit
        self.emit(kinds.NEXT, None, header, trip, body, limit, reads=(trip, limit), writes=(trip,))

    def leave(self, owner: Node, values: tuple[int, ...]) -> None:
        self.move(values, self.registers_of(owner.outputs))
        self.emit(kinds.JUMP, None, self.ends[owner])

    def visit_return(self, node: Node) -> None:
        reads = self.registers_of(node.inputs)
        self.emit(kinds.RETURN, a=reads[0], reads=reads)

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
        self.rare(f, call_text(node), reads, writes[0], writes)

    def visit_type_is(self, node: Node) -> None:
        reads = self.registers_of(node.inputs)
        writes = self.new_registers(node.outputs)
        type_: Any = node.attrs["type"]
        f = partial(is_type, type_, reads[0])
        self.rare(f, call_text(node), reads, writes[0], writes)

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
        behind, start = self.new_label(), self.new_label()
        self.emit(kinds.JUMP, None, behind)
        self.bind(start)
        self.visit_block(node.blocks[0])
        self.bind(behind)
        dtypes = tuple(_element_dtype(out.type) for out in node.outputs)
        body = MapBody(start.pc, reads[:into], reads[into:], parameters, dtypes)
        span = slice(writes[0], writes[-1] + 1) if writes else self.scratch
        self.emit(kinds.MAP, body, d=span, text="prim::Map", reads=reads, writes=writes)


def _own_size(block: Block) -> int:
    """Count the nodes at any depth that belong to no loop inside of `block`."""
    return sum(1 if node.op is LOOP else 1 + sum(map(_own_size, node.blocks)) for node in block)


def _element_dtype(type_: Type) -> Any:
    assert isinstance(type_, ArrayType), "a Map makes arrays"
    return type_.dtype


def bound(node: Node) -> Callable[..., Any]:
    """Give the function that computes `node` from its operands."""
    evaluate, bind = node.op.evaluate, node.op.bind
    assert evaluate is not None
    if bind is not None:
        return bind(**node.attrs)
    return partial(evaluate, **node.attrs) if node.attrs else evaluate


def gather(registers: Sequence[int]) -> Callable[[list[object]], tuple[object, ...]]:
    """Give the function that reads registers into a tuple."""
    if not registers:
        return _nothing
    if len(registers) == 1:
        return partial(_single, registers[0])
    return itemgetter(*registers)


def _nothing(_registers: list[object]) -> tuple[object, ...]:
    return ()


def _single(register: int, registers: list[object]) -> tuple[object, ...]:
    return (registers[register],)


def call_text(node: Node) -> str:
    """Give an op with its attributes as the listing shows it."""
    if not node.attrs:
        return node.op.name
    parts = ", ".join(f"{name}={short(value)}" for name, value in node.attrs.items())
    return f"{node.op.name}[{parts}]"
