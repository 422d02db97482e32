"""Functions that units call by their address: each is compiled once in a process, when a unit first needs it.

They hold what does not depend on the program, and stay for the life of the process. Elementary functions are called by
name instead, so that LLVM finds their copies for vectors (`codegen/mathlib/shared.py`).
"""

from __future__ import annotations

from collections.abc import Callable

from ljit.codegen.llvm.builder import ModuleBuilder, address
from ljit.codegen.llvm.engine import CompiledModule, Passes, compile_ir, keep_forever

__all__ = [
    "ELEMENTARY",
    "HAZARD",
    "PACKING",
    "PAGE",
    "is_shared",
    "shared_address",
    "shared_function",
]

# What names begin with: of elementary functions, in the modules that call them, ...
ELEMENTARY = "shared."
HAZARD = "hazard."  # ... of those that compare places in memory (`nest_overlap.py`), ...
PACKING = "rows."  # ... and of those that put elements side by side (`nest_packing.py`)

# Bytes. Loads wait for stores to places with the same lowest bits (4K aliasing): what a frame keeps shall have others
# than the constants that are read next, so frames of elementary functions begin at a page.
PAGE = 4096

_compiled: dict[str, CompiledModule] = {}


def shared_function(
    name: str, write: Callable[[ModuleBuilder], object], *, straight: bool = False
) -> str:
    """The address of a function as `FunctionBuilder.call` takes it; see `shared_address`."""
    return address(shared_address(name, write, straight=straight)).text


def shared_address(
    name: str, write: Callable[[ModuleBuilder], object], *, straight: bool = False
) -> int:
    """The address of a function; `write` writes it into a module of its own.

    `straight`: it is straight-line code, see `Passes`. The module may hold other functions: the name decides.
    """
    if name not in _compiled:
        module = ModuleBuilder(name)
        write(module)
        compiled = compile_ir(module.render(), name, passes=Passes(straight=straight))
        keep_forever(compiled)
        _compiled[name] = compiled
    return _compiled[name].address


def is_shared(prefix: str, callee: str) -> bool:
    """Whether what a line of IR calls is one of these functions whose name begins so."""
    known = [code for name, code in list(_compiled.items()) if name.startswith(prefix)]
    return any(address(code.address).text == callee for code in known)
