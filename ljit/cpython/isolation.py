"""Builtins of ljit's own: programs may replace those of Python at any time, for their functions but not for ljit's.

Functions take their builtins from the module that they are defined in. The modules that load behind this one find a
copy there, made when ljit is imported: ``builtins.len = ...``, in a function that native code calls or in the middle
of an interpreted loop, changes nothing of how ljit goes on. It does change the libraries that a compile runs: none
begins while `are_builtins_replaced`.
"""

from __future__ import annotations

import builtins
import operator
import sys
import types
from collections.abc import Sequence
from importlib.machinery import ModuleSpec, PathFinder, SourceFileLoader

from ljit.cpython.lasting import lasting

__all__ = ["are_builtins_replaced"]

_PACKAGE = __name__.partition(".")[0] + "."
_builtins = vars(builtins)
_own = dict(_builtins)
globals()["__builtins__"] = _own  # of the functions that follow

#: what programs replace to print and to import in ways of their own: libraries compute nothing with them. Nor do they
#: with `exit`, `help` and others of the module `site`, which are no functions; shells take these away.
_REPLACEABLE = frozenset(("print", "input", "open", "breakpoint", "__import__"))
_names = [
    name
    for name, value in _own.items()
    if isinstance(value, type | types.BuiltinFunctionType)
    and name not in _REPLACEABLE
    and not name.startswith("_")
]
_read = operator.itemgetter(*_names)
_originals = _read(_own)
_STR = frozenset((str,))


def are_builtins_replaced() -> bool:
    """Whether a name that libraries read stands for something else than when ljit was imported.

    Another key than a str might be equal to one: to look for that would run a program's ``__eq__``.
    """
    if not _STR.issuperset(map(type, _builtins)):
        return True
    try:
        return not all(map(operator.is_, _read(_builtins), _originals))
    except KeyError:  # deleted
        return True


class _Loader(SourceFileLoader):
    """Loads a module as always, with builtins in it; what it makes lasts."""

    def create_module(self, spec: ModuleSpec) -> types.ModuleType:
        module = types.ModuleType(spec.name)
        vars(module)["__builtins__"] = _own
        return module

    def exec_module(self, module: types.ModuleType) -> None:
        with lasting():
            super().exec_module(module)


class _Finder:
    """Finds the modules of ljit."""

    @staticmethod
    def find_spec(
        name: str, path: Sequence[str] | None = None, target: types.ModuleType | None = None
    ) -> ModuleSpec | None:
        if not name.startswith(_PACKAGE):
            return None
        spec = PathFinder.find_spec(name, path, target)
        if spec is not None and type(spec.loader) is SourceFileLoader:
            spec.loader = _Loader(spec.loader.name, spec.loader.path)
        return spec


sys.meta_path.insert(0, _Finder)
