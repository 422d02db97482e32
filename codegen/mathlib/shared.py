"""The copies of elementary functions that code calls, for numbers and vectors: compiled once in a process, when needed.

LLVM's loop vectoriser calls the copy for vectors where a function's declaration names one (`declare_shared`).
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from functools import cache, partial

from ljit.codegen.llvm.builder import ModuleBuilder
from ljit.codegen.llvm.engine import (
    CompiledModule,
    Passes,
    compile_ir,
    has_fused_multiply_add,
    vector_bytes,
)
from ljit.codegen.llvm.shared_code import ELEMENTARY
from ljit.codegen.mathlib.registry import source
from ljit.codegen.mathlib.terms import vector_of

__all__ = ["PURE", "declare_shared", "is_available", "shared_symbols"]

PURE = "nounwind willreturn memory(none)"
_CALLED = re.compile(rf"{re.escape(ELEMENTARY)}(\w+)\.(double|float)(?:\.x(\d+))?".encode())


def is_available() -> bool:
    """Whether this machine has what the functions are made of."""
    return has_fused_multiply_add()


def declare_shared(module: ModuleBuilder, name: str, type_: str, arity: int) -> str:
    """Declare the function for numbers, and tell LLVM of those for vectors; gives its name."""
    full = f"{ELEMENTARY}{name}.{type_}"
    if full in module.declared:
        return full
    variants = []
    for lanes in _widths(type_):
        vector = vector_of(type_, lanes)
        wide = f"{full}.x{lanes}"
        module.keep(module.declare(wide, vector, [vector] * arity, PURE))
        variants.append(f"_ZGV_LLVM_N{lanes}{'v' * arity}_{full}({wide})")
    attributes = f'{PURE} "vector-function-abi-variant"="{",".join(variants)}"'
    return module.declare(full, type_, [type_] * arity, attributes)


def _widths(type_: str) -> tuple[int, ...]:
    """Of the vectors in loops: as many doubles as a register holds, and of floats alone twice as many."""
    doubles = vector_bytes() // 8
    return (doubles,) if type_ == "double" else (doubles, 2 * doubles)


def shared_symbols(images: Iterable[bytes], own: bytes = b"") -> dict[str, int]:
    """The addresses of the shared functions that object files call; they may define their `own`."""
    named = {found.group() for image in images for found in _CALLED.finditer(image)}
    called = named - {own}
    return {name.decode(): _compiled(name).address for name in called}


@cache
def _compiled(full: bytes) -> CompiledModule:
    found = _CALLED.fullmatch(full)
    assert found is not None, full
    name, type_, lanes = found.groups(default=b"1")
    code = source(name.decode(), type_.decode(), int(lanes))
    find = partial(shared_symbols, own=full)
    return compile_ir(code.text, code.name, find=find, passes=Passes(straight=True))
