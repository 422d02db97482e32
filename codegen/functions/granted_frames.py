"""Frames for ljit's Python code at CPython's recursion limit, as LLVM IR.

What native code calls of it takes frames where CPython took none: to run a handler, and for what is learnt. Nobody may
see that there were too few.

- `grant_frames()` gives this thread what is lacking, and `withdraw_frames(granted)` takes it back behind the call.
- `count_frames(frames)` adds to what is left: what can run users' code gets as many frames as it expects
  (`cpython/frame_count.py`).

The limit itself stays.
"""

from __future__ import annotations

from ljit.cpython.frame_count import recursion_remaining

__all__ = ["GRANT_NAMES", "grant_text"]

GRANT_NAMES = ("count_frames", "grant_frames", "withdraw_frames")
_FRAMES = 48  # Python's

# `PyThreadState_Get` is declared by what this is a part of.
_GRANT = """
define i32 @grant_frames() nounwind {
  %state = call ptr @PyThreadState_Get()
  %place = getelementptr i8, ptr %state, i64 OFFSET
  %left = load i32, ptr %place
  %lacking = sub i32 FRAMES, %left
  %is.near = icmp sgt i32 %lacking, 0
  %granted = select i1 %is.near, i32 %lacking, i32 0
  %now = add i32 %left, %granted
  store i32 %now, ptr %place
  ret i32 %granted
}
define void @withdraw_frames(i32 %granted) nounwind {
  %less = sub i32 0, %granted
  call void @count_frames(i32 %less)
  ret void
}
define void @count_frames(i32 %frames) nounwind {
  %state = call ptr @PyThreadState_Get()
  %place = getelementptr i8, ptr %state, i64 OFFSET
  %now = load i32, ptr %place
  %left = add i32 %now, %frames
  store i32 %left, ptr %place
  ret void
}
"""
_GRANT_NONE = """
define i32 @grant_frames() nounwind {
  ret i32 0
}
define void @withdraw_frames(i32 %granted) nounwind {
  ret void
}
define void @count_frames(i32 %frames) nounwind {
  ret void
}
"""


def grant_text() -> str:
    """The text of the functions."""
    offset = recursion_remaining()
    if offset is None:
        return _GRANT_NONE
    return _GRANT.replace("OFFSET", str(offset)).replace("FRAMES", str(_FRAMES))
