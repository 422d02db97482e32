"""One array program, and the same program for each peer."""

from __future__ import annotations

import types
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True, slots=True)
class ArrayProgram:
    """A NumPy function as users write it, its arguments, and what its peers run instead.

    `make(n)` gives arguments whose largest array has about n elements. Peers run the same code unless a version
    of their own is given: `loops` is what a Numba user writes where `njit` refuses the code or loops are the
    better Numba, `in_jax(jax)` makes the pure function that `jax.jit` needs, `in_numexpr(numexpr)` a function.
    Those for torch are in torch_versions.py.
    """

    function: types.FunctionType
    make: Callable[[int], tuple[Any, ...]]
    size: int
    small: int = 64  # for the time to compile
    loops: types.FunctionType | None = None
    in_jax: Callable[[Any], Callable[..., Any]] | None = None
    in_numexpr: Callable[[Any], Callable[..., Any]] | None = None
    static: tuple[int, ...] = ()  # the arguments that are constants for jax.jit
    mutates: bool = False  # its arguments
    tolerance: float = 1e-9  # of peers' results, relative to the largest element
    moved: Callable[..., int] | None = None  # (*args) -> bytes that must move; for the roofline

    @property
    def name(self) -> str:
        return self.function.__name__


def rebound(
    function: types.FunctionType, decorate: Callable[[Any], Any], names: dict[str, Any]
) -> Any:
    """Decorate a fresh copy of `function`, for which `names` stand for something else.

    Functions of its own package that it calls are copied and decorated likewise.
    """
    scope = {**function.__globals__, **names}
    copy = types.FunctionType(function.__code__, scope, function.__name__, function.__defaults__)
    copy.__module__ = function.__module__
    package = function.__module__.partition(".")[0]
    for name in function.__code__.co_names:
        called = scope.get(name)
        if isinstance(called, types.FunctionType) and called.__module__.startswith(package):
            scope[name] = rebound(called, decorate, names)
    return decorate(copy)
