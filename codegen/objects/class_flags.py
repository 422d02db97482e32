"""What the flags of an object's class say, without a call of Python."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from ljit.codegen.exits.convert import borrow_object
from ljit.codegen.layouts.layout import OB_TYPE
from ljit.codegen.llvm.forms import Native
from ljit.types import BOOL

if TYPE_CHECKING:
    from ljit.codegen.emitter import Emitter

__all__ = ["flag_test"]


def flag_test(flag: int) -> Callable[[Emitter, Callable[[], Native], Native], Native]:
    """Give what tests whether the class of an object has a flag."""

    def test(e: Emitter, _call: Callable[[], Native], x: Native) -> Native:
        f = e.f
        pointer, slot = borrow_object(e, x)
        cls = f.load("ptr", f.gep("i8", pointer, OB_TYPE))
        flags = f.call_external("i64", "PyType_GetFlags", (cls,))
        if slot is not None:
            e.ownership.release_slot(slot)
        found = f.binary("and", flags, flag)
        return Native(BOOL, (f.icmp("ne", found, 0),))

    return test
