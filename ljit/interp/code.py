"""Code: the flat register bytecode of a graph, immutable but for the functions that are made from it.

A register holds one SSA value; constants are in the register file from the start (`template`). The
machine does not interpret instructions one by one: `ljit.interp.steps` writes them out as Python functions
when they are first run, and `Code.steps` keeps these.

Every place where the interpreter can start has a name in `positions`:

- ``before:ID`` and ``after:ID`` of a node (``after`` of an If, Loop or Region: behind the merge),
- ``header:ID`` of a Loop: its block parameters are set, ``k < stop`` has not been tested yet,
- ``handler:ID`` of a Try, for an exception: its other block parameters are set.

This module is not the compiler (`ljit.interp.compiler`) and knows nothing of ops.
"""

from __future__ import annotations

import enum
from bisect import bisect_right
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from operator import itemgetter
from types import CodeType
from typing import TYPE_CHECKING, Any

from ljit.analysis.branch_histories import BranchHistories
from ljit.cpython.locks import computed_once
from ljit.errors import InternalError
from ljit.records import Record, made_by
from ljit.source import SourceRange

if TYPE_CHECKING:
    from ljit.interp.landings import Landing

__all__ = [
    "Code",
    "Instruction",
    "Kind",
    "LoopInfo",
    "Step",
    "Trace",
    "TryInfo",
    "observed",
    "short",
]


class Kind(enum.Enum):
    """What an instruction does. `f` is what its kind needs."""

    CALL = "call"  # write = f(reads)
    #: the same; f: what is called, the function of read 0 that gives the number of a text, and the texts
    IN_LINE = "call in line"
    EXPRESSION = "expression"  # the same; f gives Python text for the texts of the reads
    STATEMENT = "statement"  # write = read 0, then the statement that f gives, on the write and the other reads
    TRUTH = "truth"  # write = whether the read value is true
    UNPACK = "unpack"  # writes = the items of the read
    MULTI = "multi"  # writes = f(reads), which must give as many results
    PROFILE = "profile"  # write = read, which the hooks are told of; f: node id, register of the class seen
    RECEIVER = "receiver"  # the hooks are told of another class; f: node id, name of a method, register of the class
    MOVE = "move"  # writes = reads, all at once
    BRANCH = "branch unless"  # go to the target unless the read is true; f: the pc where both ways meet again
    #: go to the target, where both ways meet, if the read is true; f: the target
    BRANCH_IF = "branch if"
    REGION = "region"  # up to the pc f
    TRY = "try"  # f: TryInfo; its body comes next
    JUMP = "jump"
    ENTER = "enter"  # f: LoopInfo; its limit = the trip at which the header is looked at
    HEADER = "loop while less"  # f: LoopInfo; go to the target unless trip < stop
    NEXT = "next"  # f: LoopInfo; trip += 1; the target is the header
    RERAISE = "raise"
    RETURN = "return"
    RESULTS = "results"  # the end of a Map's block, which gives its reads
    RARE = "rare"  # write = f(r): f is told of the register file
    MAP = "map"  # writes = f.run(...): f is a MapBody

    __hash__ = object.__hash__  # enum's own is slow


class Instruction(Record, frozen=False):
    """One instruction; `target` is the pc that it may jump to."""

    kind: Kind
    f: Any
    reads: tuple[int, ...]
    writes: tuple[int, ...]
    target: Any
    text: str
    range: SourceRange | None

    def __init__(
        self,
        kind: Kind,
        f: object,
        reads: tuple[int, ...],
        writes: tuple[int, ...],
        target: object,
        text: str,
        range: SourceRange | None,
    ) -> None:
        self.kind = kind
        self.f = f
        self.reads = reads
        self.writes = writes
        self.target = target
        self.text = text
        self.range = range

    def __str__(self) -> str:
        into = ", ".join(f"r{i}" for i in self.writes)
        operands = ", ".join(f"r{i}" for i in self.reads)
        goal = f" -> {self.target}" if self.target is not None else ""
        return f"{into + ' = ' if into else ''}{self.text or self.kind.value}({operands}){goal}"


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
    size: int  # nodes of the body without loops in it: what a trip costs the interpreter
    view: int | None  # what it goes through, if it is a ``for``
    parent: LoopInfo | None = None  # the loop around it


class TryInfo(Record, eq=True):
    """One Try: its body is ``[start, handler)``, its handler ``[handler, end)``.

    `error` is the register of the exception, `parameters` those of what else the handler gets; `catches` says, in order
    of the pcs, from which pc on these come from which registers.
    """

    start: int
    handler: int
    end: int
    error: int
    parameters: tuple[int, ...]
    catches: tuple[tuple[int, tuple[int, ...]], ...]
    loop: LoopInfo | None = None  # the one around it
    #: how many functions it was inlined into, whose frames no traceback in its handler has
    depth: int = 0

    def sources_at(self, pc: int) -> tuple[int, ...]:
        """Give the registers of the parameters' values at a pc of the body."""
        return self.catches[bisect_right(self.catches, pc, key=itemgetter(0)) - 1][1]


class Step(Record):
    """The code from one place on; `pcs` are the instructions that its lines belong to.

    It runs as code of the user's function (`code`); `written` is the same by the lines of `text`.
    """

    run: Callable[[list[Any], Any], int]
    code: CodeType
    written: CodeType
    pcs: Sequence[int]
    text: str

    def pc_at(self, offset: int) -> int:
        """Give the pc of the instruction that the step is at, `offset` bytes into its code."""
        return self.pcs[self._lines[offset // 2] - 1]

    @computed_once
    def _lines(self) -> list[int]:
        """The line of each instruction that CPython runs; many calls of a step may raise."""
        return [line or 1 for line, *_ in self.written.co_positions()]


class Code(Record):
    """The bytecode of one graph."""

    name: str
    parameters: int
    instructions: tuple[Instruction, ...]
    template: tuple[object, ...]
    positions: Mapping[str, int]
    register_of: Mapping[str, int]
    loops: tuple[LoopInfo, ...]
    constants: frozenset[int]  # registers that nothing is written into
    held: frozenset[int]  # what variables and lists got from calls: lives until the function ends
    #: what calls gave to expressions around them: by its register, those that have the same object
    temporaries: Mapping[int, tuple[int, ...]]
    result: int  # the register that holds the result at the end
    live: tuple[int, ...]  # for each pc, see `ljit.interp.flow`
    arrivals: tuple[int, ...]
    tries: tuple[TryInfo, ...] = ()  # inner ones before those around them
    trace: Trace | None = None
    #: what `results` are; whoever asks loads ops that most programs do without
    find_results: Callable[[], Mapping[int, int]] = dict
    #: by the pc of each call: into how many functions its own was inlined; in CPython each of these has a frame
    calls: Mapping[int, int] = made_by(factory=dict)
    branches: BranchHistories = made_by(factory=BranchHistories)  # how branches in loops went
    watched: set[int] = made_by(factory=set)  # the pcs of those that the hooks are told of
    steps: dict[int, Step] = made_by(factory=dict)  # by the pc where they start
    #: the same close to the recursion limit: in front of each call they give back what the interpreter was granted
    steps_at_limit: dict[int, Step] = made_by(factory=dict)
    landings: dict[int, Landing] = made_by(factory=dict)  # by the pc that raised

    @computed_once
    def results(self) -> Mapping[int, int]:
        """By pc: the nodes whose ints may outgrow int64."""
        return self.find_results()

    @computed_once
    def written_once(self) -> frozenset[int]:
        """The registers that one instruction alone writes."""
        counts = Counter(register for each in self.instructions for register in each.writes)
        return frozenset(register for register, count in counts.items() if count == 1)

    def pc_of(self, position: str) -> int:
        """Give the pc of a place."""
        found = self.positions.get(position)
        if found is None:
            raise InternalError(f"{self.name} has no place {position!r}")
        return found

    def watch(self) -> None:
        """From now on tell the hooks of ints that sums and the like give beyond int64, or negative."""
        if self.results and not self.watched:
            self.watched.update(self.results)
            self.steps.clear()  # they are written anew, with the tests in them
            self.steps_at_limit.clear()

    def dump(self) -> str:
        """Give the listing that `dump_bytecode` shows."""
        lines = [f"{self.name}: {self.parameters} parameters, {len(self.template)} registers"]
        for register in sorted(self.constants):
            lines.append(f"  r{register} = {short(self.template[register])}")
        marks = {instruction.target for instruction in self.instructions}
        for pc, instruction in enumerate(self.instructions):
            head = f"{'>' if pc in marks else ' '}{pc:4}  {instruction}"
            where = instruction.range
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
    return code.with_changes(trace=trace, steps={}, steps_at_limit={})
