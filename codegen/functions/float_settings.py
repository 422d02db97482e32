"""Whether NumPy does more than warn where a float overflows or is divided by zero: native code does nothing then.

NumPy keeps such settings in a context variable: a capsule around a struct whose first word has three bits for each kind
of error (numpy/_core/src/umath/extobj.h).
"""

from __future__ import annotations

import ctypes
from string import Template

from ljit.codegen.layouts import layout
from ljit.ops.arrays.float_settings import DEFAULT_SETTINGS, SETTINGS

__all__ = ["settings_text"]

_NAME = ctypes.create_string_buffer(layout.FLOAT_SETTINGS)  # of the capsules

_ARE_QUIET = """
declare i32 @PyContextVar_Get(ptr, ptr, ptr)
declare ptr @PyCapsule_GetPointer(ptr, ptr)
declare void @PyErr_Clear()
define i1 @are_settings_quiet() nounwind {
  %place = alloca ptr
  %variable = inttoptr i64 $VARIABLE to ptr
  %status = call i32 @PyContextVar_Get(ptr %variable, ptr null, ptr %place)
  %is.known = icmp eq i32 %status, 0
  br i1 %is.known, label %known, label %fail
known:
  %settings = load ptr, ptr %place
  %count.place = getelementptr i8, ptr %settings, i64 $COUNT
  %count = load i64, ptr %count.place
  %without = sub i64 %count, 1
  store i64 %without, ptr %count.place
  %default = inttoptr i64 $DEFAULT to ptr
  %is.default = icmp eq ptr %settings, %default
  br i1 %is.default, label %quiet, label %look
look:
  %name = inttoptr i64 $NAME to ptr
  %struct = call ptr @PyCapsule_GetPointer(ptr %settings, ptr %name)
  %is.other = icmp eq ptr %struct, null
  br i1 %is.other, label %fail, label %read
read:
  %mask = load i32, ptr %struct
  %loud = and i32 %mask, $LOUD
  %is.quiet = icmp eq i32 %loud, 0
  ret i1 %is.quiet
quiet:
  ret i1 true
fail:
  call void @PyErr_Clear()
  ret i1 false
}
"""


def settings_text() -> str:
    """The function ``i1 are_settings_quiet()``, as IR; what it has looked at is not the last reference."""
    return Template(_ARE_QUIET).substitute(
        VARIABLE=id(SETTINGS),
        DEFAULT=id(DEFAULT_SETTINGS),
        NAME=ctypes.addressof(_NAME),
        LOUD=layout.LOUD_SETTINGS,
        COUNT=layout.OB_REFCNT,
    )
