"""Guards of code that can come back to itself: CPython's recursion limit holds, and the machine's stack is enough.

It is, however high that limit was set. RecursionError tells of either.
"""

from __future__ import annotations

from ljit.codegen.functions.stack_bounds import BOUNDS
from ljit.codegen.functions.support import support
from ljit.codegen.llvm.builder import FALSE, NULL, BlockRef, FunctionBuilder, Ref, address, integer

__all__ = ["check_stack", "enter_recursive_call", "leave_recursive_call"]


def check_stack(f: FunctionBuilder, failed: BlockRef, is_full: Ref = FALSE) -> None:
    """Go to `failed` with RecursionError near the end of the machine's stack, or if `is_full`."""
    here = f.convert("ptrtoint", f.alloca("i8"), "i64")
    here = f.select(is_full, integer("i64", -1), here)
    low = f.load("i64", address(BOUNDS))
    size = f.load("i64", address(BOUNDS + 8))
    look, good = f.new_block("look"), f.new_block("stack")
    outside = f.icmp("uge", f.binary("sub", here, low), size)
    f.condbr(outside, look, good, unlikely=True)
    if f.start(look, cold=True):
        status = f.call("i32", support("check_stack"), (here,))
        f.condbr(f.icmp("ne", status, 0), failed, good, unlikely=True)
    f.start(good)


def enter_recursive_call(f: FunctionBuilder) -> None:
    """Count a nested call as CPython does; at the limit, or near the end of the stack, return.

    RecursionError is set then.
    """
    overflow = f.new_block("overflow")
    check_stack(f, overflow)
    status = f.call_external("i32", "Py_EnterRecursiveCall", (f.module.string(""),))
    entered = f.new_block("entered")
    f.condbr(f.icmp("ne", status, 0), overflow, entered, unlikely=True)
    if f.start(overflow, cold=True):
        f.ret(NULL)
    f.start(entered)


def leave_recursive_call(f: FunctionBuilder) -> None:
    """The counterpart, before each return of a function that has entered."""
    f.call_external("void", "Py_LeaveRecursiveCall", ())
