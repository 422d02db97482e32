"""What the bytecode of a function, and of those that it calls, says of how long a call may take: loops, recursion."""

from __future__ import annotations

import dis
import inspect
import types
from functools import lru_cache

from ljit.analysis.assumptions import python_function
from ljit.analysis.named_functions import named_in
from ljit.records import Record
from ljit.runtime.likely import codes_in

__all__ = ["Jumps", "may_callees_run_long"]

_GENERATES = inspect.CO_GENERATOR | inspect.CO_COROUTINE | inspect.CO_ASYNC_GENERATOR


class Jumps(Record):
    """What the jumps of a function, and of comprehensions in it, say of how long a call takes."""

    instructions: int
    has_loops: bool
    may_run_long: bool  # a loop is none over a container: a ``while``, or perhaps one over a range

    @staticmethod
    @lru_cache(maxsize=1024)
    def of(code: types.CodeType) -> Jumps:
        codes = list(codes_in(code))
        each = [list(dis.get_instructions(c)) for c in codes]
        heads = [{i.offset for i in found if i.opname == "FOR_ITER"} for found in each]
        loops = [{i.argval for i in found if _jumps_back(i)} for found in each]
        is_generator = bool(code.co_flags & _GENERATES)
        has_ranges = any(heads) and any("range" in c.co_names for c in codes)
        has_whiles = any(not a <= b for a, b in zip(loops, heads, strict=True))
        return Jumps(
            max(map(len, each)),
            len(codes) > 1 or any(loops),
            is_generator or has_ranges or has_whiles,
        )


def may_callees_run_long(fn: types.FunctionType, around: set[types.FunctionType]) -> bool:
    """Whether functions that it names, and that run as a part of it, loop or recurse."""
    callees = {f for named in named_in(fn) if (f := _part_of_callers(named)) is not None}
    return not callees.isdisjoint(around) or any(
        Jumps.of(f.__code__).has_loops or may_callees_run_long(f, around | {f}) for f in callees
    )


def _part_of_callers(named: object) -> types.FunctionType | None:
    """The function, if it is a plain one, or a decorated generator function: those who go through it run it."""
    if isinstance(named, types.FunctionType):
        return named
    function = python_function(named)
    is_generator = function is not None and function.__code__.co_flags & inspect.CO_GENERATOR
    return function if is_generator else None


def _jumps_back(instruction: dis.Instruction) -> bool:
    is_jump = instruction.opcode in dis.hasjrel or instruction.opcode in dis.hasjabs
    return is_jump and instruction.argval <= instruction.offset
