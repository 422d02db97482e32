"""Entries that hand calls to the plain Python function: what CPython runs for good costs no detour.

Such an entry stands in the chain of a function's entries for argument types that gain nothing from native
code. For all calls of a function there is one entry that all functions share: it finds the plain function in the object
that is called, with a count of the calls that go there; the next one takes the slow path.
"""

from __future__ import annotations

import types
from collections.abc import Sequence

from ljit.codegen.entries.entry import VECTORCALL, NextCell, begin_entry
from ljit.codegen.functions.slow_path import check_stack, slow_entry
from ljit.codegen.llvm.builder import NULL, FunctionBuilder, ModuleBuilder, Ref, address
from ljit.codegen.llvm.engine import CompiledModule, compile_ir
from ljit.codegen.llvm.shared_code import shared_address
from ljit.types import Type

__all__ = ["PassOnCode", "compile_pass_on", "counted_entry"]

_ENTRY = "ljit_pass_on"
_COUNTED = "ljit_counted_pass_on"


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


def compile_pass_on(fn: types.FunctionType, types_: Sequence[Type]) -> PassOnCode:
    """Compile an entry that leaves calls with arguments of these types to `fn`."""
    module = ModuleBuilder(_ENTRY)
    following = NextCell(slow_entry())
    kept: list[object] = [fn]

    def keep(value: object) -> Ref:
        kept.append(value)
        return address(id(value))

    f, _, _ = begin_entry(module, _ENTRY, types_, following)
    _call_plainly(f, keep(fn))
    return PassOnCode(compile_ir(module.render(), _ENTRY), following, kept)


def counted_entry(words: int) -> int:
    """Address of the entry for objects in which the plain function and the count of calls are at `words`.

    Each call that it takes costs one of the count; when there is none left, the count is negative.
    """
    return shared_address(_COUNTED, lambda module: _write_counted(module, words))


def _write_counted(module: ModuleBuilder, words: int) -> None:
    f = module.function(_COUNTED, "ptr", VECTORCALL)
    place = f.gep("i8", f.params[0], words + 8)
    left = f.binary("sub", f.load("i64", place), 1)
    f.store(left, place)
    none_left, passed = f.new_block("none_left"), f.new_block("passed")
    f.condbr(f.icmp("slt", left, 0), none_left, passed, unlikely=True)
    if f.start(none_left, cold=True):
        f.ret(f.call("ptr", address(slow_entry()).text, f.params))
    f.start(passed)
    function = f.load("ptr", f.gep("i8", f.params[0], words))
    _call_plainly(f, function)


def _call_plainly(f: FunctionBuilder, function: Ref) -> None:
    overflow = f.new_block("overflow")
    check_stack(f, overflow)
    f.ret(f.call_external("ptr", "PyObject_Vectorcall", (function, *f.params[1:])))
    if f.start(overflow, cold=True):
        f.ret(NULL)
