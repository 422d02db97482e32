"""ljit: a JIT compiler that makes plain numeric Python and NumPy functions run as native code."""

from importlib import import_module as _import_module

from ljit.cpython import isolation as _isolation  # noqa: F401  # first: for all modules behind it

# isort: split
from ljit.api import Function, jit, release_memory
from ljit.errors import LjitError, UnsupportedSyntaxError, UserError

__all__ = ["Function", "LjitError", "UnsupportedSyntaxError", "UserError", "jit", "release_memory"]

__version__ = "0.1.0"

_LAZY = frozenset(("analysis", "frontend", "interp", "ir", "ops", "passes", "runtime", "testing"))


def __getattr__(name: str) -> object:
    """Import a subpackage when it is first asked for: ``ljit.frontend.dump_tree(fn)``."""
    if name in _LAZY:
        return _import_module(f"ljit.{name}")
    raise AttributeError(f"module 'ljit' has no attribute {name!r}")
