"""One benchmark program, and calls of C functions through ctypes."""

from __future__ import annotations

import ctypes
import types
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np


class CLibrary:
    """A shared library whose functions take arrays (as pointers), int64 and double.

    `call("f", a, 3)` is for functions without a result, `integer` and `real` for those that have one.
    """

    def __init__(self, path: str) -> None:
        self._library = ctypes.CDLL(path)

    def call(self, name: str, *args: Any) -> None:
        self._get(name, None)(*map(_as_c, args))

    def integer(self, name: str, *args: Any) -> int:
        return self._get(name, ctypes.c_int64)(*map(_as_c, args))

    def real(self, name: str, *args: Any) -> float:
        return self._get(name, ctypes.c_double)(*map(_as_c, args))

    def _get(self, name: str, result: Any) -> Any:
        function = getattr(self._library, name)
        function.restype = result
        return function


def _as_c(value: Any) -> Any:
    if isinstance(value, np.ndarray):
        assert value.flags.c_contiguous
        return ctypes.c_void_p(value.ctypes.data)
    if isinstance(value, float):
        return ctypes.c_double(value)
    return ctypes.c_int64(value)


@dataclass(frozen=True, slots=True)
class Program:
    """A function, arguments to time it with, small ones to compile it with, and the same in C.

    The small arguments take every branch that the large ones take, so that a profile of them is complete.
    """

    function: types.FunctionType
    large: Callable[[], tuple[Any, ...]]
    small: Callable[[], tuple[Any, ...]]
    in_c: Callable[..., Any]  # (library, *args) -> what the function gives

    @property
    def name(self) -> str:
        return self.function.__name__

    def compiled(self, decorate: Callable[[Any], Any]) -> Any:
        """Decorate a fresh copy of the function; calls of itself reach the decorated one."""
        original = self.function
        scope = dict(original.__globals__)
        copy = types.FunctionType(
            original.__code__, scope, original.__name__, original.__defaults__
        )
        copy.__module__ = original.__module__
        scope[original.__name__] = decorated = decorate(copy)
        return decorated
