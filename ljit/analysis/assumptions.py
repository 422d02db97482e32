"""Assumptions: what a specialised graph takes for granted about global and closure variables, functions and modules.

The native entry checks them on each call (a version tag of the dictionary first), so that a changed global is seen.
"""

from __future__ import annotations

import enum
import sys
import types
from collections.abc import Collection, Mapping
from typing import Any

import numpy as np

from ljit.cpython.classes import is_plain_class, variables_of_module
from ljit.cpython.parameters import keyword_only
from ljit.ir import Node
from ljit.records import Record

__all__ = [
    "MISSING",
    "Assumption",
    "assumptions_of_closure",
    "assumptions_of_defaults",
    "assumptions_of_global",
    "assumptions_of_import",
    "is_stable_constant",
    "may_reorder",
    "python_function",
]


class _Missing(enum.Enum):
    MISSING = "missing"


MISSING = _Missing.MISSING


class Assumption(Record):
    """`holder[key]` is `value` (identity); the holder is a dict, a cell (its content) or a function (its attribute).

    `value` MISSING: the dict has no such key (a builtin is not shadowed by a global).
    """

    holder: dict[str, object] | types.CellType | types.FunctionType
    key: str
    value: object

    def holds(self) -> bool:
        """Check it now."""
        if isinstance(self.holder, types.CellType):
            return _cell_content(self.holder) is self.value
        if isinstance(self.holder, dict):
            return self.holder.get(self.key, MISSING) is self.value
        return getattr(self.holder, self.key) is self.value


def _cell_content(cell: types.CellType) -> object:
    try:
        return cell.cell_contents
    except ValueError:
        return MISSING


def assumptions_of_global(node: Node) -> list[Assumption]:
    """What makes the global read by `node` a constant, the one with its value last; [] if unbound."""
    name, scope = node.attrs["name"], node.attrs["scope"]
    assert isinstance(name, str) and isinstance(scope, types.FunctionType)
    variables = scope.__globals__
    if name in variables:
        return [Assumption(variables, name, variables[name])]
    builtins = scope.__builtins__  # type: ignore[attr-defined]  # typeshed lacks it
    if name in builtins:
        return [Assumption(variables, name, MISSING), Assumption(builtins, name, builtins[name])]
    return []


def assumptions_of_closure(node: Node) -> list[Assumption]:
    """The same for a closure cell."""
    name, scope = node.attrs["name"], node.attrs["scope"]
    assert isinstance(name, str) and isinstance(scope, types.FunctionType)
    return assumptions_of_cell(name, scope)


def assumptions_of_cell(name: str, scope: types.FunctionType) -> list[Assumption]:
    """What makes the free variable of a function a constant; [] if it is not bound."""
    assert scope.__closure__ is not None
    cell = scope.__closure__[scope.__code__.co_freevars.index(name)]
    value = _cell_content(cell)
    return [Assumption(cell, name, value)] if value is not MISSING else []


def assumptions_of_defaults(
    function: types.FunctionType, names: Collection[str]
) -> list[Assumption]:
    """What makes the defaults of the parameters those that they are now."""
    found = []
    by_name = set(names).intersection(keyword_only(function.__code__))
    if not by_name.issuperset(names):
        found.append(Assumption(function, "__defaults__", function.__defaults__))
    defaults = function.__kwdefaults__
    if by_name and defaults is not None:
        found.append(Assumption(function, "__kwdefaults__", defaults))
        found += (Assumption(defaults, name, defaults[name]) for name in sorted(by_name))
    return found


def assumptions_of_import(node: Node) -> list[Assumption]:
    """What makes the module that `node` imports a constant, it last; [] if it is not loaded, or only in part."""
    name, names, scope = (node.attrs[key] for key in ("name", "names", "scope"))
    assert isinstance(name, str) and isinstance(scope, types.FunctionType)
    builtins = scope.__builtins__  # type: ignore[attr-defined]  # typeshed lacks it
    load, module = builtins.get("__import__"), sys.modules.get(name)
    is_usual = isinstance(load, types.BuiltinFunctionType) and not node.attrs["level"]
    variables = variables_of_module(module)
    if not is_usual or variables is None or _is_loading(variables):
        return []
    loaded: dict[str, Any] = sys.modules
    needed = [Assumption(builtins, "__import__", load), Assumption(loaded, name, module)]
    if isinstance(names, tuple):
        return needed if all(part in variables for part in names) else []
    first = name.partition(".")[0]
    return [*needed, Assumption(loaded, first, loaded[first])] if first in loaded else []


def _is_loading(variables: Mapping[str, Any]) -> bool:
    return getattr(variables.get("__spec__"), "_initializing", False) is True


_STABLE = (
    bool,
    int,
    float,
    complex,
    str,
    bytes,
    type(None),
    type,
    np.generic,
    np.dtype,
    np.ufunc,
    types.ModuleType,
    types.FunctionType,
    types.BuiltinFunctionType,
    type(np.concatenate),  # of NumPy's functions that classes of arrays may override
    type(Ellipsis),
    range,
    slice,
)


def python_function(value: object) -> types.FunctionType | None:
    """Give the Python function that a call of `value` runs, if it is that simple."""
    if type(value) is types.FunctionType:
        return value
    plain = getattr(value, "_plain", None) if _is_decorated(value) else None
    return plain if isinstance(plain, types.FunctionType) else None


def may_reorder(value: object) -> bool:
    """Whether a function was decorated with `fastmath`."""
    calls: Any = getattr(value, "_calls", None) if _is_decorated(value) else None
    return calls is not None and bool(calls.options.fastmath)


def _is_decorated(value: object) -> bool:
    cls = type(value)
    return (
        is_plain_class(cls)
        and cls.__module__.partition(".")[0] == "ljit"
        and cls.__name__ == "Function"
    )


def is_stable_constant(value: object) -> bool:
    """Whether the object can be treated by value: nothing about it that ljit uses can change."""
    cls = type(value)
    if issubclass(cls, tuple):
        return cls is tuple and all(map(is_stable_constant, value))  # type: ignore[call-overload]
    return issubclass(cls, _STABLE) or python_function(value) is not None
