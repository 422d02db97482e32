"""Code: the flat register bytecode that the machine runs, immutable and shared.

A register holds one SSA value; constants are in the register file from the start (`template`). An
instruction is a tuple ``(kind, f, a, b, c, d, pc)``; `d` is where the result goes (a register, or a
slice of registers that lie side by side), `f` a callable or what the kind needs. Straight-line
stretches are cut at the places that jumps name (`segments`), so that the machine iterates over a
stretch instead of counting.

Every place where the interpreter can start has a name in `positions`:

- ``before:ID`` and ``after:ID`` of a node (``after`` of an If, Loop or Region: behind the merge),
- ``header:ID`` of a Loop: its block parameters are set, ``k < stop`` has not been tested yet.

This module is not the compiler (`ljit.interp.compiler`) and knows nothing of ops.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from ljit.errors import InternalError
from ljit.records import Record
from ljit.source import SourceRange

__all__ = ["Code", "Instruction", "LoopInfo", "Note", "Trace", "observed", "short"]

#: (kind, f, a, b, c, d, pc): what a, b, c, d mean depends on the kind
Instruction = tuple[int, Any, Any, Any, Any, Any, int]

# The machine tests for these in this order, in groups of four: the frequent ones first.
CALL2: Final = 0  # r[d] = f(r[a], r[b])
CALL1: Final = 1  # r[d] = f(r[a])
PROFILE: Final = 2  # hooks.on_profile(f, r[a]) unless its class is r[c]; r[d] = r[a]
MOVE: Final = 3  # r[d] = r[a]
BRANCH: Final = 4  # go to a unless r[b]
BRANCH_IF: Final = 5  # go to a if r[b]
NEXT: Final = 6  # r[b] += 1; go to c (the body) if r[b] < r[d] (the limit), else to a (the header)
HEADER: Final = 7  # unless r[b] < r[c] go to a; d: register of the limit; f: LoopInfo
CALL3: Final = 8  # r[d] = f(r[a], r[b], r[c])
MOVE2: Final = 9  # r[c], r[d] = r[a], r[b]
SPAN: Final = 10  # r[d] = f(r): parallel move into the slice d
CALL: Final = 11  # r[d] = f(*a(r))
JUMP: Final = 12  # go to a
CALL0: Final = 13  # r[d] = f()
ENTER: Final = 14  # r[d] = the trip at which the header of the loop f is looked at
MULTI: Final = 15  # r[d] = f(*a(r)), which must give b results
RETURN: Final = 16  # return r[a]
RARE: Final = 17  # r[d] = f(r): f is told of the register file
RESULTS: Final = 18  # return a tuple f(r): the end of a Map's block
MAP: Final = 19  # r[d] = f.run(...): f is a MapBody
OBSERVE: Final = 20  # f(a, r): only in code made by `observed`

#: how the listing calls the kinds that are not an op
KIND_NAMES: Final = {
    MOVE: "move",
    MOVE2: "move",
    SPAN: "move",
    NEXT: "next",
    JUMP: "jump",
    ENTER: "enter",
    RETURN: "return",
    PROFILE: "profile",
}


class Note(Record, eq=True):
    """What the listing says of one instruction: op with attributes, registers, jump target."""

    text: str
    reads: tuple[int, ...] = ()
    writes: tuple[int, ...] = ()
    target: int | None = None

    def __str__(self) -> str:
        into = ", ".join(f"r{i}" for i in self.writes)
        operands = ", ".join(f"r{i}" for i in self.reads)
        goal = f" -> {self.target}" if self.target is not None else ""
        return f"{into + ' = ' if into else ''}{self.text}({operands}){goal}"


class LoopInfo(Record):
    """One loop: the node's id and its registers.

    `limit` holds the trip at which the header must be looked at again: since the loop ends there, or
    since it is hot.
    """

    id: int
    start: int
    trip: int
    stop: int
    limit: int
    outputs: tuple[int, ...]
    size: int  # nodes of the body without loops in it: what a trip costs the interpreter
    parent: LoopInfo | None = None  # the loop around it


class Code(Record):
    """The bytecode of one graph."""

    name: str
    parameters: int
    instructions: tuple[Instruction, ...]
    segments: tuple[tuple[Instruction, ...] | None, ...]
    template: tuple[object, ...]
    positions: Mapping[str, int]
    register_of: Mapping[str, int]
    ranges: tuple[SourceRange | None, ...]
    loops: tuple[LoopInfo, ...]
    notes: tuple[Note, ...]
    constants: tuple[int, ...]

    def pc_of(self, position: str) -> int:
        """Give the pc of a place."""
        found = self.positions.get(position)
        if found is None:
            raise InternalError(f"{self.name} has no place {position!r}")
        return found

    def segment_at(self, pc: int) -> tuple[Instruction, ...]:
        """Give the rest of the straight-line stretch that `pc` lies in."""
        found = self.segments[pc]
        if found is not None:
            return found
        end = pc + 1
        while end < len(self.instructions) and self.segments[end] is None:
            end += 1
        return self.instructions[pc:end]

    def dump(self) -> str:
        """Give the listing that `dump_bytecode` shows."""
        names: dict[int, list[str]] = {}
        for key, register in self.register_of.items():
            names.setdefault(register, []).append(key)
        lines = [f"{self.name}: {self.parameters} parameters, {len(self.template)} registers"]
        for register in self.constants:
            lines.append(f"  r{register} = {short(self.template[register])}")
        marks = {pc for pc, segment in enumerate(self.segments) if segment is not None}
        for pc, note in enumerate(self.notes):
            head = f"{'>' if pc in marks else ' '}{pc:4}  {note}"
            where = self.ranges[pc]
            lines.append(f"{head}   # {where.short()}" if where is not None else head)
        return "\n".join(lines) + "\n"


def short(value: object) -> str:
    """Give an object's text for the listing."""
    text = repr(value)
    return text if len(text) <= 60 else f"{text[:57]}..."


class Trace:
    """What `observed` calls in front of each instruction: override or assign `observe`."""

    def observe(self, pc: int, registers: list[object]) -> None:
        """See the state in which the instruction at `pc` is about to run."""


def observed(code: Code, trace: Trace) -> Code:
    """Give `code` with a call of ``trace.observe(pc, registers)`` in front of each instruction."""

    def instrument(segment: tuple[Instruction, ...]) -> tuple[Instruction, ...]:
        both: list[Instruction] = []
        for instruction in segment:
            pc = instruction[-1]
            both += [(OBSERVE, trace.observe, pc, None, None, None, pc), instruction]
        return tuple(both)

    segments = tuple(s if s is None else instrument(s) for s in code.segments)
    return code.with_changes(segments=segments)
