"""Entries that hand calls to the plain Python function: what CPython runs for good costs no detour.

Such an entry stands in the chain of a function's entries for argument types that gain nothing from native
code. Where all calls of a function go there, none of them needs it (`runtime/passing.py`).
"""

from __future__ import annotations

import types
from collections.abc import Sequence

from ljit.codegen.entries.entry import NextCell, begin_entry
from ljit.codegen.functions.choice import call_plainly
from ljit.codegen.functions.support import slow_entry
from ljit.codegen.llvm.builder import ModuleBuilder, Ref, address
from ljit.codegen.llvm.engine import CompiledModule, compile_ir
from ljit.types import Type

__all__ = ["PassOnCode", "compile_pass_on"]

_ENTRY = "ljit_pass_on"


class PassOnCode:
    """Machine code of one such entry; whoever can still run it must hold the object."""

    def __init__(self, compiled: CompiledModule, following: NextCell, kept: list[object]) -> None:
        self._compiled = compiled
        self._following = following
        self._kept = kept

    @property
    def address(self) -> int:
        """Address of the vectorcall entry."""
        return self._compiled.address

    def set_next(self, address: int, _count_of_passed: int | None = None) -> None:
        """Say which vectorcall function gets the calls that this one does not take."""
        self._following.target = address


def compile_pass_on(fn: types.FunctionType, types_: Sequence[Type]) -> PassOnCode:
    """Compile an entry that leaves calls with arguments of these types to `fn`."""
    module = ModuleBuilder(_ENTRY)
    following = NextCell(slow_entry())
    kept: list[object] = [fn]

    def keep(value: object) -> Ref:
        kept.append(value)
        return address(id(value))

    f, _, _ = begin_entry(module, _ENTRY, types_, following)
    call_plainly(f, keep(fn))
    return PassOnCode(compile_ir(module.render(), _ENTRY, optimize=False), following, kept)
