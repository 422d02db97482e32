"""Guards of code that can come back to itself: CPython's recursion limit holds, and the machine's stack is enough.

It is, however high that limit was set. RecursionError tells of either.

In CPython's count the frame of an entry stands for that of the body that it calls. Bodies that bodies call count in
their argument `room` ([bodies.py](bodies.py)): counting in memory would be most of the time of a small function. What
runs outside of native code must find CPython's own count right: `lower_depth` and `raise_depth` around it.
"""

from __future__ import annotations

from dataclasses import dataclass

from ljit.codegen.functions.stack_bounds import BOUNDS
from ljit.codegen.functions.support import support
from ljit.codegen.llvm.builder import FALSE, NULL, BlockRef, FunctionBuilder, Ref, address, integer
from ljit.cpython.frame_count import recursion_remaining

__all__ = ["EntryFrame", "check_stack", "lower_depth", "raise_depth"]

_UNKNOWN_ROOM = 1000
_ENTER, _LEAVE = "Py_EnterRecursiveCall", "Py_LeaveRecursiveCall"
_LIMIT = 4  # bytes that CPython's recursion limit stands behind the count


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


@dataclass
class EntryFrame:
    """An entry's frame while it calls its body; `room`: the body's."""

    room: Ref
    _count: Ref | None  # where CPython's count stands; None: not known

    @classmethod
    def enter(cls, f: FunctionBuilder) -> EntryFrame:
        """Count a call as CPython counts Python's; at the limit, or near the end of the stack, return.

        RecursionError is set then. (`Py_EnterRecursiveCall` counts only C functions from 3.12 on: 10,000 may nest,
        whatever the limit is.)
        """
        overflow, offset = f.new_block("overflow"), recursion_remaining()
        if offset is None:
            check_stack(f, overflow)
            frame = cls(integer("i64", _UNKNOWN_ROOM), None)
            full = f.icmp("ne", f.call_external("i32", _ENTER, (f.module.string(""),)), 0)
            entered = f.new_block("entered")
            f.condbr(full, overflow, entered, unlikely=True)
            f.start(entered)
        else:
            count = f.gep("i8", f.call_external("ptr", "PyThreadState_Get", ()), offset)
            left = f.load("i32", count)
            check_stack(f, overflow, is_full=f.icmp("sle", left, 0))
            f.store(f.binary("sub", left, 1), count)
            # The limit stands in the upper half: other threads may change it for all before the frames are counted.
            limit = f.convert("sext", f.load("i32", f.gep("i8", count, _LIMIT)), "i64")
            frame = cls(f.add(f.convert("sext", left, "i64"), f.binary("shl", limit, 32)), count)
        counted, f.block = f.block, None
        if f.start(overflow, cold=True):
            f.ret(NULL)
        f.block = counted
        return frame

    def leave(self, f: FunctionBuilder) -> None:
        """The counterpart, before each return of a function that has entered."""
        if self._count is None:
            f.call_external("void", _LEAVE, ())
        else:
            f.store(f.binary("add", f.load("i32", self._count), 1), self._count)


_LOWER, _RAISE = "lower_depth", "raise_depth"


def lower_depth(f: FunctionBuilder, room: Ref) -> Ref:
    """Make CPython count the native frames down to the one with this room; gives how many."""
    offset = recursion_remaining()
    if offset is None:
        return integer("i32", 0)
    f.module.declare("PyThreadState_Get", "ptr", ())
    f.module.define(
        _LOWER,
        f"""define internal i32 @{_LOWER}(i64 %room) cold noinline optnone nounwind {{
  %state = call ptr @PyThreadState_Get()
  %place = getelementptr i8, ptr %state, i64 {offset}
  %now = load i32, ptr %place
  %limit.place = getelementptr i8, ptr %place, i64 {_LIMIT}
  %limit = load i32, ptr %limit.place
  %short = trunc i64 %room to i32
  %low = sext i32 %short to i64
  %high = sub i64 %room, %low
  %upper = ashr i64 %high, 32
  %limit.then = trunc i64 %upper to i32
  %change = sub i32 %limit, %limit.then
  %above = sub i32 %short, 1
  %left = add i32 %above, %change
  store i32 %left, ptr %place
  %frames = sub i32 %now, %left
  ret i32 %frames
}}""",
    )
    return f.call("i32", _LOWER, (room,))


def raise_depth(f: FunctionBuilder, frames: Ref) -> None:
    """The counterpart of `lower_depth`."""
    offset = recursion_remaining()
    if offset is None:
        return
    f.module.define(
        _RAISE,
        f"""define internal void @{_RAISE}(i32 %frames) cold noinline optnone nounwind {{
  %state = call ptr @PyThreadState_Get()
  %place = getelementptr i8, ptr %state, i64 {offset}
  %now = load i32, ptr %place
  %back = add i32 %now, %frames
  store i32 %back, ptr %place
  ret void
}}""",
    )
    f.call("void", _RAISE, (frames,))
