"""Entries that hand calls to the plain Python function: what CPython runs for good costs no detour.

Such an entry stands in the chain of a function's entries for argument types that gain nothing from native
code. Where all calls of a function go there, none of them needs it (`runtime/passing.py`).
"""

from __future__ import annotations

import types
from collections.abc import Sequence

from ljit.codegen.entries.entry import NextCell, begin_entry, reject_magnitudes
from ljit.codegen.functions.slow_path import check_stack, slow_entry
from ljit.codegen.llvm.builder import NULL, FunctionBuilder, ModuleBuilder, Ref, address
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

    def set_next(self, address: int) -> None:
        """Say which vectorcall function gets the calls that this one does not take."""
        self._following.target = address

    @property
    def magnitudes(self) -> int:
        """Which calls it takes (`NextCell.magnitudes`)."""
        return self._following.magnitudes

    @magnitudes.setter
    def magnitudes(self, value: int) -> None:
        self._following.magnitudes = value


def compile_pass_on(fn: types.FunctionType, types_: Sequence[Type]) -> PassOnCode:
    """Compile an entry that leaves calls with arguments of these types to `fn`."""
    module = ModuleBuilder(_ENTRY)
    following = NextCell(slow_entry())
    kept: list[object] = [fn]

    def keep(value: object) -> Ref:
        kept.append(value)
        return address(id(value))

    f, arguments, reject = begin_entry(module, _ENTRY, types_, following)
    reject_magnitudes(f, arguments, following, reject)
    _call_plainly(f, keep(fn))
    return PassOnCode(compile_ir(module.render(), _ENTRY), following, kept)


def _call_plainly(f: FunctionBuilder, function: Ref) -> None:
    overflow = f.new_block("overflow")
    check_stack(f, overflow)
    f.ret(f.call_external("ptr", "PyObject_Vectorcall", (function, *f.params[1:])))
    if f.start(overflow, cold=True):
        f.ret(NULL)
