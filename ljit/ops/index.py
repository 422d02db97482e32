"""Where the ops of `library.py` are declared, and what of Python they stand for, without loading their modules.

`index.txt` is made of the declarations (``python -m ljit ops --index``): a line for each op with its name, its module,
and ``field=value`` for each Python object or member that it stands for. An object is named by a module and its name
there.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import cache
from importlib import import_module
from pathlib import Path

from ljit.ir import OpDef
from ljit.ir.registry import Fact, facts_of

__all__ = ["FILE", "facts", "modules", "text_of"]

FILE = Path(__file__).with_name("index.txt")
_NAMESPACES = (
    "builtins",
    "math",
    "cmath",
    "itertools",
    "numpy",
    "numpy.linalg",
    "numpy.lib.stride_tricks",
)
_OBJECTS = ("callables", "iter_callables", "subscripted")
_MISSING = object()


@cache
def _lines() -> list[list[str]]:
    return [line.split() for line in FILE.read_text(encoding="utf-8").splitlines()]


@cache
def modules() -> Mapping[str, str]:
    """Give the module of each op."""
    return {line[0]: line[1] for line in _lines()}


def facts() -> Iterator[Fact]:
    """Give what the ops stand for. An older or newer NumPy may lack some of it."""
    namespaces = {name: vars(import_module(name)) for name in _NAMESPACES}
    for op, _, *texts in _lines():
        for text in texts:
            field, _, value = text.partition("=")
            if field not in _OBJECTS:
                yield Fact(field, value, op)
                continue
            module, _, name = value.rpartition(".")
            if name in namespaces[module]:
                yield Fact(field, namespaces[module][name], op)


def text_of(ops: Mapping[OpDef, str]) -> str:
    """Write the index of ops and their modules, by the names of the ops."""
    in_order = sorted(ops, key=lambda op: op.name)
    lines = [" ".join((op.name, ops[op], *map(_text, facts_of(op)))) for op in in_order]
    return "\n".join(lines) + "\n"


def _text(fact: Fact) -> str:
    value = _path(fact.value) if fact.field in _OBJECTS else fact.value
    return f"{fact.field}={value}"


def _path(x: object) -> str:
    """The module and name of an object: the name that it calls itself, if that is one."""
    own = getattr(x, "__name__", "")
    names = {module: vars(import_module(module)) for module in _NAMESPACES}
    found = [f"{module}.{own}" for module in names if names[module].get(own, _MISSING) is x]
    found += [f"{module}.{name}" for module in names for name, y in names[module].items() if y is x]
    if not found:
        raise LookupError(f"{x!r}: _NAMESPACES in ljit/ops/index.py has no module that it is in")
    return found[0]
