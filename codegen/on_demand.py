"""Modules whose functions are methods of the Emitter that few programs need: they load when one is first called."""

from __future__ import annotations

from importlib import import_module
from types import MethodType

__all__ = ["LateModule"]


class LateModule:
    """Stands for a module of `ljit.codegen` where a class takes methods from it."""

    def __init__(self, name: str) -> None:
        self._name = f"ljit.codegen.{name}"

    def __getattr__(self, function: str) -> _LateMethod:
        return _LateMethod(self._name, function)


class _LateMethod:
    """Loads the method when it is first asked for, and leaves its place in the class to it."""

    def __init__(self, module: str, function: str) -> None:
        self.module = module
        self.function = function
        self.name = ""  # in the class

    def __set_name__(self, _owner: type, name: str) -> None:
        self.name = name

    def __get__(self, instance: object, owner: type) -> object:
        method = getattr(import_module(self.module), self.function)
        setattr(owner, self.name, method)
        return method if instance is None else MethodType(method, instance)
