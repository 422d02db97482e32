"""All ops by name."""

from __future__ import annotations

from collections.abc import Callable, Iterator, MutableMapping

from ljit.ir.opdef import OpDef
from ljit.locks import shared_lock

__all__ = ["REGISTRY", "Registry", "declare", "get_op"]


class Registry(MutableMapping[str, OpDef]):
    """The ops by name. Those of the library (`ljit.ops.library`) load when one is asked for that is not there yet."""

    def __init__(self) -> None:
        self._ops = self.loaded = dict[str, OpDef]()
        self._lock = shared_lock()
        self.load_rest: Callable[[], object] | None = None

    def complete(self) -> dict[str, OpDef]:
        """Load all."""
        with self._lock:
            load_rest, self.load_rest = self.load_rest, None
            if load_rest is not None:
                load_rest()
        return self._ops

    def __getitem__(self, name: str) -> OpDef:
        found = self._ops.get(name)
        return found if found is not None else self.complete()[name]

    def __setitem__(self, name: str, op: OpDef) -> None:
        self._ops[name] = op

    def __delitem__(self, name: str) -> None:
        del self._ops[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self.complete())

    def __len__(self) -> int:
        return len(self.complete())

    def declare(self, op: OpDef) -> OpDef:
        """Put `op` in; a name can be declared once."""
        assert op.name not in self._ops, f"op {op.name} is declared twice"
        self._ops[op.name] = op
        return op


REGISTRY = Registry()


def declare(op: OpDef) -> OpDef:
    """Put `op` into the registry; a name can be declared once."""
    return REGISTRY.declare(op)


def get_op(name: str) -> OpDef:
    """Look an op up by name."""
    found = REGISTRY.loaded.get(name)
    return found if found is not None else REGISTRY[name]
