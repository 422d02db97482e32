"""What CPython's interpreter has learnt of the types that a function works on.

It puts instructions for the types that it has met in the place of those for any (PEP 659). So a look at a function that
has run for a while tells what it does, though nobody has watched it. A ``while`` of CPython 3.11 learns nothing in its
function's first calls.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cache
from types import CodeType

__all__ = ["learnt_instructions"]


def learnt_instructions(code: CodeType) -> Sequence[tuple[int, str, int]]:
    """The unit where each instruction stands, the name of what the interpreter runs there, and its argument.

    Units that belong to the instruction in front of them are zero in the code as it was written.
    """
    names, written = _names(), code.co_code
    now = getattr(code, "_co_code_adaptive", written)[::2]
    units = [unit for unit, op in enumerate(now) if written[2 * unit] and op in names]
    return [(unit, names[now[unit]], written[2 * unit + 1]) for unit in units]


@cache
def _names() -> Mapping[int, str]:
    """The instructions' names, those among them that CPython's compiler never writes."""
    import dis  # no part of what every program waits for

    return {code: name for name, code in getattr(dis, "_all_opmap", {}).items()}
