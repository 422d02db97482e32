"""The copies of elementary functions that code outside of loops calls: compiled once in a process, when needed."""

from __future__ import annotations

import re
from functools import cache

from ljit.codegen.engine import CompiledModule, compile_ir, has_fused_multiply_add
from ljit.codegen.mathlib.registry import SHARED, source

__all__ = ["is_available", "shared_symbols"]

_CALLED = re.compile(rf"@({re.escape(SHARED)}(\w+)\.(\w+))\(")


def is_available() -> bool:
    """Whether this machine has what the functions are made of."""
    return has_fused_multiply_add()


def shared_symbols(text: str) -> dict[str, int]:
    """The addresses of the shared functions that a module's text calls."""
    if SHARED not in text:
        return {}
    called = set(_CALLED.findall(text))
    return {full: _compiled(name, type_).address for full, name, type_ in called}


@cache
def _compiled(name: str, type_: str) -> CompiledModule:
    found = source(name, type_, is_shared=True)
    assert found is not None, name
    text = "\n".join((*found.declared.values(), found.text, ""))
    return compile_ir(text, found.name)
