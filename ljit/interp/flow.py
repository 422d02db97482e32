"""Which registers are live at each place of the bytecode, and how many ways lead there."""

from __future__ import annotations

from collections.abc import Sequence

from ljit.interp.code import Instruction, Kind, TryInfo

__all__ = ["arrivals", "live_registers", "registers_in"]

_LEAVING = frozenset((Kind.JUMP, Kind.NEXT, Kind.RERAISE, Kind.RETURN, Kind.RESULTS))


def successors(instruction: Instruction, pc: int) -> tuple[int, ...]:
    """Where control goes; for a Map also the block that it runs."""
    if instruction.target is None:
        return () if instruction.kind in _LEAVING else (pc + 1,)
    if instruction.kind in _LEAVING:
        return (instruction.target,)
    return (instruction.target, pc + 1)


def arrivals(instructions: Sequence[Instruction]) -> tuple[int, ...]:
    """Count the instructions that control may come from, for each pc."""
    counts = [0] * (len(instructions) + 1)
    for pc, instruction in enumerate(instructions):
        for following in successors(instruction, pc):
            counts[following] += 1
    return tuple(counts)


def live_registers(
    instructions: Sequence[Instruction], constants: set[int], tries: Sequence[TryInfo]
) -> tuple[int, ...]:
    """Give the registers that are live in front of each pc, as the bits of an int.

    Backwards to a fixpoint: as many rounds as loops are nested, and one. What a handler needs is live all over the
    body of its Try.
    """
    kept = ~_mask(constants)
    facts = [
        (pc, _mask(i.reads) & kept, ~_mask(i.writes), successors(i, pc))
        for pc, i in enumerate(instructions)
    ]
    facts.reverse()
    handled = _handlers(tries, kept) if tries else {}
    live = [0] * (len(instructions) + 1)
    changed = True
    while changed:
        changed = False
        for pc, reads, unwritten, following in facts:
            found = 0
            for successor in following:
                found |= live[successor]
            found = found & unwritten | reads
            for handler, parameters, sources in handled.get(pc, ()):
                found |= live[handler] & ~parameters | sources
            if found != live[pc]:
                live[pc] = found
                changed = True
    return tuple(live)


def _handlers(tries: Sequence[TryInfo], kept: int) -> dict[int, list[tuple[int, int, int]]]:
    """List for each pc the handlers that it may go to: their pc, parameters, and the registers these come from."""
    found: dict[int, list[tuple[int, int, int]]] = {}
    for region in tries:
        parameters = _mask((region.error, *region.parameters))
        for pc in range(region.start, region.handler):
            sources = _mask(region.sources_at(pc)) & kept
            found.setdefault(pc, []).append((region.handler, parameters, sources))
    return found


def registers_in(bits: int) -> list[int]:
    """Give the registers that an int of `live_registers` stands for."""
    digits, found = bin(bits)[:1:-1], []
    at = digits.find("1")
    while at >= 0:
        found.append(at)
        at = digits.find("1", at + 1)
    return found


def _mask(registers: tuple[int, ...] | set[int]) -> int:
    bits = 0
    for register in registers:
        bits |= 1 << register
    return bits
