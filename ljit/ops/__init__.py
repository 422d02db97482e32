"""The op declarations, one family a file.

Importing this package declares the ops that baseline graphs are made of. A module of `ljit.ops.library` follows when
`ljit.ir.REGISTRY` is asked for one of its ops; `ljit.ops.index` says which module that is.
"""

from importlib import import_module as _import_module

from ljit.ir import REGISTRY as _REGISTRY
from ljit.ops import (
    callers,
    containers,
    control,
    exceptions,
    membership,
    names,
    objects,
    patterns,
    python,
    python_iteration,
)  # isort: skip

__all__ = [
    "GENERIC",
    "callers",
    "containers",
    "control",
    "exceptions",
    "membership",
    "names",
    "objects",
    "patterns",
    "python",
    "python_iteration",
]

#: the ops that are always there
GENERIC = frozenset(_REGISTRY.loaded)

_REGISTRY.index = lambda: _import_module("ljit.ops.index")
_REGISTRY.load_all = lambda: _import_module("ljit.ops.library")
