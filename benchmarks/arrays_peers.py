"""What runs an array program: NumPy, ljit and its peers, and how each takes its arguments."""

from __future__ import annotations

import importlib
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from array_programs import ArrayProgram, rebound

import ljit
from ljit import config

MODULES = ("numpy", "ljit", "numba", "jax", "numexpr", "torch")
EXTRA = {"torch": "bench-torch"}


def nothing() -> None:
    pass


@dataclass(frozen=True, slots=True)
class Peer:
    """`forget` makes it compile anew what it has compiled for other peers of the same name."""

    function: Any
    call: Callable[..., Any]
    arguments: Callable[[tuple[Any, ...]], tuple[Any, ...]] = tuple
    forget: Callable[[], None] = nothing


def load_modules(wanted: set[str] | None) -> dict[str, Any]:
    """Give those that are installed; a line on stdout for each that is not."""
    found: dict[str, Any] = {}
    for name in MODULES:
        if wanted is not None and name not in wanted and name != "ljit types only":
            continue
        try:
            found[name] = importlib.import_module(name)
        except ImportError:
            print(
                f"{name}: skipped, it is not installed (pip install 'ljit[{EXTRA.get(name, 'bench')}]')"
            )
        if name == "ljit" and hasattr(config.settings(), "profiled_sizes"):
            found["ljit types only"] = ljit
    if "jax" in found:
        found["jax"].config.update("jax_enable_x64", True)
    if "numexpr" in found:
        found["numexpr"].set_num_threads(1)
    if "torch" in found:
        found["torch"].set_num_threads(1)
    return found


def peer_of(name: str, program: ArrayProgram, modules: dict[str, Any]) -> Peer | None:
    """Give the program for that peer, None where it has none."""
    return MAKERS[name](program, modules[name])


def in_numpy(program: ArrayProgram, _: Any) -> Peer:
    return Peer(program.function, program.function)


def in_ljit(program: ArrayProgram, _: Any) -> Peer:
    function = rebound(program.function, lambda f: f, {})
    decorated = ljit.jit(function)
    return Peer(decorated, decorated)


def in_ljit_types_only(program: ArrayProgram, _: Any) -> Peer:
    decorated = in_ljit(program, None).function

    def call(*args: Any) -> Any:
        with config.overridden(profiled_sizes=False):
            return decorated(*args)

    return Peer(decorated, call)


def in_numba(program: ArrayProgram, numba: Any) -> Peer:
    """The hand-written loops if there are any, otherwise the same code."""
    function = rebound(program.loops or program.function, numba.njit, {})
    return Peer(function, function)


def in_jax(program: ArrayProgram, jax: Any) -> Peer:
    if program.in_jax is not None:
        plain = program.in_jax(jax)
    else:
        plain = rebound(program.function, lambda f: f, {"np": jax.numpy})
    compiled = jax.jit(plain, static_argnums=program.static)

    def arguments(args: tuple[Any, ...]) -> tuple[Any, ...]:
        return tuple(jax.device_put(a) if isinstance(a, np.ndarray) else a for a in args)

    return Peer(compiled, lambda *args: jax.block_until_ready(compiled(*args)), arguments)


def in_numexpr(program: ArrayProgram, numexpr: Any) -> Peer | None:
    if program.in_numexpr is None:
        return None
    function = program.in_numexpr(numexpr)
    return Peer(function, function)


def in_torch(program: ArrayProgram, torch: Any) -> Peer | None:
    function = getattr(versions_in_torch(), program.name, None)
    if function is None:
        return None

    def arguments(args: tuple[Any, ...]) -> tuple[Any, ...]:
        return tuple(torch.from_numpy(a) if isinstance(a, np.ndarray) else a for a in args)

    def call(*args: Any) -> Any:
        with torch.inference_mode():
            return function(*args)

    return Peer(function, call, arguments, torch.compiler.reset)


def versions_in_torch() -> Any:
    return importlib.import_module("array_programs.torch_versions")


MAKERS: dict[str, Callable[[ArrayProgram, Any], Peer | None]] = {
    "numpy": in_numpy,
    "ljit": in_ljit,
    "ljit types only": in_ljit_types_only,
    "numba": in_numba,
    "jax": in_jax,
    "numexpr": in_numexpr,
    "torch": in_torch,
}
