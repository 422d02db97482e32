"""Bytecode to Python functions: CPython's own loop runs them several times as fast as a loop over instructions could.

A *step* is the function that starts at one place of the bytecode, made when control first gets there. It follows
all ways from there up to loop headers and to places that several jumps lead to: there it stores what is live into
the register file and gives the pc to go on at. The step of a loop header runs trip after trip. Within a step registers
are local variables, so that it begins by loading those that are live:

    def step(r, run):
        v91 = r[91]; v92 = r[92]; v93 = r[93]; v8 = r[8]
        ...
        while True:
            v95 = v93 < v8
            if not v95:
                r[92] = v92; r[93] = v93; return 77
            v92 = v92 * v92
            v93 += k15
            v91 = r[91] = v91 + 1
            if v91 < r[94]: continue
            r[92] = v92; r[93] = v93; return 56

``f7`` is what the instruction at pc 7 calls, ``k15`` a constant register. The trips and limits of loops are in the
register file all the time, since who watches for hot loops reads and changes them. So is what variables got from
calls: an object with a finalizer (a TemporaryDirectory) lives on in a variable even if nothing reads that any more.
What no variable has is forgotten behind its last use.
A step costs some 15 microseconds of compile time an instruction.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import ClassVar

from ljit.cpython.own_time import timed_apart
from ljit.cpython.stack import compiler_frames
from ljit.interp.code import Code, Instruction, Kind, Step, TryInfo
from ljit.interp.flow import registers_in
from ljit.interp.step_functions import made_of
from ljit.interp.step_lines import StepLines

__all__ = ["DONE", "step_at"]

#: what a step gives in place of a pc when the result is there
DONE = -1

_PROFILE, _HEADER = Kind.PROFILE, Kind.HEADER  # members of an enum take long to read
_MAX_DEPTH = 40
_MAX_BLOCKS = 16  # CPython's compiler takes 20 within one another
_BLOCKS_OF_TRY = 2


def step_at(code: Code, pc: int, *, at_limit: bool = False) -> Step:
    """Give the step that starts at `pc`; `at_limit`: for a run that lacks frames (`_Run.lacking`)."""
    steps = code.steps_at_limit if at_limit else code.steps
    found = steps.get(pc)
    if found is not None:
        return found
    with compiler_frames(), timed_apart():
        try:
            step = _Writer(code, pc, at_limit=at_limit).step()
        except _HandlerLeftError:
            step = _Writer(code, pc, at_limit=at_limit, handles=False).step()
        return steps.setdefault(pc, step)


class _HandlerLeftError(Exception):
    """A step would end within a handler that is part of it."""


class _Writer(StepLines):
    """Writes one step; `handles`: with the handlers of the Trys in it."""

    def __init__(
        self, code: Code, start: int, *, at_limit: bool = False, handles: bool = True
    ) -> None:
        super().__init__(code, start, at_limit=at_limit)
        self.handles = handles
        self.start = start
        around = [t for t in code.tries if t.handler <= start < t.end]
        #: stretches that the path must not leave within the step: bodies and handlers
        self.bounds = [range(t.handler, t.end) for t in around[:1]]
        self.tries: list[TryInfo] = []  # whose bodies are being written, inner ones last
        self.handling: list[TryInfo] = []  # the same for handlers
        #: what the parameters of handlers are set to
        self.given: dict[TryInfo, tuple[int, ...]] = {}
        self.joined = start  # the pc behind a branch or region: all paths in it go on there
        self.regions: list[int] = []  # ends of those that are being written
        self.blocks = 0  # of CPython's compiler around the present line
        self.leaving: list[tuple[int, str, int]] = []  # lines to be filled in, with margin and pc
        self.kinds: dict[int, str] = {}  # of registers, that are told in front of the loop: how

    def step(self) -> Step:
        self.put("")  # becomes the loads
        self.follow(self.start)
        self.lines[0] = self.loads()
        for line, margin, pc in self.leaving:
            self.lines[line] = f"{margin}{self.stores(self.code.live[pc])}return {pc}"
        return made_of(self.lines, self.names, self.code, (self.start, *self.pcs))

    def loads(self) -> str:
        live = [n for n in registers_in(self.code.live[self.start]) if n in self.used]
        loads = [f"v{n} = r[{n}]" for n in live]
        return "    " + "; ".join([*loads, *self.kinds.values()])

    def stores(self, live: int) -> str:
        """Text that brings the register file up to date; ends in a semicolon."""
        changed = [n for n in registers_in(live) if n in self.written]
        return "".join(f"r[{n}] = v{n}; " for n in changed)

    # -- paths -------------------------------------------------------------------------------------

    def follow(self, pc: int | None, until: int | None = None) -> None:
        """Write the path that begins at `pc` to its end, or up to `until`."""
        while pc is not None and pc != until:
            is_joined = pc in (self.start, self.joined)
            if self.is_out_of_bounds(pc) or (not is_joined and self.is_end(pc)):
                self.leave(pc)
                return
            self.pc = pc
            self.set_parameters(pc)
            instruction = self.code.instructions[pc]
            if self.code.trace is not None:
                self.names["observe"] = self.code.trace.observe
                self.put(f"observe({pc}, r)")
            pc = self.handlers[instruction.kind](self, instruction)
            if pc == self.pc + 1:
                self.let_go(instruction, self.code.live[pc])

    def let_go(self, instruction: Instruction, live: int) -> None:
        """Forget what calls gave and nothing needs any more, as CPython does: ``open(...).write(...)`` ends a file."""
        is_copy = instruction.kind is _PROFILE
        ending = instruction.writes if is_copy else (*instruction.reads, *instruction.writes)
        dead = [
            same
            for n in dict.fromkeys(ending)
            if not live >> n & 1
            for same in self.code.temporaries.get(n, ())
            if not live >> same & 1
        ]
        if dead:
            self.put(" = ".join([*(self.targets([n]) for n in dead), "None"]))

    def is_out_of_bounds(self, pc: int) -> bool:
        """Whether a pc is outside of the handler that is being run, or of the body of a Try."""
        return bool(self.bounds) and pc not in self.bounds[-1]

    def set_parameters(self, pc: int) -> None:
        """Give the handlers around what they get if the instruction at `pc` raises."""
        for region in self.tries:
            needed = self.code.live[region.handler]
            sources = region.sources_at(pc)
            before = self.given.get(region, (-1,) * len(sources))
            self.given[region] = sources
            pairs = zip(region.parameters, sources, before, strict=True)
            changed = [(p, s) for p, s, old in pairs if s != old and needed >> p & 1]
            if changed:
                parameters = [parameter for parameter, _ in changed]
                texts = ", ".join(self.read(source) for _, source in changed)
                self.put(f"{self.targets(parameters)} = {texts}")
                self.write_through(parameters)

    def is_end(self, pc: int) -> bool:
        """Whether a path that gets to `pc` goes on in another step."""
        if pc == len(self.code.instructions) or len(self.margin) > 4 * _MAX_DEPTH:
            return True
        if self.code.instructions[pc].kind is _HEADER:
            return True
        return self.code.arrivals[pc] > 1

    def branch(self, branch: Instruction, behind: int, condition: str) -> int | None:
        """Write both sides of a branch; gives where they meet, if they do."""
        pc, merge = self.pc, branch.f
        sides = [(f"if {condition}:", behind), ("else:", branch.target)]
        if branch.kind is Kind.BRANCH_IF:  # the other side is empty
            sides = [(f"if not {condition}:", behind)]
        for text, start in sides:
            self.pc = pc
            self.put(text)
            self.indented(start, merge)
        self.joined = merge
        return merge if self.code.arrivals[merge] else None

    def indented(self, start: int, until: int | None, last: str = "pass") -> None:
        """Write a path one level further in; `last` is for a path that gets to `until`."""
        self.margin += "    "
        before = len(self.lines)
        self.given.clear()
        self.follow(start, until)
        self.given.clear()
        if last != "pass" or len(self.lines) == before:
            self.put(last)
        self.margin = self.margin[:-4]

    def leave(self, pc: int) -> None:
        if any(region.handler <= pc < region.end for region in self.handling):
            raise _HandlerLeftError
        self.leaving.append((len(self.lines), self.margin, pc))
        self.put("")

    # -- instructions: each gives the pc that comes next, None if it leaves --------------------------

    def write_call(self, instruction: Instruction) -> int:
        return self.assign(instruction, f"{self.callee(instruction)}({self.operands(instruction)})")

    def write_in_line(self, instruction: Instruction) -> int:
        """A call, but for kinds of operand 0 that are told in front of the loop."""
        call, kind_of, texts = instruction.f
        name, first = f"f{self.pc}", instruction.reads[0]
        self.names[name] = call
        operands = tuple(map(self.read, instruction.reads))
        text = f"{name}({', '.join(operands)})"
        if self.is_steady(first):
            self.names[f"kind{first}"] = kind_of
            self.kinds[first] = f"t{first} = kind{first}(v{first})"
            for kind in range(len(texts), 0, -1):
                text = f"{texts[kind - 1].format(*operands)} if t{first} == {kind} else {text}"
        return self.assign(instruction, text)

    def is_steady(self, register: int) -> bool:
        """Whether a register stays the same in the step, which is a loop."""
        code, start = self.code, self.start
        is_live = bool(code.live[start] >> register & 1)
        return (
            is_live and code.instructions[start].kind is _HEADER and register in code.written_once
        )

    def write_expression(self, instruction: Instruction) -> int:
        return self.assign(instruction, instruction.f(tuple(map(self.read, instruction.reads))))

    def write_statement(self, instruction: Instruction) -> int:
        (register,) = instruction.writes
        first, *rest = map(self.read, instruction.reads)
        if register == self.code.result:
            self.put(instruction.f((first, *rest)))
        else:
            self.put(f"t = {first}; {instruction.f(('t', *rest))}; {self.write(register)} = t")
        self.watch(register)
        return self.pc + 1

    def write_truth(self, instruction: Instruction) -> int | None:
        """A branch asks for the truth of its operand by itself."""
        (register,), following = instruction.writes, self.pc + 1
        branch = self.code.instructions[following]
        later = self.code.live[following + 1] | self.code.live[branch.target or 0]
        is_branch = branch.kind in (Kind.BRANCH, Kind.BRANCH_IF) and branch.reads == (register,)
        if not is_branch or later >> register & 1 or self.code.trace is not None:
            return self.assign(instruction, f"not not {self.read(instruction.reads[0])}")
        return self.branch(branch, following + 1, self.read(instruction.reads[0]))

    def write_multi(self, instruction: Instruction) -> int:
        call = f"{self.callee(instruction)}({self.operands(instruction)})"
        targets = self.targets(instruction.writes)
        self.put(f"{targets} = checked({call}, {len(instruction.writes)})")
        self.write_through(instruction.writes)
        return self.pc + 1

    def write_profile(self, instruction: Instruction) -> int:
        node, settled = instruction.f
        (source,), (register,) = instruction.reads, instruction.writes
        if self.start == 0:  # where nothing runs twice in an activation
            self.put(f"{self.write(register)} = run.see({node}, {self.read(source)})")
            return self.pc + 1
        self.put(f"{self.write(register)} = {self.read(source)}")
        known, value = f"r[{settled}]", f"v{register}"
        # a call: CPython's compiler takes as long for the test in line as hundreds of calls
        is_new = f"type({value}) is not {known} and is_new({value}, {known})"
        self.put(f"if {is_new}: {known} = run.on_profile({node}, {value})")
        return self.pc + 1

    def write_receiver(self, instruction: Instruction) -> int:
        node, name, told = instruction.f
        value = self.read(instruction.reads[0])
        if self.start:
            self.put(f"if r[{told}] is not type({value}):")
            self.put(f"    r[{told}] = type({value}); run.on_method({node}, {value}, {name!r})")
        else:
            self.put(f"run.on_method({node}, {value}, {name!r})")
        return self.pc + 1

    def write_move(self, instruction: Instruction) -> int:
        sources = self.operands(instruction)
        self.put(f"{self.targets(instruction.writes)} = {sources}")
        self.write_through(instruction.writes)
        return self.pc + 1

    def targets(self, registers: Sequence[int]) -> str:
        self.used.update(registers)
        self.written.update(registers)
        return ", ".join(f"v{n}" for n in registers)

    def write_through(self, registers: Iterable[int]) -> None:
        """Bring the register file up to date where others look at it."""
        held = self.code.held
        seen = [n for n in registers if n in held or self.code.trace is not None]
        if seen:
            self.put("; ".join(f"r[{n}] = v{n}" for n in seen))

    def write_branch(self, instruction: Instruction) -> int | None:
        return self.branch(instruction, self.pc + 1, self.read(instruction.reads[0]))

    def write_region(self, instruction: Instruction) -> int:
        """A region that is left in several places becomes a loop of one trip."""
        end: int = instruction.f
        if self.code.arrivals[end] > 1 and self.blocks < _MAX_BLOCKS:
            self.put("while True:")
            self.regions.append(end)
            self.blocks += 1
            self.indented(self.pc + 1, end, last="break")
            self.blocks -= 1
            self.regions.pop()
            self.joined = end
            return end
        return self.pc + 1

    def write_try(self, instruction: Instruction) -> int | None:
        region: TryInfo = instruction.f
        if not self.handles:
            return self.pc + 1
        if self.blocks + _BLOCKS_OF_TRY > _MAX_BLOCKS:
            raise _HandlerLeftError
        self.blocks += _BLOCKS_OF_TRY
        self.put("try:")
        self.tries.append(region)
        self.bounded(region.start, region.handler, region)
        self.tries.pop()
        self.pc = region.handler
        self.put("except BaseException:")
        self.handle(region)
        self.blocks -= _BLOCKS_OF_TRY
        self.joined = region.end
        return region.end if self.code.arrivals[region.end] else None

    def handle(self, region: TryInfo) -> None:
        self.margin += "    "
        self.put(f"{self.write(region.error)} = run.caught(this, r)")
        self.forget(t for t in self.code.tries if region.start < t.start < region.handler)
        self.margin = self.margin[:-4]
        self.handling.append(region)
        self.bounded(region.handler, region.end, region)
        self.handling.pop()
        self.margin += "    "
        self.forget((region,))
        self.margin = self.margin[:-4]

    def bounded(self, start: int, stop: int, region: TryInfo) -> None:
        """Write a path to the end of a Try; the step ends where it leaves the pcs from `start` to `stop` otherwise."""
        self.bounds.append(range(start, stop))
        self.indented(start, region.end)
        self.bounds.pop()

    def end_handlers(self, target: int) -> None:
        """Forget the exceptions whose handlers are left for `target`, in the same step."""
        self.forget(t for t in self.handling if not t.handler <= target < t.end)

    def forget(self, tries: Iterable[TryInfo]) -> None:
        """End the lives of exceptions, as CPython does behind an ``except`` clause."""
        for region in tries:
            self.put(f"v{region.error} = None")

    def write_jump(self, instruction: Instruction) -> int | None:
        if self.regions and instruction.target == self.regions[-1]:
            self.end_handlers(instruction.target)
            self.put("break")
            return None
        target: int = instruction.target
        return target

    def write_enter(self, instruction: Instruction) -> int:
        loop = f"k{self.pc}_loop"
        self.names[loop] = instruction.f
        self.store(instruction.reads)
        self.put(f"r[{instruction.f.limit}] = run.enter({loop}, r)")
        return self.pc + 1

    def write_header(self, instruction: Instruction) -> int:
        """Only at the start of a step."""
        loop = f"k{self.pc}_loop"
        self.names[loop] = instruction.f
        trip, stop = map(self.read, instruction.reads)
        self.put(f"if not {trip} < {stop}:")
        self.indented(instruction.target, None)
        self.pc = self.start
        self.put(f"if {trip} >= r[{instruction.f.limit}]:")
        self.put(f"    pc = run.arrive({loop}, r)")
        self.put("    if pc is not None: return pc")
        self.put("while True:")
        self.margin += "    "
        return self.pc + 1

    def write_next(self, instruction: Instruction) -> None:
        (trip,) = instruction.writes
        self.put(f"{self.write(trip, through=True)} = {self.read(trip)} + 1")
        if instruction.target == self.start and not self.regions:
            self.end_handlers(self.start)
            self.put(f"if v{trip} < r[{instruction.f.limit}]: continue")
        self.leave(instruction.target)

    def write_result(self, text: str) -> None:
        self.put(f"r[{self.code.result}] = {text}; return {DONE}")

    def write_rare(self, instruction: Instruction) -> int:
        (register,) = instruction.writes
        self.store(instruction.reads)
        call = f"{self.callee(instruction)}(r)"
        if register != self.code.result:
            call = f"{self.write(register, through=True)} = {call}"
        self.put(call)
        return self.pc + 1

    def write_map(self, instruction: Instruction) -> int:
        """The block is a run of its own that works on the same registers."""
        needed = registers_in(self.code.live[instruction.target])
        self.store({*instruction.reads, *needed})
        call = f"{self.callee(instruction)}.run(r, run.block({instruction.target}))"
        if instruction.writes:
            self.put(f"{self.targets(instruction.writes)}, = {call}")
            self.write_through(instruction.writes)
        else:
            self.put(call)
        return self.pc + 1

    handlers: ClassVar[dict[Kind, Callable[[_Writer, Instruction], int | None]]] = {
        Kind.CALL: write_call,
        Kind.IN_LINE: write_in_line,
        Kind.EXPRESSION: write_expression,
        Kind.STATEMENT: write_statement,
        Kind.TRUTH: write_truth,
        Kind.UNPACK: write_move,
        Kind.MULTI: write_multi,
        Kind.PROFILE: write_profile,
        Kind.RECEIVER: write_receiver,
        Kind.MOVE: write_move,
        Kind.BRANCH: write_branch,
        Kind.BRANCH_IF: write_branch,
        Kind.REGION: write_region,
        Kind.TRY: write_try,
        Kind.JUMP: write_jump,
        Kind.ENTER: write_enter,
        Kind.HEADER: write_header,
        Kind.NEXT: write_next,
        Kind.RERAISE: lambda self, _: self.put("reraise()"),
        Kind.RETURN: lambda self, i: self.write_result(self.read(i.reads[0])),
        Kind.RESULTS: lambda self, i: self.write_result(f"({self.operands(i)},)"),
        Kind.RARE: write_rare,
        Kind.MAP: write_map,
    }
