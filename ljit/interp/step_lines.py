"""The lines of a step: registers as variables and constants, assignments, and calls as deep as the program's."""

from __future__ import annotations

from collections.abc import Iterable

from ljit.interp.code import Code, Instruction
from ljit.interp.step_functions import NAMES

__all__ = ["StepLines"]


class StepLines:
    """Lines for the instruction at `pc`, `margin` further in; `at_limit`: for a run that lacks frames."""

    def __init__(self, code: Code, pc: int, *, at_limit: bool) -> None:
        self.code = code
        self.pc = pc
        self.at_limit = at_limit
        self.margin = "    "
        self.lines: list[str] = []
        self.pcs: list[int] = []
        self.used: set[int] = set()  # registers that are local variables
        self.written: set[int] = set()
        self.names: dict[str, object] = dict(NAMES)  # what the text refers to

    def put(self, text: str) -> None:
        self.lines.append(self.margin + text)
        self.pcs.append(self.pc)

    def read(self, register: int) -> str:
        if register in self.code.constants:
            name = f"k{register}"
            self.names[name] = self.code.template[register]
            return name
        self.used.add(register)
        return f"v{register}"

    def operands(self, instruction: Instruction) -> str:
        return ", ".join(map(self.read, instruction.reads))

    def write(self, register: int, *, through: bool = False) -> str:
        """Give the target of an assignment."""
        self.used.add(register)
        self.written.add(register)
        if through or self.code.trace is not None or register in self.code.held:
            return f"v{register} = r[{register}]"
        return f"v{register}"

    def assign(self, instruction: Instruction, text: str) -> int:
        (register,) = instruction.writes
        self.put_call(text if register == self.code.result else f"{self.write(register)} = {text}")
        self.watch(register)
        return self.pc + 1

    def put_call(self, text: str) -> None:
        """Write what may be a call: it is made as deep as if each function that was inlined had a frame."""
        depth = self.code.calls.get(self.pc)
        if not (depth or (self.at_limit and depth is not None)):
            self.put(text)
            return
        frames = f"{depth} + run.lacking" if self.at_limit else f"{depth}"
        self.put(f"run.left.value -= {frames}")
        for line in ("try:", f"    {text}", "finally:", f"    run.left.value += {frames}"):
            self.put(line)

    def watch(self, register: int) -> None:
        """Tell of a result that is an int of another kind than most, if `Code.watch` was called."""
        if self.pc in self.code.watched:
            value, node = f"v{register}", self.code.results[self.pc]
            self.put(f"if type({value}) is int and not 0 <= {value} < {2**63}:")
            self.put(f"    run.hooks.on_long_int({node}, {value})")

    def callee(self, instruction: Instruction) -> str:
        name = f"f{self.pc}"
        self.names[name] = instruction.f
        return name

    def store(self, registers: Iterable[int]) -> None:
        """Bring registers of the file up to date."""
        names = [n for n in registers if n not in self.code.constants]
        if names:
            self.put("; ".join(f"r[{n}] = {self.read(n)}" for n in names))
