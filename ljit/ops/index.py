"""Where the ops of `library.py` are declared, and what of Python they stand for, without loading their modules.

`index.txt` is made of the declarations (``python -m ljit ops --index``): a line for each op with its name, its module,
and ``field=value`` for each Python object or member that it stands for. An object is named by a module and its name
there.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from functools import cache
from importlib import import_module
from pathlib import Path
from typing import Any

from ljit.ir import OpDef
from ljit.ir.registry import IndexEntry

__all__ = ["FILE", "entries", "text_of"]

FILE = Path(__file__).with_name("index.txt")
_OBJECTS = ("callables", "iter_callables", "subscripted")
_MEMBERS = ("methods", "attributes", "library")
_NAMESPACES = ("builtins", "math", "cmath", "numpy", "numpy.linalg")
_MISSING = object()


@cache
def entries() -> Mapping[str, IndexEntry]:
    """Read the index: by the names of ops, in the order of `text_of`."""
    lines = FILE.read_text(encoding="utf-8").splitlines()
    return {entry.name: entry for entry in [_read(*line.split()) for line in lines]}


def _read(name: str, module: str, *facts: str) -> IndexEntry:
    found: dict[str, list[Any]] = {field: [] for field in (*_OBJECTS, *_MEMBERS)}
    for fact in facts:
        field, _, value = fact.partition("=")
        found[field] += [value] if field in _MEMBERS else _objects(value)
    return IndexEntry(name, module, **{field: tuple(values) for field, values in found.items()})


def _objects(path: str) -> list[object]:
    """The object of that name; an older or newer NumPy may have none."""
    module, _, name = path.rpartition(".")
    found = getattr(import_module(module), name, _MISSING)
    return [] if found is _MISSING else [found]


def text_of(ops: Iterable[OpDef], modules: Mapping[str, str]) -> str:
    """Write the index of `ops`, which `modules` declare: in whichever order those were loaded."""
    in_order = sorted(ops, key=lambda op: modules[op.name])
    lines = [" ".join((op.name, modules[op.name], *_facts(op))) for op in in_order]
    return "\n".join(lines) + "\n"


def _facts(op: OpDef) -> Iterator[str]:
    for field in _OBJECTS:
        yield from (f"{field}={_path(x)}" for x in getattr(op, field))
    for field in _MEMBERS:
        yield from (f"{field}={name}" for name in getattr(op, field))


def _path(x: object) -> str:
    """The module and name of an object: the name that it calls itself, if that is one."""
    own = getattr(x, "__name__", "")
    for module in map(import_module, _NAMESPACES):
        if getattr(module, own, _MISSING) is x:
            return f"{module.__name__}.{own}"
    return next(
        f"{module.__name__}.{name}"
        for module in map(import_module, _NAMESPACES)
        for name, value in vars(module).items()
        if value is x
    )
