"""ljit: a JIT compiler that makes plain numeric Python and NumPy functions run as native code."""

from ljit import config as config
from ljit.api import Function, jit
from ljit.errors import LjitError, UnsupportedSyntaxError, UserError

__all__ = ["Function", "LjitError", "UnsupportedSyntaxError", "UserError", "jit"]

__version__ = "0.1.0"
