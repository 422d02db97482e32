"""Calls of functions that look at the frame of their caller, which native code does not have: ``warnings.warn``."""

from __future__ import annotations

import sys
import warnings
from collections.abc import Mapping, Sequence
from types import FunctionType
from typing import Any

from ljit.cpython.frames import Place, call_at, place_above
from ljit.ops.objects import object_op

__all__: list[str] = []

_PARAMETERS_OF_WARN = ("message", "category", "stacklevel", "source")


def _call_at_line(
    f: Any, *args: object, kwnames: tuple[str, ...] = (), scope: FunctionType, line: int
) -> object:
    code, split = scope.__code__, len(args) - len(kwnames)
    keywords = dict(zip(kwnames, args[split:], strict=True))
    place = Place(code.co_filename, code.co_qualname, code.co_firstlineno, line, scope.__globals__)
    levels = _levels_above(f, args[:split], keywords)
    if not levels:
        return call_at(place, f, args[:split], keywords)
    above = place_above(scope, levels)
    keywords |= dict(zip(_PARAMETERS_OF_WARN, args[:split], strict=False))
    keywords["stacklevel"] = 1 if above is not None else sys.maxsize  # beyond all frames
    return call_at(above or place, f, (), keywords)


def _levels_above(f: object, args: Sequence[object], keywords: Mapping[str, object]) -> int:
    """How far above its caller a warning is to stand, if that can be told."""
    if f is not warnings.warn or len(args) > len(_PARAMETERS_OF_WARN):
        return 0
    given = dict(zip(_PARAMETERS_OF_WARN, args, strict=False))
    if given.keys() & keywords.keys():
        return 0
    level = {**given, **keywords}.get("stacklevel", 1)
    return max(level - 1, 0) if type(level) is int else 0


CALL_AT_LINE = object_op(
    "prim::call_at_line",
    "(f, *args, kwnames=(), scope, line)",
    "``f(*args)``, where `f` finds above it a frame of the function `scope` that stands on the line.",
    evaluate=_call_at_line,
    looks_at_callers=True,
)
