"""All ops by name."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator, Mapping, MutableMapping
from importlib import import_module

from ljit.ir.opdef import OpDef
from ljit.records import Record

__all__ = ["REGISTRY", "IndexEntry", "Registry", "declare", "get_op"]


class IndexEntry(Record):
    """What is known of an op before its module is loaded: fields of `OpDef`, and the module."""

    name: str
    module: str
    callables: tuple[object, ...]
    iter_callables: tuple[object, ...]
    subscripted: tuple[object, ...]
    methods: tuple[str, ...]
    attributes: tuple[str, ...]
    library: tuple[str, ...]


class Registry(MutableMapping[str, OpDef]):
    """The ops by name. The module of one loads when it is asked for: the index names it, or all modules load."""

    def __init__(self) -> None:
        self._ops = self.loaded = dict[str, OpDef]()
        self.modules: dict[str, str] = {}  # in which ops were declared
        self.index: Callable[[], Mapping[str, IndexEntry]] = dict
        self.load_all: Callable[[], object] = lambda: None

    def entries(self) -> Iterator[OpDef | IndexEntry]:
        """Give what Python objects and members all ops stand for, and load none."""
        index = self.index()
        yield from [op for name, op in self.loaded.items() if name not in index]
        yield from index.values()

    def __getitem__(self, name: str) -> OpDef:
        found = self._ops.get(name)
        if found is not None:
            return found
        entry = self.index().get(name)
        if entry is not None:
            import_module(entry.module)
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
        """Put `op` in; a name can be declared once."""
        assert op.name not in self._ops, f"op {op.name} is declared twice"
        self._ops[op.name] = op
        self.modules[op.name] = _module_being_loaded()
        return op


def _module_being_loaded() -> str:
    """The module whose import, or function called from outside of any, this is a part of."""
    frame = sys._getframe(1)
    while frame.f_code.co_name != "<module>" and frame.f_back is not None:
        frame = frame.f_back
    return str(frame.f_globals["__name__"])


REGISTRY = Registry()


def declare(op: OpDef) -> OpDef:
    """Put `op` into the registry; a name can be declared once."""
    return REGISTRY.declare(op)


def get_op(name: str) -> OpDef:
    """Look an op up by name."""
    found = REGISTRY.loaded.get(name)
    return found if found is not None else REGISTRY[name]
