"""The op declarations, one family a file, in the order of their layers (pyproject.toml).

Importing this package declares the ops that baseline graphs are made of. A module of `ljit.ops.library` follows when
`ljit.ir.REGISTRY` is asked for one of its ops; `ljit.ops.index` says which module that is.
"""

from importlib import import_module as _import_module

from ljit.ir import REGISTRY as _REGISTRY
from ljit.ops import callers, control, exceptions, names, objects, patterns  # noqa: F401
from ljit.ops.containers import containers, iteration, membership, tuples  # noqa: F401
from ljit.ops.python import operators  # noqa: F401

__all__ = ["GENERIC"]

#: the ops that are always there
GENERIC = frozenset(_REGISTRY.loaded)

_REGISTRY.index = lambda: _import_module("ljit.ops.index")
_REGISTRY.load_all = lambda: _import_module("ljit.ops.library")
