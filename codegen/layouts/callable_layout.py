"""Where CPython has the parts of functions, bound methods and objects of `functools.partial`: checked at the import."""

from __future__ import annotations

import ctypes
from functools import partial
from types import CellType, FunctionType, MethodType

from ljit.codegen.layouts.layout import word_at
from ljit.errors import InternalError

__all__ = [
    "DICT_USED",
    "FUNCTION_CLOSURE",
    "FUNCTION_GLOBALS",
    "METHOD_FUNCTION",
    "METHOD_SELF",
    "PARTIAL_ARGUMENTS",
    "PARTIAL_FUNCTION",
    "PARTIAL_KEYWORDS",
]

_WORD = ctypes.sizeof(ctypes.c_void_p)
FUNCTION_GLOBALS = 2 * _WORD
FUNCTION_CLOSURE = 9 * _WORD  # null: None
METHOD_FUNCTION, METHOD_SELF = 2 * _WORD, 3 * _WORD
PARTIAL_FUNCTION, PARTIAL_ARGUMENTS, PARTIAL_KEYWORDS = 2 * _WORD, 3 * _WORD, 4 * _WORD
DICT_USED = 2 * _WORD


def _expect_layout() -> None:
    cell = CellType()
    function = FunctionType((lambda: cell).__code__, {}, closure=(cell,))
    method, fixed = MethodType(function, cell), partial(function, 1, 2, x=3)
    parts = (
        (function, FUNCTION_GLOBALS, function.__globals__),
        (function, FUNCTION_CLOSURE, function.__closure__),
        (method, METHOD_FUNCTION, function),
        (method, METHOD_SELF, cell),
        (fixed, PARTIAL_FUNCTION, function),
        (fixed, PARTIAL_ARGUMENTS, fixed.args),
        (fixed, PARTIAL_KEYWORDS, fixed.keywords),
    )
    for holder, place, part in parts:
        if word_at(id(holder) + place) != id(part):
            raise InternalError(f"{type(holder).__name__} objects are laid out otherwise")
    if word_at(id(fixed.keywords) + DICT_USED) != len(fixed.keywords):
        raise InternalError("dicts are laid out otherwise")


_expect_layout()
