"""What CPython does with the variables of modules when a process ends.

A module that nothing refers to dies first, and its variables go with the garbage collector's last round, if this sees
all that refers to them. It does not see into the code that ljit makes of functions: files that were left open would
not be written to their end, and `__del__` not be called. Of a module that is still there CPython clears the
variables, one after the other, of those that were imported later first.
"""

from __future__ import annotations

import atexit
import sys
from collections.abc import Mapping
from types import ModuleType

__all__ = ["clear_at_exit"]

_names: dict[str, None] = {}  # of modules with decorated functions


def clear_at_exit(namespace: Mapping[str, object]) -> None:
    """Let CPython clear the variables of a module when the process ends, in front of those of what it has imported."""
    name = namespace.get("__name__")
    if type(name) is str:
        _names[name] = None


@atexit.register
def _keep_modules() -> None:
    ctypes = sys.modules.get("ctypes")
    if ctypes is None:  # nothing was called
        return
    for name in sorted(_names, key="__main__".__eq__):
        module = sys.modules.pop(name, None)
        if module is None:
            continue
        sys.modules[name] = module
        if isinstance(module, ModuleType):
            _put_tools_last(vars(module))
        ctypes.pythonapi.Py_IncRef(ctypes.py_object(module))


def _put_tools_last(variables: dict[str, object]) -> None:
    """Change the order: what `__del__` may call goes last."""
    for name, value in list(variables.items()):
        if callable(value) or isinstance(value, ModuleType):
            variables[name] = variables.pop(name)
