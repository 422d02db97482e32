"""Landings: what a raise at one place of the bytecode leads to, found out once.

A program may raise in each trip of a loop, so that what depends on the place alone is kept in `Code.landings`: the
Try around it, the registers that its handler reads, and the traceback entries of the function and of those that it was
inlined into.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from ljit.cpython.stack import compiler_frames
from ljit.interp.code import Code, Kind, TryInfo
from ljit.interp.flow import registers_in
from ljit.interp.tracebacks import Entries, entries_of
from ljit.records import Record

__all__ = ["Landing", "landing_at"]


#: registers, and their variables in a step
Variables = tuple[tuple[int, str], ...]

_BEFORE = "before:"


class Landing(Record):
    """Where control goes from an instruction, of a `node`, that raised; `region` is None if it leaves the function."""

    node: int
    region: TryInfo | None
    entries: Entries
    kept: Variables  # registers that are live in the handler
    sources: Variables  # of the handler's parameters
    #: whose entries native code adds, too, though they are not in the handler's traceback
    callers: int = 0

    def fill(self, registers: list[Any], variables: Mapping[str, object]) -> None:
        """Give the handler its registers: a step may not have stored all of its variables yet."""
        for register, name in self.kept:
            registers[register] = variables.get(name, registers[register])
        if self.region is not None:
            given = [variables.get(name, registers[n]) for n, name in self.sources]
            for register, value in zip(self.region.parameters, given, strict=True):
                registers[register] = value


def landing_at(code: Code, pc: int) -> Landing:
    """Give the landing of a raise at `pc`."""
    found = code.landings.get(pc)
    if found is not None:
        return found
    with compiler_frames():
        return code.landings.setdefault(pc, _landing_at(code, pc))


def _landing_at(code: Code, pc: int) -> Landing:
    instruction = code.instructions[pc]
    region = next((t for t in code.tries if t.start <= pc < t.handler), None)
    depth = region.depth if region is not None else 0
    entries = entries_of(instruction.range, depth)
    if instruction.kind is Kind.RERAISE:  # the function has its entry
        entries = entries[1:]
    starts = (name for name, at in code.positions.items() if at <= pc and name.startswith(_BEFORE))
    *_, last = starts
    node = int(last.removeprefix(_BEFORE))
    if region is None:
        return Landing(node, None, entries, (), ())
    live = registers_in(code.live[region.handler])
    return Landing(node, region, entries, _named(live), _named(region.sources_at(pc)), depth)


def _named(registers: Iterable[int]) -> Variables:
    return tuple((n, f"v{n}") for n in registers)
