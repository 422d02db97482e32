"""All ops by name."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator, Mapping, MutableMapping
from importlib import import_module
from typing import NamedTuple, Protocol

from ljit.cpython.stack import compiler_frames
from ljit.ir.opdef import OpDef

__all__ = ["REGISTRY", "STANDS_FOR", "Fact", "Index", "Registry", "declare", "facts_of", "get_op"]


#: the fields of `OpDef` that say what of Python an op stands for
STANDS_FOR = ("callables", "iter_callables", "subscripted", "methods", "attributes", "library")


class Index(Protocol):
    """What is known of ops before their modules are loaded."""

    def modules(self) -> Mapping[str, str]:
        """Give the module of each op by the op's name."""

    def facts(self) -> Iterator[Fact]:
        """Give what each op stands for."""


class Fact(NamedTuple):
    """One thing that an op stands for: an object, or the name of a member."""

    field: str  # of `STANDS_FOR`
    value: object
    op: str


class _NoIndex:
    def modules(self) -> Mapping[str, str]:
        return {}

    def facts(self) -> Iterator[Fact]:
        return iter(())


class Registry(MutableMapping[str, OpDef]):
    """The ops by name. The module of one loads when it is asked for: the index names it, or all modules load."""

    def __init__(self) -> None:
        self._ops = self.loaded = dict[str, OpDef]()
        self._scopes: dict[str, Mapping[str, object]] = {}  # of the modules that declared them
        self.index: Callable[[], Index] = _NoIndex
        self.load_all: Callable[[], object] = lambda: None

    def facts(self) -> Iterator[Fact]:
        """Give what all ops stand for, and load none."""
        index = self.index()
        modules = index.modules()
        for op in [op for name, op in self.loaded.items() if name not in modules]:
            yield from facts_of(op)
        yield from index.facts()

    def __getitem__(self, name: str) -> OpDef:
        found = self._ops.get(name)
        if found is not None:
            return found
        module = self.index().modules().get(name)
        if module is not None:
            with compiler_frames():
                import_module(module)
        if name not in self._ops:
            self.load_all()
        return self._ops[name]

    def __setitem__(self, name: str, op: OpDef) -> None:
        self._ops[name] = op

    def __delitem__(self, name: str) -> None:
        del self._ops[name]

    def __iter__(self) -> Iterator[str]:
        self.load_all()
        return iter(self._ops)

    def __len__(self) -> int:
        self.load_all()
        return len(self._ops)

    def declare(self, op: OpDef) -> OpDef:
        """Put `op` in; a name can be declared once. (A module whose import was interrupted is loaded again.)"""
        scope, before = _scope_being_loaded(), self._scopes.get(op.name)
        if op.name in self._ops and before is not None:
            is_again = before is not scope and before["__name__"] == scope["__name__"]
            assert is_again, f"op {op.name} is declared twice"
        self._ops[op.name] = op
        self._scopes[op.name] = scope
        return op

    def module_of(self, name: str) -> str:
        """Give the module that declared an op."""
        return str(self._scopes[name]["__name__"])


def facts_of(op: OpDef) -> Iterator[Fact]:
    """Give what one op stands for."""
    return (Fact(field, value, op.name) for field in STANDS_FOR for value in getattr(op, field))


def _scope_being_loaded() -> Mapping[str, object]:
    """The globals of the module whose import, or function called from outside of any, this is a part of."""
    frame = sys._getframe(1)
    while frame.f_code.co_name != "<module>" and frame.f_back is not None:
        frame = frame.f_back
    return frame.f_globals


REGISTRY = Registry()


def declare(op: OpDef) -> OpDef:
    """Put `op` into the registry; a name can be declared once."""
    return REGISTRY.declare(op)


def get_op(name: str) -> OpDef:
    """Look an op up by name."""
    found = REGISTRY.loaded.get(name)
    return found if found is not None else REGISTRY[name]
