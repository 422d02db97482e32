"""The types of modules: each imported one is a type, so that what it has is known wherever it comes from.

``def f(xp, x): return xp.exp(x)`` is native for the module that it was called with, as it would be for a global one.
"""

from __future__ import annotations

import sys
from types import ModuleType
from typing import Any, Final

from ljit.types import ObjectType, Type
from ljit.unique import Unique

__all__ = ["KnownModule", "type_of_module"]


class KnownModule(ObjectType):
    """One module, which is in `sys.modules`."""

    __slots__ = ("module", "name")

    def __new__(cls, module: ModuleType) -> Any:
        return Unique.__new__(cls, module)

    def __init__(self, module: ModuleType) -> None:
        self.key = (module,)
        self.cls = ModuleType  # type: ignore[misc]
        self.module: Final = module
        self.name: Final = module.__name__  # a program may change it

    def __str__(self) -> str:
        return f"Module[{self.name}]"


def type_of_module(module: Any) -> Type:
    """Give the type of an object whose class is `ModuleType`; programs may make any number that nobody imports."""
    name = vars(module).get("__name__")
    is_imported = isinstance(name, str) and sys.modules.get(name) is module
    return KnownModule(module) if is_imported else ObjectType(ModuleType)
