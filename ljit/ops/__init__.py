"""The op declarations, one family a file.

Importing this package declares the ops that baseline graphs are made of; those of `ljit.ops.library` follow when
`ljit.ir.REGISTRY` is asked for one of them, or for all.
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

_REGISTRY.load_rest = lambda: _import_module("ljit.ops.library")
