"""The text of a step to its function, which runs as code of the user's function."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from typing import Any, NoReturn

from ljit.cpython.frames import IS_RELOCATED, outermost, relocated
from ljit.errors import InternalError
from ljit.interp.code import Code, Step
from ljit.profile import is_new

__all__ = ["NAMES", "made_of"]

_FOLDER = os.path.dirname(os.path.abspath(__file__))


def _checked(results: tuple[object, ...], count: int) -> tuple[object, ...]:
    if len(results) != count:
        raise InternalError(f"an op gave {len(results)} results instead of {count}")
    return results


def _reraise() -> NoReturn:
    """A function of its own: a bare ``raise`` leaves no traceback entry of its frame, and the step needs one."""
    raise


#: what the text of any step may refer to
NAMES: Mapping[str, object] = {"checked": _checked, "is_new": is_new, "reraise": _reraise}


def made_of(lines: Sequence[str], names: dict[str, Any], code: Code, pcs: Sequence[int]) -> Step:
    """Compile the lines of a step's body; `pcs`: the instruction that it starts with, and those of the lines."""
    text = "\n".join(["def step(r, run):", *lines, ""])
    exec(compile(text, os.path.join(_FOLDER, f"<{code.name}>"), "exec"), names)
    run = names["step"]
    written = run.__code__
    ranges = [code.instructions[pc].range for pc in pcs]
    source = outermost(ranges)
    if source is not None:
        names |= {"__name__": source.module, IS_RELOCATED: True}
        run.__code__ = relocated(written, source, ranges)
    step = names["this"] = Step(run, run.__code__, written, pcs, text)
    return step
