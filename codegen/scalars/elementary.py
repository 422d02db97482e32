"""Calls of elementary functions that loops turn into vectors (`mathlib`); others are the C library's."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ljit.codegen.llvm.forms import Native, dtype_of, llvm_of_dtype
from ljit.codegen.mathlib import constant_power, declare_shared, declared, is_available
from ljit.codegen.scalars.arithmetic import float_constant_of
from ljit.codegen.scalars.hypotenuses import HYPOTENUSE, Hypotenuse

if TYPE_CHECKING:
    from ljit.codegen.emitter import Emitter

__all__ = ["elementary"]


def elementary(e: Emitter, name: str, *xs: Native) -> Native:
    type_ = xs[0].type
    llvm = llvm_of_dtype(dtype_of(type_))
    wide = "float" if llvm == "half" else llvm
    if (name, wide) not in declared() or not is_available():
        return e.math(name, *xs)
    special = constant_power(float_constant_of(e, xs[-1])) if name == "pow" else None
    if special is not None:
        name, xs = special, xs[:1]
    refs = [e.f.convert("fpext", x.ref, wide) for x in xs]
    called = declare_shared(e.f.module, name, wide, len(refs))
    result = e.f.call(wide, called, refs)
    if name == HYPOTENUSE:
        e.hypotenuses[result.text] = Hypotenuse(refs[0], refs[1], called)
    return Native(type_, (e.f.convert("fptrunc", result, llvm),))
