"""How far the machine's stack reaches: text of the functions that look, before more is called.

The bounds that the last look found lie at `BOUNDS`: the lowest usable address, and the size from there. Native code
compares with them, and calls `check_stack(address)` where the address is not within.
"""

from __future__ import annotations

import ctypes
import sys
from string import Template

__all__ = ["BOUNDS", "stack_check", "stack_text"]

#: at first no stack, so that the first check looks
_stack = (ctypes.c_uint64 * 2)(0, 0)
BOUNDS = ctypes.addressof(_stack)
_STACK_RESERVE = 512 * 1024  # left for what runs between two checks; of a small stack, half
_RECURSION_ERROR = "maximum recursion depth exceeded"

# glibc tells where the stack of a thread lies; elsewhere any address is taken as good.
_FIND_STACK = """
declare i64 @pthread_self()
declare i32 @pthread_getattr_np(i64, ptr)
declare i32 @pthread_attr_getstack(ptr, ptr, ptr)
declare i32 @pthread_attr_destroy(ptr)
define internal void @find_stack(ptr %bounds) noinline {
  %attributes = alloca [16 x i64], align 8
  %low.place = alloca i64, align 8
  %size.place = alloca i64, align 8
  %thread = call i64 @pthread_self()
  %status = call i32 @pthread_getattr_np(i64 %thread, ptr %attributes)
  %found = icmp eq i32 %status, 0
  br i1 %found, label %read, label %unknown
read:
  %ignored = call i32 @pthread_attr_getstack(ptr %attributes, ptr %low.place, ptr %size.place)
  %ignored.too = call i32 @pthread_attr_destroy(ptr %attributes)
  %low = load i64, ptr %low.place
  %size = load i64, ptr %size.place
  %half = lshr i64 %size, 1
  %is.small = icmp ult i64 %half, $RESERVE
  %reserve = select i1 %is.small, i64 %half, i64 $RESERVE
  %usable.low = add i64 %low, %reserve
  %usable.size = sub i64 %size, %reserve
  br label %store
unknown:
  br label %store
store:
  %new.low = phi i64 [ %usable.low, %read ], [ 0, %unknown ]
  %new.size = phi i64 [ %usable.size, %read ], [ -1, %unknown ]
  store i64 %new.low, ptr %bounds
  %second = getelementptr i64, ptr %bounds, i64 1
  store i64 %new.size, ptr %second
  ret void
}
"""
_NO_STACK = """
define internal void @find_stack(ptr %bounds) {
  store i64 0, ptr %bounds
  %second = getelementptr i64, ptr %bounds, i64 1
  store i64 -1, ptr %second
  ret void
}
"""

# The bounds are those of the thread that looked last: an address outside of them may be good.
_CHECK_STACK = """
declare void @PyErr_SetString(ptr, ptr)
@PyExc_RecursionError = external global ptr
@message = private constant [$MESSAGE_SIZE x i8] c"$MESSAGE\\00"
define i32 @check_stack(i64 %here) noinline {
  %bounds = inttoptr i64 $BOUNDS to ptr
  call void @find_stack(ptr %bounds)
  %second = getelementptr i64, ptr %bounds, i64 1
  %low = load i64, ptr %bounds
  %size = load i64, ptr %second
  %offset = sub i64 %here, %low
  %good = icmp ult i64 %offset, %size
  br i1 %good, label %done, label %overflow
done:
  ret i32 0
overflow:
  %class = load ptr, ptr @PyExc_RecursionError
  call void @PyErr_SetString(ptr %class, ptr @message)
  ret i32 -1
}
"""


def stack_text() -> str:
    """The text of `check_stack(address)`: not 0, and RecursionError is set, where no more may be called."""
    has_glibc = sys.platform == "linux" and hasattr(ctypes.CDLL(None), "pthread_getattr_np")
    return Template((_FIND_STACK if has_glibc else _NO_STACK) + _CHECK_STACK).substitute(
        RESERVE=_STACK_RESERVE,
        MESSAGE=_RECURSION_ERROR,
        MESSAGE_SIZE=len(_RECURSION_ERROR) + 1,
        BOUNDS=BOUNDS,
    )


def stack_check(place: str, following: str) -> str:
    """The text of a look: from memory at `place` on the stack to the block `following`, or to the block ``fail``."""
    return f"""%here = ptrtoint ptr {place} to i64
  %bounds = inttoptr i64 {BOUNDS} to ptr
  %bounds.size = getelementptr i64, ptr %bounds, i64 1
  %low = load i64, ptr %bounds
  %size = load i64, ptr %bounds.size
  %offset = sub i64 %here, %low
  %inside = icmp ult i64 %offset, %size
  br i1 %inside, label %{following}, label %look
look:
  %overflow = call i32 @check_stack(i64 %here)
  %is.full = icmp ne i32 %overflow, 0
  br i1 %is.full, label %fail, label %{following}"""
