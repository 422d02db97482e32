"""What NumPy is told to do beside its results where a float overflows or is divided by zero.

Native code never warns, raises or calls anything for that. So functions that ask for more are left to CPython, whose
operations look at the settings, and so are calls while the settings are such: see `is_loud`, and, for the entries of
native code, `codegen/functions/float_settings.py`.
"""

from __future__ import annotations

from collections.abc import Iterable
from contextvars import Context, ContextVar
from inspect import CO_GENERATOR
from types import FunctionType
from typing import Any

import numpy as np
from numpy._core.umath import _extobj_contextvar

from ljit.ir import UNKNOWN, Node
from ljit.ops.control import CALL_NATIVE
from ljit.records import Record
from ljit.types import ArrayType, ScalarType

__all__ = [
    "DEFAULT_SETTINGS",
    "SETTINGS",
    "FloatSetting",
    "float_setting",
    "is_loud",
    "is_numpys",
    "is_under_settings",
    "may_leave_loud",
]

#: where NumPy keeps the settings of each context; they are what `np.geterr` shows
SETTINGS: ContextVar[Any] = _extobj_contextvar
DEFAULT_SETTINGS = Context().run(SETTINGS.get)  # warn

_QUIET = ("ignore", "warn", None)  # None leaves a setting as it is
_LOUD = frozenset(("raise", "call", "print", "log"))


def is_loud() -> bool:
    """Whether NumPy does more than warn by now, in this context."""
    return SETTINGS.get() is not DEFAULT_SETTINGS and not all(
        setting in _QUIET for setting in np.geterr().values()
    )


def is_under_settings(nodes: Iterable[Node]) -> bool:
    """Whether any of the nodes may do what the settings are about."""
    return any(map(is_numpys, nodes))


def is_numpys(node: Node) -> bool:
    """Whether anything at a node, or in native code that it calls, may be an operation of NumPy's."""
    return node.op is CALL_NATIVE or any(
        isinstance(x.type, ArrayType | ScalarType) for x in (*node.inputs, *node.outputs)
    )


class FloatSetting(Record):
    """A function whose arguments are settings.

    `restores`: what is no constant there is mostly what another call of it has given, the settings as they were before.
    """

    name: str
    function: object
    restores: bool = False

    def is_quiet(self, settings: Iterable[object]) -> bool:
        """Whether these settings, `UNKNOWN` if they are no constants, change nothing for native code."""
        return all(self.restores if s is UNKNOWN else s in _QUIET for s in settings)


_SETTINGS = (
    FloatSetting("np.errstate", np.errstate),
    FloatSetting("np.seterr", np.seterr, restores=True),
)


def float_setting(function: object, member: str | None) -> FloatSetting | None:
    """Give what is known of a function, if it is one of these; None is an unknown one that such a member may be."""
    if function is None and member is not None:
        return next((s for s in _SETTINGS if s.name == f"np.{member}"), None)
    return next((setting for setting in _SETTINGS if setting.function is function), None)


def may_leave_loud(function: FunctionType) -> bool:
    """Whether NumPy may do more than warn after a call, by the names and constants in a function.

    Generators, that of a `contextlib.contextmanager` for one, and ``__enter__`` end later what they have set.
    """
    seen = {function}  # a function may say that it wraps itself
    while (
        type(wrapped := vars(function).get("__wrapped__")) is FunctionType and wrapped not in seen
    ):
        function = wrapped
        seen.add(function)
    code = function.__code__
    goes_on = code.co_flags & CO_GENERATOR or code.co_name == "__enter__"
    names = {"seterr", "errstate"} if goes_on else {"seterr"}
    constants = (*code.co_consts, *(function.__defaults__ or ()))
    return not names.isdisjoint(code.co_names) and any(
        type(c) is str and c in _LOUD for c in constants
    )
